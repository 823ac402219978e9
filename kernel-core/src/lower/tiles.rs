//! Tiles and scalars: arithmetic, conversions, reductions, scans.

pub(crate) mod angles;
pub(crate) mod bits;
pub(crate) mod bytes;
pub(crate) mod cast;
pub(crate) mod convert;
pub(crate) mod coords;
pub(crate) mod crossing;
pub(crate) mod double;
pub(crate) mod doubles;
pub(crate) mod elementwise;
pub(crate) mod fields;
pub(crate) mod flip;
pub(crate) mod floats;
pub(crate) mod functions;
pub(crate) mod gather;
pub(crate) mod histogram;
pub(crate) mod powers;
pub(crate) mod reduce;
mod redux;
pub(crate) mod scalar;
pub(crate) mod scan;
pub(crate) mod shape;
pub(crate) mod sort;
