//! Each help that a message of `ui-tests/fail` offers can be pasted: put in the place of the underlined expression, of one around it, or of
//! one that the message points at, it takes the message away.
//!
//! Only the compiler looks at the programs, kernel by kernel: what rustc says, and what lies outside of a kernel, is not looked at.

#[path = "support/programs.rs"]
mod programs;

use std::{fmt::Write as _, fs, ops::Range, path::Path};

use kernel_core::{
    Options,
    compile::compile_unit,
    diag::{Diagnostic, Problems},
    loc::{Loc, Locations},
    syntax,
};
use syn::{spanned::Spanned as _, visit::Visit};

/// Helps for a part of something that the test does not take apart: the text and the operands of `ptx!`, the digits of `layout!(..)`, the
/// arguments of `#[block(..)]`, several operands at once. With the part.
const APART: [(&str, &str); 21] = [
    ("device/K0204_in_another_crate.rs", "a function of another crate, which only a build finds"),
    ("escape/K0111_operand_without_name.rs", "operands of `ptx!`"),
    ("escape/K0111_positions.rs", "operands of `ptx!`"),
    ("escape/K0111_semicolon.rs", "the text of `ptx!`"),
    ("escape/K0111_single_braces.rs", "the text of `ptx!`"),
    ("escape/K0204_bytes.rs", "operands of `ptx!`"),
    ("escape/K0206_tile_of_results.rs", "operands of `ptx!`"),
    ("float4/K0409_swizzle_of_the_map.rs", "an argument of `#[block(..)]`"),
    ("float8/K0204_arithmetic.rs", "both operands of `+`"),
    ("habits/K0107_axis_left_out.rs", "a tile of another rank"),
    ("host/K0601_no_number.rs", "one list has three wrong types"),
    ("layouts/K0301_digits.rs", "digits of `layout!(..)`"),
    ("shapes/K0206_tile_first.rs", "the types of the branches"),
    ("tensor_copy/K0301_copies_64_rows_apart.rs", "digits of `layout!(..)`"),
    ("tensor_copy/K0301_copies_in_lanes_of_a_warp.rs", "digits of `layout!(..)`"),
    ("tensor_copy/K0301_copies_over_one_another.rs", "digits of `layout!(..)`"),
    ("tensor_map/K0102_no_such_function.rs", "arguments that are wrong as well"),
    ("users/K0102_rand_like.rs", "device code of Kiln, which only a build finds"),
    ("users/K0102_tl_rand.rs", "device code of Kiln, which only a build finds"),
    ("users/K0203_generic_literal.rs", "a function of the program, which only a build finds"),
    ("wgmma/K0302_swizzle_of_the_map.rs", "an argument of `#[block(..)]`"),
];

/// So many places around an underlined expression are tried, itself included.
const MOST_AROUND: usize = 8;

/// A problem of a program: its code and headline, the text that is underlined, those that the message points at, and the help.
struct Problem {
    code: &'static str,
    headline: String,
    at: Range<usize>,
    others: Vec<Range<usize>>,
    help: Option<String>,
}

/// The problems of the kernels of a program; none if it is not Rust.
fn problems(text: &str) -> Option<Vec<Problem>> {
    let file: syn::File = syn::parse_str(text).ok()?;
    let mut found = Vec::new();
    for item in file.items {
        let syn::Item::Fn(mut function) = item else { continue };
        let is_kernel = |attr: &syn::Attribute| attr.path().is_ident("kernel");
        let Some(at) = function.attrs.iter().position(is_kernel) else { continue };
        let syn::Meta::List(list) = function.attrs.remove(at).meta else { continue };
        let locations = Locations::new(function.sig.ident.span());
        let mut list_of = Problems::new();
        let unit = syntax::parse_function(list.tokens, &function, &locations, &mut list_of);
        compile_unit(&unit, &locations, &mut list_of, Options::default(), &mut Vec::new());
        found.extend(list_of.iter().map(|one| problem(one, &locations)));
    }
    Some(found)
}

fn problem(diagnostic: &Diagnostic, locations: &Locations) -> Problem {
    let range = |loc: Loc| {
        let (first, last) = locations.spans(loc);
        first.byte_range().start..last.byte_range().end
    };
    Problem {
        code: diagnostic.code.number(),
        headline: diagnostic.headline.clone(),
        at: range(diagnostic.primary),
        others: diagnostic.secondary.iter().map(|(loc, _)| range(*loc)).collect(),
        help: diagnostic.help.clone(),
    }
}

