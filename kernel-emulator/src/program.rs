//! Programs: PTX text, parsed and decoded, and launching its entries.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use kernel_ptx::{Directive, Initial, Linkage, Module, Space, Target};

use crate::code::Code;
use crate::code::tcgen05::Group;
use crate::decode;
use crate::decode::layout::{param_bytes, param_offsets, variable_bytes};
use crate::fault::Fault;
use crate::finding::Hazards;
use crate::machine::{Launch, Multiprocessors};
use crate::memory::race::{Across, Board};
use crate::memory::writes::Writes;
use crate::memory::{DeviceMemory, MemoryError};
use crate::names::Names;
use crate::numeric::matrix::TensorCore;
use crate::scheduler::{self, refuse};
use crate::trace::{Timeline, TraceOptions, Traced, Tracer};

/// Why a text is not a program that can run here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The text is not PTX.
    #[error("{message}")]
    Parse {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// What stands there and what could, with the place.
        message: String,
    },
    /// There is no such target.
    #[error("`.target {target}`: required a target that exists, such as sm_80, sm_90a or sm_100a")]
    Target {
        /// What the module names.
        target: String,
    },
    /// An instruction, a modifier or a combination that is not executed here.
    #[error("line {line}: `{instruction}`: {reason}")]
    Unsupported {
        /// Line, from 1; 0 where no line is to blame.
        line: u32,
        /// The opcode with its modifiers, or the declaration.
        instruction: String,
        /// What of it.
        reason: String,
    },
}

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name in the text.
    pub name: String,
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Bytes from the start of the parameter block.
    pub offset: u32,
}

/// An entry of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    /// Its name in the text.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of the parameter block.
    pub param_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub static_shared_bytes: u32,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// `.maxntid`, as the most threads of a block.
    pub max_threads: Option<u32>,
    /// `.reqnctapercluster`
    pub required_cluster: Option<[u32; 3]>,
    /// `.target` of the module, such as `sm_90a`.
    pub target: String,
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks, by dimension.
    pub grid: [u32; 3],
    /// Threads of a block, by dimension.
    pub block: [u32; 3],
    /// Blocks of a cluster, by dimension; all 1 without clusters.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory of a block; it starts at a multiple of 1024.
    pub dynamic_shared_bytes: u32,
}

impl LaunchConfig {
    /// A launch without clusters and dynamic shared memory.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> LaunchConfig {
        LaunchConfig { grid, block, cluster: [1; 3], dynamic_shared_bytes: 0 }
    }
}

/// How a launch is run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, set by its name")]
pub struct Options {
    /// Host threads at most; `None` is as many as there are processors, which the launches in flight in a process share.
    /// Results do not depend on it, but for the order of atomic operations of different blocks.
    pub threads: Option<usize>,
    /// Warp instructions that the launch may execute; `None` is no limit. The default is 2^36,
    /// about an hour, so that a kernel that spins for ever ends.
    pub max_instructions: Option<u64>,
    /// The device, such as `sm_90a`; `None` is the module's own target. PTX for one device does not
    /// run on an older one, and PTX for an `a` target on no other.
    pub target: Option<String>,
    /// What becomes of hazards; [`Hazards::Error`] is the default.
    pub hazards: Hazards,
    /// Whether accesses to shared memory by two warps without a barrier between are faults; the
    /// default. Kernels that are full of such accesses run somewhat faster without the check.
    pub check_races: bool,
    /// Whether accesses to tensor memory by two warps that synchronise without `tcgen05.fence` before and after are faults. The
    /// manual asks for the fences, but compilers that are proven on the hardware leave them out where a barrier is between, so
    /// the default is not to ask. Without [`check_races`](Self::check_races) nothing is asked.
    pub check_tensor_fences: bool,
    /// Whether a copy or a `tcgen05.commit` that arrives at an mbarrier is a fault as long as the thread that initialised it has executed neither
    /// `fence.mbarrier_init` nor `fence.proxy.async`. The manual asks for the fence; some compilers leave it out, so the default is not to
    /// ask.
    pub check_init_fences: bool,
    /// Whether [`Report::writes`] says which bytes of global memory the launch wrote.
    pub record_writes: bool,
    /// What the grid before it writes, which may not be over when the launch begins (programmatic dependent launch): a thread that accesses some of
    /// that without knowing of a `griddepcontrol.wait` is a race. Without [`check_races`](Self::check_races) nothing is asked.
    pub grid_before: Option<Arc<Writes>>,
    /// How many blocks are on one multiprocessor together and share the 512 columns of its tensor memory, so that
    /// `tcgen05.alloc` waits for what the others hold: neighbours in the order of clusters and of ranks; of blocks that work in pairs
    /// this many pairs on two multiprocessors. The default is one.
    pub resident_blocks: u32,
    /// How floating-point `mma.sync` and `wgmma` add their products, which PTX leaves open. The default is quick
    /// and agrees with every device where no partial sum is rounded; [`TensorCore::Hopper`] gives the
    /// bits of an H200.
    pub tensor_core: TensorCore,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: None,
            max_instructions: Some(1 << 36),
            target: None,
            hazards: Hazards::Error,
            check_races: true,
            check_tensor_fences: false,
            check_init_fences: false,
            record_writes: false,
            grid_before: None,
            resident_blocks: 1,
            tensor_core: TensorCore::InOrder,
        }
    }
}

