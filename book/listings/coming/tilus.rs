use kiln::prelude::*;
use kiln::random::Philox;

// ANCHOR: matmul
/// Shared buffers, asynchronous copies and tensor cores.
#[kernel(
    target = sm_80,
    warps = W,
    grid = [cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)],
    instances(W = [4, 8], (BM, BN) = [(64, 64), (128, 64)], BK = [32])
)]
pub fn matmul<const W: i32, const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (row, column) = (block_id(0) * BM, block_id(1) * BN);
    let (sa, sb) = (shared::<f16>([BM, BK]), shared::<f16>([BK, BN]));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in range(0, a.dim(1), BK) {
        copy_async(a.tile([row, k], [BM, BK]), sa);
        copy_async(b.tile([k, column], [BK, BN]), sb);
        copy_async_wait_all();
        sync();
        acc = dot(sa, sb, acc);
        sync();
    }
    c.tile([row, column], [BM, BN]).store(acc.cast::<f16>());
}
// ANCHOR_END: matmul

// ANCHOR: registers
/// Register tiles: made, combined, reduced, scanned. Each matrix of `out` has one result.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 4), instances(N = [128]))]
pub fn registers<const N: i32>(
    x: Tensor<f32, 2>,
    #[multiple_of(8)] columns: i32,
    seed: u64,
    out: TensorMut<f32, 3>,
) {
    let row = block_id(0) * 4;
    let inside = arange(0, N).lt(columns).expand(0);
    let x = select(inside, x.tile([row, 0], [4, N]).load(), 0.0);
    let total = x.sum(1).expand(1); // keepdim=True
    let pairs = x.reshape([2, 2, N]).sum(1).expand(1).broadcast([2, 2, N]);
    let signs = (x.bitcast::<u32>() >> 31).cast::<f32>();
    let places = (row + arange(0, 4)).expand(1) * N + arange(0, N).expand(0);
    let noise = Philox::new(seed).uniform(places.cast::<u64>());
    println!("rows {row}..{}: the least is {}", row + 4, x.min([0, 1]).item());
    let results = [full([4, N], 0.0) + total, x.cumsum(1), pairs.reshape([4, N]), signs, noise];
    for i in unroll(0..5) {
        out.tile([i, row, 0], [1, 4, N]).store(results[i as usize].expand(0));
    }
}
// ANCHOR_END: registers

// ANCHOR: bits
/// Two integers of 4 bits in each byte, as f16: weight · scale of each row.
#[kernel(target = sm_80, warps = 4, grid = cdiv(packed.dim(0), 16))]
pub fn unpack(packed: Tensor<u8, 2>, scales: Tensor<f16, 1>, out: TensorMut<f16, 2>) {
    let row = block_id(0) * 16;
    let bytes = packed.tile([row, 0], [16, 32]).load().cast::<i32>();
    let (low, high) = (bytes & 15, bytes >> 4);
    let signed = join(low, high).reshape([16, 64]) - 8;
    let scale = scales.tile([row], [16]).load().expand(1);
    out.tile([row, 0], [16, 64]).store(signed.cast::<f16>() * scale);
}
// ANCHOR_END: bits

// ANCHOR: scatter
/// Rows to other places, and additions at indices.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn scatter(x: Tensor<f32, 2>, to: Tensor<i32, 1>, out: TensorMut<f32, 2>, counts: TensorMut<i32, 1>) {
    let rows = to.tile([0], [16]).load();
    let values = x.tile([0, 0], [16, 64]).load();
    out.tile_rows(rows, [0, 0], [16, 64]).store(values);
    let mine = shared::<i32>([32]);
    mine.store(zeros([32]));
    sync();
    mine.atomic_add(rows, full([16], 1));
    sync();
    counts.tile([0], [32]).atomic_add(mine.load());
}
// ANCHOR_END: scatter

// ANCHOR: splitk
/// Two blocks add to one tile, one after the other: the second waits until the first is done.
#[kernel(target = sm_80, warps = 4, grid = [2])]
pub fn in_turn(x: Tensor<f32, 2>, out: TensorMut<f32, 2>, turn: TensorMut<i32, 1>) {
    let me = block_id(0);
    let part = x.tile([me * 16, 0], [16, 64]).load();
    while turn.tile([0], [1]).acquire().atomic_load().item() != me {} // lock_semaphore
    let window = out.tile([0, 0], [16, 64]);
    window.store(window.load() + part);
    turn.tile([0], [1]).release().atomic_store(full([1], me + 1)); // release_semaphore
}
// ANCHOR_END: splitk

