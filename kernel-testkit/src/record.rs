//! What the compiler makes of each kernel, a line an instance: a change of the compiler that is to leave it alone leaves these lines alone.
//!
//! Two files hold the lines of all kernels: `tests/ptx-digest.txt` a hash of the PTX, `tests/order.txt` what is known of the order of
//! threads, blocks and copies. Tests compare them; `cargo xtask ptx-digest` and `cargo xtask order` write them.

use std::{fmt::Write as _, path::Path};

use sha2::{Digest as _, Sha256};

use crate::{FileTest, examples, prepare::Build};

/// What lines say of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// SHA-256 of the PTX of each variant.
    Ptx,
    /// The verdict on the order of its accesses.
    Order,
}

/// The lines of all kernels of a checkout: of file tests, and of examples that need no library of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    subject: Subject,
    lines: Vec<String>,
}

impl Subject {
    /// The file, in the repository.
    const fn file(self) -> &'static str {
        match self {
            Subject::Ptx => "tests/ptx-digest.txt",
            Subject::Order => "tests/order.txt",
        }
    }

    /// What writes it.
    const fn command(self) -> &'static str {
        match self {
            Subject::Ptx => "cargo xtask ptx-digest",
            Subject::Order => "cargo xtask order",
        }
    }

    /// What stands in a line.
    const fn columns(self) -> &'static str {
        match self {
            Subject::Ptx => "Kernel, instance, target, variant, and SHA-256 of the PTX.",
            Subject::Order => {
                "Kernel, instance, target, and what is known of its order: proven, or left to the emulator, and why."
            }
        }
    }

    fn head(self) -> String {
        let (columns, command) = (self.columns(), self.command());
        format!(
            "# {columns}\n# `{command}` writes this file. A commit that changes it says which kernels change, and why.\n"
        )
    }

    /// What stands in the lines of a kernel, in the order in which instances are compiled, each with the PTX that it is about.
    fn lines(self, name: &str, kernel: &FileTest) -> Result<Vec<(String, String)>, String> {
        let mut lines = Vec::new();
        for build in kernel.builds().map_err(|error| format!("{name}: {error}"))? {
            let instance = format!("{name} {} {}", instance(build), build.target);
            match self {
                Subject::Order => {
                    lines.push((format!("{instance} {}", build.order), String::new()));
                }
                Subject::Ptx => {
                    for variant in &build.variants {
                        let mut line = format!("{instance} {} ", variant.name);
                        for byte in Sha256::digest(variant.ptx.as_bytes()) {
                            let _ = write!(line, "{byte:02x}");
                        }
                        lines.push((line, variant.ptx.clone()));
                    }
                }
            }
        }
        Ok(lines)
    }
}

impl Record {
    /// What the file says.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn committed(subject: Subject, root: &Path) -> Result<Record, String> {
        let file = subject.file();
        let text = std::fs::read_to_string(root.join(file));
        let text = text.map_err(|error| format!("{file}: {error}"))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Ok(Record { subject, lines: lines.map(str::to_owned).collect() })
    }

    /// What the compiler makes of them now. With a folder, the PTX is written there as well, a file a line of the digest, so that two
    /// compilers can be compared with `diff -r`.
    ///
    /// # Errors
    /// A file that cannot be read or written; what the compiler says of a kernel.
    pub fn compiled(subject: Subject, root: &Path, texts: Option<&Path>) -> Result<Record, String> {
        let mut lines = Vec::new();
        let mut add = |name: &str, kernel: &FileTest| {
            for (line, ptx) in subject.lines(name, kernel)? {
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
        let files = FileTest::all(&root.join("tests/kernels"));
        for file in files.map_err(|error| error.to_string())? {
            add(&file.name, &file)?;
        }
        for example in examples::all(&root.join("examples"))? {
            if !example.needs_library() {
                add(&example.in_records(), example.compiled())?;
            }
        }
        Ok(Record { subject, lines })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, root: &Path) -> Result<(), String> {
        let file = self.subject.file();
        let text = format!("{}{}\n", self.subject.head(), self.lines.join("\n"));
        std::fs::write(root.join(file), text).map_err(|error| format!("{file}: {error}"))
    }

    /// Whether the compiler makes of the kernel what the file says.
    ///
    /// # Errors
    /// The lines that differ; what the compiler says of the kernel.
    pub fn compare(&self, name: &str, kernel: &FileTest) -> Result<(), String> {
        let required: Vec<&String> =
            self.lines.iter().filter(|line| name_of(line) == name).collect();
        let actual = self.subject.lines(name, kernel)?;
        let actual: Vec<String> = actual.into_iter().map(|(line, _)| line).collect();
        let differ = |(at, line): (usize, &&String)| actual.get(at) != Some(*line);
        if required.len() == actual.len() && !required.iter().enumerate().any(differ) {
            return Ok(());
        }
        let mut text = format!("it is not what {} says", self.subject.file());
        for line in required.iter().filter(|line| !actual.contains(line)) {
            let _ = write!(text, "\n  required  {line}");
        }
        for line in actual.iter().filter(|line| !required.contains(line)) {
            let _ = write!(text, "\n  actual    {line}");
        }
        if actual.len() == required.len() && required.iter().all(|line| actual.contains(line)) {
            text.push_str("\n  the lines are there in another order");
        }
        let _ = write!(text, "\n  if it is to change: `{}`", self.subject.command());
        Err(text)
    }

    /// The kernels of the file that are none of these.
    ///
    /// # Errors
    /// If there are some.
    pub fn names_only(&self, names: &[String]) -> Result<(), String> {
        let mut unknown: Vec<&str> = self.lines.iter().map(|line| name_of(line)).collect();
        unknown.retain(|name| !names.iter().any(|known| known == name));
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(());
        }
        Err(format!("no such kernels: {}; `{}`", unknown.join(", "), self.subject.command()))
    }
}

/// The instance of a build.
fn instance(build: &Build) -> String {
    let mut generics: Vec<String> =
        build.generics.iter().map(|(name, value)| format!("{name}={value}")).collect();
    generics.extend(build.absent().map(|name| format!("{name}=None")));
    if generics.is_empty() { "-".to_owned() } else { generics.join(",") }
}

fn name_of(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}
