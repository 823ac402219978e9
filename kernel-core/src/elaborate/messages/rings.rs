//! Rings of barriers, and positions in them: the phase of a wait, and the variables that say which barrier it is.

use super::lines::{Gap, Lines, Runs, path_to, wait_at};
use crate::{
    diag::{Code, Diagnostic, Lacking, Missing},
    elaborate::language::reach::children,
    loc::Loc,
    syntax::{Block, Expr, ExprKind, PatKind, Stmt, Unit},
};

/// The field of a position in a ring that an expression is, with the name of the variable.
fn of_position<'a>(expr: &'a Expr, field: &str) -> Option<&'a str> {
    let ExprKind::Field(of, name) = &expr.kind else { return None };
    if name.name == field { of.name() } else { None }
}

/// The other end of the ring that the phase of a wait is of: where its position is made, and how that is spelled.
fn other_end(unit: &Unit, wait: Loc, argument: &Expr) -> Option<(Loc, String)> {
    let position = of_position(argument, "phase")?;
    let steps = path_to(unit, wait);
    let init = steps.iter().rev().find_map(|step| {
        step.block.stmts.iter().take(step.index).rev().find_map(|stmt| {
            let Stmt::Let { pat, init, .. } = stmt else { return None };
            let is_it =
                matches!(&pat.kind, PatKind::Ident { name, .. } if name.as_str() == position);
            if is_it { init.as_ref() } else { None }
        })
    })?;
    let text = init.line()?;
    let (reader, writer) = ("Ring::reader(", "Ring::writer(");
    let other = if text.contains(reader) {
        text.replacen(reader, writer, 1)
    } else if text.contains(writer) {
        text.replacen(writer, reader, 1)
    } else {
        return None;
    };
    Some((init.loc, other))
}

/// The phase for which a wait should be.
pub(super) fn other_phase<'a>(
    missing: &Missing,
    unit: &Unit,
    find: &dyn Fn(Loc) -> Option<&'a Expr>,
    diagnostic: &mut Diagnostic,
) -> Option<String> {
    let (_, argument) = wait_at(missing.before, find)?;
    if of_position(argument, "phase").is_some() {
        let (at, other) = other_end(unit, missing.before, argument)?;
        diagnostic.found_at = Some(diagnostic.primary);
        diagnostic.secondary.push((diagnostic.primary, "the wait is here".to_owned()));
        diagnostic.primary = at;
        return Some(other);
    }
    let help = match missing.what {
        Lacking::OtherParity => format!("{} ^ 1", argument.operand_text()?),
        Lacking::OtherPhase { ring, parity } => match Gap::of(unit, missing)?.runs() {
            Runs::Once => parity.to_string(),
            Runs::Of(number) => match ring {
                Some((ring, made)) => {
                    let count = find(made).and_then(|made| {
                        let ExprKind::Call(_, args) = &made.kind else { return None };
                        args.first()?.operand_text()
                    });
                    format!("{number} / {} % 2", count.unwrap_or_else(|| ring.to_string()))
                }
                None => format!("{number} % 2"),
            },
            Runs::Counted(_) => return None,
        },
        Lacking::CopyAsync
        | Lacking::Phase(_)
        | Lacking::Expect { .. }
        | Lacking::HandedOver(_)
        | Lacking::Product { .. }
        | Lacking::Mask(_)
        | Lacking::Selections
        | Lacking::Bound
        | Lacking::LoopInside
        | Lacking::Extent { .. }
        | Lacking::Arrival { .. }
        | Lacking::Taken { .. }
        | Lacking::Passed { .. }
        | Lacking::Text(_) => return None,
    };
    if argument.text().is_some_and(|text| text == help) {
        return None;
    }
    diagnostic.primary = argument.loc;
    Some(help)
}

/// The position in a ring of buffers by which an expression takes one of them.
pub(super) fn position_in(expr: &Expr) -> Option<String> {
    if let ExprKind::Index(_, at) = &expr.kind
        && let Some(position) = of_position(at, "slot")
    {
        return Some(position.to_owned());
    }
    let mut found = None;
    children(expr, &mut |child| found = found.take().or_else(|| position_in(child)));
    found
}

