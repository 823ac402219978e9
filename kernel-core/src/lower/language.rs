//! Branches, loops, parameters, warp specialisation, and what the user wrote in PTX.

pub(crate) mod control;
pub(crate) mod params;
pub(crate) mod ptx;
pub(crate) mod specialize;
