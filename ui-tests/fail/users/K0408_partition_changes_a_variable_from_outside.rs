// Rust: Normalises one vector by the maximum of another, which a partition computes meanwhile. A partition cannot change variables from outside.
// RIGHT: through shared memory: let top = shared::<f32>([1]); in the partition top.store(v.max(0).broadcast([1])); after it top.load()
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn normalise(x: Tensor<f32, 1>, y: Tensor<f32, 1>, sum: TensorMut<f32, 1>, out: TensorMut<f32, 1>) {
    let mut top = 1.0f32;
    warp_specialize(
        || {
            let s = x.tile([0], [1024]).load().sum(0);
            sum.tile([0], [1]).store(full([1], s.item()));
        },
        [partition(2).run(|| {
            let v = y.tile([0], [1024]).load();
            top = v.max(0).item();
        })],
    );
    out.tile([0], [1024]).store(x.tile([0], [1024]).load() / top);
}

fn main() {}
