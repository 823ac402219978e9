//! The stubs of the language are its reference: each function has an example and says which PTX it becomes and which errors it
//! raises, or names the paragraph that does. Every code of an error stands in the overview.

use super::Finding;
use crate::repository::{File, Repository};

const OVERVIEW: &str = "src/lang.rs";
const ITEMS: &str = "src/lang/";
const REGISTRY: &str = "kernel-core/src/diag/codes.rs";

/// How a function says that another paragraph has it; a link follows.
const ELSEWHERE: &str = "PTX and errors: ";

/// Functions that need not say all of it, as `path: name`, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut excused = Vec::new();
    let overview = repository.file(OVERVIEW);
    for file in overview.into_iter().chain(repository.below(ITEMS, ".rs")) {
        for function in functions(file) {
            let name = format!("{}: {}", file.path, function.name);
            if let Some((exception, _)) = EXCEPTIONS.iter().find(|(known, _)| *known == name) {
                excused.push(*exception);
                continue;
            }
            let missing = function.missing();
            if !missing.is_empty() {
                let what = format!("`{}` has no {}", function.name, missing.join(", no "));
                findings.push(Finding::at(&file.path, function.line, what));
            }
        }
    }
    if let Some(overview) = overview {
        for (exception, _) in EXCEPTIONS.iter().filter(|(known, _)| !excused.contains(known)) {
            findings.push(Finding::of(
                overview,
                format!("`{exception}` is an exception, but not there"),
            ));
        }
        findings.extend(untitled(repository, overview));
    }
    findings
}

/// Codes that the table of the overview lacks, or has under another title.
fn untitled(repository: &Repository, overview: &File) -> Vec<Finding> {
    let registry = repository.file(REGISTRY).into_iter().flat_map(File::lines);
    let mut findings = Vec::new();
    for (_, line) in registry {
        let parts: Vec<&str> = line.split('"').collect();
        let [_, code, _, title, _] = parts[..] else { continue };
        if !line.contains("= \"K") {
            continue;
        }
        let row = format!("//! | {code} | {title} |");
        if !overview.lines().any(|(_, line)| line == row) {
            findings.push(Finding::of(overview, format!("this row is missing: `{row}`")));
        }
    }
    findings
}

/// A function that users can name.
pub(super) struct Function {
    pub(super) name: String,
    /// From 1.
    line: usize,
    /// What stands before it, line by line.
    pub(super) docs: Vec<String>,
}

impl Function {
    /// What the documentation lacks.
    fn missing(&self) -> Vec<&'static str> {
        let has = |start: &str| self.docs.iter().any(|line| line.starts_with(start));
        let text = self.docs.join(" ");
        let elsewhere = text
            .match_indices(ELSEWHERE)
            .any(|(at, _)| text[at..].split(". ").next().is_some_and(|rest| rest.contains("](")));
        let parts = [
            (has("```"), "example"),
            (has("# PTX") || elsewhere, "`# PTX`"),
            (has("# Errors") || elsewhere, "`# Errors` (or `PTX and errors: [..](..)`)"),
        ];
        parts.into_iter().filter(|(there, _)| !there).map(|(_, what)| what).collect()
    }
}

/// The public functions of a file and the methods of its public traits, but for hidden ones.
pub(super) fn functions(file: &File) -> Vec<Function> {
    let mut functions = Vec::new();
    let (mut docs, mut hidden, mut in_trait) = (Vec::new(), false, false);
    for (line, text) in file.lines() {
        if text.starts_with("pub trait ") {
            in_trait = true;
        } else if text == "}" {
            in_trait = false;
        }
        let text = text.trim_start();
        if let Some(doc) = text.strip_prefix("///") {
            docs.push(doc.strip_prefix(' ').unwrap_or(doc).to_owned());
        } else if text.starts_with("#[doc(hidden)]") {
            hidden = true;
        } else if !text.starts_with("#[") {
            let public = text.strip_prefix("pub ");
            let item = public.or_else(|| in_trait.then_some(text)).unwrap_or_default();
            let item = item.strip_prefix("const ").unwrap_or(item);
            if let Some(rest) = item.strip_prefix("fn ").filter(|_| !hidden) {
                let name = rest.split(['(', '<']).next().unwrap_or(rest).to_owned();
                functions.push(Function { name, line, docs: std::mem::take(&mut docs) });
            }
            docs.clear();
            hidden = false;
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let repository = Repository::of(&[("src/lang/a.rs", text)]);
        check(&repository).iter().map(|finding| finding.what.clone()).collect()
    }

    #[test]
    fn what_a_function_lacks_is_named() {
        assert_eq!(
            found("/// Adds.\n#[must_use]\npub fn add<T>(a: T) -> T {\n    stub()\n}\n"),
            ["`add` has no example, no `# PTX`, no `# Errors` (or `PTX and errors: [..](..)`)"]
        );
        let half = "/// # PTX\n/// None.\n///\n/// ```\n/// ```\npub const fn half() {}\n";
        assert_eq!(found(half), ["`half` has no `# Errors` (or `PTX and errors: [..](..)`)"]);
    }

    #[test]
    fn headings_or_a_link_will_do() {
        let headings = "/// # PTX\n/// # Errors\n/// ```\n/// ```\n#[doc = \"x\"]\npub fn a() {}\n";
        assert_eq!(found(headings), [""; 0]);
        let link = |end: &str| {
            format!("/// PTX and errors: those of\n/// {end}\n/// ```\n/// ```\npub fn a() {{}}\n")
        };
        assert_eq!(found(&link("[`b`](b).")), [""; 0]);
        assert_eq!(found(&link("all. See [`b`](b).")).len(), 1, "the link belongs to it");
    }

    #[test]
    fn methods_of_public_traits_count_and_hidden_ones_do_not() {
        let text = "pub trait A {\n    /// Bare.\n    fn of(value: f32) -> Self;\n\n    /// Inner.\n    #[doc(hidden)]\n    \
                    fn widen(self);\n}\n\nfn private() {}\n";
        assert_eq!(found(text).len(), 1);
        assert!(found(text)[0].starts_with("`of` "));
    }

    #[test]
    fn each_code_has_its_row() {
        let registry = "concat!(\"../\", $code, \".md\")\n    Unsupported = \"K0101\", \"not Rust\";\n    Name = \"K0102\", \"no name\";\n}\n";
        let overview = "//! | K0101 | not Rust |\n//! | K0102 | a name |\n";
        let repository = Repository::of(&[(REGISTRY, registry), (OVERVIEW, overview)]);
        let found: Vec<String> =
            check(&repository).iter().map(|finding| finding.what.clone()).collect();
        assert_eq!(found, ["this row is missing: `//! | K0102 | no name |`"]);
    }
}
