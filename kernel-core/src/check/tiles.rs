//! Which tile of an allocation a window is.

use la_arena::ArenaMap;

use crate::ir::{Kernel, Op, SharedType, Value, WindowOp};

/// Which of the tiles of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::check) enum Tile {
    /// The only one.
    Only,
    /// One that is known at compile time.
    Known(i128),
    /// The one of this number.
    Of(Value),
    /// A part of the only one.
    Part,
    /// One of them.
    Some,
}

impl Tile {
    /// Whether two are the same tile; none if that is not known.
    pub(in crate::check) fn same(self, other: Tile) -> Option<bool> {
        match (self, other) {
            (Tile::Some, _) | (_, Tile::Some) | (Tile::Part, Tile::Part) => None,
            (Tile::Only, Tile::Part) | (Tile::Part, Tile::Only) => Some(true),
            (Tile::Known(one), Tile::Known(other)) => Some(one == other),
            (one, other) => (one == other).then_some(true),
        }
    }

    /// The same in a later iteration, where values stand for something else.
    pub(in crate::check) fn later(self) -> Tile {
        match self {
            Tile::Of(_) => Tile::Some,
            Tile::Only | Tile::Known(_) | Tile::Part | Tile::Some => self,
        }
    }
}

/// Which tile of its allocation each window of shared memory is.
pub(super) fn shared(kernel: &Kernel) -> ArenaMap<Value, Tile> {
    let constants = kernel.body.constants();
    let mut tiles = ArenaMap::default();
    kernel.body.each_op(&mut |op, args, result, _| {
        let Op::Window(op) = op else { return };
        let of = |tiles: &ArenaMap<Value, Tile>| tiles.get(args[0]).copied();
        let part = |whole: Tile| match whole {
            Tile::Only | Tile::Part => Tile::Part,
            Tile::Known(_) | Tile::Of(_) | Tile::Some => Tile::Some,
        };
        let plain = |window: Value| kernel.ty(window).shared().is_some_and(SharedType::is_plain);
        let tile = match op {
            WindowOp::Alloc(_) => Some(Tile::Only),
            WindowOp::Index if plain(args[0]) && of(&tiles) == Some(Tile::Only) => {
                Some(constants.get(args[1]).map_or(Tile::Of(args[1]), |&at| Tile::Known(at)))
            }
            WindowOp::Index | WindowOp::Part => of(&tiles).map(part),
            WindowOp::Transpose | WindowOp::Reshape | WindowOp::Retype => of(&tiles),
            WindowOp::Remote => None,
        };
        if let (Some(tile), Some(result)) = (tile, result) {
            tiles.insert(result, tile);
        }
    });
    tiles
}
