//! Source positions: an index into a table of spans, so that nothing else holds one and everything else may go to another thread.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;

/// A position in the user's source: an index into a [`Locations`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc(u32);

impl Loc {
    /// The kernel as a whole: what has no smaller place.
    pub const KERNEL: Loc = Loc(0);
}

/// Tokens as the user wrote them, which only the host side needs as tokens: an index into a [`Locations`] table, since tokens
/// hold spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens(usize);

/// First and last token of each position. Joining spans is nightly, so both ends are kept.
#[derive(Debug)]
pub struct Locations {
    spans: RefCell<Vec<(Span, Span)>>,
    /// While reading what is elsewhere: where the kernel names it.
    named: Cell<Option<(Span, Span)>>,
    /// What is being read.
    reading: RefCell<Reading>,
    /// The own places of positions elsewhere, and what is there.
    away: RefCell<BTreeMap<Loc, (Place, &'static str)>>,
    tokens: RefCell<Vec<TokenStream>>,
}

/// What is being read.
#[derive(Debug, Default)]
enum Reading {
    /// Tokens with places of their own.
    #[default]
    Tokens,
    /// A constant of the kernel's file: where it is, if that is known.
    Constant(Option<Place>),
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

/// The positions of a [`Locations`] as numbers.
#[derive(Clone, Debug)]
pub struct Places {
    /// The file of the kernel, as rustc names it, if the compiler that runs us says so.
    pub file: Option<String>,
    line_columns: Vec<(u32, u32)>,
    /// The own places of positions elsewhere.
    away: BTreeMap<Loc, Place>,
}

/// What is at a position in a constant of the kernel's file.
pub(crate) const IN_CONSTANT: &str = "in this constant";

impl Places {
    /// Line and column (from 1) of a position, whatever the file.
    pub fn line_column(&self, loc: Loc) -> (u32, u32) {
        self.line_columns[loc.0 as usize]
    }

    /// The place itself: of a position in a device item, that in the item. The file is not known outside of rustc.
    pub fn own(&self, loc: Loc) -> (Option<&str>, (u32, u32)) {
        match self.away.get(&loc) {
            Some(place) => (Some(&place.file), (place.line, place.column)),
            None => (self.file.as_deref(), self.line_column(loc)),
        }
    }
}

impl Locations {
    /// A table whose first entry, [`Loc::KERNEL`], is `kernel`.
    pub fn new(kernel: Span) -> Self {
        Locations {
            spans: RefCell::new(vec![(kernel, kernel)]),
            named: Cell::new(None),
            reading: RefCell::default(),
            away: RefCell::default(),
            tokens: RefCell::default(),
        }
    }

    /// The position of one token.
    pub fn of_span(&self, span: Span) -> Loc {
        self.push(span, span)
    }

    /// The position of `tokens`: from the first to the last.
    pub fn of(&self, tokens: &impl ToTokens) -> Loc {
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

    /// Runs `read`; the positions that it makes are in a constant of the kernel's file, which the kernel names at `at`.
    pub fn in_constant<T>(&self, at: Loc, place: Option<Place>, read: impl FnOnce() -> T) -> T {
        let before = self.named.replace(Some(self.spans(at)));
        let reading = self.reading.replace(Reading::Constant(place));
        let result = read();
        self.reading.replace(reading);
        self.named.set(before);
        result
    }

    /// The own place of a position elsewhere than in the kernel, and what is there; none for the kernel's own, or if it is not known.
    pub fn place_away(&self, loc: Loc) -> Option<(Place, &'static str)> {
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
        self.place_away(loc).map(|(place, _)| place).or_else(|| place_of(self.spans(loc).0))
    }

    /// Line and column (from 1) of a position, whatever the file.
    pub fn line_column(&self, loc: Loc) -> (u32, u32) {
        let start = self.spans(loc).0.start();
        (u32::try_from(start.line).unwrap_or(0), u32::try_from(start.column).unwrap_or(0) + 1)
    }

    /// The line (from 1) on which a position ends, whatever the file.
    pub(crate) fn last_line(&self, loc: Loc) -> u32 {
        u32::try_from(self.spans(loc).1.end().line).unwrap_or(0)
    }

    /// Keeps tokens.
    pub fn keep(&self, tokens: &impl ToTokens) -> Tokens {
        let mut kept = self.tokens.borrow_mut();
        kept.push(tokens.to_token_stream());
        Tokens(kept.len() - 1)
    }

    /// Tokens that were kept.
    pub fn tokens(&self, tokens: Tokens) -> TokenStream {
        self.tokens.borrow()[tokens.0].clone()
    }

    /// All positions that there are as numbers: spans stay on the thread of the macro.
    pub fn places(&self) -> Places {
        let count = u32::try_from(self.spans.borrow().len()).expect("counted by `push`");
        let line_columns = (0..count).map(|index| self.line_column(Loc(index))).collect();
        let away = self.away.borrow();
        let away = away.iter().map(|(loc, (place, _))| (*loc, place.clone())).collect();
        Places { file: self.place(Loc::KERNEL).map(|place| place.file), line_columns, away }
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
        let known = match &*self.reading.borrow() {
            Reading::Constant(place) => place.clone().map(|place| (place, IN_CONSTANT)),
            Reading::Tokens => place_of(first).map(|place| (place, "in this device item")),
        };
        self.away.borrow_mut().extend(known.map(|place| (Loc(index), place)));
        Loc(index)
    }
}

/// Where a token is. Outside rustc, and in editors that do not answer, it is not known.
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
