//! Differential tests.

pub mod case;
pub mod compare;
pub mod emulate;
pub mod form;
pub mod gpu;
pub mod list;
pub mod outcome;
pub mod random;
pub mod suite;
pub mod table;
mod types;
