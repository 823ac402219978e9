//! Tokens with other tokens in their place.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Line and column.
type Point = (usize, usize);

/// A part of the source: where its first token begins and its last one ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: Point,
    pub(super) end: Point,
}

/// Where tokens go.
#[derive(Clone, Copy)]
pub(super) enum Put {
    Instead,
    Before,
    After,
}

impl Range {
    pub(super) fn between(first: Span, last: Span) -> Range {
        let (start, end) = (first.start(), last.end());
        Range { start: (start.line, start.column), end: (end.line, end.column) }
    }

    /// That of some tokens; there is none of no tokens.
    pub(super) fn of(tokens: &impl ToTokens) -> Option<Range> {
        let trees: Vec<TokenTree> = tokens.to_token_stream().into_iter().collect();
        Some(Range { start: start_of(trees.first()?), end: end_of(trees.last()?) })
    }

    pub(super) fn holds(self, other: Range) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

fn start_of(tree: &TokenTree) -> Point {
    let span = if let TokenTree::Group(group) = tree { group.span_open() } else { tree.span() };
    (span.start().line, span.start().column)
}

fn end_of(tree: &TokenTree) -> Point {
    let span = if let TokenTree::Group(group) = tree { group.span_close() } else { tree.span() };
    (span.end().line, span.end().column)
}

/// The tokens of a range in the sequence that they stand in.
fn found(trees: &[TokenTree], at: Range) -> Option<std::ops::RangeInclusive<usize>> {
    let first = trees.iter().position(|tree| start_of(tree) == at.start)?;
    let last = trees[first..].iter().position(|tree| end_of(tree) == at.end)?;
    Some(first..=first + last)
}

/// The tokens at a range.
pub(super) fn tokens_at(stream: &TokenStream, at: Range) -> Option<TokenStream> {
    let trees: Vec<TokenTree> = stream.clone().into_iter().collect();
    if let Some(range) = found(&trees, at) {
        return Some(trees[range].iter().cloned().collect());
    }
    trees.iter().find_map(|tree| {
        let TokenTree::Group(group) = tree else { return None };
        let around = Range { start: start_of(tree), end: end_of(tree) };
        if around.holds(at) { tokens_at(&group.stream(), at) } else { None }
    })
}

/// The stream with new tokens at a range; none if the stream has no such tokens.
pub(super) fn put(
    stream: TokenStream,
    at: Range,
    how: Put,
    new: &TokenStream,
) -> Option<TokenStream> {
    let mut trees: Vec<TokenTree> = stream.into_iter().collect();
    if let Some(range) = found(&trees, at) {
        let (first, last) = (*range.start(), *range.end());
        // What is wrong with them is told by where they stand.
        let new = at_span(new.clone(), trees[first].span());
        match how {
            Put::Instead => drop(trees.splice(first..=last, new)),
            Put::Before => drop(trees.splice(first..first, new)),
            Put::After => {
                let rest = trees.split_off(last + 1);
                trees.extend(new.into_iter().chain(rest));
            }
        }
        return Some(trees.into_iter().collect());
    }
    for tree in &mut trees {
        let around = Range { start: start_of(tree), end: end_of(tree) };
        if let TokenTree::Group(group) = tree
            && around.holds(at)
        {
            let mut changed = Group::new(group.delimiter(), put(group.stream(), at, how, new)?);
            changed.set_span(group.span());
            *tree = TokenTree::Group(changed);
            return Some(trees.into_iter().collect());
        }
    }
    None
}

/// The same tokens, all at one place.
fn at_span(stream: TokenStream, span: Span) -> TokenStream {
    let at = |tree: TokenTree| match tree {
        TokenTree::Group(group) => {
            let mut moved = Group::new(group.delimiter(), at_span(group.stream(), span));
            moved.set_span(span);
            TokenTree::Group(moved)
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
            let mut tree = tree;
            tree.set_span(span);
            tree
        }
    };
    stream.into_iter().map(at).collect()
}

/// The statements that hold a range, the innermost first.
pub(super) fn statements_around(stream: &TokenStream, at: Range) -> Vec<Range> {
    let mut all = Vec::new();
    for tree in stream.clone() {
        let around = Range { start: start_of(&tree), end: end_of(&tree) };
        let TokenTree::Group(group) = tree else { continue };
        if !around.holds(at) {
            continue;
        }
        all.extend(statements_around(&group.stream(), at));
        if group.delimiter() == proc_macro2::Delimiter::Brace
            && let Ok(statements) =
                syn::parse::Parser::parse2(syn::Block::parse_within, group.stream())
        {
            let ranges = statements.iter().filter_map(Range::of);
            all.extend(ranges.filter(|range| range.holds(at)));
        }
    }
    all
}

/// The tokens one by one, those in brackets too.
pub(super) fn flat(stream: &TokenStream) -> Vec<String> {
    let mut out = Vec::new();
    for tree in stream.clone() {
        if let TokenTree::Group(group) = &tree {
            let (open, close) = match group.delimiter() {
                proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                proc_macro2::Delimiter::Brace => ("{", "}"),
                proc_macro2::Delimiter::Bracket => ("[", "]"),
                proc_macro2::Delimiter::None => ("", ""),
            };
            out.push(open.to_owned());
            out.extend(flat(&group.stream()));
            out.push(close.to_owned());
        } else {
            out.push(tree.to_string());
        }
    }
    out
}

/// The names and literals among tokens.
pub(super) fn words(stream: &TokenStream) -> Vec<String> {
    let is_word =
        |text: &String| text.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"');
    flat(stream).into_iter().filter(is_word).collect()
}
