//! Layout inference on kernels written by hand: what is chosen, and that it fits together.

pub(crate) mod builder;
mod consistent;
mod kernels;
mod pinned;

use expect_test::Expect;

use super::{Inferred, infer};
use crate::ir::{Kernel, verify};

/// Infers layouts, checks that they fit together, and gives them with the kernel.
fn inferred(mut kernel: Kernel) -> (Kernel, Inferred) {
    let again = kernel.clone();
    let inferred = infer(&mut kernel).expect("the kernel has layouts");
    assert_eq!(verify(&kernel), Ok(()), "{kernel}");
    consistent::check(&kernel, &inferred);
    let mut again = again;
    let second = infer(&mut again).expect("as before");
    let text = |kernel: &Kernel, inferred: &Inferred| {
        kernel.with_layouts(&inferred.layouts, &inferred.shared)
    };
    assert_eq!(text(&kernel, &inferred), text(&again, &second), "inference is deterministic");
    (kernel, inferred)
}

/// Compares the kernel after inference with a snapshot; facts and the heading are left out.
#[track_caller]
fn check(kernel: Kernel, expect: &Expect) {
    let (kernel, inferred) = inferred(kernel);
    let text = kernel.with_layouts(&inferred.layouts, &inferred.shared);
    let lines =
        text.lines().filter(|line| !line.starts_with("  fact ") && !line.starts_with("  target "));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    expect.assert_eq(&text);
}
