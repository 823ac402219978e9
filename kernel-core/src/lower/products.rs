//! Matrix products: `mma.sync`, `wgmma`, `tcgen05`.

pub(crate) mod dot;
pub(crate) mod matrix_descriptor;
pub(crate) mod tcgen05;
pub(crate) mod wgmma;
