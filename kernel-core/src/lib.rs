//! Kiln's compiler: from the tokens of a kernel to PTX and the host items that launch it.
//!
//! Pure: no files, no environment, no clock. The same tokens give the same bytes.
//!
//! | module | what it does |
//! |---|---|
//! | [`syntax`] | `syn`'s tree to the language's own, the subset of Rust that kernels may use |
//! | [`surroundings`] | what a kernel's file says beside it |
//! | [`device`] | functions that kernels of other modules and crates use |
//! | [`elaborate`] | that tree to the tile IR of one instance: names, types, constants, inlining |
//! | [`ir`] | the tile IR |
//! | [`check`] | rules about whole kernels: what is in flight, bytes of barriers, which threads arrive at which barrier |
//! | [`schedule`] | loops cut so that copies and products overlap |
//! | [`explore`] | order, run out: every part of every block from barrier to barrier |
//! | [`layouts`] | a layout for every tile |
//! | [`lower`] | tile IR and layouts to PTX |
//! | [`host`] | the items that the host sees |
//! | `eval` | what a kernel means, on dense arrays: the oracle of the tests, with the feature `eval` |
//! | [`compile`] | all of it, one after the other |
#![forbid(unsafe_code)]

pub mod check;
pub mod compile;
pub mod device;
pub mod diag;
pub mod elaborate;
#[cfg(any(test, feature = "eval"))]
pub mod eval;
pub mod explore;
pub mod host;
pub mod ir;
pub mod layouts;
pub mod loc;
pub mod lower;
pub mod schedule;
pub mod surroundings;
pub mod syntax;

pub use compile::{
    Assemble, Options, Output, compile_function, compile_module, kernel_finish, not_a_kernel,
};
pub use device::{device_finish, device_item, provide};
pub use host::{Cubin, with_crate};
pub use kernel_ptx::Target;
pub use surroundings::{SourceFile, Surroundings};
