//! The functions and methods of the language.

use std::rc::Rc;

use kernel_layout::Form;

use super::{
    Builder, Env, array,
    value::{Class, Num, RangeVal, Ty, Val},
};
use crate::{
    diag::{Code, Diagnostic},
    ir::{Atomic, Binary, Compare, Const, Dtype, Elem, Op, Type, Unary},
    loc::Loc,
    syntax::{Expr, GenericArg, Segment},
};

/// Every function of the language, for suggestions.
pub(super) const NAMES: &[&str] = &[
    "arange",
    "zeros",
    "full",
    "select",
    "maximum",
    "minimum",
    "fma",
    "dot",
    "dot_tf32",
    "shared",
    "array",
    "load",
    "load_masked",
    "store",
    "store_masked",
    "copy_async",
    "copy_async_commit",
    "copy_async_wait",
    "copy_async_wait_all",
    "sync",
    "range",
    "unroll",
    "block_id",
    "num_blocks",
    "grid_dim",
    "num_warps",
    "cdiv",
    "device_assert",
    "target",
    "blocked",
    "slice",
    "swizzle",
    "sm_80",
    "sm_90a",
    "sm_100a",
];

/// Every method of a tile, for suggestions.
const TILE_METHODS: &[&str] = &[
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
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "sum",
    "max",
    "min",
    "map",
    "reduce",
    "to_layout",
    "dim",
];

const SHARED_METHODS: &[&str] = &["load", "store", "with_layout", "t", "dim", "bytes"];
const TENSOR_METHODS: &[&str] = &["tile", "dim", "dims", "stride", "ptr"];

