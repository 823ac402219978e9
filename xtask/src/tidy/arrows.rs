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
const TABLE: &str = "| folder | package | what it owns | knows of |";

/// What the names of the packages begin with; the table leaves it out where it says what a package knows of.
const PREFIX: &str = "kiln-gpu-";

/// Packages from elsewhere whose users the table lists: those that reach a driver.
const LISTED: [&str; 1] = ["cudarc"];

/// The emulator is evidence for what the compiler does only as long as it shares nothing with it.
const WITNESS: &str = "kiln-gpu-emulator";
const COMPILER: [&str; 3] = ["kiln-gpu-core", "kiln-gpu-layout", "kiln-gpu-macros"];

/// A package of the workspace.
struct Package<'a> {
    /// Where it is, from the root; `.` is the root's own.
    folder: &'a str,
    /// What it depends on, for building, testing or running.
    knows: BTreeSet<&'a str>,
}

/// A row of the table.
struct Row<'a> {
    line: usize,
    folder: &'a str,
    /// None for a folder that is no package of the workspace.
    package: Option<&'a str>,
    knows: Vec<&'a str>,
}

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

/// The packages by their names.
fn packages(metadata: &Value) -> BTreeMap<&str, Package<'_>> {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let mut out = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let names = dependencies.filter_map(|dependency| dependency["name"].as_str());
        // Tests may name their own package, to have it with other features.
        let knows = names.filter(|name| Some(*name) != package["name"].as_str()).collect();
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let folder = Path::new(manifest).parent().and_then(|folder| folder.strip_prefix(root).ok());
        let folder = folder.and_then(Path::to_str).filter(|folder| !folder.is_empty());
        if let Some(name) = package["name"].as_str() {
            out.insert(name, Package { folder: folder.unwrap_or("."), knows });
        }
    }
    out
}

pub(super) fn check(repository: &Repository, metadata: &Value) -> Vec<Finding> {
    let packages = packages(metadata);
    let mut findings = Vec::new();
    let mut described = BTreeSet::new();
    for row in rows(repository) {
        let mut found = |what| findings.push(Finding::at(PAGE, row.line, what));
        let Some(name) = row.package else {
            let folder = format!("{}/", row.folder);
            if !repository.files.iter().any(|file| file.path.starts_with(&folder)) {
                found(format!("there is no `{}`", row.folder));
            }
            continue;
        };
        let Some(package) = packages.get(name) else {
            found(format!("there is no package `{name}`"));
            continue;
        };
        if package.folder != row.folder {
            found(format!("`{name}` is in `{}`, not in `{}`", package.folder, row.folder));
        }
        let listed = |other: &&str| packages.contains_key(*other) || LISTED.contains(other);
        let actual: BTreeSet<&str> = package.knows.iter().copied().filter(listed).collect();
        let required: BTreeSet<&str> =
            row.knows.iter().map(|short| full(short, &packages)).collect();
        for extra in actual.difference(&required) {
            found(format!("`{name}` depends on `{extra}`, which the table does not say"));
        }
        for missing in required.difference(&actual) {
            found(format!("`{name}` does not depend on `{missing}`, as the table says"));
        }
        described.insert(name);
    }
    for name in packages.keys().filter(|name| !described.contains(**name)) {
        findings.push(Finding::at(PAGE, 1, format!("the table of crates has no `{name}`")));
    }
    let reached = reached(WITNESS, &packages);
    for name in COMPILER.iter().filter(|name| reached.contains(**name)) {
        let what = format!("`{WITNESS}` depends on `{name}`: it is no independent witness");
        let folder = packages.get(WITNESS).map_or(".", |package| package.folder);
        findings.push(Finding::at(&format!("{folder}/Cargo.toml"), 1, what));
    }
    findings
}

fn rows(repository: &Repository) -> Vec<Row<'_>> {
    let Some(page) = repository.file(PAGE) else { return Vec::new() };
    page.lines()
        .skip_while(|(_, line)| *line != TABLE)
        .skip(2)
        .take_while(|(_, line)| line.starts_with('|'))
        .filter_map(|(line, text)| {
            let mut cells = text.split('|').skip(1);
            let (folder, package) = (cells.next()?, cells.next()?);
            let knows = cells.nth(1)?.split(',').map(str::trim);
            Some(Row {
                line,
                folder: quoted(folder)?,
                package: quoted(package),
                knows: knows.filter(|name| !matches!(*name, "" | "nothing")).collect(),
            })
        })
        .collect()
}

