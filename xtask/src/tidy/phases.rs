//! Who knows whom within the compiler: a phase names those before it in the list, and the evaluator, which the tests hold all of them
//! against, names none of them.

use super::Finding;
use crate::repository::{File, Repository};

/// Where the phases are.
const COMPILER: &str = "kernel-core/src/";

/// The modules of the compiler, each of which may name those before it.
///
/// It is not the order in which they run: what memory demands of layouts, elaboration asks before tiles have any.
const ORDER: [&str; 13] = [
    "loc",
    "ir",
    "layouts",
    "diag",
    "syntax",
    "elaborate",
    "check",
    "schedule",
    "explore",
    "lower",
    "host",
    "device",
    "compile",
];

/// The oracle, and the modules that it has its facts from.
const ORACLE: (&str, [&str; 3]) = ("eval", ["eval", "ir", "loc"]);

/// What of the layouts' crate describes a layout as a user writes it. The rest computes with layouts, as the compiler does.
const DESCRIPTIONS: [&str; 2] = ["Form", "tile"];

/// The crate of layouts.
const LAYOUTS: &str = "kernel_layout";

/// An import that goes the other way.
struct Exception {
    /// The file, or the folder, that has it.
    path: &'static str,
    /// What it names.
    module: &'static str,
    why: &'static str,
}

const EXCEPTIONS: [Exception; 1] = [Exception {
    path: "kernel-core/src/syntax/free.rs",
    module: "elaborate",
    why: "which names are the language's is known by the table of its functions",
}];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used = Vec::new();
    for file in &repository.files {
        let Some(own) = module(file) else { continue };
        for (line, root, name) in named(&file.text) {
            if refusal(own, root, name).is_none() {
                continue;
            }
            let exception =
                EXCEPTIONS.iter().position(|one| file.path == one.path && name == one.module);
            match exception {
                Some(exception) => used.push(exception),
                None => findings.extend(
                    refusal(own, root, name).map(|what| Finding::at(&file.path, line, what)),
                ),
            }
        }
    }
    for (at, exception) in EXCEPTIONS.iter().enumerate() {
        if !used.contains(&at) && repository.files.iter().any(|file| file.path == exception.path) {
            let Exception { path, module, why } = exception;
            findings.push(Finding::at(
                path,
                1,
                format!(
                    "no longer names `{module}` ({why}): take the exception out of tidy's `phases`"
                ),
            ));
        }
    }
    findings
}

/// The module at the root of the compiler that a file belongs to; none of tests, which may name everything.
fn module(file: &File) -> Option<&str> {
    let within = file.path.strip_prefix(COMPILER).filter(|_| file.ending() == "rs")?;
    let is_test = within.split('/').any(|part| part == "tests" || part == "tests.rs");
    (!is_test).then(|| within.split(['/', '.']).next().unwrap_or(within))
}

/// Why a module may not name something of a crate.
fn refusal(own: &str, root: &str, name: &str) -> Option<String> {
    if own == ORACLE.0 {
        return match root {
            "crate" if ORACLE.1.contains(&name) => None,
            "crate" => Some(format!(
                "the evaluator names `{name}`: what it needs it has from `ir` and the PTX manual, in a form of its own"
            )),
            _ if DESCRIPTIONS.contains(&name) => None,
            _ => Some(format!(
                "the evaluator names `{LAYOUTS}::{name}`, with which the compiler computes: it works out places itself"
            )),
        };
    }
    let place = |module: &str| ORDER.iter().position(|one| *one == module);
    let later = root == "crate" && place(name)? > place(own)?;
    later.then(|| format!("`{own}` names `{name}`, which is after it in tidy's list of phases"))
}

/// What a file names of its own crate and of the layouts': line from 1, crate, first part of the path behind it.
fn named(text: &str) -> Vec<(usize, &'static str, &str)> {
    // Tests within a file stand at its end.
    let end = text.find("\nmod tests {").unwrap_or(text.len());
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((at, root)) = next_root(&text[from..end]) {
        let start = from + at + root.len() + 2;
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        from = start;
        if text[line_start..start].contains("//") {
            continue;
        }
        for (at, name) in first_parts(&text[start..end]) {
            found.push((text[..start + at].matches('\n').count() + 1, root, name));
        }
    }
    found
}

