//! Helps whose lines say where they go: `code // after line 12`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{
    Text, Trial,
    edit::{Put, Range, put},
    tokens_of,
};
use crate::diag::{Area, Code, Diagnostic, NOTHING};

/// The words before the number of a line.
const SIDES: [(&str, Put); 3] = [
    ("before line ", Put::Before),
    ("after line ", Put::After),
    ("in place of line ", Put::Instead),
];

/// One change of the text.
struct Edit {
    at: Range,
    how: Put,
    new: TokenStream,
}

/// Whether lines of a help say where they go.
pub(super) fn says_where(help: &str) -> bool {
    SIDES.iter().any(|(side, _)| help.contains(&format!("// {side}")))
}

/// Where a line of a help goes, and the number of the line there.
fn told(comment: &str) -> Option<(Put, usize)> {
    let (side, how) = SIDES.iter().find(|(side, _)| comment.starts_with(side))?;
    Some((*how, comment[side.len()..].parse().ok()?))
}

impl Trial<'_> {
    /// Whether a help with lines that say where they go leaves its message there, makes another one of the same things, or is no Rust there.
    /// `false` as well if it is not known what it replaces, or nothing may be built any more. What else is refused then may have been hidden by this message, but an arrival that ends a deadlock
    /// has to be in the right place.
    pub(super) fn fails(&self, diagnostic: &Diagnostic, help: &str) -> bool {
        let Some(text) = self.with_lines(diagnostic, help) else { return false };
        let Some(left) = self.builds.get().checked_sub(1) else { return false };
        self.builds.set(left);
        let Some(built) = self.built(&text, diagnostic.code) else { return true };
        let like = |list: &[Diagnostic], of: &Diagnostic| {
            list.iter().filter(|one| one.code == of.code && one.headline == of.headline).count()
        };
        let (before, after) = (like(&self.found, diagnostic), like(&built.problems, diagnostic));
        if after > 0 && after >= before {
            return true;
        }
        let named = names(&diagnostic.headline);
        let of_help = |one: &Diagnostic| {
            diagnostic.code == Code::Deadlock
                || matches!(one.code.area(), Area::Subset | Area::Shapes)
                || super::is_order(diagnostic.code)
                    && names(&one.headline).iter().any(|name| named.contains(name))
        };
        let new = built.problems.iter().filter(|one| like(&self.found, one) == 0);
        let worse = new.into_iter().any(of_help);
        let order = super::is_order(diagnostic.code);
        worse || order && self.has_more_hazards(&built, diagnostic.code)
    }

    /// The text with all lines of a help in it.
    fn with_lines(&self, diagnostic: &Diagnostic, help: &str) -> Option<Text> {
        let mut edits = Vec::new();
        for (number, line) in help.lines().enumerate() {
            let left_out = line.starts_with(NOTHING);
            let new = if left_out { TokenStream::new() } else { tokens_of(line)? };
            let (at, how) = match line.rsplit_once(" // ") {
                Some((_, comment)) => {
                    let (how, at) = told(comment)?;
                    (statement_at(&self.text.item, at, matches!(how, Put::After))?, how)
                }
                // The first line may take the place of what is underlined.
                None if number == 0 => {
                    (super::range(self.locations, diagnostic.primary), Put::Instead)
                }
                None => return None,
            };
            edits.push(Edit { at, how, new });
        }
        let mut item = self.text.item.clone();
        for Edit { at, how, new } in edits {
            item = put(item, at, how, &new)?;
        }
        Some(Text { attr: self.text.attr.clone(), item })
    }
}

/// What stands between back quotes, up to an index.
fn names(headline: &str) -> Vec<&str> {
    let quoted = headline.split('`').skip(1).step_by(2);
    quoted.filter_map(|name| name.split('[').next()).collect()
}

/// The statement that begins at a line, or ends there, if there is only one.
fn statement_at(stream: &TokenStream, line: usize, ends: bool) -> Option<Range> {
    let mut found = Vec::new();
    collect(stream, &|at| if ends { at.end.0 == line } else { at.start.0 == line }, &mut found);
    if let [only] = found[..] { Some(only) } else { None }
}

/// The statements of all blocks for which this holds.
fn collect(stream: &TokenStream, is_it: &dyn Fn(Range) -> bool, found: &mut Vec<Range>) {
    for tree in stream.clone() {
        let TokenTree::Group(group) = tree else { continue };
        if group.delimiter() == Delimiter::Brace
            && let Ok(block) = syn::parse::Parser::parse2(syn::Block::parse_within, group.stream())
        {
            found.extend(block.iter().filter_map(Range::of).filter(|at| is_it(*at)));
        }
        collect(&group.stream(), is_it, found);
    }
}
