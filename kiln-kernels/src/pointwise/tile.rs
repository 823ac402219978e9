//! The tile of a block: which one it is, and how large.

use kiln::prelude::*;

/// Rows and columns of a tile: of wide rows a part of one, of others several.
pub(super) fn tile_of([_, columns]: [usize; 2]) -> [i32; 2] {
    if columns > 512 { [1, 2048] } else { [16, 128] }
}

/// The corner of this block's tile of `R` rows and `C` columns: neighbouring blocks have neighbouring tiles of the same rows.
///
/// All tiles are counted by one axis of the grid, because the others have at most 65535 blocks.
#[device]
pub(super) fn corner<const R: i32, const C: i32>(columns: i32) -> [i32; 2] {
    let across = cdiv(columns, C);
    [block_id(0) / across * R, block_id(0) % across * C]
}
