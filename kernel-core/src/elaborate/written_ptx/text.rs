//! The text of `ptx!`: operands in it, statements, and whether the instruction table has them.
//!
//! The text becomes the body of a function whose parameters are the operands, so that the parser and the table of
//! [`kernel_ptx`] check it; their messages are given here in terms of the text.

use kernel_ptx::{Target, Type};

use crate::{
    diag::nearest,
    diag::{Code, Diagnostic},
    ir::{Elem, Snippet, register_type},
    loc::Loc,
};

mod statements;
mod table;
mod words;

/// What a text calls an operand or a result.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) elem: Elem,
    pub(crate) loc: Loc,
}

/// Stands before the name of an operand where the parser reads it; no text has it by accident.
const MARK: &str = "$kiln$";

/// Reads a text.
///
/// # Errors
/// The first thing that is wrong with it.
pub(crate) fn read(
    text: &str,
    at: Loc,
    inputs: &[Named],
    outputs: &[Named],
    target: Option<Target>,
) -> Result<Snippet, Box<Diagnostic>> {
    let reader = Reader { at, inputs, outputs };
    let plain = reader.fill(&reader.without_comments(text)?)?;
    let statements = reader.statements(&plain)?;
    let body = reader.parse(&plain)?;
    let snippet = Snippet { text: text.to_owned(), body };
    reader.check(&snippet, &statements, target)?;
    Ok(snippet)
}

struct Reader<'a> {
    at: Loc,
    inputs: &'a [Named],
    outputs: &'a [Named],
}