/// The variables that an expression names.
pub(super) fn variables<'a>(expr: &'a Expr, names: &mut Vec<&'a str>) {
    names.extend(expr.name());
    children(expr, &mut |child| variables(child, names));
}

/// Whether a statement gives one of these variables another value: an assignment to it or to a field, or a method that may change it.
pub(super) fn changes(stmt: &Stmt, names: &[&str]) -> bool {
    let Stmt::Expr(expr) = stmt else { return false };
    let (ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, _) | ExprKind::Method(to, ..)) =
        &expr.kind
    else {
        return false;
    };
    let root = if let ExprKind::Field(of, _) = &to.kind { of } else { to };
    root.name().is_some_and(|name| names.contains(&name))
}

/// The variable of a position in a ring that a block uses, if nothing in the block changes it.
fn stays_in(block: &Block) -> Option<String> {
    let mut used = None;
    block.exprs().for_each(|expr| used = used.take().or_else(|| position_in(expr)));
    used.filter(|used| !is_changed(block, used))
}

/// Whether a block changes a variable, or hands it on whole.
fn is_changed(block: &Block, name: &str) -> bool {
    block.exprs().any(|expr| changed_in(expr, name))
        || block.stmts.iter().any(|stmt| changes(stmt, &[name]))
}

/// Whether a part of an expression changes a variable, or hands it on whole.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others change nothing themselves")]
fn changed_in(expr: &Expr, name: &str) -> bool {
    let mut found = match &expr.kind {
        ExprKind::Ref(_, of) | ExprKind::Method(of, ..) => of.name() == Some(name),
        ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, _) => {
            let root = if let ExprKind::Field(of, _) = &to.kind { of } else { to };
            root.name() == Some(name)
        }
        _ => false,
    };
    children(expr, &mut |child| found = found || changed_in(child, name));
    found
}

/// A loop that uses buffers of a ring and stays at the first one: says so, with the call that is missing, if the message is about order.
pub(super) fn stays(unit: &Unit, lines: &Lines<'_>, diagnostic: &mut Diagnostic) -> bool {
    if !matches!(diagnostic.code, Code::Unordered | Code::WrongPhase | Code::Deadlock) {
        return false;
    }
    let places = std::iter::once(diagnostic.primary)
        .chain(diagnostic.secondary.iter().map(|(loc, _)| *loc))
        .collect::<Vec<_>>();
    for place in places {
        let steps = path_to(unit, place);
        let looped = steps.iter().enumerate().rev().find(|(_, step)| step.around.is_some());
        let Some((number, step)) = looped else { continue };
        let Some(name) = stays_in(step.block) else { continue };
        // The position is declared before the loop.
        let made = steps[..number].iter().enumerate().rev().find_map(|(at, outer)| {
            let loc = outer.block.stmts.iter().take(outer.index).rev().find_map(|stmt| {
                let Stmt::Let { pat, init: Some(init), .. } = stmt else { return None };
                let is_it = matches!(&pat.kind, PatKind::Ident { name: own, .. } if *own == name);
                is_it
                    .then(|| init.line().filter(|text| text.contains("Ring::")).map(|_| pat.loc))?
            })?;
            Some((at, loc))
        });
        // A loop around this one may go on to the next buffer.
        let made =
            made.filter(|(at, _)| !is_changed(steps[at + 1].block, &name)).map(|(_, loc)| loc);
        let count = step.block.stmts.len() + usize::from(step.block.tail.is_some());
        let end = count.checked_sub(1).and_then(|last| step.place(last));
        let (Some(made), Some(end)) = (made, end) else { continue };
        diagnostic.missing = None;
        diagnostic.example = None;
        diagnostic.secondary.push((made, format!("`{name}` stays at the first buffer")));
        diagnostic.help = Some(lines.behind(&format!("{name}.advance();"), end));
        return true;
    }
    false
}
