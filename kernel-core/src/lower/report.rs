//! Prints and assertions: records in memory that the host reads when the kernel has ended.
//!
//! The last parameter of the entry but the tensor maps is the address of that memory; with 0 nothing is said. It begins with two counters
//! of 64 bits, of prints and of failed assertions. Then come slots of one size, the last ones for assertions. A thread takes the next
//! number of its counter, and if there is such a slot, writes:
//!
//! | byte | what |
//! |---|---|
//! | 0 | the number of the report, plus 1: written last, so that what stands in the slot is complete |
//! | 4 | the element of the tile, in row-major order; 0 without tiles |
//! | 8 | the block along x, y and z, then the thread: 32 bits each |
//! | 24 | the values, 8 bytes apart |

use kernel_layout::Dim;
use kernel_ptx::{Instruction, Opcode, Operand, Space, SpecialRegister, Type, Word};

use super::Lower;
use super::emitter::{Val, mods};
use super::tiles::coords::{ThreadMap, repeated_threads};
use crate::ir::{self, Dtype, Elem, Kernel, ReportOp, Value};

/// The memory for what one launch says.
const BYTES: u32 = 1 << 20;
/// Bytes of the counters.
const COUNTERS: u32 = 16;
/// Bytes of a slot before the values.
const HEAD: u32 = 24;
/// Bytes between two values.
const VALUE: u32 = 8;

/// How the memory for reports is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Bytes of a slot.
    pub bytes: u32,
    /// How many there are for prints.
    pub prints: u32,
    /// How many there are for failed assertions, after those.
    pub assertions: u32,
}

impl Slots {
    /// Those of a kernel; none if it says nothing.
    pub(crate) fn of(kernel: &Kernel) -> Option<Self> {
        if kernel.is_stamped() {
            return None;
        }
        let values = kernel.said().iter().map(|(values, _)| values.len()).max()?;
        let values = u32::try_from(values).expect("a text has few values");
        let bytes = HEAD + VALUE * values;
        let all = (BYTES - COUNTERS) / bytes;
        let assertions = all / 8;
        Some(Slots { bytes, prints: all - assertions, assertions })
    }
}

/// What a thread says.
struct Record<'a> {
    report: ReportOp,
    /// Whether it says it.
    mask: Val,
    element: Val,
    values: &'a [(Elem, Val)],
}

