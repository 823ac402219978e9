//! Each help that a message of `ui-tests/fail` offers can be pasted: put in place of the underlined expression, or where the message says
//! that it goes, it takes the message away.
//!
//! Only the compiler looks at the programs, kernel by kernel: what rustc says, and what lies outside of a kernel, is not looked at.

#[path = "support/programs.rs"]
mod programs;

use std::{fmt::Write as _, fs, ops::Range, path::Path};

use kernel_core::{
    Options,
    compile::compile_unit,
    diag::{Diagnostic, Problems, Side},
    loc::{Loc, Locations},
    syntax,
};
use syn::{spanned::Spanned as _, visit::Visit};

/// Helps after which something is still refused where they stand: what is changed beside them, with the reason.
const APART: &[(&str, &str)] = &[
    ("device/K0204_in_another_crate.rs", "a function of another crate, which only a build finds"),
    ("escape/K0111_operand_without_name.rs", "operands of `ptx!`"),
    ("escape/K0111_operand_type.rs", "operands of `ptx!`"),
    ("escape/K0111_positions.rs", "operands of `ptx!`"),
    ("escape/K0111_semicolon.rs", "the text of `ptx!`"),
    ("escape/K0111_single_braces.rs", "the text of `ptx!`"),
    ("escape/K0204_bytes.rs", "operands of `ptx!`"),
    ("escape/K0206_tile_of_results.rs", "operands of `ptx!`"),
    ("float4/K0302_columns_side_by_side.rs", "a ring, of which one is read"),
    ("float4/K0302_padded_beside_float4.rs", "the other operand"),
    ("float4/K0409_swizzle_of_the_map.rs", "an argument of `#[block(..)]`"),
    ("float8/K0204_arithmetic.rs", "both operands of `+`"),
    ("habits/K0107_axis_left_out.rs", "a tile of another rank"),
    ("habits/K0204_floats_only.rs", "a mask stored as numbers"),
    ("host/K0601_no_number.rs", "one list has three wrong types"),
    ("layouts/K0301_digits.rs", "digits of `layout!(..)`"),
    ("optional/K0602_option_of_a_tile.rs", "the use of the parameter"),
    ("scaled/K0302_float4_columns_side_by_side.rs", "the transposition where it is read"),
    ("shapes/K0206_tile_first.rs", "the types of the branches"),
    ("sparse/K0204_sums.rs", "the type of the tensor"),
    (
        "sparse/K0302_tcgen05_metadata_of_two_sizes.rs",
        "what a product of another type reads from the same memory",
    ),
    ("subset/K0102_other_languages.rs", "an argument that is refused"),
    ("subset/K0108_tensor_load.rs", "the extents of the window that is written"),
    ("tcgen05/K0302_factor_in_other_rows.rs", "a layout that the message does not point at"),
    ("tensor_copy/K0301_copies_64_rows_apart.rs", "digits of `layout!(..)`"),
    ("tensor_copy/K0301_copies_in_lanes_of_a_warp.rs", "digits of `layout!(..)`"),
    ("users/K0102_rand_like.rs", "device code of Kiln, which only a build finds"),
    ("users/K0102_tl_exp.rs", "the axis that a maximum removes"),
    ("users/K0102_tl_rand.rs", "device code of Kiln, which only a build finds"),
    ("users/K0108_dot_of_vectors.rs", "the axis that a sum removes"),
    ("users/K0203_generic_literal.rs", "a function of the program, which only a build finds"),
    ("users/K0206_tcgen05_register_accumulator.rs", "the assignment"),
    ("wgmma/K0302_swizzle_of_the_map.rs", "an argument of `#[block(..)]`"),
    ("wgmma/K0302_transposed_bytes.rs", "the transposition where it is read"),
];

