//! Tensor memory, and what tensor cores do there, in the order in which it is started.
//!
//! What is started is done at once, as in `hopper`.

use super::ops::{Factor, products};
use super::{Machine, product};
use crate::eval::Fault;
use crate::eval::element::{Data, Element, TensorWindow};
use crate::ir::{Dtype, Tcgen05, TensorMemoryOp, Type, Value};

impl Machine<'_> {
    pub(super) fn tensor_memory(
        &mut self,
        op: TensorMemoryOp,
        args: &[Value],
    ) -> Result<Option<Data>, Fault> {
        match op {
            TensorMemoryOp::Alloc(root) => {
                Ok(Some(Data::TensorMemory(TensorWindow { root, start: 0 })))
            }
            TensorMemoryOp::Index => {
                let index = self.int(args[1])?;
                let shape = self.shape(args[0]);
                let (extent, step) = (shape[0], product(&shape[1..]));
                let Some(tile) = usize::try_from(index).ok().filter(|&tile| tile < extent as usize)
                else {
                    return Err(Fault::SharedIndex { actual: index, extent });
                };
                let window = self.tensor_window(args[0]);
                let start = window.start + tile * step;
                Ok(Some(Data::TensorMemory(TensorWindow { start, ..window })))
            }
            TensorMemoryOp::Load => Ok(Some(Data::Tile(self.read_tensor_memory(args[0])))),
            TensorMemoryOp::Store => {
                let tile = self.elements(args[1]).to_vec();
                self.write_tensor_memory(args[0], &tile);
                Ok(None)
            }
        }
    }

    pub(super) fn tcgen05(&mut self, op: Tcgen05, args: &[Value]) -> Result<(), Fault> {
        match op {
            Tcgen05::Mma => {
                let sums = self.tcgen05_mma(args)?;
                self.write_tensor_memory(args[2], &sums);
            }
            Tcgen05::Copy => {
                let tile = self.read_shared(args[0]);
                self.write_tensor_memory(args[1], &tile);
            }
            Tcgen05::Commit => self.world.complete(self.barrier_place(args[0]), 1, 0),
            Tcgen05::FenceBefore | Tcgen05::FenceAfter => {}
        }
        Ok(())
    }

    fn tcgen05_mma(&self, args: &[Value]) -> Result<Vec<Element>, Fault> {
        let a = match self.ty(args[0]) {
            Type::TensorMemory(_) => self.read_tensor_memory(args[0]),
            Type::Shared(_) | Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => {
                self.read_shared(args[0])
            }
        };
        let b = self.read_shared(args[1]);
        let sum = self.tensor_dtype_of(args[2]);
        let sums = if self.scalar(args[3]).as_bool()? {
            self.read_tensor_memory(args[2])
        } else {
            let zero = if sum.is_float() { Element::Float(0.0) } else { Element::Int(0) };
            vec![zero; product(self.shape(args[2]))]
        };
        let (depth, columns) = (self.shape(args[1])[0] as usize, self.shape(args[1])[1] as usize);
        let operand = self.shared_dtype(args[1]);
        let factor = if operand == Dtype::F32 { Factor::Cut } else { Factor::Exact };
        Ok(products([factor; 2], (&a, &b, &sums), [depth, columns], sum))
    }

    fn tensor_window(&self, value: Value) -> TensorWindow {
        match self.data(value) {
            Data::TensorMemory(window) => *window,
            Data::Scalar(_) | Data::Tile(_) | Data::Window(_) | Data::Barrier(_) => {
                unreachable!("ir::verify wants tensor memory here")
            }
        }
    }

    fn tensor_dtype_of(&self, value: Value) -> Dtype {
        self.kernel.tensor_memory[self.tensor_window(value).root].dtype
    }

    /// What a window of tensor memory holds, row by row.
    fn read_tensor_memory(&self, value: Value) -> Vec<Element> {
        let (window, elements) = (self.tensor_window(value), product(self.shape(value)));
        let memory = &self.world.blocks[self.rank].tensor_memory[window.root];
        memory[window.start..window.start + elements].to_vec()
    }

    fn write_tensor_memory(&mut self, value: Value, tile: &[Element]) {
        let window = self.tensor_window(value);
        let memory = &mut self.world.blocks[self.rank].tensor_memory[window.root];
        memory[window.start..window.start + tile.len()].copy_from_slice(tile);
    }
}
