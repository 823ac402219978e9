//! Typed PTX: the instruction table, the printer, the parser, the targets.
//!
//! Placeholder essay.

#![forbid(unsafe_code)]

mod inst;
mod module;
mod parse;
mod print;
mod target;
mod types;
mod validate;

pub use inst::{Example, example_head, examples};
pub use inst::{FormError, FormProblem, Modifier, Opcode, Row, SpecialRegister, Word, form, table};
pub use module::{
    Base, Directive, Function, Guard, Initial, Instruction, Label, Linkage, Module, Operand, Param,
    Reg, Register, Statement, Symbol, Variable,
};
pub use parse::{ParseError, parse};
pub use print::print;
pub use target::{Features, Need, Target, Version};
pub use types::{Space, Type};
pub use validate::{Invalid, Reason};