impl Options {
    /// The same, on this many host threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Options {
        self.threads = Some(threads);
        self
    }

    /// The same, with at most this many warp instructions.
    #[must_use]
    pub fn with_max_instructions(mut self, max: u64) -> Options {
        self.max_instructions = Some(max);
        self
    }

    /// The same, where that becomes of hazards.
    #[must_use]
    pub fn with_hazards(mut self, hazards: Hazards) -> Options {
        self.hazards = hazards;
        self
    }

    /// The same, with or without the check for races.
    #[must_use]
    pub fn with_check_races(mut self, check: bool) -> Options {
        self.check_races = check;
        self
    }

    /// The same, with or without the check for fences between accesses to tensor memory.
    #[must_use]
    pub fn with_check_tensor_fences(mut self, check: bool) -> Options {
        self.check_tensor_fences = check;
        self
    }

    /// The same, with or without the check for fences between the initialisation of an mbarrier and copies that arrive at it.
    #[must_use]
    pub fn with_check_init_fences(mut self, check: bool) -> Options {
        self.check_init_fences = check;
        self
    }

    /// The same, and the report says what the launch wrote.
    #[must_use]
    pub fn with_record_writes(mut self, record: bool) -> Options {
        self.record_writes = record;
        self
    }

    /// The same, after a grid that writes so much and may not be over.
    #[must_use]
    pub fn with_grid_before(mut self, writes: Writes) -> Options {
        self.grid_before = Some(Arc::new(writes));
        self
    }

    /// The same, with this many blocks on one multiprocessor.
    #[must_use]
    pub fn with_resident_blocks(mut self, blocks: u32) -> Options {
        self.resident_blocks = blocks;
        self
    }

    /// The same, with `mma.sync` and `wgmma` adding their products that way.
    #[must_use]
    pub fn with_tensor_core(mut self, tensor_core: TensorCore) -> Options {
        self.tensor_core = tensor_core;
        self
    }

    /// The same, on a device of that name.
    #[must_use]
    pub fn with_target(mut self, target: impl Into<String>) -> Options {
        self.target = Some(target.into());
        self
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Instructions executed, each once for a warp or a part of one.
    pub warp_instructions: u64,
    /// Instructions executed, each once for every active lane.
    pub lane_instructions: u64,
    /// How many times shared memory was accessed once more because two lanes access different words
    /// of one bank.
    pub shared_bank_conflicts: u64,
    /// What the kernel printed, blocks in order of their index.
    pub output: String,
    /// The hazards found under [`Hazards::Warn`], in the order of the text: each pair of instructions once, as the lowest block has it.
    pub findings: Vec<Fault>,
    /// What the launch wrote to global memory, where [`Options::record_writes`] asks for it.
    pub writes: Option<Writes>,
}

/// A PTX module, ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Tells programs apart in a device's memory.
    id: u64,
    text: Arc<str>,
    names: Option<Arc<Names>>,
    module: Arc<Module>,
    entries: Vec<EntryInfo>,
    codes: Vec<Code>,
}

static NEXT_PROGRAM: AtomicU64 = AtomicU64::new(0);
static NEXT_GRID: AtomicU64 = AtomicU64::new(1);

