//! Products of quantised numbers.

mod bytes;
mod int4;
