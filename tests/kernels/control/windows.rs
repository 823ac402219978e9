//! Windows of a tensor that branches and loops leave behind: their corners differ.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[40, 8] bits
//@ arg n: i32 scalar 3
//@ arg m: i32 scalar 5
//@ arg out: f32[6, 8, 8] poison
//@ expect out: x((if i == 0 { 8 } else { if i == 1 { 2 * n } else { if i == 2 { n + 1 } else { if i == 3 { n * 8 - 8 } else { if i == 4 { m } else { 6 } } } } }) + j, k)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn windows(x: Tensor<f32, 2>, n: i32, m: i32, out: TensorMut<f32, 3>) {
    fn put(out: TensorMut<f32, 3>, at: i32, tile: Tile<f32>) {
        out.tile([at, 0, 0], [1, 8, 8]).store(tile.expand(0));
    }
    // Both sides leave one.
    let v = if n > m { x.tile([n, 0], [8, 8]) } else { x.tile([8, 0], [8, 8]) };
    put(out, 0, v.load());
    // One side leaves a variable changed.
    let mut v = x.tile([0, 0], [8, 8]);
    if n < m {
        v = x.tile([n * 2, 0], [8, 8]);
    }
    put(out, 1, v.load());
    // A loop gives one.
    let mut i = 0;
    let v = loop {
        i += 1;
        if i > n {
            break x.tile([i, 0], [8, 8]);
        }
    };
    put(out, 2, v.load());
    // A loop carries one.
    let mut v = x.tile([0, 0], [8, 8]);
    for i in 0..n {
        v = x.tile([i * 8, 0], [8, 8]);
    }
    put(out, 3, v.load());
    // The other side does not come back.
    let (v, k) = if n < m { (x.tile([m, 0], [8, 8]), 2) } else { return };
    put(out, 4, v.load());
    for i in 0..m {
        let w = if i == n { x.tile([i * k, 0], [8, 8]) } else { continue };
        put(out, 5, w.load());
    }
}
