//! The targets that a kernel is compiled for.
#![expect(non_upper_case_globals, reason = "targets are written as ptxas and nvcc write them")]

pub use kernel_runtime::Target;

use super::stub;

/// Ampere and later: `cp.async`, `mma.sync`, `ldmatrix`. Its code runs on every later GPU.
pub const sm_80: Target = Target::Sm80;

/// Ada and later: what [`sm_80`] has, and FP8 numbers in conversions and products. Its code runs on every later GPU.
pub const sm_89: Target = Target::Sm89;

/// Hopper only: TMA, mbarriers, clusters, `wgmma`.
pub const sm_90a: Target = Target::Sm90a;

/// Data-centre Blackwell, B200 and B300: `tcgen05`, tensor memory. One kernel runs on both.
pub const sm_100f: Target = Target::Sm100f;

/// B200 only: what [`sm_100f`] has, and products of integers in tensor memory.
pub const sm_100a: Target = Target::Sm100a;

/// B300 only: what [`sm_100f`] has.
pub const sm_103a: Target = Target::Sm103a;

/// Blackwell workstation cards only: TMA, mbarriers, clusters, products of FP8, FP6 and FP4 numbers by
/// `mma.sync`, with block scales and without; no tensor memory and no `wgmma`.
pub const sm_120a: Target = Target::Sm120a;

/// Whether the kernel is being compiled for `which`: one of the targets of this module.
///
/// A kernel that names several targets is compiled once for each, and `if target(..)` chooses at compile time. The other
/// branch is type-checked, and may use what the target lacks.
///
/// # PTX
/// None: only the branch that is taken is compiled.
///
/// # Errors
/// K0502 for anything but their names.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// How many tiles may be in flight.
/// fn stages() -> i32 {
///     if target(sm_80) { 3 } else { 4 }
/// }
/// ```
pub const fn target(which: Target) -> bool {
    stub()
}

/// The shared memory, in bytes, that a block can have on the target that the kernel is being compiled for; known at compile time.
///
/// It is what the allocations of a kernel, and what conversions between layouts need beside them, have to fit (K0501): 163 KiB on
/// [`sm_80`], 99 KiB on workstation cards. With it a kernel makes its ring as deep as the target allows.
///
/// # PTX
/// None: a constant.
///
/// # Errors
/// None of its own.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Stages of a ring, each of this many bytes.
/// fn stages(bytes: i32) -> i32 {
///     (shared_bytes_per_block() / bytes).min(4)
/// }
/// ```
pub const fn shared_bytes_per_block() -> i32 {
    stub()
}
