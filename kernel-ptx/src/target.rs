//! Targets: what a GPU generation offers, and what an instruction asks of it.

use std::fmt;

/// A version of the PTX ISA: major, minor.
pub type Version = (u32, u32);

/// The last minor version of each major version of the PTX ISA (PTX ISA, "Release Notes").
const LAST_MINORS: [Version; 9] =
    [(1, 5), (2, 3), (3, 2), (4, 3), (5, 0), (6, 5), (7, 8), (8, 8), (9, 5)];

/// The newest version of the PTX ISA.
pub(crate) const NEWEST_VERSION: Version = LAST_MINORS[LAST_MINORS.len() - 1];

/// Whether there is such a version of the PTX ISA.
pub(crate) fn is_version(version: Version) -> bool {
    LAST_MINORS.iter().any(|last| last.0 == version.0 && version.1 <= last.1)
}

/// The targets with a letter: number and letters (PTX ISA, "`.target`").
const LETTERED: [(u32, &[Features]); 8] = {
    const BOTH: &[Features] = &[Features::Family, Features::Specific];
    [
        (90, &[Features::Specific]),
        (100, BOTH),
        (101, BOTH),
        (103, BOTH),
        (107, BOTH),
        (110, BOTH),
        (120, BOTH),
        (121, BOTH),
    ]
};

/// The targets that have no variant with a letter.
const PLAIN: [u32; 23] =
    [10, 11, 12, 13, 20, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89];

/// The name behind `.target`: `sm_80`, `sm_90a`, `sm_100f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// The generation: 80, 90, 100.
    pub sm: u32,
    /// What the letter after the number opens.
    pub features: Features,
}

/// Which features beyond the common ones a target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Features {
    /// No letter: those that every later generation has too.
    Common,
    /// `f`: those of the family, such as 100 and 103.
    Family,
    /// `a`: those of this generation alone.
    Specific,
}

impl Target {
    /// Ampere data centre (A100).
    pub const SM_80: Target = Target { sm: 80, features: Features::Common };
    /// Hopper (H100, H200), with `wgmma` and `setmaxnreg`.
    pub const SM_90A: Target = Target { sm: 90, features: Features::Specific };
    /// Blackwell data centre (B200), with `tcgen05`.
    pub const SM_100A: Target = Target { sm: 100, features: Features::Specific };

    /// Reads `sm_90a`.
    pub fn parse(name: &str) -> Option<Target> {
        let number = name.strip_prefix("sm_")?;
        let (number, features) = match number.strip_suffix('a') {
            Some(number) => (number, Features::Specific),
            None => match number.strip_suffix('f') {
                Some(number) => (number, Features::Family),
                None => (number, Features::Common),
            },
        };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Target { sm: number.parse().ok()?, features })
    }

    /// Whether there is such a target (PTX ISA, "`.target`"); [`Target::parse`] reads any number.
    ///
    /// ```
    /// use kernel_ptx::Target;
    ///
    /// assert!(Target::SM_90A.is_known());
    /// assert_eq!(Target::parse("sm_999").map(Target::is_known), Some(false));
    /// ```
    pub fn is_known(self) -> bool {
        let lettered = LETTERED.iter().find(|(sm, _)| *sm == self.sm);
        match self.features {
            Features::Common => lettered.is_some() || PLAIN.contains(&self.sm),
            Features::Family | Features::Specific => {
                lettered.is_some_and(|(_, letters)| letters.contains(&self.features))
            }
        }
    }

    /// The first PTX ISA version that knows this target (PTX ISA, "Release Notes").
    pub fn minimum_version(self) -> Version {
        match (self.sm, self.features) {
            (0..=80, _) => (7, 0),
            (81..=86, _) => (7, 1),
            (87, _) => (7, 4),
            (90, Features::Specific) => (8, 0),
            (88..=90, _) => (7, 8),
            (_, Features::Family) => (8, 8),
            (91..=101, _) => (8, 6),
            (120, _) => (8, 7),
            (102..=109 | 111..=121, _) => (8, 8),
            (110 | 122.., _) => (9, 0),
        }
    }

    /// The most shared memory of a block, in bytes, that a launch can opt in to.
    ///
    /// (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".)
    pub fn shared_bytes_per_block(self) -> u64 {
        match self.sm {
            80 | 87 => 163 * 1024,
            81..=89 | 120.. => 99 * 1024,
            90..=119 => 227 * 1024,
            _ => 48 * 1024,
        }
    }

    /// The most shared memory of a block, in bytes, that is declared statically.
    pub const STATIC_SHARED_BYTES: u64 = 48 * 1024;

    /// Registers of 32 bits in a multiprocessor.
    pub const REGISTERS: u32 = 64 * 1024;

    /// The most threads of a block.
    pub const THREADS_PER_BLOCK: u32 = 1024;

    /// Whether the target can do something that kernels ask for.
    ///
    /// ```
    /// use kernel_ptx::{Capability, Target};
    ///
    /// assert!(Target::SM_90A.has(Capability::Wgmma));
    /// assert!(!Target::SM_100A.has(Capability::Wgmma));
    /// ```
    pub fn has(self, capability: Capability) -> bool {
        capability.need().met_by(self)
    }
}

