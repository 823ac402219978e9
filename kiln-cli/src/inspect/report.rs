//! All that is known of the kernels of a dump.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernel_ptx::{Function, Module, parse};

use super::dump::{Dump, Label};
use super::kernel::Figures;
use super::layouts::Dumped;
use super::occupancy::{self, Block, Occupancy};
use super::ptxas::{self, Usage};
use super::tools::Tools;

/// The kernels, and what could not be read.
#[derive(Debug, Default)]
pub struct Report {
    /// An entry of a PTX file each, in the order of the files.
    pub kernels: Vec<Kernel>,
    /// Files that could not be read or assembled, and why.
    pub problems: Vec<String>,
    /// The programs that were used.
    pub tools: Tools,
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
}

/// Looks at dumps, several at once.
pub fn of(dumps: &[Dump], tools: Tools) -> Report {
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
                    let found = one(dump, &tools);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, found));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    let mut report = Report { tools, ..Report::default() };
    for (_, found) in done {
        report.kernels.extend(found.kernels);
        report.problems.extend(found.problems);
    }
    report
}

/// What is found of a file.
#[derive(Default)]
struct Found {
    kernels: Vec<Kernel>,
    problems: Vec<String>,
}

fn one(dump: &Dump, tools: &Tools) -> Found {
    let mut found = Found::default();
    let place = dump.file.display();
    let module = match parse(&dump.ptx) {
        Ok(module) => module,
        Err(error) => {
            found.problems.push(format!("{place}: {error}"));
            return found;
        }
    };
    let layouts = dump.layouts.as_deref().and_then(|text| match Dumped::read(text) {
        Ok(read) => Some(read),
        Err(error) => {
            found.problems.push(format!("{place}: the dump of layouts beside it: {error}"));
            None
        }
    });
    let architecture = module.target.first().cloned().unwrap_or_default();
    let assembled = tools.ptxas.as_ref().and_then(|program| {
        match ptxas::assemble(program, &dump.ptx, &architecture) {
            Ok(assembled) => Some(assembled),
            Err(error) => {
                found.problems.push(format!("{place}: {error}"));
                None
            }
        }
    });
    let entries = module.functions.iter().filter(|one| one.is_entry && one.body.is_some());
    for function in entries {
        let usage = assembled.as_ref().and_then(|one| Usage::read(&one.said, &function.name));
        match kernel(dump, &module, function, (layouts.clone(), usage)) {
            Ok(kernel) => found.kernels.push(kernel),
            Err(error) => found.problems.push(format!("{place}: {error}")),
        }
    }
    if found.kernels.is_empty() && found.problems.is_empty() {
        found.problems.push(format!("{place}: required a kernel (`.entry` with a body), actual none"));
    }
    found
}

fn kernel(
    dump: &Dump,
    module: &Module,
    function: &Function,
    (layouts, usage): (Option<Dumped>, Option<Usage>),
) -> Result<Kernel, String> {
    let allocated = layouts.as_ref().map_or(0, Dumped::allocated);
    let figures = Figures::of(module, function, allocated)?;
    let registers = usage.as_ref().map(|usage| usage.registers);
    let shared_bytes = figures.static_shared.saturating_add(figures.dynamic_shared);
    let tensor_columns = figures.tensor_columns;
    let occupancy = figures.threads.into_iter().flat_map(|threads| {
        let block = Block { threads, registers, shared_bytes, tensor_columns };
        let gpus = occupancy::gpus(figures.target).into_iter();
        gpus.map(move |gpu| (occupancy::name(gpu), occupancy::of(&block, gpu)))
    });
    let stem = dump.file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Kernel {
        label: Label::read(&stem, &function.name),
        file: dump.file.clone(),
        occupancy: occupancy.collect(),
        figures,
        usage,
        layouts,
        order: dump.order.clone(),
    })
}
