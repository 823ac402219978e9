//! Statements that are missing: the line before which they go, and how the kernel's own names and loops spell them.

use super::{
    in_place::named,
    masks, parts, rings,
    rings::{changes, other_phase, position_in, variables},
    widths,
};
use crate::{
    diag::{Commit, Diagnostic, Lacking, Missing, Phase, Signal, Spot},
    elaborate::language::reach::children,
    loc::{Loc, Locations},
    syntax::{Block, Expr, ExprKind, Function, Item, Literal, PatKind, Stmt, Unit},
};

/// A block on the path to a place, and the statement of it that the path goes through.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) block: &'a Block,
    pub(super) index: usize,
    /// The loop whose body the block is, if it is one.
    pub(super) around: Option<&'a Expr>,
}

impl Step<'_> {
    pub(super) fn place(&self, index: usize) -> Option<Loc> {
        match self.block.stmts.get(index) {
            Some(Stmt::Let { pat, .. }) => Some(pat.loc),
            Some(Stmt::Expr(expr)) => Some(expr.loc),
            None => self.block.tail.as_ref().map(|tail| tail.loc),
        }
    }

    /// Goes on to the commit of products after the statement, if there is one.
    fn go_to_commit(&mut self) {
        let is_commit = |stmt: &Stmt| {
            let Stmt::Expr(Expr { kind: ExprKind::Call(of, _), .. }) = stmt else { return false };
            let ExprKind::Path(path) = &of.kind else { return false };
            path.segments.last().is_some_and(|last| last.name == "commit")
        };
        let mut later = self.block.stmts.iter().enumerate().skip(self.index + 1);
        if let Some((index, _)) = later.find(|(_, stmt)| is_commit(stmt)) {
            self.index = index;
        }
    }

    /// The statement with this number, if it calls a function of this name without arguments.
    fn calls(&self, index: usize, name: &str) -> bool {
        let Some(Stmt::Expr(expr)) = self.block.stmts.get(index) else { return false };
        matches!(&expr.kind, ExprKind::Call(of, args) if args.is_empty() && of.name() == Some(name))
    }
}

/// The blocks around a place, from the outermost to the innermost.
fn path<'a>(
    block: &'a Block,
    around: Option<&'a Expr>,
    to: Loc,
    steps: &mut Vec<Step<'a>>,
) -> bool {
    let stmts = block.stmts.iter().map(|stmt| match stmt {
        Stmt::Let { pat, init, .. } => (pat.loc == to, init.as_ref()),
        Stmt::Expr(expr) => (false, Some(expr)),
    });
    let tail = block.tail.as_deref().map(|tail| (false, Some(tail)));
    for (index, (is_it, expr)) in stmts.chain(tail).enumerate() {
        steps.push(Step { block, index, around });
        if is_it || expr.is_some_and(|expr| within(expr, to, steps)) {
            return true;
        }
        steps.pop();
    }
    false
}

/// The same for the blocks of an expression.
fn within<'a>(expr: &'a Expr, to: Loc, steps: &mut Vec<Step<'a>>) -> bool {
    if expr.loc == to {
        return true;
    }
    match &expr.kind {
        ExprKind::Block(block) | ExprKind::ConstBlock(block) => path(block, None, to, steps),
        ExprKind::If(condition, then, otherwise) => {
            within(condition, to, steps)
                || path(then, None, to, steps)
                || otherwise.as_deref().is_some_and(|otherwise| within(otherwise, to, steps))
        }
        ExprKind::While(_, over, body) | ExprKind::For(_, _, over, body) => {
            within(over, to, steps) || path(body, Some(expr), to, steps)
        }
        ExprKind::Loop(_, body) => path(body, Some(expr), to, steps),
        ExprKind::Refused(parts) => parts.iter().any(|part| path(part, None, to, steps)),
        ExprKind::Lit(_)
        | ExprKind::Path(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Assign(..)
        | ExprKind::AssignOp(..)
        | ExprKind::Call(..)
        | ExprKind::Method(..)
        | ExprKind::Field(..)
        | ExprKind::Index(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Repeat(..)
        | ExprKind::Struct(..)
        | ExprKind::Fits { .. }
        | ExprKind::Break(..)
        | ExprKind::Continue(_)
        | ExprKind::Return(_)
        | ExprKind::Closure(..)
        | ExprKind::Range(..)
        | ExprKind::Cast(..)
        | ExprKind::Ref(..)
        | ExprKind::Said { .. }
        | ExprKind::TileLayout(_)
        | ExprKind::Ptx(_) => {
            let mut found = false;
            children(expr, &mut |child| found = found || within(child, to, steps));
            found
        }
    }
}

/// The functions of a unit.
pub(super) fn functions(unit: &Unit) -> impl Iterator<Item = &Function> {
    let kernels = unit.kernels.iter().map(|kernel| &*kernel.function);
    let of_items = unit.items.iter().flat_map(|item| match item {
        Item::Function(function) => vec![&**function],
        Item::Impl(item) => item.functions.iter().map(|one| &**one).collect(),
        Item::Trait(item) => item.functions.iter().map(|one| &**one).collect(),
        Item::Struct(_) | Item::Const(_) | Item::Use(_) | Item::Refused(_) => Vec::new(),
    });
    kernels.chain(of_items)
}

/// The blocks around a place, in the function that it is in.
pub(super) fn path_to(unit: &Unit, to: Loc) -> Vec<Step<'_>> {
    functions(unit)
        .filter_map(|function| function.body.as_ref())
        .find_map(|body| {
            let mut steps = Vec::new();
            path(body, None, to, &mut steps).then_some(steps)
        })
        .unwrap_or_default()
}

