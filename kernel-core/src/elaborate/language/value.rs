//! The value of an expression while a kernel is built: constants, IR values, and aggregates of these.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use kernel_layout::Form;

use super::scope::{ScopeId, VarId};
use crate::{
    ir::{Const, Dtype, Evict, MemoryOrder, Scope, Value},
    loc::Loc,
    syntax::{Expr, Pat, Struct},
};

/// An element type that may still be open: a literal takes the type of what it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Num {
    /// Settled.
    Known(Dtype),
    /// Open: an index into [`Cells`].
    Cell(u32),
}

/// What an open type can still become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Any number: `zeros(..)` without a type.
    Any,
    /// An integer: an integer literal.
    Int,
    /// Rust's `usize`, which kernels do not name: what indexes an array of Rust, and counts its elements.
    Index,
    /// A float: a float literal.
    Float,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Open(Class),
    Link(u32),
    Known(Dtype),
}

/// The open element types of a kernel, as a union-find structure.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    cells: Vec<Cell>,
    /// The one literal that an open type is that of, for messages.
    literals: BTreeMap<u32, Const>,
}

impl Cells {
    /// A new open type.
    pub(crate) fn open(&mut self, class: Class) -> Num {
        self.cells.push(Cell::Open(class));
        Num::Cell(u32::try_from(self.cells.len() - 1).expect("fewer than 2^32 literals"))
    }

    /// A new open type, that of a literal.
    pub(crate) fn literal(&mut self, class: Class, value: Const) -> Num {
        let num = self.open(class);
        self.set_literal(num, value);
        num
    }

    /// The literal has become another one: a sign was put before it.
    pub(crate) fn set_literal(&mut self, num: Num, value: Const) {
        if let Num::Cell(cell) = self.find(num) {
            self.literals.insert(cell, value);
        }
    }

    /// The type is that of something computed from literals.
    pub(crate) fn forget_literal(&mut self, num: Num) {
        if let Num::Cell(cell) = self.find(num) {
            self.literals.remove(&cell);
        }
    }

    /// The value of the literal that is of this open type, if it is that of one alone.
    pub(crate) fn literal_of(&self, num: Num) -> Option<Const> {
        let Num::Cell(cell) = self.find(num) else { return None };
        self.literals.get(&cell).copied()
    }

    /// Follows links.
    pub(crate) fn find(&self, num: Num) -> Num {
        let mut at = num;
        while let Num::Cell(index) = at {
            match self.cells[index as usize] {
                Cell::Open(_) => return at,
                Cell::Link(next) => at = Num::Cell(next),
                Cell::Known(dtype) => return Num::Known(dtype),
            }
        }
        at
    }

    /// The type, if it is settled.
    pub(crate) fn known(&self, num: Num) -> Option<Dtype> {
        match self.find(num) {
            Num::Known(dtype) => Some(dtype),
            Num::Cell(_) => None,
        }
    }

    /// The type, or what Rust falls back to: `i32` for integer literals, `f64` for floats.
    pub(crate) fn settled(&self, num: Num) -> Dtype {
        self.known(num).unwrap_or(if self.is_float(num) { Dtype::F64 } else { Dtype::I32 })
    }

    /// What the type can still become, if it is open.
    fn class(&self, num: Num) -> Option<Class> {
        let Num::Cell(cell) = self.find(num) else { return None };
        if let Cell::Open(class) = self.cells[cell as usize] { Some(class) } else { None }
    }

