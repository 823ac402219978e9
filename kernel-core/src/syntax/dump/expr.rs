//! Expressions.

use super::{Expr, ExprKind, Ident, Literal, Printer, PtxCall, TilePart, UnOp, binary, operator};

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
            ExprKind::Range(from, to) => {
                if let Some(from) = from {
                    self.operand(from);
                }
                self.put("..");
                if let Some(to) = to {
                    self.operand(to);
                }
            }
            ExprKind::Closure(params, body) => {
                self.closed("|", params, "| ", Self::pat);
                self.expr(body);
            }
            ExprKind::Assert(condition, message) => {
                self.put("assert!(");
                self.expr(condition);
                if let Some(message) = message {
                    self.put(&format!(", {message:?}"));
                }
                self.put(")");
            }
            ExprKind::TileLayout(parts) => self.tile_layout(parts),
            ExprKind::Ptx(call) => self.ptx(call),
            ExprKind::Refused(_) => self.put("<refused>"),
            ExprKind::Block(_)
            | ExprKind::ConstBlock(_)
            | ExprKind::If(..)
            | ExprKind::While(..)
            | ExprKind::For(..)
            | ExprKind::Loop(..)
            | ExprKind::Break(..)
            | ExprKind::Continue(_)
            | ExprKind::Return(_) => self.control(expr),
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

    /// What has a block, or leaves one.
    fn control(&mut self, expr: &Expr) {
        match &expr.kind {
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
                self.label(label.as_ref());
                self.put("while ");
                self.expr(condition);
                self.put(" ");
                self.block(body);
            }
            ExprKind::For(label, pat, over, body) => {
                self.label(label.as_ref());
                self.put("for ");
                self.pat(pat);
                self.put(" in ");
                self.expr(over);
                self.put(" ");
                self.block(body);
            }
            ExprKind::Loop(label, body) => {
                self.label(label.as_ref());
                self.put("loop ");
                self.block(body);
            }
            ExprKind::Break(label, value) => self.leave("break", label.as_ref(), value.as_deref()),
            ExprKind::Continue(label) => self.leave("continue", label.as_ref(), None),
            ExprKind::Return(value) => self.leave("return", None, value.as_deref()),
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
            | ExprKind::Closure(..)
            | ExprKind::Range(..)
            | ExprKind::Cast(..)
            | ExprKind::Ref(..)
            | ExprKind::Assert(..)
            | ExprKind::TileLayout(_)
            | ExprKind::Ptx(_)
            | ExprKind::Refused(_) => unreachable!("`expr` writes what has no block itself"),
        }
    }

    fn label(&mut self, label: Option<&String>) {
        if let Some(label) = label {
            self.put(&format!("'{label}: "));
        }
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
