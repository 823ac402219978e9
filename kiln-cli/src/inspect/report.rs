//! All that is known of the kernels of a dump.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernel_ptx::{Function, Module, parse};

use super::dump::{Dump, Label};
use super::gpus;
use super::kernel::Figures;
use super::layouts::Dumped;
use super::loops::{self, Loop};
use super::order;
use super::ptxas::{self, Assembled, Usage};
use super::sass;
use super::source::{self, Listing, Roots, Source};
use super::times::{self, Spent};
use super::tools::Tools;
use kernel_ptx::occupancy::{self, Block, Occupancy};

/// The kernels, and what could not be read.
#[derive(Debug, Default)]
pub struct Report {
    /// An entry of a PTX file each, in the order of the files.
    pub kernels: Vec<Kernel>,
    /// Files that could not be read or assembled, and why.
    pub problems: Vec<String>,
    /// The programs that were used.
    pub tools: Tools,
    /// The source files that the kernels name, in the order of their names.
    pub sources: Vec<Source>,
}

/// Whether machine code is shown, which takes a disassembler and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineCode {
    /// It is.
    Shown,
    /// It is not.
    LeftOut,
}

/// How dumps are looked at.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The programs.
    pub tools: Tools,
    /// Whether machine code is shown.
    pub machine_code: MachineCode,
    /// A folder that paths of source files start from; others are tried without.
    pub source: Option<PathBuf>,
}

/// An instance of a kernel for a target, in a variant.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What the name of the file says.
    pub label: Label,
    /// The PTX file.
    pub file: PathBuf,
    /// What the PTX shows.
    pub figures: Figures,
    /// What ptxas said; none without it.
    pub usage: Option<Usage>,
    /// What a multiprocessor of each GPU that runs it holds; none without a number of threads.
    pub occupancy: Vec<(&'static str, Occupancy)>,
    /// The dump of layouts.
    pub layouts: Option<Dumped>,
    /// What is known of the order.
    pub order: Option<String>,
    /// How long each phase of the compiler took; empty if nothing says so.
    pub times: Vec<Spent>,
    /// The loops.
    pub loops: Vec<Loop>,
    /// The PTX by lines of the source.
    pub ptx: Listing,
    /// The machine code by lines of the source; none without nvdisasm, or if it is left out.
    pub sass: Option<Listing>,
    /// The source files of the PTX: their numbers and paths.
    pub files: Vec<(u32, String)>,
}

