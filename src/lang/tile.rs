//! Tiles: dense arrays in the registers of a block.

use core::marker::PhantomData;

use super::layout::Layout;
use super::scalar::{Cast, Operand, Scalar};
use super::sealed::Sealed;
use super::stub;

mod along;
mod bits;
mod float;
mod number;
mod order;
mod several;

pub use along::join;
pub use several::Tiles;

/// A dense array of `T`, spread over the registers of the block's threads.
///
/// A tile is a value: operations make new tiles, and an assignment replaces a `let mut` tile. The [layout](Layout) says
/// which thread holds which elements; the compiler chooses one and converts between layouts where necessary, unless
/// [`to_layout`](Tile::to_layout) pins it.
///
/// # Shape
///
/// Extents are powers of two and known at compile time; the rank is 0 to 5. A reduction of the only axis gives a tile of
/// rank 0: one value, which combines with tiles of every shape. [`item`](Tile::item) gives it as a scalar.
///
/// # Operators
///
/// Elementwise, after broadcasting (see the [module](super)). Either side may be a scalar of the
/// element type.
///
/// | operators | on | meaning |
/// |---|---|---|
/// | `+` `-` `*`, and assigning forms | [`Number`](super::Number) | integers wrap, floats round to nearest even |
/// | `/` `/=` | `Number` | integers truncate towards zero, and a zero divisor gives an unspecified value; floats are correctly rounded |
/// | `%` `%=` | [`Int`](super::Int) | the remainder of that division: it has the sign of the left side |
/// | `<<` `>>`, and assigning forms | `Int` | the amount is taken modulo the width in bits; `>>` repeats the sign of a signed type |
/// | `&` `\|` `^`, and assigning forms | [`Bits`](super::Bits) | on each bit; logical on masks |
/// | `!x` | `Bits` | every bit inverted; logical on masks |
/// | `-x` | signed `Number` | integers wrap; of a float the sign bit is inverted, of NaN too unless it is an `f64` |
///
/// A multiplication followed by an addition is rounded once only if it is written as [`fma`](super::fma).
///
/// # Elementwise operations
///
/// Operators, comparisons, [`select`](super::select), [`maximum`](super::maximum), [`fma`](super::fma),
/// [`abs`](Tile::abs), [`map`](Tile::map) and the functions of floats apply to each element.
///
/// **Layout.** Operands and result have the same layout. Each thread computes the elements that it holds; an operand in
/// another layout is [converted](super#conversions) first.
///
/// **PTX.** One instruction for each element of a thread, or for two `f16` or `bf16` neighbours if it ends in `x2` (PTX
/// ISA, "Integer Arithmetic Instructions", "Floating Point Instructions", "Half Precision Floating Point Instructions",
/// "Comparison and Selection Instructions", "Logic and Shift Instructions"). For `i32`, `f32` and the halves:
///
/// | | integers | floats | `f16` | `bf16` |
/// |---|---|---|---|---|
/// | `+` `-` | `add.s32`, `sub.s32` | `add.rn.f32`, `sub.rn.f32` | `add.rn.f16x2`, `sub.rn.f16x2` | `fma.rn.bf16x2` by ±1 |
/// | `*` | `mul.lo.s32` | `mul.rn.f32` | `mul.rn.f16x2` | `fma.rn.bf16x2` with -0 |
/// | `/` | `div.s32` | `div.rn.f32` | in `f32` | in `f32` |
/// | `%` | `rem.s32` | | | |
/// | `<<` `>>` | `and.b32` of the amount, `shl.b32`, `shr.s32` | | | |
/// | `&` `\|` `^` `!` | `and.b32`, `or.b32`, `xor.b32`, `not.b32`; masks `and.pred` | | | |
/// | `-x` | `sub.s32` | `neg.f32` | `xor.b32` | `xor.b32` |
/// | `abs` | `abs.s32` | `abs.f32` | `and.b32` | `and.b32` |
/// | `maximum` | `max.s32` | `max.f32` | `max.f16x2` | `max.bf16x2` |
/// | `fma` | | `fma.rn.f32` | `fma.rn.f16x2` | `fma.rn.bf16x2` |
/// | `lt` to `ne` | `setp.lt.s32` | `setp.lt.f32`; `ne` is `setp.neu` | in `f32` | in `f32` |
/// | `select` | `selp.b32` | `selp.f32` | `selp.b16` | `selp.b16` |
///
/// Other types have their own ending, `.u32`, `.s64`, `.f64`; integers of 8 and 16 bits are computed in 32 bits and
/// brought back into their range (`cvt.s32.s8`, `and.b32`). *In `f32`* means converted, computed and rounded with
/// `cvt.rn`, which for arithmetic gives the same as rounding once. So is a `bf16` without a neighbour. Constants are
/// computed at compile time, and integer multiplications and divisions by powers of two become shifts.
///
/// **Errors.** K0202 for shapes that do not broadcast, K0203 for different element types and for literals of another
/// type, K0204 for an operation that the element type lacks, K0206 for shared memory as an operand (`.load()` it),
/// K0207 for a constant that its type does not hold, K0504 if broadcasting makes more elements than registers hold.
///
/// # Functions of floats
///
/// The functions with plain names have an error of at most 2 units in the last place (ulp) of `f32` and of `f64`, over the whole range:
/// subnormal arguments and results count. Those that end in `_approx` are the hardware's, with the error that the manual states for the
/// instruction (PTX ISA, "Floating Point Instructions") and what Kiln computes before and after it. On `f16` and `bf16` the function is
/// computed in `f32` and rounded to the type, at most 0.52 ulp of the type together. `docs/accuracy.md` has the errors that were measured.
///
/// | function | error | instructions of `f32` | `f64` |
/// |---|---|---|---|
/// | [`exp`](Tile::exp) | 2 ulp | 8: 4 `fma`, `ex2.approx.ftz.f32` | 34 |
/// | [`exp_m1`](Tile::exp_m1) | 2 ulp | 23 | 37 |
/// | [`exp2`](Tile::exp2) | 2 ulp | 7: 2 `fma`, `ex2.approx.ftz.f32` | 35 |
/// | [`ln`](Tile::ln), [`log2`](Tile::log2), [`log10`](Tile::log10) | 2 ulp | 26, 28, 29 | 46, 49, 51, one of them `div` |
/// | [`ln_1p`](Tile::ln_1p) | 2 ulp | 26 | 55, one of them `div` |
/// | [`sqrt`](Tile::sqrt) | correctly rounded | `sqrt.rn.f32` | `sqrt.rn.f64`, correctly rounded |
/// | [`rsqrt`](Tile::rsqrt) | relative 2^-22.9 (2.2 ulp; 1.51 over all values on an H200) | `rsqrt.approx.f32` | `sqrt.rn.f64`, `div.rn.f64`, 1.5 ulp |
/// | [`cbrt`](Tile::cbrt) | 2 ulp | 13: `lg2`, `ex2`, `rcp` and a step of Newton's method | 40: `lg2` and `ex2` of `f32`, and two terms of the rest |
/// | [`sin`](Tile::sin), [`cos`](Tile::cos) | 2 ulp | 28, 26; a branch of 42 for angles from 131072 on | 37, 36; a branch of 89 for angles from 2^30 on |
/// | [`tanh`](Tile::tanh) | 2 ulp | 18: `ex2`, `rcp` and a polynomial | 55, one of them `div` |
/// | [`erf`](Tile::erf) | 2 ulp | 21: `ex2` and two polynomials | 105: two polynomials, `div` and `rcp` |
/// | [`erfc`](Tile::erfc) | 2 ulp | 95 | 107 |
/// | [`powf`](Tile::powf) | 2 ulp | 112 | 132 |
/// | [`exp_approx`](Tile::exp_approx) of x | 2 + 1.25 · abs(x) ulp: x · log2(e) is rounded first | `mul.rn.f32`, `ex2.approx.ftz.f32` | |
/// | [`exp2_approx`](Tile::exp2_approx) | 2.38 ulp on an H200; 0 below 2^-126 | `ex2.approx.ftz.f32` | |
/// | [`log2_approx`](Tile::log2_approx) | 2^-22, absolute between 0.5 and 2 and relative (4 ulp) elsewhere | `lg2.approx.f32` | |
/// | [`ln_approx`](Tile::ln_approx) | the same and 1 ulp for the multiplication by ln 2 | `lg2.approx.f32`, `mul.rn.f32` | |
/// | [`sin_approx`](Tile::sin_approx), [`cos_approx`](Tile::cos_approx) | absolute 2^-20.5 between -2π and 2π, further out more | `sin.approx.f32`, `cos.approx.f32` | |
/// | [`tanh_approx`](Tile::tanh_approx) | relative 2^-11 (8192 ulp) | `tanh.approx.f32` | |
/// | [`floor`](Tile::floor), [`ceil`](Tile::ceil) | exact | `cvt.rmi.f32.f32`, `cvt.rpi.f32.f32` | `cvt.rmi.f64.f64`, `cvt.rpi.f64.f64`, exact |
/// | [`trunc`](Tile::trunc), [`round_ties_even`](Tile::round_ties_even) | exact | `cvt.rzi.f32.f32`, `cvt.rni.f32.f32` | `cvt.rzi.f64.f64`, `cvt.rni.f64.f64`, exact |
/// | [`round`](Tile::round) | exact | `copysign.f32`, `add.rn.f32`, `cvt.rzi.f32.f32` | the same in `.f64`, exact |
///
/// If the last column is empty, the function is not defined on `f64`. What is missing of a number of instructions is `fma.rn.f32` or
/// `fma.rn.f64`, other arithmetic and comparisons. On the half types `exp` and `exp2` are the hardware's with subnormal results, and on `bf16` logarithms are `lg2.approx`
/// and a product: their errors are far below the unit of these types. An angle of `f16` never takes the branch. Layouts are those of
/// [elementwise operations](#elementwise-operations).
///
/// **Errors.** K0204 for integers, masks, and `f64` if the table is empty; K0206 for shared memory and pointers.
///
/// # Reductions
///
/// [`sum`](Tile::sum), [`max`](Tile::max), [`min`](Tile::min), [`argmax`](Tile::argmax), [`argmin`](Tile::argmin) and
/// [`reduce`](Tile::reduce) remove one axis. [`Tiles::reduce`](super::Tiles::reduce) reduces several tiles together, with a
/// function of tuples.
///
/// **Layout.** The result has the [`slice`](super::slice) of the tile's layout: all threads that differ only along the
/// axis hold it. Inference puts warps along other axes if it can, since only warps along the axis cost shared memory. A
/// layout with a basis along the axis and another one at once is [converted](super#conversions) first.
///
/// **PTX.** First the operation (`add.rn.f32`, `max.s32`) over the registers of a thread; then, for each bit of the
/// lane number along the axis, one `shfl.sync.bfly.b32` and the operation (two shuffles for 64 bits, one for each part
/// of a pair with an index or of a tuple), or, if all bits of the lane number are along the axis, one `redux.sync` for
/// `+`, `min`, `max`, `&`, `|` and `^` of integers of up to 32 bits (on `sm_100a` for `min` and `max` of `f32` too) and one
/// `vote.sync` for `&` and `|` of masks; then, if warps are along the axis, `st.shared`, `bar.sync 0`, `ld.shared` of one value for
/// each warp, and the operation. (PTX ISA, "shfl.sync", "redux.sync", "vote.sync".)
///
/// **Errors.** K0205 for an axis that the tile lacks, K0106 for one not known at compile time, K0204 for masks and
/// pointers except in `reduce`, K0206 for a function that does more than arithmetic, K0203 for one that does not give
/// the type that it takes, K0501 if the scratch does not fit.
///
/// # Sorts
///
/// [`sort`](Tile::sort), [`argsort`](Tile::argsort), their descending forms and [`top_k`](Tile::top_k) put the elements along an axis in order; each line
/// is sorted by itself.
///
/// **Order.** Integers are in their usual order. Of floats, -0 is less than +0, and NaN comes last, in ascending and in descending order: it loses as in
/// [`max`](Tile::max) and [`min`](Tile::min). A NaN that is sorted stays a NaN, with unspecified bits. Indices are stable: of equal elements the
/// one with the lower index comes first, and all NaNs are equal. So [`gather`](Tile::gather) sorts any number of tiles by one of them:
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Pairs of a key and a value, in the order of the keys.
/// fn by_key(keys: Tile<u32>, values: Tile<f32>) -> (Tile<u32>, Tile<f32>) {
///     let order = keys.argsort(0);
///     (keys.gather(0, order), values.gather(0, order))
/// }
/// ```
///
/// **Runs.** Equal elements of a sorted tile are one after the other. A run of them begins at each element that differs from the one before it, and a
/// running sum of the beginnings numbers the runs:
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// For each element of a sorted tile the number of its run, and how many runs there are.
/// fn runs(sorted: Tile<i32>) -> (Tile<i32>, Tile<i32>) {
///     let at = arange(0, 256);
///     let begins = sorted.ne(sorted.gather(0, at - 1)) | at.eq(0);
///     let run = select(begins, full([256], 1), 0).cumsum(0);
///     (run - 1, run.max(0))
/// }
/// ```
///
/// **Layout.** Elements are compared wherever they are, by a bitonic network: nothing moves before it. After it the registers of a thread hold adjacent
/// elements, adjacent lanes those of adjacent threads, and then come the warps. The result is [converted](super#conversions) from there to the
/// layout of the tile. Inference puts warps along other axes if it can, since only warps along the axis cost shared memory.
///
/// **PTX.** Elements become integers in the same order: floats by `shr.s32`, `and.b32`, `xor.b32` and a `selp` for NaN, and back again; a descending
/// order is that of the `not.b32` of them. Then sorted runs are merged in pairs, until one is left. Merging runs to one of `2^n` elements takes `n`
/// steps, each of which compares elements that differ in a bit of their place, and the lowest bits in the most steps:
///
/// | bits of a place, the lowest first | a step, for each register |
/// |---|---|
/// | of the register's number | `min.s32` or `max.s32`; of 64 bits `selp.b64`, and a `setp.lt.s64` for two of them |
/// | of the lane's number | `shfl.sync.bfly.b32` (two of 64 bits), `setp.lt.s32`, `xor.pred`, `selp.b32` |
/// | of the warp's number | the same with `st.shared`, `bar.sync 0` and `ld.shared` in place of the shuffle |
///
/// An index is the low half of a word whose high half is the element. These words have 32 bits for elements of 8 and 16 bits and axes of at most 65536
/// elements, otherwise 64. Indices of elements of 64 bits take two sorts, by the low words and by the high words, and `gather` between them.
/// (PTX ISA, "shfl.sync".)
///
/// **Errors.** K0205 for an axis that the tile lacks, K0106 for one not known at compile time, K0204 for masks and pointers, K0501 if the scratch does
/// not fit, K0504 if the words of elements and indices do not fit the registers, K0109 for more steps than a kernel can have.
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

