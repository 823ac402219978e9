//! The tree as text, for `KILN_DUMP`: Rust as the compiler read it, every line with its place in the source.
//!
//! ```text
//! 12:8     fn twice(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
//! 13:9         let tile = x.tile([0], [128]).load();
//! 14:5         out.tile([0], [128]).store(tile + tile);
//!          }
//! ```
//!
//! Operands that are operations themselves are in parentheses, to show how the source was parsed.

use super::{
    BinOp, Block, ConstItem, Expr, ExprKind, Function, GenericArg, GenericKind, GenericParam,
    Ident, Item, Kernel, Literal, ParamFact, Pat, PatKind, Path, PtxCall, Receiver, Segment, Stmt,
    TilePart, TypeExpr, TypeKind, UnOp, Unit,
};
use crate::ir::{Binary, Compare};
use crate::loc::{Loc, Locations};

impl Unit {
    /// A kernel of the unit as text, after the items that stand beside it.
    pub fn dump(&self, kernel: &Kernel, locations: &Locations) -> String {
        let mut printer = Printer { locations: Some(locations), out: String::new(), depth: 0 };
        for item in &self.items {
            printer.item(item);
        }
        printer.kernel(kernel);
        printer.out.push('\n');
        printer.out
    }
}

impl Expr {
    /// The expression on one line, for help that can be pasted; none if it has a block or is long.
    pub(crate) fn text(&self) -> Option<String> {
        Self::printed(LONGEST, |printer| printer.expr(self))
    }

    /// Like [`Expr::text`], and up to a line long: for what a help moves, as a whole.
    pub(crate) fn line(&self) -> Option<String> {
        Self::printed(LINE, |printer| printer.expr(self))
    }

    /// Like [`Expr::text`], in parentheses if a method or an operator binds more tightly.
    pub(crate) fn operand_text(&self) -> Option<String> {
        Self::printed(LONGEST, |printer| printer.operand(self))
    }

    fn printed(longest: usize, print: impl FnOnce(&mut Printer<'_>)) -> Option<String> {
        let mut printer = Printer { locations: None, out: String::new(), depth: 0 };
        print(&mut printer);
        let text = printer.out;
        let own = ["\n", "<refused>", super::matching::VALUE];
        let whole = !own.iter().any(|part| text.contains(part));
        (whole && text.len() <= longest).then_some(text)
    }
}

impl TypeExpr {
    /// The type as it is written.
    pub(crate) fn text(&self) -> String {
        let mut printer = Printer { locations: None, out: String::new(), depth: 0 };
        printer.ty(self);
        printer.out
    }
}

impl Kernel {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.function.name.name
    }
}

/// Columns that line and column of the source take.
const GUTTER: usize = 9;

/// Characters of an expression that a help repeats.
const LONGEST: usize = 48;

/// Characters of an expression that is most of a line.
const LINE: usize = 120;

