//! Expressions.

use super::{
    BinOp, Block, Expr, ExprKind, Ident, Literal, Pat, Printer, PtxCall, TilePart, UnOp, binary,
    operator,
};

use crate::syntax::{SaidText, Saying};

/// How tightly an operator of arithmetic binds.
fn precedence(expr: &Expr) -> Option<u8> {
    let ExprKind::Binary(BinOp::Arith(op), ..) = &expr.kind else { return None };
    match binary(*op) {
        "*" | "/" | "%" => Some(2),
        "+" | "-" => Some(1),
        _ => None,
    }
}

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Lit(literal) => self.literal(literal),
            ExprKind::Path(path) => self.path(path, "::"),
            ExprKind::Unary(op, operand) => {
                self.put(match op {
                    UnOp::Neg => "-",
                    UnOp::Not => "!",
                    UnOp::Deref => "*",
                });
                self.operand(operand);
            }
            ExprKind::Binary(op, left, right) if self.locations.is_none() => {
                self.plain(expr, left, operator(*op), right);
            }
            ExprKind::Binary(op, left, right) => self.infix(left, operator(*op), right),
            ExprKind::Assign(to, value) => self.assign(to, "=", value),
            ExprKind::AssignOp(op, to, value) => {
                self.assign(to, &format!("{}=", binary(*op)), value);
            }
            ExprKind::Call(function, args) => {
                self.operand(function);
                self.closed("(", args, ")", Self::expr);
            }
            ExprKind::Method(receiver, name, args) => {
                self.operand(receiver);
                self.put(".");
                self.segment(name, "::");
                self.closed("(", args, ")", Self::expr);
            }
            ExprKind::Field(of, name) => {
                self.operand(of);
                self.put(&format!(".{}", name.name));
            }
            ExprKind::Fits { value, name, .. } => {
                self.operand(value);
                self.put(&format!(" fits {}", name.name));
            }
            ExprKind::Index(of, index) => {
                self.operand(of);
                self.put("[");
                self.expr(index);
                self.put("]");
            }
            ExprKind::Tuple(parts) => self.closed("(", parts, ")", Self::expr),
            ExprKind::Array(parts) => self.closed("[", parts, "]", Self::expr),
            ExprKind::Repeat(value, count) => {
                self.put("[");
                self.expr(value);
                self.put("; ");
                self.expr(count);
                self.put("]");
            }
            ExprKind::Struct(path, fields) => {
                self.path(path, "::");
                self.closed(" { ", fields, " }", Self::field);
            }
            ExprKind::Cast(value, ty) => {
                self.operand(value);
                self.put(" as ");
                self.ty(ty);
            }
            ExprKind::Ref(mutable, value) => {
                self.put(if *mutable { "&mut " } else { "&" });
                self.operand(value);
            }
            ExprKind::Range(from, to) => self.range(from.as_deref(), to.as_deref()),
            ExprKind::Closure(params, body) => {
                self.closed("|", params, "| ", Self::pat);
                self.expr(body);
            }
            ExprKind::Said { saying, operands, text, .. } => self.said(*saying, operands, text),
            ExprKind::TileLayout(parts) => self.tile_layout(parts),
            ExprKind::Ptx(call) => self.ptx(call),
            ExprKind::Refused(_) => self.put("<refused>"),
            ExprKind::Block(block) => self.block(block),
            ExprKind::ConstBlock(block) => {
                self.put("const ");
                self.block(block);
            }
            ExprKind::If(condition, then, otherwise) => {
                self.put("if ");
                self.expr(condition);
                self.put(" ");
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.put(" else ");
                    self.expr(otherwise);
                }
            }
            ExprKind::While(label, condition, body) => {
                self.looped(label.as_ref(), "while ", |dump| dump.expr(condition), body);
            }
            ExprKind::For(label, pat, over, body) => {
                self.looped(label.as_ref(), "for ", |dump| dump.counts(pat, over), body);
            }
            ExprKind::Loop(label, body) => self.looped(label.as_ref(), "loop", |_| {}, body),
            ExprKind::Break(label, value) => self.leave("break", label.as_ref(), value.as_deref()),
            ExprKind::Continue(label) => self.leave("continue", label.as_ref(), None),
            ExprKind::Return(value) => self.leave("return", None, value.as_deref()),
        }
    }

    /// `layout!(S[(4, 8) : (8, 1 @ laneid)])`
    fn tile_layout(&mut self, parts: &[TilePart]) {
        self.put("layout!(");
        for (number, part) in parts.iter().enumerate() {
            self.put(if number == 0 { "" } else { " + " });
            self.put(if part.replica { "R[" } else { "S[" });
            self.closed("(", &part.extents, ")", Self::expr);
            if !part.strides.is_empty() {
                self.closed(" : (", &part.strides, ")", |dump, (amount, axis)| {
                    dump.operand(amount);
                    if let Some(axis) = axis {
                        dump.put(&format!(" @ {}", axis.name));
                    }
                });
            }
            self.put("]");
        }
        self.put(")");
    }

    /// `ptx!("..", a = x => i32)`
    fn ptx(&mut self, call: &PtxCall) {
        self.put(&format!("ptx!({:?}", call.text));
        for (name, value) in &call.inputs {
            self.put(&format!(", {} = ", name.name));
            self.expr(value);
        }
        if let Some(ty) = &call.output {
            self.put(" => ");
            self.ty(ty);
        }
        self.put(")");
    }

    fn range(&mut self, from: Option<&Expr>, to: Option<&Expr>) {
        if let Some(from) = from {
            self.operand(from);
        }
        self.put("..");
        if let Some(to) = to {
            self.operand(to);
        }
    }

    fn said(&mut self, saying: Saying, operands: &[Expr], text: &SaidText) {
        self.put(&format!("{}!(", saying.name()));
        self.list(operands, Self::expr);
        if !text.format.is_empty() {
            let comma = if operands.is_empty() { "" } else { ", " };
            self.put(&format!("{comma}{:?}", text.format));
            for said in &text.values {
                self.put(", ");
                self.expr(&said.value);
            }
        }
        self.put(")");
    }

    fn looped(
        &mut self,
        label: Option<&String>,
        word: &str,
        head: impl FnOnce(&mut Self),
        body: &Block,
    ) {
        if let Some(label) = label {
            self.put(&format!("'{label}: "));
        }
        self.put(word);
        head(self);
        self.put(" ");
        self.block(body);
    }

    fn counts(&mut self, pat: &Pat, over: &Expr) {
        self.pat(pat);
        self.put(" in ");
        self.expr(over);
    }

    fn leave(&mut self, word: &str, label: Option<&String>, value: Option<&Expr>) {
        self.put(word);
        if let Some(label) = label {
            self.put(&format!(" '{label}"));
        }
        if let Some(value) = value {
            self.put(" ");
            self.expr(value);
        }
    }

    fn field(&mut self, (name, value): &(Ident, Expr)) {
        self.put(&format!("{}: ", name.name));
        self.expr(value);
    }

    fn infix(&mut self, left: &Expr, operator: &str, right: &Expr) {
        self.operand(left);
        self.put(&format!(" {operator} "));
        self.operand(right);
    }

    /// As a user writes it: without the parentheses that Rust does not need.
    fn plain(&mut self, expr: &Expr, left: &Expr, operator: &str, right: &Expr) {
        let own = precedence(expr);
        let bare = |side: &Expr, least: u8| own.is_some() && precedence(side) >= Some(least);
        let own = own.unwrap_or_default();
        self.side(left, bare(left, own));
        self.put(&format!(" {operator} "));
        self.side(right, bare(right, own + 1));
    }

    /// An operand of an operator, which `bare` says needs no parentheses.
    fn side(&mut self, expr: &Expr, bare: bool) {
        if bare || matches!(expr.kind, ExprKind::Unary(..)) {
            self.expr(expr);
        } else {
            self.operand(expr);
        }
    }

    fn assign(&mut self, to: &Expr, operator: &str, value: &Expr) {
        self.expr(to);
        self.put(&format!(" {operator} "));
        self.expr(value);
    }

    /// In parentheses, if it is an operation itself.
    pub(super) fn operand(&mut self, expr: &Expr) {
        let closed = matches!(
            expr.kind,
            ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Assign(..)
                | ExprKind::AssignOp(..)
                | ExprKind::Cast(..)
                | ExprKind::Ref(..)
                | ExprKind::Range(..)
                | ExprKind::Closure(..)
        );
        if closed {
            self.put("(");
        }
        self.expr(expr);
        if closed {
            self.put(")");
        }
    }

    fn literal(&mut self, literal: &Literal) {
        let text = match literal {
            Literal::Int(value, suffix) => {
                format!("{value}{}", suffix.as_deref().unwrap_or_default())
            }
            Literal::Float(value, suffix) => {
                format!("{value:?}{}", suffix.as_deref().unwrap_or_default())
            }
            Literal::Bool(value) => value.to_string(),
            Literal::Str(text) => format!("{text:?}"),
        };
        self.put(&text);
    }
}
