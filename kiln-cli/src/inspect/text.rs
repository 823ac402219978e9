//! The table of kernels as text.

use std::fmt::Write as _;

use super::order;
use super::report::{Kernel, Report};
use super::tools::HOW;
use kernel_ptx::occupancy::Occupancy;

const INFALLIBLE: &str = "a String takes everything";

/// A row for each kernel, instance, target and variant, below a line for each kernel.
pub fn table(report: &Report) -> String {
    let gpus = gpus(report);
    let mut head: Vec<String> = [
        "instance",
        "target",
        "variant",
        "threads",
        "regs",
        "spill st/ld",
        "stack",
        "static",
        "dynamic",
    ]
    .map(str::to_owned)
    .into();
    head.extend(gpus.iter().map(|gpu| (*gpu).to_owned()));
    head.extend(["limited by", "PTX", "order", "conversions"].map(str::to_owned));
    titled(report, &head, |kernel| row(kernel, &gpus)) + &notes(report)
}

/// A head, and a row for each instance, target and variant, below a line for each kernel.
pub(super) fn titled(
    report: &Report,
    head: &[String],
    row: impl Fn(&Kernel) -> Vec<String>,
) -> String {
    let rows: Vec<Vec<String>> = report.kernels.iter().map(row).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            let cells = rows.iter().map(Vec::as_slice).chain([head]);
            cells.map(|row| row[column].chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = line(head, &widths);
    let mut title = String::new();
    for (kernel, row) in report.kernels.iter().zip(&rows) {
        let own = title_of(kernel);
        if own != title {
            writeln!(text, "{own}").expect(INFALLIBLE);
            title = own;
        }
        text += &line(row, &widths);
    }
    text
}

/// The GPUs of which some kernel says something, in the order of their age.
pub fn gpus(report: &Report) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for row in kernel_ptx::Hardware::ROWS {
        let name = super::gpus::name(row);
        let mut all = report.kernels.iter().flat_map(|kernel| &kernel.occupancy);
        if !names.contains(&name) && all.any(|(other, _)| *other == name) {
            names.push(name);
        }
    }
    names
}

/// The kernel, and where it is.
pub fn title_of(kernel: &Kernel) -> String {
    let entry = &kernel.figures.entry;
    match (&kernel.label.place[..], kernel.label.line) {
        ("", _) => entry.clone(),
        (place, Some(line)) => format!("{entry}  ({place}, line {line})"),
        (place, None) => format!("{entry}  ({place})"),
    }
}

