//! How this crate itself was compiled.

/// How this crate was compiled. Cargo's dev profile, and with it `cargo test`, leaves dependencies without optimisation, unless the
/// workspace's profiles say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiled {
    /// With `opt-level = 1` or more.
    Optimised,
    /// With `opt-level = 0`: kernels take some fifty times as long.
    Unoptimised,
}

impl Compiled {
    /// That of this crate.
    pub const HERE: Compiled =
        if cfg!(unoptimised) { Compiled::Unoptimised } else { Compiled::Optimised };
}

/// What has this crate optimised in dev builds: lines for the `Cargo.toml` of the user's workspace, since cargo reads no profile of
/// a dependency.
pub const PROFILE: &str =
    "[profile.dev.package.kiln-gpu-emulator]\nopt-level = 3\ncodegen-units = 16\ndebug = false\n";
