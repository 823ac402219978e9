//! x[rows, col..col + Y] = src: rows of a tensor written in any order, through TMA on Blackwell.
//!
//! `cargo run --release --example scatter [-- X Y]`

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "an example prints, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/rows_of.rs"]
mod rows_of;
#[path = "support/tiles.rs"]
mod tiles;
use rows_of::{EXTENTS, spread};
use tiles::{asked, bits, numbers};

/// The compiler loads the rows in the layout that a scatter takes them from.
#[kernel(target = sm_100f, warps = 4, grid = [1], instances(T = [bf16, f32], X = [8, 128], Y = [16, 128]))]
pub fn scatter<T: Float, const X: i32, const Y: i32>(
    #[block(1, Y)] x: TensorMapMut<T, 2>,
    rows: Tensor<i32, 1>,
    col: i32,
    src: Tensor<T, 2>,
) {
    let rows = rows.tile([0], [X]).load();
    let staged = shared::<T>([X, Y]);
    staged.store(src.tile([0, 0], [X, Y]).load());
    fence_async();
    tma::scatter(x, rows, col, staged);
    tma::store_wait(0);
}

/// The launch of an instance.
type Make<T> = for<'a> fn(
    &'a mut DeviceTensor<T, 2>,
    &'a DeviceTensor<i32, 1>,
    i32,
    &'a DeviceTensor<T, 2>,
) -> Launch<'a>;

/// The instances for an element type.
macro_rules! instances {
    ($ty:ty: $($x:literal $y:literal),*) => {
        [$(([$x, $y], |x, rows, col, src| {
            scatter::<$ty, $x, $y>(scatter::Args { x, rows, col, src })
        })),*]
    };
}

fn main() -> Result<()> {
    let device = Device::best_for(scatter::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let mut cases = check::<bf16>(&stream, instances!(bf16: 8 16, 8 128, 128 16, 128 128))?;
    cases += check::<f32>(&stream, instances!(f32: 8 16, 8 128, 128 16, 128 128))?;
    println!("{cases} scatters, every bit of the tensor compared");
    Ok(())
}

/// Scatters with every instance to columns in and at the end of the tensor, and rows in and after it.
fn check<T: Element + Float>(stream: &Stream, instances: [([i32; 2], Make<T>); 4]) -> Result<u32> {
    let host = numbers::<T>(EXTENTS[0] * EXTENTS[1], 0);
    let [height, width] = EXTENTS.map(|extent| i32::try_from(extent).expect("small"));
    let mut cases = 0;
    for ([count, columns], make) in instances {
        if !asked(count, columns) {
            continue;
        }
        let shape = [count as usize, columns as usize];
        let rows = spread(shape[0], [0, 2 * height], 1);
        let rows_there = stream.upload(&rows, [shape[0]])?;
        let source = numbers::<T>(shape[0] * shape[1], 100);
        let src = stream.upload(&source, shape)?;
        for col in [0, 48, 1000] {
            let mut x = stream.upload(&host, EXTENTS)?;
            make(&mut x, &rows_there, col, &src).launch(stream)?;
            // What lies behind the tensor is dropped, and nothing else is touched.
            let mut required = host.clone();
            for (&row, values) in rows.iter().zip(source.chunks_exact(shape[1])) {
                for (column, &value) in (col..width).zip(values) {
                    if row < height {
                        required[(row * width + column) as usize] = value;
                    }
                }
            }
            assert!(
                bits(&x.to_vec(stream)?) == bits(&required),
                "{count} rows of {columns} {} at column {col} are wrong",
                T::DTYPE
            );
            cases += 1;
        }
        println!("{} {count} x {columns}", T::DTYPE);
    }
    Ok(cases)
}
