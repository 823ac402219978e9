//! Nothing tells on which machine a file was written: no path outside the repository, no host besides well-known
//! ones, no registry besides crates.io.

use std::path::Path;

use super::Finding;
use crate::repository::{File, Repository};

/// Folders at the root of a machine where people and build servers keep their work.
const FOLDERS: [&str; 9] =
    ["home", "root", "Users", "work", "workspace", "builds", "mnt", "opt", "srv"];

/// Hosts of addresses that any reader can open, and their subdomains.
const HOSTS: [&str; 12] = [
    "apache.org",
    "arxiv.org",
    "crates.io",
    "docs.rs",
    "example.com",
    "github.com",
    "keepachangelog.com",
    "nvidia.com",
    concat!("pypi", ".org"),
    "rust-lang.org",
    "semver.org",
    "w3.org",
];

/// The only source of packages besides the repository itself.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The folders of whoever runs the check, which no list can know.
pub(super) fn own(root: &Path) -> Vec<String> {
    let home = std::env::var("HOME").ok();
    let mut own = vec![root.to_string_lossy().into_owned()];
    // A home such as `/` says nothing.
    own.extend(home.filter(|home| home.len() > 3));
    own
}

pub(super) fn check(repository: &Repository, own: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repository.files {
        for (number, line) in file.lines() {
            let mut found = |what: String| findings.push(Finding::at(&file.path, number, what));
            if let Some(path) = machine_path(line, own) {
                found(format!("a path of one machine: `{path}`"));
            }
            for host in hosts(line) {
                if !HOSTS.iter().any(|known| is_within(host, known)) {
                    found(format!("`{host}` is not in the list of hosts that files may name"));
                }
            }
            if let Some(source) = package_source(file, line)
                && source != REGISTRY
            {
                found(format!("a package from elsewhere than crates.io: {source}"));
            }
        }
    }
    findings
}

/// The first absolute path into one of the folders.
fn machine_path<'t>(line: &'t str, own: &[String]) -> Option<&'t str> {
    let word = |at: usize| {
        let end = line[at..].find(|c: char| c.is_whitespace() || "\"'`<>(),;".contains(c));
        &line[at..end.map_or(line.len(), |end| at + end)]
    };
    // A slash that continues a relative path, an address or a variable is none at the root of a machine.
    let begins = |at: usize| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/\\*}])>~:".contains(c))
    };
    let is_own = |path: &str| {
        let rest = |own: &String| path.strip_prefix(own.as_str());
        own.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_in_folder = |path: &str| {
        let (first, rest) = path[1..].split_once('/').unwrap_or_default();
        FOLDERS.contains(&first) && !rest.is_empty()
    };
    let starts = line.match_indices('/').map(|(at, _)| at).filter(|at| begins(*at));
    starts.map(word).find(|path| is_own(path) || is_in_folder(path))
}

/// The hosts of the addresses in a line.
fn hosts(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("://").filter_map(|(at, mark)| {
        let rest = &line[at + mark.len()..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-._@:".contains(c);
        let authority = rest.split(|c| !is_part(c)).next()?;
        let host = authority.rsplit('@').next()?.split(':').next()?;
        host.contains('.').then_some(host)
    })
}

fn is_within(host: &str, known: &str) -> bool {
    host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn package_source<'t>(file: &File, line: &'t str) -> Option<&'t str> {
    if file.name() != "Cargo.lock" {
        return None;
    }
    line.strip_prefix("source = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let own = vec!["/somewhere/kiln".to_owned()];
        check(&Repository::of(&[(path, text)]), &own)
            .iter()
            .map(|found| found.what.clone())
            .collect()
    }

    #[test]
    fn paths_of_a_machine_are_found_and_relative_ones_are_not() {
        for folder in FOLDERS {
            let text = format!("see \"/{folder}/me/kernel.rs\"");
            assert_eq!(
                found("a.md", &text),
                [format!("a path of one machine: `/{folder}/me/kernel.rs`")]
            );
        }
        assert_eq!(
            found("a.md", "in /somewhere/kiln/src, not /somewhere/kilns"),
            ["a path of one machine: `/somewhere/kiln/src`"]
        );
        for text in [
            // Each folder name in two parts, so that this list itself holds nothing that reads as a machine's path.
            concat!("kernels/", "work", "/x"),
            concat!("./", "home", "/x"),
            concat!("$OUT/", "root", "/x"),
            "a / home",
            "${X}/opt/x",
            "/usr/local/cuda",
            "/opt",
        ] {
            assert_eq!(found("a.md", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn hosts_are_those_of_the_list() {
        assert_eq!(found("a.md", "https://docs.nvidia.com/cuda and https://github.com/a"), [""; 0]);
        // In two parts, so that this line passes.
        let text = ["url = \"sparse+https:/", "/me@packages.local.test:443/index\""].concat();
        let what = "`packages.local.test` is not in the list of hosts that files may name";
        assert_eq!(found("a.toml", &text), [what]);
        let text = ["https:/", "/notgithub.com"].concat();
        assert_eq!(found("a.toml", &text).len(), 1);
    }

    #[test]
    fn packages_come_from_crates_io() {
        let line = |source: &str| found("x/Cargo.lock", &format!("source = \"{source}\"\n"));
        assert_eq!(line(REGISTRY), [""; 0]);
        let git = "git+https://github.com/a/b?rev=1#1";
        assert_eq!(line(git), [format!("a package from elsewhere than crates.io: {git}")]);
    }
}
