//! Products of matrices: `dot`, `dot_tf32`, and what all products have in common.

use kernel_ptx::Capability;

use super::factors::{listed, narrow_factors};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::{
            targets::oldest_with,
            value::{Num, Val},
        },
        messages::forms::bare,
        signatures::Given,
    },
    ir::{Dtype, Factors, Op, ProductOp, Type, Value},
    layouts::wgmma::Generation,
    loc::Loc,
    syntax::{Expr, ExprKind},
};

/// The fewest numbers along `k` of `.kind::f8f6f4`.
const LEAST_NUMBERS: u32 = 32;
/// Which target multiplies numbers of 6 and 4 bits in registers.
const NARROW: &str = "`mma.sync` multiplies numbers of 6 and 4 bits on workstation Blackwell alone (PTX ISA, \"mma\": .kind::f8f6f4); on data-centre Blackwell, `tcgen05::mma` multiplies them in shared memory";

/// Why an operand is converted.
const SAME_TYPES: &str = "the tensor cores multiply two operands of one type, and add to an f32 accumulator; nothing converts by itself";

/// What `dot` takes of operands of `f32`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// All of it.
    Full,
    /// The 19 bits that tensor cores multiply: `dot_tf32`.
    Tf32,
}

impl Precision {
    const fn factors(self) -> Factors {
        match self {
            Precision::Full => Factors::Full,
            Precision::Tf32 => Factors::Tf32,
        }
    }

    /// The element types of sums that products of such operands have; the first is that of sums without a type.
    fn sums(self, factor: Dtype) -> &'static [Dtype] {
        let multiplied = match self {
            Precision::Full => true,
            Precision::Tf32 => factor == Dtype::F32,
        };
        factor.row().factor.filter(|_| multiplied).map_or(&[], |factor| factor.sums)
    }
}

