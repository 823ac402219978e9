//! Tile layouts recorded from another compiler, or worked out from its rules with a small independent program.
//!
//! Tests are named after the rule and the number of its vectors. Layouts are compared as texts, in the notation.

use kernel_layout::tile::{ComposeLayout, TileAxis, TileLayout};

#[path = "tile_vectors/algebra.rs"]
mod algebra;
#[path = "tile_vectors/notation.rs"]
mod notation;
#[path = "tile_vectors/shared_memory.rs"]
mod shared_memory;
#[path = "tile_vectors/tensor_memory.rs"]
mod tensor_memory;

fn tile(text: &str) -> TileLayout {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn compose(text: &str) -> ComposeLayout {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The amount along an axis, 0 for one that is not there.
fn along(places: &[(TileAxis, i64)], axis: TileAxis) -> i64 {
    places.iter().find(|(other, _)| *other == axis).map_or(0, |&(_, at)| at)
}

fn text(layout: &TileLayout) -> String {
    layout.to_string()
}