    /// Makes two types one. On conflict, gives both names.
    pub(crate) fn unify(&mut self, a: Num, b: Num) -> Result<Num, (String, String)> {
        let (a, b) = (self.find(a), self.find(b));
        match (a, b) {
            (Num::Known(x), Num::Known(y)) if x == y => Ok(a),
            (Num::Known(x), Num::Known(y)) => Err((x.name().to_owned(), y.name().to_owned())),
            (Num::Cell(cell), Num::Known(dtype)) | (Num::Known(dtype), Num::Cell(cell)) => {
                let fits = match self.cells[cell as usize] {
                    // Rust has no literals of the types of 8 and 16 bits.
                    Cell::Open(Class::Float) => matches!(dtype, Dtype::F32 | Dtype::F64),
                    Cell::Open(Class::Int) => dtype.is_int(),
                    Cell::Open(Class::Any) => dtype != Dtype::Bool,
                    Cell::Open(Class::Index) | Cell::Link(_) | Cell::Known(_) => false,
                };
                if fits {
                    self.cells[cell as usize] = Cell::Known(dtype);
                    Ok(Num::Known(dtype))
                } else {
                    Err((self.name(a), self.name(b)))
                }
            }
            (Num::Cell(x), Num::Cell(y)) => {
                if x == y {
                    return Ok(a);
                }
                let (Cell::Open(class), Cell::Open(other)) =
                    (self.cells[x as usize], self.cells[y as usize])
                else {
                    return Err((self.name(a), self.name(b)));
                };
                let class = match (class, other) {
                    (Class::Any, other) | (other, Class::Any) => other,
                    (Class::Int, Class::Index) | (Class::Index, Class::Int) => Class::Index,
                    (class, other) if class == other => class,
                    _ => return Err((self.name(a), self.name(b))),
                };
                self.cells[x as usize] = Cell::Open(class);
                self.cells[y as usize] = Cell::Link(x);
                if self.literals.get(&x) != self.literals.get(&y) {
                    self.literals.remove(&x);
                }
                Ok(a)
            }
        }
    }

    /// Makes a type that of an index of Rust's arrays, unless it is another one.
    pub(crate) fn unify_index(&mut self, num: Num) -> Option<Num> {
        let index = self.open(Class::Index);
        if self.is_float(num) {
            return None;
        }
        self.unify(num, index).ok()
    }

    /// Whether the type is that of an index of Rust's arrays.
    pub(crate) fn is_index(&self, num: Num) -> bool {
        self.class(num) == Some(Class::Index)
    }

    /// Whether the type is open, and that of literals: nothing else settles it.
    pub(crate) fn is_of_literal(&self, num: Num) -> bool {
        matches!(self.class(num), Some(Class::Int | Class::Float))
    }

    /// The type in words.
    pub(crate) fn name(&self, num: Num) -> String {
        let open = match self.class(num) {
            Some(Class::Float) => "a float literal",
            Some(Class::Any) => "a type that nothing settles",
            Some(Class::Index) => "usize",
            Some(Class::Int) | None => "an integer literal",
        };
        self.known(num).map_or(open, Dtype::name).to_owned()
    }

    /// Whether the type is, or can only become, a float.
    pub(crate) fn is_float(&self, num: Num) -> bool {
        self.known(num).map_or(self.class(num) == Some(Class::Float), Dtype::is_float)
    }
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// Reported already.
    Error,
    /// Control does not come back: `break`, `return`.
    Never,
    /// `()`
    Unit,
    /// A scalar known at compile time.
    Const(Const, Num),
    /// A scalar, tile, pointer or shared window at run time.
    Value(Value),
    /// A tuple.
    Tuple(Rc<Vec<Val>>),
    /// An array of Rust.
    Array(Rc<Vec<Val>>),
    /// What `array` makes.
    List(Rc<Vec<Val>>),
    /// A struct.
    Struct(Rc<StructVal>),
    /// A closure with the scope it was written in.
    Closure(Rc<ClosureVal>),
    /// `&x`, `&mut x`
    Ref(Rc<Place>),
    /// `a..b`, `..`, `range(a, b, step)`, `unroll(..)`
    Range(Rc<RangeVal>),
    /// A tensor parameter.
    Tensor(u32),
    /// `tensor.slice(ranges)`
    Slice(Rc<SliceVal>),
    /// A parameter that is an `Option`.
    Optional(Rc<OptionalVal>),
    /// `tensor.tile(at, shape)`
    View(Rc<ViewVal>),
    /// A layout.
    Layout(Form),
    /// A string literal.
    Str(Rc<str>),
    /// A copy that was just started.
    Copying(Rc<CopyVal>),
    /// `sm_80` and so on, as an argument of `target(..)`.
    Target(kernel_ptx::Target),
    /// `partition(..)`, which may have something to run.
    Partition(Rc<PartitionVal>),
    /// `named_barrier(..)`
    Named(crate::ir::Named),
}

