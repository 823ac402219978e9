//! Chains of Rust's iterators over a tile, and the operations on whole tiles that do the same.

use super::forms::bare;
use crate::{
    diag::Code,
    elaborate::{Builder, Env, language::value::Val},
    ir::{Binary, Type},
    loc::Loc,
    syntax::{BinOp, Expr, ExprKind, PatKind, Segment},
};

/// Links of a chain that are looked at.
const MOST_LINKS: usize = 8;

/// What a chain goes over, and its links after `iter`, the last one first.
struct Chain<'a> {
    tile: &'a Expr,
    links: Vec<(&'a str, &'a [Expr])>,
}

impl<'a> Chain<'a> {
    fn of(receiver: &'a Expr, name: &'a Segment, args: &'a [Expr]) -> Option<Chain<'a>> {
        let mut links = vec![(name.name.as_str(), args)];
        let mut inner = receiver;
        while links.len() <= MOST_LINKS {
            let ExprKind::Method(of, method, args) = &inner.kind else { return None };
            if matches!(method.name.as_str(), "iter" | "into_iter" | "iter_mut") {
                return args.is_empty().then_some(Chain { tile: of, links });
            }
            links.push((&method.name, args));
            inner = of;
        }
        None
    }

    /// The same of a whole tile of this rank, with a scalar where the chain gives one.
    fn written(&self, rank: usize) -> Option<String> {
        let axes = match rank {
            1 => "0".to_owned(),
            _ => format!("{:?}", (0..rank).collect::<Vec<_>>()),
        };
        let mut out = self.tile.operand_text()?;
        for (at, (name, args)) in self.links.iter().enumerate().rev() {
            let last = at == 0;
            let link = match (*name, *args) {
                ("collect" | "copied" | "cloned", []) => String::new(),
                ("map", [closure]) => format!(".map({})", closure.line()?),
                ("sum", []) if last => format!(".sum({axes}).item()"),
                ("product", []) if last => format!(".reduce({axes}, |a, b| a * b).item()"),
                // What a chain of no elements begins with is left out where it changes nothing.
                ("fold", [first, closure]) if last && is_neutral(first, closure)? => {
                    format!(".reduce({axes}, {}).item()", closure.line()?)
                }
                ("fold", [first, function]) if last => {
                    let path = function.text()?;
                    let (_, method) = path.split_once("::")?;
                    if !matches!(method, "max" | "min") {
                        return None;
                    }
                    let ends: &[&str] = match method {
                        "max" => &["MIN", "NEG_INFINITY"],
                        _ => &["MAX", "INFINITY"],
                    };
                    let first = first.text()?;
                    let neutral = first.rsplit("::").next().is_some_and(|end| ends.contains(&end));
                    let also = if neutral { String::new() } else { format!(".{method}({first})") };
                    format!(".{method}({axes}).item(){also}")
                }
                (_, _) => return None,
            };
            out.push_str(&link);
        }
        Some(out)
    }
}

/// Whether a closure adds or multiplies its two values, and begins with what changes nothing; none if it is no closure of two values.
fn is_neutral(first: &Expr, closure: &Expr) -> Option<bool> {
    let ExprKind::Closure(params, body) = &closure.kind else { return Some(false) };
    let ExprKind::Binary(BinOp::Arith(op), a, b) = &body.kind else { return None };
    let begins = first.text()?;
    let names: Vec<&str> = params
        .iter()
        .filter_map(|param| {
            let PatKind::Ident { name, .. } = &param.kind else { return None };
            Some(name.as_str())
        })
        .collect();
    let both = [a.name()?, b.name()?];
    let names =
        names.len() == 2 && names.iter().all(|name| both.contains(name)) && both[0] != both[1];
    let neutral = match op {
        Binary::Add => ["0", "0.0"],
        Binary::Mul => ["1", "1.0"],
        Binary::Sub
        | Binary::Div
        | Binary::Rem
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr
        | Binary::Min
        | Binary::Max
        | Binary::MulHi
        | Binary::Copysign
        | Binary::Powf => return None,
    };
    Some(names && neutral.contains(&begins.as_str()))
}

impl Builder<'_> {
    /// Reports a chain of iterators over a tile, as a whole.
    pub(crate) fn iterated(
        &mut self,
        (receiver, name, args): (&Expr, &Segment, &[Expr]),
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        let chain = Chain::of(receiver, name, args)?;
        let val = self.plain_expr(chain.tile, env);
        let Some(Type::Tile(_, shape)) = self.ty_of(&val) else { return None };
        let help = chain.written(shape.len())?;
        let headline = format!("{} has no iterators", self.describe(&val));
        let why = "the elements of a tile belong to threads: they are computed with all at once";
        let diagnostic = Code::NotAFunction.at(loc, headline).why(why);
        Some(self.report(diagnostic.help(help)))
    }
}

/// The help for an assignment to one element of a tile of rank 1, in the words of the kernel; `value` stands for what is assigned.
pub(crate) fn chosen_element(
    (base, index): (&Expr, &Expr),
    extent: u32,
    value: &str,
) -> Option<String> {
    let (tile, index) = (base.name()?, index.text()?);
    let index = bare(index.strip_suffix(" as usize").unwrap_or(&index));
    Some(format!("{tile} = select(arange(0, {extent}).eq({index}), {value}, {tile})"))
}
