//! The typing rule of each operation.

use crate::ir::{
    Binary, Compare, Const, Dtype, Elem, ElementwiseOp, Kernel, MemoryOp, Op, ParamKind, ReportOp,
    SharedType, SourceOp, TileOp, Type, Unary, WindowOp,
};

mod copies;
mod products;
mod sync;
mod tensor_memory;

type Outcome = Result<(), String>;

/// The extents with a last axis of extent 2.
fn joined(shape: &[u32]) -> Vec<u32> {
    let mut joined = shape.to_vec();
    joined.push(2);
    joined
}

/// Whether `ty` is a scalar `bool`.
pub(super) fn is_bool_scalar(ty: &Type) -> bool {
    *ty == Type::scalar(Dtype::Bool)
}

/// Whether `ty` is a scalar integer.
pub(super) fn is_int_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(Elem::Number(dtype)) if dtype.is_int())
}

/// Checks operands and result of one operation. What was reported already has the type `Error` and passes.
pub(super) fn op(kernel: &Kernel, op: &Op, args: &[&Type], result: Option<&Type>) -> Outcome {
    if args.iter().copied().chain(result).any(|ty| *ty == Type::Error) {
        return Ok(());
    }
    match op {
        Op::Source(op) => source(kernel, op, args, result),
        Op::Tile(op) => tile(op, args, result),
        Op::Elementwise(op) => elementwise(op, args, result),
        Op::Memory(op) => memory(kernel, op, args, result),
        Op::Window(op) => shared_window(kernel, op, args, result),
        Op::Copy(op) => copies::op(kernel, op, args, result),
        Op::Sync(op) => sync::op(kernel, op, args, result),
        Op::Product(op) => products::op(op, args, result),
        Op::TensorMemory(op) => tensor_memory::op(kernel, *op, args, result),
        Op::Report(report) => {
            reported(*report, args)?;
            none(result)
        }
        Op::Assert(_) => {
            count(args, 1)?;
            holds(number(args[0]) == Some(Dtype::Bool), "the condition is not bool")?;
            none(result)
        }
    }
}

/// What is said is of numbers and addresses: tiles of one shape, of an assertion scalars alone.
fn reported(report: ReportOp, args: &[&Type]) -> Outcome {
    let said = match report {
        ReportOp::Print(_) => args,
        ReportOp::Stamp(_) => {
            count(args, 0)?;
            args
        }
        ReportOp::Assert(_) => {
            let (condition, said) = args.split_first().ok_or("an assertion has a condition")?;
            holds(is_bool_scalar(condition), "the condition is not a scalar of bool")?;
            holds(said.iter().all(|ty| matches!(ty, Type::Scalar(_))), "a tile in a message")?;
            said
        }
    };
    holds(said.iter().all(|ty| ty.elem().is_some()), "what has no elements is said")?;
    let mut shapes = said.iter().filter(|ty| matches!(ty, Type::Tile(..))).map(|ty| ty.shape());
    let first = shapes.next();
    holds(shapes.all(|shape| Some(shape) == first), "tiles of different shapes are said")
}

fn source(kernel: &Kernel, op: &SourceOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        SourceOp::Const(value) => constant(*value, args, result),
        SourceOp::ParamPtr(_)
        | SourceOp::TensorPtr(_)
        | SourceOp::ParamDim(..)
        | SourceOp::ParamStride(..)
        | SourceOp::ParamScalar(_) => {
            count(args, 0)?;
            gives(result, &param_type(kernel, op)?)
        }
        SourceOp::BlockId(axis) | SourceOp::NumBlocks(axis) => {
            count(args, 0)?;
            holds(*axis < 3, "a grid has three axes")?;
            gives(result, &Type::scalar(Dtype::I32))
        }
        SourceOp::Arange(_) => {
            count(args, 0)?;
            let ty = some(result)?;
            let legal =
                matches!(ty, Type::Tile(Elem::Number(Dtype::I32), shape) if shape.len() == 1);
            holds(legal, "a range is a tile of i32 of rank 1")
        }
    }
}

