//! The result of tuning.

use crate::plot;
use kernel_runtime::{Instance, Resources};
use sha2::{Digest as _, Sha256};
use std::{
    fmt::{self, Write as _},
    io,
    path::Path,
};

/// The unit of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds of a launch on a GPU.
    Microseconds,
    /// Warp instructions of a launch on the emulator, whose time means nothing.
    Instructions,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Microseconds => "us",
            Self::Instructions => "instructions",
        })
    }
}

/// What is known about an instance.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was measured now.
    Measured(f64),
    /// It was measured before.
    Cached(f64),
    /// It was not measured, because of `KILN_TUNE=off`.
    Unknown,
    /// `Tuner::prune` or `Tuner::model` left it out.
    Pruned,
    /// It does not fit the device or the arguments.
    Refused(String),
}

impl Outcome {
    /// The cost, if it is known.
    pub fn cost(&self) -> Option<f64> {
        match self {
            Self::Measured(cost) | Self::Cached(cost) => Some(*cost),
            Self::Unknown | Self::Pruned | Self::Refused(_) => None,
        }
    }
}

/// An instance and what is known about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row<I> {
    /// The instance.
    pub instance: I,
    /// Its cost, or why it has none.
    pub outcome: Outcome,
    /// The resources of its code, if they are known.
    pub resources: Option<Resources>,
}

/// The choice and its reasons. It prints as a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tuned<I> {
    /// The instance with the lowest cost.
    pub best: I,
    /// All instances to choose from, by cost.
    pub rows: Vec<Row<I>>,
    /// The unit of the costs.
    pub unit: Unit,
    /// The device's name.
    pub device: String,
    /// The program's key for the arguments.
    pub key: String,
}

impl<I: Instance> Tuned<I> {
    /// The costs as bars, as SVG.
    pub fn svg(&self) -> String {
        let bars = self.rows.iter().filter_map(|row| {
            let cost = row.outcome.cost()?;
            let text = format!("{} {}", number(cost, self.unit), self.unit);
            let label = named(&row.instance);
            Some(plot::Bar { label, cost, text, is_best: row.instance == self.best })
        });
        plot::svg(&self.title(), &bars.collect::<Vec<_>>())
    }

    /// Writes table and plot into a folder, as `KERNEL-KEY-DEVICE-HASH.txt` and `.svg`. Characters other than letters
    /// and digits become `-`; the hash distinguishes keys that differ only in these.
    ///
    /// # Errors
    /// Of the folder or the files.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let title = format!("{}-{}-{}", I::KERNEL, self.key, self.device);
        let mut name = String::new();
        for part in title.chars() {
            match part {
                letter if letter.is_ascii_alphanumeric() || letter == '_' => name.push(letter),
                _ if name.ends_with('-') => {}
                _ => name.push('-'),
            }
        }
        // File systems have names of up to 255 bytes.
        name.truncate(200);
        // Other keys may have become the same letters.
        name.push('-');
        for byte in &Sha256::digest(&title)[..4] {
            let _ = write!(name, "{byte:02x}");
        }
        std::fs::write(folder.join(format!("{name}.txt")), self.to_string())?;
        std::fs::write(folder.join(format!("{name}.svg")), self.svg())
    }

    fn title(&self) -> String {
        format!("{} {} on {}", I::KERNEL, self.key, self.device)
    }
}

impl<I: Instance> fmt::Display for Tuned<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit.to_string();
        let head = ["instance", &unit, "relative", "registers", "shared", "blocks/SM", ""];
        let mut rows = vec![head.map(str::to_owned)];
        let best = self.rows.iter().filter_map(|row| row.outcome.cost()).reduce(f64::min);
        for row in &self.rows {
            let cost = row.outcome.cost();
            let dash = || "-".to_owned();
            let relative = cost.zip(best).filter(|(_, best)| *best > 0.0);
            let taken = |of: &dyn Fn(Resources) -> Option<u32>| {
                row.resources.and_then(of).map_or_else(dash, |count| count.to_string())
            };
            rows.push([
                named(&row.instance),
                cost.map_or_else(dash, |cost| number(cost, self.unit)),
                relative.map_or_else(dash, |(cost, best)| format!("{:.2}", cost / best)),
                taken(&|resources| resources.registers),
                taken(&|resources| Some(resources.shared_bytes)),
                taken(&|resources| Some(resources.blocks_per_multiprocessor)),
                match &row.outcome {
                    Outcome::Measured(_) | Outcome::Unknown => String::new(),
                    Outcome::Cached(_) => "cached".to_owned(),
                    Outcome::Pruned => "pruned".to_owned(),
                    Outcome::Refused(why) => why.clone(),
                },
            ]);
        }
        writeln!(f, "{}", self.title())?;
        f.write_str(&aligned(&rows))
    }
}

fn number(cost: f64, unit: Unit) -> String {
    match unit {
        Unit::Microseconds => format!("{cost:.2}"),
        Unit::Instructions => format!("{cost:.0}"),
    }
}

/// The values of an instance; a kernel without parameters has one, without any.
pub(crate) fn named(instance: &impl fmt::Display) -> String {
    match instance.to_string() {
        text if text.is_empty() => "(no parameters)".to_owned(),
        text => text,
    }
}

/// Rows in columns, numbers right-aligned and texts left-aligned.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let is_number: [bool; N] = std::array::from_fn(|column| {
        let mut cells = rows.iter().skip(1).map(|row| row[column].as_str());
        cells.all(|cell| cell == "-" || cell.starts_with(|first: char| first.is_ascii_digit()))
    });
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, width), is_number) in row.iter().zip(widths).zip(is_number) {
            let padding = " ".repeat(width - cell.chars().count());
            let parts = if is_number { [&padding, cell, "  "] } else { [cell, &padding, "  "] };
            line.extend(parts);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
