use kiln::prelude::*;

// ANCHOR: saxpy
/// y = a · x + y
#[kernel(target = sm_80, warps = 8, grid = cdiv(y.dim(0), 1024))]
pub fn saxpy(a: f32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let at = [block_id(0) * 1024];
    let window = y.tile(at, [1024]);
    let (x, y) = (x.tile(at, [1024]).load(), window.load());
    window.store(fma(x, a, y));
}
// ANCHOR_END: saxpy

// ANCHOR: shared
/// A transpose by way of shared memory.
#[kernel(target = sm_80, warps = 8, grid = [cdiv(x.dim(1), 32), cdiv(x.dim(0), 32)])]
pub fn transpose(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(1) * 32, block_id(0) * 32);
    let staged = shared::<f32>([32, 32]); // __shared__ float staged[32][32]
    staged.store(x.tile([row, column], [32, 32]).load());
    sync(); // __syncthreads()
    out.tile([column, row], [32, 32]).store(staged.t().load());
}
// ANCHOR_END: shared

// ANCHOR: race
/// The same without the barrier.
#[kernel(target = sm_80, warps = 8, grid = [cdiv(x.dim(1), 32), cdiv(x.dim(0), 32)])]
pub fn transpose_race(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(1) * 32, block_id(0) * 32);
    let staged = shared::<f32>([32, 32]);
    staged.store(x.tile([row, column], [32, 32]).load());
    out.tile([column, row], [32, 32]).store(staged.t().load());
}
// ANCHOR_END: race

// ANCHOR: warp
/// What warps do with shuffles and votes, of 32 elements.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn warp(x: Tensor<i32, 1>, out: TensorMut<i32, 2>) {
    let lane = arange(0, 32);
    let x = x.tile([0], [32]).load();
    let odd = (x & 1).eq(1);
    let rows = [
        x.sum(0).broadcast([32]),                      // __reduce_add_sync
        x.gather(0, lane ^ 1),                         // __shfl_xor_sync(.., x, 1)
        x.gather(0, lane - 1),                         // __shfl_up_sync, 0 in the first lane
        x.cumsum(0),                                   // a scan
        odd.cast::<i32>().sum(0).broadcast([32]),      // __popc(__ballot_sync(.., odd))
        (odd.cast::<i32>() << lane).sum(0).broadcast([32]), // __ballot_sync
        x.count_ones().cast::<i32>(),                  // __popc
    ];
    for i in unroll(0..7) {
        out.tile([i, 0], [1, 32]).store(rows[i as usize].expand(0));
    }
    let any: bool = odd.reduce(0, |a, b| a | b).item(); // __any_sync
    let all: bool = odd.reduce(0, |a, b| a & b).item(); // __all_sync
    if any && !all {
        out.tile([7, 0], [1, 1]).store(full([1, 1], 1));
    }
}
// ANCHOR_END: warp

// ANCHOR: histogram
/// Counts in shared memory, and then in global memory.
#[kernel(target = sm_80, warps = 8, grid = cdiv(x.dim(0), 1024))]
pub fn histogram(x: Tensor<u8, 1>, counts: TensorMut<i32, 1>) {
    let mine = shared::<i32>([256]);
    mine.store(zeros([256]));
    sync();
    let (at, length) = (block_id(0) * 1024, x.dim(0));
    let bins = x.tile([at], [1024]).load().cast::<i32>();
    let inside = (at + arange(0, 1024)).lt(length);
    mine.atomic_add(select(inside, bins, -1), full([1024], 1)); // atomicAdd(&mine[bin], 1)
    sync();
    counts.tile([0], [256]).atomic_add(mine.load()); // atomicAdd(&counts[i], mine[i])
}
// ANCHOR_END: histogram

// ANCHOR: last
/// The sum of a vector: the last block to arrive adds the parts. __threadfence() and a counter.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn sum(x: Tensor<f32, 1>, parts: TensorMut<f32, 1>, come: TensorMut<i32, 1>) {
    let part = x.tile([block_id(0) * 1024], [1024]).load().sum(0);
    parts.tile([1 + block_id(0)], [1]).store(part.expand(0));
    let before = come.tile([0], [1]).acq_rel().atomic_add(full([1], 1)).item();
    if before == num_blocks(0) - 1 {
        let mut total = zeros::<f32>([128]);
        for i in range(1, num_blocks(0) + 1, 128) {
            total += parts.tile([i], [128]).load();
        }
        parts.tile([0], [1]).store(total.sum(0).expand(0));
    }
}
// ANCHOR_END: last

