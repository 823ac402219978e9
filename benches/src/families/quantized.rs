//! Products of quantised numbers.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::{
    pointwise::{Scaling, quantize},
    quantized::{Float8Scales, Int4Weights, QuantizedMatmul, Scaled, ZeroPoint},
};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

/// A matrix of bf16 in FP8, with its scales.
fn float8(
    bench: &Bench<'_>,
    scaling: Scaling,
    shape: [usize; 2],
    seed: u64,
) -> Result<(DeviceTensor<e4m3, 2>, DeviceTensor<f32, 2>)> {
    let x = bench.normal(shape, seed)?;
    let mut numbers = bench.stream.zeros(shape)?;
    let mut scales = bench.stream.zeros(scaling.scales(shape))?;
    quantize(&bench.stream, scaling, &x, &mut numbers, &mut scales)?;
    Ok((numbers, scales))
}

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let mut matmul = QuantizedMatmul::new(&bench.stream)?;
    for [n, k] in [[4096, 4096], [28672, 4096], [8192, 28672]] {
        let weights = bench.normal([n, k], 1)?;
        for (m, group, zero_point) in [
            (1, 128, ZeroPoint::Middle),
            (8, 128, ZeroPoint::Middle),
            (16, 128, ZeroPoint::Middle),
            (16, 64, ZeroPoint::OfGroup),
            (64, 128, ZeroPoint::Middle),
            (4096, 128, ZeroPoint::Middle),
        ] {
            let packed = Int4Weights::quantize(&bench.stream, &weights, group, zero_point)?;
            let a = bench.normal([m, k], 2)?;
            let mut c = bench.stream.zeros::<bf16, 2>([m, n])?;
            let mut numbers = bench.stream.zeros::<bf16, 2>([n, k])?;
            packed.dequantize(&bench.stream, &mut numbers)?;
            let given = [Given::new("a", &a), Given::new("b", &numbers), Given::new("c", &c)];
            let work = if m > 64 {
                Work::Operations(2.0 * (m * n) as f64 * k as f64)
            } else {
                Work::Bytes(n * k / 2 + HALF * (m * k + m * n + n * k / group))
            };
            bench.time(Timed {
                name: format!("quantized: int4 {m}x{n}x{k}, groups of {group}, {zero_point:?}"),
                work,
                launch: Box::new(|stream| Ok(matmul.int4(stream, &a, &packed, &mut c)?)),
                // In bf16: how much faster the weights of four bits are.
                peers: Peers::of(&given).by("torch", "a @ b.T").gives(&["c"]),
            })?;
        }
    }
    for [m, n, k] in [
        [1, 4096, 4096],
        [16, 28672, 4096],
        [128, 7168, 2048],
        [512, 4096, 7168],
        [4096, 4096, 7168],
        [8192, 8192, 8192],
    ] {
        let operations = Work::Operations(2.0 * (m * n) as f64 * k as f64);
        let bytes = Work::Bytes(m * k + n * k + HALF * m * n);
        let work = if m > 128 { operations } else { bytes };
        for scales in [Float8Scales::Blocks, Float8Scales::Rows] {
            let (of_a, of_b) = match scales {
                Float8Scales::Blocks => (Scaling::RowBlocks, Scaling::Squares),
                Float8Scales::Rows => (Scaling::Rows, Scaling::Rows),
            };
            let (a, a_scales) = float8(bench, of_a, [m, k], 1)?;
            let (b, b_scales) = float8(bench, of_b, [n, k], 2)?;
            let mut c = bench.stream.zeros::<bf16, 2>([m, n])?;
            let given = [
                Given::new("a", &a),
                Given::new("b", &b),
                Given::new("sa", &a_scales),
                Given::new("sb", &b_scales),
                Given::new("c", &c),
            ];
            let peers = match scales {
                // cuBLAS takes scales of rows with columns contiguous.
                Float8Scales::Blocks => Peers::of(&given).after(
                    "sa = sa.T.contiguous().T",
                    "torch",
                    "torch._scaled_mm(a, b.T, sa, sb.T, out_dtype=torch.bfloat16)",
                ),
                Float8Scales::Rows => Peers::of(&given).by(
                    "torch",
                    "torch._scaled_mm(a, b.T, sa, sb.T.contiguous(), out_dtype=torch.bfloat16)",
                ),
            };
            bench.time(Timed {
                name: format!("quantized: float8 {m}x{n}x{k}, scales of {scales:?}"),
                work,
                launch: Box::new(|stream| {
                    let a = Scaled { numbers: &a, scales: &a_scales };
                    let b = Scaled { numbers: &b, scales: &b_scales };
                    Ok(matmul.float8(stream, scales, a, b, &mut c)?)
                }),
                peers: peers.gives(&["c"]),
            })?;
        }
        let of_bytes = |len: usize, seed| -> Vec<i8> {
            let next = |at: usize| ((at * 2_654_435_761 + seed) >> 11) as i8;
            (0..len).map(next).collect()
        };
        let a = bench.stream.upload(&of_bytes(m * k, 1), [m, k])?;
        let b = bench.stream.upload(&of_bytes(n * k, 2), [n, k])?;
        let mut c = bench.stream.zeros::<i32, 2>([m, n])?;
        let given = [Given::new("a", &a), Given::new("b", &b), Given::new("c", &c)];
        bench.time(Timed {
            name: format!("quantized: int8_sums {m}x{n}x{k}"),
            work,
            launch: Box::new(|stream| Ok(matmul.int8_sums(stream, &a, &b, &mut c)?)),
            peers: Peers::of(&given).by("torch", "torch._int_mm(a, b.T)").gives(&["c"]),
        })?;
    }
    Ok(())
}
