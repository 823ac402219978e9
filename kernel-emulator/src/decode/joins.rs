//! Where the paths of a branch meet again: immediate post-dominators.
//!
//! Algorithm: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph
//! of basic blocks. Lanes that leave the kernel in the middle do not keep the others apart: only the
//! exit that most of the code leads to counts as the end.

use crate::code::{Inst, NOWHERE, Op};

/// For each instruction of `insts[start..end]`, one function, the join of the branch there.
pub(super) fn joins(insts: &[Inst], start: usize, end: usize) -> Vec<u32> {
    let graph = Graph::new(insts, start, end);
    let parents = graph.post_dominators();
    let mut out = vec![NOWHERE; end - start];
    for (block, range) in graph.blocks.iter().enumerate() {
        let last = range.1 - 1;
        if !matches!(insts[last].op, Op::Bra { .. } | Op::BrxIdx { .. }) {
            continue;
        }
        if let Some(parent) = parents[block]
            && parent < graph.blocks.len()
        {
            let pc = graph.blocks[parent].0;
            out[last - start] = u32::try_from(pc).expect("code is smaller than 4 G instructions");
        }
    }
    out
}

struct Graph {
    /// First instruction, one after the last.
    blocks: Vec<(usize, usize)>,
    successors: Vec<Vec<usize>>,
}

/// Where an instruction jumps, and whether control may also reach the next one.
fn targets(inst: &Inst) -> Option<(Vec<u32>, bool)> {
    let guarded = inst.guard.is_some();
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every instruction that is not control flow goes on to the next"
    )]
    match &inst.op {
        Op::Bra { target } => Some((vec![*target], guarded)),
        Op::BrxIdx { targets, .. } => Some((targets.to_vec(), guarded)),
        Op::Exit | Op::Ret | Op::Trap { .. } | Op::AssertFail { .. } => Some((Vec::new(), guarded)),
        _ => None,
    }
}

impl Graph {
    fn new(insts: &[Inst], start: usize, end: usize) -> Graph {
        let mut leader = vec![false; end - start + 1];
        leader[0] = true;
        for pc in start..end {
            if let Some((targets, _)) = targets(&insts[pc]) {
                leader[pc + 1 - start] = true;
                for target in targets {
                    leader[target as usize - start] = true;
                }
            }
        }
        let mut blocks = Vec::new();
        let mut block_of = vec![0; end - start];
        for pc in start..end {
            if leader[pc - start] {
                blocks.push((pc, pc));
            }
            block_of[pc - start] = blocks.len() - 1;
            blocks.last_mut().expect("the first instruction leads a block").1 = pc + 1;
        }
        let successors = blocks
            .iter()
            .map(|&(_, behind)| {
                let (targets, falls) =
                    targets(&insts[behind - 1]).unwrap_or_else(|| (Vec::new(), true));
                let mut list: Vec<usize> =
                    targets.iter().map(|&t| block_of[t as usize - start]).collect();
                if falls && behind < end {
                    list.push(block_of[behind - start]);
                }
                list.sort_unstable();
                list.dedup();
                list
            })
            .collect();
        Graph { blocks, successors }
    }

    /// The immediate post-dominator of each block; `blocks.len()` stands for the end.
    fn post_dominators(&self) -> Vec<Option<usize>> {
        let count = self.blocks.len();
        let mut predecessors = vec![Vec::new(); count];
        for (block, successors) in self.successors.iter().enumerate() {
            for &s in successors {
                predecessors[s].push(block);
            }
        }
        let reaching = |exit: usize| {
            let mut seen = vec![false; count];
            let mut work = vec![exit];
            seen[exit] = true;
            while let Some(block) = work.pop() {
                for &p in &predecessors[block] {
                    if !seen[p] {
                        seen[p] = true;
                        work.push(p);
                    }
                }
            }
            seen.into_iter().filter(|&s| s).count()
        };
        let exits = (0..count).filter(|&b| self.successors[b].is_empty());
        let Some(exit) = exits.max_by_key(|&b| (reaching(b), b)) else {
            return vec![None; count];
        };
        // Post-order of the reversed graph from the end.
        let mut order = Vec::with_capacity(count);
        let mut number = vec![usize::MAX; count];
        let mut seen = vec![false; count];
        let mut stack = vec![(exit, 0)];
        seen[exit] = true;
        while let Some((block, next)) = stack.pop() {
            if let Some(&p) = predecessors[block].get(next) {
                stack.push((block, next + 1));
                if !seen[p] {
                    seen[p] = true;
                    stack.push((p, 0));
                }
            } else {
                number[block] = order.len();
                order.push(block);
            }
        }
        let mut parent: Vec<Option<usize>> = vec![None; count];
        parent[exit] = Some(exit);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().rev() {
                if block == exit {
                    continue;
                }
                let mut best: Option<usize> = None;
                for &s in &self.successors[block] {
                    if parent[s].is_some() {
                        best = Some(match best {
                            None => s,
                            Some(other) => intersect(&parent, &number, s, other),
                        });
                    }
                }
                if best.is_some() && best != parent[block] {
                    parent[block] = best;
                    changed = true;
                }
            }
        }
        parent[exit] = None;
        parent
    }
}

fn intersect(parent: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = parent[a].expect("a processed block has a parent");
        }
        while number[b] < number[a] {
            b = parent[b].expect("a processed block has a parent");
        }
    }
    a
}
