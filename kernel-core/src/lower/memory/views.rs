//! Windows that are views: where they begin, and which bits of an offset are combined by exclusive or.
//!
//! The offset of an element of a view is linear over GF(2) in the position of the element, so it is that of the view's first element,
//! exclusive or that of the element in the view. Only a swizzle makes them share bits; where they share none, the sum is the same, and
//! its constant part costs nothing.

use kernel_layout::{Dim, Layout};
use kernel_ptx::Type;

use super::access::VECTOR_BYTES;
use crate::ir::{SharedType, Value};
use crate::layouts::{positions, tile_bytes};
use crate::lower::Lower;
use crate::lower::emitter::{Emitter, Val};

/// The bytes of a view's allocation that its bits move by.
pub(super) struct Moves {
    /// For each bit of a position, the bytes.
    bytes: Vec<u32>,
    window: SharedType,
}

impl Moves {
    /// Those of a window, by the layout of its allocation over positions in elements of the window.
    pub(super) fn of(allocation: &Layout, window: &SharedType) -> Moves {
        let inverse = allocation.pseudo_inverse().expect("shared memory stores every element");
        let size = window.dtype.shared_bytes();
        let bytes = inverse.bases(Dim::Axis(0)).iter().map(|basis| basis[0] * size).collect();
        Moves { bytes, window: window.clone() }
    }

    /// The bytes by which each bit of a coordinate moves.
    pub(super) fn axis(&self, axis: usize) -> Vec<u32> {
        self.window.axes()[axis].iter().map(|&bit| self.bit(bit)).collect()
    }

    /// The bytes by which a bit of a position moves; the bits of an axis that is not a power of two are no such bits.
    fn bit(&self, bit: u32) -> u32 {
        self.bytes.get(bit as usize).copied().unwrap_or(0)
    }

    /// The bits of an offset that elements of the window differ in.
    fn within(&self) -> u32 {
        self.window.axes().into_iter().flatten().fold(0, |all, bit| all | self.bit(bit))
    }

    /// The bits of an offset that the first element may have.
    fn before(&self) -> u32 {
        let own: Vec<u32> = self.window.axes().into_iter().flatten().collect();
        let others = (0..).zip(&self.bytes).filter(|(bit, _)| !own.contains(bit));
        others.fold(0, |all, (_, bytes)| all | bytes)
    }

    /// The bytes, at most those of an access, that keep their order wherever the window begins: its first element may change the place of a
    /// bit that elements of the window differ in.
    pub(super) fn aligned(&self) -> u32 {
        self.shared().map_or(VECTOR_BYTES, |before| VECTOR_BYTES.min(1 << before.trailing_zeros()))
    }

    /// The bits that the offset of the first element may have, if it shares bits with those of elements of the window.
    pub(super) fn shared(&self) -> Option<u32> {
        let before = self.before();
        (before & self.within() != 0).then_some(before)
    }
}

