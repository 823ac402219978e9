//! The list of forms that the compiler emits.

use std::collections::BTreeSet;

/// Forms that kernels may contain, by `ptx!` or for other operands, and that no kernel of the tests makes the compiler emit.
pub fn ahead() -> impl Iterator<Item = &'static str> {
    let emitted: BTreeSet<&str> = forms().collect();
    include_str!("../ahead.txt").lines().filter(move |form| !emitted.contains(form))
}

/// The forms, sorted: `forms.txt`, which a test of `kernel-testkit` compares with what the compiler emits.
pub fn forms() -> impl Iterator<Item = &'static str> {
    include_str!("../forms.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// Emitted forms without evidence: no test has run them yet, or a GPU disagrees. Tests ask that it is exactly these.
pub fn open() -> impl Iterator<Item = &'static str> {
    include_str!("../open.txt").lines()
}
