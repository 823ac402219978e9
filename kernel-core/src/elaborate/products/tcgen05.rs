//! The fifth generation of tensor cores: `tcgen05::mma`, `tcgen05::commit`.

use kernel_layout::{Form, wgmma::INSTRUCTION_K_BYTES};

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val},
    ir::{Const, CtaGroup, Dtype, Elem, Op, SharedType, Tcgen05, TensorMemoryRole, Type, Value},
    layouts::{tensor_memory, warpgroup::Generation},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// Every function of `tcgen05`, for suggestions.
const TCGEN05_NAMES: &[&str] = &["mma", "mma_pair", "mma_scaled", "copy", "commit"];

impl Builder<'_> {
    /// `tcgen05::name(..)`
    pub(crate) fn tcgen05_call(
        &mut self,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let (required, form) = match name.name.as_str() {
            "mma" => (3, "tcgen05::mma(a, b, acc)"),
            "mma_pair" => (3, "tcgen05::mma_pair(a, b, acc)"),
            "mma_scaled" => (5, "tcgen05::mma_scaled(a, b, acc, a_scales, b_scales)"),
            "copy" => (2, "tcgen05::copy(from, to)"),
            "commit" => (1, "tcgen05::commit(bar)"),
            other => {
                let headline = format!("`tcgen05` has no function `{other}`");
                let diagnostic = Diagnostic::new(Code::UnknownName, name.loc, headline);
                let near = crate::diag::nearest(other, TCGEN05_NAMES.iter().copied());
                return self.report(match near {
                    Some(near) => diagnostic.help(format!("tcgen05::{near}")),
                    None => diagnostic.why(format!("it has {}", TCGEN05_NAMES.join(", "))),
                });
            }
        };
        if vals.len() != required {
            return self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    loc,
                    format!("`tcgen05::{}` takes another number of arguments", name.name),
                )
                .compare("arguments", required.to_string(), vals.len().to_string())
                .help(form),
            );
        }
        if self.wants_blackwell(&format!("`tcgen05::{}`", name.name), loc).is_none() {
            return Val::Error;
        }
        let started = match name.name.as_str() {
            "mma" => self.tcgen05_mma(vals, args, loc),
            "mma_pair" => self.tcgen05_mma_pair(vals, args, loc),
            "mma_scaled" => self.tcgen05_mma_scaled(vals, args, loc),
            "copy" => self.tensor_copy([&vals[0], &vals[1]], args, loc),
            _ => self.tcgen05_commit(vals, args, loc),
        };
        match started {
            None => Val::Error,
            Some(()) => self.copying(loc),
        }
    }

    /// `tcgen05::commit(bar)`
    fn tcgen05_commit(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Option<()> {
        let barrier = self.own_barrier(&vals[0], args[0].loc)?;
        let commit = Tcgen05::Commit { multicast: false, guarded: false };
        self.op(Op::Tcgen05(commit), vec![barrier], None, loc);
        Some(())
    }

    /// A factor in shared memory.
    pub(crate) fn tcgen05_shared(&mut self, val: &Val, what: &str, loc: Loc) -> Option<Value> {
        if let Some((window, shared)) = self.shared_window(val) {
            return self.tcgen05_reads((window, &shared), "a product", loc);
        }
        let actual = self.describe(val);
        let diagnostic = Diagnostic::new(Code::Kind, loc, format!("{what} lies in shared memory"))
            .compare("", "a `Shared<T>`", actual)
            .why("tensor cores read factors from shared memory, and the left one of a product from tensor memory as well; registers they do not see (PTX ISA, \"tcgen05.mma\")");
        let help = match val {
            Val::Value(value)
                if matches!(
                    self.ty(*value),
                    Type::Tile(Elem::Number(_), _) | Type::TensorMemory(_)
                ) =>
            {
                let name = self.cells.settled(self.num(*value)).name();
                Some(format!("let tile = shared::<{name}>({:?});", self.ty(*value).shape()))
            }
            _ => None,
        };
        self.report(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
        None
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
        Some(window)
    }

    /// One tile in tensor memory, which a product adds to.
    pub(crate) fn tensor_memory_window(
        &mut self,
        val: &Val,
        what: &str,
        loc: Loc,
    ) -> Option<Value> {
        let headline = format!("the result of {what} lies in tensor memory");
        let why = "the fifth generation of tensor cores has its sums there and not in registers (PTX ISA, \"tcgen05.mma\")";
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
        if let Val::Value(value) = val
            && let Type::TensorMemory(ty) = self.ty(*value).clone()
        {
            self.one_tile(*value, &ty, loc)?;
            return Some(*value);
        }
        let actual = self.describe(val);
        let shaped = match val {
            Val::Value(value)
                if matches!(self.ty(*value), Type::Tile(Elem::Number(_), _) | Type::Shared(_)) =>
            {
                let dtype = self.cells.settled(self.num(*value));
                let shape = self.ty(*value).shape();
                let allocated = (2..=3).contains(&shape.len()) && dtype.bytes() <= 4;
                allocated.then(|| format!("tmem::<{}>({shape:?})", dtype.name()))
            }
            _ => None,
        };
        let allocation = shaped.unwrap_or_else(|| "tmem::<f32>([128, 128])".to_owned());
        self.report(
            Diagnostic::new(Code::Kind, loc, headline)
                .compare("", "a `Tmem<T>`", actual)
                .why(why)
                .help(format!("let {name} = {allocation};")),
        );
        None
    }

    /// The left factor of a product, which may lie in tensor memory.
    pub(crate) fn left_factor(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        match val {
            Val::Value(value) if matches!(self.ty(*value), Type::TensorMemory(_)) => {
                self.tensor_memory_window(val, "a product", loc)
            }
            other => self.tcgen05_shared(other, "a factor of a product", loc),
        }
    }

    /// `tcgen05::mma(a, b, acc)`
    fn tcgen05_mma(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Option<()> {
        let a = self.left_factor(&vals[0], args[0].loc)?;
        let b = self.tcgen05_shared(&vals[1], "the right factor of a product", args[1].loc)?;
        let acc = self.tensor_memory_window(&vals[2], "a product", args[2].loc)?;
        self.product_shapes([a, b, acc], args, "tcgen05::mma", loc)?;
        self.product_dtypes([a, b, acc], Generation::Blackwell, loc)?;
        self.has_role(acc, TensorMemoryRole::Sums);
        self.tcgen05_extents([a, b, acc], loc)?;
        self.narrow_factors([a, b], None, args)?;
        self.start_product([a, b, acc], args, CtaGroup::One, loc);
        Some(())
    }

    /// `tcgen05::mma_pair(a, b, acc)`
    fn tcgen05_mma_pair(&mut self, vals: &[Val], args: &[Expr], loc: Loc) -> Option<()> {
        self.in_pairs("there is none to multiply", loc)?;
        let a = self.left_factor(&vals[0], args[0].loc)?;
        let b = self.tcgen05_shared(&vals[1], "the right factor of a product", args[1].loc)?;
        let acc = self.tensor_memory_window(&vals[2], "a product", args[2].loc)?;
        self.narrow_of_pair([a, b], args)?;
        self.pair_shapes([a, b, acc], args, loc)?;
        self.product_dtypes([a, b, acc], Generation::Blackwell, loc)?;
        self.has_role(acc, TensorMemoryRole::Sums);
        let bytes = self.cells.settled(self.num(b)).number_bytes();
        self.pair_extents([a, b, acc], INSTRUCTION_K_BYTES / bytes, loc)?;
        self.left_of_pair(a, args[0].loc)?;
        self.start_product([a, b, acc], args, CtaGroup::Pair, loc);
        Some(())
    }

    /// Starts a product, which adds to its sums unless something else is said of it.
    fn start_product(&mut self, operands: [Value; 3], args: &[Expr], group: CtaGroup, loc: Loc) {
        self.operands.insert(loc, [args[0].loc, args[1].loc, args[2].loc]);
        let ty = Type::Scalar(Elem::Number(Dtype::Bool));
        let adds = self.emit(Op::Const(Const::Bool(true)), Vec::new(), ty, loc);
        let [a, b, acc] = operands;
        let mma = Tcgen05::Mma { group, scaled: None, guarded: false };
        self.op(Op::Tcgen05(mma), vec![a, b, acc, adds], None, loc);
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
        let &[rows, elements] = self.ty(a).shape() else { return None };
        let &[_, columns] = self.ty(acc).shape() else { return None };
        let depth = elements * self.cells.settled(self.num(a)).numbers();
        let step = INSTRUCTION_K_BYTES / bytes;
        let least = tensor_memory::least_product_columns(self.rows_of_instruction(acc, rows));
        let (what, required, actual, why) = if rows < 64 {
            ("rows", "64 or more".to_owned(), rows, "one instruction has 64 or 128 rows")
        } else if depth < step {
            let why = "one instruction reads 32 bytes of each row of the left and each column of the right factor";
            ("depth", format!("a multiple of {step}"), depth, why)
        } else if columns < least {
            let why = "an instruction of 64 rows has at least 8 columns, one of 128 at least 16";
            ("columns", format!("at least {least}"), columns, why)
        } else {
            return Some(());
        };
        let diagnostic = Diagnostic::new(
            Code::DotShape,
            loc,
            "no product of the tensor cores has these extents",
        )
        .compare(what, required, actual.to_string())
        .why(format!("{why} (PTX ISA, \"tcgen05.mma: Matrix shape\")"));
        self.report(match self.in_blocks_of_64_rows(acc).filter(|_| what == "columns") {
            Some((allocated, layout)) => {
                diagnostic.place(allocated, "the sums").help(format!(".with_layout({layout})"))
            }
            None => diagnostic,
        });
        None
    }

    /// The layout in which these sums are those of instructions of 64 rows, for a tile whose layout is not pinned, and where it is allocated.
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

    /// The rows of each instruction that adds to these sums, of so many rows.
    fn rows_of_instruction(&self, acc: Value, rows: u32) -> u32 {
        if let Type::TensorMemory(ty) = self.ty(acc)
            && let Some(Form::TensorMemory { block, .. }) = self.tensor_memory[ty.root].pinned
        {
            return rows.min(block[0]);
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
        if !matches!(op, Op::Tcgen05(Tcgen05::Mma { .. })) {
            self.report(
                Diagnostic::new(
                    Code::CopyOperands,
                    loc,
                    "`accumulate` is said of something that is no product",
                )
                .compare(
                    "",
                    "`tcgen05::mma(..)`",
                    crate::elaborate::memory::copying::started(&op),
                ),
            );
            return None;
        }
        args[3] = flag;
        Some((op, args))
    }
}
