//! `println!(..)`, `assert!(..)` and their like, read from tokens.
//!
//! The text keeps Rust's own notation. Only the places change: `"{x} {:.2}"` becomes `"{0} {1:.2}"`, so that the host's code can give
//! the values by position.

use std::fmt::Write as _;

use syn::Token;
use syn::punctuated::Punctuated;

use super::expr::Reader;
use super::{Expr, ExprKind, Path, SaidText, SaidValue, Saying, Segment};
use crate::diag::Code;
use crate::loc::Loc;

/// How the value of a place is written, and what it is called in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `{}`
    Display,
    /// `{:?}`
    Debug,
    /// `{:x}`, `{:X}`, `{:o}` or `{:b}`
    Digits,
    /// `{:e}` or `{:E}`
    Exponent,
    /// `{:p}`
    Pointer,
}

/// The macros that say something while a kernel runs, and how.
const SAYINGS: [(&str, Saying); 9] = [
    ("assert", Saying::Assert),
    ("assert_eq", Saying::AssertEq),
    ("assert_ne", Saying::AssertNe),
    ("debug_assert", Saying::Assert),
    ("debug_assert_eq", Saying::AssertEq),
    ("debug_assert_ne", Saying::AssertNe),
    ("print", Saying::Print),
    ("println", Saying::PrintLine),
    ("stamp", Saying::Stamp),
];

/// What a macro of this name says.
pub(super) fn saying(name: &str) -> Option<Saying> {
    SAYINGS.iter().find(|(known, _)| *known == name).map(|(_, saying)| *saying)
}

/// What is asked of a place in a text, and the rest of it: `(name, ":.2", Display)`.
type Place<'t> = (&'t str, &'t str, Notation);

/// What stands between the braces of a text.
enum Part<'t> {
    Text(String),
    Place(Place<'t>),
}

