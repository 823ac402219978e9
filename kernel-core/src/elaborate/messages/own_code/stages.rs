//! The number of stages as an argument of `#[kernel(..)]`: the loop that has one already.

use super::Body;
use crate::{
    diag::{Code, Diagnostic, NOTHING},
    loc::{Loc, Locations},
    syntax::{Expr, ExprKind},
};

/// The number of stages of a pipelined loop: `3` of `pipeline(range(0, n, 64), 3)`.
fn stages(expr: &Expr) -> Option<&Expr> {
    let ExprKind::For(_, _, iter, _) = &expr.kind else { return None };
    let ("pipeline", [_, stages]) = super::called(iter)? else { return None };
    Some(stages)
}

/// Says where the loop is that has stages, and that the argument is left out then.
pub(super) fn write(bodies: &[Body<'_>], locations: &Locations, list: &mut [Diagnostic]) {
    for diagnostic in list.iter_mut() {
        let is_argument = diagnostic.code == Code::Attribute
            && diagnostic.example.as_deref().is_some_and(|text| text.contains("in pipeline("));
        let Some(argument) = diagnostic.compare.first().map(|row| row.actual.clone()) else {
            continue;
        };
        if !is_argument {
            continue;
        }
        let at = locations.order(diagnostic.primary);
        let has_it = |attr: Loc| {
            let last = locations.spans(attr).1.end();
            locations.order(attr) <= at && at <= (last.line, last.column)
        };
        let of_kernel =
            |body: &&Body<'_>| body.kernel.and_then(|kernel| kernel.attr.loc).is_some_and(has_it);
        let Some(body) = bodies.iter().find(of_kernel) else { continue };
        let mut found: Vec<&Expr> = body.exprs.values().filter_map(|expr| stages(expr)).collect();
        found.sort_by_key(|stages| locations.order(stages.loc));
        let Some(first) = found.first() else { continue };
        diagnostic.secondary.push((first.loc, "this loop has stages already".to_owned()));
        diagnostic.example = None;
        let line = locations.line_column(diagnostic.primary).0;
        let argument = argument.trim_matches('`');
        let last =
            body.kernel.is_some_and(|kernel| kernel.attr.text.trim_end().ends_with(argument));
        let comma = if last { "" } else { "," };
        diagnostic.help =
            Some(format!("{NOTHING} // in place of `{argument}{comma}`, line {line}"));
    }
}
