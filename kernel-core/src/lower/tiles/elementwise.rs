//! Elementwise operations on scalars and tiles; halves go in pairs.

use kernel_ptx::{Modifier, Opcode, Type, Word};

use crate::ir::{Binary, Dtype, Elem, ElementwiseOp, Range, Transcendental, Unary, Value};
use crate::lower::emitter::bits::sign_extended;
use crate::lower::emitter::{Emitter, Val, mods};
use crate::lower::{Data, Lower};

impl Lower<'_> {
    /// An elementwise operation.
    pub(crate) fn elementwise(
        &mut self,
        op: &ElementwiseOp,
        args: &[Value],
        result: Value,
    ) -> Data {
        if *op == ElementwiseOp::Cast
            && let Some(halves) = self.fields(args[0], result)
        {
            return halves;
        }
        let mut elems: Vec<Elem> = args.iter().map(|&arg| self.elem(arg)).collect();
        let target = self.elem(result);
        let mut operands: Vec<Data> = args.iter().map(|&arg| self.values[arg].clone()).collect();
        if *op == ElementwiseOp::Cast && self.goes_by_single(args[0], target) {
            let single = Elem::Number(Dtype::F32);
            let mut wide = |value: Val| self.e.cast(elems[0], single, value);
            operands[0] = match &operands[0] {
                Data::Scalar(value) | Data::Window(value) => Data::Scalar(wide(*value)),
                Data::Tile(values) => Data::Tile(values.iter().map(|&value| wide(value)).collect()),
            };
            elems[0] = single;
        }
        let registers = operands.iter().find_map(|operand| match operand {
            Data::Tile(registers) => Some(registers.len()),
            Data::Scalar(_) | Data::Window(_) => None,
        });
        let at = |index: usize| -> Vec<Val> {
            operands
                .iter()
                .map(|operand| match operand {
                    Data::Scalar(value) | Data::Window(value) => *value,
                    Data::Tile(registers) => registers[index],
                })
                .collect()
        };
        if let ElementwiseOp::Unary(Unary::Transcendental(
            function @ (Transcendental::Sin | Transcendental::Cos),
        )) = op
            && let Elem::Number(dtype) = target
        {
            let angles: Vec<Val> = (0..registers.unwrap_or(1)).map(|index| at(index)[0]).collect();
            let sines = self.e.sines(*function, dtype, &angles);
            return if registers.is_some() { Data::Tile(sines) } else { Data::Scalar(sines[0]) };
        }
        let Some(count) = registers else {
            return Data::Scalar(self.e.element(op, &elems, target, &at(0)));
        };
        let mut results = Vec::with_capacity(count);
        while results.len() < count {
            let index = results.len();
            if index + 1 < count {
                let (low, high) = (at(index), at(index + 1));
                if low != high
                    && let Some(pair) = self.e.pair(op, &elems, target, &low, &high)
                {
                    results.extend(pair);
                    continue;
                }
            }
            results.push(self.e.element(op, &elems, target, &at(index)));
        }
        Data::Tile(results)
    }
}

impl Lower<'_> {
    /// Whether an integer is converted by way of `f32`, of which two become narrower floats at once: to `bf16` if `f32` holds it,
    /// so that it is rounded once; to FP8 always, since what `f32` rounds is above the largest number.
    fn goes_by_single(&self, value: Value, target: Elem) -> bool {
        const HELD: Range = Range { least: -(1 << 24), most: 1 << 24 };
        let (Elem::Number(from), Elem::Number(to)) = (self.elem(value), target) else {
            return false;
        };
        from.is_int()
            && (to.is_float8() || to == Dtype::Bf16 && self.facts.proves_range(value, HELD))
    }
}

impl Emitter {
    /// One element of an elementwise operation.
    fn element(&mut self, op: &ElementwiseOp, elems: &[Elem], target: Elem, args: &[Val]) -> Val {
        match op {
            ElementwiseOp::Unary(op) => match elems[0] {
                Elem::Number(dtype) => self.unary(*op, dtype, args[0]),
                Elem::Ptr(_) => unreachable!("ir::verify rejects {op:?} of a pointer"),
            },
            ElementwiseOp::Binary(op) => self.binary(*op, elems[0], elems[1], args[0], args[1]),
            ElementwiseOp::Compare(op) => self.compare_elem(*op, elems[0], args[0], args[1]),
            ElementwiseOp::Select => match target {
                Elem::Number(dtype) => {
                    self.select(super::scalar::arithmetic(dtype), args[0], args[1], args[2])
                }
                Elem::Ptr(_) => self.select(Type::S64, args[0], args[1], args[2]),
            },
            ElementwiseOp::Fma => match target {
                Elem::Number(dtype) => self.fma(dtype, args[0], args[1], args[2]),
                Elem::Ptr(_) => unreachable!("ir::verify rejects a product of pointers"),
            },
            ElementwiseOp::FunnelShift(op) => match target {
                Elem::Number(dtype) => self.funnel_shift(*op, dtype, [args[0], args[1], args[2]]),
                Elem::Ptr(_) => unreachable!("ir::verify rejects {op:?} of a pointer"),
            },
            ElementwiseOp::Bitcast => self.bitcast(elems[0], target, args[0]),
            ElementwiseOp::Cast => self.cast(elems[0], target, args[0]),
        }
    }

