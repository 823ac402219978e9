//! Calls of functions that other languages have, and how the same is written here.
//!
//! A row is the call as it is there, why it is another one here, and what is written instead, with the words of the call:
//!
//! ```text
//! ("silu|swish(x)", "", "x / (1.0 + (-x).exp())")
//!
//! silu(a + b)        // help: (a + b) / (1.0 + (-(a + b)).exp())
//! (a + b).silu()     // the same
//! ```
//!
//! The letters say what the arguments of the test of the rows are (`tests`): `x`, `y`, `z`, `r` and `q` tiles of floats, `i` and `j` of integers,
//! `m` a mask, `t`, `u` and `tt` matrices, `k` an axis, `n` an integer, `v` a float, `p` and `l` addresses, `s` and `ss` shared memory.
//!
//! Words in capitals are computed from the type of the first argument: `TYPE`, `SHAPE`, `ROWS` and `COLS`, `WIDTH` of the second argument,
//! `LAST`, an axis, `AXES`, all of them, `COUNT`, the elements along the second argument, `ELEMENTS`, and `ZERO` and `ONE`. `name(..)` stands
//! for every other number of arguments, and `name*` for every name that begins so.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, Env, language::value::Val},
    ir::{Const, Type},
    loc::Loc,
    syntax::{Expr, ExprKind, Segment},
};

mod arrays;
mod cuda;
mod memory;
#[cfg(test)]
mod tests;

/// The call there, why it is not here, what is written here.
type Row = (&'static str, &'static str, &'static str);

/// Methods of values.
const METHODS: [&[Row]; 4] = [arrays::METHODS, cuda::METHODS, arrays::VALUES, cuda::VALUES];

/// Functions.
const FUNCTIONS: [&[Row]; 5] =
    [arrays::FUNCTIONS, cuda::FUNCTIONS, memory::FUNCTIONS, arrays::VALUES, cuda::VALUES];

/// Functions and methods that no number has.
const OF_TILES: [&str; 8] =
    ["maximum", "minimum", "select", "expand", "sum", "reduce", "scan", "gather"];

/// The names and the words of a row; no words if it stands for every number of arguments.
fn parts(row: &'static Row) -> (impl Iterator<Item = &'static str>, Option<Vec<&'static str>>) {
    let (names, words) = row.0.split_once('(').unwrap_or((row.0, ".."));
    let words = match words.trim_end_matches(')') {
        ".." => None,
        "" => Some(Vec::new()),
        words => Some(words.split(", ").collect()),
    };
    (names.split('|'), words)
}

/// The row of a name for this number of arguments, with its words.
fn row(
    tables: &[&'static [Row]],
    name: &str,
    count: usize,
) -> Option<(&'static Row, Option<Vec<&'static str>>)> {
    let of_name = |row: &'static Row| {
        let (mut names, words) = parts(row);
        let is_name = |one: &str| match one.strip_suffix('*') {
            Some(first) => name.starts_with(first),
            None => one == name,
        };
        names.any(is_name).then_some((row, words))
    };
    let rows = || tables.iter().flat_map(|rows| rows.iter()).filter_map(of_name);
    rows()
        .find(|(_, words)| words.as_ref().is_some_and(|words| words.len() == count))
        .or_else(|| rows().find(|(_, words)| words.is_none()))
}

/// The parts of the first argument, if it is an array or a tuple of tiles, and the others.
fn flat<'e>(args: &[&'e Expr]) -> Vec<&'e Expr> {
    if let [first, rest @ ..] = args
        && let ExprKind::Array(parts) | ExprKind::Tuple(parts) = &first.kind
        && parts.iter().all(|part| part.name().is_some())
    {
        return parts.iter().chain(rest.iter().copied()).collect();
    }
    args.to_vec()
}

