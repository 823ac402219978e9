//! `layout!` takes what `kiln layout` reads: lists with and without parentheses.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn rows(x: TensorMut<f32, 2>, y: TensorMut<f32, 1>) {
    const N: i32 = 4;
    let tile = x.tile([0, 0], [8, 256]);
    let s = shared::<f32>([8, 256]).with_layout(layout!(S[8, 256]));
    s.store(tile.load());
    tile.store(s.with_layout(row_major()).load());
    let t = y.tile([0], [128]).load();
    let list = t.to_layout(layout!(S[32, 4 : 1 @ laneid, 1]));
    let pairs = list.assert_layout(layout!(S[(N + N) , 4, 4 : (N) @ laneid, 1 @ laneid, 1]));
    y.tile([0], [128]).store(pairs.assert_layout(layout!(S[(32, N,) : (1 @ laneid, 1,)])));
}

fn main() {}
