//! A kernel's documentation: its parameters, instances and targets, after what the user has written.

use crate::syntax::written;

use super::items::Host;

/// How many instances the documentation lists.
const LISTED: usize = 24;

/// What stands after the user's own documentation of the kernel.
pub(super) fn kernel(host: &Host<'_>) -> String {
    format!("# Kernel\n\n{}", described(host))
}

/// What stands before the module.
pub(super) fn module(host: &Host<'_>) -> String {
    let name = host.text();
    let link =
        if name.starts_with("r#") { format!("`{name}`") } else { format!("[`{name}`](fn@{name})") };
    let described = described(host);
    format!(" The arguments of the kernel {link}, and its compiled instances.\n\n{described}")
}

fn described(host: &Host<'_>) -> String {
    [targets(host), parameters(host), instances(host)].concat()
}

/// `Compiled for sm_80 and sm_90a. Blocks: ..`
fn targets(host: &Host<'_>) -> String {
    let attr = &host.kernel.attr;
    let targets: Vec<String> =
        attr.targets.iter().map(|target| format!("`{}`", target.name)).collect();
    let grid = match &host.grid {
        Some(grid) => format!("Blocks: {}.", code(&written(grid))),
        None => "A launch says how many blocks there are, with `.grid(..)`.".to_owned(),
    };
    format!("Compiled for {}. {grid}\n\n", targets.join(", "))
}

fn parameters(host: &Host<'_>) -> String {
    let mut rows = Vec::new();
    let mut any_facts = false;
    for input in &host.item.sig.inputs {
        let syn::FnArg::Typed(typed) = input else { continue };
        let syn::Pat::Ident(pat) = &*typed.pat else { continue };
        let facts = typed.attrs.iter().filter(|attr| !attr.path().is_ident("doc"));
        let facts: Vec<String> =
            facts.map(|attr| cell(&format!("#[{}]", written(&attr.meta)))).collect();
        any_facts |= !facts.is_empty();
        let facts = facts.join(" ");
        rows.push([cell(&pat.ident.to_string()), cell(&written(&typed.ty)), facts]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let columns = if any_facts { 3 } else { 2 };
    let head = ["parameter".to_owned(), "type".to_owned(), "stated".to_owned()];
    let rule = ["---".to_owned(), "---".to_owned(), "---".to_owned()];
    let lines = [head, rule].into_iter().chain(rows).map(|row| row[..columns].join(" | "));
    let table: Vec<String> = lines.map(|line| format!("| {line} |\n")).collect();
    format!("{}\n", table.concat())
}

fn instances(host: &Host<'_>) -> String {
    let instances = host.outcome.instances().unwrap_or_default();
    if host.signature.generics.is_empty() {
        return String::new();
    }
    let each: Vec<String> = instances.iter().map(|one| code(&one.describe())).collect();
    let items: Vec<String> =
        shortened(&each, LISTED).iter().map(|one| format!("* {one}\n")).collect();
    let count = match instances.len() {
        1 => "One instance:".to_owned(),
        count => format!("{count} instances:"),
    };
    format!("{count}\n\n{}\n", items.concat())
}

/// A list of more than `at_most`, without its middle.
pub(super) fn shortened(all: &[String], at_most: usize) -> Vec<String> {
    /// How many come after the gap.
    const LAST: usize = 3;
    if all.len() <= at_most {
        return all.to_vec();
    }
    let (first, last) = (at_most - LAST, all.len() - LAST);
    let gap = format!("({} more)", last - first);
    [&all[..first], &[gap], &all[last..]].concat()
}

/// The text as code.
fn code(text: &str) -> String {
    let quotes = if text.contains('`') { "``" } else { "`" };
    format!("{quotes}{text}{quotes}")
}

/// The text as code in a table.
fn cell(text: &str) -> String {
    code(&text.replace('|', "\\|"))
}
