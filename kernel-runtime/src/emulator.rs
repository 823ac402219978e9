//! The emulator back end: kernels run on the CPU, and have run when a launch returns.

mod collect;
mod graph;
mod slow;
mod trace;

use crate::{
    Element, Error, Grid, Image, MemoryUse, Properties, Resources, Result, Target, Variant,
    back_end::Order,
    foreign::Found,
    grid::{persistent_blocks, with_tensor_memory},
    tensor_map::{Encoding, TensorMap},
};
use collect::Collect;
pub(crate) use graph::Graph;
use graph::{Step, Taken};
use kernel_emulator::{
    DeviceMemory, EntryInfo, Fault, Im2colMap, LaunchConfig, MemoryError, Options, ParamInfo,
    Program, Report,
};
use std::{
    collections::HashMap,
    fmt,
    io::Write as _,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// An emulated GPU.
pub(crate) struct Machine {
    target: Target,
    memory: DeviceMemory,
    /// Parsed kernels by the address of their variant, which is a static.
    programs: RwLock<HashMap<usize, Arc<Program>>>,
    report: Mutex<Option<Report>>,
    /// Warp instructions of all launches.
    instructions: AtomicU64,
    /// Warp instructions that one launch may run.
    max_instructions: u64,
    /// Host threads of a launch, where it is said.
    threads: Option<NonZeroUsize>,
    statistics: Statistics,
    tracing: Option<trace::Tracing>,
}

/// Whether each launch writes a line about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistics {
    Written,
    Omitted,
}

/// Asks for a line about each launch.
const STATISTICS_VARIABLE: &str = "KILN_STATS";

impl Statistics {
    /// What the variable asks for: lines, unless it is absent, empty or `0`.
    fn asked(variable: Option<&str>) -> Self {
        match variable.map(str::trim) {
            None | Some("" | "0") => Self::Omitted,
            Some(_) => Self::Written,
        }
    }
}

/// A launch and what it did, in one line.
fn statistics(order: &Order<'_>, blocks: [u32; 3], report: &Report) -> String {
    let Order { image, variant, .. } = *order;
    let instance = match image.instance {
        "" => String::new(),
        instance => format!(" ({instance})"),
    };
    let [x, y, z] = blocks;
    format!(
        "kiln: {}{instance}, {}, grid {x}x{y}x{z}: {} warp instructions, {} lane instructions, {} bank conflicts",
        image.kernel,
        variant.name,
        report.warp_instructions,
        report.lane_instructions,
        report.shared_bank_conflicts,
    )
}

/// Sets the limit: a number of warp instructions.
const LIMIT_VARIABLE: &str = "KILN_MAX_INSTRUCTIONS";

/// A variable's text; parts that are not Unicode are marked, and so refused where it matters.
fn variable(name: &str) -> Option<String> {
    Some(std::env::var_os(name)?.to_string_lossy().into_owned())
}

/// The limit without the variable, a few minutes of work: a kernel that never ends should not keep a test waiting for long.
const DEFAULT_LIMIT: u64 = 1 << 31;

/// The limit in the variable.
fn limit(variable: Option<&str>) -> Result<u64> {
    let Some(text) = variable else { return Ok(DEFAULT_LIMIT) };
    text.trim().parse().map_err(|_| Error::LimitVariable { actual: text.to_owned() })
}

/// Sets the number of host threads of a launch. With one, the blocks run one after another, and a fault is the same in each run.
const THREADS_VARIABLE: &str = "KILN_EMULATOR_THREADS";

/// The number in the variable; `None` leaves it to the emulator.
fn threads(variable: Option<&str>) -> Result<Option<NonZeroUsize>> {
    let number = |text: &str| {
        text.trim().parse().map_err(|_| Error::ThreadsVariable { actual: text.to_owned() })
    };
    variable.map(number).transpose()
}

/// A stream of an emulated GPU; all work on it is done.
pub(crate) struct Queue {
    machine: Arc<Machine>,
    /// The recorded requests, while work is being recorded.
    steps: Mutex<Option<Vec<Step>>>,
}

/// A moment of the host's clock.
#[derive(Debug)]
pub(crate) struct Mark {
    at: Instant,
}

