//! PTX texts with expected results that are computed here, independently of the emulator.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::many_single_char_names,
    reason = "the expected values are those of the host's own arithmetic, bit by bit"
)]

mod arith;
mod async_copy;
mod atomics;
mod barriers;
mod bits;
mod compare;
mod control;
mod convert;
mod exchange;
mod faults;
mod floats;
mod harness;
mod host;
mod matrix;
mod memory;
mod print;
