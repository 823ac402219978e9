//! Differential tests: every instruction form that the compiler emits, on a GPU and on the emulator.
//!
//! A [`form`] is an instruction apart from its registers. [`list`] has those that the compiler emits, which a test of
//! `kernel-testkit` collects, and more that `ptx!` reaches. [`suite`] makes a [`case`] of each: a kernel that runs it on at least
//! 10^5 random operand tuples, awkward ones often ([`random`]). The program `differential` runs the cases on a
//! GPU ([`gpu`]) and on the emulator ([`emulate`]), compares what they wrote ([`compare`]), and writes the outcomes
//! ([`outcome`]) and the table of evidence ([`table`]). Nothing here knows of the compiler.
//!
//! To add a form: the family in `suite` that claims its opcode makes its kernel from its name; what works between threads is a
//! kernel of `suite/exchange.rs`. A form that nothing emits yet goes into `ahead.txt`.

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
