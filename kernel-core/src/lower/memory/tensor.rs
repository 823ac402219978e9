//! Tiles of tensors: addresses from offsets and strides, masks from extents.

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Modifier, Operand, Space, Type, Word};

use super::access::{VECTOR_BYTES, bytes};
use crate::ir::{Atomic, Corner, Dtype, Elem, Evict, ParamKind, Scope, Value};
use crate::lower::Lower;
use crate::lower::emitter::{Place, Val, mods};
use crate::lower::tiles::coords::{Position, ThreadMap, register_part, repeated_threads};

/// The most addresses of a tile whose distances are kept over a loop: each takes two registers.
const MOST_KEPT: usize = 4;
/// The most whose masks are: each takes a predicate, of which there are few, or a bit of a register.
const MOST_MASKS: usize = 16;

/// A tile of a tensor parameter.
pub(crate) struct TensorTile<'v> {
    pub(crate) param: u32,
    pub(crate) offsets: &'v [Value],
    /// For each axis, where the slice begins and ends that bounds it; none if the tensor does.
    slice: Vec<Option<[Value; 2]>>,
    pub(crate) dtype: Dtype,
    /// The tile's extents.
    pub(crate) shape: Vec<u32>,
}

/// The registers that one access covers: bits of the register index, the lowest along the fastest axis first.
pub(crate) fn vector_bits(layout: &Layout, axis: usize, most: u32) -> Vec<usize> {
    let registers = layout.bases(Dim::Register);
    let mut bits = Vec::new();
    while 1u32 << bits.len() < most {
        let step = 1u32 << bits.len();
        let along = |basis: &[u32]| {
            basis
                .iter()
                .enumerate()
                .all(|(index, &part)| part == if index == axis { step } else { 0 })
        };
        let Some(bit) = registers.iter().position(|basis| along(basis)) else { break };
        bits.push(bit);
    }
    // What is not in the vector must move in whole vectors.
    loop {
        let count = 1u32 << bits.len();
        let aligned = |basis: &[u32]| basis[axis].is_multiple_of(count);
        let others = registers
            .iter()
            .enumerate()
            .filter(|(bit, _)| !bits.contains(bit))
            .map(|(_, basis)| basis);
        let threads = layout.bases(Dim::Lane).iter().chain(layout.bases(Dim::Warp));
        if others.chain(threads).all(|basis| aligned(basis)) {
            return bits;
        }
        bits.pop();
    }
}

/// The register index of element `element` of the access that starts at `register`.
pub(crate) fn vector_register(bits: &[usize], register: u32, element: u32) -> u32 {
    bits.iter()
        .enumerate()
        .filter(|(place, _)| element >> place & 1 == 1)
        .fold(register, |sum, (_, bit)| sum | 1 << bit)
}

/// The bits of the register index whose basis is zero: they repeat elements.
pub(crate) fn repeated_registers(layout: &Layout) -> u32 {
    let bases = layout.bases(Dim::Register).iter().enumerate();
    bases
        .filter(|(_, basis)| basis.iter().all(|&part| part == 0))
        .fold(0, |mask, (bit, _)| mask | 1 << bit)
}

