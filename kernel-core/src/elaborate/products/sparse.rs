//! Sparse products: `dot_sparse`, `dot_sparse_tf32`.

use kernel_ptx::Capability;

use super::{dot::Precision, pairs::SHARED_OUT};
use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Dtype, Factors, Op, ProductOp, Sparsity, Value},
    loc::Loc,
    syntax::Expr,
};

/// Where the manual says what is kept.
const SECTION: &str = "(PTX ISA, \"Sparse matrix storage\")";

/// Which argument of a sparse product is which; the left operand is the first.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    right: usize,
    acc: usize,
    metadata: usize,
    /// The blocks that share the columns of the right operand.
    blocks: u32,
}

impl Order {
    const DOT: Order = Order { right: 1, acc: 2, metadata: 3, blocks: 1 };
    pub(crate) const WGMMA: Order = Order { metadata: 1, right: 2, acc: 3, blocks: 1 };
    pub(crate) const TCGEN05: Order = Order::WGMMA;
    pub(crate) const PAIR: Order = Order { blocks: 2, ..Order::WGMMA };

    /// The left operand, the right one, the accumulator and the metadata.
    pub(crate) fn of(self, given: &Given<'_>) -> [Value; 4] {
        [0, self.right, self.acc, self.metadata].map(|index| given.value(index))
    }

    /// Which arguments are multiplied.
    pub(crate) const fn factors(self) -> [usize; 2] {
        [0, self.right]
    }

    /// Where the operands and the accumulator stand.
    pub(crate) fn places(self, given: &Given<'_>) -> [Loc; 3] {
        [0, self.right, self.acc].map(|index| given.at(index))
    }
}

impl Precision {
    /// The element types of sums that sparse products of such operands have; the first is that of sums without a type.
    fn sparse_sums(self, factor: Dtype) -> &'static [Dtype] {
        let row = factor.row();
        match (self, row.factor) {
            (Precision::Full, Some(_)) if factor.is_float8() => &[Dtype::F32],
            (Precision::Full, Some(known))
                if known.mma.is_some() && factor != Dtype::F32 && row.packing.is_none() =>
            {
                known.sums
            }
            (Precision::Tf32, Some(known)) if factor == Dtype::F32 => known.sums,
            (Precision::Full | Precision::Tf32, _) => &[],
        }
    }

    /// The sparse products that there are.
    const fn sparse_products(self) -> &'static str {
        match self {
            Precision::Full => {
                "f16 · f16 + f32 or f16; bf16 · bf16 + f32; i8 · i8 + i32; u8 · u8 + i32; e4m3 · e4m3 + f32; e5m2 · e5m2 + f32"
            }
            Precision::Tf32 => "f32 · f32 + f32",
        }
    }
}

