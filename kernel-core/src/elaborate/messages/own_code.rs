//! Helps that repeat the code around an expression: the allocation that stands in a loop, the assignment that a message is about,
//! the attribute and the signature of a kernel.
//!
//! A phase that finds a problem has values, not the statement that it stands in; here are the trees of all functions.

use std::collections::BTreeMap;

use crate::{
    diag::{Code, Compared, Diagnostic, Problems},
    elaborate::{
        language::{
            known::{A_PARAMETER, AN_EXTENT},
            reach::children,
        },
        tiles::arith::{LEFT, RIGHT},
    },
    loc::{Loc, Locations},
    syntax::{Block, Expr, ExprKind, Function, Item, Kernel, Pat, PatKind, Stmt, TypeExpr, Unit},
};

mod addresses;
mod alternatives;
mod constants;
mod counted;
mod declarations;
mod elements;
mod extents;
mod instances;
mod loops;
mod operators;
mod parameters;
mod stages;
mod variants;

use elements::Elements;

pub(crate) use constants::declared;

/// What stands in a help for the value of an assignment, until the assignment is found.
pub(crate) const VALUE: &str = "_VALUE_";

/// What is said of a pipelined loop that begins with no copies.
pub(crate) const NO_COPIES: &str = "a pipelined loop does not begin with copies";

/// The most expressions around one that are looked at.
const MOST_AROUND: usize = 128;

/// A function: its expressions, and what surrounds them.
struct Body<'a> {
    /// The kernel that it is, if it is one.
    kernel: Option<&'a Kernel>,
    function: &'a Function,
    exprs: BTreeMap<Loc, &'a Expr>,
    /// The expression that an expression is a part of.
    parents: BTreeMap<Loc, &'a Expr>,
    /// What names are declared with, in the order of the text.
    lets: Vec<(&'a str, &'a Expr)>,
    /// The names of the variables of `for` loops.
    counters: Vec<&'a str>,
    /// The places of the values that patterns of tuples take apart.
    taken_apart: Vec<Loc>,
}

impl<'a> Body<'a> {
    fn of(function: &'a Function, kernel: Option<&'a Kernel>) -> Self {
        let mut body = Body {
            kernel,
            function,
            exprs: BTreeMap::new(),
            parents: BTreeMap::new(),
            lets: Vec::new(),
            counters: Vec::new(),
            taken_apart: Vec::new(),
        };
        if let Some(block) = &function.body {
            body.block(block);
            block.exprs().for_each(|expr| body.add(expr));
        }
        body
    }

    fn add(&mut self, expr: &'a Expr) {
        self.exprs.entry(expr.loc).or_insert(expr);
        if let ExprKind::Block(block) | ExprKind::ConstBlock(block) | ExprKind::Loop(_, block) =
            &expr.kind
        {
            self.block(block);
        }
        if let ExprKind::If(_, block, _) | ExprKind::While(_, _, block) = &expr.kind {
            self.block(block);
        }
        if let ExprKind::For(_, pat, _, block) = &expr.kind {
            if let PatKind::Ident { name, .. } = &pat.kind {
                self.counters.push(name);
            }
            self.block(block);
        }
        children(expr, &mut |child| {
            if child.loc != expr.loc {
                self.parents.entry(child.loc).or_insert(expr);
            }
            self.add(child);
        });
    }

    fn block(&mut self, block: &'a Block) {
        for stmt in &block.stmts {
            if let Stmt::Let { pat, init: Some(init), .. } = stmt {
                self.declare(pat, init);
            }
        }
    }

    fn declare(&mut self, pat: &'a Pat, init: &'a Expr) {
        if let PatKind::Ident { name, .. } = &pat.kind {
            self.lets.push((name, init));
        }
        if let PatKind::Tuple(pats) = &pat.kind {
            if let ExprKind::Tuple(parts) = &init.kind {
                pats.iter().zip(parts).for_each(|(pat, part)| self.declare(pat, part));
            } else {
                self.taken_apart.push(init.loc);
            }
        }
    }

    fn parent(&self, expr: &Expr) -> Option<&'a Expr> {
        self.parents.get(&expr.loc).copied()
    }

    /// The expressions around one, innermost first.
    fn around(&self, expr: &Expr) -> impl Iterator<Item = &'a Expr> {
        // Expressions that stand for others have places of these: the way up is no longer than expressions nest.
        std::iter::successors(self.parent(expr), |outer| self.parent(outer)).take(MOST_AROUND)
    }

    /// What a name is declared with, if that is one expression.
    fn init(&self, name: &str) -> Option<&'a Expr> {
        let mut found = self.lets.iter().filter(|(of, _)| *of == name).map(|(_, init)| *init);
        found.next().filter(|_| found.next().is_none())
    }

    /// The type of a parameter.
    fn param(&self, name: &str) -> Option<&'a TypeExpr> {
        let is_of = |pat: &Pat| matches!(&pat.kind, PatKind::Ident { name: of, .. } if of == name);
        self.function.params.iter().find(|(pat, _)| is_of(pat)).map(|(_, ty)| ty)
    }

    /// Whether the function has something of this name.
    fn names(&self, name: &str) -> bool {
        self.lets.iter().any(|(of, _)| *of == name)
            || self.param(name).is_some()
            || self.counters.contains(&name)
            || self.function.generics.iter().any(|param| param.name.name == name)
    }
}

