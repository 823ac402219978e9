//! How instructions are spoilt.

/// How an instruction is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mutation {
    /// The instruction is left out. A test of an mbarrier says yes instead, so that no loop waits.
    Delete,
    /// The instruction is left out, and the next `barrier.cluster.wait` of the text with it.
    DeleteBoth,
    /// Release, acquire or both become `.relaxed`.
    Relax,
    /// A strong access becomes a weak one, `.sc` becomes `.acq_rel`, a wait until copies are done one until they have read.
    Weaken,
    /// The scope becomes `.cta`.
    Scope,
    /// One group more may be in flight.
    OneMore,
    /// The wait is for the other parity.
    Parity,
    /// 16 bytes more are expected.
    MoreBytes,
    /// 16 bytes fewer are expected.
    FewerBytes,
    /// One arrival more is counted.
    MoreCount,
    /// One arrival fewer is counted.
    FewerCount,
    /// The barrier is another one that the kernel uses.
    Id,
    /// 32 threads more take part.
    MoreThreads,
    /// 32 threads fewer take part.
    FewerThreads,
    /// `.noinc` is added where it is missing, and left out where it is not.
    Noinc,
}

impl Mutation {
    /// Its name in reports and in the list of survivors.
    pub const fn name(self) -> &'static str {
        match self {
            Mutation::Delete => "delete",
            Mutation::DeleteBoth => "delete-both",
            Mutation::Relax => "relax",
            Mutation::Weaken => "weaken",
            Mutation::Scope => "scope",
            Mutation::OneMore => "one-more",
            Mutation::Parity => "parity",
            Mutation::MoreBytes => "bytes+16",
            Mutation::FewerBytes => "bytes-16",
            Mutation::MoreCount => "count+1",
            Mutation::FewerCount => "count-1",
            Mutation::Id => "id",
            Mutation::MoreThreads => "threads+32",
            Mutation::FewerThreads => "threads-32",
            Mutation::Noinc => "noinc",
        }
    }
}