/// Zeros in the machine's memory, which are freed with it.
pub(crate) struct Zeros {
    machine: Arc<Machine>,
    address: u64,
    bytes: usize,
}

impl Zeros {
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// What is there now.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.bytes];
        let read = self.machine.memory.read(self.address, &mut bytes);
        read.map_err(|cause| self.machine.memory_error("launch", cause))?;
        Ok(bytes)
    }
}

impl Drop for Zeros {
    fn drop(&mut self) {
        // It was allocated, and is freed once.
        let _ = self.machine.memory.free(self.address);
    }
}

impl Machine {
    /// A new machine, with the limit, the threads, the statistics and the traces that the environment sets.
    ///
    /// # Errors
    /// [`Error::LimitVariable`] and [`Error::ThreadsVariable`] when the variable is not a number, [`Error::TraceVariable`] when one of
    /// those about traces is wrong.
    pub(crate) fn new(target: Target) -> Result<Self> {
        Ok(Self {
            target,
            memory: DeviceMemory::new(),
            programs: RwLock::new(HashMap::new()),
            report: Mutex::new(None),
            instructions: AtomicU64::new(0),
            max_instructions: limit(variable(LIMIT_VARIABLE).as_deref())?,
            threads: threads(variable(THREADS_VARIABLE).as_deref())?,
            statistics: Statistics::asked(variable(STATISTICS_VARIABLE).as_deref()),
            tracing: trace::Tracing::asked(variable)?,
        })
    }

    pub(crate) fn name(&self) -> String {
        format!("emulator for {}", self.target)
    }

    /// Those of the GPU that the target was made for.
    pub(crate) fn properties(&self) -> Properties {
        let hardware = self.target.hardware();
        Properties {
            compute_capability: self.target.compute_capability(),
            multiprocessors: hardware.multiprocessors,
            shared_bytes_per_block: hardware.shared_bytes_per_block,
        }
    }

    /// Whether the emulator runs code for a target: it has no features but those of its own.
    pub(crate) fn runs(&self, target: Target) -> bool {
        target.hardware().target.runs_on(self.target.hardware().target)
    }

    /// The allocation that an address lies in.
    pub(crate) fn find(&self, address: u64) -> Found {
        match self.memory.range_of(address) {
            Some(range) => Found::Range { start: range.start, bytes: range.end - range.start },
            None => Found::Nothing,
        }
    }

