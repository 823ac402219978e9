//! Instructions that the user writes out: `ptx!`.

pub(crate) mod snippet;
pub(crate) mod text;
