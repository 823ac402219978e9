use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn scores(q: Tensor<bf16, 2>, keys: Tensor<bf16, 4>, page: i32, out: TensorMut<f32, 2>) {
    let qs = shared::<bf16>([16, 128]);
    let ks = shared::<bf16>([1, 16, 1, 128]);
    copy_async(q.tile([0, 0], [16, 128]), qs);
    copy_async(keys.tile([page, 0, 0, 0], [1, 16, 1, 128]), ks);
    copy_async_wait_all();
    sync();
    let k = ks.load().reshape([16, 128]);
    let scores = dot(qs.load(), k.t(), zeros::<f32>([16, 16]));
    out.tile([0, 0], [16, 16]).store(scores);
}

fn main() {}
