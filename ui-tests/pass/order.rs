//! Right twins of what `fail/order` has: each is proven, though it looks much like a wrong one.

use kiln::{Ring, prelude::*};

#[kernel(target = sm_90a, warps = 4)]
pub fn filled_again(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([128]);
    let (full, empty) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            full.wait(0);
            y.tile([0], [128]).store(staged.load());
            empty.arrive();
            full.wait(1);
            y.tile([128], [128]).store(staged.load());
        },
        [partition(1).run(|| {
            staged.store(x.tile([0], [128]).load());
            full.arrive();
            empty.wait(0);
            staged.store(x.tile([128], [128]).load());
            full.arrive();
        })],
    );
}

#[kernel(target = sm_90a, warps = 4)]
pub fn begins_with_1(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 64]), barrier(1));
    full.expect(tile.bytes());
    tma::load(x, [0, 0], full, tile);
    full.wait(0);
    y.tile([0, 0], [64, 64]).store(tile.load());
}

#[kernel(target = sm_90a, warps = 4)]
pub fn after_you(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([128]);
    let (ready, asked) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            asked.arrive();
            ready.wait(0);
            y.tile([0], [128]).store(staged.load());
        },
        [partition(1).run(|| {
            asked.wait(0);
            staged.store(x.tile([0], [128]).load());
            ready.arrive();
        })],
    );
}

#[kernel(target = sm_90a, warps = 4)]
pub fn counts_warps(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([128]);
    let full = barrier(1);
    warp_specialize(
        || {
            full.wait(0);
            y.tile([0], [128]).store(staged.load());
        },
        [partition(4).run(|| {
            staged.store(x.tile([0], [128]).load());
            full.arrive();
        })],
    );
}

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn exchanged(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let (rank, part) = (cluster::rank(), shared::<f32>([1, 64]));
    part.store(x.tile([rank, 0], [1, 64]).load());
    cluster::sync();
    y.tile([rank, 0], [1, 64]).store(part.of_block(1 - rank).load());
}

#[kernel(target = sm_90a, warps = 4)]
pub fn stored(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let staged = shared::<f32>([64, 64]);
    staged.store(x.tile([0, 0], [64, 64]).load());
    fence_async();
    tma::store(y, [0, 0], staged);
    tma::store_wait(0);
}

/// Threads that have waited on a barrier meet before one of them arrives there for all: no `sync()` is needed.
#[kernel(target = sm_90a, warps = 4)]
pub fn refilled(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 64]), barrier(1));
    for step in 0..4 {
        full.expect(tile.bytes());
        tma::load(x, [64 * step, 0], full, tile);
        full.wait(step % 2);
        y.tile([64 * step, 0], [64, 64]).store(tile.load());
    }
}

/// The first two turns need no wait.
#[kernel(target = sm_90a, warps = 4)]
pub fn begins_without_a_wait(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let slots = shared::<f32>([2, 1, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for row in 0..8 {
                full[row % 2].wait(row / 2 % 2);
                y.tile([row, 0], [1, 64]).store(slots[row % 2].load());
                empty[row % 2].arrive();
            }
        },
        [partition(1).run(|| {
            for row in 0..8 {
                if row >= 2 {
                    empty[row % 2].wait(1 - row / 2 % 2);
                }
                full[row % 2].expect(x.block_bytes());
                tma::load(x, [row, 0], full[row % 2], slots[row % 2]);
            }
        })],
    );
}

/// A row of a pointer is loaded while the one before is stored.
#[kernel(target = sm_90a, warps = 4)]
pub fn streamed(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let (rows, full) = (shared::<f32>([2, 256]), barriers(2, 1));
    full[0].expect(rows[0].bytes());
    bulk::load(x, full[0], rows[0]);
    for row in 0..n {
        let next = (row + 1) % 2;
        full[next].expect(rows[0].bytes());
        bulk::load(x + (row + 1) * 256, full[next], rows[next]);
        full[row % 2].wait(row / 2 % 2);
        store(y + row * 256 + arange(0, 256), rows[row % 2].load());
    }
    full[n % 2].wait(n / 2 % 2);
}

#[kernel(target = sm_90a, warps = 4)]
pub fn ring(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let slots = shared::<f32>([2, 1, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            let mut ring = Ring::reader(2);
            for row in 0..x.dim(0) {
                full[ring.slot].wait(ring.phase);
                y.tile([row, 0], [1, 64]).store(slots[ring.slot].load());
                empty[ring.slot].arrive();
                ring.advance();
            }
        },
        [partition(1).run(|| {
            let mut ring = Ring::writer(2);
            for row in 0..x.dim(0) {
                empty[ring.slot].wait(ring.phase);
                slots[ring.slot].store(x.tile([row, 0], [1, 64]).load());
                full[ring.slot].arrive();
                ring.advance();
            }
        })],
    );
}

fn main() {}
