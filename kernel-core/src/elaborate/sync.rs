//! Barriers, clusters, and the bytes that barriers expect.

pub(crate) mod barriers;
pub(crate) mod cluster;
pub(crate) mod launch_control;
pub(crate) mod named;
