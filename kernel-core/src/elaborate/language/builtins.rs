//! The functions and methods of the language.

use std::rc::Rc;

use kernel_ptx::Capability;

use super::value::{Class, Num, RangeVal, Ty, Val};
use crate::{
    diag::{Code, Diagnostic, one_of},
    elaborate::{Builder, Env, products::product::Precision, target_names},
    ir::{Atomic, Binary, Compare, Const, Dtype, GridOp, Op, Type},
    loc::Loc,
    syntax::{Expr, GenericArg, Segment},
};

/// Every function of the language, for suggestions and for tests that make kernels up.
pub const NAMES: &[&str] = &[
    "arange",
    "zeros",
    "full",
    "select",
    "maximum",
    "minimum",
    "fma",
    "join",
    "dot",
    "dot_tf32",
    "shared",
    "tmem",
    "array",
    "load",
    "load_masked",
    "store",
    "store_masked",
    "copy_async",
    "copy_async_commit",
    "copy_async_wait",
    "copy_async_wait_all",
    "barrier",
    "barriers",
    "named_barrier",
    "fence_async",
    "launch_dependents",
    "grid_dependency_wait",
    "sync",
    "range",
    "unroll",
    "pipeline",
    "warp_specialize",
    "partition",
    "block_id",
    "num_blocks",
    "grid_dim",
    "num_warps",
    "shared_bytes_per_block",
    "cdiv",
    "device_assert",
    "target",
    "blocked",
    "slice",
    "swizzle",
    "swizzled",
    "row_major",
    "tmem_block",
    "tmem_load",
    "mma",
    "dot_operand",
    "linear",
    "shared_linear",
];

/// Every function of the language, and the targets.
pub(crate) fn language_names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied().chain(target_names())
}

