//! The part of a rank's request that has to be the same for other ranks.

use crate::Dtype;
use std::fmt;

/// How the elements of all ranks are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceOp {
    /// Their sum; integers wrap around.
    Sum,
    /// Their product; integers wrap around.
    Product,
    /// The least of them.
    Min,
    /// The greatest of them.
    Max,
    /// Their sum divided by the number of ranks; integers are truncated towards zero.
    Average,
}

impl ReduceOp {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Min => "min",
            Self::Max => "max",
            Self::Average => "average",
        }
    }
}

/// What moves where. Ranks are given by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    AllReduce(ReduceOp),
    AllGather,
    ReduceScatter(ReduceOp),
    Broadcast { root: usize },
    AllToAll,
    Barrier,
    Send { to: usize },
    Recv { from: usize },
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AllReduce(_) => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter(_) => "reduce_scatter",
            Self::Broadcast { .. } => "broadcast",
            Self::AllToAll => "all_to_all",
            Self::Barrier => "barrier",
            Self::Send { .. } => "send",
            Self::Recv { .. } => "recv",
        }
    }
}

/// One operation of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) operation: Operation,
    pub(crate) dtype: &'static str,
    /// Elements that one rank gives to, or takes from, one other.
    pub(crate) count: usize,
}

/// The bytes of a signature in a message.
pub(crate) const SIGNATURE_BYTES: usize = 15;

impl Signature {
    pub(crate) fn to_bytes(self) -> [u8; SIGNATURE_BYTES] {
        let (kind, detail) = match self.operation {
            Operation::AllReduce(op) => (0, op as usize),
            Operation::AllGather => (1, 0),
            Operation::ReduceScatter(op) => (2, op as usize),
            Operation::Broadcast { root } => (3, root),
            Operation::AllToAll => (4, 0),
            Operation::Barrier => (5, 0),
            Operation::Send { to } => (6, to),
            Operation::Recv { from } => (7, from),
        };
        let dtype = Dtype::ALL.iter().position(|dtype| dtype.name() == self.dtype);
        let mut bytes = [0; SIGNATURE_BYTES];
        bytes[0] = kind;
        // A rank is below the size of a group, which fits 32 bits, see `Rendezvous`.
        let detail = u32::try_from(detail).unwrap_or(u32::MAX);
        bytes[1..5].copy_from_slice(&detail.to_le_bytes());
        let dtype = dtype.expect("`Element` is sealed, and these are its types");
        let dtype = u16::try_from(dtype).unwrap_or(u16::MAX);
        bytes[5..7].copy_from_slice(&dtype.to_le_bytes());
        bytes[7..].copy_from_slice(&(self.count as u64).to_le_bytes());
        bytes
    }

    /// `None` for bytes that are not a signature.
    pub(crate) fn from_bytes(bytes: &[u8; SIGNATURE_BYTES]) -> Option<Self> {
        let [kind, d0, d1, d2, d3, t0, t1, count @ ..] = *bytes;
        let detail = usize::try_from(u32::from_le_bytes([d0, d1, d2, d3])).ok()?;
        let op = || {
            [ReduceOp::Sum, ReduceOp::Product, ReduceOp::Min, ReduceOp::Max, ReduceOp::Average]
                .get(detail)
                .copied()
        };
        let operation = match kind {
            0 => Operation::AllReduce(op()?),
            1 => Operation::AllGather,
            2 => Operation::ReduceScatter(op()?),
            3 => Operation::Broadcast { root: detail },
            4 => Operation::AllToAll,
            5 => Operation::Barrier,
            6 => Operation::Send { to: detail },
            7 => Operation::Recv { from: detail },
            _ => return None,
        };
        let dtype = Dtype::ALL.get(usize::from(u16::from_le_bytes([t0, t1])))?.name();
        Some(Self { operation, dtype, count: usize::try_from(u64::from_le_bytes(count)).ok()? })
    }

    /// The call of the other rank that this one needs.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let paired = matches!(
            (self.operation, other.operation),
            (Operation::Send { .. }, Operation::Recv { .. })
                | (Operation::Recv { .. }, Operation::Send { .. })
        );
        (paired || self.operation == other.operation)
            && (self.dtype, self.count) == (other.dtype, other.count)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, dtype, count } = self;
        f.write_str(operation.name())?;
        match operation {
            Operation::Barrier => return Ok(()),
            Operation::AllReduce(op) | Operation::ReduceScatter(op) => {
                write!(f, " ({})", op.name())
            }
            Operation::Broadcast { root } => write!(f, " (from rank {root})"),
            Operation::Send { to } => write!(f, " (to rank {to})"),
            Operation::Recv { from } => write!(f, " (from rank {from})"),
            Operation::AllGather | Operation::AllToAll => Ok(()),
        }?;
        let each = match operation {
            Operation::AllGather | Operation::ReduceScatter(_) | Operation::AllToAll => " a rank",
            Operation::AllReduce(_)
            | Operation::Broadcast { .. }
            | Operation::Barrier
            | Operation::Send { .. }
            | Operation::Recv { .. } => "",
        };
        write!(f, " of {count} {dtype}{each}")
    }
}
