//! `match`, `if let` and `let .. else` on numbers, truth values, optional parameters and tuples of these, as the comparisons that
//! they stand for.
//!
//! ```text
//! match mode { 0 => a, 1 | 2 if deep => b, n => c }
//!
//! { let of_match = mode;
//!   if of_match == 0 { a }
//!   else if (of_match == 1 || of_match == 2) && deep { b }
//!   else { let n = of_match; c } }
//! ```
//!
//! ```text
//! if let Some(b) = bias { c } else { d }
//!
//! { let of_match = bias;
//!   if is_some(of_match) { let b = inside(of_match); c } else { d } }
//! ```
//!
//! ```text
//! if let Some(b) = bias && n > 0 { c } else { d }
//!
//! if { let of_match = bias; is_some(of_match) && { let b = inside(of_match); n > 0 } }
//! { let of_match = bias; let b = inside(of_match); c } else { d }
//! ```
//!
//! The last arm of a `match` is not tested: rustc refuses a `match` that leaves values out. Where the value is known at compile time, so are the
//! comparisons, and only one arm is built.

use quote::ToTokens as _;

use super::{
    BinOp, Block, Expr, ExprKind, Ident, Literal, Pat, PatKind, Path, Segment, Stmt, TypeExpr,
    UnOp,
    expr::{MAX_DEPTH, Reader},
};
use crate::{
    diag::{Code, Diagnostic},
    ir::Compare,
    loc::Loc,
};

/// What is said of a pattern that kernels do not have.
pub(crate) const OTHER_PATTERN: &str = "this pattern cannot be used in a kernel";

/// The most arms of a `match`.
const MOST_ARMS: usize = 128;
/// So many arms count as one level of nesting.
const ARMS_OF_ONE_LEVEL: usize = 2;

/// The name of the value of a `match`, which no program can write.
pub(crate) const VALUE: &str = "<matched>";

/// What a pattern asks of an optional parameter, as fields that no program can write. Whether it is there is known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfOption {
    /// `Some(..)`
    IsSome,
    /// `None`
    IsNone,
    /// What stands in `Some(..)`.
    Inside,
}

impl OfOption {
    /// What the field asks.
    pub(crate) fn named(name: &str) -> Option<OfOption> {
        let all = [OfOption::IsSome, OfOption::IsNone, OfOption::Inside];
        all.into_iter().find(|of| of.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            OfOption::IsSome => "<is some>",
            OfOption::IsNone => "<is none>",
            OfOption::Inside => "<inside>",
        }
    }

    /// The field of a value.
    fn of(self, value: &Expr, loc: Loc) -> Expr {
        let name = Ident { name: self.name().to_owned(), loc };
        Expr { kind: ExprKind::Field(Box::new(value.clone()), name), loc }
    }
}

/// What a pattern asks and what it names.
#[derive(Default)]
struct Asked {
    /// None if it takes everything.
    test: Option<Expr>,
    /// Names with what they stand for.
    names: Vec<(Pat, Expr)>,
    /// Several patterns of which each gives a name another value.
    choice: Option<Loc>,
}