/// Where a missing statement goes.
pub(super) struct Gap<'a> {
    /// The blocks down to the one in which it goes.
    steps: Vec<Step<'a>>,
    /// The statement of that block that what comes first is in, if it stands before the other one in the text.
    after: Option<usize>,
}

impl<'a> Gap<'a> {
    pub(super) fn of(unit: &'a Unit, missing: &Missing) -> Option<Gap<'a>> {
        let (from, mut steps) = (path_to(unit, missing.after), path_to(unit, missing.before));
        match missing.spot {
            Spot::After | Spot::Behind => {
                let mut steps = from;
                // A device function of another module is not looked at.
                steps.last()?;
                if let Lacking::Phase(Phase { commit: Commit::Done, .. }) = missing.what {
                    steps.last_mut()?.go_to_commit();
                }
                while missing.spot == Spot::Behind && steps.last()?.around.is_some() {
                    steps.pop();
                }
                return Some(Gap { steps, after: None });
            }
            Spot::Before => {
                let last = steps.last()?;
                let same = from.iter().find(|step| std::ptr::eq(step.block, last.block));
                let after = same.map(|step| step.index).filter(|&index| index < last.index);
                return Some(Gap { steps, after });
            }
            Spot::Between => {}
        }
        let common = from.iter().zip(&steps).take_while(|(a, b)| std::ptr::eq(a.block, b.block));
        let common = common.count();
        let Some(last) = common.checked_sub(1) else {
            // In two functions.
            return (!steps.is_empty()).then_some(Gap { steps, after: None });
        };
        let (first, second) = (from[last].index, steps[last].index);
        steps.truncate(common);
        Some(Gap { steps, after: (first < second).then_some(first) })
    }

    fn last(&self) -> &Step<'a> {
        self.steps.last().expect("`Gap::of` keeps one step or more")
    }

    /// The last statement between the two places that calls this function.
    fn call(&self, name: &str) -> Option<usize> {
        let last = self.last();
        let from = self.after.map_or(0, |after| after + 1);
        (from..last.index).rev().find(|&index| last.calls(index, name))
    }

    /// A statement between the two places that waits for groups of copies, though none was committed.
    fn waits_for_groups(&self) -> Option<usize> {
        let last = self.last();
        let is_wait = |index: &usize| {
            let Some(Stmt::Expr(expr)) = last.block.stmts.get(*index) else { return false };
            matches!(&expr.kind, ExprKind::Call(of, _) if of.name() == Some("copy_async_wait"))
        };
        let wait = (self.after? + 1..last.index).find(is_wait)?;
        (!(0..wait).any(|index| last.calls(index, "copy_async_commit"))).then_some(wait)
    }

    /// The loops around the place.
    pub(super) fn runs(&self) -> Runs<'a> {
        let mut loops = self.steps.iter().filter_map(|step| step.around);
        match (loops.next(), loops.next()) {
            (None, _) => Runs::Once,
            (Some(only), None) => number_of(only).map_or(Runs::Counted(only), Runs::Of),
            // It goes on from one run of the inner loop to the next.
            (Some(outer), Some(_)) => Runs::Counted(outer),
        }
    }
}

/// How often a statement has run before.
pub(super) enum Runs<'a> {
    /// It runs once.
    Once,
    /// As often as this expression says.
    Of(String),
    /// As often as a variable says, which is declared before this loop.
    Counted(&'a Expr),
}

