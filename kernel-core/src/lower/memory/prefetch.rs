//! Windows of tensors that are brought into the L2 cache.

use kernel_layout::Dim;
use kernel_ptx::{Opcode, Space, Word};

use super::tensor::TensorTile;
use crate::ir::Evict;
use crate::layouts::copied;
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::tiles::coords::repeated_threads;

/// The bytes that one `prefetch` brings: a line of the cache.
const LINE_BYTES: u32 = 128;

impl Lower<'_> {
    /// Brings a tile into the L2 cache, by one instruction for each line of its rows.
    pub(crate) fn prefetch(&mut self, tile: &TensorTile<'_>, evict: Evict) {
        let axis = self.fastest_axis(tile);
        // Neighbours whose strides are not known may lie in different lines.
        let neighbours = axis.map_or(1, |_| LINE_BYTES / tile.dtype.bytes());
        let axis = axis.unwrap_or(tile.shape.len() - 1);
        let line = neighbours.min(tile.shape[axis]);
        let layout = copied(&tile.shape, axis, line, self.crew.warps);
        let within = line - 1;
        let one = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        let starts: Vec<u32> =
            (0..layout.in_size(Dim::Register)).filter(|start| start & within == 0).collect();
        let kept_at = Self::kept_at(starts.len());
        let modifiers = match evict {
            Evict::Normal => mods![Space::Global, Word::L2Word],
            Evict::First => unreachable!("elaborate refuses a prefetch that is evicted first"),
            Evict::Last => mods![Space::Global, Word::L2EvictLast],
        };
        for start in starts {
            let (address, mask) = self.vector_place(tile, &layout, start, kept_at, one);
            if mask != Val::Int(0) {
                let guard = self.e.guard(mask);
                self.e.effect_if(guard, Opcode::Prefetch, modifiers, [address]);
            }
        }
    }
}
