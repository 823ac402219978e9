//! A profile in a few lines: what is known of the launch, then a row for each phase.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::trace::events::{Events, Span};

/// All that warps spent in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The warps of a block that were in it.
    pub warps: BTreeSet<u32>,
    /// Where its stamps are.
    pub places: BTreeSet<String>,
    /// Nanoseconds, shortest first.
    pub lengths: Vec<f64>,
}

impl Phase {
    /// Of all warps together, in nanoseconds.
    pub fn total(&self) -> f64 {
        self.lengths.iter().sum()
    }

    /// The shortest length that so many hundredths of them do not exceed.
    ///
    /// # Panics
    /// If it has no lengths.
    pub fn percentile(&self, hundredths: usize) -> f64 {
        let rank = (self.lengths.len() * hundredths).div_ceil(100).max(1);
        self.lengths[rank - 1]
    }
}

/// The phases of a profile, that of the most time first. One that a warp ends in has no length, and is not among them.
pub fn phases(events: &Events) -> Vec<Phase> {
    let mut all: BTreeMap<&str, Phase> = BTreeMap::new();
    for span in &events.spans {
        let phase = all.entry(&span.name).or_insert_with(|| Phase {
            name: span.name.clone(),
            warps: BTreeSet::new(),
            places: BTreeSet::new(),
            lengths: Vec::new(),
        });
        phase.warps.extend(events.rows.get(&span.row).and_then(|name| warp_of(name)));
        phase.places.extend(source(span).cloned());
        phase.lengths.push(span.length);
    }
    let mut phases: Vec<Phase> = all.into_values().collect();
    for phase in &mut phases {
        phase.lengths.sort_by(f64::total_cmp);
    }
    phases.sort_by(|a, b| b.total().total_cmp(&a.total()));
    phases
}

/// The number in `warp 3 of block (0, 0, 0)`.
fn warp_of(row: &str) -> Option<u32> {
    row.strip_prefix("warp ")?.split(' ').next()?.parse().ok()
}

fn source(span: &Span) -> Option<&String> {
    span.details.iter().find(|(name, _)| name == "source").map(|(_, place)| place)
}

/// The whole text.
pub fn table(events: &Events) -> String {
    let mut text = launch(events);
    let phases = phases(events);
    if phases.is_empty() {
        text.push_str("  no warp reached two stamps\n");
        return text;
    }
    let all: f64 = phases.iter().map(Phase::total).sum::<f64>().max(1.0);
    let head = ["phase", "warps", "count", "median", "p90", "of the time", "source"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(phases.iter().map(|phase| {
        [
            phase.name.clone(),
            ranges(&phase.warps),
            phase.lengths.len().to_string(),
            nanoseconds(phase.percentile(50)),
            nanoseconds(phase.percentile(90)),
            format!("{:.1}%", 100.0 * phase.total() / all),
            phase.places.iter().cloned().collect::<Vec<_>>().join(", "),
        ]
    }));
    let widths: Vec<usize> = (0..head.len())
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| {
            // Numbers stand at the right.
            if (2..6).contains(&at) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        let _ = writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

/// What is known of the launch.
fn launch(events: &Events) -> String {
    let about = &events.about;
    let word = |name: &str| about[name].as_str().unwrap_or("?").to_owned();
    let number = |name: &str| about[name].as_u64().unwrap_or_default();
    let (first, count) = (number("first recorded block"), number("recorded blocks"));
    let mut text = format!(
        "{}, grid {}, blocks of {} threads, on {}\n",
        word("kernel"),
        word("grid"),
        word("block"),
        word("device")
    );
    let blocks = match count {
        1 => format!("block {first}"),
        _ => format!("blocks {first} to {}", (first + count).saturating_sub(1)),
    };
    let _ = writeln!(
        text,
        "  {blocks} of {} recorded: {} on {}, {} from the first stamp to the last",
        number("blocks"),
        counted(events.rows.len(), "warp"),
        counted(events.processes.len(), "multiprocessor"),
        nanoseconds(events.end())
    );
    let rate = about["cycles per microsecond"].as_f64().unwrap_or_default();
    let _ = writeln!(text, "  {rate:.0} cycles a microsecond: {}", word("clock"));
    if let Some(lost) = about["lost"].as_u64() {
        let _ = writeln!(
            text,
            "  {lost} stamps found no room: record fewer blocks with KILN_PROFILE_BLOCKS"
        );
    }
    text
}

/// `3 warps`
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `0-3, 8`
fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            Some(_) | None => ranges.push((number, number)),
        }
    }
    let range = |(first, last): (u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.into_iter().map(range).collect::<Vec<_>>().join(", ")
}

fn nanoseconds(length: f64) -> String {
    if length < 10_000.0 { format!("{length:.0} ns") } else { format!("{:.1} us", length / 1000.0) }
}
