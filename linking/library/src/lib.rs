//! Device code of a package that calls Kiln `gpu`.

/// Functions of tiles.
pub mod act {
    use gpu::prelude::*;

    /// `x` where it is positive, elsewhere a fraction of it.
    #[device]
    pub fn leaky<T: Float>(x: Tile<T>) -> Tile<T> {
        select(x.gt(T::of(0.0)), x, scaled(x))
    }

    /// What `leaky` uses; the path to the language begins with this package's name for it.
    #[gpu::device]
    fn scaled<T: Float>(x: Tile<T>) -> Tile<T> {
        gpu::lang::minimum(x, x) * T::of(0.25)
    }
}

/// Where blocks stand.
#[gpu::device]
pub mod place {
    use gpu::prelude::*;

    /// The windows of one axis.
    pub struct Line<const N: i32> {
        first: i32,
    }

    impl<const N: i32> Line<N> {
        /// Of this block.
        pub fn own() -> Self {
            Line { first: block_id(0) * N }
        }

        /// Its first element.
        pub fn start(&self) -> i32 {
            self.first
        }
    }
}
