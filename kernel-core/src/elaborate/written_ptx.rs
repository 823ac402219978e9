//! `ptx!`: instructions that the user writes out.

pub(crate) mod snippet;
pub(crate) mod text;
