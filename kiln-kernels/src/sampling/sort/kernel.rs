//! The kernels.

/// Words of a score and its column, in order.
#[kiln::kernel]
pub(super) mod order {
    use crate::order::items::{numbers, ordered};
    use kiln::prelude::*;

    /// Places that a block of a merge writes, and how many of them a thread.
    const M: i32 = 4096;
    const EACH: i32 = 16;
    /// One element of 256 a thread, and 16 bytes of words.
    const THREADS: Layout = blocked([1], [32], [8], [0]);
    const NEIGHBOURS: Layout = blocked([2], [32], [8], [0]);
    /// Lowest bits of a word of 32 bits, which have the column.
    const COLUMN: i32 = 15;

    /// Integers in the order of scores, or in the opposite one if `turned`: of 16 bits for scores of 16 bits.
    fn keys<T: Float>(x: Tile<T>, turned: i32) -> Tile<i32> {
        let x = x.cast::<f32>();
        let keys = if T::BITS == 16 {
            let bits = (x + 0.0).cast::<T>().bitcast::<i16>().cast::<i32>();
            select(x.is_nan(), 0x7fff, bits ^ ((bits >> 31) & 0x7fff))
        } else {
            ordered(x)
        };
        keys ^ -turned
    }

    /// The scores of integers that `keys` gives.
    fn scores<T: Float>(keys: Tile<i32>, turned: i32) -> Tile<T> {
        let keys = keys ^ -turned;
        if T::BITS == 16 {
            (keys ^ ((keys >> 31) & 0x7fff)).cast::<i16>().bitcast::<T>()
        } else {
            numbers(keys).cast::<T>()
        }
    }

    /// Keys of scores in order, and the column of each. Those from column `columns` on are last.
    ///
    /// No two words are equal, and those of scores of 16 bits have 32.
    fn sorted<T: Float>(x: Tile<T>, columns: i32, turned: i32) -> (Tile<i32>, Tile<i32>) {
        let column = arange(0, x.dim(1)).expand(0);
        let keys = keys(x, turned);
        if T::BITS == 16 {
            let words = select(column.lt(columns), (keys << COLUMN) | column, i32::MAX).sort(1);
            (words >> COLUMN, words & ((1 << COLUMN) - 1))
        } else {
            let words = (keys.cast::<i64>() << 32) | column.cast::<i64>();
            let words = select(column.lt(columns), words, i64::MAX).sort(1);
            ((words >> 32).cast::<i32>(), words.cast::<i32>())
        }
    }

