//! Every example, run as a user would run it on a machine without a GPU: each checks its own results.

use std::{path::PathBuf, process::Command};

/// Cargo builds the examples beside the tests, one folder up from `deps`.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has a path");
    path.pop();
    path.pop();
    path.push("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    path
}

/// Runs an example on the emulator and gives what it printed.
fn run(name: &str) -> String {
    let output = Command::new(example(name))
        .env("KILN_DEVICE", "emulator")
        .output()
        .unwrap_or_else(|error| panic!("the example {name} cannot be started: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} failed:\n{text}\n{errors}");
    text
}

#[test]
fn vector_add() {
    let text = run("vector_add");
    assert!(text.contains("1000003             0"), "{text}");
}

#[test]
fn softmax() {
    let text = run("softmax");
    assert_eq!(text.lines().count(), 2 + 4, "a device, a heading and four sizes:\n{text}");
}

#[test]
fn rms_norm() {
    let text = run("rms_norm");
    assert_eq!(text.lines().count(), 2 + 3, "a device, a heading and three sizes:\n{text}");
}

#[test]
fn matmul_async_copy() {
    let text = run("matmul_async_copy");
    assert_eq!(text.matches("warps").count(), 24, "twelve instances at two sizes:\n{text}");
}
