//! The typing rules of tensor memory and of what the fifth generation of tensor cores does.

use super::{Outcome, count, gives, holds, hopper, is_bool_scalar, none, window};
use crate::ir::{CtaGroup, Dtype, Elem, Kernel, Tcgen05, TensorMemoryOp, TensorMemoryType, Type};

/// The window of tensor memory that an operand is.
fn of_tensor_memory(ty: &Type) -> Result<&TensorMemoryType, String> {
    ty.tensor_memory().ok_or_else(|| "an operand is not in tensor memory".to_owned())
}

/// One tile of tensor memory.
fn one_tile(ty: &Type) -> Result<&TensorMemoryType, String> {
    let window = of_tensor_memory(ty)?;
    holds(window.shape.len() == 2, "one tile is used at a time")?;
    Ok(window)
}

pub(super) fn memory(
    kernel: &Kernel,
    op: TensorMemoryOp,
    args: &[&Type],
    result: Option<&Type>,
) -> Outcome {
    match op {
        TensorMemoryOp::Alloc(root) => {
            count(args, 0)?;
            let data = &kernel.tensor_memory[root];
            let (dtype, shape) = (data.dtype, data.shape.clone());
            gives(result, &Type::TensorMemory(TensorMemoryType { root, dtype, shape }))
        }
        TensorMemoryOp::Index => {
            count(args, 2)?;
            let mut window = of_tensor_memory(args[0])?.clone();
            holds(window.shape.len() == 3, "there is only one tile")?;
            holds(*args[1] == Type::scalar(Dtype::I32), "operand 1 is not a scalar i32")?;
            window.shape.remove(0);
            gives(result, &Type::TensorMemory(window))
        }
        TensorMemoryOp::Tile(at) => {
            count(args, 1)?;
            let from = one_tile(args[0])?;
            let Some(Type::TensorMemory(part)) = result else {
                return Err("a part of tensor memory is a window of it".to_owned());
            };
            let within = part.shape.len() == 2
                && at.iter().zip(&part.shape).zip(&from.shape).all(|((&at, &own), &extent)| {
                    own.is_power_of_two() && at % own == 0 && at + own <= extent
                });
            holds(within && part.root == from.root, "a part of tensor memory lies elsewhere")?;
            holds(part.dtype == from.dtype, "the element types do not fit")
        }
        TensorMemoryOp::View(root) => {
            count(args, 1)?;
            let from = one_tile(args[0])?;
            let data = &kernel.tensor_memory[root];
            let same = data.of == Some(kernel.tensor_columns(from.root));
            holds(same, "a view is one of other columns")?;
            let (dtype, shape) = (data.dtype, data.shape.clone());
            gives(result, &Type::TensorMemory(TensorMemoryType { root, dtype, shape }))
        }
        TensorMemoryOp::Load => {
            count(args, 1)?;
            let window = one_tile(args[0])?;
            gives(result, &Type::Tile(Elem::Number(window.dtype), window.shape.clone()))
        }
        TensorMemoryOp::Store => {
            count(args, 2)?;
            let window = one_tile(args[0])?;
            let tile = Type::Tile(Elem::Number(window.dtype), window.shape.clone());
            holds(*args[1] == tile, "the tile does not fit the window")?;
            none(result)
        }
    }
}

pub(super) fn tcgen05(op: Tcgen05, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        Tcgen05::Mma { group, scaled, guarded } => {
            let scales = if scaled.is_some() { 2 } else { 0 };
            count(args, 4 + scales + usize::from(guarded))?;
            let (left, dtype) = match args[0] {
                Type::TensorMemory(window) => (&window.shape, window.dtype),
                Type::Shared(window) => (&window.shape, window.dtype),
                Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => {
                    return Err("operand 0 is in neither shared nor tensor memory".to_owned());
                }
            };
            // Each block of a pair has half of the columns.
            let blocks = match group {
                CtaGroup::One => 1,
                CtaGroup::Pair => 2,
            };
            let (right, sums) = (window(args[1])?, one_tile(args[2])?);
            let fits = match (left.as_slice(), right.shape.as_slice(), sums.shape.as_slice()) {
                ([rows, depth], [depth2, cols], [rows2, all]) => {
                    let numbers = [depth * dtype.numbers(), depth2 * right.dtype.numbers()];
                    numbers[0] == numbers[1] && (rows, blocks * cols) == (rows2, *all)
                }
                _ => false,
            };
            holds(fits, "the shapes do not fit")?;
            holds(
                dtype.number_bytes() == right.dtype.number_bytes(),
                "the element types do not fit",
            )?;
            holds(is_bool_scalar(args[3]), "operand 3 is not a scalar bool")?;
            if let Some(scaled) = scaled {
                holds(group == CtaGroup::One, "no pair of blocks has scales")?;
                let depth = right.shape[0] * right.dtype.numbers() / scaled.block();
                for (scales, extent) in [(args[4], sums.shape[0]), (args[5], sums.shape[1])] {
                    let scales = one_tile(scales)?;
                    holds(scales.dtype.bytes() == 1, "scales are bytes")?;
                    holds(scales.shape == [extent, depth], "the scales do not fit")?;
                }
            }
        }
        Tcgen05::Copy { guarded } => {
            count(args, 2 + usize::from(guarded))?;
            let (from, to) = (window(args[0])?, one_tile(args[1])?);
            holds(from.shape == to.shape, "the shapes do not fit")?;
            holds(from.dtype == to.dtype, "the element types do not fit")?;
        }
        Tcgen05::Commit { multicast, guarded } => {
            count(args, 1 + usize::from(multicast) + usize::from(guarded))?;
            holds(!hopper::one_barrier(args[0])?.ring, "a commit arrives at one barrier")?;
        }
        Tcgen05::FenceBefore | Tcgen05::FenceAfter => count(args, 0)?,
    }
    let mask = op.mask(args).is_none_or(|mask| *mask == Type::scalar(Dtype::I32));
    holds(
        mask && op.condition(args).is_none_or(is_bool_scalar),
        "the mask or the condition does not fit",
    )?;
    none(result)
}
