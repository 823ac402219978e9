//! What the subcommands print.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kernel_core::diag::Code;
use kernel_emulator::{Fault, Options};

use crate::findings;
use crate::launch::Launch;
use crate::layout_picture;
use crate::layout_shown::{Shown, written_for};
use crate::run::{Failure, Outcome, run};

/// `kiln run-ptx`: which launches, and how.
#[derive(Debug, Default)]
pub struct RunPtx {
    /// The launch descriptions.
    pub files: Vec<PathBuf>,
    /// Where to save what the kernels write.
    pub out: Option<PathBuf>,
    /// The emulator's options.
    pub options: Options,
    /// What to print beside the verdicts.
    pub statistics: Statistics,
    /// Where to save the hazards found, as JSON.
    pub findings: Option<PathBuf>,
}

/// Whether a launch's counters are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Statistics {
    /// They are not.
    #[default]
    Hidden,
    /// They are, below its verdict.
    Shown,
}

/// The emulator's options with this many host threads, as many as the machine has without a number; and at most this many warp
/// instructions in a launch, the emulator's own limit without a number.
pub fn options(threads: Option<usize>, max_instructions: Option<u64>) -> Options {
    let options = threads.into_iter().fold(Options::default(), Options::with_threads);
    max_instructions.into_iter().fold(options, Options::with_max_instructions)
}

/// How many launches passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Launches all of whose cases passed.
    pub passed: usize,
    /// All others, those whose description cannot be read among them.
    pub failed: usize,
}

/// Runs launches one after another, with a line for each and one for all.
///
/// # Errors
/// When `output` cannot be written; failures of launches are counted.
pub fn run_ptx(command: &RunPtx, output: &mut dyn Write) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let mut found = Vec::new();
    for file in &command.files {
        let start = Instant::now();
        let (name, result) = verdict(file, command);
        let (findings, fault) = match result {
            Ok(outcome) => {
                tally.passed += 1;
                writeln!(output, "ok {name} ({})", took(outcome.cases, start.elapsed()))?;
                if command.statistics == Statistics::Shown {
                    writeln!(
                        output,
                        "  {} warp instructions, {} lane instructions, {} bank conflicts",
                        grouped(outcome.warp_instructions),
                        grouped(outcome.lane_instructions),
                        grouped(outcome.shared_bank_conflicts)
                    )?;
                }
                for line in outcome.output.lines() {
                    writeln!(output, "  | {line}")?;
                }
                (outcome.findings, None)
            }
            Err(Failed { reason, findings, fault }) => {
                tally.failed += 1;
                writeln!(output, "FAILED {name}: {reason}")?;
                (findings, fault)
            }
        };
        for finding in &findings {
            let text = finding.to_string().replace('\n', "\n    ");
            writeln!(output, "  {}: {text}", finding.kind.code())?;
        }
        found.push(findings::of_launch(&name, &findings, fault.as_ref()));
        output.flush()?;
    }
    if let Some(file) = &command.findings {
        let text = serde_json::Value::from(found).to_string();
        if let Err(error) = std::fs::write(file, text + "\n") {
            tally.failed += 1;
            writeln!(output, "FAILED to save the findings as {}: {error}", file.display())?;
        }
    }
    writeln!(output, "{} passed, {} failed", tally.passed, tally.failed)?;
    Ok(tally)
}

/// A launch that failed: why, the hazards found in the cases before, and the fault if one ended it.
struct Failed {
    reason: String,
    findings: Vec<Fault>,
    fault: Option<Fault>,
}

impl Failed {
    fn of(reason: String) -> Failed {
        Failed { reason, findings: Vec::new(), fault: None }
    }
}

/// The name of a launch, or its file's where it has none, and how it went.
fn verdict(file: &Path, command: &RunPtx) -> (String, Result<Outcome, Failed>) {
    let launch = match Launch::read(file) {
        Ok(launch) => launch,
        Err(error) => {
            let name = Launch::name_of(file).unwrap_or_else(|| file.display().to_string());
            return (name, Err(Failed::of(error.to_string())));
        }
    };
    // One launch that the emulator gives up on must not take the others' verdicts with it.
    let result =
        catch_unwind(AssertUnwindSafe(|| run(&launch, &command.options, command.out.as_deref())));
    let result = match result {
        Ok(result) => result.map_err(|error| {
            let reason = error.to_string();
            let fault =
                if let Failure::Fault(fault) = *error.failure { Some(*fault) } else { None };
            Failed { reason, findings: error.findings, fault }
        }),
        Err(panic) => Err(Failed::of(format!("the emulator failed: {}", panic_text(&*panic)))),
    };
    (launch.name, result)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it gave no reason")
}

