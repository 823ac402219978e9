//! Attention.

use anyhow::{Context, Result};
use kiln::prelude::*;
use kiln_kernels::attention::{self, Attention, Gradients, Mask, Options, Pages, Sums};

use super::{Bench, HALF, Peers, Timed, Work};
use crate::peers::Given;

#[expect(clippy::too_many_lines, reason = "a list")]
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
            let mut lse = bench.stream.zeros::<f32, 3>([1, heads, length])?;
            let options = || Options { mask, ..Options::default() };
            let forward = Options { lse: Some(&mut lse), ..options() };
            attention.forward(&bench.stream, &q, &k, &v, &mut out, forward)?;
            let d_out = bench.normal(shape, 4)?;
            let mut dq = bench.stream.zeros::<bf16, 4>(shape)?;
            let mut dk = bench.stream.zeros::<bf16, 4>(shape)?;
            let mut dv = bench.stream.zeros::<bf16, 4>(shape)?;
            let given = [
                &given[..3],
                &[
                    Given::new("d_out", &d_out),
                    Given::new("dq", &dq),
                    Given::new("dk", &dk),
                    Given::new("dv", &dv),
                ],
            ]
            .concat();
            for sums in [Sums::Atomic, Sums::InOrder] {
                let mut peers = Peers::of(&given).gives(&["dq", "dk", "dv"]);
                for peer in ["cudnn", "flash"] {
                    let setup = format!(
                        "ins = tuple(x.detach().requires_grad_() for x in (q, k, v)); out = {peer}(*ins, causal={causal})"
                    );
                    let run = "torch.autograd.grad(out, ins, d_out, retain_graph=True)";
                    peers = peers.after(&setup, peer, run);
                }
                bench.time(Timed {
                    name: format!(
                        "attention: backward {sums:?} {mask:?}, {heads} heads of {dim}, {length} keys"
                    ),
                    work: Work::Operations(2.5 * operations),
                    launch: Box::new(|stream| {
                        let given = attention::Given { out: &out, lse: &lse, d_out: &d_out };
                        let (dq, dk, dv) = (&mut dq as _, &mut dk as _, &mut dv as _);
                        let gradients = Gradients { dq, dk, dv, sums };
                        Ok(attention.backward(stream, &q, &k, &v, given, gradients, &options())?)
                    }),
                    peers,
                })?;
            }
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
            peers,
        })?;
    }
    Ok(())
}
