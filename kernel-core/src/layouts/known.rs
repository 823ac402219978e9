//! What is known of integers and addresses at compile time: powers of two that divide them, runs of consecutive or equal values.
//!
//! Along an axis of a tile, elements are taken in aligned groups. `contiguity` is the largest group in which each element is one
//! more than the one before, `constancy` the largest in which all are equal, and the first element of each group of `contiguity`
//! is a multiple of `2^log2_multiple` (bytes, for addresses). From these follows how many elements one instruction may access.
//!
//! Facts of values that loops carry are found by iteration: they start with what enters the loop and lose what an iteration does not keep.
//! Arithmetic is assumed not to overflow, as in every compiler of index expressions.

use la_arena::ArenaMap;

use crate::ir::{
    By, CopyOp, Corner, Dtype, Elem, Fact, Kernel, Memory, MemoryOp, Op, ParamKind, Stmt, StmtKind,
    Type, Value,
    flow::{self, Flow, Passing},
};

mod rest;
mod transfer;

use rest::Rest;

/// No access is aligned to more: keeps sums of exponents small, and stands for "any power of two divides 0".
const MAX_LOG2: u32 = 30;
/// The longest access of one thread, in bytes (PTX ISA, "ld": vectors have at most 128 bits on the targets below `sm_100`).
const VECTOR_BYTES: u32 = 16;

/// How an operation may access global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The axis of the tile along which memory is contiguous.
    pub axis: u32,
    /// The elements along that axis that one instruction may access, counted from a multiple of themselves: a power of two, at
    /// most 16 bytes together. They are all inside of the tensor or all outside; a mask is the same for all.
    pub elements: u32,
}

/// What is known of one axis of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) contiguity: u32,
    pub(crate) constancy: u32,
    pub(crate) log2_multiple: u32,
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Info {
    /// The value, if it is the same everywhere and a constant.
    value: Option<i128>,
    /// No element is negative.
    natural: bool,
    /// Of a scalar.
    log2_multiple: u32,
    /// Of a scalar: what is left when it is divided by a power of two.
    rest: Rest,
    /// Of a tile.
    axes: Vec<Axis>,
}

/// What is known of all values of a kernel.
#[derive(Debug, Default)]
pub struct Known {
    infos: ArenaMap<Value, Info>,
}

impl Axis {
    const UNKNOWN: Axis = Axis { contiguity: 1, constancy: 1, log2_multiple: 0 };

    /// What divides the first element of every group of `group`; consecutive elements differ by `2^log2_step`.
    fn multiple_of_groups(self, group: u32, log2_step: u32) -> u32 {
        if group >= self.contiguity {
            self.log2_multiple
        } else {
            self.log2_multiple.min(group.trailing_zeros() + log2_step)
        }
    }

    fn meet(self, other: Axis) -> Axis {
        let contiguity = self.contiguity.min(other.contiguity);
        // Groups may become shorter; neighbours are at least one apart, whatever they are.
        let of = |axis: Axis| axis.multiple_of_groups(contiguity, 0);
        Axis {
            contiguity,
            constancy: self.constancy.min(other.constancy),
            log2_multiple: of(self).min(of(other)),
        }
    }
}

impl Info {
    fn unknown(ty: &Type) -> Info {
        let natural =
            matches!(ty.elem(), Some(Elem::Number(dtype)) if dtype.is_int() && !dtype.is_signed());
        let axes = vec![Axis::UNKNOWN; ty.shape().len()];
        Info { value: None, natural, log2_multiple: 0, rest: Rest::UNKNOWN, axes }
    }

    fn scalar(log2_multiple: u32) -> Info {
        let log2_multiple = log2_multiple.min(MAX_LOG2);
        Info {
            value: None,
            natural: false,
            log2_multiple,
            rest: Rest::none(log2_multiple),
            axes: Vec::new(),
        }
    }

    /// An extent or a coordinate.
    fn position() -> Info {
        Info { natural: true, ..Info::scalar(0) }
    }

    fn constant(value: i128) -> Info {
        let info = Info::scalar(log2_divisor(value));
        Info { value: Some(value), natural: value >= 0, rest: Rest::of(value), ..info }
    }

    fn meet(&self, other: &Info) -> Info {
        Info {
            value: self.value.filter(|_| self.value == other.value),
            natural: self.natural && other.natural,
            log2_multiple: self.log2_multiple.min(other.log2_multiple),
            rest: self.rest.meet(other.rest),
            axes: self.axes.iter().zip(&other.axes).map(|(a, b)| a.meet(*b)).collect(),
        }
    }

    /// The axes of a result, each from those of two operands.
    fn zip(&self, other: &Info, axis: impl Fn(Axis, Axis) -> Axis) -> Vec<Axis> {
        self.axes.iter().zip(&other.axes).map(|(a, b)| axis(*a, *b)).collect()
    }
}

