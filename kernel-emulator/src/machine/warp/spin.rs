//! Lanes that repeat themselves: they poll what others are to change.
//!
//! A fragment that comes back to one branch with the same registers and the same local memory, while nothing in its cluster changed
//! what others see, does the same for ever, unless another cluster or an asynchronous operation changes what it reads. Its state is
//! kept at a branch back and compared at each later one to the same place. It is kept anew after twice as many branches back
//! each time (R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980), so that loops that do make progress pay little,
//! and rounds of any number of branches are found.

use std::sync::Arc;

use super::{Fragment, Warp, lanes};
use crate::code::{Address, Mbarrier, MbarrierKind, Op, Place, Slot};
use crate::exec::memory::{addresses, resolve};
use crate::machine::{Context, Registers};
use crate::memory::local::Local;

/// Branches back before a fragment's state is kept for the first time, and once it was seen to repeat itself.
const FIRST: u32 = 1024;
const AGAIN: u32 = 16;
/// Branches back between two states that are kept, at most; during one in `SHARE` of them the state is compared.
const MOST: u32 = 1 << 18;
const SHARE: u32 = 16;
/// Instructions of a round that are looked at for a message.
const LONGEST: usize = 1 << 14;
/// Before anything changed in a cluster: its count of changes starts above.
const NEVER: u64 = 0;

/// What is known of a fragment's way through loops.
#[derive(Clone, Debug)]
pub(super) struct Spin {
    /// Branches back since the state was kept, and after how many it is kept again.
    branches: u32,
    limit: u32,
    kept: Option<Arc<Kept>>,
    /// A register in which the fragment differed from that state: such as one that counts.
    differs: Option<Slot>,
    /// What the cluster's count of changes was when the fragment was seen to repeat itself.
    repeats: u64,
}

impl Default for Spin {
    fn default() -> Spin {
        Spin { branches: 0, limit: FIRST, kept: None, differs: None, repeats: NEVER }
    }
}

/// The state of a fragment at a branch back.
#[derive(Debug)]
struct Kept {
    changes: u64,
    target: u32,
    mask: u32,
    joins: Vec<u32>,
    calls: Vec<u32>,
    carry: u32,
    registers: Registers,
    local: Local,
}

/// An instruction by which a lane looks at what others may change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) pc: u32,
    pub(crate) lane: u32,
    pub(crate) address: u64,
    pub(crate) place: Place,
    /// What it brought.
    pub(crate) value: Option<u64>,
    /// The parity of the phase that a wait for an mbarrier is for.
    pub(crate) parity: Option<bool>,
}

impl Fragment {
    /// Whether it repeats itself as long as nothing changes.
    pub(crate) fn repeats(&self, changes: u64) -> bool {
        self.spin.repeats == changes
    }

    /// Its lanes go another way than those that were seen to repeat themselves.
    pub(super) fn unsettle(&mut self) {
        self.spin = Spin::default();
    }
}

impl Warp {
    /// The current fragment branches back. Whether it goes on: one that repeats itself gives way to others.
    #[inline]
    pub(super) fn branch_back(&mut self, cx: &mut Context<'_>, target: u32) -> bool {
        let spin = &mut self.fragments[self.current].spin;
        spin.branches += 1;
        if spin.kept.is_none() && spin.branches < spin.limit && spin.repeats == NEVER {
            return true;
        }
        self.compare(cx, target)
    }

    /// Compares the state of the current fragment with the one that was kept. Whether the fragment goes on.
    #[cold]
    fn compare(&mut self, cx: &mut Context<'_>, target: u32) -> bool {
        let changes = cx.cluster.changes;
        let fragment = &self.fragments[self.current];
        if fragment.repeats(changes) {
            return false;
        }
        let kept = fragment.spin.kept.as_ref().filter(|kept| kept.changes == changes);
        let valid = kept.is_some();
        let mut differs = fragment.spin.differs;
        let same = kept.is_some_and(|kept| {
            let here = kept.target == target && kept.mask == fragment.mask;
            here && self.is_at(fragment, kept, &mut differs)
        });
        let spin = &mut self.fragments[self.current].spin;
        spin.differs = differs;
        if same {
            (spin.kept, spin.repeats) = (None, changes);
            spin.branches = spin.limit - AGAIN;
            cx.cluster.repeats = changes;
            return false;
        }
        spin.repeats = NEVER;
        if spin.branches >= spin.limit {
            spin.branches = 0;
            self.keep(changes, target);
        } else if spin.kept.is_some() && (!valid || spin.branches > spin.limit / SHARE) {
            spin.kept = None;
            spin.limit = (spin.limit * 2).min(MOST);
        }
        true
    }

