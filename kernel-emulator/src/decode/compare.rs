//! Comparison and selection.

use kernel_ptx::{Operand, Type, Word};

use super::arith::{Arithmetic, arithmetic};
use super::count;
use super::operands::{Decoded, Modifiers, Scope, parts};
use crate::code::{Compare, HalfCompare, Op, P, Pred, SetHalves, SetResult, Slot};
use crate::numeric::compare::{Comparison, Join};
use crate::numeric::integer::Int;
use crate::numeric::scalar::Property;

/// `.eq` and its like.
fn comparison(mods: &mut Modifiers) -> Decoded<Comparison> {
    mods.one_of(&[
        (Word::Eq, Comparison::Equal),
        (Word::Ne, Comparison::NotEqual),
        (Word::Lt, Comparison::Less),
        (Word::Le, Comparison::LessEqual),
        (Word::Gt, Comparison::Greater),
        (Word::Ge, Comparison::GreaterEqual),
        (Word::Lo, Comparison::Less),
        (Word::Ls, Comparison::LessEqual),
        (Word::Hi, Comparison::Greater),
        (Word::Hs, Comparison::GreaterEqual),
        (Word::Equ, Comparison::EqualUnordered),
        (Word::Neu, Comparison::NotEqualUnordered),
        (Word::Ltu, Comparison::LessUnordered),
        (Word::Leu, Comparison::LessEqualUnordered),
        (Word::Gtu, Comparison::GreaterUnordered),
        (Word::Geu, Comparison::GreaterEqualUnordered),
        (Word::Num, Comparison::Number),
        (Word::IsNan, Comparison::NotANumber),
    ])
    .ok_or_else(|| "a comparison is missing".to_owned())
}

fn join(mods: &mut Modifiers) -> Join {
    mods.one_of(&[(Word::And, Join::And), (Word::Or, Join::Or), (Word::Xor, Join::Xor)])
        .unwrap_or(Join::None)
}

/// How operands of a type are compared, or that it is a pair.
enum Kind {
    One(Compare, u32),
    Halves(HalfCompare),
}

fn kind(ty: Type, op: Comparison, ftz: bool) -> Decoded<Kind> {
    match arithmetic(ty)? {
        Arithmetic::Int(int) => Ok(Kind::One(Compare::Int(op, int), ty.bits())),
        Arithmetic::F32 => Ok(Kind::One(Compare::F32 { op, ftz }, 32)),
        Arithmetic::F64 => Ok(Kind::One(Compare::F64(op), 64)),
        Arithmetic::Half(half) => Ok(Kind::One(Compare::Half { op, half, ftz }, 16)),
        Arithmetic::HalfPair(half) => Ok(Kind::Halves(HalfCompare { op, half, ftz })),
        Arithmetic::IntPair(_) | Arithmetic::F32Pair => {
            Err(format!("no comparison on `.{}`", ty.text()))
        }
    }
}

/// The third operand, if the modifiers ask for one.
fn third(cx: &mut Scope<'_>, join: Join, operand: Option<&Operand>) -> Decoded<(Join, Pred)> {
    match (join, operand) {
        (Join::None, None) => Ok((join, Pred { slot: cx.preset_p(true), negated: false })),
        (Join::None, Some(_)) => Err("a third operand without `.and`, `.or` or `.xor`".to_owned()),
        (_, None) => Err("the third operand is missing".to_owned()),
        (_, Some(operand)) => Ok((join, cx.pred(operand)?)),
    }
}

/// `p`, or `p|q`.
fn results(cx: &Scope<'_>, operand: &Operand) -> Decoded<[Option<P>; 2]> {
    let (p, q) = parts(operand);
    Ok([cx.target_p(p)?, q.map_or(Ok(None), |q| cx.target_p(q))?])
}

/// `setp`.
pub(super) fn setp(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let op = comparison(mods)?;
    let join = join(mods);
    let ftz = mods.word(Word::Ftz);
    let ty = mods.ty()?;
    let [target, a, b, rest @ ..] = ops else {
        return Err(format!("{} operands where 3 or 4 are needed", ops.len()));
    };
    let with = third(cx, join, rest.first())?;
    let results = results(cx, target)?;
    match kind(ty, op, ftz)? {
        Kind::Halves(cmp) => {
            let (a, b) = (cx.w(a)?, cx.w(b)?);
            Ok(Op::SetpHalves { cmp, results: Box::new(results), a, b, with })
        }
        Kind::One(cmp, bits) => {
            let (a, b) = (cx.source(a, bits)?, cx.source(b, bits)?);
            match (join, results) {
                (Join::None, [Some(d), None]) => Ok(Op::Setp { cmp, d, a, b }),
                _ => Ok(Op::SetpJoin { cmp, results: Box::new(results), a, b, with }),
            }
        }
    }
}

