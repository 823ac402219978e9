//! Running a launch on the emulator.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use kernel_emulator::{
    DeviceMemory, EntryInfo, Fault, LaunchConfig, MemoryError, Options, Program, ProgramError,
    Report, TensorMapError, Timeline, TraceOptions, trace::Others,
};

use crate::check::{Mismatch, compare, sha256};
use crate::fill::NotRepresentable;
use crate::launch::{Argument, Buffer, Case, Launch, Param, Role};

/// Why a launch failed.
#[derive(Debug)]
pub enum Failure {
    /// The PTX is not understood.
    Ptx {
        /// The PTX file.
        file: PathBuf,
        /// Where and why.
        error: ProgramError,
    },
    /// The PTX has no such kernel.
    NoEntry {
        /// The PTX file.
        file: PathBuf,
        /// The symbol.
        entry: String,
    },
    /// The device of the description does not run the PTX, or there is no such device.
    Target {
        /// The target of the PTX.
        required: String,
        /// The device.
        actual: String,
    },
    /// A parameter of the description does not fit the kernel's.
    Param {
        /// Its name in the description.
        name: String,
        /// What does not fit.
        problem: String,
    },
    /// The arguments of a tensor map break a rule.
    TensorMap {
        /// Its name in the description.
        param: String,
        /// The rule.
        error: TensorMapError,
    },
    /// The description and the kernel have different numbers of parameters.
    ParamCount {
        /// How many the kernel has.
        required: usize,
        /// How many the description gives.
        actual: usize,
    },
    /// An element cannot have the value that it is to start with.
    Init {
        /// The buffer.
        buffer: String,
        /// The element.
        error: NotRepresentable,
    },
    /// A buffer does not start with the bytes that the description's digest is of.
    InitDigest {
        /// The buffer.
        buffer: String,
        /// What the digest must be.
        required: String,
        /// What it is.
        actual: String,
    },
    /// Device memory cannot be used as the launch needs it.
    Memory {
        /// The buffer, or the parameter whose memory it is.
        name: String,
        /// What the emulator says.
        error: MemoryError,
    },
    /// The emulator stopped the kernel.
    Fault(Box<Fault>),
    /// A result is wrong.
    Mismatch(Box<Mismatch>),
    /// A result cannot be saved.
    Write {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Ptx { file, error } => write!(f, "{}: {error}", file.display()),
            Failure::NoEntry { file, entry } => {
                write!(f, "{} has no kernel `{entry}`", file.display())
            }
            Failure::Target { required, actual } => write!(
                f,
                "field `target`: required a device that runs PTX for {required}, actual {actual:?}"
            ),
            Failure::Param { name, problem } => write!(f, "parameter `{name}`: {problem}"),
            Failure::TensorMap { param, error } => write!(f, "parameter `{param}`: {error}"),
            Failure::ParamCount { required, actual } => {
                write!(f, "the kernel has {required} parameters, but `params` has {actual}")
            }
            Failure::Init { buffer, error: NotRepresentable { index, value } } => write!(
                f,
                "buffer `{buffer}`: its `init` gives {value} for element {index}, which its dtype cannot hold"
            ),
            Failure::InitDigest { buffer, required, actual } => write!(
                f,
                "buffer `{buffer}`: `init` gives bytes with sha256 {actual}, but `init_sha256` is {required}"
            ),
            Failure::Memory { name, error } => write!(f, "memory of `{name}`: {error}"),
            Failure::Fault(fault) => write!(f, "{fault}"),
            Failure::Mismatch(mismatch) => write!(f, "{mismatch}"),
            Failure::Write { file, error } => {
                write!(f, "cannot write {}: {error}", file.display())
            }
        }
    }
}

/// A failed launch: the case, where there are several, and why.
#[derive(Debug)]
pub struct RunError {
    /// The case in words, where the launch has several.
    pub case: Option<String>,
    /// Why it failed.
    pub failure: Box<Failure>,
    /// The hazards found until then.
    pub findings: Vec<Fault>,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(case) = &self.case {
            write!(f, "{case}: ")?;
        }
        write!(f, "{}", self.failure)
    }
}