// ANCHOR: groups
/// One warp copies by TMA, four warps store: two thread groups.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn groups(#[block(64, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0) * 64;
    let staged = shared::<f32>([64, 64]);
    let full = barrier(1); // mbarrier.alloc
    warp_specialize(
        || {
            full.wait(0); // mbarrier.wait
            out.tile([row, 0], [64, 64]).store(staged.load());
        },
        [partition(1).run(|| {
            full.expect(x.block_bytes()); // mbarrier.arrive_and_expect_tx
            tma::load(x, [row, 0], full, staged); // tma.global_to_shared
        })],
    );
}
// ANCHOR_END: groups

// ANCHOR: dynamic
/// Blocks that take over the work of blocks that have not begun: a partition asks the hardware for the next tile.
#[kernel]
mod dynamic {
    use kiln::prelude::*;
    use kiln::sched::{Dynamic, Linear};

    #[kernel(target = sm_100f, warps = 4, grid = cdiv(x.dim(0), 64) * cdiv(x.dim(1), 64))]
    pub fn double(x: TensorMut<f32, 2>) {
        let tiles = Dynamic::<Linear>::new(cdiv(x.dim(0), 64), cdiv(x.dim(1), 64), 1);
        warp_specialize(
            || {
                let mut claim = tiles.first();
                while claim.more {
                    let (row, column) = tiles.tile(claim);
                    let window = x.tile([row * 64, column * 64], [64, 64]);
                    window.store(window.load() * 2.0);
                    claim = tiles.next(claim);
                }
            },
            [partition(1).run(|| tiles.ask())], // clc.try_cancel
        );
    }
}
use dynamic::double;
// ANCHOR_END: dynamic

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(matmul::TARGETS)?.stream()?;
    let half = |x| f16::from_f32(x);
    let (a, b) = (stream.full([100, 40], half(0.5))?, stream.full([40, 70], half(2.0))?);
    let mut c = stream.zeros([100, 70])?;
    for instance in matmul::instances() {
        instance.with(matmul::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
        assert_eq!(c.to_vec(&stream)?, [half(40.0); 7000], "{instance}");
    }
    println!("{} instances", matmul::instances().count());

    let x = stream.full([8, 128], -0.5f32)?;
    let mut out = stream.zeros([5, 8, 128])?;
    registers::<128>(registers::Args { x: &x, columns: 96, seed: 1, out: &mut out })
        .launch(&stream)?;
    let out = out.to_vec(&stream)?;
    let ends = out.chunks(1024).map(|rows| rows[1023]).collect::<Vec<f32>>();
    assert_eq!(ends, [-48.0, -48.0, 0.0, 0.0, Philox::new(1).uniform_at(1023)]);
    assert_eq!([out[2048], out[3072]], [-1.0, 1.0]);

    let packed = stream.full([20, 32], 0x97u8)?;
    let scales = stream.full([20], half(0.5))?;
    let mut out = stream.zeros([20, 64])?;
    unpack(unpack::Args { packed: &packed, scales: &scales, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [half(-0.5), half(0.5)].repeat(640));

    let x = stream.full([16, 64], 0.5f32)?;
    let to: Vec<i32> = (0..16).map(|i| 31 - 2 * i).collect();
    let to = stream.upload(&to, [16])?;
    let (mut out, mut counts) = (stream.zeros([32, 64])?, stream.zeros([32])?);
    let (out_mut, counts_mut) = (&mut out, &mut counts);
    scatter(scatter::Args { x: &x, to: &to, out: out_mut, counts: counts_mut }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [[0.0; 64], [0.5; 64]].concat().repeat(16));
    assert_eq!(counts.to_vec(&stream)?, [0, 1].repeat(16));

    let x = stream.full([32, 64], 0.5f32)?;
    let (mut out, mut turn) = (stream.zeros([16, 64])?, stream.zeros([1])?);
    in_turn(in_turn::Args { x: &x, out: &mut out, turn: &mut turn }).cooperative().launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [1.0; 1024]);

    let stream = Device::best_for(groups::TARGETS)?.stream()?;
    let x = stream.full([100, 64], 0.5f32)?;
    let mut out = stream.zeros([100, 64])?;
    groups(groups::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [0.5; 6400]);

    let stream = Device::best_for(double::TARGETS)?.stream()?;
    let mut x = stream.full([200, 200], 0.5f32)?;
    double(double::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [1.0; 40000]);
    Ok(())
}
