//! Messages set beside the expressions that they are about: a help that continues an expression repeats it, the operand of an operator is
//! underlined alone, and what is wrong with one name in several places is said once.

use std::collections::BTreeMap;

use crate::{
    diag::{Code, Diagnostic, Problems},
    elaborate::language::reach::children,
    ir::Dtype,
    loc::{Loc, Locations},
    syntax::{Expr, ExprKind, Function, Item, Kernel, ParamFact, Unit},
};

/// The help for an operand that is to be an `i32`, until it stands beside the operand.
const CONVERTED: &str = "_ as i32";

/// The help for a scalar that is to be of a type, until it stands beside the scalar.
pub(crate) fn converted_to(dtype: Dtype) -> String {
    format!("_ as {}", dtype.name())
}

/// The message about an operand of the type `usize` beside one of another type.
pub(crate) fn to_i32(diagnostic: Diagnostic, operand: usize) -> Diagnostic {
    diagnostic
        .why("Rust counts the elements of an array in `usize`; extents, axes and counts of Kiln are `i32`")
        .help(CONVERTED)
        .of_operand(operand, None)
}

/// How a help for the order of an atomic operation begins.
const ORDERS: [&str; 3] = [".acquire()", ".release()", ".acq_rel()"];

/// The expressions of the functions of a unit, by their places.
struct Exprs<'a>(BTreeMap<Loc, &'a Expr>);

impl<'a> Exprs<'a> {
    fn of(unit: &'a Unit) -> Self {
        let mut exprs = Exprs(BTreeMap::new());
        let kernels = unit.kernels.iter().map(|Kernel { function, .. }| function);
        kernels.for_each(|function| exprs.function(function));
        for fact in unit.kernels.iter().flat_map(|kernel| kernel.facts.iter().flatten()) {
            if let ParamFact::Block(extents, ..) = fact {
                for extent in extents {
                    exprs.add(extent);
                }
            }
        }
        for item in &unit.items {
            match item {
                Item::Function(function) => exprs.function(function),
                Item::Impl(item) => item.functions.iter().for_each(|one| exprs.function(one)),
                Item::Trait(item) => item.functions.iter().for_each(|one| exprs.function(one)),
                Item::Struct(_) | Item::Const(_) | Item::Use(_) | Item::Refused(_) => {}
            }
        }
        exprs
    }

    fn function(&mut self, function: &'a Function) {
        if let Some(body) = &function.body {
            body.exprs().for_each(|expr| self.add(expr));
        }
    }

    fn add(&mut self, expr: &'a Expr) {
        self.0.entry(expr.loc).or_insert(expr);
        children(expr, &mut |child| self.add(child));
    }

    /// The name or the literal that a message is about, if it is as wrong wherever it stands.
    fn word(&self, diagnostic: &Diagnostic) -> Option<String> {
        if !matches!(diagnostic.code, Code::NotConstant | Code::Extent) {
            return None;
        }
        let expr = self.0.get(&diagnostic.primary)?;
        matches!(expr.kind, ExprKind::Path(_) | ExprKind::Lit(_)).then(|| expr.text()).flatten()
    }
}

/// The operands of an operator, or of a call.
pub(super) fn operands(expr: &Expr) -> Vec<&Expr> {
    if let ExprKind::Binary(_, a, b)
    | ExprKind::AssignOp(_, a, b)
    | ExprKind::Range(Some(a), Some(b)) = &expr.kind
    {
        return vec![a, b];
    }
    if let ExprKind::Unary(_, a) = &expr.kind {
        return vec![a];
    }
    if let ExprKind::Method(of, _, args) = &expr.kind {
        if let ExprKind::Tuple(parts) = &of.kind {
            return parts.iter().chain(args).collect();
        }
        return std::iter::once(&**of).chain(args).collect();
    }
    let ExprKind::Call(of, args) = &expr.kind else { return Vec::new() };
    match &args[..] {
        // The mask is not one of the two.
        [mask, a, b] if of.name() == Some("select") => vec![a, b, mask],
        args => args.iter().collect(),
    }
}