    /// Whether the current fragment has the state that was kept. Local memory of other lanes counts too, which no loop that waits
    /// changes.
    fn is_at(&self, fragment: &Fragment, kept: &Kept, differs: &mut Option<Slot>) -> bool {
        *differs = self.regs.difference(&kept.registers, kept.mask, *differs);
        differs.is_none()
            && (self.carry ^ kept.carry) & kept.mask == 0
            && fragment.joins == kept.joins
            && fragment.calls == kept.calls
            && self.local == kept.local
    }

    /// Keeps the state of the current fragment.
    #[cold]
    fn keep(&mut self, changes: u64, target: u32) {
        let fragment = &self.fragments[self.current];
        let kept = Kept {
            changes,
            target,
            mask: fragment.mask,
            joins: fragment.joins.clone(),
            calls: fragment.calls.clone(),
            carry: self.carry,
            registers: self.regs.clone(),
            local: self.local.clone(),
        };
        self.fragments[self.current].spin.kept = Some(Arc::new(kept));
    }

    /// A wait of the current fragment ends only for this time, so that what comes of it is no loop that goes on.
    pub(crate) fn time_out(&mut self) {
        self.fragments[self.current].unsettle();
    }

    /// Whether the current fragment gave way since it repeats itself.
    pub(super) fn spins(&self, cx: &Context<'_>) -> bool {
        let current = self.fragments.get(self.current);
        current.is_some_and(|fragment| fragment.repeats(cx.cluster.changes))
    }

    /// Whether every lane waits, or repeats itself as long as nothing changes.
    pub(crate) fn idles(&self, cx: &Context<'_>) -> bool {
        let mut all = self.fragments.iter();
        all.all(|f| f.repeats(cx.cluster.changes) || !self.can_run(cx, f))
    }

    /// Lets a fragment that repeats itself do so once: how it looks at what others may change, and its first and last instruction in the
    /// order of the text. None of these was at fault before, with the same operands.
    pub(crate) fn round(&mut self, cx: &mut Context<'_>, index: usize) -> (Vec<Look>, (u32, u32)) {
        let Fragment { pc: start, mask, .. } = self.fragments[index];
        let mut looks: Vec<Look> = Vec::new();
        let (mut low, mut high) = (start, start);
        self.current = index;
        for _ in 0..LONGEST {
            let Some(index) = self.ready(cx) else { break };
            self.current = index;
            let pc = self.fragments[index].pc;
            (low, high) = (low.min(pc), high.max(pc));
            let look = self.look(cx, &self.fragments[index], mask);
            if self.run_fragment(cx, &mut 1).is_err() {
                break;
            }
            if let Some((look, target)) = look {
                let value = target.map(|slot| self.regs.wide(slot)[look.lane as usize]);
                looks.retain(|earlier| earlier.pc != pc);
                looks.push(Look { value, ..look });
            }
            let fragment = self.fragments.get(self.current);
            if fragment.is_none_or(|fragment| fragment.pc == start && fragment.mask == mask) {
                break;
            }
        }
        (looks, (low, high))
    }

    /// What the next instruction of a fragment looks at, for one of the lanes of `mask`, and where it puts that.
    fn look(
        &self,
        cx: &Context<'_>,
        fragment: &Fragment,
        mask: u32,
    ) -> Option<(Look, Option<Slot>)> {
        let pc = fragment.pc;
        let inst = cx.inst(pc);
        let guard = inst.guard.map_or(u32::MAX, |guard| self.regs.pred(guard));
        let lane = lanes(fragment.mask & mask & guard).next()?;
        #[expect(clippy::wildcard_enum_match_arm, reason = "few instructions read memory")]
        let (address, target, parity): (&Address, _, _) = match &inst.op {
            Op::Load(load) => (&load.address, load.targets.iter().copied().flatten().next(), None),
            Op::Atom(atom) => (&atom.address, atom.d, None),
            Op::Mbarrier(op) => {
                let Mbarrier { address, kind: MbarrierKind::Wait { phase, parity, .. } } = &**op
                else {
                    return None;
                };
                let waited = self.regs.wide(*phase)[lane];
                let waited = if *parity { waited & 1 } else { waited >> 62 & 1 };
                (address, None, Some(waited != 0))
            }
            _ => return None,
        };
        let mut at = addresses(self, address, 1 << lane).ok()?;
        let mut place = address.place;
        if place == Place::Generic {
            (place, _, at) = resolve(&at, 1 << lane);
        }
        // Nobody else changes these.
        if matches!(place, Place::Local | Place::Param | Place::Const) {
            return None;
        }
        let lane = super::lane_number(lane);
        let look = Look { pc, lane, address: at[lane as usize], place, value: None, parity };
        Some((look, target))
    }
}
