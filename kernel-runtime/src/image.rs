//! The compiled code in a binary: one [`Image`] per kernel instance and target.
//!
//! An image is a `static` that the macro generates. It holds the PTX of each variant of the instance, the parameters in
//! the order of the signature, and the facts that the launch checks against the arguments. Nothing is parsed or
//! allocated at run time.

mod map;
mod names;
mod report;

use kernel_ptx::{Features, Hardware};
pub use map::{Fill, MapDim, MapExtent, MapInfo, MapPlaces, MapStride};
pub use names::{NamedMemory, NamedWarps, Names};
pub use report::{ReportText, Reports, Stamp, Stamps, Values};
use std::fmt;

/// The enum of the targets, and the list of all of them.
macro_rules! targets {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// An architecture that kernels are compiled for, in order of age.
        ///
        /// `sm_80` code runs on every later GPU, because the driver compiles its PTX for the GPU at hand.
        /// The `a` targets use instructions of one architecture and run there only, the `f` targets those of a family and run in all of
        /// it (PTX ISA, "PTX Module Directives: .target"). Of several images that a GPU runs, a launch takes the one of the last
        /// target in this order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Target {
            $($(#[$doc])+ $name,)+
        }

        impl Target {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];
        }
    };
}

targets! {
    /// Ampere: `cp.async`, `mma.sync`, `ldmatrix`.
    Sm80,
    /// Ada: products of FP8 numbers.
    Sm89,
    /// Hopper: TMA, mbarrier, clusters, `wgmma`.
    Sm90a,
    /// Data-centre Blackwell, B200 and B300: `tcgen05`, tensor memory.
    Sm100f,
    /// What B200 has beyond the family.
    Sm100a,
    /// What B300 has beyond the family.
    Sm103a,
    /// Workstation Blackwell: TMA, clusters, products of FP8 numbers.
    Sm120a,
}

impl Target {
    /// What is known of it: the variants are in the order of the rows.
    pub(crate) const fn hardware(self) -> &'static Hardware {
        &Hardware::ROWS[self as usize]
    }

    /// The name that the `.target` directive uses, such as `sm_90a`.
    pub const fn name(self) -> &'static str {
        self.hardware().name
    }

    /// The target that the `.target` directive calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|target| target.name() == name)
    }

    /// The compute capability, as (major, minor), of the GPUs that this target was made for.
    pub const fn compute_capability(self) -> (u32, u32) {
        let sm = self.hardware().target.sm;
        (sm / 10, sm % 10)
    }

    /// Whether a GPU of the compute capability (major, minor) runs code of this target.
    pub const fn runs_on(self, capability: (u32, u32)) -> bool {
        self.hardware().target.runs_on_capability(capability)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `sm_80, sm_90a`: a list of targets as messages show it.
pub(crate) fn list_of(targets: impl IntoIterator<Item = Target>) -> String {
    let names: Vec<&str> = targets.into_iter().map(Target::name).collect();
    names.join(", ")
}

/// One compiled instance of a kernel for one target, for one choice of the arguments that are absent.
///
/// Only code that `#[kernel]` generates makes one, and fields are added as kernels can do more: it is not part of the
/// public interface.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The kernel's name as the user wrote it.
    pub kernel: &'static str,
    /// The generic arguments of the instance, such as `BM = 128, BN = 64`; empty without any.
    pub instance: &'static str,
    /// The target of the PTX.
    pub target: Target,
    /// Threads of a block; the block is one-dimensional.
    pub threads: u32,
    /// Blocks of a cluster along x, y and z; all 1 without clusters. A grid has whole clusters.
    pub cluster: [u32; 3],
    /// Whether the kernel may start before the previous kernel in its stream has ended (CUDA C++ Programming Guide,
    /// "Programmatic Dependent Launch and Synchronization").
    ///
    /// Its code waits (`griddepcontrol.wait`) before it accesses memory: until then writes of earlier work of the
    /// stream are not visible, and nothing that this work reads may be written.
    pub programmatic: bool,
    /// The parameters in the order of the signature.
    pub params: &'static [ParamInfo],
    /// The facts in the attributes of parameters: a launch that breaks one is an error.
    pub declared: &'static [Fact],
    /// A launch takes the first variant whose facts hold; the last one requires nothing.
    pub variants: &'static [Variant],
    /// What the kernel says while it runs, if that is anything: the entry has one more parameter then, the address of the memory
    /// for it, before the tensor maps.
    pub reports: Option<Reports>,
    /// Its stamps, if it has any.
    pub stamps: Option<Stamps>,
}

