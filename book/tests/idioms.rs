//! The tables of the pages for those who come from other languages: the column of Kiln names only what a listing has.

use std::fs;
use std::path::{Path, PathBuf};

/// Parts of a table that are no Rust: commands, variables of the environment, and crates.
const FREE: [&str; 4] = ["cargo ", "kiln ", "KILN_", "kiln-gpu-"];

fn book() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the book can be read");
    let path = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("a folder of the book can be read").path()
    };
    let mut found: Vec<PathBuf> = entries.map(path).collect();
    found.sort();
    found
}

/// A program without its comments and without white space.
fn packed(program: &str) -> String {
    let code = program.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
}

/// The programs of all listings of the book.
fn programs() -> Vec<String> {
    let parts = entries(&book().join("listings")).into_iter().filter(|path| path.is_dir());
    let files = parts.flat_map(|part| entries(&part));
    let rust = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    rust.map(|file| packed(&fs::read_to_string(file).expect("a listing is a text"))).collect()
}

/// The pieces of an idiom around what it leaves out: `..` at an end, or beside a comma or a bracket. Other `..` are ranges.
fn pieces(idiom: &str) -> Vec<String> {
    let packed = packed(idiom);
    let mut pieces = vec![String::new()];
    let mut rest = packed.as_str();
    while let Some(at) = rest.find("..") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let opens = before.is_empty() || before.ends_with(['(', '[', '{', ',', '|']);
        let closes = after.is_empty() || after.starts_with([')', ']', '}', ',']);
        let last = pieces.last_mut().expect("it has a first one");
        last.push_str(before);
        if opens && closes {
            pieces.push(String::new());
        } else {
            last.push_str("..");
        }
        rest = after;
    }
    pieces.last_mut().expect("it has a first one").push_str(rest);
    pieces
}

/// Whether a program has the pieces, one after the other.
fn has(program: &str, pieces: &[String]) -> bool {
    let mut rest = program;
    pieces.iter().all(|piece| {
        let at = rest.find(piece.as_str());
        rest = at.map_or("", |at| &rest[at + piece.len()..]);
        at.is_some()
    })
}

/// The code between backticks in the second column of a row.
fn idioms(row: &str) -> Vec<String> {
    let row = row.replace("\\|", "\u{0}");
    let Some(cell) = row.split('|').nth(2) else { return Vec::new() };
    cell.split('`').skip(1).step_by(2).map(|code| code.replace('\u{0}', "|")).collect()
}

#[test]
fn every_idiom_is_in_a_listing() {
    let programs = programs();
    let mut wrong = Vec::new();
    let pages = entries(&book().join("pages/coming")).into_iter();
    for page in pages.filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(&page).expect("a page is a text");
        for (number, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
            for idiom in idioms(line) {
                let pieces = pieces(&idiom);
                let is_free = FREE.iter().any(|free| idiom.starts_with(free));
                if !is_free && !programs.iter().any(|program| has(program, &pieces)) {
                    let page = page.file_name().unwrap_or_default().display();
                    wrong.push(format!("{page}:{}: no listing has `{idiom}`", number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn idioms_leave_out_what_dots_stand_for() {
    let program = packed("x.reduce(0, |a, b| a + b); // hidden\nfor i in 0..n {}");
    let found = |idiom: &str| has(&program, &pieces(idiom));
    assert!(found("x.reduce(0, ..)"));
    assert!(found("for i in 0..n"));
    assert!(!found("x.reduce(1, ..)"));
    assert!(!found("for i in 1..n"));
    assert!(!found("hidden"), "comments are not code");
    assert!(!found("for i in .., x.reduce(..)"), "the order counts");
    assert_eq!(idioms("| a | `f(\\|x\\| x)` or `g` | `h` |"), ["f(|x| x)", "g"]);
}
