//! The shared memory of other blocks of the cluster: addresses, and stores that their barriers count (PTX ISA, "mapa", "st.async").

use kernel_layout::accesses;
use kernel_ptx::{Modifier, Opcode, Operand, Space, Type, Word};

use super::shared::InTile;
use crate::ir::{Elem, Value};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::tiles::convert::offsets;
use crate::lower::tiles::coords::repeated_threads;

impl Lower<'_> {
    /// The address of the window that another block has at the place of `window`, from which the start of the allocation is still
    /// missing.
    ///
    /// All blocks of a cluster have their shared memory in one window of addresses, each as a whole, so distances in another
    /// block are those in this one (PTX ISA, "mapa").
    pub(crate) fn remote_window(&mut self, window: Value, rank: Value) -> Val {
        let base = self.shared_base();
        let before = self.window(window);
        let local = self.e.add(Type::U32, base, before);
        let local = self.e.at(local, 0);
        let rank = self.scalar(rank);
        self.mapped(&local, rank)
    }

    /// Where a window is: the state space of its accesses.
    pub(crate) fn space_of(&self, window: Value) -> Modifier {
        if self.shared_type(window).remote {
            Word::SharedCluster.into()
        } else {
            Space::Shared.into()
        }
    }

    /// The address of the barrier that the block of a remote window has at the place of `barrier`.
    pub(crate) fn barrier_beside(&mut self, window: Value, barrier: Value) -> Operand {
        let place = self.window(window);
        let modifiers = mods![Word::SharedCluster, Type::U32];
        let rank = self.e.pure(Opcode::Getctarank, modifiers, Type::B32, &[place]);
        let local = self.barrier_address(barrier);
        let remote = self.mapped(&local, rank);
        self.e.at(remote, 0)
    }

    /// Writes a tile to a window of another block, whose barrier counts the bytes.
    pub(crate) fn store_async(&mut self, window: Value, value: Value, barrier: Value) {
        let layout = self.layout(value).clone();
        let tile = self.in_tile(window, &layout);
        let elem = Elem::Number(self.shared_type(window).dtype);
        let size = super::access::bytes(elem);
        let vector = tile.vector(size);
        let InTile { registers, shared, .. } = tile;
        let map = offsets(&registers, &shared, size);
        let values = self.tile(value).to_vec();
        let barrier = self.barrier_beside(window, barrier);
        let one = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        for access in accesses(&registers, &shared, vector) {
            let (address, constant) = self.shared_address(window, &map, access.offset * size);
            let address = self.e.at(address, constant);
            let vector: Vec<Val> =
                access.registers.iter().map(|slot| values[slot[0] as usize]).collect();
            self.e.store_counted(elem, &vector, [address, barrier.clone()], one);
        }
    }
}
