//! The typing rules of asynchronous copies.

use super::sync::one_barrier;
use super::{
    Outcome, corner, count, holds, last, none, offsets, pointed, tensor, whole_tile, window,
};
use crate::ir::{
    Bulk, BulkKind, Copied, CopyOp, Dtype, Elem, Kernel, SharedType, Tma, TmaKind, TmaOperands,
    Type, merges,
};

pub(super) fn op(kernel: &Kernel, op: &CopyOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        CopyOp::Async(Copied::Tile { param, extents }, _) => {
            let (dtype, rank, _) = tensor(kernel, *param)?;
            let (copied, positions) = last(args)?;
            corner(positions, rank)?;
            let window = window(copied)?;
            holds(
                window.dtype == dtype
                    && extents.shape().len() == rank
                    && merges(extents.shape(), &window.shape),
                "the window does not fit the tensor",
            )?;
        }
        CopyOp::Async(Copied::Addresses { masked }, _) => addresses(*masked, args)?,
        CopyOp::Tma(tma) => self::tma(kernel, *tma, args)?,
        CopyOp::Bulk(bulk) => self::bulk(*bulk, args)?,
        CopyOp::StoreAsync => store_async(args)?,
        CopyOp::Commit
        | CopyOp::Wait(_)
        | CopyOp::WaitAll
        | CopyOp::Staged(_)
        | CopyOp::BulkWait { .. } => count(args, 0)?,
    }
    none(result)
}

fn tma(kernel: &Kernel, tma: Tma, args: &[&Type]) -> Outcome {
    let (dtype, rank, mutable) = tensor(kernel, tma.param)?;
    count(args, tma.operand_count(rank))?;
    let operands = tma.operands(rank, args);
    holds(
        tma.slice.axes().all(|axis| axis < rank)
            && (tma.slice.is_empty() || !tma.kind.by_rows() && !kernel.has_filter(tma.param)),
        "no slice bounds these axes of the copy",
    )?;
    if tma.kind.by_rows() {
        return by_rows(kernel, tma, &operands);
    }
    offsets(&operands.coordinates)?;
    for (_, bounds) in &operands.slice {
        offsets(bounds)?;
    }
    if let Some(barrier) = operands.barrier {
        holds(!one_barrier(barrier)?.ring, "a copy completes on one barrier")?;
    }
    let mask = operands.mask.is_none_or(|mask| *mask == Type::scalar(Dtype::I32));
    let condition = operands.condition.is_none_or(super::is_bool_scalar);
    holds(mask && condition, "the mask or the condition does not fit")?;
    holds(
        !tma.multicast || tma.kind.completes_on_a_barrier(),
        "only a load can go to several blocks",
    )?;
    if let Some(ty) = operands.window {
        let window = window(ty)?;
        let block = kernel.tma_block(tma, &window.shape);
        holds(block.len() == rank, "the block does not fit the tensor")?;
        holds(
            window.dtype == dtype
                && merges(&window.shape, &block)
                && !window.transposed
                && (window.is_plain() || window.shape.len() == 2)
                && !window.remote,
            "the window does not fit the block",
        )?;
    }
    let filter = &kernel.params[tma.param as usize].map.filter;
    holds(
        filter.is_empty() || filter.len() + 2 == rank && !tma.kind.reads_shared(),
        "the filter does not fit the tensor or the copy",
    )?;
    match tma.kind {
        TmaKind::Store | TmaKind::Reduce(_) => holds(mutable, "the tensor is read-only")?,
        TmaKind::Load | TmaKind::Staged => {}
        TmaKind::Gather | TmaKind::Scatter => unreachable!("checked above"),
        TmaKind::Prefetch => {
            holds(kernel.params[tma.param as usize].block.is_some(), "the tensor has no block")?;
        }
    }
    Ok(())
}

