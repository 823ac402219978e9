//! The fifth generation of tensor cores: `tcgen05::mma`, `tcgen05::commit`.

use kernel_layout::{Form, wgmma::INSTRUCTION_K_BYTES};

use super::pairs::PAIR_ROWS;
use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{
        Const, CtaGroup, Dtype, Elem, Multiplied, Op, ProductOp, SharedType, Tcgen05,
        TensorMemoryRole, Type, Value,
    },
    layouts::{tensor_memory, wgmma::Generation},
    loc::Loc,
};

impl Builder<'_> {
    /// An operand in shared memory.
    pub(crate) fn tcgen05_shared(&mut self, val: &Val, what: &str, loc: Loc) -> Option<Value> {
        if let Some((window, shared)) = self.shared_window(val) {
            self.check_window(window, &shared, loc)?;
            self.own_window(&shared, "a product", loc)?;
            self.part_of_tile(window, &shared, loc)?;
            return Some(window);
        }
        let actual = self.describe(val);
        let diagnostic = Code::Kind.at(loc, format!("{what} has to be in shared memory"))
            .compare("", "a `Shared<T>`", actual)
            .why("tensor cores read operands from shared memory, and the left operand also from tensor memory; they cannot read registers (PTX ISA, \"tcgen05.mma\")");
        let help = val.value().and_then(|value| {
            let ty = self.ty(value);
            let name = self.cells.settled(self.num(value)).name();
            matches!(ty, Type::Tile(Elem::Number(_), _) | Type::TensorMemory(_))
                .then(|| format!("let tile = shared::<{name}>({:?});", ty.shape()))
        });
        self.refuse(diagnostic.help_if(help))
    }

    /// A window of shared memory that the tensor cores read, of this block and no whole ring.
    pub(crate) fn tcgen05_reads(
        &mut self,
        (window, shared): (Value, &SharedType),
        by: &str,
        loc: Loc,
    ) -> Option<Value> {
        self.check_window(window, shared, loc)?;
        self.own_window(shared, by, loc)?;
        self.whole_tiles(shared, by, loc)?;
        Some(window)
    }

    /// One tile in tensor memory, which a product adds to.
    pub(crate) fn tensor_memory_window(
        &mut self,
        val: &Val,
        what: &str,
        loc: Loc,
    ) -> Option<Value> {
        let headline = format!("the result of {what} has to be in tensor memory");
        let why = "the fifth generation of tensor cores has its accumulators there and not in registers (PTX ISA, \"tcgen05.mma\")";
        self.tensor_memory_operand(val, (&headline, why), "acc", loc)
    }

    /// One tile in tensor memory, or a report with this headline and reason; `name` is that of a variable that would hold one.
    pub(crate) fn tensor_memory_operand(
        &mut self,
        val: &Val,
        (headline, why): (&str, &str),
        name: &str,
        loc: Loc,
    ) -> Option<Value> {
        if let Some(value) = val.value().filter(|_| self.in_tensor_memory(val)) {
            self.one_tile(value, loc)?;
            return Some(value);
        }
        let shaped = val.value().and_then(|value| {
            let (ty, dtype) = (self.ty(value), self.cells.settled(self.num(value)));
            let shape = ty.shape();
            let allocated = matches!(ty, Type::Tile(Elem::Number(_), _) | Type::Shared(_))
                && (2..=3).contains(&shape.len())
                && dtype.bytes() <= 4;
            allocated.then(|| format!("tmem::<{}>({shape:?})", dtype.name()))
        });
        let allocation = shaped.unwrap_or_else(|| "tmem::<f32>([128, 128])".to_owned());
        self.refuse(
            Code::Kind
                .at(loc, headline)
                .compare("", "a `Tmem<T>`", self.describe(val))
                .why(why)
                .help(format!("let {name} = {allocation};")),
        )
    }

    /// The left operand of a product, which may be in tensor memory.
    pub(crate) fn left_factor(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        if self.in_tensor_memory(val) {
            return self.tensor_memory_window(val, "a product", loc);
        }
        self.tcgen05_shared(val, "an operand of a product", loc)
    }

    /// `tcgen05::mma(a, b, acc)`
    pub(crate) fn tcgen05_mma(&mut self, given: &Given<'_>) -> Option<()> {
        let operands = [0, 1, 2].map(|index| given.value(index));
        let [a, b, acc] = operands;
        self.product_shapes(operands, given)?;
        self.product_dtypes(operands, Generation::Blackwell, given.loc)?;
        self.has_role(acc, TensorMemoryRole::Sums);
        self.tcgen05_extents(operands, given.loc)?;
        self.narrow_factors([a, b], None, given.args)?;
        self.operands.insert(given.loc, given.places());
        self.start_product(operands, (CtaGroup::One, Multiplied::Dense, &[]), given)
    }

    /// `tcgen05::mma_pair(a, b, acc)`
    pub(crate) fn tcgen05_mma_pair(&mut self, given: &Given<'_>) -> Option<()> {
        self.in_pairs("there is none to multiply", given.loc)?;
        let operands = [0, 1, 2].map(|index| given.value(index));
        let [a, b, acc] = operands;
        self.pair_shapes(operands, given)?;
        self.product_dtypes(operands, Generation::Blackwell, given.loc)?;
        self.has_role(acc, TensorMemoryRole::Sums);
        let bytes = self.cells.settled(self.num(b)).number_bytes();
        self.pair_extents(operands, (PAIR_ROWS, INSTRUCTION_K_BYTES / bytes), given.loc)?;
        self.left_of_pair(a, given.at(0))?;
        self.narrow_factors([a, b], None, given.args)?;
        self.operands.insert(given.loc, given.places());
        self.start_product(operands, (CtaGroup::Pair, Multiplied::Dense, &[]), given)
    }

    /// Starts a product, which adds to its accumulator by default; `more` is what it multiplies besides its operands.
    pub(crate) fn start_product(
        &mut self,
        [a, b, acc]: [Value; 3],
        (group, multiplied, more): (CtaGroup, Multiplied, &[Value]),
        given: &Given<'_>,
    ) -> Option<()> {
        let ty = Type::Scalar(Elem::Number(Dtype::Bool));
        let adds = self.emit(Const::Bool(true), Vec::new(), ty, given.loc);
        let mma = Tcgen05::Mma { group, multiplied, guarded: false };
        let operands = [a, b, acc, adds].into_iter().chain(more.iter().copied()).collect();
        self.does(mma, operands, given)
    }

    /// What products use has layouts of its own.
    pub(crate) fn has_role(&mut self, window: Value, role: TensorMemoryRole) {
        if let Type::TensorMemory(ty) = self.ty(window) {
            let root = ty.root;
            self.tensor_memory[root].role = role;
        }
    }

    /// The extents that products have: rows of 64 or 128, the depth of an instruction.
    fn tcgen05_extents(&mut self, [a, b, acc]: [Value; 3], loc: Loc) -> Option<()> {
        let bytes = self.cells.settled(self.num(b)).number_bytes();
        let &[rows, _] = self.ty(a).shape() else { return None };
        let &[_, columns] = self.ty(acc).shape() else { return None };
        let depth = self.numbers_along_k(a);
        let step = INSTRUCTION_K_BYTES / bytes;
        let least = tensor_memory::least_product_columns(self.rows_of_instruction(acc, rows));
        let (what, required, actual, why) = if rows < 64 {
            ("rows", "64 or more".to_owned(), rows, "one instruction has 64 or 128 rows")
        } else if depth < step {
            let why = "one instruction reads 32 bytes of each row of the left and each column of the right operand";
            ("`k`", format!("a multiple of {step}"), depth, why)
        } else if columns < least {
            let why = "an instruction of 64 rows has at least 8 columns, one of 128 at least 16";
            ("columns", format!("at least {least}"), columns, why)
        } else {
            return Some(());
        };
        let diagnostic = Code::DotShape
            .at(loc, "no product of the tensor cores has these extents")
            .compare(what, required, actual.to_string())
            .why(format!("{why} (PTX ISA, \"tcgen05.mma: Matrix shape\")"));
        self.refuse(match self.in_blocks_of_64_rows(acc).filter(|_| what == "columns") {
            Some((allocated, layout)) => diagnostic
                .place(allocated, "the accumulator")
                .help(format!(".with_layout({layout})")),
            None => diagnostic,
        })
    }

    /// The layout in which this accumulator is that of instructions of 64 rows, for a tile whose layout is not pinned, and where it is allocated.
    fn in_blocks_of_64_rows(&self, acc: Value) -> Option<(Loc, String)> {
        let Type::TensorMemory(ty) = self.ty(acc) else { return None };
        let data = &self.tensor_memory[ty.root];
        let (rows, columns) = (64, ty.shape[1]);
        let fits = columns >= tensor_memory::least_product_columns(rows)
            && data.pinned.is_none()
            && tensor_memory::tile(data)[..] == ty.shape[..];
        let col_stride = 4 / self.cells.settled(self.num(acc)).bytes();
        let form = Form::TensorMemory { block: [rows, columns], col_stride, two_ctas: false };
        fits.then(|| (data.loc, form.in_code()))
    }

    /// The rows of each instruction that adds to this accumulator, of this many rows.
    fn rows_of_instruction(&self, acc: Value, rows: u32) -> u32 {
        if let Type::TensorMemory(ty) = self.ty(acc)
            && let Some(form) = self.tensor_memory[ty.root].pinned.clone()
        {
            let tile = tensor_memory::tile(&self.tensor_memory[ty.root]);
            let element_bits = self.cells.settled(self.num(acc)).bytes() * 8;
            if let Form::TensorMemory { block, .. } =
                tensor_memory::as_blocks(form, &tile, element_bits)
            {
                return rows.min(block[0]);
            }
        }
        rows
    }

    /// What `.accumulate(flag)` makes of a product; `started` says what it is said of.
    pub(crate) fn accumulates(
        &mut self,
        op: Op,
        mut args: Vec<Value>,
        flag: Value,
        loc: Loc,
    ) -> Option<(Op, Vec<Value>)> {
        if !matches!(op, Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { .. }))) {
            let actual = crate::elaborate::memory::copying::started(&op);
            let headline = format!("`accumulate` is not an option of {actual}");
            return self.refuse(Code::CopyOperands.at(loc, headline).compare(
                "",
                "`tcgen05::mma(..)`",
                actual,
            ));
        }
        args[3] = flag;
        Some((op, args))
    }
}
