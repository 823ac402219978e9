use kiln::prelude::*;

// ANCHOR: layouts
/// Layouts of registers.
const BLOCKED: Layout = blocked([1, 8], [4, 8], [4, 1], [1, 0]);
const ROW_INDEX: Layout = slice(1, BLOCKED);
const MMA: Layout = mma([2, 2]);
const LEFT: Layout = dot_operand(0, MMA, 2);
/// As `blocked([1, 4], [4, 8], [1, 4], [1, 0])` of a tile of 4 by 128.
const LINEAR: Layout = linear(
    [[0, 1], [0, 2]],
    [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]],
    [[0, 32], [0, 64]],
    [4, 128],
);

/// Layouts of shared memory.
const FOR_TMA: Layout = swizzle(128);
const SWIZZLED: Layout = swizzled(8, 1, 8, [1, 0]);
const PAIRS: Layout = shared_linear([[0, 1], [0, 2], [1, 2]], [2, 4]);
// ANCHOR_END: layouts

// ANCHOR: convert
/// Pins layouts; where two of them meet, the tile is converted.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn convert(x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [64, 64]);
    let tile = window.load().to_layout(BLOCKED);
    let sums = tile.sum(1).assert_layout(ROW_INDEX); // nothing moves, or the build fails
    let fragment = tile.to_layout(MMA); // convert_layout
    let staged = shared::<f32>([64, 64]).with_layout(SWIZZLED);
    staged.store(fragment);
    sync();
    window.store(staged.t().load() - sums.expand(1));
}
// ANCHOR_END: convert

// ANCHOR: operand
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn product(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let a = a.tile([0, 0], [64, 32]).load().to_layout(LEFT);
    let b = b.tile([0, 0], [32, 64]).load();
    c.tile([0, 0], [64, 64]).store(dot(a, b, zeros::<f32>([64, 64]).to_layout(MMA)));
}
// ANCHOR_END: operand

// ANCHOR: linear
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn by_bases(x: TensorMut<f32, 2>, y: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [4, 128]);
    window.store(window.load().to_layout(LINEAR) + 1.0);
    let held = shared::<f32>([2, 4]).with_layout(PAIRS);
    held.store(y.tile([0, 0], [2, 4]).load());
    sync();
    y.tile([0, 0], [2, 4]).store(held.load() + 1.0);
}
// ANCHOR_END: linear

// ANCHOR: groups
/// Asynchronous copies in groups: a ring of two buffers, by hand.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(1), 64))]
pub fn column_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let column = block_id(0) * 64;
    let bufs = shared::<f32>([2, 16, 64]);
    let steps = cdiv(x.dim(0), 16);
    copy_async(x.tile([0, column], [16, 64]), bufs[0]);
    copy_async_commit();
    let mut sum = zeros::<f32>([64]);
    for i in 0..steps {
        copy_async(x.tile([(i + 1) * 16, column], [16, 64]), bufs[(i + 1) % 2]);
        copy_async_commit();
        copy_async_wait(1); // all but the newest group
        sync(); // of all threads
        sum += bufs[i % 2].load().sum(0);
        sync(); // before it is filled again
    }
    copy_async_wait_all();
    out.tile([column], [64]).store(sum);
}
// ANCHOR_END: groups

// ANCHOR: tma
/// A TMA load and a TMA store by way of a swizzled buffer.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 64))]
pub fn copy_rows(
    #[block(64, 64)] x: TensorMap<f16, 2>,
    #[block(64, 64)] y: TensorMapMut<f16, 2>,
) {
    let row = block_id(0) * 64;
    let staged = shared::<f16>([64, 64]).with_layout(FOR_TMA);
    let full = barrier(1); // allocated and initialised
    full.expect(x.block_bytes());
    tma::load(x, [row, 0], full, staged);
    full.wait(0);
    staged.store(staged.load() * f16::of(2.0));
    fence_async(); // inserted if it is missing
    tma::store(y, [row, 0], staged);
    tma::store_wait(0);
}
// ANCHOR_END: tma

// ANCHOR: views
/// Parts and other readings of shared memory, and a copy under a condition.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn views(
    #[block(64, 64)] x: TensorMap<f16, 2>,
    out: TensorMut<f16, 2>,
    words: TensorMut<u32, 2>,
    more: bool,
) {
    let s = shared::<f16>([64, 64]);
    let full = barrier(1);
    full.expect(if more { x.block_bytes() } else { 0 });
    tma::load(x, [0, 0], full, s).when(more);
    full.wait(0);
    words.tile([0, 0], [64, 32]).store(s.view::<u32>().load());
    let sum = s.tile([16, 0], [16, 64]).load() + s.reshape([4, 16, 64])[0].load();
    out.tile([0, 0], [16, 64]).store(sum);
}

/// One load for both blocks of a cluster.
#[kernel(target = sm_90a, warps = 4, grid = [2], cluster = [2])]
pub fn both(#[block(64)] x: TensorMap<f32, 1>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([64]);
    let full = barrier(1);
    full.expect(x.block_bytes());
    tma::load(x, [0], full, s).multicast(0b11).when(cluster::rank() == 0);
    full.wait(0);
    out.tile([block_id(0), 0], [1, 64]).store(s.load().expand(0));
}
// ANCHOR_END: views

// ANCHOR: wgmma
#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn hopper(
    #[block(64, 64)] a: TensorMap<f16, 2>,
    #[block(64, 64)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let full = barrier(1);
    full.expect_copies(); // the compiler counts the bytes of both
    tma::load(a, [0, 0], full, sa);
    tma::load(b, [0, 0], full, sb);
    full.wait(0);
    let mut acc = zeros::<f32>([64, 64]);
    acc = wgmma::mma(sa, sb, acc);
    acc = wgmma::wait(0, acc);
    c.tile([0, 0], [64, 64]).store(acc);
}
// ANCHOR_END: wgmma