/// The number of an iteration, in terms of the variable of a loop over a range.
#[expect(clippy::wildcard_enum_match_arm, reason = "only ranges count")]
fn number_of(looped: &Expr) -> Option<String> {
    let ExprKind::For(_, pat, over, _) = &looped.kind else { return None };
    let PatKind::Ident { name, .. } = &pat.kind else { return None };
    let (from, step) = match &over.kind {
        ExprKind::Range(Some(from), Some(_)) => (&**from, None),
        ExprKind::Call(of, args) if of.name() == Some("range") => match &args[..] {
            [from, _, step] => (from, Some(step)),
            _ => return None,
        },
        _ => return None,
    };
    let number = match from.kind {
        ExprKind::Lit(Literal::Int(0, _)) => name.clone(),
        _ => format!("({name} - {})", from.operand_text()?),
    };
    match step.map(|step| &step.kind) {
        None | Some(ExprKind::Lit(Literal::Int(1, _))) => Some(number),
        Some(ExprKind::Unary(..)) => None,
        Some(_) => Some(format!("{number} / {}", step?.operand_text()?)),
    }
}

/// The first of these names that nothing in the unit has.
pub(super) fn free(unit: &Unit, names: [&'static str; 3]) -> Option<&'static str> {
    names.into_iter().find(|name| !is_taken(unit, name))
}

/// Whether anything in the unit has this name.
fn is_taken(unit: &Unit, name: &str) -> bool {
    let is_it = |expr: &Expr| expr.name() == Some(name);
    let declares = |pat: &PatKind| matches!(pat, PatKind::Ident { name: own, .. } if own == name);
    let declared = functions(unit).any(|function| {
        let mut found = function.params.iter().any(|(pat, _)| declares(&pat.kind));
        if let Some(body) = &function.body {
            masks::each_let(body, &mut |pat, _| found |= declares(pat));
        }
        found
    });
    if declared {
        return true;
    }
    let bodies = functions(unit).filter_map(|function| function.body.as_ref());
    bodies.flat_map(Block::exprs).any(|expr| holds(expr, &is_it))
}

/// The wait for a product where its accumulator is used, or where it is started; none if it has to be a statement of its own.
fn wait_in_place<'a>(
    missing: &Missing,
    find: &dyn Fn(Loc) -> Option<&'a Expr>,
    diagnostic: &mut Diagnostic,
) -> Option<String> {
    let Lacking::Product { name, pending, .. } = &missing.what else { return None };
    if missing.spot == Spot::Behind && name.is_some() {
        return None;
    }
    let at = find(diagnostic.primary)?;
    let around = matches!(
        at.kind,
        ExprKind::For(..) | ExprKind::While(..) | ExprKind::Loop(..) | ExprKind::If(..)
    );
    let used = name.as_deref().filter(|_| !around).and_then(|name| named(at, name));
    if let (Some(used), Some(name)) = (used, name) {
        diagnostic.primary = used;
        return Some(format!("wgmma::wait({pending}, {name})"));
    }
    let mut steps = Vec::new();
    let product = find(missing.after)?;
    if !around && !within(at, missing.after, &mut steps) || around && *pending > 0 {
        return None;
    }
    let help = format!("wgmma::wait({pending}, {})", product.line()?);
    let before = std::mem::replace(&mut diagnostic.primary, product.loc);
    diagnostic.secondary.retain(|(loc, _)| *loc != product.loc);
    if around {
        diagnostic.secondary.push((before, "it is in flight from here on".to_owned()));
    }
    Some(help)
}

/// The wait at a place, with its argument.
pub(super) fn wait_at<'a>(
    at: Loc,
    find: &dyn Fn(Loc) -> Option<&'a Expr>,
) -> Option<(&'a Expr, &'a Expr)> {
    let ExprKind::Method(barrier, name, args) = &find(at)?.kind else { return None };
    let [only] = &args[..] else { return None };
    (name.name == "wait").then_some((barrier, only))
}

