//! What is printed is read back as the same module.

use kernel_ptx::{Function, Module, Statement, parse, print};

/// The module without line numbers and without the names that printing may change.
fn without_names(mut module: Module) -> Module {
    for function in &mut module.functions {
        for register in &mut function.registers {
            register.name = None;
        }
        for label in &mut function.labels {
            label.clear();
        }
        for variable in &mut function.variables {
            variable.name.clear();
        }
        for param in function.params.iter_mut().chain(&mut function.results) {
            if param.register.is_some() {
                param.name.clear();
            }
        }
        for statement in function.body.iter_mut().flatten() {
            if let Statement::Instruction(instruction) = statement {
                instruction.line = 0;
            }
        }
    }
    module
}

/// Prints a module and reads it again: the same module, and a text that printing does not change.
pub(crate) fn assert_round_trip(name: &str, text: &str) {
    let first = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let printed = print(&first);
    let second =
        parse(&printed).unwrap_or_else(|error| panic!("{name}, printed: {error}\n{printed}"));
    assert_eq!(print(&second), printed, "{name}: the canonical text is not a fixed point");
    // `assert_eq` would print two whole modules.
    let (first, second) = (without_names(first), without_names(second));
    for (first, second) in first.functions.iter().zip(&second.functions) {
        for (first, second) in first.body.iter().flatten().zip(second.body.iter().flatten()) {
            assert_eq!(first, second, "{name}");
        }
        assert_eq!(first.registers, second.registers, "{name}");
        assert_eq!(
            Function { body: None, ..first.clone() },
            Function { body: None, ..second.clone() },
            "{name}"
        );
    }
    for (first, second) in first.variables.iter().zip(&second.variables) {
        assert_eq!(first, second, "{name}");
    }
    assert!(first == second, "{name}: the modules differ: {text}");
}
