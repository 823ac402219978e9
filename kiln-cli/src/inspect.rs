//! `kiln inspect`: what the compiler and the assembler made of kernels, from what `KILN_DUMP` wrote.
//!
//! [`dump`] reads the files. [`kernel`] has the figures that the PTX shows, [`ptxas`] those of the assembler, [`gpus`] what a
//! multiprocessor holds, [`loops`] what instructions of loops do, [`ideal`] how long they take at
//! least, [`conversions`] which layouts are converted, [`order`] what is proven, [`source`] and [`sass`] code by the lines it comes from. [`report`] puts
//! them together; [`text`], [`code`], [`json`] and [`html`] tell them. [`layouts`](mod@layouts) tells what a dump says of layouts.

use std::path::{Path, PathBuf};

pub mod bases;
pub mod class;
pub mod code;
pub mod conversions;
pub mod dump;
pub mod gpus;
pub mod html;
pub mod ideal;
pub mod json;
pub mod kernel;
pub mod layouts;
pub mod loops;
pub mod order;
pub mod products;
pub mod ptxas;
pub mod report;
pub mod sass;
pub mod shared;
pub mod source;
pub mod text;
pub mod times;
pub mod tools;

pub use code::Language;
pub use layouts::layouts;

use report::{MachineCode, Ways};
use tools::Tools;

/// What of a dump is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The layouts of tiles, and what conversions cost.
    Layouts,
    /// What is known of the order of accesses, before the kernel runs.
    Order,
}

impl Shown {
    /// The ending of the files in which `KILN_DUMP` leaves it.
    const fn ending(self) -> &'static str {
        match self {
            Shown::Layouts => "layouts",
            Shown::Order => "order",
        }
    }

    /// Tells a dump, which ends in a line feed.
    ///
    /// # Errors
    /// When the text is not what `KILN_DUMP` leaves.
    pub fn tell(self, dump: &str) -> Result<String, String> {
        match self {
            Shown::Layouts => layouts(dump),
            Shown::Order => Ok(format!("{}\n", order::verdict(dump)?)),
        }
    }

    /// Tells the files of folders, and single files, one after the other.
    fn tell_all(self, paths: &[PathBuf]) -> Result<Told, String> {
        let mut told = Told::default();
        let mut is_proven = false;
        for path in paths {
            for file in files(path, self)? {
                let named = |text: &dyn std::fmt::Display| format!("{}: {text}", file.display());
                let dump = std::fs::read_to_string(&file).map_err(|error| error.to_string());
                match dump.and_then(|dump| self.tell(&dump)) {
                    Ok(text) => {
                        is_proven |= self == Shown::Order && order::is_proof(&text);
                        told.text += &named(&text);
                        told.text += match self {
                            Shown::Layouts => "\n",
                            Shown::Order => "",
                        };
                    }
                    Err(problem) => told.problems.push(named(&problem)),
                }
            }
        }
        if is_proven {
            told.text.extend(["\n", order::COVERS, "\n"]);
        }
        Ok(told)
    }
}

/// The files of a folder that hold it, sorted, or the file itself.
///
/// # Errors
/// When a folder cannot be read, or has no such file.
pub fn files(path: &Path, shown: Shown) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let ending = shown.ending();
    let shown = path.display();
    let entries = std::fs::read_dir(path).map_err(|error| format!("{shown}: {error}"))?;
    let mut found = Vec::new();
    for entry in entries {
        let file = entry.map_err(|error| format!("{shown}: {error}"))?.path();
        if file.extension().is_some_and(|found| found == ending) {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(format!(
            "{shown}: no file ends in .{ending}; `KILN_DUMP={shown} cargo build` writes them for what it compiles"
        ));
    }
    Ok(found)
}

/// `kiln inspect`: of what, and what of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspect {
    /// Folders and files of dumps.
    pub paths: Vec<PathBuf>,
    /// What is printed.
    pub view: View,
    /// Only kernels whose line of names contains all of these texts.
    pub only: Vec<String>,
    /// A folder that paths of source files start from.
    pub source: Option<PathBuf>,
    /// Where what is known is written as JSON.
    pub json: Option<PathBuf>,
    /// Where it is written as a page.
    pub html: Option<PathBuf>,
    /// The programs.
    pub tools: Tools,
}

/// What `kiln inspect` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// A row for each kernel.
    Table,
    /// What the instructions of loops do.
    Loops,
    /// How long the compiler took, phase by phase.
    Times,
    /// Code by lines of the source.
    Code(Language),
    /// What files of a stage say, one after the other.
    Files(Shown),
}

/// What `kiln inspect` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What was found.
    pub text: String,
    /// What could not be read, assembled or written, a text for the user each.
    pub problems: Vec<String>,
}

/// Looks at dumps.
///
/// # Errors
/// When a path has no dump, or no kernel has the names that are required.
pub fn run(command: &Inspect) -> Result<Told, String> {
    if let View::Files(shown) = command.view {
        return shown.tell_all(&command.paths);
    }
    let (mut dumps, unread) = dump::read(&command.paths)?;
    dumps.retain(|dump| dump.is_named(&command.only));
    if dumps.is_empty() && unread.is_empty() {
        let only = command.only.join(" ");
        return Err(format!("required a kernel whose names contain `{only}`, actual none"));
    }
    let shows_code = command.view == View::Code(Language::Sass) || command.html.is_some();
    let ways = Ways {
        tools: command.tools.clone(),
        machine_code: if shows_code { MachineCode::Shown } else { MachineCode::LeftOut },
        source: command.source.clone(),
    };
    let report = report::of(&dumps, ways);
    // What cannot be written is no reason to show nothing.
    let mut unwritten = Vec::new();
    if let Some(file) = &command.json {
        unwritten.extend(written(file, &format!("{:#}\n", json::document(&report))).err());
    }
    if let Some(file) = &command.html {
        let pages = html::pages(&report, file);
        let all =
            pages.and_then(|pages| pages.iter().try_for_each(|(file, text)| written(file, text)));
        unwritten.extend(all.err());
    }
    let text = match command.view {
        View::Loops => code::loops(&report),
        View::Times => times::table(&report),
        View::Code(language) => code::listing(&report, language),
        View::Table | View::Files(_) => text::table(&report),
    };
    let text = if report.kernels.is_empty() { String::new() } else { text };
    Ok(Told { text, problems: [unread, report.problems, unwritten].concat() })
}

fn written(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text)
        .map_err(|error| format!("{} cannot be written: {error}", file.display()))
}