struct Printer<'a> {
    /// For the places beside the lines; none if no line is asked for.
    locations: Option<&'a Locations>,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Begins a line, with a place or without.
    fn line(&mut self, at: Option<Loc>) {
        if !self.out.is_empty() {
            let end = self.out.trim_end().len();
            self.out.truncate(end);
            self.out.push('\n');
        }
        let place = at.zip(self.locations).map_or_else(String::new, |(loc, locations)| {
            let (line, column) = locations.line_column(loc);
            format!("{line}:{column}")
        });
        self.put(&format!("{place:<GUTTER$}{}", "    ".repeat(self.depth)));
    }

    fn list<T>(&mut self, parts: &[T], mut part: impl FnMut(&mut Self, &T)) {
        for (index, one) in parts.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            part(self, one);
        }
    }

    fn kernel(&mut self, kernel: &Kernel) {
        let attr = &kernel.attr;
        self.line(attr.loc);
        self.put("#[kernel(target = [");
        self.list(&attr.targets, |p, target| p.put(&target.name));
        self.put("]");
        if let Some(cluster) = &attr.cluster {
            self.put(", cluster = ");
            self.expr(cluster);
        }
        if let Some(warps) = &attr.warps {
            self.put(", warps = ");
            self.expr(warps);
        }
        if let (Some(grid), Some(locations)) = (attr.grid, self.locations) {
            self.put(&format!(", grid = {}", locations.tokens(grid)));
        }
        self.put(")]");
        for list in &attr.instances {
            self.line(Some(list.loc));
            self.put("#[instances((");
            self.list(&list.names, |p, name| p.put(&name.name));
            self.put(") = [");
            self.list(&list.rows, |p, row| {
                p.put("(");
                p.list(row, |p, value| p.generic_arg(&value.arg));
                p.put(")");
            });
            self.put("])]");
        }
        for ((pat, _), facts) in kernel.function.params.iter().zip(&kernel.facts) {
            for fact in facts {
                self.fact(pat, fact);
            }
        }
        self.function(&kernel.function);
    }

    fn fact(&mut self, pat: &Pat, fact: &ParamFact) {
        match fact {
            ParamFact::MultipleOf(of) => {
                self.line(Some(of.loc));
                self.put("#[multiple_of(");
                self.expr(of);
            }
            ParamFact::Block(extents, options, loc) => {
                self.line(Some(*loc));
                self.put("#[block(");
                self.list(extents, Printer::expr);
                for option in options {
                    self.put(", ");
                    self.put(&option.name.name);
                    self.put(" = ");
                    self.expr(&option.value);
                }
            }
            ParamFact::Stride(strides, loc) => {
                self.line(Some(*loc));
                self.put("#[stride(");
                self.list(strides, |p, stride| match stride {
                    Some(stride) => p.expr(stride),
                    None => p.put("_"),
                });
            }
        }
        self.put(")] ");
        self.pat(pat);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Function(function) => self.function(function),
            Item::Const(item) => self.constant(item),
            Item::Struct(item) => {
                self.line(Some(item.name.loc));
                self.put(&format!("struct {}", item.name.name));
                self.generics(&item.generics);
                self.put(" { ");
                self.list(&item.fields, |p, (name, ty)| {
                    p.put(&format!("{name}: "));
                    p.ty(ty);
                });
                self.put(" }");
            }
            Item::Impl(item) => {
                self.line(Some(item.ty.loc));
                self.put("impl");
                self.generics(&item.generics);
                self.put(" ");
                if let Some(name) = &item.of_trait {
                    self.put(&format!("{name} for "));
                }
                self.ty(&item.ty);
                self.members(&item.consts, &item.functions);
            }
            Item::Trait(item) => {
                self.line(Some(item.name.loc));
                self.put(&format!("trait {}", item.name.name));
                self.members(&item.consts, &item.functions);
            }
            Item::Use(item) => {
                self.line(Some(item.loc));
                self.put(&format!("use {} as {};", item.path.join("::"), item.name));
            }
            Item::Refused(name) => {
                self.line(None);
                self.put(&format!("<refused> {name}"));
            }
        }
    }

    fn members(
        &mut self,
        consts: &[std::sync::Arc<ConstItem>],
        functions: &[std::sync::Arc<Function>],
    ) {
        self.put(" {");
        self.depth += 1;
        for item in consts {
            self.constant(item);
        }
        for function in functions {
            self.function(function);
        }
        self.depth -= 1;
        self.line(None);
        self.put("}");
    }

    fn constant(&mut self, item: &ConstItem) {
        self.line(Some(item.name.loc));
        self.put(&format!("const {}: ", item.name.name));
        self.ty(&item.ty);
        self.put(" = ");
        self.expr(&item.value);
        self.put(";");
    }

    fn function(&mut self, function: &Function) {
        self.line(Some(function.name.loc));
        self.put(&format!("fn {}", function.name.name));
        self.generics(&function.generics);
        self.put("(");
        if let Some(receiver) = function.receiver {
            self.put(match receiver {
                Receiver::Value => "self",
                Receiver::Shared => "&self",
                Receiver::Mutable => "&mut self",
            });
            if !function.params.is_empty() {
                self.put(", ");
            }
        }
        self.list(&function.params, |p, (pat, ty)| {
            p.pat(pat);
            p.put(": ");
            p.ty(ty);
        });
        self.put(")");
        if let Some(result) = &function.result {
            self.put(" -> ");
            self.ty(result);
        }
        match &function.body {
            Some(body) => {
                self.put(" ");
                self.block(body);
            }
            None => self.put(";"),
        }
    }

    fn generics(&mut self, generics: &[GenericParam]) {
        if generics.is_empty() {
            return;
        }
        self.put("<");
        self.list(generics, |p, param| match &param.kind {
            GenericKind::Type(bounds) if bounds.is_empty() => p.put(&param.name.name),
            GenericKind::Type(bounds) => {
                p.put(&format!("{}: {}", param.name.name, bounds.join(" + ")));
            }
            GenericKind::Const(ty) => {
                p.put(&format!("const {}: ", param.name.name));
                p.ty(ty);
            }
        });
        self.put(">");
    }

    fn block(&mut self, block: &Block) {
        self.put("{");
        self.depth += 1;
        for item in &block.items {
            self.item(item);
        }
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        if let Some(tail) = &block.tail {
            self.line(Some(tail.loc));
            self.expr(tail);
        }
        self.depth -= 1;
        self.line(None);
        self.put("}");
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { pat, ty, init } => {
                self.line(Some(pat.loc));
                self.put("let ");
                self.pat(pat);
                if let Some(ty) = ty {
                    self.put(": ");
                    self.ty(ty);
                }
                if let Some(init) = init {
                    self.put(" = ");
                    self.expr(init);
                }
            }
            Stmt::Expr(expr) => {
                self.line(Some(expr.loc));
                self.expr(expr);
            }
        }
        self.put(";");
    }

    fn pat(&mut self, pat: &Pat) {
        match &pat.kind {
            PatKind::Refused(names) => self.put(&format!("<refused> {}", names.join(", "))),
            PatKind::Ident { name, mutable } => {
                self.put(&format!("{}{name}", if *mutable { "mut " } else { "" }));
            }
            PatKind::InArm { name } => self.put(name),
            PatKind::Again { .. } => self.put(super::matching::VALUE),
            PatKind::Wild => self.put("_"),
            PatKind::Tuple(parts) => self.closed("(", parts, ")", Self::pat),
            PatKind::Array(parts) => self.closed("[", parts, "]", Self::pat),
            PatKind::Ref(inner) => {
                self.put("&");
                self.pat(inner);
            }
        }
    }

    fn closed<T>(&mut self, open: &str, parts: &[T], close: &str, part: fn(&mut Self, &T)) {
        self.put(open);
        self.list(parts, part);
        self.put(close);
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Path(path) => self.path(path, ""),
            TypeKind::Tuple(parts) => self.closed("(", parts, ")", Self::ty),
            TypeKind::Array(elem, count) => {
                self.put("[");
                self.ty(elem);
                self.put("; ");
                self.expr(count);
                self.put("]");
            }
            TypeKind::Ref(inner, mutable) => {
                self.put(if *mutable { "&mut " } else { "&" });
                self.ty(inner);
            }
            TypeKind::Infer => self.put("_"),
            TypeKind::Opaque => self.put("impl _"),
        }
    }

    /// `turbofish` is what stands before generic arguments: `::` in expressions.
    fn path(&mut self, path: &Path, turbofish: &str) {
        for (index, segment) in path.segments.iter().enumerate() {
            if index > 0 {
                self.put("::");
            }
            self.segment(segment, turbofish);
        }
    }

    fn segment(&mut self, segment: &Segment, turbofish: &str) {
        self.put(&segment.name);
        if !segment.args.is_empty() {
            self.put(turbofish);
            self.closed("<", &segment.args, ">", Self::generic_arg);
        }
    }

    fn generic_arg(&mut self, arg: &GenericArg) {
        match arg {
            GenericArg::Type(ty) => self.ty(ty),
            GenericArg::Const(value) => self.expr(value),
        }
    }
}

mod expr;

/// An operator as Rust writes it; what has none by its name.
fn binary(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::And => "&",
        Binary::Or => "|",
        Binary::Xor => "^",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::Min | Binary::Max | Binary::MulHi | Binary::Copysign | Binary::Powf => op.name(),
    }
}

fn operator(op: BinOp) -> &'static str {
    match op {
        BinOp::Arith(op) => binary(op),
        BinOp::Compare(Compare::Lt) => "<",
        BinOp::Compare(Compare::Le) => "<=",
        BinOp::Compare(Compare::Gt) => ">",
        BinOp::Compare(Compare::Ge) => ">=",
        BinOp::Compare(Compare::Eq) => "==",
        BinOp::Compare(Compare::Ne) => "!=",
        BinOp::AndAnd => "&&",
        BinOp::OrOr => "||",
    }
}

#[cfg(test)]
mod tests;
