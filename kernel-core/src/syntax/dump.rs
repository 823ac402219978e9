//! The tree as text, for `KILN_DUMP`.

use super::{Kernel, Unit};

impl Unit {
    /// The tree as indented text, as Rust's `{:#?}` lays it out.
    pub fn dump(&self) -> String {
        format!("{self:#?}")
    }
}

impl Kernel {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.function.name.name
    }
}
