//! Products of quantised numbers.

mod int4;

pub use int4::{Int4Matmul, Int4Weights, ZeroPoint};
