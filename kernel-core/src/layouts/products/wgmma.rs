//! `wgmma` products: the layouts of accumulators and of left operands in registers, and how operands are read from shared
//! memory.

use kernel_layout::wgmma::{INSTRUCTION_M, INSTRUCTION_N_LIMIT, Operand, Refusal, operand};
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

/// How a product reads an operand from shared memory; `n` is the columns of one instruction.
///
/// # Errors
/// If no descriptor says where the elements are.
pub fn read(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    window: &SharedType,
    side: Side,
    n: u32,
) -> Result<Operand, Box<Refusal>> {
    let (layout, window) = described_in(kernel, layouts, window);
    read_in(&layout, &window, side, n)
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
    n: u32,
) -> Result<Operand, Box<Refusal>> {
    let axis = side.axis(window);
    let width = match side {
        Side::Left => INSTRUCTION_M,
        Side::Right => n,
    };
    operand(layout, window.dtype.bytes(), axis, width).map_err(Box::new)
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
