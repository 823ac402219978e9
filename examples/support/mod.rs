//! What the examples share: data from a seed, references, timing, tables.
#![allow(dead_code, reason = "each example uses a part of it")]

use indicatif::{ProgressBar, ProgressStyle};
use kiln::prelude::*;

/// The sizes given on the command line, if all of them are.
pub fn sizes<const N: usize>() -> Option<[usize; N]> {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    given.try_into().ok()
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

/// [`random`] times `scale`, in f16.
pub fn random_f16(len: usize, seed: u64, scale: f32) -> Vec<f16> {
    random(len, seed).into_iter().map(|x| f16::from_f32(x * scale)).collect()
}

/// A product in f64 at some elements: all of a small one, a few thousand of a large one.
///
/// Gives (row, column, value).
pub fn reference(left: &[f16], right: &[f16], [m, n, k]: [usize; 3]) -> Vec<(usize, usize, f64)> {
    let count = (m * n).min(4096);
    // Steps coprime to the extents visit rows and columns evenly, the last ones included.
    (0..count)
        .map(|i| {
            if count == m * n {
                (i / n, i % n)
            } else {
                ((i * 7919) % m, (m * n - 1 - i * 104_729 % (m * n)) % n)
            }
        })
        .map(|(row, column)| {
            let sum =
                (0..k).map(|i| left[row * k + i].to_f64() * right[i * n + column].to_f64()).sum();
            (row, column, sum)
        })
        .collect()
}

/// The norm of the difference over the norm of the reference. NaN stays NaN.
pub fn relative_error(reference: &[(usize, usize, f64)], actual: &[f16], n: usize) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    for (row, column, value) in reference {
        let got = actual[row * n + column].to_f64();
        difference += (got - value).powi(2);
        norm += value.powi(2);
    }
    (difference / norm).sqrt()
}

/// The median time of a launch in milliseconds, by events, on a GPU; `None` on the emulator, whose time says nothing.
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
        launch()?;
        let end = stream.record()?;
        times.push(f64::from(start.elapsed_ms(&end)?));
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

    /// Adds a row.
    pub fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
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