/// Writes the help for what a kernel lacks.
pub(super) fn set<'a>(
    unit: &'a Unit,
    locations: &Locations,
    find: &dyn Fn(Loc) -> Option<&'a Expr>,
    diagnostic: &mut Diagnostic,
) {
    let lines = Lines { unit, locations };
    if rings::stays(unit, &lines, diagnostic) {
        return;
    }
    let Some(missing) = diagnostic.missing.take() else { return };
    let help = match missing.what {
        Lacking::Mask(rank) => masks::set(unit, &lines, (missing.before, rank), diagnostic),
        Lacking::Selections => masks::matched(unit, missing.before, diagnostic),
        Lacking::Arrival { ref barrier } => lines.arrival(&missing, barrier, find),
        Lacking::Taken { ref name, dtype, ref shape } => {
            let taken = find(diagnostic.primary).and_then(|expr| named(expr, name));
            taken.and_then(|at| {
                diagnostic.primary = at;
                lines.taken(&missing, (name, dtype, shape))
            })
        }
        Lacking::LoopInside => parts::set(unit, missing.before, diagnostic),
        Lacking::Bound => masks::bound(unit, missing.before),
        Lacking::Extent { extent, up } => {
            widths::set(unit, &lines, (missing.before, extent, up), diagnostic)
        }
        Lacking::Passed { ref name, dtype, ref shape } => {
            lines.passed(&missing, find, (name, dtype, shape))
        }
        Lacking::Product { .. } => {
            wait_in_place(&missing, find, diagnostic).or_else(|| lines.missing(&missing, find))
        }
        Lacking::OtherPhase { .. } | Lacking::OtherParity => {
            other_phase(&missing, unit, find, diagnostic)
        }
        Lacking::CopyAsync
        | Lacking::Expect { .. }
        | Lacking::Phase(_)
        | Lacking::HandedOver(_)
        | Lacking::Text(_) => lines.missing(&missing, find),
    };
    if help.is_some() {
        diagnostic.help = help;
        diagnostic.example = None;
    }
}

/// Code with the lines at which it goes.
pub(super) struct Lines<'a> {
    unit: &'a Unit,
    locations: &'a Locations,
}

