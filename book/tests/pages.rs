//! What the pages show is in files that tests compile and run; every file that they name is there, and every link leads somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("this package is in it")
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository can be read") {
            let path = entry.expect("a folder of the repository can be read").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// A page of the book.
struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    /// A path that the page names, from its own folder.
    fn beside(&self, named: &str) -> PathBuf {
        self.path.parent().expect("a page is in a folder").join(named)
    }

    fn at(&self, what: &str) -> String {
        let shown = self.path.strip_prefix(repository()).unwrap_or(&self.path);
        format!("{}: {what}", shown.display())
    }

    /// What stands between `{{#include ` and `}}`.
    fn includes(&self) -> impl Iterator<Item = &str> {
        self.text.split("{{#include ").skip(1).map(|rest| {
            let end = rest.find("}}").expect("an include has an end");
            &rest[..end]
        })
    }
}

fn pages() -> Vec<Page> {
    let root = repository().join("book/pages");
    let markdown =
        files(&root).into_iter().filter(|file| file.extension().is_some_and(|e| e == "md"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a page is a text");
        Page { path, text }
    };
    markdown.map(read).collect()
}

/// An include, as a file and the part of it that is shown.
fn parts(include: &str) -> (&str, Option<&str>) {
    include.split_once(':').map_or((include, None), |(file, part)| (file, Some(part)))
}

#[test]
fn what_the_pages_include_is_there() {
    let mut wrong = Vec::new();
    for page in pages() {
        for include in page.includes() {
            let (file, part) = parts(include);
            let Ok(text) = fs::read_to_string(page.beside(file)) else {
                wrong.push(page.at(&format!("{file} is not there")));
                continue;
            };
            let Some(part) = part else { continue };
            if let Some(first) = part.strip_suffix(':') {
                // From a line on: what is before it is the file's heading, for which the page has its own.
                let heading = text.lines().next().filter(|line| line.starts_with("# "));
                if first != "2" || heading.is_none() {
                    wrong.push(page.at(&format!("{include} leaves out more than a heading")));
                }
                continue;
            }
            let lines = |words: String| {
                text.lines().filter(|line| line.trim_end().ends_with(&words)).count()
            };
            let is_named =
                lines(format!("ANCHOR: {part}")) == 1 && lines(format!("ANCHOR_END: {part}")) == 1;
            if !is_named {
                wrong.push(page.at(&format!("{file} has no part {part}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Commands and settings of Cargo stand in the page; Rust, PTX and what programs print do not.
#[test]
fn the_pages_have_no_program_and_no_result_of_their_own() {
    const FREE: [&str; 2] = ["sh", "toml"];
    let mut wrong = Vec::new();
    for page in pages() {
        let mut opened: Option<&str> = None;
        for line in page.text.lines() {
            let Some(word) = line.trim_start().strip_prefix("```") else {
                if opened.is_some_and(|language| !FREE.contains(&language))
                    && !line.trim().starts_with("{{#include ")
                {
                    wrong.push(page.at(&format!("is not from a file: {line}")));
                }
                continue;
            };
            opened =
                if opened.is_some() { None } else { Some(word.split(',').next().unwrap_or(word)) };
        }
        assert!(opened.is_none(), "{}", page.at("a block without an end"));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A listing that no page shows has lost its page, and a result that no page shows is no longer written either.
#[test]
fn every_listing_and_every_result_is_on_a_page() {
    let root = repository().join("book");
    let mut shown: BTreeSet<PathBuf> = BTreeSet::new();
    for page in pages() {
        let named = page.includes().map(|include| parts(include).0);
        let images = links(&page.text).into_iter().filter(|link| is_picture(link));
        shown.extend(named.chain(images).filter_map(|file| page.beside(file).canonicalize().ok()));
    }
    // The program that runs the listings, and the lists of the parts, are in the folder itself.
    let listings = root.join("listings");
    let mut lost: Vec<PathBuf> = files(&listings);
    lost.retain(|file| file.parent() != Some(&listings));
    lost.extend(files(&root.join("output")));
    // Programs that print nothing show nothing.
    lost.retain(|file| {
        !shown.contains(file) && fs::metadata(file).is_ok_and(|file| file.len() > 0)
    });
    assert!(lost.is_empty(), "no page shows {lost:#?}");
}

fn is_picture(link: &str) -> bool {
    Path::new(link).extension().is_some_and(|ending| ending == "svg" || ending == "png")
}

/// A code host shows an include as it is written.
#[test]
fn pages_to_which_the_readme_links_need_no_build() {
    let readme = fs::read_to_string(repository().join("README.md")).expect("it is a text");
    let linked: Vec<&str> =
        links(&readme).into_iter().filter(|link| link.starts_with("book/pages/")).collect();
    assert!(!linked.is_empty(), "it links to the contents of the book");
    for link in linked {
        let text = fs::read_to_string(repository().join(link)).expect("a link leads to a page");
        assert!(!text.contains("{{#include"), "{link} makes sense only if it is built");
    }
}

/// A line such as "1. Then" begins a list, also where it goes on with a sentence that ends with a number.
#[test]
fn no_line_of_a_paragraph_begins_like_a_list() {
    let is_item = |line: &str| {
        line.trim_start().split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    };
    let mut wrong = Vec::new();
    for page in pages() {
        for (before, line) in page.text.lines().zip(page.text.lines().skip(1)) {
            if is_item(line) && !before.is_empty() && !is_item(before) && !before.starts_with(' ') {
                wrong.push(page.at(line));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The targets of links and pictures outside of code: `[text](target)`.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let is_code = |at: usize| line[..at].matches('`').count() % 2 == 1;
        let ends = line.match_indices("](").filter(|&(at, _)| !is_code(at));
        found.extend(ends.filter_map(|(at, _)| line[at + 2..].split(')').next()));
    }
    found
}

/// The names by which the headings of a page are linked to, as mdBook makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let name = |heading: &str| {
        let words = heading.trim_start_matches('#').trim();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    for page in pages() {
        for link in links(&page.text) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) =
                link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { page.path.clone() } else { page.beside(file) };
            if !target.is_file() {
                wrong.push(page.at(&format!("{link} leads nowhere")));
            } else if let Some(anchor) = anchor {
                let text = fs::read_to_string(&target).expect("a page is a text");
                if !anchors(&text).iter().any(|name| name == anchor) {
                    wrong.push(page.at(&format!("{link}: the page has no such heading")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_page_is_in_the_summary() {
    let root = repository().join("book/pages");
    let summary = fs::read_to_string(root.join("SUMMARY.md")).expect("the book has a summary");
    let listed: BTreeSet<PathBuf> =
        links(&summary).into_iter().map(|link| root.join(link)).collect();
    let unlisted: Vec<PathBuf> = pages()
        .into_iter()
        .map(|page| page.path)
        .filter(|path| !path.ends_with("SUMMARY.md") && !listed.contains(path))
        .collect();
    assert!(unlisted.is_empty(), "the summary does not name {unlisted:#?}");
}

#[test]
fn every_code_has_its_page() {
    let names = |folder: &str| -> BTreeSet<String> {
        let name =
            |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
        files(&repository().join(folder)).iter().filter_map(name).collect()
    };
    assert_eq!(names("book/pages/reference/errors"), names("kernel-core/docs/errors"));
}

/// The words in quotes that begin with `KILN_`, in a program.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').filter(|word| {
        word.strip_prefix("KILN_").is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
    })
}

#[test]
fn every_environment_variable_is_on_its_page() {
    let page = fs::read_to_string(repository().join("book/pages/reference/variables.md"));
    let page = page.expect("the page can be read");
    let mut read = BTreeSet::new();
    for entry in fs::read_dir(repository()).expect("the repository can be read") {
        let folder = entry.expect("the repository can be read").path();
        let is_package = folder.join("Cargo.toml").is_file();
        // What benches and xtask read is said where their commands are.
        let is_own = folder.ends_with("benches") || folder.ends_with("xtask");
        for part in ["src", "tests"] {
            let sources = folder.join(part);
            if !is_package || is_own || !sources.is_dir() {
                continue;
            }
            for file in files(&sources).iter().filter(|file| is_rust(file)) {
                let text = fs::read_to_string(file).expect("a source is a text");
                read.extend(variables(&text).map(str::to_owned));
            }
        }
    }
    assert!(read.contains("KILN_DEVICE"), "{read:?}");
    // Tests set these for the programs that they start.
    read.retain(|name| !name.contains("_TEST_"));
    read.retain(|name| {
        !page.contains(&format!("`{name}`")) && !page.contains(&format!("`{name}="))
    });
    assert!(read.is_empty(), "not on the page: {read:?}");
}

fn is_rust(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "rs")
}

#[test]
fn every_example_is_on_its_page() {
    let page = fs::read_to_string(repository().join("book/pages/reference/examples.md"));
    let page = page.expect("the page can be read");
    let mut absent = Vec::new();
    for folder in ["examples", "kiln-kernels/examples"] {
        for entry in fs::read_dir(repository().join(folder)).expect("examples can be read") {
            let file = entry.expect("examples can be read").path();
            let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            if is_rust(&file) && !page.contains(&format!("`{name}`")) {
                absent.push(file);
            }
        }
    }
    assert!(absent.is_empty(), "not on the page: {absent:?}");
}

/// The reason in a recorded verdict, as the page writes it: `..` for a name, N for a number.
fn reason(verdict: &str) -> Option<String> {
    let (line, reason) = verdict.split_once("left to the emulator: line ")?.1.split_once(": ")?;
    assert!(line.bytes().all(|byte| byte.is_ascii_digit()), "{verdict}");
    let words = reason.split(' ').map(|word| match word.strip_prefix('`') {
        Some(name) if !name.ends_with("!`") => "`..`",
        Some(_) | None if word.parse::<u32>().is_ok_and(|number| number > 0) => "N",
        Some(_) | None => word,
    });
    Some(words.collect::<Vec<_>>().join(" "))
}

#[test]
fn every_reason_of_a_recorded_verdict_is_on_its_page() {
    let page = fs::read_to_string(repository().join("book/pages/order/found.md"));
    let page = page.expect("the page can be read");
    let recorded = fs::read_to_string(repository().join("tests/order.txt"));
    let recorded = recorded.expect("the verdicts can be read");
    let mut reasons: BTreeSet<String> = recorded.lines().filter_map(reason).collect();
    assert!(reasons.contains("a wait that does not block"), "{reasons:?}");
    // The first cell of a row of the page's tables.
    let rows: Vec<&str> = page.lines().filter_map(|line| line.split('|').nth(1)).collect();
    reasons.retain(|reason| !rows.iter().any(|row| row.trim().trim_matches('`').trim() == reason));
    assert!(reasons.is_empty(), "not on the page: {reasons:?}");
}

#[test]
fn names_and_numbers_of_a_reason_are_left_out() {
    let of = |reason_of_one: &str| {
        reason(&format!("k - sm_80 left to the emulator: line 7: {reason_of_one}"))
    };
    assert_eq!(
        of("it depends on the argument `n`").as_deref(),
        Some("it depends on the argument `..`")
    );
    assert_eq!(
        of("a hazard in loops of 7 iterations or more").as_deref(),
        Some("a hazard in loops of N iterations or more")
    );
    assert_eq!(of("only if it is 0").as_deref(), Some("only if it is 0"));
    assert_eq!(
        of("instructions of `ptx!` access").as_deref(),
        Some("instructions of `ptx!` access")
    );
    assert_eq!(reason("k - sm_80 proven"), None);
}