impl Builder<'_> {
    /// A call of a function of the language; `parent` is the module it is reached through.
    pub(crate) fn builtin_call(
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
        if let Some(module @ ("tma" | "bulk" | "wgmma" | "tcgen05" | "cluster")) = parent {
            return self.module_call(module, segment, args, env, loc);
        }
        let Some(parameters) = parameters(name) else {
            self.args(args, env);
            return self.unknown_function(name, args, segment.loc, env);
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
        if self.wants_tile_first(name, &vals, args).is_none() {
            return Val::Error;
        }
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
            "join" => self.join_pairs(&vals[0], &vals[1], loc),
            "tmem" => self.tensor_memory_alloc(segment, &vals[0], &args[0], env, loc),
            "dot" => self.dot(&vals, args, Precision::Full, loc),
            "dot_tf32" => self.dot(&vals, args, Precision::Tf32, loc),
            "shared" => self.shared_alloc(segment, &vals[0], &args[0], env, loc),
            "array" => {
                let Some(count) = self.const_size(&vals[0], "the length of an array", at(0)) else {
                    return Val::Error;
                };
                let Val::Closure(make) = &vals[1] else {
                    return self.error(
                        Code::Kind,
                        at(1),
                        "`array` takes a closure from the index to the element",
                    );
                };
                if self.array_length(count, 1, at(0)).is_none() {
                    return Val::Error;
                }
                let mut parts = Vec::new();
                for index in 0..count {
                    let index = Val::Const(Const::Int(index), Num::Known(Dtype::I32));
                    parts.push(self.call_closure(make, vec![index], at(1)));
                    if !self.step(loc) {
                        return Val::Error;
                    }
                }
                self.bounded(Val::List(Rc::new(parts)), loc)
            }
            "load" => self.load_ptr((&vals[0], at(0)), None, loc),
            "load_masked" => {
                let masked = [(&vals[1], at(1)), (&vals[2], at(2))];
                self.load_ptr((&vals[0], at(0)), Some(masked), loc)
            }
            "store" => self.store_ptr((&vals[0], at(0)), None, (&vals[1], at(1)), loc),
            "store_masked" => {
                let mask = Some((&vals[1], at(1)));
                self.store_ptr((&vals[0], at(0)), mask, (&vals[2], at(2)), loc)
            }
            "copy_async" => self.copy_async(&vals[0], &vals[1], args, loc),
            "barrier" => self.barrier_alloc(None, (&vals[0], at(0)), loc),
            "named_barrier" => self.named_barrier(&vals[0], at(0), loc),
            "barriers" => self.barrier_alloc(Some((&vals[0], at(0))), (&vals[1], at(1)), loc),
            "fence_async" => {
                let why = "it orders what threads write before what TMA and warpgroup products read, which come with Hopper";
                match self.wants(Capability::Tma, "`fence_async`", why, loc) {
                    Some(()) => self.effect(Op::FenceAsync, loc),
                    None => Val::Error,
                }
            }
            "launch_dependents" | "grid_dependency_wait" => {
                let why = "grids that overlap come with Hopper";
                let op = if name == "launch_dependents" {
                    GridOp::LaunchDependents
                } else {
                    GridOp::Wait
                };
                match self.wants(Capability::DependentGrids, &format!("`{name}`"), why, loc) {
                    Some(()) => self.effect(Op::Grid(op), loc),
                    None => Val::Error,
                }
            }
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
                stages: None,
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
            "pipeline" => {
                let Val::Range(range) = &vals[0] else {
                    let actual = self.describe(&vals[0]);
                    return self.report(
                        Diagnostic::new(Code::Kind, at(0), "`pipeline` takes a range").compare(
                            "",
                            "`range(0, n, STEP)` or `0..n`",
                            actual,
                        ),
                    );
                };
                let stages = self.const_int(&vals[1], "the number of stages", at(1));
                let Some(stages) = stages else { return Val::Error };
                if range.unroll || !(2..=16).contains(&stages) {
                    let why = "one stage is copied into while another is used; with one alone there is nothing to overlap, and each takes shared memory of its own";
                    return self.report(
                        Diagnostic::new(Code::Pipeline, at(1), "a loop is not pipelined like this")
                            .compare(
                                "stages",
                                "2 to 16, of a loop that is not unrolled",
                                stages.to_string(),
                            )
                            .why(why)
                            .help("pipeline(range(0, n, 32), 3)"),
                    );
                }
                let stages = u32::try_from(stages).ok();
                Val::Range(Rc::new(RangeVal { stages, ..(**range).clone() }))
            }
            "partition" => self.partition(&vals[0], at(0), loc),
            "warp_specialize" => self.warp_specialize(&vals, args, loc),
            "block_id" | "num_blocks" | "grid_dim" => {
                let Some(axis) = self.axis(&vals[0], 3, "the grid", at(0)) else {
                    return Val::Error;
                };
                let op = if name == "block_id" { Op::BlockId(axis) } else { Op::NumBlocks(axis) };
                Val::Value(self.emit(op, Vec::new(), Type::scalar(Dtype::I32), loc))
            }
            "num_warps" => Val::Const(Const::Int(i128::from(self.warps)), Num::Known(Dtype::I32)),
            "shared_bytes_per_block" => {
                let bytes = self.target.hardware().shared_bytes_per_block;
                Val::Const(Const::Int(i128::from(bytes)), Num::Known(Dtype::I32))
            }
            "cdiv" => {
                // As on the host: no sum that overflows, and no pieces of nothing.
                let [zero, one] =
                    [0, 1].map(|value| Val::Const(Const::Int(value), Num::Known(Dtype::I32)));
                let some = self.compare(Compare::Gt, vals[0].clone(), zero.clone(), loc);
                let last = self.binary(Binary::Sub, vals[0].clone(), one.clone(), loc);
                let pieces = self.binary(Binary::Div, last, vals[1].clone(), loc);
                let pieces = self.binary(Binary::Add, pieces, one, loc);
                self.select(some, pieces, zero, loc)
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
                    let names: Vec<String> =
                        target_names().map(|name| format!("`{name}`")).collect();
                    self.error(Code::Target, at(0), format!("`target` takes {}", one_of(&names)))
                }
            },
            "blocked" | "slice" | "swizzle" | "swizzled" | "row_major" | "tmem_block"
            | "tmem_load" | "mma" | "dot_operand" | "linear" | "shared_linear" => {
                self.layout_value(name, &vals, args, loc)
            }
            _ => self.unknown(name, segment.loc, env),
        }
    }

    /// Functions of tiles have a tile first, also where the others may be scalars; of scalars alone there are operators and
    /// methods. `None` after a report.
    fn wants_tile_first(&mut self, name: &str, vals: &[Val], args: &[Expr]) -> Option<()> {
        let headline = match name {
            "maximum" | "minimum" | "fma" => format!("`{name}` takes a tile first"),
            "select" => "`select` chooses by a mask".to_owned(),
            _ => return Some(()),
        };
        let scalar = |val: &Val| match val {
            Val::Const(..) => true,
            Val::Value(value) => self.is_scalar(*value) && !self.is_ptr(*value),
            _ => false,
        };
        if !scalar(&vals[0]) {
            return Some(());
        }
        let (all, actual) = (vals.iter().all(scalar), self.describe(&vals[0]));
        let diagnostic = Diagnostic::new(Code::Kind, args[0].loc, headline);
        let written = |index: usize, other: &str| {
            args.get(index).and_then(Expr::text).unwrap_or_else(|| other.to_owned())
        };
        let operand = |index: usize, other: &str| {
            args.get(index).and_then(Expr::operand_text).unwrap_or_else(|| other.to_owned())
        };
        let (a, b) = (written(0, "a"), written(1, "b"));
        let diagnostic = match (name, all) {
            ("select", _) => diagnostic
                .compare("", "a tile of `bool`", actual)
                .why("one condition for the whole block is a branch")
                .help(format!("if {a} {{ {b} }} else {{ {} }}", written(2, "c"))),
            (_, all) => {
                let help = match (name, all) {
                    ("maximum", true) => format!("{}.max({b})", operand(0, "a")),
                    ("minimum", true) => format!("{}.min({b})", operand(0, "a")),
                    (_, true) => {
                        format!("{} * {} + {}", operand(0, "a"), operand(1, "b"), operand(2, "c"))
                    }
                    ("fma", false) => format!("fma(x, {a}, {b}) // `x` is a tile"),
                    (_, false) => format!("{name}({b}, {a})"),
                };
                diagnostic.compare("", "a tile", actual).help(help)
            }
        };
        self.report(diagnostic);
        None
    }

    /// A call of a function of `tma`, `bulk`, `wgmma` or `cluster`.
    fn module_call(
        &mut self,
        module: &str,
        name: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        if vals.iter().any(|val| matches!(val, Val::Error)) {
            return Val::Error;
        }
        if self.dead() {
            return Val::Never;
        }
        match module {
            "tma" => self.tma_call(name, &vals, args, loc),
            "bulk" => self.bulk_call(name, &vals, args, loc),
            "wgmma" => self.wgmma_call(name, &vals, args, loc),
            "tcgen05" => self.tcgen05_call(name, &vals, args, loc),
            _ => self.cluster_call(name, &vals, args, loc),
        }
    }

    fn effect(&mut self, op: Op, loc: Loc) -> Val {
        self.op(op, Vec::new(), None, loc);
        Val::Unit
    }

    /// The element type of a turbofish, or an open one.
    pub(crate) fn element_arg(&mut self, segment: &Segment, env: Env) -> Num {
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
            self.const_size(&vals[0], "the start of `arange`", args[0].loc),
            self.const_size(&vals[1], "the end of `arange`", args[1].loc),
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
        if self.check_budget(&shape, num, loc).is_none() {
            return Val::Error;
        }
        let scalar = match value {
            None => {
                // The zero of a type that is not known yet is an integer or a float by what the type becomes.
                let zero = match self.cells.known(num) {
                    Some(Dtype::Bool) => Const::Bool(false),
                    _ if self.cells.is_float(num) => Const::Float(0.0),
                    _ => Const::Int(0),
                };
                self.constant(zero, num, loc)
            }
            Some((val, at)) => {
                let Some(value) = self.value(val, at) else { return Val::Error };
                if !self.is_scalar(value) || self.is_ptr(value) {
                    let actual = self.describe(val);
                    let diagnostic =
                        Diagnostic::new(Code::Kind, at, "`full` takes one number for all elements")
                            .compare("", "a scalar", actual);
                    let diagnostic = self.help_item(diagnostic, val);
                    return self.report(diagnostic);
                }
                if self.cells.is_index(self.num(value)) {
                    return self.report(
                        Diagnostic::new(Code::DtypeMismatch, at, "a tile does not hold `usize`")
                            .compare("", "an element type", "usize")
                            .why("Rust counts the elements of its arrays in `usize`")
                            .help("a.len() as i32"),
                    );
                }
                // What is open stands for a number; truth values need no type beside the value.
                let given = self.num(value);
                let truth = self.cells.known(given) == Some(Dtype::Bool);
                let settled = truth && self.cells.known(num).is_none();
                if !settled && self.unify(given, num, "`full`", at).is_none() {
                    return Val::Error;
                }
                value
            }
        };
        Val::Value(self.splat(scalar, &shape, loc))
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
                if let Some(near) = crate::diag::nearest(name, names) {
                    diagnostic = diagnostic.help(format!("atomic::{near}"));
                }
                return self.report(diagnostic);
            }
        };
        let required = if op == Atomic::CompareExchange { 3 } else { 2 };
        if args.len() != required {
            return self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    loc,
                    format!("`atomic::{name}` takes another number of arguments"),
                )
                .compare("arguments", required.to_string(), args.len().to_string()),
            );
        }
        let vals: Vec<Val> = args.iter().map(|arg| self.plain_expr(arg, env)).collect();
        let vals: Vec<_> = vals.iter().zip(args).map(|(val, arg)| (val, arg.loc)).collect();
        self.atomic_op(op, name, &vals, loc)
    }
}