// ANCHOR: tcgen05
#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn blackwell(
    #[block(128, 64)] a: TensorMap<f16, 2>,
    #[block(128, 64)] b: TensorMap<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([128, 64]));
    let acc = tmem::<f32>([128, 128]).with_layout(tmem_block([128, 128], 1));
    let (full, done) = (barrier(1), barrier(1));
    full.expect_copies();
    tma::load(a, [0, 0], full, sa);
    tma::load(b, [0, 0], full, sb);
    full.wait(0);
    tcgen05::mma(sa, sb.t(), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 128]).store(acc.load());
}
// ANCHOR_END: tcgen05

// ANCHOR: specialize
/// One warp copies, four warps add; a ring of four buffers with a full and an empty barrier each.
#[kernel]
mod rings {
    use kiln::Ring;
    use kiln::prelude::*;

    #[kernel(target = sm_90a, warps = 4, grid = 1)]
    pub fn total(#[block(64)] x: TensorMap<f32, 1>, out: TensorMut<f32, 1>) {
        let bufs = shared::<f32>([4, 64]);
        let (full, empty) = (barriers(4, 1), barriers(4, 1));
        warp_specialize(
            || {
                let mut ring = Ring::reader(4);
                let mut sum = zeros::<f32>([64]);
                for _ in 0..cdiv(x.dim(0), 64) {
                    full[ring.slot].wait(ring.phase);
                    sum += bufs[ring.slot].load();
                    empty[ring.slot].arrive();
                    ring.advance();
                }
                out.tile([0], [1]).store(sum.sum(0).expand(0));
            },
            [partition(1).registers(24).run(|| {
                let mut ring = Ring::writer(4);
                for at in range(0, x.dim(0), 64) {
                    empty[ring.slot].wait(ring.phase);
                    full[ring.slot].expect(x.block_bytes());
                    tma::load(x, [at], full[ring.slot], bufs[ring.slot]);
                    ring.advance();
                }
            })],
        );
    }
}
use rings::total;
// ANCHOR_END: specialize

// ANCHOR: gather
/// Rows by their numbers, with TMA.
#[kernel(target = sm_100f, warps = 4, grid = cdiv(rows.dim(0), 32))]
pub fn gather(
    #[block(1, 64)] x: TensorMap<f16, 2>,
    rows: Tensor<i32, 1>,
    out: TensorMut<f16, 2>,
) {
    let at = block_id(0) * 32;
    let rows = rows.tile([at], [32]).load();
    let staged = shared::<f16>([32, 64]);
    let full = barrier(1);
    full.expect(32 * x.block_bytes());
    tma::gather(x, rows, 0, full, staged);
    full.wait(0);
    out.tile([at, 0], [32, 64]).store(staged.load());
}
// ANCHOR_END: gather

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(convert::TARGETS)?.stream()?;
    let half = |x| f16::from_f32(x);
    let mut x = stream.full([64, 64], 1.0f32)?;
    convert(convert::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [-63.0; 64 * 64]);
    let (a, b) = (stream.full([64, 32], half(0.5))?, stream.full([32, 64], half(2.0))?);
    let mut c = stream.zeros([64, 64])?;
    product(product::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [32.0; 64 * 64]);
    let (mut x, mut y) = (stream.full([4, 128], 1.0f32)?, stream.full([2, 4], 1.0f32)?);
    by_bases(by_bases::Args { x: &mut x, y: &mut y }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [2.0; 512]);
    assert_eq!(y.to_vec(&stream)?, [2.0; 8]);
    let x = stream.full([100, 100], 0.5f32)?;
    let mut sums = stream.zeros([100])?;
    column_sums(column_sums::Args { x: &x, out: &mut sums }).launch(&stream)?;
    assert_eq!(sums.to_vec(&stream)?, [50.0; 100]);

    let stream = Device::best_for(hopper::TARGETS)?.stream()?;
    let x = stream.full([100, 64], half(1.5))?;
    let mut y = stream.zeros([100, 64])?;
    copy_rows(copy_rows::Args { x: &x, y: &mut y }).launch(&stream)?;
    assert_eq!(y.to_vec(&stream)?, [half(3.0); 6400]);
    let (a, b) = (stream.full([64, 64], half(0.5))?, stream.full([64, 64], half(2.0))?);
    let mut c = stream.zeros([64, 64])?;
    hopper(hopper::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [64.0; 4096]);
    let mut words = stream.zeros([64, 32])?;
    let mut out = stream.zeros([16, 64])?;
    views(views::Args { x: &a, out: &mut out, words: &mut words, more: true }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [half(1.0); 1024]);
    assert_eq!(words.to_vec(&stream)?, [0x3800_3800; 2048]);
    let x = stream.full([64], 0.5f32)?;
    let mut out = stream.zeros([2, 64])?;
    both(both::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [0.5; 128]);
    let x = stream.full([1000], 0.5f32)?;
    let mut out = stream.zeros([1])?;
    total(total::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);

    let stream = Device::best_for(blackwell::TARGETS)?.stream()?;
    let (a, b) = (stream.full([128, 64], half(0.5))?, stream.full([128, 64], half(2.0))?);
    let mut c = stream.zeros([128, 128])?;
    blackwell(blackwell::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [64.0; 128 * 128]);
    let rows: Vec<i32> = (0..32).map(|i| 127 - 3 * i).collect();
    let rows = stream.upload(&rows, [32])?;
    let mut out = stream.zeros([32, 64])?;
    gather(gather::Args { x: &a, rows: &rows, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [half(0.5); 2048]);
    Ok(())
}
