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

/// A number of targets, and the first versions of the PTX ISA that have them: with no letter, with `f` and with `a`.
type Known = (u32, [Option<Version>; 3]);

/// The targets with no letter alone.
const fn plain(sm: u32, version: Version) -> Known {
    (sm, [Some(version), None, None])
}

/// The targets with each letter.
const fn lettered(sm: u32, [common, family, specific]: [Version; 3]) -> Known {
    (sm, [Some(common), Some(family), Some(specific)])
}

/// What there is after `.target` (PTX ISA, "`.target`" and "Release Notes"; version 7.0 is the oldest that is asked about).
const KNOWN: [Known; 31] = [
    plain(10, (7, 0)),
    plain(11, (7, 0)),
    plain(12, (7, 0)),
    plain(13, (7, 0)),
    plain(20, (7, 0)),
    plain(30, (7, 0)),
    plain(32, (7, 0)),
    plain(35, (7, 0)),
    plain(37, (7, 0)),
    plain(50, (7, 0)),
    plain(52, (7, 0)),
    plain(53, (7, 0)),
    plain(60, (7, 0)),
    plain(61, (7, 0)),
    plain(62, (7, 0)),
    plain(70, (7, 0)),
    plain(72, (7, 0)),
    plain(75, (7, 0)),
    plain(80, (7, 0)),
    plain(86, (7, 1)),
    plain(87, (7, 4)),
    plain(88, (9, 0)),
    plain(89, (7, 8)),
    (90, [Some((7, 8)), None, Some((8, 0))]),
    lettered(100, [(8, 6), (8, 8), (8, 6)]),
    lettered(101, [(8, 6), (8, 8), (8, 6)]),
    lettered(103, [(8, 8); 3]),
    lettered(107, [(9, 4); 3]),
    lettered(110, [(9, 0); 3]),
    lettered(120, [(8, 7), (8, 8), (8, 7)]),
    lettered(121, [(8, 8); 3]),
];

/// The name after `.target`: `sm_80`, `sm_90a`, `sm_100f`.
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
    /// Data-centre Ampere (A100).
    pub const SM_80: Target = Target { sm: 80, features: Features::Common };
    /// Hopper (H100, H200), with `wgmma` and `setmaxnreg`.
    pub const SM_90A: Target = Target { sm: 90, features: Features::Specific };
    /// Data-centre Blackwell (B200), with `tcgen05`.
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
        self.since().is_some()
    }

    /// The first PTX ISA version that knows this target; 7.0 for one that none knows.
    pub fn minimum_version(self) -> Version {
        self.since().unwrap_or((7, 0))
    }

    fn since(self) -> Option<Version> {
        let (_, versions) = KNOWN.iter().find(|(sm, _)| *sm == self.sm)?;
        match self.features {
            Features::Common => versions[0],
            Features::Family => versions[1],
            Features::Specific => versions[2],
        }
    }

    /// Whether a GPU of the compute capability (major, minor) runs PTX of this target: common features run on every later GPU, those
    /// of a family within it, those of a generation there alone (PTX ISA, "`.target`").
    ///
    /// ```
    /// use kernel_ptx::Target;
    ///
    /// assert!(Target::SM_80.runs_on_capability((12, 0)));
    /// assert!(!Target::SM_90A.runs_on_capability((10, 0)));
    /// ```
    pub const fn runs_on_capability(self, (major, minor): (u32, u32)) -> bool {
        let actual = major * 10 + minor;
        match self.features {
            Features::Common => actual >= self.sm,
            Features::Family => major == self.sm / 10 && actual >= self.sm,
            Features::Specific => actual == self.sm,
        }
    }

    /// Whether PTX of this target runs on a device with the features of another: as for
    /// [compute capabilities](Self::runs_on_capability), of which the device has no more features than it says.
    ///
    /// ```
    /// use kernel_ptx::Target;
    ///
    /// assert!(Target::SM_80.runs_on(Target::SM_90A));
    /// assert!(!Target::SM_90A.runs_on(Target::SM_100A));
    /// ```
    pub fn runs_on(self, device: Target) -> bool {
        self.runs_on_capability((device.sm / 10, device.sm % 10))
            && (self.features != Features::Specific || device.features == Features::Specific)
    }

    /// The most shared memory of a block, in bytes, that is declared statically.
    pub const STATIC_SHARED_BYTES: u64 = 48 * 1024;

    /// Registers of 32 bits in a multiprocessor, of every target with a row.
    pub const REGISTERS: u32 = 64 * 1024;

    /// The columns of tensor memory of a multiprocessor that has it (PTX ISA, "Tensor Memory").
    pub const TENSOR_COLUMNS: u32 = 512;

    /// The most threads of a block.
    pub const THREADS_PER_BLOCK: u32 = 1024;
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
    /// `sm_100a` and the targets with an `a` of its family: what `sm_100f` does not have.
    SpecificOfFamily(u32),
}

impl Need {
    /// Whether a target offers it.
    pub fn met_by(self, target: Target) -> bool {
        let lettered = target.features != Features::Common;
        let specific = target.features == Features::Specific;
        // 100, 101, 103 and 110 share the instructions of data-centre Blackwell.
        let in_family = |sm: u32| target.sm >= sm && target.sm < sm + 20;
        match self {
            Need::Onwards(sm) => target.sm >= sm,
            Need::Exactly(sm) => target.sm == sm && specific,
            Need::LetteredOnwards(sm) => target.sm >= sm && lettered,
            Need::Family(sm) => in_family(sm) && lettered,
            Need::SpecificOfFamily(sm) => in_family(sm) && specific,
        }
    }

    /// The oldest target that offers it.
    pub fn oldest(self) -> Target {
        match self {
            Need::Onwards(sm) => Target { sm, features: Features::Common },
            Need::Exactly(sm)
            | Need::LetteredOnwards(sm)
            | Need::Family(sm)
            | Need::SpecificOfFamily(sm) => Target { sm, features: Features::Specific },
        }
    }

    /// What asks for both.
    pub(crate) fn and(self, other: Need) -> Need {
        // A lettered need is stricter than an open one of the same or an older generation.
        let rank = |need: Need| match need {
            Need::Onwards(sm) => (sm, 0),
            Need::LetteredOnwards(sm) => (sm, 1),
            Need::Family(sm) => (sm, 2),
            Need::SpecificOfFamily(sm) => (sm, 3),
            Need::Exactly(sm) => (sm, 4),
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
            Need::SpecificOfFamily(sm) => {
                write!(f, "sm_{sm}a or another target with an `a` of its family")
            }
        }
    }
}
