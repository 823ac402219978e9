//! Common parts of the examples: data from a seed, timing, a table.

use indicatif::{ProgressBar, ProgressStyle};
use kiln::prelude::*;

/// The extents of a product with `--large`. The emulator takes minutes for them.
const LARGE: usize = 4096;

/// The sizes given on the command line, if there are any; three of them also as `--large`. Ends the program with a message where they
/// are not `N` numbers from 1.
#[expect(clippy::print_stderr, reason = "a mistake on the command line is told on the terminal")]
pub fn sizes<const N: usize>() -> Option<[usize; N]> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.is_empty() {
        return None;
    }
    let flag = if N == 3 { ", or --large" } else { "" };
    if N == 3 && given == ["--large"] {
        return Some([LARGE; N]);
    }
    let numbers: Vec<usize> =
        given.iter().filter_map(|arg| arg.parse().ok().filter(|&size| size > 0)).collect();
    match <[usize; N]>::try_from(numbers) {
        Ok(sizes) if given.len() == N => Some(sizes),
        _ => {
            eprintln!("required: {N} sizes, numbers from 1{flag}; actual: {}", given.join(" "));
            std::process::exit(2);
        }
    }
}

/// Uniform numbers in -0.5 .. 0.5, always the same for a seed.
pub fn random(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            // xorshift64*, the upper 24 bits.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            let bits = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40;
            bits as f32 / (1u32 << 24) as f32 - 0.5
        })
        .collect()
}

/// Launches between two events: the cost of an event and of the first launch is spread over all of them.
const LAUNCHES: usize = 10;

/// The median time of a launch in milliseconds, of 20 rows of launches between events, after some to warm up; `None`
/// on the emulator, whose time says nothing.
pub fn median_ms(stream: &Stream, mut launch: impl FnMut() -> Result<()>) -> Result<Option<f64>> {
    if stream.device().is_emulator() {
        return Ok(None);
    }
    for _ in 0..5 {
        launch()?;
    }
    let mut times = Vec::new();
    for _ in 0..20 {
        let start = stream.record()?;
        for _ in 0..LAUNCHES {
            launch()?;
        }
        let end = stream.record()?;
        times.push(f64::from(start.elapsed_ms(&end)?) / LAUNCHES as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(Some(times[times.len() / 2]))
}

/// A bar for work that takes a while.
pub fn progress(len: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>16} [{bar:30}] {pos}/{len}")
        .expect("a template without errors");
    let bar = ProgressBar::new(len as u64).with_style(style).with_message(what.to_owned());
    bar.tick();
    bar
}

/// A table with right-aligned columns.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub fn new(heads: &[&str]) -> Table {
        Table { rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()] }
    }

    /// Adds a row: what was run, its relative error, its time, and its rate in billions a second of `amount`.
    pub fn row(
        &mut self,
        what: &[&dyn std::fmt::Display],
        error: f64,
        ms: Option<f64>,
        amount: f64,
    ) {
        let mut cells: Vec<String> = what.iter().map(ToString::to_string).collect();
        cells.push(format!("{error:.1e}"));
        cells.push(ms.map_or("-".to_owned(), |ms| format!("{ms:.4}")));
        cells.push(ms.map_or("-".to_owned(), |ms| format!("{:.1}", amount / ms * 1e-6)));
        self.rows.push(cells);
    }

    /// Prints it.
    pub fn print(&self) {
        let widths: Vec<usize> = (0..self.rows[0].len())
            .map(|column| {
                self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
            })
            .collect();
        for row in &self.rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
            println!("{}", cells.join("  "));
        }
    }
}