impl Builder<'_> {
    /// A call of a function of the language; `parent` is the module it is reached through.
    pub(super) fn builtin_call(
        &mut self,
        parent: Option<&str>,
        name: &str,
        segment: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        if parent == Some("atomic") {
            return self.atomic(name, segment, args, env, loc);
        }
        let Some(parameters) = parameters(name) else {
            self.args(args, env);
            return self.unknown(name, segment.loc, env);
        };
        let count = if parameters.is_empty() { 0 } else { parameters.split(", ").count() };
        if args.len() != count {
            self.args(args, env);
            return self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    loc,
                    format!("`{name}` takes another number of arguments"),
                )
                .compare("arguments", count.to_string(), args.len().to_string())
                .help(format!("{name}({parameters})")),
            );
        }
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        if vals.iter().any(|val| matches!(val, Val::Error)) {
            return Val::Error;
        }
        if self.dead() {
            return Val::Never;
        }
        let at = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        match name {
            "arange" => self.arange(&vals, args, loc),
            "zeros" => {
                let num = self.element_arg(segment, env);
                let Some(shape) = self.shape(&vals[0], &args[0]) else { return Val::Error };
                self.filled(shape, num, None, loc)
            }
            "full" => {
                let num = self.element_arg(segment, env);
                let Some(shape) = self.shape(&vals[0], &args[0]) else { return Val::Error };
                self.filled(shape, num, Some((&vals[1], at(1))), loc)
            }
            "select" => self.select(vals[0].clone(), vals[1].clone(), vals[2].clone(), loc),
            "maximum" => self.binary(Binary::Max, vals[0].clone(), vals[1].clone(), loc),
            "minimum" => self.binary(Binary::Min, vals[0].clone(), vals[1].clone(), loc),
            "fma" => self.fma(vals[0].clone(), vals[1].clone(), vals[2].clone(), loc),
            "dot" => self.dot(&vals[0], &vals[1], &vals[2], false, loc),
            "dot_tf32" => self.dot(&vals[0], &vals[1], &vals[2], true, loc),
            "shared" => self.shared_alloc(segment, &vals[0], &args[0], env, loc),
            "array" => {
                let Some(count) = self.const_int(&vals[0], "the length of an array", at(0)) else {
                    return Val::Error;
                };
                let Val::Closure(make) = &vals[1] else {
                    return self.error(
                        Code::Kind,
                        at(1),
                        "`array` takes a closure from the index to the element",
                    );
                };
                let num = self.cells.open(Class::Int);
                let parts = (0..count.clamp(0, 4096))
                    .map(|index| {
                        self.call_closure(make, vec![Val::Const(Const::Int(index), num)], at(1))
                    })
                    .collect();
                array(parts)
            }
            "load" => self.load_ptr(&vals[0], None, loc),
            "load_masked" => self.load_ptr(&vals[0], Some((&vals[1], &vals[2])), loc),
            "store" => self.store_ptr(&vals[0], None, &vals[1], loc),
            "store_masked" => self.store_ptr(&vals[0], Some(&vals[1]), &vals[2], loc),
            "copy_async" => self.copy_async(&vals[0], &vals[1], args, loc),
            "copy_async_commit" => self.effect(Op::CopyCommit, loc),
            "copy_async_wait" => {
                let Some(pending) = self.const_int(&vals[0], "the number of pending copies", at(0))
                else {
                    return Val::Error;
                };
                match u32::try_from(pending) {
                    Ok(pending) if pending <= 31 => self.effect(Op::CopyWait(pending), loc),
                    _ => self.report(
                        Diagnostic::new(
                            Code::Overflow,
                            at(0),
                            "a wait for this number of pending copies",
                        )
                        .compare("pending", "0 to 31", pending.to_string()),
                    ),
                }
            }
            "copy_async_wait_all" => self.effect(Op::CopyWaitAll, loc),
            "sync" => self.effect(Op::Sync, loc),
            "range" => Val::Range(Rc::new(RangeVal {
                from: vals[0].clone(),
                to: vals[1].clone(),
                step: vals[2].clone(),
                unroll: false,
                loc,
            })),
            "unroll" => match &vals[0] {
                Val::Range(range) => {
                    Val::Range(Rc::new(RangeVal { unroll: true, ..(**range).clone() }))
                }
                other => {
                    let actual = self.describe(other);
                    self.report(
                        Diagnostic::new(Code::Kind, at(0), "`unroll` takes a range").compare(
                            "",
                            "`0..N` or `range(0, N, STEP)`",
                            actual,
                        ),
                    )
                }
            },
            "block_id" | "num_blocks" | "grid_dim" => {
                let Some(axis) = self.axis(&vals[0], 3, "the grid", at(0)) else {
                    return Val::Error;
                };
                let op = if name == "block_id" { Op::BlockId(axis) } else { Op::NumBlocks(axis) };
                Val::Value(self.emit(op, Vec::new(), Type::scalar(Dtype::I32), loc))
            }
            "num_warps" => Val::Const(Const::Int(i128::from(self.warps)), Num::Known(Dtype::I32)),
            "cdiv" => {
                let one = Val::Const(Const::Int(1), self.cells.open(Class::Int));
                let sum = self.binary(Binary::Add, vals[0].clone(), vals[1].clone(), loc);
                let sum = self.binary(Binary::Sub, sum, one, loc);
                self.binary(Binary::Div, sum, vals[1].clone(), loc)
            }
            "device_assert" => {
                let Some(condition) = self.value(&vals[0], loc) else { return Val::Error };
                let num = self.num(condition);
                if self.cells.known(num) != Some(Dtype::Bool) || self.is_ptr(condition) {
                    return self.refuse_dtype("`device_assert`", "`bool`", num, at(0));
                }
                self.op(Op::Assert("device_assert".to_owned()), vec![condition], None, loc);
                Val::Unit
            }
            "target" => match &vals[0] {
                Val::Target(target) => {
                    Val::Const(Const::Bool(*target == self.target), Num::Known(Dtype::Bool))
                }
                _ => {
                    self.error(Code::Target, at(0), "`target` takes `sm_80`, `sm_90a` or `sm_100a`")
                }
            },
            "blocked" => self.blocked(&vals, args),
            "slice" => {
                let Some(axis) = self.axis(&vals[0], 5, "a layout", at(0)) else {
                    return Val::Error;
                };
                match &vals[1] {
                    Val::Layout(parent) => {
                        Val::Layout(Form::Slice { axis, parent: Box::new(parent.clone()) })
                    }
                    _ => self.error(Code::Kind, at(1), "`slice` takes an axis and a layout"),
                }
            }
            "swizzle" => {
                let Some(bytes) = self.const_int(&vals[0], "the span of a swizzle", at(0)) else {
                    return Val::Error;
                };
                match bytes {
                    0 | 32 | 64 | 128 => Val::Layout(Form::NvmmaShared {
                        swizzle_bytes: u32::try_from(bytes).expect("matched above"),
                        element_bits: 0,
                        transposed: false,
                        fp4_padded: false,
                    }),
                    _ => self.report(
                        Diagnostic::new(Code::LayoutForm, at(0), "a swizzle has one of four spans")
                            .compare("bytes", "0, 32, 64 or 128", bytes.to_string()),
                    ),
                }
            }
            _ => self.unknown(name, segment.loc, env),
        }
    }

    fn effect(&mut self, op: Op, loc: Loc) -> Val {
        self.op(op, Vec::new(), None, loc);
        Val::Unit
    }

    /// The element type of a turbofish, or an open one.
    pub(super) fn element_arg(&mut self, segment: &Segment, env: Env) -> Num {
        match segment.args.first() {
            Some(GenericArg::Type(ty)) => match self.resolve(ty, env) {
                Ty::Scalar(num) => num,
                _ => self.cells.open(Class::Any),
            },
            _ => self.cells.open(Class::Any),
        }
    }

    fn arange(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Val {
        let (Some(lo), Some(hi)) = (
            self.const_int(&vals[0], "the start of `arange`", args[0].loc),
            self.const_int(&vals[1], "the end of `arange`", args[1].loc),
        ) else {
            return Val::Error;
        };
        let Ok(start) = i32::try_from(lo) else {
            return self.error(Code::Overflow, args[0].loc, format!("{lo} does not fit `i32`"));
        };
        let Some(extent) = self.extent(hi - lo, loc) else { return Val::Error };
        self.tile_of(Op::Arange(start), Vec::new(), vec![extent], Num::Known(Dtype::I32), loc)
    }

    fn filled(&mut self, shape: Vec<u32>, num: Num, value: Option<(&Val, Loc)>, loc: Loc) -> Val {
        if self.check_budget(&shape, loc).is_none() {
            return Val::Error;
        }
        let scalar = match value {
            None => {
                // The zero of a type that is not known yet is an integer or a float by what the type becomes.
                let zero = if self.cells.is_float(num) { Const::Float(0.0) } else { Const::Int(0) };
                self.constant(zero, num, loc)
            }
            Some((val, at)) => {
                let Some(value) = self.value(val, at) else { return Val::Error };
                if !self.ty(value).shape().is_empty() || self.is_ptr(value) {
                    let actual = self.describe(val);
                    return self.report(
                        Diagnostic::new(Code::Kind, at, "`full` takes one number for all elements")
                            .compare("", "a scalar", actual),
                    );
                }
                if self.unify(self.num(value), num, "`full`", at).is_none() {
                    return Val::Error;
                }
                value
            }
        };
        Val::Value(self.splat(scalar, &shape, loc))
    }

    fn blocked(&mut self, vals: &[Val], args: &[Expr]) -> Val {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for (val, arg) in vals.iter().zip(args) {
            let Val::Array(parts) = val else {
                return self.error(
                    Code::Kind,
                    arg.loc,
                    "`blocked` takes four arrays, one entry an axis",
                );
            };
            let mut list = Vec::new();
            for part in parts.iter() {
                let Some(value) = self.const_int(part, "an entry of a layout", arg.loc) else {
                    return Val::Error;
                };
                let Ok(value) = u32::try_from(value) else {
                    return self.error(
                        Code::LayoutForm,
                        arg.loc,
                        format!("{value} is not a number of elements, lanes or warps"),
                    );
                };
                list.push(value);
            }
            lists.push(list);
        }
        let rank = lists[0].len();
        if let Some(bad) = lists.iter().position(|list| list.len() != rank) {
            return self.report(
                Diagnostic::new(
                    Code::LayoutForm,
                    args[bad].loc,
                    "the four arrays of `blocked` have one entry an axis",
                )
                .compare("entries", rank.to_string(), lists[bad].len().to_string()),
            );
        }
        let [per_thread, lanes, warps, order] =
            <[Vec<u32>; 4]>::try_from(lists).expect("arity is checked");
        Val::Layout(Form::Blocked { per_thread, lanes, warps, order })
    }

    fn atomic(&mut self, name: &str, segment: &Segment, args: &[Expr], env: Env, loc: Loc) -> Val {
        let op = match name {
            "add" => Atomic::Add,
            "max" => Atomic::Max,
            "min" => Atomic::Min,
            "and" => Atomic::And,
            "or" => Atomic::Or,
            "xor" => Atomic::Xor,
            "exchange" => Atomic::Exchange,
            "compare_exchange" => Atomic::CompareExchange,
            _ => {
                self.args(args, env);
                let names =
                    ["add", "max", "min", "and", "or", "xor", "exchange", "compare_exchange"];
                let mut diagnostic = Diagnostic::new(
                    Code::UnknownName,
                    segment.loc,
                    format!("there is no `atomic::{name}`"),
                );
                if let Some(near) = super::nearest(name, names) {
                    diagnostic = diagnostic.help(format!("atomic::{near}"));
                }
                return self.report(diagnostic);
            }
        };
        let want = if op == Atomic::CompareExchange { 3 } else { 2 };
        if args.len() != want {
            return self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    loc,
                    format!("`atomic::{name}` takes another number of arguments"),
                )
                .compare("arguments", want.to_string(), args.len().to_string()),
            );
        }
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        self.atomic_op(op, name, &vals, loc)
    }

    // -------------------------------------------------------------------------------------- methods

    /// A method of the language.
    pub(super) fn builtin_method(
        &mut self,
        receiver: &Expr,
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
            Val::Const(..) => self.scalar_method(val, name, &vals, args, env, loc),
            Val::Value(value) => match self.ty(*value).clone() {
                Type::Scalar(Elem::Number(_)) => {
                    self.scalar_method(val, name, &vals, args, env, loc)
                }
                Type::Tile(..) => self.tile_method(*value, name, &vals, args, env, loc),
                Type::Shared(_) => self.shared_method(*value, receiver, name, &vals, args, loc),
                Type::Scalar(Elem::Ptr(_)) | Type::Error => self.no_method(&val, name, &[]),
            },
            Val::Tensor(param) => self.tensor_method(*param, name, &vals, args, loc),
            Val::View(view) => {
                let view = view.clone();
                match (name.name.as_str(), vals.as_slice()) {
                    ("load", []) => self.load_tensor(&view, loc),
                    ("store", [value]) => self.store_tensor(&view, value, args[0].loc, loc),
                    ("load" | "store", _) => {
                        self.count(name, if name.name == "load" { 0 } else { 1 }, vals.len(), loc)
                    }
                    _ => self.no_method(&val, name, &["load", "store"]),
                }
            }
            Val::Array(parts) => match name.name.as_str() {
                "len" => Val::Const(
                    Const::Int(i128::try_from(parts.len()).expect("small")),
                    Num::Known(Dtype::I32),
                ),
                _ => self.no_method(&val, name, &["len"]),
            },
            other => {
                let other = other.clone();
                self.no_method(&other, name, &[])
            }
        }
    }

    pub(super) fn no_method(&mut self, val: &Val, name: &Segment, known: &[&str]) -> Val {
        let what = self.describe(val);
        let names = match val {
            Val::Struct(item) => self.method_names(&item.def),
            _ => known.iter().map(|name| (*name).to_owned()).collect(),
        };
        let mut diagnostic = Diagnostic::new(
            Code::NotAFunction,
            name.loc,
            format!("{what} has no method `{}`", name.name),
        );
        if let Some(near) = super::nearest(&name.name, names.iter().map(String::as_str)) {
            diagnostic = diagnostic.help(near.to_owned());
        }
        self.report(diagnostic)
    }

    pub(super) fn count(
        &mut self,
        name: &Segment,
        required: usize,
        actual: usize,
        loc: Loc,
    ) -> Val {
        self.report(
            Diagnostic::new(
                Code::ArgumentCount,
                loc,
                format!("`{}` takes another number of arguments", name.name),
            )
            .compare("arguments", required.to_string(), actual.to_string()),
        )
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
                _ => self.count(name, 0, vals.len(), loc),
            });
        }
        if name.name == "cast" {
            let to = match name.args.first() {
                Some(GenericArg::Type(ty)) => match self.resolve(ty, env) {
                    Ty::Scalar(num) => num,
                    _ => return Some(Val::Error),
                },
                _ => self.cells.open(Class::Any),
            };
            return Some(self.cast(val.clone(), to, loc));
        }
        None
    }

    fn scalar_method(
        &mut self,
        val: Val,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
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
            // A tile of rank 1 reduced to one value is a scalar in here and a tile of rank 0 in Rust's types.
            ("expand", [_]) => {
                let Some(value) = self.value(&val, loc) else { return Val::Error };
                Val::Value(self.splat(value, &[1], loc))
            }
            ("reshape" | "broadcast", [shape]) => {
                let Some(shape) = self.shape(shape, &args[0]) else { return Val::Error };
                if self.check_budget(&shape, loc).is_none() {
                    return Val::Error;
                }
                let Some(value) = self.value(&val, loc) else { return Val::Error };
                if name.name == "reshape" && shape.iter().any(|extent| *extent != 1) {
                    return self.report(
                        Diagnostic::new(
                            Code::ShapeMismatch,
                            loc,
                            "`reshape` keeps the number of elements",
                        )
                        .compare(
                            "elements",
                            "1",
                            shape.iter().product::<u32>().to_string(),
                        ),
                    );
                }
                Val::Value(self.splat(value, &shape, loc))
            }
            ("to_f32", []) => self.cast(val, Num::Known(Dtype::F32), loc),
            ("to_f64", []) => self.cast(val, Num::Known(Dtype::F64), loc),
            _ => self.no_method(
                &val,
                name,
                &["min", "max", "clamp", "abs", "sqrt", "exp", "mul_add", "cast"],
            ),
        }
    }

    fn tile_method(
        &mut self,
        tile: super::Value,
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
            (method @ ("sum" | "max" | "min"), [axis]) => {
                let num = self.num(tile);
                if self.cells.known(num) == Some(Dtype::Bool) || self.is_ptr(tile) {
                    return self.refuse_dtype(&format!("`{method}`"), "numbers", num, loc);
                }
                let Some(axis) = self.axis(axis, rank, "the tile", loc_of(0)) else {
                    return Val::Error;
                };
                let op = match method {
                    "sum" => Binary::Add,
                    "max" => Binary::Max,
                    _ => Binary::Min,
                };
                self.reduce_with(op, tile, axis, loc)
            }
            ("reduce", [axis, combine]) => {
                let Some(axis) = self.axis(axis, rank, "the tile", loc_of(0)) else {
                    return Val::Error;
                };
                let Val::Closure(combine) = combine.clone() else {
                    return self.error(
                        Code::Kind,
                        loc_of(1),
                        "`reduce` takes a closure of two values",
                    );
                };
                let at = loc_of(1);
                self.reduce(tile, axis, loc, &mut |builder, a, b| {
                    let val =
                        builder.call_closure(&combine, vec![Val::Value(a), Val::Value(b)], at);
                    builder.plain(val)
                })
            }
            ("map", [f]) => {
                let Val::Closure(f) = f.clone() else {
                    return self.error(Code::Kind, loc_of(0), "`map` takes a closure of one value");
                };
                let out = self.call_closure(&f, vec![val], loc_of(0));
                let out = self.plain(out);
                let shape = self.ty(tile).shape().to_vec();
                match self.value(&out, loc_of(0)) {
                    Some(value) if self.ty(value).shape().is_empty() => {
                        Val::Value(self.splat(value, &shape, loc))
                    }
                    Some(value) => Val::Value(value),
                    None => Val::Error,
                }
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
            ("to_layout", [Val::Layout(form)]) => {
                let ty = self.ty(tile).clone();
                let form = form.clone();
                self.reshaped(Op::ToLayout(form), tile, ty.shape().to_vec(), loc)
            }
            ("to_layout", [other]) => {
                let actual = self.describe(other);
                self.report(
                    Diagnostic::new(Code::Kind, loc_of(0), "`to_layout` takes a layout")
                        .compare("", "a layout", actual)
                        .help("blocked([1, 4], [8, 4], [4, 1], [1, 0])"),
                )
            }
            (known, _) if TILE_METHODS.contains(&known) => {
                let required = match known {
                    "t" => 0,
                    "reduce" => 2,
                    _ => 1,
                };
                self.count(name, required, vals.len(), loc)
            }
            _ => self.no_method(&val, name, TILE_METHODS),
        }
    }

    fn shared_method(
        &mut self,
        window: super::Value,
        receiver: &Expr,
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
            _ => {
                let val = self.plain_read(receiver, window);
                self.no_method(&val, name, SHARED_METHODS)
            }
        }
    }

    fn plain_read(&self, _receiver: &Expr, window: super::Value) -> Val {
        Val::Value(window)
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
                let name_of = self.params[param as usize].name.clone();
                self.report(
                    Diagnostic::new(
                        Code::NotAFunction,
                        name.loc,
                        "a tensor is read and written tile by tile",
                    )
                    .help(format!("{name_of}.tile([i, j], [ROWS, COLS]).{}(..)", name.name)),
                )
            }
            _ => self.no_method(&Val::Tensor(param), name, TENSOR_METHODS),
        }
    }
}

/// The parameters of a function of the language, as its documentation calls them.
fn parameters(name: &str) -> Option<&'static str> {
    Some(match name {
        "sync" | "copy_async_commit" | "copy_async_wait_all" | "num_warps" => "",
        "zeros" | "shared" => "shape",
        "full" => "shape, value",
        "arange" => "start, end",
        "select" => "mask, a, b",
        "maximum" | "minimum" => "a, b",
        "cdiv" => "a, b",
        "fma" => "a, b, c",
        "dot" | "dot_tf32" => "a, b, acc",
        "array" => "len, |index| element",
        "load" => "at",
        "load_masked" => "at, mask, other",
        "store" => "at, value",
        "store_masked" => "at, mask, value",
        "copy_async" => "from, to",
        "copy_async_wait" => "pending",
        "range" => "start, end, step",
        "unroll" => "range",
        "block_id" | "num_blocks" | "grid_dim" => "axis",
        "device_assert" => "condition",
        "target" => "target",
        "blocked" => "per_thread, lanes, warps, order",
        "slice" => "axis, layout",
        "swizzle" => "bytes",
        _ => return None,
    })
}