impl Reader<'_> {
    fn wrong(&self, headline: impl Into<String>) -> Diagnostic {
        Code::PtxText.at(self.at, headline)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().chain(self.outputs).map(|named| named.name.as_str())
    }

    fn all_names(&self) -> String {
        let names: Vec<String> = self.names().map(|name| format!("`{{{name}}}`")).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Puts names that the parser takes in the place of `{name}`, and single braces in that of double ones.
    fn fill(&self, text: &str) -> Result<String, Box<Diagnostic>> {
        let mut out = String::new();
        let mut used = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let tail = &rest[at..];
            if let Some(after) = tail.strip_prefix("{{") {
                out.push('{');
                rest = after;
                continue;
            }
            if let Some(after) = tail.strip_prefix("}}") {
                out.push('}');
                rest = after;
                continue;
            }
            if tail.starts_with('}') {
                return Err(Box::new(self
                    .wrong("a `}` in the text has no `{`")
                    .why(
                        "`{name}` is an operand; double a brace that PTX needs, like in `format!`",
                    )
                    .help("}}")));
            }
            let Some(end) = tail.find('}') else {
                return Err(Box::new(self
                    .wrong("a `{` in the text is not closed")
                    .why(
                        "`{name}` is an operand; double a brace that PTX needs, like in `format!`",
                    )
                    .help("{{ .. }}")));
            };
            let name = self.operand(&tail[1..end], text)?;
            used.push(name);
            out.push_str(MARK);
            out.push_str(name);
            rest = &tail[end + 1..];
        }
        out.push_str(rest);
        for named in self.inputs.iter().chain(self.outputs) {
            if used.iter().any(|name| *name == named.name) {
                continue;
            }
            let name = &named.name;
            let is_input = self.inputs.iter().any(|input| input.name == *name);
            return Err(Box::new(if is_input {
                Code::PtxText
                    .at(named.loc, format!("the text does not use `{{{name}}}`"))
                    .why("an operand that the text does not use would be computed for nothing")
            } else {
                Code::PtxText.at(named.loc, format!("the text does not write `{{{name}}}`"))
                    .why("the type after `=>` declares a result, and the text has to write it to this register")
                    .help(format!("mov.{} {{{name}}}, ..;", letters(named.elem)))
            }));
        }
        Ok(out)
    }

    /// The operand that is written between braces.
    fn operand(&self, written: &str, text: &str) -> Result<&str, Box<Diagnostic>> {
        let name = written.trim();
        if let Some(known) = self.names().find(|known| *known == name) {
            return Ok(known);
        }
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name {
            let positional = name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit());
            let (what, help) = if positional {
                (
                    "operands have names, not positions",
                    "ptx!(\"neg.s32 {out}, {a};\", a = x => i32)".to_owned(),
                )
            } else {
                ("braces in the text hold the name of an operand", self.in_double_braces(name))
            };
            return Err(Box::new(
                self.wrong(what)
                    .compare("in braces", self.all_names(), quote(&format!("{{{written}}}")))
                    .why("double a brace that PTX needs, like in `format!`")
                    .help(help),
            ));
        }
        let is_output = name == "out" || name.strip_prefix("out").is_some_and(is_number);
        if is_output && self.outputs.is_empty() {
            return Err(Box::new(
                self.wrong(format!("the text names `{{{name}}}`, but no type is given after `=>`"))
                    .why("the type of a result comes after `=>`; without one `ptx!` is a statement")
                    .help("ptx!(\"mov.u32 {out}, %laneid;\" => i32)"),
            ));
        }
        let diagnostic =
            self.wrong(format!("the text names `{{{name}}}`, which is not an operand"));
        if is_output {
            return Err(Box::new(
                diagnostic.compare("results", self.all_outputs(), format!("`{{{name}}}`")).why(
                    "a single result is `{out}`; the results of a tuple are `{out0}`, `{out1}` and so on",
                ),
            ));
        }
        let diagnostic = diagnostic.compare("operands", self.all_names(), format!("`{{{name}}}`"));
        // What is not written yet may be what was meant.
        let open = |named: &&Named| !text.contains(&format!("{{{}}}", named.name));
        let meant =
            self.outputs.iter().find(open).filter(|_| self.inputs.iter().all(|i| !open(&i)));
        let near = nearest(name, self.names()).or(meant.map(|named| named.name.as_str()));
        Err(Box::new(match near {
            Some(near) => diagnostic.help(format!("{{{near}}}")),
            None => diagnostic.help(format!("ptx!(\"..\", {name} = {name})")),
        }))
    }

    /// A list as PTX has it, with the operands in it: `{{{lo}, {hi}}}`.
    fn in_double_braces(&self, list: &str) -> String {
        let part = |part: &str| match self.names().find(|name| *name == part) {
            Some(name) => format!("{{{name}}}"),
            None => part.to_owned(),
        };
        let parts: Vec<String> = list.split(',').map(|name| part(name.trim())).collect();
        if list.contains(';') || parts.len() < 2 {
            return "{{ .. }}".to_owned();
        }
        format!("{{{{{}}}}}", parts.join(", "))
    }

    fn all_outputs(&self) -> String {
        let names: Vec<String> =
            self.outputs.iter().map(|named| format!("`{{{}}}`", named.name)).collect();
        names.join(", ")
    }

    /// What the parser saw, in the words of the text.
    fn shown(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(MARK) {
            out.push_str(&rest[..at]);
            let tail = &rest[at + MARK.len()..];
            let name = self
                .names()
                .filter(|name| tail.starts_with(*name))
                .max_by_key(|name| name.len())
                .unwrap_or_default();
            out.extend(["{", name, "}"]);
            rest = &tail[name.len()..];
        }
        out.push_str(rest);
        out
    }

    /// A statement on one line, in backticks.
    fn quote(&self, statement: &str) -> String {
        let words: Vec<&str> = statement.split_whitespace().collect();
        quote(&self.shown(&words.join(" ")))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The beginning of a text in backticks.
fn quote(text: &str) -> String {
    let short: String = text.chars().take(80).collect();
    let more = if short.len() < text.len() { " .." } else { "" };
    format!("`{short}{more}`")
}

/// The suffix of a move of an element.
fn letters(elem: Elem) -> &'static str {
    register_type(elem).map_or("b32", Type::text)
}

#[cfg(test)]
mod tests;
