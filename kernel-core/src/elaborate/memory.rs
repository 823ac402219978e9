//! Global and shared memory: loads and stores, asynchronous copies, TMA.

pub(crate) mod access;
mod addresses;
mod allocation;
pub(crate) mod atomics;
pub(crate) mod blocks;
pub(crate) mod bulk;
pub(crate) mod copying;
mod filters;
pub(crate) mod gather;
pub(crate) mod indexed;
pub(crate) mod map_options;
pub(crate) mod remote;
mod rows;
pub(crate) mod slices;
pub(crate) mod tma;
mod views;
mod whole;