    /// What is allocated, of as much as one allocation may have.
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let (total, used) = (DeviceMemory::LARGEST, self.memory.allocated_bytes());
        MemoryUse { free: total.saturating_sub(used), total, reserved: used, used }
    }

    /// What the last launch did.
    pub(crate) fn report(&self) -> Option<Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Warp instructions of all launches so far.
    pub(crate) fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    /// The parsed text of a variant; parses it the first time.
    fn program(&self, image: &'static Image, variant: &'static Variant) -> Result<Arc<Program>> {
        let key = std::ptr::from_ref(variant).addr();
        let programs = self.programs.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&key) {
            return Ok(Arc::clone(program));
        }
        drop(programs);
        // Two threads may parse the same text; one result is kept.
        let program = Program::parse(variant.ptx)
            .map_err(|error| self.load_error(image, variant, &error.to_string()))?;
        let program = match variant.names {
            Some(names) => program.with_names(names.for_emulator()),
            None => program,
        };
        let mut programs = self.programs.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(programs.entry(key).or_insert_with(|| Arc::new(program))))
    }

    /// Refuses what a GPU would refuse: too much shared memory, too many threads.
    fn check_limits(
        &self,
        image: &'static Image,
        variant: &'static Variant,
        entry: &EntryInfo,
    ) -> Result<()> {
        let Image { kernel, cluster, .. } = *image;
        let device = || self.name();
        // Beyond 8 blocks a kernel has to ask for them on a GPU, as each launch does.
        let required = cluster.iter().product::<u32>();
        let actual = self.target.hardware().blocks_per_cluster;
        if required > actual {
            return Err(Error::ClusterTooLarge {
                kernel,
                device: device(),
                required: cluster,
                actual,
            });
        }
        if let Some(stated) = entry.required_cluster
            && stated.map(|extent| extent.max(1)) != cluster
        {
            let cause = format!("the entry has clusters of {stated:?}, the image of {cluster:?}");
            return Err(self.load_error(image, variant, &cause));
        }
        let required =
            u64::from(entry.static_shared_bytes) + u64::from(variant.dynamic_shared_bytes);
        let actual = u64::from(self.properties().shared_bytes_per_block);
        if required > actual {
            return Err(Error::SharedMemory { kernel, device: device(), required, actual });
        }
        let required = image.threads;
        // Without a directive a block has at most 1024 threads on every target.
        let stated = entry.required_threads.map(|block| block.iter().product());
        let actual = stated.or(entry.max_threads).unwrap_or(1024);
        if required > actual {
            return Err(Error::BlockTooLarge { kernel, device: device(), required, actual });
        }
        Ok(())
    }

    /// The resources of a kernel, as far as its text gives them.
    pub(crate) fn resources(
        &self,
        image: &'static Image,
        variant: &'static Variant,
    ) -> Result<Resources> {
        let program = self.program(image, variant)?;
        let entry = self.entry(image, variant, &program)?;
        self.check_limits(image, variant, entry)?;
        Ok(self.resources_of(image, variant, entry))
    }

    fn entry<'p>(
        &self,
        image: &'static Image,
        variant: &'static Variant,
        program: &'p Program,
    ) -> Result<&'p EntryInfo> {
        program.entry(variant.entry).ok_or_else(|| {
            let cause = format!("the PTX has no entry `{}`", variant.entry);
            self.load_error(image, variant, &cause)
        })
    }

    /// By the limits of a multiprocessor: its threads, its blocks, its shared memory, of which each block takes 1 KiB for the system.
    /// Registers would allow fewer.
    fn resources_of(&self, image: &Image, variant: &Variant, entry: &EntryInfo) -> Resources {
        let hardware = self.target.hardware();
        let shared_bytes = entry.static_shared_bytes + variant.dynamic_shared_bytes;
        let blocks = (hardware.threads_per_multiprocessor / image.threads.max(1))
            .min(hardware.blocks_per_multiprocessor)
            .min(hardware.shared_bytes_per_multiprocessor / (shared_bytes + 1024))
            .max(1);
        let cluster = image.cluster.iter().product::<u32>().max(1);
        let resident = blocks * hardware.multiprocessors / cluster * cluster;
        let resident =
            with_tensor_memory(resident, hardware.multiprocessors, variant.tensor_columns);
        Resources {
            registers: None,
            local_bytes: None,
            shared_bytes,
            threads: image.threads,
            blocks_per_multiprocessor: resident / hardware.multiprocessors,
            resident_blocks: resident,
        }
    }

    /// Runs a launch, and traces it if the environment asks for that.
    fn run(
        &self,
        image: &'static Image,
        program: &Program,
        (entry, config): (&str, &LaunchConfig),
        (params, options): (&[u8], &Options),
    ) -> Result<Report, Box<Fault>> {
        let Some(tracing) = &self.tracing else {
            return program.launch(&self.memory, entry, config, params, options).map_err(Box::new);
        };
        let traced =
            program.trace(&self.memory, (entry, config), params, options, &tracing.options);
        if let Some(timeline) = traced.1 {
            tracing.save(image, timeline);
        }
        traced.0
    }

    fn load_error(&self, image: &'static Image, variant: &'static Variant, cause: &str) -> Error {
        Error::ModuleLoad {
            kernel: image.kernel,
            variant: variant.name,
            device: self.name(),
            cause: cause.into(),
            log: Box::default(),
        }
    }

    fn memory_error(&self, operation: &'static str, cause: MemoryError) -> Error {
        let cause = cause.to_string().into();
        Error::EmulatorMemory { operation, device: self.name(), cause }
    }
}

impl Queue {
    pub(crate) fn new(machine: &Arc<Machine>) -> Self {
        Self { machine: Arc::clone(machine), steps: Mutex::new(None) }
    }