fn tile(op: &TileOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        TileOp::Splat => {
            count(args, 1)?;
            let (arg, result) = (args[0], some(result)?);
            holds(arg.elem() == result.elem(), "the element changes")?;
            holds(!is_tile(arg) && is_tile(result), "it makes a tile from a scalar")
        }
        TileOp::Broadcast => reshapes(args, result, |from, to| {
            from.len() == to.len() && from.iter().zip(to).all(|(from, to)| from == to || *from == 1)
        }),
        TileOp::Expand(axis) => reshapes(args, result, |from, to| {
            let axis = *axis as usize;
            let mut expanded = from.to_vec();
            axis <= from.len() && {
                expanded.insert(axis, 1);
                expanded == to
            }
        }),
        TileOp::Reshape => reshapes(args, result, |from, to| elements(from) == elements(to)),
        TileOp::Permute(order) => reshapes(args, result, |from, to| {
            let mut sorted: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
            sorted.sort_unstable();
            sorted.into_iter().eq(0..from.len())
                && order.iter().map(|&axis| from[axis as usize]).eq(to.iter().copied())
        }),
        TileOp::Flip(axis) => {
            reshapes(args, result, |from, to| (*axis as usize) < from.len() && from == to)
        }
        TileOp::Sort(axis) => {
            count(args, 1)?;
            holds(number(args[0]).is_some_and(Dtype::is_int), "wrong element type")?;
            reshapes(args, result, |from, to| {
                let axis = *axis as usize;
                axis < from.len() && to.get(axis) <= from.get(axis) && equal_but(axis, from, to)
            })
        }
        TileOp::Gather(axis) => {
            count(args, 2)?;
            let (from, to) = (args[0].shape(), args[1].shape());
            let axis = *axis as usize;
            holds(number(args[1]) == Some(Dtype::I32), "the indices are not i32")?;
            let dtype = number(args[0]).ok_or("the operand is not of numbers")?;
            holds(axis < from.len() && equal_but(axis, from, to), "the shapes do not fit")?;
            gives(result, &args[1].with_elem(Elem::Number(dtype)))
        }
        TileOp::Histogram => {
            count(args, 1)?;
            holds(
                is_tile(args[0]) && number(args[0]).is_some_and(Dtype::is_int),
                "wrong element type",
            )?;
            holds(tile_of(some(result)?, Dtype::I32, 1), "the counts are a tile of i32 of rank 1")
        }
        TileOp::Join => {
            count(args, 2)?;
            holds(args[0] == args[1], "operands differ")?;
            reshapes(&args[..1], result, |from, to| joined(from) == to)
        }
        TileOp::Split(index) => {
            holds(*index < 2, "a tile is split in two")?;
            reshapes(args, result, |from, to| joined(to) == from)
        }
        TileOp::ToLayout(_) | TileOp::AssertLayout(_) => {
            reshapes(args, result, |from, to| from == to)
        }
    }
}

