//! Which tile of an allocation a window is.

use la_arena::ArenaMap;

use crate::ir::{Kernel, Op, Value, WindowOp};

/// Which of the tiles of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::check) enum Tile {
    /// The only one.
    Only,
    /// One that is known at compile time.
    Known(i128),
    /// The one of this number.
    Of(Value),
    /// One of them.
    Some,
}

impl Tile {
    /// Whether two are the same tile; none if that is not known.
    pub(in crate::check) fn same(self, other: Tile) -> Option<bool> {
        match (self, other) {
            (Tile::Some, _) | (_, Tile::Some) => None,
            (Tile::Known(one), Tile::Known(other)) => Some(one == other),
            (one, other) => (one == other).then_some(true),
        }
    }

    /// The same in a later iteration, where values stand for something else.
    pub(in crate::check) fn later(self) -> Tile {
        match self {
            Tile::Of(_) => Tile::Some,
            Tile::Only | Tile::Known(_) | Tile::Some => self,
        }
    }
}

/// Which tile of its allocation each window of shared memory is.
pub(super) fn shared(kernel: &Kernel) -> ArenaMap<Value, Tile> {
    let constants = kernel.body.constants();
    let mut tiles = ArenaMap::default();
    kernel.body.each_op(&mut |op, args, result, _| {
        let tile = if let Op::Window(WindowOp::Alloc(_)) = op {
            Some(Tile::Only)
        } else if let Op::Window(WindowOp::Index) = op {
            Some(constants.get(args[1]).map_or(Tile::Of(args[1]), |&at| Tile::Known(at)))
        } else if let Op::Window(WindowOp::Transpose) = op {
            tiles.get(args[0]).copied()
        } else {
            None
        };
        if let (Some(tile), Some(result)) = (tile, result) {
            tiles.insert(result, tile);
        }
    });
    tiles
}
