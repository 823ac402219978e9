//! Recorded work of the emulator: a list of steps, run one after another by each launch.

use super::{Collect, Queue, collect};
use crate::{
    Grid, Image, Result, Variant, back_end::Order, launch::Blocks, pinned::Memory,
    tensor_map::TensorMap,
};
use std::sync::{Arc, MutexGuard, PoisonError};

/// Recorded work.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    steps: Vec<Step>,
}

/// One request to a queue.
#[derive(Debug)]
pub(super) enum Step {
    Launch {
        image: &'static Image,
        variant: &'static Variant,
        grid: Grid,
        blocks: Blocks,
        values: Vec<u64>,
        maps: Vec<TensorMap>,
    },
    Write {
        address: u64,
        bytes: Vec<u8>,
    },
    Copy {
        from: u64,
        to: u64,
        bytes: usize,
    },
    Upload {
        address: u64,
        from: Arc<Memory>,
    },
    Download {
        address: u64,
        to: Arc<Memory>,
    },
    Collect(Vec<Collect>),
}

/// What happens to a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was recorded.
    Recorded,
    /// Nothing is being recorded: it has to run.
    Run,
}

impl Queue {
    #[expect(clippy::unnecessary_wraps, reason = "the GPU's queue has the same face, and may fail")]
    pub(crate) fn begin_capture(&self) -> Result<()> {
        *self.steps() = Some(Vec::new());
        Ok(())
    }

    pub(crate) fn end_capture(&self) -> Graph {
        Graph { steps: self.steps().take().unwrap_or_default() }
    }

    fn steps(&self) -> MutexGuard<'_, Option<Vec<Step>>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a step if the queue is being recorded.
    pub(super) fn take(&self, step: impl FnOnce() -> Step) -> Taken {
        match self.steps().as_mut() {
            None => Taken::Run,
            Some(steps) => {
                steps.push(step());
                Taken::Recorded
            }
        }
    }

    pub(crate) fn launch_graph(&self, graph: &Graph) -> Result<()> {
        graph.steps.iter().try_for_each(|step| self.run(step))
    }

    fn run(&self, step: &Step) -> Result<()> {
        match step {
            Step::Launch { image, variant, grid, blocks, values, maps } => {
                let (mut values, mut maps) = (values.clone(), maps.clone());
                let (values, maps) = (&mut values[..], &mut maps[..]);
                let (grid, blocks) = (*grid, *blocks);
                self.launch(&mut Order { image, variant, grid, blocks, values, maps })
            }
            Step::Write { address, bytes } => self.write("fill", *address, bytes),
            Step::Copy { from, to, bytes } => self.copy(*from, *to, *bytes),
            Step::Upload { address, from } => self.upload_pinned(*address, from),
            Step::Download { address, to } => self.download_pinned(*address, to),
            Step::Collect(collects) => collect::run(collects),
        }
    }

    pub(crate) fn upload_pinned(&self, address: u64, from: &Arc<Memory>) -> Result<()> {
        let step = || Step::Upload { address, from: Arc::clone(from) };
        match self.take(step) {
            Taken::Recorded => Ok(()),
            Taken::Run => from.copy_out(|bytes| self.write("upload_async", address, bytes)),
        }
    }

    pub(crate) fn download_pinned(&self, address: u64, to: &Arc<Memory>) -> Result<()> {
        let step = || Step::Download { address, to: Arc::clone(to) };
        match self.take(step) {
            Taken::Recorded => Ok(()),
            Taken::Run => to.copy_in(|bytes| self.read("download_async", address, bytes)),
        }
    }
}
