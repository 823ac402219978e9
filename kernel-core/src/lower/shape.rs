//! Operations that only say which element stands where.

use kernel_layout::Dim;
use kernel_ptx::Type;

use super::coords::{ThreadMap, register_part};
use super::emitter::Val;
use super::{Data, Lower};
use crate::ir::{Op, Value};

impl Lower<'_> {
    /// `low, low + 1, ..`
    pub(super) fn arange(&mut self, low: i32, result: Value) -> Vec<Val> {
        let layout = self.layout(result).clone();
        let map = ThreadMap::of(&layout, 0, 1);
        (0..layout.in_size(Dim::Register))
            .map(|register| {
                let position = self.e.position(&map, register_part(&layout, register, 0));
                let constant = i64::from(position.constant) + i64::from(low);
                self.e.add(Type::S32, position.value, Val::Int(constant))
            })
            .collect()
    }

    /// One scalar in every element.
    pub(super) fn splat(&mut self, scalar: Value, result: Value) -> Data {
        let value = self.scalar(scalar);
        match self.kernel.ty(result) {
            crate::ir::Type::Tile(..) => {
                let registers = self.layout(result).in_size(Dim::Register);
                Data::Tile(vec![value; registers as usize])
            }
            crate::ir::Type::Scalar(_) | crate::ir::Type::Shared(_) | crate::ir::Type::Error => {
                Data::Scalar(value)
            }
        }
    }

    /// `Broadcast`, `Expand`, `Reshape`, `Permute`, `ToLayout`: the operand's elements under other coordinates, then brought to
    /// the result's layout.
    pub(super) fn reshaped(&mut self, op: &Op, arg: Value, result: Value) -> Data {
        let from = self.layout(arg).clone();
        let mut to = self.layout(result).clone();
        let shape = self.kernel.ty(result).shape();
        let from = if let Op::Expand(axis) = op {
            from.expand_axis(*axis as usize)
        } else if let Op::Permute(order) = op {
            from.permute_axes(order)
        } else if *op == Op::Reshape {
            from.reshape(shape)
        } else {
            from
        };
        if *op == Op::Broadcast {
            // Each place of the result reads the element that its coordinates collapse to.
            for (axis, &extent) in self.kernel.ty(arg).shape().iter().enumerate() {
                if extent == 1 {
                    to = to.collapse_axis(axis);
                }
            }
        }
        let values = self.tile(arg).to_vec();
        let elem = self.elem(arg);
        Data::Tile(self.convert(elem, &values, &from, &to))
    }
}
