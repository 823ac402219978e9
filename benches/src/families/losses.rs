//! Losses of products.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::{
    losses::{LinearCrossEntropy, WeightGradient, cross_entropy_in_place},
    rows::CrossEntropy,
};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let [tokens, d, vocabulary] = [8192, 4096, 128_256];
    let (hidden, weight) = (bench.normal([tokens, d], 1)?, bench.normal([vocabulary, d], 2)?);
    let targets: Vec<i32> = (0..).take(tokens).map(|token| token * 13).collect();
    let targets = bench.stream.upload(&targets, [tokens])?;
    let mean = bench.stream.full([tokens], 1.0 / tokens as f32)?;
    let mut loss = bench.stream.zeros::<f32, 1>([tokens])?;
    let mut d_hidden = bench.stream.zeros::<bf16, 2>([tokens, d])?;
    let mut d_weight = bench.stream.zeros::<bf16, 2>([vocabulary, d])?;
    let mut losses = LinearCrossEntropy::<bf16>::new(&bench.stream)?;
    let given = [
        Given::new("hidden", &hidden),
        Given::new("weight", &weight),
        Given::new("targets", &targets),
        Given::new("loss", &loss),
        Given::new("d_hidden", &d_hidden),
        Given::new("d_weight", &d_weight),
    ];
    let name = |what: &str| format!("losses: {what} {tokens}x{vocabulary}x{d}");
    let operations = 2.0 * (tokens * vocabulary) as f64 * d as f64;
    let options = CrossEntropy::default();
    bench.time(Timed {
        name: name("linear cross-entropy"),
        work: Work::Operations(operations),
        launch: Box::new(|stream| {
            Ok(losses.loss(stream, &hidden, &weight, &targets, options, &mut loss)?)
        }),
        peers: Peers::of(&given)
            .after(
                "t = targets.long()",
                "torch",
                "F.cross_entropy(hidden @ weight.T, t, reduction='none')",
            )
            .gives(&["loss"]),
    })?;
    bench.time(Timed {
        name: name("linear cross-entropy's gradients"),
        work: Work::Operations(3.0 * operations),
        launch: Box::new(|stream| {
            Ok(losses.gradients(
                stream,
                &hidden,
                &weight,
                &targets,
                options,
                &mean,
                &mut loss,
                &mut d_hidden,
                WeightGradient::Replaced(&mut d_weight),
            )?)
        }),
        peers: Peers::of(&given)
            .after(
                "t = targets.long(); h, w = hidden.detach().requires_grad_(), weight.detach().requires_grad_()",
                "torch",
                "torch.autograd.grad(F.cross_entropy(h @ w.T, t), (h, w))",
            )
            .gives(&["d_hidden", "d_weight"]),
    })?;
    let shape = [4096, vocabulary];
    let mut logits = bench.normal(shape, 3)?;
    let (targets, mean) = (targets.slice(0, 0..shape[0])?, mean.slice(0, 0..shape[0])?);
    let mut loss = loss.slice_mut(0, 0..shape[0])?;
    bench.time(Timed {
        name: format!("losses: cross_entropy_in_place {}x{vocabulary}", shape[0]),
        work: Work::Bytes(2 * HALF * shape[0] * vocabulary),
        launch: Box::new(|stream| {
            Ok(cross_entropy_in_place(stream, &mut logits, &targets, options, &mean, &mut loss)?)
        }),
        peers: Peers::default(),
    })
}
