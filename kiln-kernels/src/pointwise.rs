//! Kernels that compute each element from the elements at its place.

use kiln::prelude::*;

mod activation;
mod rotary;
mod tile;

pub use activation::{
    Activation, activate, activate_backward, gate, gate_backward, gate_backward_packed,
};
pub use rotary::{Direction, Pairs, Rotation, rotate, rotate_in_place};
use tile::{corner, tile_of};

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = rotary::rotary::TARGETS;

/// [`Error::Shape`] unless a tensor has the required shape.
fn require<const R: usize>(
    operation: &'static str,
    required: [usize; R],
    actual: [usize; R],
) -> Result<()> {
    if required == actual {
        return Ok(());
    }
    let (required, actual) = (required.to_vec(), actual.to_vec());
    Err(Error::Shape { operation, required, actual })
}
