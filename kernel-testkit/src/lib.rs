//! File tests: kernels with a header that says how they are run and what they must give.
//!
//! A file test is a Rust file with one `#[kernel]` and lines `//@ ..`, which [`directives`] describes. The
//! kernel is compiled from the file's text when the test runs, and run by each executor that the header
//! names on the same seeded arguments:
//!
//! * `eval`: the reference evaluator, on the tile IR before layouts;
//! * `emulate`: the emulator, on the PTX of every variant whose facts hold for the arguments;
//! * `gpu`: a GPU, on the same PTX, where there is one.
//!
//! All of them agree; what a kernel has to write has been written, and nothing else has.
//!
//! [`record`] holds on to the PTX of all of them, to what ptxas makes of it, and to what is known of their order, while the compiler changes.
//! What compiled kernels cost is asked of their text: [`instructions`] counts, [`ideal`] says how few would do, and [`assembler`] has
//! NVIDIA's assembler find the registers. [`targets`] compiles some of them for targets that they do not name.

pub mod arguments;
pub mod assembler;
pub mod compare;
pub mod data;
pub mod directives;
pub mod examples;
pub mod executors;
pub mod expression;
mod file_test;
pub mod ideal;
pub mod instructions;
pub mod mutate;
pub mod prepare;
pub mod record;
pub mod targets;

pub use assembler::Assembler;
pub use file_test::{FileTest, Reference, gpu};
