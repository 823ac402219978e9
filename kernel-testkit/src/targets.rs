//! Kernels of file tests and examples, compiled for each target of [`Hardware`] that has what they need, whichever their files name.

use std::sync::Arc;

use kernel_ptx::{Capability, Hardware};

use crate::{FileTest, examples::Example};

/// What kernels need, by their names, or the beginnings of names that end in `_` or `/`; none where every target has it.
type Set = (Option<Capability>, &'static [&'static str]);

/// Files of `tests/kernels`, which are run.
const RUN: [Set; 4] = [
    (
        None,
        &[
            "flagship/matmul",
            "flagship/attention",
            "flagship/softmax",
            "flagship/softmax_wide",
            "flagship/rms_norm",
            "copy/pipeline",
        ],
    ),
    (Some(Capability::Float8), &["dot/float8", "cast/float8"]),
    (
        Some(Capability::Tma),
        &[
            "hopper/tma_copy",
            "hopper/tma_reduce_add",
            "hopper/bulk_copy",
            "hopper/cluster_sum",
            "hopper/cluster_multicast",
            "hopper/pipeline_tma",
            "specialize/budgets",
        ],
    ),
    (
        Some(Capability::Tcgen05),
        &[
            "blackwell/gather",
            "blackwell/pair",
            "blackwell/product_f16",
            "blackwell/scaled_float4",
            "blackwell/scaled_float8",
            "blackwell/scaled_nvfp4",
            "blackwell/tensor_memory",
        ],
    ),
];

/// Files of `tests/kernels` and kernels of the examples, which are assembled only.
const ASSEMBLED: [Set; 3] = [
    (None, &["matmul_pipelined/", "softmax/", "layer_norm/"]),
    (Some(Capability::Tma), &["flash_attention/attention"]),
    (
        Some(Capability::Tcgen05),
        &["blackwell/", "matmul_tcgen05/", "matmul_two_cta/", "matmul_scaled/"],
    ),
];

/// Kernels that need more than what their sets say, which is the rule of a target that has it.
fn also_needs(name: &str, row: &Hardware) -> bool {
    match name {
        "blackwell/product_integers"
        | "blackwell/product_of_8_columns"
        | "blackwell/sparse_bytes"
        | "blackwell/sparse_majors"
        | "blackwell/sparse_pair" => row.target.has(Capability::Tcgen05Integers),
        // It keeps a row of 64 Ki numbers.
        "layer_norm/layer_norm_long" => row.shared_bytes_per_block > 128 * 1024,
        _ => true,
    }
}

/// Whether a target has what a kernel needs that some set names.
fn fits(sets: &[Set], name: &str, row: &Hardware) -> bool {
    let named =
        |known: &&str| name == *known || known.ends_with(['_', '/']) && name.starts_with(known);
    sets.iter().any(|(need, names)| {
        names.iter().any(named) && need.is_none_or(|need| row.target.has(need))
    }) && also_needs(name, row)
}

/// A kernel, and a target that it is compiled for.
#[derive(Clone, Debug)]
pub struct Retargeted {
    /// The target.
    pub target: &'static str,
    /// What is done with it.
    pub purpose: Purpose,
    kernel: Kernel,
}

/// What a kernel is compiled for another target for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is assembled.
    Assemble,
    /// It is run by the evaluator and the emulator, and assembled.
    Run,
}

#[derive(Clone, Debug)]
enum Kernel {
    File(Arc<FileTest>),
    Example(Arc<Example>),
}

impl Retargeted {
    /// The kernel, as a test of it is called.
    pub fn name(&self) -> String {
        match &self.kernel {
            Kernel::File(file) => file.name.clone(),
            Kernel::Example(example) => example.name(),
        }
    }

    /// What [`crate::record`] calls it.
    pub fn in_records(&self) -> String {
        let name = match &self.kernel {
            Kernel::File(file) => file.name.clone(),
            Kernel::Example(example) => example.in_records(),
        };
        format!("{name}-{}", self.target)
    }

    /// Compiles it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn compiled(&self) -> Result<FileTest, String> {
        match &self.kernel {
            Kernel::File(file) => file.for_target(self.target),
            Kernel::Example(example) => Ok(example.for_target(self.target)),
        }
    }
}

/// The kernels that are compiled for other targets, by target.
pub fn all(files: &[Arc<FileTest>], examples: &[Arc<Example>]) -> Vec<Retargeted> {
    let mut kernels = Vec::new();
    for row in Hardware::ROWS {
        let mut add = |purpose, kernel| {
            kernels.push(Retargeted { target: row.name, purpose, kernel });
        };
        for file in files {
            let run = fits(&RUN, &file.name, row);
            // Where the file names the target, it is run and assembled with the others.
            if !(run || fits(&ASSEMBLED, &file.name, row)) || file.names_target(row.name) {
                continue;
            }
            let purpose = if run { Purpose::Run } else { Purpose::Assemble };
            add(purpose, Kernel::File(Arc::clone(file)));
        }
        for example in examples {
            if fits(&ASSEMBLED, &example.name(), row) {
                add(Purpose::Assemble, Kernel::Example(Arc::clone(example)));
            }
        }
    }
    kernels
}
