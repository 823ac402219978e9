//! `tcgen05` operations, done when they are started, like copies in `tma`.

use super::dot::{Factor, products, products_of, row_of_right};
use super::{Machine, product};
use crate::eval::Fault;
use crate::eval::element::Element;
use crate::eval::world::BarrierPlace;
use crate::ir::{CtaGroup, Dtype, Multiplied, Sparsity, Tcgen05, Type, Value};

impl Machine<'_> {
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
            Tcgen05::Mma { group: CtaGroup::One, multiplied, .. } => {
                let (a, b, depth) = self.factors(multiplied.scaled(), args);
                let extents = [depth, self.shape(args[1])[1] as usize];
                self.tcgen05_product(self.rank, (&a, &b), (multiplied, extents), args)?;
            }
            Tcgen05::Mma { group: CtaGroup::Pair, multiplied, .. } => {
                self.tcgen05_mma_pair(multiplied, args)?;
            }
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

    /// Each block of a pair has its rows of the left operand and of the accumulator, and its half of the columns of the right operand; and
    /// the scales or the metadata of these rows, and the scales of all columns.
    fn tcgen05_mma_pair(&mut self, multiplied: Multiplied, args: &[Value]) -> Result<(), Fault> {
        let ranks = [self.rank, self.rank + 1];
        let half = self.shape(args[1])[1] as usize;
        let right = ranks.map(|rank| self.right_factor(rank, args[1]));
        let depth = right[0].len() / half;
        let mut b = Vec::new();
        for k in 0..depth {
            for part in &right {
                b.extend_from_slice(&part[half * k..half * (k + 1)]);
            }
        }
        for rank in ranks {
            let factors = [self.left_factor(rank, args[0]), b.clone()];
            let extents = [depth, 2 * half];
            let scaled = (multiplied.scaled(), extents);
            let [a, b] = self.scaled_factors(rank, factors, scaled, args);
            self.tcgen05_product(rank, (&a, &b), (multiplied, extents), args)?;
        }
        Ok(())
    }

    /// The left operand of a product, in the shared or the tensor memory of a block.
    pub(super) fn read_factor(&self, rank: usize, factor: Value) -> Vec<Element> {
        match self.ty(factor) {
            Type::TensorMemory(_) => self.read_tensor_memory(rank, factor),
            Type::Shared(_) | Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => {
                self.read_shared_of(rank, factor)
            }
        }
    }

    /// The product of operands of such a depth and this many columns, in the tensor memory of a block.
    fn tcgen05_product(
        &mut self,
        rank: usize,
        (a, b): (&[Element], &[Element]),
        (multiplied, [depth, columns]): (Multiplied, [usize; 2]),
        args: &[Value],
    ) -> Result<(), Fault> {
        let sum = self.tensor_type(args[2]).dtype;
        let sums = if self.scalar(args[3]).as_bool()? {
            self.read_tensor_memory(rank, args[2])
        } else {
            let zero = if sum.is_float() { Element::Float(0.0) } else { Element::Int(0) };
            vec![zero; product(self.shape(args[2]))]
        };
        let operand = self.shared_dtype(args[1]);
        let factor = if operand == Dtype::F32 { Factor::Cut } else { Factor::Exact };
        let operands = (a, b, &sums[..]);
        let sums = if multiplied == Multiplied::Sparse {
            let metadata = self.read_tensor_memory(rank, args[4]);
            let (sparsity, kept) = (Sparsity::of(operand), depth / 2);
            let row_of_b = |row, at| row_of_right(sparsity, &metadata, kept, [row, at]);
            products_of([factor; 2], operands, [kept, columns], sum, row_of_b)
        } else {
            products([factor; 2], operands, [depth, columns], sum)
        };
        self.write_tensor_memory(rank, args[2], &sums);
        Ok(())
    }
}
