//! Shared memory by index: the address of an element from the indices that a thread has, and whether the window has that element.
//!
//! The offset of an element is linear over GF(2) in the bits of its indices, as its allocation is laid out: bits that move by the same
//! distance move together, and those of a swizzle are combined by exclusive or.

use kernel_layout::Dim;
use kernel_ptx::{Type, Word};

use super::tensor::{repeat, repeated_registers};
use crate::ir::{Elem, Value};
use crate::layouts::tiles;
use crate::lower::Lower;
use crate::lower::emitter::{Emitter, Place, Val};
use crate::lower::tiles::coords::repeated_threads;

/// Elements of a window at tiles of indices.
pub(super) struct Indexed {
    /// Where the allocation begins: a value, and a constant.
    start: (Val, u32),
    /// The offset of the first element of a view that shares bits with those of the others.
    first: Val,
    axes: Vec<Axis>,
}

/// An axis of a window that is indexed.
struct Axis {
    index: Value,
    extent: u32,
    /// The bytes by which each bit of the index moves.
    bases: Vec<u32>,
    /// Whether the index may be outside.
    open: bool,
}

impl Lower<'_> {
    /// The elements of a window at tiles of indices.
    pub(super) fn indexed(&mut self, window: Value, indices: &[Value]) -> Indexed {
        let bases = self.bytes_of_bits(window);
        let extents = self.shared_type(window).shape.clone();
        let axes = indices.iter().zip(extents).zip(bases).map(|((&index, extent), bases)| {
            let open = !self.facts.proves_index(index, extent);
            Axis { index, extent, bases, open }
        });
        let axes = axes.collect();
        let is_view = !self.shared_type(window).is_plain();
        if is_view && self.view_moves(window).shared().is_some() {
            let start = (self.shared_base(), self.allocation_start(window));
            return Indexed { start, first: self.window(window), axes };
        }
        Indexed { start: self.window_start(window), first: Val::Int(0), axes }
    }

    /// For each axis of a window, the bytes by which each bit of an index moves.
    fn bytes_of_bits(&self, window: Value) -> Vec<Vec<u32>> {
        let ty = self.shared_type(window);
        if !ty.is_plain() {
            let moves = self.view_moves(window);
            return (0..ty.shape.len()).map(|axis| moves.axis(axis)).collect();
        }
        let size = ty.dtype.shared_bytes();
        let tile = &self.plan.layouts[ty.root];
        let (rank, tile_rank) = (ty.shape.len(), tile.outs().len());
        let mut extents = ty.shape.clone();
        if ty.transposed {
            extents.reverse();
        }
        let shared = if rank > tile_rank { tiles(tile, &extents, size) } else { tile.clone() };
        let inverse = shared.pseudo_inverse().expect("shared memory stores every element");
        // Of a window with fewer axes than the tile, an index has picked the row.
        let first = tile_rank.saturating_sub(rank);
        let of_axis = |axis| inverse.bases(Dim::axis(axis)).iter().map(|basis| basis[0] * size);
        let mut bases: Vec<Vec<u32>> =
            (first..first + rank).map(|axis| of_axis(axis).collect()).collect();
        if ty.transposed {
            bases.reverse();
        }
        bases
    }

    /// The address of the element that each thread names in a register, and whether it is there, of those for which `one` holds.
    pub(super) fn indexed_place(
        &mut self,
        elements: &Indexed,
        register: u32,
        one: Val,
    ) -> (Val, Val) {
        let (mut offset, mut reached) = (Val::Int(0), 0u32);
        let mut masks = vec![one];
        for axis in &elements.axes {
            let index = self.register(axis.index, register);
            self.e.placed(Place::Outermost, |e| {
                let part = e.linear(&axis.bases, axis.extent - 1, |_: &mut Emitter| index);
                let reach = axis.bases.iter().fold(0, |all, basis| all | basis);
                offset = if reached & reach == 0 {
                    e.add(Type::U32, offset, part)
                } else {
                    e.xor(Type::U32, offset, part)
                };
                reached |= reach;
                if axis.open {
                    // Below zero counts as huge.
                    let extent = Val::Int(i64::from(axis.extent));
                    masks.push(e.compare(Word::Lt, Type::U32, index, extent));
                }
            });
        }
        let (base, constant) = elements.start;
        let address = self.e.placed(Place::Outermost, |e| {
            let offset = e.xor(Type::U32, offset, elements.first);
            let address = e.add(Type::U32, base, offset);
            e.add(Type::U32, address, Val::Int(i64::from(constant)))
        });
        (address, self.all(masks))
    }

    /// Reads the elements of a window (the first operand) at tiles of indices (the others); zero outside.
    pub(crate) fn gather_shared(&mut self, args: &[Value], result: Value) -> Vec<Val> {
        let layout = self.layout(result).clone();
        let elem = Elem::Number(self.shared_type(args[0]).dtype);
        let space = self.space_of(args[0]);
        let elements = self.indexed(args[0], &args[1..]);
        let repeated = repeated_registers(&layout);
        let mut registers = vec![Val::Int(0); layout.in_size(Dim::Register) as usize];
        for register in (0..layout.in_size(Dim::Register)).filter(|one| one & repeated == 0) {
            let (address, inside) = self.indexed_place(&elements, register, Val::Int(1));
            let address = self.e.at(address, 0);
            registers[register as usize] = self.e.load(space, elem, 1, address, inside, None)[0];
        }
        repeat(&mut registers, repeated);
        registers
    }

    /// Writes elements (the last operand) to a window (the first) at tiles of indices; what several threads hold is written by one of
    /// them.
    pub(crate) fn scatter_shared(&mut self, args: &[Value]) {
        let (&value, at) = args.split_last().expect("the tile comes last");
        let layout = self.layout(value).clone();
        let window = self.shared_type(at[0]);
        let elem = Elem::Number(window.dtype);
        let scope = if window.remote { Word::Cluster } else { Word::Cta };
        let space = self.space_of(at[0]);
        let elements = self.indexed(at[0], &at[1..]);
        let free = layout.free_variable_mask(Dim::Register);
        let one = self
            .e
            .placed(Place::Outermost, |e| e.first_of(repeated_threads(&layout, self.crew.warps)));
        for register in (0..layout.in_size(Dim::Register)).filter(|one| one & free == 0) {
            let (address, mask) = self.indexed_place(&elements, register, one);
            let address = self.e.at(address, 0);
            let value = self.register(value, register);
            // Threads may name one element, and then one of them stays: such stores are no race if they are strong (PTX ISA,
            // "Memory Consistency Model").
            self.e.store_relaxed([scope.into(), space], elem, value, address, mask);
        }
    }
}
