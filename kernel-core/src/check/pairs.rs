//! Pairs of blocks: a kernel uses the tensor cores by pairs or by single blocks, and copies complete in their pair.

use la_arena::ArenaMap;

use super::barrier_bytes::arriving;
use crate::{
    diag::{Code, Diagnostic},
    ir::{BarrierOp, CopyOp, CtaGroup, Kernel, Op, ProductOp, SyncOp, Tcgen05, Value},
    loc::Loc,
};

/// What a kernel does on the tensor cores both by pairs and by single blocks, and copies that complete on barriers outside of their pair.
pub(super) fn check(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut pass = Pass {
        kernel,
        found: Vec::new(),
        of_pairs: None,
        of_one: None,
        constants: kernel.body.constants(),
        ranks: ArenaMap::default(),
    };
    kernel.body.each_op(&mut |op, args, result, loc| pass.op((op, args, result), loc));
    let mut found = pass.found;
    if let (Some(pair), Some(single)) = (pass.of_pairs, pass.of_one) {
        found.push(
            Diagnostic::new(Code::Pairs, single, "a product of a single block in a kernel with products of pairs")
                .compare("", "`tcgen05::mma_pair`, `mma_scaled_pair` or `mma_sparse_pair` for every product, or for none", "both")
                .place(pair, "a product of a pair is here")
                .why("a whole kernel uses tensor memory and the tensor cores by pairs of blocks or by single blocks (PTX ISA, \"tcgen05: .cta_group\")"),
        );
    }
    found
}

struct Pass<'a> {
    kernel: &'a Kernel,
    found: Vec<Diagnostic>,
    /// The first product of pairs, and of single blocks.
    of_pairs: Option<Loc>,
    of_one: Option<Loc>,
    constants: ArenaMap<Value, i128>,
    /// Barriers of other blocks by a constant rank.
    ranks: ArenaMap<Value, i128>,
}

impl Pass<'_> {
    fn op(&mut self, (op, args, result): (&Op, &[Value], Option<Value>), loc: Loc) {
        if let Op::Sync(SyncOp::Barrier(BarrierOp::Remote)) = op {
            let rank = self.constants.get(args[1]).copied();
            self.ranks.extend(result.zip(rank));
        }
        if let Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { group, .. })) = op {
            let first = match group {
                CtaGroup::Pair => &mut self.of_pairs,
                CtaGroup::One => &mut self.of_one,
            };
            first.get_or_insert(loc);
        }
        if let Op::Copy(CopyOp::Tma(_)) = op {
            self.completes(op, args, loc);
        }
    }

    /// A copy to this block, whose barrier is another block's.
    fn completes(&mut self, op: &Op, args: &[Value], loc: Loc) {
        let blocks: u32 = self.kernel.cluster.iter().product();
        let Some(copy) = arriving(self.kernel, op, args) else { return };
        let Some(rank) = self.ranks.get(copy.barrier) else { return };
        if blocks <= 2 {
            return;
        }
        self.found.push(
            Diagnostic::new(
                Code::Cluster,
                loc,
                "a copy completes on a barrier of its own pair of blocks",
            )
            .compare(
                "rank",
                "this block's own, or one that differs from it only in the last bit",
                format!("{rank} in every block"),
            )
            .why("TMA reaches the barriers of its own block and of the other block of the pair (PTX ISA, \"cp.async.bulk.tensor\": `.cta_group::2`)")
            .help("bar.of_block(cluster::rank() & !1)")
            .exemplified(),
        );
    }
}
