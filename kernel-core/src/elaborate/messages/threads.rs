//! Numbers of threads, which kernels have not: an index made of them is a tile of positions.
//!
//! ```text
//! blockIdx.x * blockDim.x + threadIdx.x
//!
//! block_id(0) * 256 + arange(0, 256)
//! ```

use std::collections::BTreeMap;

use super::{advice::NO_THREADS, lines::functions};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::language::reach::children,
    ir::{Binary, Compare},
    loc::Loc,
    syntax::{BinOp, Block, Expr, ExprKind, Literal, PatKind, Stmt, Unit},
};

/// A number of the launch in other languages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    /// The place of the block along an axis.
    Block(usize),
    /// How many blocks there are along an axis.
    Blocks(usize),
    /// How many threads a block has.
    Threads,
    /// The number of a thread in its block.
    Thread,
    /// The number of a thread in the grid.
    Global,
    Lane,
    Warp,
}

/// What an expression stands for, and its name.
fn number(expr: &Expr) -> Option<(Number, &str)> {
    if let ExprKind::Field(of, axis) = &expr.kind {
        let axis = ["x", "y", "z"].iter().position(|name| *name == axis.name)?;
        let of = of.name()?;
        let number = match (of, axis) {
            ("blockIdx", _) => Number::Block(axis),
            ("gridDim", _) => Number::Blocks(axis),
            ("blockDim", 0) => Number::Threads,
            ("threadIdx", 0) => Number::Thread,
            (_, _) => return None,
        };
        return Some((number, of));
    }
    let (of, axis) = if let ExprKind::Call(of, args) = &expr.kind {
        let axis = match &args[..] {
            [] => 0,
            [only] => {
                let ExprKind::Lit(Literal::Int(axis @ 0..3, _)) = only.kind else { return None };
                usize::try_from(axis).ok()?
            }
            [_, ..] => return None,
        };
        (of.name()?, axis)
    } else {
        (expr.name()?, 0)
    };
    let number = match (of, axis) {
        ("block_idx" | "get_group_id" | "program_id", _) => Number::Block(axis),
        ("thread_id" | "thread_idx" | "tid" | "get_local_id", 0) => Number::Thread,
        ("get_global_id", 0) => Number::Global,
        ("block_dim" | "get_local_size", 0) => Number::Threads,
        ("lane_id" | "laneId", 0) => Number::Lane,
        ("warp_id" | "warpId", 0) => Number::Warp,
        (_, _) => return None,
    };
    Some((number, of))
}

/// What the kernel writes instead, for a block of so many elements; none for what has nothing in its place alone.
fn instead(number: Number, elems: i128) -> Option<String> {
    match number {
        Number::Block(axis) => Some(format!("block_id({axis})")),
        Number::Blocks(axis) => Some(format!("num_blocks({axis})")),
        Number::Threads => Some(elems.to_string()),
        Number::Thread => Some(format!("arange(0, {elems})")),
        Number::Global => Some(format!("block_id(0) * {elems} + arange(0, {elems})")),
        Number::Lane => Some("arange(0, 32)".to_owned()),
        Number::Warp => None,
    }
}

/// The text of an expression with all numbers of threads in it written as kernels do.
fn rewritten(expr: &Expr, elems: i128) -> Option<String> {
    let mut text = expr.line()?;
    // A number made of those of the warp and of the lane is that of the thread.
    if let ExprKind::Binary(BinOp::Arith(Binary::Add), a, b) = &expr.kind
        && let ExprKind::Binary(BinOp::Arith(Binary::Mul), warp, _) = &a.kind
        && matches!((number(warp), number(b)), (Some((Number::Warp, _)), Some((Number::Lane, _))))
    {
        return instead(Number::Thread, elems);
    }
    let mut parts = Vec::new();
    inside(expr, &mut parts);
    for part in parts {
        let (number, _) = number(part)?;
        text = text.replace(&part.line()?, &instead(number, elems)?);
    }
    Some(text)
}

