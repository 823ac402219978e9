//! Barriers, clusters, and the bytes that barriers expect.

pub(crate) mod barrier;
pub(crate) mod cluster;
pub(crate) mod launch_control;
pub(crate) mod named;