/// A problem of a program: its code and headline, the text that is underlined, those that the message points at, and the help.
struct Problem {
    code: &'static str,
    headline: String,
    at: Range<usize>,
    others: Vec<Range<usize>>,
    help: Option<String>,
    goes: Option<(Range<usize>, Side)>,
    also: Option<(Range<usize>, String)>,
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
        goes: diagnostic.goes.as_ref().map(|goes| (range(goes.at), goes.side)),
        also: diagnostic
            .goes
            .as_ref()
            .and_then(|goes| goes.also.clone())
            .map(|(at, new)| (range(at), new)),
    }
}

/// A program with a help in it, and where that stands.
type Mended = (String, Range<usize>);

/// A text with `new` instead of what is at a place, of which `help` is a part.
fn with(text: &str, at: Range<usize>, new: &str, help: &str) -> Mended {
    let start = at.start + new.find(help).unwrap_or(0);
    (format!("{}{new}{}", &text[..at.start], &text[at.end..]), start..start + help.len())
}

/// The program with a help where the message says that it goes; of names that are wrong in several places, in each of these.
fn pasted(text: &str, problem: &Problem, help: &str) -> Vec<Mended> {
    if let Some((at, side)) = problem.goes.clone() {
        let changed = problem.also.clone().map(|(at, new)| with(text, at, &new, &new).0);
        // The second place may be in front of the first, which moves then.
        let is_before = problem.also.as_ref().is_some_and(|(also, _)| also.end <= at.start);
        let shift = |place: usize| match &changed {
            Some(changed) if is_before => place + changed.len() - text.len(),
            Some(_) | None => place,
        };
        let at = shift(at.start)..shift(at.end);
        let text = changed.as_deref().unwrap_or(text);
        let put = match side {
            Side::Before => with(text, at.start..at.start, &format!("{help}\n"), help),
            Side::After => with(text, at.end..at.end, &format!("\n{help}"), help),
            Side::Behind => with(text, at.end..at.end, &format!(", {help}"), help),
            Side::Instead => with(text, at, help, help),
        };
        return vec![put];
    }
    let mut programs = vec![with(text, problem.at.clone(), help, help)];
    let word = &text[problem.at.clone()];
    let same: Vec<_> = problem.others.iter().filter(|at| text[(*at).clone()] == *word).collect();
    if !same.is_empty() {
        let mut all = text.to_owned();
        for at in same.into_iter().rev() {
            all.replace_range(at.clone(), help);
        }
        programs.push(with(&all, problem.at.clone(), help, help));
    }
    programs.extend(with_head(text, problem, help));
    programs
}

/// The program with a constant in the place of a word, and with the attribute and the signature of its kernel that declare it.
fn with_head(text: &str, problem: &Problem, help: &str) -> Option<Mended> {
    let (name, head) = help.split_once("\n#[kernel(")?;
    let mut all = text.to_owned();
    for at in problem.others.iter().rev() {
        all.replace_range(at.clone(), name);
    }
    all.replace_range(problem.at.clone(), name);
    let start = text[..problem.at.start].rfind("#[kernel(")?;
    let end = start + text[start..].find(" {\n")?;
    all.replace_range(start..end, &format!("#[kernel({head}"));
    let shift = problem.at.start + head.len() + "#[kernel(".len() - (end - start);
    Some((all, shift..shift + name.len()))
}

/// How many of the problems are like this one, which may have moved.
fn like(problems: &[Problem], problem: &Problem) -> usize {
    let is_like = |one: &&Problem| one.code == problem.code && one.headline == problem.headline;
    problems.iter().filter(is_like).count()
}

/// Whether a problem is gone from what was pasted. What is around that may be wrong in the same way.
fn is_gone(problem: &Problem, now: &[Problem], before: &[Problem], pasted: &Range<usize>) -> bool {
    let (before, after) = (like(before, problem), like(now, problem));
    let alike = |one: &&Problem| one.code == problem.code && one.headline == problem.headline;
    after < before
        || after == before
            && problem.goes.is_none()
            && now.iter().filter(alike).all(|one| {
                let touches = one.at.start < pasted.end && pasted.start < one.at.end;
                let around = one.at.start <= pasted.start && pasted.end <= one.at.end;
                !touches || around && one.at != *pasted
            })
}

