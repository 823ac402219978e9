//! What is known of a value in one launch.

use super::{
    code::Applied,
    launch::{Launch, Numbers, Source, Sources},
};
use crate::ir::{
    BarrierOp, Barriers, Binary, ClusterOp, Compare, Const, Dtype, Elem, ElementwiseOp, Kernel, Op,
    SourceOp, SyncOp, TensorMemoryOp, Type, Unary, Value, WindowOp,
};

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datum {
    pub(super) thing: Thing,
    /// The numbers of the launch that it was computed from.
    pub(super) sources: Sources,
}

/// What it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Thing {
    /// An integer, or 0 and 1 for `false` and `true`.
    Number(i128),
    /// A window.
    Window(Window),
    /// One or more barriers.
    Barrier(Barrier),
    /// Something that only a run of the kernel has.
    Unknown,
}

/// Which memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    Shared,
    Tensor,
}

/// A part of an allocation, in elements as it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) space: Space,
    pub(super) block: u32,
    pub(super) root: u32,
    pub(super) from: u64,
    pub(super) len: u64,
    /// Whether it is all of that part.
    pub(super) exact: bool,
}

/// Barriers of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Barrier {
    pub(super) block: u32,
    pub(super) root: Barriers,
    pub(super) index: u32,
}

impl Window {
    pub(super) fn overlaps(&self, other: &Window) -> bool {
        self.from < other.from + other.len && other.from < self.from + self.len
    }

    pub(super) fn holds(&self, other: &Window) -> bool {
        self.exact && self.from <= other.from && other.from + other.len <= self.from + self.len
    }
}

impl Datum {
    pub(super) const UNKNOWN: Datum = Datum { thing: Thing::Unknown, sources: Sources::NONE };

    pub(super) fn number(self) -> Option<i128> {
        if let Thing::Number(number) = self.thing { Some(number) } else { None }
    }

    pub(super) fn barrier(self) -> Option<Barrier> {
        if let Thing::Barrier(barrier) = self.thing { Some(barrier) } else { None }
    }

    pub(super) fn window(self) -> Option<Window> {
        if let Thing::Window(window) = self.thing { Some(window) } else { None }
    }

    fn of(thing: Thing) -> Datum {
        Datum { thing, ..Datum::UNKNOWN }
    }
}

/// The coordinate of a block in its cluster, on an axis.
pub(super) fn coordinate(kernel: &Kernel, rank: u32, axis: u32) -> i128 {
    let [x, y, z] = kernel.cluster;
    i128::from([rank % x, rank / x % y, rank / (x * y) % z][axis as usize])
}

/// A block of the cluster, in one launch.
pub(super) struct Place<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) numbers: &'a Numbers,
    pub(super) launch: &'a Launch,
    pub(super) block: u32,
}

