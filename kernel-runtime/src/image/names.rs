//! What a kernel's source calls what the emulator's reports name.

/// The names and checks of one PTX text.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// What is in shared memory.
    pub memory: &'static [NamedMemory],
    /// The partitions of a kernel that is specialised.
    pub partitions: &'static [NamedWarps],
    /// Lines of the text, from 1, with a `trap` that the compiler put there, and what is wrong when one is reached; `{}` stands for what was
    /// compared.
    pub checks: &'static [(u32, &'static str)],
}

/// What is in some bytes of shared memory.
#[derive(Clone, Copy, Debug)]
pub struct NamedMemory {
    /// What the source calls it.
    pub name: &'static str,
    /// Where it begins, from the start of a block's dynamic shared memory.
    pub start: u32,
    /// The bytes of all of it.
    pub bytes: u32,
    /// Of what has an index: the bytes of each. 0 of what has none.
    pub each_bytes: u32,
    /// Of mbarriers: how many warps arrive for one arrival in the source. 0 of what is not an mbarrier.
    pub warps_an_arrival: u32,
}

/// The warps that run a partition.
#[derive(Clone, Copy, Debug)]
pub struct NamedWarps {
    /// The first of them.
    pub first: u32,
    /// How many there are.
    pub warps: u32,
    /// Line of the partition in the kernel's file, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// The names of a variant, for a program that has the emulator; no other reads them, and the binary is without them.
#[cfg(feature = "emulator")]
#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    ($names:expr) => {
        ::core::option::Option::Some(&$names)
    };
}

/// The names of a variant, for a program that has the emulator; no other reads them, and the binary is without them.
#[cfg(not(feature = "emulator"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    ($names:expr) => {
        ::core::option::Option::None
    };
}

#[cfg(feature = "emulator")]
impl Names {
    /// The same for the emulator.
    pub(crate) fn for_emulator(&self) -> kernel_emulator::Names {
        let memory = self.memory.iter().map(|named| kernel_emulator::NamedMemory {
            name: named.name.to_owned(),
            start: named.start,
            bytes: named.bytes,
            each_bytes: (named.each_bytes > 0).then_some(named.each_bytes),
            warps_an_arrival: (named.warps_an_arrival > 0).then_some(named.warps_an_arrival),
        });
        let partitions = self.partitions.iter().map(|named| {
            let NamedWarps { first, warps, line, column } = *named;
            kernel_emulator::NamedWarps { first, warps, line, column }
        });
        let checks = self.checks.iter().map(|(line, says)| (*line, (*says).to_owned()));
        kernel_emulator::Names {
            memory: memory.collect(),
            partitions: partitions.collect(),
            checks: checks.collect(),
        }
    }
}
