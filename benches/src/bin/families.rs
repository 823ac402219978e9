//! The kernels of `kiln-kernels` that the memory bounds, beside a copy of as many bytes, and attention, in one process.
//!
//! `cargo run --release -p benches --bin families [-- TEXT] [--pause MS] [--rounds N]`: those whose name contains the text.
//! `benches/peers/families.py` runs the same beside other libraries.

use anyhow::Result;
use benches::families::{Asked, all};

fn main() -> Result<()> {
    all(&Asked::from_args(std::env::args().skip(1))?, None)
}
