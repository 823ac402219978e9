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
    for shape in [
        [1, 4096, 4096],
        [16, 28672, 4096],
        [128, 7168, 2048],
        [512, 4096, 7168],
        [4096, 4096, 7168],
        [8192, 8192, 8192],
    ] {
        tf32(bench, &mut matmul, shape)?;
        float8(bench, &mut matmul, shape)?;
    }
    of_experts(bench)
}

fn name(what: &str, [m, n, k]: [usize; 3]) -> String {
    format!("products: {what} {m}x{n}x{k}")
}

/// What a product is measured by: with few rows, by the bytes of operands and result.
fn work([m, n, k]: [usize; 3], [of_operands, of_result]: [usize; 2]) -> Work {
    if m > 128 {
        Work::Operations(2.0 * (m * n) as f64 * k as f64)
    } else {
        Work::Bytes(of_operands * (m * k + n * k) + of_result * m * n)
    }
}

fn tf32(bench: &mut Bench<'_>, matmul: &mut Matmul, shape @ [m, n, k]: [usize; 3]) -> Result<()> {
    let a = bench.stream.upload(&data::normal(m * k, 1, |x| x), [m, k])?;
    let b = bench.stream.upload(&data::normal(n * k, 2, |x| x), [n, k])?;
    let mut c = bench.stream.zeros::<f32, 2>([m, n])?;
    let given = [Given::new("a", &a), Given::new("b", &b), Given::new("c", &c)];
    bench.time(Timed {
        name: name("tf32", shape),
        work: work(shape, [4, 4]),
        launch: Box::new(|stream| Ok(matmul.product_tf32(stream, &a, &b, &mut c)?)),
        peers: Peers::of(&given)
            .after("torch.backends.cuda.matmul.allow_tf32 = True", "torch", "a @ b.T")
            .gives(&["c"]),
    })
}

/// Two operands of `e4m3`, with precise sums and with fast ones; gradients of `e5m2` by weights.
fn float8(bench: &mut Bench<'_>, matmul: &mut Matmul, shape @ [m, n, k]: [usize; 3]) -> Result<()> {
    let one = "one = torch.ones((), device='cuda')";
    let scaled = |fast: &str| {
        format!(
            "torch._scaled_mm(a, b.T, one, one, out_dtype=torch.bfloat16, use_fast_accum={fast})"
        )
    };
    let (precise, fast) = (scaled("False"), scaled("True"));
    let a = bench.stream.upload(&data::normal(m * k, 1, e4m3::from_f32), [m, k])?;
    let b = bench.stream.upload(&data::normal(n * k, 2, e4m3::from_f32), [n, k])?;
    let mut c = bench.stream.zeros::<bf16, 2>([m, n])?;
    let given = [Given::new("a", &a), Given::new("b", &b), Given::new("c", &c)];
    for (what, sums) in [("float8", Sums::Precise), ("float8, fast sums", Sums::Fast)] {
        let epilogue = Epilogue { sums, ..Epilogue::default() };
        let peers = Peers::of(&given).gives(&["c"]);
        bench.time(Timed {
            name: name(what, shape),
            work: work(shape, [1, HALF]),
            launch: Box::new(|stream| Ok(matmul.product_float8(stream, &a, &b, &mut c, epilogue)?)),
            peers: match sums {
                Sums::Precise => peers.after(one, "torch", &precise).after(one, "fast sums", &fast),
                Sums::Fast => peers.after(one, "torch", &fast),
            },
        })?;
    }
    let a = bench.stream.upload(&data::normal(m * k, 1, e5m2::from_f32), [m, k])?;
    let given = [Given::new("a", &a), Given::new("b", &b), Given::new("c", &c)];
    bench.time(Timed {
        name: name("e5m2 by e4m3", shape),
        work: work(shape, [1, HALF]),
        launch: Box::new(|stream| {
            Ok(matmul.product_float8(stream, &a, &b, &mut c, Epilogue::default())?)
        }),
        peers: Peers::of(&given)
            .after(one, "torch", &precise)
            .after(one, "fast sums", &fast)
            .gives(&["c"]),
    })
}

fn of_experts(bench: &mut Bench<'_>) -> Result<()> {
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
