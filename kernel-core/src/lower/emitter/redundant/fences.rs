//! Fences between what threads do with shared memory and the async proxy.

use super::paths::{Does, Step, behind};
use super::touched::{is_fence_of_async_proxy, is_plain};
use super::{Act, Meets};
use crate::lower::emitter::Node;

/// Marks the fences behind which nothing looks at what they make ready.
pub(super) fn drop_unseen(order: &[Node], steps: &[Step<Act>], dropped: &mut [bool]) {
    let looks = |act: &Act, behind| match act {
        Act::Touches(touched) => behind || touched.is_seen_by_others(),
        Act::Meets(Meets::Crew) => behind,
        Act::Meets(Meets::Nobody | Meets::CrewAndMore | Meets::Cluster | Meets::ClusterWait) => {
            true
        }
    };
    for (step, looked_at) in steps.iter().zip(behind(steps, false, &looks)) {
        if let (Does::Acts(Act::Touches(_)), Node::Inst(inst)) = (&step.does, &order[step.node])
            && is_fence_of_async_proxy(&inst.instruction)
        {
            dropped[step.node] |= looked_at == Some(false);
        }
    }
}

/// Marks the fences that the next one covers: the same instruction in the same straight run of code, with nothing between but what the thread
/// computes, loads and stores.
pub(super) fn drop_covered(order: &[Node], dropped: &mut [bool]) {
    let mut last = None;
    for (at, node) in order.iter().enumerate() {
        last = match node {
            Node::Inst(inst) if is_fence_of_async_proxy(&inst.instruction) => {
                let covers = |&(_, fence): &(usize, _)| fence == &inst.instruction;
                if let Some((covered, _)) = last.filter(covers) {
                    dropped[covered] = true;
                }
                Some((at, &inst.instruction))
            }
            Node::Inst(inst) if inst.meets == Meets::Nobody && is_plain(inst) => last,
            Node::Inst(_) | Node::Label(_) | Node::Frame(_) => None,
        };
    }
}
