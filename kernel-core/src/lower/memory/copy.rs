//! `cp.async`: tiles of tensors into shared memory, 4, 8 or 16 bytes at a time.

use kernel_layout::{Dim, Layout, accesses, first_vector};
use kernel_ptx::{Opcode, Operand, Space, Type, Word};

use super::access::VECTOR_BYTES;
use super::shared::InTile;
use super::tensor::{TensorTile, vector_bits};
use crate::ir::{Copied, Elem, Evict, Value};
use crate::layouts::{LEAST_COPY_BYTES, copied};
use crate::lower::Lower;
use crate::lower::emitter::{Place, Val, mods};
use crate::lower::tiles::convert::offsets;
use crate::lower::tiles::coords::repeated_threads;
use crate::lower::tiles::scalar::zero;

impl Lower<'_> {
    /// Starts a copy into a shared window.
    pub(crate) fn copy_async(
        &mut self,
        (copied, evict): (Copied, Evict),
        operands: &[Value],
        window: Value,
    ) {
        match copied {
            Copied::Tile { param, extents } => {
                let tile = self.tensor_tile(param, operands, extents.shape());
                self.copy_tile((&tile, evict), window);
            }
            Copied::Addresses { .. } => self.copy_addresses((operands, evict), window),
        }
    }

    /// Starts a copy of a tensor's tile.
    fn copy_tile(&mut self, (tile, evict): (&TensorTile<'_>, Evict), window: Value) {
        let shape = &tile.shape;
        let size = tile.dtype.bytes();
        let axis = self.fastest_axis(tile);
        let mut vector = axis.map_or(1, |axis| self.tensor_vector(tile, axis));
        let axis = axis.unwrap_or(shape.len() - 1);
        let warps = self.crew.warps;
        // The longest run that both memories keep together, in one order.
        let (layout, InTile { registers, shared, .. }) = loop {
            let layout = copied(shape, axis, vector, warps);
            let meeting = self.in_window(window, &layout);
            if vector == 1
                || (first_vector(&meeting.registers, &meeting.shared) >= vector
                    && vector * size <= meeting.aligned
                    && vector_bits(&layout, axis, vector).len() == vector.trailing_zeros() as usize)
            {
                break (layout, meeting);
            }
            vector /= 2;
        };
        let map = offsets(&registers, &shared, size);
        let places = kernel_layout::offsets(&registers, &shared);
        let bits = vector_bits(&layout, axis, vector);
        let within = bits.iter().fold(0, |mask, bit| mask | 1u32 << bit);
        let bytes = vector * size;
        if bytes < LEAST_COPY_BYTES {
            self.copy_small((tile, evict), window, &layout, vector);
            return;
        }
        let one = self.e.first_of(repeated_threads(&layout, warps));
        for start in (0..layout.in_size(Dim::Register)).filter(|register| register & within == 0) {
            let place = places.apply(&[(Dim::Register, start)])[0] * size;
            let (target, constant) = self.shared_address(window, &map, place);
            let before = std::mem::replace(&mut self.e.place, Place::Outermost);
            let positions = self.positions(&layout, start);
            let source = self.tensor_address(tile, &positions);
            let mask = self.tensor_mask(tile, &positions);
            let target = self.e.at(target, constant);
            let source = self.e.at(source, 0);
            let copied = self.e.select(Type::U32, mask, Val::Int(i64::from(bytes)), Val::Int(0));
            self.e.place = before;
            self.start_copy(bytes, [target, source], copied, one);
        }
    }

    /// Starts the copy of a piece, of which `copied` bytes are read, in the threads for which `issues` holds.
    ///
    /// It carries no cache policy: for `sm_90` and later, ptxas 13.0 and the driver's compiler (580.159.04) make an instruction of a
    /// `cp.async` with `.L2::cache_hint` that stops the kernel as illegal, once its shared address lies in a uniform register.
    fn start_copy(&mut self, bytes: u32, [target, source]: [Operand; 2], copied: Val, issues: Val) {
        if issues == Val::Int(0) {
            return;
        }
        let cache = if bytes == VECTOR_BYTES { Word::Cg } else { Word::Ca };
        let mut operands = vec![target, source, Operand::Int(i128::from(bytes))];
        if copied != Val::Int(i64::from(bytes)) {
            operands.push(copied.operand());
        }
        let guard = self.e.guard(issues);
        let mut modifiers = mods![Word::Async, cache, Space::Shared, Space::Global].to_vec();
        if bytes == VECTOR_BYTES {
            // A row of a tile is often shorter than a line of L2; the rest of the line is what the next iteration
            // of a loop over tiles reads.
            modifiers.push(Word::L2B128.into());
        }
        self.e.effect_if(guard, Opcode::Cp, &modifiers, operands);
    }

    /// Starts a copy of the elements at a tile of addresses; after these, there may be a mask and what comes elsewhere.
    fn copy_addresses(&mut self, (operands, evict): (&[Value], Evict), window: Value) {
        let (at, mask, other) = (operands[0], operands.get(1).copied(), operands.get(2).copied());
        let (layout, elem) = (self.layout(at).clone(), self.pointee(at));
        let size = super::access::bytes(elem);
        let meeting = self.in_window(window, &layout);
        let InTile { registers, shared, aligned } = &meeting;
        let places = kernel_layout::offsets(registers, shared);
        let mut bits = self.pointer_vector(at, mask, &layout);
        while !is_run(&places, &bits) || size << bits.len() > *aligned {
            bits.pop();
        }
        let bytes = size << bits.len();
        let one = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        if bytes < LEAST_COPY_BYTES {
            let values = self.load_addresses(&layout, (at, evict), mask, other);
            self.store_registers(window, &meeting, &values, one);
            return;
        }
        let other = other.map_or_else(|| zero(elem), |other| self.scalar(other));
        let map = offsets(registers, shared, size);
        let repeated = layout.free_variable_mask(Dim::Register);
        let within = bits.iter().fold(repeated, |mask, bit| mask | 1u32 << bit);
        for start in (0..layout.in_size(Dim::Register)).filter(|register| register & within == 0) {
            let place = places.apply(&[(Dim::Register, start)])[0] * size;
            let (target, constant) = self.shared_address(window, &map, place);
            let target = self.e.at(target, constant);
            let source = self.tile(at)[start as usize];
            let source = self.e.at(source, 0);
            let holds = mask.map_or(Val::Int(1), |mask| self.value_at(mask, start));
            let all = Val::Int(i64::from(bytes));
            if other == zero(elem) {
                let copied = self.e.select(Type::U32, holds, all, Val::Int(0));
                self.start_copy(bytes, [target, source], copied, one);
            } else {
                let copies = self.e.and(Type::Pred, one, holds);
                self.start_copy(bytes, [target.clone(), source], all, copies);
                let fails = self.e.not(Type::Pred, holds);
                let fills = self.e.and(Type::Pred, one, fails);
                let values = vec![other; 1 << bits.len()];
                self.e.store(Space::Shared, elem, &values, target, fills);
            }
        }
    }

    /// How the threads' parts of a copied tile meet the window, which may have other axes.
    fn in_window(&self, window: Value, layout: &Layout) -> InTile {
        self.in_tile(window, &layout.reshape(&self.shared_type(window).shape))
    }

    /// Copies pieces of `vector` elements that are too small for `cp.async`, by ordinary loads and stores, which complete early.
    /// Pieces that are contiguous in shared memory are stored together.
    fn copy_small(
        &mut self,
        (tile, evict): (&TensorTile<'_>, Evict),
        window: Value,
        layout: &Layout,
        vector: u32,
    ) {
        let meeting = self.in_window(window, layout);
        let elem = Elem::Number(tile.dtype);
        let size = tile.dtype.bytes();
        let together = meeting.vector(size);
        let InTile { registers, shared, .. } = meeting;
        let map = offsets(&registers, &shared, size);
        let one = self.e.first_of(repeated_threads(layout, self.crew.warps));
        for access in accesses(&registers, &shared, together) {
            let (target, constant) = self.shared_address(window, &map, access.offset * size);
            let target = self.e.placed(Place::Outermost, |e| e.at(target, constant));
            let mut values = Vec::new();
            for piece in access.registers.chunks(vector as usize) {
                let before = std::mem::replace(&mut self.e.place, Place::Outermost);
                let positions = self.positions(layout, piece[0][0]);
                let source = self.tensor_address(tile, &positions);
                let mask = self.tensor_mask(tile, &positions);
                let source = self.e.at(source, 0);
                self.e.place = before;
                let mask = self.e.and(Type::Pred, one, mask);
                values.extend(self.load_global((tile.param, evict), elem, vector, source, mask));
            }
            self.e.store(Space::Shared, elem, &values, target, one);
        }
    }

    /// Closes the group of copies.
    pub(crate) fn copy_commit(&mut self) {
        self.e.effect(Opcode::Cp, mods![Word::Async, Word::CommitGroup], []);
    }

    /// Waits until at most `groups` groups are pending.
    pub(crate) fn copy_wait(&mut self, groups: u32) {
        self.e.effect(
            Opcode::Cp,
            mods![Word::Async, Word::WaitGroup],
            [Operand::Int(i128::from(groups))],
        );
    }

    /// Waits for all copies.
    pub(crate) fn copy_wait_all(&mut self) {
        self.e.effect(Opcode::Cp, mods![Word::Async, Word::WaitAll], []);
    }
}

/// Whether the registers whose index these bits tell apart are a run in shared memory, which begins at a multiple of its length.
fn is_run(places: &Layout, bits: &[usize]) -> bool {
    let registers = places.bases(Dim::Register);
    let follows = |(step, bit): (usize, &usize)| registers[*bit][0] == 1 << step;
    let others =
        registers.iter().enumerate().filter(|(bit, _)| !bits.contains(bit)).map(|(_, basis)| basis);
    let threads = places.bases(Dim::Lane).iter().chain(places.bases(Dim::Warp));
    bits.iter().enumerate().all(follows)
        && others.chain(threads).all(|basis| basis[0].is_multiple_of(1 << bits.len()))
}
