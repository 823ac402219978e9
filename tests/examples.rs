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
        .unwrap_or_else(|error| {
            panic!("the example {name} cannot be started, see `cargo build --examples`: {error}")
        });
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

/// The lines of a table that are about an element type, at a width.
fn lines(text: &str, dtype: &str, columns: &str) -> usize {
    let fits = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next() == Some(dtype) && words.nth(1) == Some(columns)
    };
    text.lines().filter(fits).count()
}

/// Each width is that of another instance, the last one of the kernel for any width.
#[test]
fn softmax() {
    let text = run("softmax");
    for dtype in ["bf16", "f16", "f32"] {
        for columns in ["100", "1000", "4096", "8000", "16384", "20000"] {
            assert_eq!(lines(&text, dtype, columns), 1, "{dtype}, {columns}:\n{text}");
        }
    }
    assert_eq!(text.lines().count(), 2 + 3 * 6, "{text}");
}

#[test]
fn rms_norm() {
    let text = run("rms_norm");
    for dtype in ["bf16", "f16"] {
        for columns in ["1000", "4096", "8000", "16384", "20000"] {
            assert_eq!(lines(&text, dtype, columns), 1, "{dtype}, {columns}:\n{text}");
        }
    }
    assert_eq!(text.lines().count(), 2 + 2 * 5, "{text}");
}

#[test]
fn matmul_async_copy() {
    let text = run("matmul_async_copy");
    assert_eq!(text.matches("warps").count(), 24, "twelve instances at two sizes:\n{text}");
}

#[test]
fn matmul_pipelined() {
    let text = run("matmul_pipelined");
    // A head, then five instances at each of two sizes.
    assert_eq!(text.lines().count(), 2 + 2 * 5, "{text}");
}

#[test]
fn layer_norm() {
    let text = run("layer_norm");
    for dtype in ["bf16", "f16"] {
        for columns in ["1000", "4096", "8000", "16384", "20000"] {
            assert_eq!(lines(&text, dtype, columns), 1, "{dtype}, {columns}:\n{text}");
        }
    }
    assert_eq!(text.lines().count(), 2 + 2 * 5, "{text}");
}

/// Each instance finds nothing wrong with any element.
#[test]
fn transpose() {
    let text = run("transpose");
    assert_eq!(text.matches("warps").count(), 16, "eight instances at two sizes:\n{text}");
    assert_eq!(text.matches("0.0e0").count(), 16, "{text}");
}

/// Three orders, one of them the example's own, for two element types at two sizes.
#[test]
fn device_library() {
    let text = run("device_library");
    for order in ["rows", "grouped", "snake"] {
        let lines = text.lines().filter(|line| line.split_whitespace().nth(1) == Some(order));
        assert_eq!(lines.count(), 4, "{order}:\n{text}");
    }
}
