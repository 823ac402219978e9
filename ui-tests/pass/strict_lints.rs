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

    use kiln::prelude::Ptr;
    use kiln::prelude::{arange, store};

    /// `p[i] = i`
    #[kernel(target = sm_80, warps = 4)]
    pub fn count(p: Ptr<i32>) {
        store(p + arange(0, 128), arange(0, 128));
    }
}

fn main() {
    assert_eq!(kernels::scale::INSTANCES.len(), 2);
    assert_eq!(kernels::count::TARGETS.len(), 1);
}
