//! The kernel language's own syntax tree, and the way from `syn` to it.
//!
//! It is a subset of Rust: what is outside is refused here, all of it at once. Every node has a
//! [`Loc`]; nothing of `syn` is kept, so that the tree is plain data.

use std::sync::Arc;

use crate::loc::{Loc, Tokens};

mod attr;
mod devices;
mod dump;
mod expr;
pub mod free;
mod item;
mod macros;
pub(crate) mod matching;
mod named;
mod notation;
mod passed;
mod ptx;
mod said;
mod written;

pub use attr::{Builds, InstanceValue, Instances, KernelAttr};
pub(crate) use attr::{is_fact, of_option};
pub(crate) use devices::IMPORTED;
pub use devices::{DeviceItem, DeviceUse, Devices};
pub use free::FreePath;
pub(crate) use item::{
    PARAMETER_TYPES, WITH_DATA, declared_name, is_kernel as is_kernel_attr, is_library,
};
pub use item::{parse_device, parse_function, parse_module};
pub(crate) use matching::{OTHER_PATTERN, VALUE, changed_by_condition, in_one_of_several};
pub(crate) use passed::{is_foreign_tensor, refused as refused_parameter};
pub use said::Notation;
pub(crate) use written::written;

/// A name with its place.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The text, without `r#`.
    pub name: String,
    /// The place.
    pub loc: Loc,
}

/// What a `#[kernel] fn` or `#[kernel] mod` holds.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// The kernels: those with the attribute.
    pub kernels: Vec<Kernel>,
    /// Helpers, structs, traits, constants beside them.
    pub items: Vec<Item>,
    /// What is used from other modules.
    pub devices: Devices,
    /// What it was read from, if helps can be tried in it.
    pub(crate) source: Option<Source>,
}

/// What a unit was read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The arguments of `#[kernel(..)]`; none of a module.
    pub(crate) attr: Tokens,
    /// The function or the module.
    pub(crate) item: Tokens,
    pub(crate) is_module: bool,
    /// How many items were read from it; others came from elsewhere.
    pub(crate) items: usize,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The arguments of `#[kernel(..)]`.
    pub attr: KernelAttr,
    /// The function.
    pub function: Arc<Function>,
    /// Facts stated on parameters, one list a parameter.
    pub facts: Vec<Vec<ParamFact>>,
    /// Its signature as it is written, for help that repeats it.
    pub head: String,
}

impl Kernel {
    /// The arguments that may be absent, with the places of their types: parameters of a type `Option<T>`, and such fields
    /// of the structs of `unit` that are parameters, `layer.bias`.
    pub fn optional(&self, unit: &Unit) -> Vec<(String, Loc)> {
        let (mut out, mut left) = (Vec::new(), MOST_PASSED);
        for (pat, ty) in &self.function.params {
            if let PatKind::Ident { name, .. } = &pat.kind {
                optional_in(name, ty, unit, (&mut Vec::new(), &mut left), &mut out);
            }
        }
        out
    }
}

/// How deep structs that are parameters are nested at most.
pub(crate) const MOST_NESTED: usize = 8;

/// How many fields of structs are looked at: more than an entry takes.
pub(crate) const MOST_PASSED: usize = 1024;

/// Adds the arguments of a parameter, or of a field of one in these structs, that may be absent.
fn optional_in<'u>(
    name: &str,
    ty: &TypeExpr,
    unit: &'u Unit,
    (within, left): (&mut Vec<&'u Arc<Struct>>, &mut usize),
    out: &mut Vec<(String, Loc)>,
) {
    *left = left.saturating_sub(1);
    let of = ty.of_option().unwrap_or(ty);
    if ty.of_option().is_some() {
        out.push((name.to_owned(), ty.loc));
    }
    let Some(def) = unit.structure(of) else { return };
    // A struct that contains itself is refused.
    if within.len() == MOST_NESTED || within.iter().any(|outer| Arc::ptr_eq(outer, def)) {
        return;
    }
    within.push(def);
    for (field, ty) in &def.fields {
        if *left == 0 {
            break;
        }
        optional_in(&format!("{name}.{field}"), ty, unit, (&mut *within, &mut *left), out);
    }
    within.pop();
}

