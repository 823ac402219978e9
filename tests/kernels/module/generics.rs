//! Functions generic over types and constants, called with several of each; `T::BYTES`, `T::of`, constants of types.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[64] list(1, 2, -3, 0.5)
//@ arg out: T[3, 64] poison
//@ arg sizes: i32[4] poison
//@ expect out: if i == 0 { x(j) * 2.0 + 1.0 } else { if i == 1 { x(j) * 4.0 } else { max(x(j), 0.25) } }
//@ expect sizes: if i == 0 { B } else { if i == 1 { 8 * B } else { if i == 2 { 64 * B } else { 12 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances((T, B) = [(f16, 2), (bf16, 2), (f32, 4), (f64, 8)]))]
pub fn generics<T: Float, const B: i32>(x: Tensor<T, 1>, out: TensorMut<T, 2>, sizes: TensorMut<i32, 1>) {
    const THREE: i32 = 3;
    fn put<T: Scalar, const ROW: i32>(out: TensorMut<T, 2>, x: Tile<T>) {
        out.tile([ROW, 0], [1, 64]).store(x.expand(0));
    }
    fn power<T: Float, const N: i32>(x: Tile<T>) -> Tile<T> {
        let mut y = x;
        for _ in unroll(0..N) {
            y = y + y;
        }
        y
    }
    fn bytes<U: Scalar, const N: i32>() -> i32 {
        N * U::BYTES
    }
    let x = x.tile([0], [64]).load();
    put::<T, 0>(out, x * T::of(2.0) + T::of(1.0));
    put::<T, 1>(out, power::<T, 2>(x));
    put::<T, 2>(out, maximum(x, T::of(0.25)));
    sizes.tile([0], [1]).store(full([1], T::BYTES));
    sizes.tile([1], [1]).store(full([1], T::BITS));
    sizes.tile([2], [1]).store(full([1], bytes::<T, 64>()));
    sizes.tile([3], [1]).store(full([1], bytes::<i32, THREE>()));
}