impl Lines<'_> {
    /// Code, with the line before which it goes.
    fn before(&self, code: &str, at: Loc) -> String {
        match self.locations.line_column(at).0 {
            0 => code.to_owned(),
            line => format!("{code} // before line {line}"),
        }
    }

    /// Code, with the line that it replaces.
    pub(super) fn instead(&self, code: &str, at: Loc) -> String {
        match self.locations.line_column(at).0 {
            0 => code.to_owned(),
            line => format!("{code} // in place of line {line}"),
        }
    }

    /// Code, with the line after which it goes.
    pub(super) fn behind(&self, code: &str, at: Loc) -> String {
        match self.locations.last_line(at) {
            0 => code.to_owned(),
            line => format!("{code} // after line {line}"),
        }
    }

    /// Missing statements, each with its line.
    fn missing<'e>(
        &self,
        missing: &Missing,
        find: &dyn Fn(Loc) -> Option<&'e Expr>,
    ) -> Option<String> {
        let gap = Gap::of(self.unit, missing)?;
        let last = gap.last();
        let here = last.place(last.index)?;
        if self.locations.place_away(here).is_some() {
            return None;
        }
        let put = |code: &str| match missing.spot {
            Spot::Between | Spot::Before => self.before(code, here),
            Spot::After | Spot::Behind => self.behind(code, here),
        };
        match &missing.what {
            Lacking::Text(text) => Some(put(text)),
            Lacking::Expect { barrier, bytes } => {
                let ExprKind::Call(_, args) = &find(missing.before)?.kind else { return None };
                let of = |arg: &&Expr| {
                    let of = if let ExprKind::Index(of, _) = &arg.kind { of } else { *arg };
                    of.name() == Some(barrier.as_str())
                };
                let barrier = args.iter().find(of)?.text()?;
                Some(put(&format!("{barrier}.expect({bytes});")))
            }
            Lacking::CopyAsync => {
                if let Some(at) = gap.waits_for_groups().and_then(|index| last.place(index)) {
                    return Some(self.before("copy_async_commit();", at));
                }
                let commits = gap.call("copy_async_commit").is_some();
                let wait = if commits { "copy_async_wait(0);" } else { "copy_async_wait_all();" };
                Some(match gap.call("sync").and_then(|index| last.place(index)) {
                    Some(meets) => self.before(wait, meets),
                    None => put(&format!("{wait} sync();")),
                })
            }
            Lacking::Product { name, mutable, pending } => {
                let name = name.as_ref()?;
                let gets = if *mutable { "" } else { "let " };
                Some(put(&format!("{gets}{name} = wgmma::wait({pending}, {name});")))
            }
            Lacking::Phase(phase) => self.phase(phase, &gap, missing, find, &put),
            Lacking::HandedOver(signal) => self.handed_over(*signal, missing),
            Lacking::OtherPhase { .. }
            | Lacking::OtherParity
            | Lacking::Mask(_)
            | Lacking::Selections
            | Lacking::Bound
            | Lacking::LoopInside
            | Lacking::Extent { .. }
            | Lacking::Arrival { .. }
            | Lacking::Taken { .. }
            | Lacking::Passed { .. } => None,
        }
    }

    fn phase<'e>(
        &self,
        phase: &Phase,
        gap: &Gap<'_>,
        missing: &Missing,
        find: &dyn Fn(Loc) -> Option<&'e Expr>,
        put: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let Phase { barrier, ring, commit, first, alone } = phase;
        let barrier = match commit {
            Commit::OfNewBarrier => free(self.unit, ["done", "finished", "over"])?,
            Commit::Done | Commit::Missing => barrier.as_str(),
        };
        let start = match commit {
            Commit::Missing | Commit::OfNewBarrier => format!("tcgen05::commit({barrier}); "),
            Commit::Done => String::new(),
        };
        // Before a copy that comes round, a wait would be for one that has not started.
        let in_loop = *alone && (missing.spot != Spot::Between || gap.after.is_some());
        if ring.is_some()
            && let Some(position) = find(missing.before).and_then(position_in)
        {
            return Some(put(&format!("{barrier}[{position}.slot].wait({position}.phase);")));
        }
        let (outer, waits) = match (gap.runs(), ring) {
            (Runs::Once, None) if *first => (None, format!("{start}{barrier}.wait(0);")),
            (Runs::Of(number), None) if in_loop => {
                (None, format!("{start}{barrier}.wait({number} % 2);"))
            }
            (Runs::Of(number), Some(ring)) if in_loop => {
                let slot = format!("{number} % {ring}");
                let reads = |expr: &Expr| matches!(&expr.kind, ExprKind::Index(_, at) if at.text().is_some_and(|text| text == slot));
                if !holds(find(missing.before)?, &reads) {
                    return None;
                }
                (None, format!("{start}{barrier}[{slot}].wait({number} / {ring} % 2);"))
            }
            (Runs::Counted(outer), None) if in_loop => {
                let phase = free(self.unit, ["phase", "parity", "flip"])?;
                let declared = format!("let mut {phase} = 0;");
                let wait = format!("{start}{barrier}.wait({phase}); {phase} ^= 1;");
                (Some((declared, outer.loc)), wait)
            }
            (Runs::Once | Runs::Of(_) | Runs::Counted(_), _) => return None,
        };
        let around = || gap.steps.iter().find_map(|step| step.around).map(|outer| outer.loc);
        let mut lines: Vec<String> = Vec::new();
        lines.extend(outer.map(|(declared, at)| self.before(&declared, at)));
        let new = *commit == Commit::OfNewBarrier;
        let made = new.then(|| format!("let {barrier} = barrier(1);"));
        match (made, around()) {
            (Some(made), Some(at)) => lines.extend([self.before(&made, at), put(&waits)]),
            (Some(made), None) => lines.push(put(&format!("{made} {waits}"))),
            (None, _) => lines.push(put(&waits)),
        }
        Some(lines.join("\n"))
    }

    /// A barrier between one access of each of two parts.
    fn handed_over(&self, signal: Signal, missing: &Missing) -> Option<String> {
        let [from, to] = [missing.after, missing.before].map(|at| path_to(self.unit, at));
        let looped = from.iter().chain(&to).any(|step| step.around.is_some());
        let both = from.iter().zip(&to).take_while(|(a, b)| std::ptr::eq(a.block, b.block)).last();
        let (first, last) = (from.last()?, to.last()?);
        if looped || std::ptr::eq(first.block, last.block) {
            return None;
        }
        let parts = both?.0.place(both?.0.index)?;
        let names = match signal {
            Signal::Arrive => ["ready", "handed_over", "written"],
            Signal::Commit => ["done", "ready", "finished"],
        };
        let name = free(self.unit, names)?;
        let signal = match signal {
            Signal::Arrive => format!("{name}.arrive();"),
            Signal::Commit => format!("tcgen05::commit({name});"),
        };
        Some(format!(
            "{}\n{}\n{}",
            self.before(&format!("let {name} = barrier(1);"), parts),
            self.behind(&signal, first.place(first.index)?),
            self.before(&format!("{name}.wait(0);"), last.place(last.index)?),
        ))
    }
}

