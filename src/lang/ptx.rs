//! Inline PTX: `ptx!`.

use core::marker::PhantomData;

use super::scalar::Scalar;
use super::stub;
use super::tile::Tile;

/// Runs PTX instructions that the language does not have.
///
/// ```text
/// ptx!("text", name = value, .. => type)
/// ```
///
/// The text is PTX, in which `{name}` stands for an operand and `{out}` for the result. A brace of PTX itself is
/// doubled, as in `format!`. The text has its own scope: registers that it declares with `.reg` are local to it.
///
/// | form | what it is |
/// |---|---|
/// | `ptx!("mov.u32 {out}, %laneid;" => i32)` | one result |
/// | `ptx!("..", a = x, b = y => f32)` | with operands |
/// | `ptx!(".. {out0} .. {out1} .." => (f32, i32))` | several results, as a tuple |
/// | `ptx!("membar.gl;")` | a statement |
///
/// Every thread runs the text once. With a tile among the operands it runs once for each element that the thread holds;
/// the tiles are broadcast to one shape (see the [module](crate::lang)), and the results are tiles of that shape. In a
/// closure of [`Tile::map`] it also runs for each element, even on the side of an `if` that is not chosen. If several
/// threads hold one element, each of them runs the text for it.
///
/// # Types
///
/// | type | register |
/// |---|---|
/// | `f32`, `f64` | `.f32`, `.f64` |
/// | `f16`, `bf16` | `.b16` |
/// | `i32`, `u32` | `.b32`: fits `.s32`, `.u32` and packed types such as `.f16x2` |
/// | `i64`, `u64` | `.b64` |
/// | `Ptr<T>` | `.b64`: the address, of global memory |
/// | `bool` | `.pred` |
///
/// Integers of 8 and 16 bits have to be [cast](Tile::cast). A literal needs a type: `a = 1.0f32`. The type after `=>` is that of
/// one element.
///
/// # What is done with it
///
/// The compiler does not know what the text does, so it keeps its place among other texts, accesses to memory and
/// barriers. It runs even if its results are unused, and is never merged with another one. Operands are read-only.
///
/// Kiln checks the text while compiling: each operand is used, each result is written, each instruction is a form of
/// PTX with these operands (K0111) that the target has (K0502). It refuses branches, labels and calls, barriers of the
/// block, groups of asynchronous copies, and declarations other than `.reg`; `wmma`, textures, surfaces and the video
/// instructions are not in its table.
///
/// Other scalars are the same in every thread, but the result of a text may differ (`%laneid`, a load, a shuffle). It
/// may be used in arithmetic, tiles, [`store`](super::store) and [`device_assert`](super::device_assert), but not as
/// the condition of a branch or a loop, nor as the coordinate of a window (K0406). This does not apply to a text of
/// plain arithmetic on operands that are the same in every thread. One thread does a [`store`](super::store) of a
/// scalar, with its own value.
///
/// Reads and writes of a text have no bounds check. If a text does more than compute (an address in brackets, or any
/// instruction that is neither arithmetic nor `trap`), or gives a `Ptr<T>`, launching the kernel is `unsafe`, as after
/// [`ptr`](super::TensorMut::ptr): its name gives an `LaunchOfRawAddresses`.
///
/// Functions along an axis ([`Tile::reduce`], [`Tile::scan`]) cannot contain a text, because their order is not fixed.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 2 to the x, with subnormals taken as zero.
/// fn near_exp2(x: Tile<f32>) -> Tile<f32> {
///     x.map(|e| ptx!("ex2.approx.ftz.f32 {out}, {e};", e = e => f32))
/// }
///
/// /// The sum of the products of four pairs of bytes, and `acc`.
/// fn dot4(a: Tile<i32>, b: Tile<i32>, acc: Tile<i32>) -> Tile<i32> {
///     ptx!("dp4a.s32.s32 {out}, {a}, {b}, {acc};", a = a, b = b, acc = acc => i32)
/// }
///
/// /// The halves of a word.
/// fn halves(x: Tile<u64>) -> (Tile<u32>, Tile<u32>) {
///     ptx!("mov.b64 {{{out0}, {out1}}}, {x};", x = x => (u32, u32))
/// }
///
/// /// Bit `at` of x, with a predicate that the text declares.
/// fn bit(x: Tile<u32>, at: u32) -> Tile<bool> {
///     ptx!(
///         "{{ .reg .b32 t;
///            shr.u32 t, {x}, {at};
///            and.b32 t, t, 1;
///            setp.ne.u32 {out}, t, 0; }}",
///         x = x, at = at => bool
///     )
/// }
/// ```
#[macro_export]
macro_rules! ptx {
    ($text:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::lang::PtxCall::new()$(.with($value))*.gives::<()>()
    };
    ($text:literal $(, $name:ident = $value:expr)* $(,)? => $output:ty $(,)?) => {
        $crate::lang::PtxCall::new()$(.with($value))*.gives::<$output>()
    };
}

/// A call of [`ptx!`](crate::ptx!) on scalars or on tiles, as the macro expands it.
#[derive(Debug)]
pub struct PtxCall<K>(PhantomData<K>);

/// All operands are scalars.
#[derive(Debug)]
pub enum OnScalars {}

/// An operand is a tile.
#[derive(Debug)]
pub enum OnTiles {}

/// Whether a text runs once or for each element.
pub trait PtxKind {
    /// The kind with a further operand.
    type Join<K: PtxKind>: PtxKind;
    /// A result.
    type Of<T: Scalar>;
}

impl PtxKind for OnScalars {
    type Join<K: PtxKind> = K;
    type Of<T: Scalar> = T;
}

impl PtxKind for OnTiles {
    type Join<K: PtxKind> = OnTiles;
    type Of<T: Scalar> = Tile<T>;
}

/// An operand of a text: a scalar or a tile.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of `ptx!`",
    label = "neither a scalar nor a tile",
    note = "a tile in memory is loaded first: `x.load()`"
)]
pub trait PtxOperand {
    /// Which of the two.
    type Kind: PtxKind;
}

impl<T: Scalar> PtxOperand for T {
    type Kind = OnScalars;
}

impl<T: Scalar> PtxOperand for Tile<T> {
    type Kind = OnTiles;
}

/// The result of a text: nothing, an element, or a tuple of elements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a result of `ptx!`",
    label = "neither an element type nor a tuple of them",
    note = "the type after `=>` is that of one element, also where the operands are tiles"
)]
pub trait PtxOutput {
    /// The results on scalars or tiles.
    type In<K: PtxKind>;
}

impl<T: Scalar> PtxOutput for T {
    type In<K: PtxKind> = K::Of<T>;
}

macro_rules! outputs {
    ($(($($name:ident),*);)*) => {$(
        impl<$($name: Scalar),*> PtxOutput for ($($name,)*) {
            type In<K: PtxKind> = ($(K::Of<$name>,)*);
        }
    )*};
}

outputs! {
    ();
    (A);
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
    (A, B, C, D, E, F, G);
    (A, B, C, D, E, F, G, H);
}

impl PtxCall<OnScalars> {
    /// A text without operands.
    #[doc(hidden)]
    pub const fn new() -> Self {
        PtxCall(PhantomData)
    }
}

impl<K: PtxKind> PtxCall<K> {
    /// Adds an operand.
    #[doc(hidden)]
    pub fn with<I: PtxOperand>(self, operand: I) -> PtxCall<K::Join<I::Kind>> {
        PtxCall(PhantomData)
    }

    /// The results.
    #[doc(hidden)]
    pub fn gives<O: PtxOutput>(self) -> O::In<K> {
        stub()
    }
}