fn elementwise(op: &ElementwiseOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        ElementwiseOp::Unary(unary) => {
            count(args, 1)?;
            holds(
                number(args[0]).is_some_and(|dtype| unary_takes(*unary, dtype)),
                "wrong element type",
            )?;
            gives(result, args[0])
        }
        ElementwiseOp::Binary(binary) => {
            count(args, 2)?;
            self::binary(*binary, args[0], args[1])?;
            gives(result, args[0])
        }
        ElementwiseOp::Compare(compare) => {
            count(args, 2)?;
            holds(register(args[0]) && args[0] == args[1], "operands differ")?;
            let ordered = !matches!(compare, Compare::Eq | Compare::Ne);
            holds(!(ordered && number(args[0]) == Some(Dtype::Bool)), "booleans have no order")?;
            holds(
                number(args[0]).is_none_or(|dtype| dtype.has_arithmetic() || dtype == Dtype::Bool),
                "wrong element type",
            )?;
            gives(result, &args[0].with_elem(Elem::Number(Dtype::Bool)))
        }
        ElementwiseOp::Select => {
            count(args, 3)?;
            holds(register(args[1]) && args[1] == args[2], "operands differ")?;
            holds(
                *args[0] == args[1].with_elem(Elem::Number(Dtype::Bool)),
                "the mask does not fit",
            )?;
            gives(result, args[1])
        }
        ElementwiseOp::Fma => {
            count(args, 3)?;
            holds(args[0] == args[1] && args[1] == args[2], "operands differ")?;
            holds(number(args[0]).is_some_and(Dtype::has_arithmetic), "wrong element type")?;
            gives(result, args[0])
        }
        ElementwiseOp::FunnelShift(_) => {
            count(args, 3)?;
            holds(args[0] == args[1] && args[1] == args[2], "operands differ")?;
            holds(number(args[0]).is_some_and(Dtype::is_int), "wrong element type")?;
            gives(result, args[0])
        }
        ElementwiseOp::Bitcast => {
            count(args, 1)?;
            let to = some(result)?.elem().ok_or("the result has no elements")?;
            let from = args[0].elem().ok_or("the operand has no elements")?;
            let fits = match (from, to) {
                (Elem::Number(from), Elem::Number(to)) => from.has_bits_of(to),
                (Elem::Number(bits), Elem::Ptr(_)) | (Elem::Ptr(_), Elem::Number(bits)) => {
                    bits == Dtype::U64
                }
                (Elem::Ptr(_), Elem::Ptr(_)) => false,
            };
            holds(fits, "the bits do not fit")?;
            gives(result, &args[0].with_elem(to))
        }
        ElementwiseOp::Cast => {
            count(args, 1)?;
            let to = number(some(result)?).ok_or("the result is not a number")?;
            let from = number(args[0]).ok_or("the operand is not a number")?;
            holds(from.converts() && to.converts(), "wrong element type")?;
            gives(result, &args[0].with_elem(Elem::Number(to)))
        }
    }
}

fn memory(kernel: &Kernel, op: &MemoryOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        MemoryOp::LoadTensor(index, _) => {
            let (dtype, rank, _) = tensor(kernel, *index)?;
            corner(args, rank)?;
            holds(tile_of(some(result)?, dtype, rank), "the tile does not fit the tensor")
        }
        MemoryOp::StoreTensor(index, _) => {
            let (dtype, rank, mutable) = tensor(kernel, *index)?;
            let (tile, positions) = last(args)?;
            corner(positions, rank)?;
            holds(tile_of(tile, dtype, rank), "the tile does not fit the tensor")?;
            holds(mutable, "the tensor is read-only")?;
            none(result)
        }
        MemoryOp::LoadPtr { masked } => {
            count(args, if *masked { 3 } else { 1 })?;
            let (value, mask) = pointed(args[0])?;
            holds(!masked || *args[1] == mask && *args[2] == value, "mask or other does not fit")?;
            gives(result, &value)
        }
        MemoryOp::StorePtr { masked } => {
            count(args, if *masked { 3 } else { 2 })?;
            let (value, mask) = pointed(args[0])?;
            holds(*args[1] == value, "the value does not fit")?;
            holds(!masked || *args[2] == mask, "the mask does not fit")?;
            none(result)
        }
        MemoryOp::Atomic(atomic, _) => {
            count(args, 1 + atomic.values())?;
            let (value, _) = pointed(args[0])?;
            holds(args[1..].iter().all(|arg| **arg == value), "the value does not fit")?;
            let takes = number(&value).is_some_and(|dtype| atomic.takes(dtype));
            holds(takes, "wrong element type")?;
            result.map_or(Ok(()), |_| gives(result, &value))
        }
        MemoryOp::AtomicTensor { param, op, .. } => {
            let (dtype, rank, mutable) = tensor(kernel, *param)?;
            let positions = args.len().checked_sub(op.values()).ok_or("tiles are missing")?;
            let (positions, tiles) = args.split_at(positions);
            corner(positions, rank)?;
            let tile = tiles.first().copied().or(result).ok_or("a tile is missing")?;
            holds(tile_of(tile, dtype, rank), "the tile does not fit the tensor")?;
            holds(tiles.iter().all(|other| *other == tile), "the tiles differ")?;
            holds(mutable, "the tensor is read-only")?;
            holds(op.takes(dtype), "wrong element type")?;
            result.map_or(Ok(()), |_| gives(result, tile))
        }
        MemoryOp::PrefetchTensor { param, extents, .. } => {
            let (_, rank, _) = tensor(kernel, *param)?;
            corner(args, rank)?;
            let shape = extents.shape();
            let fits = shape.len() == rank;
            let is_tile = shape.iter().all(|extent| extent.is_power_of_two());
            holds(fits && is_tile, "the extents do not fit the tensor")?;
            none(result)
        }
        MemoryOp::LoadShared => {
            count(args, 1)?;
            gives(result, &whole_tile(window(args[0])?))
        }
        MemoryOp::StoreShared => {
            count(args, 2)?;
            holds(*args[1] == whole_tile(window(args[0])?), "the tile does not fit the window")?;
            none(result)
        }
        MemoryOp::GatherShared => {
            let (at, values) = indexed(args, 0)?;
            holds(values.is_empty(), "no tile is written")?;
            gives(result, &at)
        }
        MemoryOp::ScatterShared => {
            let (at, values) = indexed(args, 1)?;
            holds(*values[0] == at, "the tile does not fit the indices")?;
            none(result)
        }
        MemoryOp::AtomicShared(op) => {
            let (at, values) = indexed(args, op.values())?;
            holds(values.iter().all(|value| **value == at), "the tiles do not fit the indices")?;
            holds(op.takes(window(args[0])?.dtype), "wrong element type")?;
            result.map_or(Ok(()), |_| gives(result, &at))
        }
    }
}

