//! Vector clocks: what of a cluster a thread knows to be over.
//!
//! A clock has a component for each thing that can be over: what the threads of a part of a block have done, so many of its `cp.async`,
//! products or stores, so many phases of a barrier. A component only grows.

use crate::ir::Kernel;

/// A component of a clock.
pub(super) type Component = u32;

/// How many of each component are known to be over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Of these everything is visible as well.
    over: Vec<u32>,
    /// These have happened: who starts a copy has done something before, and the end of the copy says that, but not that others may
    /// rely on what was written (PTX ISA, "Memory Consistency Model: Causality order").
    happened: Vec<u32>,
}

impl Clock {
    pub(super) fn get(&self, of: Component) -> u32 {
        self.over.get(of as usize).copied().unwrap_or(0)
    }

    pub(super) fn happened(&self, of: Component) -> u32 {
        self.happened.get(of as usize).copied().unwrap_or(0)
    }

    /// What the completion of an asynchronous operation says of its thread.
    pub(super) fn only_happened(&self) -> Clock {
        Clock { over: vec![0; self.over.len()], happened: self.happened.clone() }
    }

    pub(super) fn raise(&mut self, of: Component, to: u32) {
        for known in [&mut self.over, &mut self.happened] {
            if let Some(known) = known.get_mut(of as usize) {
                *known = (*known).max(to);
            }
        }
    }

    pub(super) fn join(&mut self, other: &Clock) {
        for (all, others) in [(&mut self.over, &other.over), (&mut self.happened, &other.happened)]
        {
            for (known, other) in all.iter_mut().zip(others) {
                *known = (*known).max(*other);
            }
        }
    }

    /// Takes the next of its own steps.
    pub(super) fn step(&mut self, own: Component) {
        for known in [&mut self.over, &mut self.happened] {
            if let Some(known) = known.get_mut(own as usize) {
                *known += 1;
            }
        }
    }
}

/// A half of the threads of a part: the one that starts asynchronous operations, or all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Issuer,
    Others,
}

impl Half {
    pub(super) const BOTH: [Half; 2] = [Half::Issuer, Half::Others];
}

/// What can be over of a part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// What threads have done themselves.
    Threads(Half),
    /// Their groups of `cp.async`.
    CpAsync(Half),
    /// Their parts of `wgmma` products.
    Wgmma(Half),
    /// TMA stores and bulk copies.
    Stores,
    /// What one thread has started on the tensor cores, by `tcgen05`.
    Tcgen05,
}

/// Components of a part.
const OF_A_PART: u32 = 8;

/// Which component stands for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Components {
    parts: u32,
    barriers: u32,
    named: u32,
    blocks: u32,
}

impl Components {
    pub(super) fn of(kernel: &Kernel, parts: u32, blocks: u32) -> Self {
        let barriers = kernel.barriers.iter().map(|(_, data)| data.ring.unwrap_or(1)).sum();
        let named = u32::try_from(kernel.named.len()).unwrap_or(u32::MAX);
        Components { parts, barriers, named, blocks }
    }

    fn of_a_block(self) -> u32 {
        self.parts * OF_A_PART + self.barriers + self.named
    }

    /// How many there are.
    pub(super) fn len(self) -> usize {
        (self.of_a_block() * self.blocks) as usize + 1
    }

    /// The clock of a kernel that begins.
    pub(super) fn start(self) -> Clock {
        Clock { over: vec![0; self.len()], happened: vec![0; self.len()] }
    }

    /// That of a part of a block.
    pub(super) fn part(self, [block, part]: [u32; 2], of: Of) -> Component {
        let half = |half: Half| u32::from(half == Half::Others);
        let place = match of {
            Of::Threads(one) => half(one),
            Of::CpAsync(one) => 2 + half(one),
            Of::Wgmma(one) => 4 + half(one),
            Of::Stores => 6,
            Of::Tcgen05 => 7,
        };
        block * self.of_a_block() + part * OF_A_PART + place
    }

    /// The phases of an mbarrier, by its number among those of its block.
    pub(super) fn barrier(self, block: u32, number: u32) -> Component {
        block * self.of_a_block() + self.parts * OF_A_PART + number
    }

    /// The meetings at a named barrier, by its number among those of its block.
    pub(super) fn named(self, block: u32, number: u32) -> Component {
        self.barrier(block, self.barriers + number)
    }

    /// The meetings of the cluster.
    pub(super) fn cluster(self) -> Component {
        self.blocks * self.of_a_block()
    }
}
