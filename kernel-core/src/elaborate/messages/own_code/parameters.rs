//! Types of parameters, as the body uses them: how many axes a tensor has, and whether it is written.

use super::Body;
use crate::{
    diag::{Code, Diagnostic},
    loc::Loc,
    syntax::{Expr, ExprKind, Pat, PatKind, TypeExpr, TypeKind},
};

/// How the headline ends about a type that no parameter has.
const REFUSED: &str = "cannot be passed to a kernel";

/// Writes the helps for types of parameters.
pub(super) fn write(bodies: &[Body<'_>], list: &mut [Diagnostic]) {
    let of_parameters = |diagnostic: &&mut Diagnostic| diagnostic.code == Code::Parameter;
    let declared = |loc: Loc| {
        bodies.iter().find_map(|body| {
            let (pat, _) = body.function.params.iter().find(|(_, ty)| ty.loc == loc)?;
            Some((body, pat))
        })
    };
    // What is not even a path has lost its type: the first such message is about the first such parameter.
    let mut lost = Vec::new();
    for diagnostic in list.iter_mut().filter(of_parameters) {
        match declared(diagnostic.primary) {
            Some((body, pat)) => body.parameter(pat, diagnostic),
            None if diagnostic.headline.ends_with(REFUSED) => lost.push(diagnostic),
            None => {}
        }
    }
    let params = bodies.iter().filter(|body| body.kernel.is_some()).flat_map(|body| {
        let params = body.function.params.iter().filter(|(_, ty)| is_lost(ty));
        params.map(move |(pat, _)| (body, pat))
    });
    let params: Vec<_> = params.collect();
    if params.len() == lost.len() {
        params
            .iter()
            .zip(lost)
            .for_each(|((body, pat), diagnostic)| body.parameter(pat, diagnostic));
    }
}

/// Whether a type was refused before it was read.
fn is_lost(ty: &TypeExpr) -> bool {
    match &ty.of_option().unwrap_or(ty).kind {
        TypeKind::Infer => true,
        TypeKind::Array(elem, _) => is_lost(elem),
        TypeKind::Path(_) | TypeKind::Tuple(_) | TypeKind::Ref(..) | TypeKind::Opaque => false,
    }
}

impl Body<'_> {
    /// The tensor that a message offers for a parameter, with the rank of its windows.
    fn parameter(&self, pat: &Pat, diagnostic: &mut Diagnostic) {
        let Some(own) = self.own_type(pat, diagnostic) else { return };
        let Some(help) = diagnostic.help.replace(own.clone()) else { return };
        for row in &mut diagnostic.compare {
            if row.required == format!("a tensor: `{help}`") {
                row.required = format!("a tensor: `{own}`");
            }
        }
    }

    fn own_type(&self, pat: &Pat, diagnostic: &Diagnostic) -> Option<String> {
        let help = diagnostic.help.as_deref()?;
        let rest = help.strip_prefix("TensorMut<").or_else(|| help.strip_prefix("Tensor<"))?;
        let (elem, rank) = rest.strip_suffix('>')?.rsplit_once(", ")?;
        let PatKind::Ident { name, .. } = &pat.kind else { return None };
        let uses: Vec<&Expr> = self.exprs.values().copied().collect();
        let axes = uses.iter().filter_map(|expr| self.axes_used(expr, name)).max();
        let rank = axes.map_or_else(|| rank.to_owned(), |axes| axes.to_string());
        let written = uses.iter().any(|expr| is_written(expr, name));
        let kind = if help.starts_with("TensorMut") || written { "TensorMut" } else { "Tensor" };
        Some(format!("{kind}<{elem}, {rank}>"))
    }

    /// How many axes a use of a tensor names.
    fn axes_used(&self, expr: &Expr, name: &str) -> Option<usize> {
        let ExprKind::Method(of, method, args) = &expr.kind else { return None };
        if of.name() != Some(name) {
            return None;
        }
        if method.name == "tile" {
            return args.iter().find_map(|arg| {
                let arg = arg.name().and_then(|name| self.init(name)).unwrap_or(arg);
                if let ExprKind::Array(parts) = &arg.kind { Some(parts.len()) } else { None }
            });
        }
        let is_axis = matches!(method.name.as_str(), "dim" | "stride");
        let axis = args.first().filter(|_| is_axis)?.text()?;
        axis.parse::<usize>().ok().filter(|axis| *axis < 5).map(|axis| axis + 1)
    }
}

/// Whether an expression writes to a tensor.
fn is_written(expr: &Expr, name: &str) -> bool {
    if let ExprKind::Assign(target, _) | ExprKind::AssignOp(_, target, _) = &expr.kind {
        return matches!(&target.kind, ExprKind::Index(of, _) if of.name() == Some(name));
    }
    let ExprKind::Method(window, method, _) = &expr.kind else { return false };
    let ExprKind::Method(of, tile, _) = &window.kind else { return false };
    let writes = method.name == "store" || method.name.starts_with("atomic_");
    writes && tile.name == "tile" && of.name() == Some(name)
}
