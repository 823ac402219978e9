//! Matrix instructions of a warpgroup.

use std::collections::BTreeSet;

use kernel_ptx::{Function, Operand, Statement, Type, Word};

use super::look_up;
use super::matrix::{element, int_element, list};
use super::operands::{Decoded, Modifiers, Scope};
use crate::code::wgmma::{Left, Major, Metadata, Product, Tile, Wgmma};
use crate::code::{Class, Code, Op, Slot, W};
use crate::numeric::matrix::Accumulate;
use crate::numeric::wgmma::{Accumulator, Factor};

/// `wgmma`, all forms.
pub(super) fn wgmma(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync, Word::Aligned]);
    if mods.word(Word::FenceWord) {
        return Ok(Op::Wgmma(Wgmma::Fence));
    }
    if mods.word(Word::CommitGroup) {
        return Ok(Op::Wgmma(Wgmma::Commit));
    }
    if mods.word(Word::WaitGroup) {
        let [keep] = super::count(ops)?;
        return Ok(Op::Wgmma(Wgmma::Wait { keep: Scope::immediate(keep)? }));
    }
    if !mods.word(Word::MmaAsync) {
        return Err("the form is not modelled".to_owned());
    }
    let sparse = mods.word(Word::Sp);
    let (columns, depth) = shape(mods)?;
    let saturate = mods.word(Word::Satfinite);
    let (d_type, a_type, b_type) = (mods.ty()?, mods.ty()?, mods.ty()?);
    let (a_factor, b_factor) = (factor(a_type)?, factor(b_type)?);
    let integers = if saturate { Accumulate::Saturate } else { Accumulate::Wrap };
    let accumulators = [
        (Type::F32, Accumulator::F32),
        (Type::F16, Accumulator::F16),
        (Type::S32, Accumulator::S32(integers)),
    ];
    let accumulator = look_up(&accumulators, &d_type)
        .ok_or_else(|| format!("an accumulator of `.{}`", d_type.text()))?;
    let bytes = if sparse { 64 } else { 32 };
    if depth * a_type.bits() != 8 * bytes || a_type.bits() != b_type.bits() {
        return Err(format!("k is {depth}, and {bytes} bytes of both factors are needed"));
    }
    let [d, a, b, behind @ ..] = ops else { return Err("operands are missing".to_owned()) };
    let (sparse, behind) = match behind {
        [data, selector, behind @ ..] if sparse => {
            let selector = Scope::immediate(selector)?;
            (Some(Metadata { data: cx.w(data)?, selector }), behind)
        }
        behind => (None, behind),
    };
    let [scale_d, rest @ ..] = behind else { return Err("operands are missing".to_owned()) };
    let d = list(d).iter().map(|d| cx.dest_w(d)).collect::<Decoded<Vec<W>>>()?;
    let required = if accumulator == Accumulator::F16 { columns / 4 } else { columns / 2 };
    if u32::try_from(d.len()) != Ok(required) {
        return Err(format!("{} registers of D where {required} are needed", d.len()));
    }
    let floats = matches!(accumulator, Accumulator::F32 | Accumulator::F16);
    let (scales, majors) = if floats { rest.split_at(2.min(rest.len())) } else { rest.split_at(0) };
    let mut negated = false;
    for scale in scales {
        let Operand::Int(scale @ (1 | -1)) = scale else {
            return Err("a scale of A or B is 1 or -1".to_owned());
        };
        negated ^= *scale < 0;
    }
    let fragments = list(a);
    let in_registers = matches!(a, Operand::Vector(_));
    let (a_major, b_major) = match (majors, in_registers) {
        ([], _) => (Major::K, Major::K),
        ([b], true) => (Major::K, major(b)?),
        ([a, b], false) => (major(a)?, major(b)?),
        _ => return Err("the wrong number of operands".to_owned()),
    };
    if (a_major, b_major) != (Major::K, Major::K) && a_type.bits() != 16 {
        return Err("only 16-bit factors can be transposed".to_owned());
    }
    let left = if in_registers {
        let registers = fragments.iter().map(|a| cx.w(a)).collect::<Decoded<Vec<W>>>()?;
        Left::Fragments(
            registers.try_into().map_err(|_| "A is four registers of 32 bits".to_owned())?,
        )
    } else {
        Left::Shared(Tile { descriptor: cx.d(a)?, major: a_major })
    };
    let b = Tile { descriptor: cx.d(b)?, major: b_major };
    let scale_d = cx.pred(scale_d)?;
    Ok(Op::Wgmma(Wgmma::Mma(Box::new(Product {
        accumulator,
        columns,
        d: d.into(),
        a: left,
        a_type: a_factor,
        b,
        b_type: b_factor,
        scale_d,
        negated,
        sparse,
    }))))
}

/// The extents of `.m64nNkK`: N, K.
fn shape(mods: &mut Modifiers) -> Decoded<(u32, u32)> {
    let text = mods.take_text(|text| text.starts_with("m64n")).ok_or("a shape is missing")?;
    let extents = text["m64n".len()..].split_once('k');
    let parse = |(n, k): (&str, &str)| Some((n.parse().ok()?, k.parse().ok()?));
    extents.and_then(parse).ok_or_else(|| format!("the shape `.{text}`"))
}

fn factor(ty: Type) -> Decoded<Factor> {
    element(ty)
        .map(Factor::Float)
        .or_else(|| int_element(ty).filter(|_| ty.bits() == 8).map(Factor::Int))
        .ok_or_else(|| format!("factors of `.{}` are not modelled", ty.text()))
}

fn major(operand: &Operand) -> Decoded<Major> {
    let Operand::Int(transposed @ (0 | 1)) = operand else {
        return Err("a transposition is 0 or 1".to_owned());
    };
    Ok(if *transposed == 0 { Major::K } else { Major::Mn })
}

/// Finds the instructions that touch registers of some `wgmma` or `tcgen05.ld`; `bodies` are the functions with the place of
/// their first instruction and the slots of their registers.
pub(super) fn watch<'m>(
    code: &mut Code,
    bodies: impl Iterator<Item = (&'m Function, usize, &'m [Slot])>,
) {
    let mut used: BTreeSet<W> = BTreeSet::new();
    for inst in &code.insts {
        if let Op::Wgmma(Wgmma::Mma(op)) = &inst.op {
            used.extend(op.d.iter().chain(op.fragments()));
        } else if let Op::Tcgen05(op) = &inst.op {
            used.extend(op.loaded());
        }
    }
    if used.is_empty() {
        return;
    }
    code.watched = vec![Box::default(); code.insts.len()];
    for (function, start, slots) in bodies {
        let statements = function.body.iter().flatten();
        let instructions = statements.filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            Statement::Label(_) | Statement::Location { .. } | Statement::Pragma(_) => None,
        });
        for (index, instruction) in (start..).zip(instructions) {
            let inst = &mut code.insts[index];
            if matches!(inst.op, Op::Wgmma(Wgmma::Mma(_))) {
                continue;
            }
            let mut touched = BTreeSet::new();
            instruction.visit_registers(|register| {
                if let Slot::W(slot) = slots[register.0 as usize]
                    && used.contains(&slot)
                {
                    touched.insert(slot);
                }
            });
            if !touched.is_empty() {
                code.watched[index] = touched.into_iter().collect();
                if inst.class == Class::Plain {
                    inst.class = Class::Watched;
                }
            }
        }
    }
}
