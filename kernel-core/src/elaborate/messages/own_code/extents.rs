//! Extents: of tiles whose size is known at the launch, and of the blocks of tensor maps.

use super::{Body, called};
use crate::{
    diag::Diagnostic,
    elaborate::language::known::AN_EXTENT,
    syntax::{Expr, ExprKind},
};

/// Names of constants, of which a kernel lacks one.
const NAMES: [&str; 6] = ["N", "M", "K", "WIDTH", "LENGTH", "COUNT"];

impl Body<'_> {
    /// The block of a tensor map, after the buffer of the same copy.
    pub(super) fn block_of_buffer(&self, expr: &Expr, diagnostic: &Diagnostic) -> Option<String> {
        let (block, rest) =
            diagnostic.help.as_deref()?.strip_prefix("#[block(")?.split_once(")]")?;
        let rank = block.split(", ").count();
        let extents = self.around(expr).take(3).find_map(|call| {
            let (ExprKind::Call(_, args) | ExprKind::Method(_, _, args)) = &call.kind else {
                return None;
            };
            args.iter().find_map(|arg| self.extents_of(arg))
        })?;
        let own: Option<Vec<String>> = extents.iter().map(Expr::text).collect();
        let own = own?;
        let from = own.len().checked_sub(rank)?;
        Some(format!("#[block({})]{rest}", own[from..].join(", ")))
    }

    /// The extents of the shared allocation that an argument is, or is a part of.
    fn extents_of(&self, arg: &Expr) -> Option<&[Expr]> {
        let name = if let ExprKind::Index(of, _) = &arg.kind { of.name()? } else { arg.name()? };
        let mut init = self.init(name)?;
        while let ExprKind::Method(of, method, _) = &init.kind
            && method.name == "with_layout"
        {
            init = of;
        }
        let ("shared", [shape]) = called(init)? else { return None };
        if let ExprKind::Array(parts) = &shape.kind { Some(parts) } else { None }
    }

    /// What stands where a constant is required, and the kernel with a constant for it.
    pub(super) fn instances(&self, expr: &Expr, diagnostic: &mut Diagnostic) -> Option<String> {
        let kernel = self.kernel?;
        let text = expr.text()?;
        let of = expr.name().and_then(|name| self.init(name)).and_then(Expr::text);
        let said = match &of {
            Some(of) => format!("`{text}`, that is `{of}`"),
            None => format!("`{text}`"),
        };
        let whole = of.as_deref().unwrap_or(&text);
        let when = if expr.name().is_some_and(|name| self.counters.contains(&name)) {
            "which changes from iteration to iteration"
        } else if whole.contains("block_id(") {
            "which differs from block to block"
        } else if whole.contains(".dim(")
            || expr.name().is_some_and(|name| self.param(name).is_some())
        {
            "known at the launch"
        } else {
            "known only at run time"
        };
        let fixed = when.starts_with("known at the launch");
        super::compare(diagnostic, "a constant", &format!("{said}, {when}"));
        let extent = diagnostic.example.as_deref() == Some(AN_EXTENT);
        if extent && let Some(each) = self.tile_by_tile(expr, whole) {
            diagnostic.notes.push(each);
        }
        if !fixed {
            return None;
        }
        let upper = expr.name().map(str::to_uppercase);
        let name = upper
            .into_iter()
            .chain(NAMES.iter().map(|name| (*name).to_owned()))
            .find(|name| !self.names(name))?;
        let values = match extent {
            _ if diagnostic.headline.contains("axis") => "[0]",
            true if diagnostic.headline.contains("number of elements") => "[4, 8]",
            true if whole.contains(".dim(") => "[1024, 4096]",
            true => "[64, 128]",
            false => "[1, 2]",
        };
        let list = format!("{name} = {values}");
        let attr = kernel.attr.text.trim_end().trim_end_matches(',');
        // What the package calls the crate stands before the user's own arguments.
        let said = attr.strip_prefix("crate = ").and_then(|rest| rest.split_once(", "));
        let attr = said.map_or(attr, |(_, rest)| rest);
        let attr = match attr.split_once("instances(") {
            Some((before, after)) => format!("{before}instances({list}, {after}"),
            None if attr.is_empty() => format!("instances({list})"),
            None => format!("{attr}, instances({list})"),
        };
        let own = &kernel.function.name.name;
        let (before, after) = kernel.head.split_once(&format!("fn {own}"))?;
        let after = match after.strip_prefix('<') {
            Some(after) => format!("<const {name}: i32, {after}"),
            None => format!("<const {name}: i32>{after}"),
        };
        Some(format!(
            "{name} // for `{text}`, and at the top:\n#[kernel({attr})]\n{before}fn {own}{after}"
        ))
    }

    /// A loop over tiles, for an extent of a window along one axis that may be of any size.
    fn tile_by_tile(&self, expr: &Expr, end: &str) -> Option<String> {
        let shape = self.parent(expr)?;
        let ExprKind::Array(extents) = &shape.kind else { return None };
        let axis = extents.iter().position(|one| one.loc == expr.loc)?;
        let window = self.parent(shape)?;
        let ExprKind::Method(tensor, method, args) = &window.kind else { return None };
        let [at, own] = &args[..] else { return None };
        let (ExprKind::Array(corner), true) = (&at.kind, own.loc == shape.loc) else {
            return None;
        };
        let zero = corner.get(axis)?.text()?;
        if method.name != "tile" || zero != "0" {
            return None;
        }
        let listed = |parts: &[Expr], own: &str| -> Option<String> {
            let texts = parts.iter().enumerate().map(|(index, part)| {
                if index == axis { Some(own.to_owned()) } else { part.text() }
            });
            Some(texts.collect::<Option<Vec<_>>>()?.join(", "))
        };
        let at = ["at", "first", "start"].into_iter().find(|name| !self.names(name))?;
        Some(format!(
            "a loop over tiles takes any size: `for {at} in range(0, {end}, 128) {{ .. {}.tile([{}], [{}]) .. }}`",
            tensor.text()?,
            listed(corner, at)?,
            listed(extents, "128")?
        ))
    }
}