/// Of a window, tiles of indices and so many others: the type of the elements at the indices, and the others.
fn indexed<'a, 't>(args: &'a [&'t Type], others: usize) -> Result<(Type, &'a [&'t Type]), String> {
    let source = window(args.first().ok_or("the window is missing")?)?;
    let rank = source.shape.len();
    count(args, 1 + rank + others)?;
    let (indices, values) = args[1..].split_at(rank);
    let shape = indices[0].shape();
    let index = Type::Tile(Elem::Number(Dtype::I32), shape.to_vec());
    holds(
        indices.iter().all(|one| **one == index),
        "the indices are not tiles of i32 of one shape",
    )?;
    Ok((Type::Tile(Elem::Number(source.dtype), shape.to_vec()), values))
}

fn shared_window(kernel: &Kernel, op: &WindowOp, args: &[&Type], result: Option<&Type>) -> Outcome {
    match op {
        WindowOp::Alloc(root) => {
            count(args, 0)?;
            let data = &kernel.shared[*root];
            let shape = data.shape.clone();
            let (root, dtype) = (*root, data.dtype);
            let whole =
                SharedType { root, dtype, shape, transposed: false, remote: false, view: None };
            gives(result, &Type::Shared(whole))
        }
        WindowOp::Index => {
            count(args, 2)?;
            let source = window(args[0])?;
            holds(*args[1] == Type::scalar(Dtype::I32), "the index is not a scalar i32")?;
            holds(source.shape.len() > 1 && !source.transposed, "the window has no leading axis")?;
            let one = source.without_leading().ok_or("the window has no leading axis")?;
            gives(result, &Type::Shared(one))
        }
        WindowOp::Transpose => {
            count(args, 1)?;
            let source = window(args[0])?;
            holds(source.shape.len() == 2, "the window is not of rank 2")?;
            gives(result, &Type::Shared(source.swapped()))
        }
        WindowOp::Reshape => {
            count(args, 1)?;
            let source = window(args[0])?;
            let to = source.reshaped(&window(some(result)?)?.shape);
            gives(result, &Type::Shared(to.ok_or("the extents do not fit")?))
        }
        WindowOp::Part => {
            let source = window(args.first().ok_or("the window is missing")?)?;
            count(args, 1 + source.shape.len())?;
            offsets(&args[1..])?;
            let part = source.part(&window(some(result)?)?.shape);
            gives(result, &Type::Shared(part.ok_or("the part does not fit")?))
        }
        WindowOp::Retype => {
            count(args, 1)?;
            let source = window(args[0])?;
            let to = source.retyped(window(some(result)?)?.dtype);
            gives(result, &Type::Shared(to.ok_or("the bytes do not fit")?))
        }
        WindowOp::Remote => {
            count(args, 2)?;
            let source = window(args[0])?;
            holds(*args[1] == Type::scalar(Dtype::I32), "the rank is not a scalar i32")?;
            holds(!source.remote, "the window is another block's already")?;
            gives(result, &Type::Shared(SharedType { remote: true, ..source.clone() }))
        }
    }
}

