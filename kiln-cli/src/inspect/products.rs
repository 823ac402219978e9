//! What an instruction of the tensor cores computes.

use kernel_ptx::{Instruction, Modifier, Opcode, Word};

use super::class::has;
use super::kernel::Constants;

/// The work of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Multiplications and additions.
    pub flops: u64,
    /// For whom.
    pub by: By,
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
    Some(Product { flops, by: By::Warp })
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
    let kinds =
        [(Word::KindF16, 16), (Word::KindTf32, 8), (Word::KindF8f6f4, 32), (Word::KindI8, 32)];
    // The descriptors of products with scales have their rows elsewhere, and 32 or 64 numbers along `k`.
    let scaled = [(Word::KindMxf8f6f4, 32), (Word::KindMxf4, 64), (Word::KindMxf4nvf4, 64)];
    let find = |kinds: &[(Word, u64)]| {
        kinds.iter().find(|(kind, _)| has(instruction, *kind)).map(|(_, k)| *k)
    };
    let descriptor = constants.number(instruction.operands.get(3)?)?;
    let bits = |from: u32, count: u32| u64::try_from(descriptor >> from & ((1 << count) - 1)).ok();
    let n = bits(17, 6)? * 8;
    let (m, k) = match (find(&kinds), find(&scaled)) {
        (Some(k), _) => (bits(24, 5)? * 16, k),
        (None, Some(k)) => (bits(27, 2)? * 128, k),
        (None, None) => return None,
    };
    let k = if has(instruction, Word::Sp) { 2 * k } else { k };
    // Two blocks of a pair share the rows of one product.
    let blocks = if has(instruction, Word::CtaGroup2) { 2 } else { 1 };
    Some(Product { flops: 2 * m * n * k / blocks, by: By::Block })
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
        let required = Product { flops: 2 * 128 * 256 * 16, by: By::Block };
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
        assert_eq!(product(&text), Some(Product { flops: 2 * 64 * 8 * 16 / 4, by: By::Warp }));
    }
}
