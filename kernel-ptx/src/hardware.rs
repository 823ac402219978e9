//! What kernels are compiled for: a row for each target, with what its PTX may say and the figures of the GPU that it is made for.
//!
//! Everything that depends on the target asks a row: the compiler, the emulator and the launch. The figures are those of the CUDA C++
//! Programming Guide, "Technical Specifications per Compute Capability". Which instructions a target has is said by the PTX ISA in the
//! "Target ISA Notes" of each; `cargo xtask ptxas` asks the assembler for every capability of every row, and for every one that a row
//! lacks.

use crate::target::{Features, Target};

/// What some targets can do and others cannot, as kernels ask for it. [`Need`](crate::Need) is the same for one form of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Numbers of 8 bits, `e4m3` and `e5m2`, in conversions and in `mma.sync`.
    Float8,
    /// `atom.add.bf16`.
    Bf16Atomics,
    /// `red.add` of several neighbours, `.v2` to `.v8`.
    VectorAtomics,
    /// `stmatrix` of 16-bit elements.
    Stmatrix,
    /// Clusters, and their shared memory.
    Clusters,
    /// TMA copies, and mbarriers that count their bytes.
    Tma,
    /// `griddepcontrol`: grids that begin before the one before them has ended.
    DependentGrids,
    /// `setmaxnreg`: registers that move between warps.
    Setmaxnreg,
    /// `wgmma`.
    Wgmma,
    /// TMA copies of rows by their numbers, `tile::gather4` and `tile::scatter4`.
    TmaGather,
    /// `clusterlaunchcontrol`: blocks that take over the work of others.
    LaunchControl,
    /// `st.bulk`: zeros in shared memory, as many bytes as one thread asks for.
    StBulk,
    /// Tensor memory, `tcgen05`, and TMA copies that complete at the barrier of the other block of a pair.
    Tcgen05,
    /// `redux.sync` of floats.
    ReduxFloats,
    /// `tcgen05.mma` of integers, `kind::i8`.
    Tcgen05Integers,
    /// `tcgen05.mma` with scales by their number in a row, `scale_vec`; the same products are everywhere by the numbers of a scale,
    /// `block16` and `block32`.
    Tcgen05ScaleVectors,
    /// `mma.sync` of numbers of 4 and 6 bits, and with scales.
    BlockScaledMma,
}

impl Capability {
    /// All of them.
    pub const ALL: [Capability; 17] = [
        Self::Float8,
        Self::Bf16Atomics,
        Self::VectorAtomics,
        Self::Stmatrix,
        Self::Clusters,
        Self::Tma,
        Self::DependentGrids,
        Self::Setmaxnreg,
        Self::Wgmma,
        Self::TmaGather,
        Self::LaunchControl,
        Self::StBulk,
        Self::Tcgen05,
        Self::ReduxFloats,
        Self::Tcgen05Integers,
        Self::Tcgen05ScaleVectors,
        Self::BlockScaledMma,
    ];

    /// An instruction that a target has exactly where it has the capability, with registers `%p`, `%h`, `%r`, `%rd` and `%f`.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Float8 => "cvt.rn.f16x2.e4m3x2 %r0, %h0;",
            Self::Bf16Atomics => "atom.global.add.noftz.bf16 %h0, [%rd0], %h1;",
            Self::VectorAtomics => "red.global.add.v2.f32 [%rd0], {%f0, %f1};",
            Self::Stmatrix => "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};",
            Self::Clusters => "mapa.shared::cluster.u32 %r0, %r1, %r2;",
            Self::Tma => {
                "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1}], [%r2];"
            }
            Self::DependentGrids => "griddepcontrol.wait;",
            Self::Setmaxnreg => "setmaxnreg.inc.sync.aligned.u32 40;",
            Self::Wgmma => "wgmma.fence.sync.aligned;",
            Self::TmaGather => {
                "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd0, {%r0, %r1, %r2, %r3, %r4}], [%r5];"
            }
            Self::LaunchControl => {
                "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];"
            }
            Self::StBulk => "st.bulk.weak.shared::cta [%r0], 1024, 0;",
            Self::Tcgen05 => "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;",
            Self::ReduxFloats => "redux.sync.min.f32 %f0, %f1, %r0;",
            Self::Tcgen05Integers => {
                "tcgen05.mma.cta_group::1.kind::i8 [%r0], %rd0, %rd1, %r1, %p0;"
            }
            Self::Tcgen05ScaleVectors => {
                "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r0], %rd0, %rd1, %r1, [%r2], [%r3], %p0;"
            }
            Self::BlockScaledMma => {
                "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32.ue8m0 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}, %r6, {%h0, %h1}, %r7, {%h0, %h1};"
            }
        }
    }

    /// The targets that have it, oldest first.
    pub fn targets(self) -> impl Iterator<Item = Target> {
        Hardware::ROWS.iter().map(|row| row.target).filter(move |target| target.has(self))
    }
}

