//! Rows of tables.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::embedding::{SortedTokens, Sums, embed, embed_backward};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let (vocabulary, dim, count) = (32000, 4096, 16384);
    let table = bench.normal([vocabulary, dim], 1)?;
    let tokens: Vec<i32> = (0..count).map(|at| (at * 7919) % 32000).collect();
    let len = tokens.len();
    let on_device = bench.stream.upload(&tokens, [len])?;
    let mut out = bench.stream.zeros::<bf16, 2>([len, dim])?;
    let given =
        [Given::new("tokens", &on_device), Given::new("table", &table), Given::new("out", &out)];
    bench.time(Timed {
        name: "embedding: embed".to_owned(),
        work: Work::Bytes(2 * HALF * len * dim),
        launch: Box::new(|stream| Ok(embed(stream, &on_device, &table, &mut out)?)),
        peers: Peers::of(&given).torch("F.embedding(tokens, table)").gives(&["out"]),
    })?;
    let grad = bench.normal([len, dim], 2)?;
    let mut sums = bench.stream.zeros::<f32, 2>([vocabulary, dim])?;
    let given = [Given::new("tokens", &on_device), Given::new("grad", &grad)];
    let backward = "torch.ops.aten.embedding_dense_backward(grad, t, 32000, -1, False)";
    let sorted = SortedTokens::of_host(&bench.stream, &tokens)?;
    // What is added to is read and written.
    let work = Work::Bytes((HALF + 8) * len * dim);
    bench.time(Timed {
        name: "embedding: embed_backward in order".to_owned(),
        work,
        launch: Box::new(|stream| {
            Ok(embed_backward(stream, Sums::InOrder(&sorted), &grad, &mut sums)?)
        }),
        peers: Peers::of(&given).after("t = tokens.long()", "torch", backward),
    })?;
    bench.time(Timed {
        name: "embedding: embed_backward, atomic".to_owned(),
        work,
        launch: Box::new(|stream| {
            Ok(embed_backward(stream, Sums::Atomic(&on_device), &grad, &mut sums)?)
        }),
        peers: Peers::of(&given).after("t = tokens.long()", "torch", backward),
    })
}
