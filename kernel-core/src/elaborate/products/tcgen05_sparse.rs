//! Sparse products in tensor memory: `tcgen05::mma_sparse`, `tcgen05::mma_sparse_pair`.

use super::{pairs::LEAST_COLUMNS_OF_PAIR, sparse::Order};
use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{CtaGroup, Multiplied, Sparsity, TensorMemoryRole, Value},
    layouts::{
        tensor_memory::{BLOCK_ROWS, LEAST_PRODUCT_COLUMNS, PAIR_OF_COLUMNS, PRODUCT_COLUMNS},
        wgmma::Generation,
    },
    loc::Loc,
};

/// The manual's section on metadata in tensor memory.
const SECTION: &str = "(PTX ISA, \"tcgen05.mma: Sparse Matrices\")";
/// Why a block has 128 rows; where metadata of 64 is, the manual shows in a figure alone.
const ROWS: &str = "Kiln uses sparse instructions of 128 rows in a block, whose metadata is in all rows of tensor memory";

impl Builder<'_> {
    /// Metadata, which is in tensor memory.
    pub(crate) fn tensor_metadata(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        if let Some(value) = val.value().filter(|_| self.in_tensor_memory(val)) {
            self.one_tile(value, loc)?;
            return Some(value);
        }
        let shape = val.value().map(|value| self.ty(value).shape().to_vec());
        let shape = shape
            .filter(|shape| shape.len() == 2)
            .unwrap_or_else(|| vec![BLOCK_ROWS, PAIR_OF_COLUMNS]);
        self.refuse(
            Code::Kind
                .at(loc, "the metadata of a product has to be in tensor memory")
                .compare("", "a `Tmem<u16>`", self.describe(val))
                .why(format!("the tensor cores read metadata from tensor memory {SECTION}"))
                .help(format!("let metadata = tmem::<u16>({shape:?});")),
        )
    }

    /// `tcgen05::mma_sparse(a, metadata, b, acc)`
    pub(crate) fn tcgen05_mma_sparse(&mut self, given: &Given<'_>) -> Option<()> {
        self.sparse_in_tensor_memory(CtaGroup::One, given)
    }

    /// `tcgen05::mma_sparse_pair(a, metadata, b, acc)`
    pub(crate) fn tcgen05_mma_sparse_pair(&mut self, given: &Given<'_>) -> Option<()> {
        self.in_pairs("there is none to multiply", given.loc)?;
        self.sparse_in_tensor_memory(CtaGroup::Pair, given)
    }

    fn sparse_in_tensor_memory(&mut self, group: CtaGroup, given: &Given<'_>) -> Option<()> {
        let order = match group {
            CtaGroup::One => Order::TCGEN05,
            CtaGroup::Pair => Order::PAIR,
        };
        let [a, b, acc, metadata] = order.of(given);
        let operands = [a, b, acc];
        self.single_numbers([a, b], acc, given.loc)?;
        self.sparse_shapes(operands, order, given)?;
        self.product_dtypes(operands, Generation::Blackwell, given.loc)?;
        let dtype = self.cells.settled(self.num(a));
        self.sparse_extents(operands, group, given.loc)?;
        self.metadata_fits(dtype, [b, acc, metadata], order, given)?;
        self.has_role(acc, TensorMemoryRole::Sums);
        let factor_bytes = dtype.bytes();
        self.has_role(metadata, TensorMemoryRole::Metadata { factor_bytes });
        self.operands.insert(given.loc, order.places(given));
        self.start_product(operands, (group, Multiplied::Sparse, &[metadata]), given)
    }

    /// Elements are numbers: of several in one, none is kept alone.
    fn single_numbers(&mut self, factors: [Value; 2], acc: Value, loc: Loc) -> Option<()> {
        let dtypes = factors.map(|factor| self.cells.known(self.num(factor)));
        if !dtypes.iter().flatten().any(|dtype| dtype.row().packing.is_some()) {
            return Some(());
        }
        let [left, right] = factors.map(|factor| self.cells.settled(self.num(factor)).name());
        let sum = self.cells.settled(self.num(acc)).name();
        self.refuse(
            Code::DtypeRefused
                .at(loc, "no sparse product has these element types")
                .compare("", "operands of f16, bf16, f32, i8, u8, e4m3 or e5m2", format!("{left} · {right} + {sum}"))
                .why(format!("metadata says of single numbers where they are, and these elements have several {SECTION}")),
        )
    }

    /// The extents that sparse products have in tensor memory: instructions of 128 rows in each block, and metadata in pairs of columns.
    fn sparse_extents(&mut self, [a, _, acc]: [Value; 3], group: CtaGroup, loc: Loc) -> Option<()> {
        let &[rows, kept] = self.ty(a).shape() else { return None };
        let &[_, columns] = self.ty(acc).shape() else { return None };
        let dtype = self.cells.settled(self.num(a));
        let step = Sparsity::of(dtype).columns() * PAIR_OF_COLUMNS;
        let depth = 2 * kept;
        let (of_rows, most_rows, legal) = match group {
            CtaGroup::One => ("rows", u32::MAX, LEAST_PRODUCT_COLUMNS..=u32::MAX),
            CtaGroup::Pair => {
                ("rows of each block", BLOCK_ROWS, LEAST_COLUMNS_OF_PAIR..=PRODUCT_COLUMNS)
            }
        };
        let (what, required, actual, why) = if !(BLOCK_ROWS..=most_rows).contains(&rows) {
            let required = match group {
                CtaGroup::One => format!("{BLOCK_ROWS} or more"),
                CtaGroup::Pair => BLOCK_ROWS.to_string(),
            };
            (of_rows, required, rows, ROWS)
        } else if depth < step {
            let why = "metadata comes in pairs of columns of tensor memory, which have four elements of a row";
            ("`k`", format!("a multiple of {step}"), depth, why)
        } else if !legal.contains(&columns) {
            let (required, why) = match group {
                CtaGroup::One => (
                    format!("at least {LEAST_PRODUCT_COLUMNS}"),
                    "one instruction of 128 rows has at least 16 columns",
                ),
                CtaGroup::Pair => (
                    format!("{LEAST_COLUMNS_OF_PAIR} to {PRODUCT_COLUMNS}"),
                    "an instruction of a pair has 32 to 256 columns, half of which come from each block",
                ),
            };
            ("columns", required, columns, why)
        } else {
            return Some(());
        };
        self.refuse(
            Code::DotShape
                .at(loc, "no sparse product of `tcgen05` has these extents")
                .compare(what, required, actual.to_string())
                .why(format!("{why} {SECTION}")),
        )
    }
}