impl Image {
    /// Whether two images are for the same choice of arguments that are absent.
    fn lacks_like(&self, other: &Self) -> bool {
        let mut pairs = self.params.iter().zip(other.params);
        pairs.all(|(a, b)| (a.kind == ParamKind::Absent) == (b.kind == ParamKind::Absent))
    }
}

/// The images of an instance, those for one choice of absent arguments at a time. All arguments are there in the first ones.
pub(crate) fn choices(images: &'static [Image]) -> impl Iterator<Item = &'static [Image]> {
    images.chunk_by(Image::lacks_like)
}

/// The images of an instance for which all arguments are there: one for each target.
pub(crate) fn complete(images: &'static [Image]) -> &'static [Image] {
    choices(images).next().unwrap_or_default()
}

/// One parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// The parameter's name in the signature.
    pub name: &'static str,
    /// What the parameter takes.
    pub kind: ParamKind,
}

/// What a parameter takes, and so how many entry parameters the PTX has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamKind {
    /// A tensor: the address as `u64`, `rank` dims as `i32`, `rank` strides in elements as `i64`.
    Tensor {
        /// The element type, such as `f16`.
        dtype: &'static str,
        /// The number of dims.
        rank: usize,
        /// Whether the kernel writes it.
        mutable: bool,
    },
    /// A raw pointer: the address as `u64`.
    Pointer {
        /// The type pointed to, such as `f16`.
        dtype: &'static str,
    },
    /// A scalar in its own width; `bool` is passed as `u8`.
    Scalar {
        /// The scalar's type, such as `i32`.
        dtype: &'static str,
    },
    /// Nothing: the argument for an `Option` that is `None`. The PTX has no entry parameters for it.
    Absent,
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor { dtype, rank, mutable: false } => write!(f, "Tensor<{dtype}, {rank}>"),
            Self::Tensor { dtype, rank, mutable: true } => write!(f, "TensorMut<{dtype}, {rank}>"),
            Self::Pointer { dtype } => write!(f, "Ptr<{dtype}>"),
            Self::Scalar { dtype } => write!(f, "{dtype}"),
            Self::Absent => f.write_str("None"),
        }
    }
}

/// One body of PTX: the same kernel compiled under more or fewer facts.
///
/// Only code that `#[kernel]` generates makes one, and fields are added as kernels can do more: it is not part of the
/// public interface.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// A short name for dumps, such as `aligned`.
    pub name: &'static str,
    /// The `.entry` to launch.
    pub entry: &'static str,
    /// The whole module's text.
    pub ptx: &'static str,
    /// Machine code of the same module, if any was made ahead of time; a device that none of it fits gets the text.
    pub cubins: &'static [Cubin],
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Columns of tensor memory that a block allocates, of the 512 of a multiprocessor; 0 if it allocates none (PTX
    /// ISA, "tcgen05.alloc").
    pub tensor_columns: u32,
    /// The facts that this variant relies on.
    pub requires: &'static [Fact],
    /// The tensor maps of its copies: one entry parameter of 128 bytes, aligned to 64, for each, in this order after
    /// all others.
    pub maps: &'static [MapInfo],
    /// What the kernel's source calls what the emulator's reports name: there if Kiln compiled the text, and the program has the emulator.
    pub names: Option<&'static Names>,
}

/// Machine code that `ptxas` made of a module while the program was built.
#[derive(Clone, Copy, Debug)]
pub struct Cubin {
    /// The architecture, in the name that `ptxas` uses, such as `sm_90a`.
    pub architecture: &'static str,
    /// The file.
    pub bytes: &'static [u8],
}

impl Cubin {
    /// Whether a GPU of the compute capability (major, minor) runs it: the major has to be equal and the minor no
    /// lower; an architecture with a suffix has to be equal (NVCC, "GPU Compilation": binary compatibility; PTX ISA,
    /// ".target").
    pub fn runs_on(&self, (major, minor): (u32, u32)) -> bool {
        let Some(own) = kernel_ptx::Target::parse(self.architecture) else { return false };
        let (own_major, own_minor) = (own.sm / 10, own.sm % 10);
        match own.features {
            Features::Common | Features::Family => own_major == major && own_minor <= minor,
            Features::Specific => (own_major, own_minor) == (major, minor),
        }
    }
}

