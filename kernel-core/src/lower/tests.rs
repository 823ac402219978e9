//! Lowering on kernels written by hand, and its parts on their own.

mod arithmetic;
mod interpret;
mod known;
mod whole;
