//! Pipelined loops whose copies stand in branches: a product of the blocks that a mask names, a buffer that each side of a branch fills,
//! branches in branches, several buffers under several conditions. What an iteration has not copied, it does not use.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[16, 128] list(1, -2, 3, 0, 2)
//@ arg b: f16[128, 16] list(2, 1, -1, 0, 3, 1, -2)
//@ arg x: f32[64, 32] list(1, -2, 3, 4, -5)
//@ arg y: f32[64, 32] list(2, 1, -1, 5, 0, -3, 1)
//@ arg product: f32[16, 16] poison
//@ arg chosen: f32[8, 32] poison
//@ arg nested: f32[8, 32] poison
//@ expect product: sum(k, 0, n, if mask(k) != 0 { sum(l, 0, 16, a(i, 16 * k + l) * b(16 * k + l, j)) } else { 0.0 })
//@ expect chosen: sum(k, 0, n, if k % 2 == 0 { x(8 * k + i, j) } else { 2.0 * y(8 * k + i, j) })
//@ expect nested: sum(k, 0, n, if mask(k) > 0 { x(8 * mask(k) + i, j) + (if k > 2 { y(8 * k + i, j) } else { 100.0 }) } else { 1.0 })
//@ case: no iteration
//@ arg n: i32 scalar 0
//@ arg mask: i32[1] list(1)
//@ case: one iteration, nothing to copy
//@ arg n: i32 scalar 1
//@ arg mask: i32[1] list(0)
//@ case: two iterations
//@ arg n: i32 scalar 2
//@ arg mask: i32[2] list(0, 4)
//@ case: eight iterations
//@ arg n: i32 scalar 8
//@ arg mask: i32[8] list(3, 0, 0, 1, 7, -1, 0, 2)
//@ case: all of eight
//@ arg n: i32 scalar 8
//@ arg mask: i32[8] list(1)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(STAGES = [2, 3, 5]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn pipeline_branches<const STAGES: i32>(
    n: i32,
    mask: Tensor<i32, 1>,
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    x: Tensor<f32, 2>,
    y: Tensor<f32, 2>,
    product: TensorMut<f32, 2>,
    chosen: TensorMut<f32, 2>,
    nested: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f16>([16, 16]), shared::<f16>([16, 16]));
    let mut acc = zeros::<f32>([16, 16]);
    for k in pipeline(0..n, STAGES) {
        if load(mask.ptr() + k) != 0 {
            copy_async(a.tile([0, k * 16], [16, 16]), left);
            copy_async(b.tile([k * 16, 0], [16, 16]), right);
            acc = dot(left, right, acc);
        }
    }
    product.tile([0, 0], [16, 16]).store(acc);

    let either = shared::<f32>([8, 32]);
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        if k % 2 == 0 {
            copy_async(x.tile([k * 8, 0], [8, 32]), either);
        } else {
            copy_async(y.tile([k * 8, 0], [8, 32]), either);
        }
        total += either.load() * if k % 2 == 0 { 1.0 } else { 2.0 };
    }
    chosen.tile([0, 0], [8, 32]).store(total);

    let (first, second) = (shared::<f32>([8, 32]), shared::<f32>([8, 32]));
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        let at = load(mask.ptr() + k);
        let live = at > 0;
        if live {
            copy_async(x.tile([at * 8, 0], [8, 32]), first);
            if k > 2 {
                copy_async(y.tile([k * 8, 0], [8, 32]), second);
            }
            total += first.load();
        }
        if live && !(k <= 2) {
            total += second.load();
        } else if live {
            total += 100.0;
        } else {
            total += 1.0;
        }
    }
    nested.tile([0, 0], [8, 32]).store(total);
}
