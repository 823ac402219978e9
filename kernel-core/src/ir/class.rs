//! Kinds of operations, for phases that treat whole kinds alike.

use super::{
    BarrierOp, ClusterOp, CopyOp, ElementwiseOp, MemoryOp, Op, ProductOp, SourceOp, SyncOp,
    TensorMemoryOp, TileOp,
};

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
            Op::Source(
                SourceOp::Const(_)
                | SourceOp::ParamDim(..)
                | SourceOp::ParamStride(..)
                | SourceOp::ParamScalar(_)
                | SourceOp::BlockId(_)
                | SourceOp::NumBlocks(_),
            )
            | Op::Sync(SyncOp::Cluster(
                ClusterOp::Rank | ClusterOp::BlockId(_) | ClusterOp::Id(_),
            )) => Class::Scalar,
            Op::Source(SourceOp::ParamPtr(_)) => Class::Address,
            Op::Source(SourceOp::Arange(_)) | Op::Tile(TileOp::Splat) => Class::Fill,
            Op::Tile(
                TileOp::Broadcast
                | TileOp::Expand(_)
                | TileOp::Reshape
                | TileOp::Permute(_)
                | TileOp::Join
                | TileOp::Split(_),
            ) => Class::Shape,
            Op::Elementwise(
                ElementwiseOp::Unary(_)
                | ElementwiseOp::Binary(_)
                | ElementwiseOp::Compare(_)
                | ElementwiseOp::Select
                | ElementwiseOp::Fma
                | ElementwiseOp::Cast,
            ) => Class::Elementwise,
            Op::Tile(TileOp::ToLayout(_) | TileOp::AssertLayout(_)) => Class::Layout,
            Op::Product(ProductOp::Dot { .. }) => Class::Product,
            Op::Memory(
                MemoryOp::SharedIndex | MemoryOp::SharedTranspose | MemoryOp::SharedRemote,
            )
            | Op::TensorMemory(
                TensorMemoryOp::Alloc(_)
                | TensorMemoryOp::Index
                | TensorMemoryOp::Tile(_)
                | TensorMemoryOp::View(_),
            )
            | Op::Sync(SyncOp::Barrier(
                BarrierOp::Alloc(_) | BarrierOp::Index | BarrierOp::Remote,
            )) => Class::Window,
            Op::Memory(
                MemoryOp::LoadTensor(_)
                | MemoryOp::StoreTensor(_)
                | MemoryOp::LoadPtr { .. }
                | MemoryOp::StorePtr { .. }
                | MemoryOp::Atomic(_),
            ) => Class::Global,
            Op::Memory(MemoryOp::SharedAlloc(_) | MemoryOp::LoadShared | MemoryOp::StoreShared) => {
                Class::Shared
            }
            Op::Copy(
                CopyOp::Async(_)
                | CopyOp::Commit
                | CopyOp::Wait(_)
                | CopyOp::WaitAll
                | CopyOp::Staged(_),
            )
            | Op::Sync(
                SyncOp::Block
                | SyncOp::Barrier(
                    BarrierOp::Expect | BarrierOp::Arrive | BarrierOp::Wait | BarrierOp::Test,
                ),
            )
            | Op::Copy(CopyOp::Tma(_) | CopyOp::Bulk(_) | CopyOp::StoreAsync)
            | Op::Sync(SyncOp::Named(..))
            | Op::Copy(CopyOp::BulkWait { .. })
            | Op::Sync(SyncOp::FenceAsync)
            | Op::Product(ProductOp::Wgmma | ProductOp::WgmmaWait(_))
            | Op::TensorMemory(TensorMemoryOp::Load | TensorMemoryOp::Store)
            | Op::Product(ProductOp::Tcgen05(_))
            | Op::Sync(
                SyncOp::Cluster(
                    ClusterOp::Sync
                    | ClusterOp::Arrive
                    | ClusterOp::Wait
                    | ClusterOp::TryCancel
                    | ClusterOp::IsCanceled
                    | ClusterOp::CanceledBlockId(_),
                )
                | SyncOp::Grid(_),
            ) => Class::Sync,
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
