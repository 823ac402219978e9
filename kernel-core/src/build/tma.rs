//! Copies by tensor map, and what is said of them afterwards: `.on(bar)`, `.when(p)`, `.multicast(mask)`, `.evict(..)`.

use std::rc::Rc;

use super::{
    Builder,
    value::{CopyVal, Num, Val},
};
use crate::{
    diag::{Code, Diagnostic},
    ir::{
        Bulk, BulkKind, Const, Dtype, Evict, Op, ParamKind, SharedType, Stmt, StmtKind, StoreWait,
        Tma, TmaKind, TmaReduce, Type, Value,
    },
    loc::Loc,
    syntax::{Expr, Segment},
};

/// Every function of `tma`, for suggestions.
pub(super) const TMA_NAMES: &[&str] = &[
    "load",
    "store",
    "reduce_add",
    "reduce_min",
    "reduce_max",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "prefetch",
    "store_wait",
    "store_wait_written",
];
/// What can be said of a copy.
const COPY_METHODS: &[&str] = &["on", "when", "multicast", "evict_first", "evict_last"];
/// Why `sm_80` has none of this.
const SINCE_HOPPER: &str = "the unit that copies tiles by tensor map (TMA) comes with Hopper";
/// The most stores that a wait can leave under way.
const MOST_PENDING: i128 = 63;

