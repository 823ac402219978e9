//! What the closure of `map` counts, as the sum of a mask.

use super::{Body, VALUE};
use crate::{
    diag::{Diagnostic, NOTHING},
    elaborate::language::reach::children,
    ir::{Binary, Compare},
    loc::{Loc, Locations},
    syntax::{BinOp, Expr, ExprKind, Literal, PatKind},
};

/// The method of tiles that compares.
const fn method(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "eq",
        Compare::Ne => "ne",
        Compare::Lt => "lt",
        Compare::Le => "le",
        Compare::Gt => "gt",
        Compare::Ge => "ge",
    }
}

/// How often something is assigned to a variable in an expression.
fn assignments(expr: &Expr, name: &str) -> usize {
    let mut count = usize::from(matches!(
        &expr.kind,
        ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, _) if to.name() == Some(name)
    ));
    children(expr, &mut |child| count += assignments(child, name));
    count
}

fn holds(expr: &Expr, at: Loc) -> bool {
    let mut found = expr.loc == at;
    children(expr, &mut |child| found |= holds(child, at));
    found
}

impl Body<'_> {
    /// The whole assignment in a closure over elements, and for `if v > limit { count += 1; .. }` the count as the sum of a mask, in place
    /// of the line that declares it.
    pub(super) fn changed_in_closure(
        &self,
        target: &Expr,
        locations: &Locations,
        diagnostic: &mut Diagnostic,
    ) -> Option<String> {
        if !diagnostic.headline.starts_with("the closure of `") {
            return None;
        }
        let change = self.parent(target)?;
        if !matches!(change.kind, ExprKind::Assign(..) | ExprKind::AssignOp(..)) {
            return None;
        }
        diagnostic.found_at = Some(diagnostic.primary);
        diagnostic.primary = change.loc;
        let actual = change.text().map_or("an assignment".to_owned(), |text| format!("`{text}`"));
        super::compare(
            diagnostic,
            "a closure that gives a value, and changes nothing outside of it",
            &actual,
        );
        let template = diagnostic.help.take().or_else(|| diagnostic.example.take())?;
        let mask = self.counted(change, locations)?;
        let name = target.name()?;
        let (declared, _) = diagnostic.secondary.first()?;
        let line = |loc: Loc| locations.line_column(loc).0;
        let init = self.init(name)?;
        let zero = matches!(&init.kind, ExprKind::Lit(Literal::Int(0, _)));
        let block = self.function.body.as_ref()?;
        let once = block.exprs().map(|expr| assignments(expr, name)).sum::<usize>() == 1;
        (zero && once && line(*declared) == line(init.loc)).then(|| {
            format!(
                "{} // in place of line {}\n{NOTHING} // in place of line {}",
                template.replace(VALUE, &mask),
                line(*declared),
                line(change.loc)
            )
        })
    }

    /// The mask of the elements for which a closure adds 1, if that is all that decides.
    fn counted(&self, change: &Expr, locations: &Locations) -> Option<String> {
        let ExprKind::AssignOp(Binary::Add, _, one) = &change.kind else { return None };
        if !matches!(&one.kind, ExprKind::Lit(Literal::Int(1, _))) {
            return None;
        }
        let mut branch = None;
        let mut closure = None;
        for outer in self.around(change) {
            if let ExprKind::If(condition, then, _) = &outer.kind
                && branch.is_none()
                && then.exprs().any(|expr| holds(expr, change.loc))
            {
                branch = Some((outer, &**condition));
            } else if let ExprKind::Closure(params, _) = &outer.kind {
                closure = Some((outer, params));
                break;
            } else if !matches!(outer.kind, ExprKind::Block(_)) {
                return None;
            }
        }
        let ((branch, condition), (closure, params)) = (branch?, closure?);
        let line = |loc: Loc| locations.line_column(loc).0;
        // A line that is left out holds nothing else.
        if line(branch.loc) >= line(change.loc)
            || locations.last_line(branch.loc) <= line(change.loc)
        {
            return None;
        }
        let [element] = &params[..] else { return None };
        let PatKind::Ident { name: element, .. } = &element.kind else { return None };
        let ExprKind::Binary(BinOp::Compare(op), left, right) = &condition.kind else {
            return None;
        };
        let mut free = right.name() != Some(element);
        children(right, &mut |child| free &= child.name() != Some(element));
        let simple = matches!(right.kind, ExprKind::Path(_) | ExprKind::Lit(_));
        if left.name() != Some(element) || !free || !simple {
            return None;
        }
        let call = self.parent(closure)?;
        let ExprKind::Method(tile, _, _) = &call.kind else { return None };
        let tile = tile.name()?;
        let whole = self.function.body.as_ref()?;
        let same = whole.exprs().all(|expr| assignments(expr, tile) == 0);
        let repeated = |outer: &Expr| {
            matches!(outer.kind, ExprKind::For(..) | ExprKind::While(..) | ExprKind::Loop(..))
        };
        if !same || self.around(call).any(repeated) {
            return None;
        }
        Some(format!("{tile}.{}({})", method(*op), right.text()?))
    }
}
