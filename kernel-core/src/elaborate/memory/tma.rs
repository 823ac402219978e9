//! Copies by tensor map: `tma::load(map, [i, j], bar, tile)` and so on.

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
    },
    ir::{Dtype, Op, ParamKind, SharedType, StoreWait, Tma, TmaKind, TmaReduce, Type, Value},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// Every function of `tma`, for suggestions.
pub(crate) const TMA_NAMES: &[&str] = &[
    "load",
    "store",
    "reduce_add",
    "reduce_min",
    "reduce_max",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "prefetch",
    "gather",
    "scatter",
    "store_wait",
    "store_wait_written",
];
/// Why `sm_80` has none of this.
pub(crate) const SINCE_HOPPER: &str =
    "the unit that copies tiles by tensor map (TMA) comes with Hopper";
/// The most stores that a wait can leave under way.
const MOST_PENDING: i128 = 63;

impl Builder<'_> {
    /// `tma::name(..)`
    pub(crate) fn tma_call(
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
            "gather" => "map, rows, col, bar, tile",
            "scatter" => "map, rows, col, tile",
            "store_wait" | "store_wait_written" => "0",
            _ => {
                self.no_such_function("tma", name, TMA_NAMES);
                return Val::Error;
            }
        };
        let required = match name.name.as_str() {
            "gather" => 5,
            "load" | "scatter" => 4,
            "prefetch" => 2,
            "store_wait" | "store_wait_written" => 1,
            _ => 3,
        };
        let call = format!("tma::{}({form})", name.name);
        if self.takes(required, vals.len(), &call, loc).is_none() {
            return Val::Error;
        }
        if matches!(name.name.as_str(), "gather" | "scatter") {
            return self.by_rows(&name.name, vals, args, loc);
        }
        if self
            .wants(Capability::Tma, &format!("`tma::{}`", name.name), SINCE_HOPPER, loc)
            .is_none()
        {
            return Val::Error;
        }
        match name.name.as_str() {
            "load" => {
                let Some((param, corner)) = self.map_corner(vals, args, loc) else {
                    return Val::Error;
                };
                if self.turned_round(name, [2, 3], (vals, args)) {
                    return Val::Error;
                }
                let Some(barrier) = self.barrier_of_pair(&vals[2], args[2].loc) else {
                    return Val::Error;
                };
                let tma = Tma::plain(TmaKind::Load, param);
                self.tma_copy(tma, corner, Some(barrier), (&vals[3], args[3].loc), loc)
            }
            "prefetch" => {
                let Some((param, corner)) = self.map_corner(vals, args, loc) else {
                    return Val::Error;
                };
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
                let Some((param, corner)) = self.map_corner(vals, args, loc) else {
                    return Val::Error;
                };
                if self.written_map(param, args[0].loc).is_none() {
                    return Val::Error;
                }
                let how = other.strip_prefix("reduce_");
                let reduce = TmaReduce::ALL.into_iter().find(|one| Some(one.name()) == how);
                let kind = match reduce {
                    Some(how) => {
                        let ParamKind::Tensor { dtype, .. } = self.params[param as usize].kind
                        else {
                            return Val::Error;
                        };
                        if self.reduces("tma", how.takes(), (how, dtype), loc).is_none() {
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
    fn map_corner(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Option<(u32, Vec<Value>)> {
        let param = self.map_of(vals, args, "64")?;
        let corner = self.corner(param, &vals[1], &args[1])?;
        for (axis, value) in corner.iter().enumerate() {
            self.note_use(*value, loc, args[1].part(axis));
        }
        Some((param, corner))
    }

    /// The tensor map that a call begins with; where there is none, the help has blocks of `leading` by 64.
    pub(crate) fn map_of(&mut self, vals: &[Val], args: &[Expr], leading: &str) -> Option<u32> {
        let Val::Tensor(param) = vals[0] else {
            let actual = self.describe(&vals[0]);
            self.report(
                Diagnostic::new(Code::Kind, args[0].loc, "a tensor map is wanted here")
                    .compare("", "a `TensorMap` or `TensorMapMut`", actual)
                    .help(format!("#[block({leading}, 64)] x: TensorMap<f16, 2>")),
            );
            return None;
        };
        if self.params[param as usize].block.is_none() {
            let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind
            else {
                return None;
            };
            let name = self.params[param as usize].name.clone();
            let mut block = vec![leading; rank as usize];
            block[rank as usize - 1] = "64";
            let block = block.join(", ");
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
        Some(param)
    }

    /// The coordinates of a corner, one an axis of the tensor.
    pub(crate) fn corner(&mut self, param: u32, at: &Val, at_expr: &Expr) -> Option<Vec<Value>> {
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
    pub(crate) fn written_map(&mut self, param: u32, loc: Loc) -> Option<()> {
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

    /// Whether a reduction takes an element type, or a report; `family` is that of the function.
    pub(crate) fn reduces(
        &mut self,
        family: &str,
        takes: &[Dtype],
        (how, dtype): (TmaReduce, Dtype),
        loc: Loc,
    ) -> Option<()> {
        if takes.contains(&dtype) {
            return Some(());
        }
        let what = format!("`{family}::reduce_{}`", how.name());
        let names: Vec<&str> = takes.iter().map(|dtype| dtype.name()).collect();
        self.refuse_dtype(&what, &names.join(", "), Num::Known(dtype), loc);
        None
    }

    /// Starts a copy between a tensor and a shared window, whose shapes agree.
    pub(crate) fn tma_copy(
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
    pub(crate) fn copied_dtype(
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

    /// The window of shared memory that a value is, if it is one.
    pub(crate) fn shared_window(&self, val: &Val) -> Option<(Value, SharedType)> {
        let Val::Value(value) = val else { return None };
        match self.ty(*value) {
            Type::Shared(shared) => Some((*value, shared.clone())),
            Type::Scalar(_)
            | Type::Tile(..)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => None,
        }
    }

    /// A window that a copy by tensor map reads or writes: of a ring, one tile or all of them.
    pub(crate) fn copied_window(&mut self, window: &Val, loc: Loc) -> Option<(Value, SharedType)> {
        let Some((value, shared)) = self.shared_window(window) else {
            let actual = self.describe(window);
            let unseen = match window {
                Val::Value(value) if matches!(self.ty(*value), Type::TensorMemory(_)) => {
                    "tensor memory"
                }
                _ => "registers",
            };
            self.report(
                Diagnostic::new(
                    Code::CopyOperands,
                    loc,
                    "a tensor map copies to and from shared memory",
                )
                .compare("", "shared memory: `shared::<T>([M, N])`", actual)
                .why(format!("TMA does not see {unseen}; a tile goes through shared memory")),
            );
            return None;
        };
        self.own_window(&shared, "a copy by tensor map", loc)?;
        Some((value, shared))
    }

    /// One block of the map is one window, as it lies in memory.
    pub(crate) fn fills_block(&mut self, param: u32, shared: &SharedType, loc: Loc) -> Option<()> {
        self.lies_as_stored(shared, loc)?;
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

    /// A window that a copy by tensor map reads or writes is not transposed.
    pub(crate) fn lies_as_stored(&mut self, shared: &SharedType, loc: Loc) -> Option<()> {
        if !shared.transposed {
            return Some(());
        }
        self.report(
            Diagnostic::new(Code::CopyOperands, loc, "a copy by tensor map does not transpose")
                .why("the innermost axis of the box is the innermost one in shared memory; what reads it transposed says so where it reads: `tile.t()`"),
        );
        None
    }
}
