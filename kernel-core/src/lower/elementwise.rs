//! Elementwise operations on scalars and tiles; halves go in pairs.

use kernel_ptx::{Opcode, Type, Word};

use super::bits::sign_extended;
use super::emitter::{Emitter, Val, mods};
use super::{Data, Lower};
use crate::ir::{Binary, Dtype, Elem, Op, Unary, Value};

impl Lower<'_> {
    /// An elementwise operation.
    pub(super) fn elementwise(&mut self, op: &Op, args: &[Value], result: Value) -> Data {
        let elems: Vec<Elem> = args.iter().map(|&arg| self.elem(arg)).collect();
        let target = self.elem(result);
        let operands: Vec<Data> = args.iter().map(|&arg| self.values[arg].clone()).collect();
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

impl Emitter {
    /// One element of an elementwise operation.
    fn element(&mut self, op: &Op, elems: &[Elem], target: Elem, args: &[Val]) -> Val {
        match op {
            Op::Unary(op) => match elems[0] {
                Elem::Number(dtype) => self.unary(*op, dtype, args[0]),
                Elem::Ptr(_) => unreachable!("check::types rejects {op:?} of a pointer"),
            },
            Op::Binary(op) => self.binary(*op, elems[0], elems[1], args[0], args[1]),
            Op::Compare(op) => self.compare_elem(*op, elems[0], args[0], args[1]),
            Op::Select => match target {
                Elem::Number(dtype) => {
                    self.select(super::scalar::arithmetic(dtype), args[0], args[1], args[2])
                }
                Elem::Ptr(_) => self.select(Type::S64, args[0], args[1], args[2]),
            },
            Op::Fma => match target {
                Elem::Number(dtype) => self.fma(dtype, args[0], args[1], args[2]),
                Elem::Ptr(_) => unreachable!("check::types rejects a product of pointers"),
            },
            Op::Cast => self.cast(elems[0], target, args[0]),
            _ => unreachable!("only elementwise operations come here"),
        }
    }

    /// Two neighbouring elements at once, where one instruction does both.
    fn pair(
        &mut self,
        op: &Op,
        elems: &[Elem],
        target: Elem,
        low: &[Val],
        high: &[Val],
    ) -> Option<[Val; 2]> {
        let Elem::Number(dtype @ (Dtype::F16 | Dtype::Bf16)) = target else { return None };
        if let Op::Cast = op {
            return (elems[0] == Elem::Number(Dtype::F32))
                .then(|| self.f32_to_halves(dtype, low[0], high[0]));
        }
        let packed = if dtype == Dtype::F16 { Type::F16x2 } else { Type::Bf16x2 };
        let words = |this: &mut Self| -> Vec<Val> {
            low.iter()
                .zip(high)
                .map(|(&low, &high)| {
                    let word = this.pack(low, high);
                    Val::Reg(this.reg(word, Type::B32))
                })
                .collect()
        };
        // bfloat16 has only the fused form before sm_90; adding −0 and multiplying by 1 change nothing.
        let both = |half: i64| Val::Int(sign_extended(half | half << 16, 32));
        let (one, minus_zero) = (both(0x3f80), both(0x8000));
        let word = match op {
            Op::Unary(Unary::Neg) => {
                let words = words(self);
                self.xor(Type::U32, words[0], both(0x8000))
            }
            Op::Unary(Unary::Abs) => {
                let words = words(self);
                self.and(Type::U32, words[0], both(0x7fff))
            }
            Op::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul)) if dtype == Dtype::F16 => {
                let opcode = match op {
                    Binary::Add => Opcode::Add,
                    Binary::Sub => Opcode::Sub,
                    Binary::Mul
                    | Binary::Div
                    | Binary::Rem
                    | Binary::And
                    | Binary::Or
                    | Binary::Xor
                    | Binary::Shl
                    | Binary::Shr
                    | Binary::Min
                    | Binary::Max => Opcode::Mul,
                };
                let words = words(self);
                self.pure(opcode, mods![Word::Rn, packed], Type::B32, &words)
            }
            Op::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul)) => {
                let words = words(self);
                let (a, b) = (words[0], words[1]);
                let args = match op {
                    Binary::Add => [a, one, b],
                    Binary::Sub => [b, both(0xbf80), a],
                    Binary::Mul
                    | Binary::Div
                    | Binary::Rem
                    | Binary::And
                    | Binary::Or
                    | Binary::Xor
                    | Binary::Shl
                    | Binary::Shr
                    | Binary::Min
                    | Binary::Max => [a, b, minus_zero],
                };
                let args = args.map(|arg| Val::Reg(self.reg(arg, Type::B32)));
                self.pure(Opcode::Fma, mods![Word::Rn, packed], Type::B32, &args)
            }
            Op::Binary(op @ (Binary::Min | Binary::Max)) => {
                let opcode = if *op == Binary::Min { Opcode::Min } else { Opcode::Max };
                let words = words(self);
                self.pure(opcode, mods![packed], Type::B32, &words)
            }
            Op::Fma => {
                let words = words(self);
                self.pure(Opcode::Fma, mods![Word::Rn, packed], Type::B32, &words)
            }
            _ => return None,
        };
        Some(self.unpack(word))
    }
}
