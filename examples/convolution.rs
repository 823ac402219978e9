//! A convolution forward on Hopper: images `[n, h, w, c]`, weights `[k, r, s, c]`, and results `[n, p, q, k]`.
//!
//! `cargo run --release --example convolution`
//!
//! It is a product whose left operand is never in memory: the tensor map of the images goes over the places of the filter.

#![expect(
    clippy::print_stdout,
    clippy::many_single_char_names,
    reason = "an example prints, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

/// Each block computes 128 places of the filter by 64 channels of the results, in steps of one tap and 64 channels of the images.
#[kernel(target = sm_90a, warps = 4, grid = [cdiv(y.dim(0), 128), cdiv(y.dim(1), 64)],
         instances((R, S, STRIDE, PADDING, DILATION) = [
             (3, 3, 1, 1, 1), (3, 3, 2, 1, 1), (3, 3, 1, 2, 2), (1, 1, 2, 0, 1), (5, 3, 1, 2, 1),
         ]))]
pub fn convolution<
    const R: i32,
    const S: i32,
    const STRIDE: i32,
    const PADDING: i32,
    const DILATION: i32,
>(
    #[block(128, 1, 1, 64, filter = [R, S], stride = [STRIDE, STRIDE], padding = [PADDING, PADDING],
            dilation = [DILATION, DILATION])]
    x: TensorMap<bf16, 4>,
    #[block(64, 1, 1, 64)] weights: TensorMap<bf16, 4>,
    y: TensorMut<f32, 2>,
) {
    let (place, k) = (block_id(0) * 128, block_id(1) * 64);
    let (a, b) = (shared::<bf16>([128, 64]), shared::<bf16>([64, 64]));
    let mut acc = zeros::<f32>([128, 64]);
    for step in pipeline(range(0, R * S * cdiv(x.dim(3), 64), 1), 4) {
        let (r, s, c) = (step / S % R, step % S, step / (R * S) * 64);
        copy_async(x.at([place, r, s, c]), a);
        copy_async(weights.at([k, r, s, c]), b);
        acc = dot(a, b.t(), acc);
    }
    y.tile([place, k], [128, 64]).store(acc);
}

/// A filter, and how it moves.
#[derive(Clone, Copy, Debug)]
struct Filter {
    taps: [usize; 2],
    stride: usize,
    padding: usize,
    dilation: usize,
}

impl Filter {
    /// How many places it has along axis 0 or 1 of an image.
    fn places(self, axis: usize, extent: usize) -> usize {
        let reach = self.dilation * (self.taps[axis] - 1) + 1;
        (extent + 2 * self.padding - reach) / self.stride + 1
    }

    /// Which element of an axis is under a tap; none if it is outside of the image.
    fn under(self, place: usize, tap: usize, extent: usize) -> Option<usize> {
        let at = (place * self.stride + tap * self.dilation).checked_sub(self.padding)?;
        (at < extent).then_some(at)
    }
}

/// The convolution of images `[n, h, w, c]`, one sum after the other.
fn required(
    filter: Filter,
    (x, [n, h, w, c]): (&[bf16], [usize; 4]),
    (weights, k): (&[bf16], usize),
) -> Vec<f32> {
    let ([r, s], p, q) = (filter.taps, filter.places(0, h), filter.places(1, w));
    let mut y = Vec::new();
    for place in 0..n * p * q {
        let (image, row, column) = (place / (p * q), place / q % p, place % q);
        for channel in 0..k {
            let mut sum = 0.0;
            for tap in 0..r * s {
                let row = filter.under(row, tap / s, h);
                let (Some(row), Some(column)) = (row, filter.under(column, tap % s, w)) else {
                    continue;
                };
                let from = &x[((image * h + row) * w + column) * c..][..c];
                let by = &weights[(channel * r * s + tap) * c..][..c];
                let products = from.iter().zip(by).map(|(a, b)| a.to_f32() * b.to_f32());
                sum += products.sum::<f32>();
            }
            y.push(sum);
        }
    }
    y
}

/// The launch of an instance.
type Make = for<'a> fn(
    &'a DeviceTensor<bf16, 4>,
    &'a DeviceTensor<bf16, 4>,
    &'a mut DeviceTensor<f32, 2>,
) -> Launch<'a>;

/// The instances by their filters.
macro_rules! instances {
    ($($r:literal $s:literal $stride:literal $padding:literal $dilation:literal),*) => {
        [$((
            Filter { taps: [$r, $s], stride: $stride, padding: $padding, dilation: $dilation },
            |x, weights, y| convolution::<$r, $s, $stride, $padding, $dilation>(convolution::Args { x, weights, y }),
        )),*]
    };
}

fn main() -> Result<()> {
    let device = Device::best_for(convolution::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let cases: [(Filter, Make); 5] =
        instances!(3 3 1 1 1, 3 3 2 1 1, 3 3 1 2 2, 1 1 2 0 1, 5 3 1 2 1);
    // Channels and places that do not fill the last tiles.
    let sizes = if device.is_emulator() {
        [[2, 9, 7, 24, 16], [3, 6, 5, 72, 72]]
    } else {
        [[3, 57, 41, 72, 200], [8, 28, 28, 128, 256]]
    };
    for (filter, make) in cases {
        for [n, h, w, c, k] in sizes {
            let [r, s] = filter.taps;
            // Small integers, whose sums are exact in f32.
            let small = |len: usize, seed: usize| -> Vec<bf16> {
                let number = |i: usize| f32::from(i8::try_from(i % 7).expect("small") - 3);
                (0..len).map(|i| bf16::from_f32(number(i + i / 1021 + seed))).collect()
            };
            let (images, taps) = (small(n * h * w * c, 0), small(k * r * s * c, 5));
            let x = stream.upload(&images, [n, h, w, c])?;
            let weights = stream.upload(&taps, [k, r, s, c])?;
            let places = n * filter.places(0, h) * filter.places(1, w);
            let mut y = stream.full([places, k], f32::NAN)?;
            make(&x, &weights, &mut y).launch(&stream)?;
            let required = required(filter, (&images, [n, h, w, c]), (&taps, k));
            assert!(y.to_vec(&stream)? == required, "{filter:?} is wrong");
        }
        println!("{filter:?}: every sum is right");
    }
    Ok(())
}
