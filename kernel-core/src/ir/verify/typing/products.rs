//! The typing rules of matrix products.

use super::sync::one_barrier;
use super::tensor_memory::one_tile;
use super::{Outcome, count, gives, holds, is_bool_scalar, none, number, window};
use crate::ir::{CtaGroup, Dtype, Elem, Factors, Multiplied, ProductOp, Sparsity, Tcgen05, Type};

pub(super) fn op(op: &ProductOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        ProductOp::Dot(factors) => dot(*factors, args, result),
        ProductOp::Wgmma { sparse } => wgmma(*sparse, args, result),
        ProductOp::WgmmaWait(_) => {
            count(args, 1)?;
            holds(number(args[0]).is_some() && args[0].shape().len() == 2, "no accumulator")?;
            gives(result, args[0])
        }
        ProductOp::Tcgen05(op) => tcgen05(*op, args, result),
    }
}

fn dot(factors: Factors, args: &[&Type], result: Option<&Type>) -> Outcome {
    let (scales, more) = match factors {
        Factors::Full | Factors::Tf32 => (None, 0),
        Factors::Scaled(scaled) => (Some(scaled.block()), 2),
        Factors::Sparse => (None, 1),
    };
    count(args, 3 + more)?;
    let [
        Type::Tile(Elem::Number(a), left),
        Type::Tile(Elem::Number(b), right),
        Type::Tile(Elem::Number(acc), out),
        of_factors @ ..,
    ] = args
    else {
        return Err("operands are not tiles of numbers".to_owned());
    };
    if factors == Factors::Sparse {
        return sparse((*a, left), (*b, right), (*acc, out), of_factors[0])
            .and_then(|()| gives(result, args[2]));
    }
    for (at, of_factor) in of_factors.iter().enumerate() {
        let blocks = left[1] * a.numbers() / scales.expect("they are counted");
        let fit = matches!(of_factor, Type::Tile(Elem::Number(Dtype::Ue8m0 | Dtype::E4m3), shape) if **shape == [out[at], blocks]);
        holds(fit, "the scales do not fit")?;
    }
    let shapes = match (left.as_slice(), right.as_slice(), out.as_slice()) {
        ([rows, depth], [depth2, cols], [rows2, cols2]) => {
            depth * a.numbers() == depth2 * b.numbers() && rows == rows2 && cols == cols2
        }
        _ => false,
    };
    holds(shapes, "the shapes do not fit")?;
    holds(
        [a, b].iter().all(|factor| factor.is_narrow()) && acc.is_float()
            || a == b && a.is_float() == acc.is_float() && *acc != Dtype::Bool,
        "the element types do not fit",
    )?;
    holds(factors != Factors::Tf32 || *a == Dtype::F32, "only f32 is rounded to tf32")?;
    gives(result, args[2])
}

/// The left operand has half of the columns, and the metadata says which.
fn sparse(
    (a, left): (Dtype, &[u32]),
    (b, right): (Dtype, &[u32]),
    (acc, out): (Dtype, &[u32]),
    metadata: &Type,
) -> Outcome {
    holds(a == b && a.is_float() == acc.is_float(), "the element types do not fit")?;
    let shapes = match (left, right, out) {
        ([rows, kept], [depth, cols], [rows2, cols2]) => {
            2 * kept == *depth && rows == rows2 && cols == cols2
        }
        _ => false,
    };
    holds(shapes, "the shapes do not fit")?;
    metadata_fits(metadata, a, [out[0], right[0]])
}

/// There is metadata for operands of a type, of so many rows and columns.
fn metadata_fits(metadata: &Type, dtype: Dtype, [rows, depth]: [u32; 2]) -> Outcome {
    let required = [rows, depth / Sparsity::of(dtype).columns()];
    let fits =
        matches!(metadata, Type::Tile(Elem::Number(Dtype::U16), shape) if **shape == required);
    holds(fits, "the metadata does not fit")
}

/// A descriptor of shared memory is that of a tile or of a part of one.
fn as_made(args: &[&Type]) -> Outcome {
    let matrix =
        |ty: &&Type| ty.shared().is_none_or(|window| window.is_plain() || window.shape.len() == 2);
    holds(args.iter().all(matrix), "a descriptor is not that of a matrix")
}

fn wgmma(sparse: bool, args: &[&Type], result: Option<&Type>) -> Outcome {
    count(args, 3 + usize::from(sparse))?;
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
    as_made(&args[..2])?;
    let Type::Tile(Elem::Number(sum), out) = args[2] else {
        return Err("the accumulator is not a tile".to_owned());
    };
    let shapes = match (left.as_slice(), right.shape.as_slice(), out.as_slice()) {
        ([rows, depth], [depth2, cols], [rows2, cols2]) => {
            let depth = if sparse { 2 * depth } else { *depth };
            depth == *depth2 && rows == rows2 && cols == cols2
        }
        _ => false,
    };
    holds(shapes, "the shapes do not fit")?;
    if sparse {
        metadata_fits(args[3], dtype, [out[0], right.shape[0]])?;
    }
    let class = |dtype: Dtype| (dtype.bytes(), dtype.is_float());
    holds(class(dtype) == class(right.dtype), "the element types do not fit")?;
    holds(dtype == right.dtype || dtype.bytes() == 1, "the element types do not fit")?;
    holds(sum.is_float() == dtype.is_float(), "the accumulator's type does not fit")?;
    gives(result, args[2])
}

fn tcgen05(op: Tcgen05, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        Tcgen05::Mma { group, multiplied, guarded } => {
            count(args, 4 + multiplied.more() + usize::from(guarded))?;
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
            as_made(&args[..2])?;
            let fits = match (left.as_slice(), right.shape.as_slice(), sums.shape.as_slice()) {
                ([rows, depth], [depth2, cols], [rows2, all]) => {
                    let whole = if multiplied == Multiplied::Sparse { 2 } else { 1 };
                    let numbers = [whole * depth * dtype.numbers(), depth2 * right.dtype.numbers()];
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
            if multiplied == Multiplied::Sparse {
                let metadata = one_tile(args[4])?;
                holds(metadata.dtype == Dtype::U16, "metadata is `u16`")?;
                let depth = right.shape[0] / Sparsity::of(dtype).columns();
                holds(metadata.shape == [sums.shape[0], depth], "the metadata does not fit")?;
            }
            if let Some(scaled) = multiplied.scaled() {
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
            holds(!one_barrier(args[0])?.ring, "a commit arrives at one barrier")?;
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
