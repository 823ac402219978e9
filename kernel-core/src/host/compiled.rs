//! A compiled kernel: for each instance and target the variants that a launch chooses from.

use crate::{
    elaborate::Instance,
    explore::Verdict,
    ir::{Elem, Fact, Param, RawAccess, ReportKind},
    layouts::tma::TensorMap,
    lower::{Names, Slots},
};

/// Machine code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// As `ptxas` calls it, such as `sm_90a`.
    pub architecture: String,
    /// The file.
    pub bytes: Vec<u8>,
}

/// One kernel of one instance for one target, under one set of assumptions.
#[derive(Clone, Debug)]
pub struct Variant {
    /// `divisible`, `aligned` or `general`.
    pub name: &'static str,
    /// The `.entry`.
    pub entry: String,
    /// The module's text.
    pub ptx: String,
    /// Machine code of it, for the architectures that were asked for.
    pub cubins: Vec<Cubin>,
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// Columns of tensor memory that a block allocates; 0 without any.
    pub tensor_columns: u32,
    /// What has to hold for it to be launched.
    pub requires: Vec<Fact>,
    /// The tensor maps that the entry takes after its other parameters.
    pub maps: Vec<TensorMap>,
    /// What the source calls what reports about the running kernel name.
    pub names: Names,
    /// Lines of the text, from 1, with a `trap` that the compiler put there, and what is wrong when one is reached.
    pub checks: Vec<(u32, String)>,
}

/// What a kernel says while it runs.
#[derive(Clone, Debug)]
pub struct Reports {
    /// The memory for it.
    pub slots: Slots,
    /// All of it, in the order of the numbers in that memory.
    pub all: Vec<Report>,
}

/// A print or an assertion.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it is.
    pub kind: ReportKind,
    /// A format string of Rust, with the number of the value in each place; for `assert_eq!` and `assert_ne!` the first two
    /// values do not count.
    pub format: String,
    /// `src/kernel.rs:12:5`
    pub place: String,
    /// The values.
    pub values: Vec<Elem>,
    /// The shape of its tiles; empty without any.
    pub shape: Vec<u32>,
}

/// One instance for one target.
#[derive(Clone, Debug)]
pub struct Image {
    /// The target, as kernels spell it.
    pub target: String,
    /// Warps of a block.
    pub warps: u32,
    /// Blocks of a cluster, on the axes of the grid.
    pub cluster: [u32; 3],
    /// Whether it may start before the grid before it has ended.
    pub programmatic: bool,
    /// Parameters.
    pub params: Vec<Param>,
    /// What is absent: parameters, or fields of structs, that are an `Option`.
    pub absent: Vec<String>,
    /// What attributes state.
    pub declared: Vec<Fact>,
    /// The first whose facts hold is launched.
    pub variants: Vec<Variant>,
    /// What in the body reads and writes memory without bounds.
    pub raw_access: Option<RawAccess>,
    /// What is known of its order.
    pub order: Verdict,
    /// What it says while it runs; its entry takes the memory for that after the other parameters but the tensor maps.
    pub reports: Option<Reports>,
    /// Whether the kernel has a `stamp!`.
    pub has_stamps: bool,
    /// Where warps enter phases, by the numbers in the records, if this is the image of a profile; its entry takes four parameters for
    /// them after the others but the tensor maps.
    pub stamps: Vec<Stamp>,
    /// The image of a profile of this one: without what it says, with its stamps, if it has any.
    pub profiled: Option<Box<Image>>,
}

/// A place where warps enter a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The name of the phase.
    pub name: String,
    /// `src/kernel.rs:12:5`
    pub place: String,
}

/// One instance for every target that the kernel names.
#[derive(Clone, Debug)]
pub struct CompiledInstance {
    /// The choice of generic parameters.
    pub instance: Instance,
    /// One image a target, for each choice of absent arguments. They say nothing.
    pub images: Vec<Image>,
    /// The same images with what `println!` and `assert!` say; none if there is nothing.
    pub reporting: Vec<Image>,
}
