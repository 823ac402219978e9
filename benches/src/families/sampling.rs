//! Tokens from scores, and sorted rows.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::sampling::{Cut, Order, Seed, Sorter, greedy, sample};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

/// What draws a token by the same cuts: torch sorts all scores for it.
const DRAW: &str = "(lambda s: torch.multinomial(torch.softmax(s.values.masked_fill(s.values.softmax(-1).cumsum(-1) - s.values.softmax(-1) > 0.9, -torch.inf), -1), 1))(torch.sort(logits.float(), descending=True))";

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    for [rows, vocabulary] in [[8, 128_256], [256, 128_256]] {
        let logits = bench.normal([rows, vocabulary], 1)?;
        let mut tokens = bench.stream.zeros::<i32, 1>([rows])?;
        let given = [Given::new("logits", &logits), Given::new("tokens", &tokens)];
        let work = Work::Bytes(HALF * rows * vocabulary);
        bench.time(Timed {
            name: format!("sampling: greedy of {rows}x{vocabulary}"),
            work,
            launch: Box::new(|stream| Ok(greedy(stream, &logits, &mut tokens)?)),
            peers: Peers::of(&given).torch("torch.argmax(logits, -1)"),
        })?;
        let top_p = Cut { top_p: 0.9, ..Cut::default() };
        for (what, cut) in [
            ("all", Cut::default()),
            ("top_k 50", Cut { top_k: 50, ..Cut::default() }),
            ("top_p 0.9", top_p),
        ] {
            let expression = match what {
                "all" => "torch.multinomial(torch.softmax(logits.float(), -1), 1)",
                "top_k 50" => {
                    "(lambda t: t.indices.gather(-1, torch.multinomial(torch.softmax(t.values.float(), -1), 1)))(torch.topk(logits, 50))"
                }
                _ => DRAW,
            };
            bench.time(Timed {
                name: format!("sampling: sample of {rows}x{vocabulary}, {what}"),
                work,
                launch: Box::new(|stream| {
                    let seed = Seed { seed: 1, offset: 2 };
                    Ok(sample(stream, cut, seed, &logits, &mut tokens)?)
                }),
                peers: Peers::of(&given).by("torch", expression),
            })?;
        }
    }
    let mut sorter = Sorter::new(&bench.stream)?;
    for shape in [[16384, 512], [1024, 4096], [16, 1 << 17]] {
        let [rows, columns] = shape;
        let x = bench.normal(shape, 2)?;
        let mut values = bench.stream.zeros::<bf16, 2>(shape)?;
        let mut indices = bench.stream.zeros::<i32, 2>(shape)?;
        let given =
            [Given::new("x", &x), Given::new("values", &values), Given::new("indices", &indices)];
        bench.time(Timed {
            name: format!("sampling: sort of {rows}x{columns}"),
            work: Work::Bytes((2 * HALF + 4) * rows * columns),
            launch: Box::new(|stream| {
                Ok(sorter.sort(stream, Order::Descending, &x, &mut values, &mut indices)?)
            }),
            peers: Peers::of(&given)
                .by("torch", "torch.sort(x, stable=True, dim=-1, descending=True)")
                .gives(&["values", "indices"]),
        })?;
    }
    Ok(())
}