/// What stands in backticks.
fn quoted(cell: &str) -> Option<&str> {
    cell.split('`').nth(1)
}

/// The package that the table calls `short`: `core` is `kiln-gpu-core`.
fn full<'a>(short: &'a str, packages: &BTreeMap<&'a str, Package<'a>>) -> &'a str {
    let is_long = |name: &&&str| name.strip_prefix(PREFIX) == Some(short);
    packages.keys().find(is_long).copied().unwrap_or(short)
}

/// What a package depends on, directly or not.
fn reached<'a>(from: &str, packages: &BTreeMap<&'a str, Package<'a>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(name) = open.pop() {
        for next in packages.get(name).iter().flat_map(|package| &package.knows) {
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

    /// The findings for a table and packages, each with its folder and what it depends on.
    fn found(rows: &str, packages: &[(&str, &str, &[&str])]) -> Vec<String> {
        let text = format!("# Page\n\n{TABLE}\n|---|---|---|---|\n{rows}\nmore\n");
        let repository = Repository::of(&[(PAGE, &text), ("examples/a.rs", "")]);
        let package = |(name, folder, dependencies): &(&str, &str, &[&str])| {
            let list: Vec<Value> =
                dependencies.iter().map(|name| json!({ "name": name })).collect();
            let manifest = format!("/r/{folder}/Cargo.toml").replace("/./", "/");
            json!({ "name": name, "dependencies": list, "manifest_path": manifest })
        };
        let packages: Vec<Value> = packages.iter().map(package).collect();
        let metadata = json!({ "packages": packages, "workspace_root": "/r" });
        check(&repository, &metadata).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_table_is_what_cargo_says() {
        let rows = "| `kernel-ptx` | `kiln-gpu-ptx` | text | nothing |\n\
                    | `.` | `kiln-gpu` | all | ptx, cudarc |\n\
                    | `examples` | – | x | |";
        let right: [(&str, &str, &[&str]); 2] = [
            ("kiln-gpu-ptx", "kernel-ptx", &["proptest"]),
            ("kiln-gpu", ".", &["kiln-gpu", "kiln-gpu-ptx", "cudarc", "half"]),
        ];
        assert_eq!(found(rows, &right), [""; 0]);
        let wrong: [(&str, &str, &[&str]); 3] = [
            ("kiln-gpu-ptx", "ptx", &["kiln-gpu"]),
            ("kiln-gpu", ".", &["kiln-gpu-ptx"]),
            ("xtask", "xtask", &[]),
        ];
        assert_eq!(
            found(rows, &wrong),
            [
                "ARCHITECTURE.md:5: `kiln-gpu-ptx` is in `ptx`, not in `kernel-ptx`",
                "ARCHITECTURE.md:5: `kiln-gpu-ptx` depends on `kiln-gpu`, which the table does not say",
                "ARCHITECTURE.md:6: `kiln-gpu` does not depend on `cudarc`, as the table says",
                "ARCHITECTURE.md:1: the table of crates has no `xtask`",
            ]
        );
        assert_eq!(
            found("| `gone` | – | x | |\n| `a` | `kiln-gpu-a` | x | |", &[]),
            [
                "ARCHITECTURE.md:5: there is no `gone`",
                "ARCHITECTURE.md:6: there is no package `kiln-gpu-a`",
            ]
        );
    }

    #[test]
    fn the_emulator_reaches_no_part_of_the_compiler() {
        let rows = "| `kernel-emulator` | `kiln-gpu-emulator` | runs | ptx |\n\
                    | `kernel-ptx` | `kiln-gpu-ptx` | text | core |\n\
                    | `kernel-core` | `kiln-gpu-core` | x | |";
        let packages: [(&str, &str, &[&str]); 3] = [
            ("kiln-gpu-emulator", "kernel-emulator", &["kiln-gpu-ptx"]),
            ("kiln-gpu-ptx", "kernel-ptx", &["kiln-gpu-core"]),
            ("kiln-gpu-core", "kernel-core", &[]),
        ];
        assert_eq!(
            found(rows, &packages),
            [
                "kernel-emulator/Cargo.toml:1: `kiln-gpu-emulator` depends on `kiln-gpu-core`: it is no independent witness"
            ]
        );
    }
}
