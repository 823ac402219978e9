//! The classes of instructions that synchronise: how each is recognised, and how each is spoilt.

use kernel_ptx::{Instruction, Modifier, Opcode, Word};

use super::mutation::Mutation::{
    self, Delete, DeleteBoth, FewerBytes, FewerCount, FewerThreads, Id, MoreBytes, MoreCount,
    MoreThreads, Noinc, OneMore, Parity, Relax, Scope, Weaken,
};

/// A class of instructions that synchronise.
#[derive(Debug)]
pub struct Class {
    /// Its name in reports and in the list of survivors.
    pub name: &'static str,
    opcode: Opcode,
    /// The modifiers that an instruction of it has.
    words: &'static [Word],
    /// What is done to it.
    pub mutations: &'static [Mutation],
}

impl Class {
    /// The class of an instruction; none where it does not synchronise.
    pub fn of(instruction: &Instruction) -> Option<&'static Class> {
        let has = |word: &Word| instruction.modifiers.contains(&Modifier::Word(*word));
        let is = |class: &&Class| class.opcode == instruction.opcode && class.words.iter().all(has);
        CLASSES.iter().find(is)
    }
}

const fn class(
    name: &'static str,
    opcode: Opcode,
    words: &'static [Word],
    mutations: &'static [Mutation],
) -> Class {
    Class { name, opcode, words, mutations }
}

/// What is done to every wait on an mbarrier.
const WAIT: &[Mutation] = &[Delete, Parity, Relax, Scope];
/// What is done to every arrival that expects bytes.
const EXPECT: &[Mutation] = &[Delete, MoreBytes, FewerBytes, Relax, Scope];
/// What is done to every other arrival.
const ARRIVE: &[Mutation] = &[Delete, MoreCount, FewerCount, Relax, Scope];
/// What is done to barriers of a block.
const BARRIER: &[Mutation] = &[Delete, Id, MoreThreads, FewerThreads];