/// `bias = None, scale = None`: what is absent, if something is.
pub fn without(absent: &[String]) -> Option<String> {
    let each: Vec<String> = absent.iter().map(|name| format!("{name} = None")).collect();
    (!absent.is_empty()).then(|| each.join(", "))
}

impl Unit {
    /// The field by which a struct contains itself, if it does: its name and its type.
    pub(crate) fn recursion<'u>(&'u self, def: &'u Struct) -> Option<(&'u str, &'u TypeExpr)> {
        let reaches = |ty: &TypeExpr| {
            let (mut seen, mut next) = (Vec::<&str>::new(), vec![ty]);
            while let Some(ty) = next.pop() {
                let ty = ty.of_option().unwrap_or(ty);
                if let TypeKind::Array(elem, _) = &ty.kind {
                    next.push(elem);
                    continue;
                }
                let Some(found) = self.structure(ty) else { continue };
                if found.name.name == def.name.name {
                    return true;
                }
                if !seen.contains(&found.name.name.as_str()) {
                    seen.push(&found.name.name);
                    next.extend(found.fields.iter().map(|(_, ty)| ty));
                }
            }
            false
        };
        let mut fields = def.fields.iter().map(|(name, ty)| (name.as_str(), ty));
        fields.find(|(_, ty)| reaches(ty))
    }

    /// The struct beside the kernels that a type names, if it is one.
    pub(crate) fn structure(&self, ty: &TypeExpr) -> Option<&Arc<Struct>> {
        let name = &ty.path()?.only()?.name;
        self.items.iter().find_map(|item| match item {
            Item::Struct(def) if def.name.name == *name && !def.is_enum() => Some(def),
            Item::Struct(_)
            | Item::Function(_)
            | Item::Const(_)
            | Item::Impl(_)
            | Item::Trait(_)
            | Item::Use(_)
            | Item::Refused(_) => None,
        })
    }
}

/// A fact stated on a parameter.
#[derive(Clone, Debug)]
pub enum ParamFact {
    /// `#[multiple_of(n)]`
    MultipleOf(Expr),
    /// `#[stride(_, 1)]`: one entry an axis, `None` for `_`.
    Stride(Vec<Option<Expr>>, Loc),
    /// `#[block(BM, BK, swizzle = 64)]`: the extents of what one TMA copy moves, and options of the map.
    Block(Vec<Expr>, Vec<MapOption>, Loc),
}

/// An option of a tensor map besides its block: `swizzle = 64`.
#[derive(Clone, Debug)]
pub struct MapOption {
    /// The option.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
}

/// An item of a kernel module or of a body.
#[derive(Clone, Debug)]
pub enum Item {
    /// A function.
    Function(Arc<Function>),
    /// A struct with named fields (or none).
    Struct(Arc<Struct>),
    /// A constant.
    Const(Arc<ConstItem>),
    /// An `impl`, of a type or of a trait for a type.
    Impl(Arc<Impl>),
    /// A trait: only its default methods matter.
    Trait(Arc<Trait>),
    /// `use path as name`: what a name stands for.
    Use(UseItem),
    /// Refused already; the name that it would have declared.
    Refused(String),
}

/// One name that a `use` brings.
#[derive(Clone, Debug)]
pub struct UseItem {
    /// The path, as written.
    pub path: Vec<String>,
    /// The name it gets here; `*` for a glob.
    pub name: String,
    /// The place.
    pub loc: Loc,
}

/// A generic parameter.
#[derive(Clone, Debug)]
pub struct GenericParam {
    /// Its name.
    pub name: Ident,
    /// What it stands for.
    pub kind: GenericKind,
}

/// What a generic parameter stands for.
#[derive(Clone, Debug)]
pub enum GenericKind {
    /// A type, with the last segments of its bounds (`Float`, `Scheduler`).
    Type(Vec<String>),
    /// A constant of the type.
    Const(TypeExpr),
}

/// A function or method.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Generic parameters.
    pub generics: Vec<GenericParam>,
    /// `self`, by value or reference.
    pub receiver: Option<Receiver>,
    /// Parameters.
    pub params: Vec<(Pat, TypeExpr)>,
    /// The type after `->`.
    pub result: Option<TypeExpr>,
    /// The body; `None` for a trait's method without one.
    pub body: Option<Block>,
}