/// The expressions, statements, types, parameters and attributes of a program that hold a place.
struct Around {
    place: Range<usize>,
    expressions: Vec<Range<usize>>,
    statements: Vec<Range<usize>>,
}

impl Around {
    fn of(text: &str, place: &Range<usize>) -> Around {
        let place = place.clone();
        let mut around = Around { place, expressions: Vec::new(), statements: Vec::new() };
        around.note(around.place.clone());
        if let Ok(file) = syn::parse_str::<syn::File>(text) {
            around.visit_file(&file);
        }
        for list in [&mut around.expressions, &mut around.statements] {
            list.sort_by_key(|range| (range.end - range.start, range.start));
            list.dedup();
        }
        // Whatever replaces the whole statement takes the message away.
        around.expressions.truncate(MOST_AROUND);
        around
    }

    fn holds(&self, range: &Range<usize>) -> bool {
        range.start <= self.place.start && self.place.end <= range.end && !range.is_empty()
    }

    fn part(&mut self, underlined: bool, range: Range<usize>) {
        if underlined {
            self.expressions.push(range);
        } else {
            self.note(range);
        }
    }

    fn note(&mut self, range: Range<usize>) {
        if self.holds(&range) {
            self.expressions.push(range);
        }
    }
}

impl<'ast> Visit<'ast> for Around {
    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        self.note(expr.span().byte_range());
        let range = expr.span().byte_range();
        // What an underlined expression consists of, as far as a help may replace a part: `.name(..)` and `name(..)` without the receiver,
        // the operands of an operator.
        let underlined = range == self.place;
        #[expect(clippy::wildcard_enum_match_arm, reason = "of the others only the whole counts")]
        match expr {
            syn::Expr::MethodCall(call) => {
                let dot = call.dot_token.span.byte_range().start;
                let name = call.method.span().byte_range().start;
                self.part(underlined, dot..range.end);
                self.part(underlined, name..range.end);
            }
            syn::Expr::Field(field) => {
                self.part(underlined, field.dot_token.span.byte_range().start..range.end);
            }
            syn::Expr::Binary(binary) => {
                self.part(underlined, binary.left.span().byte_range());
                self.part(underlined, binary.right.span().byte_range());
            }
            _ => {}
        }
        syn::visit::visit_expr(self, expr);
    }

    fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
        let range = stmt.span().byte_range();
        if self.holds(&range) {
            self.statements.push(range);
        }
        syn::visit::visit_stmt(self, stmt);
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        self.note(ty.span().byte_range());
        syn::visit::visit_type(self, ty);
    }

    fn visit_pat(&mut self, pat: &'ast syn::Pat) {
        self.note(pat.span().byte_range());
        syn::visit::visit_pat(self, pat);
    }

    fn visit_fn_arg(&mut self, arg: &'ast syn::FnArg) {
        self.note(arg.span().byte_range());
        syn::visit::visit_fn_arg(self, arg);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.note(local.span().byte_range());
        syn::visit::visit_local(self, local);
    }

    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        self.note(attr.span().byte_range());
        syn::visit::visit_attribute(self, attr);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.note(path.span().byte_range());
        syn::visit::visit_path(self, path);
    }
}

/// A program with a help in it, and where that stands.
type Mended = (String, Range<usize>);

/// A text with `new` instead of what is at a place, of which `help` is a part.
fn with(text: &str, at: Range<usize>, new: &str, help: &str) -> Mended {
    let start = at.start + new.find(help).unwrap_or(0);
    (format!("{}{new}{}", &text[..at.start], &text[at.end..]), start..start + help.len())
}

