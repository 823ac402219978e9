//! Functions that are called by a path, `tcgen05::mma(..)`, name in `# Errors` every code that a program of `ui-tests` raises at a call
//! of them.
//!
//! Such an error underlines the call, or what is in its arguments. What is said of the call in the same statement,
//! `.accumulate(..)` for instance, has documentation of its own.

use super::Finding;
use super::reference::{Function, functions};
use crate::repository::Repository;

const ITEMS: &str = "src/lang/";
const PROGRAMS: &str = "ui-tests/fail/";

/// Codes of names and argument lists, which are alike for everything that has them: Rust that the language does not have, names that nobody
/// has declared, numbers of arguments, methods that there are not.
const OF_EVERY_CALL: &[&str] = &["K0101", "K0102", "K0107", "K0108"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut documented = Vec::new();
    for file in repository.below(ITEMS, ".rs") {
        let module = file.name().trim_end_matches(".rs").to_owned();
        documented.extend(functions(file).into_iter().map(|function| (module.clone(), function)));
    }
    let mut findings = Vec::new();
    for message in repository.below(PROGRAMS, ".stderr") {
        for (code, line, underlined) in raised(&message.text) {
            let Some((module, name)) = called(line, underlined) else { continue };
            let is_called =
                |other: &str, function: &Function| other == module && function.name == name;
            let found = documented.iter().find(|(other, function)| is_called(other, function));
            let Some((_, function)) = found else { continue };
            let Some(errors) = errors(&documented, module, function) else { continue };
            if OF_EVERY_CALL.contains(&code) || errors.contains(code) {
                continue;
            }
            let what =
                format!("`{module}::{name}` raises {code} here, which its `# Errors` do not name");
            findings.push(Finding::of(message, what));
        }
    }
    findings
}

/// The errors of a message: the code, the line of the program, and from which to which character it is underlined.
fn raised(text: &str) -> Vec<(&str, &str, (usize, usize))> {
    let (mut code, mut shown) = ("", None);
    let mut raised = Vec::new();
    for line in text.lines() {
        if line.starts_with("error") || line.starts_with("warning") {
            // Those of rustc have no code.
            code = line
                .split(['[', ']'])
                .nth(1)
                .filter(|_| line.starts_with("error: ["))
                .unwrap_or_default();
        } else if let Some((number, program)) = line.split_once(" | ") {
            if number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty() {
                shown = Some((number.len(), program));
            } else if let Some((_, program)) = shown.take()
                && let Some(from) = program_column(number, line)
            {
                let carets = line.bytes().filter(|&byte| byte == b'^').count();
                raised.push((code, program, (from, from + carets)));
            }
        }
    }
    raised
}

/// Where carets begin below a line of a program.
fn program_column(before: &str, line: &str) -> Option<usize> {
    let blank = before.bytes().all(|byte| byte == b' ');
    blank.then(|| line.find('^'))?.and_then(|at| at.checked_sub(before.len() + " | ".len()))
}

/// The innermost call by a path in which a line is underlined: module and name.
fn called(line: &str, (from, to): (usize, usize)) -> Option<(&str, &str)> {
    let mut innermost = None;
    for (at, _) in line.match_indices("::") {
        let of_name = |c: char| !c.is_alphanumeric() && c != '_';
        let start = line[..at].rfind(of_name).map_or(0, |before| before + 1);
        let (module, rest) = (&line[start..at], &line[at + 2..]);
        let name = &rest[..rest.find(of_name).unwrap_or(rest.len())];
        let behind = at + 2 + name.len();
        let Some(end) = closed(line, behind) else { continue };
        if module.is_empty() || name.is_empty() || from < start || from >= end {
            continue;
        }
        // A statement of which more is said than the call: that is where the error is.
        let beyond = from == start && to > end;
        innermost = (!beyond).then_some((module, name));
    }
    innermost
}

/// Behind the parenthesis that closes the call whose name ends at `behind`; type parameters may stand between.
fn closed(line: &str, behind: usize) -> Option<usize> {
    let opening = match line[behind..].strip_prefix("::<") {
        Some(types) => behind + "::<".len() + types.find('>')? + 1,
        None => behind,
    };
    if !line[opening..].starts_with('(') {
        return None;
    }
    let mut depth = 0u32;
    for (at, byte) in line.bytes().enumerate().skip(opening) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What a function says of errors, with what it says are those of others of the same file; nothing where a paragraph elsewhere does.
fn errors(documented: &[(String, Function)], module: &str, function: &Function) -> Option<String> {
    let own = function.docs.iter().skip_while(|line| *line != "# Errors").skip(1);
    let own: Vec<_> = own.take_while(|line| !line.is_empty()).cloned().collect();
    if own.is_empty() {
        return None;
    }
    let said = own.join(" ");
    let mut text = said.clone();
    for rest in said.split("hose of [`").skip(1) {
        let other = rest.split('`').next().unwrap_or_default();
        let others = documented.iter().filter(|(of, one)| of == module && one.name == other);
        for (_, one) in others.filter(|(_, one)| one.name != function.name) {
            text = text + " " + &errors(documented, module, one)?;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings where a program raises this code with this line underlined so, and the errors of `mma` are these.
    fn found(errors: &str, code: &str, line: &str, carets: &str) -> Vec<String> {
        let lang = format!(
            "/// # Errors\n/// {errors}\npub fn mma() {{}}\n\n/// # Errors\n/// Those of [`mma`].\npub fn pair() {{}}\n"
        );
        let message = format!(
            "error: [{code}] no\n --> fail/a/x.rs:8:5\n  |\n8 |     {line}\n  |     {carets}\n"
        );
        let repository = Repository::of(&[
            ("src/lang/tcgen05.rs", &lang),
            ("ui-tests/fail/a/x.stderr", &message),
        ]);
        check(&repository).iter().map(|finding| finding.what.clone()).collect()
    }

    #[test]
    fn a_code_that_is_not_named_is_found() {
        let what = "`tcgen05::mma` raises K0302 here, which its `# Errors` do not name";
        for (line, carets) in [
            ("tcgen05::mma(a, b.t(), acc);", "^^^^^^^^^^^^^^^^^^^^^^^^^^^"),
            ("tcgen05::mma::<f16>(a, b, c);", "                    ^"),
            ("wgmma::wait(tcgen05::mma(a, b));", "                         ^"),
        ] {
            assert_eq!(found("K0502.", "K0302", line, carets), [what], "{line}");
            assert_eq!(found("K0502, K0302.", "K0302", line, carets), [""; 0]);
        }
        let pair = "`tcgen05::pair` raises K0302 here, which its `# Errors` do not name";
        assert_eq!(found("K0502.", "K0302", "tcgen05::pair(a);", "^^^^^^^^^^^^^^^^"), [pair]);
        assert_eq!(found("K0302.", "K0302", "tcgen05::pair(a);", "^^^^^^^^^^^^^^^^"), [""; 0]);
    }

    #[test]
    fn what_is_said_of_the_call_and_what_every_call_raises_are_not() {
        let line = "tcgen05::mma(a).when(b);";
        assert_eq!(found("K0502.", "K0404", line, "^^^^^^^^^^^^^^^^^^^^^^^"), [""; 0]);
        assert_eq!(found("K0502.", "K0206", line, "                     ^"), [""; 0]);
        assert_eq!(found("K0502.", "K0107", line, "^^^^^^^^^^^^^^^"), [""; 0]);
        assert_eq!(found("K0502.", "K0206", "a.mma(a);", "  ^^^"), [""; 0]);
    }
}