impl Reader<'_> {
    /// A `match`; one with a pattern that kernels do not have is refused.
    pub(super) fn matching(&mut self, item: &syn::ExprMatch, depth: u32) -> ExprKind {
        let loc = self.loc(&item.match_token);
        let init = self.expr(&item.expr, depth);
        let value = Expr { kind: path(VALUE, init.loc), loc: init.loc };
        let mut patterns = Vec::new();
        for arm in &item.arms {
            for attr in &arm.attrs {
                self.refuse_at(attr, "an attribute of an arm", "", "");
            }
            let (pat, guard) = if let syn::Pat::Guard(guarded) = &arm.pat {
                (&*guarded.pat, Some(&guarded.guard))
            } else {
                (&arm.pat, None)
            };
            patterns.push(self.asked(pat, &value).map(|asked| (asked, guard)));
        }
        let Some(patterns) = patterns.into_iter().collect::<Option<Vec<_>>>() else {
            return ExprKind::Refused(self.match_parts(init, item, depth));
        };
        if patterns.len() > MOST_ARMS {
            self.problems.push(
                Code::Unbounded
                    .at(loc, "a `match` of this many arms is not compiled")
                    .compare("arms", format!("at most {MOST_ARMS}"), patterns.len())
                    .why("each arm is a comparison after those of the arms before it, and nested in them; a table in memory gives any of many values with one load"),
            );
            return ExprKind::Refused(self.match_parts(init, item, depth));
        }
        if let Some((actual, otherwise)) = leaves_out(item) {
            let value = super::written(&item.expr);
            let loc = self.loc(
                &item
                    .arms
                    .last()
                    .map_or_else(|| item.expr.to_token_stream(), |arm| arm.pat.to_token_stream()),
            );
            let diagnostic = Code::Unsupported
                .at(loc, "a `match` that leaves values out")
                .compare("", format!("an arm for each value of `{value}`"), actual)
                .why("the block takes one of the arms, whatever the value is");
            self.problems.push(match otherwise {
                Some(arm) => diagnostic.help(arm).exemplified(),
                // The last condition holds if none before it does.
                None => diagnostic.help("_"),
            });
        }
        // Each arm is nested in those before it.
        let depth = depth + u32::try_from(patterns.len() / ARMS_OF_ONE_LEVEL).unwrap_or(u32::MAX);
        if depth > MAX_DEPTH {
            self.too_deep(loc);
            return ExprKind::Refused(Vec::new());
        }
        let mut arms = Vec::new();
        for ((asked, guard), arm) in patterns.into_iter().zip(&item.arms) {
            if let (Some(loc), Some(_)) = (asked.choice, guard) {
                self.problems.push(guard_of_several(loc));
            }
            let guard = guard.map(|guard| self.expr(guard, depth));
            let body = self.expr(&arm.body, depth);
            arms.push((asked, guard, body));
        }
        let mut chain: Option<Expr> = None;
        for (asked, guard, body) in arms.into_iter().rev() {
            let at = body.loc;
            let test = match (asked.test, guard) {
                (test, None) => test,
                (test, Some(guard)) => {
                    // The guard sees the names.
                    let guard = named(&asked.names, guard);
                    Some(match test {
                        Some(test) => binary(BinOp::AndAnd, test, guard),
                        None => guard,
                    })
                }
            };
            let body = block(&asked.names, body);
            chain = Some(match (test, chain) {
                (Some(test), Some(otherwise)) => {
                    let kind = ExprKind::If(Box::new(test), body, Some(Box::new(otherwise)));
                    Expr { kind, loc: at }
                }
                // The last arm, or one that takes everything.
                (None, _) | (_, None) => Expr { kind: ExprKind::Block(body), loc: at },
            });
        }
        let stmts = vec![matched_as(init)];
        ExprKind::Block(Block { items: Vec::new(), stmts, tail: chain.map(Box::new), loc })
    }

    /// An `if` whose condition has a pattern: the parts of the condition, which `&&` joins.
    pub(super) fn if_let(
        &mut self,
        item: &syn::ExprIf,
        parts: &[&syn::Expr],
        (loc, depth): (Loc, u32),
    ) -> ExprKind {
        let read: Vec<Expr> = parts
            .iter()
            .map(|part| {
                let tested = if let syn::Expr::Let(tested) = part { &tested.expr } else { *part };
                self.expr(tested, depth)
            })
            .collect();
        let mut condition: Option<Expr> = None;
        let mut then = self.block(&item.then_branch, depth);
        let otherwise = item.else_branch.as_ref().map(|(_, e)| Box::new(self.expr(e, depth)));
        let mut refused = Vec::new();
        // One value alone is computed once, before the condition, whatever it is.
        let mut alone_before = None;
        for (part, left) in parts.iter().zip(read).rev() {
            let syn::Expr::Let(tested) = part else {
                condition = Some(match condition {
                    Some(right) => binary(BinOp::AndAnd, left, right),
                    None => left,
                });
                continue;
            };
            let init = left;
            if parts.len() > 1 && !is_place(&init) {
                let why = "beside `&&`, a pattern takes a variable or a field";
                let help = init.text().map(|text| format!("let value = {text};"));
                let help = help.unwrap_or_default();
                self.refuse(init.loc, "this value of an `if let`", why, &help);
            }
            let value = Expr { kind: path(VALUE, init.loc), loc: init.loc };
            let Some(asked) = self.asked(&tested.pat, &value) else {
                refused.push(alone(init));
                let pat = self.refused_pat(&tested.pat);
                then = Self::block_after(pat, then);
                continue;
            };
            let rest = condition.map(|rest| named(&asked.names, rest));
            let test = match (asked.test, rest) {
                (Some(test), Some(rest)) => Some(binary(BinOp::AndAnd, test, rest)),
                (test, rest) => test.or(rest),
            };
            let mut stmts = Vec::new();
            if parts.len() == 1 {
                condition = test;
                alone_before = Some(init);
            } else {
                condition = test.map(|test| matched(init.clone(), test));
                let written = init.text().unwrap_or_default();
                let pat = Pat { kind: PatKind::Again { written }, loc: init.loc };
                stmts.push(Stmt::Let { pat, ty: None, init: Some(init) });
            }
            stmts.extend(declared(&asked.names));
            stmts.append(&mut then.stmts);
            then.stmts = stmts;
        }
        if !refused.is_empty() {
            refused.push(then);
            refused.extend(otherwise.map(|otherwise| alone(*otherwise)));
            return ExprKind::Refused(refused);
        }
        // There is none if the patterns take everything.
        let condition = condition.unwrap_or_else(|| {
            let kind = ExprKind::Lit(Literal::Bool(true));
            Expr { kind, loc }
        });
        let chosen = ExprKind::If(Box::new(condition), then, otherwise);
        let Some(init) = alone_before else { return chosen };
        let tail = Some(Box::new(Expr { kind: chosen, loc }));
        ExprKind::Block(Block { items: Vec::new(), stmts: vec![matched_as(init)], tail, loc })
    }

    /// `let pat = init else { diverge }`; none if the pattern is refused.
    pub(super) fn let_else(
        &mut self,
        pat: &syn::Pat,
        (ty, init): (Option<TypeExpr>, Expr),
        diverge: Expr,
        out: &mut Block,
    ) -> Option<()> {
        let value = Expr { kind: path(VALUE, init.loc), loc: init.loc };
        let asked = self.asked(pat, &value)?;
        let Stmt::Let { pat, init, .. } = matched_as(init) else { return None };
        out.stmts.push(Stmt::Let { pat, ty, init });
        if let Some(test) = asked.test {
            let loc = test.loc;
            let then = Block { items: Vec::new(), stmts: Vec::new(), tail: None, loc };
            let kind = ExprKind::If(Box::new(test), then, Some(Box::new(diverge)));
            out.stmts.push(Stmt::Expr(Expr { kind, loc }));
        }
        out.stmts.extend(declared(&asked.names));
        Some(())
    }

    /// What a pattern asks of a value; none if it is refused.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is outside the subset is refused")]
    fn asked(&mut self, pat: &syn::Pat, value: &Expr) -> Option<Asked> {
        let loc = self.loc(pat);
        let equal = |with: Expr| Asked {
            test: Some(binary(BinOp::Compare(Compare::Eq), value.clone(), with)),
            ..Asked::default()
        };
        Some(match pat {
            syn::Pat::Wild(_) => Asked::default(),
            syn::Pat::Paren(paren) => return self.asked(&paren.pat, value),
            syn::Pat::TupleStruct(of) if of.path.segments.last()?.ident == "Some" => {
                self.asked_some(of, value, loc)?
            }
            syn::Pat::Ident(ident) if ident.ident == "None" => {
                Asked { test: Some(OfOption::IsNone.of(value, loc)), ..Asked::default() }
            }
            syn::Pat::Path(path) if path.path.segments.last()?.ident == "None" => {
                Asked { test: Some(OfOption::IsNone.of(value, loc)), ..Asked::default() }
            }
            syn::Pat::Ident(ident) => return self.name(ident, value),
            syn::Pat::Lit(lit) => match &lit.lit {
                syn::Lit::Bool(bool) => {
                    let not = ExprKind::Unary(UnOp::Not, Box::new(value.clone()));
                    let test = if bool.value { value.clone() } else { Expr { kind: not, loc } };
                    Asked { test: Some(test), ..Asked::default() }
                }
                lit => equal(self.bound(lit, loc)),
            },
            syn::Pat::Path(path) => {
                let kind = ExprKind::Path(self.path(&path.path, 0));
                equal(Expr { kind, loc })
            }
            syn::Pat::Range(range) => self.asked_range(range, value, loc),
            syn::Pat::Or(or) => return self.asked_or(or, value),
            syn::Pat::Tuple(tuple) => {
                let mut all = Asked::default();
                for (index, part) in tuple.elems.iter().enumerate() {
                    let field = Ident { name: index.to_string(), loc };
                    let kind = ExprKind::Field(Box::new(value.clone()), field);
                    let asked = self.asked(part, &Expr { kind, loc })?;
                    all.names.extend(asked.names);
                    all.choice = all.choice.or(asked.choice);
                    all.test = match (all.test, asked.test) {
                        (Some(a), Some(b)) => Some(binary(BinOp::AndAnd, a, b)),
                        (a, b) => a.or(b),
                    };
                }
                all
            }
            _ => return self.refused_arm(pat),
        })
    }

    /// What `a | b` asks. A name that all of the patterns have stands for what it is in the first one that fits; any other name is that of a
    /// constant.
    fn asked_or(&mut self, or: &syn::PatOr, value: &Expr) -> Option<Asked> {
        let mut cases = Vec::new();
        for case in &or.cases {
            cases.push((self.asked(case, value)?, self.loc(case)));
        }
        let common = |name: &str| cases.iter().all(|(asked, _)| asked.value_of(name).is_some());
        let (first, _) = cases.first()?;
        let named = first.names.iter().filter(|(pat, _)| pat.name().is_some_and(common));
        let pats: Vec<Pat> = named.map(|(pat, _)| pat.clone()).collect();
        let names: Vec<&str> = pats.iter().filter_map(Pat::name).collect();
        for (asked, loc) in &mut cases {
            for (pat, _) in &asked.names {
                match (pat.name(), &pat.kind, &mut asked.test) {
                    (Some(name), _, _) if names.contains(&name) => {}
                    (Some(name), PatKind::InArm { .. }, Some(test)) => test.is_of_constant(name),
                    (_, _, _) => {
                        self.problems.push(in_one_of_several(*loc));
                        return None;
                    }
                }
            }
        }
        let mut all =
            Asked { choice: cases.iter().find_map(|(asked, _)| asked.choice), ..Asked::default() };
        for pat in &pats {
            let mut value: Option<Expr> = None;
            for (asked, _) in cases.iter().rev() {
                let own = asked.value_of(pat.name()?)?.clone();
                value = Some(match (value, &asked.test) {
                    (Some(rest), Some(test)) if !own.is_same_place(&rest) => {
                        all.choice = Some(self.loc(or));
                        let loc = own.loc;
                        let test = Box::new(test.clone());
                        Expr { kind: ExprKind::If(test, alone(own), Some(Box::new(rest))), loc }
                    }
                    (_, _) => own,
                });
            }
            all.names.push((pat.clone(), value?));
        }
        let mut tests = Vec::new();
        for (asked, _) in cases {
            match asked.test {
                Some(test) => tests.push(test),
                // It takes everything.
                None => return Some(all),
            }
        }
        all.test = tests.into_iter().reduce(|test, next| binary(BinOp::OrOr, test, next));
        Some(all)
    }

    /// What a name asks, and the pattern behind it.
    fn name(&mut self, ident: &syn::PatIdent, value: &Expr) -> Option<Asked> {
        let loc = self.loc(ident);
        let name = self.ident(&ident.ident);
        // In a pattern a name in capitals is a constant.
        let constant =
            name.name.starts_with(char::is_uppercase) && !name.name.contains(char::is_lowercase);
        if ident.subpat.is_none() && constant {
            let constant = Expr { kind: path(&name.name, loc), loc };
            let test = Some(binary(BinOp::Compare(Compare::Eq), value.clone(), constant));
            return Some(Asked { test, ..Asked::default() });
        }
        let mutable = ident.mutability.is_some();
        let (mut asked, kind) = match &ident.subpat {
            // Only where the names are known it is known whether it is that of a constant.
            None if !mutable && ident.by_ref.is_none() => {
                let kind = PatKind::InArm { name: name.name.clone() };
                let value = Box::new(value.clone());
                let fits = Expr { kind: ExprKind::Fits { value, name, alone: true }, loc };
                (Asked { test: Some(fits), ..Asked::default() }, kind)
            }
            None => (Asked::default(), PatKind::Ident { name: name.name, mutable }),
            Some((_, sub)) => {
                (self.asked(sub, value)?, PatKind::Ident { name: name.name, mutable })
            }
        };
        asked.names.push((Pat { kind, loc }, value.clone()));
        Some(asked)
    }

    /// A pattern that kernels do not have.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is outside the subset is refused")]
    fn refused_arm(&mut self, pat: &syn::Pat) -> Option<Asked> {
        let loc = self.loc(pat);
        match pat {
            syn::Pat::Rest(_) => {
                let why = "a tuple in a pattern names each of its parts; `_` takes any";
                self.refuse(loc, "`..` in the pattern of an arm", why, "");
            }
            syn::Pat::Reference(reference) => {
                let is_word = matches!(*reference.pat, syn::Pat::Lit(_) | syn::Pat::Ident(_));
                let inner = is_word.then(|| reference.pat.to_token_stream().to_string());
                let help = inner.unwrap_or_default();
                let why = "the value of a `match` is a number, a truth value or a tuple of these, and no reference";
                self.refuse(loc, "a reference in the pattern of an arm", why, &help);
            }
            syn::Pat::Slice(_) => {
                let why = "`match` takes numbers, truth values and tuples; the elements of an array make a tuple: `(array[0], array[1])`";
                self.refuse(loc, "an array in the pattern of an arm", why, "");
            }
            _ => {
                let why = "variants have no data but those of `Option`: patterns are numbers, ranges, constants, variants, names, `_`, `|`, `Some(..)`, `None`, and tuples of these";
                let diagnostic = Code::Unsupported.at(loc, OTHER_PATTERN);
                let of_data = matches!(pat, syn::Pat::TupleStruct(_) | syn::Pat::Struct(_));
                self.problems.push(if of_data {
                    let written = format!("`{}`", super::written(pat));
                    diagnostic.compare("", "a pattern without data", written).why(why)
                } else {
                    diagnostic.why(why)
                });
            }
        }
        None
    }

    /// What `Some(..)` asks of a value; none if it is refused.
    fn asked_some(&mut self, pat: &syn::PatTupleStruct, value: &Expr, loc: Loc) -> Option<Asked> {
        let mut asked = match pat.elems.iter().collect::<Vec<_>>()[..] {
            [syn::Pat::Rest(_)] => Asked::default(),
            [inside] => self.asked(inside, &OfOption::Inside.of(value, loc))?,
            _ => {
                self.refuse(loc, "`Some` of anything but one pattern", "", "Some(x)");
                return None;
            }
        };
        let some = OfOption::IsSome.of(value, loc);
        asked.test = Some(match asked.test {
            Some(test) => binary(BinOp::AndAnd, some, test),
            None => some,
        });
        Some(asked)
    }

    /// What a range asks of a value.
    fn asked_range(&mut self, range: &syn::PatRange, value: &Expr, loc: Loc) -> Asked {
        let mut test = None;
        let below = match range.limits {
            syn::RangeLimits::HalfOpen(_) => Compare::Lt,
            syn::RangeLimits::Closed(_) => Compare::Le,
        };
        for (end, compare) in [(&range.start, Compare::Ge), (&range.end, below)] {
            let Some(end) = end else { continue };
            let end = if let syn::Expr::Lit(lit) = &**end {
                self.bound(&lit.lit, loc)
            } else {
                self.expr(end, 0)
            };
            let next = binary(BinOp::Compare(compare), value.clone(), end);
            test = Some(match test {
                Some(test) => binary(BinOp::AndAnd, test, next),
                None => next,
            });
        }
        Asked { test, ..Asked::default() }
    }

    /// A literal of a pattern, which may have a sign.
    fn bound(&mut self, lit: &syn::Lit, loc: Loc) -> Expr {
        if let syn::Lit::Int(int) = lit
            && let Ok(value) = int.base10_parse::<i64>()
            && value < 0
        {
            let suffix = Some(int.suffix()).filter(|text| !text.is_empty()).map(str::to_owned);
            let positive = ExprKind::Lit(Literal::Int(-i128::from(value), suffix));
            let positive = Box::new(Expr { kind: positive, loc });
            return Expr { kind: ExprKind::Unary(UnOp::Neg, positive), loc };
        }
        Expr { kind: self.literal(lit), loc }
    }
}

