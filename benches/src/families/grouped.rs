//! Products of experts.

use anyhow::Result;
use kiln::prelude::*;
use kiln_kernels::grouped::{Grouped, Options};

use super::{Bench, Peers, Timed, Work};
use crate::peers::Given;

pub(super) fn time(bench: &mut Bench<'_>) -> Result<()> {
    let grouped = Grouped::new(&bench.stream)?;
    for (experts, rows, n, k) in [(8, 4096, 14336, 4096), (64, 16384, 2048, 7168)] {
        let (a, b) = (bench.normal([rows, k], 1)?, bench.normal([experts, n, k], 2)?);
        let dc = bench.normal([rows, n], 3)?;
        // From no rows for the first expert to twice the mean for the last one.
        let ends: Vec<i32> = (0..).take(experts + 1).collect();
        let last = experts as i32;
        let ends: Vec<i32> = ends
            .iter()
            .map(|at| rows as i32 / (last * (last - 1)) * at * (at - 1).max(0))
            .collect();
        let offsets = bench.stream.upload(&ends, [experts + 1])?;
        let rows_of_all = ends[experts];
        let mut c = bench.stream.zeros::<bf16, 2>([rows, n])?;
        let mut da = bench.stream.zeros::<bf16, 2>([rows, k])?;
        let mut db = bench.stream.zeros::<bf16, 3>([experts, n, k])?;
        let given = [
            Given::new("a", &a),
            Given::new("b", &b),
            Given::new("dc", &dc),
            Given::new("offsets", &offsets),
            Given::new("c", &c),
            Given::new("da", &da),
            Given::new("db", &db),
        ];
        let operations = 2.0 * f64::from(rows_of_all) * n as f64 * k as f64;
        let name = |what: &str| format!("grouped: {what}, {experts} experts, {rows}x{n}x{k}");
        let ends = "ends = offsets[1:]";
        bench.time(Timed {
            name: name("product"),
            work: Work::Operations(operations),
            launch: Box::new(|stream| Ok(grouped.product(stream, &a, &b, &offsets, &mut c)?)),
            peers: Peers::of(&given)
                .after(ends, "torch", "torch._grouped_mm(a, b.transpose(1, 2), ends)")
                .by("one product", "a @ b[0].T"),
        })?;
        bench.time(Timed {
            name: name("backward_input"),
            work: Work::Operations(operations),
            launch: Box::new(|stream| {
                Ok(grouped.backward_input(stream, &dc, &b, &offsets, &mut da)?)
            }),
            peers: Peers::of(&given).after(ends, "torch", "torch._grouped_mm(dc, b, ends)"),
        })?;
        bench.time(Timed {
            name: name("backward_weight"),
            work: Work::Operations(operations),
            launch: Box::new(|stream| {
                Ok(grouped.backward_weight(stream, &dc, &a, &offsets, &mut db)?)
            }),
            peers: Peers::of(&given).after(ends, "torch", "torch._grouped_mm(dc.T, a, ends)"),
        })?;
    }
    for [m, n, k] in [[4096, 4096, 4096], [1024, 1024, 2048]] {
        let (x, b) = (bench.normal([m, k], 1)?, bench.normal([1, n, k], 2)?);
        let order: Vec<i32> = (0..).take(m).map(|at| (at * 1531 + 7) % m as i32).collect();
        let order = bench.stream.upload(&order, [m])?;
        let offsets = bench.stream.upload(&[0, m as i32], [2])?;
        let mut c = bench.stream.zeros::<bf16, 2>([m, n])?;
        let given = [
            Given::new("x", &x),
            Given::new("b", &b),
            Given::new("order", &order),
            Given::new("c", &c),
        ];
        bench.time(Timed {
            name: format!("grouped: gather, product, scatter {m}x{n}x{k}"),
            work: Work::Operations(2.0 * (m * n) as f64 * k as f64),
            launch: Box::new(|stream| {
                let (gather, scatter) = (Some(&order), Some(&order));
                let options = Options { gather, scatter, ..Options::default() };
                Ok(grouped.product_with(stream, &x, &b, &offsets, &mut c, options)?)
            }),
            peers: Peers::of(&given)
                .after(
                    "at = order.long(); out = torch.empty_like(c)",
                    "torch",
                    "out.index_copy_(0, at, x.index_select(0, at) @ b[0].T)",
                )
                .gives(&["c"]),
        })?;
    }
    Ok(())
}
