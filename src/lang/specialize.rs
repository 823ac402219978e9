//! Warp specialisation: parts of a kernel that run in their own warps.

use super::stub;

/// The warps of a part of a kernel and their registers, from [`partition`].
#[derive(Debug)]
pub struct PartitionBuilder(());

/// A part of a kernel with the warps that run it, from [`PartitionBuilder::run`].
#[derive(Debug)]
pub struct Partition(());

/// A partition of `warps` warps: 1, 2, 4 or 8.
///
/// # Errors
/// K0505 for another number of warps, K0106 for one that is not known at compile time.
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
    /// Registers move between groups of four warps. Partitions of one or two warps share a group, which gets the
    /// largest of their budgets. If any partition has a budget, the kernel's own warps have their own groups. A block
    /// starts with 65536 registers divided by its threads, rounded down to a multiple of 8, for each thread. The groups
    /// without a budget share evenly what the others leave, up to 240 for a thread, and a multiprocessor holds one
    /// block.
    ///
    /// # PTX
    /// `setmaxnreg.dec.sync.aligned.u32` if a warp starts with more, `setmaxnreg.inc` if it starts with fewer (PTX ISA,
    /// "setmaxnreg"); `.minnctapersm 1`.
    ///
    /// # Errors
    /// K0505 for another number, K0506 if the kernel's own warps keep fewer than 24, K0502 for targets before `sm_90a`.
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

    /// Sets what the partition runs. `return` in it ends the partition.
    ///
    /// # PTX
    /// A branch that the warps of the partition take.
    ///
    /// # Errors
    /// K0408 if it uses a tile from outside, or changes a variable from outside.
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

/// Runs `default` in the kernel's own warps and, at the same time, each of `others` in its own warps; returns the
/// result of `default`.
///
/// A block has the `warps` of the kernel and those of all partitions. Code before and after the call runs in the
/// kernel's own warps. The others wait until these reach the call, and see everything that was written to shared and
/// global memory before. Code after the call waits until all partitions have ended, and sees what they wrote.
///
/// A partition involves only its own warps: tiles are spread over them, [`sync`](super::sync), reductions and layout
/// conversions wait for them, and [`num_warps`](super::num_warps) counts them. Partitions wait for one another only
/// where the kernel says so.
///
/// A partition may use scalars, tensors, pointers and shared memory from outside, also as fields of structs, but no
/// tiles: their elements are in registers of other threads. It cannot change variables from outside. `default` may do
/// both.
///
/// Call it once, in the body of the kernel or in a function that it calls, and not in a loop or branch.
///
/// # PTX
/// A branch on `%tid.x` at the start of the kernel and `bar.sync 1` of all warps at the call; if code follows, another
/// `bar.sync 1` after it, for which partitions do `bar.arrive 1`. Inside a partition, `bar.sync` with its own number
/// and count, or `bar.warp.sync` in a single warp (PTX ISA, "bar"). Scalars that the partition cannot compute from
/// constants and parameters go through shared memory.
///
/// # Errors
/// K0407 for a call in a loop, a branch or a partition, and for a second one, K0408 for variables that a partition
/// cannot use, K0505 if a block does not have enough warps or barriers, K0506 if it does not have enough registers,
/// K0206 for partitions that run nothing.
///
/// ```
/// use kiln::prelude::*;
///
/// /// sums = a row's sum, twice = twice the row: each by its own warps.
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
