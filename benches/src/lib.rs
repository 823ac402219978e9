//! What the measurements share: bursts, peers and data.

pub mod bursts;
pub mod cublaslt;
pub mod data;