impl Lower<'_> {
    /// Says the operands, or checks the first.
    pub(crate) fn report(&mut self, report: ReportOp, args: &[Value]) {
        if let ReportOp::Stamp(number) = report {
            self.stamp(number);
            return;
        }
        let said = report.said(args);
        let is_tile = |&arg: &Value| matches!(self.kernel.ty(arg), ir::Type::Tile(..));
        let tile = said.iter().copied().find(is_tile);
        let elems: Vec<Elem> = said.iter().map(|&arg| self.elem(arg)).collect();
        let values = |lower: &Self, register| -> Vec<(Elem, Val)> {
            let values = said.iter().map(|&arg| lower.register(arg, register));
            elems.iter().copied().zip(values).collect()
        };
        if let ReportOp::Assert(_) = report {
            let holds = self.scalar(args[0]);
            let mask = self.e.not(Type::Pred, holds);
            if mask == Val::Int(0) {
                return;
            }
            let values = &values(self, 0);
            self.record(&Record { report, mask, element: Val::Int(0), values });
            self.stop(mask);
            return;
        }
        let Some(tile) = tile else {
            let mask = self.e.first_of(self.e.threads - 1);
            let values = &values(self, 0);
            self.record(&Record { report, mask, element: Val::Int(0), values });
            return;
        };
        let layout = self.layout(tile).clone();
        let mask = self.e.first_of(repeated_threads(&layout, self.crew.warps));
        let free = layout.free_variable_mask(Dim::Register);
        let flat = |basis: &Vec<u32>| u32::try_from(layout.flatten_out(basis)).expect("an index");
        let mut bases: Vec<u32> = layout.bases(Dim::Lane).iter().map(flat).collect();
        bases.resize(5, 0);
        bases.extend(layout.bases(Dim::Warp).iter().map(flat));
        let map = ThreadMap::new(bases);
        for register in (0..layout.in_size(Dim::Register)).filter(|register| register & free == 0) {
            let own = flat(&layout.apply(&[(Dim::Register, register)]));
            let place = self.e.position(&map, own);
            let constant = Val::Int(i64::from(place.constant));
            let element = self.e.add(Type::U32, place.value, constant);
            let values = &values(self, register);
            self.record(&Record { report, mask, element, values });
        }
    }

    /// Writes a record if there is a slot for it.
    fn record(&mut self, record: &Record<'_>) {
        let Record { report, mask, element, values } = *record;
        let (index, slots) =
            self.params.reports.expect("a kernel that says something has the parameter");
        let generic = self.entry_param(index, Type::B64);
        let memory = self.e.pure(
            Opcode::Cvta,
            mods![Word::To, Space::Global, Type::U64],
            Type::B64,
            &[generic],
        );
        let given = self.e.compare(Word::Ne, Type::S64, generic, Val::Int(0));
        let mask = self.e.and(Type::Pred, mask, given);
        let (counter, first, room) = match report {
            ReportOp::Print(_) | ReportOp::Stamp(_) => (0, 0, slots.prints),
            ReportOp::Assert(_) => (8, slots.prints, slots.assertions),
        };
        let number = self.e.fresh(Type::B64);
        let place = self.e.at(memory, counter);
        let one = Operand::Int(1);
        let mut inst = Instruction::new(
            Opcode::Atom,
            mods![Space::Global, Word::Add, Type::U64],
            [Operand::Reg(number), place, one],
        );
        inst.guard = self.e.guard(mask);
        self.e.push(inst, 1, true);
        let room = Val::Int(i64::from(room));
        let fits = self.e.compare(Word::Lt, Type::U64, Val::Reg(number), room);
        let mask = self.e.and(Type::Pred, mask, fits);
        let offset = self.e.mul(Type::S64, Val::Reg(number), Val::Int(i64::from(slots.bytes)));
        let start = self.e.add(Type::S64, memory, offset);
        let slot = i64::from(COUNTERS) + i64::from(first) * i64::from(slots.bytes);
        let word = Elem::Number(Dtype::U32);
        let [x, y, z, thread] = [
            SpecialRegister::CtaidX,
            SpecialRegister::CtaidY,
            SpecialRegister::CtaidZ,
            SpecialRegister::TidX,
        ]
        .map(|register| self.e.special(register));
        for (at, words) in [(8, vec![x, y]), (16, vec![z, thread]), (4, vec![element])] {
            let place = self.e.at(start, slot + at);
            self.e.store(Space::Global, word, &words, place, mask);
        }
        for (at, &(elem, value)) in (0..).zip(values) {
            let place = self.e.at(start, slot + i64::from(HEAD + VALUE * at));
            self.e.store(Space::Global, elem, &[value], place, mask);
        }
        if let ReportOp::Assert(_) = report {
            // The host reads what stands there after the trap (PTX ISA, "membar / fence").
            let guard = self.e.guard(mask);
            self.e.effect_if(guard, Opcode::Fence, mods![Word::AcqRel, Word::Sys], []);
        }
        let place = self.e.at(start, slot);
        let number = Val::Int(i64::from(report.number() + 1));
        self.e.store(Space::Global, word, &[number], place, mask);
    }

    /// Stops the kernel if the mask holds.
    fn stop(&mut self, mask: Val) {
        let guard = self.e.guard(mask);
        // So that the last word of the record has arrived as well.
        self.e.effect_if(guard, Opcode::Fence, mods![Word::AcqRel, Word::Sys], []);
        self.e.effect_if(guard, Opcode::Trap, &[], []);
    }
}
