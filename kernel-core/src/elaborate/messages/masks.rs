//! Branches on masks, written again as what chooses element by element.
//!
//! ```text
//! if at.lt(n) { let v = load(x + at); store(y + at, v * 2.0); }
//!
//! let inside = at.lt(n);
//! let v = load_masked(x + at, inside, 0.0);
//! store_masked(y + at, inside, v * 2.0);
//! ```

use std::collections::BTreeSet;

use super::lines::{Lines, free, functions, path_to};
use crate::{
    diag::Diagnostic,
    elaborate::{
        language::reach::{children, jumps},
        tiles::arith::symbol,
    },
    ir::{Binary, Compare},
    loc::Loc,
    syntax::{
        BinOp, Block, Expr, ExprKind, Function, GenericArg, PatKind, Stmt, TypeExpr, Unit, VALUE,
    },
};

/// The statements that a mask chooses the elements of.
pub(super) struct Masked<'a> {
    function: &'a Function,
    /// How the mask is written.
    mask: String,
    /// The variables that it depends on.
    of: BTreeSet<String>,
    /// The tile of positions that it compares, if it may be along one axis of an address.
    variable: Option<String>,
}

/// A rewritten statement.
type Line = String;

impl<'a> Masked<'a> {
    pub(super) fn of(function: &'a Function, condition: &Expr, mask: String) -> Self {
        let mut of = BTreeSet::new();
        depends(function, condition, &mut of);
        Masked { function, mask, of, variable: condition.name().map(str::to_owned) }
    }

    /// Whether an address is a tile as the mask is: it depends on one of its variables.
    pub(super) fn chooses(&self, at: &Expr) -> bool {
        let mut of = BTreeSet::new();
        depends(self.function, at, &mut of);
        of.iter().any(|name| self.of.contains(name))
    }

    /// The mask as it has to be for an address: that of an axis, where the address has the variable along one.
    fn mask_at(&self, at: &Expr) -> Option<String> {
        let Some(variable) = &self.variable else { return Some(self.mask.clone()) };
        let mut axes = BTreeSet::new();
        self.axes(at, variable, &mut axes, 0);
        match axes.len() {
            0 => Some(self.mask.clone()),
            1 => Some(format!("{}.expand({})", self.mask, axes.first()?)),
            _ => None,
        }
    }

    /// Along which axes an expression has a variable: `cols.expand(0)`.
    fn axes(&self, expr: &Expr, variable: &str, axes: &mut BTreeSet<String>, depth: u32) {
        if let ExprKind::Method(of, name, args) = &expr.kind
            && name.name == "expand"
            && of.name() == Some(variable)
            && let [axis] = &args[..]
        {
            axes.extend(axis.text());
        }
        if let (Some(name), Some(body)) = (expr.name(), &self.function.body)
            && depth < 3
        {
            let mut inits = Vec::new();
            each_let(body, &mut |pat, init| {
                if matches!(pat, PatKind::Ident { name: own, .. } if own == name) {
                    inits.push(init);
                }
            });
            for init in inits {
                self.axes(init, variable, axes, depth + 1);
            }
        }
        children(expr, &mut |child| self.axes(child, variable, axes, depth));
    }

    fn block(&self, block: &Block) -> Option<Vec<Line>> {
        let tail = block.tail.as_deref().map(|tail| self.effect(tail));
        let stmts = block.stmts.iter().map(|stmt| self.stmt(stmt));
        block.items.is_empty().then(|| stmts.chain(tail).collect())?
    }

    pub(super) fn stmt(&self, stmt: &Stmt) -> Option<Line> {
        match stmt {
            Stmt::Let { pat, ty: None, init: Some(init) } => {
                let PatKind::Ident { name, mutable } = &pat.kind else { return None };
                let mutable = if *mutable { "mut " } else { "" };
                Some(format!("let {mutable}{name} = {};", self.value(init)?))
            }
            Stmt::Let { .. } => None,
            Stmt::Expr(expr) => self.effect(expr),
        }
    }

