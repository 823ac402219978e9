//! `wgmma` products, done when they are started, like copies in `tma`.

use super::Machine;
use super::dot::{Factor, products, products_of, row_of_right};
use crate::eval::element::Element;
use crate::ir::{Dtype, Sparsity, Type, Value};

impl Machine<'_> {
    pub(super) fn wgmma(&self, sparse: bool, args: &[Value]) -> Vec<Element> {
        let operand = match self.ty(args[1]) {
            Type::Shared(window) => window.dtype,
            Type::Tile(..)
            | Type::Scalar(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => {
                unreachable!("ir::verify requires shared memory here")
            }
        };
        let in_shared = if operand == Dtype::F32 { Factor::Cut } else { Factor::Exact };
        // Registers are rounded on the way to the product.
        let in_registers = if operand == Dtype::F32 { Factor::Rounded } else { Factor::Exact };
        let (a, left) = match self.ty(args[0]) {
            Type::Shared(_) => (self.read_shared(args[0]), in_shared),
            Type::Tile(..)
            | Type::Scalar(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => (self.elements(args[0]).to_vec(), in_registers),
        };
        let b = self.read_shared(args[1]);
        let depth = self.shape(args[0])[1] as usize;
        let columns = self.shape(args[1])[1] as usize;
        let operands = (&a[..], &b[..], self.elements(args[2]));
        let (factors, extents) = ([left, in_shared], [depth, columns]);
        let sum = self.dtype(args[2]);
        if sparse {
            let (sparsity, metadata) = (Sparsity::of(operand), self.elements(args[3]));
            let kept = |row, at| row_of_right(sparsity, metadata, depth, [row, at]);
            return products_of(factors, operands, extents, sum, kept);
        }
        products(factors, operands, extents, sum)
    }
}
