//! The instruction descriptor of `tcgen05.mma` (PTX ISA, "Instruction descriptor").

use super::operand::Major;
use crate::code::tcgen05::{Group, Kind, TensorMma};
use crate::fault::{FaultKind, Run, Trap};
use crate::numeric::convert::Minifloat;
use crate::numeric::matrix::Accumulate;
use crate::numeric::tcgen05::{Accumulator, Factor, Scale};

/// An operand: its elements, their sign, and the dimension in which they are contiguous in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct FactorOf {
    pub(super) factor: Factor,
    pub(super) negated: bool,
    pub(super) major: Major,
}

/// What a product is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) accumulator: Accumulator,
    pub(super) a: FactorOf,
    pub(super) b: FactorOf,
    /// M, N and K.
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) depth: usize,
    /// The elements of a row of A: K, or half of it.
    pub(super) kept: usize,
    /// Which column of a pair has the metadata, or 0 if both have.
    pub(super) selector: u32,
    /// The first byte of the scales of A and B in their words.
    pub(super) scale_ids: (u32, u32),
    pub(super) scale: Scale,
}

/// The fault of a field.
fn wrong<T>(kind: Kind, field: &str, required: &str, actual: impl std::fmt::Display) -> Run<T> {
    let detail = format!(
        "the instruction descriptor of `.{}`: {field}: required {required}, actual {actual}",
        kind.text()
    );
    Err(Trap::new(FaultKind::IllegalOperand, detail))
}

fn zero(kind: Kind, bits: u32, (low, width): (u32, u32), field: &str) -> Run<()> {
    match bits >> low & ((1 << width) - 1) {
        0 => Ok(()),
        actual => wrong(kind, field, "0", actual),
    }
}

/// An element type by its code.
fn factor(kind: Kind, code: u32, name: &str) -> Run<Factor> {
    let field = format!("type of {name}");
    match kind {
        Kind::F16 => match code {
            0 => Ok(Factor::F16),
            1 => Ok(Factor::Bf16),
            _ => wrong(kind, &field, "0 for f16 or 1 for bf16", code),
        },
        Kind::Tf32 if code == 2 => Ok(Factor::Tf32),
        Kind::Tf32 => wrong(kind, &field, "2 for tf32", code),
        Kind::F8f6f4 | Kind::Mxf8f6f4 => match code {
            0 => Ok(Factor::Mini(Minifloat::E4m3)),
            1 => Ok(Factor::Mini(Minifloat::E5m2)),
            3 => Ok(Factor::Mini(Minifloat::E2m3)),
            4 => Ok(Factor::Mini(Minifloat::E3m2)),
            5 => Ok(Factor::Mini(Minifloat::E2m1)),
            _ => wrong(kind, &field, "0 e4m3, 1 e5m2, 3 e2m3, 4 e3m2 or 5 e2m1", code),
        },
        Kind::I8 => match code {
            0 => Ok(Factor::U8),
            1 => Ok(Factor::S8),
            _ => wrong(kind, &field, "0 for u8 or 1 for s8", code),
        },
        Kind::Mxf4 | Kind::Mxf4nvf4 if code == 1 => Ok(Factor::Pairs),
        Kind::Mxf4 | Kind::Mxf4nvf4 => wrong(kind, &field, "1 for e2m1", code),
    }
}

/// The type of D by its code; `bits` is the descriptor of a kind without scales.
fn accumulator(kind: Kind, bits: u32) -> Run<Accumulator> {
    let saturates = bits >> 3 & 1 != 0;
    let code = bits >> 4 & 3;
    match (kind, code) {
        (Kind::I8, 2) if saturates => return Ok(Accumulator::S32(Accumulate::Saturate)),
        (Kind::I8, 2) => return Ok(Accumulator::S32(Accumulate::Wrap)),
        (Kind::I8, _) => return wrong(kind, "type of D", "2 for s32", code),
        _ if saturates => return wrong(kind, "saturation", "0, as only integers saturate", 1),
        _ => {}
    }
    match (kind, code) {
        (_, 1) => Ok(Accumulator::F32),
        (Kind::F16 | Kind::F8f6f4, 0) => Ok(Accumulator::F16),
        (Kind::F16 | Kind::F8f6f4, _) => wrong(kind, "type of D", "0 for f16 or 1 for f32", code),
        _ => wrong(kind, "type of D", "1 for f32", code),
    }
}

/// The sparsity selector (PTX ISA, "Sparsity selector": elements of eight bits have metadata in both columns).
fn selector(op: &TensorMma, bits: u32) -> Run<u32> {
    let kind = op.kind;
    let (selector, sparse) = (bits & 3, bits >> 2 & 1);
    if op.metadata.is_none() {
        zero(kind, bits, (0, 2), "sparsity selector")?;
        zero(kind, bits, (2, 1), "sparsity, of an instruction without `.sp`")?;
        return Ok(0);
    }
    if sparse == 0 {
        return wrong(kind, "sparsity, of an instruction with `.sp`", "1", 0);
    }
    match kind {
        Kind::F16 | Kind::Tf32 if selector > 1 => {
            wrong(kind, "sparsity selector", "0 or 1", selector)
        }
        Kind::F16 | Kind::Tf32 => Ok(selector),
        Kind::F8f6f4 | Kind::I8 | Kind::Mxf8f6f4 | Kind::Mxf4 | Kind::Mxf4nvf4 => {
            zero(kind, bits, (0, 2), "sparsity selector").map(|()| 0)
        }
    }
}

