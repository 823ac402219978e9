//! TMA copies of slices of rank 3 and 4, which bound one axis, two, and those along which the tile has one element; slices of slices; a strided
//! tensor, and one of one row.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg lengths: i32[3] list(5, 0, 33)
//@ arg x: f16[3, 20, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4) strides(8000, 256, 1) offset(16)
//@ arg w: f32[2, 3, 9, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg z: f16[3, 20, 64] list(1, -2, 3, 5, 2, -1, 4)
//@ arg one: f32[1, 64] list(4, -3, 1)
//@ arg y: f16[3, 16, 64] poison
//@ arg both: f16[2, 8, 64] poison
//@ arg inner: f32[8, 64] poison
//@ arg single: f32[2, 8, 64] poison
//@ expect y: if j < min(lengths(i), 20) { x(i, j, k) } else { 0 }
//@ expect both: if i < 1 && j < 3 { z(i + 1, j + 4, k) } else { 0 }
//@ expect inner: if i < 2 { w(1, 2, i + 5, j) } else { 0 }
//@ expect single: if i == 0 && j == 0 { one(0, k) } else { 0 }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 1, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn tma_slice_ranks(
    lengths: Tensor<i32, 1>,
    #[block(1, 16, 64)] x: TensorMap<f16, 3>,
    #[block(1, 1, 8, 64)] w: TensorMap<f32, 4>,
    #[block(2, 8, 64)] z: TensorMap<f16, 3>,
    one: Tensor<f32, 2>,
    y: TensorMut<f16, 3>,
    both: TensorMut<f16, 3>,
    inner: TensorMut<f32, 2>,
    single: TensorMut<f32, 3>,
) {
    let (halves, pair, numbers) =
        (shared::<f16>([16, 64]), shared::<f16>([2, 8, 64]), shared::<f32>([8, 64]));
    let full = barrier(1);
    let mut phase = 0;
    for b in range(0, 3, 1) {
        let mine = x.slice((b..b + 1, 0..load(lengths.ptr() + b), ..));
        full.expect(x.block_bytes());
        copy_async(mine.at([0, 0, 0]), halves).on(full);
        full.wait(phase);
        phase = 1 - phase;
        y.tile([b, 0, 0], [1, 16, 64]).store(halves.load().expand(0));
        sync();
    }
    // Both axes of the tile end within it.
    let part = z.slice((1..2, 4..load(lengths.ptr()) + 2, ..));
    full.expect(pair.bytes());
    tma::load(part, [0, 0, 0], full, pair);
    full.wait(phase);
    phase = 1 - phase;
    both.tile([0, 0, 0], [1, 8, 64]).store(pair[0].load().expand(0));
    both.tile([1, 0, 0], [1, 8, 64]).store(pair[1].load().expand(0));
    // Before and after a slice whose tile has one element along the axis: zeros.
    for e in range(-1, 2, 1) {
        let outer = w.slice((1.., load(lengths.ptr()) - 3.., 5..9, ..));
        let mine = outer.slice((.., .., 0..2, ..));
        full.expect(w.block_bytes());
        tma::load(mine, [e, 0, 0, 0], full, numbers);
        full.wait(phase);
        phase = 1 - phase;
        if e == 0 {
            inner.tile([0, 0], [8, 64]).store(numbers.load());
        } else {
            device_assert(numbers.load().abs().sum(1).sum(0).item() == 0.0);
        }
        sync();
    }
    for i in range(0, 2, 1) {
        full.expect(numbers.bytes());
        copy_async(one.slice((i..load(lengths.ptr()), ..)).tile([0, 0], [8, 64]), numbers).on(full);
        full.wait(phase);
        phase = 1 - phase;
        single.tile([i, 0, 0], [1, 8, 64]).store(numbers.load().expand(0));
        sync();
    }
}
