//! The kernels. Rows of up to 16384 elements are read once and kept in registers.

/// Quantised numbers and their scales.
#[kiln::kernel]
pub(in crate::pointwise) mod scaled {
    use kiln::prelude::*;

    use crate::pointwise::corner;

    /// A format of one byte.
    trait Format {
        const LARGEST: f32;

        fn rounded(x: Tile<f32>) -> Tile<f32>;
    }

    struct Float8;
    struct Int8;

    impl Format for Float8 {
        const LARGEST: f32 = 448.0;

        fn rounded(x: Tile<f32>) -> Tile<f32> {
            x
        }
    }

    impl Format for Int8 {
        const LARGEST: f32 = 127.0;

        fn rounded(x: Tile<f32>) -> Tile<f32> {
            x.round_ties_even()
        }
    }

    /// The scales of what has these largest magnitudes.
    fn scale_of<F: Format>(largest: Tile<f32>) -> Tile<f32> {
        // The reciprocal of 2^-126 is still finite.
        select(largest.gt(0.0), maximum(largest / F::LARGEST, 1.175_494_4e-38), 1.0)
    }

    fn quantized<F: Format, Q: Cast>(x: Tile<f32>, scale: Tile<f32>) -> Tile<Q> {
        F::rounded(x * scale.recip()).cast::<Q>()
    }

    fn rows<F: Format, T: Float, Q: Cast, const R: i32, const N: i32>(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        let row = block_id(0) * R;
        let x = x.tile([row, 0], [R, N]).load().cast::<f32>();
        let scale = scale_of::<F>(x.abs().max(1)).expand(1);
        out.tile([row, 0], [R, N]).store(quantized::<F, Q>(x, scale));
        scales.tile([row, 0], [R, 1]).store(scale);
    }

    fn long_rows<F: Format, T: Float, Q: Cast, const N: i32>(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        let row = block_id(0);
        let mut largest = zeros::<f32>([1, N]);
        for at in range(0, x.dim(1), N) {
            largest = maximum(largest, x.tile([row, at], [1, N]).load().cast::<f32>().abs());
        }
        let scale = scale_of::<F>(largest.max(1)).expand(1);
        scales.tile([row, 0], [1, 1]).store(scale);
        for at in range(0, x.dim(1), N) {
            let x = x.tile([row, at], [1, N]).load().cast::<f32>();
            out.tile([row, at], [1, N]).store(quantized::<F, Q>(x, scale));
        }
    }

    /// Blocks of `ROWS` by 128: a square, or eight rows of four blocks.
    fn blocks<F: Format, T: Float, Q: Cast, const ROWS: i32>(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        if ROWS == 128 {
            let at = corner::<128, 128>(x.dim(1));
            let x = x.tile(at, [128, 128]).load().cast::<f32>();
            let largest = x.abs().max(1).expand(1).max(0).expand(0);
            let scale = scale_of::<F>(largest);
            out.tile(at, [128, 128]).store(quantized::<F, Q>(x, scale));
            scales.tile([at[0] / 128, at[1] / 128], [1, 1]).store(scale);
        } else {
            let at = corner::<8, 512>(x.dim(1));
            let x = x.tile(at, [8, 512]).load().cast::<f32>().reshape([8, 4, 128]);
            let scale = scale_of::<F>(x.abs().max(2));
            let numbers = quantized::<F, Q>(x, scale.expand(2)).reshape([8, 512]);
            out.tile(at, [8, 512]).store(numbers);
            scales.tile([at[0], at[1] / 128], [8, 4]).store(scale);
        }
    }

    /// As many neighbours in each thread as are 16 bytes of what is written, so that lanes write one after the other.
    const EIGHT: Layout = blocked([1, 8], [2, 16], [4, 1], [1, 0]);
    const FOUR: Layout = blocked([1, 4], [1, 32], [4, 1], [1, 0]);

    /// Tiles of 16 by 128, which lie in one column of scales. `OWN` of their rows have scales of their own.
    fn numbers<Q: Cast, T: Float, const OWN: i32>(
        x: Tensor<Q, 2>,
        scales: Tensor<f32, 2>,
        out: TensorMut<T, 2>,
        shared_rows: i32,
        shared_columns: i32,
    ) {
        let at = corner::<16, 128>(out.dim(1));
        let x = x.tile(at, [16, 128]).load();
        let x = if T::BITS == 32 { x.to_layout(FOUR) } else { x.to_layout(EIGHT) }.cast::<f32>();
        let scale = scales.tile([at[0] / shared_rows, at[1] / shared_columns], [OWN, 1]).load();
        out.tile(at, [16, 128]).store((x * scale).cast::<T>());
    }

