//! What stands in a loop and belongs before it: allocations, and the buffers of loads that are to be copies.

use super::Body;
use crate::{
    diag::Diagnostic,
    elaborate::language::reach::children,
    loc::{Loc, Locations},
    syntax::{Expr, ExprKind, GenericArg, PatKind, Stmt},
};

/// A load of a window in a loop: `let x = a.tile([m, k], [64, 32]).load();`
struct Load<'a> {
    /// Where it stands.
    at: Loc,
    /// What it is called.
    name: &'a str,
    /// The window, and its extents.
    window: String,
    extents: String,
    /// The type of its elements.
    dtype: &'a str,
}

impl Body<'_> {
    /// The allocation in a loop or a branch, before that.
    pub(super) fn outside(&self, expr: &Expr, diagnostic: &Diagnostic) -> Option<String> {
        let generic = diagnostic.help.as_deref()?.strip_prefix("let ")?.split(' ').next()?;
        let mut whole = expr;
        for outer in self.around(expr) {
            if let ExprKind::Method(of, name, _) = &outer.kind
                && of.loc == whole.loc
                && name.name == "with_layout"
            {
                whole = outer;
            }
        }
        let declared = self.lets.iter().find(|(_, init)| init.loc == whole.loc);
        let name = declared.map_or(generic, |(name, _)| *name);
        let branches = |outer: &&Expr| is_loop(outer) || matches!(outer.kind, ExprKind::If(..));
        let outermost = self.around(whole).filter(branches).last()?;
        let place = if is_loop(outermost) { "the loop" } else { "the `if`" };
        Some(format!("let {name} = {}; // before {place}", whole.line()?))
    }

    /// The loads with which an iteration begins, as copies to shared memory.
    pub(super) fn copies(
        &self,
        expr: &Expr,
        locations: &Locations,
        diagnostic: &mut Diagnostic,
    ) -> Option<String> {
        if diagnostic.headline != super::NO_COPIES {
            return None;
        }
        let ExprKind::For(_, _, _, block) = &expr.kind else { return None };
        let loads: Vec<Load<'_>> = block.stmts.iter().map_while(|stmt| self.load(stmt)).collect();
        let first = first_load(expr)?;
        diagnostic.primary = first.loc;
        "a pipelined loop loads into registers".clone_into(&mut diagnostic.headline);
        let required = "`copy_async` to shared memory at the start of an iteration";
        let text = first.text();
        let actual = text.as_deref().map_or("`.load()`".to_owned(), |text| format!("`{text}`"));
        let actual = format!("{actual}, which waits for the data");
        super::compare(diagnostic, required, &actual);
        diagnostic.notes = vec![
            "`pipeline` starts what later iterations read ahead of them: only an asynchronous copy can be in flight while this iteration computes".to_owned(),
        ];
        if loads.is_empty() {
            return None;
        }
        let (names, shared): (Vec<_>, Vec<_>) = loads
            .iter()
            .map(|load| {
                let name = self.free(&format!("shared_{}", load.name));
                (name, format!("shared::<{}>({})", load.dtype, load.extents))
            })
            .unzip();
        let list = |parts: &[String]| {
            if let [only] = parts { only.clone() } else { format!("({})", parts.join(", ")) }
        };
        let copies: Vec<String> = loads
            .iter()
            .zip(&names)
            .map(|(load, name)| {
                let line = locations.line_column(load.at).0;
                format!("copy_async({}, {name}); // in place of line {line}", load.window)
            })
            .collect();
        let own: Vec<String> = loads.iter().map(|load| load.name.to_owned()).collect();
        let read: Vec<String> = names.iter().map(|name| format!("{name}.load()")).collect();
        let (before, after) =
            (locations.line_column(expr.loc).0, locations.line_column(loads.last()?.at).0);
        Some(format!(
            "let {} = {}; // before line {before}\n{}\nlet {} = {}; // after line {after}",
            list(&names),
            list(&shared),
            copies.join("\n"),
            list(&own),
            list(&read)
        ))
    }

    /// The load that a statement is.
    fn load<'a>(&'a self, stmt: &'a Stmt) -> Option<Load<'a>> {
        let Stmt::Let { pat, init: Some(init), .. } = stmt else { return None };
        let PatKind::Ident { name, mutable: false } = &pat.kind else { return None };
        let window = loaded(init)?;
        let ExprKind::Method(tensor, _, args) = &window.kind else { return None };
        let ty = self.param(tensor.name()?)?.last()?;
        let dtype = ty.args.first().and_then(GenericArg::ty)?.last()?;
        let extents = args.get(1)?.line()?;
        Some(Load { at: pat.loc, name, window: window.line()?, extents, dtype: &dtype.name })
    }

    /// A name that the function has not.
    fn free(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.names(&name) {
            name.push('_');
        }
        name
    }
}

fn is_loop(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::For(..) | ExprKind::While(..) | ExprKind::Loop(..))
}

/// The window that an expression loads, if it does no more.
fn loaded(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Method(window, name, args) = &expr.kind else { return None };
    let ExprKind::Method(_, of, _) = &window.kind else { return None };
    (name.name == "load" && args.is_empty() && of.name == "tile").then_some(window)
}

/// Whether a load is of one element: an index, by which copies find their places.
fn is_index(expr: &Expr) -> bool {
    let extents = loaded(expr).and_then(|window| {
        let ExprKind::Method(_, _, args) = &window.kind else { return None };
        args.get(1)?.text()
    });
    let one = |extent: &str| extent.trim() == "1";
    extents.is_some_and(|text| text.trim_matches(['[', ']']).split(',').all(one))
}

/// The first load of more than an index in an expression.
fn first_load(expr: &Expr) -> Option<&Expr> {
    if loaded(expr).is_some() && !is_index(expr) {
        return Some(expr);
    }
    let mut found = None;
    children(expr, &mut |child| found = found.or_else(|| first_load(child)));
    found
}
