//! The operands of `tcgen05`.

use super::{Address, D, Members, Pred, W};

/// `tcgen05`, all forms.
#[derive(Clone, Debug)]
pub(crate) enum Tcgen05 {
    Alloc {
        group: Group,
        /// Where in shared memory the address goes.
        to: Address,
        columns: W,
    },
    Dealloc {
        group: Group,
        address: W,
        columns: W,
    },
    Relinquish {
        group: Group,
    },
    Load(TensorAccess),
    Store(TensorAccess),
    WaitLoads,
    WaitStores,
    /// `tcgen05.fence::before_thread_sync`
    FenceBefore,
    /// `tcgen05.fence::after_thread_sync`
    FenceAfter,
    Mma(TensorMma),
    Copy(TensorCopy),
    Shift {
        group: Group,
        address: Address,
    },
    Commit {
        barrier: Address,
        /// The blocks of the cluster whose mbarriers get an arrival, by rank.
        multicast: Option<W>,
    },
}

impl Tcgen05 {
    /// The lanes that it needs together.
    pub(crate) fn members(&self) -> Option<Members> {
        match self {
            Tcgen05::Alloc { .. }
            | Tcgen05::Dealloc { .. }
            | Tcgen05::Relinquish { .. }
            | Tcgen05::Load(_)
            | Tcgen05::Store(_)
            | Tcgen05::WaitLoads
            | Tcgen05::WaitStores => Some(Members::All),
            Tcgen05::FenceBefore
            | Tcgen05::FenceAfter
            | Tcgen05::Mma(_)
            | Tcgen05::Copy(_)
            | Tcgen05::Shift { .. }
            | Tcgen05::Commit { .. } => None,
        }
    }

    /// Whether it reads shared memory through the asynchronous proxy.
    pub(crate) fn reads_async(&self) -> bool {
        matches!(self, Tcgen05::Mma(_) | Tcgen05::Copy(_))
    }

    /// The registers that a load writes.
    pub(crate) fn loaded(&self) -> &[W] {
        if let Tcgen05::Load(access) = self { &access.registers } else { &[] }
    }
}

/// How many blocks act together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// `.cta_group::1`
    One,
    /// `.cta_group::2`: two blocks of a cluster whose ranks differ in the last bit.
    Pair,
}

/// `tcgen05.ld`, `tcgen05.st`.
#[derive(Clone, Debug)]
pub(crate) struct TensorAccess {
    pub(crate) address: Address,
    pub(crate) shape: AccessShape,
    pub(crate) registers: Box<[W]>,
    /// `.pack::16b`, `.unpack::16b`: a register is the low halves of two columns.
    pub(crate) halves: bool,
}

/// Which lanes and columns the registers of a warp stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessShape {
    /// `.32x32b`
    L32B32,
    /// `.16x64b`
    L16B64,
    /// `.16x128b`
    L16B128,
    /// `.16x256b`
    L16B256,
    /// `.16x32bx2`, with this many columns between its halves.
    L16B32x2 { split: u32 },
}

/// The element types that an instruction descriptor may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    F16,
    Tf32,
    F8f6f4,
    I8,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

impl Kind {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Kind::F16 => "kind::f16",
            Kind::Tf32 => "kind::tf32",
            Kind::F8f6f4 => "kind::f8f6f4",
            Kind::I8 => "kind::i8",
            Kind::Mxf8f6f4 => "kind::mxf8f6f4",
            Kind::Mxf4 => "kind::mxf4",
            Kind::Mxf4nvf4 => "kind::mxf4nvf4",
        }
    }
}

/// Where A comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorLeft {
    /// Shared memory.
    Shared(D),
    /// Tensor memory.
    Tensor(Address),
}

/// The scales of a block-scaled product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    pub(crate) a: Address,
    pub(crate) b: Address,
    /// Scales of a row in one instruction.
    pub(crate) count: u32,
}

/// `tcgen05.mma`.
#[derive(Clone, Debug)]
pub(crate) struct TensorMma {
    pub(crate) group: Group,
    pub(crate) kind: Kind,
    /// `.ws`: D may have 32 rows.
    pub(crate) stationary: bool,
    pub(crate) d: Address,
    pub(crate) a: TensorLeft,
    pub(crate) b: D,
    /// `.sp`: where the metadata of A is.
    pub(crate) metadata: Option<Address>,
    pub(crate) descriptor: W,
    pub(crate) scales: Option<Scales>,
    /// Bits of lanes of D that are not written; 32 a word, none without.
    pub(crate) disabled: Box<[W]>,
    /// Whether D is added to.
    pub(crate) accumulate: Pred,
    /// D is divided by two to this power before that.
    pub(crate) scale_input: u32,
    /// The zero-column mask of `.ws`.
    pub(crate) zero_columns: Option<D>,
    /// `.ashift`: rows of A come from one lane above.
    pub(crate) shifted: bool,
}

/// `tcgen05.cp`.
#[derive(Clone, Debug)]
pub(crate) struct TensorCopy {
    pub(crate) group: Group,
    pub(crate) to: Address,
    pub(crate) from: D,
    pub(crate) shape: CopyShape,
    pub(crate) expand: Option<Expand>,
}

/// How many rows and bits a copy has, and the lanes that get each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyShape {
    /// `.128x256b`
    R128B256,
    /// `.128x128b`
    R128B128,
    /// `.4x256b`
    R4B256,
    /// `.64x128b.warpx2::02_13`
    R64Warps0213,
    /// `.64x128b.warpx2::01_23`
    R64Warps0123,
    /// `.32x128b.warpx4`
    R32,
}

/// Sixteen narrow elements of sixteen bytes of shared memory become a byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expand {
    /// `.b8x16.b6x16_p32`: 12 bytes, and 4 that are not read.
    From6,
    /// `.b8x16.b4x16_p64`: 8 bytes, and 8 that are not read.
    From4,
}
