//! Source positions: an index into a table of spans, so that nothing else holds one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream, TokenTree};

/// A position in the user's source: an index into a [`Locations`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc(u32);

impl Loc {
    /// The kernel as a whole: what has no smaller place.
    pub const KERNEL: Loc = Loc(0);
}

/// First and last token of each position. Joining spans is nightly, so both ends are kept.
#[derive(Debug)]
pub struct Locations {
    spans: RefCell<Vec<(Span, Span)>>,
    /// While reading what another module brought: where the kernel names it.
    named: Cell<Option<(Span, Span)>>,
    /// The own places of positions in other modules.
    away: RefCell<BTreeMap<Loc, Place>>,
}

/// A position as text: the file as rustc names it, the line from 1, the column from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as rustc names it: relative for workspace members.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Locations {
    /// A table whose first entry, [`Loc::KERNEL`], is `kernel`.
    pub fn new(kernel: Span) -> Self {
        Locations {
            spans: RefCell::new(vec![(kernel, kernel)]),
            named: Cell::new(None),
            away: RefCell::default(),
        }
    }

    /// The position of one token.
    pub fn of_span(&self, span: Span) -> Loc {
        self.push(span, span)
    }

    /// The position of `tokens`: from the first to the last.
    pub fn of(&self, tokens: &impl quote::ToTokens) -> Loc {
        let stream: TokenStream = tokens.to_token_stream();
        let mut trees = stream.into_iter();
        let Some(first) = trees.next() else { return Loc::KERNEL };
        let last = trees.last().unwrap_or_else(|| first.clone());
        self.push(open(&first), close(&last))
    }

    /// Runs `read`; the positions that it makes are in another module, which the kernel reaches by `path`.
    ///
    /// rustc underlines such a position at the path, since it shows tokens of another crate as the whole attribute. Messages
    /// add the place itself: see [`Locations::place_away`].
    pub fn away<T>(&self, path: &TokenStream, read: impl FnOnce() -> T) -> T {
        let mut trees = path.clone().into_iter();
        let named = trees.next().map(|first| {
            let last = trees.last().unwrap_or_else(|| first.clone());
            (open(&first), close(&last))
        });
        let before = self.named.replace(named);
        let result = read();
        self.named.set(before);
        result
    }

    /// The own place of a position in another module than the kernel's; none for the kernel's own, or where nobody knows.
    pub fn place_away(&self, loc: Loc) -> Option<Place> {
        self.away.borrow().get(&loc).cloned()
    }

    /// First and last span of a position.
    pub fn spans(&self, loc: Loc) -> (Span, Span) {
        self.spans.borrow()[loc.0 as usize]
    }

    /// Where a position is, if the compiler that runs us says so.
    ///
    /// Outside rustc, and in editors that do not answer, the file is empty and there is no place.
    pub fn place(&self, loc: Loc) -> Option<Place> {
        self.place_away(loc).or_else(|| place_of(self.spans(loc).0))
    }

    /// Line and column (from 1) of a position, whatever the file.
    pub fn line_column(&self, loc: Loc) -> (u32, u32) {
        let start = self.spans(loc).0.start();
        (u32::try_from(start.line).unwrap_or(0), u32::try_from(start.column).unwrap_or(0) + 1)
    }

    /// A key that orders positions as the source does.
    pub(crate) fn order(&self, loc: Loc) -> (usize, usize) {
        let start = self.spans(loc).0.start();
        (start.line, start.column)
    }

    fn push(&self, first: Span, last: Span) -> Loc {
        let mut spans = self.spans.borrow_mut();
        let index = u32::try_from(spans.len()).expect("fewer than 2^32 positions in one kernel");
        let Some(named) = self.named.get() else {
            spans.push((first, last));
            return Loc(index);
        };
        spans.push(named);
        if let Some(place) = place_of(first) {
            self.away.borrow_mut().insert(Loc(index), place);
        }
        Loc(index)
    }
}

/// Where a token is. Outside rustc, and in editors that do not answer, nobody knows.
fn place_of(span: Span) -> Option<Place> {
    let (start, file) = (span.start(), span.file());
    if file.is_empty() || file == "<unspecified>" {
        return None;
    }
    Some(Place {
        file,
        line: u32::try_from(start.line).unwrap_or(0),
        column: u32::try_from(start.column).unwrap_or(0) + 1,
    })
}

fn open(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_open(),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree.span(),
    }
}

fn close(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_close(),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree.span(),
    }
}
