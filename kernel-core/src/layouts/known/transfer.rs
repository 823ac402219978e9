//! What is known of the result of an operation, from what is known of its operands.

use super::{
    Analysis, Axis, Info, MAX_LOG2, Rest, Subject, log2_alignment, log2_divisor, log2_fact, stride,
};
use crate::ir::{
    Binary, Compare, Const, Elem, ElementwiseOp, Op, ParamKind, Range, SourceOp, SyncOp, TileOp,
    Type, Unary, Value,
};

impl Analysis<'_> {
    pub(super) fn op(&self, op: &Op, args: &[Value], result: Value) -> Info {
        let ty = self.kernel.ty(result);
        match op {
            Op::Source(op) => self.source(op, ty),
            Op::Tile(op) => self.tile(op, args[0], ty),
            Op::Elementwise(op) => {
                // What does not fit wraps: it is another constant.
                let info = self.elementwise(op, args, ty);
                let rest = self.rest(op, args, (&info, ty));
                Info { value: info.value.filter(|value| fits(*value, ty)), rest, ..info }
            }
            Op::Sync(SyncOp::Cluster(op)) if op.is_position() => Info::position(),
            Op::Memory(_)
            | Op::Window(_)
            | Op::Copy(_)
            | Op::Sync(_)
            | Op::Product(_)
            | Op::TensorMemory(_)
            | Op::Assert(_)
            | Op::Report(_) => Info::unknown(ty),
        }
    }

    fn source(&self, op: &SourceOp, ty: &Type) -> Info {
        let unknown = Info::unknown(ty);
        match *op {
            SourceOp::Const(Const::Int(value)) => Info::constant(value),
            SourceOp::Const(Const::Bool(_) | Const::Float(_)) => unknown,
            SourceOp::ParamPtr(param) | SourceOp::TensorPtr(param) => {
                match self.kernel.params[param as usize].kind {
                    ParamKind::Tensor { dtype, .. } | ParamKind::Pointer(dtype) => {
                        Info::scalar(log2_alignment(self.kernel, param, dtype))
                    }
                    ParamKind::Scalar(_) => unknown,
                }
            }
            SourceOp::ParamDim(param, axis) => Info {
                natural: true,
                ..Info::scalar(log2_fact(self.kernel, Subject::Dim(param, axis)))
            },
            SourceOp::BlockId(_) | SourceOp::NumBlocks(_) => Info::position(),
            SourceOp::ParamStride(param, axis) => stride(self.kernel, param, axis).map_or_else(
                || Info::scalar(log2_fact(self.kernel, Subject::Stride(param, axis))),
                |value| Info::constant(value.into()),
            ),
            SourceOp::ParamScalar(param) => Info {
                natural: unknown.natural,
                ..Info::scalar(log2_fact(self.kernel, Subject::Scalar(param)))
            },
            SourceOp::Arange(low) => {
                let contiguity = ty.shape()[0];
                let log2_multiple = log2_divisor(low.into());
                let axes = vec![Axis { contiguity, constancy: 1, log2_multiple }];
                let rest = Rest::UNKNOWN;
                Info { value: None, natural: low >= 0, log2_multiple: 0, rest, axes }
            }
        }
    }

    fn tile(&self, op: &TileOp, operand: Value, ty: &Type) -> Info {
        let mut info = self.info(operand);
        match op {
            TileOp::Splat => {
                let axis = |&extent: &u32| Axis {
                    contiguity: 1,
                    constancy: extent,
                    log2_multiple: info.log2_multiple,
                };
                Info { log2_multiple: 0, axes: ty.shape().iter().map(axis).collect(), ..info }
            }
            TileOp::Expand(axis) => {
                let log2_step = log2_step(ty);
                let every = |axis: &Axis| axis.multiple_of_groups(1, log2_step);
                let every = info.axes.iter().map(every).min().unwrap_or(0);
                info.axes.insert(*axis as usize, Axis { log2_multiple: every, ..Axis::UNKNOWN });
                info
            }
            TileOp::Broadcast => {
                let extents = self.kernel.ty(operand).shape().iter().zip(ty.shape());
                for (axis, (from, to)) in info.axes.iter_mut().zip(extents) {
                    if from != to {
                        *axis = Axis { contiguity: 1, constancy: *to, ..*axis };
                    }
                }
                info
            }
            TileOp::Permute(order) => {
                let axes = order.iter().map(|&axis| info.axes[axis as usize]).collect();
                Info { axes, ..info }
            }
            TileOp::ToLayout(_) | TileOp::AssertLayout(_) => info,
            TileOp::Reshape
            | TileOp::Flip(_)
            | TileOp::Sort(_)
            | TileOp::Gather(_)
            | TileOp::Histogram
            | TileOp::Join
            | TileOp::Split(_) => Info::unknown(ty),
        }
    }

    fn elementwise(&self, op: &ElementwiseOp, args: &[Value], ty: &Type) -> Info {
        let unknown = Info::unknown(ty);
        let info = self.info(args[0]);
        let axes = |axis: &dyn Fn(&Axis) -> Axis| info.axes.iter().map(axis).collect();
        match op {
            ElementwiseOp::Unary(Unary::Neg) => Info {
                value: info.value.map(|value| -value),
                natural: false,
                axes: axes(&|axis| Axis {
                    contiguity: 1,
                    constancy: axis.constancy,
                    log2_multiple: axis.multiple_of_groups(1, 0),
                }),
                ..info
            },
            ElementwiseOp::Unary(_) => Info {
                axes: axes(&|axis| Axis { constancy: axis.constancy, ..Axis::UNKNOWN }),
                ..unknown
            },
            ElementwiseOp::Binary(binary) => self.binary(*binary, args[0], args[1]),
            ElementwiseOp::Compare(compare) => {
                let of = |a, b| Axis { constancy: uniform(*compare, a, b), ..Axis::UNKNOWN };
                Info { axes: info.zip(&self.info(args[1]), of), ..unknown }
            }
            ElementwiseOp::Select => {
                let (mask, a, b) = (info, self.info(args[1]), self.info(args[2]));
                let log2_step = log2_step(ty);
                let choice = |a: Axis, b: Axis, mask: Axis| {
                    let contiguity = a.contiguity.min(b.contiguity).min(mask.constancy);
                    let of = |axis: Axis| axis.multiple_of_groups(contiguity, log2_step);
                    let constancy = a.constancy.min(b.constancy).min(mask.constancy);
                    Axis { contiguity, constancy, log2_multiple: of(a).min(of(b)) }
                };
                let axes = a.axes.iter().zip(&b.axes).zip(&mask.axes);
                let axes = axes.map(|((a, b), mask)| choice(*a, *b, *mask)).collect();
                Info { axes, ..a.meet(&b) }
            }
            ElementwiseOp::Cast => {
                // A wider integer holds the same number, unless a negative one loses its sign; a narrower one may break
                // off in the middle of a run.
                let keeps = match (self.kernel.ty(args[0]).elem(), ty.elem()) {
                    (Some(Elem::Number(from)), Some(Elem::Number(to))) => {
                        let sign = to.is_signed() || info.natural;
                        from.is_int() && to.is_int() && from.bytes() <= to.bytes() && sign
                    }
                    _ => false,
                };
                if keeps { info } else { unknown }
            }
            ElementwiseOp::Fma | ElementwiseOp::FunnelShift(_) | ElementwiseOp::Bitcast => unknown,
        }
    }

    fn binary(&self, op: Binary, a: Value, b: Value) -> Info {
        let ty = self.kernel.ty(a);
        let log2_step = log2_step(ty);
        let unknown = Info::unknown(ty);
        let (a, mut b) = (self.info(a), self.info(b));
        if log2_step > 0 {
            // An offset counts elements, an address bytes.
            let scaled = |log2: u32| (log2 + log2_step).min(MAX_LOG2);
            b.log2_multiple = scaled(b.log2_multiple);
            for axis in &mut b.axes {
                axis.log2_multiple = scaled(axis.log2_multiple);
            }
        }
        let values = a.value.zip(b.value).filter(|_| log2_step == 0);
        let natural = a.natural && b.natural;
        let sum = |a: Axis, b: Axis, swapped: u32| {
            let contiguity = a.contiguity.min(b.constancy).max(swapped);
            let of = |axis: Axis| axis.multiple_of_groups(contiguity, log2_step);
            Axis {
                contiguity,
                constancy: a.constancy.min(b.constancy),
                log2_multiple: of(a).min(of(b)),
            }
        };
        let every = |axis: Axis| axis.multiple_of_groups(1, log2_step);
        let equal = |a: Axis, b: Axis, log2_multiple: u32| Axis {
            contiguity: 1,
            constancy: a.constancy.min(b.constancy),
            log2_multiple: log2_multiple.min(MAX_LOG2),
        };
        match op {
            Binary::Add => Info {
                value: values.map(|(a, b)| a + b),
                natural,
                log2_multiple: a.log2_multiple.min(b.log2_multiple),
                axes: a.zip(&b, |a, b| sum(a, b, a.constancy.min(b.contiguity))),
                ..unknown
            },
            Binary::Sub => Info {
                value: values.map(|(a, b)| a - b),
                log2_multiple: a.log2_multiple.min(b.log2_multiple),
                axes: a.zip(&b, |a, b| sum(a, b, 1)),
                ..unknown
            },
            Binary::Mul if a.value == Some(1) => b,
            Binary::Mul if b.value == Some(1) => a,
            Binary::Mul => Info {
                value: values.and_then(|(a, b)| a.checked_mul(b)),
                natural,
                log2_multiple: (a.log2_multiple + b.log2_multiple).min(MAX_LOG2),
                axes: a.zip(&b, |a, b| equal(a, b, every(a) + every(b))),
                ..unknown
            },
            Binary::Shl => {
                let by = b
                    .value
                    .and_then(|by| u32::try_from(by).ok())
                    .filter(|by| *by < MAX_LOG2.min(bits_of(ty)))
                    .unwrap_or(0);
                Info {
                    log2_multiple: (a.log2_multiple + by).min(MAX_LOG2),
                    axes: a.zip(&b, |a, b| equal(a, b, every(a) + by)),
                    ..unknown
                }
            }
            Binary::Rem if natural => natural_remainder(&a, &b),
            Binary::Div if natural => natural_quotient(&a, &b),
            Binary::Min | Binary::Max => Info {
                natural,
                log2_multiple: a.log2_multiple.min(b.log2_multiple),
                axes: a.zip(&b, |a, b| equal(a, b, every(a).min(every(b)))),
                ..unknown
            },
            Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shr
            | Binary::Rem
            | Binary::Div
            | Binary::MulHi
            | Binary::Copysign
            | Binary::Powf => {
                let log2 = |left, right| log2_of(op, left, right, b.value);
                Info {
                    log2_multiple: log2(a.log2_multiple, b.log2_multiple),
                    axes: a.zip(&b, |a, b| equal(a, b, log2(every(a), every(b)))),
                    ..unknown
                }
            }
        }
    }
}

