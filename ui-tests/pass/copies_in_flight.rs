//! Shared memory that copies fill and read, used after waits of every kind.
use kiln::{Ring, prelude::*};

/// The wait is on a condition that holds whenever a copy is in flight.
#[kernel(target = sm_90a, warps = 4)]
pub fn previous(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>, steps: i32) {
    let (s, full) = (shared::<f16>([64, 64]), barrier(1));
    for step in 0..steps + 1 {
        if step > 0 {
            full.wait((step - 1) & 1);
            y.tile([64 * (step - 1), 0], [64, 64]).store(s.load());
            sync();
        }
        if step < steps {
            full.expect(s.bytes());
            tma::load(x, [64 * step, 0], full, s);
        }
    }
}

/// Threads ask until the copy is there.
#[kernel(target = sm_90a, warps = 4)]
pub fn asked(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let (s, full) = (shared::<f16>([64, 64]), barrier(1));
    full.expect(s.bytes());
    tma::load(x, [0, 0], full, s);
    loop {
        if full.try_wait(0) {
            break;
        }
    }
    y.tile([0, 0], [64, 64]).store(s.load());
}

/// A partition waits, and signals the other one.
#[kernel(target = sm_90a, warps = 4)]
pub fn told(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]);
    let (full, ready) = (barrier(1), barrier(1));
    full.expect(s.bytes());
    tma::load(x, [0, 0], full, s);
    warp_specialize(
        || {
            ready.wait(0);
            y.tile([0, 0], [64, 64]).store(s.load());
        },
        [partition(1).run(|| {
            full.wait(0);
            ready.arrive();
        })],
    );
}

/// The buffers of a ring are known at run time.
#[kernel(target = sm_90a, warps = 4)]
pub fn around(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>, steps: i32) {
    let (bufs, full) = (shared::<f16>([2, 64, 64]), barriers(2, 1));
    full[0].expect(x.block_bytes());
    tma::load(x, [0, 0], full[0], bufs[0]);
    let mut ring = Ring::reader(2);
    for step in 0..steps {
        let next = 1 - ring.slot;
        if step + 1 < steps {
            full[next].expect(x.block_bytes());
            tma::load(x, [64 * step + 64, 0], full[next], bufs[next]);
        }
        full[ring.slot].wait(ring.phase);
        y.tile([64 * step, 0], [64, 64]).store(bufs[ring.slot].load());
        sync();
        ring.advance();
    }
}

/// Two staging buffers take turns; a wait that leaves one store covers the one before it.
#[kernel(target = sm_90a, warps = 4)]
pub fn in_turns(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>, steps: i32) {
    let (first, second) = (shared::<f32>([64, 64]), shared::<f32>([64, 64]));
    for step in 0..steps {
        tma::store_wait(1);
        first.store(x.tile([128 * step, 0], [64, 64]).load());
        tma::store(y, [128 * step, 0], first);
        tma::store_wait(1);
        second.store(x.tile([128 * step + 64, 0], [64, 64]).load());
        tma::store(y, [128 * step + 64, 0], second);
    }
    tma::store_wait(0);
}

fn main() {}
