//! A compiled kernel: for each instance and target the variants that a launch chooses from.

use crate::{
    elaborate::Instance,
    explore::Verdict,
    ir::{Fact, Param, RawAccess},
    layouts::tma::TensorMap,
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
    /// What attributes state.
    pub declared: Vec<Fact>,
    /// The first whose facts hold is launched.
    pub variants: Vec<Variant>,
    /// What in the body reads and writes memory without bounds.
    pub raw_access: Option<RawAccess>,
    /// What is known of its order.
    pub order: Verdict,
}

/// One instance for every target that the kernel names.
#[derive(Clone, Debug)]
pub struct CompiledInstance {
    /// The choice of generic parameters.
    pub instance: Instance,
    /// One image a target.
    pub images: Vec<Image>,
}
