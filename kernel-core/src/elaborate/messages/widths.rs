//! Extents that are not powers of two: the next one, and what masks away the elements beyond.
//!
//! ```text
//! let cols = arange(0, 768);
//! let v = load(x + cols);
//!
//! let cols = arange(0, 1024);
//! let inside = cols.lt(768);
//! let v = load_masked(x + cols, inside, 0.0);
//! ```

use super::{
    lines::{Lines, free, functions, path_to},
    masks::{Masked, around},
};
use crate::{
    diag::Diagnostic,
    elaborate::language::reach::children,
    loc::Loc,
    syntax::{Block, Expr, ExprKind, Literal, PatKind, Stmt, Unit},
};

/// Writes the help for an extent at a place, which may be the next power of two, and the reason for it.
pub(super) fn set(
    unit: &Unit,
    lines: &Lines<'_>,
    (at, extent, up): (Loc, i128, i128),
    diagnostic: &mut Diagnostic,
) -> Option<String> {
    let all: Vec<Loc> =
        std::iter::once(at).chain(diagnostic.secondary.iter().map(|(loc, _)| *loc)).collect();
    let chains: Vec<Vec<&Expr>> = all.iter().map(|&at| around(unit, at)).collect();
    let within = |is: &dyn Fn(&Expr) -> bool| {
        chains.iter().any(|chain| chain.iter().rev().take(3).any(|expr| is(expr)))
    };
    let calls = |expr: &Expr, name: &str| matches!(&expr.kind, ExprKind::Call(of, _) if of.name() == Some(name) || is_generic(of, name));
    // A constant may have another value in another instance, and a window that begins at a multiple of its extent would overlap the next.
    let at_multiples = |expr: &Expr| {
        let ExprKind::Method(_, name, args) = &expr.kind else { return false };
        let begins = args.first().and_then(Expr::line).unwrap_or_default();
        let mut numbers = begins.split(|c: char| !c.is_ascii_digit());
        name.name == "tile" && numbers.any(|part| part == extent.to_string())
    };
    let literal =
        |chain: &Vec<&Expr>| chain.last().is_some_and(|expr| matches!(expr.kind, ExprKind::Lit(_)));
    if !chains.first().is_some_and(literal) || within(&at_multiples) {
        return None;
    }
    let down = up / 2;
    if within(&|expr| calls(expr, "shared")) && [1, 2, 4, 8].contains(&(extent - down)) && down > 16
    {
        diagnostic.notes.push("rows in shared memory need no padding: the compiler exchanges pieces of them, so that accesses have no bank conflicts".to_owned());
        return Some(down.to_string());
    }
    if let Some([.., call, _]) = chains.first().map(Vec::as_slice)
        && calls(call, "arange")
    {
        diagnostic.notes.push(format!("through pointers nothing is cut off: a mask says which of the {up} elements are accessed"));
        return Some(match masked(unit, lines, call, (extent, up)) {
            Some(more) => more,
            None => end(call, up)?,
        });
    }
    if chains.first().is_none_or(Vec::is_empty)
        || within(&|expr| matches!(&expr.kind, ExprKind::Method(_, name, _) if name.name == "tile"))
    {
        diagnostic.notes.push(
            "a tile may be larger than its tensor: reads outside give zero, and writes there are dropped"
                .to_owned(),
        );
    }
    Some(up.to_string())
}

/// Whether a path ends with this name, with generic arguments.
fn is_generic(of: &Expr, name: &str) -> bool {
    matches!(&of.kind, ExprKind::Path(path) if path.only().is_some_and(|only| only.name == name))
}

/// The end of `arange(lo, hi)` so that it has this extent.
fn end(call: &Expr, up: i128) -> Option<String> {
    let ExprKind::Call(_, args) = &call.kind else { return None };
    let [lo, _] = &args[..] else { return None };
    if let ExprKind::Lit(Literal::Int(lo, _)) = lo.kind {
        return lo.checked_add(up).map(|end| end.to_string());
    }
    Some(format!("{} + {up}", lo.operand_text()?))
}

