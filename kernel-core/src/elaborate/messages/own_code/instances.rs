//! Extents that are const generics: what is wrong with one is wrong with a number in `instances(..)`.

use super::Body;
use crate::{
    diag::{Code, Diagnostic},
    loc::Loc,
    syntax::{Expr, ExprKind, GenericArg, Kernel},
};

/// Moves messages about extents to the numbers of instances that they have.
pub(super) fn write(bodies: &[Body<'_>], list: &mut Vec<Diagnostic>) {
    let mut kept: Vec<Diagnostic> = Vec::new();
    for mut diagnostic in std::mem::take(list) {
        let moved = bodies.iter().find_map(|body| body.instance(&diagnostic));
        let Some((name, number, value)) = moved else {
            kept.push(diagnostic);
            continue;
        };
        let first = kept.iter_mut().find(|one| one.code == Code::Extent && one.primary == number);
        if let Some(first) = first {
            first.secondary.push((diagnostic.primary, "the same here".to_owned()));
            continue;
        }
        let used = std::mem::replace(&mut diagnostic.primary, number);
        diagnostic.secondary.insert(0, (used, format!("`{name}` is an extent here")));
        let said = format!("the extent {value}");
        diagnostic.headline =
            diagnostic.headline.replacen(&said, &format!("`{name}` = {value}"), 1);
        if bodies.iter().any(|body| body.is_window(used)) {
            diagnostic.notes.push(
                "a tile may be larger than its tensor: reads outside give zero, and writes there are dropped"
                    .to_owned(),
            );
        }
        // The line says which instance it is.
        diagnostic.instances.clear();
        diagnostic.missing = None;
        kept.push(diagnostic);
    }
    *list = kept;
}

impl Body<'_> {
    /// Whether an extent is one of a window of a tensor.
    fn is_window(&self, extent: Loc) -> bool {
        let Some(extent) = self.exprs.get(&extent) else { return false };
        self.around(extent)
            .take(2)
            .any(|outer| matches!(&outer.kind, ExprKind::Method(_, name, _) if name.name == "tile"))
    }

    /// The const generic that an extent is, the number in `instances(..)` that is wrong, and its value.
    fn instance(&self, diagnostic: &Diagnostic) -> Option<(String, Loc, String)> {
        if diagnostic.code != Code::Extent || diagnostic.help.is_none() {
            return None;
        }
        let Kernel { attr, .. } = self.kernel?;
        let name = self.exprs.get(&diagnostic.primary)?.name()?;
        let value = diagnostic.compare.first()?.actual.clone();
        let mut numbers = attr.instances.iter().flat_map(|list| {
            let at = list.names.iter().position(|of| of.name == name);
            let rows = list.rows.iter().filter_map(move |row| row.get(at?));
            rows.filter(|one| {
                matches!(&one.arg, GenericArg::Const(expr) if Expr::text(expr).is_some_and(|text| text == value))
            })
        });
        let first = numbers.next()?;
        // It may stand in several rows.
        Some((name.to_owned(), first.loc, value))
    }
}
