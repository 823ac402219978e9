//! Which crate knows of which is what the table of ARCHITECTURE.md says, no more and no less.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Finding;
use crate::repository::Repository;

const PAGE: &str = "ARCHITECTURE.md";
const TABLE: &str = "| folder | what it owns | knows of |";

/// Packages from elsewhere whose users the table lists: those that reach a driver.
const LISTED: [&str; 1] = ["cudarc"];

/// The emulator is evidence for what the compiler does only as long as it shares nothing with it.
const WITNESS: &str = "kernel-emulator";
const COMPILER: [&str; 3] = ["kernel-core", "kernel-layout", "kernel-macros"];

/// What cargo says of the workspace, without looking at any package from elsewhere.
///
/// # Errors
/// A cargo that fails.
pub(super) fn metadata(root: &Path) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The packages with the names that they depend on, for building, testing or running.
pub(super) fn dependencies(metadata: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut out = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let mut names = BTreeSet::new();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            names.extend(dependency["name"].as_str());
        }
        if let Some(name) = package["name"].as_str() {
            out.insert(name, names);
        }
    }
    out
}

pub(super) fn check(repository: &Repository, metadata: &Value) -> Vec<Finding> {
    let packages = dependencies(metadata);
    let mut findings = Vec::new();
    let mut described = BTreeSet::new();
    for (line, names, knows) in rows(repository) {
        for name in names {
            let Some(actual) = packages.get(name.as_str()) else {
                let folder = format!("{name}/");
                if !repository.files.iter().any(|file| file.path.starts_with(&folder)) {
                    findings.push(Finding::at(PAGE, line, format!("there is no `{name}`")));
                }
                continue;
            };
            let listed = |other: &&str| packages.contains_key(*other) || LISTED.contains(other);
            let actual: BTreeSet<&str> = actual.iter().copied().filter(listed).collect();
            let required: BTreeSet<&str> =
                knows.iter().map(|short| full(short, &packages)).collect();
            for extra in actual.difference(&required) {
                let what = format!("`{name}` depends on `{extra}`, which the table does not say");
                findings.push(Finding::at(PAGE, line, what));
            }
            for missing in required.difference(&actual) {
                let what = format!("`{name}` does not depend on `{missing}`, as the table says");
                findings.push(Finding::at(PAGE, line, what));
            }
            described.insert(name);
        }
    }
    for name in packages.keys().filter(|name| !described.contains(**name)) {
        findings.push(Finding::at(PAGE, 1, format!("the table of crates has no `{name}`")));
    }
    let reached = reached(WITNESS, &packages);
    for name in COMPILER.iter().filter(|name| reached.contains(**name)) {
        let what = format!("`{WITNESS}` depends on `{name}`: it is no independent witness");
        findings.push(Finding::at(&format!("{WITNESS}/Cargo.toml"), 1, what));
    }
    findings
}

/// The rows of the table: the line, the packages of the first cell and the names of the third.
fn rows(repository: &Repository) -> Vec<(usize, Vec<String>, Vec<&str>)> {
    let Some(page) = repository.file(PAGE) else { return Vec::new() };
    page.lines()
        .skip_while(|(_, line)| *line != TABLE)
        .skip(2)
        .take_while(|(_, line)| line.starts_with('|'))
        .filter_map(|(number, line)| {
            let mut cells = line.split('|').skip(1);
            let (folders, _, knows) = (cells.next()?, cells.next()?, cells.next()?);
            // What stands in backticks; the root's folder has its package's name behind it.
            let quoted = folders.split('`').skip(1).step_by(2);
            let names = quoted.filter(|name| *name != ".").map(str::to_owned).collect();
            let knows = knows.split(',').map(str::trim);
            Some((number, names, knows.filter(|name| !matches!(*name, "" | "nothing")).collect()))
        })
        .collect()
}

/// The package that the table calls `short`: `core` is `kernel-core`.
fn full<'a>(short: &'a str, packages: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> &'a str {
    let is_long = |name: &&&str| name.strip_prefix("kernel-") == Some(short);
    packages.keys().find(is_long).copied().unwrap_or(short)
}

/// What a package depends on, directly or not.
fn reached<'a>(from: &str, packages: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(name) = open.pop() {
        for next in packages.get(name).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(rows: &str, packages: &[(&str, &[&str])]) -> Vec<String> {
        let text = format!("# Page\n\n{TABLE}\n|---|---|---|\n{rows}\nmore\n");
        let repository = Repository::of(&[(PAGE, &text), ("examples/a.rs", "")]);
        let package = |(name, dependencies): &(&str, &[&str])| {
            let list: Vec<Value> =
                dependencies.iter().map(|name| json!({ "name": name })).collect();
            json!({ "name": name, "dependencies": list })
        };
        let packages: Vec<Value> = packages.iter().map(package).collect();
        let metadata = json!({ "packages": packages });
        check(&repository, &metadata).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_table_is_what_cargo_says() {
        let rows = "| `kernel-ptx` | text | nothing |\n| `.` (`kiln`) | all | ptx, cudarc |\n| `examples` | x | kiln |";
        let ptx: (&str, &[&str]) = ("kernel-ptx", &["proptest"]);
        assert_eq!(found(rows, &[ptx, ("kiln", &["kernel-ptx", "cudarc", "half"])]), [""; 0]);
        assert_eq!(
            found(rows, &[("kernel-ptx", &["kiln"]), ("kiln", &["kernel-ptx"]), ("xtask", &[])]),
            [
                "ARCHITECTURE.md:5: `kernel-ptx` depends on `kiln`, which the table does not say",
                "ARCHITECTURE.md:6: `kiln` does not depend on `cudarc`, as the table says",
                "ARCHITECTURE.md:1: the table of crates has no `xtask`",
            ]
        );
        assert_eq!(found("| `gone` | x | |", &[]), ["ARCHITECTURE.md:5: there is no `gone`"]);
    }

    #[test]
    fn the_emulator_reaches_no_part_of_the_compiler() {
        let rows = "| `kernel-emulator` | runs | ptx |\n| `kernel-ptx` | text | core |\n| `kernel-core` | x | |";
        let packages: [(&str, &[&str]); 3] = [
            ("kernel-emulator", &["kernel-ptx"]),
            ("kernel-ptx", &["kernel-core"]),
            ("kernel-core", &[]),
        ];
        assert_eq!(
            found(rows, &packages),
            [
                "kernel-emulator/Cargo.toml:1: `kernel-emulator` depends on `kernel-core`: it is no independent witness"
            ]
        );
    }
}
