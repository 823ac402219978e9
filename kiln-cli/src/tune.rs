//! `kiln tune`: a program that tunes, run so that it measures; and what is known already.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use kiln_tune::{Cache, Contents, table};

/// What the command says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// For standard output.
    pub text: String,
    /// For standard error: what failed or was ignored.
    pub warnings: Vec<String>,
}

impl Told {
    /// Writes the warnings; whether there are none.
    ///
    /// # Errors
    /// When `errors` cannot be written.
    pub fn warn(&self, errors: &mut dyn Write) -> io::Result<bool> {
        for warning in &self.warnings {
            writeln!(errors, "{warning}")?;
        }
        Ok(self.warnings.is_empty())
    }
}

/// What a cache holds, as a table; the user's own without a file.
pub fn list(file: Option<&Path>) -> Told {
    let cache = file.map_or_else(Cache::user, Cache::file);
    let Contents { entries, warnings, .. } = cache.contents();
    let place =
        cache.path().map_or_else(|| "no cache".to_owned(), |path| path.display().to_string());
    let text = match entries.len() {
        0 => format!("{place}: nothing is known\n"),
        _ => format!("{place}\n{}", table(&entries)),
    };
    Told { text, warnings }
}

/// Runs cargo with `arguments`, or its tests without any, so that what it runs measures everything; says which reports it left.
///
/// # Errors
/// A text for the user, when cargo cannot be started or the folder has no place.
pub fn measure(arguments: &[OsString], folder: &Path) -> Result<Told, String> {
    let unknown = |error: io::Error| format!("{}: {error}", folder.display());
    // Tests run in the folder of their package.
    let folder = std::path::absolute(folder).map_err(unknown)?;
    let start = SystemTime::now();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tests = [OsString::from("test")];
    let arguments = if arguments.is_empty() { &tests } else { arguments };
    let status = Command::new(&cargo)
        .args(arguments)
        .env("KILN_TUNE", "all")
        .env("KILN_TUNE_REPORT", &folder)
        .status()
        .map_err(|error| format!("{}: {error}", cargo.display()))?;
    let mut told = Told::default();
    for report in reports(&folder, start) {
        told.text.push_str(&report.display().to_string());
        told.text.push('\n');
    }
    if !status.success() {
        told.warnings.push(format!("cargo failed: {status}"));
    } else if told.text.is_empty() {
        told.warnings.push(
            format!(
                "no report came to {}: no `kiln_tune::Tuner` chose an instance in what cargo ran, or its reports go elsewhere",
                folder.display()
            ),
        );
    }
    Ok(told)
}

/// The files in a folder that were written since a time, by name.
fn reports(folder: &Path, since: SystemTime) -> BTreeSet<PathBuf> {
    let Ok(files) = std::fs::read_dir(folder) else { return BTreeSet::new() };
    let is_new = |path: &PathBuf| {
        let written = std::fs::metadata(path).and_then(|metadata| metadata.modified());
        // Times of files may be those of the last tick of the clock.
        let slack = std::time::Duration::from_millis(20);
        written.is_ok_and(|written| written + slack >= since)
    };
    files.filter_map(|file| Some(file.ok()?.path())).filter(is_new).collect()
}
