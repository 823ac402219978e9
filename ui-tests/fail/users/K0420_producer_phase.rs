use kiln::prelude::*;

// Wrong: the copying warp waits for the same parity as the reader, so both wait for ever; right is `drained[slot].wait(phase ^ 1)`: on a new barrier a wait for parity 1 returns at once.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(1), 64))]
pub fn wrong(#[block(64, 64)] x: TensorMap<f16, 2>, weights: TensorMut<f32, 1>) {
    let (column, steps) = (block_id(0) * 64, cdiv(x.dim(0), 64));
    let (bufs, filled, drained) = (shared::<f16>([2, 64, 64]), barriers(2, 1), barriers(2, 1));
    let reduce = || {
        let mut weight = zeros::<f32>([64]);
        for step in 0..steps {
            let (slot, phase) = (step % 2, step / 2 % 2);
            filled[slot].wait(phase);
            weight += bufs[slot].load().cast::<f32>().abs().sum(0);
            drained[slot].arrive();
        }
        weights.tile([column], [64]).store(weight);
    };
    warp_specialize(reduce, [partition(1).run(|| {
        for step in 0..steps {
            let (slot, phase) = (step % 2, step / 2 % 2);
            drained[slot].wait(phase);
            filled[slot].expect(x.block_bytes());
            tma::load(x, [step * 64, column], filled[slot], bufs[slot]);
        }
    })]);
}

fn main() {}
