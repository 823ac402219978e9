//! Tensor memory, and what tensor cores do there, in the order in which it is started.
//!
//! What is started is done at once, as in `hopper`.

use super::ops::{Factor, products};
use super::{Machine, product};
use crate::eval::Fault;
use crate::eval::element::{Data, Element, TensorWindow};
use crate::eval::world::BarrierPlace;
use crate::ir::{CtaGroup, Dtype, Tcgen05, TensorMemoryOp, Type, Value};

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
            TensorMemoryOp::Load => {
                Ok(Some(Data::Tile(self.read_tensor_memory(self.rank, args[0]))))
            }
            TensorMemoryOp::Store => {
                let tile = self.elements(args[1]).to_vec();
                self.write_tensor_memory(self.rank, args[0], &tile);
                Ok(None)
            }
        }
    }

    pub(super) fn tcgen05(&mut self, op: Tcgen05, args: &[Value]) -> Result<(), Fault> {
        if let Some(condition) = op.condition(args)
            && !self.scalar(condition).as_bool()?
        {
            return Ok(());
        }
        // The block of even rank starts what a pair does.
        let paired = self.kernel.cta_group() == CtaGroup::Pair;
        if paired && self.rank % 2 == 1 {
            return Ok(());
        }
        match op {
            Tcgen05::Mma { scaled: Some(scaled), .. } => {
                let (a, b, depth) = self.scaled_factors(scaled, args);
                let extents = [depth, self.shape(args[1])[1] as usize];
                self.tcgen05_product(self.rank, (&a, &b), extents, args)?;
            }
            Tcgen05::Mma { group: CtaGroup::One, .. } => self.tcgen05_mma(args)?,
            Tcgen05::Mma { group: CtaGroup::Pair, .. } => self.tcgen05_mma_pair(args)?,
            Tcgen05::Commit { .. } => {
                for rank in self.receivers(op.mask(args))? {
                    let place = BarrierPlace { rank, ..self.barrier_place(args[0]) };
                    self.world.complete(place, 1, 0);
                }
            }
            Tcgen05::Copy { .. } => {
                let ranks = match self.kernel.cta_group() {
                    CtaGroup::One => self.rank..self.rank + 1,
                    CtaGroup::Pair => self.rank..self.rank + 2,
                };
                for rank in ranks {
                    let tile = self.read_shared_of(rank, args[0]);
                    self.write_tensor_memory(rank, args[1], &tile);
                }
            }
            Tcgen05::FenceBefore | Tcgen05::FenceAfter => {}
        }
        Ok(())
    }

    /// Each block of a pair has its rows of the left factor and of the sums, and its half of the columns of the right factor.
    fn tcgen05_mma_pair(&mut self, args: &[Value]) -> Result<(), Fault> {
        let ranks = [self.rank, self.rank + 1];
        let (depth, half) = (self.shape(args[1])[0] as usize, self.shape(args[1])[1] as usize);
        let right = ranks.map(|rank| self.read_shared_of(rank, args[1]));
        let mut b = Vec::new();
        for k in 0..depth {
            for part in &right {
                b.extend_from_slice(&part[half * k..half * (k + 1)]);
            }
        }
        for rank in ranks {
            let a = self.read_shared_of(rank, args[0]);
            self.tcgen05_product(rank, (&a, &b), [depth, 2 * half], args)?;
        }
        Ok(())
    }

    fn tcgen05_mma(&mut self, args: &[Value]) -> Result<(), Fault> {
        let a = match self.ty(args[0]) {
            Type::TensorMemory(_) => self.read_tensor_memory(self.rank, args[0]),
            Type::Shared(_) | Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => {
                self.read_shared(args[0])
            }
        };
        let b = self.read_shared(args[1]);
        let extents = [self.shape(args[1])[0] as usize, self.shape(args[1])[1] as usize];
        self.tcgen05_product(self.rank, (&a, &b), extents, args)
    }

    /// The product of factors of such a depth and so many columns, in the tensor memory of a block.
    fn tcgen05_product(
        &mut self,
        rank: usize,
        (a, b): (&[Element], &[Element]),
        extents: [usize; 2],
        args: &[Value],
    ) -> Result<(), Fault> {
        let sum = self.tensor_dtype_of(args[2]);
        let sums = if self.scalar(args[3]).as_bool()? {
            self.read_tensor_memory(rank, args[2])
        } else {
            let zero = if sum.is_float() { Element::Float(0.0) } else { Element::Int(0) };
            vec![zero; product(self.shape(args[2]))]
        };
        let operand = self.shared_dtype(args[1]);
        let factor = if operand == Dtype::F32 { Factor::Cut } else { Factor::Exact };
        let sums = products([factor; 2], (a, b, &sums), extents, sum);
        self.write_tensor_memory(rank, args[2], &sums);
        Ok(())
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

    /// What a window of a block's tensor memory holds, row by row.
    pub(super) fn read_tensor_memory(&self, rank: usize, value: Value) -> Vec<Element> {
        let (window, elements) = (self.tensor_window(value), product(self.shape(value)));
        let memory = &self.world.blocks[rank].tensor_memory[window.root];
        memory[window.start..window.start + elements].to_vec()
    }

    fn write_tensor_memory(&mut self, rank: usize, value: Value, tile: &[Element]) {
        let window = self.tensor_window(value);
        let memory = &mut self.world.blocks[rank].tensor_memory[window.root];
        memory[window.start..window.start + tile.len()].copy_from_slice(tile);
    }
}
