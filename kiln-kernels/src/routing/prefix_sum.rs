//! Running sums of rows.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::shape::{extent, require};

/// Whether a running sum has the element itself in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The sum of the element and all before it.
    Inclusive,
    /// The sum of all before the element, from 0 on.
    Exclusive,
}

/// A type that running sums are compiled for: [`bf16`], [`struct@f16`], [`f32`] and [`i32`]. Floating-point sums are computed in f32, and
/// integers wrap.
pub trait Summand: Element + sealed::Sealed {}

impl Summand for bf16 {}
impl Summand for f16 {}
impl Summand for f32 {}
impl Summand for i32 {}

mod sealed {
    use kiln::prelude::{bf16, f16};

    /// The kernels are compiled for these types alone.
    pub trait Sealed {}

    impl Sealed for bf16 {}
    impl Sealed for f16 {}
    impl Sealed for f32 {}
    impl Sealed for i32 {}
}

/// The running sums of each row: `x` and `out` have the shape `[rows, columns]`.
///
/// A vector is one row. The order of additions depends on the shape alone, so that the sums are the same in every run. Rows of more than
/// 4096 columns are read once, by several blocks each, which give their sums to one another in memory that is allocated: a
/// [`capture`](kiln::Device::capture) refuses that. [`PrefixSums`] keep it from one call to the next.
///
/// # Errors
/// [`Error::Shape`] for different extents and for more than 2^30 columns, those of the allocation and of launches.
#[doc(alias = "cumsum")]
pub fn prefix_sum<T: Summand>(
    stream: &Stream,
    part: Part,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    PrefixSums::new(stream)?.sum(stream, part, x, out)
}

/// Computes running sums of rows, and keeps scratch memory from one [`sum`](PrefixSums::sum) to the next.
///
/// `PrefixSums` serve any number of shapes, types and streams of their device. Sums of rows of more than 4096 columns wait for those
/// before, because they share the scratch memory; one of the same extents has to have run before it is recorded in a
/// [`capture`](kiln::Device::capture), which cannot allocate.
#[derive(Debug)]
pub struct PrefixSums {
    /// The next part that a block takes, and sums of parts and of groups of them.
    words: DeviceTensor<i64, 1>,
    /// A launch has failed, and what it has left is not the beginning of another one.
    spoilt: bool,
}

impl PrefixSums {
    /// Running sums on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<PrefixSums> {
        Ok(PrefixSums { words: stream.zeros([0])?, spoilt: false })
    }

    /// The running sums of each row, as of [`prefix_sum`].
    ///
    /// # Errors
    /// Those of [`prefix_sum`].
    pub fn sum<T: Summand>(
        &mut self,
        stream: &Stream,
        part: Part,
        x: &impl TensorArgument<T, 2>,
        out: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let shape @ [rows, columns] = x.tensor()?.shape();
        require("prefix_sum, of x", [rows, columns.min(1 << 30)], shape)?;
        require("prefix_sum, of out", shape, out.tensor_mut()?.shape())?;
        if shape.contains(&0) {
            return Ok(());
        }
        let (ty, inclusive) = (Dtype::of::<T>(), i32::from(part == Part::Inclusive));
        let mut instances = sums::short::instances();
        if let Some(short) = instances.find(|i| i.T == ty && columns <= extent(i.N)) {
            return short.with(sums::short::Args { x, inclusive, out }).launch(stream);
        }
        let long = sums::long::find(|i| i.T == ty)?;
        // As many as any type takes, so that another one of the same extents finds them there.
        let parts = columns.div_ceil(extent(sums::C));
        let words = 1 + rows * (parts + parts.div_ceil(extent(sums::G)));
        if self.words.len() < words || self.spoilt {
            self.words = stream.zeros([words.max(self.words.len())])?;
        }
        let launched = long
            .with(sums::long::Args { x, inclusive, words: &mut self.words, out })
            .launch(stream);
        self.spoilt = launched.is_err();
        launched
    }
}

/// Sums of rows and of their parts.
#[kiln::kernel]
mod sums {
    use kiln::prelude::*;

    /// Columns that the registers of a block hold: no part has fewer.
    pub(super) const C: i32 = 8192;
    /// Parts of a group: a block adds the sums of all groups before its own, and those of the parts before it in its group.
    pub(super) const G: i32 = 256;
    /// Groups of the longest row.
    const GROUPS: i32 = (1 << 30) / (G * C);

