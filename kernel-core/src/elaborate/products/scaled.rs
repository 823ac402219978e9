//! Block-scaled products: `tcgen05::mma_scaled`, `tcgen05::mma_scaled_pair` and `dot_scaled`.

use super::factors::listed;
use super::pairs::SCALED_PAIR_ROWS;
use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{CtaGroup, Dtype, Factors, Multiplied, Op, ProductOp, Scaled, TensorMemoryRole, Value},
    layouts::tensor_memory::{BLOCK_ROWS, COLUMN_BITS, LEAST_PRODUCT_COLUMNS},
    loc::Loc,
    syntax::Expr,
};

/// The manual's section on scales in tensor memory.
const SECTION: &str = "(PTX ISA, \"tcgen05.mma: Block scaling\")";

/// What multiplies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// `tcgen05.mma`.
    Tcgen05,
    /// `tcgen05.mma` of a pair of blocks.
    Pairs,
    /// `mma.sync`.
    Warps,
}

impl By {
    /// The manual's section on scales.
    const fn section(self) -> &'static str {
        match self {
            By::Tcgen05 | By::Pairs => SECTION,
            By::Warps => "(PTX ISA, \"Block Scaling for mma.sync\")",
        }
    }

    /// Scales of operands that the tensor cores have, after the list of the operands of more than four bits.
    const fn forms(self) -> &'static str {
        match self {
            By::Tcgen05 | By::Pairs => {
                "or one of them with e2m1x2, with scales ue8m0 of 32; e2m1x2 · e2m1x2 with scales ue8m0 of 32 or 16, or e4m3 of 16"
            }
            // Powers of two for each 16 numbers come with PTX 9.1, which is newer than what the compiler writes.
            By::Warps => {
                "or one of them with e2m1x2, with scales ue8m0 of 32; e2m1x2 · e2m1x2 with scales ue8m0 of 32, or e4m3 of 16"
            }
        }
    }
}

/// Scales along `k` in a column.
const TO_A_COLUMN: u32 = COLUMN_BITS / 8;

/// The operands, the accumulator and the scales.
struct Operands {
    by: By,
    a: Value,
    b: Value,
    acc: Value,
    scales: [Value; 2],
}