/// Every class. An instruction is of the first that fits.
#[rustfmt::skip]
pub const CLASSES: &[Class] = &[
    // Barriers of a warp, a cluster, a block.
    class("bar.warp.sync", Opcode::Bar, &[Word::Warp], &[Delete]),
    class("barrier.cluster.arrive", Opcode::Barrier, &[Word::Cluster, Word::Arrive], &[Delete, DeleteBoth, Relax]),
    class("barrier.cluster.wait", Opcode::Barrier, &[Word::Cluster, Word::Wait], &[Delete]),
    class("bar.arrive", Opcode::Bar, &[Word::Arrive], BARRIER),
    class("bar.arrive", Opcode::Barrier, &[Word::Arrive], BARRIER),
    class("bar.red", Opcode::Bar, &[Word::Red], &[Id, MoreThreads, FewerThreads]),
    class("bar.red", Opcode::Barrier, &[Word::Red], &[Id, MoreThreads, FewerThreads]),
    class("bar.sync", Opcode::Bar, &[Word::Sync], BARRIER),
    class("bar.sync", Opcode::Barrier, &[Word::Sync], BARRIER),
    // Fences.
    class("fence.mbarrier_init", Opcode::Fence, &[Word::MbarrierInit], &[Delete]),
    class("fence.proxy.async", Opcode::Fence, &[Word::Proxy, Word::Async], &[Delete]),
    class("fence.proxy.async::generic", Opcode::Fence, &[Word::Proxy, Word::AsyncGeneric], &[Delete]),
    class("fence.proxy.tensormap", Opcode::Fence, &[Word::Proxy, Word::TensormapGeneric], &[Delete, Scope]),
    class("fence.proxy.alias", Opcode::Fence, &[Word::Proxy, Word::Alias], &[Delete]),
    class("membar.proxy", Opcode::Membar, &[Word::Proxy], &[Delete]),
    class("fence", Opcode::Fence, &[], &[Delete, Weaken, Scope]),
    class("membar", Opcode::Membar, &[], &[Delete, Scope]),
    // Barriers in memory.
    class("mbarrier.init", Opcode::Mbarrier, &[Word::Init], &[Delete, MoreCount, FewerCount]),
    class("mbarrier.inval", Opcode::Mbarrier, &[Word::Inval], &[Delete]),
    class("mbarrier.arrive.expect_tx", Opcode::Mbarrier, &[Word::Arrive, Word::ExpectTx], EXPECT),
    class("mbarrier.arrive.expect_tx", Opcode::Mbarrier, &[Word::ArriveDrop, Word::ExpectTx], EXPECT),
    class("mbarrier.arrive", Opcode::Mbarrier, &[Word::Arrive], ARRIVE),
    class("mbarrier.arrive", Opcode::Mbarrier, &[Word::ArriveDrop], ARRIVE),
    class("mbarrier.expect_tx", Opcode::Mbarrier, &[Word::ExpectTx], &[Delete, MoreBytes, FewerBytes, Scope]),
    class("mbarrier.complete_tx", Opcode::Mbarrier, &[Word::CompleteTx], &[Delete, MoreBytes, FewerBytes, Scope]),
    class("mbarrier.wait", Opcode::Mbarrier, &[Word::TryWait], WAIT),
    class("mbarrier.wait", Opcode::Mbarrier, &[Word::TestWait], WAIT),
    // Copies.
    class("cp.async.bulk.commit_group", Opcode::Cp, &[Word::Async, Word::Bulk, Word::CommitGroup], &[Delete]),
    class("cp.async.bulk.wait_group", Opcode::Cp, &[Word::Async, Word::Bulk, Word::WaitGroup], &[Delete, OneMore, Weaken]),
    class("cp.async.mbarrier.arrive", Opcode::Cp, &[Word::Async, Word::Mbarrier, Word::Arrive], &[Delete, Noinc]),
    class("cp.async.commit_group", Opcode::Cp, &[Word::Async, Word::CommitGroup], &[Delete]),
    class("cp.async.wait_group", Opcode::Cp, &[Word::Async, Word::WaitGroup], &[Delete, OneMore]),
    class("cp.async.wait_all", Opcode::Cp, &[Word::Async, Word::WaitAll], &[Delete]),
    class("tensormap.cp_fenceproxy", Opcode::Tensormap, &[Word::CpFenceproxy], &[Scope]),
    // Tensor cores.
    class("wgmma.fence", Opcode::Wgmma, &[Word::FenceWord], &[Delete]),
    class("wgmma.commit_group", Opcode::Wgmma, &[Word::CommitGroup], &[Delete]),
    class("wgmma.wait_group", Opcode::Wgmma, &[Word::WaitGroup], &[Delete, OneMore]),
    class("tcgen05.wait::ld", Opcode::Tcgen05, &[Word::WaitLd], &[Delete]),
    class("tcgen05.wait::st", Opcode::Tcgen05, &[Word::WaitSt], &[Delete]),
    class("tcgen05.fence::before", Opcode::Tcgen05, &[Word::FenceBeforeThreadSync], &[Delete]),
    class("tcgen05.fence::after", Opcode::Tcgen05, &[Word::FenceAfterThreadSync], &[Delete]),
    class("tcgen05.commit", Opcode::Tcgen05, &[Word::Commit], &[Delete]),
    class("tcgen05.alloc", Opcode::Tcgen05, &[Word::Alloc], &[Delete]),
    class("tcgen05.dealloc", Opcode::Tcgen05, &[Word::Dealloc], &[Delete]),
    class("tcgen05.relinquish", Opcode::Tcgen05, &[Word::RelinquishAllocPermit], &[Delete]),
    // Accesses that order others.
    class("ld.acquire", Opcode::Ld, &[Word::Acquire], &[Relax, Scope]),
    class("ld.relaxed", Opcode::Ld, &[Word::Relaxed], &[Weaken, Scope]),
    class("ld.volatile", Opcode::Ld, &[Word::Volatile], &[Weaken]),
    class("st.release", Opcode::St, &[Word::Release], &[Relax, Scope]),
    class("st.relaxed", Opcode::St, &[Word::Relaxed], &[Weaken, Scope]),
    class("st.volatile", Opcode::St, &[Word::Volatile], &[Weaken]),
    class("atom", Opcode::Atom, &[], &[Relax, Scope]),
    class("red", Opcode::Red, &[], &[Relax, Scope]),
    class("multimem", Opcode::Multimem, &[], &[Relax, Scope]),
    // Registers and launches.
    class("setmaxnreg", Opcode::Setmaxnreg, &[], &[Delete]),
    class("griddepcontrol.wait", Opcode::Griddepcontrol, &[Word::Wait], &[Delete]),
    class("griddepcontrol.launch_dependents", Opcode::Griddepcontrol, &[Word::LaunchDependents], &[Delete]),
];