impl Program {
    /// Parses and decodes PTX text.
    ///
    /// # Errors
    /// [`ProgramError::Parse`] where the text is not PTX; [`ProgramError::Target`] where it is for a target that does not
    /// exist; [`ProgramError::Unsupported`] for an
    /// instruction, modifier or combination that is not executed here, in any entry or in a function
    /// that one calls.
    pub fn parse(text: &str) -> Result<Program, ProgramError> {
        let module = kernel_ptx::parse(text).map_err(|error| ProgramError::Parse {
            line: error.line,
            column: error.column,
            message: error.to_string(),
        })?;
        if let Some(target) = module.target.first()
            && !Target::parse(target).is_some_and(Target::is_known)
        {
            return Err(ProgramError::Target { target: target.clone() });
        }
        let mut entries = Vec::new();
        let mut codes = Vec::new();
        for (index, function) in module.functions.iter().enumerate() {
            if !function.is_entry || function.body.is_none() {
                continue;
            }
            let code =
                decode::entry(&module, index).map_err(|error| ProgramError::Unsupported {
                    line: error.line,
                    instruction: error.what,
                    reason: error.problem,
                })?;
            let (offsets, _) = param_offsets(&function.params).map_err(|reason| {
                ProgramError::Unsupported { line: 0, instruction: function.name.clone(), reason }
            })?;
            let params = function.params.iter().zip(offsets);
            let params = params
                .map(|(param, offset)| ParamInfo {
                    name: param.name.clone(),
                    size: u32::try_from(param_bytes(param)).expect("`param_offsets` checked it"),
                    align: param.align,
                    offset,
                })
                .collect();
            let (mut required_threads, mut max_threads, mut required_cluster) = (None, None, None);
            for directive in &function.directives {
                match directive {
                    Directive::RequiredThreads(threads) => required_threads = Some(*threads),
                    Directive::MaxThreads(threads) => {
                        max_threads = Some(threads.iter().map(|&n| n.max(1)).product());
                    }
                    Directive::RequiredCluster(cluster) => required_cluster = Some(*cluster),
                    Directive::MinBlocks(_)
                    | Directive::MaxRegisters(_)
                    | Directive::ExplicitCluster
                    | Directive::MaxClusterRank(_)
                    | Directive::BlocksAreClusters
                    | Directive::Pragma(_)
                    | Directive::NoReturn
                    | Directive::Other(_) => {}
                }
            }
            entries.push(EntryInfo {
                name: function.name.clone(),
                params,
                param_bytes: code.param_bytes,
                static_shared_bytes: code.static_shared_bytes,
                required_threads,
                max_threads,
                required_cluster,
                target: module.target.first().cloned().unwrap_or_default(),
            });
            codes.push(code);
        }
        Ok(Program {
            id: NEXT_PROGRAM.fetch_add(1, Relaxed),
            text: text.into(),
            names: None,
            module: Arc::new(module),
            entries,
            codes,
        })
    }

    /// The same program, of which reports speak in Kiln's words, with these names.
    #[must_use]
    pub fn with_names(mut self, names: Names) -> Program {
        self.names = Some(Arc::new(names));
        self
    }

