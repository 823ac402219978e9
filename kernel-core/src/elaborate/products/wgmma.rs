//! `wgmma` products: `wgmma::mma`, `wgmma::wait`.

use kernel_layout::Form;
use kernel_layout::wgmma::{INSTRUCTION_K_BYTES, INSTRUCTION_M};

use kernel_ptx::Capability;

use super::{dot::Precision, sparse::Order};
use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{Dtype, Elem, Op, ProductOp, SharedType, Type, Value},
    layouts::boxed,
    layouts::wgmma::{self, Generation, Side},
};

/// The most groups of products that a wait can leave in flight (PTX ISA, `wgmma.wait_group`).
pub(crate) const MOST_PENDING: u32 = 7;
/// Warps of a warpgroup.
const GROUP: u32 = 4;
/// The fewest columns of an instruction.
const LEAST_COLUMNS: u32 = 8;

/// An extent that no `wgmma` product has.
struct Extent {
    what: &'static str,
    required: String,
    actual: u32,
    why: &'static str,
}

/// How much of a row of the left operand there is.
#[derive(Clone, Copy)]
enum Extents {
    Dense,
    /// The half that is kept.
    Sparse,
}

impl Builder<'_> {
    /// `wgmma::wait(pending, acc)`
    pub(crate) fn wgmma_wait(&mut self, given: &Given<'_>) -> Val {
        let acc = given.value(1);
        let (shape, num) = (self.ty(acc).shape().to_vec(), self.num(acc));
        let op = Op::Product(ProductOp::WgmmaWait(given.number(0)));
        Val::Value(self.emit_num(op, vec![acc], Some(shape), num, given.loc))
    }

    /// `wgmma::mma(a, b, acc)`
    pub(crate) fn wgmma(&mut self, given: &Given<'_>) -> Option<Val> {
        let operands = [0, 1, 2].map(|index| given.value(index));
        self.wgmma_operands([0, 1], Extents::Dense, given)?;
        self.product_shapes(operands, given)?;
        self.wgmma_extents(operands, Extents::Dense, given)?;
        self.product_dtypes(operands, Generation::Hopper, given.loc)?;
        self.operands.insert(given.loc, given.places());
        let [_, _, acc] = operands;
        let (shape, num) = (self.ty(acc).shape().to_vec(), self.num(acc));
        let op = ProductOp::Wgmma { sparse: false };
        Some(Val::Value(self.emit_num(op, operands.to_vec(), Some(shape), num, given.loc)))
    }

    /// `wgmma::mma_sparse(a, metadata, b, acc)`
    pub(crate) fn wgmma_sparse(&mut self, given: &Given<'_>) -> Option<Val> {
        let order = Order::WGMMA;
        let [a, b, acc, metadata] = order.of(given);
        self.wgmma_operands(order.factors(), Extents::Sparse, given)?;
        let operands = [a, b, acc];
        self.sparse_shapes(operands, order, given)?;
        self.wgmma_extents(operands, Extents::Sparse, given)?;
        self.product_dtypes(operands, Generation::Hopper, given.loc)?;
        let dtype = self.cells.settled(self.num(a));
        self.metadata_fits(dtype, [b, acc, metadata], order, given)?;
        let metadata = self.loaded(metadata, given.at(1))?;
        self.operands.insert(given.loc, order.places(given));
        let (shape, num) = (self.ty(acc).shape().to_vec(), self.num(acc));
        let op = ProductOp::Wgmma { sparse: true };
        let taken = vec![a, b, acc, metadata];
        Some(Val::Value(self.emit_num(op, taken, Some(shape), num, given.loc)))
    }

    /// The operands are where `wgmma` reads them; they are these arguments.
    fn wgmma_operands(
        &mut self,
        [left, right]: [usize; 2],
        extents: Extents,
        given: &Given<'_>,
    ) -> Option<()> {
        let ([a, b], path) = ([left, right].map(|index| given.value(index)), given.path());
        if !matches!(self.ty(b), Type::Shared(_)) {
            let headline = format!("the right operand of `{path}` has to be in shared memory");
            let help = self.staged(given.val(right));
            return self.refuse(
                Code::Kind.at(given.at(right), headline)
                    .compare("", "a `Shared<T>` of extents [k, n]", self.describe(given.val(right)))
                    .why("all warps of the group read it there; only the left operand may come from registers (PTX ISA, \"wgmma.mma_async\")")
                    .help_if(help),
            );
        }
        if !matches!(self.ty(a), Type::Shared(_) | Type::Tile(Elem::Number(_), _)) {
            let headline =
                format!("the left operand of `{path}` has to be shared memory or a tile");
            let required = match extents {
                Extents::Dense => "a `Shared<T>` or `Tile<T>` of extents [m, k]",
                Extents::Sparse => "a `Shared<T>` or `Tile<T>` of extents [m, k / 2]",
            };
            return self.refuse_kind(&headline, required, given.arg(left));
        }
        for (operand, index) in [(a, left), (b, right)] {
            if let Type::Shared(shared) = self.ty(operand).clone() {
                self.own_window(&shared, "a product", given.at(index))?;
                self.part_of_tile(operand, &shared, given.at(index))?;
            }
        }
        Some(())
    }

    /// Instructions have the extents of operands that fit together.
    fn wgmma_extents(
        &mut self,
        values: [Value; 3],
        extents: Extents,
        given: &Given<'_>,
    ) -> Option<()> {
        let loc = given.loc;
        if !self.warps.is_multiple_of(GROUP) {
            let help = self.warps_written(u64::from(GROUP));
            return self.refuse(
                Code::Warps.at(loc, format!("`{}` needs whole warpgroups", given.path()))
                    .compare("warps", "a multiple of 4", self.warps.to_string())
                    .why("the four warps of a group execute one instruction together (PTX ISA, \"Asynchronous Warpgroup Level Matrix Instructions\")")
                    .help(help),
            );
        }
        let Some(Extent { what, required, actual, why }) = self.wgmma_extent(values, extents)
        else {
            return Some(());
        };
        self.refuse(
            Code::DotShape
                .at(loc, "no `wgmma` product has these extents")
                .compare(what, required, actual.to_string())
                .why(why),
        )
    }

    /// The extent of a product that no instruction has: of operands that fit together, in warps that are whole groups.
    fn wgmma_extent(&self, values: [Value; 3], extents: Extents) -> Option<Extent> {
        let bytes = self.cells.settled(self.num(values[1])).bytes();
        let &[rows, _] = self.ty(values[0]).shape() else { return None };
        let &[depth, _] = self.ty(values[1]).shape() else { return None };
        let columns = self.ty(values[2]).shape()[1];
        let groups = self.warps / GROUP;
        let step = match extents {
            Extents::Dense => INSTRUCTION_K_BYTES / bytes,
            Extents::Sparse => 2 * INSTRUCTION_K_BYTES / bytes,
        };
        let row_groups = (rows / INSTRUCTION_M).clamp(1, groups);
        let least_columns = LEAST_COLUMNS * (groups / row_groups);
        if !rows.is_multiple_of(INSTRUCTION_M) {
            Some(Extent {
                what: "rows",
                required: format!("a multiple of {INSTRUCTION_M}"),
                actual: rows,
                why: "one instruction has 64 rows, 16 for each warp",
            })
        } else if !depth.is_multiple_of(step) {
            Some(Extent {
                what: "`k`",
                required: format!("a multiple of {step}"),
                actual: depth,
                why: match extents {
                    Extents::Dense => {
                        "one instruction reads 32 bytes of each row of the left and each column of the right operand"
                    }
                    Extents::Sparse => {
                        "one instruction reads 32 bytes of what is kept of each row, and 64 bytes of each column of the right operand"
                    }
                },
            })
        } else if columns < least_columns {
            Some(Extent {
                what: "columns",
                required: format!("at least {least_columns}"),
                actual: columns,
                why: "one instruction has at least 8 columns, and every warpgroup needs its own columns",
            })
        } else {
            None
        }
    }

    /// Whether `dot` is done by warpgroups: on Hopper, of a right operand in shared memory, if the warps are whole groups, an
    /// instruction has the extents and element types, and descriptors say where the elements are.
    pub(crate) fn by_warpgroups(&self, values: [Value; 3], precision: Precision) -> bool {
        let dtype = self.cells.settled(self.num(values[0]));
        let multiplied = if dtype == Dtype::F32 {
            // What `dot` itself multiplies in full.
            precision == Precision::Tf32
        } else {
            dtype.is_wgmma_factor()
        };
        self.target.has(Capability::Wgmma)
            && multiplied
            && matches!(self.ty(values[1]), Type::Shared(_))
            && self.warps.is_multiple_of(GROUP)
            && self.wgmma_extent(values, Extents::Dense).is_none()
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
        if !window.is_plain() {
            return false;
        }
        // The type that the window will have: it may still be open.
        let dtype = self.cells.settled(self.num(value));
        let window = SharedType { dtype, ..window.clone() };
        let data = &self.shared[window.root];
        let tile = &data.shape[data.shape.len().saturating_sub(2)..];
        let &[rows, columns] = self.ty(values[2]).shape() else { return false };
        let Form::Wgmma { n, .. } = wgmma::form_of([rows, columns], self.warps) else {
            return false;
        };
        let layout = match &data.pinned {
            Some(form) => form.to_layout(tile).ok(),
            None => boxed(tile, dtype.bytes()),
        };
        let instruction = wgmma::Instruction { n, sparse: false };
        layout.is_some_and(|layout| wgmma::read_in(&layout, &window, side, instruction).is_ok())
    }
}
