//! Times on disk: one line of JSON for each, after a line that names the format.
//!
//! The lines are only data to choose by: an instance is looked up among those of the program, and a name that is not
//! one of them is never used. Of several lines about the same question the last one counts, so a new time is an
//! appended line.

mod file;

use crate::question::Question;
use kernel_runtime::Resources;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The first line of a cache. Another one is of another version, whose lines may mean something else.
pub const FORMAT: &str = r#"{"kiln-tune":1}"#;

/// Names the cache file.
const VARIABLE: &str = "KILN_TUNE_CACHE";

/// Where times are stored: a file, texts that are part of the program, both or neither.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    file: Option<PathBuf>,
    shipped: Vec<&'static str>,
}

/// A time, or the reason why there is none, with everything that it depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// The kernel's name.
    pub kernel: String,
    /// The values of its parameters, as an instance prints them.
    pub instance: String,
    /// A hash of the code.
    pub ptx: String,
    /// The device's name.
    pub device: String,
    /// The CUDA version of the driver, empty on the emulator.
    pub driver: String,
    /// The program's key for the arguments.
    pub key: String,
    /// Microseconds of a launch; on the emulator, warp instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How many bursts the cost is the median of.
    #[serde(default)]
    pub bursts: u32,
    /// The tolerance within which its result agreed with those of the other instances, if results were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<f64>,
    /// Why the device cannot run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The resources of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) takes: Option<Takes>,
    /// When it was measured, in seconds since 1970.
    #[serde(default)]
    pub measured: u64,
}

/// [`Resources`] on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Takes {
    registers: Option<u32>,
    local_bytes: Option<u32>,
    shared_bytes: u32,
    threads: u32,
    blocks_per_multiprocessor: u32,
    resident_blocks: u32,
}

impl From<Resources> for Takes {
    fn from(from: Resources) -> Self {
        Self {
            registers: from.registers,
            local_bytes: from.local_bytes,
            shared_bytes: from.shared_bytes,
            threads: from.threads,
            blocks_per_multiprocessor: from.blocks_per_multiprocessor,
            resident_blocks: from.resident_blocks,
        }
    }
}

impl From<Takes> for Resources {
    fn from(from: Takes) -> Self {
        let mut to = Self::default();
        to.registers = from.registers;
        to.local_bytes = from.local_bytes;
        to.shared_bytes = from.shared_bytes;
        to.threads = from.threads;
        to.blocks_per_multiprocessor = from.blocks_per_multiprocessor;
        to.resident_blocks = from.resident_blocks;
        to
    }
}

impl Entry {
    pub(crate) fn question(&self) -> Question {
        Question {
            kernel: self.kernel.clone(),
            instance: self.instance.clone(),
            ptx: self.ptx.clone(),
            device: self.device.clone(),
            driver: self.driver.clone(),
            key: self.key.clone(),
        }
    }

    /// Numbers that can be compared, or none.
    fn is_sound(&self) -> bool {
        [self.cost, self.compared]
            .into_iter()
            .flatten()
            .all(|number| number.is_finite() && number >= 0.0)
    }

    /// The cost, if the result counts as right: compared with a tolerance of at most `required`, if one is required.
    pub(crate) fn cost_compared(&self, required: Option<f64>) -> Option<f64> {
        let compared = |required| self.compared.is_some_and(|passed| passed <= required);
        self.cost.filter(|_| required.is_none_or(compared))
    }
}

/// What a cache holds.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Contents {
    /// The newest entry of each question.
    pub entries: Vec<Entry>,
    /// What was ignored, and why.
    pub warnings: Vec<String>,
}

impl Cache {
    /// The file that the environment variable `KILN_TUNE_CACHE` names; without it `kiln/tune-1.jsonl` in the user's
    /// folder for caches (`XDG_CACHE_HOME`, else `.cache` in `HOME`; `LOCALAPPDATA` on Windows). Without such a folder
    /// there is no file, and each process measures the times itself.
    pub fn user() -> Self {
        let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let of = |name: &str, below: &[&str]| {
            let base = named(name).map(PathBuf::from).filter(|base| base.is_absolute())?;
            Some(below.iter().fold(base, |path, part| path.join(part)))
        };
        let chosen = named(VARIABLE).map(PathBuf::from);
        let file = chosen
            .or_else(|| of("XDG_CACHE_HOME", &["kiln", "tune-1.jsonl"]))
            .or_else(|| of("HOME", &[".cache", "kiln", "tune-1.jsonl"]))
            .or_else(|| of("LOCALAPPDATA", &["kiln", "tune-1.jsonl"]));
        Self { file, shipped: Vec::new() }
    }