    /// A statement that writes a variable or memory.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not known to be maskable is left as it is"
    )]
    pub(super) fn effect(&self, expr: &Expr) -> Option<Line> {
        let mask = &self.mask;
        match &expr.kind {
            ExprKind::Call(of, args) if of.name() == Some("store") => {
                let [at, value] = &args[..] else { return None };
                if !self.chooses(at) || reads(at) {
                    return None;
                }
                let mask = self.mask_at(at)?;
                Some(format!("store_masked({}, {mask}, {});", at.line()?, self.value(value)?))
            }
            ExprKind::Method(view, name, args) if name.name == "store" => {
                let ([value], view) = (&args[..], view.line()?) else { return None };
                let value = self.value(value)?;
                Some(format!("{view}.store(select({mask}, {value}, {view}.load()));"))
            }
            ExprKind::Assign(to, value) => {
                let to = to.name()?;
                Some(format!("{to} = select({mask}, {}, {to});", self.value(value)?))
            }
            ExprKind::AssignOp(op, to, value) => {
                let to = to.name()?;
                let value = format!("{to} {} {}", symbol(*op).trim_matches('`'), self.part(value)?);
                Some(format!("{to} = select({mask}, {value}, {to});"))
            }
            _ => None,
        }
    }

    /// An operand of an operator, with masked loads.
    fn part(&self, expr: &Expr) -> Option<String> {
        self.value(expr)?;
        let text = self.loads(expr, &expr.operand_text().or_else(|| expr.line())?)?;
        Some(text)
    }

    /// A value, with masked loads.
    fn value(&self, expr: &Expr) -> Option<String> {
        self.loads(expr, &expr.line()?)
    }

    /// The text of an expression with masked loads instead of those in it; none if it does anything else to memory.
    fn loads(&self, expr: &Expr, text: &str) -> Option<String> {
        if let ExprKind::Call(of, args) = &expr.kind {
            if let ([at], Some("load")) = (&args[..], of.name()) {
                if reads(at) {
                    return None;
                }
                if !self.chooses(at) {
                    return Some(text.to_owned());
                }
                let zero = zero(&self.pointee(at)?);
                let masked = format!("load_masked({}, {}, {zero})", at.line()?, self.mask_at(at)?);
                return Some(text.replace(&expr.line()?, &masked));
            }
            let pure = ["select", "maximum", "minimum", "fma", "full", "zeros", "arange", "cdiv"];
            let known = of.name().is_some_and(|name| pure.contains(&name));
            if !known
                && !matches!(&of.kind, ExprKind::Path(path) if path.segments.len() == 2 && path.segments[1].name == "of")
            {
                return None;
            }
        }
        let mut text = Some(text.to_owned());
        children(expr, &mut |child| {
            if let Some(known) = text.take() {
                text = self.loads(child, &known);
            }
        });
        text
    }

    /// The element type behind an address: that of the parameter in it.
    fn pointee(&self, at: &Expr) -> Option<String> {
        self.pointee_of(at, 0)
    }

    fn pointee_of(&self, at: &Expr, depth: u32) -> Option<String> {
        if depth > 3 {
            return None;
        }
        if let Some(name) = at.name() {
            let params = self.function.params.iter();
            let is_it =
                |kind: &PatKind| matches!(kind, PatKind::Ident { name: own, .. } if own == name);
            let ty = params.filter(|(pat, _)| is_it(&pat.kind)).find_map(|(_, ty)| pointee(ty));
            return ty.or_else(|| {
                let body = self.function.body.as_ref()?;
                let mut found = None;
                each_let(body, &mut |pat, init| {
                    if is_it(pat) {
                        found = Some(init);
                    }
                });
                self.pointee_of(found?, depth + 1)
            });
        }
        let mut found = None;
        children(at, &mut |child| found = found.take().or_else(|| self.pointee_of(child, depth)));
        found
    }
}

