//! The constructs of the language in one kernel module: structs with methods, traits, constants, closures,
//! loops left early, layouts, copies, pointers.

use kiln::prelude::*;

/// Kernels with their helpers.
#[kernel]
pub mod sums {
    use kiln::prelude::*;

    trait Order: Copy {
        fn place(self, i: i32) -> (i32, i32);
    }

    #[derive(Clone, Copy)]
    struct Rows {
        width: i32,
    }

    impl Order for Rows {
        fn place(self, i: i32) -> (i32, i32) {
            (i / self.width, i % self.width)
        }
    }

    struct Ring<T: Float> {
        bufs: Shared<T>,
        slot: i32,
    }

    impl<T: Float> Ring<T> {
        fn new(rows: i32, cols: i32) -> Ring<T> {
            Ring { bufs: shared::<T>([2, rows, cols]), slot: 0 }
        }
        fn current(&self) -> Shared<T> {
            self.bufs[self.slot]
        }
        fn advance(&mut self) {
            self.slot ^= 1;
        }
    }

    fn first_square_above(limit: i32) -> i32 {
        for i in 0..limit {
            if i * i > limit {
                return i;
            }
        }
        limit
    }

    /// Sums the tiles of `x`, in an order that a struct computes.
    #[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [f16, f32], N = [32, 64]))]
    pub fn run<T: Float, const N: i32>(
        /// The input.
        #[stride(_, 1)]
        x: Tensor<T, 2>,
        #[multiple_of(4)] tiles: i32,
        y: TensorMut<f32, 2>,
    ) {
        const HALF: f32 = 0.5;
        const { assert!(N >= 32, "a row is a warp wide") }
        let rows = Rows { width: 4 };
        let mut ring = Ring::<T>::new(16, N);
        let mut total = zeros::<f32>([16, N]);
        let scale = |v: f32| v * 2.0 + HALF;
        let mut k = 0;
        while k < tiles {
            let (i, j) = rows.place(k);
            copy_async(x.tile([i * 16, j * N], [16, N]), ring.current());
            copy_async_wait_all();
            sync();
            total += ring.current().load().cast::<f32>().map(|v| scale(v));
            ring.advance();
            k += 1;
            if first_square_above(k) == 7 && k > 3 {
                break;
            }
        }
        for s in unroll(0..2) {
            total += full([16, N], s as f32);
        }
        let pinned = total.to_layout(blocked([1, 4], [4, 8], [4, 1], [1, 0]));
        let largest = pinned.reduce(1, |a, b| a.max(b));
        y.tile([0, 0], [16, N]).store(total - largest.expand(1));
    }

    /// `p[i] = i` for the first `n`, counted in `q`.
    #[kernel(target = sm_80, warps = 1)]
    pub fn count(p: Ptr<i32>, q: Ptr<i32>, n: i32) {
        let at = arange(0, 128) + block_id(0) * 128;
        store_masked(p + at, at.lt(n), at);
        atomic::add(q + 0, 1);
    }
}

fn main() {
    assert_eq!(sums::run::TARGETS.len(), 2);
    assert_eq!(sums::run::INSTANCES.len(), 4);
    assert_eq!(sums::count::INSTANCES.len(), 1);
}
