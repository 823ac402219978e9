//! Pairs of blocks, whose tensor cores multiply together: `tcgen05::mma_pair`, `tcgen05::mma_scaled_pair`, and copies that complete on a barrier of the other block.
//!
//! The blocks of a cluster whose ranks differ in the last bit are a pair (PTX ISA, "CTA Pair"). All that a kernel does on the tensor cores is
//! done by pairs or by single blocks.

use kernel_ptx::Capability;

use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{Dtype, Type, Value},
    layouts::tensor_memory::{BLOCK_ROWS, PRODUCT_COLUMNS},
    loc::Loc,
    syntax::Expr,
};

/// The rows of the accumulator that each block of a pair has.
pub(super) const PAIR_ROWS: &[u32] = &[64, 128];
/// Those of a block-scaled product.
pub(super) const SCALED_PAIR_ROWS: &[u32] = &[BLOCK_ROWS];
/// The fewest columns of a pair's product (PTX ISA, "tcgen05.mma: Matrix shape").
pub(super) const LEAST_COLUMNS_OF_PAIR: u32 = 32;
/// Where a pair has what.
pub(super) const SHARED_OUT: &str = "each block of a pair has its rows of the left operand and of the accumulator, and half of the columns of the right operand (PTX ISA, \"tcgen05.mma\")";

impl Builder<'_> {
    /// The kernel's clusters consist of pairs, or a report that says what does not go without them.
    pub(crate) fn in_pairs(&mut self, without: &str, loc: Loc) -> Option<()> {
        let blocks: u32 = self.cluster.iter().product();
        if blocks.is_multiple_of(2) {
            return Some(());
        }
        self.refuse(
            Code::Cluster.at(loc, format!("this kernel has no pairs of blocks: {without}"))
                .compare("blocks of a cluster", "an even number", blocks.to_string())
                .why("the blocks of a cluster whose ranks differ in the last bit are a pair (PTX ISA, \"CTA Pair\")")
                .help("cluster = [2, 1]"),
        )
    }

    /// A left operand in tensor memory: of 64 rows in each block the right half of the accumulator is below the left one, and reads the operand there
    /// as well.
    pub(crate) fn left_of_pair(&mut self, left: Value, loc: Loc) -> Option<()> {
        let Type::TensorMemory(ty) = self.ty(left).clone() else { return Some(()) };
        if ty.shape[0] == BLOCK_ROWS {
            return Some(());
        }
        let name = self.cells.settled(self.num(left)).name();
        self.refuse(
            Code::DotOperand.at(loc, format!("a left operand of {} rows cannot be in tensor memory", ty.shape[0]))
                .compare("rows of each block", BLOCK_ROWS.to_string(), ty.shape[0].to_string())
                .why("with 64 rows in each block of a pair, rows 64 to 127 of tensor memory have the right half of the accumulator and would need the operand a second time (PTX ISA, \"tcgen05.mma: Data path layout\")")
                .help(format!("shared::<{name}>({:?})", ty.shape)),
        )
    }

    /// The shapes of a pair's product, as each block has them: (M / 2, K) · (K, N / 2) + (M / 2, N).
    pub(crate) fn pair_shapes(&mut self, values: [Value; 3], given: &Given<'_>) -> Option<()> {
        let [sa, sb, sc] = values.map(|value| self.ty(value).shape().to_vec());
        // Of numbers narrower than a byte, an element has several.
        let numbers = [values[0], values[1]]
            .map(|factor| self.cells.known(self.num(factor)).map_or(1, Dtype::numbers));
        let fits = |sb: &[u32]| match (&sa[..], sb, &sc[..]) {
            (&[m, k], &[k_of_b, n], &[rows, cols]) => {
                (k * numbers[0], rows, cols) == (k_of_b * numbers[1], m, 2 * n)
            }
            _ => false,
        };
        if fits(&sb) {
            return Some(());
        }
        let [k, k_of_b] = numbers.map(|one| match one {
            several if numbers[0] != numbers[1] && several > 1 => format!("k / {several}"),
            _ => "k".to_owned(),
        });
        let mut diagnostic = Code::DotShape
            .at(given.loc, "the operands of a pair's product do not fit together")
            .compare(
                "",
                format!("[m, {k}] · [{k_of_b}, n / 2] + [m, n]"),
                format!("{sa:?} · {sb:?} + {sc:?}"),
            )
            .why(SHARED_OUT);
        let turned: Vec<u32> = sb.iter().rev().copied().collect();
        let texts: Option<Vec<_>> = given.args.iter().map(Expr::operand_text).collect();
        if fits(&turned)
            && let Some([a, b, rest @ ..]) = texts.as_deref()
        {
            let others = rest.join(", ");
            diagnostic = diagnostic.help(format!("{}({a}, {b}.t(), {others})", given.path()));
        }
        self.refuse(diagnostic)
    }

    /// The extents that a pair's products have: such rows in each block, and one instruction for each step along `k`, which is this many numbers.
    pub(crate) fn pair_extents(
        &mut self,
        [a, _, acc]: [Value; 3],
        (permitted, step): (&[u32], u32),
        loc: Loc,
    ) -> Option<()> {
        let &[rows, _] = self.ty(a).shape() else { return None };
        let depth = self.numbers_along_k(a);
        let &[_, columns] = self.ty(acc).shape() else { return None };
        let (what, required, actual, why) = if !permitted.contains(&rows) {
            let why = match permitted {
                [_] => {
                    "a block-scaled instruction of a pair has 256 rows, half of them in each block"
                }
                _ => "an instruction of a pair has 128 or 256 rows, half of them in each block",
            };
            let required: Vec<_> = permitted.iter().map(u32::to_string).collect();
            ("rows of each block", required.join(" or "), rows, why)
        } else if depth < step {
            let why = "one instruction reads 32 bytes of each row of the left and each column of the right operand";
            ("`k`", format!("a multiple of {step}"), depth, why)
        } else if !(LEAST_COLUMNS_OF_PAIR..=PRODUCT_COLUMNS).contains(&columns) {
            let why = "an instruction of a pair has 32 to 256 columns, half of which come from each block";
            ("columns", format!("{LEAST_COLUMNS_OF_PAIR} to {PRODUCT_COLUMNS}"), columns, why)
        } else {
            return Some(());
        };
        self.refuse(
            Code::DotShape
                .at(loc, "no product of a pair has these extents")
                .compare(what, required, actual.to_string())
                .why(format!("{why} (PTX ISA, \"tcgen05.mma: Matrix shape\")")),
        )
    }

    /// The barrier that a TMA copy completes on: one of this block, or on Blackwell one of its pair.
    pub(crate) fn barrier_of_pair(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        if !self.target.has(Capability::Tcgen05) {
            return self.own_barrier(val, loc);
        }
        let (barrier, ty) = self.one_barrier(val, loc)?;
        if ty.remote {
            self.in_pairs("no copy completes in another block", loc)?;
        }
        Some(barrier)
    }
}
