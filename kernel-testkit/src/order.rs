//! What the compiler knows of the order of each kernel: that it is proven, or why it is left to the emulator.
//!
//! The verdicts on all kernels stand in `tests/order.txt`. Tests compare them; `cargo xtask order` writes them.

use std::path::Path;

use crate::{
    FileTest,
    digest::{each_kernel, instance},
    prepare::Build,
};

/// The head of the file.
const HEAD: &str = "\
# Kernel, instance, target, and what is known of its order before it runs: proven, refused, or left to the emulator, and why.
# `cargo xtask order` writes this file. A commit that changes it says which kernels change, and why.
";

/// The file, in the repository.
const FILE: &str = "tests/order.txt";

/// The verdicts on a kernel, a line an instance and target.
///
/// # Errors
/// What the compiler says of the kernel.
pub fn verdicts(name: &str, kernel: &FileTest) -> Result<Vec<String>, String> {
    let builds = kernel.builds().map_err(|error| format!("{name}: {error}"))?;
    let line =
        |build: &Build| format!("{name} {} {} {}", instance(build), build.target, build.order);
    Ok(builds.iter().map(line).collect())
}

/// The verdicts on all kernels of a checkout.
///
/// # Errors
/// A file that cannot be read; what the compiler says of a kernel.
pub fn all(root: &Path) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    each_kernel(root, &mut |name, kernel| {
        lines.extend(verdicts(name, kernel).unwrap_or_else(|e| vec![format!("ERR {e}")]));
        Ok(())
    })?;
    Ok(lines)
}

/// Writes the file.
///
/// # Errors
/// A file that cannot be read or written; what the compiler says of a kernel.
pub fn write(root: &Path) -> Result<(), String> {
    let text = format!("{HEAD}{}\n", all(root)?.join("\n"));
    std::fs::write(root.join(FILE), text).map_err(|error| format!("{FILE}: {error}"))
}