impl Builder<'_> {
    /// `dot(a, b, acc)`, `dot_tf32(a, b, acc)`
    pub(crate) fn dot(&mut self, precision: Precision, given: &Given<'_>) -> Option<Val> {
        let (operands, loc) = ([0, 1, 2].map(|index| given.value(index)), given.loc);
        let [a, b, acc] = operands;
        self.product_shapes(operands, given)?;
        self.factors_unify(operands, precision, given)?;
        let dtypes = [a, b].map(|factor| self.cells.settled(self.num(factor)));
        let (dtype, acc_num) = (dtypes[0], self.num(acc));
        let shape = self.ty(acc).shape().to_vec();
        let sums = precision.sums(dtype);
        // `zeros(..)` without a type is of the one that sums of such products have.
        if self.cells.known(acc_num).is_none() {
            let sum = sums.first().copied().unwrap_or(Dtype::F32);
            let _ = self.cells.unify(acc_num, Num::Known(sum));
        }
        if !sums.contains(&self.cells.settled(acc_num)) {
            return self.no_product(dtype, acc, precision, given);
        }
        if dtype.is_float8() && !self.target.has(Capability::Float8) {
            return self.no_float8_product(dtype, loc);
        }
        if dtypes[0] != dtypes[1] || dtype.row().packing.is_some() {
            self.narrow_product(operands, given)?;
        }
        self.operands.insert(loc, given.places());
        let product = |builder: &mut Self, op, operands| {
            builder.emit_num(op, operands, Some(shape.clone()), acc_num, loc)
        };
        if self.by_warpgroups(operands, precision) {
            // Nothing is done with the accumulator before the wait: for that there is `wgmma::mma`.
            let sums =
                product(self, Op::Product(ProductOp::Wgmma { sparse: false }), operands.to_vec());
            return Some(Val::Value(product(
                self,
                Op::Product(ProductOp::WgmmaWait(0)),
                vec![sums],
            )));
        }
        let (a, b) = (self.loaded(a, given.at(0)), self.loaded(b, given.at(1)));
        Some(Val::Value(product(
            self,
            Op::Product(ProductOp::Dot(precision.factors())),
            vec![a?, b?, acc],
        )))
    }

    /// Reports operands of different types, or of numbers of fewer than eight bits, that `mma.sync` does not multiply.
    fn narrow_product(&mut self, [a, b, _]: [Value; 3], given: &Given<'_>) -> Option<()> {
        let names = [a, b].map(|factor| self.cells.settled(self.num(factor)).name());
        let what = format!("a product of `{}` by `{}` in registers", names[0], names[1]);
        self.wants(Capability::BlockScaledMma, &what, NARROW, given.loc)?;
        let numbers = self.numbers_along_k(a);
        if numbers >= LEAST_NUMBERS {
            return Some(());
        }
        self.refuse(
            Code::DotShape
                .at(
                    given.loc,
                    format!("a product of `{}` by `{}` needs a larger `k`", names[0], names[1]),
                )
                .compare("`k`", format!("at least {LEAST_NUMBERS}"), numbers.to_string())
                .why(format!("one instruction multiplies {LEAST_NUMBERS} numbers along `k` (PTX ISA, \"mma\": .kind::f8f6f4)")),
        )
    }

    /// The operands have one element type, or are multiplied with each other all the same; or a report.
    fn factors_unify(
        &mut self,
        [a, b, acc]: [Value; 3],
        precision: Precision,
        given: &Given<'_>,
    ) -> Option<()> {
        let nums = [self.num(a), self.num(b)];
        let ([Some(left), Some(right)], sum) =
            (nums.map(|num| self.cells.known(num)), self.cells.known(self.num(acc)))
        else {
            return self.unify(nums[0], nums[1], "`dot`", given.loc).map(|_| ());
        };
        // That a target does not multiply numbers of fewer than eight bits is said of the target.
        let packed = left.row().packing.is_some() || right.row().packing.is_some();
        let mixed = left.is_narrow()
            && right.is_narrow()
            && (packed || self.target.has(Capability::BlockScaledMma));
        if left == right || precision == Precision::Full && mixed {
            return Some(());
        }
        let function = given.signature.name;
        let headline = format!("the operands of `{function}` have different element types");
        if let Some(converted) = self.converted_factor([a, b], [left, right], (precision, sum)) {
            let (operand, to) = converted;
            let other = given.args[1 - operand].text();
            let other = other.unwrap_or_else(|| {
                ["the left operand", "the right operand"][1 - operand].to_owned()
            });
            let from = [left, right][operand];
            let load =
                if matches!(self.ty([a, b][operand]), Type::Shared(_)) { ".load()" } else { "" };
            let text = given.args[operand].operand_text();
            return self.refuse(
                Code::DtypeMismatch
                    .at(given.at(operand), headline)
                    .compare("", format!("{}, as `{other}`", to.name()), from.name())
                    .place(given.at(1 - operand), format!("this operand is {}", to.name()))
                    .why(SAME_TYPES)
                    .help_if(text.map(|text| format!("{text}{load}.cast::<{}>()", to.name()))),
            );
        }
        let actual = format!("{} and {}", left.name(), right.name());
        let diagnostic = Code::DtypeMismatch.at(given.loc, headline).compare(
            "",
            "one element type on both sides",
            actual,
        );
        let common = match (left, right) {
            // An f16 has every value of both.
            (Dtype::I8, Dtype::U8) | (Dtype::U8, Dtype::I8) => Dtype::F16,
            (left, right) => crate::elaborate::tiles::arith::wider(left, right),
        };
        let sums = precision.sums(common);
        // What is as wide as `f32` leaves the tensor cores.
        let leaves = precision == Precision::Full && common == Dtype::F32;
        if leaves || !sums.iter().any(|taken| sum.is_none_or(|sum| sum == *taken)) {
            return self.refuse(diagnostic);
        }
        let converted = |value: Value, dtype: Dtype, text: &str| {
            if dtype == common {
                return text.to_owned();
            }
            let load = if matches!(self.ty(value), Type::Shared(_)) { ".load()" } else { "" };
            format!("{text}{load}.cast::<{}>()", common.name())
        };
        let [a_text, b_text, acc_text] = written_factors(given.args);
        let (a_text, b_text) = (converted(a, left, &a_text), converted(b, right, &b_text));
        let [a_text, b_text, acc_text] = [&a_text, &b_text, &acc_text].map(|text| bare(text));
        self.refuse(diagnostic.help(format!("{function}({a_text}, {b_text}, {acc_text})")))
    }

    /// Which of two operands of different types is converted to the type of the other one: the wider float, so that the tensor cores
    /// multiply; of two that are as wide the one in registers. None if neither has a type that both can have.
    fn converted_factor(
        &self,
        factors: [Value; 2],
        dtypes: [Dtype; 2],
        (precision, sum): (Precision, Option<Dtype>),
    ) -> Option<(usize, Dtype)> {
        let [left, right] = dtypes;
        let plain = |dtype: Dtype| dtype.is_float() && !dtype.is_float8();
        if !plain(left) || !plain(right) {
            return None;
        }
        let fits = |to: Dtype| {
            let sums = precision.sums(to);
            sums.iter().any(|taken| sum.is_none_or(|sum| sum == *taken))
        };
        let in_shared = factors.map(|factor| matches!(self.ty(factor), Type::Shared(_)));
        let wider = match left.bytes().cmp(&right.bytes()) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal if in_shared[0] != in_shared[1] => usize::from(in_shared[0]),
            // Every `f16` is in the range of `bf16`.
            std::cmp::Ordering::Equal => usize::from(right == Dtype::F16),
        };
        [wider, 1 - wider]
            .into_iter()
            .map(|operand| (operand, dtypes[1 - operand]))
            .find(|(_, to)| fits(*to))
    }

    /// Reports operands and accumulators that no product joins.
    fn no_product(
        &mut self,
        dtype: Dtype,
        acc: Value,
        precision: Precision,
        given: &Given<'_>,
    ) -> Option<Val> {
        let has_float8 = self.target.has(Capability::Float8);
        let required = match precision {
            Precision::Tf32 => "f32 · f32 + f32".to_owned(),
            Precision::Full => {
                let narrow = if self.target.has(Capability::BlockScaledMma) {
                    let any = listed(&narrow_factors(Generation::Blackwell), " or ");
                    format!("; {any} · {any} + f32 or f16")
                } else if has_float8 {
                    "; e4m3 · e4m3 + f32 or f16; e5m2 · e5m2 + f32 or f16".to_owned()
                } else {
                    String::new()
                };
                format!(
                    "f16 · f16 + f32 or f16; bf16 · bf16 + f32; f32 · f32 + f32; f64 · f64 + f64; i8 · i8 + i32; u8 · u8 + i32{narrow}"
                )
            }
        };
        let acc_dtype = self.cells.settled(self.num(acc));
        let actual = format!("{0} · {0} + {1}", dtype.name(), acc_dtype.name());
        let headline = "no product has these element types";
        let diagnostic = Code::DtypeRefused.at(given.loc, headline).compare("", required, actual);
        let [a_text, b_text, acc_text] = written_factors(given.args);
        if let Some(sum) = precision.sums(dtype).first() {
            return self.refuse(
                Diagnostic { primary: given.at(2), ..diagnostic }
                    .why("these are the operands and accumulators of tensor cores and, for `f32` and `f64`, of fused multiply-add")
                    .help_if(self.as_accumulator(acc, &given.args[2], *sum)),
            );
        }
        let plain = Precision::Full.sums(dtype);
        if precision == Precision::Tf32 && (has_float8 || !dtype.is_float8()) && !plain.is_empty() {
            let cast = if plain.contains(&acc_dtype) {
                String::new()
            } else {
                format!(".cast::<{}>()", plain[0].name())
            };
            return self.refuse(
                diagnostic.why("tf32 is an `f32` of which the tensor cores read 19 bits").help(
                    if cast.is_empty() {
                        let [a, b, acc] = [&a_text, &b_text, &acc_text].map(|text| bare(text));
                        format!("dot({a}, {b}, {acc})")
                    } else {
                        format!("dot({}, {}, {acc_text}{cast})", bare(&a_text), bare(&b_text))
                    },
                ),
            );
        }
        let float8 = if self.target.has(Capability::BlockScaledMma) {
            ", FP8, FP6 and FP4 numbers"
        } else if has_float8 {
            ", `e4m3`, `e5m2`"
        } else {
            ""
        };
        let diagnostic = diagnostic.why(format!("tensor cores multiply `f16`, `bf16`, tf32, `i8`, `u8`{float8}, and fused multiply-add `f32` and `f64`; multiply other types element by element"));
        let by_element = dtype.has_arithmetic() && acc_dtype == dtype;
        let help = format!("({a_text}.expand(2) * {b_text}.expand(0)).sum(1) + {acc_text}");
        self.refuse(diagnostic.help_if(by_element.then_some(help)))
    }

    /// Reports a product of FP8 numbers on a target without them.
    pub(super) fn no_float8_product(&mut self, dtype: Dtype, loc: Loc) -> Option<Val> {
        let headline = format!("`{}` has no products of `{}`", self.target, dtype.name());
        self.refuse(
            self.lacks(Capability::Float8, headline, loc)
                .why("tensor cores multiply FP8 numbers from sm_89 on (PTX ISA, \"mma\"); older targets can only load and store them")
                .help(oldest_with(Capability::Float8)),
        )
    }

    /// The extents of a product agree.
    pub(crate) fn product_shapes(&mut self, values: [Value; 3], given: &Given<'_>) -> Option<()> {
        let [sa, sb, sc] = values.map(|value| self.ty(value).shape().to_vec());
        // Of numbers narrower than a byte, an element has several.
        let dtypes = [0, 1].map(|factor: usize| self.cells.known(self.num(values[factor])));
        let numbers = dtypes.map(|dtype| dtype.map_or(1, Dtype::numbers));
        let agree = |k: u32, k_of_b: u32| k * numbers[0] == k_of_b * numbers[1];
        if let (&[m, k], &[k_of_b, n], &[rows, cols]) = (&sa[..], &sb[..], &sc[..])
            && agree(k, k_of_b)
            && (rows, cols) == (m, n)
        {
            return Some(());
        }
        let matrices = [&sa, &sb, &sc].map(|shape| {
            let first = shape.len().saturating_sub(2);
            shape[..first].iter().all(|extent| *extent == 1).then(|| shape[first..].to_vec())
        });
        if let [Some(a), Some(b), Some(c)] = &matrices
            && let (&[m, k], &[k_of_b, n], &[rows, cols]) = (&a[..], &b[..], &c[..])
            && agree(k, k_of_b)
            && (rows, cols) == (m, n)
        {
            return self.product_of_matrices(&[sa, sb, sc], given);
        }
        let depth = |numbers: u32| match numbers {
            1 => "k".to_owned(),
            several => format!("k / {several}"),
        };
        let required = if numbers[0] == numbers[1] {
            "[m, k] · [k, n] + [m, n]".to_owned()
        } else {
            format!("[m, {}] · [{}, n] + [m, n]", depth(numbers[0]), depth(numbers[1]))
        };
        let mut diagnostic = Code::DotShape
            .at(given.loc, "the operands of a product do not fit together")
            .compare("", required, format!("{sa:?} · {sb:?} + {sc:?}"));
        if let ([m, k], [n, k_of_b]) = (sa.as_slice(), sb.as_slice()) {
            diagnostic = match sc.as_slice() {
                // The same factor read the other way round would fit.
                [rows, cols] if agree(*k, *k_of_b) && rows == m && cols == n => {
                    let [a, b, acc] = written_factors(given.args);
                    let (a, acc) = (bare(&a).to_owned(), bare(&acc).to_owned());
                    let mut texts = vec![a, format!("{b}.t()"), acc];
                    texts.extend(given.args.iter().skip(3).filter_map(Expr::text));
                    diagnostic.help(format!("{}({})", given.path(), texts.join(", ")))
                }
                _ if agree(*k, *n) => {
                    let in_tensor_memory = matches!(self.ty(values[2]), Type::TensorMemory(_));
                    let made_by = if in_tensor_memory { "tmem" } else { "zeros" };
                    let dtype = self.cells.settled(self.num(values[2])).name();
                    diagnostic.help(format!("{made_by}::<{dtype}>([{m}, {k_of_b}])"))
                }
                _ if numbers != [1; 2] => {
                    let mut packed: Vec<Dtype> = dtypes.into_iter().flatten().collect();
                    packed.retain(|dtype| dtype.numbers() > 1);
                    packed.dedup();
                    let to_an_element = packed.iter().map(|dtype| {
                        let count = if dtype.numbers() == 2 { "two" } else { "sixteen" };
                        format!("{count} to an element of `{}`", dtype.name())
                    });
                    diagnostic.why(format!(
                        "a row of the left operand has {} numbers, a column of the right operand {}: {}",
                        k * numbers[0],
                        n * numbers[1],
                        to_an_element.collect::<Vec<_>>().join(", ")
                    ))
                }
                _ => diagnostic.why(format!(
                    "a row of the left operand has {k} elements, a column of the right operand {n}"
                )),
            };
        }
        self.refuse(diagnostic)
    }

    /// Reports each operand of a product that has axes of extent 1 before those of a matrix.
    fn product_of_matrices(&mut self, shapes: &[Vec<u32>; 3], given: &Given<'_>) -> Option<()> {
        for (index, shape) in shapes.iter().enumerate().filter(|(_, shape)| shape.len() > 2) {
            let matrix = &shape[shape.len() - 2..];
            let text = given.args.get(index).and_then(Expr::operand_text);
            self.report(
                Code::DotShape
                    .at(given.at(index), "an operand of a product has two axes")
                    .compare("", format!("{matrix:?}"), format!("{shape:?}"))
                    .why("an axis of extent 1 is an axis all the same; `reshape` leaves it out")
                    .help_if(text.map(|text| format!("{text}.reshape({matrix:?})"))),
            );
        }
        None
    }

    /// How many numbers a row of a left operand has: several in each element of a type narrower than a byte.
    pub(crate) fn numbers_along_k(&self, left: Value) -> u32 {
        let elements = self.ty(left).shape().last().copied().unwrap_or(1);
        elements * self.cells.settled(self.num(left)).numbers()
    }

    /// An operand of a product: a tile, or one tile in shared memory.
    pub(crate) fn factor(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        if let Type::Shared(shared) = self.ty(value).clone() {
            self.check_window(value, &shared, loc)?;
            self.own_window(&shared, "a product", loc)?;
            return Some(value);
        }
        self.tile(&Val::Value(value), "a product", loc)
    }

    /// An operand in registers.
    pub(crate) fn loaded(&mut self, factor: Value, loc: Loc) -> Option<Value> {
        if matches!(self.ty(factor), Type::Shared(_)) {
            return self.load_shared(factor, loc);
        }
        Some(factor)
    }

    /// An accumulator in the type of a product's sums: what is made for the product is made in it, and all else is converted.
    pub(crate) fn as_accumulator(&self, acc: Value, written: &Expr, sum: Dtype) -> Option<String> {
        if let ExprKind::Call(function, _) = &written.kind
            && let ExprKind::Path(path) = &function.kind
            && path.only().is_some_and(|name| name.name == "zeros")
        {
            return Some(format!("zeros::<{}>({:?})", sum.name(), self.ty(acc).shape()));
        }
        Some(format!("{}.cast::<{}>()", written.operand_text()?, sum.name()))
    }
}

/// The operands of a product as they are written.
fn written_factors(args: &[Expr]) -> [String; 3] {
    let written = |index: usize, other: &str| {
        args.get(index).and_then(Expr::operand_text).unwrap_or_else(|| other.to_owned())
    };
    [written(0, "a"), written(1, "b"), written(2, "acc")]
}
