//! The kernels.

/// Words of a score and its column, in order.
#[kiln::kernel]
pub(super) mod order {
    use crate::order::items::{numbers, ordered};
    use kiln::prelude::*;

    /// Columns of a run that one block sorts.
    pub(crate) const RUN: i32 = 4096;
    /// Places that a block of `merge` writes.
    const M: i32 = 2048;
    /// After all words.
    const LAST: i64 = i64::MAX;

    /// The words of scores from column `at` on: in the opposite order if `turned`, and after all others outside of the row.
    fn packed(x: Tile<f32>, at: i32, columns: i32, turned: i32) -> Tile<i64> {
        let column = (at + arange(0, x.dim(1))).expand(0);
        let key = ordered(x) ^ -turned;
        let word = (key.cast::<i64>() << 32) | column.cast::<i64>();
        select(column.lt(columns), word, LAST)
    }

    /// The scores of words.
    fn scores(words: Tile<i64>, turned: i32) -> Tile<f32> {
        numbers((words >> 32).cast::<i32>() ^ -turned)
    }

    /// The columns of words.
    fn columns(words: Tile<i64>) -> Tile<i32> {
        (words & 0x7fff_ffff).cast::<i32>()
    }

    /// `R` rows a block, of up to `N` columns.
    #[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), R),
             instances(T = [bf16, f16, f32], (R, N, W) = [(16, 64, 4), (1, 1024, 4), (1, 4096, 16)]))]
    pub fn short<T: Float, const R: i32, const N: i32, const W: i32>(
        x: Tensor<T, 2>,
        turned: i32,
        values: TensorMut<T, 2>,
        indices: TensorMut<i32, 2>,
    ) {
        let row = block_id(0) * R;
        let x = x.tile([row, 0], [R, N]);
        let sorted = packed(x.load().cast::<f32>(), 0, values.dim(1), turned).sort(1);
        values.tile([row, 0], [R, N]).store(scores(sorted, turned).cast::<T>());
        indices.tile([row, 0], [R, N]).store(columns(sorted));
    }

    /// Sorts the words of each run.
    #[kernel(target = sm_80, warps = 16, grid = x.dim(0) * cdiv(x.dim(1), RUN), instances(T = [bf16, f16, f32]))]
    pub fn runs<T: Float>(x: Tensor<T, 2>, turned: i32, words: TensorMut<i64, 2>) {
        let runs = cdiv(x.dim(1), RUN);
        let (row, at) = (block_id(0) / runs, block_id(0) % runs * RUN);
        let scores = x.tile([row, at], [1, RUN]).load().cast::<f32>();
        let sorted = packed(scores, at, x.dim(1), turned).sort(1);
        words.tile([row, at], [1, RUN]).store(sorted);
    }

    /// How many of `M` words in shared memory are less than each of a tile.
    fn less(words: Shared<i64>, than: Tile<i64>) -> Tile<i32> {
        let mut count = zeros::<i32>([M]);
        let mut step = M;
        while step > 0 {
            let more = count + step;
            let word = words.gather(more - 1);
            count = select(more.le(M) & word.lt(than), more, count);
            step /= 2;
        }
        count
    }

    /// Merges pairs of runs of `run` words: a block writes `M` of them.
    #[kernel(target = sm_80, warps = 8, grid = to.dim(0) * cdiv(to.dim(1), M))]
    pub fn merge(from: Tensor<i64, 2>, run: i32, to: TensorMut<i64, 2>) {
        let blocks = cdiv(to.dim(1), M);
        let (row, at) = (block_id(0) / blocks, block_id(0) % blocks * M);
        let pair = at - at % (2 * run);
        let second = pair + run;
        let (of_first, of_second) = (run.min(to.dim(1) - pair), run.min(to.dim(1) - second).max(0));
        // How many of the words before this block's are of the first run.
        let before = at - pair;
        let (mut low, mut high) = ((before - of_second).max(0), before.min(of_first));
        while low < high {
            let middle = (low + high) / 2;
            let a = from.tile([row, pair + middle], [1, 1]).load().item();
            let b = from.tile([row, second + before - 1 - middle], [1, 1]).load().item();
            if a < b { low = middle + 1 } else { high = middle }
        }
        let places = arange(0, M);
        let a = from.tile([row, pair + low], [1, M]).load().reshape([M]);
        let a = select(places.lt(of_first - low), a, LAST);
        let b = from.tile([row, second + before - low], [1, M]).load().reshape([M]);
        let b = select(places.lt(of_second - (before - low)), b, LAST);
        let (first, other) = (shared::<i64>([M]), shared::<i64>([M]));
        let merged = shared::<i64>([M]);
        first.store(a);
        other.store(b);
        merged.store(full([M], LAST));
        sync();
        merged.scatter(places + less(other, a), a);
        merged.scatter(places + less(first, b), b);
        sync();
        to.tile([row, at], [1, M]).store(merged.load().expand(0));
    }

    /// The scores and columns of sorted words.
    #[kernel(target = sm_80, warps = 4, grid = words.dim(0) * cdiv(words.dim(1), 1024), instances(T = [bf16, f16, f32]))]
    pub fn unpack<T: Float>(
        words: Tensor<i64, 2>,
        turned: i32,
        values: TensorMut<T, 2>,
        indices: TensorMut<i32, 2>,
    ) {
        let blocks = cdiv(words.dim(1), 1024);
        let (row, at) = (block_id(0) / blocks, block_id(0) % blocks * 1024);
        let words = words.tile([row, at], [1, 1024]).load();
        values.tile([row, at], [1, 1024]).store(scores(words, turned).cast::<T>());
        indices.tile([row, at], [1, 1024]).store(columns(words));
    }
}
