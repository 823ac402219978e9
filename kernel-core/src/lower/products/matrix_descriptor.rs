//! Descriptors of matrices that tensor cores read from shared memory (PTX ISA, "Matrix Descriptor Format" of `wgmma`, "Shared memory
//! descriptor" of `tcgen05`).
//!
//! The descriptors of all instructions that read one window differ only in their start address.

use kernel_layout::wgmma::{Operand as Read, descriptor};
use kernel_ptx::{Opcode, Operand, Type};

use crate::ir::Value;
use crate::layouts::wgmma::Generation;
use crate::lower::Lower;
use crate::lower::emitter::{Place, Val, mods};
use crate::lower::tiles::coords::ThreadMap;

/// A descriptor holds addresses in units of this many bytes.
const LOG2_UNIT: u32 = 4;
/// The bits of an address that a descriptor holds.
const ADDRESS_BITS: i64 = 0x3_FFFF;

/// The bits that all descriptors have set: `tcgen05` requires a constant 1 in bits 46 to 48.
const fn version(generation: Generation) -> i64 {
    match generation {
        Generation::Hopper => 0,
        Generation::Blackwell => 1 << 46,
    }
}

/// A window of shared memory that instructions read by descriptors.
pub(crate) struct Described {
    /// How they find its elements.
    pub(crate) read: Read,
    /// The descriptor of what starts where the window does.
    first: Val,
}

impl Lower<'_> {
    /// The descriptor of a window that is read so; `starts` says how many bytes into it each thread begins.
    pub(crate) fn described(
        &mut self,
        window: Value,
        read: Read,
        starts: &ThreadMap,
        generation: Generation,
    ) -> Described {
        let bits = descriptor(&read).cast_signed() | version(generation);
        let (value, constant) = self.shared_address(window, starts, 0);
        let clustered = self.kernel.cluster != [1; 3];
        let first = self.e.placed(Place::Outermost, |e| {
            let mut address = e.add(Type::U32, value, Val::Int(constant));
            if clustered {
                // The upper bits say which block of the cluster it belongs to; a descriptor has no place for them.
                address = e.and(Type::B32, address, Val::Int(ADDRESS_BITS));
            }
            let unit = e.shr(Type::U32, address, LOG2_UNIT);
            let unit = Val::Reg(e.reg(unit, Type::B32));
            let wide = e.pure(Opcode::Cvt, mods![Type::U64, Type::U32], Type::B64, &[unit]);
            e.pure(Opcode::Or, mods![Type::B64], Type::B64, &[wide, Val::Int(bits)])
        });
        Described { read, first }
    }

    /// The descriptor of what an instruction reads, `at` rows or columns and `k` elements along `k` further on.
    pub(crate) fn advanced(&mut self, described: &Described, at: u32, k: u32) -> Operand {
        let units = i64::from(described.read.start_bytes(at, k) >> LOG2_UNIT);
        let moved = self.e.placed(Place::Outermost, |e| {
            if units == 0 {
                return described.first;
            }
            e.pure(Opcode::Add, mods![Type::U64], Type::B64, &[described.first, Val::Int(units)])
        });
        Operand::Reg(self.e.reg(moved, Type::B64))
    }
}
