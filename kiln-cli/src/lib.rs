//! The parts of the `kiln` command.
//!
//! [`Launch::read`] takes in a launch description: a JSON file that names a PTX file, a kernel in it, its arguments and
//! what it must compute. [`run()`] runs it on the emulator. [`layout_form`] reads a layout as it is
//! written in kernels, [`layout_shown`] finds out who holds what, and [`layout_picture`] draws it with [`layout_svg`]. [`inspect`] tells
//! what the compiler made of kernels, [`init`] writes a new package, [`trace`] draws what a launch does when, [`profile`] says how long its warps are in which phase, and [`tune`] runs programs that
//! choose instances. [`command_line`] has the subcommands, which the programs `kiln` and `cargo-kiln` run.
#![forbid(unsafe_code)]

mod field;

pub mod dtype;
pub mod fill;
pub mod findings;
pub mod launch;

pub mod check;
pub mod run;

pub mod command;
pub mod command_line;
pub mod init;
pub mod inspect;
pub mod layout_form;
pub mod layout_picture;
pub mod layout_shown;
pub mod layout_svg;
pub mod profile;
pub mod trace;
pub mod tune;

pub use field::FieldError;
pub use launch::{Launch, LaunchError};
pub use run::{Failure, Outcome, RunError, run};
