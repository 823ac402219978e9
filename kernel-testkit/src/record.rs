//! What the compiler makes of each kernel, a line an instance: a change of the compiler that is to leave it alone leaves these lines alone.
//!
//! Three files hold the lines of all kernels: `tests/ptx-digest.txt` a hash of the PTX and what ptxas makes of it, `tests/ptx-targets.txt`
//! the same for the targets that the kernels do not name, `tests/order.txt` what is known of the order of threads, blocks and copies.
//! Tests compare them; `cargo xtask ptx-digest` and `cargo xtask order` write them. Hashes are never absent; of numbers, see [`costs`].

use std::{collections::BTreeMap, fmt::Write as _, path::Path, sync::Arc};

use crate::{Assembler, FileTest, assembler::Assemble, examples, prepare::Build, targets};

pub mod costs;
mod line;

use costs::{Costs, Recorded};
use line::{Line, hash};

/// What lines say of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// SHA-256 of the PTX of each variant, and what ptxas makes of it.
    Ptx,
    /// The same of kernels that are compiled for targets that they do not name.
    Targets,
    /// The verdict on the order of its accesses.
    Order,
}

/// The lines of all kernels of a checkout: of file tests, and of examples that need no library of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    subject: Subject,
    lines: Vec<Line>,
    costs: Costs,
}

/// How the head says which ptxas the numbers are from.
const VERSION: &str = "# ptxas ";