impl Reader<'_> {
    /// `println!("text {}", value)`, `assert!(condition, "text {}", value)`
    pub(super) fn said(&mut self, name: &str, mac: &syn::Macro, depth: u32) -> Option<ExprKind> {
        let saying = saying(name)?;
        if saying == Saying::Stamp {
            return Some(self.stamp(mac));
        }
        let loc = self.loc(mac);
        let form = match saying {
            Saying::Print | Saying::PrintLine | Saying::Stamp => {
                format!("{name}!(\"x = {{}}\", x)")
            }
            Saying::Assert => format!("{name}!(i < n, \"row {{}}\", i)"),
            Saying::AssertEq | Saying::AssertNe => format!("{name}!(a, b)"),
        };
        let refuse = |reader: &mut Self, loc, headline: String| {
            let problem = Code::Unsupported.at(loc, headline).help(form.clone()).exemplified();
            reader.problems.push(problem);
            Some(ExprKind::Refused(Vec::new()))
        };
        let parser = Punctuated::<syn::Expr, Token![,]>::parse_terminated;
        let Ok(args) = mac.parse_body_with(parser) else {
            return refuse(
                self,
                loc,
                format!("`{name}!` takes expressions with commas between them"),
            );
        };
        let mut args = args.iter();
        let count = saying.operands();
        let operands: Vec<&syn::Expr> = args.by_ref().take(count).collect();
        if operands.len() < count {
            let required = if count == 1 { "a condition" } else { "two values to compare" };
            return refuse(self, loc, format!("`{name}!` takes {required}"));
        }
        let condition = operands.first().map_or(String::new(), |operand| super::written(*operand));
        let operands = operands.into_iter().map(|operand| self.expr(operand, depth)).collect();
        let mut text = SaidText::default();
        match args.next() {
            None => {}
            Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(literal), .. })) => {
                let at = self.loc(literal);
                text = self.said_text(&literal.value(), at, &mut args, depth);
            }
            Some(other) => {
                let at = self.loc(other);
                let other = super::written(other);
                self.problems.push(
                    Code::Unsupported
                        .at(at, "the text has to be a string literal")
                        .help(format!("\"{{}}\", {other}")),
                );
                return Some(ExprKind::Refused(Vec::new()));
            }
        }
        if saying == Saying::PrintLine {
            text.format.push('\n');
        }
        Some(ExprKind::Said { saying, operands, condition, text })
    }

    /// `stamp!("name")`
    fn stamp(&mut self, mac: &syn::Macro) -> ExprKind {
        let loc = self.loc(mac);
        let name = mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            let name: syn::LitStr = input.parse()?;
            input.parse::<Option<Token![,]>>()?;
            Ok(name)
        });
        let (at, headline) = match name {
            Ok(name) if !name.value().trim().is_empty() => {
                let format = name.value();
                let text = SaidText { format, loc: Some(self.loc(&name)), ..SaidText::default() };
                let (operands, condition) = (Vec::new(), String::new());
                return ExprKind::Said { saying: Saying::Stamp, operands, condition, text };
            }
            Ok(name) => (self.loc(&name), "the name of a phase is empty"),
            Err(_) => (loc, "`stamp!` takes the name of a phase, a string literal"),
        };
        self.problems.push(
            Code::Unsupported
                .at(at, headline)
                .why("all warps that reach it are in one phase, whose name is known when the kernel is compiled")
                .help("stamp!(\"product\")")
                .exemplified(),
        );
        ExprKind::Refused(Vec::new())
    }

    /// The text with its values. A problem is reported, and what is left of the text returned.
    fn said_text(
        &mut self,
        format: &str,
        at: Loc,
        args: &mut dyn Iterator<Item = &syn::Expr>,
        depth: u32,
    ) -> SaidText {
        let mut text = SaidText { loc: Some(at), ..SaidText::default() };
        let mut names: Vec<Option<String>> = Vec::new();
        for arg in args {
            let (name, value) = if let syn::Expr::Assign(assign) = arg
                && matches!(&*assign.left, syn::Expr::Path(_))
            {
                (Some(super::written(&assign.left)), &*assign.right)
            } else {
                (None, arg)
            };
            names.push(name);
            let value = self.expr(value, depth);
            text.values.push(SaidValue { value, notations: Vec::new() });
        }
        let positional = names.iter().filter(|name| name.is_none()).count();
        let given = names.len();
        let mut next = 0;
        let parts = match parts(format) {
            Ok(parts) => parts,
            Err((headline, why)) => {
                self.problems.push(Code::Unsupported.at(at, headline).why(why));
                return text;
            }
        };
        for part in parts {
            let (name, spec, notation) = match part {
                Part::Text(literal) => {
                    text.format.push_str(&literal);
                    continue;
                }
                Part::Place(place) => place,
            };
            let index = if name.is_empty() {
                next += 1;
                next - 1
            } else if let Ok(index) = name.parse() {
                index
            } else if let Some(index) =
                names.iter().position(|known| known.as_deref() == Some(name))
            {
                index
            } else {
                // A name of the kernel's own, as in Rust.
                names.push(Some(name.to_owned()));
                let segment = Segment { name: name.to_owned(), args: Vec::new(), loc: at };
                let path = Path { segments: vec![segment], loc: at };
                let value = Expr { kind: ExprKind::Path(path), loc: at };
                text.values.push(SaidValue { value, notations: Vec::new() });
                names.len() - 1
            };
            if index >= names.len() || name.is_empty() && index >= positional {
                self.problems.push(
                    Code::ArgumentCount.at(at, "the text has more places than values").compare(
                        "values",
                        format!("at least {}", index + 1),
                        given,
                    ),
                );
                return text;
            }
            text.values[index].notations.push(notation);
            let _ = write!(text.format, "{{{index}{spec}}}");
        }
        let unplaced: Vec<Loc> = text
            .values
            .iter()
            .filter(|value| value.notations.is_empty())
            .map(|value| value.value.loc)
            .collect();
        if !unplaced.is_empty() {
            let places = vec!["{}"; unplaced.len()].join(" ");
            let help = format!("{:?}", format!("{} {places}", format.trim_end()));
            let placed = names.len() - unplaced.len();
            let diagnostic = Code::ArgumentCount
                .at(at, "the text has fewer places than values")
                .compare("places", names.len(), placed)
                .why("a place is `{}`, or `{:?}`, `{:.3}` and so on")
                .help_if((!format.is_empty()).then_some(help));
            self.problems.push(
                unplaced.into_iter().fold(diagnostic, |one, loc| one.place(loc, "has no place")),
            );
        }
        text
    }
}

