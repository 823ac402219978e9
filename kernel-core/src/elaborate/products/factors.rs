//! Element types of products that read memory unchanged: `wgmma` and `tcgen05`.

use kernel_ptx::{Capability, Word};

use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Num},
    ir::{Dtype, Value},
    layouts::wgmma::Generation,
    loc::Loc,
};

/// The words for products of a generation of tensor cores.
struct Words {
    /// Operands and sums that there are.
    dtypes: String,
    /// Operands of different types that are multiplied with one another.
    mixed: String,
    /// Where the hardware does not have the types of operands and accumulators.
    refused: &'static str,
    /// Where it says which it has.
    source: &'static str,
    /// Why both operands have one type.
    unconverted: &'static str,
    /// What makes sums of a type.
    made_by: &'static str,
}

fn words(generation: Generation) -> Words {
    let narrow = narrow_factors(generation);
    let any = listed(&narrow, " or ");
    let dtypes = format!(
        "f16 · f16 + f32 or f16; bf16 · bf16 + f32; f32 · f32 + f32 (as tf32); {any} · {any} + f32 or f16; i8 or u8 · i8 or u8 + i32"
    );
    match generation {
        Generation::Hopper => Words {
            dtypes,
            mixed: "one element type on both sides; `e4m3` with `e5m2`, `i8` with `u8`".to_owned(),
            refused: "no `wgmma` product has these element types",
            source: "these are the operands and accumulators of `wgmma.mma_async` (PTX ISA, \"wgmma.mma_async\")",
            unconverted: "`wgmma` reads memory unchanged, without conversions",
            made_by: "zeros",
        },
        Generation::Blackwell => Words {
            dtypes,
            mixed: format!(
                "one element type on both sides; {} with each other, `i8` with `u8`",
                listed(&narrow.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(), " and ")
            ),
            refused: "no product has these element types",
            source: "these are the kinds of `tcgen05.mma` (PTX ISA, \"tcgen05.mma: Data types\")",
            unconverted: "tensor cores read memory unchanged, without conversions",
            made_by: "tmem",
        },
    }
}

impl Builder<'_> {
    /// Settles the element types of a product; reports those that the hardware does not have.
    pub(crate) fn product_dtypes(
        &mut self,
        [a, b, acc]: [Value; 3],
        generation: Generation,
        loc: Loc,
    ) -> Option<()> {
        let words = words(generation);
        let nums = [self.num(a), self.num(b)];
        let mixed = match nums.map(|num| self.cells.known(num)) {
            [Some(left), Some(right)] => left != right && are_mixed([left, right], generation),
            [_, _] => false,
        };
        if !mixed && let Err((left, right)) = self.cells.unify(nums[0], nums[1]) {
            return self.refuse(
                Code::DtypeMismatch
                    .at(loc, "the operands of this product have different element types")
                    .compare("", &words.mixed, format!("{left} and {right}"))
                    .why(words.unconverted),
            );
        }
        let ([dtype, right], acc_num) = (nums.map(|num| self.cells.settled(num)), self.num(acc));
        if dtype.is_int() && generation == Generation::Blackwell {
            let why = "only this chip of the family multiplies integers in tensor memory (PTX ISA, \"tcgen05.mma\": .kind::i8); FP8 operands have the same number of bits";
            self.wants(
                Capability::Tcgen05Integers,
                "products of integers in tensor memory",
                why,
                loc,
            )?;
        }
        let sums = sums(dtype, generation);
        // A type that is still open is the first of them.
        if self.cells.known(acc_num).is_none() {
            let sum = sums.first().copied().unwrap_or(Dtype::F32);
            let _ = self.cells.unify(acc_num, Num::Known(sum));
        }
        let actual = self.cells.settled(acc_num);
        if sums.contains(&actual) {
            return Some(());
        }
        let product = format!("{} · {} + {}", dtype.name(), right.name(), actual.name());
        let diagnostic = Code::DtypeRefused
            .at(loc, words.refused)
            .compare("", words.dtypes, product)
            .why(words.source);
        let shape = self.ty(acc).shape().to_vec();
        self.refuse(diagnostic.help_if(
            sums.first().map(|sum| format!("{}::<{}>({shape:?})", words.made_by, sum.name())),
        ))
    }
}

/// The element types of accumulators that products of such operands have, the first that of accumulators without a type (PTX ISA,
/// `wgmma.mma_async`: `.dtype`; "tcgen05.mma: Data types").
fn sums(factor: Dtype, generation: Generation) -> &'static [Dtype] {
    kind(factor, generation).map_or(&[], |(_, sums)| sums)
}

/// The kind of `tcgen05.mma`, as which a type is multiplied by this generation of tensor cores, and the sums.
fn kind(dtype: Dtype, generation: Generation) -> Option<(Word, &'static [Dtype])> {
    let factor = dtype.row().factor?;
    let (kind, _) = factor.tcgen05?;
    let multiplied = match generation {
        Generation::Hopper => dtype.is_wgmma_factor(),
        Generation::Blackwell => true,
    };
    multiplied.then_some((kind, factor.sums))
}

/// The types of eight bits and less that are multiplied with each other.
pub(crate) fn narrow_factors(generation: Generation) -> Vec<String> {
    let is_narrow = |dtype: &&Dtype| {
        kind(**dtype, generation).is_some_and(|(kind, _)| kind == Word::KindF8f6f4)
    };
    Dtype::ALL.iter().filter(is_narrow).map(|dtype| dtype.name().to_owned()).collect()
}

/// `a, b or c`
pub(crate) fn listed(names: &[String], last: &str) -> String {
    match names {
        [names @ .., name] if !names.is_empty() => format!("{}{last}{name}", names.join(", ")),
        _ => names.concat(),
    }
}

/// Whether these different types are multiplied with one another (PTX ISA, `wgmma.mma_async`: `.atype`, `.btype`; "tcgen05.mma: Data
/// types").
fn are_mixed(factors: [Dtype; 2], generation: Generation) -> bool {
    let kinds = factors.map(|factor| kind(factor, generation).map(|(kind, _)| kind));
    kinds[0] == kinds[1] && matches!(kinds[0], Some(Word::KindF8f6f4 | Word::KindI8))
}