fn holds(condition: bool, why: &str) -> Outcome {
    if condition { Ok(()) } else { Err(why.to_owned()) }
}

fn count(args: &[&Type], required: usize) -> Outcome {
    if args.len() == required {
        Ok(())
    } else {
        Err(format!("{} operands instead of {required}", args.len()))
    }
}

fn some(result: Option<&Type>) -> Result<&Type, String> {
    result.ok_or_else(|| "it has no result".to_owned())
}

fn none(result: Option<&Type>) -> Outcome {
    holds(result.is_none(), "it has a result")
}

fn gives(result: Option<&Type>, required: &Type) -> Outcome {
    let actual = some(result)?;
    if actual == required { Ok(()) } else { Err(format!("the result must be {required}")) }
}

/// The number type of a scalar or a tile.
fn number(ty: &Type) -> Option<Dtype> {
    match ty.elem() {
        Some(Elem::Number(dtype)) => Some(dtype),
        Some(Elem::Ptr(_)) | None => None,
    }
}

fn register(ty: &Type) -> bool {
    ty.elem().is_some()
}

fn constant(value: Const, args: &[&Type], result: Option<&Type>) -> Outcome {
    count(args, 0)?;
    let ty = some(result)?;
    let Type::Scalar(Elem::Number(dtype)) = ty else {
        return Err("a constant is a scalar".to_owned());
    };
    let fits = match value {
        Const::Bool(_) => *dtype == Dtype::Bool,
        Const::Int(value) => {
            (dtype.is_int() || dtype.is_opaque()) && int_range(*dtype).contains(&value)
        }
        Const::Float(_) => dtype.is_float(),
    };
    holds(fits, "the constant does not fit its type")
}

/// The values of an integer type.
fn int_range(dtype: Dtype) -> std::ops::RangeInclusive<i128> {
    let bits = 8 * dtype.bytes();
    if dtype.is_signed() { -(1 << (bits - 1))..=(1 << (bits - 1)) - 1 } else { 0..=(1 << bits) - 1 }
}

fn param(kernel: &Kernel, index: u32) -> Result<&ParamKind, String> {
    kernel
        .params
        .get(index as usize)
        .filter(|param| !param.absent)
        .map(|param| &param.kind)
        .ok_or_else(|| format!("there is no parameter {index}"))
}

fn param_type(kernel: &Kernel, op: &SourceOp) -> Result<Type, String> {
    let (SourceOp::ParamPtr(index)
    | SourceOp::TensorPtr(index)
    | SourceOp::ParamDim(index, _)
    | SourceOp::ParamStride(index, _)
    | SourceOp::ParamScalar(index)) = op
    else {
        return Err("it names no parameter".to_owned());
    };
    let kind = param(kernel, *index)?;
    let ty = match (op, kind) {
        (SourceOp::ParamPtr(_) | SourceOp::TensorPtr(_), ParamKind::Tensor { dtype, .. })
        | (SourceOp::ParamPtr(_), ParamKind::Pointer(dtype)) => Type::Scalar(Elem::Ptr(*dtype)),
        (SourceOp::ParamDim(_, axis), ParamKind::Tensor { rank, .. }) if axis < rank => {
            Type::scalar(Dtype::I32)
        }
        (SourceOp::ParamStride(_, axis), ParamKind::Tensor { rank, .. }) if axis < rank => {
            Type::scalar(Dtype::I64)
        }
        (SourceOp::ParamScalar(_), ParamKind::Scalar(dtype)) => Type::scalar(*dtype),
        _ => return Err(format!("the parameter is {kind:?}")),
    };
    Ok(ty)
}

/// A tile of another shape with the same element.
fn reshapes(
    args: &[&Type],
    result: Option<&Type>,
    fits: impl FnOnce(&[u32], &[u32]) -> bool,
) -> Outcome {
    count(args, 1)?;
    let (arg, result) = (args[0], some(result)?);
    holds(is_tile(arg) && is_tile(result), "it makes a tile from a tile")?;
    holds(arg.elem() == result.elem(), "the element changes")?;
    holds(fits(arg.shape(), result.shape()), "the shapes do not fit")
}