/// A target that kernels are compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Hardware {
    /// The target.
    pub target: Target,
    /// The name after `.target`, which is its name in kernels.
    pub name: &'static str,
    /// What the target has of what others lack, by the generations that brought it.
    pub capabilities: &'static [&'static [Capability]],
    /// What the generation of GPUs is called.
    pub series: &'static str,
    /// The GPU whose multiprocessors are counted.
    pub model: &'static str,
    /// Multiprocessors of that GPU.
    pub multiprocessors: u32,
    /// The most shared memory of a block, in bytes, that a launch can opt in to.
    pub shared_bytes_per_block: u32,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_bytes_per_multiprocessor: u32,
    /// Registers of 32 bits in a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// The most threads that a multiprocessor holds.
    pub threads_per_multiprocessor: u32,
    /// The most blocks that a multiprocessor holds.
    pub blocks_per_multiprocessor: u32,
    /// The most blocks of a cluster; 1 where there are no clusters.
    pub blocks_per_cluster: u32,
    /// Multiplications of 16-bit elements, with sums in f32, that the tensor cores of a multiprocessor do in a cycle. These and the bandwidth
    /// are from NVIDIA's papers "A100 Tensor Core GPU Architecture", "Ada GPU Architecture", "H100 Tensor Core GPU Architecture" and "RTX
    /// Blackwell GPU Architecture", and the data sheets of the H200 and the B200: rates of the whole GPU, by its multiprocessors and its clock.
    pub products_per_cycle: u32,
    /// Bandwidth of the GPU's memory, in GB/s.
    pub memory_gigabytes_per_second: u32,
}

/// What came with Ada.
const ADA: &[Capability] = &[Capability::Float8];
/// What came with Hopper and stayed.
const HOPPER: &[Capability] = &[
    Capability::Bf16Atomics,
    Capability::VectorAtomics,
    Capability::Stmatrix,
    Capability::Clusters,
    Capability::Tma,
    Capability::DependentGrids,
    Capability::Setmaxnreg,
];
/// What came with Blackwell.
const BLACKWELL: &[Capability] = &[Capability::LaunchControl, Capability::StBulk];
/// What data-centre Blackwell alone has.
const DATA_CENTRE: &[Capability] =
    &[Capability::TmaGather, Capability::Tcgen05, Capability::ReduxFloats];

/// What runs on all data-centre Blackwell GPUs with a compute capability of 10, such as B200 and B300.
const FAMILY_100: Hardware = Hardware {
    target: Target { sm: 100, features: Features::Family },
    name: "sm_100f",
    capabilities: &[ADA, HOPPER, BLACKWELL, DATA_CENTRE],
    series: "data-centre Blackwell",
    model: "B200",
    multiprocessors: 148,
    shared_bytes_per_block: 227 * 1024,
    shared_bytes_per_multiprocessor: 228 * 1024,
    registers_per_multiprocessor: Target::REGISTERS,
    threads_per_multiprocessor: 2048,
    blocks_per_multiprocessor: 32,
    blocks_per_cluster: 16,
    products_per_cycle: 4096,
    memory_gigabytes_per_second: 8000,
};

/// Generations without a row, and the one with a row whose multiprocessors have as much shared memory.
const ALIKE: [(u32, u32); 3] = [(86, 89), (88, 89), (121, 120)];

