//! The error pages: the example of each raises exactly its code, with exactly the message that the page
//! shows, and the fix compiles.
//!
//! `UPDATE_EXPECT=1 cargo test -p kiln-gpu-core --test pages` writes the messages anew.

use kernel_core::{
    Options,
    compile::compile_unit,
    diag::{Area, Code, Problems, render},
    loc::{Loc, Locations},
    syntax,
};
use quote::ToTokens as _;

/// The headings of a page, in their order. Pages of codes that no program can raise end after the second.
const SECTIONS: [&str; 4] = ["What", "Why", "Example", "Fix"];

/// A fenced block of a page: what follows the fence, and the lines between.
struct Block<'p> {
    language: &'p str,
    text: &'p str,
}

/// The text under a heading, up to the next one.
fn section<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let marker = format!("\n## {heading}\n");
    let start = page.find(&marker)? + marker.len();
    let rest = &page[start..];
    Some(rest.find("\n## ").map_or(rest, |end| &rest[..end]))
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("```") {
        let after = &rest[start + 3..];
        let line = after.find('\n').expect("a fence ends its line");
        let end = after.find("\n```").expect("every fence is closed");
        out.push(Block {
            language: after[..line].trim(),
            text: after.get(line + 1..end).unwrap_or(""),
        });
        rest = &after[end + 4..];
    }
    out
}

/// The kernels of an item with the attribute.
fn kernel_of(item: &syn::Item, problems: &mut Problems) -> Option<(syntax::Unit, Locations)> {
    let is_kernel = |attr: &syn::Attribute| attr.path().is_ident("kernel");
    if let syn::Item::Fn(function) = item {
        let mut function = function.clone();
        let at = function.attrs.iter().position(is_kernel)?;
        // `#[kernel]` alone has no arguments.
        let attr = function
            .attrs
            .remove(at)
            .meta
            .require_list()
            .map_or_else(|_| proc_macro2::TokenStream::new(), |list| list.tokens.clone());
        let locations = Locations::new(function.sig.ident.span());
        let unit = syntax::parse_function(attr, &function, &locations, problems);
        return Some((unit, locations));
    }
    let syn::Item::Mod(module) = item else { return None };
    let mut module = module.clone();
    let at = module.attrs.iter().position(is_kernel)?;
    module.attrs.remove(at);
    let locations = Locations::new(module.ident.span());
    let unit = syntax::parse_module(&module, &locations, problems);
    Some((unit, locations))
}

/// What compiling the `#[kernel]` item of `source` says, as text, with the code of each problem.
fn compile(source: &str) -> Vec<(Code, String)> {
    let file: syn::File = syn::parse_str(source).expect("the blocks of a page are Rust");
    let mut problems = Problems::new();
    let (unit, locations) = file
        .items
        .iter()
        .find_map(|item| kernel_of(item, &mut problems))
        .unwrap_or_else(|| panic!("no `#[kernel]` item in\n{}", file.to_token_stream()));
    compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    let mut sorted: Vec<_> = problems.iter().chain(problems.warnings()).collect();
    sorted.sort_by_key(|d| (locations.line_column(d.primary), d.code));
    sorted
        .into_iter()
        .map(|d| {
            let (line, _) = locations.line_column(d.primary);
            let at = underlined(source, &locations, d.primary);
            let said = in_a_file(&render(d, &locations));
            let kind = if d.code.area() == Area::Performance { "warning" } else { "error" };
            (d.code, format!("{kind}: {said}\n  at line {line}: {at}\n"))
        })
        .collect()
}

/// A message with the name of a file, for that which source has that was parsed from a string.
fn in_a_file(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once("<parsed string ") {
        let (_, after) = after.split_once('>').expect("proc_macro2 closes the name");
        text = format!("{text}{before}src/kernels.rs");
        rest = after;
    }
    text + rest
}

/// The source under a position, its first line.
fn underlined(source: &str, locations: &Locations, loc: Loc) -> String {
    let (first, last) = locations.spans(loc);
    let (start, end) = (first.start(), last.end());
    let line = source.lines().nth(start.line - 1).expect("spans are in the source");
    let to = if start.line == end.line { end.column } else { line.chars().count() };
    line.chars().take(to).skip(start.column).collect()
}

fn parts(code: Code) -> (&'static str, &'static str) {
    let page = code.page();
    let example = section(page, "Example").unwrap_or("");
    let fix = section(page, "Fix").unwrap_or("");
    (example, fix)
}

#[test]
fn pages_have_their_sections() {
    for &code in Code::ALL {
        let page = code.page();
        let title = format!("# {}: {}\n", code.number(), code.title());
        assert!(page.starts_with(&title), "{}: the first line is {title}", code.number());
        let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let wanted = if code == Code::Bug { &SECTIONS[..2] } else { &SECTIONS[..] };
        assert_eq!(headings, wanted, "{}: headings", code.number());
        for heading in wanted {
            let text = section(page, heading).unwrap_or("");
            assert!(text.trim().len() > 20, "{}: nothing under `{heading}`", code.number());
        }
        // Messages are as wide as they are; everything else has a margin.
        let mut shown = false;
        for line in page.lines() {
            shown = if shown { line != "```" } else { line == "```text" };
            let fits = shown || line.chars().count() <= 120;
            assert!(fits, "{}: a long line: {line}", code.number());
        }
    }
}

#[test]
fn examples_raise_their_code_and_nothing_else() {
    let mut wrong = Vec::new();
    for &code in Code::ALL.iter().filter(|code| **code != Code::Bug) {
        let blocks = blocks(parts(code).0);
        let [example, message] = blocks.as_slice() else {
            panic!("{}: an example is a program and its message", code.number());
        };
        assert_eq!((example.language, message.language), ("rust", "text"), "{}", code.number());
        let found = compile(example.text);
        let codes: Vec<_> = found.iter().map(|(code, _)| code.number()).collect();
        let text: String = found.iter().map(|(_, text)| text.as_str()).collect();
        if codes != [code.number()] {
            wrong.push(format!("{}: raised {codes:?}\n{text}", code.number()));
        } else if text.trim_end() != message.text {
            if updating() {
                update(code, message.text, text.trim_end());
            } else {
                wrong.push(format!(
                    "{}: the page shows another message than\n{text}",
                    code.number()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fixes_compile() {
    let mut wrong = Vec::new();
    for &code in Code::ALL.iter().filter(|code| **code != Code::Bug) {
        let blocks = blocks(parts(code).1);
        assert!(!blocks.is_empty(), "{}: a fix is a program", code.number());
        for block in blocks {
            assert_eq!(block.language, "rust", "{}", code.number());
            for (_, text) in compile(block.text) {
                wrong.push(format!("{}: the fix does not compile\n{text}", code.number()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests may read the environment; the compiler may not"
)]
fn updating() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests may write their expected text; the compiler writes nothing"
)]
fn update(code: Code, old: &str, new: &str) {
    let path = format!("{}/docs/errors/{}.md", env!("CARGO_MANIFEST_DIR"), code.number());
    let (old, new) = (format!("```text\n{old}\n```"), format!("```text\n{new}\n```"));
    std::fs::write(path, code.page().replace(&old, &new)).expect("the page can be written");
}
