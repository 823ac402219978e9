//! Fields of bits that become halves, two at a time, without a conversion of each.
//!
//! A field of a few bits is put below the exponent of a power of two, from which it differs by its number, and the power is taken off:
//!
//! ```text
//! x                              .. b1 .. .. b0      the bytes of two neighbours: one `prmt` for all their fields
//! x >> 4                                             for a field that begins at bit 4
//! (x & 0x000f000f) ^ 0x43004300  128 + n1, 128 + n0  one `lop3`
//! · 1 - 128                      n1, n0              one `fma`
//! ```
//!
//! A `bf16` has room for 7 bits below 128, an `f16` for 10 bits below 1024. A field with a sign has the bit of the sign inverted, which
//! adds half of its range; that and a constant which the text takes off are taken off with the power.

use kernel_ptx::{Opcode, Type, Word};

use crate::ir::{Binary, Dtype, Elem, ElementwiseOp, Value};
use crate::lower::emitter::bits::sign_extended;
use crate::lower::emitter::{Val, mods};
use crate::lower::facts::Facts;
use crate::lower::tiles::scalar::float_constant;
use crate::lower::{Data, Lower};

/// Some bits of each element of a tile of integers, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    /// The tile.
    of: Value,
    /// The lowest bit.
    start: u32,
    bits: u32,
    /// Whether the highest bit is that of the sign.
    signed: bool,
    /// What is taken off.
    less: i64,
}

/// `lop3` of (a & b) ^ c (PTX ISA, "lop3": the table is the value of the function at 0xf0, 0xcc, 0xaa).
const AND_XOR: i64 = 0x6a;
/// `prmt` selectors: the bytes of the low half of the first operand, and of the high half, each below a byte of the second.
const SPREAD: [i64; 2] = [0x4140, 0x4342];
/// The low halves of both operands, and the high ones.
const LOW_HALVES: i64 = 0x5410;
const HIGH_HALVES: i64 = 0x7632;

/// How many operations and conversions are looked through: work is bounded.
const MOST_STEPS: u32 = 8;

/// An integer type that is held in 32 bits.
fn word(facts: &Facts<'_>, value: Value) -> Option<Dtype> {
    match facts.elem(value) {
        Some(Elem::Number(dtype)) if dtype.is_int() && dtype.bytes() <= 4 => Some(dtype),
        Some(Elem::Number(_) | Elem::Ptr(_)) | None => None,
    }
}

impl Field {
    /// A field of a value, if it is computed as one by so many operations.
    fn of(facts: &Facts<'_>, value: Value, steps: u32) -> Option<Field> {
        let steps = steps.checked_sub(1)?;
        let dtype = word(facts, value)?;
        let width = 8 * dtype.bytes();
        let (op, args) = facts.computed(value)?;
        let constant = |at: usize| args.get(at).and_then(|&arg| facts.constant(arg));
        match op {
            ElementwiseOp::Binary(Binary::Sub) if dtype.is_signed() => {
                let less = i64::try_from(constant(1)?).ok()?;
                Field::of(facts, args[0], steps)?.less_by(less, width)
            }
            ElementwiseOp::Binary(Binary::Add) if dtype.is_signed() => {
                let more = i64::try_from(constant(1)?).ok()?;
                Field::of(facts, args[0], steps)?.less_by(more.checked_neg()?, width)
            }
            ElementwiseOp::Binary(Binary::And) => {
                let (masked, mask) = match constant(1) {
                    Some(mask) => (args[0], mask),
                    None => (args[1], constant(0)?),
                };
                let mask = u32::try_from(mask).ok().filter(|mask| *mask > 0)?;
                let bits = mask.trailing_ones();
                (mask.count_ones() == bits).then_some(())?;
                Field::shifted(facts, masked, bits)
            }
            ElementwiseOp::Binary(Binary::Shr) => {
                let by = u32::try_from(constant(1)?).ok().filter(|by| *by < width)?;
                let (of, left) = match facts.computed(args[0]) {
                    Some((ElementwiseOp::Binary(Binary::Shl), shifted)) => {
                        let left = facts.constant(shifted[1])?;
                        (shifted[0], u32::try_from(left).ok().filter(|left| *left <= by)?)
                    }
                    Some(_) | None => (args[0], 0),
                };
                let signed = dtype.is_signed();
                let (start, bits) = (by - left, width - by);
                Some(Field { of, start, bits, signed, less: 0 }.narrowed(facts))
            }
            ElementwiseOp::Cast => {
                let field = Field::of(facts, args[0], steps)?;
                let end = if field.signed { dtype.is_signed() } else { field.bits < width };
                (end && field.bits <= width && field.less == 0).then_some(field)
            }
            ElementwiseOp::Unary(_)
            | ElementwiseOp::Binary(_)
            | ElementwiseOp::Compare(_)
            | ElementwiseOp::Select
            | ElementwiseOp::Fma
            | ElementwiseOp::FunnelShift(_)
            | ElementwiseOp::Bitcast => None,
        }
    }

    /// The low bits of a value, which may be shifted.
    fn shifted(facts: &Facts<'_>, value: Value, bits: u32) -> Option<Field> {
        let width = 8 * word(facts, value)?.bytes();
        let whole = Field { of: value, start: 0, bits, signed: false, less: 0 };
        (bits < width).then_some(())?;
        if let Some((ElementwiseOp::Binary(Binary::Shr), args)) = facts.computed(value)
            && let Some(start) = facts.constant(args[1]).and_then(|by| u32::try_from(by).ok())
            && start.checked_add(bits).is_some_and(|end| end <= width)
        {
            return Some(Field { of: args[0], start, ..whole }.narrowed(facts));
        }
        Some(whole.narrowed(facts))
    }

