//! Loops, the block's barrier, assertions.

use core::iter::StepBy;
use core::ops::Range;

use super::scalar::Operand;
use super::stub;

/// `from, from + step, ..` while the value is less than `to`; with a negative step, while it is greater.
///
/// The bounds may be known only at run time. `step` is not 0. `from..to` has a step of 1.
///
/// # PTX
/// A counter in a register: `setp.lt.s32` once before the loop and once an iteration, `add.s32`, `bra`. Variables that
/// the loop changes, including tiles, stay in registers.
///
/// # Errors
/// K0206 for bounds that are not scalar integers; K0203 for bounds of different types; K0207 for a constant step of 0;
/// K0209 and K0202 if an iteration gives a variable another type or shape.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn dot_rows(a: Tensor<f32, 1>, b: Tensor<f32, 1>) -> Tile<f32> {
///     let mut sum = zeros::<f32>([256]);
///     for at in range(0, a.dim(0), 256) {
///         sum += a.tile([at], [256]).load() * b.tile([at], [256]).load();
///     }
///     sum.sum(0)
/// }
/// ```
pub fn range(from: i32, to: i32, step: i32) -> StepBy<Range<i32>> {
    stub()
}

/// The same iterations, unrolled: the loop variable is known at compile time in each of them.
///
/// The bounds are known at compile time. Takes `a..b` and [`range`]. `break` and `continue`
/// may depend only on what is known at compile time.
///
/// # PTX
/// None: the body once for each iteration.
///
/// # Errors
/// K0106 for a bound that is not known at compile time, K0206 for an argument that is not a range, K0109 for more than
/// 4096 iterations or too much code.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fill<const STAGES: i32>(ring: Shared<f32>) {
///     for stage in unroll(0..STAGES) {
///         ring[stage].store(full([64], stage as f32));
///     }
/// }
/// ```
pub fn unroll<I: Iterator<Item = i32>>(iterations: I) -> I {
    iterations
}