impl Lower<'_> {
    /// The layout of the allocation of a window over positions in elements of the window.
    fn in_positions(&self, window: &SharedType) -> Layout {
        let (data, tile) = (&self.kernel.shared[window.root], &self.plan.layouts[window.root]);
        positions(data, tile, window).expect("layouts::shared keeps the bytes of elements together")
    }

    /// The bytes that the bits of positions in the allocation of a window move by.
    pub(super) fn view_moves(&self, window: Value) -> Moves {
        let window = self.shared_type(window);
        Moves::of(&self.in_positions(window), window)
    }

    /// The byte offset of the element of the leading axis of a view, or of part of a tile.
    pub(super) fn view_index(&mut self, window: Value, index: Value) -> Val {
        let index = self.scalar(index);
        self.moved(window, &[(0, index, 0)])
    }

    /// The byte offset of the part of a window (the first operand) that begins at coordinates (the others).
    pub(crate) fn window_part(&mut self, args: &[Value], result: Value) -> Val {
        let whole = self.shared_type(args[0]).shape.clone();
        let part = self.shared_type(result).shape.clone();
        let mut moved = Vec::new();
        for (axis, &at) in args[1..].iter().enumerate() {
            if whole[axis] == part[axis] {
                continue;
            }
            let begins = self.scalar(at);
            if self.facts.divisor(at) < u64::from(part[axis]) {
                let whole = self.kernel.called(args[0]).unwrap_or_else(|| "a tile".to_owned());
                let says = format!(
                    "a part of {whole} begins {{}} past a multiple of {} on axis {axis}",
                    part[axis]
                );
                self.multiple_of(begins, part[axis], &says);
            }
            moved.push((axis, begins, part[axis].trailing_zeros()));
        }
        self.moved(args[0], &moved)
    }

    /// Stops the kernel, with what is wrong then, if a number is not a multiple of this power of two.
    fn multiple_of(&mut self, number: Val, of: u32, says: &str) {
        let rest = self.e.and(Type::B32, number, Val::Int(i64::from(of - 1)));
        let holds = self.e.compare(kernel_ptx::Word::Eq, Type::S32, rest, Val::Int(0));
        if holds == Val::Int(1) {
            return;
        }
        self.e.trap_unless(holds, says);
    }

    /// The byte offset of a window whose first element is at these coordinates of another one; so many bits of each are zero.
    fn moved(&mut self, window: Value, coordinates: &[(usize, Val, u32)]) -> Val {
        let moves = self.view_moves(window);
        let mut start = self.window(window);
        let mut reached = moves.before();
        for &(axis, at, zeros) in coordinates {
            let extent = moves.window.shape[axis];
            if !extent.is_power_of_two() {
                let step = Val::Int(i64::from(self.regular_bytes(&moves.window)));
                let distance = self.e.mul(Type::S32, at, step);
                start = self.e.add(Type::S32, start, distance);
                continue;
            }
            let mut bases = moves.axis(axis);
            bases.iter_mut().take(zeros as usize).for_each(|basis| *basis = 0);
            let reach = bases.iter().fold(0, |all, basis| all | basis);
            let distance = self.distance(&bases, at, extent);
            start = if reached & reach == 0 {
                self.e.add(Type::S32, start, distance)
            } else {
                self.e.xor(Type::U32, start, distance)
            };
            reached |= reach;
        }
        start
    }

    /// The bytes that a coordinate moves by. Its bits that move nothing are zero.
    fn distance(&mut self, bases: &[u32], at: Val, extent: u32) -> Val {
        if let Val::Int(at) = at {
            let set = (0u32..).zip(bases).filter(|(bit, _)| at >> bit & 1 == 1);
            return Val::Int(i64::from(set.fold(0, |all, (_, basis)| all ^ basis)));
        }
        let moving = (0u32..).zip(bases).filter(|(_, basis)| **basis != 0);
        let steps: Vec<u32> = moving
            .map(|(bit, basis)| if basis.trailing_zeros() >= bit { basis >> bit } else { 0 })
            .collect();
        match steps[..] {
            [] => Val::Int(0),
            // Coordinates at equal distances.
            [step, ..] if step != 0 && steps.iter().all(|other| *other == step) => {
                self.e.mul(Type::S32, at, Val::Int(i64::from(step)))
            }
            [..] => self.e.linear(bases, extent - 1, |_: &mut Emitter| at),
        }
    }

    /// The bytes from one element of the leading axis of an allocation to the next, if its extent is not a power of two.
    fn regular_bytes(&self, window: &SharedType) -> u32 {
        let (data, tile) = (&self.kernel.shared[window.root], &self.plan.layouts[window.root]);
        let tiles: u32 = data.shape[1..data.shape.len() - tile.outs().len()].iter().product();
        tiles * tile_bytes(tile, data.dtype.shared_bytes())
    }
}
