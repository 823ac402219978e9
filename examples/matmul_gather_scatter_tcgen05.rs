//! out[scatter[i], :] = x[gather[i], :] · w on Blackwell: TMA gathers and scatters the rows, four at a time.
//!
//! `cargo run --release --example matmul_gather_scatter_tcgen05 [-- ROWS N K | --large]`
//!
//! All warps run the same code: they load ahead into a ring, keep one product in flight, and fill the ring for the next
//! tile while the last products of this one run. The scatter of a tile continues while the next one is computed.

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

/// Persistent blocks: each computes tiles of `BM` rows of the lists by `BN` columns, one after the other.
#[kiln::kernel]
pub mod fused {
    use kiln::Ring;
    use kiln::prelude::*;
    use kiln::sched::{Grouped, Persistent, Schedule};

    /// A ring of operand tiles, and its TMA loads.
    struct Operands {
        x: TensorMap<bf16, 2>,
        w: TensorMap<bf16, 2>,
        rows: Tensor<i32, 1>,
        xs: Shared<bf16>,
        ws: Shared<bf16>,
        full: Barriers,
    }

    impl Operands {
        fn load(&self, ring: &mut Ring, m: i32, n: i32, k: i32) {
            let bm = self.xs.dim(1);
            let rows = self.rows.tile([m], [bm]).load();
            let full = self.full[ring.slot];
            full.expect(bm * self.x.block_bytes() + self.w.block_bytes());
            tma::gather(self.x, rows, k, full, self.xs[ring.slot]);
            tma::load(self.w, [k, n], full, self.ws[ring.slot]);
            ring.advance();
        }

        /// The next product, behind the one before: then the buffer before this one is free.
        fn multiply(&self, ring: &mut Ring, sums: &mut Sums) {
            self.full[ring.slot].wait(ring.phase);
            sums.wait();
            sums.add(self.xs[ring.slot], self.ws[ring.slot]);
            ring.advance();
        }
    }

    /// An accumulator in tensor memory; at most one product runs.
    struct Sums {
        acc: Tmem<f32>,
        done: Barrier,
        phase: i32,
        started: bool,
    }

    impl Sums {
        fn add(&mut self, a: Shared<bf16>, b: Shared<bf16>) {
            tcgen05::mma(a, b, self.acc).accumulate(self.started);
            tcgen05::commit(self.done);
            self.phase ^= 1;
            self.started = true;
        }

        /// Waits until the most recent product is finished.
        fn wait(&self) {
            self.done.wait(self.phase);
        }

        fn take(&mut self) -> Tile<f32> {
            self.wait();
            self.started = false;
            self.acc.load()
        }
    }

    /// Steps of the depth are `BK` wide, and `STAGES` of them lie in shared memory.
    #[kernel(target = sm_100f, warps = 4, grid = persistent(cdiv(gather.dim(0), BM) * cdiv(w.dim(1), BN)),
             instances((BM, BN) = [(128, 128), (128, 64)], (BK, STAGES) = [(128, 2), (64, 3)]))]
    pub fn matmul<const BM: i32, const BN: i32, const BK: i32, const STAGES: i32>(
        #[block(1, BK)] x: TensorMap<bf16, 2>,
        #[block(BK, BN)] w: TensorMap<bf16, 2>,
        #[block(1, BN)] out: TensorMapMut<bf16, 2>,
        gather: Tensor<i32, 1>,
        scatter: Tensor<i32, 1>,
    ) {
        const { assert!(STAGES >= 2, "a load overlaps a product") }
        let (xs, ws) = (shared([STAGES, BM, BK]), shared([STAGES, BK, BN]));
        let ops = Operands { x, w, rows: gather, xs, ws, full: barriers(STAGES, 1) };
        let staged = shared::<bf16>([BM, BN]);
        // A fresh barrier has ended the phase before its first one: the first wait passes.
        let mut sums = Sums { acc: tmem([BM, BN]), done: barrier(1), phase: 1, started: false };
        let (mut loads, mut products) = (Ring::reader(STAGES), Ring::reader(STAGES));
        let ahead = BK * (STAGES - 1);
        let count = gather.dim(0);

        let tiles = Persistent::<Grouped<8>>::new(cdiv(count, BM), cdiv(w.dim(1), BN));
        let (mut tile_m, mut tile_n) = tiles.tile(0);
        for k in range(0, ahead, BK) {
            ops.load(&mut loads, tile_m * BM, tile_n * BN, k);
        }
        for i in 0..tiles.count() {
            for k in range(ahead, x.dim(1), BK) {
                ops.multiply(&mut products, &mut sums);
                ops.load(&mut loads, tile_m * BM, tile_n * BN, k);
            }
            let (m, n) = (tile_m * BM, tile_n * BN);
            let listed = (m + arange(0, BM)).lt(count);
            // Behind the end of the list: no row of the result.
            let rows = select(listed, scatter.tile([m], [BM]).load(), full([BM], out.dim(0)));

            let more = i + 1 < tiles.count();
            (tile_m, tile_n) = tiles.tile(i + 1);
            for k in range(0, ahead, BK) {
                ops.multiply(&mut products, &mut sums);
                if more {
                    ops.load(&mut loads, tile_m * BM, tile_n * BN, k);
                }
            }
            let result = sums.take().cast::<bf16>();
            tma::store_wait(0); // the scatter before this one has left `staged`
            staged.store(result);
            fence_async();
            tma::scatter(out, rows, n, staged);
        }
        tma::store_wait(0);
    }
}