/// Rows of a tensor of rank 2, a tile of `i32` says which.
fn by_rows(kernel: &Kernel, tma: Tma, operands: &TmaOperands<&Type>) -> Outcome {
    let (dtype, rank, mutable) = tensor(kernel, tma.param)?;
    holds(rank == 2, "rows are those of a tensor of rank 2")?;
    let [Type::Tile(Elem::Number(Dtype::I32), rows), column] = operands.coordinates[..] else {
        return Err("the rows are not a tile of i32".to_owned());
    };
    holds(*column == Type::scalar(Dtype::I32), "the column is not a scalar i32")?;
    if let Some(barrier) = operands.barrier {
        holds(!one_barrier(barrier)?.ring, "a copy completes on one barrier")?;
    }
    let mask = operands.mask.is_none_or(|mask| *mask == Type::scalar(Dtype::I32));
    let condition = operands.condition.is_none_or(super::is_bool_scalar);
    holds(mask && condition, "the mask or the condition does not fit")?;
    let all = tma.kind == TmaKind::Gather || !tma.multicast;
    holds(all, "only a load can go to several blocks")?;
    let window = window(operands.window.ok_or("it has no window")?)?;
    let block = kernel.params[tma.param as usize].block.as_deref();
    let (Some(&[1, columns]), &[count]) = (block, rows.as_slice()) else {
        return Err("the block is not one row, or the rows are not of rank 1".to_owned());
    };
    holds(
        window.dtype == dtype
            && window.shape == [count, columns]
            && !window.transposed
            && window.is_plain()
            && !window.remote,
        "the window does not fit the rows",
    )?;
    holds(mutable || tma.kind == TmaKind::Gather, "the tensor is read-only")?;
    Ok(())
}

/// A copy of the elements at a tile of addresses.
fn addresses(masked: bool, args: &[&Type]) -> Outcome {
    count(args, if masked { 4 } else { 2 })?;
    let (value, mask) = pointed(args[0])?;
    let (copied, _) = last(args)?;
    let window = window(copied)?;
    let other = value.elem().map(Type::Scalar);
    holds(
        !masked || *args[1] == mask && Some(args[2]) == other.as_ref(),
        "mask or other does not fit",
    )?;
    holds(
        matches!(args[0], Type::Tile(..))
            && value.elem() == Some(Elem::Number(window.dtype))
            && merges(value.shape(), &window.shape)
            && !window.remote,
        "the window does not fit the addresses",
    )
}

/// A copy of bytes in a row.
fn bulk(bulk: Bulk, args: &[&Type]) -> Outcome {
    count(args, bulk.operand_count())?;
    let operands = bulk.operands(args);
    if let Some(barrier) = operands.barrier {
        let barrier = one_barrier(barrier)?;
        holds(!barrier.ring && !barrier.remote, "a copy completes on one barrier of this block")?;
    }
    let mask = operands.mask.is_none_or(|mask| *mask == Type::scalar(Dtype::I32));
    let condition = operands.condition.is_none_or(super::is_bool_scalar);
    holds(mask && condition, "the mask or the condition does not fit")?;
    holds(!bulk.multicast || bulk.kind == BulkKind::Load, "only a load can go to several blocks")?;
    let last = operands.window.map(window).transpose()?;
    let as_made = |window: &SharedType| !window.transposed && window.is_dense();
    holds(last.is_none_or(as_made), "a bulk copy does not transpose")?;
    match bulk.kind {
        BulkKind::Load | BulkKind::Store | BulkKind::Reduce(_) => {
            let Type::Scalar(Elem::Ptr(to)) = operands.first else {
                return Err("operand 0 is not an address".to_owned());
            };
            let fits = last.is_some_and(|window| window.dtype == *to && !window.remote);
            holds(fits, "the window does not fit the address")?;
        }
        BulkKind::Prefetch(_) => {
            let address = matches!(operands.first, Type::Scalar(Elem::Ptr(_)));
            holds(address, "operand 0 is not an address")?;
        }
        BulkKind::Send => {
            let from = window(operands.first)?;
            let fits = last
                .is_some_and(|to| to.remote && to.dtype == from.dtype && to.shape == from.shape);
            holds(fits && !from.remote && as_made(from), "the windows do not fit")?;
        }
    }
    Ok(())
}

/// A store to another block that its barrier counts.
fn store_async(args: &[&Type]) -> Outcome {
    count(args, 3)?;
    let to = window(args[0])?;
    holds(to.remote, "the window is this block's own")?;
    holds(*args[1] == whole_tile(to), "the tile does not fit the window")?;
    let barrier = one_barrier(args[2])?;
    holds(!barrier.ring && !barrier.remote, "a store completes on one barrier, by its place")?;
    Ok(())
}