/// A parameter that is an `Option`, for one choice of those that are absent.
#[derive(Debug)]
pub(crate) struct OptionalVal {
    /// The name of the parameter, or of the field of one: `layer.bias`.
    pub(crate) name: String,
    /// What is passed; none if it is absent.
    pub(crate) of: Option<Val>,
}

/// A copy that was just started: its statement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CopyVal {
    /// The regions that are open where it stands.
    pub(crate) depth: usize,
    /// Its place in the innermost of them.
    pub(crate) index: usize,
    pub(crate) loc: Loc,
}

/// A struct's value.
#[derive(Debug, Clone)]
pub(crate) struct StructVal {
    pub(crate) def: Arc<Struct>,
    /// Scope in which its definition stands.
    pub(crate) scope: ScopeId,
    /// What its generic parameters stand for; unknown ones are `Ty::Infer`.
    pub(crate) generics: Vec<Ty>,
    pub(crate) fields: Vec<Val>,
}

/// A closure.
#[derive(Debug)]
pub(crate) struct ClosureVal {
    pub(crate) params: Vec<Pat>,
    pub(crate) body: Expr,
    pub(crate) scope: ScopeId,
}

/// A part of a kernel for warps of its own.
#[derive(Clone, Debug)]
pub(crate) struct PartitionVal {
    pub(crate) warps: u32,
    pub(crate) registers: Option<u32>,
    /// What it runs, and where that is written.
    pub(crate) run: Option<(Rc<ClosureVal>, Loc)>,
    pub(crate) loc: Loc,
}

/// A variable, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) var: VarId,
    pub(crate) path: Vec<usize>,
}

/// A range.
#[derive(Debug, Clone)]
pub(crate) struct RangeVal {
    /// Where it begins and ends; `()` if that is not written.
    pub(crate) from: Val,
    pub(crate) to: Val,
    pub(crate) step: Val,
    pub(crate) unroll: bool,
    /// Of a pipelined loop.
    pub(crate) stages: Option<u32>,
    pub(crate) loc: Loc,
}

impl RangeVal {
    /// `r.start` and `r.end`, if they are written.
    pub(crate) fn end_named(&self, name: &str) -> Option<&Val> {
        let end = match name {
            "start" => &self.from,
            "end" => &self.to,
            _ => return None,
        };
        (!matches!(end, Val::Unit)).then_some(end)
    }
}

/// A part of a tensor that is used as a tensor.
#[derive(Debug, Clone)]
pub(crate) struct SliceVal {
    pub(crate) param: u32,
    /// Where it begins on each axis, then where it ends on each: run-time values, which are joined where paths meet.
    pub(crate) bounds: Vec<Val>,
}

impl SliceVal {
    /// Where it begins and ends on an axis.
    pub(crate) fn bounds_of(&self, axis: usize) -> [&Val; 2] {
        let rank = self.bounds.len() / 2;
        [&self.bounds[axis], &self.bounds[rank + axis]]
    }
}

/// A window of a tensor.
#[derive(Debug, Clone)]
pub(crate) struct ViewVal {
    pub(crate) param: u32,
    /// The corner, and of a window of a slice its bounds; or what [`Part::Rows`] has: run-time values, which are joined where paths meet.
    pub(crate) at: Vec<Val>,
    /// Where each coordinate stands.
    pub(crate) places: Vec<Loc>,
    pub(crate) shape: Vec<u32>,
    /// What the window is.
    pub(crate) part: Part,
    /// The L2 eviction priority of what is accessed.
    pub(crate) evict: Evict,
    /// What its atomic operations order, if that is said.
    pub(crate) order: Option<MemoryOrder>,
    /// With whom, if that is said.
    pub(crate) scope: Option<Scope>,
}

/// What a window of a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `tensor.tile(at, shape)`
    Tile,
    /// `map.at(at)`: a block of a tensor map.
    Block,
    /// `tensor.tile_rows(rows, at, shape)`: in place of positions it has the tile of addresses, and the mask of those within the tensor.
    Rows,
}

