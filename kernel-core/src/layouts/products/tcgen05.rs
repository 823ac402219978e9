//! Products of the fifth generation of tensor cores: which instruction multiplies, and how it reads its operands from shared memory.

use kernel_layout::Form;
use kernel_layout::Layout;
use kernel_layout::wgmma::{
    Major, Operand, Refusal, operand, padded_operand, tcgen05_operand, tcgen05_sparse_right_operand,
};
use kernel_ptx::Word;
use la_arena::ArenaMap;

use crate::ir::dtype::{Class, Float};
use crate::ir::{
    CtaGroup, Dtype, Kernel, Multiplied, Scaled, Shared, SharedType, TensorMemoryType,
};
use crate::layouts::tensor_memory;
use crate::layouts::wgmma::{self, Side};

/// The rows and columns of the accumulator that one instruction leaves in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// 64 or 128: M, of a pair half of it.
    pub(crate) rows: u32,
    /// N.
    pub(crate) columns: u32,
}

impl Block {
    /// The rows of the left operand and the columns of the right one that a block has in its shared memory for one instruction, of
    /// its own or of a pair.
    pub(crate) const fn widths(self, group: CtaGroup) -> [u32; 2] {
        match group {
            CtaGroup::One => [self.rows, self.columns],
            CtaGroup::Pair => [self.rows, self.columns / 2],
        }
    }

    /// The rows and columns of one instruction.
    pub(crate) const fn of_instruction(self, group: CtaGroup) -> Block {
        match group {
            CtaGroup::One => self,
            CtaGroup::Pair => Block { rows: 2 * self.rows, columns: self.columns },
        }
    }
}

/// The block that the layout of a window says, of which each is the result of one instruction for each step along `k`.
pub(crate) fn block(kernel: &Kernel, window: &TensorMemoryType) -> Block {
    let Form::TensorMemory { block: [rows, columns], .. } =
        tensor_memory::product_form(kernel, window.root)
    else {
        unreachable!("elaborate refuses accumulators in any other layout")
    };
    Block { rows, columns: columns.min(tensor_memory::PRODUCT_COLUMNS).min(window.shape[1]) }
}

/// The kind of a product (PTX ISA, "tcgen05.mma: kinds").
pub(crate) fn kind(factor: Dtype, scaled: Option<Scaled>) -> Word {
    match scaled {
        Some(Scaled::Mxf8) => return Word::KindMxf8f6f4,
        Some(Scaled::Mxf4) => return Word::KindMxf4,
        Some(Scaled::Nvf4) => return Word::KindMxf4nvf4,
        None => {}
    }
    tcgen05(factor).0
}

/// The kind that multiplies a type, and the type's number in instruction descriptors.
fn tcgen05(dtype: Dtype) -> (Word, u32) {
    let factor = dtype.row().factor.and_then(|factor| factor.tcgen05);
    factor.expect("elaborate refuses products of these types")
}

/// How a product reads an operand from shared memory; `width` is the rows or columns of one instruction. Of FP4 the depth is what is
/// contiguous (PTX ISA, "tcgen05.mma": transpose is not there for `.kind::mxf4`, `.kind::mxf4nvf4`).
///
/// # Errors
/// If no descriptor says where the elements are.
pub(crate) fn read(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    (window, side): (&SharedType, Side),
    (width, multiplied): (u32, Multiplied),
) -> Result<Operand, Box<Refusal>> {
    let (layout, window) = wgmma::described_in(kernel, layouts, window);
    let (layout, bytes, axis) = (&layout, window.dtype.bytes(), side.axis(&window));
    let read = match (multiplied, window.dtype.row().packing) {
        (Multiplied::Scaled(Scaled::Mxf4 | Scaled::Nvf4), _) => operand(layout, bytes, axis, width),
        (Multiplied::Sparse, _) if side == Side::Right => {
            tcgen05_sparse_right_operand(layout, bytes, axis, width)
        }
        (
            Multiplied::Scaled(Scaled::Mxf8) | Multiplied::Dense | Multiplied::Sparse,
            Some(packing),
        ) => padded_operand(layout, packing.numbers, axis, width),
        (Multiplied::Scaled(Scaled::Mxf8) | Multiplied::Dense | Multiplied::Sparse, None) => {
            tcgen05_operand(layout, bytes, axis, width)
        }
    };
    read.map_err(Box::new)
}

/// The instruction descriptor of a block-scaled product, with the first byte of a column that has its scales (PTX ISA, "tcgen05.mma:
/// Instruction descriptor" of `.kind::mxf8f6f4`, `.kind::mxf4`, `.kind::mxf4nvf4`).
pub(crate) fn scaled_instruction(
    block: Block,
    scaled: Scaled,
    ([left, right], scales): ([Dtype; 2], Dtype),
    [left_major, right_major]: [Major; 2],
    id: u32,
) -> u32 {
    let factor = |dtype: Dtype| match scaled {
        // Pairs of FP4.
        Scaled::Mxf4 | Scaled::Nvf4 => 1,
        Scaled::Mxf8 => tcgen05(dtype).1,
    };
    let turned = |major: Major| u32::from(major == Major::Mn);
    let powers_of_two = u32::from(scales == Dtype::Ue8m0);
    id << 4
        | factor(left) << 7
        | factor(right) << 10
        | turned(left_major) << 15
        | turned(right_major) << 16
        | block.columns >> 3 << 17
        | powers_of_two << 23
        | block.rows >> 4 << 24
        | id << 29
}