    /// All work of a machine is in one order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.machine, &other.machine)
    }

    /// Work is done before a call returns.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the GPU's queue has the same face, and may fail"
    )]
    pub(crate) fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<u64> {
        let required = bytes as u64;
        self.machine
            .memory
            .allocate(required)
            .map_err(|_| Error::OutOfMemory { device: self.machine.name(), required })
    }

    pub(crate) fn free(&self, address: u64) {
        // The only error is an address that was never allocated, and this one was.
        let _ = self.machine.memory.free(address);
    }

    pub(crate) fn zeros(&self, bytes: usize) -> Result<Zeros> {
        let address = self.allocate(bytes)?;
        let zeros = Zeros { machine: Arc::clone(&self.machine), address, bytes };
        self.write("launch", address, &vec![0; bytes])?;
        Ok(zeros)
    }

    pub(crate) fn fill<T: Element>(&self, address: u64, value: T, count: usize) -> Result<()> {
        let mut element = Vec::new();
        T::encode(&[value], &mut element);
        let bytes = element.repeat(count);
        match self.take(|| Step::Write { address, bytes: bytes.clone() }) {
            Taken::Recorded => Ok(()),
            Taken::Run => self.write("fill", address, &bytes),
        }
    }

    pub(crate) fn upload<T: Element>(&self, address: u64, values: &[T]) -> Result<()> {
        let mut bytes = Vec::new();
        T::encode(values, &mut bytes);
        self.write("upload", address, &bytes)
    }

    pub(crate) fn download<T: Element>(&self, address: u64, count: usize) -> Result<Vec<T>> {
        let mut bytes = vec![0; count * T::BYTES];
        self.read("to_vec", address, &mut bytes)?;
        let mut values = Vec::with_capacity(count);
        T::decode(&bytes, &mut values);
        Ok(values)
    }

    pub(crate) fn download_into<T: Element>(&self, address: u64, values: &mut [T]) -> Result<()> {
        values.copy_from_slice(&self.download(address, values.len())?);
        Ok(())
    }

    /// Reads each element by itself, since what lies between them may never have been written.
    pub(crate) fn gather<T: Element>(
        &self,
        address: u64,
        _span: usize,
        offsets: impl Iterator<Item = usize>,
    ) -> Result<Vec<T>> {
        let mut values = Vec::new();
        let mut bytes = vec![0; T::BYTES];
        for offset in offsets {
            self.read("to_vec", address + (offset * T::BYTES) as u64, &mut bytes)?;
            T::decode(&bytes, &mut values);
        }
        Ok(values)
    }

    pub(crate) fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<()> {
        if self.take(|| Step::Copy { from, to, bytes }) == Taken::Recorded {
            return Ok(());
        }
        let machine = &self.machine;
        let copied = machine.memory.copy(from, to, bytes as u64);
        copied.map_err(|cause| machine.memory_error("copy", cause))
    }

    /// Copies to another machine, or to another queue of this one.
    pub(crate) fn copy_to(
        &self,
        from: u64,
        (target, to): (&Self, u64),
        bytes: usize,
    ) -> Result<()> {
        let mut copied = vec![0; bytes];
        self.read("copy", from, &mut copied)?;
        target.write("copy", to, &copied)
    }

    #[expect(clippy::unused_self, reason = "the GPU's queue has the same face")]
    pub(crate) fn record(&self) -> Mark {
        Mark { at: Instant::now() }
    }

    #[expect(clippy::unused_self, reason = "the GPU's queue has the same face")]
    pub(crate) fn encode(&self, encoding: &Encoding) -> Result<TensorMap, Box<str>> {
        let Encoding { rank, ref extents, ref strides_bytes, .. } = *encoding;
        let map = kernel_emulator::TensorMap {
            dtype: encoding.dtype,
            address: encoding.address,
            dims: extents[..rank].to_vec(),
            strides_bytes: strides_bytes[1..rank].to_vec(),
            box_dims: encoding.box_elems[..rank].to_vec(),
            element_strides: encoding.element_strides[..rank].to_vec(),
            interleave: 0,
            swizzle: encoding.swizzle,
            oob_fill: encoding.fill,
        };
        let encoded = match encoding.places {
            None => map.encode(),
            Some(places) => Im2colMap {
                lower_corner: places.lower[..rank.saturating_sub(2)].to_vec(),
                upper_corner: places.upper[..rank.saturating_sub(2)].to_vec(),
                pixels_per_column: places.count,
                tensor: map,
            }
            .encode(),
        };
        encoded.map(TensorMap).map_err(|error| error.to_string().into())
    }

    pub(crate) fn launch(&self, order: &mut Order<'_>) -> Result<()> {
        let machine = &self.machine;
        let Order { image, variant, grid, .. } = *order;
        let recorded = self.take(|| Step::Launch {
            image,
            variant,
            grid,
            blocks: order.blocks,
            values: order.values.to_vec(),
            maps: order.maps.to_vec(),
        });
        if recorded == Taken::Recorded {
            return Ok(());
        }
        let program = machine.program(image, variant)?;
        let refused = |cause: String| machine.load_error(image, variant, &cause);
        let entry = machine.entry(image, variant, &program)?;
        machine.check_limits(image, variant, entry)?;
        let params = parameter_block(entry, order.values, order.maps).map_err(refused)?;
        let grid = match grid {
            Grid::Blocks(blocks) => blocks.map(i32::cast_unsigned),
            Grid::Persistent { at_most } => {
                let resident = machine.properties().multiprocessors;
                [persistent_blocks(at_most, resident, image.cluster[0]), 1, 1]
            }
        };
        let room = machine.resources_of(image, variant, entry).resident_blocks;
        order.require_room(grid, room, || machine.name())?;
        let config = LaunchConfig {
            grid,
            block: [image.threads, 1, 1],
            cluster: image.cluster,
            dynamic_shared_bytes: variant.dynamic_shared_bytes,
        };
        // The compiler writes the fences that the manual asks for, and `ptx!` has to.
        let options = Options::default()
            .with_check_tensor_fences(true)
            .with_check_init_fences(true)
            .with_target(machine.target.name())
            .with_max_instructions(machine.max_instructions);
        let options = match machine.threads {
            Some(threads) => options.with_threads(threads.get()),
            None => options,
        };
        let start = Instant::now();
        let result = machine.run(image, &program, (variant.entry, &config), (&params, &options));
        if let Some(text) = slow::NOTICE.after(image.kernel, start.elapsed()) {
            // Tests hold back what `eprintln!` writes, and tests are what takes long. It can be written or it cannot.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
        let report = result.map_err(|fault| Error::Fault { kernel: image.kernel, fault })?;
        if machine.statistics == Statistics::Written {
            #[expect(clippy::print_stderr, reason = "a variable asks for it; tests hold it back")]
            {
                eprintln!("{}", statistics(order, grid, &report));
            }
        }
        machine.instructions.fetch_add(report.warp_instructions, Ordering::Relaxed);
        *machine.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        Ok(())
    }

    fn write(&self, operation: &'static str, address: u64, bytes: &[u8]) -> Result<()> {
        let written = self.machine.memory.write(address, bytes);
        written.map_err(|cause| self.machine.memory_error(operation, cause))
    }

    fn read(&self, operation: &'static str, address: u64, bytes: &mut [u8]) -> Result<()> {
        let read = self.machine.memory.read(address, bytes);
        read.map_err(|cause| self.machine.memory_error(operation, cause))
    }
}

