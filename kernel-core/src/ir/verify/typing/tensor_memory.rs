//! The typing rules of tensor memory.

use super::{Outcome, count, gives, holds, none};
use crate::ir::{Dtype, Elem, Kernel, TensorMemoryOp, TensorMemoryType, Type};

/// The window of tensor memory that an operand is.
pub(super) fn of_tensor_memory(ty: &Type) -> Result<&TensorMemoryType, String> {
    ty.tensor_memory().ok_or_else(|| "an operand is not in tensor memory".to_owned())
}

/// One tile of tensor memory.
pub(super) fn one_tile(ty: &Type) -> Result<&TensorMemoryType, String> {
    let window = of_tensor_memory(ty)?;
    holds(window.shape.len() == 2, "one tile is used at a time")?;
    Ok(window)
}

pub(super) fn op(
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
            holds(same, "a view has other columns")?;
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
