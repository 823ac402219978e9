//! Kinds of operations, for phases that treat whole kinds alike.

use super::{BarrierOp, ClusterOp, Op, TensorMemoryOp};

/// What kind of thing an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Gives a scalar that is a constant or comes from the launch.
    Scalar,
    /// Gives the address that a parameter holds.
    Address,
    /// Makes a tile of scalars or of positions.
    Fill,
    /// Says which element stands where, without changing any.
    Shape,
    /// Computes each element from those at its place.
    Elementwise,
    /// Asks for a layout.
    Layout,
    /// Multiplies matrices.
    Product,
    /// Gives a window of shared memory, without an access to it.
    Window,
    /// Reads, writes or changes global memory.
    Global,
    /// Makes, reads or writes shared memory.
    Shared,
    /// Starts copies, waits for them or for other threads.
    Sync,
    /// May stop the kernel.
    Trap,
}

impl Op {
    /// The kind of the operation: the one place that a new operation has to be entered for those phases.
    pub fn class(&self) -> Class {
        match self {
            Op::Const(_)
            | Op::ParamDim(..)
            | Op::ParamStride(..)
            | Op::ParamScalar(_)
            | Op::BlockId(_)
            | Op::NumBlocks(_)
            | Op::Cluster(ClusterOp::Rank | ClusterOp::BlockId(_) | ClusterOp::Id(_)) => {
                Class::Scalar
            }
            Op::ParamPtr(_) => Class::Address,
            Op::Arange(_) | Op::Splat => Class::Fill,
            Op::Broadcast
            | Op::Expand(_)
            | Op::Reshape
            | Op::Permute(_)
            | Op::Join
            | Op::Split(_) => Class::Shape,
            Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Select | Op::Fma | Op::Cast => {
                Class::Elementwise
            }
            Op::ToLayout(_) | Op::AssertLayout(_) => Class::Layout,
            Op::Dot { .. } => Class::Product,
            Op::SharedIndex
            | Op::SharedTranspose
            | Op::SharedRemote
            | Op::TensorMemory(
                TensorMemoryOp::Alloc(_)
                | TensorMemoryOp::Index
                | TensorMemoryOp::Tile(_)
                | TensorMemoryOp::View(_),
            )
            | Op::Barrier(BarrierOp::Alloc(_) | BarrierOp::Index | BarrierOp::Remote) => {
                Class::Window
            }
            Op::LoadTensor(_)
            | Op::StoreTensor(_)
            | Op::LoadPtr { .. }
            | Op::StorePtr { .. }
            | Op::Atomic(_) => Class::Global,
            Op::SharedAlloc(_) | Op::LoadShared | Op::StoreShared => Class::Shared,
            Op::CopyAsync(_)
            | Op::CopyCommit
            | Op::CopyWait(_)
            | Op::CopyWaitAll
            | Op::Staged(_)
            | Op::Sync
            | Op::Barrier(
                BarrierOp::Expect | BarrierOp::Arrive | BarrierOp::Wait | BarrierOp::Test,
            )
            | Op::Tma(_)
            | Op::Bulk(_)
            | Op::StoreAsync
            | Op::Named(..)
            | Op::TmaWait { .. }
            | Op::FenceAsync
            | Op::Wgmma
            | Op::WgmmaWait(_)
            | Op::TensorMemory(TensorMemoryOp::Load | TensorMemoryOp::Store)
            | Op::Tcgen05(_)
            | Op::Cluster(
                ClusterOp::Sync
                | ClusterOp::Arrive
                | ClusterOp::Wait
                | ClusterOp::TryCancel
                | ClusterOp::IsCanceled
                | ClusterOp::CanceledBlockId(_),
            )
            | Op::Grid(_) => Class::Sync,
            Op::Assert(_) => Class::Trap,
        }
    }

    /// Whether the operation only computes: no memory, no synchronisation, no trap.
    pub fn is_pure(&self) -> bool {
        match self.class() {
            Class::Scalar
            | Class::Address
            | Class::Fill
            | Class::Shape
            | Class::Elementwise
            | Class::Layout
            | Class::Product
            | Class::Window => true,
            Class::Global | Class::Shared | Class::Sync | Class::Trap => false,
        }
    }
}