// ANCHOR: gridsync
/// All blocks meet: each arrives, and waits until the others have. For a cooperative launch.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn neighbours(x: TensorMut<f32, 2>, arrived: TensorMut<i32, 1>) {
    let me = block_id(0);
    x.tile([me, 0], [1, 128]).store(full([1, 128], me as f32));
    arrived.tile([0], [1]).release().atomic_add(full([1], 1));
    while arrived.tile([0], [1]).acquire().atomic_load().item() < num_blocks(0) {}
    let next = (me + 1) % num_blocks(0);
    let sum = x.tile([next, 0], [1, 128]).load();
    x.tile([me, 128], [1, 128]).store(sum);
}
// ANCHOR_END: gridsync

// ANCHOR: cluster
/// Two blocks of a cluster exchange their rows through shared memory.
#[kernel(target = sm_90a, warps = 4, grid = x.dim(0), cluster = [2])]
pub fn exchange(x: TensorMut<f32, 2>) {
    let window = x.tile([block_id(0), 0], [1, 256]);
    let mine = shared::<f32>([1, 256]);
    mine.store(window.load());
    cluster::sync(); // cluster.sync()
    window.store(mine.of_block(cluster::rank() ^ 1).load()); // cluster.map_shared_rank(..)
}
// ANCHOR_END: cluster

// ANCHOR: tables
/// Elements of shared memory at computed indices.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn tables(x: TensorMut<f32, 2>) {
    let window = x.tile([0, 0], [8, 8]);
    let s = shared::<f32>([8, 8]);
    let (rows, columns) = (arange(0, 8).expand(1), arange(0, 8).expand(0));
    s.scatter([rows ^ 1, columns], window.load()); // s[row ^ 1][column] = x
    sync();
    window.store(s.gather([columns, rows])); // s[column][row]
}
// ANCHOR_END: tables

// ANCHOR: early
/// Starts while the kernel before it ends.
#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn power(x: TensorMut<f32, 1>) {
    let window = x.tile([block_id(0) * 512], [512]);
    grid_dependency_wait(); // cudaGridDependencySynchronize()
    let x = window.load();
    window.store(x.exp_approx()); // __expf
}
// ANCHOR_END: early

// ANCHOR: device
/// A device function, and a constant of a template.
#[device]
fn clamped<const LIMIT: i32>(x: Tile<f32>) -> Tile<f32> {
    x.clamp(0.0, LIMIT as f32)
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512), instances(LIMIT = [1, 6]))]
pub fn relu<const LIMIT: i32>(x: TensorMut<f32, 1>) {
    assert!(x.dim(0) > 0, "nothing to do"); // in debug builds
    let window = x.tile([block_id(0) * 512], [512]);
    window.store(clamped::<LIMIT>(window.load()));
}

/// Bits: exponents of floats, and an instruction that the language does not have.
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn bits(x: Tensor<f32, 1>, exponents: TensorMut<i32, 1>, swapped: TensorMut<i32, 1>) {
    let x = x.tile([0], [32]).load();
    let word = x.bitcast::<i32>(); // __float_as_int
    exponents.tile([0], [32]).store((word >> 23) - 127);
    swapped.tile([0], [32]).store(ptx!("prmt.b32 {out}, {w}, 0, 0x0123;", w = word => i32)); // asm
}
// ANCHOR_END: device

