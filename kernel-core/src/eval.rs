//! The meaning of the IR on dense arrays: slow, obvious, and independent of layouts, lowering and the emulator.
//!
//! A kernel runs one cluster at a time, in order of their coordinates (axis 0 fastest), and each operation is done on whole tiles.
//! The blocks of a cluster, and the partitions of a block, run each until it waits for another.
//! That makes it an oracle for everything but concurrency: a program whose result depends on the order of threads or blocks has
//! no defined result, and this module shows one of the possible ones.
//!
//! * A value of type `f16`, `bf16` or `f32` is rounded to its type once per operation; transcendental functions are computed in
//!   `f64` and rounded once; a dot product is summed in `f64` and rounded once. Results of the latter two are compared with a tolerance.
//! * Copies complete at once; mbarriers count arrivals and bytes; `sync` does nothing.
//! * What is undefined (shared memory before a write, an integer divided by zero) may be carried about and selected away; it is an
//!   error once it reaches global memory, an address or a branch.

use std::fmt;

use crate::ir::{Dtype, Kernel, ParamKind, verify};
use crate::loc::Loc;

mod arith;
mod block;
mod element;
mod float;
mod memory;
mod tensor_memory;
mod world;

/// An argument of a kernel. Tensors and pointers own their memory: two arguments never alias.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A tensor in global memory.
    Tensor {
        /// The bytes of the allocation, little-endian.
        data: Vec<u8>,
        /// Element type.
        dtype: Dtype,
        /// Extents.
        shape: Vec<u32>,
        /// Strides, in elements.
        strides: Vec<i64>,
        /// Where the tensor's first element is in `data`, in elements.
        offset: usize,
    },
    /// A raw pointer.
    Pointer {
        /// The bytes of the allocation, little-endian.
        data: Vec<u8>,
        /// Where the pointer points to, in bytes from the start of `data`.
        offset: usize,
    },
    /// A scalar: its bits, in the low bytes.
    Scalar {
        /// The bits.
        bits: u64,
    },
    /// Nothing, for a parameter that is absent.
    Absent,
}

/// Why a kernel has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// The block that failed.
    pub block: [u32; 3],
    /// The statement that failed.
    pub loc: Loc,
    /// What happened.
    pub fault: Fault,
}

/// What can go wrong in a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The IR breaks an invariant.
    Malformed(String),
    /// The number of arguments is not that of the parameters.
    ArgumentCount {
        /// Arguments passed.
        actual: usize,
        /// Parameters of the kernel.
        required: usize,
    },
    /// An argument is not of its parameter's kind, element type or rank.
    Argument {
        /// The parameter's index.
        param: usize,
    },
    /// An access is outside of an argument's memory.
    OutOfBounds {
        /// The argument's index.
        param: usize,
        /// Where the access starts, in bytes from the start of the allocation.
        offset_bytes: i128,
        /// Size of the allocation.
        size_bytes: usize,
    },
    /// An access is not aligned to its element.
    Misaligned {
        /// The argument's index.
        param: usize,
        /// Where the access starts, in bytes from the start of the allocation.
        offset_bytes: i128,
    },
    /// An index into a ring of shared tiles is too large, or negative.
    SharedIndex {
        /// The index.
        actual: i128,
        /// The ring's extent.
        extent: u32,
    },
    /// A part of shared memory begins between multiples of its extent.
    SharedPart {
        /// Where it begins.
        actual: u32,
        /// The extent.
        extent: u32,
    },
    /// An assertion failed.
    Assert(String),
    /// An undefined value reaches global memory, an address or a branch.
    Undefined,
    /// Instructions that the user wrote out: their meaning is the hardware's.
    Ptx,
    /// Every block of a cluster, or every partition, waits for another.
    Deadlock,
    /// A rank that no block of the cluster has.
    ClusterRank {
        /// The rank.
        actual: i128,
        /// The blocks of the cluster.
        blocks: usize,
    },
    /// The grid cannot be cut into clusters.
    Clusters {
        /// The blocks of the grid.
        grid: [u32; 3],
        /// Those of a cluster.
        cluster: [u32; 3],
    },
    /// A store or a reduction by tensor map begins before the tensor.
    BeforeTensor {
        /// The axis, counted from the innermost.
        dimension: usize,
        /// Its coordinate.
        at: i128,
    },
    /// A TMA copy begins before its slice.
    BeforeSlice {
        /// The axis.
        axis: usize,
        /// Where the slice begins.
        first: i128,
        /// Where the copy begins.
        at: i128,
    },
    /// A counted loop has the step 0.
    ZeroStep,
    /// A loop ran for more iterations than any test has.
    Endless,
}

