use kiln::prelude::*;

// Wrong: `sync()` is taken for a `__syncthreads()` of the whole block, but in a partition only its own threads wait; right is `let there = named_barrier(6)`, with `there.sync()` in the kernel's warps and `there.arrive()` in the partition.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f32, 2>, weight: Tensor<f32, 1>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let weights = shared::<f32>([1, 1024]);
    warp_specialize(
        || {
            let values = x.tile([row, 0], [1, 1024]).load();
            let mean = (values * values).sum(1) / x.dim(1) as f32;
            let scale = (mean + 1e-6).rsqrt().expand(1);
            sync(); // the weights are there
            out.tile([row, 0], [1, 1024]).store(values * scale * weights.load());
        },
        [partition(2).run(|| {
            weights.store(weight.tile([0], [1024]).load().expand(0));
            sync();
        })],
    );
}

fn main() {}
