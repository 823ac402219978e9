//! Ops with more inputs than candle's graph supports.
//!
//! candle's largest op has three inputs. If an op has more, a tensor of one element stands for those from the third on.
//! It is the output of a node of this module that has them as inputs (or two of them, and another such tensor). In a
//! backward step the op with many inputs comes first and stores their gradients; the nodes that join them then take the
//! gradients of their own inputs.

use crate::{
    call::Given,
    graph::{MOST_INPUTS, Node, insert},
    place::Source,
};
use candle_core::{CpuStorage, Result, Shape, Storage, Tensor};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, ThreadId},
};

/// Gradients between an op and the nodes that join its inputs. One thread does a backward step from start to end;
/// several steps may go through one graph at the same time.
#[derive(Default)]
pub(crate) struct Gradients(Mutex<HashMap<ThreadId, Vec<Option<Tensor>>>>);

impl Gradients {
    /// Stores the gradients of all joined inputs.
    pub(crate) fn leave(&self, gradients: Vec<Option<Tensor>>) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.insert(thread::current().id(), gradients);
    }

    /// Takes the gradients of `count` inputs.
    fn take(&self, from: usize, count: usize) -> Vec<Option<Tensor>> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = thread::current().id();
        let Some(gradients) = left.get_mut(&id) else { return vec![None; count] };
        let taken = gradients.iter_mut().skip(from).take(count).map(Option::take).collect();
        if gradients.iter().all(Option::is_none) {
            left.remove(&id);
        }
        taken
    }
}

/// The tensor that stands for others, of which there are two or more.
pub(crate) fn join(
    name: &'static str,
    tensors: &[&Tensor],
    gradients: &Arc<Gradients>,
) -> Result<Tensor> {
    join_from(0, name, tensors, gradients)
}

fn join_from(
    from: usize,
    name: &'static str,
    tensors: &[&Tensor],
    gradients: &Arc<Gradients>,
) -> Result<Tensor> {
    let join = |own| Join { name, from, own, gradients: Arc::clone(gradients) };
    if tensors.len() <= MOST_INPUTS {
        return insert(join(tensors.len()), tensors);
    }
    let (own, rest) = tensors.split_at(MOST_INPUTS - 1);
    let rest = join_from(from + own.len(), name, rest, gradients)?;
    insert(join(own.len()), &[own, &[&rest]].concat())
}

struct Join {
    name: &'static str,
    /// The first of its inputs among all that are joined.
    from: usize,
    /// How many inputs are its own; one more stands for the others.
    own: usize,
    gradients: Arc<Gradients>,
}

impl Node for Join {
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&self, inputs: Vec<Given<'_>>) -> Result<(Storage, Shape)> {
        let shape = Shape::from(1);
        let storage = match inputs[0].0 {
            Source::Cpu(_) => Storage::Cpu(CpuStorage::F32(vec![0.0])),
            #[cfg(feature = "cuda")]
            Source::Cuda(storage) => {
                use candle_core::{DType, backend::BackendDevice};
                Storage::Cuda(storage.device.zeros_impl(&shape, DType::F32)?)
            }
        };
        Ok((storage, shape))
    }

    fn backward(&self, _: &[&Tensor], _: &Tensor, _: &Tensor) -> Result<Vec<Option<Tensor>>> {
        Ok(self.gradients.take(self.from, self.own))
    }
}
