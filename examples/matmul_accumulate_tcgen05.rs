//! d = a · b + c on Blackwell: operands in f16, c and d in f32, c copied directly into the accumulator.
//!
//! `cargo run --release --example matmul_accumulate_tcgen05 [-- M N K | --large]`
//!
//! TMA loads a tile of c into shared memory, and the tensor cores copy it to tensor memory, where products add to it.
//! Copy and products run in the order in which one thread starts them, so nothing waits for the copy; a commit after it
//! frees the shared memory.

#![expect(
    unreachable_pub,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "an example prints, measures in f64, and reads like the library code that it stands for"
)]

use kiln::prelude::*;

#[path = "support/normal.rs"]
mod normal;
#[path = "support/reference.rs"]
mod reference;
#[path = "support/report.rs"]
mod report;

use reference::Reference;

/// Persistent blocks: each computes tiles of `BM` × `BN`, one after another.
#[kiln::kernel]
pub mod gemm {
    use kiln::Ring;
    use kiln::prelude::*;
    use kiln::sched::{Grouped, Persistent, Schedule};

    struct Gemm {
        a: TensorMap<f16, 2>,
        b: TensorMap<f16, 2>,
        c: TensorMap<f32, 2>,
        d: TensorMut<f32, 2>,
        a_bufs: Shared<f16>,
        b_bufs: Shared<f16>,
        c_buf: Shared<f32>,
        /// Two accumulators: one receives products, the other is stored.
        accs: Tmem<f32>,
        full: Barriers,
        empty: Barriers,
        c_full: Barrier,
        c_empty: Barrier,
        done: Barriers,
        free: Barriers,
        tiles: Persistent<Grouped<8>>,
    }

    impl Gemm {
        /// Loads the tile of c, then the steps of both operands.
        fn load(&self) {
            let ([bm, bk], [_, bn]) = (self.a.block(), self.b.block());
            let mut c_phase = 1;
            let mut ring = Ring::writer(self.full.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                let (m, n) = (row * bm, column * bn);
                self.c_empty.wait(c_phase);
                self.c_full.expect(self.c.block_bytes());
                tma::load(self.c, [m, n], self.c_full, self.c_buf);
                c_phase ^= 1;
                for k in range(0, self.a.dim(1), bk) {
                    let full = self.full[ring.slot];
                    self.empty[ring.slot].wait(ring.phase);
                    full.expect(self.a.block_bytes() + self.b.block_bytes());
                    tma::load(self.a, [m, k], full, self.a_bufs[ring.slot]);
                    tma::load(self.b, [k, n], full, self.b_bufs[ring.slot]);
                    ring.advance();
                }
            }
        }

        /// Starts copies and products, and waits for none of them.
        fn multiply(&self) {
            let [_, bk] = self.a.block();
            let mut c_phase = 0;
            let mut ring = Ring::reader(self.full.len());
            let mut sums = Ring::writer(self.free.len());
            for _ in 0..self.tiles.count() {
                // c comes later than the store of the sums before is done.
                self.c_full.wait(c_phase);
                c_phase ^= 1;
                self.free[sums.slot].wait(sums.phase);
                let acc = self.accs[sums.slot];
                tcgen05::copy(self.c_buf, acc);
                tcgen05::commit(self.c_empty);
                for _ in range(0, self.a.dim(1), bk) {
                    self.full[ring.slot].wait(ring.phase);
                    tcgen05::mma(self.a_bufs[ring.slot], self.b_bufs[ring.slot], acc);
                    tcgen05::commit(self.empty[ring.slot]);
                    ring.advance();
                }
                tcgen05::commit(self.done[sums.slot]);
                sums.advance();
            }
        }

        /// Stores finished tiles through the registers, since TMA is busy loading.
        fn store(&self) {
            let [bm, bn] = self.c.block();
            let mut sums = Ring::reader(self.done.len());
            for i in 0..self.tiles.count() {
                let (row, column) = self.tiles.tile(i);
                self.done[sums.slot].wait(sums.phase);
                let result = self.accs[sums.slot].load();
                self.free[sums.slot].arrive();
                sums.advance();
                self.d.tile([row * bm, column * bn], [bm, bn]).store(result);
            }
        }
    }

