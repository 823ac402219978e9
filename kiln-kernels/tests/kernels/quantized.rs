//! Products of quantised numbers.

mod int4;