impl Subject {
    /// The file, in the repository.
    pub const fn file(self) -> &'static str {
        match self {
            Subject::Ptx => "tests/ptx-digest.txt",
            Subject::Targets => "tests/ptx-targets.txt",
            Subject::Order => "tests/order.txt",
        }
    }

    /// What writes it.
    const fn command(self) -> &'static str {
        match self {
            Subject::Ptx | Subject::Targets => "cargo xtask ptx-digest",
            Subject::Order => "cargo xtask order",
        }
    }

    /// What stands in a line.
    const fn columns(self) -> &'static str {
        match self {
            Subject::Ptx => {
                "Kernel, instance, target, variant, SHA-256 of the PTX, and what ptxas makes of it: registers of a thread, bytes that a \
                 thread spills.\n# The first variant for sm_80 is assembled for sm_90a as well: its name and numbers follow. `-` stands for \
                 numbers that are not known."
            }
            Subject::Targets => {
                "Kernels compiled for targets that they do not name. The columns are those of ptx-digest.txt."
            }
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
    fn lines(self, name: &str, kernel: &FileTest) -> Result<Vec<(Line, String)>, String> {
        let mut lines = Vec::new();
        for build in kernel.builds().map_err(|error| format!("{name}: {error}"))? {
            let instance = format!("{name} {} {}", instance(build), build.target);
            match self {
                Subject::Order => {
                    let text = format!("{instance} {}", build.order);
                    lines.push((Line { text, costs: Vec::new() }, String::new()));
                }
                Subject::Ptx | Subject::Targets => {
                    for (place, variant) in build.variants.iter().enumerate() {
                        let text = format!("{instance} {} {}", variant.name, hash(&variant.ptx));
                        let targets = build.assembled_for(place).into_iter();
                        let costs = targets.map(|target| (target.to_owned(), None)).collect();
                        lines.push((Line { text, costs }, variant.ptx.clone()));
                    }
                }
            }
        }
        Ok(lines)
    }

    /// The lines of all kernels of a checkout, without numbers.
    fn compiled(self, root: &Path) -> Result<Vec<(Line, String)>, String> {
        let files =
            FileTest::all(&root.join("tests/kernels")).map_err(|error| error.to_string())?;
        let examples = examples::all(&root.join("examples"))?;
        let mut lines = Vec::new();
        match self {
            Subject::Ptx | Subject::Order => {
                for file in files {
                    lines.extend(self.lines(&file.name, &file)?);
                }
                for example in examples.iter().filter(|example| !example.needs_library()) {
                    lines.extend(self.lines(&example.in_records(), example.compiled())?);
                }
            }
            Subject::Targets => {
                let files: Vec<_> = files.into_iter().map(Arc::new).collect();
                let examples: Vec<_> = examples.into_iter().map(Arc::new).collect();
                for kernel in targets::all(&files, &examples) {
                    lines.extend(self.lines(&kernel.in_records(), &kernel.compiled()?)?);
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
        text.map_err(|error| error.to_string())
            .and_then(|text| Record::read(subject, &text))
            .map_err(|error| format!("{file}: {error}"))
    }

    fn read(subject: Subject, text: &str) -> Result<Record, String> {
        let mut version = None;
        let mut lines = Vec::new();
        for (place, line) in text.lines().enumerate() {
            if line.starts_with('#') {
                version = version.or(line.strip_prefix(VERSION).map(str::to_owned));
                continue;
            }
            lines.push(match subject {
                Subject::Order => Line { text: line.to_owned(), costs: Vec::new() },
                Subject::Ptx | Subject::Targets => {
                    Line::of_ptx(line).map_err(|error| format!("line {}: {error}", place + 1))?
                }
            });
        }
        let costs = Costs::of(version, &lines)?;
        Ok(Record { subject, lines, costs })
    }

    /// Has the compiler make the file anew, and gives what there is to say of its numbers. Texts that the file has numbers of keep them;
    /// of others the assembler gives them, if there is one. With a folder, the PTX is written there as well, a file a line of the digest,
    /// so that two compilers can be compared with `diff -r`.
    ///
    /// # Errors
    /// A file that cannot be read or written; what the compiler says of a kernel, or the assembler of a text.
    pub fn renew(
        subject: Subject,
        root: &Path,
        texts: Option<&Path>,
        assembler: Option<&Assembler>,
    ) -> Result<Vec<String>, String> {
        let mut lines = subject.compiled(root)?;
        if let Some(folder) = texts {
            for (line, ptx) in &lines {
                let file = folder.join(line.variant().replace([' ', '/', ':'], "_") + ".ptx");
                std::fs::write(&file, ptx)
                    .map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
        let mut said = Vec::new();
        let mut costs = Costs::default();
        if subject != Subject::Order {
            match Record::committed(subject, root) {
                Ok(record) => costs = record.costs,
                Err(error) => said.push(format!("no numbers are taken from the file: {error}")),
            }
            let assembled = costs.fill(&mut lines, assembler)?;
            said.push(numbers(subject, &lines, assembler.is_some().then_some(assembled)));
        }
        let lines = lines.into_iter().map(|(line, _)| line).collect();
        Record { subject, lines, costs }.write(root)?;
        Ok(said)
    }

    fn written(&self) -> String {
        let mut text = self.subject.head();
        if let Some(version) = &self.costs.version {
            let _ = writeln!(text, "{VERSION}{version}");
        }
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    fn write(&self, root: &Path) -> Result<(), String> {
        let file = self.subject.file();
        std::fs::write(root.join(file), self.written()).map_err(|error| format!("{file}: {error}"))
    }

    /// An assembler that is asked only for what this record does not say.
    ///
    /// # Errors
    /// An assembler that cannot be run.
    pub fn spare<A: Assemble>(&self, assembler: A) -> Result<Recorded<A>, String> {
        Recorded::new(assembler, self.costs.clone(), self.subject.file())
    }

    /// Whether the compiler makes of the kernel what the file says. Numbers are not compared.
    ///
    /// # Errors
    /// The lines that differ; what the compiler says of the kernel.
    pub fn compare(&self, name: &str, kernel: &FileTest) -> Result<(), String> {
        let required: Vec<&Line> = self.lines.iter().filter(|line| line.name() == name).collect();
        let actual = self.subject.lines(name, kernel)?;
        let actual: Vec<Line> = actual.into_iter().map(|(line, _)| line).collect();
        let agree = |(required, actual): (&&Line, &Line)| required.is_about_that_of(actual);
        if required.len() == actual.len() && required.iter().zip(&actual).all(agree) {
            return Ok(());
        }
        let mut text = format!("it is not what {} says", self.subject.file());
        let in_actual = |line: &Line| actual.iter().any(|other| line.is_about_that_of(other));
        for line in required.iter().filter(|line| !in_actual(line)) {
            let _ = write!(text, "\n  required  {line}");
        }
        let in_required = |line: &Line| required.iter().any(|other| line.is_about_that_of(other));
        for line in actual.iter().filter(|line| !in_required(line)) {
            let _ = write!(text, "\n  actual    {line}");
        }
        if actual.len() == required.len() && required.iter().all(|line| in_actual(line)) {
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
        let mut unknown: Vec<&str> = self.lines.iter().map(Line::name).collect();
        unknown.retain(|name| !names.iter().any(|known| known == name));
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(());
        }
        Err(format!("no such kernels: {}; `{}`", unknown.join(", "), self.subject.command()))
    }
}

/// What there is to say of the numbers of lines: how many texts were assembled, or that there is no assembler. Lines may share a text.
fn numbers(subject: Subject, lines: &[(Line, String)], assembled: Option<usize>) -> String {
    let file = subject.file();
    let mut texts = BTreeMap::new();
    for (line, _) in lines {
        texts.extend(line.costs.iter().map(|(target, cost)| ((line.hash(), target), cost)));
    }
    if let Some(count) = assembled {
        return format!("{file}: {count} of {} texts assembled", texts.len());
    }
    let absent = texts.values().filter(|cost| cost.is_none()).count();
    format!(
        "{file}: {absent} of {} texts have `-` for their numbers, as KILN_PTXAS names no ptxas",
        texts.len()
    )
}

/// The instance of a build.
fn instance(build: &Build) -> String {
    let mut generics: Vec<String> =
        build.generics.iter().map(|(name, value)| format!("{name}={value}")).collect();
    generics.extend(build.absent().map(|name| format!("{name}=None")));
    if generics.is_empty() { "-".to_owned() } else { generics.join(",") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "\
//@ run: eval
#[kernel(target = [sm_80, sm_90a], warps = 1, grid = 1)]
pub fn copy(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    out.tile([0], [32]).store(x.tile([0], [32]).load());
}
";

    fn record(change: impl Fn(String) -> String) -> (Record, FileTest) {
        let kernel = FileTest::of("area/copy", KERNEL);
        let lines = Subject::Ptx.lines("area/copy", &kernel).expect("it compiles");
        let lines = lines.iter().map(|(line, _)| format!("{line}\n"));
        let text = format!("# Columns.\n# ptxas V1\n{}", lines.map(change).collect::<String>());
        (Record::read(Subject::Ptx, &text).expect("these are lines"), kernel)
    }

    #[test]
    fn numbers_may_be_absent_and_hashes_may_not() {
        let (absent, kernel) = record(|line| line);
        assert_eq!(absent.compare("area/copy", &kernel), Ok(()));
        assert_eq!(absent.costs.version.as_deref(), Some("V1"));
        let (present, _) = record(|line| line.replace(" -\n", " 24 8\n"));
        assert!(present.written().contains(" 24 8\n"));
        assert_eq!(present.compare("area/copy", &kernel), Ok(()));
        let (other, _) = record(|line| {
            let hash = Line::of_ptx(line.trim_end()).expect("it is a line").hash().to_owned();
            line.replace(&hash, &"0".repeat(64))
        });
        let said = other.compare("area/copy", &kernel).expect_err("no text has this hash");
        assert!(said.contains("required  area/copy - sm_80 aligned 0000"), "{said}");
    }

    #[test]
    fn a_second_architecture_is_part_of_a_line() {
        let (record, kernel) = record(|line| line.replace(" sm_90a -\n", "\n"));
        let said = record.compare("area/copy", &kernel).expect_err("the first line has two");
        assert!(said.contains(" - sm_90a -\n"), "{said}");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (record, _) = record(|line| line.replace(" - sm_90a -\n", " 24 0 sm_90a 26 8\n"));
        assert_eq!(Record::read(Subject::Ptx, &record.written()), Ok(record));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named_by_its_number() {
        let said =
            Record::read(Subject::Targets, "# Columns.\nsoftmax/row\n").expect_err("no hash");
        assert!(said.starts_with("line 2: required a kernel"), "{said}");
    }
}
