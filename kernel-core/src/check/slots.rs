//! Which barrier of an allocation a value is.

use la_arena::ArenaMap;

use super::tiles::Tile;
use crate::ir::{BarrierOp, Barriers, Kernel, Op, StmtKind, SyncOp, Value};

/// One of an allocation of barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) root: Barriers,
    pub(super) tile: Tile,
}

impl Slot {
    /// Whether they may be one barrier.
    pub(super) fn meets(self, other: Slot) -> bool {
        self.root == other.root && self.tile.same(other.tile) != Some(false)
    }
}

/// The barriers of a kernel, by the values that stand for them, and its constants.
pub(super) struct Slots<'k> {
    kernel: &'k Kernel,
    of: ArenaMap<Value, Slot>,
    constants: ArenaMap<Value, i128>,
    /// The ring and the number of a barrier that is one of several.
    pub(super) of_ring: ArenaMap<Value, [Value; 2]>,
}

/// The allocation of a barrier.
pub(super) fn root(kernel: &Kernel, barrier: Value) -> Option<Barriers> {
    Some(kernel.ty(barrier).barrier()?.root)
}

impl<'k> Slots<'k> {
    /// Those of a kernel.
    pub(super) fn of(kernel: &'k Kernel) -> Self {
        let constants = kernel.body.constants();
        let (mut of, mut of_ring) = (ArenaMap::<Value, Slot>::new(), ArenaMap::new());
        kernel.body.each_op(&mut |op, args, result, _| {
            let (Op::Sync(SyncOp::Barrier(op)), Some(result)) = (op, result) else { return };
            let slot = match op {
                BarrierOp::Alloc(root) => Some(Slot { root: *root, tile: Tile::Only }),
                BarrierOp::Index => {
                    of_ring.insert(result, [args[0], args[1]]);
                    let at = constants.get(args[1]).copied();
                    let tile = at.map_or(Tile::Of(args[1]), Tile::Known);
                    root(kernel, args[0]).map(|root| Slot { root, tile })
                }
                BarrierOp::Remote => of.get(args[0]).copied(),
                BarrierOp::Expect | BarrierOp::Arrive(_) | BarrierOp::Wait | BarrierOp::Test => {
                    None
                }
            };
            if let Some(slot) = slot {
                of.insert(result, slot);
            }
        });
        Slots { kernel, of, constants, of_ring }
    }

    /// The barrier that a value is; of one that a loop hands on, or a branch chooses, its allocation.
    pub(super) fn slot(&self, barrier: Value) -> Option<Slot> {
        let any = |root: Barriers| {
            let one = self.kernel.barriers[root].ring.is_none();
            Slot { root, tile: if one { Tile::Only } else { Tile::Some } }
        };
        let known = self.of.get(barrier).copied();
        known.or_else(|| root(self.kernel, barrier).map(any))
    }

    /// The same, if it is known which one of its ring it is: none for one of another block.
    pub(super) fn here(&self, barrier: Value) -> Option<Slot> {
        let remote = self.kernel.ty(barrier).barrier()?.remote;
        self.of.get(barrier).copied().filter(|_| !remote)
    }

    /// A constant.
    pub(super) fn constant(&self, value: Value) -> Option<i128> {
        self.constants.get(value).copied()
    }
    /// The first value of a counted loop, its bound and its step, if they are constants.
    pub(super) fn bounds(&self, looped: &StmtKind) -> Option<[i128; 3]> {
        let StmtKind::For { from, to, step, .. } = looped else { return None };
        Some([self.constant(*from)?, self.constant(*to)?, self.constant(*step)?])
    }

    /// Whether a loop runs its body at least once; none if that is not known.
    pub(super) fn runs(&self, looped: &StmtKind) -> Option<bool> {
        if !matches!(looped, StmtKind::For { .. }) {
            return Some(true);
        }
        let [from, to, step] = self.bounds(looped)?;
        Some(if step < 0 { from > to } else { from < to })
    }
}
