//! Stamps: the times at which warps enter phases, in memory that the host reads when the kernel has ended.
//!
//! Four parameters of the entry, in the place of that for reports, say where: the address of the memory, the first block that is recorded, how
//! many are, and how many records each of their warps has room for. Blocks are numbered with x running fastest. A warp owns the records
//! of its own, after a head of 16 bytes, so that no two warps meet, and a stamp is two reads of clocks and one store by the first lane:
//!
//! | byte | what |
//! |---|---|
//! | 0 | `%clock64` |
//! | 8 | `%globaltimer_lo` |
//! | 12 | the number of the stamp, plus 1, in the low half; `%smid` in the high one |
//!
//! The head is zero as long as all stamps of the warp find room; then its first word says how many there were.
//!
//! A register of each warp counts. It belongs to the entry and changes, so that nothing that is computed from it may be found again.

use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Reg, Space, SpecialRegister, Type, Word};

use super::Lower;
use super::emitter::{Touched, Val, mods};
use crate::ir::{Dtype, Elem};

/// Bytes of a record, and of the head of a warp.
const RECORD: i64 = 16;
/// The stamps that a record tells apart.
const MOST_STAMPS: u32 = 0xFFFE;
const WORD: Elem = Elem::Number(Dtype::U32);

/// Where a warp records its stamps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamping {
    /// Its head.
    start: Val,
    /// Whether this thread records for its warp.
    records: Val,
    /// How many records it has room for; none if it does not record.
    room: Val,
    /// The multiprocessor, in the high half.
    multiprocessor: Val,
    /// How many stamps it has reached.
    count: Reg,
}

impl Stamping {
    /// What the entry takes.
    pub(crate) const PARAMS: [(&'static str, Type); 4] = [
        ("stamps", Type::U64),
        ("stamps_first", Type::U32),
        ("stamps_blocks", Type::U32),
        ("stamps_room", Type::U32),
    ];
}

impl Lower<'_> {
    /// Finds the memory of each warp, if the kernel has stamps.
    pub(crate) fn begin_stamps(&mut self) {
        let Some(index) = self.params.stamps else { return };
        let generic = self.entry_param(index, Type::B64);
        let [first, blocks, room] = [1, 2, 3].map(|at| self.entry_param(index + at, Type::B32));
        let to_global = mods![Word::To, Space::Global, Type::U64];
        let memory = self.e.pure(Opcode::Cvta, to_global, Type::B64, &[generic]);
        let [x, y, z] = [0, 1, 2].map(|axis| self.grid_position(axis));
        let [columns, rows] = [0, 1].map(|axis| self.grid_extent(axis));
        let layers = self.e.mul(Type::U32, rows, z);
        let row = self.e.add(Type::U32, layers, y);
        let before = self.e.mul(Type::U32, columns, row);
        let block = self.e.add(Type::U32, before, x);
        let block = self.e.sub(Type::U32, block, first);
        let inside = self.e.compare(Word::Lt, Type::U32, block, blocks);
        let thread = self.e.special(SpecialRegister::TidX);
        let lane = self.e.and(Type::U32, thread, Val::Int(31));
        let leads = self.e.compare(Word::Eq, Type::S32, lane, Val::Int(0));
        let records = self.e.and(Type::Pred, inside, leads);
        let warp = self.e.shr(Type::U32, thread, 5);
        let warps = Val::Int(i64::from(self.kernel.block_warps()));
        let warps_before = self.e.mul(Type::U32, block, warps);
        let warp = self.e.add(Type::U32, warps_before, warp);
        let pitch = self.e.add(Type::U32, room, Val::Int(1));
        let place = self.e.mul(Type::U32, warp, pitch);
        let place = self.e.mul_wide(place, Val::Int(RECORD));
        let start = self.e.add(Type::S64, memory, place);
        let room = self.e.select(Type::B32, records, room, Val::Int(0));
        let number = self.e.special(SpecialRegister::Smid);
        let multiprocessor = self.e.shl(Type::U32, number, 16);
        let count = self.e.fresh_slot(Type::B32);
        self.e.assign(count, Val::Int(0));
        self.stamping = Some(Stamping { start, records, room, multiprocessor, count });
    }

    /// Records that the warp is in another phase from here on.
    pub(crate) fn stamp(&mut self, number: u32) {
        let Stamping { start, records, room, multiprocessor, count } =
            self.stamping.expect("a kernel with stamps begins with its memory");
        self.e.operation = Touched::STAMP;
        let clock = self.read_time(SpecialRegister::Clock64, Type::U64, Type::B64);
        let timer = self.read_time(SpecialRegister::GlobaltimerLo, Type::U32, Type::B32);
        let [low, high] = [(); 2].map(|()| self.e.fresh(Type::B32));
        let halves = Operand::Vector(vec![Operand::Reg(low), Operand::Reg(high)]);
        self.here(Opcode::Mov, mods![Type::B64], vec![halves, Operand::Reg(clock)]);
        let number = Operand::Int(i128::from(number.min(MOST_STAMPS) + 1));
        let word = self.e.fresh(Type::B32);
        let operands = vec![Operand::Reg(word), multiprocessor.operand(), number];
        self.here(Opcode::Or, mods![Type::B32], operands);
        let [fits, over] = [(); 2].map(|()| self.e.fresh(Type::Pred));
        let operands = |result| vec![Operand::Reg(result), Operand::Reg(count), room.operand()];
        self.here(Opcode::Setp, mods![Word::Lt, Type::U32], operands(fits));
        self.here(Opcode::Setp, mods![Word::Ge, Type::U32], operands(over));
        let operands = vec![Operand::Reg(over), Operand::Reg(over), records.operand()];
        self.here(Opcode::And, mods![Type::Pred], operands);
        let [offset, address] = [(); 2].map(|()| self.e.fresh(Type::B64));
        let operands =
            vec![Operand::Reg(offset), Operand::Reg(count), Operand::Int(i128::from(RECORD))];
        self.here(Opcode::Mul, mods![Word::Wide, Type::U32], operands);
        let operands = vec![Operand::Reg(address), start.operand(), Operand::Reg(offset)];
        self.here(Opcode::Add, mods![Type::S64], operands);
        let place = self.e.at(Val::Reg(address), RECORD);
        let values = [low, high, timer, word].map(Val::Reg);
        self.e.store(Space::Global, WORD, &values, place, Val::Reg(fits));
        let operands = vec![Operand::Reg(count), Operand::Reg(count), Operand::Int(1)];
        self.here(Opcode::Add, mods![Type::S32], operands);
        let head = self.e.at(start, 0);
        self.e.store(Space::Global, WORD, &[Val::Reg(count)], head, Val::Reg(over));
        self.e.overwritten(&[count]);
    }

    /// What a clock says at this place.
    fn read_time(&mut self, of: SpecialRegister, ty: Type, register: Type) -> Reg {
        let time = self.e.fresh(register);
        self.here(
            Opcode::Mov,
            &[Modifier::from(ty)],
            vec![Operand::Reg(time), Operand::Special(of)],
        );
        time
    }

    /// An instruction that stays where it is, with one result.
    fn here(&mut self, opcode: Opcode, modifiers: &[Modifier], operands: Vec<Operand>) {
        self.e.push(Instruction::new(opcode, modifiers, operands), 1, true);
    }
}
