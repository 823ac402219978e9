//! Matrix products: `dot`, `wgmma`, `tcgen05`.

pub(crate) mod accumulators;
pub(crate) mod dot;
pub(crate) mod tcgen05;
pub mod wgmma;