/// A statement about one argument that the compiler may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// The address is a multiple of `bytes`.
    PointerAligned {
        /// Index of the parameter in the signature.
        param: usize,
        /// The alignment in bytes.
        bytes: u32,
    },
    /// The stride of `axis` is `value` elements.
    StrideEquals {
        /// Index of the parameter in the signature.
        param: usize,
        /// The axis of the tensor.
        axis: usize,
        /// The stride in elements.
        value: i64,
    },
    /// The stride of `axis` is a multiple of `of` elements.
    StrideMultiple {
        /// Index of the parameter in the signature.
        param: usize,
        /// The axis of the tensor.
        axis: usize,
        /// The divisor in elements.
        of: i64,
    },
    /// The extent of `axis` is a multiple of `of`.
    DimMultiple {
        /// Index of the parameter in the signature.
        param: usize,
        /// The axis of the tensor.
        axis: usize,
        /// The divisor.
        of: i64,
    },
    /// The scalar is a multiple of `of`.
    ScalarMultiple {
        /// Index of the parameter in the signature.
        param: usize,
        /// The divisor.
        of: i64,
    },
}

impl Fact {
    /// Index of the parameter that the fact is about.
    pub const fn param(self) -> usize {
        match self {
            Self::PointerAligned { param, .. }
            | Self::StrideEquals { param, .. }
            | Self::StrideMultiple { param, .. }
            | Self::DimMultiple { param, .. }
            | Self::ScalarMultiple { param, .. } => param,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PointerAligned { bytes, .. } => write!(f, "an address aligned to {bytes} bytes"),
            Self::StrideEquals { axis, value, .. } => {
                write!(f, "a stride of {value} on axis {axis}")
            }
            Self::StrideMultiple { axis, of, .. } => {
                write!(f, "a stride that is a multiple of {of} on axis {axis}")
            }
            Self::DimMultiple { axis, of, .. } => {
                write!(f, "an extent that is a multiple of {of} on axis {axis}")
            }
            Self::ScalarMultiple { of, .. } => write!(f, "a multiple of {of}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variant is found by its place, and macros write its name.
    #[test]
    fn variants_are_the_rows() {
        let variants: Vec<String> =
            Target::ALL.iter().map(|target| format!("{target:?}")).collect();
        let rows: Vec<String> =
            Hardware::ROWS.iter().map(|row| row.name.replace("sm_", "Sm")).collect();
        assert_eq!(variants, rows);
    }

    /// PTX ISA, ".target": plain ones run on all that is newer, `f` within a family, `a` on one architecture.
    #[test]
    fn the_last_target_that_runs_is_made_for_the_gpu() {
        let chosen = |targets: &[Target], capability| {
            targets.iter().copied().filter(|target| target.runs_on(capability)).max()
        };
        for (capability, target) in [
            ((7, 5), None),
            ((8, 0), Some(Target::Sm80)),
            ((8, 6), Some(Target::Sm80)),
            ((8, 9), Some(Target::Sm89)),
            ((9, 0), Some(Target::Sm90a)),
            ((10, 0), Some(Target::Sm100a)),
            ((10, 3), Some(Target::Sm103a)),
            ((11, 0), Some(Target::Sm89)),
            ((12, 0), Some(Target::Sm120a)),
            ((12, 1), Some(Target::Sm89)),
        ] {
            assert_eq!(chosen(Target::ALL, capability), target, "{capability:?}");
        }
        let two = [Target::Sm80, Target::Sm100f];
        assert_eq!(chosen(&two, (10, 0)), Some(Target::Sm100f));
        assert_eq!(chosen(&two, (10, 3)), Some(Target::Sm100f));
        assert_eq!(chosen(&two, (12, 0)), Some(Target::Sm80));
    }

    /// NVCC, "GPU Compilation", "Binary Compatibility"; suffixes as PTX ISA's ".target" has them.
    #[test]
    fn machine_code_runs_within_a_major_version() {
        let runs =
            |architecture, capability| Cubin { architecture, bytes: &[] }.runs_on(capability);
        assert!(runs("sm_80", (8, 0)) && runs("sm_80", (8, 9)) && runs("sm_86", (8, 9)));
        assert!(!runs("sm_86", (8, 0)) && !runs("sm_80", (9, 0)) && !runs("sm_90", (8, 9)));
        assert!(runs("sm_90a", (9, 0)) && !runs("sm_90a", (9, 1)) && !runs("sm_100a", (10, 3)));
        assert!(runs("sm_100f", (10, 3)) && runs("sm_120", (12, 1)) && !runs("sm_100f", (11, 0)));
        assert!(!runs("", (8, 0)) && !runs("sm_", (8, 0)) && !runs("compute_80", (8, 0)));
    }
}
