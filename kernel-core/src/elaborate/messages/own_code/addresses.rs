//! Windows in place of addresses, with the offsets of the kernel, and tiles with the extents of the window that they are stored to.

use super::{Body, VALUE, called};
use crate::{
    diag::Diagnostic,
    ir::Binary,
    syntax::{BinOp, Expr, ExprKind},
};

/// Sums in sums that are looked at.
const MOST_SUMS: usize = 8;

impl<'a> Body<'a> {
    /// The access at a tensor and offsets, as one of a window.
    pub(super) fn window_of_address(
        &self,
        expr: &'a Expr,
        diagnostic: &mut Diagnostic,
    ) -> Option<String> {
        let marked = diagnostic.help.as_ref().or(diagnostic.example.as_ref());
        let marked = marked.filter(|help| help.contains(VALUE))?.clone();
        (diagnostic.help, diagnostic.example) = (None, None);
        if let Some((call, help)) = self.window_there(expr, &marked) {
            diagnostic.primary = call.loc;
            return Some(help);
        }
        let tensor = expr.operand_text()?;
        diagnostic.example = Some(if marked.matches(VALUE).count() == 1 {
            format!("{tensor}.tile([i], [1]).load().item()")
        } else {
            format!("{tensor}.tile([start], [64]).load()")
        });
        None
    }

    /// The access in which a tensor and offsets stand, and the same of a window.
    fn window_there(&self, expr: &'a Expr, marked: &str) -> Option<(&'a Expr, String)> {
        let cast = marked.contains(" as i32");
        let one = marked.matches(VALUE).count() == 1;
        let tensor = expr.operand_text()?;
        let mut sum = expr;
        let mut terms = Vec::new();
        let call = loop {
            let outer = self.parent(sum)?;
            let ExprKind::Binary(BinOp::Arith(Binary::Add), a, b) = &outer.kind else {
                break outer;
            };
            terms.push(if a.loc == sum.loc { &**b } else { &**a });
            sum = outer;
        };
        let (name, args) = called(call)?;
        if args.first()?.loc != sum.loc {
            return None;
        }
        let help = if one {
            let [at] = terms[..] else { return None };
            let at = if cast { format!("{} as i32", at.operand_text()?) } else { at.text()? };
            let window = format!("{tensor}.tile([{at}], [1])");
            match (name, args) {
                ("load", [_]) => format!("{window}.load().item()"),
                ("store", [_, value]) => format!("{window}.store(full([1], {}))", value.line()?),
                (_, _) => return None,
            }
        } else {
            let (start, end) = self.contiguous_terms(&terms)?;
            let window = format!("{tensor}.tile([{start}], [{end}])");
            match (name, args) {
                ("load", [_]) => format!("{window}.load()"),
                ("load", [_, mask]) if self.is_bound(mask, &tensor, &terms) => {
                    format!("{window}.load()")
                }
                ("load_masked" | "load", [_, mask, other]) => {
                    let zero = matches!(other.text()?.as_str(), "0" | "0.0");
                    if zero && self.is_bound(mask, &tensor, &terms) {
                        format!("{window}.load()")
                    } else {
                        format!("select({}, {window}.load(), {})", mask.text()?, other.text()?)
                    }
                }
                ("store", [_, value]) => format!("{window}.store({})", value.line()?),
                ("store_masked", [_, mask, value]) if self.is_bound(mask, &tensor, &terms) => {
                    format!("{window}.store({})", value.line()?)
                }
                (_, _) => return None,
            }
        };
        Some((call, help))
    }

    /// The terms of a sum of `arange(0, N)` and other things: these, as a sum, and `N`.
    fn contiguous_terms(&self, terms: &[&'a Expr]) -> Option<(String, String)> {
        let mut all = Vec::new();
        for term in terms {
            self.terms(term, &mut all, 0);
        }
        let mut end = None;
        let mut start = Vec::new();
        for term in all {
            match called(term) {
                Some(("arange", [from, to])) if end.is_none() && from.text()? == "0" => {
                    end = Some(to.text()?);
                }
                Some(("arange", _)) => return None,
                Some(_) | None => start.push(term),
            }
        }
        let start = match &start[..] {
            [] => "0".to_owned(),
            [only] => only.text()?,
            several => {
                let texts = several.iter().map(|term| term.operand_text());
                texts.collect::<Option<Vec<String>>>()?.join(" + ")
            }
        };
        Some((start, end?))
    }

    /// What a sum adds, also by the names of sums.
    fn terms(&self, expr: &'a Expr, all: &mut Vec<&'a Expr>, depth: usize) {
        if depth < MOST_SUMS {
            let of = self.constant(expr);
            if let ExprKind::Binary(BinOp::Arith(Binary::Add), a, b) = &of.kind
                && (of.loc == expr.loc || self.has_arange(of, 0))
            {
                self.terms(a, all, depth + 1);
                self.terms(b, all, depth + 1);
                return;
            }
            if let Some(("arange", _)) = called(of) {
                all.push(of);
                return;
            }
        }
        all.push(expr);
    }

    /// Whether `arange` is among what a sum adds.
    fn has_arange(&self, expr: &Expr, depth: usize) -> bool {
        if depth > MOST_SUMS {
            return false;
        }
        let of = self.constant(expr);
        if let ExprKind::Binary(BinOp::Arith(Binary::Add), a, b) = &of.kind {
            return self.has_arange(a, depth + 1) || self.has_arange(b, depth + 1);
        }
        called(of).is_some_and(|(name, _)| name == "arange")
    }

    /// What a variable is that nothing is assigned to; anything else is what it is.
    fn constant(&self, expr: &'a Expr) -> &'a Expr {
        let Some(name) = expr.name() else { return expr };
        let is_assigned = self.exprs.values().any(|one| {
            let (ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, _)) = &one.kind else {
                return false;
            };
            to.name() == Some(name)
        });
        if is_assigned { expr } else { self.init(name).unwrap_or(expr) }
    }

    /// Whether a mask says that these offsets are inside of a tensor of rank 1: what a window of it says by itself.
    fn is_bound(&self, mask: &'a Expr, tensor: &str, offsets: &[&'a Expr]) -> bool {
        let ExprKind::Method(of, method, args) = &self.constant(mask).kind else { return false };
        let ([end], [only]) = (&args[..], offsets) else { return false };
        let end = self.constant(end);
        let same = of.name().is_some() && of.name() == only.name();
        same && method.name == "lt"
            && end.text().is_some_and(|end| end == format!("{tensor}.dim(0)"))
    }

    /// `reshape` to the extents of the window that is stored to, as they are written there.
    pub(super) fn stored_extents(&self, expr: &Expr, diagnostic: &Diagnostic) -> Option<String> {
        diagnostic.help.as_deref().filter(|help| help.starts_with(".reshape("))?;
        let ExprKind::Method(window, _, args) = &self.parent(expr)?.kind else { return None };
        if args.last()?.loc != expr.loc {
            return None;
        }
        let made = window.name().and_then(|name| self.init(name)).unwrap_or(window);
        let ExprKind::Method(_, method, args) = &made.kind else { return None };
        let ("tile", [_, extents]) = (method.name.as_str(), &args[..]) else { return None };
        let extents = extents.text()?;
        // What is too long to repeat is continued where the kernel is built with the help.
        Some(format!("{}.reshape({extents})", expr.operand_text().unwrap_or_default()))
    }
}
