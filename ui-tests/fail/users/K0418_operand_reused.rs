use kiln::prelude::*;

// Wrong: `wait(1, acc)` leaves this step's product in flight, and `load(step + 2)` fills the very buffers that it reads; right with two buffers is `wgmma::wait(0, acc)`.
#[kernel(target = sm_90a, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 128)])]
pub fn wrong(
    #[block(64, 64)] a: TensorMap<f16, 2>,
    #[block(64, 128)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n, steps) = (block_id(0) * 64, block_id(1) * 128, cdiv(a.dim(1), 64));
    let (a_bufs, b_bufs, ready) = (shared::<f16>([2, 64, 64]), shared::<f16>([2, 64, 128]), barriers(2, 1));
    let load = |step: i32| {
        if step < steps {
            ready[step % 2].expect(a.block_bytes() + b.block_bytes());
            tma::load(a, [m, step * 64], ready[step % 2], a_bufs[step % 2]);
            tma::load(b, [step * 64, n], ready[step % 2], b_bufs[step % 2]);
        }
    };
    load(0);
    load(1);
    let mut acc = zeros::<f32>([64, 128]);
    for step in 0..steps {
        ready[step % 2].wait(step / 2 % 2);
        acc = wgmma::mma(a_bufs[step % 2], b_bufs[step % 2], acc);
        acc = wgmma::wait(1, acc);
        sync(); // all warps are here
        load(step + 2);
    }
    c.tile([m, n], [64, 128]).store(wgmma::wait(0, acc));
}

fn main() {}
