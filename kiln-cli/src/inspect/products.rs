//! What an instruction of the tensor cores computes.

use kernel_ptx::{Instruction, Modifier, Opcode, Type, Word};

use super::class::has;
use super::kernel::Constants;

/// The work of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Multiplications and additions.
    pub flops: u64,
    /// For whom.
    pub by: By,
    /// Of what numbers.
    pub operands: Operands,
}

/// The operands of a product, by the rates at which tensor cores take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// TF32.
    Tf32,
    /// binary16 and bfloat16.
    Half,
    /// FP8, and FP6 and FP4 at the rate of FP8.
    Float8,
    /// Integers of 8 bits.
    Int8,
    /// FP4.
    Float4,
    /// Others, such as binary64 and bits.
    Other,
}

impl Operands {
    /// Those of `mma`, `wmma` and `wgmma`, whose first type is the result's and whose second is the left operand's. The kinds that have FP4
    /// alone take it at its own rate.
    fn of(instruction: &Instruction) -> Operands {
        let mut types = instruction.modifiers.iter().filter_map(|modifier| match modifier {
            Modifier::Type(ty) => Some(*ty),
            Modifier::Space(_) | Modifier::Word(_) => None,
        });
        let only_float4 = has(instruction, Word::KindMxf4) || has(instruction, Word::KindMxf4nvf4);
        let floats = [Type::E4m3, Type::E5m2, Type::E3m2, Type::E2m3, Type::E2m1];
        match types.nth(1) {
            Some(Type::Tf32) => Operands::Tf32,
            Some(Type::F16 | Type::Bf16) => Operands::Half,
            Some(Type::E2m1) if only_float4 => Operands::Float4,
            Some(ty) if floats.contains(&ty) => Operands::Float8,
            Some(Type::S8 | Type::U8) => Operands::Int8,
            Some(_) | None => Operands::Other,
        }
    }
}

/// Who gets through an instruction to these operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Each warp that runs it.
    Warp,
    /// The block, of which one thread starts it.
    Block,
}

/// What an instruction computes, if its shape is in the text.
pub fn of(instruction: &Instruction, constants: &Constants) -> Option<Product> {
    if instruction.opcode == Opcode::Tcgen05 {
        return tcgen05(instruction, constants);
    }
    let [m, n, k] = instruction.modifiers.iter().find_map(|modifier| match modifier {
        Modifier::Word(word) => shape(word.text()),
        Modifier::Type(_) | Modifier::Space(_) => None,
    })?;
    // The shape of a sparse product is that of its dense operands (PTX ISA, "mma.sp", "wgmma.mma_async.sp"): half of it is computed,
    // and counts as a whole.
    let flops = 2 * m * n * k;
    // A warpgroup has four warps.
    let flops = if instruction.opcode == Opcode::Wgmma { flops / 4 } else { flops };
    Some(Product { flops, by: By::Warp, operands: Operands::of(instruction) })
}

/// Reads `m16n8k16`.
fn shape(word: &str) -> Option<[u64; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The rows and columns are in the instruction descriptor (PTX ISA, "Instruction Descriptor"), which has to be a number in the text;
/// `k` follows from the kind.
fn tcgen05(instruction: &Instruction, constants: &Constants) -> Option<Product> {
    let kinds = [
        (Word::KindF16, (16, Operands::Half)),
        (Word::KindTf32, (8, Operands::Tf32)),
        (Word::KindF8f6f4, (32, Operands::Float8)),
        (Word::KindI8, (32, Operands::Int8)),
    ];
    // The descriptors of products with scales have their rows elsewhere, and 32 or 64 numbers along `k`.
    let scaled = [
        (Word::KindMxf8f6f4, (32, Operands::Float8)),
        (Word::KindMxf4, (64, Operands::Float4)),
        (Word::KindMxf4nvf4, (64, Operands::Float4)),
    ];
    let find = |kinds: &[(Word, (u64, Operands))]| {
        kinds.iter().find(|(kind, _)| has(instruction, *kind)).map(|(_, k)| *k)
    };
    let descriptor = constants.number(instruction.operands.get(3)?)?;
    let bits = |from: u32, count: u32| u64::try_from(descriptor >> from & ((1 << count) - 1)).ok();
    let n = bits(17, 6)? * 8;
    let (m, (k, operands)) = match (find(&kinds), find(&scaled)) {
        (Some(kind), _) => (bits(24, 5)? * 16, kind),
        (None, Some(kind)) => (bits(27, 2)? * 128, kind),
        (None, None) => return None,
    };
    let k = if has(instruction, Word::Sp) { 2 * k } else { k };
    // Two blocks of a pair share the rows of one product.
    let blocks = if has(instruction, Word::CtaGroup2) { 2 } else { 1 };
    Some(Product { flops: 2 * m * n * k / blocks, by: By::Block, operands })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(instruction: &str) -> Option<Product> {
        let text = format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n\
             {{ .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<9>;\n{instruction} }}"
        );
        let module = kernel_ptx::parse(&text).expect("PTX");
        let function = &module.functions[0];
        let constants = Constants::of(function);
        let last = super::super::kernel::instructions(function).last();
        of(last.expect("an instruction"), &constants)
    }

    #[test]
    fn the_descriptor_of_tcgen05_has_rows_and_columns() {
        // 128 rows: 8 at bit 24. 256 columns: 32 at bit 17. Accumulators of f32: bit 4.
        let descriptor: u32 = 8 << 24 | 32 << 17 | 1 << 4;
        let text = format!(
            "mov.b32 %r1, {descriptor}; tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;"
        );
        let required =
            Product { flops: 2 * 128 * 256 * 16, by: By::Block, operands: Operands::Half };
        assert_eq!(product(&text), Some(required));
        assert_eq!(
            product("tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;"),
            None
        );
    }

    #[test]
    fn a_warp_does_a_quarter_of_a_wgmma() {
        let registers = "%f0, %f1, %f2, %f3";
        let text = format!(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{registers}}}, %rd0, %rd1, 1, 1, 1, 0, 0;"
        );
        let required =
            Product { flops: 2 * 64 * 8 * 16 / 4, by: By::Warp, operands: Operands::Half };
        assert_eq!(product(&text), Some(required));
    }
}