    /// `R` rows a block, of up to `N` columns.
    #[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), R),
             instances(T = [bf16, f16, f32], (R, N, W) = [(16, 64, 4), (2, 512, 4), (1, 1024, 4), (1, 4096, 16)]))]
    pub fn short<T: Float, const R: i32, const N: i32, const W: i32>(
        x: Tensor<T, 2>,
        turned: i32,
        values: TensorMut<T, 2>,
        indices: TensorMut<i32, 2>,
    ) {
        let row = block_id(0) * R;
        let x = x.tile([row, 0], [R, N]).load();
        let (keys, columns) = sorted(x, values.dim(1), turned);
        values.tile([row, 0], [R, N]).store(scores::<T>(keys, turned));
        indices.tile([row, 0], [R, N]).store(columns);
    }

    /// Sorts the words of each run of `N` columns.
    #[kernel(target = sm_80, warps = 16, grid = x.dim(0) * cdiv(x.dim(1), N),
             instances((T, N) = [(bf16, 8192), (f16, 8192), (f32, 4096)]))]
    pub fn runs<T: Float, const N: i32>(x: Tensor<T, 2>, turned: i32, words: TensorMut<i64, 2>) {
        let runs = cdiv(x.dim(1), N);
        let (row, at) = (block_id(0) / runs, block_id(0) % runs * N);
        let scores = x.tile([row, at], [1, N]).load();
        let (keys, columns) = sorted(scores, x.dim(1) - at, turned);
        let sorted = (keys.cast::<i64>() << 32) | (columns + at).cast::<i64>();
        words.tile([row, at], [1, N]).store(sorted);
    }

    /// How many of the first words of two runs, which are merged, are of the first run: of the first `begin` and of the first `end`.
    ///
    /// Each step compares 256 pairs, and leaves the words between two of them.
    fn shares(first: Tensor<i64, 2>, second: Tensor<i64, 2>, begin: i32, end: i32) -> (i32, i32) {
        let before = begin + arange(0, 2).expand(1) * (end - begin);
        let mut low = maximum(before - second.dim(0), 0);
        let mut high = minimum(before, first.dim(0));
        let mut left = first.dim(0);
        while left > 0 {
            let step = maximum((high - low + 255) >> 8, 1);
            let places = low + arange(0, 256).expand(0) * step;
            let others = before - 1 - places;
            let a = first.tile_rows(places.reshape([512]), [0, 0], [512, 1]).load();
            let b = second.tile_rows(others.reshape([512]), [0, 0], [512, 1]).load();
            let is_less = places.lt(high) & a.lt(b).reshape([2, 256]);
            let count = is_less.cast::<i32>().sum(1).expand(1);
            high = minimum(low + count * step, high);
            low = maximum(low + (count - 1) * step + 1, low);
            left = (left + 255) / 256 - 1;
        }
        let (a, b) = low.reshape([1, 2]).split();
        (a.item(), b.item())
    }

    /// The `M` words from place `at` on once pairs of runs of `run` words of a row are merged.
    fn merged(from: Tensor<i64, 2>, run: i32, row: i32, at: i32) -> Tile<i64> {
        let pair = at - at % (2 * run);
        let first = from.slice((pair..pair + run, row..row + 1));
        let second = from.slice((pair + run..pair + 2 * run, row..row + 1));
        let begin = at - pair;
        let end = (begin + M).min(first.dim(0) + second.dim(0));
        let (a, to_a) = shares(first, second, begin, end);
        let (b, of_a, all) = (begin - a, to_a - a, end - begin);

        // The words of the first run, and behind them those of the second.
        let words = shared::<i64>([M]);
        let place = arange(0, M);
        let from_place = place + select(place.lt(of_a), pair + a, pair + run + b - of_a);
        words.store(from.tile_rows(from_place, [0, row], [M, 1]).load().reshape([M]));
        sync();

        // Each thread finds where its own begin, and merges them.
        let before = arange(0, M / EACH) * EACH;
        let mut low = maximum(before - (all - of_a), 0).to_layout(THREADS);
        let mut high = minimum(before, of_a).to_layout(THREADS);
        let mut left = M / 2;
        while left > 0 {
            let middle = (low + high) >> 1;
            let is_less = words.gather(middle).lt(words.gather(of_a + before - 1 - middle));
            low = select(is_less & low.lt(high), middle + 1, low);
            high = select(is_less, high, middle);
            left /= 2;
        }
        let (mut i, mut j) = (low, of_a + before - low);
        let (mut a, mut b) = (words.gather(i), words.gather(j));
        let mut merged = array(EACH, |_| a);
        for k in unroll(0..EACH) {
            let is_first = i.lt(of_a) & (j.ge(all) | a.lt(b));
            merged[k] = select(is_first, a, b).to_layout(THREADS);
            i += is_first.cast::<i32>();
            j += 1 - is_first.cast::<i32>();
            let next = words.gather(select(is_first, i, j));
            a = select(is_first, next, a);
            b = select(is_first, b, next);
        }
        let eights = array(8, |k| join(merged[k], merged[k + 8]));
        let fours = array(4, |k| join(eights[k], eights[k + 4]));
        let twos = array(2, |k| join(fours[k], fours[k + 2]));
        join(twos[0], twos[1]).reshape([M]).to_layout(NEIGHBOURS).expand(0)
    }

    /// Merges pairs of runs of `run` words.
    #[kernel(target = sm_80, warps = 8, grid = to.dim(0) * cdiv(to.dim(1), M))]
    pub fn merge(#[stride(1, _)] from: Tensor<i64, 2>, run: i32, to: TensorMut<i64, 2>) {
        let blocks = cdiv(to.dim(1), M);
        let (row, at) = (block_id(0) / blocks, block_id(0) % blocks * M);
        to.tile([row, at], [1, M]).store(merged(from, run, row, at));
    }

    /// Merges up to two runs, and gives the scores and columns of their words.
    #[kernel(target = sm_80, warps = 8, grid = values.dim(0) * cdiv(values.dim(1), M), instances(T = [bf16, f16, f32]))]
    pub fn last<T: Float>(
        #[stride(1, _)] from: Tensor<i64, 2>,
        run: i32,
        turned: i32,
        values: TensorMut<T, 2>,
        indices: TensorMut<i32, 2>,
    ) {
        let blocks = cdiv(values.dim(1), M);
        let (row, at) = (block_id(0) / blocks, block_id(0) % blocks * M);
        let words = merged(from, run, row, at);
        let keys = (words >> 32).cast::<i32>();
        values.tile([row, at], [1, M]).store(scores::<T>(keys, turned));
        indices.tile([row, at], [1, M]).store(words.cast::<i32>());
    }
}
