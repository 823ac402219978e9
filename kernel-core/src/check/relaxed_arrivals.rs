//! Relaxed arrivals at other blocks' barriers: they order no accesses to shared memory by threads.

use crate::{
    diag::{Code, Diagnostic},
    ir::{BarrierOp, Kernel, MemoryOrder, Op, SyncOp},
};

/// Relaxed arrivals of a kernel whose threads access shared memory that other blocks access.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let relaxed = Op::Sync(SyncOp::Barrier(BarrierOp::Arrive(MemoryOrder::Relaxed)));
    let mut found = Vec::new();
    kernel.body.each_op(&mut |op, _, _, loc| {
        if *op == relaxed {
            found.push(loc);
        }
    });
    if found.is_empty() || !kernel.orders_shared_of_others() {
        return Vec::new();
    }
    let problem = |loc| {
        Diagnostic::new(Code::ClusterOrder, loc, "a relaxed arrival, which does not order the accesses of threads to shared memory")
            .compare("", "operands that only tensor cores and asynchronous copies read and write", "threads that load or store shared memory which other blocks access")
            .why("another block sees what threads did before an arrival only if that releases it (PTX ISA, \"mbarrier.arrive\", `.release.cluster`)")
            .help("arrive")
    };
    found.into_iter().map(problem).collect()
}
