//! Constants of a type that is wrong wherever they stand: the type is what changes, and it is said once, there.

use super::Body;
use crate::{
    diag::{Code, Diagnostic, Problems},
    elaborate::language::reach::children,
    loc::Loc,
    syntax::{Expr, ExprKind, GenericKind, Stmt, TypeExpr, TypeKind, Unit},
};

/// Whether a type is Rust's type of lengths.
fn is_usize(ty: &TypeExpr) -> bool {
    ty.path().and_then(|path| path.only()).is_some_and(|only| only.name == "usize")
}

/// Whether a type has an array of this length.
fn has_length(ty: &TypeExpr, name: &str) -> bool {
    match &ty.kind {
        TypeKind::Array(elem, length) => names(length, name) || has_length(elem, name),
        TypeKind::Tuple(parts) => parts.iter().any(|part| has_length(part, name)),
        TypeKind::Ref(of, _) => has_length(of, name),
        TypeKind::Path(path) => {
            let mut args = path.segments.iter().flat_map(|segment| &segment.args);
            args.any(|arg| arg.ty().is_some_and(|ty| has_length(ty, name)))
        }
        TypeKind::Infer | TypeKind::Opaque => false,
    }
}

fn names(expr: &Expr, name: &str) -> bool {
    let mut found = expr.name() == Some(name);
    children(expr, &mut |child| found |= names(child, name));
    found
}

/// Whether an expression counts the elements of an array of Rust by this name.
fn counts(expr: &Expr, name: &str) -> bool {
    let mut found = if let ExprKind::Repeat(_, count) | ExprKind::Index(_, count) = &expr.kind {
        names(count, name)
    } else {
        false
    };
    children(expr, &mut |child| found |= counts(child, name));
    found
}

impl Body<'_> {
    /// The type `usize` of the generic constant that stands at a place, if nothing requires that type of it.
    fn length(&self, at: Loc) -> Option<(&str, Loc)> {
        let expr = self.exprs.get(&at)?;
        let name = expr.name()?;
        let param = self.function.generics.iter().find(|param| param.name.name == name)?;
        let GenericKind::Const(ty) = &param.kind else { return None };
        let block = self.function.body.as_ref()?;
        let counted = block.exprs().any(|expr| counts(expr, name))
            || self.function.params.iter().any(|(_, ty)| has_length(ty, name))
            || block
                .stmts
                .iter()
                .any(|stmt| matches!(stmt, Stmt::Let { ty: Some(ty), .. } if has_length(ty, name)));
        (is_usize(ty) && !counted).then_some((name, ty.loc))
    }
}

/// Moves the messages about a constant of type `usize` to its declaration.
pub(crate) fn declared(unit: &Unit, problems: &mut Problems) {
    if problems.is_empty() {
        return;
    }
    let bodies = super::bodies(unit);
    problems.change(|list| {
        let mut kept: Vec<Diagnostic> = Vec::new();
        for diagnostic in std::mem::take(list) {
            let found = (diagnostic.code == Code::DtypeMismatch
                && diagnostic.help.as_deref().is_some_and(|help| help.ends_with(" as i32")))
            .then(|| bodies.iter().find_map(|body| body.length(diagnostic.primary)))
            .flatten();
            let Some((name, ty)) = found else {
                kept.push(diagnostic);
                continue;
            };
            let used = (diagnostic.primary, "an `i32` is required here".to_owned());
            let same =
                |other: &&mut Diagnostic| other.code == diagnostic.code && other.primary == ty;
            if let Some(first) = kept.iter_mut().find(same) {
                first.secondary.push(used);
                continue;
            }
            let headline = format!("`{name}` is a `usize`, and stands where an `i32` is required");
            let moved =
                Diagnostic { headline, primary: ty, help: Some("i32".to_owned()), ..diagnostic };
            kept.push(Diagnostic { secondary: vec![used], ..moved });
        }
        *list = kept;
    });
}
