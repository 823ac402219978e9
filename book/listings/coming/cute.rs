use kiln::prelude::*;

// ANCHOR: copy
/// A copy by blocks of 64 by 64, in which each thread moves eight elements of a row.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(1), 64), cdiv(x.dim(0), 64)])]
pub fn copy(#[stride(_, 1)] x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let at = [block_id(1) * 64, block_id(0) * 64];
    out.tile(at, [64, 64]).store(x.tile(at, [64, 64]).load().to_layout(THREADS));
}

/// A `TiledCopy`: threads 16 by 8, values 1 by 8.
const THREADS: Layout = blocked([1, 8], [4, 8], [4, 1], [1, 0]);
// ANCHOR_END: copy

// ANCHOR: layouts
/// A thread and value layout by strides: eight lanes down, four across, two values in each.
const FRAGMENT: Layout = layout!(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]);
/// The same by bits.
const SAME: Layout = linear([[0, 1]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [], [8, 8]);
/// Shared memory: columns one after the other.
const COLUMNS: Layout = layout!(S[(8, 8) : (1, 8)]);

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn fragments(x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [8, 8]);
    let tile = window.load().to_layout(FRAGMENT).assert_layout(SAME);
    let staged = shared::<f32>([8, 8]).with_layout(COLUMNS);
    staged.store(tile);
    sync();
    window.store(staged.t().load());
}
// ANCHOR_END: layouts

// ANCHOR: mma
/// The loop of an Ampere product: `cp.async` into swizzled buffers, `ldmatrix`, `mma.sync`.
#[kernel(
    target = sm_80,
    warps = 4,
    grid = [cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)],
    instances((BM, BN) = [(64, 64), (128, 64)])
)]
pub fn gemm<const BM: i32, const BN: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (row, column) = (block_id(0) * BM, block_id(1) * BN);
    let sa = shared::<f16>([BM, 64]).with_layout(swizzle(128)); // Swizzle<3, 4, 3> of bytes
    let sb = shared::<f16>([BN, 64]).with_layout(swizzle(128));
    let mut acc = zeros::<f32>([BM, BN]).to_layout(mma([2, 2])); // a TiledMMA of two by two warps
    for k in pipeline(range(0, a.dim(1), 64), 3) {
        copy_async(a.tile([row, k], [BM, 64]), sa);
        copy_async(b.tile([column, k], [BN, 64]), sb);
        acc = dot(sa, sb.t(), acc);
    }
    c.tile([row, column], [BM, BN]).store(acc);
}
// ANCHOR_END: mma

// ANCHOR: groups
/// The waits by hand.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn staged(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let bufs = shared::<f32>([2, 16, 64]);
    for i in unroll(0..2) {
        copy_async(x.tile([16 * i, 0], [16, 64]), bufs[i]);
        copy_async_commit(); // cp_async_fence()
    }
    copy_async_wait(1); // cp_async_wait<1>()
    sync(); // __syncthreads()
    let first = bufs[0].load();
    copy_async_wait(0);
    sync();
    out.tile([0, 0], [16, 64]).store(first + bufs[1].load());
}
// ANCHOR_END: groups

// ANCHOR: hopper
/// TMA and `wgmma`, in a pipeline with barriers of the compiler.
#[kernel(target = sm_90a, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 128)])]
pub fn gemm_hopper(
    #[block(64, 64)] a: TensorMap<f16, 2>,
    #[block(128, 64)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 128);
    let (sa, sb) = (shared::<f16>([64, 64]), shared::<f16>([128, 64]));
    let mut acc = zeros::<f32>([64, 128]);
    for k in pipeline(range(0, a.dim(1), 64), 3) {
        copy_async(a.at([row, k]), sa);
        copy_async(b.at([column, k]), sb);
        acc = dot(sa, sb.t(), acc);
    }
    c.tile([row, column], [64, 128]).store(acc);
}
// ANCHOR_END: hopper

