//! Histograms: counts in shared memory, which every thread adds to.

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Opcode, Operand, Space, Type, Word};

use super::coords::{ThreadMap, repeated_threads};
use super::scalar::arithmetic;
use crate::ir::{Dtype, Elem, Value};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::memory::tensor::{repeat, repeated_registers};

/// The bytes of a count.
const COUNT_BYTES: u32 = 4;

impl Lower<'_> {
    /// How many elements of a tile have each value from 0 on.
    pub(crate) fn histogram(&mut self, arg: Value, result: Value) -> Vec<Val> {
        let (from, to) = (self.layout(arg).clone(), self.layout(result).clone());
        let Elem::Number(dtype) = self.elem(arg) else {
            unreachable!("ir::verify rejects a histogram of addresses")
        };
        let bins = to.shape()[0];
        let count = Elem::Number(Dtype::I32);
        let scratch = self.scratch(bins * COUNT_BYTES);
        let map = ThreadMap::of(&to, 0, COUNT_BYTES);
        let repeated = repeated_registers(&to);
        let one = self.e.first_of(repeated_threads(&to, self.crew.warps));
        let own: Vec<u32> =
            (0..to.in_size(Dim::Register)).filter(|one| one & repeated == 0).collect();
        let place =
            |layout: &Layout, register| layout.apply(&[(Dim::Register, register)])[0] * COUNT_BYTES;
        for &register in &own {
            let address = self.scratch_address(scratch, &map, place(&to, register));
            self.e.store(Space::Shared, count, &[Val::Int(0)], address, one);
        }
        self.barrier();
        // One of the threads that hold an element counts it.
        let counted = self.e.first_of(repeated_threads(&from, self.crew.warps));
        let free = from.free_variable_mask(Dim::Register);
        let proven = self.facts.proves_index(arg, bins);
        let base = self.shared_base();
        let wide = dtype.bytes() == 8;
        for register in (0..from.in_size(Dim::Register)).filter(|one| one & free == 0) {
            let value = self.register(arg, register);
            let mut masks = vec![counted];
            if !proven {
                // Below zero counts as huge.
                let unsigned = if wide { Type::U64 } else { Type::U32 };
                let bins = Val::Int(i64::from(bins));
                masks.push(self.e.compare(Word::Lt, unsigned, value, bins));
            }
            let bin = if wide { self.e.narrow(value) } else { value };
            let offset = self.e.shl(Type::U32, bin, COUNT_BYTES.trailing_zeros());
            let address = self.e.add(Type::U32, base, offset);
            let address = self.e.at(address, i64::from(scratch));
            let mask = self.all(masks);
            if mask == Val::Int(0) {
                continue;
            }
            let guard = self.e.guard(mask);
            let added = Operand::Reg(self.e.reg(Val::Int(1), Type::B32));
            let modifiers = mods![Space::Shared, Word::Add, arithmetic(Dtype::I32)];
            self.e.effect_if(guard, Opcode::Red, modifiers, [address, added]);
        }
        self.barrier();
        let mut counts = vec![Val::Int(0); to.in_size(Dim::Register) as usize];
        for register in own {
            let address = self.scratch_address(scratch, &map, place(&to, register));
            counts[register as usize] =
                self.e.load(Space::Shared, count, 1, address, Val::Int(1), None)[0];
        }
        self.leave_scratch();
        repeat(&mut counts, repeated);
        counts
    }
}
