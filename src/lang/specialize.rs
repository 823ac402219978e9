//! Parts of a kernel in warps of their own.

use super::stub;

/// How many warps run a part of a kernel, and what they have: made by [`partition`].
#[derive(Debug)]
pub struct PartitionBuilder(());

/// A part of a kernel with the warps that run it: made by [`PartitionBuilder::run`].
#[derive(Debug)]
pub struct Partition(());

/// A partition of `warps` warps: 1, 2, 4 or 8.
///
/// # Errors
/// K0505 for another number of warps, K0106 for one that is not known when compiling.
///
/// # PTX
/// None: it decides how many threads the block has.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn clear(x: TensorMut<f32, 1>, y: TensorMut<f32, 1>) {
///     warp_specialize(
///         || x.tile([0], [128]).store(zeros([128])),
///         [partition(1).run(|| y.tile([0], [128]).store(zeros([128])))],
///     );
/// }
/// ```
pub fn partition(warps: i32) -> PartitionBuilder {
    stub()
}

impl PartitionBuilder {
    /// Gives each thread of the partition `count` registers, a multiple of 8 from 24 to 256.
    ///
    /// Registers move between groups of four warps. Partitions of one or two warps share a group with each other, which has
    /// the largest budget of them; where some partition has a budget, the kernel's own warps have groups for themselves. What the
    /// groups with a budget leave of the registers that the block begins with (65536 by its threads, down to a multiple of 8, for each of
    /// them) is divided evenly among the others, up to 240 for a thread, and a multiprocessor holds one block.
    ///
    /// # PTX
    /// `setmaxnreg.dec.sync.aligned.u32` where a warp begins with more, `setmaxnreg.inc` where it begins with less (PTX
    /// ISA, "setmaxnreg"); `.minnctapersm 1`.
    ///
    /// # Errors
    /// K0505 for another number, K0506 where the kernel's own warps keep fewer than 24, K0502 for targets before `sm_90a`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn clear(x: TensorMut<f32, 1>) -> Partition {
    ///     partition(4).registers(40).run(move || x.tile([0], [128]).store(zeros([128])))
    /// }
    /// ```
    #[must_use]
    pub fn registers(self, count: i32) -> PartitionBuilder {
        stub()
    }

    /// What the partition runs. `return` in it ends the partition.
    ///
    /// # PTX
    /// A branch that the warps of the partition take.
    ///
    /// # Errors
    /// K0408 where it takes a tile from outside, or changes a variable from outside.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn clear(x: TensorMut<f32, 1>) -> Partition {
    ///     partition(1).run(move || x.tile([0], [128]).store(zeros([128])))
    /// }
    /// ```
    #[must_use]
    pub fn run(self, body: impl FnOnce()) -> Partition {
        stub()
    }
}

/// Runs `default` in the kernel's own warps and, at the same time, each of `others` in warps of its own; gives what `default`
/// gives.
///
/// A block has the `warps` of the kernel and those of all partitions. What stands before and after the call runs in the kernel's own
/// warps. The others wait until these come to the call, and see everything that was written to shared and global memory before; where
/// something follows the call, it waits until all partitions have ended, and sees what they wrote.
///
/// In a partition everything concerns its warps alone: tiles are spread over them, [`sync`](super::sync), reductions and
/// conversions of layouts wait for them, and [`num_warps`](super::num_warps) counts them. Partitions wait for one another only
/// where the kernel says so.
///
/// A partition takes scalars, tensors, pointers and shared memory from outside, also as fields of structs, but no tiles: their
/// elements are in registers of other threads. It cannot change variables from outside. `default` may do both.
///
/// The call stands in the body of the kernel or in a function that it calls, once, and not in a loop or branch.
///
/// # PTX
/// A branch on `%tid.x` at the start of the kernel, `bar.sync 1` of all warps at the call, and again behind it if
/// something follows, where partitions do `bar.arrive 1`; inside of a partition `bar.sync` with a number and a count of its own, or
/// `bar.warp.sync` in a single warp (PTX ISA, "bar"). Scalars that the partition cannot compute from constants and parameters
/// go through shared memory.
///
/// # Errors
/// K0407 where it cannot stand, K0408 for what a partition cannot take, K0505 where a block has not enough warps or barriers, K0506
/// where it has not enough registers, K0206 for partitions that run nothing.
///
/// ```
/// use kiln::prelude::*;
///
/// /// sums = a row's sum, twice = twice the row: each by warps of its own.
/// #[kernel(target = sm_80, warps = 4, grid = [x.dim(0)])]
/// fn both(x: Tensor<f32, 2>, sums: TensorMut<f32, 1>, twice: TensorMut<f32, 2>) {
///     let row = block_id(0);
///     let window = x.tile([row, 0], [1, 256]);
///     warp_specialize(
///         || sums.tile([row], [1]).store(window.load().sum(1)),
///         [partition(2).run(|| twice.tile([row, 0], [1, 256]).store(window.load() * 2.0))],
///     );
/// }
///
/// let stream = Device::emulator(Target::Sm80)?.stream()?;
/// let x = stream.full([3, 256], 0.5)?;
/// let (mut sums, mut twice) = (stream.zeros([3])?, stream.zeros([3, 256])?);
/// both(both::Args { x: &x, sums: &mut sums, twice: &mut twice }).launch(&stream)?;
/// assert_eq!(sums.to_vec(&stream)?, [128.0; 3]);
/// assert_eq!(twice.to_vec(&stream)?, [1.0; 768]);
/// # Ok::<(), kiln::Error>(())
/// ```
pub fn warp_specialize<R, const N: usize>(
    default: impl FnOnce() -> R,
    others: [Partition; N],
) -> R {
    stub()
}