    /// The entries, in the order of the text.
    pub fn entries(&self) -> &[EntryInfo] {
        &self.entries
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&EntryInfo> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Runs an entry to its end.
    ///
    /// A kernel that waits for another launch on the same memory is in flight together with that one; one that waits for a write of the
    /// host does not end: nothing else can change what it waits for.
    ///
    /// `params` is the parameter block: [`EntryInfo::param_bytes`] bytes, each parameter at its
    /// [`offset`](ParamInfo::offset).
    ///
    /// # Errors
    /// The first thing that the kernel did wrong, by block; [`FaultKind::Launch`](crate::FaultKind)
    /// where the launch is not possible.
    #[expect(
        clippy::result_large_err,
        reason = "a fault ends the launch, so its size is of no consequence"
    )]
    pub fn launch(
        &self,
        memory: &DeviceMemory,
        entry: &str,
        config: &LaunchConfig,
        params: &[u8],
        options: &Options,
    ) -> Result<Report, Fault> {
        self.run((memory, entry), config, params, (options, None))
    }

    /// The same, with somebody who wants to know what clusters do.
    #[expect(
        clippy::result_large_err,
        reason = "a fault ends the launch, so its size is of no consequence"
    )]
    fn run(
        &self,
        (memory, entry): (&DeviceMemory, &str),
        config: &LaunchConfig,
        params: &[u8],
        (options, tracer): (&Options, Option<&Tracer>),
    ) -> Result<Report, Fault> {
        let index = self.entries.iter().position(|e| e.name == entry);
        let index = index.ok_or_else(|| refuse(entry, "the program has no entry of that name"))?;
        let (info, code) = (&self.entries[index], &self.codes[index]);
        check(info, config, params, options).map_err(|detail| refuse(entry, detail))?;
        let variables = memory
            .module(self.id, || self.place_variables(memory))
            .map_err(|error| refuse(entry, format!("the module's variables: {error}")))?;
        let words = params.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let check_races = options.check_races && options.hazards != Hazards::Off;
        let allocations = memory.snapshot();
        let launch = Launch {
            code,
            entry,
            text: &self.text,
            names: self.names.as_deref(),
            files: &self.module.files,
            grid: config.grid,
            block: config.block,
            cluster: config.cluster,
            dynamic_shared_bytes: config.dynamic_shared_bytes,
            params: words.collect(),
            param_bytes: info.param_bytes,
            variables,
            started: AtomicU64::new(0),
            budget: AtomicU64::new(options.max_instructions.unwrap_or(u64::MAX)),
            grid_id: NEXT_GRID.fetch_add(1, Relaxed),
            hazards: options.hazards,
            check_races,
            written: allocations.iter().map(|_| AtomicBool::new(false)).collect(),
            across: (check_races && config.grid != config.cluster)
                .then(|| Across::new(allocations.len())),
            allocations,
            check_tensor_fences: options.check_tensor_fences || options.hazards == Hazards::Warn,
            check_init_fences: options.check_init_fences || options.hazards == Hazards::Warn,
            tensor_core: options.tensor_core,
            multiprocessors: Multiprocessors::new(
                options.resident_blocks,
                config.cluster.iter().product(),
                code.tensor_group == Some(Group::Pair),
            ),
            board: Board::default(),
            wide_atomics: Mutex::new(()),
            writes: options.record_writes.then(Mutex::default),
            grid_before: options.grid_before.clone(),
            tracer,
            in_flight: memory.begin(),
        };
        let finished = scheduler::run(&launch, options.threads).map_err(|fault| *fault)?;
        let writes = launch.writes.map(Mutex::into_inner);
        Ok(Report {
            writes: writes.map(|writes| writes.unwrap_or_else(PoisonError::into_inner)),
            warp_instructions: finished.counters.warp_instructions,
            lane_instructions: finished.counters.lane_instructions,
            shared_bank_conflicts: finished.counters.shared_bank_conflicts,
            output: finished.output,
            findings: finished.counters.findings.into_list(),
        })
    }

    /// Runs an entry to its end and traces some of its blocks, see [`trace`](crate::trace). What the launch computes and reports does not depend on
    /// it, unless the options have the other blocks left out.
    ///
    /// The timeline of a launch that ends with a fault shows the time until then; a launch that is not possible has none.
    pub fn trace(
        &self,
        memory: &DeviceMemory,
        (entry, config): (&str, &LaunchConfig),
        params: &[u8],
        options: &Options,
        trace: &TraceOptions,
    ) -> (Result<Report, Box<Fault>>, Option<Timeline>) {
        let index = self.entries.iter().position(|e| e.name == entry);
        let Some(index) = index else {
            let result = self.launch(memory, entry, config, params, options);
            return (result.map_err(Box::new), None);
        };
        let traced = Traced {
            module: &self.module,
            code: &self.codes[index],
            entry: &self.entries[index],
            config,
            device: trace.device.as_deref().or(options.target.as_deref()),
            names: self.names.as_deref(),
        };
        if let Err(detail) = check(traced.entry, config, params, options) {
            return (Err(Box::new(refuse(entry, detail))), None);
        }
        let tracer = Tracer::new(&traced, trace);
        let result = self.run((memory, entry), config, params, (options, Some(&tracer)));
        let result = result.map_err(Box::new);
        let timeline = crate::trace::timeline(&traced, tracer, &result);
        (result, Some(timeline))
    }

    /// Allocates and initialises the module's variables in global memory. Those without initialiser
    /// are zero (PTX ISA, "Initializers"); shared ones have no place here.
    fn place_variables(&self, memory: &DeviceMemory) -> Result<Vec<u64>, MemoryError> {
        let mut addresses = Vec::new();
        for variable in &self.module.variables {
            let here = matches!(variable.space, Space::Global | Space::Const)
                && variable.linkage != Linkage::Extern;
            addresses.push(if here {
                memory.allocate_aligned(
                    variable_bytes(variable),
                    u64::from(variable.align.max(1)).next_power_of_two(),
                )?
            } else {
                0
            });
        }
        for (variable, &address) in self.module.variables.iter().zip(&addresses) {
            if address == 0 {
                continue;
            }
            let bytes = variable_bytes(variable);
            memory.fill(address, 0, bytes)?;
            let mut at = address;
            for initial in variable.init.iter().flatten() {
                let data = match initial {
                    Initial::Bytes(data) => data.clone(),
                    Initial::Address { symbol, offset, generic: _ } => {
                        let named = self.module.variables.iter().position(|v| v.name == *symbol);
                        let base = named.map_or(0, |i| addresses[i]);
                        let width = usize::try_from(variable.ty.bytes()).unwrap_or(8).min(8);
                        base.wrapping_add_signed(*offset).to_le_bytes()[..width].to_vec()
                    }
                };
                memory.write(at, &data)?;
                at += data.len() as u64;
            }
        }
        Ok(addresses)
    }
}

