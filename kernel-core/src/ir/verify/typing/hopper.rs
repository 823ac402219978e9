//! The typing rules of mbarriers, copies by tensor map, asynchronous products and clusters.

use super::{Outcome, count, gives, holds, none, number, offsets, tensor, whole_tile, window};
use crate::ir::{
    BarrierOp, BarrierType, Bulk, BulkKind, ClusterOp, Dtype, Elem, GridOp, Kernel, Tma, TmaKind,
    TmaOperands, Type,
};

/// One of these operations.
#[derive(Clone, Copy)]
pub(super) enum Hopper {
    Barrier(BarrierOp),
    Tma(Tma),
    Wgmma,
    WgmmaWait,
    Cluster(ClusterOp),
    Grid(GridOp),
    /// A fence or a wait.
    Order,
}

pub(super) fn op(kernel: &Kernel, op: Hopper, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        Hopper::Barrier(op) => barrier(kernel, op, args, result),
        Hopper::Tma(tma) => self::tma(kernel, tma, args, result),
        Hopper::Wgmma => wgmma(args, result),
        Hopper::WgmmaWait => {
            count(args, 1)?;
            holds(number(args[0]).is_some() && args[0].shape().len() == 2, "no accumulator")?;
            gives(result, args[0])
        }
        Hopper::Cluster(ClusterOp::Rank | ClusterOp::BlockId(_) | ClusterOp::Id(_)) => {
            count(args, 0)?;
            gives(result, &Type::scalar(Dtype::I32))
        }
        Hopper::Cluster(ClusterOp::TryCancel) => {
            count(args, 2)?;
            answer(args[0])?;
            holds(!one_barrier(args[1])?.ring, "an answer completes on one barrier")?;
            none(result)
        }
        Hopper::Cluster(ClusterOp::IsCanceled) => {
            count(args, 1)?;
            answer(args[0])?;
            gives(result, &Type::scalar(Dtype::Bool))
        }
        Hopper::Cluster(ClusterOp::CanceledBlockId(_)) => {
            count(args, 1)?;
            answer(args[0])?;
            gives(result, &Type::scalar(Dtype::I32))
        }
        Hopper::Order
        | Hopper::Cluster(ClusterOp::Sync | ClusterOp::Arrive | ClusterOp::Wait)
        | Hopper::Grid(GridOp::LaunchDependents | GridOp::Wait) => {
            count(args, 0)?;
            none(result)
        }
    }
}

/// The window that tells which cluster was cancelled: four words of this block.
fn answer(ty: &Type) -> Outcome {
    let window = window(ty)?;
    let fits = window.shape == [4] && window.dtype == Dtype::U32 && !window.remote;
    holds(fits, "an answer has four words")
}

pub(super) fn one_barrier(ty: &Type) -> Result<BarrierType, String> {
    ty.barrier().copied().ok_or_else(|| "operand 0 is no barrier".to_owned())
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
        BarrierOp::Arrive => count(args, 1)?,
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
        BarrierOp::Alloc(_) | BarrierOp::Expect | BarrierOp::Arrive | BarrierOp::Wait => {
            none(result)
        }
    }
}

/// The extents that are not 1.
fn wide(shape: &[u32]) -> Vec<u32> {
    shape.iter().copied().filter(|extent| *extent != 1).collect()
}

fn tma(kernel: &Kernel, tma: Tma, args: &[&Type], result: Option<&Type>) -> Outcome {
    let (dtype, rank, mutable) = tensor(kernel, tma.param)?;
    count(args, tma.operand_count(rank))?;
    let operands = tma.operands(rank, args);
    if tma.kind.by_rows() {
        return by_rows(kernel, tma, &operands, result);
    }
    offsets(&operands.coordinates)?;
    if let Some(barrier) = operands.barrier {
        holds(!one_barrier(barrier)?.ring, "a copy completes on one barrier")?;
    }
    let mask = operands.mask.is_none_or(|mask| *mask == Type::scalar(Dtype::I32));
    let condition = operands.condition.is_none_or(super::is_bool_scalar);
    holds(mask && condition, "the mask or the condition does not fit")?;
    holds(
        !tma.multicast || tma.kind.completes_on_a_barrier(),
        "only a load goes to several blocks",
    )?;
    if let Some(ty) = operands.window {
        let window = window(ty)?;
        let block = kernel.tma_block(tma.param, &window.shape);
        holds(block.len() == rank, "the block does not fit the tensor")?;
        holds(
            window.dtype == dtype
                && wide(&window.shape) == wide(&block)
                && !window.transposed
                && !window.remote,
            "the window does not fit the block",
        )?;
    }
    match tma.kind {
        TmaKind::Store | TmaKind::Reduce(_) => holds(mutable, "the tensor is read-only")?,
        TmaKind::Load | TmaKind::Staged => {}
        TmaKind::Gather | TmaKind::Scatter => unreachable!("checked above"),
        TmaKind::Prefetch => {
            holds(kernel.params[tma.param as usize].block.is_some(), "the tensor has no block")?;
        }
    }
    none(result)
}

