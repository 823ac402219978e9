//! Operations that only say which element stands where.

use kernel_layout::Dim;
use kernel_ptx::{Type, Word};

use super::coords::{ThreadMap, register_part};
use crate::ir::{Elem, TileOp, Value};
use crate::lower::emitter::Val;
use crate::lower::{Data, Lower};

impl Lower<'_> {
    /// `low, low + 1, ..`
    pub(crate) fn arange(&mut self, low: i32, result: Value) -> Vec<Val> {
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
    pub(crate) fn splat(&mut self, scalar: Value, result: Value) -> Data {
        let value = self.scalar(scalar);
        match self.kernel.ty(result) {
            crate::ir::Type::Tile(..) => {
                let registers = self.layout(result).in_size(Dim::Register);
                Data::Tile(vec![value; registers as usize])
            }
            crate::ir::Type::Scalar(_)
            | crate::ir::Type::Shared(_)
            | crate::ir::Type::Barrier(_)
            | crate::ir::Type::TensorMemory(_)
            | crate::ir::Type::Error => Data::Scalar(value),
        }
    }

    /// Two tiles contiguous: which one an element comes from is known, or a matter of the thread.
    pub(crate) fn join(&mut self, args: &[Value], result: Value) -> Vec<Val> {
        let to = self.layout(result).clone();
        let last = to.outs().len() - 1;
        let parts = to.slice(last);
        let elem = self.elem(result);
        let ty = match elem {
            Elem::Ptr(_) => Type::S64,
            Elem::Number(dtype) => super::scalar::arithmetic(dtype),
        };
        let mut held = Vec::new();
        for &arg in args {
            let (values, from) = (self.tile(arg).to_vec(), self.layout(arg).clone());
            held.push(self.convert(elem, &values, &from, &parts));
        }
        let map = ThreadMap::of(&to, last, 1);
        let mut joined = Vec::new();
        for register in 0..to.in_size(Dim::Register) {
            let mut place = to.apply(&[(Dim::Register, register)]);
            let index = place.pop().expect("pairs have an axis");
            let source = (0..parts.in_size(Dim::Register))
                .find(|&source| parts.apply(&[(Dim::Register, source)]) == place)
                .expect("a slice holds what the layout holds") as usize;
            let own = [held[0][source], held[1][source]];
            let [first, second] = if index == 0 { own } else { [own[1], own[0]] };
            joined.push(if map.mask() == 0 {
                first
            } else {
                let part = self.e.thread_map(&map);
                let other = self.e.compare(Word::Ne, Type::S32, part, Val::Int(0));
                self.e.select(ty, other, second, first)
            });
        }
        joined
    }

    /// The elements at one place of the last axis, which is one of registers (`layouts::verify`).
    pub(crate) fn split(&mut self, index: u32, arg: Value) -> Vec<Val> {
        let layout = self.layout(arg).clone();
        let last = layout.outs().len() - 1;
        let values = self.tile(arg).to_vec();
        (0..layout.in_size(Dim::Register))
            .zip(values)
            .filter(|&(register, _)| register_part(&layout, register, last) == index)
            .map(|(_, value)| value)
            .collect()
    }

    /// `Broadcast`, `Expand`, `Reshape`, `Permute`, `ToLayout`: the operand's elements under other coordinates, then brought to
    /// the result's layout.
    pub(crate) fn reshaped(&mut self, op: &TileOp, arg: Value, result: Value) -> Data {
        let from = self.layout(arg).clone();
        let mut to = self.layout(result).clone();
        let shape = self.kernel.ty(result).shape();
        let from = if let TileOp::Expand(axis) = op {
            from.expand_axis(*axis as usize)
        } else if let TileOp::Permute(order) = op {
            from.permute_axes(order)
        } else if *op == TileOp::Reshape {
            from.reshape(shape)
        } else {
            from
        };
        if *op == TileOp::Broadcast {
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
