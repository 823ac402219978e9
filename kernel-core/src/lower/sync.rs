//! Barriers and clusters.

pub(crate) mod barrier;
pub(crate) mod cluster;
pub(crate) mod named;