impl Mark {
    /// Work is done before a call returns.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the GPU's mark has the same face, and may fail"
    )]
    pub(crate) fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// Work is done before a call returns.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the GPU's mark has the same face, and may fail"
    )]
    pub(crate) fn is_done(&self) -> Result<bool> {
        Ok(true)
    }

    pub(crate) fn elapsed_ms(&self, later: &Self) -> f32 {
        let forward = later.at.checked_duration_since(self.at);
        match forward {
            Some(time) => time.as_secs_f32() * 1000.0,
            None => self.at.duration_since(later.at).as_secs_f32() * -1000.0,
        }
    }
}

/// The bytes of the entry parameters: each value cut to its parameter's width at its offset, then the tensor maps.
fn parameter_block(
    entry: &EntryInfo,
    values: &[u64],
    maps: &[TensorMap],
) -> Result<Vec<u8>, String> {
    let (required, actual) = (values.len() + maps.len(), entry.params.len());
    if required != actual {
        return Err(format!("the entry has {actual} parameters, the signature {required}"));
    }
    let mut block = vec![0; entry.param_bytes as usize];
    let mut place = |param: &ParamInfo, bytes: &[u8]| {
        let (start, size) = (param.offset as usize, param.size as usize);
        match (block.get_mut(start..start + size), bytes.get(..size)) {
            (Some(place), Some(bytes)) => {
                place.copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(format!("the entry's parameter `{}` has {size} bytes", param.name)),
        }
    };
    let (plain, behind) = entry.params.split_at(values.len());
    for (param, value) in plain.iter().zip(values) {
        place(param, &value.to_le_bytes())?;
    }
    for (param, map) in behind.iter().zip(maps) {
        if param.size as usize != map.0.len() {
            let (name, size) = (&param.name, param.size);
            return Err(format!(
                "the entry's parameter `{name}` has {size} bytes, a tensor map 128"
            ));
        }
        place(param, &map.0)?;
    }
    Ok(block)
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream of {}", self.machine.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Blocks;

    #[test]
    fn the_instruction_limit_is_the_variables_number_or_the_default() {
        assert_eq!(limit(Some("5000")).ok(), Some(5000));
        assert_eq!(limit(None).ok(), Some(2_147_483_648));
        for nonsense in ["many", "-1", "1e9", ""] {
            let error = limit(Some(nonsense)).expect_err(nonsense);
            assert!(matches!(&error, Error::LimitVariable { actual } if actual == nonsense));
        }
    }

    #[test]
    fn the_number_of_host_threads_is_the_variables_or_the_emulators_own() {
        assert_eq!(threads(Some("2")).ok(), Some(NonZeroUsize::new(2)));
        assert_eq!(threads(None).ok(), Some(None));
        for nonsense in ["all", "0", "-1", ""] {
            let error = threads(Some(nonsense)).expect_err(nonsense);
            assert!(matches!(&error, Error::ThreadsVariable { actual } if actual == nonsense));
        }
    }

    #[test]
    fn statistics_are_written_where_the_variable_asks_for_them() {
        for (variable, required) in [
            (None, Statistics::Omitted),
            (Some(""), Statistics::Omitted),
            (Some(" 0"), Statistics::Omitted),
            (Some("1"), Statistics::Written),
            (Some("yes"), Statistics::Written),
        ] {
            assert_eq!(Statistics::asked(variable), required, "{variable:?}");
        }
    }

    #[test]
    fn a_line_of_statistics_names_the_instance_and_the_variant() {
        static VARIANT: Variant = Variant {
            name: "aligned",
            entry: "scale",
            ptx: "",
            dynamic_shared_bytes: 0,
            cubins: &[],
            tensor_columns: 0,
            requires: &[],
            maps: &[],
            names: None,
        };
        const PLAIN: Image = Image {
            kernel: "scale",
            instance: "",
            target: Target::Sm80,
            threads: 32,
            cluster: [1; 3],
            programmatic: false,
            params: &[],
            declared: &[],
            reports: None,
            stamps: None,
            variants: &[VARIANT],
        };
        static IMAGES: [Image; 2] = [PLAIN, Image { instance: "N = 64", ..PLAIN }];
        let mut report = Report::default();
        report.warp_instructions = 12;
        report.lane_instructions = 380;
        report.shared_bank_conflicts = 7;
        let line = |image: &'static Image| {
            let grid = Grid::Blocks([3, 2, 1]);
            let (values, maps) = (&mut [][..], &mut [][..]);
            let blocks = Blocks::Independent;
            let order = Order { image, variant: &VARIANT, grid, blocks, values, maps };
            statistics(&order, [3, 2, 1], &report)
        };
        let counts = "grid 3x2x1: 12 warp instructions, 380 lane instructions, 7 bank conflicts";
        assert_eq!(line(&IMAGES[0]), format!("kiln: scale, aligned, {counts}"));
        assert_eq!(line(&IMAGES[1]), format!("kiln: scale (N = 64), aligned, {counts}"));
    }
}
