//! The position of a block in the launch. The overview explains the grid.

use super::stub;

/// The block's position on axis `axis` of the grid, from 0. The axis is 0, 1 or 2.
///
/// Blocks run in no particular order, and not necessarily at the same time.
///
/// # PTX
/// `mov.u32 %r0, %ctaid.x`, `.y` or `.z` (PTX ISA, "Special Registers").
///
/// # Errors
/// K0205 for an axis other than 0, 1 and 2.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn my_rows(x: Tensor<f32, 2>) -> Tile<f32> {
///     x.tile([block_id(0) * 16, 0], [16, 64]).load()
/// }
/// ```
pub fn block_id(axis: usize) -> i32 {
    stub()
}

/// The number of blocks along axis `axis` of the grid. The axis is 0, 1 or 2; an axis that the
/// launch does not name has one block.
///
/// # PTX
/// `mov.u32 %r0, %nctaid.x`, `.y` or `.z` (PTX ISA, "Special Registers").
///
/// # Errors
/// K0205 for an axis other than 0, 1 and 2.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Each block takes every `num_blocks`-th piece.
/// fn grid_stride(x: TensorMut<f32, 1>) {
///     for piece in range(block_id(0), cdiv(x.dim(0), 256), num_blocks(0)) {
///         x.tile([piece * 256], [256]).store(zeros([256]));
///     }
/// }
/// ```
pub fn num_blocks(axis: usize) -> i32 {
    stub()
}

/// Another name of [`num_blocks`].
///
/// PTX and errors: those of [`num_blocks`](num_blocks).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn is_last() -> bool {
///     block_id(0) == grid_dim(0) - 1
/// }
/// ```
pub fn grid_dim(axis: usize) -> i32 {
    stub()
}

/// The number of warps of 32 threads that run this part of the kernel, known at compile time: the kernel's `warps`, or those of a
/// [partition](super::partition).
///
/// # PTX
/// None: a constant.
///
/// # Errors
/// None of its own; K0503 is about the kernel's `warps`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn threads() -> i32 {
///     num_warps() * 32
/// }
/// ```
pub fn num_warps() -> i32 {
    stub()
}

/// How many pieces of size `b` cover `a`, in a kernel's body and on the host.
///
/// It also works in the `grid` expression and in `const` items.
///
/// # PTX
/// `a > 0 ? (a - 1) / b + 1 : 0`: two `add.s32`, `div.s32` (a shift if `b` is a known power of two), `selp.b32`; a
/// constant if both are known.
///
/// # Errors
/// K0206 for operands that are not numbers, K0207 if a constant overflows or `b` is 0.
///
/// ```
/// use kiln::prelude::*;
///
/// assert_eq!(cdiv(256, 128), 2);
/// assert_eq!(cdiv(257, 128), 3);
/// assert_eq!(cdiv(0, 128), 0);
/// ```
#[doc(inline)]
pub use kernel_runtime::cdiv;

/// Allows the next grid on the stream to start: its blocks take the place of those that end.
///
/// It does not make any writes visible. Only a kernel that calls [`grid_dependency_wait`] is launched early.
///
/// # PTX
/// `griddepcontrol.launch_dependents` (PTX ISA, "griddepcontrol").
///
/// # Errors
/// K0502 on `sm_80`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn first_of_all() {
///     launch_dependents();
/// }
/// ```
pub fn launch_dependents() {
    stub()
}

/// Waits until the earlier grids on the stream have ended, and sees what they wrote.
///
/// A kernel that calls it is launched before the earlier grids have ended, as soon as all their blocks have called [`launch_dependents`] or
/// ended. Call it on every path, before the first access to global memory: what does not need global memory can come before. It costs
/// nothing if the kernel did not start early.
///
/// # PTX
/// `griddepcontrol.wait` (PTX ISA, "griddepcontrol").
///
/// # Errors
/// K0424 if a tensor is used on a path without it, or if the kernel can end without it. K0502 on `sm_80`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn before_reading() {
///     grid_dependency_wait();
/// }
/// ```
pub fn grid_dependency_wait() {
    stub()
}
