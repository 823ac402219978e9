//! c = a · b on Blackwell with block-scaled operands: MXFP8, MXFP4 and NVFP4.
//!
//! `cargo run --release --example matmul_scaled [-- M N K | --large]`
//!
//! A scale is for 32 or 16 neighbours along `k`. Four warps load a step of both operands by TMA and their scales
//! through registers; one more starts the copies of the scales to tensor memory, and the products. The copies overwrite
//! what the previous product reads: the tensor cores do everything in the order in which it is started.
//!
//! | instance | operands | scales | elements in a block |
//! |---|---|---|---|
//! | MXFP8 | `e4m3` | powers of two, `ue8m0` | 32 |
//! | MXFP4 | two FP4 numbers to a byte, `e2m1x2` | powers of two, `ue8m0` | 32 |
//! | NVFP4 | two FP4 numbers to a byte, `e2m1x2` | `e4m3` | 16 |

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/reference.rs"]
mod reference;
#[path = "support/report.rs"]
mod report;

use reference::Reference;

/// Persistent blocks: each computes tiles of 128 × 128, one after another.
#[kiln::kernel]
pub mod gemm {
    use kiln::Ring;
    use kiln::prelude::*;
    use kiln::sched::{Grouped, Persistent, Schedule};

    struct Gemm<T: Scalar, S: Scalar> {
        a: TensorMap<T, 2>,
        b: TensorMap<T, 2>,
        of_a: Tensor<S, 2>,
        of_b: Tensor<S, 2>,
        c: TensorMut<f32, 2>,
        a_bufs: Shared<T>,
        b_bufs: Shared<T>,
        of_a_bufs: Shared<S>,
        of_b_bufs: Shared<S>,
        a_scales: Tmem<S>,
        b_scales: Tmem<S>,
        /// Two accumulators: one receives products, the other is stored.
        accs: Tmem<f32>,
        full: Barriers,
        empty: Barriers,
        done: Barriers,
        free: Barriers,
        tiles: Persistent<Grouped<8>>,
    }

    impl<T: Scalar, S: Scalar> Gemm<T, S> {
        /// Fills the ring: a buffer is full when the operands have come and the warps have stored the scales.
        fn load(&self) {
            let [bm, bk] = self.a.block();
            let (bn, scales) = (self.b.block()[0], self.a_scales.dim(1));
            let mut ring = Ring::writer(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let (m, n) = (row * bm, column * bn);
                for k in range(0, self.a.dim(1), bk) {
                    let at = k / bk * scales;
                    let of_a = self.of_a.tile([m, at], [bm, scales]).load();
                    let of_b = self.of_b.tile([n, at], [bn, scales]).load();
                    let full = self.full[ring.slot];
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    tma::load(self.a, [m, k], full, self.a_bufs[ring.slot]);
                    tma::load(self.b, [n, k], full, self.b_bufs[ring.slot]);
                    self.of_a_bufs[ring.slot].store(of_a);
                    self.of_b_bufs[ring.slot].store(of_b);
                    fence_async();
                    full.arrive();
                    ring.advance();
                }
            }
        }

        /// Starts copies and products, and waits for none of them.
        fn multiply(&self) {
            let bk = self.a.block()[1];
            let mut ring = Ring::reader(self.full.len());
            let mut sums = Ring::writer(self.free.len());
            for _ in 0..self.tiles.count() {
                self.free[sums.slot].wait(sums.phase);
                let acc = self.accs[sums.slot];
                for k in range(0, self.a.dim(1), bk) {
                    self.full[ring.slot].wait(ring.phase);
                    let (a, b) = (self.a_bufs[ring.slot], self.b_bufs[ring.slot]);
                    tcgen05::copy(self.of_a_bufs[ring.slot], self.a_scales);
                    tcgen05::copy(self.of_b_bufs[ring.slot], self.b_scales);
                    tcgen05::mma_scaled(a, b.t(), acc, self.a_scales, self.b_scales)
                        .accumulate(k > 0);
                    tcgen05::commit(self.empty[ring.slot]);
                    ring.advance();
                }
                tcgen05::commit(self.done[sums.slot]);
                sums.advance();
            }
        }

