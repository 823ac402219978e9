//! What the tests of all phases have of the IR.

pub(crate) mod builder;