pub fn main() -> kiln::Result<()> {
    // ANCHOR: host
    let device = Device::best_for(saxpy::TARGETS)?; // cudaSetDevice
    let stream = device.stream()?; // cudaStreamCreate
    let x = stream.upload(&[1.0f32; 3000], [3000])?; // cudaMalloc, cudaMemcpyAsync
    let mut y = stream.zeros::<f32, 1>([3000])?; // cudaMallocAsync, cudaMemsetAsync
    saxpy(saxpy::Args { a: 2.0, x: &x, y: &mut y }).launch(&stream)?; // saxpy<<<grid, 256, 0, stream>>>
    let event = stream.record()?; // cudaEventRecord
    let other = device.stream()?;
    other.wait(&event)?; // cudaStreamWaitEvent
    println!("{}", y.to_vec(&other)?[2999]); // cudaMemcpy
    stream.synchronize()?; // cudaStreamSynchronize; memory is freed when `x` and `y` go
    // ANCHOR_END: host

    let host: Vec<f32> = (0u16..40 * 50).map(f32::from).collect();
    let x = stream.upload(&host, [40, 50])?;
    let mut out = stream.zeros([50, 40])?;
    transpose(transpose::Args { x: &x, out: &mut out }).launch(&stream)?;
    let required: Vec<f32> = (0u16..2000).map(|i| f32::from(i % 40 * 50 + i / 40)).collect();
    assert_eq!(out.to_vec(&stream)?, required);
    let launched = transpose_race(transpose_race::Args { x: &x, out: &mut out }).launch(&stream);
    println!("{}", launched.expect_err("the emulator reports the race"));

    let x = stream.upload(&(0..32).map(|i| i * 3).collect::<Vec<i32>>(), [32])?;
    let mut out = stream.zeros([8, 32])?;
    warp(warp::Args { x: &x, out: &mut out }).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    assert_eq!(out[0], 1488);
    assert_eq!(out[32..36], [3, 0, 9, 6]);
    assert_eq!(out[64..68], [0, 0, 3, 6]);
    assert_eq!(out[96..100], [0, 3, 9, 18]);
    assert_eq!([out[128], out[160], out[192 + 5], out[224]], [16, 0xaaaa_aaaau32.cast_signed(), 4, 1]);

    let x = stream.upload(&[7u8; 1500], [1500])?;
    let mut counts = stream.zeros([256])?;
    histogram(histogram::Args { x: &x, counts: &mut counts }).launch(&stream)?;
    assert_eq!(counts.to_vec(&stream)?[..8], [0, 0, 0, 0, 0, 0, 0, 1500]);

    let x = stream.full([5000], 0.5f32)?;
    let (mut parts, mut come) = (stream.zeros([6])?, stream.zeros([1])?);
    sum(sum::Args { x: &x, parts: &mut parts, come: &mut come }).launch(&stream)?;
    assert_eq!(parts.to_vec(&stream)?, [2500.0, 512.0, 512.0, 512.0, 512.0, 452.0]);

    let (mut x, mut arrived) = (stream.zeros([4, 256])?, stream.zeros([1])?);
    neighbours(neighbours::Args { x: &mut x, arrived: &mut arrived }).cooperative().launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?.chunks(256).map(|r| r[255]).collect::<Vec<f32>>(), [1.0, 2.0, 3.0, 0.0]);

    let mut x = stream.upload(&[-3.0, 0.5, 9.0f32], [3])?;
    relu::<6>(relu::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [0.0, 0.5, 6.0]);

    let x = stream.full([32], 8.0f32)?; // 0x41000000
    let (mut exponents, mut swapped) = (stream.zeros([32])?, stream.zeros([32])?);
    bits(bits::Args { x: &x, exponents: &mut exponents, swapped: &mut swapped }).launch(&stream)?;
    assert_eq!(exponents.to_vec(&stream)?, [3; 32]);
    assert_eq!(swapped.to_vec(&stream)?, [0x41; 32]);

    let mut x = stream.upload(&(0u8..64).map(f32::from).collect::<Vec<f32>>(), [8, 8])?;
    tables(tables::Args { x: &mut x }).launch(&stream)?;
    let required: Vec<f32> = (0u8..64).map(|i| f32::from(((i % 8) ^ 1) * 8 + i / 8)).collect();
    assert_eq!(x.to_vec(&stream)?, required);

    let stream = Device::best_for(exchange::TARGETS)?.stream()?;
    let mut x = stream.zeros([600])?;
    power(power::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [1.0; 600]);
    let mut x = stream.upload(&[[1.0f32; 256], [2.0; 256]].concat(), [2, 256])?;
    exchange(exchange::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [[2.0; 256], [1.0; 256]].concat());
    Ok(())
}