        fn store(&self) {
            let (bm, bn) = (self.a.block()[0], self.b.block()[0]);
            let mut sums = Ring::reader(self.done.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                self.done[sums.slot].wait(sums.phase);
                let result = self.accs[sums.slot].load();
                self.free[sums.slot].arrive();
                sums.advance();
                self.c.tile([row * bm, column * bn], [bm, bn]).store(result);
            }
        }
    }

    /// A step along `k` is 128 bytes of each row of `a`, of shape `[m, k]`, and of `b`, of shape `[n, k]`; there are `SCALES` scales a row.
    #[kernel(target = sm_100f, warps = 4, grid = persistent(cdiv(c.dim(0), 128) * cdiv(c.dim(1), 128)),
             instances((T, S, SCALES) = [(e4m3, ue8m0, 4), (e2m1x2, ue8m0, 8), (e2m1x2, e4m3, 16)]))]
    pub fn matmul<T: Scalar, S: Scalar, const SCALES: i32>(
        #[block(128, 128)] a: TensorMap<T, 2>,
        of_a: Tensor<S, 2>,
        #[block(128, 128)] b: TensorMap<T, 2>,
        of_b: Tensor<S, 2>,
        c: TensorMut<f32, 2>,
    ) {
        let p = Gemm {
            a,
            b,
            of_a,
            of_b,
            c,
            a_bufs: shared([4, 128, 128]),
            b_bufs: shared([4, 128, 128]),
            of_a_bufs: shared([4, 128, SCALES]),
            of_b_bufs: shared([4, 128, SCALES]),
            a_scales: tmem([128, SCALES]),
            b_scales: tmem([128, SCALES]),
            accs: tmem([2, 128, 128]),
            full: barriers(4, 2),
            empty: barriers(4, 1),
            done: barriers(2, 1),
            free: barriers(2, 1),
            tiles: Persistent::<Grouped<8>>::new(cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)),
        };
        warp_specialize(
            || p.store(),
            [
                partition(1).registers(40).run(|| p.multiply()),
                partition(4).registers(88).run(|| p.load()),
            ],
        );
    }
}

/// The elements of an operand in memory.
trait Factor: Element {
    /// The numbers in an element.
    const NUMBERS: usize;
    /// One of its possible values.
    fn nth(i: usize) -> Self;
    /// A number in the element.
    fn number(self, at: usize) -> f64;
}

impl Factor for e4m3 {
    const NUMBERS: usize = 1;

    fn nth(i: usize) -> e4m3 {
        e4m3::from_f32([1.0, -2.0, 0.5, 3.0, 0.0, -1.25, 4.0][i % 7])
    }

    fn number(self, _: usize) -> f64 {
        self.to_f64()
    }
}

impl Factor for e2m1x2 {
    const NUMBERS: usize = 2;

    fn nth(i: usize) -> e2m1x2 {
        e2m1x2::from_bits((i * 89 % 256).to_le_bytes()[0])
    }

    fn number(self, at: usize) -> f64 {
        self.to_f32()[at].into()
    }
}

/// A scale in memory.
trait Scale: Element {
    fn nth(i: usize) -> Self;
    fn factor(self) -> f64;
}

impl Scale for ue8m0 {
    fn nth(i: usize) -> ue8m0 {
        ue8m0::from_exponent([0, 1, -1, -2, 2][i % 5])
    }

    fn factor(self) -> f64 {
        self.to_f32().into()
    }
}

impl Scale for e4m3 {
    fn nth(i: usize) -> e4m3 {
        e4m3::from_f32([1.0, 0.5, 1.5, 2.0, 3.5][i % 5])
    }

