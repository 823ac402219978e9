//! `kiln trace`: a launch as a timeline.
//!
//! The emulator traces the launch and models its time ([`kernel_emulator::trace`]). This module runs a launch description so, saves the
//! trace events, tells the modelled time, and makes a page of trace events ([`page`]).

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use kernel_emulator::trace::Others;
use kernel_emulator::{Options, TraceOptions};
use serde_json::Value;

use crate::launch::Launch;
use crate::run;

pub mod events;
pub mod page;
pub mod summary;

use events::Events;

/// `kiln trace`: what is traced, and where it goes.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Command {
    /// A launch description, or a trace.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write one page with the timeline, which needs no network; of a launch with several cases, that of the last one that ran.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The folder for traces of a launch description.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// The blocks to trace, by their numbers in the grid: `0`, `0-3`, `5,7-9`; each stands for its cluster.
    #[arg(long, value_name = "BLOCKS", default_value = "0")]
    pub blocks: String,
    /// Run only the traced blocks, which is fast for a large grid; results are not checked.
    #[arg(long)]
    pub only: bool,
    /// The device whose times are modelled, such as `sm_90a`; that of the launch without it.
    #[arg(long, value_name = "TARGET")]
    pub device: Option<String>,
}

/// What the command says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// For the terminal.
    pub text: String,
    /// Whether the launch passed.
    pub passed: bool,
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// A text for the user: what of the file or the options is wrong.
    pub fn run(&self) -> Result<Told, String> {
        let text = read(&self.file)?;
        let is_trace = is_trace(&text).map_err(|error| {
            let what = "required a trace or a launch description, both of which are JSON";
            self.in_file(&format!("{what}, actual text that is not: {error}"))
        })?;
        if is_trace {
            let events = Events::read(&text).map_err(|error| self.in_file(&error))?;
            let mut told = events.summary();
            self.write_page(&events, &mut told)?;
            return Ok(Told { text: told, passed: true });
        }
        self.run_launch()
    }

    fn in_file(&self, error: &str) -> String {
        format!("{}: {error}", self.file.display())
    }

    fn write_page(&self, events: &Events, told: &mut String) -> Result<(), String> {
        if let Some(file) = &self.html {
            save(file, &page::page(events))?;
            let _ = writeln!(told, "wrote {}", file.display());
        }
        Ok(())
    }

    /// Runs a launch description and saves a trace of each case.
    fn run_launch(&self) -> Result<Told, String> {
        let launch = Launch::read(&self.file).map_err(|error| error.to_string())?;
        let others = if self.only { Others::LeftOut } else { Others::Run };
        let options =
            TraceOptions { others, device: self.device.clone(), ..TraceOptions::default() };
        let options =
            options.with_blocks(&self.blocks).map_err(|error| format!("`--blocks`: {error}"))?;
        if let Some(device) = &self.device
            && !kernel_emulator::trace::is_device(device)
        {
            return Err(format!("`--device`: required a target such as sm_90a, actual `{device}`"));
        }
        let (result, timelines) = run::trace(&launch, &Options::default(), &options);
        let mut told = String::new();
        for (case, timeline) in timelines.iter().enumerate() {
            if timeline.lanes.is_empty() && timeline.fault.is_none() {
                let grid = timeline.config.grid;
                return Err(format!(
                    "`--blocks`: required numbers of blocks of the grid, from 0 to {}, actual `{}`",
                    grid.map(u64::from).iter().product::<u64>().saturating_sub(1),
                    self.blocks
                ));
            }
            let file = self.out.join(format!("{}.{case}.trace.json", launch.name));
            let text = timeline.chrome_json();
            save(&file, &text)?;
            let _ = writeln!(told, "wrote {}", file.display());
            told.push_str(&Events::read(&text)?.summary());
            if case + 1 == timelines.len() {
                self.write_page(&Events::read(&text)?, &mut told)?;
            }
        }
        let passed = match result {
            Ok(_) => true,
            Err(error) => {
                let _ = writeln!(told, "FAILED {}: {error}", launch.name);
                false
            }
        };
        Ok(Told { text: told, passed })
    }
}

/// Whether a text is a trace rather than a launch description.
fn is_trace(text: &str) -> Result<bool, serde_json::Error> {
    let value: Value = serde_json::from_str(text)?;
    Ok(value.is_array() || value.get("traceEvents").is_some())
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn save(file: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", file.display());
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(file, text).map_err(failed)
}