/// The axes of a reduction: one, as `1`, or several, as `[0, 1]`. `-1` is the last axis, `-2` the one before it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no axis",
    label = "must be an `i32`, or an array of `i32`"
)]
pub trait Axes: Copy + Sealed {}

impl Axes for i32 {}
impl<const COUNT: usize> Axes for [i32; COUNT] {}

/// The tile `lo, lo + 1, .., hi - 1`, of shape `[hi - lo]`.
///
/// Both ends are known at compile time, and their difference is a power of two.
///
/// # Layout
/// Computed again for each layout that is needed: each thread computes its own elements.
///
/// # PTX
/// None of its own: `%tid.x`, shifted and masked (`shl.b32`, `and.b32`), and one `add.s32` for each register at most.
///
/// # Errors
/// K0106 for an end that is not known at compile time, K0201 if the extent is not a power of two, K0207 if `lo` does not
/// fit `i32`, K0504 for too many elements.
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
/// Give the element type as `zeros::<f32>(..)`; otherwise it follows from the use. A mask of `false` is
/// [`full([N], false)`](full).
///
/// # Layout
/// Computed again for each layout that is needed.
///
/// # PTX
/// None: the constant is an operand of its uses; a tile that a loop changes starts with a `mov`.
///
/// # Errors
/// K0106, K0201 and K0205 for the shape, K0504 for too many elements.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn accumulator<const M: i32, const N: i32>() -> Tile<f32> {
///     zeros::<f32>([M, N])
/// }
/// ```
#[must_use]
pub fn zeros<T: Cast>(shape: impl Shape) -> Tile<T> {
    stub()
}

