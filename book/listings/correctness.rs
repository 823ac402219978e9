//! The part about correctness: how kernels are tested.

crate::listings! { "correctness": sizes, tolerance, random, inside, report, stamps }