impl std::error::Error for RunError {}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> RunError {
        RunError { case: None, failure: Box::new(failure), findings: Vec::new() }
    }
}

/// What a launch did, over all its cases.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Cases that ran.
    pub cases: usize,
    /// Instructions, counted once for a warp.
    pub warp_instructions: u64,
    /// Instructions, counted once for each active lane.
    pub lane_instructions: u64,
    /// Additional passes of shared-memory accesses that had bank conflicts.
    pub shared_bank_conflicts: u64,
    /// What the kernel printed.
    pub output: String,
    /// The hazards found where they do not end a launch: each pair of instructions once.
    pub findings: Vec<Fault>,
}

impl Outcome {
    fn add(&mut self, report: Report) {
        self.cases += 1;
        self.warp_instructions += report.warp_instructions;
        self.lane_instructions += report.lane_instructions;
        self.shared_bank_conflicts += report.shared_bank_conflicts;
        self.output.push_str(&report.output);
        let places = |fault: &Fault| {
            (fault.kind, fault.ptx_line, fault.other.as_ref().map(|other| other.ptx_line))
        };
        for finding in report.findings {
            if self.findings.iter().all(|known| places(known) != places(&finding)) {
                self.findings.push(finding);
            }
        }
    }
}

/// Runs every case of a launch, each with fresh buffers, and checks what it expects.
///
/// With `out`, the buffers that the kernel writes are saved there as `NAME.BUFFER.bin` after each case, before they
/// are checked: the files are those of the case that ran last.
///
/// # Errors
/// At the first case that fails.
pub fn run(launch: &Launch, options: &Options, out: Option<&Path>) -> Result<Outcome, RunError> {
    run_cases(launch, options, out, None)
}

/// Runs every case of a launch as [`run`] does, and traces it: a timeline of each case that ran, up to the first that fails.
///
/// Results are not checked if the blocks that are not traced are left out.
pub fn trace(
    launch: &Launch,
    options: &Options,
    trace: &TraceOptions,
) -> (Result<Outcome, RunError>, Vec<Timeline>) {
    let tracing = Tracing { options: trace, timelines: RefCell::default() };
    let result = run_cases(launch, options, None, Some(&tracing));
    (result, tracing.timelines.into_inner())
}

/// How a launch is traced, and the timelines so far.
struct Tracing<'a> {
    options: &'a TraceOptions,
    timelines: RefCell<Vec<Timeline>>,
}

fn run_cases(
    launch: &Launch,
    options: &Options,
    out: Option<&Path>,
    tracing: Option<&Tracing<'_>>,
) -> Result<Outcome, RunError> {
    let file = &launch.ptx_file;
    let program =
        Program::parse(&launch.ptx).map_err(|error| Failure::Ptx { file: file.clone(), error })?;
    let entry = program
        .entry(&launch.entry)
        .ok_or_else(|| Failure::NoEntry { file: file.clone(), entry: launch.entry.clone() })?;
    let on_target = |target: &String| options.clone().with_target(target.as_str());
    let options = &launch.target.as_ref().map_or_else(|| options.clone(), on_target);
    if let Some(device) = &launch.target
        && !kernel_emulator::runs_on(&entry.target, device)
    {
        let (required, actual) = (entry.target.clone(), device.clone());
        return Err(Failure::Target { required, actual }.into());
    }
    let contents = launch.buffers.iter().map(initial).collect::<Result<Vec<_>, Failure>>()?;
    let mut outcome = Outcome::default();
    for (index, case) in launch.cases.iter().enumerate() {
        let one = Run { launch, program: &program, entry, options, contents: &contents, tracing };
        if let Err(failure) = one.case(case, out, &mut outcome) {
            return Err(RunError {
                case: (launch.cases.len() > 1).then(|| describe(index, case)),
                failure: Box::new(failure),
                findings: outcome.findings,
            });
        }
    }
    Ok(outcome)
}