fn row(kernel: &Kernel, gpus: &[&'static str]) -> Vec<String> {
    let figures = &kernel.figures;
    let unknown = || "?".to_owned();
    let usage = kernel.usage.as_ref();
    let mut cells = vec![
        if kernel.label.instance.is_empty() {
            "-".to_owned()
        } else {
            kernel.label.instance.clone()
        },
        figures.target.to_string(),
        kernel.label.variant.clone(),
        figures.threads.map_or_else(unknown, |threads| match figures.cluster {
            1 => threads.to_string(),
            blocks => format!("{threads} x{blocks}"),
        }),
        usage.map_or_else(unknown, |usage| usage.registers.to_string()),
        usage.map_or_else(unknown, |usage| format!("{}/{}", usage.spill_stores, usage.spill_loads)),
        usage.map_or_else(unknown, |usage| usage.stack.to_string()),
        figures.static_shared.to_string(),
        figures.dynamic_shared.to_string(),
    ];
    for gpu in gpus {
        let own = kernel.occupancy.iter().find(|(name, _)| name == gpu);
        cells.push(own.map_or("-".to_owned(), |(_, own)| held(own, usage.is_some())));
    }
    cells.push(limit(kernel).unwrap_or_else(unknown));
    cells.push(figures.instructions.to_string());
    cells.push(kernel.order.as_deref().map_or_else(unknown, short_order));
    cells.push(kernel.layouts.as_ref().map_or_else(unknown, |dump| conversions(&dump.conversions)));
    cells
}

/// Blocks and warps; the most that there can be where the registers are not known.
fn held(occupancy: &Occupancy, are_registers_known: bool) -> String {
    let most = if are_registers_known { "" } else { "<=" };
    format!("{most}{} {}/{}", occupancy.blocks, occupancy.warps, occupancy.most_warps)
}

/// What there is no room for on the GPU that the target is made for.
pub fn limit(kernel: &Kernel) -> Option<String> {
    let own = super::gpus::name(kernel.figures.target.hardware());
    let (_, occupancy) = kernel.occupancy.iter().find(|(name, _)| *name == own)?;
    let limits: Vec<&str> = occupancy.limits.iter().map(|limit| limit.text()).collect();
    Some(limits.join(", "))
}

/// The verdict on the order in a word or two.
pub fn short_order(order: &str) -> String {
    let order = order.lines().next().unwrap_or_default();
    match order.strip_prefix("proven for loops of up to ") {
        Some(iterations) => format!("proven ({iterations})"),
        None => order.split(':').next().unwrap_or_default().to_owned(),
    }
}

/// The number of conversions and what they cost: `5: 2 shuffled, 1 shared (16384 B, 12 conflicts)`.
pub fn conversions(tally: &super::layouts::Tally) -> String {
    let all = tally.all();
    let mut parts = Vec::new();
    let kinds = [(tally.free, "free"), (tally.selected, "selected"), (tally.shuffles, "shuffled")];
    parts.extend(
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")),
    );
    if tally.shared > 0 {
        let (shared, bytes, conflicts) = (tally.shared, tally.bytes, tally.conflicts);
        let noun = if conflicts == 1 { "conflict" } else { "conflicts" };
        parts.push(format!("{shared} shared ({bytes} B, {conflicts} {noun})"));
    }
    if all == 0 { "0".to_owned() } else { format!("{all}: {}", parts.join(", ")) }
}

/// The first column and those of words are flush left, numbers flush right.
fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        let is_number =
            cell.starts_with(|first: char| first.is_ascii_digit() || "?<".contains(first));
        let is_word = index < 3 || index + 2 >= cells.len();
        let padding = " ".repeat(width - cell.chars().count());
        if is_word || !is_number {
            write!(text, "  {cell}{padding}").expect(INFALLIBLE);
        } else {
            write!(text, "  {padding}{cell}").expect(INFALLIBLE);
        }
    }
    format!("{}\n", text.trim_end())
}

/// What the columns mean, what was left out and why.
fn notes(report: &Report) -> String {
    let mut text = String::from(
        "\nUnder each GPU: resident blocks, and their warps of those that a multiprocessor has room for.\n\
         dynamic: the bytes of shared memory that the launch asks for, as far as addresses and tiles show them; it may be more.\n",
    );
    let mut orders = report.kernels.iter().filter_map(|kernel| kernel.order.as_deref());
    if orders.any(order::is_proof) {
        writeln!(text, "order: {}", order::COVERS).expect(INFALLIBLE);
    }
    if report.tools.ptxas.is_none() {
        writeln!(
            text,
            "regs, spills and stack are left out, and registers do not count for occupancy: there is no ptxas. {HOW}."
        )
        .expect(INFALLIBLE);
    }
    let times = report.kernels.iter().filter_map(|kernel| kernel.usage.as_ref()?.compile_us);
    if let Some(most) = times.clone().max() {
        let (all, most) = (times.sum::<u64>() / 1000, most / 1000);
        writeln!(text, "ptxas took {all} ms for all of these, {most} ms at most for one.")
            .expect(INFALLIBLE);
    }
    for kernel in &report.kernels {
        for warning in kernel.usage.iter().flat_map(|usage| &usage.warnings) {
            writeln!(text, "{}: {warning}", kernel.file.display()).expect(INFALLIBLE);
        }
    }
    text
}
