//! The kernels.

/// Places of choices.
#[kiln::kernel]
pub(super) mod places {
    use kiln::prelude::*;

    /// The most experts.
    pub(crate) const E: i32 = 512;
    /// Choices of a block.
    pub(crate) const B: i32 = 2048;

    /// The experts of a block's choices; `E` for none.
    fn experts(indices: Tensor<i32, 1>, experts: i32) -> Tile<i32> {
        let at = block_id(0) * B;
        let index = indices.tile([at], [B]).load();
        let is_choice = (at + arange(0, B)).lt(indices.dim(0)) & index.ge(0) & index.lt(experts);
        select(is_choice, index, E)
    }

    /// Counts a block's choices of each expert. All sources become -1.
    #[kernel(target = sm_80, warps = 8, grid = parts.dim(0))]
    pub fn count(indices: Tensor<i32, 1>, parts: TensorMut<i32, 2>, sources: TensorMut<i32, 1>) {
        for at in range(block_id(0) * B, sources.dim(0), num_blocks(0) * B) {
            sources.tile([at], [B]).store(full([B], -1));
        }
        let bins = shared::<i32>([E]);
        bins.store(zeros([E]));
        sync();
        bins.atomic_add(experts(indices, parts.dim(1)), full([B], 1));
        sync();
        parts.tile([block_id(0), 0], [1, E]).store(bins.load().expand(0));
    }

    /// Replaces the counts of each block by the sums of those before, for 32 experts.
    #[kernel(target = sm_80, warps = 8, grid = cdiv(counts.dim(0), 32))]
    pub fn add(parts: TensorMut<i32, 2>, counts: TensorMut<i32, 1>) {
        let expert = block_id(0) * 32;
        let mut sum = zeros::<i32>([32]);
        for block in range(0, parts.dim(0), 128) {
            let window = parts.tile([block, expert], [128, 32]);
            let part = window.load();
            window.store(part.scan_exclusive(0, 0, |a, b| a + b) + sum.expand(0));
            sum += part.sum(0);
        }
        counts.tile([expert], [32]).store(sum);
    }

    /// The rows of a block's choices.
    #[kernel(target = sm_80, warps = 8, grid = parts.dim(0))]
    pub fn place(
        indices: Tensor<i32, 1>,
        parts: Tensor<i32, 2>,
        counts: Tensor<i32, 1>,
        multiple: i32,
        offsets: TensorMut<i32, 1>,
        rows: TensorMut<i32, 1>,
    ) {
        // Gaps after the rows of each expert.
        let padded = (counts.tile([0], [E]).load() + (multiple - 1)) / multiple * multiple;
        let starts = padded.scan_exclusive(0, 0, |a, b| a + b);
        if block_id(0) == 0 {
            offsets.tile([0], [E]).store(starts);
            offsets.tile([counts.dim(0)], [1]).store(padded.sum(0).expand(0));
        }
        let first = shared::<i32>([E]);
        first.store(starts + parts.tile([block_id(0), 0], [1, E]).load().reshape([E]));
        // Sorted by expert; of one expert in the order of the choices.
        let places = arange(0, B);
        let sorted = (experts(indices, counts.dim(0)) * B + places).sort(0);
        let (expert, choice) = (sorted / B, sorted % B);
        let begins = places.eq(0) | expert.ne(expert.gather(0, places - 1));
        let start = select(begins, places, 0).scan(0, |a, b| a.max(b));
        sync();
        let row = first.gather(expert) + places - start;
        let found = shared::<i32>([B]);
        found.scatter(choice, select(expert.lt(E), row, -1));
        sync();
        rows.tile([block_id(0) * B], [B]).store(found.load());
    }

    /// The choice of each row.
    #[kernel(target = sm_80, warps = 1, grid = cdiv(rows.dim(0), 32))]
    pub fn invert(rows: Tensor<i32, 1>, sources: TensorMut<i32, 1>) {
        let at = block_id(0) * 32 + arange(0, 32);
        let row = rows.tile([block_id(0) * 32], [32]).load();
        sources.tile_rows(select(at.lt(rows.dim(0)), row, -1), [0], [32]).store(at);
    }
}
