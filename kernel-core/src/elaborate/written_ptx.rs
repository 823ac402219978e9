//! Instructions that the user writes out: `ptx!`.

pub(crate) mod per_thread;
pub(crate) mod snippet;
pub(crate) mod text;