impl Place<'_> {
    /// The result of an operation without effects.
    pub(super) fn compute(
        &self,
        Applied { op, args, result }: Applied<'_>,
        data: &[Datum],
    ) -> Datum {
        let known = self.thing(op, args, result, data);
        let sources = data.iter().fold(Sources::NONE, |all, one| all.join(one.sources));
        let Some(made) = known else { return Datum { sources, ..Datum::UNKNOWN } };
        Datum { thing: made.thing, sources: made.sources.join(sources) }
    }

    fn thing(
        &self,
        op: &Op,
        args: &[Value],
        result: Option<Value>,
        data: &[Datum],
    ) -> Option<Datum> {
        match op {
            Op::Source(op) => self.source(op),
            Op::Elementwise(op) => {
                let dtype = number_type(self.kernel.ty(result?))?;
                let of = number_type(self.kernel.ty(args[0]))?;
                let numbers: Option<Vec<i128>> = data.iter().map(|one| one.number()).collect();
                elementwise(op, of, dtype, &numbers?).map(|made| Datum::of(Thing::Number(made)))
            }
            Op::Window(op) => {
                self.window(op, args, result, data).map(|made| Datum::of(Thing::Window(made)))
            }
            Op::Sync(SyncOp::Barrier(op)) => {
                self.barrier(*op, data).map(|made| Datum::of(Thing::Barrier(made)))
            }
            Op::Sync(SyncOp::Cluster(op)) => self.position(*op),
            Op::TensorMemory(op) => {
                self.columns(*op, args, data).map(|made| Datum::of(Thing::Window(made)))
            }
            Op::Sync(_)
            | Op::Tile(_)
            | Op::Memory(_)
            | Op::Copy(_)
            | Op::Product(_)
            | Op::Assert(_)
            | Op::Report(_) => None,
        }
    }

    /// The coordinate of the block's cluster in the grid, on an axis.
    fn cluster(&self, axis: u32) -> Datum {
        let source = Source::Cluster(axis);
        let number = self.launch.number(source).unwrap_or(0);
        Datum { sources: self.numbers.bit(source), thing: Thing::Number(number) }
    }

    /// The coordinate of the block in the grid, on an axis.
    fn in_grid(&self, axis: u32) -> Datum {
        let cluster = self.cluster(axis);
        let blocks = i128::from(self.kernel.cluster[axis as usize]);
        let number = cluster.number().map_or(0, |number| number * blocks);
        let within = coordinate(self.kernel, self.block, axis);
        Datum { thing: Thing::Number(number + within), ..cluster }
    }

    fn source(&self, op: &SourceOp) -> Option<Datum> {
        let given = |source| {
            let number = self.launch.number(source)?;
            Some(Datum { sources: self.numbers.bit(source), ..Datum::of(Thing::Number(number)) })
        };
        match *op {
            SourceOp::Const(Const::Int(value)) => Some(Datum::of(Thing::Number(value))),
            SourceOp::Const(Const::Bool(value)) => Some(Datum::of(Thing::Number(value.into()))),
            SourceOp::ParamDim(param, axis) => given(Source::Dim(param, axis)),
            SourceOp::ParamScalar(param) => given(Source::Scalar(param)),
            SourceOp::NumBlocks(axis) => given(Source::Grid(axis)),
            SourceOp::BlockId(axis) => Some(self.in_grid(axis)),
            SourceOp::Const(Const::Float(_))
            | SourceOp::ParamPtr(_)
            | SourceOp::TensorPtr(_)
            | SourceOp::ParamStride(..)
            | SourceOp::Arange(_) => None,
        }
    }

    fn position(&self, op: ClusterOp) -> Option<Datum> {
        match op {
            ClusterOp::Rank => Some(Datum::of(Thing::Number(self.block.into()))),
            ClusterOp::BlockId(axis) => {
                let within = coordinate(self.kernel, self.block, axis);
                Some(Datum::of(Thing::Number(within)))
            }
            ClusterOp::Id(axis) => Some(self.cluster(axis)),
            ClusterOp::Sync
            | ClusterOp::Arrive
            | ClusterOp::Wait
            | ClusterOp::TryCancel
            | ClusterOp::IsCanceled
            | ClusterOp::CanceledBlockId(_) => None,
        }
    }

    fn blocks(&self) -> u32 {
        self.kernel.cluster.iter().product()
    }

    /// A number of a block of the cluster.
    fn rank(&self, datum: Datum) -> Option<u32> {
        let rank = u32::try_from(datum.number()?).ok()?;
        (rank < self.blocks()).then_some(rank)
    }

    /// One of the parts of a window along its first axis.
    fn part(parent: Window, count: u32, index: Datum) -> Option<Window> {
        let index = u64::try_from(index.number()?).ok()?;
        let len = parent.len / u64::from(count);
        let inside = index < u64::from(count) && len > 0;
        inside.then_some(Window { from: parent.from + index * len, len, ..parent })
    }

    /// A part of a window whose elements are one after the other; it begins at these coordinates.
    fn rows(parent: Window, [whole, part]: [&[u32]; 2], at: &[Datum]) -> Option<Window> {
        let mut first = 0;
        for ((&all, &extent), at) in whole.iter().zip(part).zip(at) {
            let index = u64::try_from(at.number()?).ok()?;
            if index >= u64::from(all) || !index.is_multiple_of(u64::from(extent)) {
                return None;
            }
            first = first * u64::from(all) + index;
        }
        let count = |shape: &[u32]| shape.iter().map(|&extent| u64::from(extent)).product::<u64>();
        // Elements of another type are more or fewer than those of the allocation.
        let from = first * parent.len / count(whole);
        Some(Window {
            from: parent.from + from,
            len: parent.len * count(part) / count(whole),
            ..parent
        })
    }

    fn window(
        &self,
        op: &WindowOp,
        args: &[Value],
        result: Option<Value>,
        data: &[Datum],
    ) -> Option<Window> {
        match op {
            WindowOp::Alloc(root) => {
                let shape = &self.kernel.shared[*root].shape;
                Some(Window {
                    space: Space::Shared,
                    block: self.block,
                    root: root.into_raw().into_u32(),
                    from: 0,
                    len: shape.iter().map(|&extent| u64::from(extent)).product(),
                    exact: true,
                })
            }
            WindowOp::Index => {
                let count = *self.kernel.ty(args[0]).shape().first()?;
                let parent = data[0].window()?;
                // What has been turned, or is a part of several rows, is not the elements from its first to its last.
                if parent.exact && self.kernel.ty(args[0]).shared()?.is_dense() {
                    Self::part(parent, count, data[1])
                } else {
                    Some(Window { exact: false, ..parent })
                }
            }
            WindowOp::Part => {
                let parent = data[0].window()?;
                let whole = self.kernel.ty(args[0]).shared()?;
                let part = self.kernel.ty(result?).shared()?;
                if parent.exact && whole.is_dense() && part.is_dense() {
                    Self::rows(parent, [&whole.shape, &part.shape], &data[1..])
                } else {
                    Some(Window { exact: false, ..parent })
                }
            }
            WindowOp::Transpose | WindowOp::Reshape | WindowOp::Retype => data[0].window(),
            WindowOp::Remote => Some(Window { block: self.rank(data[1])?, ..data[0].window()? }),
        }
    }

    fn columns(&self, op: TensorMemoryOp, args: &[Value], data: &[Datum]) -> Option<Window> {
        match op {
            TensorMemoryOp::Alloc(root) => {
                let shape = &self.kernel.tensor_memory[root].shape;
                Some(Window {
                    space: Space::Tensor,
                    block: self.block,
                    root: self.kernel.tensor_columns(root).into_raw().into_u32(),
                    from: 0,
                    len: shape.iter().map(|&extent| u64::from(extent)).product(),
                    exact: true,
                })
            }
            TensorMemoryOp::Index => {
                let count = *self.kernel.ty(args[0]).shape().first()?;
                let parent = data[0].window()?;
                // The parts of a view may be other columns than those of what it is a view of.
                if parent.exact { Self::part(parent, count, data[1]) } else { Some(parent) }
            }
            TensorMemoryOp::Tile(_) | TensorMemoryOp::View(_) => {
                Some(Window { exact: false, ..data[0].window()? })
            }
            TensorMemoryOp::Load | TensorMemoryOp::Store => None,
        }
    }

    fn barrier(&self, op: BarrierOp, data: &[Datum]) -> Option<Barrier> {
        match op {
            BarrierOp::Alloc(root) => Some(Barrier { block: self.block, root, index: 0 }),
            BarrierOp::Index => {
                let ring = data[0].barrier()?;
                let index = u32::try_from(data[1].number()?).ok()?;
                let inside = index < self.kernel.barriers[ring.root].ring.unwrap_or(1);
                inside.then_some(Barrier { index, ..ring })
            }
            BarrierOp::Remote => Some(Barrier { block: self.rank(data[1])?, ..data[0].barrier()? }),
            BarrierOp::Expect | BarrierOp::Arrive(_) | BarrierOp::Wait | BarrierOp::Test => None,
        }
    }
}

