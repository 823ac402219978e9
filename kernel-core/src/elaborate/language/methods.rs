//! The methods of the language: of scalars, tiles, shared windows and tensors.

use std::rc::Rc;

use super::value::{Class, Num, Part, Ty, Val, ViewVal};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, Env, array},
    ir::{Binary, Compare, Const, Dtype, Elem, Op, Type, Unary, Value},
    layouts::{of_elements, pinned},
    loc::Loc,
    syntax::{Expr, GenericArg, Segment},
};

/// Every method of a tile, for suggestions.
pub(crate) const TILE_METHODS: &[&str] = &[
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tanh",
    "abs",
    "floor",
    "ceil",
    "cast",
    "reshape",
    "broadcast",
    "expand",
    "t",
    "permute",
    "split",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "sum",
    "max",
    "min",
    "argmax",
    "argmin",
    "map",
    "reduce",
    "scan",
    "cumsum",
    "to_layout",
    "assert_layout",
    "dim",
    "item",
];

const SHARED_METHODS: &[&str] =
    &["load", "store", "store_async", "of_block", "with_layout", "t", "dim", "bytes"];

const TENSOR_METHODS: &[&str] = &["tile", "dim", "dims", "stride", "ptr"];

/// What a tensor that is reached through a tensor map has besides.
const MAP_METHODS: &[&str] = &["at", "block", "block_bytes"];

