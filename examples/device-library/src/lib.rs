//! A library of device code: functions, and a module with types and a trait, for kernels of other crates.
//!
//! The items are ordinary Rust, documented and checked where they are written. With `#[device]`, a kernel that imports
//! an item, under any name, compiles it into its own PTX: see the example `device_library`.
#![forbid(unsafe_code)]

/// Activation functions.
pub mod act {
    use kiln::prelude::*;

    /// `1 / (1 + exp(-x))`
    #[device]
    pub fn sigmoid<T: Float>(x: Tile<T>) -> Tile<T> {
        T::of(1.0) / (T::of(1.0) + negative_exp(x))
    }

    #[device]
    fn negative_exp<T: Float>(x: Tile<T>) -> Tile<T> {
        (-x).exp()
    }

    /// `x · sigmoid(x)`
    #[device]
    pub fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
        x * sigmoid(x)
    }

    /// `x` where it is above `PERCENT / 100`, elsewhere 0.
    #[device]
    #[expect(clippy::cast_precision_loss, reason = "percents are small")]
    pub fn threshold<T: Float, const PERCENT: i32>(x: Tile<T>) -> Tile<T> {
        select(x.gt(T::of(PERCENT as f32 / 100.0)), x, T::of(0.0))
    }
}

/// An order of tiles besides those of [`kiln::sched`], and the windows of blocks.
#[kiln::device]
pub mod sched {
    use kiln::prelude::*;
    use kiln::sched::Schedule;

    /// All tiles, row after row, there and back: for 2 rows of 3 tiles (0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0).
    #[derive(Clone, Copy, Debug)]
    pub struct Snake {
        tiles_m: i32,
        tiles_n: i32,
    }

    impl Schedule for Snake {
        fn new(tiles_m: i32, tiles_n: i32) -> Self {
            Snake { tiles_m, tiles_n }
        }

        fn count(self) -> i32 {
            self.tiles_m * self.tiles_n
        }

        fn tile(self, i: i32) -> (i32, i32) {
            let (row, column) = (i / self.tiles_n, i % self.tiles_n);
            (row, if row % 2 == 0 { column } else { self.tiles_n - 1 - column })
        }
    }

    /// The window of a block that computes one tile of `BM` x `BN` elements: its first row and column.
    pub fn origin<S: Schedule, const BM: i32, const BN: i32>(rows: i32, columns: i32) -> [i32; 2] {
        let (row, column) = S::new(cdiv(rows, BM), cdiv(columns, BN)).tile(block_id(0));
        [row * BM, column * BN]
    }
}