/// The exponent of the largest power of two that divides `value`.
fn log2_divisor(value: i128) -> u32 {
    if value == 0 { MAX_LOG2 } else { value.trailing_zeros().min(MAX_LOG2) }
}

/// Finds out what is known of the values of a kernel.
pub fn analyze(kernel: &Kernel) -> Known {
    let mut analysis = Analysis { kernel, infos: ArenaMap::default() };
    flow::follow(&mut analysis, &kernel.body);
    Known { infos: analysis.infos }
}

impl Known {
    /// What is known along an axis of a tile.
    pub(crate) fn axis(&self, tile: Value, axis: usize) -> Axis {
        self.infos.get(tile).map_or(Axis::UNKNOWN, |info| info.axes[axis])
    }

    /// The exponent of a power of two that divides a scalar; bytes, of a pointer.
    pub(crate) fn log2_multiple(&self, scalar: Value) -> u32 {
        self.infos.get(scalar).map_or(0, |info| info.log2_multiple)
    }

    /// What is left of a scalar when it is divided by a power of two, if that is known.
    pub(crate) fn rest(&self, scalar: Value, divisor: u32) -> Option<u32> {
        self.infos.get(scalar).and_then(|info| info.rest.of_division(divisor))
    }

    /// The value of a scalar that is a constant.
    pub(crate) fn constant(&self, scalar: Value) -> Option<i128> {
        self.infos.get(scalar).and_then(|info| info.value)
    }

    /// How an operation may access global memory; none for an operation that does not.
    ///
    /// `args` are its operands. A tensor without an axis of stride 1 is accessed element by element.
    pub fn access(&self, kernel: &Kernel, op: &Op, args: &[Value]) -> Option<Access> {
        let effects = kernel.effects(op, args, None);
        // Of an atomic whose old values are read, each element is done by itself.
        effects.accesses.iter().find_map(|access| match (access.memory, access.by) {
            (Memory::Tensor(param), By::Threads | By::CpAsync) => {
                Some(self.tensor_access(kernel, param, positions(op, args)))
            }
            (Memory::Address(address), By::Threads | By::CpAsync) => {
                let found = self.pointer_access(kernel, address, access.mask)?;
                let elements = if access.atomic { 1 } else { found.elements };
                Some(Access { elements, ..found })
            }
            (
                Memory::Tensor(_)
                | Memory::Address(_)
                | Memory::Shared(_)
                | Memory::TensorMemory(_)
                | Memory::Registers(_),
                _,
            ) => None,
        })
    }

    /// The same of an operation whose result nothing reads: neighbours may be changed at once.
    pub(crate) fn unread_access(&self, kernel: &Kernel, op: &Op, args: &[Value]) -> Option<Access> {
        let access = self.access(kernel, op, args)?;
        let Op::Memory(MemoryOp::Atomic(atomic, _)) = op else { return Some(access) };
        let Some(Elem::Ptr(dtype)) = kernel.ty(args[0]).elem() else { return Some(access) };
        let found = self.pointer_access(kernel, args[0], None)?;
        let elements = found.elements.min(atomic.at_once(dtype, kernel.target));
        Some(Access { elements, ..found })
    }

    fn tensor_access(&self, kernel: &Kernel, param: u32, positions: &[Value]) -> Access {
        let ParamKind::Tensor { dtype, rank, .. } = kernel.params[param as usize].kind else {
            unreachable!("ir::verify requires a tensor here")
        };
        let unit = |axis: &u32| {
            kernel.facts.contains(&Fact::StrideEquals { param, axis: *axis, value: 1 })
        };
        let Some(axis) = (0..rank).rev().find(unit) else {
            return Access { axis: rank - 1, elements: 1 };
        };
        let log2_bytes = dtype.bytes().trailing_zeros();
        let corner = Corner::of(positions, rank as usize);
        let offset = self.log2_multiple(corner.at[axis as usize]);
        let strides = (0..rank)
            .filter(|&other| other != axis)
            .map(|other| log2_fact(kernel, Subject::Stride(param, other)));
        // A slice cuts runs as the end of the tensor does.
        let log2_extent = corner.slice.map_or_else(
            || log2_fact(kernel, Subject::Dim(param, axis)),
            |bounds| {
                let [first, end] = bounds.map(|bounds| self.log2_multiple(bounds[axis as usize]));
                first.min(end)
            },
        );
        let most = VECTOR_BYTES.trailing_zeros() - log2_bytes;
        let log2_elements = [
            most,
            log2_alignment(kernel, param, dtype).saturating_sub(log2_bytes),
            log2_extent,
            offset,
        ]
        .into_iter()
        .chain(strides)
        .min()
        .expect("the list is not empty");
        Access { axis, elements: 1 << log2_elements }
    }

