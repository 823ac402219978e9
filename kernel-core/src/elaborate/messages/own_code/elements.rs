//! Elements of tensors: assignments to them, which are stores, and those at a tile of offsets, which may be a window.

use std::collections::{BTreeMap, BTreeSet};

use super::{Body, VALUE, called};
use crate::{
    diag::Diagnostic,
    elaborate::{language::reach::children, tiles::arith},
    ir::Binary,
    loc::Loc,
    syntax::{BinOp, Expr, ExprKind},
};

/// What was said of elements that are read.
#[derive(Default)]
pub(super) struct Elements {
    /// The helps, by the places of the elements.
    helps: BTreeMap<Loc, String>,
    /// Those that the help for an assignment has as well.
    pub(super) contained: BTreeSet<Loc>,
}

impl Body<'_> {
    /// The help for an element of a tensor: a window instead of offsets that are one after the other, and in an assignment the whole
    /// of it, with its value.
    pub(super) fn element(
        &self,
        expr: &Expr,
        diagnostic: &mut Diagnostic,
        elements: &mut Elements,
    ) -> Option<String> {
        let help = diagnostic.help.as_ref().or(diagnostic.example.as_ref())?;
        let window = self.contiguous(help);
        if !help.contains(VALUE) {
            elements.helps.insert(expr.loc, window.as_ref().unwrap_or(help).clone());
            return window;
        }
        let help = window.as_ref().unwrap_or(help);
        let outer = self.parent(expr)?;
        let (value, op) = if let ExprKind::Assign(_, value) = &outer.kind {
            (value, None)
        } else if let ExprKind::AssignOp(op, _, value) = &outer.kind {
            (value, Some(*op))
        } else {
            return None;
        };
        let mut text = if help.contains(&format!("{VALUE}.")) || op.is_some() {
            value.operand_text()?
        } else {
            value.line()?
        };
        // What it reads by index is read otherwise, too.
        let mut read = Vec::new();
        within(value, &elements.helps, &mut read);
        for (at, own) in read {
            text = with_text(&text, &own, &elements.helps[&at]);
            elements.contained.insert(at);
        }
        let stored = help.replace(VALUE, &text);
        let help = match op {
            // What is there is read as well.
            Some(op) => Self::added(&stored, arith::symbol(op).trim_matches('`'))?,
            None => stored,
        };
        diagnostic.primary = outer.loc;
        Some(help)
    }

    /// A store of what is there and of what it stores, combined by an operator.
    fn added(store: &str, symbol: &str) -> Option<String> {
        // Of masked stores some may go to one element, which takes an atomic operation.
        let (window, stored) =
            store.split_once(".store(").filter(|_| !store.starts_with("store_masked("))?;
        Some(format!("{window}.store({window}.load() {symbol} {stored}"))
    }

    /// The window that a tile of offsets is, if they are one after the other: `first + arange(0, 64)`.
    fn contiguous(&self, help: &str) -> Option<String> {
        let (call, rest) = help.split_once('(')?;
        let (tensor, rest) = rest.split_once(".ptr() + ")?;
        let (at, rest) = rest.split_once(".cast::<i64>()")?;
        let (_, rest) = rest.split_once(", ")?;
        let (_, value) = rest.split_once(", ")?;
        let ExprKind::Binary(BinOp::Arith(Binary::Add), a, b) = &self.init(at)?.kind else {
            return None;
        };
        let (first, end) = [(a, b), (b, a)].into_iter().find_map(|(first, offsets)| {
            let ("arange", [from, end]) = called(offsets)? else { return None };
            (from.text()? == "0").then_some((first, end))
        })?;
        let window = format!("{tensor}.tile([{}], [{}])", first.text()?, end.text()?);
        Some(match call {
            "load_masked" => format!("{window}.load()"),
            "store_masked" => format!("{window}.store({value}"),
            _ => return None,
        })
    }
}

/// The elements of tensors in an expression, and how they are written.
fn within(expr: &Expr, helps: &BTreeMap<Loc, String>, out: &mut Vec<(Loc, String)>) {
    match expr.text().filter(|_| helps.contains_key(&expr.loc)) {
        Some(own) => out.push((expr.loc, own)),
        None => children(expr, &mut |child| within(child, helps, out)),
    }
}

/// A text with another part in it, wherever that stands alone: `a[i]`, and not the end of `aa[i]`.
fn with_text(text: &str, own: &str, other: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(own) {
        let (before, after) = (&rest[..at], &rest[at + own.len()..]);
        let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        out.push_str(before);
        out.push_str(if before.ends_with(inside) { own } else { other });
        rest = after;
    }
    out + rest
}