impl Asked {
    /// What a name stands for.
    fn value_of(&self, name: &str) -> Option<&Expr> {
        self.names.iter().find_map(|(pat, value)| (pat.name()? == name).then_some(value))
    }
}

impl Pat {
    /// The name that the pattern of an arm declares.
    fn name(&self) -> Option<&str> {
        match &self.kind {
            PatKind::Ident { name, .. } | PatKind::InArm { name } => Some(name),
            PatKind::Again { .. }
            | PatKind::Wild
            | PatKind::Tuple(_)
            | PatKind::Array(_)
            | PatKind::Ref(_)
            | PatKind::Refused(_) => None,
        }
    }
}

impl Expr {
    /// Says of a test that a name in it can only be that of a constant.
    fn is_of_constant(&mut self, constant: &str) {
        if let ExprKind::Fits { name, alone, .. } = &mut self.kind {
            *alone &= name.name != constant;
        } else if let ExprKind::Binary(_, a, b) = &mut self.kind {
            a.is_of_constant(constant);
            b.is_of_constant(constant);
        }
    }

    /// Whether both are the same part of the value of a `match`.
    fn is_same_place(&self, other: &Expr) -> bool {
        if let (ExprKind::Field(of, name), ExprKind::Field(other, same)) = (&self.kind, &other.kind)
        {
            return name.name == same.name && of.is_same_place(other);
        }
        let is_whole = |expr: &Expr| matches!(expr.kind, ExprKind::Path(_)) && expr.is_matched();
        is_whole(self) && is_whole(other)
    }

