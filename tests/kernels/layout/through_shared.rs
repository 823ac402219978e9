//! Conversions between layouts of blocks, of products' results and of their operands: those that go through shared memory have no
//! bank conflict.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ no-conflicts
//@ arg x: T[64, 64] bits
//@ arg out: T[64, 64] poison
//@ expect out: x(i, j)
use kiln::prelude::*;

#[kernel]
mod through_shared {
    use kiln::prelude::*;

    const RESULT: Layout = mma([2, 2]);
    /// The result of a `wgmma` of 64 columns.
    const WIDE: Layout = linear(
        [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]],
        [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
        [[16, 0], [32, 0]],
        [64, 64],
    );

    fn pin<T: Scalar, const KIND: i32>(x: Tile<T>) -> Tile<T> {
        if KIND == 0 {
            x.to_layout(blocked([2, 4], [8, 4], [2, 2], [1, 0]))
        } else if KIND == 1 {
            x.to_layout(blocked([2, 4], [8, 4], [2, 2], [0, 1]))
        } else if KIND == 2 {
            x.to_layout(RESULT)
        } else if KIND == 3 {
            x.to_layout(dot_operand(0, RESULT, 2))
        } else if KIND == 4 {
            x.to_layout(dot_operand(1, RESULT, 2))
        } else if KIND == 5 {
            x.to_layout(dot_operand(0, RESULT, 4))
        } else if KIND == 6 {
            x.to_layout(WIDE)
        } else {
            x.to_layout(blocked([1, 1], [1, 32], [1, 4], [1, 0]))
        }
    }

    #[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, f32], A = [0, 1, 2, 3, 4, 5, 6, 7]))]
    pub fn through_shared<T: Scalar, const A: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
        let v = pin::<T, A>(x.tile([0, 0], [64, 64]).load());
        let v = pin::<T, A>(pin::<T, 0>(v));
        let v = pin::<T, A>(pin::<T, 1>(v));
        let v = pin::<T, A>(pin::<T, 2>(v));
        let v = pin::<T, A>(pin::<T, 3>(v));
        let v = pin::<T, A>(pin::<T, 4>(v));
        let v = pin::<T, A>(pin::<T, 5>(v));
        let v = pin::<T, A>(pin::<T, 6>(v));
        let v = pin::<T, A>(pin::<T, 7>(v));
        out.tile([0, 0], [64, 64]).store(v);
    }
}
