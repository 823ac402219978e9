//! Tiles: dense arrays in the registers of a block.

use core::marker::PhantomData;

use super::layout::Layout;
use super::scalar::{Cast, Number, Operand, Scalar};
use super::sealed::Sealed;
use super::stub;

mod along;
mod float;
mod number;

pub use along::join;

/// A dense array of `T`, spread over the registers of the block's threads.
///
/// A tile is a value: operations make new tiles, `let mut` and assignment replace one. Which thread
/// holds which elements is its [layout](Layout); the compiler chooses one and converts where two
/// meet, unless [`to_layout`](Tile::to_layout) pins it.
///
/// # Shape
///
/// Extents are powers of two and known when compiling; the rank is 0 to 5. A tile of rank 0 is what
/// a reduction of the only axis leaves: one value, which goes with tiles of every shape, and which
/// [`item`](Tile::item) gives as a scalar.
///
/// # Operators
///
/// Elementwise, after broadcasting (see the [module](super)). Either side may be a scalar of the
/// element type.
///
/// | operators | on | meaning |
/// |---|---|---|
/// | `+` `-` `*`, and assigning forms | [`Number`] | integers wrap, floats round to nearest even |
/// | `/` `/=` | `Number` | integers truncate towards zero, and a zero divisor gives an unspecified value; floats are correctly rounded |
/// | `%` `%=` | [`Int`](super::Int) | the remainder of that division: it has the sign of the left side |
/// | `<<` `>>`, and assigning forms | `Int` | the amount is taken modulo the width in bits; `>>` repeats the sign of a signed type |
/// | `&` `\|` `^`, and assigning forms | [`Bits`](super::Bits) | on each bit; logical on masks |
/// | `!x` | `Bits` | every bit inverted; logical on masks |
/// | `-x` | signed `Number` | integers wrap; of a float the sign bit is inverted, of NaN too |
///
/// A product followed by a sum may be contracted to one rounding only where it is written
/// [`fma`](super::fma).
///
/// # What Rust cannot say
///
/// | instead of | write | because |
/// |---|---|---|
/// | `x < y`, `x == y` | `x.lt(y)`, `x.eq(y)` | Rust's comparison gives one `bool` |
/// | `m && n` | `m & n` | `&&` takes `bool` |
/// | `if mask { a } else { b }` | [`select(mask, a, b)`](super::select) | `if` takes one `bool` |
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Leaky rectifier.
/// fn leaky(x: Tile<f32>, slope: f32) -> Tile<f32> {
///     select(x.lt(0.0), slope * x, x)
/// }
/// ```
pub struct Tile<T>(PhantomData<T>);

handles!(Tile<T>);

impl<T: Scalar> Sealed for Tile<T> {}

/// The extents of a tile, one for each axis: `[M]`, `[M, N]`, and so on.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn square<const N: i32>() -> Tile<f32> {
///     zeros([N, N])
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "must be an array of `i32`, one extent for each axis",
    note = "for example `[BM, BN]`; a tile with one axis has the shape `[N]`"
)]
pub trait Shape: Copy + Sealed {}

impl<const RANK: usize> Sealed for [i32; RANK] {}
impl<const RANK: usize> Shape for [i32; RANK] {}

/// The tile `lo, lo + 1, .., hi - 1`, of shape `[hi - lo]`.
///
/// Both ends are known when compiling, and their difference is a power of two.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The indices of this block's elements, 256 a block.
/// fn mine() -> Tile<i32> {
///     block_id(0) * 256 + arange(0, 256)
/// }
/// ```
#[must_use]
pub fn arange(lo: i32, hi: i32) -> Tile<i32> {
    stub()
}

/// A tile of zeros.
///
/// The element type is given as `zeros::<f32>(..)`, or follows from the use. A mask of `false` is
/// [`full([N], false)`](full).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn accumulator<const M: i32, const N: i32>() -> Tile<f32> {
///     zeros::<f32>([M, N])
/// }
/// ```
#[must_use]
pub fn zeros<T: Number>(shape: impl Shape) -> Tile<T> {
    stub()
}

/// A tile of which every element is `value`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Where a running maximum starts.
/// fn lowest<const M: i32>() -> Tile<f32> {
///     full([M], f32::NEG_INFINITY)
/// }
/// ```
#[must_use]
pub fn full<T: Scalar>(shape: impl Shape, value: T) -> Tile<T> {
    stub()
}

/// Shape, layout, choice of elements.
impl<T: Scalar> Tile<T> {
    /// The extent of axis `axis`, known when compiling.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn mean(x: Tile<f32>) -> Tile<f32> {
    ///     x.sum(1) / x.dim(1) as f32
    /// }
    /// ```
    #[must_use]
    pub fn dim(self, axis: usize) -> i32 {
        stub()
    }

    /// The same values with a new axis of extent 1 before axis `axis`.
    ///
    /// `axis` is at most the rank. `(M)` becomes `(1, M)` with `expand(0)` and `(M, 1)` with
    /// `expand(1)`. Moves no data.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Subtracts from each row its maximum.
    /// fn shift(x: Tile<f32>) -> Tile<f32> {
    ///     x - x.max(1).expand(1)
    /// }
    /// ```
    #[must_use]
    pub fn expand(self, axis: usize) -> Tile<T> {
        stub()
    }