/// The type of an integer or a truth value.
fn number_type(ty: &Type) -> Option<Dtype> {
    let Type::Scalar(Elem::Number(dtype)) = ty else { return None };
    (dtype.is_int() || *dtype == Dtype::Bool).then_some(*dtype)
}

/// The number of this type with the same low bits.
fn wrapped(dtype: Dtype, value: i128) -> i128 {
    if dtype == Dtype::Bool {
        return i128::from(value != 0);
    }
    let width = 1 << (8 * dtype.bytes());
    let low = value.rem_euclid(width);
    if dtype.is_signed() && low >= width / 2 { low - width } else { low }
}

fn elementwise(op: &ElementwiseOp, of: Dtype, dtype: Dtype, args: &[i128]) -> Option<i128> {
    let made = match (op, args) {
        (ElementwiseOp::Unary(op), &[a]) => match op {
            Unary::Neg => -a,
            Unary::Not if of == Dtype::Bool => 1 - a,
            Unary::Not => !a,
            Unary::Abs => a.abs(),
            Unary::Bits(_)
            | Unary::Sqrt
            | Unary::Rsqrt
            | Unary::Round(_)
            | Unary::Transcendental(_) => return None,
        },
        (ElementwiseOp::Binary(op), &[a, b]) => binary(*op, of, a, b)?,
        (ElementwiseOp::Compare(op), &[a, b]) => i128::from(match op {
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
            Compare::Eq => a == b,
            Compare::Ne => a != b,
        }),
        (ElementwiseOp::Select, &[mask, a, b]) => {
            if mask != 0 {
                a
            } else {
                b
            }
        }
        (ElementwiseOp::Cast, &[a]) => a,
        _ => return None,
    };
    Some(wrapped(dtype, made))
}

fn binary(op: Binary, dtype: Dtype, a: i128, b: i128) -> Option<i128> {
    let shift = b.rem_euclid(i128::from(8 * dtype.bytes()));
    Some(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a.checked_mul(b)?,
        Binary::Div => a.checked_div(b)?,
        Binary::Rem => a.checked_rem(b)?,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => a << shift,
        Binary::Shr => a >> shift,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::MulHi | Binary::Copysign | Binary::Powf => return None,
    })
}