impl Hardware {
    /// One row a target, in the order of their age: of two targets that a GPU runs, the later row is made for it more closely.
    pub const ROWS: &'static [Hardware] = &[
        Hardware {
            target: Target::SM_80,
            name: "sm_80",
            capabilities: &[],
            series: "data-centre Ampere",
            model: "A100",
            multiprocessors: 108,
            shared_bytes_per_block: 163 * 1024,
            shared_bytes_per_multiprocessor: 164 * 1024,
            registers_per_multiprocessor: Target::REGISTERS,
            threads_per_multiprocessor: 2048,
            blocks_per_multiprocessor: 32,
            blocks_per_cluster: 1,
            products_per_cycle: 1024,
            memory_gigabytes_per_second: 2039,
        },
        Hardware {
            target: Target { sm: 89, features: Features::Common },
            name: "sm_89",
            capabilities: &[ADA],
            series: "Ada",
            model: "RTX 4090",
            multiprocessors: 128,
            shared_bytes_per_block: 99 * 1024,
            shared_bytes_per_multiprocessor: 100 * 1024,
            registers_per_multiprocessor: Target::REGISTERS,
            threads_per_multiprocessor: 1536,
            blocks_per_multiprocessor: 24,
            blocks_per_cluster: 1,
            products_per_cycle: 256,
            memory_gigabytes_per_second: 1008,
        },
        Hardware {
            target: Target::SM_90A,
            name: "sm_90a",
            capabilities: &[ADA, HOPPER, &[Capability::Wgmma]],
            series: "Hopper",
            model: "H200",
            multiprocessors: 132,
            shared_bytes_per_block: 227 * 1024,
            shared_bytes_per_multiprocessor: 228 * 1024,
            registers_per_multiprocessor: Target::REGISTERS,
            threads_per_multiprocessor: 2048,
            blocks_per_multiprocessor: 32,
            // "Thread Block Clusters": more than 8 has to be asked for; an H200 holds 16.
            blocks_per_cluster: 16,
            products_per_cycle: 2048,
            memory_gigabytes_per_second: 4800,
        },
        FAMILY_100,
        Hardware {
            target: Target::SM_100A,
            name: "sm_100a",
            capabilities: &[
                ADA,
                HOPPER,
                BLACKWELL,
                DATA_CENTRE,
                &[Capability::Tcgen05Integers, Capability::Tcgen05ScaleVectors],
            ],
            ..FAMILY_100
        },
        // That it has no `kind::i8`, ptxas 13.5 says. A B300 is taken to have the multiprocessors and the memory of a B200.
        Hardware {
            target: Target { sm: 103, features: Features::Specific },
            name: "sm_103a",
            capabilities: &[
                ADA,
                HOPPER,
                BLACKWELL,
                DATA_CENTRE,
                &[Capability::Tcgen05ScaleVectors],
            ],
            series: "Blackwell Ultra",
            model: "B300",
            ..FAMILY_100
        },
        Hardware {
            target: Target { sm: 120, features: Features::Specific },
            name: "sm_120a",
            // `tile::gather4` it has into `shared::cta` alone, and `tile::scatter4` not at all, ptxas 13.5 says.
            capabilities: &[ADA, HOPPER, BLACKWELL, &[Capability::BlockScaledMma]],
            series: "workstation Blackwell",
            model: "RTX 5090",
            multiprocessors: 170,
            shared_bytes_per_block: 99 * 1024,
            shared_bytes_per_multiprocessor: 100 * 1024,
            registers_per_multiprocessor: Target::REGISTERS,
            threads_per_multiprocessor: 1536,
            blocks_per_multiprocessor: 24,
            // "Thread Block Clusters": as many as every GPU with clusters has. That this one has more is not written.
            blocks_per_cluster: 8,
            products_per_cycle: 256,
            memory_gigabytes_per_second: 1792,
        },
    ];

    /// The row of a target that kernels are compiled for.
    pub fn of(target: Target) -> Option<&'static Self> {
        Self::ROWS.iter().find(|row| row.target == target)
    }

    /// The row of a generation; where there are several, the one that is made for it most closely.
    pub fn of_generation(sm: u32) -> Option<&'static Self> {
        Self::ROWS.iter().rfind(|row| row.target.sm == sm)
    }

    /// The newest row whose PTX runs on every GPU from a generation on.
    pub fn running_from(sm: u32) -> Option<&'static Self> {
        let plain = |row: &&Self| row.target.features == Features::Common;
        Self::ROWS.iter().filter(plain).rfind(|row| row.target.sm <= sm)
    }

    /// The row that kernels call `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ROWS.iter().find(|row| row.name == name)
    }
}

impl Target {
    /// Whether the target can do something that kernels ask for; only targets with a row can.
    ///
    /// ```
    /// use kernel_ptx::{Capability, Target};
    ///
    /// assert!(Target::SM_90A.has(Capability::Wgmma));
    /// assert!(!Target::SM_100A.has(Capability::Wgmma));
    /// ```
    pub fn has(self, capability: Capability) -> bool {
        Hardware::of(self)
            .is_some_and(|row| row.capabilities.iter().any(|list| list.contains(&capability)))
    }

    /// The figures of the GPUs that the target is made for: those of its row, or of the row of the generation that is most like it.
    ///
    /// ```
    /// use kernel_ptx::Target;
    ///
    /// let b300 = Target::parse("sm_103").expect("there is one");
    /// assert_eq!(b300.hardware().shared_bytes_per_block, 227 * 1024);
    /// ```
    pub fn hardware(self) -> &'static Hardware {
        let alike = ALIKE.iter().find(|(sm, _)| *sm == self.sm).map_or(self.sm, |(_, row)| *row);
        let closest = || Hardware::ROWS.iter().rfind(|row| row.target.sm <= self.sm);
        Hardware::of(self)
            .or_else(|| Hardware::of_generation(alike))
            .or_else(closest)
            .unwrap_or(&Hardware::ROWS[0])
    }
}