    /// Whether it is the value of a `match`, or a field of it.
    pub(crate) fn is_matched(&self) -> bool {
        if let ExprKind::Field(of, _) = &self.kind {
            return of.is_matched();
        }
        matches!(&self.kind, ExprKind::Path(Path { segments, .. }) if matches!(&segments[..], [only] if only.name == VALUE))
    }
}

fn path(name: &str, loc: Loc) -> ExprKind {
    let segment = Segment { name: name.to_owned(), args: Vec::new(), loc };
    ExprKind::Path(Path { segments: vec![segment], loc })
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    let loc = b.loc;
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), loc }
}

/// A variable, or a field of one: reading it twice gives the same value.
fn is_place(expr: &Expr) -> bool {
    if let ExprKind::Tuple(parts) = &expr.kind {
        return parts.iter().all(is_place);
    }
    if let ExprKind::Field(base, _) | ExprKind::Ref(_, base) = &expr.kind {
        return is_place(base);
    }
    matches!(expr.kind, ExprKind::Path(_))
}

/// The value that patterns are held against.
fn matched_as(init: Expr) -> Stmt {
    let kind = PatKind::Ident { name: VALUE.to_owned(), mutable: false };
    Stmt::Let { pat: Pat { kind, loc: init.loc }, ty: None, init: Some(init) }
}

