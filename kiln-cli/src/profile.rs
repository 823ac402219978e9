//! `kiln profile`: how long the warps of launches were in the phases that `stamp!` names.
//!
//! A program writes a profile of a launch if `KILN_PROFILE` names a folder. This module reads profiles, or runs cargo so that it writes some, sums
//! them up ([`table`]), and makes a page of one, which is that of `kiln trace`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

use crate::trace::{Told, events::Events, page};

pub mod table;

/// The end of the names of profiles.
const ENDING: &str = ".profile.json";

/// `kiln profile`: which profiles, and what becomes of them.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Command {
    /// A profile, or a folder with profiles: of each kernel the last launch that was profiled.
    #[arg(value_name = "FILE|DIR", required_unless_present = "cargo", conflicts_with = "cargo")]
    pub path: Option<PathBuf>,
    /// Write one page with the timeline, which needs no network; of several profiles, that of the last one in the list.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The folder for the profiles of what cargo runs; profiles that are there are removed before.
    #[arg(long, value_name = "DIR", default_value = "target/kiln-profile")]
    pub out: PathBuf,
    /// What cargo is to do, such as `run --release`.
    #[arg(last = true, value_name = "CARGO ARGUMENTS")]
    pub cargo: Vec<OsString>,
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// A text for the user: what of a file is wrong, or why there is none.
    pub fn run(&self) -> Result<Told, String> {
        let (files, passed) = match &self.path {
            Some(path) if path.is_dir() => {
                let files = files_of(path)?;
                if files.is_empty() {
                    return Err(format!("{}: no file ends in {ENDING}", path.display()));
                }
                (last_of_each(files), true)
            }
            Some(path) => (vec![path.clone()], true),
            None => self.cargo()?,
        };
        let mut text = String::new();
        for (index, file) in files.iter().enumerate() {
            let events = read(file)?;
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = writeln!(text, "{}", file.display());
            text.push_str(&table::table(&events));
            if let Some(html) = self.html.as_ref().filter(|_| index + 1 == files.len()) {
                save(html, &page::page(&events))?;
                let _ = writeln!(text, "wrote {}", html.display());
            }
        }
        Ok(Told { text, passed })
    }

    /// Runs cargo, so that what it runs writes profiles; of each kernel the last one, and whether cargo succeeded.
    fn cargo(&self) -> Result<(Vec<PathBuf>, bool), String> {
        let of_folder = |error: io::Error| format!("{}: {error}", self.out.display());
        // Tests run in the folder of their package.
        let folder = std::path::absolute(&self.out).map_err(of_folder)?;
        if folder.is_dir() {
            // A program that launches less than the last time would leave files of that.
            for file in files_of(&folder)? {
                fs::remove_file(file).map_err(of_folder)?;
            }
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = process::Command::new(&cargo)
            .args(&self.cargo)
            .env("KILN_PROFILE", &folder)
            .status()
            .map_err(|error| format!("{}: {error}", cargo.display()))?;
        let files = if folder.is_dir() { files_of(&folder)? } else { Vec::new() };
        if files.is_empty() && status.success() {
            return Err(format!(
                "no profile came to {}: no kernel with `stamp!` was launched by what cargo ran",
                folder.display()
            ));
        }
        if files.is_empty() {
            return Err(format!("cargo failed: {status}"));
        }
        Ok((last_of_each(files), status.success()))
    }
}

/// The profiles of a folder.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.to_string_lossy().ends_with(ENDING) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Of each kernel the newest file; of several that were written at one time the one with the highest number. Earlier processes may have left
/// files with higher numbers.
fn last_of_each(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut last: BTreeMap<String, ((Option<SystemTime>, u32), PathBuf)> = BTreeMap::new();
    for file in files {
        let name = file.to_string_lossy().into_owned();
        let name = name.strip_suffix(ENDING).unwrap_or(&name);
        let (kernel, number) = name.rsplit_once('.').unwrap_or((name, ""));
        let written = fs::metadata(&file).and_then(|about| about.modified()).ok();
        let number = (written, number.parse().unwrap_or(0));
        let known = last.entry(kernel.to_owned()).or_insert((number, file.clone()));
        if number >= known.0 {
            *known = (number, file);
        }
    }
    last.into_values().map(|(_, file)| file).collect()
}

/// A profile.
fn read(file: &Path) -> Result<Events, String> {
    let of_file = |error: String| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| of_file(error.to_string()))?;
    let events = Events::read(&text).map_err(of_file)?;
    if !events.is_profile() {
        let what =
            "required a profile, which a launch writes to the folder that KILN_PROFILE names";
        return Err(of_file(format!("{what}, actual other trace events: `kiln trace` reads them")));
    }
    Ok(events)
}

fn save(file: &Path, text: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", file.display());
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(file, text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_kernel_the_last_launch_counts() {
        let files = ["b.0", "a.10", "a.9", "b.1", "b.x.0"];
        let files = files.map(|name| PathBuf::from(format!("p/{name}{ENDING}")));
        let last = last_of_each(files.to_vec());
        let required = ["a.10", "b.1", "b.x.0"].map(|name| format!("p/{name}{ENDING}"));
        assert_eq!(last, required.map(PathBuf::from));
    }
}