impl ViewVal {
    /// The positions of an operation, see [`Corner`](crate::ir::Corner), or what [`Part::Rows`] has; none if one was reported.
    pub(crate) fn corner(&self) -> Option<Vec<Value>> {
        self.at.iter().map(Val::value).collect()
    }

    /// The addresses of a window of rows, and the mask of those within the tensor; none of another window.
    pub(crate) fn listed(&self) -> Option<(Value, Value)> {
        match (self.part, &self.at[..]) {
            (Part::Rows, [at, mask]) => Some((at.value()?, mask.value()?)),
            _ => None,
        }
    }

    /// Whether both are of one tensor, or of slices of it, and have the same extents: the positions alone differ.
    pub(crate) fn is_like(&self, other: &ViewVal) -> bool {
        (self.param, &self.shape, self.part, self.evict, self.at.len())
            == (other.param, &other.shape, other.part, other.evict, other.at.len())
            && (self.order, self.scope) == (other.order, other.scope)
    }
}

/// A type, resolved.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    /// Not known: whatever the value is.
    Infer,
    /// `()`
    Unit,
    /// A scalar.
    Scalar(Num),
    /// `Tile<T>`
    Tile(Num),
    /// `Ptr<T>`
    Ptr(Num),
    /// `Tile<Ptr<T>>`
    TilePtr(Num),
    /// `Shared<T>`
    Shared(Num),
    /// `Tmem<T>`
    TensorMemory(Num),
    /// `Barrier`, or `Barriers`
    Barrier {
        /// The latter.
        ring: bool,
    },
    /// `Tensor<T, R>`, `TensorMut<T, R>`, or the same with `Map`
    Tensor(Num),
    /// `Option<T>`
    Option(Box<Ty>),
    /// A user's struct with its generic arguments.
    Struct(Arc<Struct>, ScopeId, Vec<Ty>),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// An array.
    Array(Box<Ty>),
    /// A constant: what a const generic stands for.
    Const(Const, Num),
    /// Anything else that the language has (`Layout`, `View<T>`, closures).
    Other,
}

impl Val {
    /// The number of a variant, and its enum.
    pub(crate) fn number_of_enum(&self) -> Option<(&Val, &Arc<Struct>)> {
        let Val::Struct(item) = self else { return None };
        Some((item.fields.first()?, &item.def)).filter(|_| item.def.is_enum())
    }

    /// An `i32` that is known at compile time.
    pub(crate) fn i32(value: impl Into<i128>) -> Val {
        Val::Const(Const::Int(value.into()), Num::Known(Dtype::I32))
    }

    /// The value of a statement: none, unless it was reported.
    pub(crate) fn of_statement(self) -> Val {
        if matches!(self, Val::Error) { Val::Error } else { Val::Unit }
    }

    /// The parameter of a tensor, or of a slice of one.
    pub(crate) fn tensor(&self) -> Option<u32> {
        match self {
            Val::Tensor(param) => Some(*param),
            Val::Slice(slice) => Some(slice.param),
            Val::Error
            | Val::Never
            | Val::Unit
            | Val::Const(..)
            | Val::Value(_)
            | Val::Tuple(_)
            | Val::Array(_)
            | Val::List(_)
            | Val::Struct(_)
            | Val::Closure(_)
            | Val::Ref(_)
            | Val::Range(_)
            | Val::Optional(_)
            | Val::View(_)
            | Val::Layout(_)
            | Val::Str(_)
            | Val::Copying(_)
            | Val::Target(_)
            | Val::Partition(_)
            | Val::Named(_) => None,
        }
    }

    /// The positions of a window or of a slice.
    fn positions(&self) -> Option<&[Val]> {
        if let Val::View(view) = self {
            return Some(&view.at);
        }
        if let Val::Slice(slice) = self { Some(&slice.bounds) } else { None }
    }