/// A test of this value.
fn matched(init: Expr, test: Expr) -> Expr {
    let loc = test.loc;
    let stmts = vec![matched_as(init)];
    let block = Block { items: Vec::new(), stmts, tail: Some(Box::new(test)), loc };
    Expr { kind: ExprKind::Block(block), loc }
}

fn alone(expr: Expr) -> Block {
    let loc = expr.loc;
    Block { items: Vec::new(), stmts: Vec::new(), tail: Some(Box::new(expr)), loc }
}

/// What `let Some(pat) = of.next()` names, and what it goes over.
pub(super) fn next_of(condition: &syn::Expr) -> Option<(&syn::Pat, &syn::Expr)> {
    let syn::Expr::Let(item) = condition else { return None };
    let (syn::Pat::TupleStruct(some), syn::Expr::MethodCall(call)) = (&*item.pat, &*item.expr)
    else {
        return None;
    };
    let is_some = some.path.is_ident("Some") && call.method == "next" && call.args.is_empty();
    some.elems.first().filter(|_| is_some).map(|pat| (pat, &*call.receiver))
}

/// A name that an arm would have only if one of its patterns fits.
pub(crate) fn in_one_of_several(loc: Loc) -> Diagnostic {
    Code::Unsupported
        .at(loc, "a name in one of several patterns cannot be used in a kernel")
        .why("the arm would not have it where another pattern fits; `name @ (1 | 2)` names the value in both")
}

