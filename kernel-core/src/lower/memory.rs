//! Global and shared memory: loads and stores, atomics, asynchronous copies, TMA.

pub(crate) mod access;
pub(crate) mod access_cost;
pub(crate) mod atomic;
pub(crate) mod bulk;
pub(crate) mod copy;
pub(crate) mod filter;
pub(crate) mod gather;
pub(crate) mod indexed;
pub(crate) mod matrix;
pub(crate) mod pointer;
pub(crate) mod prefetch;
pub(crate) mod remote;
pub(crate) mod shared;
pub(crate) mod tensor;
pub(crate) mod tma;
pub(crate) mod views;
