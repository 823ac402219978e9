//! Messages with two helps, of which the code around the underlined expression says which one is meant.

use super::{Body, VALUE, called};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{messages::in_place::operands, tiles::arith::symbol},
    syntax::{BinOp, Expr, ExprKind, UnOp},
};

const ONE_BOOL: &str = "a branch asks for one `bool`; `item` gives the element of a tile that has only one as a scalar";
const MATRICES: &str =
    "an operand of a product has two axes; `reshape` leaves out those of extent 1";

impl Body<'_> {
    /// The other one of two helps, which a message has as its example, where that is the one that is meant.
    pub(super) fn alternative(&self, expr: &Expr, diagnostic: &mut Diagnostic) -> Option<String> {
        // What the help has of the code around it is put in by others.
        if diagnostic.help.as_ref()?.contains(VALUE) {
            return None;
        }
        let other = diagnostic.example.take()?;
        let (meant, why) = if diagnostic.code == Code::Kind {
            (self.is_condition(expr), Some(ONE_BOOL))
        } else if diagnostic.code == Code::Axis {
            (self.is_factor(expr), Some(MATRICES))
        } else {
            (self.taken_apart.contains(&expr.loc), None)
        };
        if !meant {
            return None;
        }
        if let Some(why) = why {
            diagnostic.notes = vec![why.to_owned()];
        }
        Some(other)
    }

    /// Whether an expression is a condition of a branch or a loop, or a part of one.
    fn is_condition(&self, expr: &Expr) -> bool {
        let mut part = expr.loc;
        for outer in self.around(expr) {
            if let ExprKind::If(condition, ..) | ExprKind::While(_, condition, _) = &outer.kind {
                return condition.loc == part;
            }
            let joined = matches!(
                &outer.kind,
                ExprKind::Binary(BinOp::AndAnd | BinOp::OrOr, ..) | ExprKind::Unary(UnOp::Not, _)
            );
            if !joined {
                return false;
            }
            part = outer.loc;
        }
        false
    }

    /// Whether an expression is an operand of a product.
    fn is_factor(&self, expr: &Expr) -> bool {
        let outer = self.parent(expr).and_then(called);
        outer.is_some_and(|(name, args)| {
            let mut factors = args.iter().take(2);
            matches!(name, "dot" | "dot_tf32" | "mma") && factors.any(|arg| arg.loc == expr.loc)
        })
    }

    /// An assignment that changes one element of a tile by an operator, where the message is about reading it.
    pub(super) fn changed_element(
        &self,
        expr: &Expr,
        diagnostic: &mut Diagnostic,
    ) -> Option<String> {
        let outer = self.parent(expr)?;
        let ExprKind::AssignOp(op, target, value) = &outer.kind else { return None };
        let ExprKind::Index(tile, _) = &expr.kind else { return None };
        if target.loc != expr.loc {
            return None;
        }
        let tile = tile.name()?;
        let read = diagnostic.help.as_deref()?.strip_prefix("select(")?;
        let (mask, _) = read.split_once(&format!(", {tile}, "))?;
        let symbol = symbol(*op).trim_matches('`');
        let value = value.operand_text()?;
        let help = format!("{tile} = select({mask}, {tile} {symbol} {value}, {tile})");
        "an element of a tile cannot be assigned to".clone_into(&mut diagnostic.headline);
        diagnostic.primary = outer.loc;
        Some(help)
    }

    /// Another axis for the `expand` that made a variable: what is expanded already does not become right by one more.
    pub(super) fn other_axis(&self, expr: &Expr, diagnostic: &mut Diagnostic) -> Option<String> {
        let axis = diagnostic.help.as_deref()?.strip_prefix(".expand(")?.strip_suffix(')')?;
        let axis = axis.to_owned();
        if !diagnostic.notes.iter().any(|note| note.ends_with("another one is missing")) {
            return None;
        }
        let (index, _) = diagnostic.operand.clone()?;
        let operand = operands(expr).get(index).copied()?;
        let name = operand.name()?;
        let made = self.init(name).map(|init| &init.kind);
        let Some(ExprKind::Method(_, method, args)) = made else {
            (diagnostic.help, diagnostic.operand) = (None, None);
            return None;
        };
        let ("expand", [given]) = (method.name.as_str(), &args[..]) else {
            (diagnostic.help, diagnostic.operand) = (None, None);
            return None;
        };
        diagnostic.operand = None;
        let here = std::mem::replace(&mut diagnostic.primary, given.loc);
        diagnostic.secondary.insert(0, (here, format!("`{name}` is combined here")));
        Some(axis)
    }
}
