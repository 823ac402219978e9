use kiln::prelude::*;

// ANCHOR: layouts
const ROWS: Layout = layout!(S[(32, 8) : (8, 1)]);
const PLAIN: Layout = layout!(S[32, 8]); // the same: row-major by default
const FRAGMENT: Layout = layout!(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]);
const TWICE: Layout = layout!(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + R[2 : 1 @ warpid]);
const ACROSS: Layout = layout!(S[(128, 8) : (1 @ tx, 1)]);

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn registers(x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [128, 8]);
    let staged = shared::<f32>([32, 8]).with_layout(ROWS);
    let more = shared::<f32>([32, 8]).with_layout(PLAIN);
    let tile = window.load().to_layout(ACROSS) + 1.0;
    window.store(tile);
    staged.store(tile.slice((0..32, ..)));
    sync();
    more.store(staged.load());
    sync();
    x.tile([128, 0], [32, 8]).store(more.load());
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn fragment(x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [8, 8]);
    window.store(window.load().to_layout(FRAGMENT) + 1.0);
}

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn fragment_twice(x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [8, 8]);
    window.store(window.load().to_layout(TWICE) + 1.0);
}
// ANCHOR_END: layouts

// ANCHOR: copies
/// The variants of `copy_async`: by threads in groups, and by TMA.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 8))]
pub fn copies(x: Tensor<f16, 2>, y: TensorMut<f16, 2>) {
    let row = block_id(0) * 8;
    let by_threads = shared::<f16>([8, 256]);
    copy_async(x.tile([row, 0], [8, 256]), by_threads); // ldgsts
    copy_async_wait_all();
    sync();
    let by_tma = shared::<f16>([8, 256]).with_layout(swizzle(128)); // mma_shared_layout(.., 3, ..)
    let arrived = barrier(1);
    arrived.expect(by_tma.bytes());
    copy_async(x.tile([row, 0], [8, 256]), by_tma).on(arrived); // tma
    arrived.wait(0);
    by_tma.store(by_tma.load() + by_threads.load());
    copy_async(by_tma, y.tile([row, 0], [8, 256])); // a TMA store
    tma::store_wait(0);
}
// ANCHOR_END: copies

// ANCHOR: cp
/// From shared to tensor memory, 32 rows for all four warps: `32x128b.warpx4`.
#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn replicate(x: Tensor<u8, 2>, out: TensorMut<u8, 2>) {
    const REPLICATED: Layout = layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]);
    let staged = shared::<u8>([32, 16]);
    let held = tmem::<u8>([32, 16]).with_layout(REPLICATED);
    let same = tmem::<u8>([32, 16]).with_layout(REPLICATED);
    let copied = barrier(1);
    staged.store(x.tile([0, 0], [32, 16]).load());
    copy_async(staged, held);
    tcgen05::copy(staged, same); // the same instruction
    tcgen05::commit(copied);
    copied.wait(0);
    out.tile([0, 0], [32, 16]).store(held.load());
    out.tile([32, 0], [32, 16]).store(same.load());
}
// ANCHOR_END: cp

// ANCHOR: send
/// Each block of a cluster of two sends its row to the other one.
#[kernel(target = sm_90a, warps = 4, grid = x.dim(0), cluster = [2])]
pub fn exchange(x: TensorMut<f32, 2>) {
    let window = x.tile([block_id(0), 0], [1, 256]);
    let (mine, other) = (shared::<f32>([1, 256]), shared::<f32>([1, 256]));
    let arrived = barrier(1);
    arrived.expect(other.bytes());
    mine.store(window.load());
    fence_async();
    bulk::send(mine, arrived, other.of_block(cluster::rank() ^ 1));
    arrived.wait(0);
    window.store(other.load());
}
// ANCHOR_END: send

// ANCHOR: gemm
/// `gemm_async`: a product into tensor memory, whose end a barrier signals.
#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn gemm(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let (full, done) = (barrier(1), barrier(1));
    full.expect_copies();
    copy_async(a.tile([0, 0], [128, 64]), sa).on(full);
    copy_async(b.tile([0, 0], [64, 64]), sb).on(full);
    full.wait(0);
    tcgen05::mma(sa, sb, acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(acc.load());
}
// ANCHOR_END: gemm

// ANCHOR: ptx
/// One instruction that the language does not have.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn bytes(x: TensorMut<i32, 1>) {
    let window = x.tile([block_id(0) * 128], [128]);
    let x = window.load();
    window.store(ptx!("dp4a.s32.s32 {out}, {a}, {a}, {c};", a = x, c = zeros::<i32>([128]) => i32));
}
// ANCHOR_END: ptx

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(registers::TARGETS)?.stream()?;
    let half = |x| f16::from_f32(x);
    let mut x = stream.full([160, 8], 1.0f32)?;
    registers(registers::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [2.0; 1280]);
    let mut x = stream.full([8, 8], 1.0f32)?;
    fragment(fragment::Args { x: &mut x }).launch(&stream)?;
    fragment_twice(fragment_twice::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [3.0; 64]);
    let mut x = stream.upload(&[0x0102_0304, -1], [2])?;
    bytes(bytes::Args { x: &mut x }).launch(&stream)?;
    println!("{:?}", x.to_vec(&stream)?);

    let stream = Device::best_for(copies::TARGETS)?.stream()?;
    let x = stream.full([20, 256], half(0.5))?;
    let mut y = stream.zeros([20, 256])?;
    copies(copies::Args { x: &x, y: &mut y }).launch(&stream)?;
    assert_eq!(y.to_vec(&stream)?, [half(1.0); 20 * 256]);

    let mut x = stream.upload(&[[1.0f32; 256], [2.0; 256]].concat(), [2, 256])?;
    exchange(exchange::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [[2.0; 256], [1.0; 256]].concat());

    let stream = Device::best_for(gemm::TARGETS)?.stream()?;
    let host: Vec<u8> = (0..512u16).map(|i| (i % 251) as u8).collect();
    let x = stream.upload(&host, [32, 16])?;
    let mut out = stream.zeros([64, 16])?;
    replicate(replicate::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, host.repeat(2));
    let (a, b) = (stream.full([128, 64], half(0.5))?, stream.full([64, 64], half(2.0))?);
    let mut c = stream.zeros([128, 64])?;
    gemm(gemm::Args { a: &a, b: &b, c: &mut c }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [64.0; 128 * 64]);
    Ok(())
}
