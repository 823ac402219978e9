use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn wide(x: Tensor<i32, 2>, y: TensorMut<i32, 2>) {
    const L: Layout = blocked([4, 1], [32, 1], [1, 1], [1, 0]);
    let mut a = x.tile([0, 0], [2, 512]).load();
    for _ in 0..2 {
        a = a.to_layout(L) + a;
    }
    // Every lane holds all rows whole.
    let b = x.tile([0, 0], [64, 64]).load();
    let b = b.to_layout(blocked([1, 64], [1, 32], [1, 1], [1, 0]));
    let c = x.tile([0, 0], [32, 32]).load().to_layout(linear(
        [
            [0, 1],
            [0, 2],
            [0, 4],
            [0, 8],
            [0, 16],
            [0, 0],
            [1, 0],
            [2, 0],
            [4, 0],
            [8, 0],
            [16, 0],
        ],
        [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]],
        [],
        [32, 32],
    ));
    let d = x.tile([0, 0], [2, 4096]).load().to_layout(blocked(
        [1, 2048],
        [2, 16],
        [1, 1],
        [1, 0],
    ));
    y.tile([0, 0], [2, 512]).store(a);
    y.tile([0, 0], [64, 64]).store(b);
    y.tile([0, 0], [32, 32]).store(c);
    y.tile([0, 0], [2, 4096]).store(d);
}

fn main() {}