    /// Two neighbouring elements at once, if one instruction does both.
    fn pair(
        &mut self,
        op: &ElementwiseOp,
        elems: &[Elem],
        target: Elem,
        low: &[Val],
        high: &[Val],
    ) -> Option<[Val; 2]> {
        if let ElementwiseOp::Cast = op {
            return self.cast_pair(elems[0], target, low[0], high[0]);
        }
        let Elem::Number(dtype @ (Dtype::F16 | Dtype::Bf16)) = target else { return None };
        let form = Packed::of(op, dtype)?;
        let packed = if dtype == Dtype::F16 { Type::F16x2 } else { Type::Bf16x2 };
        let words: Vec<Val> =
            low.iter().zip(high).map(|(&low, &high)| self.pack(low, high)).collect();
        let word = match form {
            Packed::Bits(Opcode::And, mask) => self.and(Type::U32, words[0], both(mask)),
            Packed::Bits(_, mask) => self.xor(Type::U32, words[0], both(mask)),
            Packed::Plain(opcode) => self.packed(opcode, mods![packed], &words),
            Packed::Rounded(opcode) => self.packed(opcode, mods![Word::Rn, packed], &words),
            Packed::FusedAdd(factor) => {
                // The second operand is the factor's, so that `a - b` is `b · −1 + a`.
                let (moved, kept) =
                    if factor == ONE { (words[0], words[1]) } else { (words[1], words[0]) };
                self.packed(Opcode::Fma, mods![Word::Rn, packed], &[moved, both(factor), kept])
            }
            Packed::FusedMul => {
                let args = [words[0], words[1], both(MINUS_ZERO)];
                self.packed(Opcode::Fma, mods![Word::Rn, packed], &args)
            }
        };
        Some(self.unpack(word))
    }

    fn packed(&mut self, opcode: Opcode, modifiers: &[Modifier], words: &[Val]) -> Val {
        let words: Vec<Val> =
            words.iter().map(|&word| Val::Reg(self.reg(word, Type::B32))).collect();
        self.pure(opcode, modifiers, Type::B32, &words)
    }
}

/// bfloat16 1, −1 and −0.
const ONE: i64 = 0x3f80;
const MINUS_ONE: i64 = 0xbf80;
const MINUS_ZERO: i64 = 0x8000;

/// The same half twice, as a word.
fn both(half: i64) -> Val {
    Val::Int(sign_extended(half | half << 16, 32))
}

/// How an operation is done on two halves at once.
enum Packed {
    /// A bitwise operation with a mask.
    Bits(Opcode, i64),
    /// An instruction without rounding.
    Plain(Opcode),
    /// An instruction that rounds to nearest even.
    Rounded(Opcode),
    /// `a · factor + b`: before `sm_90`, bfloat16 has only the fused form, and a factor of ±1 changes nothing.
    FusedAdd(i64),
    /// `a · b + −0`: likewise.
    FusedMul,
}

impl Packed {
    fn of(op: &ElementwiseOp, dtype: Dtype) -> Option<Packed> {
        let native = dtype == Dtype::F16;
        let add = |opcode, factor| {
            if native { Packed::Rounded(opcode) } else { Packed::FusedAdd(factor) }
        };
        let forms = [
            (ElementwiseOp::Unary(Unary::Neg), Packed::Bits(Opcode::Xor, 0x8000)),
            (ElementwiseOp::Unary(Unary::Abs), Packed::Bits(Opcode::And, 0x7fff)),
            (ElementwiseOp::Binary(Binary::Min), Packed::Plain(Opcode::Min)),
            (ElementwiseOp::Binary(Binary::Max), Packed::Plain(Opcode::Max)),
            (ElementwiseOp::Binary(Binary::Add), add(Opcode::Add, ONE)),
            (ElementwiseOp::Binary(Binary::Sub), add(Opcode::Sub, MINUS_ONE)),
            (
                ElementwiseOp::Binary(Binary::Mul),
                if native { Packed::Rounded(Opcode::Mul) } else { Packed::FusedMul },
            ),
            (ElementwiseOp::Fma, Packed::Rounded(Opcode::Fma)),
        ];
        forms.into_iter().find(|(other, _)| other == op).map(|(_, form)| form)
    }
}
