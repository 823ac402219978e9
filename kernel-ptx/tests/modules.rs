//! Whole modules: those of `kiln-cli/tests/fixtures`, written by hand, and those of other compilers in the folder that
//! `KILN_FIXTURES` names, or else in `shared/fixtures` beside the repository. Where there is no such folder, that is said.
#![expect(clippy::disallowed_methods, reason = "a test reads its fixtures")]
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::ExitCode,
};

use kernel_ptx::{Instruction, Modifier, Module, Row, Statement, Word, form, parse};
use libtest_mimic::{Arguments, Trial};

#[path = "laws/same.rs"]
mod same;
use same::assert_round_trip;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = modules(&package.join("../kiln-cli/tests/fixtures"));
    assert!(!files.is_empty(), "the modules written by hand are part of the repository");
    let named = std::env::var_os("KILN_FIXTURES").map(PathBuf::from);
    let others = named.unwrap_or_else(|| package.join("../../shared/fixtures"));
    let foreign = modules(&others);
    if foreign.is_empty() && !args.list {
        eprintln!(
            "left out: modules of other compilers, there are none in {} (KILN_FIXTURES names another folder)",
            others.display()
        );
    }
    files.extend(foreign);
    let mut trials = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a listed file can be read");
        let (again, label) = (text.clone(), name.clone());
        trials.push(Trial::test(format!("round_trip::{name}"), move || {
            assert_round_trip(&label, &again);
            Ok(())
        }));
        trials.push(Trial::test(format!("strict::{name}"), move || {
            assert_strict(&name, &text);
            Ok(())
        }));
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// The PTX files of a folder, in the order of their names; none where there is no folder.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "ptx")).collect();
    files.sort();
    files
}

/// Each instruction of `module` once, by its name.
fn distinct(module: &Module) -> Vec<(&kernel_ptx::Function, &Instruction)> {
    let mut seen = BTreeSet::new();
    module.instructions().filter(|(_, instruction)| seen.insert(instruction.name())).collect()
}

/// Validates a module, and refuses it with one modifier replaced by one that has no place.
fn assert_strict(name: &str, text: &str) {
    let module = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    module.validate().unwrap_or_else(|found| panic!("{name}: {}", found[0]));
    for (function, instruction) in distinct(&module) {
        let row: &Row = form(instruction, &function.registers).expect("the module validates");
        assert_eq!(row.opcode, instruction.opcode);
        for index in 0..instruction.modifiers.len() {
            let mut broken = instruction.clone();
            broken.modifiers[index] = Modifier::Word(Word::Subnormal);
            assert!(form(&broken, &function.registers).is_err(), "{name}: {}", broken.name());
            if let Modifier::Type(_) = instruction.modifiers[index] {
                broken.modifiers.remove(index);
                assert!(form(&broken, &function.registers).is_err(), "{name}: {}", broken.name());
            }
        }
        let mut broken = instruction.clone();
        broken.operands.push(kernel_ptx::Operand::Label(kernel_ptx::Label(0)));
        let is_call = instruction.opcode == kernel_ptx::Opcode::Call;
        assert!(
            is_call || form(&broken, &function.registers).is_err(),
            "{name}: {}",
            broken.name()
        );
    }
    // The same as a whole: the first instruction that is broken makes the module invalid.
    let mut broken = module.clone();
    let statements = broken.functions.iter_mut().filter_map(|function| function.body.as_mut());
    for statement in statements.flatten() {
        if let Statement::Instruction(instruction) = statement
            && !instruction.modifiers.is_empty()
        {
            instruction.modifiers[0] = Modifier::Word(Word::Subnormal);
            break;
        }
    }
    assert!(broken.validate().is_err(), "{name}");
}
