//! A file beside a file test is a snapshot that the test's header names, and every snapshot that is named is there.

use super::Finding;
use crate::repository::{File, Repository};

const FOLDER: &str = "tests/kernels/";

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for test in repository.below(FOLDER, ".rs") {
        for (line, ending) in named(test) {
            let snapshot = test.path.replace(".rs", &format!(".{ending}"));
            if repository.file(&snapshot).is_none() {
                let what = format!("{snapshot} is not there; UPDATE_EXPECT=1 writes it");
                findings.push(Finding::at(&test.path, line, what));
            }
        }
    }
    for file in repository.below(FOLDER, "") {
        let Some((stem, ending)) = file.path.rsplit_once('.') else {
            findings.push(Finding::of(file, "neither a test nor a snapshot"));
            continue;
        };
        if ending == "rs" || ending == "md" {
            continue;
        }
        let test = repository.file(&format!("{stem}.rs"));
        if !test.is_some_and(|test| named(test).iter().any(|(_, name)| *name == ending)) {
            findings.push(Finding::of(file, "a snapshot that no test compares"));
        }
    }
    findings
}

/// The endings that a header names, with their lines.
fn named(test: &File) -> Vec<(usize, &str)> {
    test.lines()
        .filter_map(|(number, line)| {
            let list = line.trim().strip_prefix("//@")?.trim().strip_prefix("snapshot:")?;
            Some((number, list))
        })
        .flat_map(|(number, list)| list.split(',').map(move |ending| (number, ending.trim())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_those_that_headers_name() {
        let files = [
            ("tests/kernels/a/one.rs", "//@ run: eval\n//@ snapshot: ir, ptx\n"),
            ("tests/kernels/a/one.ir", ""),
            ("tests/kernels/a/one.layouts", ""),
            ("tests/kernels/a/two.ptx", ""),
        ];
        let found: Vec<String> =
            check(&Repository::of(&files)).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "tests/kernels/a/one.rs:2: tests/kernels/a/one.ptx is not there; UPDATE_EXPECT=1 writes it",
                "tests/kernels/a/one.layouts:1: a snapshot that no test compares",
                "tests/kernels/a/two.ptx:1: a snapshot that no test compares",
            ]
        );
    }
}