/// A tile whose elements all are `value`.
///
/// # Layout
/// Computed again for each layout that is needed.
///
/// # PTX
/// None: every element is in the scalar's register.
///
/// # Errors
/// K0206 if `value` is a tile, K0203 if it has another type; K0106, K0201 and K0205 for the shape, K0504 for too many
/// elements.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The start of a running maximum.
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
    /// The extent of axis `axis`, known at compile time; -1 is the last axis.
    ///
    /// # PTX
    /// None: a constant.
    ///
    /// # Errors
    /// K0205 for an axis that the tile lacks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn mean(x: Tile<f32>) -> Tile<f32> {
    ///     x.sum(1) / x.dim(1) as f32
    /// }
    /// ```
    #[must_use]
    pub fn dim(self, axis: i32) -> i32 {
        stub()
    }

    /// The same values with a new axis of extent 1 before axis `axis`.
    ///
    /// `axis` is at most the rank. `(M)` becomes `(1, M)` with `expand(0)` and `(M, 1)` with
    /// `expand(1)`. Moves no data.
    ///
    /// # Layout
    /// That of the tile, with a further axis of extent 1. If the result is combined with a wider tile, the operand gets
    /// the [`slice`](super::slice) of the wider tile's layout, so that each thread already has what it needs.
    ///
    /// # PTX
    /// None, except a [conversion](super#conversions) if the layouts differ.
    ///
    /// # Errors
    /// K0205 if `axis` is greater than the rank, or the rank is already 5.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Subtracts from each row its maximum.
    /// fn shift(x: Tile<f32>) -> Tile<f32> {
    ///     x - x.max(1).expand(1)
    /// }
    /// ```
    #[must_use = "`expand` gives a new tile, and leaves this one as it was"]
    pub fn expand(self, axis: i32) -> Tile<T> {
        stub()
    }

    /// The values repeated along the axes of extent 1, up to `shape`.
    ///
    /// `shape` has the tile's rank, and each extent is that of the tile, unless the tile's is 1. A tile of rank 0 takes
    /// every shape. Operators broadcast by themselves; use this where an exact shape is required, as in a store.
    ///
    /// # Layout
    /// The operand gets the result's layout with the repeated axes collapsed: each thread has the element that it
    /// repeats.
    ///
    /// # PTX
    /// None, since one register holds several elements, except a [conversion](super#conversions) if the layouts differ.
    ///
    /// # Errors
    /// K0202 for extents that are neither equal nor 1, K0106, K0201 and K0205 for the shape, K0504 for too many elements.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn repeat_row(row: Tile<f32>) -> Tile<f32> {
    ///     row.expand(0).broadcast([16, 64])
    /// }
    /// ```
    #[must_use = "`broadcast` gives a new tile, and leaves this one as it was"]
    pub fn broadcast(self, shape: impl Shape) -> Tile<T> {
        stub()
    }

    /// The same values in another shape with as many elements, in row-major order: the last axis
    /// varies fastest.
    ///
    /// # Layout
    /// Each thread keeps what it holds, under other coordinates.
    ///
    /// # PTX
    /// None, except a [conversion](super#conversions) if another operation needs another layout.
    ///
    /// # Errors
    /// K0202 if the number of elements differs, K0106, K0201 and K0205 for the shape.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn as_matrix(x: Tile<f32>) -> Tile<f32> {
    ///     x.reshape([4, 32])
    /// }
    /// ```
    #[must_use = "`reshape` gives a new tile, and leaves this one as it was"]
    pub fn reshape(self, shape: impl Shape) -> Tile<T> {
        stub()
    }

    /// The transpose: element `(i, j)` of the result is element `(j, i)`. The tile has rank 2; for other ranks use
    /// [`permute`](Tile::permute).
    ///
    /// # Layout
    /// Each thread keeps what it holds, under exchanged coordinates. A store along the new last axis may need another
    /// layout; then the tile goes through shared memory.
    ///
    /// # PTX
    /// None, except that [conversion](super#conversions).
    ///
    /// # Errors
    /// K0205 if the rank is not 2.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// a · bᵀ
    /// fn times_transposed(a: Tile<f16>, b: Tile<f16>, acc: Tile<f32>) -> Tile<f32> {
    ///     dot(a, b.t(), acc)
    /// }
    /// ```
    #[must_use = "`t` gives a new tile, and leaves this one as it was"]
    pub fn t(self) -> Tile<T> {
        stub()
    }

    /// The same values in the layout `layout`.
    ///
    /// This pins the layout: the compiler does not change it, and refuses an operation that cannot take it. Without it,
    /// inference chooses. A change of layout goes through registers, shuffles or shared memory, depending on the two
    /// layouts.
    ///
    /// # PTX
    /// That of the [conversion](super#conversions): none, `shfl.sync.idx.b32`, or `st.shared`, `bar.sync 0` and
    /// `ld.shared`. Nothing if inference already gives the operand this layout.
    ///
    /// # Errors
    /// K0301 for a layout that does not fit the tile, 32 lanes or the kernel's warps, or that is one of shared memory;
    /// K0302 if a product takes the tile and cannot use the layout; K0504 for a layout that gives a thread more
    /// elements than registers hold; K0205 for rank 0, K0206 if `layout` is not a layout.
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
    #[must_use = "`to_layout` gives a new tile, and leaves this one as it was"]
    pub fn to_layout(self, layout: Layout) -> Tile<T> {
        stub()
    }

    /// The same values, asserting that they already have the layout `layout`.
    ///
    /// Nothing moves: if a conversion would be needed, it is an error (K0303). The compiler compares the layout that
    /// inference chose with `layout`, and the message says where it was chosen. Use it to keep a conversion out of a
    /// hot loop.
    ///
    /// It has to hold in both variants of a kernel, for aligned tensors and for all others. A load moves vectors in one
    /// and single elements in the other, and so has different layouts, unless `.to_layout(..)` directly after it pins
    /// one for both.
    ///
    /// # PTX
    /// None.
    ///
    /// # Errors
    /// K0303 if the tile has another layout; K0301, K0504, K0205 and K0206 as for [`to_layout`](Tile::to_layout).
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
    #[must_use = "`assert_layout` gives the tile whose layout it asserts"]
    pub fn assert_layout(self, layout: Layout) -> Tile<T> {
        stub()
    }

    /// Whether each element equals the other's. NaN equals nothing, not even itself.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn is_nan(x: Tile<f32>) -> Tile<bool> {
    ///     !x.eq(x)
    /// }
    /// ```
    #[must_use = "`eq` gives a new tile, and leaves this one as it was"]
    pub fn eq<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// Whether each element differs from the other's: `!x.eq(other)`, so true if either is NaN.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn occupied(labels: Tile<i32>) -> Tile<bool> {
    ///     labels.ne(-1)
    /// }
    /// ```
    #[must_use = "`ne` gives a new tile, and leaves this one as it was"]
    pub fn ne<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// The one element of a tile as a scalar, the same in every thread.
    ///
    /// The tile has rank 0, or every extent is 1. Use it to pass the result of a reduction where a scalar is required:
    /// a condition, a loop bound, an index, [`full`].
    ///
    /// # PTX
    /// None: every thread has the element in a register.
    ///
    /// # Errors
    /// K0202 if the tile has more than one element.
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

    /// `f` applied to each element.
    ///
    /// The closure works on scalars: arithmetic, comparison, `if`, casts, Rust's own methods of the
    /// type (`min`, `max`, `abs`, `sqrt`, `exp` and the like), and scalars from outside. It cannot
    /// use tiles, memory or barriers.
    ///
    /// # PTX
    /// That of the closure's operations, like [elementwise operations](Tile#elementwise-operations), without branches:
    /// an `if` becomes a selection (`selp`), and both sides are computed.
    ///
    /// # Errors
    /// K0206 if the closure does more than arithmetic or its result is not one number, and for a tile of pointers.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn clip(x: Tile<f32>, limit: f32) -> Tile<f32> {
    ///     x.map(|v| v.min(limit).max(-limit))
    /// }
    /// ```
    #[must_use = "`map` gives a new tile, and leaves this one as it was"]
    pub fn map<U: Scalar>(self, f: impl Fn(T) -> U) -> Tile<U> {
        stub()
    }

    /// Combines the elements along `axis` with `f`, and removes the axis, or each of several axes.
    ///
    /// `(M, N)` gives `(N)` with axis 0 and `(M)` with axis 1 or -1; a tile of rank 1, and all axes at once, give one of
    /// rank 0. `f` has to be associative and commutative: the order of combination is not specified, but it is the same in
    ///    every launch of one build. The closure may contain the same as in [`map`](Tile::map).
    ///
    /// Layout, PTX and errors: [reductions](Tile#reductions).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn product(x: Tile<f32>) -> Tile<f32> {
    ///     x.reduce(0, |a, b| a * b)
    /// }
    /// ```
    #[must_use = "`reduce` gives a new tile, and leaves this one as it was"]
    pub fn reduce(self, axis: impl Axes, f: impl Fn(T, T) -> T) -> Tile<T> {
        stub()
    }
}

