//! Every code has a page that explains it and a program that raises it, and none of these is left over.

use super::Finding;
use crate::repository::{File, Repository};

const REGISTRY: &str = "kernel-core/src/diag/codes.rs";
const PAGES: &str = "kernel-core/docs/errors/";
const PROGRAMS: &str = "ui-tests/fail/";
/// The compiler's own mistakes: no program is known to raise it.
const BUG: &str = "K9999";

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let Some(registry) = repository.file(REGISTRY) else {
        return vec![Finding::at(REGISTRY, 1, "the registry of codes is not there")];
    };
    let codes = codes(registry);
    let known = |code: &str| codes.iter().any(|(_, known)| *known == code);
    let mut findings = Vec::new();
    for (line, code) in &codes {
        if codes.iter().any(|(earlier, other)| other == code && earlier < line) {
            findings.push(Finding::at(REGISTRY, *line, format!("{code} is there twice")));
        }
        if repository.file(&format!("{PAGES}{code}.md")).is_none() {
            findings.push(Finding::at(
                REGISTRY,
                *line,
                format!("{code} has no page {PAGES}{code}.md"),
            ));
        }
        let mut programs = repository.below(PROGRAMS, ".rs");
        if *code != BUG && !programs.any(|program| code_of(program) == Some(code)) {
            let what = format!("{code} has no program {PROGRAMS}AREA/{code}_WHAT.rs");
            findings.push(Finding::at(REGISTRY, *line, what));
        }
    }
    for page in repository.below(PAGES, "") {
        if !page.name().strip_suffix(".md").is_some_and(known) {
            findings.push(Finding::of(page, "a page of no code"));
        }
    }
    for program in repository.below(PROGRAMS, ".rs") {
        // A name without a code is that of a program which rustc refuses in its own words, or for several reasons.
        let code = code_of(program);
        if code.is_some_and(|code| !known(code)) {
            findings.push(Finding::of(program, "the name begins with a code that is not there"));
        }
        match repository.file(&program.path.replace(".rs", ".stderr")) {
            None => findings.push(Finding::of(program, "there is no .stderr beside it")),
            Some(message) => {
                if let Some(code) = code
                    && !message.text.contains(&format!("[{code}]"))
                {
                    findings
                        .push(Finding::of(message, format!("the message is not that of {code}")));
                }
            }
        }
    }
    for message in repository.below(PROGRAMS, ".stderr") {
        if repository.file(&message.path.replace(".stderr", ".rs")).is_none() {
            findings.push(Finding::of(message, "a message of no program"));
        }
    }
    findings
}

/// The codes of the registry, with their lines.
fn codes(registry: &File) -> Vec<(usize, &str)> {
    let code = |line: &'_ str| -> Option<(usize, usize)> {
        let at = line.find("= \"K")? + 3;
        let digits = line.get(at + 1..at + 5)?;
        (digits.bytes().all(|byte| byte.is_ascii_digit()) && line[at + 5..].starts_with('"'))
            .then_some((at, at + 5))
    };
    registry
        .lines()
        .filter_map(|(number, line)| code(line).map(|(from, to)| (number, &line[from..to])))
        .collect()
}

/// The code that a program's name begins with.
fn code_of(program: &File) -> Option<&str> {
    let first = program.name().split(['_', '.']).next()?;
    let digits = first.strip_prefix('K')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: &str = "codes! {\n    A = \"K0101\", \"one\";\n    Bug = \"K9999\", \"two\";\n}\n";

    fn found(more: &[(&str, &str)]) -> Vec<String> {
        let mut files = vec![(REGISTRY, CODES), ("kernel-core/docs/errors/K9999.md", "")];
        files.extend(more);
        check(&Repository::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_code_has_a_page_and_a_program_with_its_message() {
        let page = ("kernel-core/docs/errors/K0101.md", "");
        let program = ("ui-tests/fail/subset/K0101_unions.rs", "");
        let message = ("ui-tests/fail/subset/K0101_unions.stderr", "error: [K0101] `union`\n");
        assert_eq!(found(&[page, program, message]), [""; 0]);
        let line = "kernel-core/src/diag/codes.rs:2";
        assert_eq!(
            found(&[program, message]),
            [format!("{line}: K0101 has no page kernel-core/docs/errors/K0101.md")]
        );
        assert_eq!(
            found(&[page]),
            [format!("{line}: K0101 has no program ui-tests/fail/AREA/K0101_WHAT.rs")]
        );
        assert_eq!(
            found(&[page, program]),
            ["ui-tests/fail/subset/K0101_unions.rs:1: there is no .stderr beside it"]
        );
        let other = ("ui-tests/fail/subset/K0101_unions.stderr", "error: [K0102] `union`\n");
        assert_eq!(found(&[page, program, other]).len(), 1);
    }

    #[test]
    fn nothing_is_left_over() {
        let page = ("kernel-core/docs/errors/K0101.md", "");
        let program = ("ui-tests/fail/subset/K0101_unions.rs", "");
        let message = ("ui-tests/fail/subset/K0101_unions.stderr", "error: [K0101] `union`\n");
        let left = [
            ("kernel-core/docs/errors/K0102.md", ""),
            ("ui-tests/fail/subset/K0101_enums.stderr", ""),
            ("ui-tests/fail/subset/K0103_enums.rs", ""),
            ("ui-tests/fail/subset/K0103_enums.stderr", "error: [K0103]"),
            ("ui-tests/fail/subset/missing_field.rs", ""),
            ("ui-tests/fail/subset/missing_field.stderr", "error[E0063]"),
        ];
        assert_eq!(
            found(&[&[page, program, message], &left[..]].concat()),
            [
                "kernel-core/docs/errors/K0102.md:1: a page of no code",
                "ui-tests/fail/subset/K0103_enums.rs:1: the name begins with a code that is not there",
                "ui-tests/fail/subset/K0101_enums.stderr:1: a message of no program",
            ]
        );
    }
}
