//! A crate that lets nothing pass: kernels raise no lint, and what the macro leaves is documented.
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]
#![deny(elided_lifetimes_in_paths, unused_qualifications, unused_lifetimes, single_use_lifetimes)]

/// Kernels, public as a library's are.
pub mod kernels {
    use kiln::prelude::{Float, Tensor, TensorMut, block_id, cdiv, kernel};

    /// `y = x * factor`
    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), N), instances(T = [f32, f64], N = [128]))]
    pub fn scale<T: Float, const N: i32>(x: Tensor<T, 1>, factor: T, y: TensorMut<T, 1>) {
        let at = block_id(0) * N;
        y.tile([at], [N]).store(x.tile([at], [N]).load() * factor);
    }

    /// `y = 0`: what only `grid` reads is used.
    #[kernel(target = sm_80, warps = 1, grid = [rows, cdiv(cols, 32)])]
    pub fn places(rows: i32, cols: i32, y: TensorMut<i32, 2>) {
        let (row, at) = (block_id(0), block_id(1) * 32);
        y.tile([row, at], [1, 32]).store(zeros([1, 32]));
    }

    /// `y[b] = b`, with a function of another module.
    #[kernel(target = sm_80, warps = 1, grid = n)]
    pub fn lifted(n: i32, y: TensorMut<i32, 1>) {
        let at = super::device::place();
        y.tile([at], [1]).store(full([1], at));
    }

    /// `y = x + bias`, or only `x`; the blocks are those of `y` if there is a `bias`.
    #[kernel(target = sm_80, warps = 1, grid = match bias { Some(bias) => cdiv(bias.dim(0), 32), None => blocks.unwrap_or(1) })]
    pub fn biased(
        x: Tensor<f32, 1>,
        bias: Option<Tensor<f32, 1>>,
        blocks: Option<i32>,
        y: Option<TensorMut<f32, 1>>,
    ) {
        let at = block_id(0) * 32;
        let mut v = x.tile([at], [32]).load();
        if let Some(bias) = bias {
            v += bias.tile([at], [32]).load();
        }
        let Some(y) = y else { return };
        if blocks.is_none() || bias.is_some() {
            y.tile([at], [32]).store(v);
        }
    }

    use kiln::prelude::{Ptr, full, zeros};
    use kiln::prelude::{arange, store};

    /// `p[i] = i`
    #[kernel(target = sm_80, warps = 4)]
    pub fn count(p: Ptr<i32>) {
        store(p + arange(0, 128), arange(0, 128));
    }
}

/// Kernels with arrays and structs of tensors.
#[kiln::kernel]
pub mod several {
    use kiln::prelude::{Tensor, TensorMut, block_id, cdiv, zeros};

    /// Weights that are added, and perhaps a bias.
    #[derive(Clone, Copy, Debug)]
    pub struct Layer<const N: usize> {
        /// The weights.
        #[stride(1)]
        pub weights: [Tensor<f32, 1>; N],
        bias: Option<Tensor<f32, 1>>,
    }

    impl<const N: usize> Layer<N> {
        fn sum(self, at: i32) -> kiln::prelude::Tile<f32> {
            let mut sum = zeros::<f32>([32]);
            for weight in self.weights {
                sum += weight.tile([at], [32]).load();
            }
            let Some(bias) = self.bias else { return sum };
            sum + bias.tile([at], [32]).load()
        }
    }

    /// `ys[i]` is the sum of a layer.
    #[kernel(target = sm_80, warps = 1, grid = cdiv(layer.weights[0].dim(0), 32), instances(N = [1, 2]))]
    pub fn forward<const N: usize>(layer: Layer<N>, ys: [TensorMut<f32, 1>; 2]) {
        let at = block_id(0) * 32;
        for y in ys {
            y.tile([at], [32]).store(layer.sum(at));
        }
    }
}

/// What kernels of other modules use.
pub mod device {
    use kiln::prelude::{block_id, device};

    /// The place of this block.
    #[device]
    pub fn place() -> i32 {
        block_id(0)
    }
}

fn main() {
    assert_eq!(kernels::places::INSTANCES.len(), 1);
    assert_eq!(kernels::lifted::INSTANCES.len(), 1);
    assert_eq!(kernels::scale::INSTANCES.len(), 2);
    assert_eq!(kernels::count::TARGETS.len(), 1);
    assert_eq!(kernels::biased::INSTANCES.len(), 1);
}
