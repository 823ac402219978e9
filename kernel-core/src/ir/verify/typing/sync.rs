//! The typing rules of barriers, clusters and grids.

use super::{Outcome, count, gives, holds, none, window};
use crate::ir::{BarrierOp, BarrierType, ClusterOp, Dtype, Kernel, SyncOp, Type};

pub(super) fn op(kernel: &Kernel, op: &SyncOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        SyncOp::Barrier(op) => barrier(kernel, *op, args, result),
        SyncOp::Cluster(op) => cluster(*op, args, result),
        SyncOp::Block | SyncOp::FenceAsync | SyncOp::Named(..) | SyncOp::Grid(_) => {
            count(args, 0)?;
            none(result)
        }
    }
}

fn cluster(op: ClusterOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        ClusterOp::Rank | ClusterOp::BlockId(_) | ClusterOp::Id(_) => {
            count(args, 0)?;
            gives(result, &Type::scalar(Dtype::I32))
        }
        ClusterOp::TryCancel => {
            count(args, 2)?;
            answer(args[0])?;
            holds(!one_barrier(args[1])?.ring, "an answer completes on one barrier")?;
            none(result)
        }
        ClusterOp::IsCanceled => {
            count(args, 1)?;
            answer(args[0])?;
            gives(result, &Type::scalar(Dtype::Bool))
        }
        ClusterOp::CanceledBlockId(_) => {
            count(args, 1)?;
            answer(args[0])?;
            gives(result, &Type::scalar(Dtype::I32))
        }
        ClusterOp::Sync | ClusterOp::Arrive | ClusterOp::Wait => {
            count(args, 0)?;
            none(result)
        }
    }
}

/// The window that tells which cluster was cancelled: four words of this block.
fn answer(ty: &Type) -> Outcome {
    let window = window(ty)?;
    let fits = window.shape == [4] && window.dtype == Dtype::U32 && !window.remote;
    holds(fits, "the answer of `cluster::try_cancel` is four `u32`")
}

pub(super) fn one_barrier(ty: &Type) -> Result<BarrierType, String> {
    ty.barrier().copied().ok_or_else(|| "operand 0 is not a barrier".to_owned())
}

fn barrier(kernel: &Kernel, op: BarrierOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    if let BarrierOp::Alloc(root) = op {
        count(args, 0)?;
        let ring = kernel.barriers[root].ring.is_some();
        return gives(result, &Type::Barrier(BarrierType { root, ring, remote: false }));
    }
    let source = one_barrier(args.first().ok_or("it has no operands")?)?;
    let number = Type::scalar(Dtype::I32);
    match op {
        BarrierOp::Alloc(_) => unreachable!("checked above"),
        BarrierOp::Arrive(_) => count(args, 1)?,
        BarrierOp::Index
        | BarrierOp::Remote
        | BarrierOp::Expect
        | BarrierOp::Wait
        | BarrierOp::Test => {
            count(args, 2)?;
            holds(*args[1] == number, "operand 1 is not a scalar i32")?;
        }
    }
    holds(source.ring == (op == BarrierOp::Index), "one barrier of a ring is used at a time")?;
    match op {
        BarrierOp::Index => gives(result, &Type::Barrier(BarrierType { ring: false, ..source })),
        BarrierOp::Remote => gives(result, &Type::Barrier(BarrierType { remote: true, ..source })),
        BarrierOp::Test => gives(result, &Type::scalar(Dtype::Bool)),
        BarrierOp::Alloc(_) | BarrierOp::Expect | BarrierOp::Arrive(_) | BarrierOp::Wait => {
            none(result)
        }
    }
}
