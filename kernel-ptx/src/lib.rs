//! Typed PTX: the instruction table, the printer, the parser, the targets.
//!
//! Placeholder essay.
mod inst;
mod module;
mod types;

pub use inst::{Modifier, Opcode, SpecialRegister, Word};
pub use module::{
    Base, Directive, Function, Guard, Initial, Instruction, Label, Linkage, Module, Operand, Param,
    Reg, Register, Statement, Symbol, Variable,
};
pub use types::{Space, Type};
