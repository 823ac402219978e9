//! The parts of the `kiln` command.
//!
//! [`Launch::read`] takes in a launch description: a JSON file that names a PTX file, a kernel in it, its arguments and
//! what it must compute. [`run()`] runs it on the emulator. [`layout_form`] reads a layout as it is written in kernels.
#![forbid(unsafe_code)]

mod field;

pub mod dtype;
pub mod init;
pub mod launch;

pub mod check;
pub mod run;

pub mod command;
pub mod layout_form;

pub use field::FieldError;
pub use launch::{Launch, LaunchError};
pub use run::{Failure, Outcome, RunError, run};
