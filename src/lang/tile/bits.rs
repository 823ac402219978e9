//! Functions of the bits of tiles.

use super::Tile;
use crate::lang::integer::Int;
use crate::lang::scalar::{Operand, Scalar};
use crate::lang::stub;

/// Functions of the bits of integers, on each element.
impl<T: Int> Tile<T> {
    /// How many bits of each element are set (`popc` in PTX, `__popc` in CUDA).
    ///
    /// `popc.b32`, of 64 bits `popc.b64`. Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    /// K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// In how many bits two words differ.
    /// fn hamming(a: Tile<u32>, b: Tile<u32>) -> Tile<u32> {
    ///     (a ^ b).count_ones()
    /// }
    /// ```
    #[must_use]
    #[doc(alias = "popc")]
    pub fn count_ones(self) -> Tile<u32> {
        stub()
    }

    /// How many bits of each element are above the highest that is set (`clz` in PTX); of 0 all of them.
    ///
    /// `clz.b32`, of 64 bits `clz.b64`; types of 8 and 16 bits count in their own width, by `and` and `sub`. Layout, PTX
    /// and errors: [elementwise operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The logarithm to base 2, rounded down, of elements above 0.
    /// fn log2(x: Tile<u32>) -> Tile<u32> {
    ///     31 - x.leading_zeros()
    /// }
    /// ```
    #[must_use]
    #[doc(alias = "clz")]
    pub fn leading_zeros(self) -> Tile<u32> {
        stub()
    }

    /// How many bits of each element are below the lowest that is set (`ffs` of CUDA less one); of 0 all of them.
    ///
    /// `brev.b32` and `clz.b32`, of 64 bits `.b64`. Layout, PTX and errors: [elementwise
    /// operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn first_expert(chosen: Tile<u32>) -> Tile<u32> {
    ///     chosen.trailing_zeros()
    /// }
    /// ```
    #[must_use]
    #[doc(alias = "ffs")]
    pub fn trailing_zeros(self) -> Tile<u32> {
        stub()
    }

    /// The bits of each element in the opposite order (`brev` in PTX).
    ///
    /// `brev.b32`, of 64 bits `brev.b64`; types of 8 and 16 bits are then moved to the low end by `shr`. Layout, PTX and
    /// errors: [elementwise operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Where the elements of an FFT of 1024 points go.
    /// fn bit_reversed() -> Tile<u32> {
    ///     arange(0, 1024).cast::<u32>().reverse_bits() >> 22
    /// }
    /// ```
    #[must_use]
    #[doc(alias = "brev")]
    pub fn reverse_bits(self) -> Tile<T> {
        stub()
    }

    /// Each element turned to the left: the bits that leave at the top come in at the bottom. `n`, a tile or a scalar,
    /// counts modulo the width.
    ///
    /// `shf.l.wrap.b32` of 32 bits, otherwise `shl`, `shr` and `or`. Layout, PTX and errors: [elementwise
    /// operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn mixed(state: Tile<u32>, word: Tile<u32>) -> Tile<u32> {
    ///     (state ^ word).rotate_left(13) * 5
    /// }
    /// ```
    #[must_use = "`rotate_left` gives a new tile, and leaves this one as it was"]
    pub fn rotate_left(self, n: impl Operand<u32>) -> Tile<T> {
        stub()
    }

    /// Each element turned to the right: the bits that leave at the bottom come in at the top. `n`, a tile or a scalar,
    /// counts modulo the width.
    ///
    /// `shf.r.wrap.b32` of 32 bits, otherwise `shr`, `shl` and `or`. Layout, PTX and errors: [elementwise
    /// operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn sigma(x: Tile<u32>) -> Tile<u32> {
    ///     x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3)
    /// }
    /// ```
    #[must_use = "`rotate_right` gives a new tile, and leaves this one as it was"]
    pub fn rotate_right(self, n: impl Operand<u32>) -> Tile<T> {
        stub()
    }

    /// The high word of two, this one above `low`, after both are shifted to the left by `n` (`__funnelshift_l` in CUDA).
    ///
    /// `low` and `n` are tiles or scalars; `n` counts modulo the width.
    ///
    /// `shf.l.wrap.b32` of 32 bits, otherwise `shl`, `shr` and `or`. Layout, PTX and errors: [elementwise
    /// operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// 32 bits that begin `at` bits after the start of a stream of words, the highest first.
    /// fn unaligned(word: Tile<u32>, next: Tile<u32>, at: Tile<u32>) -> Tile<u32> {
    ///     word.funnel_shl(next, at)
    /// }
    /// ```
    #[must_use = "`funnel_shl` gives a new tile, and leaves this one as it was"]
    pub fn funnel_shl(self, low: impl Operand<T>, n: impl Operand<u32>) -> Tile<T> {
        stub()
    }

    /// The low word of two, this one above `low`, after both are shifted to the right by `n` (`__funnelshift_r` in CUDA).
    ///
    /// `low` and `n` are tiles or scalars; `n` counts modulo the width.
    ///
    /// `shf.r.wrap.b32` of 32 bits, otherwise `shr`, `shl` and `or`. Layout, PTX and errors: [elementwise
    /// operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// 32 bits that begin `at` bits after the start of a stream of words, the lowest first.
    /// fn unaligned(word: Tile<u32>, next: Tile<u32>, at: Tile<u32>) -> Tile<u32> {
    ///     next.funnel_shr(word, at)
    /// }
    /// ```
    #[must_use = "`funnel_shr` gives a new tile, and leaves this one as it was"]
    pub fn funnel_shr(self, low: impl Operand<T>, n: impl Operand<u32>) -> Tile<T> {
        stub()
    }

    /// The high half of each product: the bits above those that `*` keeps (`__umulhi` in CUDA, `tl.umulhi` in Triton).
    ///
    /// `other` is a tile or a scalar. Signed types multiply with sign.
    ///
    /// `mul.hi.u32` and the like; types of 8 and 16 bits multiply in 32 and shift. Layout, PTX and errors: [elementwise
    /// operations](Tile#elementwise-operations). K0204 for floats and masks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Random words as numbers below `n`.
    /// fn below(words: Tile<u32>, n: u32) -> Tile<u32> {
    ///     words.mul_hi(n)
    /// }
    /// ```
    #[must_use = "`mul_hi` gives a new tile, and leaves this one as it was"]
    pub fn mul_hi(self, other: impl Operand<T>) -> Tile<T> {
        stub()
    }
}

/// Other readings of the same bits.
impl<T: Scalar> Tile<T> {
    /// The bits of each element read as another type of the same width, a number (`__float_as_uint` in CUDA, `to_bits` and
    /// `from_bits` in Rust).
    ///
    /// No bit changes, those of NaN included. FP8 numbers, pairs of FP4 numbers and scales have the bits of a `u8`.
    ///
    /// # Layout
    /// That of the tile.
    ///
    /// # PTX
    /// `mov.b32` between floats and integers, `mov.b64` of 64 bits; none between integers, except that those of 8 and 16
    /// bits are extended anew (`cvt.s32.s8`, `and.b32`).
    ///
    /// # Errors
    /// K0204 for types of different width and for masks, K0206 for addresses and windows.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The exponents of normal numbers.
    /// fn exponents(x: Tile<f32>) -> Tile<i32> {
    ///     ((x.bitcast::<i32>() >> 23) & 255) - 127
    /// }
    /// ```
    #[must_use = "`bitcast` gives a new tile, and leaves this one as it was"]
    pub fn bitcast<U: Scalar>(self) -> Tile<U> {
        stub()
    }
}
