//! What is known of kernels as JSON.
//!
//! `{"kiln_inspect": 1, "ptxas": PATH or null, "order_covers": TEXT, "kernels": [..]}`, where the text says what a proof of the order is
//! about; the number rises if a field changes its meaning. Each kernel has
//!
//! | field | value |
//! |---|---|
//! | `kernel`, `instance`, `target`, `variant` | names; the instance as `T=f16 N=1024` |
//! | `place`, `line` | crate and source file, and the line of the kernel there, as the name of the dump has them; the line may be null |
//! | `file` | the PTX file |
//! | `threads`, `cluster_blocks`, `min_blocks` | threads of a block, blocks of a cluster, `.minnctapersm`; the first and the last may be null |
//! | `registers`, `spill_store_bytes`, `spill_load_bytes`, `stack_bytes` | what ptxas says; null without it |
//! | `compile_ns` | how long Kiln took for each phase, in nanoseconds by the name of the phase, or null |
//! | `ptxas_us` | how long ptxas took for the kernel, in microseconds; null if it does not say |
//! | `shared_static_bytes`, `shared_dynamic_bytes` | of the second, what addresses and tiles show: the launch may ask for more |
//! | `tensor_memory_columns` | columns of tensor memory |
//! | `occupancy` | for each GPU: `gpu`, `blocks`, `warps`, `most_warps`, `limits` (of `blocks`, `warps`, `registers`, `shared memory`, `tensor memory`) |
//! | `ptx_instructions`, `sass_instructions` | instructions in the text; the second is null unless `--sass` or `--html` is given |
//! | `order` | the verdict on the order, or null |
//! | `layouts` | null, or `conversions` and `reductions` (each `count`, `free`, `selected`, `shuffles`, `shared`, `shared_bytes`, `bank_conflicts`), `accesses` (`count`, `bank_conflicts`), `conversion_list` (each `line`, `tile`, `from`, `to`, `cost`; `from` may be null) and `legend` (the bases of each layout by its name) |
//! | `loops` | `label`, `first_line`, `last_line`, `depth`, `instructions` (by class, without loops within it), `all_instructions` (with them), `waits`, `others_per_tensor_core`, `flop_per_byte`, `ideal`; the last three and the lines may be null |
//! | `ideal` of a loop | the least cycles of an iteration of a block: `gpu`, `tensor_core_cycles`, `memory_cycles` (if no cache holds anything), `issue_cycles`; and `others_room`: for how many other instructions there is time while a tensor-core instruction runs. Those of the tensor cores, of memory, and the room may be null |
//! | `lines` | for each line of the source: `file`, `line`, `ptx`, `sass` (instructions; the last is null as above) |
//! | `warnings` | what ptxas warned of |

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::code;
use super::conversions;
use super::ideal::Ideal;
use super::layouts::{Dumped, Tally};
use super::loops::Loop;
use super::order;
use super::report::{Kernel, Report};

/// The document.
pub fn document(report: &Report) -> Value {
    let kernels: Vec<Value> = report.kernels.iter().map(kernel).collect();
    let ptxas = report.tools.ptxas.as_ref().map(|path| path.display().to_string());
    let covers = order::COVERS.replace('\n', " ");
    json!({ "kiln_inspect": 1, "ptxas": ptxas, "order_covers": covers, "kernels": kernels })
}