/// Adds the variables that an expression depends on, those that are declared in the function.
fn depends(function: &Function, expr: &Expr, names: &mut BTreeSet<String>) {
    if let Some(name) = expr.name()
        && let Some(body) = &function.body
        && !names.contains(name)
    {
        let mut inits = Vec::new();
        each_let(body, &mut |pat, init| {
            if matches!(pat, PatKind::Ident { name: own, .. } if own == name) {
                inits.push(init);
            }
        });
        if !inits.is_empty() {
            names.insert(name.to_owned());
        }
        for init in inits {
            depends(function, init, names);
        }
    }
    children(expr, &mut |child| depends(function, child, names));
}

/// Calls `each` on every variable of a block that gets a value where it is declared.
pub(super) fn each_let<'a>(block: &'a Block, each: &mut dyn FnMut(&'a PatKind, &'a Expr)) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others hold no statements")]
    fn within<'a>(expr: &'a Expr, each: &mut dyn FnMut(&'a PatKind, &'a Expr)) {
        match &expr.kind {
            ExprKind::Block(block)
            | ExprKind::Loop(_, block)
            | ExprKind::While(_, _, block)
            | ExprKind::For(_, _, _, block) => each_let(block, each),
            ExprKind::If(_, then, otherwise) => {
                each_let(then, each);
                if let Some(otherwise) = otherwise {
                    within(otherwise, each);
                }
            }
            ExprKind::Closure(_, body) => within(body, each),
            ExprKind::Call(_, args) | ExprKind::Method(_, _, args) => {
                for arg in args {
                    within(arg, each);
                }
            }
            _ => {}
        }
    }
    for stmt in &block.stmts {
        match stmt {
            Stmt::Let { pat, init: Some(init), .. } => each(&pat.kind, init),
            Stmt::Let { .. } => {}
            Stmt::Expr(expr) => within(expr, each),
        }
    }
    if let Some(tail) = &block.tail {
        within(tail, each);
    }
}

/// `f32` of `Ptr<f32>`, and of a tensor, whose address is `x.ptr()`.
fn pointee(ty: &TypeExpr) -> Option<String> {
    let last = ty.last()?;
    let GenericArg::Type(of) = last.args.first()? else { return None };
    let known = ["Ptr", "Tensor", "TensorMut"].contains(&last.name.as_str());
    known.then(|| of.last().map(|segment| segment.name.clone()))?
}

/// Zero of an element type.
fn zero(dtype: &str) -> String {
    match dtype {
        "f32" | "f64" => "0.0".to_owned(),
        "bool" => "false".to_owned(),
        _ if dtype.starts_with(['i', 'u']) => "0".to_owned(),
        _ => format!("{dtype}::of(0.0)"),
    }
}

/// Whether an address is computed from what is in memory: that would have to be masked as well.
fn reads(at: &Expr) -> bool {
    let called = if let ExprKind::Call(of, _) = &at.kind { of.name() } else { None };
    let method = if let ExprKind::Method(_, name, _) = &at.kind { Some(&*name.name) } else { None };
    let mut found = called.or(method).is_some_and(|name| name.starts_with("load"));
    children(at, &mut |child| found |= reads(child));
    found
}

/// The mask of the elements for which this one is false.
fn negated(condition: &Expr) -> Option<String> {
    if let ExprKind::Method(of, name, args) = &condition.kind
        && let [other] = &args[..]
    {
        let opposite = match name.name.as_str() {
            // Of floats the others are not opposites: every comparison with NaN is false.
            "eq" => "ne",
            "ne" => "eq",
            _ => return Some(format!("!{}", condition.operand_text()?)),
        };
        return Some(format!("{}.{opposite}({})", of.operand_text()?, other.text()?));
    }
    Some(format!("!{}", condition.operand_text()?))
}

/// Whether any element of a mask is set, as one `bool`.
fn any(condition: &Expr, rank: usize) -> Option<String> {
    let axes = match rank {
        1 => "0".to_owned(),
        _ => format!("{:?}", (0..rank).collect::<Vec<_>>()),
    };
    Some(format!("{}.reduce({axes}, |a, b| a | b).item()", condition.operand_text()?))
}

