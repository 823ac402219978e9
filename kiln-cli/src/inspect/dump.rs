//! The files of a dump: which there are, and which kernel, instance, target and variant each is about.
//!
//! `KILN_DUMP` names a file `CRATE-PATH-LINE-KERNEL-NAME=VALUE..-TARGET-VARIANT.STAGE`, where `PATH` has dots between folders. Other PTX
//! files are taken as they are: their name is that of the file, and their target the one in their text.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kernel_ptx::Target;

/// The PTX of a variant, and what else was written about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The PTX file.
    pub file: PathBuf,
    /// The PTX.
    pub ptx: String,
    /// The tile IR with layouts, if there is such a file.
    pub layouts: Option<String>,
    /// The file about the order, if there is one. It is written for the first variant alone and holds for all.
    pub order: Option<String>,
    /// How long each phase of the compiler took, if there is such a file.
    pub times: Option<String>,
}

impl Dump {
    /// Whether its name contains all of these texts.
    pub fn is_named(&self, texts: &[String]) -> bool {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        texts.iter().all(|text| name.contains(text.as_str()))
    }
}

/// What the name of a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The crate and the source file, as in `softmax-examples.softmax`; empty where the name does not say.
    pub place: String,
    /// The line of the kernel's attribute or name in the source.
    pub line: Option<u32>,
    /// The generic arguments: `T=f16 N=1024`; empty without.
    pub instance: String,
    /// The variant: `aligned`, `general` or `divisible`; the whole stem of a file that `KILN_DUMP` did not name.
    pub variant: String,
}

impl Label {
    /// Reads the name of a file without its ending. The entry of its PTX says where the kernel's name is.
    ///
    /// ```
    /// use kiln_cli::inspect::dump::Label;
    ///
    /// let label = Label::read("app-src.main-22-softmax-T=f16-N=-1-sm_80-aligned", "softmax");
    /// assert_eq!((label.place.as_str(), label.line), ("app-src.main", Some(22)));
    /// assert_eq!((label.instance.as_str(), label.variant.as_str()), ("T=f16 N=-1", "aligned"));
    /// ```
    pub fn read(stem: &str, entry: &str) -> Label {
        let whole = || Label { variant: stem.to_owned(), ..Label::default() };
        let Some((rest, variant)) = stem.rsplit_once('-') else { return whole() };
        let (rest, beside) = [("-reporting", " with messages"), ("-profiled", " with stamps")]
            .into_iter()
            .find_map(|(ending, beside)| Some((rest.strip_suffix(ending)?, beside)))
            .unwrap_or((rest, ""));
        let Some((rest, target)) = rest.rsplit_once('-') else { return whole() };
        if Target::parse(target).is_none() {
            return whole();
        }
        let variant = format!("{variant}{beside}");
        let Some((before, arguments)) = around(rest, entry) else { return whole() };
        let (place, line) = match before.rsplit_once('-') {
            Some((place, line)) => match line.parse() {
                Ok(line) => (place, Some(line)),
                Err(_) => (before, None),
            },
            None => (before, None),
        };
        Label { place: place.to_owned(), line, instance: spaced(arguments), variant }
    }
}

/// What is before and after the kernel's name, which is between hyphens or at the end.
fn around<'t>(text: &'t str, entry: &str) -> Option<(&'t str, &'t str)> {
    let mut found = None;
    for (at, _) in text.match_indices(entry) {
        let (before, after) = (&text[..at], &text[at + entry.len()..]);
        let ends = after.is_empty() || after.starts_with('-');
        if !entry.is_empty() && ends && (before.is_empty() || before.ends_with('-')) {
            let parts = (before.trim_end_matches('-'), after);
            // A crate may have the kernel's name: the line stands directly before the kernel.
            if before.trim_end_matches('-').ends_with(|end: char| end.is_ascii_digit()) {
                return Some(parts);
            }
            found = found.or(Some(parts));
        }
    }
    found
}

/// `-T=f16-N=-1` as `T=f16 N=-1`: an argument begins at a hyphen before a name and `=`.
fn spaced(arguments: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in arguments.trim_start_matches('-').split('-') {
        let name = part.split('=').next().unwrap_or_default();
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        match parts.last_mut() {
            Some(last) if !(is_name && part.contains('=')) => {
                last.push('-');
                last.push_str(part);
            }
            Some(_) | None => parts.push(part.to_owned()),
        }
    }
    parts.join(" ")
}