/// How a method takes `self`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// `self`
    Value,
    /// `&self`
    Shared,
    /// `&mut self`
    Mutable,
}

/// A struct.
#[derive(Debug)]
pub struct Struct {
    /// Its name.
    pub name: Ident,
    /// Generic parameters.
    pub generics: Vec<GenericParam>,
    /// Fields: names and types. A tuple struct's are `0`, `1`, ..
    pub fields: Vec<(String, TypeExpr)>,
    /// Facts stated on fields, for structs that kernels take: one list a field.
    pub facts: Vec<Vec<ParamFact>>,
}

impl Struct {
    /// Whether it stands for an enum.
    pub(crate) fn is_enum(&self) -> bool {
        matches!(&self.fields[..], [(name, _)] if name == item::NUMBER)
    }

    /// The names of its fields.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }
}

/// A constant item.
#[derive(Debug)]
pub struct ConstItem {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeExpr,
    /// Its value.
    pub value: Expr,
}

/// An `impl` block.
#[derive(Debug)]
pub struct Impl {
    /// Generic parameters.
    pub generics: Vec<GenericParam>,
    /// The trait's last segment, for a trait impl.
    pub of_trait: Option<String>,
    /// The type.
    pub ty: TypeExpr,
    /// Methods and associated functions.
    pub functions: Vec<Arc<Function>>,
    /// Associated constants.
    pub consts: Vec<Arc<ConstItem>>,
}

/// A trait.
#[derive(Debug)]
pub struct Trait {
    /// Its name.
    pub name: Ident,
    /// Methods, with or without a body.
    pub functions: Vec<Arc<Function>>,
    /// Associated constants with a default.
    pub consts: Vec<Arc<ConstItem>>,
}

/// A path such as `T::BYTES` or `Ring::<3>::reader`.
#[derive(Clone, Debug)]
pub struct Path {
    /// Segments with their generic arguments.
    pub segments: Vec<Segment>,
    /// The place.
    pub loc: Loc,
}

/// A segment of a path.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The name.
    pub name: String,
    /// Generic arguments.
    pub args: Vec<GenericArg>,
    /// The place of the name.
    pub loc: Loc,
}

impl Path {
    /// Its segment, if there is one alone.
    pub fn only(&self) -> Option<&Segment> {
        if let [only] = &self.segments[..] { Some(only) } else { None }
    }
}

/// A generic argument. A lone name is a `Type` until it is looked up.
#[derive(Clone, Debug)]
pub enum GenericArg {
    /// A type, or a name that may turn out to be a constant.
    Type(TypeExpr),
    /// A constant.
    Const(Expr),
}

impl GenericArg {
    /// The type, if it is one.
    pub fn ty(&self) -> Option<&TypeExpr> {
        if let GenericArg::Type(ty) = self { Some(ty) } else { None }
    }
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeKind,
    /// The place.
    pub loc: Loc,
}

impl TypeExpr {
    /// The type that a path names.
    pub fn of(path: Path) -> TypeExpr {
        TypeExpr { loc: path.loc, kind: TypeKind::Path(path) }
    }

    /// Its path, if it has one.
    pub fn path(&self) -> Option<&Path> {
        if let TypeKind::Path(path) = &self.kind { Some(path) } else { None }
    }

    /// What it may hold, if it is an `Option`.
    pub fn of_option(&self) -> Option<&TypeExpr> {
        let last = self.last().filter(|last| last.name == "Option")?;
        if let [GenericArg::Type(of)] = &last.args[..] { Some(of) } else { None }
    }

    /// The last segment of its path.
    pub fn last(&self) -> Option<&Segment> {
        self.path()?.segments.last()
    }
}

/// What a type is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A named type.
    Path(Path),
    /// `(A, B)`
    Tuple(Vec<TypeExpr>),
    /// `[T; N]`
    Array(Box<TypeExpr>, Box<Expr>),
    /// `&T` or `&mut T`
    Ref(Box<TypeExpr>, bool),
    /// `_`
    Infer,
    /// `impl Fn(..)` and the like: accepts what is given.
    Opaque,
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pat {
    /// What it is.
    pub kind: PatKind,
    /// The place.
    pub loc: Loc,
}