impl Builder<'_> {
    /// `dot_sparse(a, b, acc, metadata)`, `dot_sparse_tf32(a, b, acc, metadata)`
    pub(crate) fn dot_sparse(&mut self, precision: Precision, given: &Given<'_>) -> Option<Val> {
        let (values, loc) = (Order::DOT.of(given), given.loc);
        let [a, b, acc, metadata] = values;
        let name = given.signature.name;
        let num = self.unify(self.num(a), self.num(b), &format!("`{name}`"), loc)?;
        let dtype = self.cells.settled(num);
        self.sparse_dtypes(precision, dtype, acc, given)?;
        let shapes = self.sparse_shapes([a, b, acc], Order::DOT, given);
        shapes.and_then(|()| self.sparse_depth(dtype, self.ty(b).shape()[0], loc))?;
        self.metadata_fits(dtype, [b, acc, metadata], Order::DOT, given)?;
        self.operands.insert(loc, given.places());
        let mut taken = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            taken.push(self.loaded(value, given.at(index))?);
        }
        let (shape, sums) = (self.ty(acc).shape().to_vec(), self.num(acc));
        let op = Op::Product(ProductOp::Dot(Factors::Sparse));
        Some(Val::Value(self.emit_num(op, taken, Some(shape), sums, loc)))
    }

    /// The sparse product of warps that does what one of `wgmma` asks for.
    pub(crate) fn sparse_by_warps(&self, given: &Given<'_>) -> Option<String> {
        let text = |index: usize| given.args.get(index).and_then(Expr::operand_text);
        let Order { right, acc, metadata, .. } = Order::WGMMA;
        let single = self.num_of(given.val(0)).and_then(|num| self.cells.known(num));
        let name = if single == Some(Dtype::F32) { "dot_sparse_tf32" } else { "dot_sparse" };
        Some(format!("{name}({}, {}, {}, {})", text(0)?, text(right)?, text(acc)?, text(metadata)?))
    }

    /// The tensor cores have a sparse product of these element types.
    fn sparse_dtypes(
        &mut self,
        precision: Precision,
        dtype: Dtype,
        acc: Value,
        given: &Given<'_>,
    ) -> Option<()> {
        let sums = precision.sparse_sums(dtype);
        let acc_num = self.num(acc);
        if self.cells.known(acc_num).is_none() {
            let sum = sums.first().copied().unwrap_or(Dtype::F32);
            let _ = self.cells.unify(acc_num, Num::Known(sum));
        }
        let sum = self.cells.settled(acc_num);
        if sums.contains(&sum) {
            if dtype.is_float8() && !self.target.has(Capability::Float8) {
                return self.no_float8_product(dtype, given.loc).map(|_| ());
            }
            return Some(());
        }
        let actual = format!("{0} · {0} + {1}", dtype.name(), sum.name());
        let diagnostic = Code::DtypeRefused
            .at(given.loc, "no sparse product has these element types")
            .compare("", precision.sparse_products(), actual);
        let written: Vec<String> = given.args.iter().filter_map(Expr::operand_text).collect();
        if let Some(sum) = sums.first() {
            let help = self.as_accumulator(acc, &given.args[2], *sum);
            return self.refuse(
                diagnostic
                    .why("these are the operands and accumulators of sparse products (PTX ISA, \"mma.sp\")")
                    .help_if(help),
            );
        }
        let other = match precision {
            Precision::Full => Precision::Tf32,
            Precision::Tf32 => Precision::Full,
        };
        let fits = other.sparse_sums(dtype).contains(&sum) && written.len() == given.args.len();
        let (name, why) = match precision {
            Precision::Full => (
                "dot_sparse_tf32",
                "tensor cores multiply these types (PTX ISA, \"mma.sp\"), and `f32` only after it is rounded to tf32",
            ),
            Precision::Tf32 => {
                ("dot_sparse", "tf32 is an `f32` of which the tensor cores read 19 bits")
            }
        };
        let help = fits.then(|| format!("{name}({})", written.join(", ")));
        self.refuse(diagnostic.why(why).help_if(help))
    }

    /// The extents of a sparse product agree.
    pub(crate) fn sparse_shapes(
        &mut self,
        values: [Value; 3],
        order: Order,
        given: &Given<'_>,
    ) -> Option<()> {
        let [sa, sb, sc] = values.map(|value| self.ty(value).shape().to_vec());
        let fit = |a: &[u32], b: &[u32]| match (a, b, &sc[..]) {
            (&[m, kept], &[k, n], &[rows, columns]) => {
                2 * u64::from(kept) == u64::from(k) && (rows, columns) == (m, order.blocks * n)
            }
            _ => false,
        };
        if fit(&sa, &sb) {
            return Some(());
        }
        let required = match order.blocks {
            1 => "[m, k / 2] · [k, n] + [m, n]",
            _ => "[m, k / 2] · [k, n / 2] + [m, n]",
        };
        let diagnostic = Code::DotShape
            .at(given.loc, "the operands of a sparse product do not fit together")
            .compare("", required, format!("{sa:?} · {sb:?} + {sc:?}"));
        let turned: Vec<u32> = sb.iter().rev().copied().collect();
        let mut written: Vec<String> = given.args.iter().filter_map(Expr::operand_text).collect();
        if written.len() == given.args.len() && fit(&sa, &turned) {
            written[order.right].push_str(".t()");
            let help = format!("{}({})", given.path(), written.join(", "));
            return self.refuse(diagnostic.help(help));
        }
        let why = match (&sa[..], &sb[..]) {
            ([_, kept], [k, _]) if kept == k => format!(
                "the left operand has only the kept half of each row; `kiln::sparse::compress` makes it of the {k} elements on the host"
            ),
            ([_, kept], [k, _]) => format!(
                "a row of the left operand has {kept} elements, the kept half of {}, and a column of the right operand has {k}",
                2 * u64::from(*kept)
            ),
            _ => "the operands and the accumulator are matrices".to_owned(),
        };
        let of_pair = matches!((&sa[..], &sb[..]), ([_, kept], [k, _]) if 2 * u64::from(*kept) == u64::from(*k));
        let why = if of_pair && order.blocks > 1 { SHARED_OUT.to_owned() } else { why };
        self.refuse(diagnostic.why(why))
    }

    /// An instruction is not deeper than the operands.
    fn sparse_depth(&mut self, dtype: Dtype, depth: u32, loc: Loc) -> Option<()> {
        let least = if dtype.is_float8() { 64 } else { 32 / dtype.bytes() };
        if depth >= least {
            return Some(());
        }
        self.refuse(
            Code::DotShape
                .at(loc, "no sparse product has these extents")
                .compare("`k`", format!("at least {least}"), depth.to_string())
                .why(format!(
                    "one instruction multiplies {least} columns of `{}` or more, of which half is kept (PTX ISA, \"mma.sp\")",
                    dtype.name()
                )),
        )
    }

    /// There is an element of metadata for each four groups of a row.
    pub(crate) fn metadata_fits(
        &mut self,
        dtype: Dtype,
        [b, acc, metadata]: [Value; 3],
        order: Order,
        given: &Given<'_>,
    ) -> Option<()> {
        let sparsity = Sparsity::of(dtype);
        let [rows, depth] = [self.ty(acc).shape()[0], self.ty(b).shape()[0]];
        let required = [rows, depth / sparsity.columns()];
        let num = self.num(metadata);
        let made = self.ty(metadata).tensor_memory().map(|_| format!("tmem::<u16>({required:?})"));
        if self.cells.unify(num, Num::Known(Dtype::U16)).is_err() {
            let actual = format!("`{}`", self.cells.settled(num).name());
            return self.refuse(
                Code::DtypeRefused
                    .at(
                        given.at(order.metadata),
                        "the metadata of a sparse product has another element type",
                    )
                    .compare("element type", "`u16`", actual)
                    .why(format!("each element has four bits for each of four groups {SECTION}"))
                    .help_if(made),
            );
        }
        let actual = self.ty(metadata).shape().to_vec();
        if actual == required {
            return Some(());
        }
        self.refuse(
            Code::DotShape
                .at(given.at(order.metadata), "the metadata does not fit the product")
                .compare("", format!("{required:?}"), format!("{actual:?}"))
                .why(format!(
                    "an element of metadata describes four groups of {} columns, and a row has {depth} columns {SECTION}",
                    sparsity.group
                ))
                .help_if(made),
        )
    }
}