/// Whether two shapes differ along one axis at most.
fn equal_but(axis: usize, from: &[u32], to: &[u32]) -> bool {
    from.len() == to.len() && (0..from.len()).all(|other| other == axis || from[other] == to[other])
}

fn elements(shape: &[u32]) -> u64 {
    shape.iter().map(|&extent| u64::from(extent)).product()
}

fn unary_takes(op: Unary, dtype: Dtype) -> bool {
    let computed = dtype.is_float() && dtype.has_arithmetic();
    match op {
        Unary::Neg | Unary::Abs => dtype.has_arithmetic(),
        Unary::Not => dtype.is_int() || dtype == Dtype::Bool,
        Unary::Transcendental(function) => {
            computed && (dtype != Dtype::F64 || function.approximated().is_none())
        }
        Unary::Sqrt | Unary::Rsqrt | Unary::Round(_) => computed,
        Unary::Bits(_) => dtype.is_int(),
    }
}

fn binary(op: Binary, a: &Type, b: &Type) -> Outcome {
    if let (Some(Elem::Ptr(_)), Binary::Add | Binary::Sub) = (a.elem(), op) {
        let offset = number(b).is_some_and(Dtype::is_int);
        return holds(
            offset && a.shape() == b.shape() && is_tile(a) == is_tile(b),
            "the offset does not fit",
        );
    }
    holds(register(a) && a == b, "operands differ")?;
    let takes = number(a).is_some_and(|dtype| match op {
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::Rem
        | Binary::Min
        | Binary::Max => dtype.has_arithmetic(),
        Binary::And | Binary::Or | Binary::Xor => dtype.is_int() || dtype == Dtype::Bool,
        Binary::Shl | Binary::Shr | Binary::MulHi => dtype.is_int(),
        Binary::Copysign | Binary::Powf => dtype.is_float() && dtype.has_arithmetic(),
    });
    holds(takes, "wrong element type")
}

fn is_tile(ty: &Type) -> bool {
    matches!(ty, Type::Tile(..))
}

/// Element type, rank and mutability of a tensor parameter.
fn tensor(kernel: &Kernel, index: u32) -> Result<(Dtype, usize, bool), String> {
    match *param(kernel, index)? {
        ParamKind::Tensor { dtype, rank, mutable } => Ok((dtype, rank as usize, mutable)),
        ParamKind::Pointer(_) | ParamKind::Scalar(_) => {
            Err("the parameter is not a tensor".to_owned())
        }
    }
}

fn offsets(args: &[&Type]) -> Outcome {
    let offset = Type::scalar(Dtype::I32);
    holds(args.iter().all(|arg| **arg == offset), "an offset is not a scalar i32")
}

/// The positions of a tile of a tensor, of a slice of it or of the whole.
fn corner(args: &[&Type], rank: usize) -> Outcome {
    if args.len() != rank && args.len() != 3 * rank {
        return Err(format!("{} positions for {rank} axes", args.len()));
    }
    offsets(args)
}

/// The last operand, and those before it.
fn last<'t>(args: &'t [&'t Type]) -> Result<(&'t Type, &'t [&'t Type]), String> {
    let (&last, before) = args.split_last().ok_or("it has no operands")?;
    Ok((last, before))
}

fn tile_of(ty: &Type, dtype: Dtype, rank: usize) -> bool {
    matches!(ty, Type::Tile(elem, shape) if *elem == Elem::Number(dtype) && shape.len() == rank)
}

/// The types of a value and of a mask for addresses of type `ty`.
fn pointed(ty: &Type) -> Result<(Type, Type), String> {
    match ty.elem() {
        Some(Elem::Ptr(dtype)) => {
            Ok((ty.with_elem(Elem::Number(dtype)), ty.with_elem(Elem::Number(Dtype::Bool))))
        }
        Some(Elem::Number(_)) | None => Err("operand 0 is not a pointer".to_owned()),
    }
}

fn window(ty: &Type) -> Result<&SharedType, String> {
    ty.shared().ok_or_else(|| "an operand is not in shared memory".to_owned())
}

/// The tile that a window holds.
fn whole_tile(window: &SharedType) -> Type {
    Type::Tile(Elem::Number(window.dtype), window.shape.clone())
}