/// Whether a launch is possible.
fn check(
    info: &EntryInfo,
    config: &LaunchConfig,
    params: &[u8],
    options: &Options,
) -> Result<(), String> {
    let LaunchConfig { grid, block, cluster, dynamic_shared_bytes } = *config;
    for (what, dims) in [("grid", grid), ("block", block), ("cluster", cluster)] {
        if dims.contains(&0) {
            return Err(format!("a {what} of {dims:?}"));
        }
    }
    let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    if threads > 1024 || block[2] > 64 {
        return Err(format!("a block of {block:?}, {threads} threads; at most 1024, and 64 in z"));
    }
    if grid[0] > i32::MAX.unsigned_abs() || grid[1] > 65535 || grid[2] > 65535 {
        return Err(format!("a grid of {grid:?}; at most 2147483647 x 65535 x 65535"));
    }
    if let Some(required) = info.required_threads
        && required.map(|n| n.max(1)) != block
    {
        return Err(format!("a block of {block:?}, the entry requires {required:?}"));
    }
    if let Some(most) = info.max_threads
        && threads > u64::from(most)
    {
        return Err(format!("a block of {threads} threads, the entry permits {most}"));
    }
    if let Some(required) = info.required_cluster
        && required.map(|n| n.max(1)) != cluster
    {
        return Err(format!("a cluster of {cluster:?}, the entry requires {required:?}"));
    }
    let blocks: u64 = cluster.iter().map(|&n| u64::from(n)).product();
    if blocks > 16 {
        return Err(format!("a cluster of {blocks} blocks; at most 16"));
    }
    if (0..3).any(|d| !grid[d].is_multiple_of(cluster[d])) {
        return Err(format!("a grid of {grid:?} is no multiple of the cluster {cluster:?}"));
    }
    if params.len() != info.param_bytes as usize {
        return Err(format!(
            "a parameter block of {} bytes, the entry has {}",
            params.len(),
            info.param_bytes
        ));
    }
    let device = options.target.as_deref().unwrap_or(&info.target);
    if !runs_on(&info.target, device) {
        return Err(format!("PTX for {} does not run on {device}", info.target));
    }
    // A target that is not known gets what the largest device has.
    let figures = Target::parse(device).map(Target::hardware);
    let most = figures.map_or(227 * 1024, |row| u64::from(row.shared_bytes_per_block));
    let exact = u64::from(info.static_shared_bytes) + u64::from(dynamic_shared_bytes);
    if exact > most {
        return Err(format!("{exact} bytes of shared memory, {device} has {most} for a block"));
    }
    Ok(())
}

/// Whether PTX for one target runs on a device, as [`Target::runs_on`] has it. Nothing runs on a device that does not exist.
///
/// ```
/// use kernel_emulator::runs_on;
///
/// assert!(runs_on("sm_80", "sm_90a"));
/// assert!(!runs_on("sm_90a", "sm_100a"));
/// assert!(!runs_on("sm_80", "sm_999"));
/// ```
pub fn runs_on(target: &str, device: &str) -> bool {
    if target == device {
        return true;
    }
    let Some(device) = Target::parse(device).filter(|device| device.is_known()) else {
        return false;
    };
    // A module that names no target asks for nothing.
    Target::parse(target).is_none_or(|target| target.runs_on(device))
}

/// The instruction at a line of the text, up to its semicolon, with single spaces.
pub(crate) fn instruction_text(text: &str, line: u32) -> String {
    let Some(index) = line.checked_sub(1) else { return String::new() };
    let mut out = String::new();
    for line in text.lines().skip(index as usize).take(16) {
        let code = line.split("//").next().unwrap_or_default();
        for word in code.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
        if code.contains(';') {
            break;
        }
    }
    out
}