/// Rows of a tensor of rank 2, a tile of `i32` says which.
fn by_rows(
    kernel: &Kernel,
    tma: Tma,
    operands: &TmaOperands<&Type>,
    result: Option<&Type>,
) -> Outcome {
    let (dtype, rank, mutable) = tensor(kernel, tma.param)?;
    holds(rank == 2, "rows are those of a tensor of rank 2")?;
    let [Type::Tile(Elem::Number(Dtype::I32), rows), column] = operands.coordinates[..] else {
        return Err("the rows are no tile of i32".to_owned());
    };
    holds(*column == Type::scalar(Dtype::I32), "the column is not a scalar i32")?;
    if let Some(barrier) = operands.barrier {
        holds(!one_barrier(barrier)?.ring, "a copy completes on one barrier")?;
    }
    let mask = operands.mask.is_none_or(|mask| *mask == Type::scalar(Dtype::I32));
    let condition = operands.condition.is_none_or(super::is_bool_scalar);
    holds(mask && condition, "the mask or the condition does not fit")?;
    let all = tma.kind == TmaKind::Gather || !tma.multicast;
    holds(all, "only a load goes to several blocks")?;
    let window = window(operands.window.ok_or("it has no window")?)?;
    let block = kernel.params[tma.param as usize].block.as_deref();
    let (Some(&[1, columns]), &[count]) = (block, rows.as_slice()) else {
        return Err("the block is not one row, or the rows are not of rank 1".to_owned());
    };
    holds(
        window.dtype == dtype
            && window.shape == [count, columns]
            && !window.transposed
            && !window.remote,
        "the window does not fit the rows",
    )?;
    holds(mutable || tma.kind == TmaKind::Gather, "the tensor is read-only")?;
    none(result)
}

/// A copy of bytes in a row.
pub(super) fn bulk(bulk: Bulk, args: &[&Type], result: Option<&Type>) -> Outcome {
    count(args, bulk.operand_count())?;
    let operands = bulk.operands(args);
    if let Some(barrier) = operands.barrier {
        let barrier = one_barrier(barrier)?;
        holds(!barrier.ring && !barrier.remote, "a copy completes on one barrier of this block")?;
    }
    let mask = operands.mask.is_none_or(|mask| *mask == Type::scalar(Dtype::I32));
    let condition = operands.condition.is_none_or(super::is_bool_scalar);
    holds(mask && condition, "the mask or the condition does not fit")?;
    holds(!bulk.multicast || bulk.kind == BulkKind::Load, "only a load goes to several blocks")?;
    let last = operands.window.map(window).transpose()?;
    holds(last.is_none_or(|window| !window.transposed), "a copy of bytes does not transpose")?;
    match bulk.kind {
        BulkKind::Load | BulkKind::Store | BulkKind::Reduce(_) => {
            let Type::Scalar(Elem::Ptr(to)) = operands.first else {
                return Err("operand 0 is no address".to_owned());
            };
            let fits = last.is_some_and(|window| window.dtype == *to && !window.remote);
            holds(fits, "the window does not fit the address")?;
        }
        BulkKind::Prefetch(_) => {
            let address = matches!(operands.first, Type::Scalar(Elem::Ptr(_)));
            holds(address, "operand 0 is no address")?;
        }
        BulkKind::Send => {
            let from = window(operands.first)?;
            let fits = last
                .is_some_and(|to| to.remote && to.dtype == from.dtype && to.shape == from.shape);
            holds(fits && !from.remote && !from.transposed, "the windows do not fit")?;
        }
    }
    none(result)
}

/// A store to another block that its barrier counts.
pub(super) fn store_async(args: &[&Type], result: Option<&Type>) -> Outcome {
    count(args, 3)?;
    let to = window(args[0])?;
    holds(to.remote, "the window is this block's own")?;
    holds(*args[1] == whole_tile(to), "the tile does not fit the window")?;
    let barrier = one_barrier(args[2])?;
    holds(!barrier.ring && !barrier.remote, "a store completes on one barrier, by its place")?;
    none(result)
}

fn wgmma(args: &[&Type], result: Option<&Type>) -> Outcome {
    count(args, 3)?;
    let (left, dtype) = match args[0] {
        Type::Tile(Elem::Number(dtype), shape) => (shape, *dtype),
        Type::Shared(window) => (&window.shape, window.dtype),
        Type::Tile(Elem::Ptr(_), _)
        | Type::Scalar(_)
        | Type::Barrier(_)
        | Type::TensorMemory(_)
        | Type::Error => {
            return Err("operand 0 is neither a tile nor shared memory".to_owned());
        }
    };
    let right = window(args[1])?;
    let Type::Tile(Elem::Number(sum), out) = args[2] else {
        return Err("the accumulator is no tile".to_owned());
    };
    let shapes = match (left.as_slice(), right.shape.as_slice(), out.as_slice()) {
        ([rows, depth], [depth2, cols], [rows2, cols2]) => {
            depth == depth2 && rows == rows2 && cols == cols2
        }
        _ => false,
    };
    holds(shapes, "the shapes do not fit")?;
    let class = |dtype: Dtype| (dtype.bytes(), dtype.is_float());
    holds(class(dtype) == class(right.dtype), "the element types do not fit")?;
    holds(dtype == right.dtype || dtype.bytes() == 1, "the element types do not fit")?;
    holds(sum.is_float() == dtype.is_float(), "the accumulator's type does not fit")?;
    gives(result, args[2])
}