/// The expression with a help behind it that begins with a method.
fn continued(expr: &Expr, code: Code, help: &str) -> Option<String> {
    if !help.starts_with('.') || help.starts_with("..") {
        return None;
    }
    let of_arguments = matches!(code, Code::ArgumentCount | Code::DtypeRefused | Code::Kind)
        || code == Code::ShapeMismatch && help.starts_with(".expand(");
    if let ExprKind::Method(receiver, name, _) = &expr.kind
        && of_arguments
        && help.contains(&format!(".{}(", name.name)) | help.contains(&format!(".{}::<", name.name))
    {
        // The call is written in another way.
        return Some(receiver.operand_text()? + help);
    }
    // Another method does what this call asks for.
    if let ExprKind::Method(receiver, ..) = &expr.kind
        && code == Code::ArgumentCount
    {
        return Some(receiver.operand_text()? + help);
    }
    // Another order, in place of that before the operation, or another operation.
    if let ExprKind::Method(receiver, ..) = &expr.kind
        && code == Code::CopyOperands
    {
        if help.starts_with(".atomic_") {
            return Some(receiver.operand_text()? + help);
        }
        if let ExprKind::Method(before, ..) = &receiver.kind
            && ORDERS.iter().any(|order| help.starts_with(order))
        {
            return Some(before.operand_text()? + help);
        }
    }
    let of_values = ["cast::<", "load()", "t()", "expand(", "item()", "to_layout(", "ne("];
    let values = matches!(
        code,
        Code::DtypeMismatch
            | Code::Kind
            | Code::ShapeMismatch
            | Code::DotOperand
            | Code::RowNumbers
    );
    let cast_alone = code == Code::DtypeRefused && help.ends_with(">()");
    let whole = !matches!(expr.kind, ExprKind::Range(..) | ExprKind::Struct(..));
    let fits = (values || cast_alone)
        && whole
        && of_values.iter().any(|method| help[1..].starts_with(method));
    fits.then(|| expr.operand_text()).flatten().map(|text| text + help)
}

/// An operand as an `i32`: as it is written, a constant by its name.
fn converted(expr: Option<&Expr>, of: &str) -> Option<String> {
    let anything = CONVERTED.strip_suffix(" as i32") == Some(of);
    let expr =
        expr.filter(|expr| anything || of.parse::<u64>().is_ok() && expr.name().is_some())?;
    Some(format!("{} as i32", expr.operand_text()?))
}

/// Says in words what to write behind an operand that cannot be underlined.
fn aside(diagnostic: &mut Diagnostic, operand: usize) {
    if let Some(help) = diagnostic.help.take_if(|help| help.starts_with('.')) {
        let side = if operand == 0 { "left" } else { "right" };
        diagnostic.notes.push(format!("`{help}` goes behind the {side} operand"));
    }
}

/// What a kernel's target lacks is one problem, of the target, whatever needs it.
fn targets(unit: &Unit, list: &mut Vec<Diagnostic>) {
    let [Kernel { attr, .. }] = &unit.kernels[..] else { return };
    let [target] = &attr.targets[..] else { return };
    let mut kept: Vec<Diagnostic> = Vec::new();
    for mut diagnostic in std::mem::take(list) {
        let help = diagnostic.help.as_deref().and_then(|help| help.strip_prefix("target = "));
        let (Code::Target, Some(help)) = (diagnostic.code, help) else {
            kept.push(diagnostic);
            continue;
        };
        let help = help.to_owned();
        let same = |one: &&mut Diagnostic| {
            one.code == Code::Target
                && one.primary == target.loc
                && one.help.as_ref() == Some(&help)
        };
        if let Some(first) = kept.iter_mut().find(same) {
            first.secondary.push((diagnostic.primary, "so does this".to_owned()));
        } else {
            let at = std::mem::replace(&mut diagnostic.primary, target.loc);
            if at != target.loc {
                diagnostic.secondary.insert(0, (at, "this needs another target".to_owned()));
            }
            diagnostic.help = Some(help);
            kept.push(diagnostic);
        }
    }
    *list = kept;
}