/// The `if` or the loop with this condition, and the function that it is in.
fn with_condition(unit: &Unit, at: Loc) -> Option<(&Function, &Expr)> {
    fn find(expr: &Expr, at: Loc) -> Option<&Expr> {
        if let ExprKind::If(condition, ..) | ExprKind::While(_, condition, _) = &expr.kind
            && (condition.loc == at
                || matches!(&condition.kind, ExprKind::Binary(BinOp::AndAnd, _, b) if b.loc == at))
        {
            return Some(expr);
        }
        let mut found = None;
        children(expr, &mut |child| found = found.or_else(|| find(child, at)));
        found
    }
    functions(unit).find_map(|function| {
        let found = function.body.as_ref()?.exprs().find_map(|expr| find(expr, at))?;
        Some((function, found))
    })
}

/// Writes the help for a branch on a mask of so many axes, whose condition is at `at`.
#[expect(clippy::wildcard_enum_match_arm, reason = "only these have a condition")]
pub(super) fn set(
    unit: &Unit,
    lines: &Lines<'_>,
    (at, rank): (Loc, usize),
    diagnostic: &mut Diagnostic,
) -> Option<String> {
    let (function, branch) = with_condition(unit, at)?;
    let (help, whole) = match &branch.kind {
        ExprKind::While(_, condition, body) if condition.loc == at => {
            let body = chosen(unit, function, condition, body, None)?;
            let text = format!("while {} {{\n{}\n}}", any(condition, rank)?, indented(&body));
            (text, true)
        }
        ExprKind::If(condition, then, otherwise) if condition.loc == at => {
            if let (Some(leaves), None) = (leaves(then), otherwise) {
                let rest = (leaves != Leaves::Loop)
                    .then(|| rest(unit, lines, function, (branch, condition)))
                    .flatten();
                match rest {
                    Some(text) => (text, true),
                    None if leaves == Leaves::Loop => {
                        diagnostic.notes.push("the block leaves the loop as a whole: with this condition as soon as one element asks for it".to_owned());
                        (any(condition, rank)?, false)
                    }
                    None => return None,
                }
            } else {
                let lines = chosen(unit, function, condition, then, otherwise.as_deref())?;
                let blocks = [Some(then), otherwise.as_deref().and_then(inner)];
                let hides = blocks.into_iter().flatten().any(|block| hides(function, block));
                let text = lines.join("\n");
                (if hides { format!("{{\n{}\n}}", indented(&lines)) } else { text }, true)
            }
        }
        // `if flag && mask { .. }`
        ExprKind::If(both, then, None) => {
            let ExprKind::Binary(BinOp::AndAnd, flag, mask) = &both.kind else { return None };
            let body = chosen(unit, function, mask, then, None)?;
            (format!("if {} {{\n{}\n}}", flag.line()?, indented(&body)), true)
        }
        _ => return None,
    };
    if whole {
        diagnostic.primary = branch.loc;
    }
    Some(help)
}

/// The block of an `else`.
fn inner(otherwise: &Expr) -> Option<&Block> {
    if let ExprKind::Block(block) = &otherwise.kind { Some(block) } else { None }
}

/// Whether a block declares a variable that another one of the function hides, or is hidden by.
fn hides(function: &Function, block: &Block) -> bool {
    let name_of = |pat: &PatKind| {
        if let PatKind::Ident { name, .. } = pat { Some(name.clone()) } else { None }
    };
    let mut all: Vec<String> =
        function.params.iter().filter_map(|(pat, _)| name_of(&pat.kind)).collect();
    if let Some(body) = &function.body {
        each_let(body, &mut |pat, _| all.extend(name_of(pat)));
    }
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Let { pat, .. } => name_of(&pat.kind)
            .is_some_and(|name| all.iter().filter(|other| **other == name).count() > 1),
        Stmt::Expr(_) => false,
    })
}

