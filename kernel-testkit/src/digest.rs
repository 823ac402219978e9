//! What the compiler makes of each kernel, as a line with a hash of the PTX: a change of the compiler that is to leave the PTX alone leaves
//! these lines alone.
//!
//! The lines of all kernels stand in `tests/ptx-digest.txt`. Tests compare them; `cargo xtask ptx-digest` writes them.

use std::{fmt::Write as _, path::Path};

use sha2::{Digest as _, Sha256};

use crate::{FileTest, examples, prepare::Build};

/// The head of the file.
const HEAD: &str = "\
# Kernel, instance, target, variant, and SHA-256 of the PTX.
# `cargo xtask ptx-digest` writes this file. A commit that changes it says which kernels change, and why.
";

/// The file, in the repository.
const FILE: &str = "tests/ptx-digest.txt";

/// The lines of all kernels of a checkout: of file tests, and of examples that need no library of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    lines: Vec<String>,
}

impl Digest {
    /// What the file says.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn committed(root: &Path) -> Result<Digest, String> {
        let text = std::fs::read_to_string(root.join(FILE));
        let text = text.map_err(|error| format!("{FILE}: {error}"))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Ok(Digest { lines: lines.map(str::to_owned).collect() })
    }

    /// What the compiler makes of them now. With a folder, the PTX is written there as well, a file a line of the digest, so that two
    /// compilers can be compared with `diff -r`.
    ///
    /// # Errors
    /// A file that cannot be read or written; what the compiler says of a kernel.
    pub fn compiled(root: &Path, texts: Option<&Path>) -> Result<Digest, String> {
        let mut lines = Vec::new();
        let mut add = |name: &str, kernel: &FileTest| {
            for (line, ptx) in lines_of(name, kernel)? {
                if let Some(folder) = texts {
                    let (variant, _) = line.rsplit_once(' ').unwrap_or((&line, ""));
                    let file = folder.join(variant.replace([' ', '/', ':'], "_") + ".ptx");
                    std::fs::write(&file, ptx)
                        .map_err(|error| format!("{}: {error}", file.display()))?;
                }
                lines.push(line);
            }
            Ok::<(), String>(())
        };
        each_kernel(root, &mut add)?;
        Ok(Digest { lines })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, root: &Path) -> Result<(), String> {
        let text = format!("{HEAD}{}\n", self.lines.join("\n"));
        std::fs::write(root.join(FILE), text).map_err(|error| format!("{FILE}: {error}"))
    }

    /// Whether the kernel's PTX is what the file says.
    ///
    /// # Errors
    /// The lines that differ; what the compiler says of the kernel.
    pub fn compare(&self, name: &str, kernel: &FileTest) -> Result<(), String> {
        let required: Vec<&String> =
            self.lines.iter().filter(|line| name_of(line) == name).collect();
        let actual = lines_of(name, kernel)?;
        let actual: Vec<String> = actual.into_iter().map(|(line, _)| line).collect();
        let differ = |(at, line): (usize, &&String)| actual.get(at) != Some(*line);
        if required.len() == actual.len() && !required.iter().enumerate().any(differ) {
            return Ok(());
        }
        let mut text = format!("the PTX is not that of {FILE}");
        for line in required.iter().filter(|line| !actual.contains(line)) {
            let _ = write!(text, "\n  required  {line}");
        }
        for line in actual.iter().filter(|line| !required.contains(line)) {
            let _ = write!(text, "\n  actual    {line}");
        }
        if actual.len() == required.len() && required.iter().all(|line| actual.contains(line)) {
            text.push_str("\n  the lines are there in another order");
        }
        text.push_str("\n  if it is to change: `cargo xtask ptx-digest`");
        Err(text)
    }

    /// The kernels of the file that are none of these.
    pub fn unknown(&self, names: &[String]) -> Vec<&str> {
        let mut unknown: Vec<&str> = self.lines.iter().map(|line| name_of(line)).collect();
        unknown.retain(|name| !names.iter().any(|known| known == name));
        unknown.dedup();
        unknown
    }
}

/// Calls `each` with every kernel of a checkout, and its name: those of file tests, and of examples that need no library of their own.
///
/// # Errors
/// A file that cannot be read; what `each` gives.
pub(crate) fn each_kernel(
    root: &Path,
    each: &mut dyn FnMut(&str, &FileTest) -> Result<(), String>,
) -> Result<(), String> {
    let files = FileTest::all(&root.join("tests/kernels"));
    for file in files.map_err(|error| error.to_string())? {
        each(&file.name, &file)?;
    }
    for example in examples::all(&root.join("examples"))? {
        if !example.needs_library() {
            each(&example.in_digest(), example.compiled())?;
        }
    }
    Ok(())
}

/// The instance of a build, in a line of a report.
pub(crate) fn instance(build: &Build) -> String {
    let generics: Vec<String> =
        build.generics.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if generics.is_empty() { "-".to_owned() } else { generics.join(",") }
}

fn name_of(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

/// One line for each variant of each instance with its PTX, in the order in which they are compiled.
fn lines_of(name: &str, kernel: &FileTest) -> Result<Vec<(String, String)>, String> {
    let mut lines = Vec::new();
    for build in kernel.builds().map_err(|error| format!("{name}: {error}"))? {
        let instance = instance(build);
        for variant in &build.variants {
            let mut line = format!("{name} {instance} {} {} ", build.target, variant.name);
            for byte in Sha256::digest(variant.ptx.as_bytes()) {
                let _ = write!(line, "{byte:02x}");
            }
            lines.push((line, variant.ptx.clone()));
        }
    }
    Ok(lines)
}