    /// A tile as `[runs, lanes, 8]`: a thread adds neighbours, and a warp the sums of its threads.
    fn runs<T: Scalar>(x: Tile<T>) -> Tile<T> {
        let [rows, columns] = [x.dim(0), x.dim(1)];
        let lanes = if columns < 256 { columns / 8 } else { 32 };
        x.reshape([rows * columns / (8 * lanes), lanes, 8])
    }

    /// The sums of all elements of a thread.
    fn of_threads<S: Number>(x: Tile<S>) -> Tile<S> {
        let [runs, lanes] = [x.dim(0), x.dim(1)];
        // The last of each eight.
        let (_, x) = x.scan(2, |a, b| a + b).reshape([runs, lanes, 4, 2]).split();
        let (_, x) = x.reshape([runs, lanes, 2, 2]).split();
        x.split().1
    }

    /// The sums of what comes before each thread's elements in their row, of `rows`. The second tile has those up to the end of each run.
    fn sums_before<S: Number>(x: Tile<S>, rows: i32) -> (Tile<S>, Tile<S>) {
        let [runs, lanes] = [x.dim(0), x.dim(1)];
        let sums = of_threads(x).scan(1, |a, b| a + b);
        let at = arange(0, lanes).expand(0).broadcast([runs, lanes]);
        let before = sums.gather(1, at - 1);
        if lanes < 32 {
            (before, sums)
        } else {
            // Each warp adds the runs of all warps, by its lanes.
            let each = runs / rows;
            let of_warps = blocked([1, 1], [1, 32], [num_warps(), 1], [1, 0]);
            let of_lanes = blocked([1, 1], [32 / each, each], [num_warps(), 1], [1, 0]);
            let sums = sums.gather(1, full([runs, 1], 31).to_layout(of_warps));
            let sums = sums.reshape([rows, each]).to_layout(of_lanes).scan(1, |a, b| a + b);
            let at = arange(0, each).expand(0).broadcast([rows, each]);
            let of_runs = sums.gather(1, (at - 1).to_layout(of_lanes));
            (before + of_runs.reshape([runs, 1]).to_layout(of_warps), sums)
        }
    }

    /// The sums of `before` and what comes before each element of a thread, or of that and the element itself.
    fn running<S: Number>(x: Tile<S>, before: Tile<S>, inclusive: i32) -> Tile<S> {
        let before = before.expand(2);
        if inclusive == 1 {
            before + x.scan(2, |a, b| a + b)
        } else {
            before + x.scan_exclusive(2, S::ZERO, |a, b| a + b)
        }
    }

