//! The arithmetic of the machine: pure functions on bits, one call per lane.
//!
//! A PTX register holds bits; an instruction says how to read them. Every function here takes and
//! returns raw bits (`u16`, `u32`, `u64`), never a host float whose NaN or rounding could depend on
//! the machine that runs the emulator. Nothing allocates and no bit pattern panics.
//!
//! Reading order:
//!
//! | module | holds | sections of the PTX ISA |
//! |---|---|---|
//! | [`format`](mod@format) | binary formats: decode, round, encode | "Types" |
//! | [`exact`] | sums, products, quotients, roots with a sticky bit | - |
//! | [`scalar`] | f32 and f64 instructions | "Floating Point Instructions" |
//! | [`narrow`] | f16, bf16 and their x2 forms | "Half Precision Floating Point Instructions" |
//! | [`approx`] | `.approx` and `.full` functions | both of these |
//! | [`convert`] | `cvt`, between any two types, and the packed forms | "cvt", "cvt.pack" |
//! | [`integer`] | integers, shifts, bit fields, dot products | "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions", "Logic and Shift Instructions" |
//! | [`compare`] | `set`, `setp`, `slct` | "Comparison and Selection Instructions", "Half Precision Comparison Instructions" |
//! | [`fragment`] | which lane and register holds which element | "Warp Level Matrix Multiply-Accumulate Instructions" |
//! | [`matrix`] | `mma` products | the same |
//! | [`tensor_core`] | floating-point `mma` and `wgmma` bit for bit as on an H200 | - |
//! | [`atomic`] | what `atom` and `red` do to a word | "atom", "red" |
//!
//! How a float result is made: operands of at most 24 significant bits are widened to f64, where a
//! product is exact and a sum can be rounded to odd, and the odd-rounded value is rounded once more
//! to the destination, which is then the correct rounding (53 >= 24 + 2 bits). f64 itself, and the
//! rarely used directed divisions and roots, go through the integer arithmetic of [`exact`].

pub mod approx;
pub mod atomic;
pub mod compare;
pub mod convert;
pub mod exact;
pub mod format;
pub mod fragment;
pub mod integer;
pub(crate) mod lossy;
pub mod matrix;
pub mod narrow;
mod operand;
pub mod scalar;
pub(crate) mod scaled;
pub(crate) mod sparse;
pub(crate) mod tcgen05;
pub mod tensor_core;
pub(crate) mod wgmma;

#[cfg(test)]
mod approx_tests;
#[cfg(test)]
mod arithmetic_tests;
#[cfg(test)]
mod convert_tests;
#[cfg(test)]
mod integer_tests;
#[cfg(test)]
mod matrix_tests;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tensor_core_tests;
#[cfg(test)]
mod wgmma_tests;