/// The parameters of a function of the language, as its documentation calls them.
fn parameters(name: &str) -> Option<&'static str> {
    Some(match name {
        "sync"
        | "copy_async_commit"
        | "copy_async_wait_all"
        | "num_warps"
        | "shared_bytes_per_block"
        | "row_major"
        | "fence_async"
        | "launch_dependents"
        | "grid_dependency_wait" => "",
        "barrier" => "count",
        "barriers" => "number, count",
        "zeros" | "shared" | "tmem" => "shape",
        "full" => "shape, value",
        "arange" => "start, end",
        "select" => "mask, a, b",
        "maximum" | "minimum" | "cdiv" | "join" => "a, b",
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
        "pipeline" => "range, stages",
        "warp_specialize" => "default, partitions",
        "block_id" | "num_blocks" | "grid_dim" => "axis",
        "device_assert" => "condition",
        "target" => "target",
        "blocked" => "per_thread, lanes, warps, order",
        "slice" => "axis, layout",
        "swizzle" => "bytes",
        "tmem_block" => "block, col_stride",
        "tmem_load" => "shape, memory, warps",
        "swizzled" => "vec, per_phase, max_phase, order",
        "mma" | "partition" | "named_barrier" => "warps",
        "dot_operand" => "index, parent, k_width",
        "linear" => "registers, lanes, warps, shape",
        "shared_linear" => "offsets, shape",
        _ => return None,
    })
}
