//! The exchange of an FFT: each element goes where its index has its bits in the reverse order, by a scatter and by a gather; what goes
//! outside is dropped.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[512] uniform(-1, 1)
//@ arg scattered: f32[512] poison
//@ arg gathered: f32[512] poison
//@ arg halved: f32[256] poison
//@ expect scattered: x((i & 1) << 8 | (i & 2) << 6 | (i & 4) << 4 | (i & 8) << 2 | i & 16 | (i & 32) >> 2 | (i & 64) >> 4 | (i & 128) >> 6 | (i & 256) >> 8)
//@ expect gathered: x((i & 1) << 8 | (i & 2) << 6 | (i & 4) << 4 | (i & 8) << 2 | i & 16 | (i & 32) >> 2 | (i & 64) >> 4 | (i & 128) >> 6 | (i & 256) >> 8)
//@ expect halved: if i < 250 { x(i + 5) } else if i < 253 { -1.0 } else { x(i + 256) }
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(W = [1, 2, 8]))]
pub fn bit_reversed<const W: i32>(
    x: Tensor<f32, 1>,
    scattered: TensorMut<f32, 1>,
    gathered: TensorMut<f32, 1>,
    halved: TensorMut<f32, 1>,
) {
    let values = x.tile([0], [512]).load();
    let i = arange(0, 512);
    let pairs = (i & 0b0_0101_0101) << 1 | i >> 1 & 0b0_0101_0101;
    let fours = (pairs & 0b0_0011_0011) << 2 | pairs >> 2 & 0b0_0011_0011;
    let reversed = ((fours & 15) << 4 | fours >> 4) << 1 | i >> 8;
    let staged = shared::<f32>([512]);
    staged.scatter(reversed, values);
    sync();
    scattered.tile([0], [512]).store(staged.load());
    sync();
    staged.store(values);
    sync();
    gathered.tile([0], [512]).store(staged.gather(reversed));
    let half = shared::<f32>([256]);
    half.store(full([256], -1.0));
    sync();
    // The first five go before the start, the last three to the end, and all between 254 and 508 behind it.
    let to = select(i.lt(255), i - 5, select(i.ge(509), i - 256, i + 1_000_000));
    half.scatter(to, values);
    sync();
    halved.tile([0], [256]).store(half.load());
}
