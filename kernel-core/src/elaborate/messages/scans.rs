//! Scans that are written like `Iterator::scan`: with a state, which the closure changes.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::{reach::children, value::Val},
        tiles::arith::symbol,
    },
    ir::{Binary, Type},
    loc::Loc,
    syntax::{Expr, ExprKind, PatKind, Segment, Stmt, UnOp},
};

/// Whether an expression is `*name`.
fn is_behind(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Unary(UnOp::Deref, inner) if inner.name() == Some(name))
}

/// Whether an expression changes what `name` refers to, or gives `Some(..)`.
fn keeps_state(expr: &Expr, name: &str) -> bool {
    let mut found = if let ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, _) = &expr.kind {
        is_behind(to, name)
    } else {
        matches!(&expr.kind, ExprKind::Call(of, _) if of.name() == Some("Some"))
    };
    children(expr, &mut |child| found |= keeps_state(child, name));
    found
}

/// The operator of `{ *a += b; Some(*a) }`, if the state begins with what it leaves alone.
fn joined(body: &Expr, [a, b]: [&str; 2], state: &Expr) -> Option<Binary> {
    let ExprKind::Block(block) = &body.kind else { return None };
    let ([Stmt::Expr(change)], Some(gives)) = (&block.stmts[..], &block.tail) else { return None };
    let ExprKind::AssignOp(op, to, with) = &change.kind else { return None };
    let ExprKind::Call(some, given) = &gives.kind else { return None };
    let gives_state =
        some.name() == Some("Some") && matches!(&given[..], [only] if is_behind(only, a));
    let with = if let ExprKind::Unary(UnOp::Deref, inner) = &with.kind { inner } else { with };
    if !gives_state || !is_behind(to, a) || with.name() != Some(b) {
        return None;
    }
    let neutral = if matches!(op, Binary::Add | Binary::Or | Binary::Xor) {
        "0"
    } else if *op == Binary::Mul {
        "1"
    } else {
        return None;
    };
    let begins = state.text()?;
    (begins.strip_suffix(".0").unwrap_or(&begins) == neutral).then_some(*op)
}

impl Builder<'_> {
    /// Reports `tile.scan(0, |sum, v| { *sum += v; Some(*sum) })`.
    pub(crate) fn state_in_scan(
        &mut self,
        val: &Val,
        (receiver, name, args): (&Expr, &Segment, &[Expr]),
        loc: Loc,
    ) -> Option<Val> {
        let ("scan" | "scan_reverse", [state, closure]) = (name.name.as_str(), args) else {
            return None;
        };
        let ExprKind::Closure(params, body) = &closure.kind else { return None };
        let [PatKind::Ident { name: a, .. }, PatKind::Ident { name: b, .. }] =
            [&params.first()?.kind, &params.get(1)?.kind]
        else {
            return None;
        };
        let Some(Type::Tile(_, shape)) = self.ty_of(val) else { return None };
        if !keeps_state(body, a) {
            return None;
        }
        let long: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] > 1).collect();
        let extents = shape.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let (of, method) = (receiver.operand_text()?, &name.name);
        let axis = if let [only] = long[..] { Some(only) } else { None };
        let shown = axis.map_or("axis".to_owned(), |axis| axis.to_string());
        let help = axis.and_then(|_| joined(body, [a, b], state)).map(|op| {
            let op = symbol(op).trim_matches('`');
            format!("{of}.{method}({shown}, |{a}, {b}| {a} {op} {b})")
        });
        let example = format!("{of}.{method}({shown}, |{a}, {b}| ..)");
        let diagnostic = Code::Kind
            .at(loc, format!("the closure of `{method}` keeps a state"))
            .compare(
                "",
                format!("`{method}(axis, |a, b| ..)`, with a value of the elements' type"),
                "a state and a closure that changes it, as in `Iterator::scan`",
            )
            .why(format!("the first argument is an axis of the tile, which has the extents [{extents}]; the closure joins any two neighbours, in any grouping, and changes nothing"))
            .help_if(help)
            .with_example(|| Some(example));
        Some(self.report(diagnostic))
    }
}