/// What some targets can do and others cannot, as kernels ask for it. [`Need`] is the same for one form of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Numbers of 8 bits, `e4m3` and `e5m2`, in conversions and in `mma.sync`.
    Float8,
    /// `atom.add.bf16`.
    Bf16Atomics,
    /// `stmatrix` of 16-bit elements.
    Stmatrix,
    /// Clusters, and their shared memory.
    Clusters,
    /// TMA copies, and mbarriers that count their bytes.
    Tma,
    /// `setmaxnreg`: registers that move between warps.
    Setmaxnreg,
    /// `wgmma`.
    Wgmma,
    /// TMA copies of rows by their numbers, `tile::gather4` and `tile::scatter4`.
    TmaGather,
    /// Tensor memory, `tcgen05`, and TMA copies that complete at the barrier of the other block of a pair.
    Tcgen05,
}

impl Capability {
    /// The targets that have it, by the notes of PTX ISA on each instruction ("Target ISA Notes").
    pub const fn need(self) -> Need {
        match self {
            // "cvt", "mma".
            Self::Float8 => Need::Onwards(89),
            // "atom"; "stmatrix"; "`.explicitcluster`"; "cp.async.bulk.tensor".
            Self::Bf16Atomics | Self::Stmatrix | Self::Clusters | Self::Tma => Need::Onwards(90),
            // "setmaxnreg".
            Self::Setmaxnreg => Need::LetteredOnwards(90),
            // "wgmma.mma_async".
            Self::Wgmma => Need::Exactly(90),
            // "cp.async.bulk.tensor"; "tcgen05.mma".
            Self::TmaGather | Self::Tcgen05 => Need::Family(100),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.features {
            Features::Common => "",
            Features::Family => "f",
            Features::Specific => "a",
        };
        write!(f, "sm_{}{letter}", self.sm)
    }
}

/// What an instruction asks of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `sm_90`: this generation or a later one.
    Onwards(u32),
    /// `sm_90a`: exactly this generation with its letter.
    Exactly(u32),
    /// `sm_90a` and the lettered targets of later generations.
    LetteredOnwards(u32),
    /// `sm_100a` and the lettered targets of its family.
    Family(u32),
}

impl Need {
    /// Whether a target offers it.
    pub fn met_by(self, target: Target) -> bool {
        let lettered = target.features != Features::Common;
        match self {
            Need::Onwards(sm) => target.sm >= sm,
            Need::Exactly(sm) => target.sm == sm && target.features == Features::Specific,
            Need::LetteredOnwards(sm) => target.sm >= sm && lettered,
            // 100, 101, 103 and 110 share the instructions of data-centre Blackwell.
            Need::Family(sm) => target.sm >= sm && target.sm < sm + 20 && lettered,
        }
    }

    /// The oldest target that offers it.
    pub fn oldest(self) -> Target {
        match self {
            Need::Onwards(sm) => Target { sm, features: Features::Common },
            Need::Exactly(sm) | Need::LetteredOnwards(sm) | Need::Family(sm) => {
                Target { sm, features: Features::Specific }
            }
        }
    }

    /// What asks for both.
    pub(crate) fn and(self, other: Need) -> Need {
        // A lettered need is stricter than an open one of the same or an older generation.
        let rank = |need: Need| match need {
            Need::Onwards(sm) => (sm, 0),
            Need::LetteredOnwards(sm) => (sm, 1),
            Need::Family(sm) => (sm, 2),
            Need::Exactly(sm) => (sm, 3),
        };
        if rank(self) >= rank(other) { self } else { other }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Onwards(sm) => write!(f, "sm_{sm} or later"),
            Need::Exactly(sm) => write!(f, "sm_{sm}a"),
            Need::LetteredOnwards(sm) => write!(f, "sm_{sm}a or a later target with a letter"),
            Need::Family(sm) => write!(f, "sm_{sm}a or another lettered target of its family"),
        }
    }
}