/// A run that starts at a multiple of its length does not cross a multiple of the divisor; but below zero, where remainders and
/// quotients turn round, it may start there.
fn natural_remainder(a: &Info, b: &Info) -> Info {
    Info {
        value: a.value.zip(b.value).and_then(|(a, b)| a.checked_rem(b)),
        natural: true,
        log2_multiple: a.log2_multiple.min(b.log2_multiple),
        rest: Rest::UNKNOWN,
        axes: a.zip(b, |a, b| {
            let log2_run = a.log2_multiple.min(b.log2_multiple);
            let contiguity = a.contiguity.min(b.constancy).min(1 << log2_run);
            let log2_multiple = a.multiple_of_groups(contiguity, 0).min(b.log2_multiple);
            Axis { contiguity, constancy: a.constancy.min(b.constancy), log2_multiple }
        }),
    }
}

fn natural_quotient(a: &Info, b: &Info) -> Info {
    Info {
        value: a.value.zip(b.value).and_then(|(a, b)| a.checked_div(b)),
        natural: true,
        log2_multiple: log2_of(Binary::Div, a.log2_multiple, b.log2_multiple, b.value),
        rest: Rest::UNKNOWN,
        axes: a.zip(b, |a, b| {
            let run = 1 << a.log2_multiple.min(b.log2_multiple);
            let run = a.contiguity.min(run).min(b.constancy);
            Axis { constancy: run.max(a.constancy.min(b.constancy)), ..Axis::UNKNOWN }
        }),
    }
}