/// The end of `arange(lo, hi)`, and the masked accesses of all that depends on it.
fn masked(unit: &Unit, lines: &Lines<'_>, call: &Expr, (_, up): (i128, i128)) -> Option<String> {
    let ExprKind::Call(_, args) = &call.kind else { return None };
    let [_, hi] = &args[..] else { return None };
    let steps = path_to(unit, call.loc);
    let last = steps.last()?;
    let Some(Stmt::Let { pat, init: Some(init), .. }) = last.block.stmts.get(last.index) else {
        return None;
    };
    let PatKind::Ident { name, .. } = &pat.kind else { return None };
    if init.loc != call.loc {
        return None;
    }
    let function = functions(unit).find(|function| {
        function.body.as_ref().is_some_and(|body| std::ptr::eq(body, steps[0].block))
    })?;
    let inside = free(unit, ["inside", "mask", "chosen"])?;
    let path = Expr { kind: ExprKind::Path(named(name, call)), loc: call.loc };
    let masked = Masked::of(function, &path, inside.to_owned());
    let mut out = Vec::new();
    rewrite(&masked, function.body.as_ref()?, &mut out)?;
    let declared = format!("let {inside} = {name}.lt({});", hi.text()?);
    let first = end(call, up)?;
    let accesses = out.iter().map(|(line, at)| lines.instead(line, *at));
    let all: Vec<String> =
        [first, lines.behind(&declared, call.loc)].into_iter().chain(accesses).collect();
    Some(all.join("\n"))
}

fn named(name: &str, at: &Expr) -> crate::syntax::Path {
    let segment = crate::syntax::Segment { name: name.to_owned(), args: Vec::new(), loc: at.loc };
    crate::syntax::Path { segments: vec![segment], loc: at.loc }
}

/// The accesses of a block at addresses that depend on the mask's variable, with the mask; none if there is one that cannot have it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others hold no statements")]
fn rewrite(masked: &Masked<'_>, block: &Block, out: &mut Vec<(String, Loc)>) -> Option<()> {
    let stmts = block.stmts.iter().map(|stmt| {
        let at = match stmt {
            Stmt::Let { pat, .. } => pat.loc,
            Stmt::Expr(expr) => expr.loc,
        };
        (Some(stmt), at, stmt.expr())
    });
    let tail = block.tail.as_deref().map(|tail| (None, tail.loc, Some(tail)));
    for (stmt, at, expr) in stmts.chain(tail) {
        let Some(expr) = expr else { continue };
        let inner: Vec<&Block> = match &expr.kind {
            ExprKind::For(_, _, _, body)
            | ExprKind::While(_, _, body)
            | ExprKind::Loop(_, body) => {
                vec![body]
            }
            ExprKind::If(_, then, otherwise) => match otherwise.as_deref().map(|one| &one.kind) {
                None => vec![then],
                Some(ExprKind::Block(otherwise)) => vec![then, otherwise],
                Some(_) => return None,
            },
            _ => Vec::new(),
        };
        for block in &inner {
            rewrite(masked, block, out)?;
        }
        if inner.is_empty() && accesses(masked, expr) {
            let line = match stmt {
                Some(stmt) => masked.stmt(stmt)?,
                None => masked.effect(expr)?,
            };
            out.push((line, at));
        }
    }
    Some(())
}

/// Whether an expression loads or stores at an address that depends on the mask's variable.
fn accesses(masked: &Masked<'_>, expr: &Expr) -> bool {
    let mut found = if let ExprKind::Call(of, args) = &expr.kind {
        let access = matches!(of.name(), Some("load" | "store"));
        access && args.first().is_some_and(|at| masked.chooses(at))
    } else {
        false
    };
    children(expr, &mut |child| found = found || accesses(masked, child));
    found
}
