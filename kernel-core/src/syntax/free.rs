//! Free paths: what a function or module names that is neither its own nor the language's.
//!
//! Such a path is looked for among the `#[device]` items that are in scope where it is written. Only positions in which an
//! item can stand count: what is called, what `::` joins, types, struct literals, and names in capitals. A lower-case name on
//! its own is a variable, and a misspelt one is reported as such.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Block, Expr, ExprKind, Function, GenericArg, GenericKind, GenericParam, Impl, Item, Kernel,
    Pat, PatKind, Path, SaidText, Segment, Stmt, TypeExpr, TypeKind, Unit,
};
use crate::{ir::text_touches_memory, loc::Loc};

/// A free path, cut after the first segment that begins with a capital: `sched::Ring` of `sched::Ring::<3>::new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreePath {
    /// The segments with their places, without generic arguments.
    pub segments: Vec<(String, Loc)>,
    /// The place of the whole path as it was written.
    pub loc: Loc,
}

impl FreePath {
    /// The path as text: `act::silu`.
    pub fn key(&self) -> String {
        let names: Vec<&str> = self.segments.iter().map(|(name, _)| name.as_str()).collect();
        names.join("::")
    }
}

/// What a kernel needs from outside.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// The free paths, each once, in the order in which they are first written.
    pub paths: Vec<FreePath>,
    /// Names in capitals that nothing declares, each once: constants of the file, if there are any of these names.
    pub constants: Vec<(String, Loc)>,
    /// Names alone that cannot be those of device items, as every module has them from Rust, such as `Some`.
    pub nowhere: Vec<(String, Loc)>,
    /// `.ptr()` is written somewhere, or a `ptx!` that does more than compute or gives a pointer: the kernel may touch memory without
    /// bounds.
    pub takes_pointers: bool,
}

/// What one kernel of a unit needs.
pub fn of_kernel(unit: &Unit, kernel: &Kernel) -> Needs {
    let mut free = Free::default();
    free.items_of(&unit.items, |free| {
        for other in &unit.kernels {
            free.declare(&other.function.name.name);
        }
        free.items(&unit.items);
        for list in &kernel.attr.instances {
            for (name, value) in list.rows.iter().flat_map(|row| list.names.iter().zip(row)) {
                let param =
                    kernel.function.generics.iter().find(|param| param.name.name == name.name);
                match (&value.arg, param.map(|param| &param.kind)) {
                    // Written alone, a constant reads as a type does.
                    (
                        GenericArg::Type(TypeExpr { kind: TypeKind::Path(path), .. }),
                        Some(GenericKind::Const(_)),
                    ) => free.value(path),
                    (arg, _) => free.generic_arg(arg),
                }
            }
        }
        for expr in [&kernel.attr.warps, &kernel.attr.cluster].into_iter().flatten() {
            free.expr(expr);
        }
        free.kernel(&kernel.function);
    });
    free.needs()
}

/// What items that stand beside one another need, such as those of a `#[device] mod`.
pub fn of_items(items: &[Item]) -> Needs {
    let mut free = Free::default();
    free.items_of(items, |free| free.items(items));
    free.needs()
}

/// Traits that every Rust module sees without `use`: no device items.
const RUST_TRAITS: [&str; 40] = [
    "Add",
    "AddAssign",
    "AsMut",
    "AsRef",
    "BitAnd",
    "BitAndAssign",
    "BitOr",
    "BitOrAssign",
    "BitXor",
    "BitXorAssign",
    "Clone",
    "Copy",
    "Default",
    "Div",
    "DivAssign",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "ExactSizeIterator",
    "Extend",
    "From",
    "FromIterator",
    "Into",
    "IntoIterator",
    "Iterator",
    "Mul",
    "MulAssign",
    "Neg",
    "Not",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Rem",
    "RemAssign",
    "Shl",
    "ShlAssign",
    "Shr",
    "ShrAssign",
    "Sub",
    "SubAssign",
];

/// Names of macros that every crate sees: a device item of such a name would be ambiguous (rustc E0659).
const STD_MACROS: [&str; 42] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "include",
    "include_bytes",
    "include_str",
    "is_x86_feature_detected",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "try",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
    "concat_bytes",
    "concat_idents",
    "trace_macros",
    "log_syntax",
    "global_asm",
];

/// Whether every crate sees a macro of this name.
pub(crate) fn is_std_macro(name: &str) -> bool {
    STD_MACROS.contains(&name)
}