    /// None for a scalar.
    fn pointer_access(
        &self,
        kernel: &Kernel,
        pointers: Value,
        mask: Option<Value>,
    ) -> Option<Access> {
        let Type::Tile(Elem::Ptr(dtype), shape) = kernel.ty(pointers) else { return None };
        let unknown = Info::unknown(kernel.ty(pointers));
        let info = self.infos.get(pointers).unwrap_or(&unknown);
        let last = shape.len() - 1;
        // Of equal runs the innermost axis wins, for tiles of extent 1 and for unknown addresses.
        let axis = (0..shape.len()).max_by_key(|&axis| info.axes[axis].contiguity).unwrap_or(last);
        let fastest = info.axes[axis];
        let same_mask = mask.map_or(VECTOR_BYTES, |mask| {
            self.infos.get(mask).map_or(1, |mask| mask.axes[axis].constancy)
        });
        let aligned = (1 << fastest.log2_multiple) / dtype.bytes();
        let elements =
            fastest.contiguity.min(aligned).min(same_mask).min(VECTOR_BYTES / dtype.bytes()).max(1);
        Some(Access { axis: u32::try_from(axis).expect("a rank is small"), elements })
    }
}

/// The operands of an operation on a tensor that say where it is, which stand before the others.
fn positions<'v>(op: &Op, args: &'v [Value]) -> &'v [Value] {
    let others = if let Op::Memory(MemoryOp::AtomicTensor { op, .. }) = op {
        op.values()
    } else {
        let one = matches!(op, Op::Memory(MemoryOp::StoreTensor(..)) | Op::Copy(CopyOp::Async(..)));
        usize::from(one)
    };
    &args[..args.len().saturating_sub(others)]
}

/// What a fact is about.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Subject {
    Pointer(u32),
    Stride(u32, u32),
    Dim(u32, u32),
    Scalar(u32),
}

/// The largest power of two that divides something, as far as the facts say; bytes, for pointers.
pub(crate) fn log2_fact(kernel: &Kernel, subject: Subject) -> u32 {
    let known = kernel.facts.iter().map(|fact| match *fact {
        Fact::PointerAligned { param, bytes } => (Subject::Pointer(param), i128::from(bytes)),
        Fact::StrideEquals { param, axis, value } => (Subject::Stride(param, axis), value.into()),
        Fact::StrideMultiple { param, axis, of } => (Subject::Stride(param, axis), of.into()),
        Fact::DimMultiple { param, axis, of } => (Subject::Dim(param, axis), of.into()),
        Fact::ScalarMultiple { param, of } => (Subject::Scalar(param), of.into()),
    });
    known.filter(|(about, _)| *about == subject).map(|(_, of)| log2_divisor(of)).max().unwrap_or(0)
}

fn log2_alignment(kernel: &Kernel, param: u32, dtype: Dtype) -> u32 {
    log2_fact(kernel, Subject::Pointer(param)).max(dtype.bytes().trailing_zeros())
}

/// A stride that is known exactly.
pub(crate) fn stride(kernel: &Kernel, param: u32, axis: u32) -> Option<i64> {
    kernel.facts.iter().find_map(|fact| {
        if let Fact::StrideEquals { param: p, axis: a, value } = *fact
            && (p, a) == (param, axis)
        {
            Some(value)
        } else {
            None
        }
    })
}

struct Analysis<'a> {
    kernel: &'a Kernel,
    infos: ArenaMap<Value, Info>,
}

impl Analysis<'_> {
    /// What no path reaches keeps no promise.
    fn info(&self, value: Value) -> Info {
        self.infos.get(value).cloned().unwrap_or_else(|| Info::unknown(self.kernel.ty(value)))
    }
}

impl Flow for Analysis<'_> {
    type State = ();

    const OF_VALUES: bool = true;

    fn cross(&mut self, stmt: &Stmt, (): &mut ()) {
        // A combine function knows nothing of its operands, and its results are data. What regions pass, `pass` meets.
        if let StmtKind::Op { op, args, result: Some(result) } = &stmt.kind {
            let info = self.op(op, args, *result);
            self.infos.insert(*result, info);
        } else if let StmtKind::For { from, step, body, .. } = &stmt.kind {
            // The induction variable is `from` plus a multiple of `step`.
            let (from, step) = (self.info(*from), self.info(*step));
            let log2_multiple = from.log2_multiple.min(step.log2_multiple);
            let rest = from.rest.plus(Rest::none(step.log2_multiple));
            let natural = from.natural && step.natural;
            let induction = Info { natural, rest, ..Info::scalar(log2_multiple) };
            self.infos.insert(body.args[0], induction);
        }
    }

    fn join(&mut self, (): &mut (), (): &()) {}

    fn pass(&mut self, _: Passing, from: &[Value], to: &[Value], (): &mut ()) -> bool {
        let mut changed = false;
        for (&from, &to) in from.iter().zip(to) {
            let passed = self.info(from);
            let seen = self.infos.get(to);
            let info = seen.map_or_else(|| passed.clone(), |seen| seen.meet(&passed));
            if seen != Some(&info) {
                changed = true;
                self.infos.insert(to, info);
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests;
