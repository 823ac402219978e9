//! A range of Rust is not `Copy`: a kernel uses it twice as a function does, by `clone`, and knows its ends.
#![deny(warnings)]

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = x.dim(0))]
pub fn sums(x: Tensor<f32, 2>, y: Tensor<f32, 2>, out: TensorMut<f32, 1>, first: i32, last: i32) {
    let mine = first..last;
    let row = block_id(0)..block_id(0) + 1;
    let a = x.slice((row.clone(), mine.clone()));
    let b = y.slice((row.clone(), mine.clone()));
    let mut sum = zeros::<f32>([1, 8]);
    for at in range(0, mine.end - mine.start, 8) {
        sum += a.tile([0, at], [1, 8]).load() * b.tile([0, at], [1, 8]).load();
    }
    let mut counted = 0;
    for _ in mine.clone() {
        counted += 1;
    }
    for i in mine {
        counted += i;
    }
    let total = sum.sum(1) + counted.cast::<f32>();
    out.tile([row.start], [1]).store(total);
}

fn main() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let values: Vec<f32> = (0..60).map(|i| i as f32).collect();
    let x = stream.upload(&values, [3, 20])?;
    let y = stream.full([3, 20], 2.0f32)?;
    let mut out = stream.zeros::<f32, 1>([3])?;
    let (first, last) = (3, 14);
    sums(sums::Args { x: &x, y: &y, out: &mut out, first, last }).launch(&stream)?;
    let counted: i32 = (last - first) + (first..last).sum::<i32>();
    let expected: Vec<f32> = values
        .chunks(20)
        .map(|row| 2.0 * row[3..14].iter().sum::<f32>() + counted as f32)
        .collect();
    assert_eq!(out.to_vec(&stream)?, expected);
    Ok(())
}