fn main() -> Result<()> {
    let device = Device::best_for(fused::matmul::TARGETS)?;
    let stream = device.stream()?;
    println!("on {device}");
    let sizes = match report::sizes::<3>() {
        Some([m, n, k]) => vec![[m, n, k]],
        None if device.is_emulator() => vec![[200, 136, 392]],
        None => vec![[4096, 4096, 4096], [1024, 1024, 2048], [200, 136, 200]],
    };
    let instances = fused::matmul::instances();
    let mut table = report::Table::new(&["rows", "n", "k", "instance", "error", "ms", "TFLOP/s"]);
    let progress = report::progress(instances.len() * sizes.len(), "matmul_gather_scatter_tcgen05");
    for [m, n, k] in sizes {
        let values = |len, seed| -> Vec<bf16> {
            normal::numbers(len, seed).into_iter().map(bf16::from_f32).collect()
        };
        let (x_host, w_host) = (values(m * k, 1), values(k * n, 2));
        // Each row once, in another order: steps coprime to the number of rows.
        let order = |step: usize| -> Vec<i32> {
            (0..m).map(|i| i32::try_from(i * step % m).expect("rows are few")).collect()
        };
        let (gather_host, scatter_host) = (order(7919), order(104_729));
        let (x, w) = (stream.upload(&x_host, [m, k])?, stream.upload(&w_host, [k, n])?);
        let (gather, scatter) =
            (stream.upload(&gather_host, [m])?, stream.upload(&scatter_host, [m])?);
        let floats = |host: &[bf16]| -> Vec<f32> { host.iter().map(|x| x.to_f32()).collect() };
        let reference = Reference::of(&floats(&x_host), &floats(&w_host), |_, _| 0.0, [m, n, k]);
        // Where each row of x · w is: from where it was gathered, to where it is scattered.
        let mut rows = vec![0; m];
        for (&from, &to) in gather_host.iter().zip(&scatter_host) {
            let natural = |row: i32| usize::try_from(row).expect("rows are natural");
            rows[natural(from)] = natural(to);
        }
        for one in instances.clone() {
            let name = format!("{}x{}x{}, {} stages", one.BM, one.BN, one.BK, one.STAGES);
            let mut out = stream.full([m, n], bf16::NAN)?;
            one.with(fused::matmul::Args {
                x: &x,
                w: &w,
                out: &mut out,
                gather: &gather,
                scatter: &scatter,
            })
            .launch(&stream)?;
            let actual = out.to_vec(&stream)?;
            // What is required is rounded to bf16, as the result is: where sums in f32 may be off across the middle between two
            // numbers, to either. Beside that, each may be off by 1e-3 and by 1e-3 of it.
            let range = |_, _, required: f64| {
                let off = normal::rounding(k, required);
                let rounded = |edge: f64| bf16::from_f64(edge).to_f64();
                let (least, most) = (rounded(required - off), rounded(required + off));
                [least - 1e-3 - 1e-3 * least.abs(), most + 1e-3 + 1e-3 * most.abs()]
            };
            let error =
                reference.compare(&format!("{name} at {m}x{n}x{k}"), range, |row, column| {
                    actual[rows[row] * n + column].to_f64()
                });
            let ms = report::median_ms(&stream, || {
                one.with(fused::matmul::Args {
                    x: &x,
                    w: &w,
                    out: &mut out,
                    gather: &gather,
                    scatter: &scatter,
                })
                .launch(&stream)
            })?;
            table.row(&[&m, &n, &k, &name], error, ms, 2e-3 * m as f64 * n as f64 * k as f64);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    table.print();
    Ok(())
}
