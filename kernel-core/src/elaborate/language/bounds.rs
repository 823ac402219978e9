//! The bounds of a kernel's type parameters, checked for the types that `instances(..)` lists.
//!
//! Bounds and types of other modules are not known here, so nothing is reported about them. That
//! a reference, a tuple and a tile are not numbers is known.

use std::sync::Arc;

use crate::{
    diag::{Code, Diagnostic, Problems},
    ir::Dtype,
    syntax::{
        GenericArg, GenericKind, GenericParam, Impl, InstanceValue, Instances, Item, Kernel, Path,
        TypeExpr, TypeKind, Unit,
    },
};

/// Reports each listed type that breaks a bound of its parameter. The lists that come back are without those.
pub(crate) fn fitting(unit: &Unit, kernel: &Kernel, problems: &mut Problems) -> Vec<Instances> {
    let mut lists = kernel.attr.instances.clone();
    for list in &mut lists {
        let params: Vec<_> = list
            .names
            .iter()
            .map(|name| kernel.function.generics.iter().find(|p| p.name.name == name.name))
            .collect();
        let all = list.rows.clone();
        list.rows.retain(|row| broken_row(&params, row, unit).is_none());
        for row in &all {
            if let Some(found) = broken_row(&params, row, unit) {
                problems.push(found.into_diagnostic(list));
            }
        }
    }
    lists
}

/// A listed type that its parameter's bound does not admit.
struct Broken<'a> {
    param: &'a GenericParam,
    bound: &'a str,
    value: &'a InstanceValue,
    /// The types that the bound admits.
    fit: Vec<String>,
    /// The bound is a trait of the kernel's own module.
    own: bool,
}

impl Broken<'_> {
    /// `kept` is the list without what is broken.
    fn into_diagnostic(self, kept: &Instances) -> Diagnostic {
        let Broken { param, bound, value, fit, own } = self;
        let (actual, name) = (value.text.clone(), &param.name.name);
        let required = match fit.as_slice() {
            [] => format!("a type with an `impl {bound}`; there is none"),
            [only] => format!("`{only}`"),
            fit => format!("one of {}", fit.join(", ")),
        };
        let names: Vec<_> = kept.names.iter().map(|name| name.name.as_str()).collect();
        let rows: Vec<_> = kept.rows.iter().map(|row| texts(row)).collect();
        let help = match (names.as_slice(), rows.as_slice()) {
            _ if own && fit.is_empty() => format!("impl {bound} for {actual} {{ .. }}"),
            ([one], []) => format!("instances({one} = [{}])", fit[..fit.len().min(2)].join(", ")),
            ([one], rows) => {
                let rows: Vec<_> = rows.iter().map(|row| row.join(", ")).collect();
                format!("instances({one} = [{}])", rows.join(", "))
            }
            (_, []) => fit.first().cloned().unwrap_or_default(),
            (names, rows) => {
                let rows: Vec<_> = rows.iter().map(|row| format!("({})", row.join(", "))).collect();
                format!("instances(({}) = [{}])", names.join(", "), rows.join(", "))
            }
        };
        Code::Instances.at(value.loc,
            format!("`{actual}` does not fit the bound `{name}: {bound}`"),
        )
        .compare("", required, format!("`{actual}`"))
        .place(param.name.loc, "the bound")
        .why("the body may use everything that the bound promises, and it is compiled for each listed type")
        .help(help)
    }
}

fn texts(row: &[InstanceValue]) -> Vec<String> {
    row.iter().map(|value| value.text.clone()).collect()
}

fn broken_row<'a>(
    params: &[Option<&'a GenericParam>],
    row: &'a [InstanceValue],
    unit: &Unit,
) -> Option<Broken<'a>> {
    let mut pairs = params.iter().zip(row);
    pairs.find_map(|(param, value)| broken_bound((*param)?, value, unit))
}

fn broken_bound<'a>(
    param: &'a GenericParam,
    value: &'a InstanceValue,
    unit: &Unit,
) -> Option<Broken<'a>> {
    let GenericKind::Type(bounds) = &param.kind else { return None };
    let GenericArg::Type(TypeExpr { kind, .. }) = &value.arg else { return None };
    let (path, number) = match kind {
        TypeKind::Path(path) => {
            let [.., last] = path.segments.as_slice() else { return None };
            let of_unit = path.segments.len() == 1 && declares(unit, &last.name);
            let number = if of_unit { None } else { Dtype::from_name(&last.name) };
            if number.is_none() && !of_unit && !super::types::is_own_type(&last.name) {
                // A type of another module: rustc knows.
                return None;
            }
            (Some(path), number)
        }
        TypeKind::Tuple(_) | TypeKind::Array(..) | TypeKind::Ref(..) => (None, None),
        TypeKind::Infer | TypeKind::Opaque => return None,
    };
    bounds.iter().find_map(|bound| {
        let own =
            unit.items.iter().any(|item| matches!(item, Item::Trait(t) if t.name.name == *bound));
        if own {
            // Which types without a name an `impl` covers is left to rustc.
            let path = path?;
            let impls = || impls_of(unit, bound);
            let holds = impls().any(|item| covers(item, path));
            let fit = impls().filter_map(|item| Some(type_name(item)?.to_owned())).collect();
            return (!holds).then_some(Broken { param, bound, value, fit, own });
        }
        let admits = of_language(bound)?;
        let fit: Vec<_> = Dtype::ALL.iter().copied().filter(|dtype| admits(*dtype)).collect();
        let holds = number.is_some_and(|dtype| fit.contains(&dtype));
        let fit = fit.into_iter().map(|dtype| dtype.name().to_owned()).collect();
        (!holds).then_some(Broken { param, bound, value, fit, own })
    })
}

/// Which element types a trait of the language is there for. `Scalar` is there for all of them.
fn of_language(bound: &str) -> Option<fn(Dtype) -> bool> {
    Some(match bound {
        "Scalar" => |_| true,
        "Cast" => Dtype::converts,
        "Number" => Dtype::has_arithmetic,
        "Float" => |dtype| dtype.is_float() && dtype.has_arithmetic(),
        "Int" => Dtype::is_int,
        "Bits" => |dtype| dtype == Dtype::Bool || dtype.is_int(),
        _ => return None,
    })
}

fn declares(unit: &Unit, name: &str) -> bool {
    unit.items.iter().any(|item| matches!(item, Item::Struct(item) if item.name.name == name))
}

fn impls_of<'a>(unit: &'a Unit, bound: &str) -> impl Iterator<Item = &'a Arc<Impl>> {
    unit.items.iter().filter_map(move |item| {
        let Item::Impl(item) = item else { return None };
        (item.of_trait.as_deref() == Some(bound)).then_some(item)
    })
}

/// The last segment of the type that an `impl` is of.
fn type_name(item: &Impl) -> Option<&str> {
    item.ty.last().map(|last| last.name.as_str())
}

/// Whether an `impl` is of the type of that name, or of every type.
fn covers(item: &Impl, path: &Path) -> bool {
    let Some(name) = type_name(item) else { return true };
    item.generics.iter().any(|param| param.name.name == name)
        || path.segments.last().is_some_and(|last| last.name == name)
}
