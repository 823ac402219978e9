//! Matrix products: `dot`, `wgmma`, `tcgen05`.

pub(crate) mod dot;
pub(crate) mod factors;
pub(crate) mod narrow;
pub(crate) mod pairs;
pub(crate) mod scaled;
pub(crate) mod sparse;
pub(crate) mod tcgen05;
pub(crate) mod tcgen05_sparse;
pub(crate) mod wgmma;
