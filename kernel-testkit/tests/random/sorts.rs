//! Kernels of all operations on tiles, with sorts, the largest elements, elements at indices, counts and parts among them.

use crate::program::{Program, filled};

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut program = Program::new(&format!("sorts {seed}"));
    program.sorts = true;
    filled(program, &format!("sorts_{seed}"))
}
