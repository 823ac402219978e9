//! Unfinished work is not committed: what is missing is refused with an error or has an issue.

use super::Finding;
use crate::repository::Repository;

/// What Rust code may not contain, put together here so that this file passes its own check.
const IN_CODE: [(&str, &str); 5] = [
    (concat!("FIX", "ME"), "an open end; put it right, or open an issue"),
    (concat!("to", "do!"), "code that is not there; refuse what is missing with an error"),
    (concat!("unimple", "mented!"), "code that is not there; refuse what is missing with an error"),
    (concat!("#[ign", "ore"), "a test that does not run; mend it or delete it"),
    (concat!("#[should", "_panic"), "a test that any panic passes; compare the message"),
];
/// In every file.
const LATER: &str = concat!("TO", "DO");

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repository.files {
        for (number, line) in file.lines() {
            if file.ending() == "rs" {
                for (word, why) in IN_CODE {
                    if line.contains(word) {
                        findings.push(Finding::at(&file.path, number, format!("`{word}`: {why}")));
                    }
                }
            }
            for (at, _) in line.match_indices(LATER) {
                if !has_number(&line[at + LATER.len()..]) {
                    let what = format!("`{LATER}` without the number of an issue: `{LATER}(#12)`");
                    findings.push(Finding::at(&file.path, number, what));
                }
            }
        }
    }
    findings
}

/// Whether `(#` digits `)` comes first.
fn has_number(rest: &str) -> bool {
    let number = rest.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
    number.is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Repository::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_word_is_found_on_its_line() {
        for (word, why) in IN_CODE {
            let text = format!("fn f() {{}}\n{word}\n");
            assert_eq!(found("a.rs", &text), [format!("a.rs:2: `{word}`: {why}")]);
        }
        assert_eq!(found("a.md", IN_CODE[1].0), [""; 0], "prose may speak of it");
    }

    #[test]
    fn work_for_later_has_the_number_of_an_issue() {
        let found = |rest: &str| found("a.toml", &format!("# {LATER}{rest}\n")).len();
        assert_eq!(
            [found("(#12): more"), found(": more"), found("(#)"), found("(#1x)")],
            [0, 1, 1, 1]
        );
    }
}
