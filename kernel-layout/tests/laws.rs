//! The laws of the algebra, on all layouts of a few bits and on random larger ones.
//!
//! Expected values come from enumerating places one by one, never from the elimination that the crate uses.

#[path = "laws/algebra.rs"]
mod algebra;
#[path = "laws/samples.rs"]
mod samples;
#[path = "laws/tiles.rs"]
mod tiles;
#[path = "laws/uses.rs"]
mod uses;
