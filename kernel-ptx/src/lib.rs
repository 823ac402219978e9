//! Typed PTX: the data model, the parser, the printer, the instruction table, the targets.
//!
//! A [`Module`] is one text file of NVIDIA's assembly language. A compiler builds one and prints it;
//! an emulator parses one and runs it; neither needs the other.
//!
//! ```
//! use kernel_ptx::{form, parse};
//!
//! let text = "
//!     .version 8.6
//!     .target sm_80
//!     .visible .entry scale(.param .u64 data) {
//!         .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .f32 %f<3>;
//!         ld.param.u64 %rd0, [data];
//!         mov.u32 %r0, %tid.x;
//!         mad.wide.u32 %rd1, %r0, 4, %rd0;
//!         ld.global.f32 %f0, [%rd1];
//!         mul.rn.f32 %f1, %f0, 0f40000000;
//!         st.global.f32 [%rd1], %f1;
//!         ret;
//!     }";
//! let module = parse(text)?;
//! module.validate().map_err(|found| found[0].clone())?;
//! assert_eq!(module.minimum_version(), (7, 0));
//! // Printing and parsing again gives the same module.
//! assert_eq!(parse(&module.to_string())?.to_string(), module.to_string());
//! // Every instruction is a row of the table.
//! let (function, multiply) = module.instructions().nth(4).expect("there are seven");
//! assert_eq!(form(multiply, &function.registers)?.syntax, "mul{.(RND)}{.ftz}{.sat}.f32");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is modelled
//!
//! The text is that of PTX ISA 9.0 as compilers emit it for `sm_80` to `sm_100a`: everything but
//! textures, surfaces, samplers, `wmma`, the video instructions and the `mask()` of initialisers. What
//! only a debugger reads (`.section`, the inlining part of `.loc`) is passed over, and so are the
//! attributes that only a driver or an optimiser reads (`.ptr`, `.attribute`).
//!
//! - [`parse`] knows syntax, names and words. It gives every register, label and variable of a nested
//!   scope an id of its own, so that the scopes themselves disappear.
//! - [`parse_body`] reads statements alone, of which registers outside are the parameters.
//! - [`print()`] writes the canonical text.
//! - [`table`] is the instruction table: one row a form, with the targets and the PTX ISA version that
//!   have it. [`form`] finds the row of an instruction, [`Module::validate`] checks a module against
//!   the table, [`Module::minimum_version`] says which version it needs.
//! - [`examples`] makes instructions from the rows, for an assembler to judge the table by.
//! - [`occupancy`] says how many blocks of a kernel a multiprocessor of a [`Hardware`] row holds.
//!
//! The order of the modifiers is that of the manual in what a compiler should write; [`form`] takes
//! words in any order, as assemblers do, and only types and state spaces in the order of the row.

#![forbid(unsafe_code)]

mod hardware;
mod inst;
mod module;
pub mod occupancy;
mod parse;
mod print;
mod target;
mod types;
mod validate;

pub use hardware::{Capability, Hardware};
pub use inst::{Example, example_head, examples};
pub use inst::{
    FormError, FormProblem, Modifier, Opcode, Row, SpecialRegister, Word, form, results, table,
};
pub use module::{
    Base, Directive, Function, Guard, Initial, Instruction, Label, Linkage, Module, Operand, Param,
    Reg, Register, Statement, Symbol, Variable,
};
pub use parse::{ParseError, parse, parse_body};
pub use print::print;
pub use target::{Features, Need, Target, Version};
pub use types::{Space, Type};
pub use validate::{Invalid, Reason};

/// The README's example is compiled and run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
