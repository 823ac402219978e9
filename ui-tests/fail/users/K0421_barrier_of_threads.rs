use kiln::Ring;
use kiln::prelude::*;

// Wrong: `empty` counts the 128 threads that read a buffer, as `mbarrier.init` would; right is `barriers(4, 1)`: the whole partition arrives once.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wrong(#[block(256)] x: TensorMap<f32, 1>, sums: TensorMut<f32, 1>) {
    let (bufs, filled, empty) = (shared::<f32>([4, 256]), barriers(4, 1), barriers(4, 128));
    let add = || {
        let (mut ring, mut sum) = (Ring::reader(4), zeros::<f32>([256]));
        for _ in range(0, x.dim(0), 256) {
            filled[ring.slot].wait(ring.phase);
            sum += bufs[ring.slot].load();
            empty[ring.slot].arrive();
            ring.advance();
        }
        sums.tile([0], [256]).store(sum);
    };
    warp_specialize(add, [partition(1).run(|| {
        let mut ring = Ring::writer(4);
        for at in range(0, x.dim(0), 256) {
            empty[ring.slot].wait(ring.phase);
            filled[ring.slot].expect(x.block_bytes());
            tma::load(x, [at], filled[ring.slot], bufs[ring.slot]);
            ring.advance();
        }
    })]);
}

fn main() {}
