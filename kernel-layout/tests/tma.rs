//! Plans of TMA copies: known answers, copies that are declined, and plans carried out element by element.

#[path = "tma/carried_out.rs"]
mod carried_out;
#[path = "tma/declined.rs"]
mod declined;
#[path = "tma/known_plans.rs"]
mod known_plans;
#[path = "tma/unknown_numbers.rs"]
mod unknown_numbers;

use kernel_layout::tile::{SwizzleMode, TileLayout, mma_shared};
use kernel_layout::tma::{Cut, SharedTile, Start, Tensor, TileCopy, Widening};

/// A tile that the tensor core reads, or a window of one.
fn mma(bits: u32, mode: SwizzleMode, shape: &[u64], region: &[(u64, u64)]) -> SharedTile {
    let tile = mma_shared(bits, mode, shape).expect("whole atoms");
    let window = if region.is_empty() { Ok(tile) } else { tile.slice(shape, region) };
    SharedTile::swizzled(&window.expect("a window"), bits / 8).expect("a swizzle of the hardware")
}

fn rows(shape: &[u64]) -> SharedTile {
    SharedTile::plain(TileLayout::row_major(shape).expect("a small tile"))
}

fn strided(text: &str) -> SharedTile {
    SharedTile::plain(text.parse().expect("a layout"))
}

/// A copy of a window whose beginning and extents are known.
fn copy(tensor: Tensor, window: &[(i64, u64)], shared: SharedTile) -> TileCopy {
    TileCopy {
        tensor,
        starts: window.iter().map(|&(start, _)| Start::Known(start)).collect(),
        extents: window.iter().map(|&(_, extent)| extent).collect(),
        shared,
        cut: Cut::Whole,
        widening: Widening::Allowed,
    }
}
