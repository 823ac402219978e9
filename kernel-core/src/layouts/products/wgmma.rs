//! `wgmma` products: the layouts of accumulators and of left operands in registers, and how operands are read from shared
//! memory.

use kernel_layout::forms::wgmma_metadata;
use kernel_layout::wgmma::{
    INSTRUCTION_M, INSTRUCTION_N_LIMIT, Operand, Refusal, operand, sparse_right_operand,
};
use kernel_layout::{Form, Layout};
use la_arena::ArenaMap;

use crate::ir::{Dtype, Elem, Kernel, Shared, SharedType, Type, Value};
use crate::layouts::in_tile;

/// Warps of a warpgroup.
pub const GROUP_WARPS: u32 = 4;

/// The layout of the accumulator of a product: all groups along the rows, as long as there are 64 for each, and the widest
/// instruction.
pub fn form(kernel: &Kernel, args: [Value; 3]) -> Form {
    let shape = kernel.ty(args[2]).shape();
    form_of([shape[0], shape[1]], kernel.crews().warps(args[2]))
}

/// [`form`] as a layout.
pub(crate) fn layout(kernel: &Kernel, args: [Value; 3]) -> Layout {
    let layout = form(kernel, args).to_layout(kernel.ty(args[2]).shape());
    layout.expect("elaborate has checked the extents of the product")
}

/// The layout of an accumulator of these extents, in this many warps.
pub(crate) fn form_of([rows, columns]: [u32; 2], warps: u32) -> Form {
    let groups = warps / GROUP_WARPS;
    let row_groups = (rows / INSTRUCTION_M).clamp(1, groups);
    let column_groups = groups / row_groups;
    let n = (columns / column_groups).min(INSTRUCTION_N_LIMIT);
    Form::Wgmma { warps: [GROUP_WARPS * row_groups, column_groups], n }
}

/// The layout of a left operand in registers.
pub(crate) fn left_form(kernel: &Kernel, args: [Value; 3]) -> Form {
    let bytes = match kernel.ty(args[0]).elem() {
        Some(Elem::Number(dtype)) => dtype.bytes(),
        Some(Elem::Ptr(_)) | None => unreachable!("ir::verify requires a tile of numbers here"),
    };
    Form::DotOperand { index: 0, parent: Box::new(form(kernel, args)), k_width: 4 / bytes }
}

/// The form of a left operand as a layout.
pub fn left_layout(kernel: &Kernel, args: [Value; 3]) -> Layout {
    let layout = left_form(kernel, args).to_layout(kernel.ty(args[0]).shape());
    layout.expect("elaborate has checked the extents of the product")
}

/// The layout of the metadata of a sparse product: that of the first two, or of all four, of each four lanes (sparsity selector 0).
pub fn metadata_layout(kernel: &Kernel, args: [Value; 3], metadata: Value) -> Layout {
    let Form::Wgmma { warps, .. } = form(kernel, args) else {
        unreachable!("`form` gives no other")
    };
    let [left, _] = factors(kernel, &args);
    let layout = wgmma_metadata(left.bytes(), warps, kernel.ty(metadata).shape());
    layout.expect("elaborate has checked the extents of the product")
}

/// The layouts in which a product takes its left operand, if that is in registers, and its metadata.
pub(crate) fn taken(
    kernel: &Kernel,
    args: [Value; 3],
    metadata: Option<Value>,
) -> [Option<Layout>; 2] {
    let in_registers = matches!(kernel.ty(args[0]), Type::Tile(..));
    let metadata = metadata.map(|metadata| metadata_layout(kernel, args, metadata));
    [in_registers.then(|| left_layout(kernel, args)), metadata]
}

/// What an instruction reads of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The columns of the right one.
    pub n: u32,
    /// It reads twice as many bytes of the right one along `k`.
    pub sparse: bool,
}

/// Which tensor cores read what is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// The fourth, by `wgmma`.
    Hopper,
    /// The fifth, by `tcgen05`.
    Blackwell,
}

/// Which operand of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// (m, k)
    Left,
    /// (k, n)
    Right,
}

impl Side {
    /// The axis of what a window's allocation stores that runs along the rows of the left, the columns of the right operand.
    pub(crate) fn axis(self, window: &SharedType) -> usize {
        let outer = match self {
            Side::Left => 0,
            Side::Right => 1,
        };
        if window.transposed { 1 - outer } else { outer }
    }
}

/// How a product reads an operand from shared memory.
///
/// # Errors
/// If no descriptor says where the elements are.
pub fn read(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    window: &SharedType,
    side: Side,
    instruction: Instruction,
) -> Result<Operand, Box<Refusal>> {
    let (layout, window) = described_in(kernel, layouts, window);
    read_in(&layout, &window, side, instruction)
}

/// The layout in which a descriptor describes an operand, and the operand as a window of a tile in it: a part of a tile is described as the
/// whole, and begins further on.
///
/// A part begins at a multiple of its extents, which are those of an instruction or more: at a multiple of eight rows, which no swizzle moves,
/// and of sixteen bytes.
pub(crate) fn described_in(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    window: &SharedType,
) -> (Layout, SharedType) {
    in_tile(&kernel.shared[window.root], &layouts[window.root], window)
        .expect("elaborate has refused operands that are no part of a tile")
}

/// As [`read`], of a window of an allocation in this layout.
///
/// # Errors
/// If no descriptor says where the elements are.
pub(crate) fn read_in(
    layout: &Layout,
    window: &SharedType,
    side: Side,
    Instruction { n, sparse }: Instruction,
) -> Result<Operand, Box<Refusal>> {
    let (axis, bytes) = (side.axis(window), window.dtype.bytes());
    let read = match side {
        Side::Left => operand(layout, bytes, axis, INSTRUCTION_M),
        Side::Right if sparse => sparse_right_operand(layout, bytes, axis, n),
        Side::Right => operand(layout, bytes, axis, n),
    };
    read.map_err(Box::new)
}

/// The types of the operands, which have one size.
pub fn factors(kernel: &Kernel, args: &[Value]) -> [Dtype; 2] {
    [args[0], args[1]].map(|factor| match kernel.ty(factor) {
        Type::Shared(window) => window.dtype,
        Type::TensorMemory(window) => window.dtype,
        Type::Tile(Elem::Number(dtype), _) => *dtype,
        Type::Tile(Elem::Ptr(_), _) | Type::Scalar(_) | Type::Barrier(_) | Type::Error => {
            unreachable!("ir::verify requires memory or a tile of numbers here")
        }
    })
}
