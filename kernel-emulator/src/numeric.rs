//! The arithmetic of the machine: pure functions on bits, one call per lane.
//!
//! A PTX register holds bits; an instruction says how to read them. Every function here takes and
//! returns raw bits (`u16`, `u32`, `u64`), never a host float whose NaN or rounding could depend on
//! the machine that runs the emulator. Nothing allocates and no bit pattern panics.
//!
//! Reading order:
//!
//! | module | holds | PTX ISA sections |
//! |---|---|---|
//! | [`format`](mod@format) | binary formats: decode, round, encode | 5.2 |
//! | [`exact`] | sums, products, quotients, roots with a sticky bit | - |
//! | [`scalar`] | f32 and f64 instructions | 9.7.3 |
//! | [`narrow`] | f16, bf16 and their x2 forms | 9.7.4 |
//! | [`approx`] | `.approx` and `.full` functions | 9.7.3, 9.7.4 |
//! | [`convert`] | `cvt`, between any two types, and the packed forms | 9.7.9 |
//! | [`integer`] | integers, shifts, bit fields, dot products | 9.7.1, 9.7.2, 9.7.8 |
//! | [`compare`] | `set`, `setp`, `slct` | 9.7.6, 9.7.7 |
//! | [`fragment`] | which lane and register holds which element | 9.7.14 |
//! | [`matrix`] | `mma` products | 9.7.14 |
//! | [`tensor_core`] | floating-point `mma` bit for bit as on an H200 | - |
//! | [`atomic`] | what `atom` and `red` do to a word | 9.7.13 |
//!
//! How a float result is made: operands of at most 24 significant bits are widened to f64, where a
//! product is exact and a sum can be rounded to odd, and the odd-rounded value is rounded once more
//! to the destination, which is then the correct rounding (53 >= 24 + 2 bits). f64 itself, and the
//! rarely used directed divisions and roots, go through the integer arithmetic of [`exact`].
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    clippy::many_single_char_names,
    reason = "bit-level code: each cast reinterprets or cuts bits on purpose, and a, b, c, d are the manual's operand names"
)]

pub mod approx;
pub mod atomic;
pub mod compare;
pub mod convert;
pub mod exact;
pub mod format;
pub mod fragment;
pub mod integer;
pub mod matrix;
pub mod narrow;
mod operand;
pub mod scalar;
pub mod tensor_core;

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