/// `2 cases, 1.2 s`.
fn took(cases: usize, time: Duration) -> String {
    let plural = if cases == 1 { "" } else { "s" };
    format!("{cases} case{plural}, {:.1} s", time.as_secs_f64())
}

/// A count with its digits in groups of three.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `kiln layout`: one layout to show, or two to compare.
#[derive(Clone, Debug, Default)]
pub struct ShowLayout {
    /// The layouts as they are written, one or two.
    pub forms: Vec<String>,
    /// The shape of the tensor, where a layout does not say.
    pub shape: Option<Vec<u32>>,
    /// The bits of an element.
    pub element_bits: u32,
}

/// What [`layout`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutPage {
    /// Bases and tables, and the first difference of two.
    pub text: String,
    /// The picture, as SVG.
    pub picture: Result<String, String>,
}

/// `kiln layout`: a layout's bases for a shape, and who holds each element; of two, the first difference as well.
///
/// # Errors
/// A text for the user: what is wrong with a layout as written, or why it does not fit the shape.
pub fn layout(command: &ShowLayout) -> Result<LayoutPage, String> {
    let ShowLayout { forms, shape, element_bits } = command;
    let mut shown = Vec::new();
    let own = |text: &String| written_for(text, *element_bits);
    // Where only one of two layouts says which tensor it is for, the other is for the same.
    let either = forms.iter().find_map(own);
    for text in forms {
        let shape = shape.clone().or_else(|| own(text)).or_else(|| either.clone());
        shown.push(Shown::read(text, shape.as_deref(), *element_bits)?);
    }
    let mut pages: Vec<String> = shown.iter().map(Shown::page).collect();
    if let [first, second] = &shown[..] {
        let difference = first.difference(second)?;
        let same = || "no difference: every place holds the same element".to_owned();
        pages.push(format!("{}\n", difference.unwrap_or_else(same)));
    }
    Ok(LayoutPage { text: pages.join("\n"), picture: layout_picture::picture(&shown) })
}

/// `kiln explain`: the page of a code, in any case and with or without brackets; or all codes with their titles.
///
/// # Errors
/// A text for the user, where there is no such code.
pub fn explain(code: Option<&str>) -> Result<String, String> {
    let Some(written) = code else {
        let lines = Code::ALL.iter().map(|code| format!("{}  {}\n", code.number(), code.title()));
        return Ok(lines.collect());
    };
    let wanted = written.trim_matches(['[', ']']).to_uppercase();
    let found = Code::ALL.iter().find(|code| code.number() == wanted);
    found.map(|code| code.page().to_owned()).ok_or_else(|| {
        format!("required a code such as K0202, actual `{written}`; `kiln explain` lists all codes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_explained_by_its_page() {
        let page = explain(Some("[k0205]")).expect("there is such a code");
        assert!(page.starts_with("# K0205: an axis or a rank out of range\n"), "{page}");
        let list = explain(None).expect("a list");
        assert!(list.contains("\nK0205  an axis or a rank out of range\n"), "{list}");
        let error = explain(Some("E0308")).expect_err("rustc's");
        assert!(error.contains("actual `E0308`"), "{error}");
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_layout_is_shown_by_its_bases_and_as_a_table() {
        // Lane bit 0 walks the columns; lane bits 1 to 3 repeat; lane bit 4 is the row.
        let required = "\
blocked([1, 2], [2, 16], [1, 1], [1, 0]) for shape [2, 4]
register [0,1]
lane     [0,2] [0,0] [0,0] [0,0] [1,0]
warp
each element is held 8 times

lane:register
       0      1      2      3
0   0:0+   0:1+   1:0+   1:1+
1  16:0+  16:1+  17:0+  17:1+
";
        let page = show(&["blocked([1, 2], [2,16], [1,1], [1,0])"], &[2, 4]);
        assert_eq!(page.map(|page| page.text).as_deref(), Ok(required));
    }

    fn show(forms: &[&str], shape: &[u32]) -> Result<LayoutPage, String> {
        let forms = forms.iter().map(|&form| form.to_owned()).collect();
        layout(&ShowLayout { forms, shape: Some(shape.to_vec()), element_bits: 16 })
    }

    #[test]
    fn a_layout_that_does_not_fit_says_why() {
        let error = show(&["slice(0, blocked([1, 1], [1, 16], [1, 1], [1, 0]))"], &[64]);
        assert_eq!(
            error.expect_err("16 lanes"),
            "slice(0, blocked([1, 1], [1, 16], [1, 1], [1, 0]))\n\
             \x20                        ^ for shape [1, 64]: the lanes multiply to 16, but a warp has 32"
        );
    }
}
