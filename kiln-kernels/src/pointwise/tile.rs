//! The tile of a block: which one it is, and how large.

use kiln::prelude::*;

/// Rows and columns of a tile: a part of one row, unless tiles of several rows are clearly fewer, because rows are short or end soon after
/// a tile begins.
pub(super) fn tile_of([rows, columns]: [usize; 2]) -> [i32; 2] {
    let of_one = rows.saturating_mul(columns.div_ceil(2048));
    let of_several = rows.div_ceil(16).saturating_mul(columns.div_ceil(128));
    if of_one / 9 <= of_several / 8 { [1, 2048] } else { [16, 128] }
}

/// The corner of this block's tile of `R` rows and `C` columns: neighbouring blocks have neighbouring tiles of the same rows.
///
/// All tiles are counted by one axis of the grid, because the others have at most 65535 blocks.
#[device]
pub(super) fn corner<const R: i32, const C: i32>(columns: i32) -> [i32; 2] {
    let across = cdiv(columns, C);
    [block_id(0) / across * R, block_id(0) % across * C]
}
