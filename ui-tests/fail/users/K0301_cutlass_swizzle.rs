use kiln::prelude::*;

// Wrong: CUTLASS's `Swizzle<3, 4, 3>`, numbers of bits, is given to `swizzled`, which takes elements, rows and exchanges; right is `swizzled(8, 1, 8, [1, 0])`, or `swizzle(128)`.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let sa = shared::<f16>([64, 64]).with_layout(swizzled(3, 4, 3, [1, 0]));
    let sb = shared::<f16>([64, 64]).with_layout(swizzle(128));
    let mut acc = zeros::<f32>([64, 64]);
    for k in range(0, a.dim(1), 64) {
        copy_async(a.tile([m, k], [64, 64]), sa);
        copy_async(b.tile([k, n], [64, 64]), sb);
        copy_async_wait_all();
        sync();
        acc = dot(sa, sb, acc);
        sync();
    }
    c.tile([m, n], [64, 64]).store(acc);
}

fn main() {}
