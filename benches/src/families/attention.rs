//! Attention.

use anyhow::{Context, Result};
use kiln::prelude::*;
use kiln_kernels::attention::{Attention, Mask, Options, Pages};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let mut attention = Attention::new(&bench.stream)?;
    for (heads, dim, length) in [(16, 128, 16384), (16, 64, 16384), (64, 128, 4096), (8, 256, 8192)]
    {
        let shape = [1, length, heads, dim];
        let [q, k, v] = [bench.normal(shape, 1)?, bench.normal(shape, 2)?, bench.normal(shape, 3)?];
        let mut out = bench.stream.zeros::<bf16, 4>(shape)?;
        let given = [
            Given::new("q", &q),
            Given::new("k", &k),
            Given::new("v", &v),
            Given::new("out", &out),
        ];
        for mask in [Mask::Full, Mask::Causal] {
            let causal = if mask == Mask::Full { "False" } else { "True" };
            let mut peers = Peers::of(&given);
            for peer in ["cudnn", "flash"] {
                peers = peers.by(peer, format!("{peer}(q, k, v, causal={causal})"));
            }
            let whole = 4.0 * (heads * dim) as f64 * (length as f64).powi(2);
            let operations = if mask == Mask::Full { whole } else { whole / 2.0 };
            bench.time(Timed {
                name: format!("attention: forward {mask:?}, {heads} heads of {dim}, {length} keys"),
                work: Work::Operations(operations),
                launch: Box::new(|stream| {
                    let options = Options { mask, ..Options::default() };
                    Ok(attention.forward(stream, &q, &k, &v, &mut out, options)?)
                }),
                peers: peers.gives(&["out"]),
            })?;
        }
    }
    for (batch, heads, key_heads, length) in
        [(1, 32, 8, 65536), (16, 32, 8, 8192), (64, 64, 8, 4096)]
    {
        let (dim, page) = (128, 64);
        let pages = batch * length / page;
        let shape = [pages, page, key_heads, dim];
        let (keys, values) = (bench.normal(shape, 1)?, bench.normal(shape, 2)?);
        let q = bench.normal([batch, 1, heads, dim], 3)?;
        let mut out = bench.stream.zeros::<bf16, 4>([batch, 1, heads, dim])?;
        let numbers = i32::try_from(pages).context("too many pages")?;
        let table: Vec<i32> = (0..numbers).map(|at| (at * 17 + 5) % numbers).collect();
        let table = bench.stream.upload(&table, [batch, length / page])?;
        let lengths = vec![i32::try_from(length).context("too long")?; batch];
        let lengths = bench.stream.upload(&lengths, [batch])?;
        let given = [
            Given::new("q", &q),
            Given::new("keys", &keys),
            Given::new("values", &values),
            Given::new("table", &table),
            Given::new("out", &out),
        ];
        // Peers have the keys one after the other.
        let gathered =
            "k, v = (x[table.long()].flatten(1, 2).contiguous() for x in (keys, values))";
        let peers = Peers::of(&given)
            .after(gathered, "cudnn", "cudnn(q, k, v)")
            .after(gathered, "flash", "flash(q, k, v)")
            .gives(&["out"]);
        bench.time(Timed {
            name: format!(
                "attention: decode, {batch} of {length} keys, {heads} heads on {key_heads}"
            ),
            work: Work::Bytes(2 * HALF * batch * length * key_heads * dim),
            launch: Box::new(|stream| {
                let pages = Pages { table: &table, lengths: &lengths };
                let options = Options::default();
                Ok(attention.decode(stream, &q, &keys, &values, pages, &mut out, options)?)
            }),
            peers: peers,
        })?;
    }
    Ok(())
}