/// Conversion.
impl<T: Cast> Tile<T> {
    /// Each element in another type, as the table of [`Cast`] says.
    ///
    /// # PTX
    /// `cvt` (PTX ISA, "Data Movement and Conversion Instructions: cvt"):
    ///
    /// | from | to | instruction |
    /// |---|---|---|
    /// | `f32` | `f16`, `bf16` | `cvt.rn.f16x2.f32`, `cvt.rn.bf16x2.f32` for two neighbours in a thread |
    /// | `f16` | `f32` | `cvt.f32.f16` |
    /// | `bf16` | `f32` | `mov.b32`: the bits are the high half |
    /// | `f32` | `e4m3`, `e5m2` | `cvt.rn.satfinite.e4m3x2.f32`, `cvt.rn.satfinite.e5m2x2.f32` for two neighbours in a thread |
    /// | `f16` | `e4m3`, `e5m2` | `cvt.rn.satfinite.e4m3x2.f16x2` and so on, likewise |
    /// | `e4m3`, `e5m2` | `f16` | `cvt.rn.f16x2.e4m3x2`, `cvt.rn.f16x2.e5m2x2`, likewise; other types go through `f16` or `f32` |
    /// | `f64`, `f32` | `f32`, `f64` | `cvt.rn.f32.f64`, `cvt.f64.f32` |
    /// | float | integer | `cvt.rzi.s32.f32`, then `max`, `min` for 8 and 16 bits; a `selp` gives 0 for NaN if the instruction does not |
    /// | integer | float | `cvt.rn.f32.s32` |
    /// | integer from -2^24 to 2^24, as the text says | `bf16` | `cvt.rn.f32.s32`, and `cvt.rn.bf16x2.f32` for two neighbours in a thread |
    /// | other integer | `bf16` | through `f32` with a sticky last bit, so that the value is rounded once |
    /// | integer | integer | `and.b32`, `cvt.s32.s8`, `cvt.s64.s32`, or nothing |
    /// | `bool` | number | `selp` |
    /// | number | `bool` | `setp.ne`, `setp.neu` |
    ///
    /// The text says how large an integer is by its type, by masks (`x & 15`), remainders, constants and positions of
    /// [`arange`](super::arange). How many instructions an element takes is in `docs/conversions.md`.
    ///
    /// Layout: [elementwise operations](Tile#elementwise-operations).
    ///
    /// # Errors
    /// K0206 for pointers, shared memory, and a type that is not an element type; K0502 for FP8 numbers on `sm_80`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn widened_sum(x: Tile<f16>) -> Tile<f32> {
    ///     x.cast::<f32>().sum(0)
    /// }
    /// ```
    #[must_use = "`cast` gives a new tile, and leaves this one as it was"]
    pub fn cast<U: Cast>(self) -> Tile<U> {
        stub()
    }
}
