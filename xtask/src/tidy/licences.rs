//! What deny.toml says of packages, for those in the graph: their licences, names that are banned, and versions that are
//! written out. (Where packages come from is checked for every line of the lock files.)

use std::{collections::BTreeSet, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Finding;
use crate::repository::Repository;

const FILE: &str = "deny.toml";

/// Which packages are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Graph {
    /// Those that a build on this machine takes, which are there already.
    Build,
    /// Those of every feature and platform; cargo downloads what is missing.
    Whole,
}

/// The packages of a graph, as `cargo metadata` describes them.
///
/// # Errors
/// A cargo that fails.
pub(crate) fn packages(root: &Path, graph: Graph) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command.args(["metadata", "--locked", "--format-version", "1"]).current_dir(root);
    match graph {
        Graph::Build => {
            let said = Command::new("rustc").arg("-vV").output().context("rustc -vV")?.stdout;
            let said = String::from_utf8_lossy(&said).into_owned();
            let host = said.lines().find_map(|line| line.strip_prefix("host: "));
            let host = host.context("rustc does not name its host")?;
            command.args(["--filter-platform", host]);
        }
        Graph::Whole => {
            command.arg("--all-features");
        }
    }
    let output = command.output().context("cargo metadata")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The packages that deny.toml does not admit.
pub(crate) fn check(repository: &Repository, metadata: &Value) -> Vec<Finding> {
    let Some(file) = repository.file(FILE) else {
        return vec![Finding::at(FILE, 1, "is not there")];
    };
    let rules: toml::Table = match file.text.parse() {
        Ok(rules) => rules,
        Err(error) => return vec![Finding::of(file, error.to_string())],
    };
    let allowed = words(rules.get("licenses").and_then(|table| table.get("allow")));
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let mut found =
            |what: String| findings.push(Finding::of(file, format!("`{name}`: {what}")));
        if entries(&rules, "bans", "deny").any(|entry| crate_of(entry) == name) {
            found("is banned".to_owned());
        }
        let exception =
            entries(&rules, "licenses", "exceptions").find(|entry| crate_of(entry) == name);
        let mut admitted = allowed.clone();
        if let Some(exception) = exception {
            admitted.extend(words(exception.get("allow")));
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !admits(licence, &admitted) {
            found(format!("its licence, {licence:?}, is not allowed"));
        }
        // A path says which version it is; a package of the registry needs one.
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let is_own = package["source"].is_null() && dependency["path"].is_null();
            if is_own && dependency["req"] == "*" {
                found(format!("any version of {} will do", dependency["name"]));
            }
        }
    }
    findings
}

fn words(list: Option<&toml::Value>) -> BTreeSet<String> {
    let list = list.and_then(toml::Value::as_array).into_iter().flatten();
    list.filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

fn entries<'a>(
    rules: &'a toml::Table,
    table: &str,
    key: &str,
) -> impl Iterator<Item = &'a toml::Value> {
    rules.get(table).and_then(|table| table.get(key)?.as_array()).into_iter().flatten()
}

fn crate_of(entry: &toml::Value) -> &str {
    entry.get("crate").and_then(toml::Value::as_str).unwrap_or_default()
}

/// Whether a licence expression (SPDX; `/` is an old way to write `OR`) can be met with these licences.
fn admits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    let met = either(&mut rest, allowed);
    met && rest.is_empty()
}

fn either(rest: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = both(rest, allowed);
    while let Some(("OR", after)) = rest.split_first().map(|(first, after)| (*first, after)) {
        *rest = after;
        // Both sides are read, whatever the first one is.
        let other = both(rest, allowed);
        met = met || other;
    }
    met
}

fn both(rest: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = one(rest, allowed);
    while let Some(("AND", after)) = rest.split_first().map(|(first, after)| (*first, after)) {
        *rest = after;
        let other = one(rest, allowed);
        met = met && other;
    }
    met
}

fn one(rest: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let Some((first, after)) = rest.split_first() else { return false };
    *rest = after;
    if *first == "(" {
        let met = either(rest, allowed);
        let Some((&")", after)) = rest.split_first() else { return false };
        *rest = after;
        return met;
    }
    // What an exception of a licence permits, the licence without it may not.
    if let [with @ "WITH", exception, after @ ..] = rest {
        *rest = after;
        return allowed.contains(&format!("{first} {with} {exception}"));
    }
    allowed.contains(*first)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_licence_is_admitted_where_one_can_choose_an_allowed_one() {
        let allowed = ["MIT", "Unicode-3.0"].map(str::to_owned).into();
        for expression in [
            "MIT",
            "MIT OR GPL-3.0",
            "Apache-2.0/MIT",
            "(Apache-2.0 OR MIT) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        ] {
            assert!(admits(expression, &allowed), "{expression}");
        }
        for expression in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR Apache-2.0) AND GPL-3.0",
            "MIT WITH some-exception",
            "(MIT",
            "MIT MIT",
        ] {
            assert!(!admits(expression, &allowed), "{expression}");
        }
    }

    #[test]
    fn banned_crates_other_licences_and_open_versions_are_found() {
        let rules = "[licenses]\nallow = [\"MIT\"]\nexceptions = [{ crate = \"c\", allow = [\"ISC\"] }]\n\
                     [bans]\ndeny = [{ crate = \"d\", reason = \"no\" }]\n";
        let repository = Repository::of(&[("deny.toml", rules)]);
        let package = |name: &str, licence: &str, version: &str| {
            json!({"name": name, "license": licence, "source": null,
                   "dependencies": [{"name": "x", "req": version, "path": null}]})
        };
        let metadata = json!({"packages": [
            package("a", "MIT", "^1"),
            package("b", "ISC", "^1"),
            package("c", "ISC", "^1"),
            package("d", "MIT", "^1"),
            package("e", "MIT", "*"),
        ]});
        let found: Vec<String> =
            check(&repository, &metadata).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "deny.toml:1: `b`: its licence, \"ISC\", is not allowed",
                "deny.toml:1: `d`: is banned",
                "deny.toml:1: `e`: any version of \"x\" will do",
            ]
        );
    }
}