/// The message about a layout in a constant of the file points into the constant, and its help is for it.
fn in_constant(unit: &Unit, exprs: &Exprs<'_>, locations: &Locations, diagnostic: &mut Diagnostic) {
    if diagnostic.code != Code::LayoutForm {
        return;
    }
    let named = exprs.0.get(&diagnostic.primary).and_then(|expr| expr.name());
    let constant = unit.items.iter().find_map(|item| match item {
        Item::Const(item) if Some(item.name.name.as_str()) == named => Some(item),
        Item::Const(_)
        | Item::Function(_)
        | Item::Struct(_)
        | Item::Impl(_)
        | Item::Trait(_)
        | Item::Use(_)
        | Item::Refused(_) => None,
    });
    let Some(constant) = constant else { return };
    let warps = diagnostic.compare.iter().any(|row| row.what == "warps");
    let part = if let ExprKind::Call(of, args) = &constant.value.kind
        && warps
        && of.name() == Some("blocked")
    {
        args.get(2)
    } else {
        None
    };
    let at = part.unwrap_or(&constant.value).loc;
    let help = diagnostic.help.take();
    let Some((place, _)) = locations.place_away(at) else {
        diagnostic.help = help;
        return;
    };
    if part.is_some() {
        diagnostic.notes.push(
            "the third list of `blocked` says how many warps an axis has; their product is the number of warps".to_owned(),
        );
    }
    diagnostic.primary = at;
    let name = &constant.name.name;
    diagnostic.help = help.map(|layout| {
        format!("const {name}: Layout = {layout}; // in place of line {}", place.line)
    });
}

/// Where an expression names a variable, or a field of one, first.
pub(super) fn named(expr: &Expr, name: &str) -> Option<Loc> {
    let is_name = expr.name() == Some(name)
        || matches!(expr.kind, ExprKind::Field(..)) && expr.text().as_deref() == Some(name);
    if is_name {
        return Some(expr.loc);
    }
    let mut found = None;
    children(expr, &mut |child| found = found.or_else(|| named(child, name)));
    found
}

/// Sets the messages of a unit beside its expressions.
pub(crate) fn set(unit: &Unit, locations: &Locations, problems: &mut Problems) {
    if problems.is_empty() {
        return;
    }
    let exprs = Exprs::of(unit);
    problems.change(|list| {
        super::threads::set(unit, list);
        targets(unit, list);
        let find = |loc| exprs.0.get(&loc).copied();
        for diagnostic in list.iter_mut() {
            in_constant(unit, &exprs, locations, diagnostic);
            // The same extent in several places is one problem.
            if diagnostic.code != Code::Extent {
                super::lines::set(unit, locations, &find, diagnostic);
            }
            if let Some((operand, otherwise)) = diagnostic.operand.take() {
                let expr = exprs.0.get(&diagnostic.primary);
                // What is assigned to keeps its type.
                let kept =
                    |expr: &&&Expr| operand == 0 && matches!(expr.kind, ExprKind::AssignOp(..));
                let expr = expr.filter(|expr| !kept(expr));
                match expr.and_then(|expr| operands(expr).get(operand).copied()) {
                    Some(operand) => diagnostic.primary = operand.loc,
                    None if otherwise.is_some() => diagnostic.help = otherwise,
                    None => aside(diagnostic, operand),
                }
            }
            if let Some(to) = diagnostic.help.as_deref().and_then(|help| help.strip_prefix("_ as "))
            {
                let text = find(diagnostic.primary).and_then(Expr::operand_text);
                diagnostic.help = text.map(|text| format!("{text} as {to}"));
            }
            if let Some(help) = diagnostic.help.as_deref()
                && let Some(of) = help.strip_suffix(" as i32")
            {
                let expr = exprs.0.get(&diagnostic.primary).copied();
                diagnostic.help =
                    converted(expr, of).or_else(|| (help != CONVERTED).then(|| help.to_owned()));
            }
            if let Some(help) = diagnostic.help.as_deref()
                && let Some(expr) = exprs.0.get(&diagnostic.primary)
                && let Some(whole) = continued(expr, diagnostic.code, help)
            {
                diagnostic.help = Some(whole);
            }
        }
        let mut kept: Vec<(Option<String>, Diagnostic)> = Vec::new();
        for diagnostic in std::mem::take(list) {
            let word = exprs.word(&diagnostic);
            let same = |(other, of): &&mut (Option<String>, Diagnostic)| {
                word.is_some() && *other == word && of.says_as(&diagnostic)
            };
            match kept.iter_mut().find(same) {
                Some((_, first)) => {
                    first.secondary.push((diagnostic.primary, "the same here".to_owned()));
                }
                None => kept.push((word, diagnostic)),
            }
        }
        list.extend(kept.into_iter().map(|(_, diagnostic)| diagnostic));
        for diagnostic in list.iter_mut().filter(|one| one.code == Code::Extent) {
            super::lines::set(unit, locations, &find, diagnostic);
        }
    });
}