impl Instruction {
    /// Decodes and checks a descriptor.
    pub(super) fn decode(op: &TensorMma, bits: u32) -> Run<Instruction> {
        let kind = op.kind;
        let scaled = op.scales.is_some();
        let selector = selector(op, bits)?;
        zero(kind, bits, (6, 1), "bit 6")?;
        let accumulator = if scaled {
            zero(kind, bits, (3, 1), "bit 3")?;
            Accumulator::F32
        } else {
            accumulator(kind, bits)?
        };
        let mut factors = [(7, 13, 15, "A"), (10, 14, 16, "B")].map(|(ty, sign, major, name)| {
            let factor = factor(kind, bits >> ty & 7, name)?;
            let negated = bits >> sign & 1 != 0;
            if negated && kind == Kind::I8 {
                return wrong(kind, &format!("negation of {name}"), "0 for integers", 1);
            }
            let major = if bits >> major & 1 == 0 { Major::K } else { Major::Mn };
            if major == Major::Mn && factor == Factor::Pairs {
                return wrong(kind, &format!("transposition of {name}"), "0", 1);
            }
            Ok(FactorOf { factor, negated, major })
        });
        let (a, b) = match &mut factors {
            [Ok(a), Ok(b)] => (*a, *b),
            [Err(trap), _] | [_, Err(trap)] => return Err(trap.clone()),
        };
        let mut scale_ids = (0, 0);
        let mut scale = Scale::Ue8m0;
        if scaled {
            zero(kind, bits, (31, 1), "extent of K, of which 96 exists on sm_103a only,")?;
            scale_ids = (bits >> 29 & 3, bits >> 4 & 3);
            if bits >> 23 & 1 == 0 {
                scale = Scale::Ue4m3;
            }
        } else {
            zero(kind, bits, (23, 1), "bit 23")?;
            if !op.stationary {
                zero(kind, bits, (29, 3), "bits 29 to 31")?;
            }
        }
        // An instruction has 32 bytes of a row of A.
        let kept = if a.factor == Factor::Pairs { 64 } else { 2 * a.factor.per_unit() };
        let instruction = Instruction {
            accumulator,
            a,
            b,
            rows: (bits >> 24 & 31) * 16,
            columns: (bits >> 17 & 63) * 8,
            depth: if op.metadata.is_some() { 2 * kept } else { kept },
            kept,
            selector,
            scale_ids,
            scale,
        };
        instruction.shape(op)?;
        instruction.scales(op)?;
        Ok(instruction)
    }

    /// The extents must be some that exist.
    fn shape(&self, op: &TensorMma) -> Run<()> {
        let Instruction { rows, columns, .. } = *self;
        let kind = op.kind;
        let rows_permitted: &[u32] = match (op.stationary, op.group, op.scales.is_some()) {
            (true, ..) => &[32, 64, 128],
            (false, Group::One, false) => &[64, 128],
            (false, Group::One, true) => &[128],
            (false, Group::Pair, _) => &[128, 256],
        };
        if !rows_permitted.contains(&rows) {
            let list: Vec<_> = rows_permitted.iter().map(u32::to_string).collect();
            return wrong(kind, "M", &list.join(" or "), rows);
        }
        if op.shifted && ![128, 256].contains(&rows) {
            return wrong(kind, "M, with `.ashift`", "128 or 256", rows);
        }
        let mn_bytes = self.b.major == Major::Mn && self.b.factor.per_unit() == 16;
        let (step, least) = match (op.stationary, op.group) {
            (true, _) => {
                let permitted = [64, 128, 256].contains(&columns);
                return if permitted {
                    Ok(())
                } else {
                    wrong(kind, "N", "64, 128 or 256", columns)
                };
            }
            (false, Group::One) if mn_bytes => (16, 16),
            (false, Group::One) if kind == Kind::I8 && columns > 24 => (16, 32),
            (false, Group::One) if kind == Kind::I8 => (8, 8),
            (false, Group::One) => (8, 8),
            (false, Group::Pair) if mn_bytes || kind == Kind::I8 => (32, 32),
            (false, Group::Pair) => (16, if rows == 256 { 16 } else { 32 }),
        };
        let permitted = columns.is_multiple_of(step) && (least..=256).contains(&columns);
        if !permitted || (kind == Kind::I8 && columns == 24 && op.group == Group::Pair) {
            let required = format!("a multiple of {step} from {least} to 256 where M is {rows}");
            return wrong(kind, "N", &required, columns);
        }
        Ok(())
    }

    /// The place of the scales, and their type.
    fn scales(&self, op: &TensorMma) -> Run<()> {
        let Some(scales) = op.scales else { return Ok(()) };
        let permitted: &[u32] = match scales.count {
            1 => &[0, 1, 2, 3],
            2 => &[0, 2],
            _ => &[0],
        };
        for (name, id) in [("A", self.scale_ids.0), ("B", self.scale_ids.1)] {
            if !permitted.contains(&id) {
                let list: Vec<_> = permitted.iter().map(u32::to_string).collect();
                let field = format!("id of the scales of {name}, of {} in a row,", scales.count);
                return wrong(op.kind, &field, &list.join(" or "), id);
            }
        }
        if self.scale == Scale::Ue4m3 && (op.kind != Kind::Mxf4nvf4 || scales.count != 4) {
            return wrong(op.kind, "type of the scales", "1 for ue8m0", 0);
        }
        Ok(())
    }
}
