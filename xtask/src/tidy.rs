//! What neither rustc nor clippy checks. Each rule is a module below, a function from the files to its findings.
//!
//! The test of this module is the check itself, so that `cargo test --workspace` runs it.

use std::{fmt, path::Path};

use anyhow::Result;

use crate::repository::{File, Repository};
use licences::Graph;

mod arrows;
mod codes;
pub(crate) mod licences;
mod oldest;
mod packages;
mod phases;
mod places;
mod raised;
mod reference;
mod sizes;
mod snapshots;
mod targets;
mod unsafety;
mod words;

/// Something that a rule forbids, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// From 1.
    line: usize,
    what: String,
}

impl Finding {
    fn at(path: &str, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, what: what.into() }
    }

    /// Of the file as a whole.
    fn of(file: &File, what: impl Into<String>) -> Finding {
        Finding::at(&file.path, 1, what)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Every finding of every rule, by place.
///
/// # Errors
/// Files that cannot be read, or a `cargo metadata` that fails.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let repository = Repository::read(root)?;
    let metadata = arrows::metadata(root)?;
    let mut findings = Vec::new();
    findings.extend(sizes::check(&repository));
    findings.extend(arrows::check(&repository, &metadata));
    findings.extend(unsafety::check(&repository, &metadata, root));
    findings.extend(codes::check(&repository));
    findings.extend(reference::check(&repository));
    findings.extend(raised::check(&repository));
    findings.extend(licences::check(&repository, &licences::packages(root, Graph::Build)?));
    findings.extend(snapshots::check(&repository));
    findings.extend(phases::check(&repository));
    findings.extend(targets::check(&repository));
    findings.extend(words::check(&repository));
    findings.extend(oldest::check(&repository));
    findings.extend(packages::check(&metadata)?);
    findings.extend(places::check(&repository, &places::own(root)));
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_is_tidy() {
        let findings = super::check(&crate::repository::root()).expect("the check runs");
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{} findings\n{}\n", lines.len(), lines.join("\n"));
    }
}
