//! A kernel sees the constants of the module around it, whatever it takes to know them.
#![deny(warnings)]

use kiln::prelude::*;

const THREADS: i32 = 32 * WARPS;
const WARPS: i32 = 4;
const ROWS: Layout = blocked([4], [32], [WARPS], [0]);
const SCALE: f32 = 1.5;
#[allow(non_upper_case_globals)]
const two: i32 = 2;
const OFFSETS: [i32; COUNT] = [0, 1, 2, 4];
const COUNT: usize = 4;

#[device]
fn half(x: Tile<f32>) -> Tile<f32> {
    x * (SCALE / 3.0)
}

#[device]
fn total(of: [i32; COUNT]) -> i32 {
    let mut sum = 0;
    for at in 0..COUNT as i32 {
        sum += of[at as usize] + OFFSETS[at as usize];
    }
    sum
}

#[device]
mod shapes {
    use super::*;

    const EACH: i32 = THREADS / WARPS;

    pub fn ones() -> Tile<i32> {
        full([EACH], 1).to_layout(ROWS)
    }
}

#[kernel(target = sm_80, warps = WARPS, grid = cdiv(x.dim(0), 4 * THREADS), instances(N = [4 * THREADS]))]
pub fn scaled<const N: i32>(x: TensorMut<f32, 1>) {
    let tile = x.tile([block_id(0) * N], [N]);
    let value = tile.load().to_layout(ROWS);
    tile.store(half(value * SCALE) + OFFSETS[3].cast::<f32>());
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn chosen(x: TensorMut<i32, 1>, code: i32) {
    let value = match code {
        two => 20,
        other => other,
    };
    x.tile([0], [32]).store(full([32], value));
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn counted(x: TensorMut<i32, 1>) {
    let ones = shapes::ones();
    x.tile([0], [32]).store(ones * total([1, 10, 100, 1000]));
}

mod inner {
    use super::*;

    const LEN: i32 = 2 * THREADS;

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn cleared(x: TensorMut<f32, 1>) {
        x.tile([0], [LEN]).store(full([LEN], SCALE));
    }
}

fn main() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.full([1000], 2.0f32)?;
    scaled::<512>(scaled::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [5.5; 1000]);
    inner::cleared(inner::cleared::Args { x: &mut x }).launch(&stream)?;
    let values = x.to_vec(&stream)?;
    assert_eq!((values[0], values[255], values[256]), (1.5, 1.5, 5.5));
    let mut codes = stream.full([32], 0i32)?;
    for (code, value) in [(2, 20), (3, 3)] {
        chosen(chosen::Args { x: &mut codes, code }).launch(&stream)?;
        assert_eq!(codes.to_vec(&stream)?, [value; 32]);
    }
    counted(counted::Args { x: &mut codes }).launch(&stream)?;
    assert_eq!(codes.to_vec(&stream)?, [1111 + 7; 32]);
    Ok(())
}