/// A guard of an arm whose patterns give a name different values.
fn guard_of_several(loc: Loc) -> Diagnostic {
    Code::Unsupported
        .at(loc, "patterns that give a name different values cannot have a guard in a kernel")
        .why("Rust tries the guard once for each pattern that fits, with the names of that pattern; an arm for each pattern does the same")
        .help("(1, n) if n > 3 => a,\n(n, 1) if n > 3 => a,")
        .exemplified()
}

/// The value of a pattern that the rest of the condition changes.
pub(crate) fn changed_by_condition(written: &str, loc: Loc) -> Diagnostic {
    Code::Unsupported
        .at(loc, "the rest of this condition changes the value of its pattern")
        .why("the body reads the variable again, so names of the pattern would have other values there; a variable before the `if` keeps them")
        .help(format!("let value = {written};"))
}

/// An expression that sees names.
fn named(names: &[(Pat, Expr)], expr: Expr) -> Expr {
    if names.is_empty() {
        return expr;
    }
    let loc = expr.loc;
    Expr { kind: ExprKind::Block(block(names, expr)), loc }
}

fn block(names: &[(Pat, Expr)], tail: Expr) -> Block {
    let loc = tail.loc;
    Block { items: Vec::new(), stmts: declared(names).collect(), tail: Some(Box::new(tail)), loc }
}

