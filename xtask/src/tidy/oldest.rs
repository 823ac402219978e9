//! The language that the oldest rustc of `rust-version` has. What the standard library has, clippy knows (`incompatible_msrv`);
//! of the language it says nothing, so forms that came later are looked for here.

use super::Finding;
use crate::repository::Repository;

/// The release whose language is used, as the root's Cargo.toml says.
const VERSION: &str = "rust-version = \"1.89\"";

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let root = repository.file("Cargo.toml");
    if !root.is_some_and(|file| file.text.lines().any(|line| line == VERSION)) {
        let what = format!("`{VERSION}` is not there: look through this rule's list for another");
        findings.push(Finding::at("Cargo.toml", 1, what));
    }
    for file in repository.files.iter().filter(|file| file.ending() == "rs") {
        for (number, line) in file.lines() {
            for (form, since) in forms(line) {
                let what = format!("{form} came with Rust {since}, after `rust-version`");
                findings.push(Finding::at(&file.path, number, what));
            }
        }
    }
    findings
}

/// The later forms on a line, each with the release that brought it.
fn forms(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let code = line.split("//").next().unwrap_or_default();
    let guard = has_guard(code).then_some(("`if let` as the guard of an arm", "1.95"));
    let select = code.contains(concat!("cfg_", "select!")).then_some(("this macro", "1.95"));
    guard.into_iter().chain(select)
}

/// Whether `if let .. =>` stands on the line, which only the guard of an arm has.
fn has_guard(code: &str) -> bool {
    let word = concat!("if ", "let ");
    code.match_indices(word).any(|(at, _)| {
        let mut depth = 0_usize;
        let rest = &code[at + word.len()..];
        for (place, letter) in rest.char_indices() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                '=' if depth == 0 && rest[place..].starts_with("=>") => return true,
                _ => {}
            }
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(version: &str, code: &str) -> Vec<String> {
        let manifest = format!("rust-version = \"{version}\"\n");
        let files = [("Cargo.toml", manifest.as_str()), ("a.rs", code)];
        check(&Repository::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn guards_that_bind_are_found_and_chains_are_not() {
        let message = "`if let` as the guard of an arm came with Rust 1.95, after `rust-version`";
        let guard = concat!("if ", "let");
        let arms = format!(
            "Some(x) {guard} Some(y) = f(x, |z| {{ z }}) => y,\n    {guard} A {{ b }} = c() =>\n"
        );
        assert_eq!(
            found("1.89", &arms),
            [format!("a.rs:1: {message}"), format!("a.rs:2: {message}")]
        );
        let others = format!(
            "A => {guard} B(c) = d {{\n{guard} a = b {{ c => d }}\n{guard} A = b && {guard} c = d(|x| match x {{ _ => 1 }}) {{\n// {guard} a = b =>\n"
        );
        assert_eq!(found("1.89", &others), [""; 0]);
    }

    #[test]
    fn the_list_is_that_of_one_version() {
        let what = format!(
            "Cargo.toml:1: `{VERSION}` is not there: look through this rule's list for another"
        );
        assert_eq!(found("1.90", ""), [what]);
    }
}