    /// The accumulator of a tile of d starts as one of c.
    #[kernel(target = sm_100f, warps = 4, grid = persistent(cdiv(d.dim(0), BM) * cdiv(d.dim(1), BN)),
             instances((BM, BN, BK, STAGES) = [(128, 128, 64, 3), (128, 64, 64, 3)]))]
    pub fn matmul<const BM: i32, const BN: i32, const BK: i32, const STAGES: i32>(
        #[block(BM, BK)] a: TensorMap<f16, 2>,
        #[block(BK, BN)] b: TensorMap<f16, 2>,
        #[block(BM, BN)] c: TensorMap<f32, 2>,
        d: TensorMut<f32, 2>,
    ) {
        let p = Gemm {
            a,
            b,
            c,
            d,
            a_bufs: shared([STAGES, BM, BK]),
            b_bufs: shared([STAGES, BK, BN]),
            c_buf: shared([BM, BN]),
            accs: tmem([2, BM, BN]),
            full: barriers(STAGES, 1),
            empty: barriers(STAGES, 1),
            c_full: barrier(1),
            c_empty: barrier(1),
            done: barriers(2, 1),
            free: barriers(2, 1),
            tiles: Persistent::<Grouped<8>>::new(cdiv(d.dim(0), BM), cdiv(d.dim(1), BN)),
        };
        warp_specialize(
            || p.store(),
            [
                partition(1).registers(24).run(|| p.multiply()),
                partition(1).registers(24).run(|| p.load()),
            ],
        );
    }
}

fn main() -> Result<()> {
    let device = Device::best_for(gemm::matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[264, 200, 136]],
        None => vec![[4096, 4096, 4096], [1024, 1024, 2048], [1000, 1096, 520]],
    };
    let instances = gemm::matmul::instances();
    let mut table = report::Table::new(&["m", "n", "k", "instance", "error", "ms", "TFLOP/s"]);
    let progress = report::progress(instances.len() * sizes.len(), "matmul_accumulate_tcgen05");
    for [m, n, k] in sizes {
        let halves = |len, seed| -> Vec<f16> {
            normal::numbers(len, seed).into_iter().map(f16::from_f32).collect()
        };
        let (a_host, b_host) = (halves(m * k, 1), halves(k * n, 2));
        let c_host = normal::numbers(m * n, 3);
        let (a, b) = (stream.upload(&a_host, [m, k])?, stream.upload(&b_host, [k, n])?);
        let c = stream.upload(&c_host, [m, n])?;
        let floats = |host: &[f16]| -> Vec<f32> { host.iter().map(|x| x.to_f32()).collect() };
        let c_at = |row: usize, column: usize| f64::from(c_host[row * n + column]);
        let reference = Reference::of(&floats(&a_host), &floats(&b_host), c_at, [m, n, k]);
        for one in instances.clone() {
            let name = format!("{}x{}x{}, {} stages", one.BM, one.BN, one.BK, one.STAGES);
            let mut d = stream.full([m, n], f32::NAN)?;
            one.with(gemm::matmul::Args { a: &a, b: &b, c: &c, d: &mut d }).launch(&stream)?;
            let actual = d.to_vec(&stream)?;
            let name_and_size = format!("{name} at {m}x{n}x{k}");
            let range = |_, _, required: f64| {
                let off = normal::rounding(k, required);
                [required - off, required + off]
            };
            let error = reference
                .compare(&name_and_size, range, |row, column| f64::from(actual[row * n + column]));
            let ms = report::median_ms(&stream, || {
                one.with(gemm::matmul::Args { a: &a, b: &b, c: &c, d: &mut d }).launch(&stream)
            })?;
            table.row(&[&m, &n, &k, &name], error, ms, 2e-3 * m as f64 * n as f64 * k as f64);
            progress.inc(1);
            // Products are exact; each of k sums rounds to 24 bits, which add up like a random walk.
            let bound = 2f64.powi(-24) * (k as f64).sqrt() * 8.0;
            assert!(error < bound, "{name_and_size}: relative error {error}");
        }
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