    fn factor(self) -> f64 {
        self.to_f64()
    }
}

/// Multiplies operands with a scale for each `block` numbers, and checks the result.
fn check<T: Factor, S: Scale>(
    table: &mut report::Table,
    stream: &Stream,
    (name, block): (&str, usize),
    [m, n, k]: [usize; 3],
) -> Result<()> {
    let (bytes, scales) = (k / T::NUMBERS, k / block);
    // Whole numbers up to 1024, to choose by.
    let chosen = |len: usize, seed| -> Vec<usize> {
        let number = |x: f32| ((x + 0.5) * 1024.0) as usize;
        report::random(len, seed).into_iter().map(number).collect()
    };
    let factor =
        |lines, seed| -> Vec<T> { chosen(lines * bytes, seed).into_iter().map(T::nth).collect() };
    let scale =
        |lines, seed| -> Vec<S> { chosen(lines * scales, seed).into_iter().map(S::nth).collect() };
    let (a_host, b_host) = (factor(m, 1), factor(n, 2));
    let (of_a_host, of_b_host) = (scale(m, 3), scale(n, 4));
    let (a, b) = (stream.upload(&a_host, [m, bytes])?, stream.upload(&b_host, [n, bytes])?);
    let (of_a, of_b) =
        (stream.upload(&of_a_host, [m, scales])?, stream.upload(&of_b_host, [n, scales])?);
    let mut c = stream.full([m, n], f32::NAN)?;
    let types = (Dtype::of::<T>(), Dtype::of::<S>());
    let instance = gemm::matmul::find(|one| (one.T, one.S) == types)?;
    let launch = |c: &mut DeviceTensor<f32, 2>| {
        let args = gemm::matmul::Args { a: &a, of_a: &of_a, b: &b, of_b: &of_b, c };
        instance.with(args).launch(stream)
    };
    launch(&mut c)?;
    let actual = c.to_vec(stream)?;
    let scaled = |host: &[T], of: &[S], lines: usize| -> Vec<f32> {
        let numbers = (0..lines * k).map(|i| {
            let number = host[i / T::NUMBERS].number(i % T::NUMBERS);
            (number * of[i / block].factor()) as f32
        });
        numbers.collect()
    };
    // Both factors lie with the depth contiguous: `b` has to be turned.
    let right = scaled(&b_host, &of_b_host, n);
    let right: Vec<f32> = (0..k * n).map(|i| right[i % n * k + i / n]).collect();
    let reference = Reference::of(&scaled(&a_host, &of_a_host, m), &right, |_, _| 0.0, [m, n, k]);
    // Scaled products are multiples of 2^-8, and sums of 8192 of them are smaller than 2^16: all are exact in 24 bits.
    let error = reference.compare(
        &format!("{name} at {m}x{n}x{k}"),
        |_, _, required| [required; 2],
        |row, column| f64::from(actual[row * n + column]),
    );
    let ms = report::median_ms(stream, || launch(&mut c))?;
    table.row(&[&m, &n, &k, &name], error, ms, 2e-3 * m as f64 * n as f64 * k as f64);
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::best_for(gemm::matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k.next_multiple_of(32)]],
        None if device.is_emulator() => vec![[264, 200, 608]],
        None => vec![[8192, 8192, 8192], [4096, 4096, 4096], [1000, 1096, 608]],
    };
    let mut table = report::Table::new(&["m", "n", "k", "instance", "error", "ms", "TFLOP/s"]);
    let progress = report::progress(3 * sizes.len(), "matmul_scaled");
    for size in sizes {
        check::<e4m3, ue8m0>(&mut table, &stream, ("MXFP8", 32), size)?;
        progress.inc(1);
        check::<e2m1x2, ue8m0>(&mut table, &stream, ("MXFP4", 32), size)?;
        progress.inc(1);
        check::<e2m1x2, e4m3>(&mut table, &stream, ("NVFP4", 16), size)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
