//! out = x[rows, col..col + Y]: rows of a tensor in any order, through TMA on Blackwell.
//!
//! `cargo run --release --example gather [-- X Y]`

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

/// The layout that a gather takes its rows from is pinned here, to show it: four neighbours in each thread, the same in all lanes
/// of a warp. Without `.to_layout(..)` the compiler chooses it, as in the example `scatter`.
#[kernel(target = sm_100f, warps = 4, grid = [1], instances(T = [bf16, f32], X = [8, 128], Y = [16, 128]))]
pub fn gather<T: Float, const X: i32, const Y: i32>(
    #[block(1, Y)] x: TensorMap<T, 2>,
    rows: Tensor<i32, 1>,
    col: i32,
    out: TensorMut<T, 2>,
) {
    let dealt = slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0]));
    let rows = rows.tile([0], [X]).load().to_layout(dealt);
    let tile = shared::<T>([X, Y]);
    let arrived = barrier(1);
    arrived.expect(X * x.block_bytes());
    tma::gather(x, rows, col, arrived, tile);
    arrived.wait(0);
    out.tile([0, 0], [X, Y]).store(tile.load());
}

/// The launch of an instance.
type Make<T> = for<'a> fn(
    &'a DeviceTensor<T, 2>,
    &'a DeviceTensor<i32, 1>,
    i32,
    &'a mut DeviceTensor<T, 2>,
) -> Launch<'a>;

/// The instances for an element type.
macro_rules! instances {
    ($ty:ty: $($x:literal $y:literal),*) => {
        [$(([$x, $y], |x, rows, col, out| {
            gather::<$ty, $x, $y>(gather::Args { x, rows, col, out })
        })),*]
    };
}

fn main() -> Result<()> {
    let device = Device::best_for(gather::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let mut cases = check::<bf16>(&stream, instances!(bf16: 8 16, 8 128, 128 16, 128 128))?;
    cases += check::<f32>(&stream, instances!(f32: 8 16, 8 128, 128 16, 128 128))?;
    println!("{cases} gathers, every bit compared");
    Ok(())
}

/// Gathers with every instance from columns before, in and at the end of the tensor, and rows before, in and after it.
fn check<T: Element + Float>(stream: &Stream, instances: [([i32; 2], Make<T>); 4]) -> Result<u32> {
    let host = numbers::<T>(EXTENTS[0] * EXTENTS[1], 0);
    let x = stream.upload(&host, EXTENTS)?;
    let [height, width] = EXTENTS.map(|extent| i32::try_from(extent).expect("small"));
    let mut cases = 0;
    for ([count, columns], make) in instances {
        if !asked(count, columns) {
            continue;
        }
        let shape = [count as usize, columns as usize];
        let rows = spread(shape[0], [-height, 2 * height], 1);
        let rows_there = stream.upload(&rows, [shape[0]])?;
        for col in [-16, 0, 48, 1000] {
            let mut out = stream.full(shape, T::NAN)?;
            make(&x, &rows_there, col, &mut out).launch(stream)?;
            // Outside of the tensor there are zeros.
            let element = |row: i32, column: i32| {
                let inside = (0..height).contains(&row) && (0..width).contains(&column);
                if inside { host[(row * width + column) as usize] } else { T::ZERO }
            };
            let required: Vec<T> = rows
                .iter()
                .flat_map(|&row| (0..columns).map(move |column| (row, col + column)))
                .map(|(row, column)| element(row, column))
                .collect();
            assert!(
                bits(&out.to_vec(stream)?) == bits(&required),
                "{count} rows of {columns} {} from column {col} are wrong",
                T::DTYPE
            );
            cases += 1;
        }
        println!("{} {count} x {columns}", T::DTYPE);
    }
    Ok(cases)
}
