//! Operations along the rows of a matrix: softmax, normalisation, cross-entropy, and their gradients.

use kiln::prelude::*;

mod cross_entropy;
mod norm;
mod softmax;

pub use cross_entropy::{
    Targets, cross_entropy, cross_entropy_backward, cross_entropy_backward_in_place,
};
pub use norm::{NormGradients, add_layer_norm, add_rms_norm, layer_norm, rms_norm};
pub use softmax::{log_softmax, log_softmax_backward, softmax, softmax_backward};

/// What the kernels are compiled for.
pub const TARGETS: &[Target] = &[Target::Sm80];

/// The widest rows: indices of columns and the steps from one tile to the next are `i32`.
const WIDEST: usize = 1 << 30;

/// A constant of an instance, which is positive.
fn size(constant: i32) -> usize {
    constant.unsigned_abs() as usize
}

/// Whether rows of a matrix fit tiles of `n` columns.
fn holds(n: i32, [_, columns]: [usize; 2]) -> bool {
    columns <= size(n)
}

fn is_empty<const R: usize>(shape: [usize; R]) -> bool {
    shape.contains(&0)
}

fn require_shape<const R: usize>(
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

fn require_narrow(operation: &'static str, [rows, columns]: [usize; 2]) -> Result<()> {
    require_shape(operation, [rows, columns.min(WIDEST)], [rows, columns])
}