/// The bits of an instruction descriptor that a sparse product has besides those of a dense one; `column` is the first of tensor memory
/// that has its metadata. The metadata operand names a pair of columns, and the selector one of them, or both by 0 (PTX ISA,
/// "tcgen05.mma: Instruction descriptor", "Sparsity selector").
pub(crate) fn sparse_bits(column: u32) -> u32 {
    const SPARSE: u32 = 1 << 2;
    SPARSE | (column % 2)
}

/// The instruction descriptor (PTX ISA, "tcgen05.mma: Instruction descriptor").
pub(crate) fn instruction(
    block: Block,
    [left, right]: [Dtype; 2],
    sum: Dtype,
    [left_major, right_major]: [Major; 2],
) -> u32 {
    let sum = match sum.class() {
        Class::Float(Float::F16) => 0,
        Class::Float(Float::F32) => 1,
        Class::Signed => 2,
        Class::Bool
        | Class::Unsigned
        | Class::Float(Float::Bf16 | Float::F64)
        | Class::Float8(_)
        | Class::Opaque => unreachable!("elaborate refuses other accumulators"),
    };
    let turned = |major: Major| u32::from(major == Major::Mn);
    sum << 4
        | tcgen05(left).1 << 7
        | tcgen05(right).1 << 10
        | turned(left_major) << 15
        | turned(right_major) << 16
        | block.columns >> 3 << 17
        | block.rows >> 4 << 24
}

#[cfg(test)]
mod tests {
    use super::{Block, instruction, scaled_instruction};
    use crate::ir::Dtype::{Bf16, E2m1x2, E4m3, E5m2, F16, F32, I8, I32, U8, Ue8m0};
    use crate::ir::Scaled::{Mxf4, Mxf8, Nvf4};
    use kernel_layout::wgmma::Major::{K, Mn};

    /// Values that programs of others give the hardware, and fields of the manual's table (PTX ISA, "tcgen05.mma: Instruction
    /// descriptor").
    #[test]
    fn instruction_descriptors_are_those_of_programs_that_run() {
        let square = Block { rows: 128, columns: 128 };
        let both = |dtype, block, sum| instruction(block, [dtype, dtype], sum, [K, K]);
        assert_eq!(both(F16, square, F32), 0x0820_0010);
        assert_eq!(both(Bf16, square, F32), 0x0820_0490);
        assert_eq!(both(F32, square, F32), 0x0820_0910);
        assert_eq!(both(E5m2, square, F32), 0x0820_0490);
        assert_eq!(both(F16, Block { rows: 64, columns: 64 }, F32), 0x0410_0010);
        assert_eq!(instruction(square, [F16, F16], F32, [Mn, Mn]), 0x0821_8010);
        // Bits 17 to 22 hold the columns divided by 8: 32 of them.
        assert_eq!(both(F16, Block { rows: 128, columns: 256 }, F32), 0x0840_0010);
        // Bits 4 and 5: 0 for sums of halves, 2 for those of i32. Bits 7 to 9 and 10 to 12: signed bytes are 1, e5m2 is 1.
        assert_eq!(both(F16, square, F16), 0x0820_0000);
        assert_eq!(instruction(square, [I8, U8], I32, [K, K]), 0x0820_00a0);
        assert_eq!(instruction(square, [U8, I8], I32, [K, K]), 0x0820_0420);
        assert_eq!(instruction(square, [E4m3, E5m2], F32, [Mn, K]), 0x0820_8410);
        assert_eq!(instruction(square, [E5m2, E4m3], F32, [K, Mn]), 0x0821_0090);
    }

    /// Those of block-scaled products of 128 rows and columns, and of 256 columns.
    #[test]
    fn instruction_descriptors_name_the_scales() {
        let square = Block { rows: 128, columns: 128 };
        let of = |block, scaled, factor, scales, id| {
            scaled_instruction(block, scaled, ([factor, factor], scales), [K, K], id)
        };
        for id in 0..4 {
            assert_eq!(of(square, Mxf8, E4m3, Ue8m0, id), 0x08a0_0000 | id << 29 | id << 4);
        }
        assert_eq!(of(Block { rows: 128, columns: 256 }, Mxf8, E4m3, Ue8m0, 0), 0x08c0_0000);
        assert_eq!(of(square, Mxf8, E5m2, Ue8m0, 0), 0x08a0_0480);
        assert_eq!(of(square, Mxf4, E2m1x2, Ue8m0, 0), 0x08a0_0480);
        assert_eq!(of(square, Mxf4, E2m1x2, Ue8m0, 2), 0x48a0_04a0);
        assert_eq!(of(square, Nvf4, E2m1x2, E4m3, 0), 0x0820_0480);
        let turned = scaled_instruction(square, Mxf8, ([E4m3, E5m2], Ue8m0), [Mn, K], 1);
        assert_eq!(turned, 0x28a0_8410);
        // FP4 is type 5, beside FP8: in bits 7 to 9 of the left operand, in bits 10 to 12 of the right one.
        let mixed = scaled_instruction(square, Mxf8, ([E2m1x2, E5m2], Ue8m0), [K, K], 0);
        assert_eq!(mixed, 0x08a0_0680);
        assert_eq!(instruction(square, [E4m3, E2m1x2], F32, [K, K]), 0x0820_1410);
    }
}