// ANCHOR: turns
/// Two partitions that take turns.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn turns(out: TensorMut<i32, 1>) {
    let (first, second) = (named_barrier(8), named_barrier(8));
    let log = shared::<i32>([256]);
    warp_specialize(
        || {
            log.tile([0], [128]).store(full([128], 1));
            first.arrive(); // NamedBarrier::arrive
            second.sync(); // NamedBarrier::sync
            out.tile([0], [256]).store(log.load());
        },
        [partition(4).run(|| {
            first.sync();
            log.tile([128], [128]).store(log.tile([0], [128]).load() + 1);
            second.arrive();
        })],
    );
}
// ANCHOR_END: turns

// ANCHOR: epilogue
/// An epilogue as a type, and a schedule of tiles as another one.
#[kernel]
mod fused {
    use kiln::prelude::*;
    use kiln::sched::{Grouped, Persistent, Schedule};

    pub trait Epilogue {
        fn apply(acc: Tile<f32>) -> Tile<f32>;
    }

    pub struct Relu;

    impl Epilogue for Relu {
        fn apply(acc: Tile<f32>) -> Tile<f32> {
            maximum(acc, 0.0)
        }
    }

    #[kernel(
        target = sm_80,
        warps = 4,
        grid = persistent(cdiv(c.dim(0), 64) * cdiv(c.dim(1), 64)),
        instances(S = [Persistent<Grouped<4>>], E = [Relu])
    )]
    pub fn outer<S: Schedule, E: Epilogue>(
        a: Tensor<f32, 1>,
        b: Tensor<f32, 1>,
        c: TensorMut<f32, 2>,
    ) {
        let tiles = S::new(cdiv(c.dim(0), 64), cdiv(c.dim(1), 64));
        for i in 0..tiles.count() {
            let (row, column) = tiles.tile(i);
            let left = a.tile([row * 64], [64]).load().expand(1);
            let right = b.tile([column * 64], [64]).load().expand(0);
            c.tile([row * 64, column * 64], [64, 64]).store(E::apply(left * right));
        }
    }
}
use fused::{Relu, outer};
// ANCHOR_END: epilogue

type Tiles = kiln::sched::Persistent<kiln::sched::Grouped<4>>;

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(copy::TARGETS)?.stream()?;
    let half = |x| f16::from_f32(x);
    let x = stream.full([100, 90], half(0.5))?;
    let mut out = stream.zeros([100, 90])?;
    copy(copy::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [half(0.5); 9000]);

    let mut x = stream.upload(&(0..64).map(|i| i as f32).collect::<Vec<f32>>(), [8, 8])?;
    fragments(fragments::Args { x: &mut x }).launch(&stream)?;
    let required: Vec<f32> = (0..64).map(|i| (i % 8 * 8 + i / 8) as f32).collect();
    assert_eq!(x.to_vec(&stream)?, required);

    let (a, b) = (stream.full([100, 80], half(0.5))?, stream.full([70, 80], half(2.0))?);
    let mut c = stream.zeros([100, 70])?;
    gemm::<64, 64>(gemm::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [80.0; 7000]);

    let x = stream.full([32, 64], 0.5f32)?;
    let mut out = stream.zeros([16, 64])?;
    staged(staged::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [1.0; 1024]);

    let mut log = stream.zeros([256])?;
    turns(turns::Args { out: &mut log }).launch(&stream)?;
    assert_eq!(log.to_vec(&stream)?, [[1; 128], [2; 128]].concat());

    let (a, b) = (stream.full([100], -0.5f32)?, stream.full([200], 2.0f32)?);
    let mut product = stream.full([100, 200], 9.0f32)?;
    outer::<Tiles, Relu>(outer::Args { a: &a, b: &b, c: &mut product }).launch(&stream)?;
    assert_eq!(product.to_vec(&stream)?, [0.0; 20000]);

    let stream = Device::best_for(gemm_hopper::TARGETS)?.stream()?;
    let (a, b) = (stream.full([100, 80], half(0.5))?, stream.full([70, 80], half(2.0))?);
    let mut c = stream.zeros([100, 70])?;
    gemm_hopper(gemm_hopper::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [80.0; 7000]);
    Ok(())
}
