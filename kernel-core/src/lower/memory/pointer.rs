//! Tiles of pointers: accesses as wide as runs of addresses and masks allow.

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Space, Type};

use super::access::{VECTOR_BYTES, bytes};
use super::tensor::{repeat, repeated_registers, vector_bits, vector_register};
use crate::ir::{Atomic, Elem, Evict, Scope, Value};
use crate::lower::emitter::{Place, Val};
use crate::lower::tiles::coords::repeated_threads;
use crate::lower::{Data, Lower};

impl Lower<'_> {
    /// The element type of a pointer.
    pub(crate) fn pointee(&self, pointer: Value) -> Elem {
        match self.elem(pointer) {
            Elem::Ptr(dtype) => Elem::Number(dtype),
            Elem::Number(_) => {
                unreachable!("ir::verify rejects an access through what is not a pointer")
            }
        }
    }

    /// The bits of the register index that one access covers.
    pub(super) fn pointer_vector(
        &self,
        pointer: Value,
        mask: Option<Value>,
        layout: &Layout,
    ) -> Vec<usize> {
        let size = bytes(self.pointee(pointer));
        let mut best = Vec::new();
        for axis in 0..self.kernel.ty(pointer).shape().len() {
            let known = self.facts.axis(pointer, axis);
            let aligned = (1 << known.log2_multiple) / size;
            let mut most = (VECTOR_BYTES / size).min(known.contiguity).min(aligned);
            if let Some(mask) = mask.filter(|&mask| !self.kernel.ty(mask).shape().is_empty()) {
                most = most.min(self.facts.axis(mask, axis).constancy);
            }
            let bits = vector_bits(layout, axis, most.max(1));
            if bits.len() > best.len() {
                best = bits;
            }
        }
        best
    }

    pub(super) fn value_at(&self, value: Value, register: u32) -> Val {
        match &self.values[value] {
            Data::Scalar(value) | Data::Window(value) => *value,
            Data::Tile(registers) => registers[register as usize],
        }
    }

    /// Reads the addresses in `args[0]`.
    pub(crate) fn load_pointers(&mut self, masked: bool, args: &[Value], result: Value) -> Data {
        let elem = self.pointee(args[0]);
        let mask = masked.then(|| args[1]);
        let other = masked.then(|| args[2]);
        let Data::Tile(addresses) = self.values[args[0]].clone() else {
            let address = self.scalar(args[0]);
            let address = self.e.at(address, 0);
            let mask = mask.map_or(Val::Int(1), |mask| self.scalar(mask));
            let other = other.map(|other| vec![self.scalar(other)]);
            return Data::Scalar(
                self.e.load(Space::Global, elem, 1, address, mask, other.as_deref())[0],
            );
        };
        let layout = self.layout(result).clone();
        debug_assert_eq!(addresses.len(), layout.in_size(Dim::Register) as usize);
        Data::Tile(self.load_addresses(&layout, (args[0], Evict::Normal), mask, other))
    }

    /// Reads a tile of addresses in a layout.
    pub(super) fn load_addresses(
        &mut self,
        layout: &Layout,
        (at, evict): (Value, Evict),
        mask: Option<Value>,
        other: Option<Value>,
    ) -> Vec<Val> {
        let elem = self.pointee(at);
        let addresses = self.tile(at).to_vec();
        let bits = self.pointer_vector(at, mask, layout);
        let repeated = repeated_registers(layout);
        let within = bits.iter().fold(repeated, |mask, bit| mask | 1 << bit);
        let mut registers = vec![Val::Int(0); addresses.len()];
        for start in (0..layout.in_size(Dim::Register)).filter(|register| register & within == 0) {
            let elements: Vec<u32> = (0..1 << bits.len())
                .map(|element| vector_register(&bits, start, element))
                .collect();
            let address = self.e.at(addresses[start as usize], 0);
            let holds = mask.map_or(Val::Int(1), |mask| self.value_at(mask, start));
            let other: Option<Vec<Val>> = other.map(|other| {
                elements.iter().map(|&register| self.value_at(other, register)).collect()
            });
            let count = 1 << bits.len();
            let mut modifiers = vec![Space::Global.into()];
            let policy = self.cached(evict, &mut modifiers);
            let masked = (holds, other.as_deref());
            let loaded = self.e.load_with(&modifiers, elem, count, (address, policy), masked);
            for (&register, value) in elements.iter().zip(loaded) {
                registers[register as usize] = value;
            }
        }
        repeat(&mut registers, repeated);
        registers
    }

    /// Writes `args[1]` to the addresses in `args[0]`; what several threads hold is written by one of them.
    pub(crate) fn store_pointers(&mut self, masked: bool, args: &[Value]) {
        let elem = self.pointee(args[0]);
        let mask = masked.then(|| args[2]);
        let Data::Tile(addresses) = self.values[args[0]].clone() else {
            let address = self.scalar(args[0]);
            let address = self.e.at(address, 0);
            let value = self.scalar(args[1]);
            let one = self.e.first_of(self.e.threads - 1);
            let mask = mask.map_or(Val::Int(1), |mask| self.scalar(mask));
            let mask = self.e.and(Type::Pred, one, mask);
            self.e.store(Space::Global, elem, &[value], address, mask);
            return;
        };
        let layout = self.layout(args[1]).clone();
        let bits = self.pointer_vector(args[0], mask, &layout);
        let free = layout.free_variable_mask(Dim::Register);
        let within = bits.iter().fold(free, |mask, bit| mask | 1 << bit);
        let one = self
            .e
            .placed(Place::Outermost, |e| e.first_of(repeated_threads(&layout, self.crew.warps)));
        for start in (0..layout.in_size(Dim::Register)).filter(|register| register & within == 0) {
            let vector: Vec<Val> = (0..1 << bits.len())
                .map(|element| self.value_at(args[1], vector_register(&bits, start, element)))
                .collect();
            let address = self.e.at(addresses[start as usize], 0);
            let holds = mask.map_or(Val::Int(1), |mask| self.value_at(mask, start));
            let holds = self.e.and(Type::Pred, one, holds);
            self.e.store(Space::Global, elem, &vector, address, holds);
        }
    }

    /// Changes the elements at a tile of addresses by a tile, at most so many neighbours at once; what several threads hold is taken from
    /// one of them. False if no thread holds neighbours.
    pub(super) fn change_addresses(
        &mut self,
        (op, at, scope): (Atomic, Value, Scope),
        value: Value,
        most: u32,
    ) -> bool {
        let Elem::Number(dtype) = self.pointee(at) else {
            unreachable!("ir::verify rejects an atomic on pointers")
        };
        let layout = self.layout(at).clone();
        let mut bits = self.pointer_vector(at, None, &layout);
        bits.truncate(most.trailing_zeros() as usize);
        if bits.is_empty() {
            return false;
        }
        let addresses = self.tile(at).to_vec();
        let free = layout.free_variable_mask(Dim::Register);
        let within = bits.iter().fold(free, |mask, bit| mask | 1 << bit);
        let one = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        for start in (0..layout.in_size(Dim::Register)).filter(|register| register & within == 0) {
            let vector: Vec<Val> = (0..1 << bits.len())
                .map(|element| self.value_at(value, vector_register(&bits, start, element)))
                .collect();
            let address = self.e.at(addresses[start as usize], 0);
            self.e.change_neighbours((op, dtype, scope), &vector, (address, None), one);
        }
        true
    }

    /// Reads a tensor's tile, or one element for a tile without axes.
    pub(crate) fn tensor_load(
        &mut self,
        (param, evict): (u32, Evict),
        offsets: &[Value],
        result: Value,
    ) -> Data {
        match self.kernel.ty(result) {
            crate::ir::Type::Scalar(elem) => {
                let tile = self.tensor_tile(param, offsets, &[]);
                let origin =
                    vec![
                        crate::lower::tiles::coords::Position { value: Val::Int(0), constant: 0 };
                        tile.shape.len()
                    ];
                let elem = *elem;
                let address = self.tensor_address(&tile, &origin);
                let mask = self.tensor_mask(&tile, &origin);
                let address = self.e.at(address, 0);
                Data::Scalar(self.load_global((param, evict), elem, 1, address, mask)[0])
            }
            crate::ir::Type::Tile(..)
            | crate::ir::Type::Shared(_)
            | crate::ir::Type::Barrier(_)
            | crate::ir::Type::TensorMemory(_)
            | crate::ir::Type::Error => {
                Data::Tile(self.load_tensor((param, evict), offsets, result))
            }
        }
    }

    /// Writes a tensor's tile, or one element.
    pub(crate) fn tensor_store(
        &mut self,
        (param, evict): (u32, Evict),
        offsets: &[Value],
        value: Value,
    ) {
        if let Data::Scalar(scalar) = self.values[value] {
            let tile = self.tensor_tile(param, offsets, &[]);
            let origin =
                vec![
                    crate::lower::tiles::coords::Position { value: Val::Int(0), constant: 0 };
                    tile.shape.len()
                ];
            let address = self.tensor_address(&tile, &origin);
            let mask = self.tensor_mask(&tile, &origin);
            let one = self.e.first_of(self.e.threads - 1);
            let mask = self.all(vec![one, mask]);
            let address = self.e.at(address, 0);
            self.store_global(evict, Elem::Number(tile.dtype), &[scalar], address, mask);
        } else {
            self.store_tensor((param, evict), offsets, value);
        }
    }
}
