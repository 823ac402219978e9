//! Expressions, patterns, types and blocks.

use quote::ToTokens;
use syn::spanned::Spanned as _;

use super::{
    BinOp, Block, Expr, ExprKind, GenericArg, Ident, Literal, Pat, PatKind, Path, Segment, Stmt,
    TypeExpr, TypeKind, UnOp,
    macros::{LONGEST_GIVEN, MACROS, macro_advice, macro_written},
};
use crate::{
    diag::{Code, Problems},
    ir::{Binary, Compare},
    loc::{Loc, Locations},
};

/// Reads `syn`'s tree and notes what is outside the subset.
pub(super) struct Reader<'a> {
    pub(super) locations: &'a Locations,
    pub(super) problems: &'a mut Problems,
}

/// An expression this deep is refused, so that no phase can run out of stack.
pub(super) const MAX_DEPTH: u32 = 96;

impl Reader<'_> {
    pub(super) fn loc(&self, tokens: &impl ToTokens) -> Loc {
        self.locations.of(tokens)
    }

    /// Notes something outside the subset: why it is, and what to write instead; either may be empty.
    pub(super) fn refuse(&mut self, loc: Loc, what: &str, why: &str, help: &str) {
        let headline = format!("{what} cannot be used in a kernel");
        self.problems.push(Code::Unsupported.at(loc, headline).advised(why, help));
    }

    /// The same, at the place of these tokens.
    pub(super) fn refuse_at(&mut self, part: &impl ToTokens, what: &str, why: &str, help: &str) {
        let loc = self.loc(part);
        self.refuse(loc, what, why, help);
    }

    pub(super) fn ident(&self, ident: &syn::Ident) -> Ident {
        let text = ident.to_string();
        let name = text.strip_prefix("r#").unwrap_or(&text).to_owned();
        Ident { name, loc: self.locations.of_span(ident.span()) }
    }

    pub(super) fn block(&mut self, block: &syn::Block, depth: u32) -> Block {
        let mut out =
            Block { items: Vec::new(), stmts: Vec::new(), tail: None, loc: self.loc(block) };
        let count = block.stmts.len();
        for (index, stmt) in block.stmts.iter().enumerate() {
            let (read, semi) = match stmt {
                syn::Stmt::Local(local) => {
                    self.local(local, depth, &mut out);
                    continue;
                }
                syn::Stmt::Item(item) => {
                    self.item(item, &mut out.items);
                    continue;
                }
                syn::Stmt::Expr(expr, semi) => (self.expr(expr, depth), semi),
                syn::Stmt::Macro(stmt) => {
                    let loc = self.loc(&stmt.mac);
                    (Expr { kind: self.macro_call(&stmt.mac, depth), loc }, &stmt.semi_token)
                }
            };
            if semi.is_none() && index + 1 == count {
                out.tail = Some(Box::new(read));
            } else {
                out.stmts.push(Stmt::Expr(read));
            }
        }
        out
    }

    fn local(&mut self, local: &syn::Local, depth: u32, out: &mut Block) {
        let (pat, ty) = if let syn::Pat::Type(typed) = &local.pat {
            (&*typed.pat, Some(self.ty(&typed.ty, depth)))
        } else {
            (&local.pat, None)
        };
        if let Some(syn::LocalInit { expr, diverge: Some((_, diverge)), .. }) = &local.init {
            let (init, diverge) = (self.expr(expr, depth), self.expr(diverge, depth));
            if self.let_else(pat, (ty, init.clone()), diverge, out).is_none() {
                let pat = self.refused_pat(pat);
                out.stmts.push(Stmt::Let { pat, ty: None, init: Some(init) });
            }
            return;
        }
        let pat = self.pat(pat);
        let init = local.init.as_ref().map(|init| self.expr(&init.expr, depth));
        out.stmts.push(Stmt::Let { pat, ty, init });
    }

    /// The names of a pattern that cannot be used, so that their uses are not reported as well.
    pub(super) fn refused_pat(&mut self, pat: &syn::Pat) -> Pat {
        let mut names = Vec::new();
        names_in(pat.to_token_stream(), &mut names);
        Pat { kind: PatKind::Refused(names), loc: self.loc(pat) }
    }

    /// A block that begins with the names of a refused pattern.
    pub(super) fn block_after(pat: Pat, mut block: Block) -> Block {
        let init = Some(Expr { kind: ExprKind::Refused(Vec::new()), loc: pat.loc });
        block.stmts.insert(0, Stmt::Let { pat, ty: None, init });
        block
    }

    /// The body after a condition: with the names of its `let` patterns, which are refused.
    fn guarded(&mut self, condition: &syn::Expr, body: &syn::Block, depth: u32) -> Block {
        let mut block = self.block(body, depth);
        let mut open = vec![condition];
        while let Some(part) = open.pop() {
            if let syn::Expr::Let(item) = part {
                let pat = self.refused_pat(&item.pat);
                block = Self::block_after(pat, block);
            } else if let syn::Expr::Binary(binary) = part {
                open.extend([&*binary.left, &*binary.right]);
            } else if let syn::Expr::Paren(paren) = part {
                open.push(&paren.expr);
            }
        }
        block
    }

    /// An expression as a block of its own.
    pub(super) fn alone(&mut self, expr: &syn::Expr, depth: u32) -> Block {
        let tail = self.boxed(expr, depth);
        Block { items: Vec::new(), stmts: Vec::new(), loc: tail.loc, tail: Some(tail) }
    }

    /// What is refused as a whole, with the parts in which there may be other problems.
    pub(super) fn match_parts(
        &mut self,
        value: Expr,
        item: &syn::ExprMatch,
        depth: u32,
    ) -> Vec<Block> {
        let loc = value.loc;
        let tail = Some(Box::new(value));
        let mut parts = vec![Block { items: Vec::new(), stmts: Vec::new(), tail, loc }];
        for arm in &item.arms {
            let pat = self.refused_pat(&arm.pat);
            let body = self.alone(&arm.body, depth);
            parts.push(Self::block_after(pat, body));
        }
        parts
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is outside the subset is refused")]
    pub(super) fn pat(&mut self, pat: &syn::Pat) -> Pat {
        let loc = self.loc(pat);
        let kind = match pat {
            syn::Pat::Ident(ident) => {
                if let Some((_, sub)) = &ident.subpat {
                    let help = "let whole = ..; let (a, b) = whole;";
                    self.refuse_at(sub, "a pattern after `@`", "", help);
                }
                PatKind::Ident {
                    name: self.ident(&ident.ident).name,
                    mutable: ident.mutability.is_some(),
                }
            }
            syn::Pat::Wild(_) => PatKind::Wild,
            syn::Pat::Paren(paren) => return self.pat(&paren.pat),
            syn::Pat::Tuple(tuple) => {
                PatKind::Tuple(tuple.elems.iter().map(|p| self.pat(p)).collect())
            }
            syn::Pat::Slice(slice) => {
                PatKind::Array(slice.elems.iter().map(|p| self.pat(p)).collect())
            }
            syn::Pat::Reference(reference) => PatKind::Ref(Box::new(self.pat(&reference.pat))),
            syn::Pat::Type(typed) => return self.pat(&typed.pat),
            _ => {
                let why = "patterns are names, `_`, tuples and arrays of these";
                self.refuse(loc, "this pattern", why, "");
                return self.refused_pat(pat);
            }
        };
        Pat { kind, loc }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is outside the subset is refused")]
    pub(super) fn ty(&mut self, ty: &syn::Type, depth: u32) -> TypeExpr {
        let loc = self.loc(ty);
        if depth > MAX_DEPTH {
            self.too_deep(loc);
            return TypeExpr { kind: TypeKind::Infer, loc };
        }
        let kind = match ty {
            syn::Type::Path(path) if path.qself.is_none() => {
                TypeKind::Path(self.path(&path.path, depth + 1))
            }
            syn::Type::Paren(paren) => return self.ty(&paren.elem, depth + 1),
            syn::Type::Group(group) => return self.ty(&group.elem, depth + 1),
            syn::Type::Tuple(tuple) => {
                TypeKind::Tuple(tuple.elems.iter().map(|t| self.ty(t, depth + 1)).collect())
            }
            syn::Type::Array(array) => TypeKind::Array(
                Box::new(self.ty(&array.elem, depth + 1)),
                Box::new(self.expr(&array.len, depth + 1)),
            ),
            syn::Type::Reference(reference) => TypeKind::Ref(
                Box::new(self.ty(&reference.elem, depth + 1)),
                reference.mutability.is_some(),
            ),
            syn::Type::Infer(_) => TypeKind::Infer,
            syn::Type::ImplTrait(_) => TypeKind::Opaque,
            _ => {
                let why = "types are names with generic arguments, tuples, arrays and references";
                self.refuse(loc, "this type", why, "");
                TypeKind::Infer
            }
        };
        TypeExpr { kind, loc }
    }

    pub(super) fn path(&mut self, path: &syn::Path, depth: u32) -> Path {
        let loc = self.loc(path);
        let segments = path
            .segments
            .iter()
            .map(|segment| {
                let name = self.ident(&segment.ident);
                let args = match &segment.arguments {
                    syn::PathArguments::None => Vec::new(),
                    syn::PathArguments::AngleBracketed(args) => self.generic_args(args, depth),
                    syn::PathArguments::Parenthesized(_) => {
                        let why = "functions are inlined, so there are no function pointers";
                        self.refuse(name.loc, "a function type", why, "");
                        Vec::new()
                    }
                };
                Segment { name: name.name, args, loc: name.loc }
            })
            .collect();
        Path { segments, loc }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is outside the subset is refused")]
    fn generic_args(
        &mut self,
        args: &syn::AngleBracketedGenericArguments,
        depth: u32,
    ) -> Vec<GenericArg> {
        let mut out = Vec::new();
        for arg in &args.args {
            match arg {
                syn::GenericArgument::Type(ty) => {
                    out.push(GenericArg::Type(self.ty(ty, depth + 1)));
                }
                syn::GenericArgument::Const(expr) => {
                    out.push(GenericArg::Const(self.expr(expr, depth + 1)));
                }
                syn::GenericArgument::Lifetime(_) => {}
                _ => {
                    self.refuse_at(arg, "a constraint on an associated item", "", "");
                }
            }
        }
        out
    }

    pub(super) fn too_deep(&mut self, loc: Loc) {
        let why = "no phase of the compiler may run out of stack; a variable holds a part of the expression";
        self.refuse(loc, "an expression nested this deeply", why, "");
    }

    fn boxed(&mut self, expr: &syn::Expr, depth: u32) -> Box<Expr> {
        Box::new(self.expr(expr, depth))
    }

    fn list<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e syn::Expr>,
        depth: u32,
    ) -> Vec<Expr> {
        exprs.into_iter().map(|expr| self.expr(expr, depth)).collect()
    }

    fn label(label: Option<&syn::Label>) -> Option<String> {
        label.map(|label| label.name.ident.to_string())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`control` reads the others")]
    pub(super) fn expr(&mut self, expr: &syn::Expr, depth: u32) -> Expr {
        let loc = self.loc(expr);
        if depth > MAX_DEPTH {
            self.too_deep(loc);
            return Expr { kind: ExprKind::Refused(Vec::new()), loc };
        }
        let d = depth + 1;
        let kind = match expr {
            syn::Expr::Lit(lit) => self.literal(&lit.lit),
            syn::Expr::Path(path) => {
                if path.qself.is_some() {
                    self.refuse(loc, "a qualified path", "", "T::name");
                    ExprKind::Refused(Vec::new())
                } else {
                    ExprKind::Path(self.path(&path.path, d))
                }
            }
            syn::Expr::Paren(paren) => return self.expr(&paren.expr, d),
            syn::Expr::Group(group) => return self.expr(&group.expr, d),
            syn::Expr::Unary(unary) => {
                let op = match unary.op {
                    syn::UnOp::Neg(_) => UnOp::Neg,
                    syn::UnOp::Not(_) => UnOp::Not,
                    _ => UnOp::Deref,
                };
                ExprKind::Unary(op, self.boxed(&unary.expr, d))
            }
            syn::Expr::Binary(binary) => {
                let (left, right) = (self.boxed(&binary.left, d), self.boxed(&binary.right, d));
                match operator(&binary.op) {
                    Some(Operator::Plain(op)) => ExprKind::Binary(op, left, right),
                    Some(Operator::Assign(op)) => ExprKind::AssignOp(op, left, right),
                    None => {
                        self.refuse(loc, "this operator", "", "");
                        ExprKind::Refused(Vec::new())
                    }
                }
            }
            syn::Expr::Assign(assign) => {
                ExprKind::Assign(self.boxed(&assign.left, d), self.boxed(&assign.right, d))
            }
            syn::Expr::Field(field) => {
                let name = self.member(&field.member);
                ExprKind::Field(self.boxed(&field.base, d), name)
            }
            syn::Expr::Index(index) => {
                ExprKind::Index(self.boxed(&index.expr, d), self.boxed(&index.index, d))
            }
            syn::Expr::Tuple(tuple) => ExprKind::Tuple(self.list(&tuple.elems, d)),
            syn::Expr::Array(array) => ExprKind::Array(self.list(&array.elems, d)),
            syn::Expr::Repeat(repeat) => {
                ExprKind::Repeat(self.boxed(&repeat.expr, d), self.boxed(&repeat.len, d))
            }
            syn::Expr::Struct(item) => self.struct_literal(item, d),
            syn::Expr::Const(block) => ExprKind::ConstBlock(self.block(&block.block, d)),
            syn::Expr::Closure(closure) => {
                let params = closure.inputs.iter().map(|p| self.pat(p)).collect();
                ExprKind::Closure(params, self.boxed(&closure.body, d))
            }
            syn::Expr::Range(range) => {
                if matches!(range.limits, syn::RangeLimits::Closed(_)) {
                    self.refuse(loc, "`..=`", "", &half_open(range));
                }
                ExprKind::Range(
                    range.start.as_ref().map(|e| self.boxed(e, d)),
                    range.end.as_ref().map(|e| self.boxed(e, d)),
                )
            }
            syn::Expr::Cast(cast) => {
                ExprKind::Cast(self.boxed(&cast.expr, d), self.ty(&cast.ty, d))
            }
            syn::Expr::Reference(reference) => {
                ExprKind::Ref(reference.mutability.is_some(), self.boxed(&reference.expr, d))
            }
            syn::Expr::Macro(item) => self.macro_call(&item.mac, d),
            syn::Expr::Try(item) => {
                let at = self.loc(&item.question_token);
                let why =
                    "a kernel cannot return errors; `device_assert(..)` ends a launch with one";
                self.refuse(at, "`?`", why, "");
                return self.expr(&item.expr, d);
            }
            syn::Expr::Await(item) => {
                let at = self.loc(&item.await_token);
                self.refuse(at, "`.await`", ASYNCHRONOUS, "copy_async_wait_all()");
                return self.expr(&item.base, d);
            }
            syn::Expr::Call(call) => self.call(call, d),
            syn::Expr::MethodCall(call) => self.method_call(call, d),
            _ => self.control(expr, loc, d),
        };
        Expr { kind, loc }
    }

    fn call(&mut self, call: &syn::ExprCall, d: u32) -> ExprKind {
        if !call.args.iter().any(is_named) {
            return ExprKind::Call(self.boxed(&call.func, d), self.list(&call.args, d));
        }
        let path = if let syn::Expr::Path(path) = &*call.func { Some(&path.path) } else { None };
        let name = path.map_or("f".to_owned(), super::written);
        self.named_arguments(&name, &call.args, d)
    }

    fn method_call(&mut self, call: &syn::ExprMethodCall, d: u32) -> ExprKind {
        if call.args.iter().any(is_named) {
            let receiver = self.alone(&call.receiver, d);
            let mut kind = self.named_arguments(&format!(".{}", call.method), &call.args, d);
            if let ExprKind::Refused(parts) = &mut kind {
                parts.insert(0, receiver);
            }
            return kind;
        }
        let name = self.ident(&call.method);
        let args = call.turbofish.as_ref().map(|t| self.generic_args(t, d));
        let segment = Segment { name: name.name, args: args.unwrap_or_default(), loc: name.loc };
        ExprKind::Method(self.boxed(&call.receiver, d), segment, self.list(&call.args, d))
    }

    /// What chooses what runs.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`outside` refuses the others")]
    fn control(&mut self, expr: &syn::Expr, loc: Loc, d: u32) -> ExprKind {
        match expr {
            syn::Expr::Block(block) => {
                if let Some(label) = &block.label {
                    let why = "a block ends where its text does; a function with an early `return` gives a value from several places";
                    self.refuse_at(label, "a labelled block", why, "loop { .. break; }");
                    ExprKind::Refused(vec![self.block(&block.block, d)])
                } else {
                    ExprKind::Block(self.block(&block.block, d))
                }
            }
            syn::Expr::Match(item) => self.matching(item, d),
            syn::Expr::If(item) if has_pattern(&item.cond) => {
                let parts = joined_by_and(&item.cond);
                if parts.len() > MAX_DEPTH as usize {
                    self.too_deep(loc);
                    return ExprKind::Refused(Vec::new());
                }
                self.if_let(item, &parts, (loc, d))
            }
            syn::Expr::If(item) => {
                let condition = self.boxed(&item.cond, d);
                let then = self.guarded(&item.cond, &item.then_branch, d);
                let otherwise = item.else_branch.as_ref().map(|(_, e)| self.boxed(e, d));
                ExprKind::If(condition, then, otherwise)
            }
            syn::Expr::While(item) => match super::matching::next_of(&item.cond) {
                Some((pat, of)) => {
                    let (word, condition) = (&item.while_token, &item.cond);
                    let header = quote::quote!(#word #condition);
                    let why =
                        "a `for` loop goes over a range or an array; a `while` takes a `bool`";
                    let help = format!("for {} in {}", super::written(pat), spelt(of));
                    self.refuse_at(&header, "`while let` over an iterator", why, &help);
                    let body = self.block(&item.body, d);
                    let pat = self.refused_pat(pat);
                    ExprKind::Refused(vec![self.alone(of, d), Self::block_after(pat, body)])
                }
                None => ExprKind::While(
                    Self::label(item.label.as_ref()),
                    self.boxed(&item.cond, d),
                    self.guarded(&item.cond, &item.body, d),
                ),
            },
            syn::Expr::ForLoop(item) if item.attrs.iter().any(unrolls) => {
                for attr in item.attrs.iter().filter(|attr| unrolls(attr)) {
                    let why = "the range says how a loop runs: `unroll(..)` repeats the body, `pipeline(.., stages)` starts its copies ahead";
                    let [pat, range] = [super::written(&item.pat), super::written(&item.expr)];
                    let range = if range.starts_with("unroll") || range.starts_with("pipeline") {
                        range
                    } else {
                        format!("unroll({range})")
                    };
                    let help = format!("for {pat} in {range}");
                    let (word, pat, of, range) =
                        (&item.for_token, &item.pat, &item.in_token, &item.expr);
                    let header = quote::quote!(#attr #word #pat #of #range);
                    self.refuse_at(&header, "an attribute of a loop", why, &help);
                }
                let mut body = self.block(&item.body, d);
                body.stmts.insert(0, Stmt::Expr(self.expr(&item.expr, d)));
                let pat = self.refused_pat(&item.pat);
                ExprKind::Refused(vec![Self::block_after(pat, body)])
            }
            syn::Expr::ForLoop(item) => ExprKind::For(
                Self::label(item.label.as_ref()),
                Box::new(self.pat(&item.pat)),
                self.boxed(&item.expr, d),
                self.block(&item.body, d),
            ),
            syn::Expr::Loop(item) => {
                ExprKind::Loop(Self::label(item.label.as_ref()), self.block(&item.body, d))
            }
            syn::Expr::Break(item) => ExprKind::Break(
                item.label.as_ref().map(|l| l.ident.to_string()),
                item.expr.as_ref().map(|e| self.boxed(e, d)),
            ),
            syn::Expr::Continue(item) => {
                ExprKind::Continue(item.label.as_ref().map(|l| l.ident.to_string()))
            }
            syn::Expr::Return(item) => {
                ExprKind::Return(item.expr.as_ref().map(|e| self.boxed(e, d)))
            }
            _ => self.outside(expr, loc, d),
        }
    }

    /// What Rust has and kernels have not.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever Rust may add is refused")]
    fn outside(&mut self, expr: &syn::Expr, loc: Loc, d: u32) -> ExprKind {
        match expr {
            syn::Expr::Let(item) => {
                let why = "`if let`, joined with other conditions by `&&`, and `let .. else` take patterns; a `while` takes a `bool`";
                self.refuse(loc, "`let` in this condition", why, "");
                ExprKind::Refused(vec![self.alone(&item.expr, d)])
            }
            // What is inside can be read as if the word were not there.
            syn::Expr::Unsafe(item) => {
                let why = "accesses through pointers do not need it: the launch is unsafe";
                self.refuse_at(&item.unsafe_token, "`unsafe`", why, "");
                ExprKind::Block(self.block(&item.block, d))
            }
            syn::Expr::Async(item) => {
                self.refuse_at(&item.async_token, "`async`", ASYNCHRONOUS, "");
                ExprKind::Refused(vec![self.block(&item.block, d)])
            }
            _ => self.refused(loc, "this expression", "", ""),
        }
    }

    fn refused(&mut self, loc: Loc, what: &str, why: &str, help: &str) -> ExprKind {
        self.refuse(loc, what, why, help);
        ExprKind::Refused(Vec::new())
    }

    /// The name or number of a field.
    fn member(&self, member: &syn::Member) -> Ident {
        match member {
            syn::Member::Named(ident) => self.ident(ident),
            syn::Member::Unnamed(index) => {
                Ident { name: index.index.to_string(), loc: self.locations.of_span(index.span) }
            }
        }
    }

    fn struct_literal(&mut self, item: &syn::ExprStruct, depth: u32) -> ExprKind {
        if let Some(rest) = &item.rest {
            let mut help = String::new();
            let mut why = "a struct literal gives each field a value: kernels have no `Default`";
            if let syn::Expr::Path(of) = &**rest {
                why = "a struct literal gives each field a value";
                let set = |field: &syn::FieldValue| {
                    let [to, value] = [super::written(&field.member), super::written(&field.expr)];
                    format!("new.{to} = {value}; ")
                };
                let sets: String = item.fields.iter().map(set).collect();
                help = format!("{{ let mut new = {}; {sets}new }}", super::written(of));
            }
            let help = if help.len() <= 2 * LONGEST_GIVEN { &*help } else { "" };
            self.refuse_at(&item.rest, "`..` in a struct literal", why, help);
            let fields = item.fields.iter().map(|field| self.alone(&field.expr, depth)).collect();
            return ExprKind::Refused(fields);
        }
        let path = self.path(&item.path, depth);
        let fields = item.fields.iter();
        let fields =
            fields.map(|field| (self.member(&field.member), self.expr(&field.expr, depth)));
        ExprKind::Struct(path, fields.collect())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is outside the subset is refused")]
    pub(super) fn literal(&mut self, lit: &syn::Lit) -> ExprKind {
        let loc = self.loc(lit);
        let suffix = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ExprKind::Lit(match lit {
            syn::Lit::Int(int) => {
                let Ok(value) = int.base10_parse::<u64>() else {
                    let why = "integers have at most 64 bits";
                    return self.refused(loc, "an integer this large", why, "");
                };
                let value = i128::from(value);
                match int.suffix() {
                    float @ ("f32" | "f64") =>
                    {
                        #[expect(
                            clippy::cast_precision_loss,
                            reason = "as rustc reads `16777217f32`"
                        )]
                        Literal::Float(value as f64, Some(float.to_owned()))
                    }
                    other => Literal::Int(value, suffix(other)),
                }
            }
            syn::Lit::Float(float) => match float.base10_parse::<f64>() {
                Ok(value) => Literal::Float(value, suffix(float.suffix())),
                Err(_) => return self.refused(loc, "this number", "", ""),
            },
            syn::Lit::Bool(bool) => Literal::Bool(bool.value),
            syn::Lit::Str(text) => Literal::Str(text.value()),
            _ => {
                let why = "literals are numbers, `true` and `false`";
                return self.refused(loc, "this literal", why, "");
            }
        })
    }

    /// `assert!(condition, "text")` and the other macros of kernels; any other macro is refused.
    fn macro_call(&mut self, mac: &syn::Macro, depth: u32) -> ExprKind {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if name == "layout" {
            return self.tile_layout(mac, depth);
        }
        if name == "ptx" {
            return self.ptx(mac, depth);
        }
        if let Some(said) = self.said(&name, mac, depth) {
            return said;
        }
        if let Some((why, help)) = macro_written(&name, mac) {
            let loc = self.loc(mac);
            return self.refused(loc, &format!("the macro `{name}!`"), why, &help);
        }
        let (why, help) = macro_advice(&name);
        // What the help replaces: the macro with its text.
        let loc = if matches!(&*name, "panic" | "unreachable" | "todo" | "unimplemented") {
            self.loc(mac)
        } else {
            self.locations.of_span(mac.path.span())
        };
        let what = format!("the macro `{name}!`");
        let known = ["assert", "assert_eq", "layout", "println", "ptx", "stamp"];
        if why == MACROS
            && let Some(near) = crate::diag::nearest(&name, known)
        {
            return self.refused(loc, &what, MACROS, near);
        }
        self.refused(loc, &what, why, help)
    }
}

/// The parts of a condition that `&&` joins, in order.
fn joined_by_and(condition: &syn::Expr) -> Vec<&syn::Expr> {
    let (mut open, mut parts) = (vec![condition], Vec::new());
    while let Some(part) = open.pop() {
        if let syn::Expr::Binary(binary) = part
            && matches!(binary.op, syn::BinOp::And(_))
        {
            open.extend([&*binary.right, &*binary.left]);
        } else {
            parts.push(part);
        }
    }
    parts
}

/// Whether a part of a condition is a `let` with its pattern.
fn has_pattern(condition: &syn::Expr) -> bool {
    joined_by_and(condition).iter().any(|part| matches!(part, syn::Expr::Let(_)))
}

const ASYNCHRONOUS: &str = "use `copy_async` and its waits";

/// Whether an attribute of a loop is no lint.
fn unrolls(attr: &syn::Attribute) -> bool {
    let lints = ["allow", "warn", "deny", "forbid", "expect", "cfg", "rustfmt", "doc"];
    !attr.path().segments.first().is_some_and(|first| lints.iter().any(|lint| first.ident == lint))
}

/// The names that a pattern might bind: its words that are not those of types or of the language.
fn names_in(tokens: proc_macro2::TokenStream, names: &mut Vec<String>) {
    for tree in tokens {
        match tree {
            proc_macro2::TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if name.starts_with(|c: char| c.is_lowercase() || c == '_')
                    && !matches!(name.as_str(), "ref" | "mut" | "_" | "true" | "false")
                {
                    names.push(name);
                }
            }
            proc_macro2::TokenTree::Group(group) => names_in(group.stream(), names),
            proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => {}
        }
    }
}

/// A range with its end, as one without it.
fn half_open(range: &syn::ExprRange) -> String {
    let start = range.start.as_ref().map_or(String::new(), |start| spelt(start));
    match range.end.as_deref() {
        Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(end), .. })) => {
            match end.base10_parse::<u64>().ok().and_then(|end| end.checked_add(1)) {
                Some(after) => format!("{start}..{after}{}", end.suffix()),
                None => format!("{start}..{end} + 1"),
            }
        }
        Some(end @ syn::Expr::Path(_)) => format!("{start}..{} + 1", spelt(end)),
        _ => "a..b + 1".to_owned(),
    }
}

