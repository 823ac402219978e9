//! y = relu(x · a) · b on several devices: each has some columns of `a` and the same rows of `b`, and one all-reduce adds the parts.
//!
//! `cargo run --release --example tensor_parallel [-- DEVICES]`
//!
//! The devices are the machine's GPUs if there are enough, otherwise emulated ones; each has a thread. Started by a launcher
//! of processes, the program is one rank: `torchrun --no-python --nproc-per-node 2 target/release/examples/tensor_parallel`,
//! or `srun -n 2`. A rank without a GPU uses an emulated one.

#![expect(
    clippy::print_stdout,
    clippy::many_single_char_names,
    clippy::float_cmp,
    reason = "an example prints, reads as a formula does, and computes exact numbers"
)]

use kiln::{Comm, ReduceOp, Rendezvous, prelude::*};
use std::thread;

/// One block computes a 64 × 64 tile of c = a · b, or of relu(a · b).
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)],
         instances((C, RELU) = [(f16, true), (f32, false)]))]
pub fn product<C: Float, const RELU: bool>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<C, 2>,
) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 64]));
    let mut acc = zeros::<f32>([64, 64]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        copy_async(a.tile([m, k], [64, 32]), sa);
        copy_async(b.tile([k, n], [32, 64]), sb);
        acc = dot(sa.load(), sb.load(), acc);
    }
    if RELU {
        acc = maximum(acc, 0.0);
    }
    c.tile([m, n], [64, 64]).store(acc.cast::<C>());
}

/// Rows of x, columns of x, columns of a, columns of b.
const SIZES: [usize; 4] = [96, 128, 192, 80];

/// Whole numbers from -2 to 2: every sum below is a whole number that f16 and f32 hold, so results are compared exactly.
fn numbers(len: usize, step: usize) -> Vec<i32> {
    (0..len).map(|i| i32::try_from(i * step / 7 % 5).expect("below 5") - 2).collect()
}

/// The whole operands; a real program would read each rank's part from a file.
fn factors() -> [Vec<i32>; 3] {
    let [m, k, n, p] = SIZES;
    [numbers(m * k, 3), numbers(k * n, 11), numbers(n * p, 23)]
}

/// left · right, in row-major order.
fn host_product(left: &[i32], right: &[i32], [k, n]: [usize; 2]) -> Vec<i32> {
    let row = |row: &[i32]| -> Vec<i32> {
        let element = |column| row.iter().zip(0..).map(|(x, i)| x * right[i * n + column]).sum();
        (0..n).map(element).collect()
    };
    left.chunks(k).flat_map(row).collect()
}

/// The columns of a matrix that a rank has.
fn columns(matrix: &[i32], width: usize, part: std::ops::Range<usize>) -> Vec<i32> {
    matrix.chunks(width).flat_map(|row| row[part.clone()].iter().copied()).collect()
}

fn upload(stream: &Stream, values: &[i32], shape: [usize; 2]) -> Result<DeviceTensor<f16, 2>> {
    let values: Vec<f16> = values
        .iter()
        .map(|value| f16::from_f32(f32::from(i16::try_from(*value).expect("-2 to 2"))))
        .collect();
    stream.upload(&values, shape)
}

/// The work of each rank, which checks the result.
fn rank(comm: &Comm) -> Result<()> {
    let stream = comm.device().stream()?;
    let [m, k, n, p] = SIZES;
    let [x, a, b] = factors();
    // The last rank has what is left.
    let each = n / comm.world_size();
    let begin = comm.rank() * each;
    let end = if comm.rank() + 1 == comm.world_size() { n } else { begin + each };
    let width = end - begin;
    let x_here = upload(&stream, &x, [m, k])?;
    let a_here = upload(&stream, &columns(&a, n, begin..end), [k, width])?;
    let b_here = upload(&stream, &b[begin * p..end * p], [width, p])?;

    // By columns: each rank has its part of relu(x · a), and needs nothing of the others.
    let mut hidden = stream.empty([m, width])?;
    product::<f16, true>(product::Args { a: &x_here, b: &a_here, c: &mut hidden })
        .launch(&stream)?;
    // By rows: each rank has a part of every sum.
    let mut y = stream.empty([m, p])?;
    product::<f32, false>(product::Args { a: &hidden, b: &b_here, c: &mut y }).launch(&stream)?;
    comm.all_reduce_in_place(&stream, &mut y, ReduceOp::Sum)?;
    comm.wait(&stream)?;

    let hidden: Vec<i32> = host_product(&x, &a, [k, n]).into_iter().map(|h| h.max(0)).collect();
    let required = host_product(&hidden, &b, [n, p]);
    for (i, (actual, required)) in y.to_vec(&stream)?.into_iter().zip(required).enumerate() {
        let actual = f64::from(actual);
        assert!(actual == f64::from(required), "y[{}, {}]: {actual}, not {required}", i / p, i % p);
    }
    println!(
        "rank {} of {} on {}: columns {begin} to {end} of a, result as required",
        comm.rank(),
        comm.world_size(),
        comm.device()
    );
    Ok(())
}

fn main() -> Result<()> {
    // The choice that `KILN_DEVICE` may have made.
    let best = Device::best_for(product::TARGETS)?;
    let gpus = if best.is_emulator() { 0 } else { Device::cuda_count()? };
    if Rendezvous::is_in_env() {
        let place = Rendezvous::from_env()?;
        let on_gpu = place.local_rank < gpus;
        let device =
            if on_gpu { Device::cuda(place.local_rank)? } else { Device::emulator(Target::Sm80)? };
        return rank(&Comm::init(&device, &place)?);
    }
    let count = std::env::args().nth(1).map_or(Some(2), |count| count.parse().ok());
    let count = count.filter(|count| (1..=SIZES[2]).contains(count));
    let count = count.expect("the number of devices is from 1 to the columns of a");
    let device = |i| if count <= gpus { Device::cuda(i) } else { Device::emulator(Target::Sm80) };
    let devices = (0..count).map(device).collect::<Result<Vec<_>>>()?;
    let comms = Comm::in_process(&devices)?;
    thread::scope(|scope| {
        let ranks: Vec<_> =
            comms.into_iter().map(|comm| scope.spawn(move || rank(&comm))).collect();
        ranks.into_iter().try_for_each(|rank| rank.join().expect("a rank has panicked"))
    })
}