/// What a pattern is.
#[derive(Clone, Debug)]
pub enum PatKind {
    /// A name.
    Ident {
        /// The name.
        name: String,
        /// `mut`
        mutable: bool,
    },
    /// A name in the pattern of an arm: new, unless it is that of a constant.
    InArm {
        /// The name.
        name: String,
    },
    /// The value of a pattern beside `&&`, which the body reads again. It must be what it was in the condition.
    Again {
        /// How the value is written.
        written: String,
    },
    /// `_`
    Wild,
    /// `(a, b)`
    Tuple(Vec<Pat>),
    /// `[a, b]`
    Array(Vec<Pat>),
    /// `&x`
    Ref(Box<Pat>),
    /// Refused already; the names that it would have bound.
    Refused(Vec<String>),
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Items declared in it.
    pub items: Vec<Item>,
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// The value at its end.
    pub tail: Option<Box<Expr>>,
    /// The place.
    pub loc: Loc,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `let pat: ty = init;`
    Let {
        /// The pattern.
        pat: Pat,
        /// The type, if written.
        ty: Option<TypeExpr>,
        /// The value; a `let` without one is assigned later.
        init: Option<Expr>,
    },
    /// An expression for its effect.
    Expr(Expr),
}

impl Stmt {
    /// The expression that it evaluates.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Stmt::Let { init, .. } => init.as_ref(),
            Stmt::Expr(expr) => Some(expr),
        }
    }
}

impl Block {
    /// The expressions that it evaluates, those of its items aside.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.stmts.iter().filter_map(Stmt::expr).chain(self.tail.as_deref())
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The place.
    pub loc: Loc,
}

impl Expr {
    /// The name that it is, if it is a name alone.
    pub fn name(&self) -> Option<&str> {
        if let ExprKind::Path(path) = &self.kind { Some(&path.only()?.name) } else { None }
    }

    /// The place of element `index`, if an array or a tuple is written out here; else the whole place.
    pub fn part(&self, index: usize) -> Loc {
        let (ExprKind::Array(parts) | ExprKind::Tuple(parts)) = &self.kind else {
            return self.loc;
        };
        parts.get(index).map_or(self.loc, |part| part.loc)
    }
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnOp {
    /// `-x`
    Neg,
    /// `!x`
    Not,
    /// `*x`
    Deref,
}

/// Operators on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinOp {
    /// Arithmetic and bits.
    Arith(crate::ir::Binary),
    /// Comparison.
    Compare(crate::ir::Compare),
    /// `&&`
    AndAnd,
    /// `||`
    OrOr,
}

/// A literal.
#[derive(Clone, Debug)]
pub enum Literal {
    /// An integer, with its suffix.
    Int(i128, Option<String>),
    /// A float, with its suffix.
    Float(f64, Option<String>),
    /// `true` or `false`.
    Bool(bool),
    /// A string: messages only.
    Str(String),
}

/// A part of `layout!(..)`: `S[(32, 16) : (1 @ TLane, 1 @ TCol)]`.
#[derive(Clone, Debug)]
pub struct TilePart {
    /// `R[..]`: copies. Otherwise `S[..]`.
    pub replica: bool,
    /// The extents.
    pub extents: Vec<Expr>,
    /// The strides with their axes; none if they are row-major.
    pub strides: Vec<(Expr, Option<Ident>)>,
    /// The place of its name.
    pub loc: Loc,
}

/// `ptx!("text", name = value, .. => types)`
#[derive(Clone, Debug)]
pub struct PtxCall {
    /// The text, with the names of operands in braces.
    pub text: String,
    /// Its place.
    pub text_loc: Loc,
    /// What the text reads, by name.
    pub inputs: Vec<(Ident, Expr)>,
    /// What it gives: nothing, the type of one result, or a tuple of several.
    pub output: Option<TypeExpr>,
}