/// The dumps of folders and files, in the order of their names, each once; and why others cannot be read.
///
/// # Errors
/// When a folder cannot be read or has no PTX, or the PTX of a file is missing.
pub fn read(paths: &[PathBuf]) -> Result<(Vec<Dump>, Vec<String>), String> {
    let mut files = BTreeSet::new();
    for path in paths {
        if path.is_dir() {
            files.extend(within(path)?);
        } else {
            files.insert(ptx_of(path)?);
        }
    }
    let (mut dumps, mut problems) = (Vec::new(), Vec::new());
    for file in files {
        match one(file) {
            Ok(dump) => dumps.push(dump),
            Err(problem) => problems.push(problem),
        }
    }
    Ok((dumps, problems))
}

/// The PTX files of a folder.
fn within(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let shown = folder.display();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{shown}: {error}"))?;
    let mut found = Vec::new();
    for entry in entries {
        let file = entry.map_err(|error| format!("{shown}: {error}"))?.path();
        if file.extension().is_some_and(|ending| ending == "ptx") {
            found.push(file);
        }
    }
    if found.is_empty() {
        return Err(format!(
            "{shown}: no file ends in .ptx; `KILN_DUMP={shown} cargo build` writes them for what it compiles"
        ));
    }
    Ok(found)
}

/// The PTX file of a variant, any of whose files may be named.
fn ptx_of(file: &Path) -> Result<PathBuf, String> {
    let stages = ["ir", "schedule", "order", "layouts", "times"];
    let is_stage = file.extension().is_some_and(|end| stages.iter().any(|stage| end == *stage));
    if !is_stage {
        return Ok(file.to_owned());
    }
    let ptx = file.with_extension("");
    // A name may have dots, so the ending is added and not exchanged.
    let ptx = with_ending(&ptx, "ptx");
    if ptx.is_file() {
        return Ok(ptx);
    }
    Err(format!(
        "{}: required the PTX of this variant beside it, {}",
        file.display(),
        ptx.display()
    ))
}

fn with_ending(stem: &Path, ending: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn one(file: PathBuf) -> Result<Dump, String> {
    let text = |file: &Path| {
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let optional = |file: &Path| if file.is_file() { text(file).map(Some) } else { Ok(None) };
    let ptx = text(&file)?;
    let stem = file.with_extension("");
    let layouts = optional(&with_ending(&stem, "layouts"))?;
    let mut order = optional(&with_ending(&stem, "order"))?;
    if order.is_none()
        && let Some(name) = stem.file_name().and_then(|name| name.to_str())
        && let Some((label, _)) = name.rsplit_once('-')
    {
        for variant in ["aligned", "general"] {
            if order.is_none() {
                order = optional(&stem.with_file_name(format!("{label}-{variant}.order")))?;
            }
        }
    }
    let times = optional(&with_ending(&stem, "times"))?;
    Ok(Dump { file, ptx, layouts, order, times })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_what_it_is_about() {
        let label = Label::read(
            "matmul-examples.matmul-39-matmul-T=bf16-A_K=false-sm_90a-divisible",
            "matmul",
        );
        assert_eq!(label.place, "matmul-examples.matmul");
        assert_eq!(label.line, Some(39));
        assert_eq!(label.instance, "T=bf16 A_K=false");
        assert_eq!(label.variant, "divisible");
        let label = Label::read("app-src.main-7-scale-sm_80-reporting-general", "scale");
        assert_eq!(
            (label.instance.as_str(), label.variant.as_str()),
            ("", "general with messages")
        );
        assert_eq!(label.line, Some(7));
        let label = Label::read("app-src.main-7-scale-sm_80-profiled-general", "scale");
        assert_eq!(label.variant, "general with stamps");
    }

    #[test]
    fn a_negative_argument_keeps_its_sign() {
        let label = Label::read("a-src.lib-3-f-N=-1-LAST=-20-sm_80-aligned", "f");
        assert_eq!(label.instance, "N=-1 LAST=-20");
    }

    #[test]
    fn other_files_keep_their_name() {
        for stem in ["matmul", "row_sums-sm_80", "half-axpy-of-us"] {
            let required = Label { variant: stem.to_owned(), ..Label::default() };
            assert_eq!(Label::read(stem, "matmul"), required);
        }
    }
}