    /// The values repeated along the axes of extent 1, up to `shape`.
    ///
    /// `shape` has the tile's rank, and each extent is either the tile's, or the tile's is 1. A tile of
    /// rank 0 takes every shape.
    /// Operators broadcast by themselves; this is for where a shape must be met, as in a store.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn repeat_row(row: Tile<f32>) -> Tile<f32> {
    ///     row.expand(0).broadcast([16, 64])
    /// }
    /// ```
    #[must_use]
    pub fn broadcast(self, shape: impl Shape) -> Tile<T> {
        stub()
    }

    /// The same values in another shape with as many elements, in row-major order: the last axis
    /// varies fastest.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn as_matrix(x: Tile<f32>) -> Tile<f32> {
    ///     x.reshape([4, 32])
    /// }
    /// ```
    #[must_use]
    pub fn reshape(self, shape: impl Shape) -> Tile<T> {
        stub()
    }

    /// The transpose: element `(i, j)` of the result is element `(j, i)`. The tile has rank 2; of
    /// other ranks, [`permute`](Tile::permute) says which axis goes where.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// a · bᵀ
    /// fn times_transposed(a: Tile<f16>, b: Tile<f16>, acc: Tile<f32>) -> Tile<f32> {
    ///     dot(a, b.t(), acc)
    /// }
    /// ```
    #[must_use]
    pub fn t(self) -> Tile<T> {
        stub()
    }

    /// The same values, held by the threads as `layout` says.
    ///
    /// This pins the layout: the compiler does not change it, and refuses an operation that cannot
    /// take it. Without it, inference chooses. Moving to another layout goes through registers,
    /// shuffles or shared memory, as the two layouts demand.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Eight consecutive elements of a row in each thread, four warps down.
    /// const ROWS: Layout = blocked([1, 8], [4, 8], [4, 1], [1, 0]);
    ///
    /// fn pinned(x: Tile<f16>) -> Tile<f16> {
    ///     x.to_layout(ROWS)
    /// }
    /// ```
    #[must_use]
    pub fn to_layout(self, layout: Layout) -> Tile<T> {
        stub()
    }

    /// The same values, asserting that the threads hold them as `layout` says already.
    ///
    /// Nothing is moved: it is an error (K0303) if that would cost anything. What inference chose is compared with `layout`, and
    /// the message says where it was chosen. Use it to keep a conversion out of a hot loop.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// const RESULT: Layout = mma([2, 2]);
    ///
    /// fn product(a: Tile<f16>, b: Tile<f16>, acc: Tile<f32>) -> Tile<f32> {
    ///     dot(a, b, acc.to_layout(RESULT)).assert_layout(RESULT)
    /// }
    /// ```
    #[must_use]
    pub fn assert_layout(self, layout: Layout) -> Tile<T> {
        stub()
    }

    /// Whether each element equals the other's. NaN equals nothing, itself included.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn is_nan(x: Tile<f32>) -> Tile<bool> {
    ///     !x.eq(x)
    /// }
    /// ```
    #[must_use]
    pub fn eq<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// Whether each element differs from the other's: `!x.eq(other)`, so true where either is NaN.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn occupied(labels: Tile<i32>) -> Tile<bool> {
    ///     labels.ne(-1)
    /// }
    /// ```
    #[must_use]
    pub fn ne<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// The one element of a tile as a scalar, the same in every thread.
    ///
    /// The tile has rank 0, or every extent is 1. This is the way from a reduction to what takes a
    /// scalar: a condition, the end of a loop, an index, [`full`].
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Scales down only where something is too large.
    /// fn limited(x: Tile<f32>, limit: f32) -> Tile<f32> {
    ///     let most = x.abs().max(0).item();
    ///     if most > limit { x * (limit / most) } else { x }
    /// }
    /// ```
    #[must_use]
    pub fn item(self) -> T {
        stub()
    }

    /// `f` of each element.
    ///
    /// The closure works on scalars: arithmetic, comparison, `if`, casts, Rust's own methods of the
    /// type (`min`, `max`, `abs`, `sqrt`, `exp` and the like), and scalars from outside. It cannot
    /// use tiles, memory or barriers.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn clip(x: Tile<f32>, limit: f32) -> Tile<f32> {
    ///     x.map(|v| v.min(limit).max(-limit))
    /// }
    /// ```
    #[must_use]
    pub fn map<U: Scalar>(self, f: impl Fn(T) -> U) -> Tile<U> {
        stub()
    }

    /// Combines the elements along `axis` with `f`; the axis goes.
    ///
    /// `(M, N)` gives `(N)` with axis 0 and `(M)` with axis 1; a tile of rank 1 gives one of rank
    /// 0. `f` is taken to be associative and commutative: the order in which elements meet is not
    /// specified, though it is the same in every launch of one build. What a closure may hold is as
    /// in [`map`](Tile::map).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn product(x: Tile<f32>) -> Tile<f32> {
    ///     x.reduce(0, |a, b| a * b)
    /// }
    /// ```
    #[must_use]
    pub fn reduce(self, axis: usize, f: impl Fn(T, T) -> T) -> Tile<T> {
        stub()
    }
}

/// Conversion.
impl<T: Cast> Tile<T> {
    /// Each element in another type, as the table of [`Cast`] says.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn widened_sum(x: Tile<f16>) -> Tile<f32> {
    ///     x.cast::<f32>().sum(0)
    /// }
    /// ```
    #[must_use]
    pub fn cast<U: Cast>(self) -> Tile<U> {
        stub()
    }
}