impl Lower<'_> {
    /// What parameter `param` is, as the tile of shape `shape` at the positions that an operation has among its operands.
    ///
    /// A tile without axes is one element.
    pub(crate) fn tensor_tile<'v>(
        &self,
        param: u32,
        positions: &'v [Value],
        shape: &[u32],
    ) -> TensorTile<'v> {
        match &self.kernel.params[param as usize].kind {
            ParamKind::Tensor { dtype, rank, .. } => {
                let rank = *rank as usize;
                let Corner { at: offsets, slice } = Corner::of(positions, rank);
                let bounds = |axis: usize| {
                    let [first, end] = slice?.map(|bounds| bounds[axis]);
                    let whole = self.facts.is_whole([first, end], param, axis_number(axis));
                    (!whole).then_some([first, end])
                };
                let slice = (0..rank).map(bounds).collect();
                let shape = if shape.is_empty() { vec![1; rank] } else { shape.to_vec() };
                TensorTile { param, offsets, slice, dtype: *dtype, shape }
            }
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => {
                unreachable!("ir::verify rejects tiles of what is not a tensor")
            }
        }
    }

    /// The axis along which elements are contiguous, if that is known.
    pub(crate) fn fastest_axis(&self, tile: &TensorTile<'_>) -> Option<usize> {
        (0..tile.shape.len())
            .rev()
            .find(|&axis| self.facts.stride(tile.param, axis_number(axis)) == Some(1))
    }

    /// The longest run of elements along `axis` that is contiguous, aligned to its length, and wholly inside or outside
    /// the tensor, when it starts at a multiple of that length within the tile.
    pub(crate) fn tensor_vector(&self, tile: &TensorTile<'_>, axis: usize) -> u32 {
        let size = tile.dtype.bytes();
        let mut count = u64::from(VECTOR_BYTES / size);
        count = count.min(u64::from(tile.shape[axis]));
        count = count.min(self.facts.pointer(tile.param) / u64::from(size));
        for (index, &offset) in tile.offsets.iter().enumerate() {
            let number = axis_number(index);
            if index == axis {
                count = count.min(self.facts.divisor(offset));
                if let Some(bounds) = tile.slice[axis] {
                    for bound in bounds {
                        count = count.min(self.facts.divisor(bound));
                    }
                } else if !self.facts.inside(offset, tile.shape[axis], tile.param, number) {
                    count = count.min(self.facts.dim_divisor(tile.param, number));
                }
            } else {
                let stride = self.facts.stride_divisor(tile.param, number);
                let step = if tile.shape[index] == 1 {
                    stride.saturating_mul(self.facts.divisor(offset))
                } else {
                    stride
                };
                count = count.min(step);
            }
        }
        u32::try_from(count.max(1)).expect("at most 16")
    }

    /// The address of an element: its position within the tile on each axis.
    pub(crate) fn tensor_address(&mut self, tile: &TensorTile<'_>, positions: &[Position]) -> Val {
        self.tensor_address_by(tile, positions, Place::Outermost)
    }

    /// As [`tensor_address`](Self::tensor_address), one of many.
    ///
    /// `constants_at` says where distances within the tile are computed, as far as strides are known at run time alone.
    fn tensor_address_by(
        &mut self,
        tile: &TensorTile<'_>,
        positions: &[Position],
        constants_at: Place,
    ) -> Val {
        let size = i64::from(tile.dtype.bytes());
        let pointer = self.param_pointer(tile.param);
        let (mut terms, mut constants) = (vec![pointer], Vec::new());
        for (axis, position) in positions.iter().enumerate() {
            let offset = self.scalar(tile.offsets[axis]);
            // Parts that live in one frame share a multiplication; a part that a loop changes stays alone.
            let parts = if self.e.depth(offset) == self.e.depth(position.value) {
                vec![self.e.add(Type::S32, offset, position.value)]
            } else {
                vec![position.value, offset]
            };
            let number = axis_number(axis);
            if let Some(stride) = self.facts.stride(tile.param, number) {
                // Addresses wrap around, as those that are computed at run time do.
                let bytes = stride.wrapping_mul(size);
                for part in parts {
                    terms.push(self.scaled(part, bytes));
                }
                constants.push(Val::Int(i64::from(position.constant).wrapping_mul(bytes)));
            } else {
                let stride = self.param_stride(tile.param, number);
                let stride = self.e.mul(Type::S64, stride, Val::Int(size));
                for part in parts {
                    let part = self.e.widen(part);
                    terms.push(self.e.mul(Type::S64, part, stride));
                }
                let constant = Val::Int(i64::from(position.constant));
                constants.push(self.e.placed(constants_at, |e| e.mul(Type::S64, stride, constant)));
            }
        }
        terms.extend(constants);
        self.e.sum(&terms)
    }

    /// A 32-bit value times a constant, in 64 bits.
    fn scaled(&mut self, value: Val, factor: i64) -> Val {
        if i32::try_from(factor).is_ok() {
            self.e.mul_wide(value, Val::Int(factor))
        } else {
            let wide = self.e.widen(value);
            self.e.mul(Type::S64, wide, Val::Int(factor))
        }
    }

    /// Whether an element is inside the tensor.
    pub(crate) fn tensor_mask(&mut self, tile: &TensorTile<'_>, positions: &[Position]) -> Val {
        let mut masks = Vec::new();
        for (axis, position) in positions.iter().enumerate() {
            let number = axis_number(axis);
            let (offset, extent) = if let Some(bounds) = tile.slice[axis] {
                // The slice is within the tensor, so that one comparison checks both.
                let offset = self.scalar(tile.offsets[axis]);
                let [first, end] = bounds.map(|bound| self.scalar(bound));
                (self.e.sub(Type::S32, offset, first), self.e.sub(Type::S32, end, first))
            } else {
                if self.facts.inside(tile.offsets[axis], tile.shape[axis], tile.param, number) {
                    continue;
                }
                (self.scalar(tile.offsets[axis]), self.param_dim(tile.param, number))
            };
            let index = self.e.add(Type::S32, offset, position.value);
            let index = self.e.add(Type::S32, index, Val::Int(i64::from(position.constant)));
            // Below zero counts as huge.
            masks.push(self.e.compare(Word::Lt, Type::U32, index, extent));
        }
        self.all(masks)
    }

    /// The conjunction of masks; those of outer frames are joined first.
    pub(crate) fn all(&mut self, mut masks: Vec<Val>) -> Val {
        masks.sort_by_key(|&mask| self.e.depth(mask));
        masks.into_iter().fold(Val::Int(1), |all, mask| self.e.and(Type::Pred, all, mask))
    }

    /// Where the elements of register `register` of each thread are in a tile.
    pub(crate) fn positions(&mut self, layout: &Layout, register: u32) -> Vec<Position> {
        (0..layout.outs().len())
            .map(|axis| {
                self.e.position(
                    &ThreadMap::of(layout, axis, 1),
                    register_part(layout, register, axis),
                )
            })
            .collect()
    }

    /// The vectors of a tile in registers, of at most so many elements: the bits of the register index within one, the first register
    /// of each.
    fn tensor_vectors(
        &self,
        tile: &TensorTile<'_>,
        layout: &Layout,
        skip: u32,
        most: u32,
    ) -> (Vec<usize>, Vec<u32>) {
        let bits = self.fastest_axis(tile).map_or_else(Vec::new, |axis| {
            vector_bits(layout, axis, self.tensor_vector(tile, axis).min(most))
        });
        let within = bits.iter().fold(skip, |mask, bit| mask | 1 << bit);
        let starts =
            (0..layout.in_size(Dim::Register)).filter(|register| register & within == 0).collect();
        (bits, starts)
    }

    /// The address of the vector that begins in register `start`, and the mask of its threads, of those for which `one` holds. The constants
    /// of the address and the mask are computed at these places.
    pub(super) fn vector_place(
        &mut self,
        tile: &TensorTile<'_>,
        layout: &Layout,
        start: u32,
        [constants_at, masks_at]: [Place; 2],
        one: Val,
    ) -> (Operand, Val) {
        let (address, mask) =
            self.element_place(tile, layout, start, [constants_at, masks_at], one);
        (self.e.at(address, 0), mask)
    }

    /// The same with the address as a value.
    pub(super) fn element_place(
        &mut self,
        tile: &TensorTile<'_>,
        layout: &Layout,
        start: u32,
        [constants_at, masks_at]: [Place; 2],
        one: Val,
    ) -> (Val, Val) {
        let before = std::mem::replace(&mut self.e.place, Place::Outermost);
        let positions = self.positions(layout, start);
        let address = self.tensor_address_by(tile, &positions, constants_at);
        self.e.place = masks_at;
        let mask = self.tensor_mask(tile, &positions);
        let mask = self.all(vec![one, mask]);
        self.e.place = before;
        (address, mask)
    }

    /// Where the constants of so many addresses, and their masks, are computed.
    pub(super) const fn kept_at(addresses: usize) -> [Place; 2] {
        [kept(addresses, MOST_KEPT), kept(addresses, MOST_MASKS)]
    }

    /// Reads neighbouring elements of a tensor.
    pub(super) fn load_global(
        &mut self,
        (param, evict): (u32, Evict),
        elem: Elem,
        count: u32,
        address: Operand,
        mask: Val,
    ) -> Vec<Val> {
        let mut modifiers = mods![Space::Global].to_vec();
        if self.facts.is_constant(param) {
            modifiers.push(Word::Nc.into());
        }
        let policy = self.cached(evict, &mut modifiers);
        self.e.load_with(&modifiers, elem, count, (address, policy), (mask, None))
    }

    /// Writes neighbouring elements of a tensor.
    pub(super) fn store_global(
        &mut self,
        evict: Evict,
        elem: Elem,
        values: &[Val],
        address: Operand,
        mask: Val,
    ) {
        let mut modifiers = mods![Space::Global].to_vec();
        let policy = self.cached(evict, &mut modifiers);
        self.e.store_with(&modifiers, elem, values, (address, policy), mask);
    }

    /// The policy of the second-level cache, with the modifiers that go with it.
    pub(super) fn cached(
        &mut self,
        evict: Evict,
        modifiers: &mut Vec<Modifier>,
    ) -> Option<Operand> {
        let policy = self.cache_policy(evict)?;
        if evict == Evict::First {
            modifiers.push(Word::L1NoAllocate.into());
        }
        modifiers.push(Word::L2CacheHint.into());
        Some(policy)
    }

    /// Reads a tile.
    pub(crate) fn load_tensor(
        &mut self,
        (param, evict): (u32, Evict),
        offsets: &[Value],
        result: Value,
    ) -> Vec<Val> {
        let layout = self.layout(result).clone();
        let tile = self.tensor_tile(param, offsets, self.kernel.ty(result).shape());
        let elem = Elem::Number(tile.dtype);
        let repeated = repeated_registers(&layout);
        let (bits, starts) = self.tensor_vectors(&tile, &layout, repeated, VECTOR_BYTES);
        let mut registers = vec![Val::Int(0); layout.in_size(Dim::Register) as usize];
        let kept_at = Self::kept_at(starts.len());
        for start in starts {
            let (address, mask) = self.vector_place(&tile, &layout, start, kept_at, Val::Int(1));
            let count = 1 << bits.len();
            let loaded = self.load_global((param, evict), elem, count, address, mask);
            for (element, value) in (0..).zip(loaded) {
                registers[vector_register(&bits, start, element) as usize] = value;
            }
        }
        repeat(&mut registers, repeated);
        registers
    }

    /// Changes a tile of a tensor by another one, at most so many neighbours at once; what several threads hold is taken from one of them.
    /// False if no thread holds neighbours.
    pub(super) fn change_in_tensor(
        &mut self,
        (op, tile, evict): (Atomic, &TensorTile<'_>, Evict),
        value: Value,
        most: u32,
    ) -> bool {
        let layout = self.layout(value).clone();
        let free = layout.free_variable_mask(Dim::Register);
        let (bits, starts) = self.tensor_vectors(tile, &layout, free, most);
        if bits.is_empty() {
            return false;
        }
        let values = self.tile(value).to_vec();
        let one = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        let kept_at = Self::kept_at(starts.len());
        for start in starts {
            let (address, mask) = self.vector_place(tile, &layout, start, kept_at, one);
            let vector: Vec<Val> = (0..1 << bits.len())
                .map(|element| values[vector_register(&bits, start, element) as usize])
                .collect();
            let policy = self.cache_policy(evict);
            self.e.change_neighbours(
                (op, tile.dtype, Scope::Gpu),
                &vector,
                (address, policy),
                mask,
            );
        }
        true
    }

    /// Writes a tile; what several threads hold is written by one of them.
    pub(crate) fn store_tensor(
        &mut self,
        (param, evict): (u32, Evict),
        offsets: &[Value],
        value: Value,
    ) {
        let layout = self.layout(value).clone();
        let tile = self.tensor_tile(param, offsets, self.kernel.ty(value).shape());
        let elem = Elem::Number(tile.dtype);
        debug_assert_eq!(bytes(elem), tile.dtype.bytes());
        let free = layout.free_variable_mask(Dim::Register);
        let (bits, starts) = self.tensor_vectors(&tile, &layout, free, VECTOR_BYTES);
        let values = self.tile(value).to_vec();
        let one = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        let kept_at = Self::kept_at(starts.len());
        for start in starts {
            let (address, mask) = self.vector_place(&tile, &layout, start, kept_at, one);
            let vector: Vec<Val> = (0..1 << bits.len())
                .map(|element| values[vector_register(&bits, start, element) as usize])
                .collect();
            self.store_global(evict, elem, &vector, address, mask);
        }
    }
}

/// Where what belongs to this many addresses of a tile is computed: before the loops around it, unless keeping it would take registers
/// that the loop has better uses for.
const fn kept(addresses: usize, most: usize) -> Place {
    if addresses > most { Place::Here } else { Place::Outermost }
}

/// Fills the registers that repeat others.
pub(crate) fn repeat(registers: &mut [Val], repeated: u32) {
    for index in 0..registers.len() {
        registers[index] = registers[index & !(repeated as usize)];
    }
}

/// An axis as the IR counts it.
pub(crate) fn axis_number(axis: usize) -> u32 {
    u32::try_from(axis).expect("a tensor has few axes")
}
