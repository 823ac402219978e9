//! Every example, run as a user would run it on a machine without a GPU: each checks its own results.

use std::{path::PathBuf, process::Command};

/// Runs an example on the emulator, at the sizes that it has for one or at those given, and gives what it printed.
fn run(name: &str, sizes: &[&str]) -> String {
    // Cargo builds the examples beside the tests, one folder up from `deps`.
    let mut path = std::env::current_exe().expect("a test has a path");
    path.pop();
    path.pop();
    path.extend(["examples", &format!("{name}{}", std::env::consts::EXE_SUFFIX)]);
    let output = Command::new(path)
        .args(sizes)
        .env("KILN_DEVICE", "emulator")
        .output()
        .unwrap_or_else(|error| {
            panic!("the example {name} cannot be started, see `cargo build --examples`: {error}")
        });
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} failed:\n{text}\n{errors}");
    text
}

/// An example without a test here could fail unseen.
#[test]
fn every_example_is_run() {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "examples"].iter().collect();
    let mut examples = 0;
    for entry in folder.read_dir().expect("the examples are there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_stem().expect("a file has a name").to_string_lossy();
        let call = format!("(\"{name}\"");
        assert!(include_str!("examples.rs").contains(&call), "required a test of {name}");
        examples += 1;
    }
    assert_eq!(examples, 3);
}

/// Sequences that end within a page, one without tokens; then one sequence of less than a page.
#[test]
fn attention_paged() {
    for sizes in [&[][..], &["1", "17"]] {
        let text = run("attention_paged", sizes);
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}

#[test]
fn rms_norm() {
    let text = run("rms_norm", &[]);
    assert_eq!(text.lines().count(), 2 + 3 * 3, "three types at three sizes:\n{text}");
}

#[test]
fn split_k() {
    let text = run("split_k", &[]);
    assert_eq!(text.lines().count(), 3, "{text}");
}