impl Builder<'_> {
    /// A method of the language.
    pub(crate) fn builtin_method(
        &mut self,
        val: Val,
        name: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        if matches!(val, Val::Error) || vals.iter().any(|v| matches!(v, Val::Error)) {
            return Val::Error;
        }
        if self.dead() {
            return Val::Never;
        }
        match &val {
            Val::Const(..) => self.scalar_method(val, name, &vals, env, loc),
            Val::Value(value) => match self.ty(*value).clone() {
                Type::Scalar(_) if self.is_point(*value) => {
                    self.tile_method(*value, name, &vals, args, env, loc)
                }
                Type::Scalar(Elem::Number(_)) => self.scalar_method(val, name, &vals, env, loc),
                Type::Tile(..) => self.tile_method(*value, name, &vals, args, env, loc),
                Type::Shared(_) => self.shared_method(*value, name, &vals, args, loc),
                Type::Barrier(_) => self.barrier_method(*value, name, &vals, args, loc),
                Type::TensorMemory(_) => {
                    self.tensor_memory_method(*value, name, &vals, args, env, loc)
                }
                Type::Scalar(Elem::Ptr(_)) | Type::Error => self.no_method(&val, name, &vals, &[]),
            },
            Val::Tensor(param) => self.tensor_method(*param, name, &vals, args, loc),
            Val::View(view) => {
                let view = view.clone();
                match (name.name.as_str(), vals.as_slice()) {
                    ("load", []) => self.load_tensor(&view, loc),
                    ("store", [value]) => self.store_tensor(&view, value, args[0].loc, loc),
                    ("load", _) => self.count(name, 0, vals.len(), Some(".load()".to_owned()), loc),
                    ("store", _) => self.count(name, 1, vals.len(), None, loc),
                    _ => self.no_method(&val, name, &vals, &["load", "store"]),
                }
            }
            Val::Copying(copy) => {
                let copy = copy.clone();
                self.copy_method(&copy, name, &vals, args, loc)
            }
            Val::Named(named) => {
                let named = *named;
                self.named_method(named, name, &vals, loc)
            }
            Val::Partition(part) => {
                let part = Rc::clone(part);
                self.partition_method(&part, name, &vals, args, loc)
            }
            Val::Layout(form) => {
                let form = form.clone();
                self.layout_method(&form, name, &vals, loc)
            }
            Val::Array(parts) => match (name.name.as_str(), vals.len()) {
                ("len", 0) => Val::Const(
                    Const::Int(i128::try_from(parts.len()).expect("small")),
                    self.cells.open(Class::Index),
                ),
                ("len", actual) => self.count(name, 0, actual, Some(".len()".to_owned()), loc),
                _ => self.no_method(&val, name, &vals, &["len"]),
            },
            other => {
                let other = other.clone();
                self.no_method(&other, name, &vals, &[])
            }
        }
    }

    /// Elementwise methods that scalars and tiles share.
    fn common_method(
        &mut self,
        val: &Val,
        name: &Segment,
        vals: &[Val],
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        let unary = match name.name.as_str() {
            "exp" => Some(Unary::Exp),
            "exp2" => Some(Unary::Exp2),
            "log" | "ln" => Some(Unary::Log),
            "log2" => Some(Unary::Log2),
            "sqrt" => Some(Unary::Sqrt),
            "rsqrt" => Some(Unary::Rsqrt),
            "sin" => Some(Unary::Sin),
            "cos" => Some(Unary::Cos),
            "tanh" => Some(Unary::Tanh),
            "abs" => Some(Unary::Abs),
            "floor" => Some(Unary::Floor),
            "ceil" => Some(Unary::Ceil),
            _ => None,
        };
        if let Some(op) = unary {
            return Some(match vals {
                [] => self.unary(op, val.clone(), loc),
                _ => self.count(name, 0, vals.len(), Some(format!(".{}()", name.name)), loc),
            });
        }
        if name.name == "cast" {
            let to = match name.args.first() {
                Some(GenericArg::Type(ty)) => match self.resolve(ty, env) {
                    Ty::Scalar(num) => num,
                    Ty::Infer if self.problems.reports() > 0 => return Some(Val::Error),
                    other => {
                        let what = self.type_name(&other);
                        return Some(
                            self.report(
                                Diagnostic::new(
                                    Code::Kind,
                                    loc,
                                    format!("`cast` does not convert to `{what}`"),
                                )
                                .compare("", "an element type", format!("`{what}`"))
                                .help(".cast::<f32>()"),
                            ),
                        );
                    }
                },
                _ => self.cells.open(Class::Any),
            };
            return Some(self.cast(val.clone(), to, loc));
        }
        None
    }

    fn scalar_method(&mut self, val: Val, name: &Segment, vals: &[Val], env: Env, loc: Loc) -> Val {
        if let Some(out) = self.common_method(&val, name, vals, env, loc) {
            return out;
        }
        match (name.name.as_str(), vals) {
            ("min", [other]) => self.binary(Binary::Min, val, other.clone(), loc),
            ("max", [other]) => self.binary(Binary::Max, val, other.clone(), loc),
            ("clamp", [lo, hi]) => {
                let at_least = self.binary(Binary::Max, val, lo.clone(), loc);
                self.binary(Binary::Min, at_least, hi.clone(), loc)
            }
            ("mul_add", [b, c]) => self.fma(val, b.clone(), c.clone(), loc),
            ("rem_euclid", [n]) => {
                let first = self.binary(Binary::Rem, val, n.clone(), loc);
                let shifted = self.binary(Binary::Add, first, n.clone(), loc);
                self.binary(Binary::Rem, shifted, n.clone(), loc)
            }
            ("to_f32", []) => self.cast(val, Num::Known(Dtype::F32), loc),
            ("to_f64", []) => self.cast(val, Num::Known(Dtype::F64), loc),
            ("to_f32" | "to_f64", _) => {
                self.count(name, 0, vals.len(), Some(format!(".{}()", name.name)), loc)
            }
            ("min" | "max" | "rem_euclid", _) => self.count(name, 1, vals.len(), None, loc),
            ("clamp" | "mul_add", _) => self.count(name, 2, vals.len(), None, loc),
            _ => self.no_method(
                &val,
                name,
                vals,
                &["min", "max", "clamp", "abs", "sqrt", "exp", "mul_add", "cast"],
            ),
        }
    }

    fn tile_method(
        &mut self,
        tile: Value,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let val = Val::Value(tile);
        if let Some(out) = self.common_method(&val, name, vals, env, loc) {
            return out;
        }
        if self.is_point(tile)
            && let Some(out) = self.point_method(tile, name, vals, args, loc)
        {
            return out;
        }
        let rank = self.ty(tile).shape().len();
        let compare = match name.name.as_str() {
            "lt" => Some(Compare::Lt),
            "le" => Some(Compare::Le),
            "gt" => Some(Compare::Gt),
            "ge" => Some(Compare::Ge),
            "eq" => Some(Compare::Eq),
            "ne" => Some(Compare::Ne),
            _ => None,
        };
        let loc_of = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        match (name.name.as_str(), vals) {
            (_, [other]) if compare.is_some() => {
                self.compare(compare.expect("just tested"), val, other.clone(), loc)
            }
            (method @ ("sum" | "max" | "min" | "argmax" | "argmin" | "cumsum"), [axis]) => {
                let num = self.num(tile);
                if self.refuse_unreckoned(&format!("`{method}`"), &[&val], loc) {
                    return Val::Error;
                }
                if self.cells.known(num) == Some(Dtype::Bool) || self.is_ptr(tile) {
                    return self.refuse_dtype(&format!("`{method}`"), "numbers", num, loc);
                }
                let Some(axis) = self.axis(axis, rank, "the tile", loc_of(0)) else {
                    return Val::Error;
                };
                match method {
                    "argmax" => return self.arg_extreme(Compare::Gt, tile, axis, loc),
                    "argmin" => return self.arg_extreme(Compare::Lt, tile, axis, loc),
                    "cumsum" => return self.cumsum(tile, axis, loc),
                    _ => {}
                }
                let op = match method {
                    "sum" => Binary::Add,
                    "max" => Binary::Max,
                    _ => Binary::Min,
                };
                self.reduce_with(op, tile, axis, loc)
            }
            (method @ ("reduce" | "scan"), [axis, combine]) => {
                let Some(axis) = self.axis(axis, rank, "the tile", loc_of(0)) else {
                    return Val::Error;
                };
                let Val::Closure(combine) = combine.clone() else {
                    return self.error(
                        Code::Kind,
                        loc_of(1),
                        format!("`{method}` takes a closure of two values"),
                    );
                };
                let at = loc_of(1);
                let mut call = |builder: &mut Self, a, b| {
                    let val =
                        builder.call_closure(&combine, vec![Val::Value(a), Val::Value(b)], at);
                    builder.plain(val)
                };
                if method == "scan" {
                    self.scan(tile, axis, loc, at, &mut call)
                } else {
                    self.reduce(tile, axis, loc, at, &mut call)
                }
            }
            ("item", []) => self.item(tile, loc),
            ("map", [f]) => {
                let Val::Closure(f) = f.clone() else {
                    return self.error(Code::Kind, loc_of(0), "`map` takes a closure of one value");
                };
                self.map(tile, &f, loc_of(0), loc)
            }
            ("expand", [axis]) => {
                let Some(axis) = self.axis(axis, rank + 1, "the wider tile", loc_of(0)) else {
                    return Val::Error;
                };
                self.expand(tile, axis, loc)
            }
            ("reshape", [shape]) => {
                let Some(shape) = self.shape(shape, &args[0]) else { return Val::Error };
                self.reshape(tile, shape, loc)
            }
            ("permute", [order]) => self.permute(tile, order, loc_of(0), loc),
            ("split", []) => self.split_pairs(tile, loc),
            ("broadcast", [shape]) => {
                let Some(shape) = self.shape(shape, &args[0]) else { return Val::Error };
                self.broadcast(tile, &shape, loc)
            }
            ("t", []) => {
                let shape = self.ty(tile).shape().to_vec();
                let [rows, cols] = shape.as_slice() else {
                    return self.report(
                        Diagnostic::new(Code::Axis, loc, "`t` swaps the two axes of a tile")
                            .compare("rank", "2", rank.to_string()),
                    );
                };
                let swapped = vec![*cols, *rows];
                self.reshaped(Op::Permute(vec![1, 0]), tile, swapped, loc)
            }
            ("dim", [axis]) => {
                let Some(axis) = self.axis(axis, rank, "the tile", loc_of(0)) else {
                    return Val::Error;
                };
                let extent = self.ty(tile).shape()[axis as usize];
                Val::Const(Const::Int(i128::from(extent)), Num::Known(Dtype::I32))
            }
            ("to_layout" | "assert_layout", [Val::Layout(form)]) => {
                let ty = self.ty(tile).clone();
                let form = form.clone();
                let elem = match ty.elem() {
                    Some(Elem::Ptr(to)) => Elem::Ptr(to),
                    Some(Elem::Number(_)) | None => {
                        Elem::Number(self.cells.settled(self.num(tile)))
                    }
                };
                let tile_ty = Type::Tile(elem, ty.shape().to_vec());
                let form = match elem {
                    Elem::Number(dtype) => of_elements(&form, dtype.bytes() * 8),
                    Elem::Ptr(_) => form,
                };
                // Here and not with the other layouts, so that it is reported with whatever else is wrong.
                if let Err(problem) = pinned(&form, loc_of(0), &tile_ty, self.warps) {
                    return self.report(problem.into_diagnostic());
                }
                // What is wrong with a pinned layout is wrong where it is written; what is wrong with an assertion is that it
                // asserts.
                let (op, at) = if name.name == "to_layout" {
                    (Op::ToLayout(form), loc_of(0))
                } else {
                    (Op::AssertLayout(form), name.loc)
                };
                self.reshaped(op, tile, ty.shape().to_vec(), at)
            }
            ("to_layout" | "assert_layout", [other]) => {
                self.wants_layout(name, tile, other, loc_of(0))
            }
            (known, _) if TILE_METHODS.contains(&known) => {
                let required = match known {
                    "t" | "item" | "split" => 0,
                    "reduce" | "scan" => 2,
                    _ => 1,
                };
                self.count(name, required, vals.len(), self.form_of(tile, known), loc)
            }
            ("mean" | "softmax", axis) => self.written_out(tile, name, axis.first()),
            _ => match self.said_of_tile(tile, &name.name, vals) {
                Some(help) => self.no_such(&val, name, help),
                None => self.no_method(&val, name, vals, TILE_METHODS),
            },
        }
    }

    fn shared_method(
        &mut self,
        window: Value,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let Type::Shared(shared) = self.ty(window).clone() else { return Val::Error };
        let loc_of = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        match (name.name.as_str(), vals) {
            ("load", []) => self.load_shared(window, loc).map_or(Val::Error, Val::Value),
            ("store", [value]) => self.store_shared(window, value, loc_of(0), loc),
            ("store_async", [value, bar]) => {
                self.shared_store_async(window, (value, loc_of(0)), (bar, loc_of(1)), loc)
            }
            ("of_block", [rank]) => self.shared_remote(window, (rank, loc_of(0)), name.loc, loc),
            ("with_layout", [Val::Layout(form)]) => {
                self.shared_layout(window, form.clone(), loc_of(0))
            }
            ("t", []) => {
                let mut ty = shared;
                if ty.shape.len() != 2 {
                    return self.report(
                        Diagnostic::new(Code::Axis, loc, "`t` swaps the two axes of a tile")
                            .compare("rank", "2", ty.shape.len().to_string())
                            .why("of a ring of buffers, take one first: `bufs[i].t()`"),
                    );
                }
                ty.shape.swap(0, 1);
                ty.transposed = !ty.transposed;
                Val::Value(self.emit(Op::SharedTranspose, vec![window], Type::Shared(ty), loc))
            }
            ("dim", [axis]) => {
                let Some(axis) = self.axis(axis, shared.shape.len(), "the window", loc_of(0))
                else {
                    return Val::Error;
                };
                Val::Const(
                    Const::Int(i128::from(shared.shape[axis as usize])),
                    Num::Known(Dtype::I32),
                )
            }
            ("bytes", []) => {
                let elements: i128 = shared.shape.iter().map(|e| i128::from(*e)).product();
                let dtype = self.cells.settled(self.num(window));
                Val::Const(Const::Int(elements * i128::from(dtype.bytes())), Num::Known(Dtype::I32))
            }
            ("with_layout", [other]) => self.wants_layout(name, window, other, loc_of(0)),
            (known, _) if SHARED_METHODS.contains(&known) => {
                let (required, form) = match known {
                    "with_layout" => {
                        (1, self.plain_layout(window).map(|form| format!(".with_layout({form})")))
                    }
                    "store" => (1, None),
                    "store_async" => (2, Some(".store_async(tile, bar)".to_owned())),
                    "of_block" => (1, Some(".of_block(0)".to_owned())),
                    "dim" => (1, Some(".dim(0)".to_owned())),
                    _ => (0, Some(format!(".{known}()"))),
                };
                self.count(name, required, vals.len(), form, loc)
            }
            _ => self.no_method(&Val::Value(window), name, vals, SHARED_METHODS),
        }
    }

    fn tensor_method(
        &mut self,
        param: u32,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let crate::ir::ParamKind::Tensor { dtype, rank, .. } =
            self.params[param as usize].kind.clone()
        else {
            return Val::Error;
        };
        let loc_of = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        match (name.name.as_str(), vals) {
            ("tile", [at, shape]) => self.window(param, at, shape, [&args[0], &args[1]]),
            ("dim", [axis]) => {
                let Some(axis) = self.axis(axis, rank as usize, "the tensor", loc_of(0)) else {
                    return Val::Error;
                };
                Val::Value(self.emit(
                    Op::ParamDim(param, axis),
                    Vec::new(),
                    Type::scalar(Dtype::I32),
                    loc,
                ))
            }
            ("at" | "block" | "block_bytes", _) if self.params[param as usize].block.is_some() => {
                self.map_method(param, name, vals, args, loc)
            }
            ("dims", []) => array(
                (0..rank)
                    .map(|axis| {
                        Val::Value(self.emit(
                            Op::ParamDim(param, axis),
                            Vec::new(),
                            Type::scalar(Dtype::I32),
                            loc,
                        ))
                    })
                    .collect(),
            ),
            ("stride", [axis]) => {
                let Some(axis) = self.axis(axis, rank as usize, "the tensor", loc_of(0)) else {
                    return Val::Error;
                };
                Val::Value(self.emit(
                    Op::ParamStride(param, axis),
                    Vec::new(),
                    Type::scalar(Dtype::I64),
                    loc,
                ))
            }
            ("ptr", []) => Val::Value(self.emit(
                Op::ParamPtr(param),
                Vec::new(),
                Type::Scalar(Elem::Ptr(dtype)),
                loc,
            )),
            ("load" | "store", _) => {
                let window = self.window_of(param);
                let value = if name.name == "load" { "" } else { "tile" };
                self.report(
                    Diagnostic::new(
                        Code::NotAFunction,
                        name.loc,
                        "a tensor is read and written tile by tile",
                    )
                    .help(format!("{window}.{}({value})", name.name)),
                )
            }
            (known, _) if TENSOR_METHODS.contains(&known) => {
                let each = |one: &str| vec![one; rank as usize].join(", ");
                let (required, form) = match known {
                    "tile" => (2, format!(".tile([{}], [{}])", each("0"), each("64"))),
                    "dim" | "stride" => (1, format!(".{known}(0)")),
                    _ => (0, format!(".{known}()")),
                };
                self.count(name, required, vals.len(), Some(form), loc)
            }
            _ if self.params[param as usize].block.is_some() => {
                let methods = [TENSOR_METHODS, MAP_METHODS].concat();
                if name.name == "bytes" {
                    return self.no_such(&Val::Tensor(param), name, "block_bytes".to_owned());
                }
                self.no_method(&Val::Tensor(param), name, vals, &methods)
            }
            _ => self.no_method(&Val::Tensor(param), name, vals, TENSOR_METHODS),
        }
    }

    /// The methods of a tensor map about its block.
    fn map_method(
        &mut self,
        param: u32,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let block = self.params[param as usize].block.clone().unwrap_or_default();
        let crate::ir::ParamKind::Tensor { dtype, .. } = self.params[param as usize].kind else {
            return Val::Error;
        };
        let number = |value: i128| Val::Const(Const::Int(value), Num::Known(Dtype::I32));
        match (name.name.as_str(), vals) {
            ("block", []) => {
                array(block.iter().map(|extent| number(i128::from(*extent))).collect())
            }
            ("block_bytes", []) => {
                let elements: i128 = block.iter().map(|extent| i128::from(*extent)).product();
                number(elements * i128::from(dtype.bytes()))
            }
            ("at", [at]) => {
                let Some(corner) = self.corner(param, at, &args[0]) else { return Val::Error };
                let places = (0..corner.len()).map(|index| args[0].part(index)).collect();
                let at = corner.into_iter().map(Val::Value).collect();
                Val::View(Rc::new(ViewVal { param, at, places, shape: block, part: Part::Block }))
            }
            ("at", _) => self.count(name, 1, vals.len(), Some(".at([i, j])".to_owned()), loc),
            _ => self.count(name, 0, vals.len(), Some(format!(".{}()", name.name)), loc),
        }
    }
}