/// A text as its parts, or what is wrong with it and why.
fn parts(format: &str) -> Result<Vec<Part<'_>>, (String, &'static str)> {
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        parts.push(Part::Text(before.to_owned()));
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            parts.push(Part::Text(from[..2].to_owned()));
            rest = after;
            continue;
        }
        let Some((inside, after)) = from.strip_prefix('{').and_then(|from| from.split_once('}'))
        else {
            let what = if from.starts_with('{') { "`{` without `}`" } else { "`}` without `{`" };
            return Err((format!("{what} in the text"), "a brace that is text is written twice"));
        };
        parts.push(Part::Place(place(inside)?));
        rest = after;
    }
    parts.push(Part::Text(rest.to_owned()));
    Ok(parts)
}

/// `name:>8.3` and what it asks for.
fn place(inside: &str) -> Result<Place<'_>, (String, &'static str)> {
    let colon = inside.find(':').unwrap_or(inside.len());
    let (name, spec) = inside.split_at(colon);
    let name = name.trim();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_name {
        let headline = format!("`{{{inside}}}` is not a place for a value");
        return Err((
            headline,
            "between braces stands nothing, a number or a name, and after a colon how the value is written",
        ));
    }
    let spec = spec.trim_end();
    let notation = notation(spec.strip_prefix(':').unwrap_or("")).ok_or_else(|| {
        let headline = format!("`{{{inside}}}` does not say how the value is written");
        (headline, "after the colon stand fill and alignment, sign, `#`, `0`, width and precision as numbers, and one of `?`, `x`, `X`, `o`, `b`, `e`, `E`, `p`")
    })?;
    Ok((name, spec, notation))
}

/// What a format asks for (the Rust Standard Library, `std::fmt`, "Syntax"). Width and precision that are values are not
/// among it.
fn notation(spec: &str) -> Option<Notation> {
    let aligns = |c: char| matches!(c, '<' | '^' | '>');
    let mut chars = spec.chars();
    let rest = match (chars.next(), chars.next()) {
        (Some(_), Some(align)) if aligns(align) => chars.as_str(),
        (Some(align), _) if aligns(align) => &spec[1..],
        _ => spec,
    };
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    let rest = rest.strip_prefix('0').unwrap_or(rest);
    let digits = |text: &'_ str| text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &rest[rest.len() - digits(rest)..];
    let rest = match rest.strip_prefix('.') {
        Some(precision) if digits(precision) < precision.len() => {
            &precision[precision.len() - digits(precision)..]
        }
        Some(_) => return None,
        None => rest,
    };
    Some(match rest {
        "" => Notation::Display,
        "?" | "x?" | "X?" => Notation::Debug,
        "x" | "X" | "o" | "b" => Notation::Digits,
        "e" | "E" => Notation::Exponent,
        "p" => Notation::Pointer,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Notation, notation};

    /// The Rust Standard Library, `std::fmt`, "Syntax".
    #[test]
    fn notations_are_those_of_rust_but_for_values_as_width() {
        for (spec, asked) in [
            ("", Some(Notation::Display)),
            ("8", Some(Notation::Display)),
            ("*^8", Some(Notation::Display)),
            ("<<8.3", Some(Notation::Display)),
            ("+.3", Some(Notation::Display)),
            ("08.3?", Some(Notation::Debug)),
            ("#?", Some(Notation::Debug)),
            ("#010x", Some(Notation::Digits)),
            ("#b", Some(Notation::Digits)),
            ("+.2e", Some(Notation::Exponent)),
            ("p", Some(Notation::Pointer)),
            ("q", None),
            (".", None),
            (".*", None),
            ("1$", None),
            ("w$", None),
            (".w$", None),
            ("8 ", None),
            ("é", None),
            ("é<4", Some(Notation::Display)),
        ] {
            assert_eq!(notation(spec), asked, "{spec}");
        }
    }
}
