//! What the measurements share: bursts, peers and data.

pub mod bursts;
pub mod cublaslt;
pub mod data;
pub mod families;
pub mod peers;