/// The names of a pattern, with what they stand for.
fn declared(names: &[(Pat, Expr)]) -> impl Iterator<Item = Stmt> {
    names.iter().map(|(pat, value)| Stmt::Let {
        pat: pat.clone(),
        ty: None,
        init: Some(value.clone()),
    })
}

/// How many values of an integer some types have: as many literals may take all of them.
const VALUES_OF_A_BYTE: u128 = 256;

/// What the arms of a `match` take, if they certainly leave values out whatever the type is, and an arm for the rest; none if `_` may
/// take the place of the last pattern, as all have conditions.
fn leaves_out(item: &syn::ExprMatch) -> Option<(String, Option<String>)> {
    let mut taken = Vec::new();
    let mut values = 0;
    let mut guarded = 0;
    for arm in &item.arms {
        if let syn::Pat::Guard(_) = &arm.pat {
            guarded += 1;
            continue;
        }
        values += values_of(&arm.pat)?;
        taken.push(super::written(&arm.pat));
    }
    let last = item.arms.last()?;
    let takes = |word: &str| taken.iter().any(|pat: &String| pat.contains(word));
    if values >= VALUES_OF_A_BYTE || takes("true") && takes("false") {
        return None;
    }
    if taken.is_empty() {
        let guarded = crate::diag::counted(guarded, "arm");
        return Some((format!("{guarded} with conditions, which may all be false"), None));
    }
    let listed = taken.iter().map(|pat| format!("`{pat}`")).collect::<Vec<_>>().join(", ");
    let body = super::written(&last.body);
    let body = if body.len() <= 24 { body } else { "..".to_owned() };
    Some((format!("arms for {listed}"), Some(format!("_ => {body},"))))
}

/// How many values a pattern of literals takes.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other patterns may take any value")]
fn values_of(pat: &syn::Pat) -> Option<u128> {
    match pat {
        syn::Pat::Paren(paren) => values_of(&paren.pat),
        syn::Pat::Or(or) => or.cases.iter().map(values_of).sum(),
        syn::Pat::Lit(_) => Some(1),
        syn::Pat::Range(range) => {
            let (Some(start), Some(end)) = (&range.start, &range.end) else { return None };
            let (start, end) = (whole(start)?, whole(end)?);
            u128::try_from(end.checked_sub(start)?.checked_add(1)?).ok()
        }
        _ => None,
    }
}

/// An integer that is written out.
fn whole(expr: &syn::Expr) -> Option<i128> {
    if let syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) = expr {
        return whole(expr)?.checked_neg();
    }
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(literal), .. }) = expr else {
        return None;
    };
    literal.base10_parse().ok()
}