    /// A file. It is made when there is something to store, readable and writable only by its owner.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()), shipped: Vec::new() }
    }

    /// Stores nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds the times in a text that is part of the program: `Cache::user().shipped(include_str!("tuned.jsonl"))`. The
    /// text is a cache file. Times in the user's own file come first.
    #[must_use]
    pub fn shipped(mut self, text: &'static str) -> Self {
        self.shipped.push(text);
        self
    }

    /// The file, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Reads everything. A file that is not there is empty.
    pub fn contents(&self) -> Contents {
        let mut found = BTreeMap::new();
        let mut warnings = Vec::new();
        for text in &self.shipped {
            lines(
                text.as_bytes(),
                "a cache that is part of the program",
                &mut found,
                &mut warnings,
            );
        }
        if let Some(path) = &self.file {
            match file::read(path) {
                Ok(bytes) => lines(&bytes, &shown(path), &mut found, &mut warnings),
                Err(why) => warnings.push(format!("{} is ignored: {why}", shown(path))),
            }
        }
        Contents { entries: found.into_values().collect(), warnings }
    }

    /// Like [`contents`](Self::contents), by question; each warning is printed once in a process.
    pub(crate) fn known(&self) -> BTreeMap<Question, Entry> {
        let Contents { entries, warnings } = self.contents();
        warnings.into_iter().for_each(warn);
        entries.into_iter().map(|entry| (entry.question(), entry)).collect()
    }

    /// Stores entries. Other processes may do so at the same time.
    pub(crate) fn add(&self, entries: &[Entry]) {
        let Some(path) = self.file.as_deref().filter(|_| !entries.is_empty()) else { return };
        if let Err(why) = file::append(path, entries) {
            warn(format!("{} is not written: {why}", shown(path)));
        }
    }
}

fn shown(path: &Path) -> String {
    format!("the cache {}", path.display())
}

/// Reads the lines of a cache; lines that are not entries are skipped with one warning.
fn lines(
    bytes: &[u8],
    name: &str,
    found: &mut BTreeMap<Question, Entry>,
    warnings: &mut Vec<String>,
) {
    let mut rest = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    match rest.next() {
        None | Some(b"") if bytes.is_empty() => return,
        Some(first) if first == FORMAT.as_bytes() => {}
        _ => {
            warnings.push(format!(
                "{name} is ignored: required the first line {FORMAT}, which caches of this version have"
            ));
            return;
        }
    }
    let mut ignored = 0;
    for line in rest.filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Entry>(line) {
            Ok(entry) if entry.is_sound() => {
                found.insert(entry.question(), entry);
            }
            Ok(_) | Err(_) => ignored += 1,
        }
    }
    if ignored > 0 {
        warnings.push(format!("{name}: {ignored} of its lines are no entries, and are ignored"));
    }
}

#[expect(clippy::print_stderr, reason = "tuning that is lost has to be noticed")]
fn warn(line: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&line) {
        eprintln!("kiln: {line}");
        said.insert(line);
    }
}

/// Entries as a table, the fastest instance of each question first.
pub fn table(entries: &[Entry]) -> String {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    let place = |entry: &Entry| {
        (entry.kernel.clone(), entry.device.clone(), entry.driver.clone(), entry.key.clone())
    };
    sorted.sort_by(|a, b| {
        let costs = [a, b].map(|entry| entry.cost.unwrap_or(f64::INFINITY));
        place(a).cmp(&place(b)).then(costs[0].total_cmp(&costs[1]))
    });
    let head = ["kernel", "device", "driver", "key", "instance", "cost", "code"];
    let mut rows = vec![head.map(str::to_owned)];
    for entry in sorted {
        let unit = if entry.driver.is_empty() { "instructions" } else { "us" };
        let cost = match entry.cost {
            Some(cost) => format!("{cost:.2} {unit}"),
            None => "-".to_owned(),
        };
        rows.push([
            entry.kernel.clone(),
            entry.device.clone(),
            entry.driver.clone(),
            entry.key.clone(),
            entry.instance.clone(),
            cost,
            entry.ptx.chars().take(8).collect(),
        ]);
    }
    crate::report::aligned(&rows)
}