/// A kernel without its code.
pub fn kernel(kernel: &Kernel) -> Value {
    let (label, figures, usage) = (&kernel.label, &kernel.figures, kernel.usage.as_ref());
    let occupancy = kernel.occupancy.iter().map(|(gpu, held)| {
        let limits: Vec<&str> = held.limits.iter().map(|limit| limit.text()).collect();
        json!({
            "gpu": gpu,
            "blocks": held.blocks,
            "warps": held.warps,
            "most_warps": held.most_warps,
            "limits": limits,
        })
    });
    let loops = kernel.loops.iter().map(|one| of_loop(one, kernel));
    json!({
        "kernel": figures.entry,
        "instance": label.instance,
        "target": figures.target.to_string(),
        "variant": label.variant,
        "place": label.place,
        "line": label.line,
        "file": kernel.file.display().to_string(),
        "threads": figures.threads,
        "cluster_blocks": figures.cluster,
        "min_blocks": figures.least_blocks,
        "registers": usage.map(|usage| usage.registers),
        "spill_store_bytes": usage.map(|usage| usage.spill_stores),
        "spill_load_bytes": usage.map(|usage| usage.spill_loads),
        "stack_bytes": usage.map(|usage| usage.stack),
        "compile_ns": times(kernel),
        "ptxas_us": usage.and_then(|usage| usage.compile_us),
        "shared_static_bytes": figures.static_shared,
        "shared_dynamic_bytes": figures.dynamic_shared,
        "tensor_memory_columns": figures.tensor_columns,
        "occupancy": occupancy.collect::<Vec<_>>(),
        "ptx_instructions": figures.instructions,
        "sass_instructions": kernel.sass.as_ref().map(super::source::Listing::instructions),
        "order": kernel.order,
        "layouts": kernel.layouts.as_ref().map(layouts),
        "loops": loops.collect::<Vec<_>>(),
        "lines": lines(kernel),
        "warnings": usage.map_or(&[][..], |usage| &usage.warnings),
    })
}

fn times(kernel: &Kernel) -> Value {
    if kernel.times.is_empty() {
        return Value::Null;
    }
    let all = kernel.times.iter().map(|(phase, time)| (phase.clone(), Value::from(*time)));
    Value::Object(all.collect())
}

fn layouts(dump: &Dumped) -> Value {
    let conversions = conversions::of(dump).into_iter().map(|one| {
        json!({ "line": one.line, "tile": one.tile, "from": one.from, "to": one.to, "cost": one.cost })
    });
    let legend =
        dump.legend.iter().map(|(name, bases)| (name.clone(), Value::from(bases.as_str())));
    json!({
        "conversions": tally(&dump.conversions),
        "reductions": tally(&dump.crossings),
        "conversion_list": conversions.collect::<Vec<_>>(),
        "legend": legend.collect::<Map<_, _>>(),
        "accesses": { "count": dump.accesses.count, "bank_conflicts": dump.accesses.conflicts },
    })
}

fn tally(tally: &Tally) -> Value {
    json!({
        "count": tally.all(),
        "free": tally.free,
        "selected": tally.selected,
        "shuffles": tally.shuffles,
        "shared": tally.shared,
        "shared_bytes": tally.bytes,
        "bank_conflicts": tally.conflicts,
    })
}

fn of_loop(one: &Loop, kernel: &Kernel) -> Value {
    let threads = kernel.figures.threads;
    let mix: Map<String, Value> =
        one.mix.present().map(|(class, count)| (class.name().to_owned(), count.into())).collect();
    json!({
        "label": one.label,
        "first_line": one.lines.map(|[first, _]| first),
        "last_line": one.lines.map(|[_, last]| last),
        "depth": one.depth,
        "instructions": mix,
        "all_instructions": one.instructions,
        "waits": one.waits,
        "others_per_tensor_core": one.others_of_product().map(rounded),
        "ideal": code::ideal(one, kernel).map(|ideal| of_ideal(&ideal, one)),
        "flop_per_byte": threads.and_then(|threads| one.work.intensity(threads)).map(rounded),
    })
}

fn of_ideal(ideal: &Ideal, one: &Loop) -> Value {
    json!({
        "gpu": ideal.gpu,
        "tensor_core_cycles": ideal.tensor.map(rounded),
        "memory_cycles": ideal.memory.map(rounded),
        "issue_cycles": rounded(ideal.issue),
        "others_room": ideal.room(one).map(rounded),
    })
}

/// A number with two digits after the point.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

fn lines(kernel: &Kernel) -> Vec<Value> {
    let sass = kernel.sass.as_ref().map(super::source::Listing::counts);
    let mut all: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    for (place, count) in kernel.ptx.counts() {
        all.entry(place).or_default()[0] += count;
    }
    for (place, count) in sass.iter().flatten() {
        all.entry(place.clone()).or_default()[1] += count;
    }
    let told = |(place, [ptx, count]): (super::source::Place, [usize; 2])| {
        let count = sass.as_ref().map(|_| count);
        json!({ "file": place.file, "line": place.line, "ptx": ptx, "sass": count })
    };
    all.into_iter().map(told).collect()
}
