//! A file has one subject, so no Rust file has more than 800 lines, its tests aside, and a `lib.rs` has at most
//! 150 lines of code. No file is called after having no subject.

use super::Finding;
use crate::repository::{File, Repository};

const MOST_LINES: usize = 800;
const MOST_CODE_LINES_OF_LIB: usize = 150;

/// Files that may be longer, and why.
const LONG: &[(&str, &str)] = &[];

/// Names of files without a subject.
const NAMES: [&str; 4] = ["utils.rs", "helpers.rs", "common.rs", "mod.rs"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repository.below("", ".rs") {
        if NAMES.contains(&file.name()) {
            findings.push(Finding::of(file, format!("`{}` names no subject", file.name())));
        }
        if is_test(&file.path) {
            continue;
        }
        let lines = without_tests(file);
        let allowed = LONG.iter().find(|(path, _)| *path == file.path);
        match (lines.len() > MOST_LINES, allowed) {
            (true, None) => findings.push(Finding::at(
                &file.path,
                MOST_LINES + 1,
                format!("{} lines without tests; at most {MOST_LINES}", lines.len()),
            )),
            (false, Some(_)) => {
                findings.push(Finding::of(file, "need not be in the list of long files"));
            }
            (true, Some(_)) | (false, None) => {}
        }
        if file.name() == "lib.rs" {
            let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
            let code = lines.iter().map(|line| line.trim()).filter(is_code).count();
            if code > MOST_CODE_LINES_OF_LIB {
                findings.push(Finding::of(
                    file,
                    format!("{code} lines of code in a lib.rs; at most {MOST_CODE_LINES_OF_LIB}"),
                ));
            }
        }
    }
    for (path, _) in LONG {
        if repository.file(path).is_none() && repository.file("Cargo.toml").is_some() {
            findings.push(Finding::at(path, 1, "is in a list of exceptions, but not there"));
        }
    }
    findings
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.starts_with("ui-tests/")
        || path.ends_with("/tests.rs")
        || path.ends_with("_tests.rs")
}

/// The lines, without modules that stand at the margin below `#[cfg(test)]`.
fn without_tests(file: &File) -> Vec<&str> {
    let mut out = Vec::new();
    let mut lines = file.text.lines().peekable();
    while let Some(line) = lines.next() {
        let opens = |next: &&str| next.starts_with("mod ") && next.ends_with('{');
        if line == "#[cfg(test)]" && lines.peek().is_some_and(opens) {
            lines.by_ref().find(|line| *line == "}");
        } else {
            out.push(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Repository::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_with_801_lines_is_too_long_and_tests_do_not_count() {
        let long = "//\n".repeat(801);
        assert_eq!(
            found("a/src/x.rs", &long),
            ["a/src/x.rs:801: 801 lines without tests; at most 800"]
        );
        assert_eq!(found("a/src/x.rs", &"//\n".repeat(800)), [""; 0]);
        assert_eq!(found("a/tests/x.rs", &long), [""; 0]);
        let tests = format!(
            "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
            "//\n".repeat(800),
            "    //\n".repeat(9)
        );
        assert_eq!(found("a/src/x.rs", &tests), [""; 0]);
        let after = format!("{tests}fn more() {{}}\n");
        assert_eq!(found("a/src/x.rs", &after).len(), 1);
    }

    #[test]
    fn documentation_of_a_lib_rs_does_not_count() {
        let text = "//! Words.\n\n".repeat(200) + &"    /// Words.\n    pub mod x;\n".repeat(150);
        assert_eq!(found("a/src/lib.rs", &text), [""; 0]);
        let more = text + "pub mod y;\n";
        assert_eq!(
            found("a/src/lib.rs", &more),
            ["a/src/lib.rs:1: 151 lines of code in a lib.rs; at most 150"]
        );
    }

    #[test]
    fn a_name_says_what_a_file_is_about() {
        assert_eq!(found("a/src/utils.rs", ""), ["a/src/utils.rs:1: `utils.rs` names no subject"]);
        assert_eq!(found("examples/support/report.rs", ""), [""; 0]);
    }
}
