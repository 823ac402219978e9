use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn once_more(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let row = shared::<f32>([1, 64]);
    let (ready, read) = (named_barrier(5), named_barrier(5));
    warp_specialize(
        || {
            for at in 0..x.dim(0) {
                ready.sync();
                y.tile([at, 0], [1, 64]).store(row.load());
                read.arrive();
            }
        },
        [partition(1).run(|| {
            for at in 0..x.dim(0) {
                row.store(x.tile([at, 0], [1, 64]).load());
                ready.arrive();
                read.sync();
            }
            read.sync();
        })],
    );
}

fn main() {}