fn indented(lines: &[Line]) -> String {
    let each: Vec<String> = lines.iter().map(|line| format!("    {line}")).collect();
    each.join("\n")
}

/// How a block leaves what is around it, if it does no more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Function,
    Iteration,
    Loop,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only these leave a block")]
fn leaves(block: &Block) -> Option<Leaves> {
    let (([Stmt::Expr(only)], None) | ([], Some(only))) = (&block.stmts[..], block.tail.as_deref())
    else {
        return None;
    };
    match only.kind {
        ExprKind::Return(None) => Some(Leaves::Function),
        ExprKind::Continue(None) => Some(Leaves::Iteration),
        ExprKind::Break(None, None) => Some(Leaves::Loop),
        _ => None,
    }
}

/// The mask under a name, if it is used more than once: what declares it, and how it is written then.
fn named(unit: &Unit, mask: String, uses: usize) -> Option<(Option<Line>, String)> {
    let is_name = mask.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_name || uses < 2 {
        return Some((None, mask));
    }
    let name = free(unit, ["inside", "mask", "chosen"])?;
    Some((Some(format!("let {name} = {mask};")), name.to_owned()))
}

/// How often the mask is written in these lines.
fn uses(lines: &[Line], mask: &str) -> usize {
    lines.iter().map(|line| line.matches(mask).count()).sum()
}

/// Both sides of a branch, with masks.
fn chosen(
    unit: &Unit,
    function: &Function,
    condition: &Expr,
    then: &Block,
    otherwise: Option<&Expr>,
) -> Option<Vec<Line>> {
    let write = |mask: &str| {
        let mut lines = Masked::of(function, condition, mask.to_owned()).block(then)?;
        if let Some(otherwise) = otherwise {
            let ExprKind::Block(block) = &otherwise.kind else { return None };
            let own = mask == condition.line()?;
            let mask = if own { negated(condition)? } else { format!("!{mask}") };
            lines.extend(Masked::of(function, condition, mask).block(block)?);
        }
        Some(lines)
    };
    let mask = condition.line()?;
    let lines = write(&mask)?;
    if lines.is_empty() {
        return None;
    }
    let uses = uses(&lines, &mask) + usize::from(otherwise.is_some());
    let (declared, name) = named(unit, mask, uses)?;
    let lines = write(&name)?;
    Some(declared.into_iter().chain(lines).collect())
}

/// What comes after a branch that returns or goes on early, with masks.
fn rest(
    unit: &Unit,
    lines: &Lines<'_>,
    function: &Function,
    (branch, condition): (&Expr, &Expr),
) -> Option<String> {
    let steps = path_to(unit, branch.loc);
    let last = steps.last()?;
    let stmts = last.block.stmts.get(last.index + 1..)?;
    let tail = last.block.tail.as_deref();
    let write = |mask: &str| {
        let masked = Masked::of(function, condition, mask.to_owned());
        let mut out: Vec<(Line, Loc)> = Vec::new();
        let all = stmts.iter().map(|stmt| {
            let at = match stmt {
                Stmt::Let { pat, .. } => pat.loc,
                Stmt::Expr(expr) => expr.loc,
            };
            (masked.stmt(stmt), at, stmt.expr())
        });
        let tail = tail.map(|tail| (masked.effect(tail), tail.loc, Some(tail)));
        for (line, at, expr) in all.chain(tail) {
            if expr.is_some_and(jumps) {
                return None;
            }
            let line = line?;
            // A statement without memory stays as it is.
            if line.contains(mask) {
                out.push((line, at));
            }
        }
        Some(out)
    };
    let mask = negated(condition)?;
    let name = free(unit, ["inside", "mask", "chosen"])?;
    let rest = write(name)?;
    if rest.is_empty() {
        return None;
    }
    let rest = rest.iter().map(|(line, at)| lines.instead(line, *at));
    let all: Vec<Line> = std::iter::once(format!("let {name} = {mask};")).chain(rest).collect();
    Some(all.join("\n"))
}

