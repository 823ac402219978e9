//! Kernels along rows.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::rows::{
    CrossEntropy, NormGradients, add_rms_norm, cross_entropy, cross_entropy_backward, layer_norm,
    rms_norm, softmax, softmax_backward,
};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

/// A norm whose gradients are asked for.
const GRADIENTS: &str = "xg, wg = x.detach().requires_grad_(), weight.detach().requires_grad_(); out = F.rms_norm(xg, xg.shape[-1:], wg, 1e-5)";

#[expect(clippy::too_many_lines, reason = "a list")]
pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    for [rows, columns] in [[8192, 8192], [65536, 2048], [4096, 32768], [1024, 131_072]] {
        let shape = [rows, columns];
        let len = rows * columns;
        let (x, dy) = (bench.normal(shape, 1)?, bench.normal(shape, 2)?);
        let mut y = bench.stream.zeros::<bf16, 2>(shape)?;
        let mut sum = bench.stream.zeros::<bf16, 2>(shape)?;
        let (weight, bias) = (bench.normal([columns], 3)?, bench.normal([columns], 4)?);
        let given = [
            Given::new("x", &x),
            Given::new("dy", &dy),
            Given::new("y", &y),
            Given::new("sum", &sum),
            Given::new("weight", &weight),
            Given::new("bias", &bias),
        ];
        let name = |what: &str| format!("rows: {what} {rows}x{columns}");
        let work = |tensors: usize| Work::Bytes(HALF * tensors * len);
        bench.time(Timed {
            name: name("softmax"),
            work: work(2),
            launch: Box::new(|stream| Ok(softmax(stream, &x, &mut y)?)),
            peers: Peers::of(&given).torch("torch.softmax(x, -1)").gives(&["y"]),
        })?;
        bench.time(Timed {
            name: name("softmax_backward"),
            work: work(3),
            launch: Box::new(|stream| Ok(softmax_backward(stream, &x, &dy, &mut y)?)),
            peers: Peers::of(&given)
                .by("torch", "torch._softmax_backward_data(dy, x, -1, torch.bfloat16)")
                .by("compiled", "((dy - (dy.float() * x.float()).sum(-1, keepdim=True)) * x.float()).bfloat16()")
                .gives(&["y"]),
        })?;
        bench.time(Timed {
            name: name("rms_norm"),
            work: work(2),
            launch: Box::new(|stream| Ok(rms_norm(stream, &x, &weight, 1e-5, &mut y)?)),
            peers: Peers::of(&given)
                .torch("F.rms_norm(x, x.shape[-1:], weight, 1e-5)")
                .gives(&["y"]),
        })?;
        bench.time(Timed {
            name: name("add_rms_norm"),
            work: work(4),
            launch: Box::new(|stream| {
                Ok(add_rms_norm(stream, &x, &dy, &weight, 1e-5, &mut sum, &mut y)?)
            }),
            peers: Peers::of(&given)
                .torch("(lambda h: (h, F.rms_norm(h, h.shape[-1:], weight, 1e-5)))(x + dy)")
                .gives(&["sum", "y"]),
        })?;
        bench.time(Timed {
            name: name("layer_norm"),
            work: work(2),
            launch: Box::new(|stream| {
                Ok(layer_norm(stream, &x, &weight, Some(&bias), 1e-5, &mut y)?)
            }),
            peers: Peers::of(&given)
                .torch("F.layer_norm(x, x.shape[-1:], weight, bias, 1e-5)")
                .gives(&["y"]),
        })?;
        let mut gradients = NormGradients::new(&bench.stream)?;
        let mut dweight = bench.stream.zeros::<bf16, 1>([columns])?;
        let given = [&given[..], &[Given::new("dweight", &dweight)]].concat();
        bench.time(Timed {
            name: name("rms_norm's gradients"),
            work: work(3),
            launch: Box::new(|stream| {
                Ok(gradients.rms_norm(
                    stream,
                    &x,
                    &weight,
                    1e-5,
                    &dy,
                    None,
                    &mut y,
                    &mut dweight,
                )?)
            }),
            peers: Peers::of(&given)
                .after(
                    GRADIENTS,
                    "torch",
                    "torch.autograd.grad(out, (xg, wg), dy, retain_graph=True)",
                )
                .gives(&["y", "dweight"]),
        })?;
    }
    let shape = [4096, 128_256];
    let logits = bench.normal(shape, 5)?;
    let targets: Vec<i32> = (0..4096).map(|row| row * 31).collect();
    let targets = bench.stream.upload(&targets, [4096])?;
    let mut loss = bench.stream.zeros::<f32, 1>([4096])?;
    let mut sums = bench.stream.zeros::<f32, 1>([4096])?;
    let ones = bench.stream.full([4096], 1.0f32)?;
    let mut gradient = bench.stream.zeros::<bf16, 2>(shape)?;
    let given = [
        Given::new("logits", &logits),
        Given::new("targets", &targets),
        Given::new("loss", &loss),
        Given::new("gradient", &gradient),
    ];
    let bytes = HALF * shape[0] * shape[1];
    bench.time(Timed {
        name: "rows: cross_entropy 4096x128256".to_owned(),
        work: Work::Bytes(bytes),
        launch: Box::new(|stream| {
            let sums: &mut dyn kiln::TensorArgumentMut<f32, 1> = &mut sums;
            Ok(cross_entropy(
                stream,
                &logits,
                &targets,
                CrossEntropy::default(),
                &mut loss,
                Some(sums),
            )?)
        }),
        peers: Peers::of(&given)
            .after("t = targets.long()", "torch", "F.cross_entropy(logits, t, reduction='none')")
            .after(
                "t = targets.long()",
                "compiled",
                "F.cross_entropy(logits.float(), t, reduction='none')",
            )
            .gives(&["loss"]),
    })?;
    bench.time(Timed {
        name: "rows: cross_entropy_backward 4096x128256".to_owned(),
        work: Work::Bytes(2 * bytes),
        launch: Box::new(|stream| {
            let options = CrossEntropy::default();
            Ok(cross_entropy_backward(
                stream,
                &logits,
                &targets,
                options,
                &sums,
                &ones,
                &mut gradient,
            )?)
        }),
        peers: Peers::of(&given)
            .after(
                "xg = logits.detach().requires_grad_(); out = F.cross_entropy(xg, targets.long(), reduction='none'); ones = torch.ones_like(out)",
                "torch",
                "torch.autograd.grad(out, xg, ones, retain_graph=True)",
            )
            .gives(&["gradient"]),
    })
}