/// The words of a template.
fn words_of(template: &str) -> impl Iterator<Item = &str> {
    template.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// What a word of a template stands for.
enum Word {
    /// Itself.
    Own,
    Known(String),
    /// Something that cannot be written.
    Unknown,
}

impl Word {
    fn of(text: Option<String>) -> Self {
        text.map_or(Word::Unknown, Word::Known)
    }
}

/// The template with what stands for its words; none if one of them cannot be repeated.
fn filled(template: &str, of: impl Fn(&str, bool) -> Word) -> Option<String> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = template;
    while let Some(first) = rest.chars().next() {
        let length = if inside(first) {
            rest.find(|c: char| !inside(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        let before = out.trim_end().chars().last();
        // What stands alone between commas and parentheses needs no parentheses of its own.
        let alone = matches!(before, None | Some('(' | ',' | '['))
            && matches!(after.chars().next(), None | Some(')' | ',' | ']'));
        match of(word, alone) {
            Word::Known(text) if inside(first) && !out.ends_with('.') => out.push_str(&text),
            Word::Unknown => return None,
            Word::Known(_) | Word::Own => out.push_str(word),
        }
        rest = after;
    }
    Some(out)
}

impl Builder<'_> {
    /// A word in capitals, of what the call is of.
    fn computed_word(&self, word: &str, vals: &[&Val]) -> Word {
        if word.len() < 3 || !word.chars().all(|c| c.is_ascii_uppercase()) || word == "INFINITY" {
            return Word::Own;
        }
        let shape = |at: usize| match self.ty_of(vals.get(at)?)? {
            ty @ (Type::Tile(..) | Type::Shared(_)) => Some(ty.shape().to_vec()),
            Type::Scalar(_) | Type::Barrier(_) | Type::TensorMemory(_) | Type::Error => None,
        };
        let num = vals.first().and_then(|val| self.num_of(val));
        let float = |elements: u64| num.map(|num| self.whole_number(&elements.to_string(), num));
        let along = || {
            let shape = shape(0)?;
            let Val::Const(Const::Int(axis), _) = vals.get(1)? else { return None };
            let axis = if *axis < 0 { axis + i128::try_from(shape.len()).ok()? } else { *axis };
            shape.get(usize::try_from(axis).ok()?).copied()
        };
        Word::of(match word {
            "SHAPE" => shape(0).map(|shape| format!("{shape:?}")),
            "TYPE" => num.map(|num| self.cells.name(num)),
            "ROWS" => shape(0).and_then(|shape| Some(shape.first()?.to_string())),
            "COLS" => shape(0).and_then(|shape| Some(shape.get(1)?.to_string())),
            "WIDTH" => shape(1).and_then(|shape| Some(shape.get(1)?.to_string())),
            "LAST" => shape(0).and_then(|shape| Some(shape.len().checked_sub(1)?.to_string())),
            "AXES" => shape(0).and_then(|shape| match shape.len() {
                0 => None,
                1 => Some("0".to_owned()),
                rank => Some(format!("{:?}", (0..rank).collect::<Vec<_>>())),
            }),
            "COUNT" => along().and_then(|extent| float(u64::from(extent))),
            "ELEMENTS" => shape(0)
                .and_then(|shape| float(shape.iter().map(|extent| u64::from(*extent)).product())),
            "ZERO" => num.map(|num| self.whole_number("0", num)),
            "ONE" => num.map(|num| self.whole_number("1", num)),
            _ => return Word::Own,
        })
    }

    /// The diagnostic with why a call of another language is another one here, and the call.
    fn translated(
        &self,
        diagnostic: Diagnostic,
        (row, words): (&'static Row, Option<Vec<&'static str>>),
        args: &[&Expr],
        vals: &[&Val],
    ) -> Option<Diagnostic> {
        let (_, why, here) = *row;
        let number = vals.first().is_some_and(|val| match self.ty_of(val) {
            Some(Type::Scalar(_)) => val.value().is_some_and(|value| !self.is_point(value)),
            Some(
                Type::Tile(..)
                | Type::Shared(_)
                | Type::Barrier(_)
                | Type::TensorMemory(_)
                | Type::Error,
            )
            | None => false,
        });
        if number && words_of(here).any(|word| OF_TILES.contains(&word)) {
            return None;
        }
        let diagnostic = diagnostic.advised(why, "");
        let Some(words) = words else {
            let advised = diagnostic.advised("", here);
            return Some(if here.is_empty() { advised } else { advised.exemplified() });
        };
        let help = filled(here, |word, alone| {
            if let Some(at) = words.iter().position(|one| *one == word) {
                let arg = args.get(at);
                return Word::of(
                    arg.and_then(|arg| if alone { arg.text() } else { arg.operand_text() }),
                );
            }
            self.computed_word(word, vals)
        });
        // What is computed of a value that was refused is not known.
        let diagnostic = diagnostic.advised("", &help?);
        // A pointer has no windows: its parameter is another one.
        let of_tensor = words.first() == Some(&"d");
        let is_tensor = vals.first().is_some_and(|val| val.tensor().is_some());
        Some(if of_tensor && !is_tensor { diagnostic.exemplified() } else { diagnostic })
    }

    /// Reports a function that another language has, if it is known how it is written here.
    pub(crate) fn foreign_call(
        &mut self,
        (module, name): (Option<&str>, &str),
        (args, vals): (&[Expr], &[Val]),
        [of_name, of_call]: [Loc; 2],
    ) -> Option<Val> {
        let args: Vec<&Expr> = args.iter().collect();
        let parts = flat(&args);
        let (row, headline) = match module {
            None => {
                (row(&FUNCTIONS, name, parts.len())?, format!("nothing is called `{name}` here"))
            }
            Some(module) => {
                let (_, rows) = memory::MODULES.iter().find(|(of, _)| *of == module)?;
                (row(&[rows], name, parts.len())?, format!("`{module}` has no function `{name}`"))
            }
        };
        // The values of a group stand in it.
        let vals: Vec<&Val> = vals
            .iter()
            .flat_map(|val| match val.parts() {
                Some(inside) if parts.len() != args.len() => inside.iter().collect(),
                Some(_) | None => vec![val],
            })
            .collect();
        let at = if row.0.2.is_empty() || row.1.is_none() { of_name } else { of_call };
        let diagnostic = self.translated(Code::UnknownName.at(at, headline), row, &parts, &vals)?;
        Some(self.report(diagnostic))
    }

    /// Reports a method that another language has, if it is known how it is written here.
    pub(crate) fn foreign_method(
        &mut self,
        val: &Val,
        (receiver, name, args): (&Expr, &Segment, &[Expr]),
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if self.has_method(val, &name.name) {
            return None;
        }
        let tables: &[&'static [Row]] = match self.ty_of(val) {
            Some(Type::Tile(..) | Type::Scalar(_)) => &METHODS,
            Some(Type::Barrier(barrier)) if !barrier.ring => &[memory::BARRIERS],
            Some(Type::Barrier(_) | Type::Shared(_) | Type::TensorMemory(_) | Type::Error)
            | None => {
                return None;
            }
        };
        let found = row(tables, &name.name, args.len() + 1)?;
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        if vals.iter().any(Val::is_absent) {
            return Some(Val::Error);
        }
        let all: Vec<&Expr> = std::iter::once(receiver).chain(args).collect();
        let vals: Vec<&Val> = std::iter::once(val).chain(&vals).collect();
        let headline = format!("{} has no method `{}`", self.describe(val), name.name);
        let whole = !found.0.2.is_empty() && found.1.is_some();
        let at = if whole { loc } else { name.loc };
        let diagnostic = Code::NotAFunction.at(at, headline);
        let diagnostic = self.translated(diagnostic, found, &all, &vals)?;
        Some(self.report(diagnostic))
    }
}