/// A case in words: `case 2 (col0 = -16)`, counted from 1.
fn describe(index: usize, case: &Case) -> String {
    let scalars: Vec<String> =
        case.scalars.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if scalars.is_empty() {
        format!("case {}", index + 1)
    } else {
        format!("case {} ({})", index + 1, scalars.join(", "))
    }
}

/// What a buffer starts with, checked against its digest; `None` for one that counts as never written.
///
/// # Errors
/// [`Failure::Init`], [`Failure::InitDigest`].
pub fn initial(buffer: &Buffer) -> Result<Option<Vec<u8>>, Failure> {
    let Some(init) = &buffer.init else { return Ok(None) };
    let data = init
        .fill(buffer.dtype, buffer.bytes, &buffer.places)
        .map_err(|error| Failure::Init { buffer: buffer.name.clone(), error })?;
    if let Some(required) = &buffer.init_sha256 {
        let actual = sha256(&data);
        if actual != *required {
            let (buffer, required) = (buffer.name.clone(), required.clone());
            return Err(Failure::InitDigest { buffer, required, actual });
        }
    }
    Ok(Some(data))
}

/// What the cases of a launch share.
#[derive(Clone, Copy)]
struct Run<'a> {
    launch: &'a Launch,
    program: &'a Program,
    entry: &'a EntryInfo,
    options: &'a Options,
    /// What each buffer starts with.
    contents: &'a [Option<Vec<u8>>],
    tracing: Option<&'a Tracing<'a>>,
}