impl Builder<'_> {
    /// `tcgen05::mma_scaled(a, b, acc, a_scales, b_scales)`
    pub(crate) fn tcgen05_mma_scaled(&mut self, given: &Given<'_>) -> Option<()> {
        let [a, b, acc, of_a, of_b] = [0, 1, 2, 3, 4].map(|index| given.value(index));
        let (scales, args) = ([of_a, of_b], given.args);
        let operands = Operands { by: By::Tcgen05, a, b, acc, scales };
        if self.untyped_bytes(&operands, args).is_some() {
            return None;
        }
        self.product_shapes([a, b, acc], given)?;
        let scaled = self.scaled(&operands, given.loc)?;
        self.scaled_extents(&operands, scaled, args, given.loc)?;
        self.narrow_factors([a, b], Some(scaled), args)?;
        self.has_role(acc, TensorMemoryRole::Sums);
        for one in scales {
            self.has_role(one, TensorMemoryRole::Scales);
        }
        self.operands.insert(given.loc, given.places());
        let how = (CtaGroup::One, Multiplied::Scaled(scaled), &scales[..]);
        self.start_product([a, b, acc], how, given)
    }

    /// `tcgen05::mma_scaled_pair(a, b, acc, a_scales, b_scales)`
    pub(crate) fn tcgen05_mma_scaled_pair(&mut self, given: &Given<'_>) -> Option<()> {
        self.in_pairs("there is none to multiply", given.loc)?;
        let [a, b, acc, of_a, of_b] = [0, 1, 2, 3, 4].map(|index| given.value(index));
        let (scales, args) = ([of_a, of_b], given.args);
        let operands = Operands { by: By::Pairs, a, b, acc, scales };
        if self.untyped_bytes(&operands, args).is_some() {
            return None;
        }
        self.pair_shapes([a, b, acc], given)?;
        let scaled = self.scaled(&operands, given.loc)?;
        self.pair_extents([a, b, acc], (SCALED_PAIR_ROWS, 1), given.loc)?;
        self.scaled_extents(&operands, scaled, args, given.loc)?;
        self.narrow_factors([a, b], Some(scaled), args)?;
        self.has_role(acc, TensorMemoryRole::Sums);
        for one in scales {
            self.has_role(one, TensorMemoryRole::Scales);
        }
        self.operands.insert(given.loc, given.places());
        let how = (CtaGroup::Pair, Multiplied::Scaled(scaled), &scales[..]);
        self.start_product([a, b, acc], how, given)
    }

    /// `dot_scaled(a, b, acc, a_scales, b_scales)`
    pub(crate) fn dot_scaled(&mut self, given: &Given<'_>) -> Option<Val> {
        let values = [0, 1, 2, 3, 4].map(|index| given.value(index));
        let ([a, b, acc, of_a, of_b], loc) = (values, given.loc);
        let operands = Operands { by: By::Warps, a, b, acc, scales: [of_a, of_b] };
        if self.untyped_bytes(&operands, given.args).is_some() {
            return None;
        }
        self.product_shapes([a, b, acc], given)?;
        let scaled = self.scaled(&operands, loc)?;
        let depth = self.numbers_along_k(a);
        let least = scaled.block() * scaled.of_a_line();
        if depth < least {
            return self.refuse(
                Code::DotShape
                    .at(loc, "no block-scaled product has these extents")
                    .compare("`k`", format!("at least {least}"), depth.to_string())
                    .why(format!(
                        "one instruction multiplies {least} numbers along `k` {}",
                        By::Warps.section()
                    )),
            );
        }
        self.scales_fit(&operands, scaled, given.args)?;
        self.operands.insert(loc, given.places());
        let mut taken = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            taken.push(self.loaded(value, given.at(index))?);
        }
        let (shape, sums) = (self.ty(acc).shape().to_vec(), self.num(acc));
        let op = Op::Product(ProductOp::Dot(Factors::Scaled(scaled)));
        Some(Val::Value(self.emit_num(op, taken, Some(shape), sums, loc)))
    }

    /// Scales, which are in tensor memory.
    pub(crate) fn scales(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        if let Some(value) = val.value().filter(|_| self.in_tensor_memory(val)) {
            self.one_tile(value, loc)?;
            return Some(value);
        }
        self.refuse(
            Code::Kind
                .at(loc, "the scales of a product have to be in tensor memory")
                .compare("", "a `Tmem<T>`", self.describe(val))
                .why(format!(
                    "the tensor cores read scales from tensor memory, and operands from shared memory {SECTION}"
                ))
                .help("let scales = tmem::<ue8m0>([128, 4]);"),
        )
    }

    /// Which product it is, by the element types and by how many elements have one scale.
    fn scaled(&mut self, operands: &Operands, loc: Loc) -> Option<Scaled> {
        let Operands { by, a, b, acc, scales } = *operands;
        let [left, right] = [a, b].map(|one| self.cells.settled(self.num(one)));
        let [of_left, of_right] = scales.map(|one| self.cells.settled(self.num(one)));
        let acc_num = self.num(acc);
        if self.cells.known(acc_num).is_none() {
            let _ = self
                .cells
                .unify(acc_num, crate::elaborate::language::value::Num::Known(Dtype::F32));
        }
        let sum = self.cells.settled(acc_num);
        let depth = self.ty(b).shape()[0] * right.numbers();
        let columns = self.ty(scales[1]).shape().get(1).copied().unwrap_or(1);
        let kind = match (left, right, of_left) {
            (Dtype::E2m1x2, Dtype::E2m1x2, Dtype::Ue8m0) if depth / columns.max(1) == 16 => {
                Some(Scaled::Nvf4)
            }
            (Dtype::E2m1x2, Dtype::E2m1x2, Dtype::Ue8m0) => Some(Scaled::Mxf4),
            (Dtype::E2m1x2, Dtype::E2m1x2, Dtype::E4m3) => Some(Scaled::Nvf4),
            (_, _, Dtype::Ue8m0) if left.is_narrow() && right.is_narrow() => Some(Scaled::Mxf8),
            _ => None,
        };
        let powers_of_16 = kind == Some(Scaled::Nvf4) && of_left == Dtype::Ue8m0;
        if let Some(kind) = kind
            && of_left == of_right
            && sum == Dtype::F32
            && (by != By::Warps || !powers_of_16)
        {
            return Some(kind);
        }
        let alone: Vec<String> = Dtype::ALL
            .iter()
            .filter(|&&dtype| dtype.is_narrow() && dtype != Dtype::E2m1x2)
            .map(|dtype| dtype.name().to_owned())
            .collect();
        let [left, right, of_left, of_right, sum] =
            [left, right, of_left, of_right, sum].map(Dtype::name);
        let of_block =
            if by == By::Warps { format!(" of {}", depth / columns.max(1)) } else { String::new() };
        let actual =
            format!("{left} · {right} + {sum} with scales {of_left} and {of_right}{of_block}");
        self.refuse(
            Code::DtypeRefused
                .at(loc, "no block-scaled product has these element types")
                .compare(
                    "",
                    format!("{}, {}; accumulator f32", listed(&alone, " or "), by.forms()),
                    actual,
                )
                .why(format!(
                    "these are the kinds `mxf8f6f4`, `mxf4` and `mxf4nvf4` {}",
                    by.section()
                )),
        )
    }

    /// Reports bytes, which say neither of operands nor of scales what they mean.
    fn untyped_bytes(&mut self, operands: &Operands, args: &[Expr]) -> Option<()> {
        let Operands { by, a, b, scales: [of_a, of_b], .. } = *operands;
        let sides = [
            (a, 0, "an operand"),
            (b, 1, "an operand"),
            (of_a, 3, "a scale"),
            (of_b, 4, "a scale"),
        ];
        let is_byte = |one| self.cells.known(self.num(one)) == Some(Dtype::U8);
        let &(value, at, what) = sides.iter().find(|(one, ..)| is_byte(*one))?;
        let (required, dtype) = match what {
            "an operand" => ("`e2m1x2`, `e4m3` or `e5m2`", "e2m1x2"),
            _ => ("`ue8m0`, or `e4m3` of 16 FP4 numbers", "ue8m0"),
        };
        let ty = self.ty(value);
        let made =
            if ty.tensor_memory().is_some() { Some("tmem") } else { ty.shared().map(|_| "shared") };
        let mut shape = ty.shape().to_vec();
        if ty.shared().is_some_and(|shared| shared.transposed) {
            shape.reverse();
        }
        self.report(
            Code::DtypeRefused
                .at(args[at].loc, format!("`u8` cannot be {what} of a block-scaled product"))
                .compare("element type", required, "`u8`")
                .why(format!(
                    "the type says how the tensor cores interpret the bits {}",
                    by.section()
                ))
                .help_if(made.map(|made| format!("{made}::<{dtype}>({shape:?})"))),
        );
        Some(())
    }

    /// The extents that block-scaled products have.
    fn scaled_extents(
        &mut self,
        operands: &Operands,
        scaled: Scaled,
        args: &[Expr],
        loc: Loc,
    ) -> Option<()> {
        let &[rows, _] = self.ty(operands.a).shape() else { return None };
        let &[_, columns] = self.ty(operands.acc).shape() else { return None };
        let refused = |what: &str, required: String, actual: u32, why: &str| {
            Code::DotShape
                .at(loc, "no block-scaled product has these extents")
                .compare(what, required, actual.to_string())
                .why(format!("{why} {SECTION}"))
        };
        let depth = self.numbers_along_k(operands.a);
        let least = scaled.block() * TO_A_COLUMN;
        let problem = if rows < BLOCK_ROWS {
            let why = "one block-scaled instruction has 128 rows";
            Some(refused("rows", "128 or more".to_owned(), rows, why))
        } else if columns < LEAST_PRODUCT_COLUMNS {
            let why = "one instruction has at least 16 columns";
            Some(refused("columns", "at least 16".to_owned(), columns, why))
        } else if depth < least {
            let why = "the scales of four blocks along `k` share a column of tensor memory";
            Some(refused("`k`", format!("at least {least}"), depth, why))
        } else {
            None
        };
        if let Some(problem) = problem {
            return self.refuse(problem);
        }
        self.scales_fit(operands, scaled, args)
    }

    /// There is a scale for each block of each row and column.
    fn scales_fit(&mut self, operands: &Operands, scaled: Scaled, args: &[Expr]) -> Option<()> {
        let &[rows, _] = self.ty(operands.a).shape() else { return None };
        let &[_, columns] = self.ty(operands.acc).shape() else { return None };
        let depth = self.numbers_along_k(operands.a);
        let blocks = depth / scaled.block();
        for (at, (scales, extent)) in
            [(3, (operands.scales[0], rows)), (4, (operands.scales[1], columns))]
        {
            let actual = self.ty(scales).shape().to_vec();
            if actual == [extent, blocks] {
                continue;
            }
            let dtype = self.cells.settled(self.num(scales)).name();
            let side = match (operands.by, at) {
                (By::Pairs, 3) => {
                    "each block of a pair has the scales of its rows of the left operand: one"
                }
                (By::Pairs, _) => {
                    "each block of a pair has the scales of all columns of the right operand: one"
                }
                (By::Tcgen05 | By::Warps, 3) => "each row of the left operand has a scale",
                (By::Tcgen05 | By::Warps, _) => "each column of the right operand has a scale",
            };
            return self.refuse(
                Code::DotShape
                    .at(args[at].loc, "the scales do not fit the product")
                    .compare("", format!("[{extent}, {blocks}]"), format!("{actual:?}"))
                    .why(format!(
                        "{side} for every {} elements along `k`, which is {depth} {}",
                        scaled.block(),
                        operands.by.section()
                    ))
                    .help_if(
                        (operands.by != By::Warps)
                            .then(|| format!("tmem::<{dtype}>([{extent}, {blocks}])")),
                    ),
            );
        }
        Some(())
    }
}