    #[kernel(target = sm_89, warps = W, grid = cdiv(x.dim(0), R),
             instances(T = [bf16, f16, f32], Q = [e4m3],
                       (R, N, W) = [(4, 512, 4), (2, 1024, 4), (1, 2048, 4), (1, 4096, 4), (1, 8192, 8), (1, 16384, 16)]))]
    pub fn rows_to_e4m3<T: Float, Q: Cast, const R: i32, const N: i32, const W: i32>(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        rows::<Float8, T, Q, R, N>(x, out, scales);
    }

    #[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), R),
             instances(T = [bf16, f16, f32], Q = [i8],
                       (R, N, W) = [(4, 512, 4), (2, 1024, 4), (1, 2048, 4), (1, 4096, 4), (1, 8192, 8), (1, 16384, 16)]))]
    pub fn rows_to_i8<T: Float, Q: Cast, const R: i32, const N: i32, const W: i32>(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        rows::<Int8, T, Q, R, N>(x, out, scales);
    }

    #[kernel(target = sm_89, warps = 16, grid = x.dim(0), instances(T = [bf16, f16, f32], Q = [e4m3]))]
    pub fn long_rows_to_e4m3<T: Float, Q: Cast>(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        long_rows::<Float8, T, Q, 8192>(x, out, scales);
    }

    #[kernel(target = sm_80, warps = 16, grid = x.dim(0), instances(T = [bf16, f16, f32], Q = [i8]))]
    pub fn long_rows_to_i8<T: Float, Q: Cast>(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        long_rows::<Int8, T, Q, 8192>(x, out, scales);
    }

    #[kernel(target = sm_89, warps = W,
             grid = cdiv(x.dim(0), TILE_ROWS) * cdiv(x.dim(1), TILE_COLUMNS),
             instances(T = [bf16, f16, f32], Q = [e4m3],
                       (ROWS, TILE_ROWS, TILE_COLUMNS, W) = [(1, 8, 512, 4), (128, 128, 128, 8)]))]
    pub fn blocks_to_e4m3<
        T: Float,
        Q: Cast,
        const ROWS: i32,
        const TILE_ROWS: i32,
        const TILE_COLUMNS: i32,
        const W: i32,
    >(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        blocks::<Float8, T, Q, ROWS>(x, out, scales);
    }

    #[kernel(target = sm_80, warps = W,
             grid = cdiv(x.dim(0), TILE_ROWS) * cdiv(x.dim(1), TILE_COLUMNS),
             instances(T = [bf16, f16, f32], Q = [i8],
                       (ROWS, TILE_ROWS, TILE_COLUMNS, W) = [(1, 8, 512, 4), (128, 128, 128, 8)]))]
    pub fn blocks_to_i8<
        T: Float,
        Q: Cast,
        const ROWS: i32,
        const TILE_ROWS: i32,
        const TILE_COLUMNS: i32,
        const W: i32,
    >(
        x: Tensor<T, 2>,
        out: TensorMut<Q, 2>,
        scales: TensorMut<f32, 2>,
    ) {
        blocks::<Int8, T, Q, ROWS>(x, out, scales);
    }

    #[kernel(target = sm_89, warps = 4, grid = cdiv(x.dim(0), 16) * cdiv(x.dim(1), 128),
             instances(Q = [e4m3], T = [bf16, f16, f32], OWN = [1, 16]))]
    pub fn from_e4m3<Q: Cast, T: Float, const OWN: i32>(
        x: Tensor<Q, 2>,
        scales: Tensor<f32, 2>,
        out: TensorMut<T, 2>,
        shared_rows: i32,
        shared_columns: i32,
    ) {
        numbers::<Q, T, OWN>(x, scales, out, shared_rows, shared_columns);
    }

    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 16) * cdiv(x.dim(1), 128),
             instances(Q = [i8], T = [bf16, f16, f32], OWN = [1, 16]))]
    pub fn from_i8<Q: Cast, T: Float, const OWN: i32>(
        x: Tensor<Q, 2>,
        scales: Tensor<f32, 2>,
        out: TensorMut<T, 2>,
        shared_rows: i32,
        shared_columns: i32,
    ) {
        numbers::<Q, T, OWN>(x, scales, out, shared_rows, shared_columns);
    }
}
