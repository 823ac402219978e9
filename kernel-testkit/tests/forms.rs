//! Every instruction form that the compiler emits is in the list of `kernel-differential`.

use std::{collections::BTreeSet, path::Path};

use kernel_differential::form::form;
use kernel_testkit::FileTest;

#[path = "random/copies.rs"]
mod copies;
#[path = "random/operations.rs"]
mod operations;
#[path = "random/program.rs"]
mod program;
#[path = "random/statements.rs"]
mod statements;

#[test]
fn collect() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let mut tests = FileTest::all(&root).expect("the tests are part of the repository");
    for seed in 0..60 {
        tests.push(FileTest::of(&format!("seed_{seed}"), &program::kernel(seed)));
        tests.push(FileTest::of(&format!("copies_{seed}"), &copies::kernel(seed)));
    }
    let mut forms = BTreeSet::new();
    for test in &tests {
        for (target, text) in test.ptx().expect("it compiles") {
            let module = kernel_ptx::parse(text).expect("it is PTX");
            for (_, instruction) in module.instructions() {
                forms.insert((form(instruction), target.to_owned()));
            }
        }
    }
    for (form, target) in forms {
        eprintln!("FORM {form} @ {target}");
    }
}
