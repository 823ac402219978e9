//! Every instruction form that the compiler emits, for the file tests, the examples, and kernels made at random, is in the list
//! of `kernel-differential`, whose tests say that it agrees with a GPU. `UPDATE_EXPECT=1` writes the list anew.

use std::{collections::BTreeSet, fs, path::Path};

use kernel_differential::form::form;
use kernel_testkit::FileTest;
use quote::ToTokens;

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
    for (name, text) in example_kernels(&root.join("examples")) {
        // A file test says what runs it.
        match FileTest::of(&name, &format!("//@ run: emulate\n{text}")).ptx() {
            Ok(texts) => collect(&texts, &mut forms),
            Err(error) => left_out.push((name, error)),
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

/// The kernels of the examples, each as a file of its own.
#[expect(clippy::wildcard_enum_match_arm, reason = "kernels are functions and modules")]
fn example_kernels(folder: &Path) -> Vec<(String, String)> {
    let mut kernels = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the examples are part of the repository")
        .map(|entry| entry.expect("it is readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect();
    files.sort();
    for path in files {
        let text = fs::read_to_string(&path).expect("it is readable");
        let file = syn::parse_file(&text).expect("examples compile");
        for item in file.items {
            let (attrs, ident) = match &item {
                syn::Item::Fn(function) => (&function.attrs, &function.sig.ident),
                syn::Item::Mod(module) => (&module.attrs, &module.ident),
                _ => continue,
            };
            let is_kernel = |attr: &syn::Attribute| {
                attr.path().segments.last().is_some_and(|segment| segment.ident == "kernel")
            };
            if attrs.iter().any(is_kernel) {
                kernels.push((ident.to_string(), item.to_token_stream().to_string()));
            }
        }
    }
    kernels
}
