//! Kernels of single elements.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::{
    Activation,
    pointwise::{
        AdamW, Direction, Dropout, Pairs, Parameter, Rotation, Scaling, activate, cast, dequantize,
        dropout, gate, gate_backward, quantize, rotate, transpose,
    },
};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

#[expect(clippy::too_many_lines, reason = "a list")]
pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let shape = [16384, 8192];
    let len = shape[0] * shape[1];
    let (x, up, grad) = (bench.normal(shape, 1)?, bench.normal(shape, 2)?, bench.normal(shape, 3)?);
    let mut out = bench.stream.zeros::<bf16, 2>(shape)?;
    let mut other = bench.stream.zeros::<bf16, 2>(shape)?;
    let given = [
        Given::new("x", &x),
        Given::new("up", &up),
        Given::new("grad", &grad),
        Given::new("out", &out),
        Given::new("other", &other),
    ];
    let name = |what: &str| format!("pointwise: {what}");
    let work = |tensors: usize| Work::Bytes(HALF * tensors * len);
    for (activation, function) in [(Activation::Silu, "F.silu"), (Activation::Gelu, "F.gelu")] {
        bench.time(Timed {
            name: name(&format!("activate {activation:?}")),
            work: work(2),
            launch: Box::new(|stream| Ok(activate(stream, activation, &x, &mut out)?)),
            peers: Peers::of(&given).torch(&format!("{function}(x)")).gives(&["out"]),
        })?;
        bench.time(Timed {
            name: name(&format!("gate {activation:?}")),
            work: work(3),
            launch: Box::new(|stream| Ok(gate(stream, activation, &x, &up, &mut out)?)),
            peers: Peers::of(&given).torch(&format!("{function}(x) * up")).gives(&["out"]),
        })?;
        bench.time(Timed {
            name: name(&format!("gate_backward {activation:?}")),
            work: work(5),
            launch: Box::new(|stream| {
                Ok(gate_backward(stream, activation, [&x, &up], &grad, &mut out, &mut other)?)
            }),
            peers: Peers::of(&given)
                .after(
                    &format!("xg, ug = x.detach().requires_grad_(), up.detach().requires_grad_(); result = {function}(xg) * ug"),
                    "torch",
                    "torch.autograd.grad(result, (xg, ug), grad, retain_graph=True)",
                )
                .gives(&["out", "other"]),
        })?;
    }
    bench.time(Timed {
        name: name("dropout"),
        work: work(2),
        launch: Box::new(|stream| {
            let how = Dropout { probability: 0.1, seed: 1, offset: 2 };
            Ok(dropout(stream, how, &x, &mut out)?)
        }),
        peers: Peers::of(&given).torch("F.dropout(x, 0.1)"),
    })?;
    let mut wide = bench.stream.zeros::<f32, 2>(shape)?;
    let given = [&given[..], &[Given::new("wide", &wide)]].concat();
    bench.time(Timed {
        name: name("cast bf16 to f32"),
        work: work(3),
        launch: Box::new(|stream| Ok(cast(stream, &x, &mut wide)?)),
        peers: Peers::of(&given).torch("x.float()").gives(&["wide"]),
    })?;
    bench.time(Timed {
        name: name("cast f32 to bf16"),
        work: work(3),
        launch: Box::new(|stream| Ok(cast(stream, &wide, &mut out)?)),
        peers: Peers::of(&given).torch("wide.bfloat16()").gives(&["out"]),
    })?;
    let mut bytes = bench.stream.zeros::<e4m3, 2>(shape)?;
    for (scaling, quantized, numbers) in [
        (
            Scaling::Rows,
            "(lambda s: ((x.float() / s).to(torch.float8_e4m3fn), s))(x.float().abs().amax(-1, keepdim=True) / 448)",
            "(bytes.float() * scales).bfloat16()",
        ),
        (
            Scaling::RowBlocks,
            "(lambda b: (lambda s: ((b / s).to(torch.float8_e4m3fn), s))(b.abs().amax(-1, keepdim=True) / 448))(x.float().view(x.shape[0], -1, 128))",
            "(bytes.float().view(x.shape[0], -1, 128) * scales[:, :, None]).bfloat16().view(x.shape)",
        ),
        (
            Scaling::Squares,
            "(lambda b: (lambda s: ((b / s).to(torch.float8_e4m3fn), s))(b.abs().amax((1, 3), keepdim=True) / 448))(x.float().view(x.shape[0] // 128, 128, -1, 128))",
            "(bytes.float().view(x.shape[0] // 128, 128, -1, 128) * scales[:, None, :, None]).bfloat16().view(x.shape)",
        ),
    ] {
        let mut scales = bench.stream.zeros::<f32, 2>(scaling.scales(shape))?;
        let given =
            [&given[..], &[Given::new("bytes", &bytes), Given::new("scales", &scales)]].concat();
        let work = Work::Bytes(3 * len);
        bench.time(Timed {
            name: name(&format!("quantize {scaling:?}")),
            work,
            launch: Box::new(|stream| Ok(quantize(stream, scaling, &x, &mut bytes, &mut scales)?)),
            peers: Peers::of(&given).torch(quantized),
        })?;
        bench.time(Timed {
            name: name(&format!("dequantize {scaling:?}")),
            work,
            launch: Box::new(|stream| Ok(dequantize(stream, scaling, &bytes, &scales, &mut out)?)),
            peers: Peers::of(&given).torch(numbers).gives(&["out"]),
        })?;
    }
    let batch = x.reshape([1, shape[0], shape[1]])?;
    let mut turned = bench.stream.zeros::<bf16, 3>([1, shape[1], shape[0]])?;
    let given = [Given::new("batch", &batch), Given::new("turned", &turned)];
    bench.time(Timed {
        name: name("transpose"),
        work: work(2),
        launch: Box::new(|stream| Ok(transpose(stream, &batch, &mut turned)?)),
        peers: Peers::of(&given).torch("batch.transpose(1, 2).contiguous()").gives(&["turned"]),
    })?;
    let (tokens, heads, dim) = (shape[0], 64, 128);
    let positions: Vec<i32> = (0..).take(tokens).collect();
    let positions = bench.stream.upload(&positions, [tokens])?;
    let table = bench.stream.full([tokens, dim / 2], 0.5f32)?;
    let (heads_of_x, mut heads_of_out) =
        (x.reshape([tokens, heads, dim])?, other.reshape_mut([tokens, heads, dim])?);
    for (pairs, rotated) in [
        (
            Pairs::Halves,
            "(lambda a, b: torch.cat((a * c - b * c, b * c + a * c), -1).bfloat16())(*x.float().chunk(2, -1))",
        ),
        (
            Pairs::Neighbours,
            "(lambda a, b: torch.stack((a * c - b * c, b * c + a * c), -1).flatten(-2).bfloat16())(x.float()[..., 0::2], x.float()[..., 1::2])",
        ),
    ] {
        let given = [
            Given::new("x", &heads_of_x),
            Given::new("table", &table),
            Given::new("rotated", &heads_of_out),
        ];
        let rotation = Rotation { pairs, direction: Direction::Forward };
        bench.time(Timed {
            name: name(&format!("rotate {pairs:?}")),
            work: work(2),
            launch: Box::new(|stream| {
                let tables = [&table, &table];
                Ok(rotate(stream, rotation, &positions, tables, &heads_of_x, &mut heads_of_out)?)
            }),
            peers: Peers::of(&given)
                .after("c = table[:, None, :]", "torch", rotated)
                .after("c = table[:, None, :]", "compiled", rotated)
                .gives(&["rotated"]),
        })?;
    }
    let mut values = bench.normal([len], 1)?;
    let gradient = grad.reshape([len])?;
    let (mut mean, mut square) =
        (bench.stream.zeros::<f32, 1>([len])?, bench.stream.zeros::<f32, 1>([len])?);
    let given = [Given::new("values", &values), Given::new("gradient", &gradient)];
    bench.time(Timed {
        name: name("AdamW"),
        work: Work::Bytes(22 * len),
        launch: Box::new(|stream| {
            let mut parameters = [Parameter {
                values: &mut values,
                gradient: &gradient,
                mean: &mut mean,
                mean_square: &mut square,
                master: None,
            }];
            Ok(AdamW::default().step(stream, 1, &mut parameters)?)
        }),
        peers: Peers::of(&given).after(
            "p = values.clone().requires_grad_(); p.grad = gradient.clone(); step = torch.optim.AdamW([p], fused=True, capturable=True).step",
            "torch",
            "step()",
        ),
    })
}
