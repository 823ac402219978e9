//! Kernels that compute each element from the elements at its place.

use kiln::prelude::*;

mod activation;
mod adamw;
mod cast;
mod dropout;
mod quantize;
mod rotary;
mod tile;
mod transpose;

pub use activation::{
    Activation, activate, activate_backward, gate, gate_backward, gate_backward_packed,
};
pub use adamw::{AdamW, GradientOf, Parameter};
pub use cast::cast;
pub use dropout::{Dropout, dropout};
pub use quantize::{Quantized, Scaling, dequantize, quantize};
pub use rotary::{Direction, Pairs, Rotation, rotate, rotate_in_place};
use tile::{corner, tile_of};
pub use transpose::{Moved, transpose};

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = rotary::rotary::TARGETS;

/// What the kernels with numbers of the type [`e4m3`] are compiled for.
pub const FLOAT8_TARGETS: &[Target] = quantize::FLOAT8_TARGETS;

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
