//! The element types that Rust does not have, as the host holds them.

mod float4;
mod float6;
mod float8;

pub use float4::{e2m1x2, ue8m0};
pub use float6::{e2m3x16, e3m2x16};
pub use float8::{e4m3, e5m2};