/// Whether a problem that was not there before comes from what was pasted. What is found elsewhere, or around it, was there, behind the
/// problem that is gone.
fn is_new(problem: &Problem, before: &[Problem], pasted: &Range<usize>) -> bool {
    let of_names_and_types = problem.code.starts_with("K01") || problem.code.starts_with("K02");
    let touches = problem.at.start < pasted.end && pasted.start < problem.at.end;
    let around =
        problem.at.start <= pasted.start && pasted.end <= problem.at.end && problem.at != *pasted;
    of_names_and_types && touches && !around && like(before, problem) == 0
}

/// The program with a help whose lines say where they go; none if they do not say so.
fn by_lines(text: &str, problem: &Problem, help: &str) -> Option<Mended> {
    let starts: Vec<usize> = text
        .split_inclusive('\n')
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let mut here = Vec::new();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for line in help.lines() {
        let Some((code, place)) = line.rsplit_once(" // ") else {
            here.push(line);
            continue;
        };
        let code = code.strip_prefix("(nothing)").unwrap_or(code);
        let number: usize = place.rsplit(' ').next()?.parse().ok()?;
        let start = *starts.get(number - 1)?;
        let end = start + text[start..].find('\n')?;
        let range = if place.starts_with("before line") {
            start..start
        } else if place.starts_with("after line") {
            end..end
        } else if let Some(old) = place.strip_prefix("in place of `") {
            let old = &old[..old.rfind('`')?];
            let at = start + text[start..end].find(old)?;
            at..at + old.len()
        } else {
            assert!(place.starts_with("in place of line"), "{place}");
            statement(text, start..end)?
        };
        edits.push((range, format!("\n{code}\n")));
    }
    if edits.is_empty() {
        return None;
    }
    if !here.is_empty() {
        edits.push((problem.at.clone(), here.join("\n")));
    }
    edits.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
    let (mut mended, mut first) = (text.to_owned(), text.len());
    for (range, new) in edits {
        first = range.start;
        mended.replace_range(range, &new);
    }
    Some((mended, first..first + 1))
}

/// The statement that begins in a line.
fn statement(text: &str, line: Range<usize>) -> Option<Range<usize>> {
    struct Begins(Range<usize>, Option<Range<usize>>);
    impl<'ast> Visit<'ast> for Begins {
        fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
            let range = stmt.span().byte_range();
            if self.0.contains(&range.start) && self.1.is_none() {
                self.1 = Some(range);
            }
            syn::visit::visit_stmt(self, stmt);
        }
    }
    let mut begins = Begins(line, None);
    begins.visit_file(&syn::parse_str(text).ok()?);
    begins.1
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
        let mut is_apart = APART.iter().any(|(apart, _)| *apart == name);
        let Some(found) = problems(&text) else { continue };
        for problem in &found {
            let Some(help) = &problem.help else { continue };
            if help == "kiln::Ring" {
                // Device code of Kiln, which only a build finds.
                continue;
            }
            offered += 1;
            let placed = by_lines(&text, problem, help);
            let help = &code_of(help);
            let mends = |(mended, pasted): Mended| {
                problems(&mended).is_some_and(|now| {
                    is_gone(problem, &now, &found, &pasted)
                        && !now.iter().any(|one| is_new(one, &found, &pasted))
                })
            };
            let mended = match placed {
                Some(program) => mends(program),
                None => pasted(&text, problem, help).into_iter().any(mends),
            };
            if !mended && std::mem::take(&mut is_apart) {
                // One of them is enough to stand in the list.
                break;
            }
            if !mended {
                let _ = writeln!(left, "{name}: {} {}\n    {help}", problem.code, problem.headline);
            }
        }
        if is_apart {
            let _ = writeln!(left, "{name}: its helps fit, and need not stand apart");
        }
    }
    assert!(offered > 100, "{offered} helps");
    assert!(left.is_empty(), "{offered} helps, of which these mend nothing\n{left}");
}

fn name_of(path: &Path) -> String {
    let parts: Vec<_> = path.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
    format!("{}/{}", parts[1], parts[0])
}