impl Run<'_> {
    /// Runs a case and checks it; what it did is added to the outcome, also where its results are wrong.
    fn case(self, case: &Case, out: Option<&Path>, outcome: &mut Outcome) -> Result<(), Failure> {
        let Run { launch, .. } = self;
        let memory = DeviceMemory::new();
        let mut addresses = Vec::with_capacity(launch.buffers.len());
        for (buffer, data) in launch.buffers.iter().zip(self.contents) {
            let refused = |error| Failure::Memory { name: buffer.name.clone(), error };
            let address =
                memory.allocate_aligned(buffer.bytes as u64, buffer.align).map_err(refused)?;
            if let Some(data) = data {
                memory.write(address, data).map_err(refused)?;
            }
            addresses.push(address);
        }
        let params = self.param_block(case, &memory, &addresses)?;
        let config = LaunchConfig {
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
        };
        let result = match self.tracing {
            None => self.program.launch(&memory, &launch.entry, &config, &params, self.options),
            Some(Tracing { options, timelines }) => {
                let entry = (launch.entry.as_str(), &config);
                let traced = self.program.trace(&memory, entry, &params, self.options, options);
                timelines.borrow_mut().extend(traced.1);
                traced.0.map_err(|fault| *fault)
            }
        };
        let report = result.map_err(|fault| Failure::Fault(Box::new(fault)))?;
        outcome.add(report);
        if self.tracing.is_some_and(|tracing| tracing.options.others == Others::LeftOut) {
            return Ok(());
        }
        self.check(case, &memory, &addresses, out)
    }

    /// Reads the buffers back, saves those that the kernel writes, and checks those that the case names.
    fn check(
        self,
        case: &Case,
        memory: &DeviceMemory,
        addresses: &[u64],
        out: Option<&Path>,
    ) -> Result<(), Failure> {
        let read = |index: usize| {
            let buffer: &Buffer = &self.launch.buffers[index];
            let mut data = vec![0; buffer.bytes];
            memory
                .read(addresses[index], &mut data)
                .map_err(|error| Failure::Memory { name: buffer.name.clone(), error })?;
            Ok::<_, Failure>(data)
        };
        if let Some(folder) = out {
            let failed = |file: &Path, error| Failure::Write { file: file.to_owned(), error };
            fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
            for (index, buffer) in self.launch.buffers.iter().enumerate() {
                if buffer.role == Role::In {
                    continue;
                }
                let file = folder.join(format!("{}.{}.bin", self.launch.name, buffer.name));
                fs::write(&file, read(index)?).map_err(|error| failed(&file, error))?;
            }
        }
        for expected in &case.expected {
            let buffer = &self.launch.buffers[expected.buffer];
            compare(buffer, &read(expected.buffer)?, expected).map_err(Failure::Mismatch)?;
        }
        Ok(())
    }

    /// The parameter block of a case.
    fn param_block(
        self,
        case: &Case,
        memory: &DeviceMemory,
        addresses: &[u64],
    ) -> Result<Vec<u8>, Failure> {
        let (given, kernel) = (&self.launch.params, &self.entry.params);
        if given.len() != kernel.len() {
            return Err(Failure::ParamCount { required: kernel.len(), actual: given.len() });
        }
        let mut block = vec![0; self.entry.param_bytes as usize];
        for (param, place) in given.iter().zip(kernel) {
            let wrong = |problem| Failure::Param { name: param.name.clone(), problem };
            let value = self.argument(param, case, memory, addresses)?;
            for (what, required, actual) in
                [("offset", place.offset, param.offset), ("size", place.size, param.size_bytes)]
            {
                if let Some(actual) = actual
                    && actual != required
                {
                    let kernel = &place.name;
                    return Err(wrong(format!(
                        "required {what} {required} (`{kernel}` in the PTX), actual {actual}"
                    )));
                }
            }
            if value.len() != place.size as usize {
                return Err(wrong(format!(
                    "required {} bytes (`{}` in the PTX), actual {}",
                    place.size,
                    place.name,
                    value.len()
                )));
            }
            let start = place.offset as usize;
            block[start..start + value.len()].copy_from_slice(&value);
        }
        Ok(block)
    }

    /// The bytes of an argument.
    fn argument(
        self,
        param: &Param,
        case: &Case,
        memory: &DeviceMemory,
        addresses: &[u64],
    ) -> Result<Vec<u8>, Failure> {
        let wrong = |problem| Failure::Param { name: param.name.clone(), problem };
        match &param.argument {
            Argument::Pointer { buffer } => Ok(addresses[*buffer].to_le_bytes().to_vec()),
            Argument::Scalar { dtype, bits, case_var } => {
                let replaced = case_var.as_ref().and_then(|var| {
                    case.scalars.iter().find(|(name, _)| name == var).map(|&(_, value)| value)
                });
                let bits = match replaced {
                    Some(value) => dtype.encode(value).ok_or_else(|| {
                        wrong(format!("the case gives {value}, which {} cannot hold", dtype.name()))
                    })?,
                    None => bits.ok_or_else(|| {
                        let var = case_var.as_deref().unwrap_or_default();
                        wrong(format!("it has no `value`, and the case gives no `{var}`"))
                    })?,
                };
                Ok(bits.to_le_bytes()[..dtype.bytes()].to_vec())
            }
            Argument::TensorMap(map) => {
                let encoded = map.encode_at(addresses[map.buffer]);
                let wrong = |error| Failure::TensorMap { param: param.name.clone(), error };
                encoded.map(Vec::from).map_err(wrong)
            }
            Argument::Scratch { bytes_per_cta: 0, .. } => Ok(vec![0; 8]),
            Argument::Scratch { bytes_per_cta, align } => {
                let address = self
                    .launch
                    .grid
                    .into_iter()
                    .try_fold(*bytes_per_cta, |bytes, blocks| bytes.checked_mul(blocks.into()))
                    .map_or(Err(MemoryError::OutOfMemory { bytes: u64::MAX }), |bytes| {
                        memory.allocate_aligned(bytes, *align)
                    })
                    .map_err(|error| Failure::Memory { name: param.name.clone(), error })?;
                Ok(address.to_le_bytes().to_vec())
            }
        }
    }
}
