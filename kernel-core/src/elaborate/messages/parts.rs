//! A `warp_specialize` inside a loop, written again with the loop inside of each part.

use super::lines::path_to;
use crate::{
    diag::Diagnostic,
    loc::Loc,
    syntax::{Block, Expr, ExprKind, PatKind, Stmt, Unit},
};

/// A statement on one line.
fn line(stmt: &Stmt) -> Option<String> {
    match stmt {
        Stmt::Let { pat, ty: None, init: Some(init) } => {
            let PatKind::Ident { name, mutable } = &pat.kind else { return None };
            let mutable = if *mutable { "mut " } else { "" };
            Some(format!("let {mutable}{name} = {};", init.line()?))
        }
        Stmt::Let { .. } => None,
        Stmt::Expr(expr) => Some(format!("{};", expr.line()?)),
    }
}

/// A part without parameters as a closure around the loop.
fn looped(part: &Expr, header: &str, indent: &str) -> Option<String> {
    let ExprKind::Closure(params, body) = &part.kind else { return None };
    let ExprKind::Block(Block { items, stmts, tail, .. }) = &body.kind else { return None };
    if !params.is_empty() || !items.is_empty() {
        return None;
    }
    let tail = tail.as_deref().map(|tail| Some(format!("{};", tail.line()?)));
    let lines: Option<Vec<String>> = stmts.iter().map(line).chain(tail).collect();
    let body: Vec<String> = lines?.iter().map(|line| format!("{indent}        {line}")).collect();
    let body = body.join("\n");
    Some(format!("|| {{\n{indent}    {header} {{\n{body}\n{indent}    }}\n{indent}}}"))
}

/// The help for a call at a place, which is the only statement of a loop.
pub(super) fn set(unit: &Unit, at: Loc, diagnostic: &mut Diagnostic) -> Option<String> {
    let steps = path_to(unit, at);
    let last = steps.last()?;
    let looping = last.around?;
    let (ExprKind::For(None, pat, over, body), 2) = (&looping.kind, steps.len()) else {
        return None;
    };
    let PatKind::Ident { name, .. } = &pat.kind else { return None };
    let only = match (&body.stmts[..], &body.tail) {
        ([Stmt::Expr(only)], None) => only,
        ([], Some(only)) => only,
        (_, _) => return None,
    };
    let ExprKind::Call(_, args) = &only.kind else { return None };
    let [default, partitions] = &args[..] else { return None };
    let ExprKind::Array(partitions) = &partitions.kind else { return None };
    let header = format!("for {name} in {}", over.line()?);
    let default = looped(default, &header, "    ")?;
    let mut others = Vec::new();
    for partition in partitions {
        let ExprKind::Method(of, run, args) = &partition.kind else { return None };
        let ([part], "run") = (&args[..], run.name.as_str()) else { return None };
        others.push(format!("{}.run({})", of.line()?, looped(part, &header, "    ")?));
    }
    diagnostic.primary = looping.loc;
    Some(format!("warp_specialize(\n    {default},\n    [{}],\n);", others.join(", ")))
}