/// The function that is called and its arguments: `shared` and `[64, 32]` of `shared::<f16>([64, 32])`.
fn called(expr: &Expr) -> Option<(&str, &[Expr])> {
    let ExprKind::Call(of, args) = &expr.kind else { return None };
    let ExprKind::Path(path) = &of.kind else { return None };
    Some((&path.segments.last()?.name, args))
}

/// The functions of a unit.
fn bodies(unit: &Unit) -> Vec<Body<'_>> {
    let kernels = unit.kernels.iter().map(|kernel| Body::of(&kernel.function, Some(kernel)));
    let devices = unit.devices.items.iter().flat_map(|device| &device.items);
    let items = unit.items.iter().chain(devices);
    let helpers = items.flat_map(functions).map(|function| Body::of(function, None));
    kernels.chain(helpers).collect()
}

/// Adds a row of required against actual.
fn compare(diagnostic: &mut Diagnostic, required: &str, actual: &str) {
    diagnostic.compare.push(Compared {
        what: String::new(),
        required: required.to_owned(),
        actual: actual.to_owned(),
    });
}

/// Writes the helps of a unit's messages out of its own code.
pub(crate) fn write(unit: &Unit, locations: &Locations, problems: &mut Problems) {
    if problems.is_empty() {
        return;
    }
    let bodies = bodies(unit);
    problems.change(|list| {
        let mut elements = Elements::default();
        for diagnostic in list.iter_mut() {
            let found = bodies
                .iter()
                .find_map(|body| Some((body, body.exprs.get(&diagnostic.primary).copied()?)));
            if let Some((body, expr)) = found {
                body.write(expr, locations, diagnostic, &mut elements);
            }
        }
        parameters::write(&bodies, list);
        instances::write(&bodies, list);
        for diagnostic in list.iter_mut() {
            if let Some(help) = bodies.iter().find_map(|body| body.extent_of_method(diagnostic)) {
                (diagnostic.help, diagnostic.example) = (Some(help), None);
            }
        }
        stages::write(&bodies, locations, list);
        variants::join(list);
        // What found no expression has nothing to stand for its words.
        let open = |help: &String| [LEFT, RIGHT, VALUE].iter().any(|word| help.contains(word));
        for diagnostic in list.iter_mut() {
            diagnostic.help.take_if(|help| open(help));
            diagnostic.example.take_if(|example| open(example));
            // It was the other one of two that may be meant.
            if diagnostic.help.is_some() {
                diagnostic.example = None;
            }
        }
        // What is wrong with an element of an array is wrong with the array.
        let arrays: Vec<Loc> = list
            .iter()
            .filter(|diagnostic| !matches!(diagnostic.code, Code::DtypeMismatch))
            .filter_map(|diagnostic| {
                let outer = bodies.iter().find_map(|body| body.parents.get(&diagnostic.primary))?;
                matches!(outer.kind, ExprKind::Array(_)).then_some(outer.loc)
            })
            .collect();
        list.retain(|diagnostic| {
            diagnostic.code != Code::DtypeMismatch || !arrays.contains(&diagnostic.primary)
        });
        // The help for an assignment says those in its value as well.
        list.retain(|diagnostic| !elements.contained.contains(&diagnostic.primary));
    });
}

fn functions(item: &Item) -> Vec<&Function> {
    match item {
        Item::Function(function) => vec![function],
        Item::Impl(item) => item.functions.iter().map(|one| &**one).collect(),
        Item::Trait(item) => item.functions.iter().map(|one| &**one).collect(),
        Item::Struct(_) | Item::Const(_) | Item::Use(_) | Item::Refused(_) => Vec::new(),
    }
}

impl Body<'_> {
    fn write(
        &self,
        expr: &Expr,
        locations: &Locations,
        diagnostic: &mut Diagnostic,
        elements: &mut Elements,
    ) {
        if operators::write(expr, diagnostic)
            || self.declaration(expr, diagnostic)
            || declarations::branches(expr, diagnostic)
        {
            return;
        }
        let of_parameter = [A_PARAMETER, AN_EXTENT];
        let example = diagnostic.example.as_deref();
        let of_instance = example.is_some_and(|text| of_parameter.contains(&text));
        let written = if diagnostic.code == Code::SharedInLoop {
            self.outside(expr, diagnostic)
        } else if diagnostic.code == Code::NotConstant && of_instance {
            self.instances(expr, diagnostic)
        } else if diagnostic.code == Code::Kind {
            self.alternative(expr, diagnostic)
                .or_else(|| self.window_of_address(self.exprs.get(&expr.loc)?, diagnostic))
                .or_else(|| self.block_of_buffer(expr, diagnostic))
        } else if matches!(diagnostic.code, Code::ArgumentCount | Code::Axis) {
            self.alternative(expr, diagnostic)
        } else if diagnostic.code == Code::ShapeMismatch {
            self.other_axis(expr, diagnostic).or_else(|| self.stored_extents(expr, diagnostic))
        } else if diagnostic.code == Code::NotAFunction {
            self.changed_element(expr, diagnostic)
                .or_else(|| self.element(expr, diagnostic, elements))
        } else if diagnostic.code == Code::Pipeline {
            self.copies(expr, locations, diagnostic)
        } else if diagnostic.code == Code::Immutable {
            self.changed_in_closure(expr, locations, diagnostic)
        } else {
            None
        };
        if let Some(help) = written {
            diagnostic.example = None;
            diagnostic.help = Some(help);
        }
    }
}
