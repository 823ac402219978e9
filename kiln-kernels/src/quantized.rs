//! Products of quantised numbers.

use kiln::prelude::*;

use crate::matmul::Matmul;

mod bytes;
mod int4;
mod shares;

pub use bytes::{Float8Scales, Scaled};
pub use int4::{Int4Weights, ZeroPoint};

/// Multiplies quantised numbers, and keeps scratch memory from one product to the next.
///
/// A product waits for the one before it, because they share the scratch memory; products on two streams at once take a `QuantizedMatmul`
/// each. A product of the same extents has to have run before one is recorded in a [`capture`](kiln::Device::capture), which cannot
/// allocate.
#[derive(Debug)]
pub struct QuantizedMatmul {
    scratch: shares::Scratch,
    /// Products of numbers, on GPUs that have `wgmma`.
    dense: Option<Matmul>,
    /// Weights as numbers.
    numbers: DeviceTensor<bf16, 1>,
    multiprocessors: usize,
}

impl QuantizedMatmul {
    /// What the kernels are compiled for: GPUs from Ampere on, and Hopper.
    pub const TARGETS: &[Target] = &[Target::Sm80, Target::Sm89, Target::Sm90a];

    /// Products on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<QuantizedMatmul> {
        let properties = stream.device().properties();
        QuantizedMatmul::on(stream, properties.multiprocessors as usize)
    }

    /// Products for a part of the device's multiprocessors: the others have other work. Tiles, and shares of `k`, are chosen by their number.
    ///
    /// # Errors
    /// Those of the device.
    pub fn on(stream: &Stream, multiprocessors: usize) -> Result<QuantizedMatmul> {
        let device = stream.device();
        Ok(QuantizedMatmul {
            scratch: shares::Scratch::new(stream, 2 * multiprocessors.max(1))?,
            dense: if device.runs(Target::Sm90a) { Some(Matmul::new(stream)?) } else { None },
            numbers: stream.empty([0])?,
            multiprocessors,
        })
    }
}

/// Whether rows are contiguous and begin at multiples of 16 bytes, as TMA asks for.
fn begin_at_pieces<T>(x: &DeviceTensor<T, 2>) -> bool {
    let [rows, columns] = x.strides();
    columns == 1 && (rows * size_of::<T>()).is_multiple_of(16) && x.address().is_multiple_of(16)
}

/// A number as kernels count.
fn count(number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| Error::Shape {
        operation: "an extent, at most",
        required: vec![i32::MAX.unsigned_abs() as usize],
        actual: vec![number],
    })
}