    /// Whether it was reported, or control does not come back.
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Val::Error | Val::Never)
    }

    /// The value that it is at run time.
    pub(crate) fn value(&self) -> Option<Value> {
        if let Val::Value(value) = self { Some(*value) } else { None }
    }

    /// Whether two values are the same thing, so that nothing has to be merged.
    pub(crate) fn same(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Error, Val::Error) | (Val::Never, Val::Never) | (Val::Unit, Val::Unit) => true,
            (Val::Const(a, _), Val::Const(b, _)) => match (a, b) {
                (Const::Float(x), Const::Float(y)) => x.to_bits() == y.to_bits(),
                _ => a == b,
            },
            (Val::Value(a), Val::Value(b)) => a == b,
            (Val::Tuple(a), Val::Tuple(b))
            | (Val::Array(a), Val::Array(b))
            | (Val::List(a), Val::List(b)) => {
                Rc::ptr_eq(a, b)
                    || (a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| x.same(y)))
            }
            (Val::Struct(a), Val::Struct(b)) => {
                Rc::ptr_eq(a, b)
                    || (Arc::ptr_eq(&a.def, &b.def)
                        && a.fields.iter().zip(b.fields.iter()).all(|(x, y)| x.same(y)))
            }
            (Val::Closure(a), Val::Closure(b)) => Rc::ptr_eq(a, b),
            (Val::Ref(a), Val::Ref(b)) => a == b,
            (Val::Range(a), Val::Range(b)) => Rc::ptr_eq(a, b),
            (Val::Tensor(a), Val::Tensor(b)) => a == b,
            (Val::Slice(a), Val::Slice(b)) => {
                let bounds = a.bounds.iter().zip(&b.bounds);
                Rc::ptr_eq(a, b) || a.param == b.param && bounds.into_iter().all(|(x, y)| x.same(y))
            }
            (Val::Optional(a), Val::Optional(b)) => a.name == b.name,
            (Val::View(a), Val::View(b)) => {
                Rc::ptr_eq(a, b) || (a.is_like(b) && a.at.iter().zip(&b.at).all(|(x, y)| x.same(y)))
            }
            (Val::Layout(a), Val::Layout(b)) => a.is_same(b),
            (Val::Copying(a), Val::Copying(b)) => a == b,
            (Val::Str(a), Val::Str(b)) => a == b,
            (Val::Target(a), Val::Target(b)) => a == b,
            (Val::Partition(a), Val::Partition(b)) => Rc::ptr_eq(a, b),
            (Val::Named(a), Val::Named(b)) => a == b,
            _ => false,
        }
    }

    /// The parts of an aggregate.
    pub(crate) fn parts(&self) -> Option<&[Val]> {
        if let Val::Tuple(parts) | Val::Array(parts) | Val::List(parts) = self {
            return Some(parts);
        }
        if let Val::Struct(item) = self { Some(&item.fields) } else { None }
    }

    /// The parts of an aggregate, to change them.
    pub(crate) fn parts_mut(&mut self) -> Option<&mut [Val]> {
        if let Val::Struct(item) = self {
            return Some(&mut Rc::make_mut(item).fields);
        }
        let (Val::Tuple(parts) | Val::Array(parts) | Val::List(parts)) = self else { return None };
        Some(&mut Rc::make_mut(parts)[..])
    }

    /// How many values it holds.
    pub(crate) fn size(&self) -> usize {
        self.parts().map_or(1, |parts| parts.iter().map(Val::size).sum())
    }

    /// Every leaf, in order.
    pub(crate) fn leaves(&self) -> Vec<&Val> {
        let parts = self.positions().or_else(|| self.parts());
        parts.map_or_else(|| vec![self], |parts| parts.iter().flat_map(Val::leaves).collect())
    }

    /// The same aggregate with other leaves, taken in order.
    pub(crate) fn with_leaves(&self, leaves: &mut impl Iterator<Item = Val>) -> Val {
        let mut out = self.clone();
        let parts = if let Val::View(view) = &mut out {
            Some(&mut Rc::make_mut(view).at[..])
        } else if let Val::Slice(slice) = &mut out {
            Some(&mut Rc::make_mut(slice).bounds[..])
        } else {
            out.parts_mut()
        };
        let Some(parts) = parts else { return leaves.next().unwrap_or(Val::Error) };
        for part in parts {
            *part = part.with_leaves(leaves);
        }
        out
    }
}
