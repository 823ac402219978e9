//! Layouts of every kind that a kernel can write, as constants and as `let`s that mention generics; each is what the compiler
//! is told, and the elements are those that they were.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[32, 64] bits
//@ arg out: T[6, 32, 64] poison
//@ expect out: x(j, k)
use kiln::prelude::*;

#[kernel]
mod forms {
    use kiln::prelude::*;

    const ROWS: Layout = blocked([1, 8], [4, 8], [4, 1], [1, 0]);
    const RESULT: Layout = mma([2, 2]);

    fn put<T: Scalar>(out: TensorMut<T, 3>, at: i32, x: Tile<T>) {
        out.tile([at, 0, 0], [1, 32, 64]).store(x.expand(0));
    }

    fn columns<T: Scalar, const W: i32>(x: Tile<T>) -> Tile<T> {
        const WIDE: i32 = 8;
        let layout = blocked([WIDE, 1], [4, 8], [1, W], [0, 1]);
        x.to_layout(layout).assert_layout(layout)
    }

    #[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, f32]))]
    pub fn forms<T: Scalar>(x: Tensor<T, 2>, out: TensorMut<T, 3>) {
        const LEFT: Layout = dot_operand(0, RESULT, 2);
        let x = x.tile([0, 0], [32, 64]).load().to_layout(ROWS).assert_layout(ROWS);
        put(out, 0, x.to_layout(RESULT));
        put(out, 1, x.to_layout(LEFT));
        put(out, 2, columns::<T, 4>(x));
        let bases = linear(
            [[0, 1], [0, 2], [0, 32], [8, 0]],
            [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]],
            [[0, 16], [16, 0]],
            [32, 64],
        );
        put(out, 3, x.to_layout(bases).assert_layout(bases));
        put(out, 4, x.to_layout(layout!(S[(4, 8, 4, 16) : (1 @ warpid, 4 @ laneid, 1 @ laneid, 1)])));
        let s = shared::<T>([32, 64]).with_layout(swizzled(4, 2, 8, [1, 0]));
        let plain = shared::<T>([32, 64]).with_layout(layout!(S[(32, 64) : (64, 1)]));
        let other = shared::<T>([32, 64]).with_layout(row_major());
        s.store(x);
        sync();
        plain.store(s.load());
        sync();
        other.store(plain.load());
        sync();
        put(out, 5, other.load());
    }
}
