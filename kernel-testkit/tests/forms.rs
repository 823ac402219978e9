//! Every instruction form that the compiler emits, for the file tests, the examples, and kernels made at random, is in the list
//! of `kernel-differential`, whose tests say that it agrees with a GPU. `UPDATE_EXPECT=1` writes the list anew.

use std::{collections::BTreeSet, path::Path};

use kernel_differential::form::form;
use kernel_testkit::{FileTest, examples};

#[path = "random/copies.rs"]
mod copies;
#[path = "random/hopper.rs"]
mod hopper;
#[path = "random/operand.rs"]
mod operand;
#[path = "random/operations.rs"]
mod operations;
#[path = "random/product.rs"]
mod product;
#[path = "random/program.rs"]
mod program;
#[path = "random/statements.rs"]
mod statements;

/// Architectures whose forms have been compared.
const TARGETS: [&str; 2] = ["sm_80", "sm_90a"];

/// The kernels made at random whose forms count: those that `tests/random.rs` runs unless it is told others.
const SEEDS: std::ops::Range<u64> = 0..60;

#[test]
fn every_form_that_is_emitted_is_in_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut tests =
        FileTest::all(&root.join("tests/kernels")).expect("the tests are part of the repository");
    for seed in SEEDS {
        tests.push(FileTest::of(&format!("seed_{seed}"), &program::kernel(seed)));
        tests.push(FileTest::of(&format!("copies_{seed}"), &copies::kernel(seed)));
        tests.push(FileTest::of(&format!("hopper_{seed}"), &hopper::kernel(seed)));
    }
    let mut forms = BTreeSet::new();
    for test in &tests {
        let texts = test.ptx().unwrap_or_else(|error| panic!("{}: {error}", test.name));
        collect(&texts, &mut forms);
    }
    let mut left_out = Vec::new();
    for example in examples::all(&root.join("examples")).expect("the examples can be read") {
        match example.compiled().ptx() {
            Ok(texts) => collect(&texts, &mut forms),
            Err(error) => left_out.push((example.kernel, error)),
        }
    }
    // This one needs items of a library of its own, which rustc brings and the test kit does not have.
    let names: Vec<&str> = left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["gate"], "{left_out:#?}");
    let mut list = String::new();
    for form in forms {
        list.push_str(&form);
        list.push('\n');
    }
    expect_test::expect_file![root.join("kernel-differential/forms.txt")].assert_eq(&list);
}

fn collect(texts: &[(&str, &str)], forms: &mut BTreeSet<String>) {
    for (target, text) in texts {
        if !TARGETS.contains(target) {
            continue;
        }
        let module = kernel_ptx::parse(text).expect("the compiler writes PTX");
        forms.extend(module.instructions().map(|(_, instruction)| form(instruction)));
    }
}