/// What divides the result of an operation that breaks runs, from what divides its operands and the value of the right one.
fn log2_of(op: Binary, left: u32, right: u32, value: Option<i128>) -> u32 {
    let value = value.filter(|value| *value >= 0);
    match op {
        Binary::And => left.max(right),
        Binary::Or | Binary::Xor | Binary::Rem => left.min(right),
        // Shifts of eight bits and more may be taken modulo the width.
        Binary::Shr => value
            .and_then(|by| u32::try_from(by).ok())
            .filter(|by| *by < 8)
            .map_or(0, |by| left.saturating_sub(by)),
        // What a power of two divides without rest.
        Binary::Div => value
            .filter(|by| by.count_ones() == 1)
            .map_or(0, |by| left.saturating_sub(by.trailing_zeros())),
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Shl
        | Binary::Min
        | Binary::Max
        | Binary::MulHi
        | Binary::Copysign
        | Binary::Powf => 0,
    }
}

/// Whether a type has a number.
fn fits(value: i128, ty: &Type) -> bool {
    let Some(Elem::Number(dtype)) = ty.elem() else { return false };
    Range::of_type(dtype).is_some_and(|all| all.least <= value && value <= all.most)
}

/// The width of an element, modulo which shifts count.
fn bits_of(ty: &Type) -> u32 {
    match ty.elem() {
        Some(Elem::Number(dtype)) => 8 * dtype.bytes(),
        Some(Elem::Ptr(_)) | None => 0,
    }
}

/// How far neighbours in a run are apart: one, or the bytes that a pointer points to.
fn log2_step(ty: &Type) -> u32 {
    match ty.elem() {
        Some(Elem::Ptr(dtype)) => dtype.bytes().trailing_zeros(),
        Some(Elem::Number(_)) | None => 0,
    }
}

/// In which groups a comparison has one outcome.
fn uniform(op: Compare, a: Axis, b: Axis) -> u32 {
    // `run < bound`: a run that starts at a multiple of its length is on one side of a bound that is a multiple of it, too.
    let against = |run: Axis, bound: Axis| {
        let log2 = run.log2_multiple.min(bound.log2_multiple);
        run.contiguity.min(1 << log2).min(bound.constancy)
    };
    let run = match op {
        Compare::Lt | Compare::Ge => against(a, b),
        Compare::Gt | Compare::Le => against(b, a),
        Compare::Eq | Compare::Ne => 1,
    };
    run.max(a.constancy.min(b.constancy))
}
