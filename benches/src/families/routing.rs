//! Experts of tokens, counts and running sums.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::routing::{
    Part, Permutation, PrefixSums, TopK, Weights, histogram, permute, top_k, unpermute,
};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let (tokens, experts, k, dim) = (16384, 256, 8, 7168);
    let scores = bench.normal([tokens, experts], 1)?;
    let mut weights = bench.stream.zeros::<f32, 2>([tokens, k])?;
    let mut indices = bench.stream.zeros::<i32, 2>([tokens, k])?;
    let given = [
        Given::new("scores", &scores),
        Given::new("weights", &weights),
        Given::new("indices", &indices),
    ];
    let options = TopK { weights: Weights::Softmax, scale: 1.0 };
    bench.time(Timed {
        name: format!("routing: top_k, {k} of {experts} for {tokens} tokens"),
        work: Work::Bytes(tokens * (HALF * experts + 8 * k)),
        launch: Box::new(|stream| {
            Ok(top_k(stream, options, &scores, None, &mut weights, &mut indices)?)
        }),
        peers: Peers::of(&given)
            .torch("torch.topk(torch.softmax(scores.float(), -1), 8)")
            .gives(&["weights", "indices"]),
    })?;
    top_k(&bench.stream, options, &scores, None, &mut weights, &mut indices)?;
    let mut permutation = Permutation::new(&bench.stream, &indices, experts, 1)?;
    let given = [Given::new("indices", &indices), Given::new("offsets", permutation.offsets())];
    bench.time(Timed {
        name: format!("routing: Permutation, {k} of {experts} for {tokens} tokens"),
        work: Work::Bytes(12 * tokens * k),
        launch: Box::new(|stream| Ok(permutation.update(stream, &indices)?)),
        peers: Peers::of(&given).by("torch", "torch.sort(indices.flatten(), stable=True)"),
    })?;
    let x = bench.normal([tokens, dim], 2)?;
    let rows = permutation.capacity();
    let mut there = bench.stream.zeros::<bf16, 2>([rows, dim])?;
    let given = [
        Given::new("x", &x),
        Given::new("indices", &indices),
        Given::new("weights", &weights),
        Given::new("there", &there),
    ];
    let sources = "order = torch.sort(indices.flatten(), stable=True).indices";
    let bytes = HALF * dim * (tokens + rows);
    bench.time(Timed {
        name: format!("routing: permute rows of {dim}"),
        work: Work::Bytes(bytes),
        launch: Box::new(|stream| Ok(permute(stream, &permutation, &x, None, &mut there)?)),
        peers: Peers::of(&given).after(sources, "torch", "x[order // 8]").gives(&["there"]),
    })?;
    let mut back = bench.stream.zeros::<bf16, 2>([tokens, dim])?;
    bench.time(Timed {
        name: format!("routing: unpermute rows of {dim}"),
        work: Work::Bytes(bytes),
        launch: Box::new(|stream| {
            Ok(unpermute(stream, &permutation, &there, Some(&weights), &mut back)?)
        }),
        peers: Peers::of(&given).after(
            &format!("{sources}; inverse = order.argsort().view(-1, 8)"),
            "torch",
            "(there[inverse] * weights[:, :, None]).sum(1).bfloat16()",
        ),
    })?;

    let len = 1 << 26;
    let values: Vec<i32> = (0..len).map(|at| (at * 40503) % 4096).collect();
    let count = values.len();
    let values = bench.stream.upload(&values, [count])?;
    let mut counts = bench.stream.zeros::<i32, 1>([4096])?;
    let given = [Given::new("values", &values), Given::new("counts", &counts)];
    bench.time(Timed {
        name: format!("routing: histogram of {count} in 4096"),
        work: Work::Bytes(4 * count),
        launch: Box::new(|stream| Ok(histogram(stream, &values, &mut counts)?)),
        peers: Peers::of(&given)
            .by("torch", "torch.histc(values, 4096, 0, 4095)")
            .gives(&["counts"]),
    })?;
    let mut sums = PrefixSums::new(&bench.stream)?;
    for shape in [[8192, 4096], [1, 1 << 25]] {
        let x = bench.normal(shape, 3)?;
        let mut out = bench.stream.zeros::<bf16, 2>(shape)?;
        let given = [Given::new("x", &x)];
        bench.time(Timed {
            name: format!("routing: prefix_sum of {}x{}", shape[0], shape[1]),
            work: Work::Bytes(2 * HALF * shape[0] * shape[1]),
            launch: Box::new(|stream| Ok(sums.sum(stream, Part::Inclusive, &x, &mut out)?)),
            peers: Peers::of(&given).by("torch", "torch.cumsum(x, -1)"),
        })?;
    }
    Ok(())
}
