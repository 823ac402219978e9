//! Part 1: the first kernel, its first mistakes and its first test.

crate::listings! { "start": first_kernel, first_fault }