/// The programs with a help in them, those first in which it replaces the least.
fn pasted(text: &str, problem: &Problem, help: &str) -> Vec<Mended> {
    let mut programs = Vec::new();
    // The same word elsewhere, which the message points at, is replaced with it.
    let word = &text[problem.at.clone()];
    let same: Vec<_> = problem.others.iter().filter(|at| text[(*at).clone()] == *word).collect();
    if !same.is_empty() {
        let mut all = text.to_owned();
        for at in same.into_iter().rev() {
            all.replace_range(at.clone(), help);
        }
        programs.push(with(&all, problem.at.clone(), help, help));
    }
    let is_statement = help.ends_with(';') || help.ends_with('}') || help.starts_with("let ");
    for place in std::iter::once(&problem.at).chain(&problem.others) {
        let around = Around::of(text, place);
        for range in around.expressions {
            let actual = &text[range.clone()];
            let ways = [
                help.to_owned(),
                // A method of what is underlined; a part that is added before or after it.
                format!("{actual}{help}"),
                format!("{help} {actual}"),
                format!("{actual} {help}"),
                format!("{actual}, {help}"),
            ];
            programs.extend(ways.iter().map(|new| with(text, range.clone(), new, help)));
        }
        for range in around.statements.into_iter().filter(|_| is_statement) {
            let ways = [
                with(text, range.start..range.start, &format!("{help}\n"), help),
                with(text, range.end..range.end, &format!("\n{help}"), help),
                with(text, range, help, help),
            ];
            programs.extend(ways);
        }
    }
    // Where the variable is declared.
    if let Some(name) = help.strip_prefix("mut ") {
        for before in ["let ", "(", ", ", "for "] {
            let declared = format!("{before}{name}");
            programs.extend(
                text.find(&declared)
                    .map(|at| with(text, at + before.len()..at + declared.len(), help, help)),
            );
        }
    }
    // What the headline quotes of the text of `ptx!`.
    if let ("K0111", Some(quoted)) = (problem.code, problem.headline.split('`').nth(1)) {
        programs.extend(text.find(quoted).map(|at| with(text, at..at + quoted.len(), help, help)));
    }
    programs
}

/// How many of the problems are like this one, which may have moved.
fn like(problems: &[Problem], problem: &Problem) -> usize {
    let is_like = |one: &&Problem| one.code == problem.code && one.headline == problem.headline;
    problems.iter().filter(is_like).count()
}

/// Whether a problem that was not there before comes from what was pasted. What is found elsewhere was there, behind the problem that is
/// gone.
fn is_new(problem: &Problem, before: &[Problem], pasted: &Range<usize>) -> bool {
    let of_names_and_types = problem.code.starts_with("K01") || problem.code.starts_with("K02");
    let within = problem.at.start < pasted.end && pasted.start < problem.at.end;
    of_names_and_types && within && like(before, problem) == 0
}

/// The programs with an argument of `#[kernel(..)]` in them: instead of one of that name, or behind all others.
fn attributed(text: &str, help: &str) -> Vec<Mended> {
    let name: String = help.chars().take_while(|c| c.is_alphanumeric()).collect();
    let Ok(file) = syn::parse_str::<syn::File>(text) else { return Vec::new() };
    let mut programs = Vec::new();
    for item in &file.items {
        let syn::Item::Fn(function) = item else { continue };
        for attr in function.attrs.iter().filter(|attr| attr.path().is_ident("kernel")) {
            let syn::Meta::List(list) = &attr.meta else { continue };
            let all = list.tokens.span().byte_range();
            let parse = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
            let Ok(given) = syn::parse::Parser::parse2(parse, list.tokens.clone()) else {
                continue;
            };
            let named = given.iter().find(|arg| {
                let word: String = text[arg.span().byte_range()]
                    .chars()
                    .take_while(|c| c.is_alphanumeric())
                    .collect();
                word == name
            });
            let (range, put) = match named {
                Some(arg) => (arg.span().byte_range(), help.to_owned()),
                None => (all.end..all.end, format!(", {help}")),
            };
            programs.push(with(text, range, &put, help));
        }
    }
    programs
}

/// A help without the comments behind it.
fn code_of(help: &str) -> String {
    help.lines()
        .map(|line| line.split(" // ").next().unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests may read files; the compiler may not")]
fn what_a_help_offers_takes_the_message_away() {
    let mut left = String::new();
    let mut offered = 0;
    for path in programs::all() {
        let text = fs::read_to_string(&path).expect("a program of ui-tests");
        let name = name_of(&path);
        if APART.iter().any(|(apart, _)| *apart == name) {
            continue;
        }
        let Some(found) = problems(&text) else { continue };
        for problem in &found {
            let Some(help) = &problem.help else { continue };
            offered += 1;
            let help = &code_of(help);
            let mends = |(mended, pasted): Mended| {
                problems(&mended).is_some_and(|now| {
                    like(&now, problem) < like(&found, problem)
                        && !now.iter().any(|one| is_new(one, &found, &pasted))
                })
            };
            let mut programs =
                attributed(&text, help).into_iter().chain(pasted(&text, problem, help));
            if !programs.any(mends) {
                let _ = writeln!(left, "{name}: {} {}\n    {help}", problem.code, problem.headline);
            }
        }
    }
    assert!(offered > 100, "{offered} helps");
    assert!(left.is_empty(), "{offered} helps, of which these mend nothing\n{left}");
}

fn name_of(path: &Path) -> String {
    let parts: Vec<_> = path.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
    format!("{}/{}", parts[1], parts[0])
}
