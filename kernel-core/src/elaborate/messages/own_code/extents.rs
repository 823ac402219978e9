//! Extents: of tiles whose size is known at the launch, and of the blocks of tensor maps.

use super::{Body, called};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::language::known::{AN_EXTENT, KNOWN},
    syntax::{Expr, ExprKind, Literal},
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
        let fixed = when.starts_with("known at the launch") || whole.contains(".dim(");
        super::compare(diagnostic, "a constant", &format!("{said}, {when}"));
        let extent = diagnostic.example.as_deref() == Some(AN_EXTENT);
        let beside = self.extent_beside(expr).map(|value| format!("[{value}]"));
        let end = whole.trim_end_matches(".next_power_of_two()");
        // What combines with tiles of one extent has that one.
        if extent
            && beside.is_none()
            && let Some(each) = self.tile_by_tile(expr, end)
        {
            diagnostic.notes.push(each);
        }
        if extent && let Some(bounded) = self.bounded(expr, end) {
            diagnostic.notes.push(bounded);
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
            true if beside.is_some() => beside.as_deref().unwrap_or_default(),
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
        let after = after.replace(",)", ")");
        Some(format!(
            "{name} // for `{text}`, and at the top:\n#[kernel({attr})]\n{before}fn {own}{after}"
        ))
    }

    /// The number that other tiles of the function have where this one has an extent that is not known, if all else is alike and they
    /// agree.
    fn extent_beside(&self, expr: &Expr) -> Option<i128> {
        let own = self.parent(expr)?;
        let ExprKind::Array(extents) = &own.kind else { return None };
        let axis = extents.iter().position(|one| one.loc == expr.loc)?;
        let mut found = None;
        for other in self.exprs.values() {
            let ExprKind::Array(parts) = &other.kind else { continue };
            if parts.len() != extents.len() || parts.len() < 2 || other.loc == own.loc {
                continue;
            }
            let alike = |(at, (x, y)): (usize, (&Expr, &Expr))| {
                at == axis || x.text().is_some_and(|text| Some(text) == y.text())
            };
            let ExprKind::Lit(Literal::Int(value, _)) = parts[axis].kind else { continue };
            let is_extent = value > 0 && value & (value - 1) == 0;
            if !is_extent || !extents.iter().zip(parts).enumerate().all(alike) {
                continue;
            }
            if found.is_some_and(|found| found != value) {
                return None;
            }
            found = Some(value);
        }
        found
    }

    /// A constant extent for a window whose elements end at a number that is known at the launch.
    fn bounded(&self, expr: &Expr, end: &str) -> Option<String> {
        let shape = self.parent(expr)?;
        let ExprKind::Array(extents) = &shape.kind else { return None };
        let axis = extents.iter().position(|one| one.loc == expr.loc)?;
        let ExprKind::Method(tensor, method, args) = &self.parent(shape)?.kind else { return None };
        let [at, own] = &args[..] else { return None };
        let (ExprKind::Array(corner), true) = (&at.kind, own.loc == shape.loc) else {
            return None;
        };
        if method.name != "tile" {
            return None;
        }
        let tensor = tensor.operand_text()?;
        let from = corner.get(axis)?.text()?;
        if from == "0" && end == format!("{tensor}.dim({axis})") {
            return Some("a constant at least as large does as well: a window ends where its tensor ends, and reads 0 after that".to_owned());
        }
        let (from, end) = (corner.get(axis)?.operand_text()?, expr.operand_text()?);
        let range =
            if from == "0" { format!("0..{end}") } else { format!("{from}..{from} + {end}") };
        let each = |at| if at == axis { range.clone() } else { "..".to_owned() };
        let ranges: Vec<String> = (0..extents.len()).map(each).collect();
        let ranges = match &ranges[..] {
            [only] => only.clone(),
            several => format!("({})", several.join(", ")),
        };
        Some(format!(
            "a constant at least as large does as well if the window is bounded: `{tensor}.slice({ranges})`, in which it begins at 0"
        ))
    }

    /// Makes the message about an unknown method of a number one about the extent that its result is.
    pub(super) fn extent_of_method(&self, diagnostic: &mut Diagnostic) -> Option<String> {
        if diagnostic.code != Code::NotAFunction {
            return None;
        }
        let (name, _) = self.lets.iter().find(|(_, init)| {
            matches!(&init.kind, ExprKind::Method(_, method, _) if method.loc == diagnostic.primary)
        })?;
        let ExprKind::Method(of, method, _) = &self.init(name)?.kind else { return None };
        if !method.name.contains("power_of_two") || !of.text()?.contains(".dim(") {
            return None;
        }
        let is_extent = |one: &&&Expr| {
            let shape = self.parent(one).filter(|outer| matches!(outer.kind, ExprKind::Array(_)));
            let window = shape.and_then(|shape| Some((shape, self.parent(shape)?)));
            one.name() == Some(name)
                && window.is_some_and(|(shape, window)| {
                    matches!(&window.kind, ExprKind::Method(_, method, args)
                        if method.name == "tile" && args.get(1).is_some_and(|own| own.loc == shape.loc))
                })
        };
        let mut uses = self.exprs.values().filter(is_extent);
        let first = uses.next()?;
        diagnostic.code = Code::NotConstant;
        "an extent of a tile must be known at compile time".clone_into(&mut diagnostic.headline);
        diagnostic.primary = first.loc;
        diagnostic.secondary = uses.map(|one| (one.loc, "the same here".to_owned())).collect();
        diagnostic.notes.insert(0, KNOWN.to_owned());
        diagnostic.example = Some(AN_EXTENT.to_owned());
        let help = self.instances(first, diagnostic)?;
        let (word, rest) = help.split_once(", and at the top:")?;
        Some(format!("{word}, whose declaration goes, and at the top:{rest}"))
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
