//! y = alpha · x + y on tensors that are not contiguous, run on a GPU or the emulator and compared with the same sum on the
//! host.

use std::process::ExitCode;

use kiln::prelude::*;

/// One block computes a tile of `y`. Extents and strides are those of the arguments.
#[kernel(target = sm_80, warps = 2, grid = [cdiv(y.dim(0), R), cdiv(y.dim(1), C)], instances((R, C) = [(16, 32), (4, 8)]))]
pub fn saxpy<const R: i32, const C: i32>(alpha: f32, x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let at = [block_id(0) * R, block_id(1) * C];
    let sum = alpha * x.tile(at, [R, C]).load() + y.tile(at, [R, C]).load();
    y.tile(at, [R, C]).store(sum);
}

/// Rows and columns of the result: neither is a multiple of a tile's.
const SHAPE: [usize; 2] = [37, 50];
/// Columns of the tensor that `y` is a part of.
const PITCH: usize = 64;
/// The first column of that part.
const FIRST: usize = 3;
const ALPHA: f32 = -2.5;

fn main() -> Result<ExitCode> {
    let device = Device::best_for(saxpy::TARGETS)?;
    let stream = device.stream()?;
    let [rows, columns] = SHAPE;
    // Small multiples of a quarter, so that no sum is rounded.
    let x_host: Vec<f32> =
        (0u16..).map(|i| f32::from(i % 101) * 0.25).take(columns * rows).collect();
    let y_host: Vec<f32> = (0u16..).map(|i| f32::from(i % 89) - 40.0).take(rows * PITCH).collect();
    // In memory, x is the transposed matrix: neighbours on a row are `rows` elements apart.
    let x = stream.upload(&x_host, [columns, rows])?;

    let mut wrong = 0;
    for (name, make) in
        [("16x32", saxpy::<16, 32> as fn(saxpy::Args<'_>) -> Launch<'_>), ("4x8", saxpy::<4, 8>)]
    {
        let mut whole = stream.upload(&y_host, [rows, PITCH])?;
        let mut y = whole.slice_mut(1, FIRST..FIRST + columns)?;
        let args = saxpy::Args { alpha: ALPHA, x: &x.transpose(), y: &mut y };
        make(args).launch(&stream)?;
        let actual = whole.to_vec(&stream)?;
        for row in 0..rows {
            for column in 0..PITCH {
                let before = y_host[row * PITCH + column];
                let inside = (FIRST..FIRST + columns).contains(&column);
                // What lies beside the part has to stay as it was.
                let required = if inside {
                    ALPHA * x_host[(column - FIRST) * rows + row] + before
                } else {
                    before
                };
                let actual = actual[row * PITCH + column];
                if actual != required {
                    wrong += 1;
                    println!(
                        "tile {name}, element ({row}, {column}): {actual} instead of {required}"
                    );
                }
            }
        }
        println!("saxpy of {rows} x {columns} elements in tiles of {name} on {device}: done");
    }
    if wrong > 0 {
        println!("{wrong} elements are wrong");
        return Ok(ExitCode::FAILURE);
    }
    println!("all elements are right");
    Ok(ExitCode::SUCCESS)
}
