//! The targets that a kernel is compiled for.
#![expect(non_upper_case_globals, reason = "targets are written as ptxas and nvcc write them")]

pub use kernel_runtime::Target;

use super::stub;

/// Ampere and later: `cp.async`, `mma.sync`, `ldmatrix`. Its code runs on every later GPU.
pub const sm_80: Target = Target::Sm80;

/// Hopper only: TMA, mbarriers, clusters, `wgmma`.
pub const sm_90a: Target = Target::Sm90a;

/// Blackwell data-centre GPUs only: `tcgen05`, tensor memory.
pub const sm_100a: Target = Target::Sm100a;

/// Whether the kernel is being compiled for `which`: one of the targets of this module.
///
/// A kernel that names several targets is compiled once for each, and `if target(..)` chooses when compiling. The other
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