    /// `R` rows of up to `N` columns a block.
    #[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), R),
             instances((T, S) = [(bf16, f32), (f16, f32), (f32, f32), (i32, i32)],
                       (R, N, W) = [(32, 64, 4), (4, 1024, 4), (2, 4096, 8)]))]
    pub fn short<T: Cast, S: Number + Cast, const R: i32, const N: i32, const W: i32>(
        x: Tensor<T, 2>,
        inclusive: i32,
        out: TensorMut<T, 2>,
    ) {
        let row = block_id(0) * R;
        let x = runs(x.tile([row, 0], [R, N]).load().cast::<S>());
        let sums = running(x, sums_before(x, R).0, inclusive);
        out.tile([row, 0], [R, N]).store(sums.reshape([R, N]).cast::<T>());
    }

    /// A sum and the launch that it is of.
    fn word<S: Number>(sum: Tile<S>, launch: i32) -> Tile<i64> {
        sum.reshape([1]).bitcast::<u32>().cast::<i64>() | (i64::from(launch) << 32)
    }

    /// The words of up to `L` sums, as rows of `G`.
    fn words_of<const L: i32>(sums: TensorMut<i64, 1>) -> Tile<i64> {
        sums.tile([0], [L]).atomic_load().reshape([L / G, G])
    }

    /// Which of the first `count` words are not of this launch: those of columns.
    fn missing(words: Tile<i64>, count: i32, launch: i32) -> Tile<i32> {
        let place = arange(0, words.dim(0) * G).reshape([words.dim(0), G]);
        let is_old = (words >> 32).cast::<i32>().ne(launch);
        (place.lt(count) & is_old).cast::<i32>().max(0)
    }

    /// The sums of columns of words.
    fn sums_in<S: Number>(words: Tile<i64>) -> Tile<S> {
        words.cast::<u32>().bitcast::<S>().sum(0)
    }

    /// The sum of up to `G` parts and up to `GROUPS` groups, once they are there.
    fn sum_of<S: Number>(
        parts: TensorMut<i64, 1>,
        groups: TensorMut<i64, 1>,
        launch: i32,
    ) -> Tile<S> {
        let (of_parts, of_groups) = (parts.dim(0), groups.dim(0));
        let (mut a, mut b) = (words_of::<G>(parts), words_of::<GROUPS>(groups));
        while (missing(a, of_parts, launch) | missing(b, of_groups, launch)).max(0).item() != 0 {
            a = words_of::<G>(parts);
            b = words_of::<GROUPS>(groups);
        }
        (sums_in::<S>(b) + sums_in::<S>(a)).reshape([1, G]).sum(1).expand(1)
    }

    /// A part of a row.
    ///
    /// Blocks take parts in order, so that those before are taken already, and wait for their sums and those of groups. None waits for a
    /// sum that waits for all before: so the sums are of the same numbers in every run, and are there soon.
    #[kernel(target = sm_80, warps = 8, grid = x.dim(0) * cdiv(x.dim(1), N),
             instances((T, S, N) = [(bf16, f32, 16384), (f16, f32, 16384), (f32, f32, 8192), (i32, i32, 8192)]))]
    pub fn long<T: Cast, S: Number + Cast, const N: i32>(
        x: Tensor<T, 2>,
        inclusive: i32,
        words: TensorMut<i64, 1>,
        out: TensorMut<T, 2>,
    ) {
        let next = words.tile([0], [1]);
        let turn = next.atomic_add(full([1], 1)).item();
        let (block, launch) = (turn as i32, (turn >> 32) as i32 + 1);
        if block == num_blocks(0) - 1 {
            // No block of this launch asks again.
            next.atomic_store(full([1], i64::from(launch) << 32));
        }
        let parts = words.slice(1..1 + num_blocks(0));
        let groups = words.slice(1 + num_blocks(0)..);
        let parts_of_row = cdiv(x.dim(1), N);
        let (row, part) = (block / parts_of_row, block % parts_of_row);
        // Shared memory keeps the part while the block waits, so that registers of more blocks fit.
        let staged = shared::<T>([1, N]);
        copy_async(x.tile([row, part * N], [1, N]), staged);
        copy_async_wait_all();
        sync();
        // 16 bytes a thread. What comes before its elements, and the sum of the columns, for each `C` columns.
        let v = 128 / T::BITS;
        let layout = blocked([1, 1, v], [1, 4 * v, 8 / v], [num_warps(), 1, 1], [2, 1, 0]);
        let before = array(N / C, |i| {
            let x = runs(staged.tile([0, i * C], [1, C]).load()).to_layout(layout);
            let (before, sums) = sums_before(x.cast::<S>(), 1);
            (before, sums.gather(1, full([1, 1], C / 256 - 1)))
        });
        let mut sum = zeros::<S>([1, 1]);
        for i in unroll(0..N / C) {
            sum += before[i].1;
        }
        parts.tile([block], [1]).atomic_store(word(sum, launch));
        let (group, at) = (part / G, part % G);
        let others = parts.slice(block - at..block);
        let first = row * cdiv(parts_of_row, G);
        let mut earlier = zeros::<S>([1, 1]);
        for step in range(if at == G - 1 { 0 } else { 1 }, 2, 1) {
            // First without other groups, so that no group waits for the one before it.
            let end = first + step * group;
            earlier = sum_of::<S>(others, groups.slice(first..end), launch);
            if step == 0 {
                groups.tile([first + group], [1]).atomic_store(word(earlier + sum, launch));
            }
        }
        for i in unroll(0..N / C) {
            let x = runs(staged.tile([0, i * C], [1, C]).load()).to_layout(layout);
            let sums = running(x.cast::<S>(), before[i].0 + earlier, inclusive);
            out.tile([row, part * N + i * C], [1, C]).store(sums.reshape([1, C]).cast::<T>());
            earlier += before[i].1;
        }
    }
}