/// Whether an argument is written as `name = value`.
fn is_named(arg: &syn::Expr) -> bool {
    matches!(arg, syn::Expr::Assign(assign) if matches!(&*assign.left, syn::Expr::Path(_)))
}

/// Characters of an argument that a message repeats.
const LONGEST_ARGUMENT: usize = 24;

/// An argument as it is written, if it is short enough for a message.
pub(super) fn spelt(value: &syn::Expr) -> String {
    let short = matches!(value, syn::Expr::Lit(_) | syn::Expr::Path(_) | syn::Expr::Array(_));
    let text = super::written(value);
    if short && text.len() <= LONGEST_ARGUMENT { text } else { "..".to_owned() }
}

enum Operator {
    Plain(BinOp),
    Assign(Binary),
}

fn operator(op: &syn::BinOp) -> Option<Operator> {
    use syn::BinOp as S;
    let arith = |op| Some(Operator::Plain(BinOp::Arith(op)));
    let compare = |op| Some(Operator::Plain(BinOp::Compare(op)));
    let assign = |op| Some(Operator::Assign(op));
    match op {
        S::Add(_) => arith(Binary::Add),
        S::Sub(_) => arith(Binary::Sub),
        S::Mul(_) => arith(Binary::Mul),
        S::Div(_) => arith(Binary::Div),
        S::Rem(_) => arith(Binary::Rem),
        S::BitAnd(_) => arith(Binary::And),
        S::BitOr(_) => arith(Binary::Or),
        S::BitXor(_) => arith(Binary::Xor),
        S::Shl(_) => arith(Binary::Shl),
        S::Shr(_) => arith(Binary::Shr),
        S::And(_) => Some(Operator::Plain(BinOp::AndAnd)),
        S::Or(_) => Some(Operator::Plain(BinOp::OrOr)),
        S::Eq(_) => compare(Compare::Eq),
        S::Ne(_) => compare(Compare::Ne),
        S::Lt(_) => compare(Compare::Lt),
        S::Le(_) => compare(Compare::Le),
        S::Gt(_) => compare(Compare::Gt),
        S::Ge(_) => compare(Compare::Ge),
        S::AddAssign(_) => assign(Binary::Add),
        S::SubAssign(_) => assign(Binary::Sub),
        S::MulAssign(_) => assign(Binary::Mul),
        S::DivAssign(_) => assign(Binary::Div),
        S::RemAssign(_) => assign(Binary::Rem),
        S::BitAndAssign(_) => assign(Binary::And),
        S::BitOrAssign(_) => assign(Binary::Or),
        S::BitXorAssign(_) => assign(Binary::Xor),
        S::ShlAssign(_) => assign(Binary::Shl),
        S::ShrAssign(_) => assign(Binary::Shr),
        _ => None,
    }
}