impl Lines<'_> {
    /// An arrival at the barrier of that name with the same number, at the end of the block that waits, or before the number changes.
    fn arrival<'e>(
        &self,
        missing: &Missing,
        name: &str,
        find: &dyn Fn(Loc) -> Option<&'e Expr>,
    ) -> Option<String> {
        let of = |expr: &Expr| {
            let number = if let ExprKind::Index(_, at) = &expr.kind { Some(at) } else { None };
            match number {
                Some(at) => at.text().map(Some),
                None => expr.name().map(|_| None),
            }
        };
        let [(one, _), (other, _)] =
            [wait_at(missing.after, find)?, wait_at(missing.before, find)?];
        let barrier = match (of(one)?, of(other)?) {
            (Some(number), Some(_)) => format!("{name}[{number}]"),
            (None, None) => name.to_owned(),
            (Some(_), None) | (None, Some(_)) => return None,
        };
        let steps = path_to(self.unit, missing.after);
        let last = steps.last()?;
        let mut names = Vec::new();
        if let ExprKind::Index(_, at) = &one.kind {
            variables(at, &mut names);
        }
        let arrival = format!("{barrier}.arrive();");
        let later = last.block.stmts.iter().enumerate().skip(last.index + 1);
        if let Some((index, _)) = later.into_iter().find(|(_, stmt)| changes(stmt, &names)) {
            return Some(self.before(&arrival, last.place(index)?));
        }
        let count = last.block.stmts.len() + usize::from(last.block.tail.is_some());
        Some(self.behind(&arrival, last.place(count.checked_sub(1)?)?))
    }

    /// A tile from outside that a partition uses, by way of shared memory.
    fn taken(
        &self,
        missing: &Missing,
        (name, dtype, shape): (&str, &str, &[u32]),
    ) -> Option<String> {
        let steps = path_to(self.unit, missing.before);
        let whole = steps.last()?;
        let memory = free(self.unit, ["passed", "result", "handed_over"])?;
        let stored =
            format!("let {memory} = shared::<{dtype}>({shape:?}); {memory}.store({name});");
        Some(format!("{memory}.load()\n{}", self.before(&stored, whole.place(whole.index)?)))
    }

    /// What a partition computes for a variable from outside, by way of shared memory.
    fn passed<'e>(
        &self,
        missing: &Missing,
        find: &dyn Fn(Loc) -> Option<&'e Expr>,
        (name, dtype, shape): (&str, &str, &[u32]),
    ) -> Option<String> {
        let (inside, outside) =
            (path_to(self.unit, missing.after), path_to(self.unit, missing.before));
        let whole = outside.last()?;
        let (start, end) = (whole.place(whole.index)?, whole.place(whole.index)?);
        let partition = inside.get(outside.len())?;
        let memory = free(self.unit, ["passed", "result", "handed_over"])?;
        let extents = if shape.is_empty() { vec![1] } else { shape.to_vec() };
        let held = |value: &str| match shape {
            [] => format!("{memory}.store(full([1], {value}));"),
            _ => format!("{memory}.store({value});"),
        };
        let made = format!("let {memory} = shared::<{dtype}>({extents:?});");
        let item = if shape.is_empty() { ".item()" } else { "" };
        let taken = format!("{name} = {memory}.load(){item};");
        let made = self.before(&made, start);
        let taken = self.behind(&taken, end);
        if let ExprKind::Assign(to, value) = &find(missing.after)?.kind
            && inside.len() == outside.len() + 1
            && to.name() == Some(name)
            && let Some(value) = value.line()
        {
            let stored = self.instead(&held(&value), missing.after);
            return Some(format!("{made}\n{stored}\n{taken}"));
        }
        // A variable of the partition's own, which is stored at its end.
        let init = outside.iter().rev().find_map(|step| {
            step.block.stmts.iter().take(step.index).rev().find_map(|stmt| {
                let Stmt::Let { pat, init: Some(init), .. } = stmt else { return None };
                let is_it = matches!(&pat.kind, PatKind::Ident { name: own, .. } if own == name);
                is_it.then(|| init.line())?
            })
        })?;
        let own = self.before(&format!("let mut {name} = {init};"), partition.place(0)?);
        let count = partition.block.stmts.len() + usize::from(partition.block.tail.is_some());
        let stored = self.behind(&held(name), partition.place(count.checked_sub(1)?)?);
        Some(format!("{made}\n{own}\n{stored}\n{taken}"))
    }
}

/// Whether an expression or a part of it is like this.
fn holds(expr: &Expr, like: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = like(expr);
    children(expr, &mut |child| found = found || holds(child, like));
    found
}