/// The numbers of threads and blocks in an expression.
fn inside<'a>(expr: &'a Expr, parts: &mut Vec<&'a Expr>) {
    if number(expr).is_some() {
        parts.push(expr);
        return;
    }
    children(expr, &mut |child| inside(child, parts));
}

/// By what the number of the block is multiplied beside these numbers, if it is.
fn factor(expr: &Expr) -> Option<i128> {
    if let ExprKind::Binary(BinOp::Arith(Binary::Mul), a, b) = &expr.kind {
        let block = |expr: &Expr| {
            let own = matches!(&expr.kind, ExprKind::Call(of, _) if of.name() == Some("block_id"));
            own || matches!(number(expr), Some((Number::Block(_), _)))
        };
        for (one, other) in [(a, b), (b, a)] {
            if let (true, ExprKind::Lit(Literal::Int(by, _))) = (block(one), &other.kind) {
                return Some(*by).filter(|by| by.count_ones() == 1 && *by > 0);
            }
        }
    }
    let mut found = None;
    children(expr, &mut |child| found = found.or_else(|| factor(child)));
    found
}

/// Statements with the expressions in them that are sums and products of what they hold.
struct Sum<'a> {
    /// The largest expression of operators around the numbers.
    expr: &'a Expr,
    /// The variable that gets it.
    name: Option<&'a str>,
}

fn sums<'a>(expr: &'a Expr, name: Option<&'a str>, all: &mut Vec<Sum<'a>>) {
    let operator = |expr: &Expr| matches!(expr.kind, ExprKind::Binary(BinOp::Arith(_), ..));
    if operator(expr) || number(expr).is_some() {
        all.push(Sum { expr, name });
        return;
    }
    if let ExprKind::Block(block) | ExprKind::For(_, _, _, block) | ExprKind::Loop(_, block) =
        &expr.kind
    {
        return sums_of(block, all);
    }
    if let ExprKind::If(condition, then, otherwise) = &expr.kind {
        sums(condition, None, all);
        sums_of(then, all);
        if let Some(otherwise) = otherwise {
            sums(otherwise, None, all);
        }
        return;
    }
    children(expr, &mut |child| sums(child, None, all));
}

fn sums_of<'a>(block: &'a Block, all: &mut Vec<Sum<'a>>) {
    for stmt in &block.stmts {
        match stmt {
            Stmt::Let { pat, init: Some(init), .. } => {
                let name =
                    if let PatKind::Ident { name, .. } = &pat.kind { Some(&**name) } else { None };
                sums(init, name, all);
            }
            Stmt::Let { .. } => {}
            Stmt::Expr(expr) => sums(expr, None, all),
        }
    }
    if let Some(tail) = &block.tail {
        sums(tail, None, all);
    }
}

