//! What `kiln init` writes is what this crate runs: the kernel of a new package, and its test.

#[expect(
    unused_qualifications,
    clippy::cast_precision_loss,
    reason = "it stands for the user's code, which has other lints"
)]
#[path = "../kiln-cli/template/kernels.rs"]
mod kernels;
