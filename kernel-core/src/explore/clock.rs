//! Vector clocks: what of a cluster a thread knows to be over.
//!
//! A clock has a component for each thing that can be over: what the threads of a part of a block have done, so many of its `cp.async`,
//! products or stores, so many phases of a barrier. A component only grows.

use crate::ir::Kernel;

/// A component of a clock.
pub(super) type Component = u32;

/// How many of each component are known to be over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clock(Vec<u32>);

impl Clock {
    pub(super) fn get(&self, of: Component) -> u32 {
        self.0.get(of as usize).copied().unwrap_or(0)
    }

    pub(super) fn raise(&mut self, of: Component, to: u32) {
        if let Some(known) = self.0.get_mut(of as usize) {
            *known = (*known).max(to);
        }
    }

    pub(super) fn join(&mut self, other: &Clock) {
        for (known, other) in self.0.iter_mut().zip(&other.0) {
            *known = (*known).max(*other);
        }
    }

    /// Takes the next of its own steps.
    pub(super) fn step(&mut self, own: Component) {
        if let Some(known) = self.0.get_mut(own as usize) {
            *known += 1;
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
    /// Their parts of products by `wgmma`.
    Wgmma(Half),
    /// Stores by TMA and bulk copies.
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
    blocks: u32,
}

impl Components {
    pub(super) fn of(kernel: &Kernel, parts: u32, blocks: u32) -> Self {
        let barriers = kernel.barriers.iter().map(|(_, data)| data.ring.unwrap_or(1)).sum();
        Components { parts, barriers, blocks }
    }

    fn of_a_block(self) -> u32 {
        self.parts * OF_A_PART + self.barriers
    }

    /// The clock of a kernel that begins.
    pub(super) fn start(self) -> Clock {
        Clock(vec![0; (self.of_a_block() * self.blocks) as usize])
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

    /// The phases of a barrier, by its number among those of its block.
    pub(super) fn barrier(self, block: u32, number: u32) -> Component {
        block * self.of_a_block() + self.parts * OF_A_PART + number
    }
}
