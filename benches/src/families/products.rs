//! Products of TF32 and of FP8, and those of experts in FP8. Those of bf16 have a program of their own.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::{
    grouped::{Grouped, Scaled},
    matmul::{Epilogue, Matmul, Sums},
};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::{data, peers::Given};

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let mut matmul = Matmul::new(&bench.stream)?;
    for [m, n, k] in [
        [1, 4096, 4096],
        [16, 28672, 4096],
        [128, 7168, 2048],
        [512, 4096, 7168],
        [4096, 4096, 7168],
        [8192, 8192, 8192],
    ] {
        let operations = Work::Operations(2.0 * (m * n) as f64 * k as f64);
        let work = |bytes: usize| if m > 128 { operations } else { Work::Bytes(bytes) };
        let name = |what: &str| format!("products: {what} {m}x{n}x{k}");
        let normal = |rows: usize, seed| data::normal(rows * k, seed, |x| x);
        let (a, b) = (normal(m, 1), normal(n, 2));
        let a = bench.stream.upload(&a, [m, k])?;
        let b = bench.stream.upload(&b, [n, k])?;
        let mut c = bench.stream.zeros::<f32, 2>([m, n])?;
        let given = [Given::new("a", &a), Given::new("b", &b), Given::new("c", &c)];
        bench.time(Timed {
            name: name("tf32"),
            work: work(4 * (m * k + n * k + m * n)),
            launch: Box::new(|stream| Ok(matmul.product_tf32(stream, &a, &b, &mut c)?)),
            peers: Peers::of(&given)
                .after("torch.backends.cuda.matmul.allow_tf32 = True", "torch", "a @ b.T")
                .gives(&["c"]),
        })?;
        let float8 = |rows: usize, seed| data::normal(rows * k, seed, e4m3::from_f32);
        let a = bench.stream.upload(&float8(m, 1), [m, k])?;
        let b = bench.stream.upload(&float8(n, 2), [n, k])?;
        let mut c = bench.stream.zeros::<bf16, 2>([m, n])?;
        let given = [Given::new("a", &a), Given::new("b", &b), Given::new("c", &c)];
        let one = "one = torch.ones((), device='cuda')";
        let scaled = |fast: &str| {
            format!(
                "torch._scaled_mm(a, b.T, one, one, out_dtype=torch.bfloat16, use_fast_accum={fast})"
            )
        };
        for (what, sums) in [("float8", Sums::Precise), ("float8, fast sums", Sums::Fast)] {
            let epilogue = Epilogue { sums, ..Epilogue::default() };
            let peers = Peers::of(&given).gives(&["c"]);
            bench.time(Timed {
                name: name(what),
                work: work(m * k + n * k + HALF * m * n),
                launch: Box::new(|stream| {
                    Ok(matmul.product_float8(stream, &a, &b, &mut c, epilogue)?)
                }),
                peers: match sums {
                    Sums::Precise => peers.after(one, "torch", &scaled("False")).after(
                        one,
                        "fast sums",
                        &scaled("True"),
                    ),
                    Sums::Fast => peers.after(one, "torch", &scaled("True")),
                },
            })?;
        }
        // Gradients by weights.
        let gradients = data::normal(m * k, 1, e5m2::from_f32);
        let a = bench.stream.upload(&gradients, [m, k])?;
        let given = [Given::new("a", &a), Given::new("b", &b), Given::new("c", &c)];
        bench.time(Timed {
            name: name("e5m2 by e4m3"),
            work: work(m * k + n * k + HALF * m * n),
            launch: Box::new(|stream| {
                Ok(matmul.product_float8(stream, &a, &b, &mut c, Epilogue::default())?)
            }),
            peers: Peers::of(&given)
                .after(one, "torch", &scaled("False"))
                .after(one, "fast sums", &scaled("True"))
                .gives(&["c"]),
        })?;
    }
    let grouped = Grouped::new(&bench.stream)?;
    for (experts, rows, n, k) in
        [(8, 4096, 14336, 4096), (64, 16384, 2048, 7168), (64, 512, 2048, 7168)]
    {
        let float8 = |len: usize, seed| data::normal(len, seed, e4m3::from_f32);
        let a = bench.stream.upload(&float8(rows * k, 1), [rows, k])?;
        let b = bench.stream.upload(&float8(experts * n * k, 2), [experts, n, k])?;
        let (a_scales, b_scales) =
            (bench.stream.full([rows, 1], 1.0)?, bench.stream.full([experts, n, 1], 1.0)?);
        let mean = rows / experts;
        let ends: Vec<i32> = (0..=experts).map(|at| (at * mean) as i32).collect();
        let offsets = bench.stream.upload(&ends, [experts + 1])?;
        let mut c = bench.stream.zeros::<bf16, 2>([rows, n])?;
        let given = [
            Given::new("a", &a),
            Given::new("b", &b),
            Given::new("sa", &a_scales),
            Given::new("sb", &b_scales),
            Given::new("offsets", &offsets),
            Given::new("c", &c),
        ];
        let work = if mean > 64 {
            Work::Operations(2.0 * (rows * n) as f64 * k as f64)
        } else {
            Work::Bytes(experts * n * k + rows * k + HALF * rows * n)
        };
        bench.time(Timed {
            name: format!("products: float8 of {experts} experts, {rows}x{n}x{k}"),
            work,
            launch: Box::new(|stream| {
                let a = Scaled { numbers: &a, scales: &a_scales };
                let b = Scaled { numbers: &b, scales: &b_scales };
                Ok(grouped.product_float8(stream, a, b, &offsets, &mut c)?)
            }),
            peers: Peers::of(&given)
                .after(
                    "ends, sa, sb = offsets[1:], sa[:, 0].contiguous(), sb[:, :, 0].contiguous()",
                    "torch",
                    "torch._scaled_grouped_mm(a, b.transpose(1, 2), sa, sb, ends, out_dtype=torch.bfloat16)",
                )
                .gives(&["c"]),
        })?;
    }
    Ok(())
}
