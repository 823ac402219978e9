//! Copies from shared to tensor memory (PTX ISA, "tcgen05.cp"): one thread starts them, as it does products.

use kernel_layout::tile::CopyShape;
use kernel_ptx::{Instruction, Modifier, Opcode, Word};

use crate::ir::{Tcgen05, Value};
use crate::layouts::tensor_copy;
use crate::layouts::wgmma::Generation;
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::tiles::coords::ThreadMap;

impl Lower<'_> {
    /// Starts the copy of a window of shared memory to a tile of tensor memory.
    pub(crate) fn tensor_copy(&mut self, op: Tcgen05, args: &[Value]) {
        let (from, to) = (args[0], args[1]);
        let starts = self.starts(op, args);
        if starts == Val::Int(0) {
            return;
        }
        let window = self.shared_type(from).clone();
        let tile = self.tensor_memory_type(to).clone();
        let copy = tensor_copy::plan(self.kernel, self.plan.layouts, &window, &tile)
            .expect("layouts::boxes has refused copies that no instruction does");
        let still = ThreadMap::new(Vec::new());
        let source = self.described(from, copy.source.clone(), &still, Generation::Blackwell);
        let guard = self.e.guard(starts);
        let modifiers = modifiers(self.cta_group(), copy.shape);
        let elements = copy.row_bytes / tile.dtype.bytes();
        for (index, (column, _)) in (0..).zip(copy.instructions()) {
            let address = self.tensor_memory_address(to, column, Val::Int(0));
            let descriptor = self.advanced(&source, 0, index * elements);
            let mut inst =
                Instruction::new(Opcode::Tcgen05, modifiers.clone(), vec![address, descriptor]);
            inst.guard = guard;
            self.e.push(inst, 0, true);
        }
    }
}

/// The words of an instruction.
fn modifiers(group: Word, shape: CopyShape) -> Vec<Modifier> {
    match shape {
        CopyShape::M128x256b => mods![Word::CpWord, group, Word::S128x256b].to_vec(),
        CopyShape::M4x256b => mods![Word::CpWord, group, Word::S4x256b].to_vec(),
        CopyShape::M128x128b => mods![Word::CpWord, group, Word::S128x128b].to_vec(),
        CopyShape::M64x128bWarps02And13 => {
            mods![Word::CpWord, group, Word::S64x128b, Word::Warpx2R0213].to_vec()
        }
        CopyShape::M64x128bWarps01And23 => {
            mods![Word::CpWord, group, Word::S64x128b, Word::Warpx2R0123].to_vec()
        }
        CopyShape::M32x128bWarps4 => {
            mods![Word::CpWord, group, Word::S32x128b, Word::Warpx4].to_vec()
        }
    }
}
