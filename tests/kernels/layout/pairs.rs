//! From every layout to every other, with arithmetic in between, on several numbers of warps.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg x: i32[16, 32] bits
//@ arg out: i32[16, 32] poison
//@ expect out: x(i, j) + 3 * (i * 32 + j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 2, 8], A = [0, 1, 2, 3, 4], B = [0, 1, 2, 3, 4]))]
pub fn pairs<const W: i32, const A: i32, const B: i32>(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    fn pin<const W: i32, const KIND: i32>(x: Tile<i32>) -> Tile<i32> {
        if KIND == 0 {
            x.to_layout(blocked([1, 4], [4, 8], [W, 1], [1, 0]))
        } else if KIND == 1 {
            x.to_layout(blocked([4, 1], [4, 8], [1, W], [0, 1]))
        } else if KIND == 2 {
            x.to_layout(blocked([1, 1], [32, 1], [1, W], [1, 0]))
        } else if KIND == 3 {
            x.to_layout(blocked([2, 8], [8, 4], [W, 1], [0, 1]))
        } else {
            x.to_layout(blocked([16, 1], [1, 32], [1, W], [1, 0]))
        }
    }
    let numbers = arange(0, 16).expand(1) * 32 + arange(0, 32).expand(0);
    let v = pin::<W, A>(x.tile([0, 0], [16, 32]).load());
    let v = v + pin::<W, A>(numbers);
    let v = pin::<W, B>(v + numbers);
    out.tile([0, 0], [16, 32]).store(v + pin::<W, B>(numbers));
}