/// Where the next path begins that names something of one of the crates, and of which.
fn next_root(text: &str) -> Option<(usize, &'static str)> {
    let starts = ["crate", LAYOUTS].into_iter().filter_map(|root| {
        let mut places = text.match_indices(root).map(|(at, _)| at);
        let at = places.find(|&at| {
            let before = text[..at].chars().next_back();
            text[at + root.len()..].starts_with("::")
                && !before.is_some_and(|c| c.is_alphanumeric() || "_$:".contains(c))
        });
        at.map(|at| (at, root))
    });
    starts.min()
}

/// The names that follow `crate::`: one, or those of a list, without what follows each of them; and where they are.
fn first_parts(rest: &str) -> Vec<(usize, &str)> {
    let word = |at: usize| {
        let end = rest[at..].find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[at..end.map_or(rest.len(), |end| at + end)]
    };
    if !rest.starts_with('{') {
        return vec![(0, word(0))];
    }
    let (mut depth, mut begins, mut names) = (0, false, Vec::new());
    for (at, c) in rest.char_indices() {
        match c {
            '{' => {
                depth += 1;
                begins = depth == 1;
            }
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' => begins = depth == 1,
            c if begins && !c.is_whitespace() => {
                names.push((at, word(at)));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = check(&Repository::of(&[(path, text)]));
        findings.into_iter().map(|found| (found.line, found.what)).collect()
    }

    #[test]
    fn the_evaluator_names_the_ir_and_what_describes_a_layout() {
        let path = "kernel-core/src/eval/block/tcgen05.rs";
        let right = "use kernel_layout::Form;\nuse kernel_layout::tile::{Iter, TileLayout};\nuse crate::eval::Fault;\nuse crate::ir::{Op, Value};\n";
        assert_eq!(found(path, right), []);
        for module in ["layouts", "lower", "schedule", "elaborate", "check", "compile"] {
            let what = format!(
                "the evaluator names `{module}`: what it needs it has from `ir` and the PTX manual, in a form of its own"
            );
            let alone = format!("use crate::ir::Op;\nuse crate::{module}::tensor_memory;\n");
            assert_eq!(found(path, &alone), [(2, what.clone())]);
            let listed = format!("use crate::{{\n    ir::{{Op, Value}},\n    {module},\n}};\n");
            assert_eq!(found(path, &listed), [(3, what.clone())]);
            let within = format!("fn f() {{\n    crate::{module}::f();\n}}\n");
            assert_eq!(found(path, &within), [(2, what)]);
        }
        let what = "the evaluator names `kernel_layout::Layout`, with which the compiler computes: it works out places itself";
        assert_eq!(found(path, "use kernel_layout::{Form, Layout};\n"), [(1, what.to_owned())]);
    }

    #[test]
    fn a_phase_names_those_before_it() {
        let what = "`ir` names `lower`, which is after it in tidy's list of phases";
        let later = "let cost = crate::lower::scan_cost(layout);\n";
        assert_eq!(found("kernel-core/src/ir/print.rs", later), [(1, what.to_owned())]);
        assert_eq!(found("kernel-core/src/ir.rs", later), [(1, what.to_owned())]);
        for path in [
            "kernel-core/src/compile/image.rs",
            "kernel-core/src/ir/tests/builder.rs",
            "kernel-ptx/src/print.rs",
        ] {
            assert_eq!(found(path, later), [], "{path}");
        }
        let elsewhere = "// not crate::lower::f\nquote!($crate::lower::f());\n#[cfg(test)]\nmod tests {\n    use crate::lower::f;\n}\n";
        assert_eq!(found("kernel-core/src/ir/print.rs", elsewhere), []);
    }

    #[test]
    fn an_exception_is_taken_out_once_nothing_needs_it() {
        let Exception { path, module, .. } = EXCEPTIONS[0];
        let needed = format!("use crate::{module}::f;\n");
        assert_eq!(found(path, &needed), []);
        let stale = found(path, "use crate::ir::Op;\n");
        assert_eq!(stale.len(), 1, "{stale:?}");
        assert!(stale[0].1.starts_with("no longer names `elaborate`"), "{stale:?}");
    }
}