/// A comparison of the position of each element with a number that stands in the place of a mask.
pub(super) fn bound(unit: &Unit, at: Loc) -> Option<String> {
    let around = around(unit, at);
    let [.., call, number] = &around[..] else { return None };
    let ExprKind::Call(_, args) = &call.kind else { return None };
    let ExprKind::Binary(BinOp::Arith(Binary::Add), _, position) = &args.first()?.kind else {
        return None;
    };
    Some(format!("{}.lt({})", position.operand_text()?, number.text()?))
}

/// The expressions around a place, from the outermost to the one that is there.
pub(super) fn around(unit: &Unit, at: Loc) -> Vec<&Expr> {
    fn find<'a>(expr: &'a Expr, at: Loc, chain: &mut Vec<&'a Expr>) -> bool {
        chain.push(expr);
        let mut found = expr.loc == at;
        children(expr, &mut |child| found = found || find(child, at, chain));
        if !found {
            chain.pop();
        }
        found
    }
    let mut chain = Vec::new();
    let bodies = functions(unit).filter_map(|function| function.body.as_ref());
    for expr in bodies.flat_map(Block::exprs) {
        if find(expr, at, &mut chain) {
            break;
        }
    }
    chain
}

/// A `match` on a tile, as selections.
pub(super) fn matched(unit: &Unit, at: Loc, diagnostic: &mut Diagnostic) -> Option<String> {
    fn find(expr: &Expr, at: Loc) -> Option<[&Expr; 3]> {
        if let ExprKind::Block(block) = &expr.kind
            && let [Stmt::Let { init: Some(init), .. }] = &block.stmts[..]
            && init.loc == at
            && let Some(tail) = &block.tail
        {
            return Some([expr, init, tail]);
        }
        let mut found = None;
        children(expr, &mut |child| found = found.or_else(|| find(child, at)));
        found
    }
    let mut bodies = functions(unit).filter_map(|function| function.body.as_ref());
    let [whole, value, arms] =
        bodies.find_map(|body| body.exprs().find_map(|expr| find(expr, at)))?;
    let help = arm(&value.operand_text()?, arms, 0)?;
    diagnostic.primary = whole.loc;
    Some(help)
}

/// An arm of a `match` and those after it.
#[expect(clippy::wildcard_enum_match_arm, reason = "a `match` has these alone")]
fn arm(value: &str, arms: &Expr, depth: u32) -> Option<String> {
    match &arms.kind {
        ExprKind::If(condition, then, Some(otherwise)) if depth < 8 => {
            let then = only(then)?;
            Some(format!(
                "select({}, {then}, {})",
                asked(value, condition)?,
                arm(value, otherwise, depth + 1)?
            ))
        }
        ExprKind::Block(block) => only(block),
        _ => None,
    }
}

/// The value of a block that has nothing else.
fn only(block: &Block) -> Option<String> {
    block.tail.as_deref().filter(|_| block.stmts.is_empty())?.text()
}

/// What a pattern asks of a tile.
fn asked(value: &str, condition: &Expr) -> Option<String> {
    let ExprKind::Binary(op, a, b) = &condition.kind else { return None };
    let joined = |with: &str| Some(format!("{} {with} {}", asked(value, a)?, asked(value, b)?));
    let compared = |with: &str| {
        (a.name() == Some(VALUE)).then(|| Some(format!("{value}.{with}({})", b.text()?)))?
    };
    match op {
        BinOp::OrOr => joined("|"),
        BinOp::AndAnd => joined("&"),
        BinOp::Compare(Compare::Eq) => compared("eq"),
        BinOp::Compare(Compare::Ne) => compared("ne"),
        BinOp::Compare(Compare::Lt) => compared("lt"),
        BinOp::Compare(Compare::Le) => compared("le"),
        BinOp::Compare(Compare::Gt) => compared("gt"),
        BinOp::Compare(Compare::Ge) => compared("ge"),
        BinOp::Arith(_) => None,
    }
}
