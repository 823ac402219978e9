//! Global and shared memory: how loads and stores access them, what TMA, bulk copies and descriptors require.

pub(crate) mod boxes;
pub mod bulk;
pub(crate) mod coalesce;
mod filter;
pub mod gather;
pub(crate) mod run_axis;
pub(crate) mod shared;
pub mod tma;
pub(crate) mod views;
