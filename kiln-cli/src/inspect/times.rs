//! How long the compiler took for a variant, phase by phase, and ptxas after it.

use super::report::{Kernel, Report};
use super::text::titled;

/// The time of a phase: its name, and nanoseconds.
pub type Spent = (String, u64);

/// Reads a dump of times: a line a phase, with nanoseconds.
///
/// ```
/// use kiln_cli::inspect::times::read;
///
/// assert_eq!(read("build 1200\nlower 40\n"), Ok(vec![("build".to_owned(), 1200), ("lower".to_owned(), 40)]));
/// assert!(read("build").is_err());
/// ```
///
/// # Errors
/// When the text is not what `KILN_DUMP` leaves.
pub fn read(dump: &str) -> Result<Vec<Spent>, String> {
    let one = |line: &str| {
        let (phase, time) = line.split_once(' ')?;
        Some((phase.to_owned(), time.parse().ok()?))
    };
    let all: Option<Vec<Spent>> = dump.lines().map(one).collect();
    all.filter(|all| !all.is_empty())
        .ok_or_else(|| "this is no dump of times: required lines such as `lower 40200`".to_owned())
}

/// Nanoseconds as milliseconds.
fn milliseconds(nanoseconds: u64) -> String {
    let whole = nanoseconds / 1_000_000;
    format!("{whole}.{:03}", nanoseconds / 1000 % 1000)
}

/// The phases that any kernel has, in the order in which the compiler runs them.
fn phases(report: &Report) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (phase, _) in report.kernels.iter().flat_map(|kernel| &kernel.times) {
        if !names.contains(&phase.as_str()) {
            names.push(phase);
        }
    }
    names
}

/// A row of milliseconds for each variant.
pub fn table(report: &Report) -> String {
    let phases = phases(report);
    let mut head: Vec<String> = ["instance", "target", "variant"].map(str::to_owned).into();
    head.extend(phases.iter().map(|phase| (*phase).to_owned()));
    head.extend(["together", "ptxas"].map(str::to_owned));
    let text = titled(report, &head, |kernel| row(kernel, &phases));
    text + "\nmilliseconds; `build` is done once for all variants of a target, and each row has it in full\n"
}

fn row(kernel: &Kernel, phases: &[&str]) -> Vec<String> {
    let label = &kernel.label;
    let mut cells =
        vec![label.instance.clone(), kernel.figures.target.to_string(), label.variant.clone()];
    let unknown = || "?".to_owned();
    let of =
        |name: &str| kernel.times.iter().find(|(phase, _)| phase == name).map(|(_, time)| *time);
    cells.extend(phases.iter().map(|phase| of(phase).map_or_else(unknown, milliseconds)));
    let all = kernel.times.iter().map(|(_, time)| time).sum();
    cells.push(if kernel.times.is_empty() { unknown() } else { milliseconds(all) });
    let ptxas = kernel.usage.as_ref().and_then(|usage| usage.compile_us);
    cells.push(ptxas.map_or_else(unknown, |time| milliseconds(1000 * time)));
    cells
}
