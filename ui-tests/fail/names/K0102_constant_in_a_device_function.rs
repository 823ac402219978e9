use kiln::prelude::*;

static COUNT: i32 = 4;
const STEP: fn(i32) -> i32 = |x| x + 1;

#[device]
fn counted(x: Tile<i32>) -> Tile<i32> {
    x + COUNT
}

#[device]
fn named(x: Tile<i32>) -> Tile<i32> {
    x + full([128], STEP(1))
}

#[kernel(target = sm_80, warps = 4)]
pub fn clear(x: TensorMut<i32, 1>) {
    let window = x.tile([0], [128]);
    window.store(named(counted(window.load())));
}

fn main() {}
