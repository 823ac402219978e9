//! Variables whose element type is that of the value with which they begin: it changes there, not where something is added.

use super::{Body, called};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::tiles::arith,
    ir::Dtype,
    syntax::{Expr, ExprKind, Literal},
};

impl Body<'_> {
    /// Moves a message about what a variable is to become to the value that it begins with; whether it is one.
    pub(super) fn declaration(&self, expr: &Expr, diagnostic: &mut Diagnostic) -> bool {
        let moved = self.begun(expr, diagnostic);
        let Some((init, help)) = moved else { return false };
        let name =
            if let ExprKind::AssignOp(_, target, _) = &expr.kind { target.text() } else { None };
        let name = name.unwrap_or_default();
        diagnostic.operand = None;
        diagnostic.headline = format!("`{name}` and what changes it have different element types");
        diagnostic.secondary.insert(0, (diagnostic.primary, "changed here".to_owned()));
        diagnostic.primary = init.loc;
        diagnostic.help = Some(help);
        true
    }

    /// The value with which the target of an assignment begins, and how it is written.
    fn begun(&self, expr: &Expr, diagnostic: &Diagnostic) -> Option<(&Expr, String)> {
        let ExprKind::AssignOp(_, target, _) = &expr.kind else { return None };
        if diagnostic.code != Code::DtypeMismatch || !matches!(diagnostic.operand, Some((0, _))) {
            return None;
        }
        let init = self.init(target.name()?)?;
        let help = diagnostic.help.as_deref()?;
        if matches!(&init.kind, ExprKind::Lit(Literal::Int(_, None) | Literal::Float(_, None))) {
            return Some((init, help.to_owned()));
        }
        let dtype = help.strip_prefix(".cast::<")?.strip_suffix(">()")?;
        let ("zeros", _) = called(init)? else { return None };
        let text = init.text()?;
        let (_, rest) = text.split_once(">(")?;
        Dtype::from_name(dtype)?;
        Some((init, format!("zeros::<{dtype}>({rest}")))
    }
}

/// Moves a message about branches of different element types to the value of the branch that converts; whether it is one.
pub(super) fn branches(expr: &Expr, diagnostic: &mut Diagnostic) -> bool {
    let converted = || {
        let ExprKind::If(_, then, Some(otherwise)) = &expr.kind else { return None };
        let ExprKind::Block(otherwise) = &otherwise.kind else { return None };
        let [row] = &diagnostic.compare[..] else { return None };
        let [(x, shape), (y, other)] = [&row.required, &row.actual].map(|text| typed(text));
        let (x, y) = (x?, y?);
        let to = arith::wider(x, y);
        let tails = [then, otherwise].map(|block| block.tail.as_deref());
        let tail = if to == x { tails[1]? } else { tails[0]? };
        let casts = [x, y].iter().all(|dtype| !dtype.is_opaque());
        (casts && shape == other && (to == x || to == y) && x != y).then_some((tail, to, [x, y]))
    };
    if diagnostic.code != Code::BranchTypes {
        return false;
    }
    let Some((tail, to, [x, y])) = converted() else { return false };
    let Some(text) = tail.operand_text() else { return false };
    diagnostic.notes.push(arith::no_promotion(x, y));
    diagnostic.primary = tail.loc;
    diagnostic.example = None;
    diagnostic.help = Some(format!("{text}.cast::<{}>()", to.name()));
    true
}

/// The element type in the words for a value, and the words without it.
fn typed(text: &str) -> (Option<Dtype>, String) {
    let word = |open: &str, close: &str| {
        let (before, rest) = text.split_once(open)?;
        let (name, after) = rest.split_once(close)?;
        Some((Dtype::from_name(name)?, format!("{before}{after}")))
    };
    match word("Tile<", ">").or_else(|| word("scalar (", ")")) {
        Some((dtype, rest)) => (Some(dtype), rest),
        None => (None, String::new()),
    }
}