impl Builder<'_> {
    /// `tma::name(..)`
    pub(super) fn tma_call(
        &mut self,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let form = match name.name.as_str() {
            "load" => "map, [i, j], bar, tile",
            "store" | "reduce_add" | "reduce_min" | "reduce_max" | "reduce_and" | "reduce_or"
            | "reduce_xor" => "map, [i, j], tile",
            "prefetch" => "map, [i, j]",
            "store_wait" | "store_wait_written" => "pending",
            other => {
                let headline = format!("`tma` has no function `{other}`");
                let diagnostic = Diagnostic::new(Code::UnknownName, name.loc, headline);
                let near = super::nearest(other, TMA_NAMES.iter().copied());
                return self.report(match near {
                    Some(near) => diagnostic.help(format!("tma::{near}")),
                    None => diagnostic.why(format!("it has {}", TMA_NAMES.join(", "))),
                });
            }
        };
        let required = match name.name.as_str() {
            "load" => 4,
            "prefetch" => 2,
            "store_wait" | "store_wait_written" => 1,
            _ => 3,
        };
        if vals.len() != required {
            return self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    loc,
                    format!("`tma::{}` takes another number of arguments", name.name),
                )
                .compare("arguments", required.to_string(), vals.len().to_string())
                .help(format!("tma::{}({form})", name.name)),
            );
        }
        if self.wants_hopper(&format!("`tma::{}`", name.name), SINCE_HOPPER, loc).is_none() {
            return Val::Error;
        }
        match name.name.as_str() {
            "load" => {
                let Some((param, corner)) = self.map_corner(vals, args) else { return Val::Error };
                let Some(barrier) = self.own_barrier(&vals[2], args[2].loc) else {
                    return Val::Error;
                };
                let tma = Tma::plain(TmaKind::Load, param);
                self.tma_copy(tma, corner, Some(barrier), (&vals[3], args[3].loc), loc)
            }
            "prefetch" => {
                let Some((param, corner)) = self.map_corner(vals, args) else { return Val::Error };
                self.op(Op::Tma(Tma::plain(TmaKind::Prefetch, param)), corner, None, loc);
                self.copying(loc)
            }
            "store_wait" | "store_wait_written" => {
                let what = "the number of pending stores";
                let Some(pending) = self.const_int(&vals[0], what, args[0].loc) else {
                    return Val::Error;
                };
                let until =
                    if name.name == "store_wait" { StoreWait::Read } else { StoreWait::Written };
                match u32::try_from(pending) {
                    Ok(count) if pending <= MOST_PENDING => {
                        self.op(Op::TmaWait { pending: count, until }, Vec::new(), None, loc);
                        Val::Unit
                    }
                    _ => self.report(
                        Diagnostic::new(
                            Code::Overflow,
                            args[0].loc,
                            format!("a wait cannot leave {pending} stores under way"),
                        )
                        .compare(
                            "pending stores",
                            format!("0 to {MOST_PENDING}"),
                            pending.to_string(),
                        ),
                    ),
                }
            }
            other => {
                let Some((param, corner)) = self.map_corner(vals, args) else { return Val::Error };
                if self.written_map(param, args[0].loc).is_none() {
                    return Val::Error;
                }
                let how = other.strip_prefix("reduce_");
                let reduce = TmaReduce::ALL.into_iter().find(|one| Some(one.name()) == how);
                let kind = match reduce {
                    Some(how) => {
                        if self.reduces(how, param, loc).is_none() {
                            return Val::Error;
                        }
                        TmaKind::Reduce(how)
                    }
                    None => TmaKind::Store,
                };
                let tma = Tma::plain(kind, param);
                self.tma_copy(tma, corner, None, (&vals[2], args[2].loc), loc)
            }
        }
    }

    /// The tensor map and the coordinates that a call begins with.
    fn map_corner(&mut self, vals: &[Val], args: &[Expr]) -> Option<(u32, Vec<Value>)> {
        let Val::Tensor(param) = vals[0] else {
            let actual = self.describe(&vals[0]);
            self.report(
                Diagnostic::new(Code::Kind, args[0].loc, "a tensor map is wanted here")
                    .compare("", "a `TensorMap` or `TensorMapMut`", actual)
                    .help("#[block(64, 64)] x: TensorMap<f16, 2>"),
            );
            return None;
        };
        if self.params[param as usize].block.is_none() {
            let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind
            else {
                return None;
            };
            let name = self.params[param as usize].name.clone();
            let block = vec!["64"; rank as usize].join(", ");
            let (map, plain) =
                if mutable { ("TensorMapMut", "TensorMut") } else { ("TensorMap", "Tensor") };
            let place = self.params[param as usize].loc;
            self.report(
                Diagnostic::new(
                    Code::Kind,
                    args[0].loc,
                    format!("`{name}` is not reached through a tensor map"),
                )
                .compare(
                    "",
                    format!("a `{map}<{}, {rank}>`", dtype.name()),
                    format!("a `{plain}<{}, {rank}>`", dtype.name()),
                )
                .place(place, "declared here")
                .why("the launch encodes the map, for which it needs the block that one copy moves")
                .help(format!("#[block({block})] {name}: {map}<{}, {rank}>", dtype.name())),
            );
            return None;
        }
        let corner = self.corner(param, &vals[1], &args[1])?;
        Some((param, corner))
    }

    /// The coordinates of a corner, one an axis of the tensor.
    pub(super) fn corner(&mut self, param: u32, at: &Val, at_expr: &Expr) -> Option<Vec<Value>> {
        let ParamKind::Tensor { rank, .. } = self.params[param as usize].kind else { return None };
        let Val::Array(parts) = at else {
            let actual = self.describe(at);
            self.report(
                Diagnostic::new(
                    Code::Kind,
                    at_expr.loc,
                    "the corner of a block is an array, one coordinate an axis",
                )
                .compare("", "an array such as `[i, j]`", actual),
            );
            return None;
        };
        if parts.len() != rank as usize {
            let place = self.params[param as usize].loc;
            self.report(
                Diagnostic::new(
                    Code::Axis,
                    at_expr.loc,
                    "the corner of a block has one coordinate for each axis of its tensor",
                )
                .compare("coordinates", rank.to_string(), parts.len().to_string())
                .place(place, "declared here"),
            );
            return None;
        }
        let mut corner = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let loc = at_expr.part(index);
            corner.push(self.scalar_i32(part, "the coordinates of a block are `i32`", loc)?);
        }
        Some(corner)
    }

    /// A tensor map that may be written.
    fn written_map(&mut self, param: u32, loc: Loc) -> Option<()> {
        let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind else {
            return None;
        };
        if mutable {
            return Some(());
        }
        let name = self.params[param as usize].name.clone();
        let place = self.params[param as usize].loc;
        self.report(
            Diagnostic::new(Code::ReadOnly, loc, format!("a store to `{name}`, which is only read"))
                .compare(
                    "",
                    format!("a `TensorMapMut<{}, {rank}>`", dtype.name()),
                    format!("a `TensorMap<{}, {rank}>`", dtype.name()),
                )
                .place(place, "declared here")
                .why("the launch borrows the tensor of a `TensorMap` with `&`: other kernels may read it at the same time")
                .help(format!("{name}: TensorMapMut<{}, {rank}>", dtype.name())),
        );
        None
    }

    /// The element types that a reduction by tensor map takes (PTX ISA, "cp.reduce.async.bulk.tensor").
    fn reduces(&mut self, how: TmaReduce, param: u32, loc: Loc) -> Option<()> {
        let ParamKind::Tensor { dtype, .. } = self.params[param as usize].kind else {
            return None;
        };
        let (takes, wants) = match how {
            TmaReduce::Add => (
                matches!(
                    dtype,
                    Dtype::U32 | Dtype::I32 | Dtype::U64 | Dtype::F16 | Dtype::Bf16 | Dtype::F32
                ),
                "u32, i32, u64, f16, bf16, f32",
            ),
            TmaReduce::Min | TmaReduce::Max => (
                matches!(
                    dtype,
                    Dtype::U32 | Dtype::I32 | Dtype::U64 | Dtype::I64 | Dtype::F16 | Dtype::Bf16
                ),
                "u32, i32, u64, i64, f16, bf16",
            ),
            TmaReduce::And | TmaReduce::Or | TmaReduce::Xor => (
                matches!(dtype, Dtype::U32 | Dtype::I32 | Dtype::U64 | Dtype::I64),
                "integers of 32 and 64 bits",
            ),
        };
        if takes {
            return Some(());
        }
        let what = format!("`tma::reduce_{}`", how.name());
        self.refuse_dtype(&what, wants, Num::Known(dtype), loc);
        None
    }

    /// Starts a copy between a tensor and a shared window, whose shapes agree.
    pub(super) fn tma_copy(
        &mut self,
        tma: Tma,
        corner: Vec<Value>,
        barrier: Option<Value>,
        (window, window_loc): (&Val, Loc),
        loc: Loc,
    ) -> Val {
        let Some((value, shared)) = self.copied_window(window, window_loc) else {
            return Val::Error;
        };
        if self.fills_block(tma.param, &shared, window_loc).is_none() {
            return Val::Error;
        }
        let ParamKind::Tensor { dtype, .. } = self.params[tma.param as usize].kind else {
            return Val::Error;
        };
        if self.copied_dtype(dtype, (value, &shared), window_loc).is_none() {
            return Val::Error;
        }
        let mut operands = corner;
        operands.extend(barrier);
        operands.push(value);
        self.op(Op::Tma(tma), operands, None, loc);
        self.copying(loc)
    }

    /// A copy converts nothing: memory has the elements of the tensor.
    pub(super) fn copied_dtype(
        &mut self,
        dtype: Dtype,
        (window, shared): (Value, &SharedType),
        loc: Loc,
    ) -> Option<()> {
        let num = self.num(window);
        let Err((_, actual)) = self.cells.unify(Num::Known(dtype), num) else { return Some(()) };
        let place = self.shared[shared.root].loc;
        self.report(
            Diagnostic::new(Code::DtypeMismatch, loc, "a copy has the same elements on both sides")
                .compare("element type", dtype.name(), actual)
                .place(place, "the shared memory is made here")
                .why("a copy moves bytes as they are"),
        );
        None
    }

    /// A window that a copy by tensor map reads or writes: of a ring, one tile or all of them.
    fn copied_window(&mut self, window: &Val, loc: Loc) -> Option<(Value, SharedType)> {
        let shared = match window {
            Val::Value(value) => match self.ty(*value) {
                Type::Shared(shared) => Some((*value, shared.clone())),
                Type::Scalar(_)
                | Type::Tile(..)
                | Type::Barrier(_)
                | Type::TensorMemory(_)
                | Type::Error => None,
            },
            _ => None,
        };
        let Some((value, shared)) = shared else {
            let actual = self.describe(window);
            self.report(
                Diagnostic::new(
                    Code::CopyOperands,
                    loc,
                    "a tensor map copies to and from shared memory",
                )
                .compare("", "shared memory: `shared::<T>([M, N])`", actual)
                .why("TMA does not see registers; a tile goes through shared memory"),
            );
            return None;
        };
        self.own_window(&shared, "a copy by tensor map", loc)?;
        Some((value, shared))
    }

    /// One block of the map is one window, as it lies in memory.
    fn fills_block(&mut self, param: u32, shared: &SharedType, loc: Loc) -> Option<()> {
        if shared.transposed {
            self.report(
                Diagnostic::new(Code::CopyOperands, loc, "a copy by tensor map does not transpose")
                    .why("the innermost axis of the box is the innermost one in shared memory; what reads it transposed says so where it reads: `tile.t()`"),
            );
            return None;
        }
        let wide = |shape: &[u32]| -> Vec<u32> {
            shape.iter().copied().filter(|extent| *extent != 1).collect()
        };
        let data = &self.params[param as usize];
        let Some(block) = data.block.clone().filter(|block| wide(block) != wide(&shared.shape))
        else {
            return Some(());
        };
        let place = data.loc;
        self.report(
            Diagnostic::new(Code::ShapeMismatch, loc, "a copy by tensor map moves one block")
                .compare("extents", format!("{block:?}"), format!("{:?}", shared.shape))
                .place(place, "the block of the tensor map"),
        );
        None
    }

    /// The copy that was just started, for what is said of it.
    pub(super) fn copying(&mut self, loc: Loc) -> Val {
        let stmts = &self.regions.last().expect("a region is open").stmts;
        if self.terminated || stmts.is_empty() {
            return Val::Unit;
        }
        Val::Copying(Rc::new(CopyVal { depth: self.regions.len(), index: stmts.len() - 1, loc }))
    }

    /// A method of a copy.
    pub(super) fn copy_method(
        &mut self,
        copy: &Rc<CopyVal>,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let at = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        match (name.name.as_str(), vals) {
            ("on", [barrier]) => {
                let what = "a copy that completes on a barrier";
                if self.wants_hopper(what, SINCE_HOPPER, loc).is_none() {
                    return Val::Error;
                }
                let Some(barrier) = self.own_barrier(barrier, at(0)) else {
                    return Val::Error;
                };
                self.change(copy, name, loc, |builder, op, args| {
                    builder.on_barrier(op, args, barrier, loc)
                })
            }
            ("when", [condition]) => {
                let Some(value) = self.value(condition, at(0)) else { return Val::Error };
                if !self.is_scalar(value) || self.cells.known(self.num(value)) != Some(Dtype::Bool)
                {
                    let actual = self.describe(condition);
                    return self.report(
                        Diagnostic::new(
                            Code::Kind,
                            at(0),
                            "`when` takes one condition for the whole copy",
                        )
                        .compare("", "a scalar (bool)", actual),
                    );
                }
                self.change(copy, name, loc, |builder, op, args| {
                    if let Op::Bulk(bulk) = op {
                        return builder.bulk_when((bulk, args), value, loc);
                    }
                    let Op::Tma(tma) = op else { return builder.only_tma("when", loc) };
                    if tma.guarded {
                        return builder.said_twice("when", ".when(a & b)", loc);
                    }
                    let guarded = Tma { guarded: true, ..tma };
                    let mut args = args;
                    let at = args.len() - usize::from(tma.kind != TmaKind::Prefetch);
                    args.insert(at, value);
                    Some((Op::Tma(guarded), args))
                })
            }
            ("accumulate", [flag]) => {
                let Some(value) = self.value(flag, at(0)) else { return Val::Error };
                if !self.is_scalar(value) || self.cells.known(self.num(value)) != Some(Dtype::Bool)
                {
                    let actual = self.describe(flag);
                    return self.report(
                        Diagnostic::new(
                            Code::Kind,
                            at(0),
                            "`accumulate` takes one condition for the whole product",
                        )
                        .compare("", "a scalar (bool)", actual),
                    );
                }
                self.change(copy, name, loc, |builder, op, args| {
                    builder.accumulates(&op, args, value, loc)
                })
            }
            ("multicast", [mask]) => self.multicast(copy, (mask, at(0)), name, loc),
            ("evict_first" | "evict_last", []) => {
                let evict = if name.name == "evict_first" { Evict::First } else { Evict::Last };
                let word = name.name.clone();
                self.change(copy, name, loc, |builder, op, args| {
                    if let Op::Bulk(bulk) = op {
                        return builder.bulk_evict((bulk, args), evict, loc);
                    }
                    let Op::Tma(tma) = op else { return builder.only_tma(&word, loc) };
                    if tma.evict != Evict::Normal {
                        return builder.said_twice("evict", ".evict_last()", loc);
                    }
                    Some((Op::Tma(Tma { evict, ..tma }), args))
                })
            }
            ("on" | "when" | "multicast" | "accumulate", _) => {
                self.count(name, 1, vals.len(), None, loc)
            }
            ("evict_first" | "evict_last", _) => {
                self.count(name, 0, vals.len(), Some(format!(".{}()", name.name)), loc)
            }
            _ => self.no_method(&Val::Copying(copy.clone()), name, vals, COPY_METHODS),
        }
    }

    /// `.multicast(mask)`
    fn multicast(
        &mut self,
        copy: &Rc<CopyVal>,
        (mask, mask_loc): (&Val, Loc),
        name: &Segment,
        loc: Loc,
    ) -> Val {
        let Some(value) = self.scalar_i32(mask, "a mask of blocks is an `i32`", mask_loc) else {
            return Val::Error;
        };
        let blocks: u32 = self.cluster.iter().product();
        if blocks == 1 {
            return self.report(
                Diagnostic::new(
                    Code::Cluster,
                    loc,
                    "this kernel has no clusters: there is no other block to copy to",
                )
                .compare("blocks of a cluster", "2 or more", "1")
                .help("#[kernel(.., cluster = [2, 1])]"),
            );
        }
        if let Val::Const(Const::Int(bits), _) = mask
            && (*bits <= 0 || *bits >> blocks != 0)
        {
            return self.report(
                Diagnostic::new(
                    Code::Cluster,
                    mask_loc,
                    "the mask does not fit the blocks of the cluster",
                )
                .compare(
                    "mask",
                    format!("0b1 to {:#b}", (1u64 << blocks) - 1),
                    if *bits < 0 { bits.to_string() } else { format!("{bits:#b}") },
                )
                .why(format!("bit i of the mask stands for the block of rank i; this kernel's clusters have {blocks} blocks")),
            );
        }
        self.change(copy, name, loc, |builder, op, args| {
            if let Op::Bulk(bulk) = op {
                return builder.bulk_multicast((bulk, args), value, loc);
            }
            let Op::Tma(tma) = op else { return builder.only_tma("multicast", loc) };
            if tma.multicast {
                return builder.said_twice("multicast", ".multicast(a | b)", loc);
            }
            if tma.kind == TmaKind::Staged {
                builder.report(
                    Diagnostic::new(Code::CopyOperands, loc, "a copy to several blocks needs a barrier")
                        .why("in each of the blocks its bytes count on the barrier that lies at the same place: say first which one")
                        .help("copy_async(x.at([i, j]), tile).on(full).multicast(mask)"),
                );
                return None;
            }
            if tma.kind != TmaKind::Load {
                builder.only_loads_multicast(loc);
                return None;
            }
            let mut args = args;
            // Behind the barrier, before the condition and the window.
            let at = args.len() - 1 - usize::from(tma.guarded);
            args.insert(at, value);
            Some((Op::Tma(Tma { multicast: true, ..tma }), args))
        })
    }

    pub(super) fn only_loads_multicast(&mut self, loc: Loc) {
        self.report(
            Diagnostic::new(Code::CopyOperands, loc, "only a load goes to several blocks").why(
                "a store writes one tensor, once; a prefetch fills the cache that all blocks share",
            ),
        );
    }

    pub(super) fn said_twice(
        &mut self,
        word: &str,
        help: &str,
        loc: Loc,
    ) -> Option<(Op, Vec<Value>)> {
        self.report(
            Diagnostic::new(Code::CopyOperands, loc, format!("`{word}` is said twice of one copy"))
                .why("the copy is one instruction, which has each of these once")
                .help(help),
        );
        None
    }

    fn only_tma(&mut self, word: &str, loc: Loc) -> Option<(Op, Vec<Value>)> {
        let diagnostic = Diagnostic::new(
            Code::CopyOperands,
            loc,
            format!("`{word}` is said of a copy that completes in groups"),
        )
        .compare("", "a copy by tensor map: `tma::load(..)`, `copy_async(..).on(bar)`", "a `copy_async(..)` without a barrier")
        .why("in groups every thread copies its own part (cp.async); by tensor map one thread has a whole tile copied");
        self.report(diagnostic);
        None
    }

    /// A copy to shared memory that completes on a barrier goes by tensor map.
    fn on_barrier(
        &mut self,
        op: Op,
        args: Vec<Value>,
        barrier: Value,
        loc: Loc,
    ) -> Option<(Op, Vec<Value>)> {
        if let Op::Tma(tma @ Tma { kind: TmaKind::Staged, .. }) = op {
            let mut args = args;
            // Behind the coordinates.
            let ParamKind::Tensor { rank, .. } = self.params[tma.param as usize].kind else {
                return None;
            };
            args.insert(rank as usize, barrier);
            return Some((Op::Tma(Tma { kind: TmaKind::Load, ..tma }), args));
        }
        let Op::CopyAsync(param) = op else {
            let (actual, why, help) = match op {
                Op::Tma(Tma { kind: TmaKind::Load, .. })
                | Op::Bulk(Bulk { kind: BulkKind::Load | BulkKind::Send, .. }) => {
                    ("a load that has its barrier", "a copy counts its bytes on one barrier", None)
                }
                Op::Tma(Tma { kind: TmaKind::Prefetch, .. })
                | Op::Bulk(Bulk { kind: BulkKind::Prefetch(_), .. }) => {
                    ("a prefetch", "nobody is told when a prefetch has come", None)
                }
                _ => (
                    "a store",
                    "a store is waited for by the partition that issues it",
                    Some("tma::store_wait(0);"),
                ),
            };
            let diagnostic = Diagnostic::new(
                Code::CopyOperands,
                loc,
                "this copy does not complete on a barrier",
            )
            .compare("", "`copy_async` of a window of a tensor to shared memory", actual)
            .why(why);
            self.report(match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
            return None;
        };
        let mut args = args;
        let window = args.pop()?;
        if let Type::Shared(shared) = self.ty(window).clone() {
            self.fills_block(param, &shared, loc)?;
        }
        args.extend([barrier, window]);
        Some((Op::Tma(Tma::plain(TmaKind::Load, param)), args))
    }

    /// Changes the statement of a copy, which moves behind what its new operands are computed from.
    fn change(
        &mut self,
        copy: &Rc<CopyVal>,
        name: &Segment,
        loc: Loc,
        with: impl FnOnce(&mut Self, Op, Vec<Value>) -> Option<(Op, Vec<Value>)>,
    ) -> Val {
        if self.terminated {
            return Val::Unit;
        }
        let here = copy.depth == self.regions.len();
        let stmts = &mut self.regions.last_mut().expect("a region is open").stmts;
        let known = here.then(|| stmts.get(copy.index).cloned()).flatten();
        let Some(Stmt { kind: StmtKind::Op { op, args, result: None }, loc: at }) = known else {
            return self.report(
                Diagnostic::new(
                    Code::CopyOperands,
                    loc,
                    format!("`{}` is said of a copy elsewhere than where it is started", name.name),
                )
                .place(copy.loc, "started here")
                .why("the copy is one instruction, and this is a part of it"),
            );
        };
        let Some((op, args)) = with(self, op, args) else { return Val::Error };
        let stmts = &mut self.regions.last_mut().expect("a region is open").stmts;
        stmts.remove(copy.index);
        stmts.push(Stmt { kind: StmtKind::Op { op, args, result: None }, loc: at });
        self.copying(copy.loc)
    }
}