/// Which macro says something while the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saying {
    /// `print!`
    Print,
    /// `println!`
    PrintLine,
    /// `assert!`
    Assert,
    /// `assert_eq!`
    AssertEq,
    /// `assert_ne!`
    AssertNe,
    /// `stamp!`
    Stamp,
}

impl Saying {
    /// How many values stand before the text.
    pub const fn operands(self) -> usize {
        match self {
            Saying::Print | Saying::PrintLine | Saying::Stamp => 0,
            Saying::Assert => 1,
            Saying::AssertEq | Saying::AssertNe => 2,
        }
    }

    /// The name of the macro.
    pub const fn name(self) -> &'static str {
        match self {
            Saying::Print => "print",
            Saying::PrintLine => "println",
            Saying::Assert => "assert",
            Saying::AssertEq => "assert_eq",
            Saying::AssertNe => "assert_ne",
            Saying::Stamp => "stamp",
        }
    }
}

/// A text with places for values.
#[derive(Clone, Debug, Default)]
pub struct SaidText {
    /// A format string of Rust, in which each place names its value by number.
    pub format: String,
    /// The values.
    pub values: Vec<SaidValue>,
    /// The place of the text, which is also that of values that only stand in it, as `{x}`.
    pub loc: Option<Loc>,
}

/// A value of a text.
#[derive(Clone, Debug)]
pub struct SaidValue {
    /// The value.
    pub value: Expr,
    /// How its places are written.
    pub notations: Vec<Notation>,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A literal.
    Lit(Literal),
    /// A name or path.
    Path(Path),
    /// `-x`, `!x`, `*x`
    Unary(UnOp, Box<Expr>),
    /// `a + b`
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `a = b`
    Assign(Box<Expr>, Box<Expr>),
    /// `a += b`
    AssignOp(crate::ir::Binary, Box<Expr>, Box<Expr>),
    /// `f(a, b)`
    Call(Box<Expr>, Vec<Expr>),
    /// `x.f::<T>(a, b)`
    Method(Box<Expr>, Segment, Vec<Expr>),
    /// `x.name`, `x.0`
    Field(Box<Expr>, Ident),
    /// `x[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[x; n]`
    Repeat(Box<Expr>, Box<Expr>),
    /// `Name { a, b: c }`
    Struct(Path, Vec<(Ident, Expr)>),
    /// Whether a value fits a name in a pattern: it is the constant of that name, or there is none.
    Fits {
        /// The value.
        value: Box<Expr>,
        /// The name.
        name: Ident,
        /// Not in one of several patterns, in which a name only stands for a constant.
        alone: bool,
    },
    /// `{ .. }`
    Block(Block),
    /// `const { .. }`
    ConstBlock(Block),
    /// `if c { .. } else { .. }`
    If(Box<Expr>, Block, Option<Box<Expr>>),
    /// `while c { .. }`
    While(Option<String>, Box<Expr>, Block),
    /// `for p in e { .. }`
    For(Option<String>, Box<Pat>, Box<Expr>, Block),
    /// `loop { .. }`
    Loop(Option<String>, Block),
    /// `break 'a value`
    Break(Option<String>, Option<Box<Expr>>),
    /// `continue 'a`
    Continue(Option<String>),
    /// `return value`
    Return(Option<Box<Expr>>),
    /// `|a, b| body`
    Closure(Vec<Pat>, Box<Expr>),
    /// `a..b`
    Range(Option<Box<Expr>>, Option<Box<Expr>>),
    /// `x as T`
    Cast(Box<Expr>, TypeExpr),
    /// `&x`, `&mut x`
    Ref(bool, Box<Expr>),
    /// `assert!(condition, "text")`, `println!("text")` and their like.
    Said {
        /// Which of them.
        saying: Saying,
        /// What is asserted: a condition, or two values.
        operands: Vec<Expr>,
        /// The first of these as it is written.
        condition: String,
        /// The text; empty if there is none.
        text: SaidText,
    },
    /// `layout!(S[..] + R[..])`
    TileLayout(Vec<TilePart>),
    /// `ptx!("add.s32 {out}, {a}, 1;", a = x => i32)`
    Ptx(Box<PtxCall>),
    /// Refused already. Its parts are looked at for problems of their own.
    Refused(Vec<Block>),
}