/// `set`.
pub(super) fn set(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let op = comparison(mods)?;
    let join = join(mods);
    let ftz = mods.word(Word::Ftz);
    let (to, from) = (mods.ty()?, mods.ty()?);
    let [target, a, b, rest @ ..] = ops else {
        return Err(format!("{} operands where 3 or 4 are needed", ops.len()));
    };
    let with = third(cx, join, rest.first())?;
    let d = cx.dest_w(target)?;
    match (kind(from, op, ftz)?, arithmetic(to)?) {
        (Kind::Halves(cmp), to) => {
            let to = match to {
                Arithmetic::HalfPair(half) => SetHalves::One(half),
                Arithmetic::Int(Int::U32 | Int::S32) | Arithmetic::IntPair(_) => SetHalves::Ones,
                Arithmetic::Int(_)
                | Arithmetic::F32
                | Arithmetic::F32Pair
                | Arithmetic::F64
                | Arithmetic::Half(_) => {
                    return Err("a result type that does not go with a pair".to_owned());
                }
            };
            let (a, b) = (cx.w(a)?, cx.w(b)?);
            Ok(Op::SetHalves { cmp, to, d, a, b, with })
        }
        (Kind::One(cmp, bits), to) => {
            let to = match to {
                Arithmetic::Int(Int::U32 | Int::S32) => SetResult::Ones,
                Arithmetic::Int(Int::U16 | Int::S16) => SetResult::Ones16,
                Arithmetic::F32 => SetResult::F32,
                Arithmetic::Half(half) => SetResult::Half(half),
                Arithmetic::Int(_)
                | Arithmetic::IntPair(_)
                | Arithmetic::F32Pair
                | Arithmetic::F64
                | Arithmetic::HalfPair(_) => {
                    return Err("a result type that is not modelled".to_owned());
                }
            };
            let (a, b) = (cx.source(a, bits)?, cx.source(b, bits)?);
            Ok(Op::Set { cmp, to, d, a, b, with })
        }
    }
}

/// `selp`.
pub(super) fn selp(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let bits = mods.ty()?.bits();
    let [d, a, b, p] = count(ops)?;
    let p = cx.pred(p)?;
    match (cx.dest(d)?, cx.source(a, bits)?, cx.source(b, bits)?) {
        (Slot::W(d), Slot::W(a), Slot::W(b)) => Ok(Op::SelpW { d, a, b, p }),
        (Slot::D(d), Slot::D(a), Slot::D(b)) => Ok(Op::SelpD { d, a, b, p }),
        (Slot::Q(d), Slot::Q(a), Slot::Q(b)) => Ok(Op::SelpQ { d, a, b, p }),
        _ => Err("registers of different widths".to_owned()),
    }
}

/// `slct`.
pub(super) fn slct(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ftz = mods.word(Word::Ftz);
    let (ty, by) = (mods.ty()?, mods.ty()?);
    if by != Type::F32 && (by != Type::S32 || ftz) {
        return Err(format!("selection by `.{}`", by.text()));
    }
    let float = (by == Type::F32).then_some(ftz);
    let [d, a, b, c] = count(ops)?;
    let bits = ty.bits();
    let (a, b, c) = (cx.source(a, bits)?, cx.source(b, bits)?, cx.w(c)?);
    Ok(Op::Slct { float, d: cx.dest(d)?, a, b, c })
}

/// `testp`.
pub(super) fn testp(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let what = mods
        .one_of(&[
            (Word::Finite, Property::Finite),
            (Word::Infinite, Property::Infinite),
            (Word::Number, Property::Number),
            (Word::Notanumber, Property::NotANumber),
            (Word::Normal, Property::Normal),
            (Word::Subnormal, Property::Subnormal),
        ])
        .ok_or("a property is missing")?;
    let bits = mods.ty()?.bits();
    let [d, a] = count(ops)?;
    let a = cx.source(a, bits)?;
    Ok(Op::Testp { what, d: cx.dest_p(d)?, a })
}