/// What every Rust module sees without `use` besides: no device items.
const PRELUDE: [&str; 11] = [
    "Box", "Err", "None", "Ok", "Option", "Result", "Some", "String", "ToOwned", "ToString", "Vec",
];

#[derive(Default)]
struct Free {
    /// Names that are declared; one that `use` brings in a body has the path that it stands for.
    scopes: Vec<BTreeMap<String, Option<Vec<String>>>>,
    /// Names that `use` brings into the module.
    brought: BTreeSet<String>,
    found: Vec<FreePath>,
    constants: Vec<(String, Loc)>,
    nowhere: Vec<(String, Loc)>,
    takes_pointers: bool,
}

impl Free {
    fn needs(self) -> Needs {
        Needs {
            paths: self.found,
            constants: self.constants,
            nowhere: self.nowhere,
            takes_pointers: self.takes_pointers,
        }
    }

    fn scope(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeMap::new());
        inside(self);
        self.scopes.pop();
    }

    fn declare(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), None);
        }
    }

    /// What declares a name, innermost first.
    fn declared(&self, name: &str) -> Option<&Option<Vec<String>>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// A scope in which the items are known.
    fn items_of(&mut self, items: &[Item], inside: impl FnOnce(&mut Self)) {
        self.scope(|free| {
            for item in items {
                match item {
                    Item::Function(function) => free.declare(&function.name.name),
                    Item::Struct(item) => free.declare(&item.name.name),
                    Item::Const(item) => free.declare(&item.name.name),
                    Item::Trait(item) => free.declare(&item.name.name),
                    Item::Refused(name) => free.declare(name),
                    Item::Use(item) if matches!(item.path[..], [ref root, ..] if root == "core" || root == "std") => {
                        free.declare(&item.name);
                    }
                    // A name that `use` brings is free: what it stands for is found where the `use` finds it.
                    Item::Use(item) => {
                        free.brought.insert(item.name.clone());
                    }
                    Item::Impl(_) => {}
                }
            }
            inside(free);
        });
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Function(function) => self.function(function),
                Item::Struct(item) => self.scope(|free| {
                    free.generics(&item.generics);
                    for (_, ty) in &item.fields {
                        free.ty(ty);
                    }
                }),
                Item::Const(item) => {
                    self.ty(&item.ty);
                    self.expr(&item.value);
                }
                Item::Impl(item) => self.impl_block(item),
                Item::Trait(item) => self.scope(|free| {
                    free.declare("Self");
                    for function in &item.functions {
                        free.function(function);
                    }
                    for constant in &item.consts {
                        free.ty(&constant.ty);
                        free.expr(&constant.value);
                    }
                }),
                Item::Use(_) | Item::Refused(_) => {}
            }
        }
    }

    fn impl_block(&mut self, item: &Impl) {
        self.scope(|free| {
            free.declare("Self");
            free.generics(&item.generics);
            free.ty(&item.ty);
            if let Some(name) = &item.of_trait
                && (free.brought.contains(name) || !RUST_TRAITS.contains(&name.as_str()))
            {
                free.name(name, item.ty.loc);
            }
            for function in &item.functions {
                free.function(function);
            }
            for constant in &item.consts {
                free.ty(&constant.ty);
                free.expr(&constant.value);
            }
        });
    }

    fn generics(&mut self, generics: &[GenericParam]) {
        for param in generics {
            self.declare(&param.name.name);
            if let GenericKind::Const(ty) = &param.kind {
                self.ty(ty);
            }
        }
    }

    fn function(&mut self, function: &Function) {
        self.scope(|free| {
            free.generics(&function.generics);
            if function.receiver.is_some() {
                free.declare("self");
            }
            for (pat, ty) in &function.params {
                free.ty(ty);
                free.pat(pat);
            }
            if let Some(ty) = &function.result {
                free.ty(ty);
            }
            if let Some(body) = &function.body {
                free.block(body);
            }
        });
    }

    /// As a function. What a launch can pass has types of the language and of the kernel's module only, so a name there that nothing
    /// declares is a slip, and no item of another module; ranks and lengths may be constants from there.
    fn kernel(&mut self, function: &Function) {
        self.scope(|free| {
            free.generics(&function.generics);
            for (pat, ty) in &function.params {
                free.passed(ty);
                free.pat(pat);
            }
            if let Some(body) = &function.body {
                free.block(body);
            }
        });
    }

    /// The type of a parameter of a kernel.
    fn passed(&mut self, ty: &TypeExpr) {
        if let TypeKind::Array(elem, length) = &ty.kind {
            self.passed(elem);
            return self.expr(length);
        }
        if let Some(of) = ty.of_option() {
            return self.passed(of);
        }
        let Some(path) = ty.path() else { return };
        if path.only().is_some_and(|only| self.declared(&only.name).is_some()) {
            return self.path(path);
        }
        if let Some(last) = path.segments.last() {
            for arg in last.args.iter().skip(1) {
                self.generic_arg(arg);
            }
        }
    }

    fn pat(&mut self, pat: &Pat) {
        match &pat.kind {
            PatKind::Ident { name, .. } | PatKind::InArm { name } => self.declare(name),
            PatKind::Again { .. } => self.declare(super::matching::VALUE),
            PatKind::Wild => {}
            PatKind::Tuple(parts) | PatKind::Array(parts) => {
                for part in parts {
                    self.pat(part);
                }
            }
            PatKind::Ref(inner) => self.pat(inner),
            PatKind::Refused(names) => {
                for name in names {
                    self.declare(name);
                }
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.items_of(&block.items, |free| {
            for item in &block.items {
                // Nothing outside the body sees what it imports, including the place where the chain begins.
                if let (Item::Use(item), Some(scope)) = (item, free.scopes.last_mut()) {
                    scope.insert(item.name.clone(), Some(item.path.clone()));
                }
            }
            free.items(&block.items);
            for stmt in &block.stmts {
                match stmt {
                    Stmt::Let { pat, ty, init } => {
                        if let Some(ty) = ty {
                            free.ty(ty);
                        }
                        if let Some(init) = init {
                            free.expr(init);
                        }
                        free.pat(pat);
                    }
                    Stmt::Expr(expr) => free.expr(expr),
                }
            }
            if let Some(tail) = &block.tail {
                free.expr(tail);
            }
        });
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn said(&mut self, operands: &[Expr], text: &SaidText) {
        self.exprs(operands);
        text.values.iter().for_each(|said| self.expr(&said.value));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Lit(_) | ExprKind::Continue(_) => {}
            ExprKind::Refused(parts) => parts.iter().for_each(|part| self.block(part)),
            ExprKind::TileLayout(parts) => {
                for part in parts {
                    self.exprs(&part.extents);
                    for (stride, _) in &part.strides {
                        self.expr(stride);
                    }
                }
            }
            ExprKind::Ptx(call) => {
                self.takes_pointers |= text_touches_memory(&call.text);
                for (_, value) in &call.inputs {
                    self.expr(value);
                }
                if let Some(ty) = &call.output {
                    self.takes_pointers |= has_pointer(ty);
                    self.ty(ty);
                }
            }
            ExprKind::Path(path) => self.value(path),
            ExprKind::Fits { value, name, .. } => {
                self.expr(value);
                // Of the file, if it has a constant of this name.
                if self.declared(&name.name).is_none()
                    && self.constants.iter().all(|(known, _)| *known != name.name)
                {
                    self.constants.push((name.name.clone(), name.loc));
                }
            }
            ExprKind::Unary(_, inner) | ExprKind::Ref(_, inner) | ExprKind::Field(inner, _) => {
                self.expr(inner);
            }
            ExprKind::Said { operands, text, .. } => self.said(operands, text),
            ExprKind::Binary(_, a, b)
            | ExprKind::Assign(a, b)
            | ExprKind::AssignOp(_, a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Repeat(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Call(callee, args) => {
                if let ExprKind::Path(path) = &callee.kind {
                    self.path(path);
                } else {
                    self.expr(callee);
                }
                self.exprs(args);
            }
            ExprKind::Method(receiver, segment, args) => {
                self.takes_pointers |= segment.name == "ptr";
                self.expr(receiver);
                self.generic_args(segment);
                self.exprs(args);
            }
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => self.exprs(parts),
            ExprKind::Struct(path, fields) => {
                self.path(path);
                for (_, value) in fields {
                    self.expr(value);
                }
            }
            ExprKind::Block(block) | ExprKind::ConstBlock(block) | ExprKind::Loop(_, block) => {
                self.block(block);
            }
            ExprKind::If(condition, then, otherwise) => {
                self.expr(condition);
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.expr(otherwise);
                }
            }
            ExprKind::While(_, condition, body) => {
                self.expr(condition);
                self.block(body);
            }
            ExprKind::For(_, pat, range, body) => {
                self.expr(range);
                self.scope(|free| {
                    free.pat(pat);
                    free.block(body);
                });
            }
            ExprKind::Break(_, value) | ExprKind::Return(value) => {
                value.iter().map(|value| &**value).for_each(|value| self.expr(value));
            }
            ExprKind::Closure(params, body) => self.scope(|free| {
                for pat in params {
                    free.pat(pat);
                }
                free.expr(body);
            }),
            ExprKind::Range(from, to) => from.iter().chain(to).for_each(|end| self.expr(end)),
            ExprKind::Cast(value, ty) => {
                self.expr(value);
                self.ty(ty);
            }
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Path(path) => self.path(path),
            TypeKind::Tuple(parts) => {
                for part in parts {
                    self.ty(part);
                }
            }
            TypeKind::Array(inner, count) => {
                self.ty(inner);
                self.expr(count);
            }
            TypeKind::Ref(inner, _) => self.ty(inner),
            TypeKind::Infer | TypeKind::Opaque => {}
        }
    }

    fn generic_args(&mut self, segment: &Segment) {
        for arg in &segment.args {
            self.generic_arg(arg);
        }
    }

    fn generic_arg(&mut self, arg: &GenericArg) {
        match arg {
            GenericArg::Type(ty) => self.ty(ty),
            GenericArg::Const(expr) => self.expr(expr),
        }
    }

    /// A path where a value stands: a name in small letters on its own is a variable.
    ///
    /// One in capitals that nothing in sight declares or imports is a constant of the file, as most slips are; those of a
    /// `#[device] mod` are reached by `module::NAME` or by a `use` that the attribute sees.
    fn value(&mut self, path: &Path) {
        let Some(Segment { name, loc, .. }) = path.segments.first() else { return };
        let capitals = !name.contains(char::is_lowercase);
        let alone = path.segments.len() == 1
            && (!name.starts_with(char::is_uppercase)
                || capitals && self.declared(name).is_none() && !self.brought.contains(name));
        if alone {
            let open = name.starts_with(char::is_uppercase) && !crate::elaborate::is_builtin(name);
            if open && self.constants.iter().all(|(known, _)| known != name) {
                self.constants.push((name.clone(), *loc));
            }
            self.generic_args(&path.segments[0]);
        } else {
            self.path(path);
        }
    }

    fn path(&mut self, path: &Path) {
        for segment in &path.segments {
            self.generic_args(segment);
        }
        let Some(first) = path.segments.first() else { return };
        let imported = match self.declared(&first.name) {
            None => None,
            Some(None) => return,
            Some(Some(real)) => Some(Path {
                segments: real
                    .iter()
                    .map(|name| Segment { name: name.clone(), args: Vec::new(), loc: first.loc })
                    .chain(path.segments[1..].iter().cloned())
                    .collect(),
                loc: path.loc,
            }),
        };
        let path = imported.as_ref().unwrap_or(path);
        let brought = self.brought.contains(&first.name);
        if crate::elaborate::is_language_path(&path.segments, brought) {
            return;
        }
        let alone = path.segments.len() == 1 && !brought;
        if alone && (is_std_macro(&first.name) || PRELUDE.contains(&&*first.name)) {
            self.nowhere.push((first.name.clone(), first.loc));
            return;
        }
        let cut = path
            .segments
            .iter()
            .position(|segment| segment.name.starts_with(char::is_uppercase))
            .map_or(path.segments.len(), |at| at + 1);
        let segments = path.segments[..cut]
            .iter()
            .map(|segment| (segment.name.clone(), segment.loc))
            .collect();
        self.add(FreePath { segments, loc: path.loc });
    }

    fn name(&mut self, name: &str, loc: Loc) {
        let segment = Segment { name: name.to_owned(), args: Vec::new(), loc };
        self.path(&Path { segments: vec![segment], loc });
    }

    fn add(&mut self, path: FreePath) {
        if !self.found.iter().any(|other| other.key() == path.key()) {
            self.found.push(path);
        }
    }
}

/// Whether a pointer is among the results of a `ptx!` of this type.
fn has_pointer(output: &TypeExpr) -> bool {
    match &output.kind {
        TypeKind::Path(path) => path.segments.last().is_some_and(|last| last.name == "Ptr"),
        TypeKind::Tuple(parts) => parts.iter().any(has_pointer),
        TypeKind::Array(..) | TypeKind::Ref(..) | TypeKind::Infer | TypeKind::Opaque => false,
    }
}

#[cfg(test)]
mod tests;