/// The same iterations; the asynchronous copies at the start of each iteration start `stages - 1` iterations ahead.
///
/// An iteration begins with copies ([`copy_async`](super::copy_async)) into shared allocations. The rest of the
/// iteration sees the copied data in every thread, without waiting or synchronising itself. The compiler keeps each of
/// these allocations `stages` times, 2 to 16, and the copies of later iterations arrive while this one computes. The
/// step of the range is a positive constant.
///
/// Blocks of tensor maps, `copy_async(map.at([i, k]), s)`, are TMA copies and need no barrier: the loop has one for
/// each stage, and waits on it. A loop may have both kinds of copies.
///
/// # Where the copies read
/// The place may depend on the loop variable, on values from before the loop, and on indices that the iteration loads before its copies: from
/// a tensor that is only read (`Tensor`), or from other memory that the loop does not write. The compiler loads the indices one iteration
/// before the copies that need them, and loads none for iterations that do not exist. Indices that a branch loads are loaded with the
/// copies of the branch. If the rest of the iteration computes with an index, it loads the index again.
///
/// # Copies in branches
/// Copies may stand in an `if`, alone or with what uses their data. A TMA copy may have a condition of its own,
/// [`when`](super::Copying::when). The condition may depend on what the place may depend on. If an iteration copies nothing to an allocation,
/// its stage holds what an earlier iteration copied, or nothing. So an iteration uses the allocation only under the condition under which it
/// copies. The compiler compares conditions by what they compute.
///
/// # Errors
/// K0405 if an iteration does not begin with copies, if a copy or its condition depends on what the iteration before computed or on memory
/// that the loop writes, if an iteration uses what it may not have copied, if it copies or waits elsewhere, if it leaves the loop, or
/// if an allocation that it fills is used outside.
///
/// # PTX
/// `cp.async.commit_group` once an iteration, `cp.async.wait_group stages - 2` and `bar.sync 0` at the start of the
/// next; after the loop `bar.sync 0`, if what follows needs it. For blocks of tensor maps: `mbarrier.arrive.expect_tx`
/// and `cp.async.bulk.tensor` by one thread, after the `bar.sync 0` at the start of an iteration, and
/// `mbarrier.try_wait.parity`. If a branch copies nothing, the thread arrives all the same. Loaded indices stay in registers from one
/// iteration to the next, up to 1024 of them.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn product(a: Tensor<f16, 2>, b: Tensor<f16, 2>, row: i32, column: i32) -> Tile<f32> {
///     let (sa, sb) = (shared::<f16>([128, 32]), shared::<f16>([32, 128]));
///     let mut acc = zeros::<f32>([128, 128]);
///     for k in pipeline(range(0, a.dim(1), 32), 3) {
///         copy_async(a.tile([row, k], [128, 32]), sa);
///         copy_async(b.tile([k, column], [32, 128]), sb);
///         acc = dot(sa, sb, acc);
///     }
///     acc
/// }
///
/// /// TMA copies, for `wgmma`.
/// fn product_of_maps(
///     a: TensorMap<f16, 2>,
///     b: TensorMap<f16, 2>,
///     (row, column): (i32, i32),
/// ) -> Tile<f32> {
///     let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 128]));
///     let mut acc = zeros::<f32>([128, 128]);
///     for k in pipeline(range(0, a.dim(1), 64), 4) {
///         copy_async(a.at([row, k]), sa);
///         copy_async(b.at([k, column]), sb);
///         acc = dot(sa, sb, acc);
///     }
///     acc
/// }
///
/// /// The pages of a sequence, those that are there.
/// fn sum_of_pages(table: Tensor<i32, 1>, cache: Tensor<f32, 2>, pages: i32) -> Tile<f32> {
///     let page = shared::<f32>([16, 64]);
///     let mut sum = zeros::<f32>([16, 64]);
///     for k in pipeline(0..pages, 4) {
///         let at = load(table.ptr() + k);
///         if at >= 0 {
///             copy_async(cache.tile([at * 16, 0], [16, 64]), page);
///             sum += page.load();
///         }
///     }
///     sum
/// }
/// ```
pub fn pipeline<I: Iterator<Item = i32>>(iterations: I, stages: i32) -> I {
    let _ = stages;
    iterations
}

/// Every thread of the block waits here for all others, and then sees what they wrote to shared and global memory.
///
/// Scalars, and so branches, are the same in every thread: either all threads get here or none does.
///
/// In a [partition](super::partition) only its threads wait.
///
/// # PTX
/// `bar.sync 0`; in a kernel with partitions, with a barrier number and a count, or `bar.warp.sync` in one warp (PTX
/// ISA, "bar"). None where no thread can tell: if no access to memory before it, since the threads last met, and none after it, until they
/// meet again, are to the same memory with one of them a write. Instructions of [`ptx!`](crate::ptx!) count as what they access.
///
/// # Errors
/// None of its own. If a `sync` is missing, the emulator reports the race.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn exchange(x: Tile<f32>, at: Shared<f32>) -> Tile<f32> {
///     at.store(x);
///     sync(); // all of it is written
///     let y = at.load();
///     sync(); // all of it is read: it may be written again
///     y
/// }
/// ```
pub fn sync() {
    stub()
}

/// Stops the kernel with an error if `condition`, a `bool` or a mask, does not hold everywhere.
///
/// On a GPU the kernel traps, and the driver reports a failed launch; in the emulator the error names the
/// line. Every thread checks the elements that it holds. Release builds check it too. `assert!` says more where it fails, and is
/// there in debug builds: see [while it runs](super#while-it-runs).
///
/// # PTX
/// `@!%p0 trap`, after one `and.pred` for each further element of a thread (PTX ISA, "trap").
///
/// # Errors
/// K0204 if the condition is neither `bool` nor a mask.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn look_up(table: Ptr<f32>, n: i32, indices: Tile<i32>) -> Tile<f32> {
///     device_assert(indices.ge(0) & indices.lt(n));
///     load(table + indices)
/// }
/// ```
pub fn device_assert(condition: impl Operand<bool>) {
    stub()
}
