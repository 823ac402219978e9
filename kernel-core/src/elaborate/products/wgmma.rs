//! Products by warpgroups: `wgmma::mma`, `wgmma::wait`.

use kernel_layout::Form;
use kernel_layout::wgmma::{INSTRUCTION_K_BYTES, INSTRUCTION_M};

use kernel_ptx::Capability;

use super::product::Precision;
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::{targets::oldest_with, value::Val},
    },
    ir::{Dtype, Elem, Op, SharedType, Type, Value},
    layouts::boxed,
    layouts::warpgroup::{self, Generation, Side},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// Every function of `wgmma`, for suggestions.
const WGMMA_NAMES: &[&str] = &["mma", "wait"];
/// The most groups of products that a wait can leave under way (PTX ISA, `wgmma.wait_group`).
pub(crate) const MOST_PENDING: u32 = 7;
/// Warps of a warpgroup.
const GROUP: u32 = 4;
/// The fewest columns of an instruction.
const LEAST_COLUMNS: u32 = 8;

/// An extent that no product by warpgroups has.
struct Extent {
    what: &'static str,
    required: String,
    actual: u32,
    why: &'static str,
}

impl Builder<'_> {
    /// `wgmma::name(..)`
    pub(crate) fn wgmma_call(
        &mut self,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let (required, call) = match name.name.as_str() {
            "mma" => (3, "wgmma::mma(a, b, acc)"),
            "wait" => (2, "wgmma::wait(0, acc)"),
            _ => {
                self.no_such_function("wgmma", name, WGMMA_NAMES);
                return Val::Error;
            }
        };
        if self.takes(required, vals.len(), call, loc).is_none() {
            return Val::Error;
        }
        if !self.target.has(Capability::Wgmma) {
            let headline = format!("`wgmma::{}` is not there on `{}`", name.name, self.target);
            let texts: Vec<_> = args.iter().map(Expr::operand_text).collect();
            return self.report(
                self.lacks(Capability::Wgmma, headline, loc)
                    .why("only Hopper multiplies by warpgroups; `dot` takes what each target has")
                    .help(match &texts[..] {
                        [Some(a), Some(b), Some(acc)] => format!("dot({a}, {b}, {acc})"),
                        _ => oldest_with(Capability::Wgmma),
                    }),
            );
        }
        if required == 3 { self.wgmma(vals, args, loc) } else { self.wgmma_wait(vals, args, loc) }
    }

    fn wgmma_wait(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Val {
        let what = "the number of pending products";
        let Some(pending) = self.const_int(&vals[0], what, args[0].loc) else { return Val::Error };
        let Some(acc) = self.tile(&vals[1], "`wgmma::wait`", args[1].loc) else {
            return Val::Error;
        };
        let count = match u32::try_from(pending) {
            Ok(count) if count <= MOST_PENDING => count,
            _ => {
                return self.report(
                    Diagnostic::new(
                        Code::Overflow,
                        args[0].loc,
                        format!("a wait cannot leave {pending} products under way"),
                    )
                    .compare(
                        "pending products",
                        format!("0 to {MOST_PENDING}"),
                        pending.to_string(),
                    ),
                );
            }
        };
        let (shape, num) = (self.ty(acc).shape().to_vec(), self.num(acc));
        Val::Value(self.emit_num(Op::WgmmaWait(count), vec![acc], Some(shape), num, loc))
    }

    fn wgmma(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Val {
        let Some(a) = self.value(&vals[0], args[0].loc) else { return Val::Error };
        let Some(b) = self.value(&vals[1], args[1].loc) else { return Val::Error };
        let Some(acc) = self.tile(&vals[2], "the accumulator of a product", args[2].loc) else {
            return Val::Error;
        };
        if !matches!(self.ty(b), Type::Shared(_)) {
            let actual = self.describe(&vals[1]);
            return self.report(
                Diagnostic::new(
                    Code::Kind,
                    args[1].loc,
                    "the right operand of `wgmma::mma` lies in shared memory",
                )
                .compare("", "a `Shared<T>` of extents [k, n]", actual)
                .why("all warps of the group read it there; only the left operand may come from registers (PTX ISA, \"wgmma.mma_async\")"),
            );
        }
        if !matches!(self.ty(a), Type::Shared(_) | Type::Tile(Elem::Number(_), _)) {
            let actual = self.describe(&vals[0]);
            return self.report(
                Diagnostic::new(
                    Code::Kind,
                    args[0].loc,
                    "the left operand of `wgmma::mma` is shared memory or a tile",
                )
                .compare(
                    "",
                    "a `Shared<T>` or `Tile<T>` of extents [m, k]",
                    actual,
                ),
            );
        }
        for (operand, arg) in [a, b].into_iter().zip(args) {
            if let Type::Shared(shared) = self.ty(operand).clone()
                && self.own_window(&shared, "a product", arg.loc).is_none()
            {
                return Val::Error;
            }
        }
        if self.wgmma_shapes([a, b, acc], args, loc).is_none()
            || self.product_dtypes([a, b, acc], Generation::Hopper, loc).is_none()
        {
            return Val::Error;
        }
        self.operands.insert(loc, [args[0].loc, args[1].loc, args[2].loc]);
        let (shape, num) = (self.ty(acc).shape().to_vec(), self.num(acc));
        Val::Value(self.emit_num(Op::Wgmma, vec![a, b, acc], Some(shape), num, loc))
    }

    fn wgmma_shapes(&mut self, values: [Value; 3], args: &[Expr], loc: Loc) -> Option<()> {
        self.product_shapes(values, args, "wgmma::mma", loc)?;
        if !self.warps.is_multiple_of(GROUP) {
            let help = self.warps_written(u64::from(GROUP));
            self.report(
                Diagnostic::new(Code::Warps, loc, "`wgmma::mma` is done by whole warpgroups")
                    .compare("warps", "a multiple of 4", self.warps.to_string())
                    .why("the four warps of a group execute one instruction together (PTX ISA, \"Asynchronous Warpgroup Level Matrix Instructions\")")
                    .help(help),
            );
            return None;
        }
        let Some(Extent { what, required, actual, why }) = self.wgmma_extent(values) else {
            return Some(());
        };
        self.report(
            Diagnostic::new(Code::DotShape, loc, "no product by warpgroups has these extents")
                .compare(what, required, actual.to_string())
                .why(why),
        );
        None
    }

    /// The extent of a product that no instruction has: of operands that fit together, in warps that are whole groups.
    fn wgmma_extent(&self, values: [Value; 3]) -> Option<Extent> {
        let bytes = self.cells.settled(self.num(values[1])).bytes();
        let &[rows, depth] = self.ty(values[0]).shape() else { return None };
        let columns = self.ty(values[2]).shape()[1];
        let groups = self.warps / GROUP;
        let step = INSTRUCTION_K_BYTES / bytes;
        let row_groups = (rows / INSTRUCTION_M).clamp(1, groups);
        let least_columns = LEAST_COLUMNS * (groups / row_groups);
        if !rows.is_multiple_of(INSTRUCTION_M) {
            Some(Extent {
                what: "rows",
                required: format!("a multiple of {INSTRUCTION_M}"),
                actual: rows,
                why: "one instruction has 64 rows, 16 of each warp",
            })
        } else if !depth.is_multiple_of(step) {
            Some(Extent {
                what: "depth",
                required: format!("a multiple of {step}"),
                actual: depth,
                why: "one instruction reads 32 bytes of each row of the left and each column of the right operand",
            })
        } else if columns < least_columns {
            Some(Extent {
                what: "columns",
                required: format!("at least {least_columns}"),
                actual: columns,
                why: "one instruction has at least 8 columns, and every group of warps needs some of its own",
            })
        } else {
            None
        }
    }

    /// Whether `dot` is done by warpgroups: on Hopper, of a right factor in shared memory, where the warps are whole groups, an
    /// instruction has the extents and element types, and descriptors say where the elements are.
    pub(crate) fn by_warpgroups(&self, values: [Value; 3], precision: Precision) -> bool {
        let dtype = self.cells.settled(self.num(values[0]));
        let multiplied = match dtype {
            // What `dot` itself multiplies in full.
            Dtype::F32 => precision == Precision::Tf32,
            other => other.row().factor.is_some_and(|factor| factor.mma.is_some()),
        };
        self.target.has(Capability::Wgmma)
            && multiplied
            && matches!(self.ty(values[1]), Type::Shared(_))
            && self.warps.is_multiple_of(GROUP)
            && self.wgmma_extent(values).is_none()
            && self.described(values, Side::Left)
            && self.described(values, Side::Right)
    }

    /// Whether a descriptor says where the elements of an operand are; one in registers needs none.
    fn described(&self, values: [Value; 3], side: Side) -> bool {
        let value = match side {
            Side::Left => values[0],
            Side::Right => values[1],
        };
        let Type::Shared(window) = self.ty(value) else { return true };
        // The type that the window will have: it may still be open.
        let dtype = self.cells.settled(self.num(value));
        let window = SharedType { dtype, ..window.clone() };
        let data = &self.shared[window.root];
        let tile = &data.shape[data.shape.len().saturating_sub(2)..];
        let &[rows, columns] = self.ty(values[2]).shape() else { return false };
        let Form::Wgmma { n, .. } = warpgroup::form_of([rows, columns], self.warps) else {
            return false;
        };
        let layout = match &data.pinned {
            Some(form) => form.to_layout(tile).ok(),
            None => boxed(tile, dtype.bytes()),
        };
        layout.is_some_and(|layout| warpgroup::read_in(&layout, &window, side, n).is_ok())
    }
}