/// Makes one message of all that are about numbers of threads in one expression.
pub(super) fn set(unit: &Unit, list: &mut Vec<Diagnostic>) {
    let Some(kernel) = unit.kernels.first() else { return };
    let warps = match kernel.attr.warps.as_ref().map(|warps| &warps.kind) {
        Some(ExprKind::Lit(Literal::Int(warps, _))) => *warps,
        Some(_) | None => 4,
    };
    let threads = Some(warps * 32).filter(|threads| threads.count_ones() == 1 && *threads > 0);
    one_thread(unit, list);
    let mut all = Vec::new();
    for body in functions(unit).filter_map(|function| function.body.as_ref()) {
        sums_of(body, &mut all);
    }
    for Sum { expr, name } in all {
        let mut parts = Vec::new();
        inside(expr, &mut parts);
        let said: BTreeMap<Loc, &Expr> = parts
            .iter()
            .flat_map(|part| places(part).into_iter().map(|loc| (loc, *part)))
            .collect();
        let about =
            |one: &Diagnostic| one.code == Code::UnknownName && said.contains_key(&one.primary);
        let indices: Vec<usize> =
            list.iter().enumerate().filter(|(_, one)| about(one)).map(|(index, _)| index).collect();
        let Some(&first) = indices.first() else { continue };
        let Some(elems) = factor(expr).or(threads) else { continue };
        let only = said[&list[first].primary];
        let at = if indices.len() > 1 { expr } else { only };
        let Some(help) = rewritten(at, elems) else { continue };
        // A part of a product stays one.
        let help =
            if at.loc != expr.loc && help.contains(" + ") { format!("({help})") } else { help };
        let mut names: Vec<String> = Vec::new();
        for &index in &indices {
            let name = number(said[&list[index].primary]).map(|(_, name)| format!("`{name}`"));
            names.extend(name.filter(|name| !names.contains(name)));
        }
        let tile = help.contains("arange(");
        let diagnostic = &mut list[first];
        diagnostic.primary = at.loc;
        diagnostic.headline = format!("nothing is called {} here", crate::diag::one_of(&names));
        diagnostic.notes = if tile || names.len() > 1 {
            vec![NO_THREADS.to_owned()]
        } else {
            std::mem::take(&mut diagnostic.notes)
        };
        if let (true, Some(name)) = (tile, name) {
            diagnostic.notes.push(format!("`{name}` is a tile of positions then: `{name}.lt(..)` is a mask, for `load_masked` and `store_masked`"));
        }
        diagnostic.help = Some(help);
        diagnostic.example = None;
        let gone: Vec<usize> = indices.into_iter().skip(1).collect();
        let mut index = 0;
        list.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
    }
}

/// Branches for the thread with the number 0: what a block does once stands without a branch.
fn one_thread(unit: &Unit, list: &mut [Diagnostic]) {
    fn find<'a>(expr: &'a Expr, all: &mut Vec<(&'a Expr, &'a Expr, &'a Block)>) {
        if let ExprKind::If(condition, then, None) = &expr.kind
            && let ExprKind::Binary(BinOp::Compare(Compare::Eq), one, zero) = &condition.kind
            && matches!(zero.kind, ExprKind::Lit(Literal::Int(0, _)))
            && matches!(number(one), Some((Number::Thread | Number::Lane, _)))
        {
            all.push((expr, one, then));
        }
        children(expr, &mut |child| find(child, all));
    }
    let mut all = Vec::new();
    let bodies = functions(unit).filter_map(|function| function.body.as_ref());
    bodies.flat_map(Block::exprs).for_each(|expr| find(expr, &mut all));
    for (branch, one, then) in all {
        let said = places(one);
        let about = |diagnostic: &&mut Diagnostic| {
            diagnostic.code == Code::UnknownName && said.contains(&diagnostic.primary)
        };
        let Some(diagnostic) = list.iter_mut().find(about) else { continue };
        let lines = then.stmts.iter().map(|stmt| match stmt {
            Stmt::Expr(expr) if is_call(expr) => Some(format!("{};", expr.line()?)),
            Stmt::Expr(_) | Stmt::Let { .. } => None,
        });
        let tail = then
            .tail
            .as_deref()
            .map(|tail| Some(format!("{};", tail.line().filter(|_| is_call(tail))?)));
        let Some(lines) = lines.chain(tail).collect::<Option<Vec<_>>>() else { continue };
        if lines.is_empty() {
            continue;
        }
        diagnostic.primary = branch.loc;
        diagnostic.notes = vec!["a kernel is written for a whole block: one thread starts a copy, arrives at a barrier and writes to one address, without a branch".to_owned()];
        diagnostic.help = Some(lines.join("\n"));
        diagnostic.example = None;
    }
}

/// Whether a statement calls something: what leaves the function or changes a variable does so for the whole block.
fn is_call(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Call(..) | ExprKind::Method(..))
}

/// The places at which a message may be about such a number: the whole, and its name.
fn places(expr: &Expr) -> Vec<Loc> {
    let mut all = vec![expr.loc];
    if let ExprKind::Call(of, _) | ExprKind::Field(of, _) = &expr.kind {
        all.extend(places(of));
    }
    if let ExprKind::Path(path) = &expr.kind {
        all.extend(path.segments.iter().map(|segment| segment.loc).chain([path.loc]));
    }
    all
}