impl EvalError {
    fn outside(fault: Fault) -> Self {
        EvalError { block: [0; 3], loc: Loc::KERNEL, fault }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {:?}: {}", self.block, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Malformed(why) => write!(f, "malformed IR: {why}"),
            Fault::ArgumentCount { actual, required } => {
                write!(f, "{actual} arguments for {required} parameters")
            }
            Fault::Argument { param } => {
                write!(f, "argument {param} is not of its parameter's kind")
            }
            Fault::OutOfBounds { param, offset_bytes, size_bytes } => {
                write!(
                    f,
                    "access at byte {offset_bytes} of argument {param}, which has {size_bytes} bytes"
                )
            }
            Fault::Misaligned { param, offset_bytes } => {
                write!(f, "misaligned access at byte {offset_bytes} of argument {param}")
            }
            Fault::SharedIndex { actual, extent } => {
                write!(f, "index {actual} into a ring of {extent} shared tiles")
            }
            Fault::SharedPart { actual, extent } => {
                write!(f, "a part of {extent} elements of shared memory begins at {actual}")
            }
            Fault::Assert(message) => write!(f, "assertion failed: {message}"),
            Fault::Undefined => {
                f.write_str("an undefined value reaches memory, an address or a branch")
            }
            Fault::Deadlock => f.write_str(
                "deadlock: everybody waits for an mbarrier or a cluster whose phase nobody ends",
            ),
            Fault::ClusterRank { actual, blocks } => {
                write!(f, "rank {actual} in a cluster of {blocks} blocks")
            }
            Fault::Clusters { grid, cluster } => {
                write!(f, "a grid of {grid:?} blocks in clusters of {cluster:?}")
            }
            Fault::BeforeTensor { dimension, at } => write!(
                f,
                "the box of a TMA store begins before the tensor: coordinate {dimension}, from the innermost, is {at}; only boxes of loads may"
            ),
            Fault::BeforeSlice { axis, first, at } => write!(
                f,
                "a TMA copy of a slice that begins at {first} of axis {axis} begins at {at}, before it"
            ),
            Fault::Ptx => f.write_str("the reference evaluator cannot run the text of `ptx!`"),
            Fault::ZeroStep => f.write_str("a loop has the step 0"),
            Fault::Endless => f.write_str("a loop does not end"),
        }
    }
}

impl std::error::Error for EvalError {}

/// Runs a kernel for every block of `grid` and leaves what it writes in `args`.
///
/// # Errors
/// When the IR or the arguments are malformed, and with the first fault that a block meets; `args` then hold what was
/// written until then.
pub fn run(kernel: &Kernel, grid: [u32; 3], args: &mut [Arg]) -> Result<(), EvalError> {
    verify(kernel).map_err(|why| EvalError::outside(Fault::Malformed(why)))?;
    check_args(kernel, args).map_err(EvalError::outside)?;
    let cluster = kernel.cluster;
    if grid.iter().zip(cluster).any(|(blocks, along)| !blocks.is_multiple_of(along)) {
        return Err(EvalError::outside(Fault::Clusters { grid, cluster }));
    }
    let (clusters, mut begun) = (clusters(kernel, grid), 0);
    while let Some(first) = clusters.get(begun) {
        begun = block::run(kernel, grid, *first, begun + 1, args)?;
    }
    Ok(())
}

/// The first blocks of the clusters of a grid, in the order in which they begin.
fn clusters(kernel: &Kernel, grid: [u32; 3]) -> Vec<[u32; 3]> {
    let starts = |axis: usize| (0..grid[axis]).step_by(kernel.cluster[axis] as usize);
    let mut all = Vec::new();
    for z in starts(2) {
        for y in starts(1) {
            all.extend(starts(0).map(|x| [x, y, z]));
        }
    }
    all
}

fn check_args(kernel: &Kernel, args: &[Arg]) -> Result<(), Fault> {
    let (actual, required) = (args.len(), kernel.params.len());
    if actual != required {
        return Err(Fault::ArgumentCount { actual, required });
    }
    for (param, (arg, declared)) in args.iter().zip(&kernel.params).enumerate() {
        if declared.absent || matches!(arg, Arg::Absent) {
            if declared.absent != matches!(arg, Arg::Absent) {
                return Err(Fault::Argument { param });
            }
            continue;
        }
        let fits = match (arg, &declared.kind) {
            (
                Arg::Tensor { dtype, shape, strides, .. },
                ParamKind::Tensor { dtype: required, rank, .. },
            ) => {
                let rank = *rank as usize;
                dtype == required && shape.len() == rank && strides.len() == rank
            }
            (Arg::Pointer { .. }, ParamKind::Pointer(_))
            | (Arg::Scalar { .. }, ParamKind::Scalar(_)) => true,
            _ => false,
        };
        if !fits {
            return Err(Fault::Argument { param });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
