//! All instances of a kernel for all of its targets, with and without its optional arguments: independent images.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    CompiledInstance, Image,
    image::{Around, compile_image},
    threads::share_out,
};
use crate::{
    check,
    diag::Problems,
    elaborate::{Instance, Reports, Request},
    syntax::{self, Kernel, Unit},
};

/// How far to go with a kernel.
#[derive(Clone, Copy)]
pub(super) enum Work {
    /// To its PTX.
    All,
    /// Build it, for its problems.
    Build,
}

/// The instances of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Instances<'a> {
    pub(super) unit: &'a Unit,
    pub(super) kernel: &'a Kernel,
    pub(super) rows: &'a [Instance],
    /// The choices of arguments that are absent; the first is none of them.
    pub(super) absent: &'a [Vec<String>],
    pub(super) targets: &'a [(String, kernel_ptx::Target)],
    pub(super) work: Work,
}

/// What compiling leaves beside the images, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Left {
    pub(super) problems: Problems,
    /// File names and their text.
    pub(super) dumps: Vec<(String, String)>,
    /// What went wrong in making machine code.
    pub(super) failures: Vec<String>,
}

impl Left {
    pub(super) fn extend(&mut self, other: Left) {
        self.problems.extend(other.problems);
        self.dumps.extend(other.dumps);
        other.failures.into_iter().for_each(|failure| self.fail(failure));
    }

    /// Says once that something went wrong in making machine code.
    pub(super) fn fail(&mut self, failure: String) {
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }
}

/// An image.
struct Made {
    /// It says nothing.
    image: Image,
    /// The same with what it says, if that is something.
    says: Option<Image>,
}

impl Instances<'_> {
    /// Compiles all of them. What it gives and leaves is what one thread would, image by image in the order of the text.
    ///
    /// Threads take the images as if nothing were wrong with those before. If something is wrong, those after it are compiled by the
    /// caller, one after the other: what is reported of a kernel depends on what was reported before.
    pub(super) fn compile(self, left: &mut Left, around: Around<'_>) -> Vec<CompiledInstance> {
        let refused = AtomicBool::new(!left.problems.is_empty());
        let mut done =
            share_out(self.rows.len() * self.of_row(), around.options.threads, &|index| {
                if refused.load(Ordering::Relaxed) {
                    return None;
                }
                let mut own = Left::default();
                let image = self.image(index, &mut own, around);
                refused.fetch_or(!own.problems.is_empty(), Ordering::Relaxed);
                Some((image, own))
            })
            .into_iter();
        let before = left.problems.len();
        let mut compiled = Vec::new();
        for (row, instance) in self.rows.iter().enumerate() {
            let (mut images, mut reporting) = (Vec::new(), Vec::new());
            for at in 0..self.of_row() {
                let absent = &self.absent[at / self.targets.len()];
                left.problems.enter_instance(instance.describe(), syntax::without(absent));
                let ready = done.next().flatten().filter(|_| left.problems.is_empty());
                let made = match ready {
                    Some((made, own)) => {
                        left.extend(own);
                        made
                    }
                    None => self.image(row * self.of_row() + at, left, around),
                };
                let Some(Made { image, says }) = made else { continue };
                reporting.push(says.unwrap_or_else(|| image.clone()));
                images.push(image);
            }
            if reporting.iter().all(|image| image.reports.is_none()) {
                reporting.clear();
            }
            compiled.push(CompiledInstance { instance: instance.clone(), images, reporting });
        }
        let all: Vec<String> = self.rows.iter().map(Instance::describe).collect();
        left.problems.leave_instances(before, &all);
        compiled
    }

    /// How many images an instance has.
    fn of_row(self) -> usize {
        self.absent.len() * self.targets.len()
    }

    /// Compiles one image, with what it says and without; none if there are problems, or if building is all.
    fn image(self, index: usize, left: &mut Left, around: Around<'_>) -> Option<Made> {
        let (row, of_row) = (index / self.of_row(), index % self.of_row());
        let (absent, target) = (of_row / self.targets.len(), of_row % self.targets.len());
        let (name, target) = &self.targets[target];
        let request = Request {
            unit: self.unit,
            kernel: self.kernel,
            instance: &self.rows[row],
            absent: &self.absent[absent],
            target: *target,
            reports: Reports::Made,
        };
        match self.work {
            Work::All => {
                let around = Around { row, ..around };
                let mut image = compile_image(&request, name, left, around)?;
                let mut profiled = None;
                if image.has_stamps {
                    let stamped = Request { reports: Reports::Stamped, ..request };
                    profiled = Some(Box::new(compile_image(&stamped, name, left, around)?));
                }
                image.profiled.clone_from(&profiled);
                if image.reports.is_none() {
                    return Some(Made { image, says: None });
                }
                let silent = Request { reports: Reports::LeftOut, ..request };
                let silent = compile_image(&silent, name, left, around)?;
                let silent = Image { profiled, ..silent };
                Some(Made { image: silent, says: Some(image) })
            }
            Work::Build => {
                // What it gives is not complete; its problems count.
                check::instance(&request, &mut left.problems);
                None
            }
        }
    }
}