/// Looks at dumps, several at once.
pub fn of(dumps: &[Dump], ways: Ways) -> Report {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(dumps.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((index, dump)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    dumps.get(index).map(|dump| (index, dump))
                } {
                    let found = one(dump, &ways);
                    done.lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((index, found));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    let roots = dumps.iter().filter_map(|dump| Some(dump.file.parent()?.to_owned()));
    let roots = Roots::of(ways.source.as_deref(), &roots.collect::<BTreeSet<_>>());
    let mut report = Report { tools: ways.tools, ..Report::default() };
    for (_, found) in done {
        report.kernels.extend(found.kernels);
        report.problems.extend(found.problems);
    }
    let names = report.kernels.iter().flat_map(|kernel| &kernel.files).map(|(_, name)| name);
    let names: BTreeSet<&String> = names.collect();
    report.sources = names.into_iter().map(|name| Source::read(name, &roots)).collect();
    report
}

/// What is found of a file.
#[derive(Default)]
struct Found {
    kernels: Vec<Kernel>,
    problems: Vec<String>,
}

/// What programs made of a file.
#[derive(Default)]
struct Made {
    layouts: Option<Dumped>,
    order: Option<String>,
    times: Vec<Spent>,
    assembled: Option<Assembled>,
    disassembled: Option<String>,
}

fn one(dump: &Dump, ways: &Ways) -> Found {
    let mut found = Found::default();
    let place = dump.file.display();
    let module = match parse(&dump.ptx) {
        Ok(module) => module,
        Err(error) => {
            found.problems.push(format!("{place}: {error}"));
            return found;
        }
    };
    let made = made(dump, &module, ways, &mut found.problems);
    let entries = module.functions.iter().filter(|one| one.is_entry && one.body.is_some());
    for function in entries {
        match kernel(dump, &module, function, &made) {
            Ok(kernel) => found.kernels.push(kernel),
            Err(error) => found.problems.push(format!("{place}: {error}")),
        }
    }
    if found.kernels.is_empty() && found.problems.is_empty() {
        found
            .problems
            .push(format!("{place}: required a kernel (`.entry` with a body), actual none"));
    }
    found
}

fn made(dump: &Dump, module: &Module, ways: &Ways, problems: &mut Vec<String>) -> Made {
    let mut made = Made::default();
    let mut kept = |problem: &str| problems.push(format!("{}: {problem}", dump.file.display()));
    match dump.layouts.as_deref().map(Dumped::read) {
        Some(Ok(read)) => made.layouts = Some(read),
        Some(Err(error)) => kept(&format!("the dump of layouts beside it: {error}")),
        None => {}
    }
    match dump.order.as_deref().map(order::verdict) {
        Some(Ok(verdict)) => made.order = Some(verdict.to_owned()),
        Some(Err(error)) => kept(&format!("the dump of the order beside it: {error}")),
        None => {}
    }
    match dump.times.as_deref().map(times::read) {
        Some(Ok(read)) => made.times = read,
        Some(Err(error)) => kept(&format!("the dump of times beside it: {error}")),
        None => {}
    }
    let Some(ptxas) = &ways.tools.ptxas else { return made };
    let architecture = module.target.first().map_or("", String::as_str);
    match ptxas::assemble(ptxas, &dump.ptx, architecture) {
        Ok(assembled) => made.assembled = Some(assembled),
        Err(error) => kept(&error),
    }
    if ways.machine_code == MachineCode::Shown
        && let Some(assembled) = &made.assembled
        && let Some(nvdisasm) = &ways.tools.nvdisasm
    {
        match sass::disassemble(nvdisasm, &assembled.cubin) {
            Ok(printed) => made.disassembled = Some(printed),
            Err(error) => kept(&error),
        }
    }
    made
}

fn kernel(
    dump: &Dump,
    module: &Module,
    function: &Function,
    made: &Made,
) -> Result<Kernel, String> {
    let name = &function.name;
    let usage = made.assembled.as_ref().and_then(|one| Usage::read(&one.said, name));
    let allocated = made.layouts.as_ref().map_or(0, Dumped::allocated);
    let figures = Figures::of(module, function, allocated)?;
    let registers = usage.as_ref().map(|usage| usage.registers);
    let shared_bytes = figures.static_shared.saturating_add(figures.dynamic_shared);
    let tensor_columns = figures.tensor_columns;
    let occupancy = figures.threads.into_iter().flat_map(|threads| {
        let block = Block { threads, registers, shared_bytes, tensor_columns };
        let shown = gpus::gpus(figures.target).into_iter();
        shown.map(move |gpu| (gpus::name(gpu), occupancy::of(&block, gpu)))
    });
    let stem = dump.file.file_stem().unwrap_or_default().to_string_lossy();
    let lines = super::kernel::instructions(function).map(|instruction| instruction.line);
    let lines = lines.fold([u32::MAX, 0], |[first, last], line| [first.min(line), last.max(line)]);
    Ok(Kernel {
        label: Label::read(&stem, name),
        file: dump.file.clone(),
        occupancy: occupancy.collect(),
        figures,
        usage,
        layouts: made.layouts.clone(),
        order: made.order.clone(),
        times: made.times.clone(),
        loops: loops::of(function),
        ptx: source::of_ptx(&dump.ptx, &module.files, lines),
        sass: made.disassembled.as_ref().map(|printed| sass::of_entry(printed, name)),
        files: module.files.clone(),
    })
}
