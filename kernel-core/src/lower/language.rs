//! Branches, loops, parameters, warp specialisation, and `ptx!`.

pub(crate) mod control;
pub(crate) mod params;
pub(crate) mod ptx;
pub(crate) mod specialize;