    /// The same of what was converted, if the bits are those of the narrower integer.
    fn narrowed(self, facts: &Facts<'_>) -> Field {
        let width = |value| word(facts, value).map(|dtype| 8 * dtype.bytes());
        let mut field = self;
        for _ in 0..MOST_STEPS {
            let Some((ElementwiseOp::Cast, args)) = facts.computed(field.of) else { break };
            match width(args[0]) {
                Some(width) if field.start + field.bits <= width => field.of = args[0],
                Some(_) | None => break,
            }
        }
        field
    }

    /// The field with a constant taken off, if that never wraps.
    fn less_by(self, less: i64, width: u32) -> Option<Field> {
        let less = self.less.checked_add(less)?;
        let most = 1 << (width.min(12) - 1);
        let room = i64::from(1u32 << self.bits.min(12));
        (less.abs() + room <= most).then_some(Field { less, ..self })
    }

    /// Below which power of two the field fits, for a type: its exponent.
    fn below(self, to: Dtype) -> Option<u32> {
        let room = if to == Dtype::Bf16 { 7 } else { 10 };
        (to.is_half() && self.bits <= room && self.less.abs() <= 1 << (room - 1)).then_some(room)
    }
}

impl Lower<'_> {
    /// A tile of fields as halves, if `value` is one.
    pub(super) fn fields(&mut self, value: Value, result: Value) -> Option<Data> {
        let Elem::Number(to) = self.elem(result) else { return None };
        let field = Field::of(&self.facts, value, MOST_STEPS)?;
        let room = field.below(to)?;
        let dtype = word(&self.facts, field.of)?;
        let Data::Tile(registers) = self.values[field.of].clone() else { return None };
        let alike = self.layout(field.of) == self.layout(result);
        // A field of a word lies in one half of it.
        let half = if dtype.bytes() == 4 { field.start / 16 } else { 0 };
        let start = field.start - 16 * half;
        if !alike || registers.len() < 2 || start + field.bits > 16 {
            return None;
        }
        let mut halves = Vec::with_capacity(registers.len());
        for pair in registers.chunks(2) {
            let [low, high] = *pair else {
                unreachable!("a layout has a power of two of registers, and more than one")
            };
            let both = self.neighbours(dtype, half, low, high);
            halves.extend(self.field_of_halves(field, (start, room), to, both));
        }
        Some(Data::Tile(halves))
    }

    /// A word whose halves are the low bits of two neighbours, or those from bit 16 on.
    fn neighbours(&mut self, dtype: Dtype, half: u32, low: Val, high: Val) -> Val {
        if dtype.bytes() == 1
            && let Some((word, half)) = self.e.half_of_bytes(low, high)
        {
            return self.permuted(Val::Reg(word), Val::Int(0), SPREAD[usize::from(half)]);
        }
        self.permuted(low, high, if half == 0 { LOW_HALVES } else { HIGH_HALVES })
    }

    fn permuted(&mut self, a: Val, b: Val, selector: i64) -> Val {
        let a = Val::Reg(self.e.reg(a, Type::B32));
        let modifiers = mods![Type::B32];
        self.e.pure(Opcode::Prmt, modifiers, Type::B32, &[a, b, Val::Int(selector)])
    }

    /// The field that begins at a bit of both halves, as two halves.
    fn field_of_halves(
        &mut self,
        field: Field,
        (start, room): (u32, u32),
        to: Dtype,
        both: Val,
    ) -> [Val; 2] {
        let twice = |half: i64| Val::Int(sign_extended(half | half << 16, 32));
        let half_bits = |value: f64| match float_constant(value, to) {
            Val::Int(bits) => bits,
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => {
                unreachable!("halves are held by their bits")
            }
        };
        // What fits at its place need not be moved: the product with a power of two moves it.
        let (at, moved) = if start + field.bits <= room && to == Dtype::F16 {
            (start, both)
        } else {
            (0, self.e.shr(Type::U32, both, start))
        };
        let power = f64::from(1u32 << room);
        let sign = if field.signed { 1i64 << (field.bits - 1) } else { 0 };
        let mask = ((1i64 << field.bits) - 1) << at;
        let magic = half_bits(power) | sign << at;
        let moved = Val::Reg(self.e.reg(moved, Type::B32));
        let raised = self.e.pure(
            Opcode::Lop3,
            mods![Type::B32],
            Type::B32,
            &[moved, twice(mask), twice(magic), Val::Int(AND_XOR)],
        );
        let unit = 1.0 / f64::from(1u32 << at);
        let less = i32::try_from(field.less + sign).expect("at most 2^10");
        let off = twice(half_bits(-(power * unit + f64::from(less))));
        let packed = if to == Dtype::F16 { Type::F16x2 } else { Type::Bf16x2 };
        let (opcode, operands) = if to == Dtype::F16 && at == 0 {
            (Opcode::Add, vec![raised, off])
        } else {
            (Opcode::Fma, vec![raised, twice(half_bits(unit)), off])
        };
        let operands: Vec<Val> =
            operands.into_iter().map(|value| Val::Reg(self.e.reg(value, Type::B32))).collect();
        let word = self.e.pure(opcode, mods![Word::Rn, packed], Type::B32, &operands);
        self.e.unpack(word)
    }
}
