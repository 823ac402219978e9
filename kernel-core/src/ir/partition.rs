//! Warp specialisation: which warps of a block run which part of a kernel.
//!
//! ```text
//! specialize -> (%4 : f32) {      // the kernel's own warps, 8 of them: 0 to 7
//!     ..
//!     yield (%3)
//! } partition warps 4, registers 40 {      // warps 8 to 11
//!     ..
//!     yield ()
//! } partition warps 1, registers 24 {      // warp 12; 13 to 15 have nothing to do
//!     ..
//!     yield ()
//! }
//! ```
//!
//! Registers are moved between whole warpgroups, of four warps that begin at a multiple of four (PTX ISA, "setmaxnreg"). So
//! partitions of four warps and more begin at such a warp, and with budgets the kernel's own warps have whole warpgroups;
//! small partitions share one. A warpgroup has the largest budget of its partitions. What the warpgroups with
//! a budget leave of the registers is divided among the others, those of the kernel's own warps among them. All of them together have
//! those that the block begins with: a share of the register file that is the same for every thread, and a multiple of eight.

use kernel_layout::forms::LANES;
use la_arena::ArenaMap;

use super::{Kernel, Named, Region, Stmt, StmtKind, Value};
use crate::loc::Loc;

/// Warps of a warpgroup (PTX ISA, "wgmma").
const GROUP_WARPS: u32 = 4;
/// Registers come in steps of this many for each thread (PTX ISA, "setmaxnreg").
const REGISTER_STEP: u32 = 8;
/// The fewest registers of a thread that can be set (PTX ISA, "setmaxnreg").
const LEAST_REGISTERS: u32 = 24;
/// The most registers that a share of what is left has: a thread addresses 255, and `ptxas` keeps some for itself.
const MOST_SHARED_OUT: u32 = 240;
/// The most registers that a thread begins with.
const MOST_AT_ENTRY: u32 = 256;
/// Warps of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MOST_WARPS: u32 = 32;
/// Named barriers of a block (PTX ISA, "barrier").
const BARRIERS: u32 = 16;
/// The barrier of the kernel's own warps is 0, that of the whole block 1; partitions have those from here.
const FIRST_BARRIER: u32 = 2;
/// The first barrier that is free in a kernel without partitions: all its warps meet at 0.
const FIRST_FREE: u32 = 1;

/// A part of a kernel that runs in warps of its own.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Its warps: 1, 2, 4 or 8.
    pub warps: u32,
    /// The register budget of each of its threads; a multiple of 8 from 24 to 256.
    pub registers: Option<u32>,
    /// What it runs. It yields nothing.
    pub body: Region,
    /// Where it is written.
    pub loc: Loc,
}

/// Where the partitions of a kernel are among the warps of a block, and what each has of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The first warp of each partition.
    pub first: Vec<u32>,
    /// The named barrier at which the threads of each partition meet; none for one warp, which needs none.
    pub barriers: Vec<Option<u32>>,
    /// Warps of a block, those with nothing to do included.
    pub warps: u32,
    /// The warps that have something to do: the kernel's own and those of the partitions.
    pub busy: u32,
    /// For each warpgroup the registers of a thread; none if no partition has a budget.
    pub registers: Option<Vec<u32>>,
}

/// Why partitions do not fit a block. Facts; the diagnostic has the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementProblem {
    /// A block would have too many warps.
    Warps {
        /// The most that it can have.
        required: u32,
        /// Those of all partitions, including unused warps.
        actual: u32,
    },
    /// There are not enough named barriers.
    Barriers {
        /// The most partitions of more than one warp.
        required: u32,
        /// Those that there are.
        actual: u32,
    },
    /// The budgets leave too few registers for the warps that have none.
    Registers {
        /// The most registers of a thread that the warpgroups with a budget may have together.
        required: u32,
        /// Those that they have.
        actual: u32,
        /// Warps of the block.
        warps: u32,
        /// The registers that each of their threads begins with.
        at_entry: u32,
    },
}

impl Placement {
    /// The barrier at which all warps meet that have something to do.
    pub const WHOLE_BLOCK: u32 = 1;

    /// Places partitions, each given by its warps and registers, after the kernel's own warps.
    ///
    /// ```
    /// use kernel_core::ir::Placement;
    ///
    /// // A partition of one warp and one of four, after eight warps: the larger one comes first.
    /// let placed = Placement::of(8, &[(1, Some(24)), (4, Some(40))]).unwrap();
    /// assert_eq!((placed.first, placed.warps), (vec![12, 8], 16));
    /// // The block begins with 65536 / 512 = 128 registers a thread: of 4 * 128, two warpgroups have 512 - 40 - 24 left.
    /// assert_eq!(placed.registers, Some(vec![224, 224, 40, 24]));
    /// // With 12 warps 65536 / 384 = 170 are 168 registers, and 3 * 168 all that there are.
    /// let placed = Placement::of(4, &[(4, Some(232)), (2, Some(40))]).unwrap();
    /// assert_eq!(placed.registers, Some(vec![504 - 232 - 40, 232, 40]));
    /// ```
    ///
    /// # Errors
    /// If a block has not enough warps, barriers or registers.
    pub fn of(own: u32, partitions: &[(u32, Option<u32>)]) -> Result<Placement, PlacementProblem> {
        let budgets = partitions.iter().any(|(_, registers)| registers.is_some());
        let mut order: Vec<usize> = (0..partitions.len()).collect();
        // The sort is stable: of equal ones the first in the program comes first.
        order.sort_by_key(|&index| std::cmp::Reverse(partitions[index].0));
        let start = if budgets { own.next_multiple_of(GROUP_WARPS) } else { own };
        let mut taken = vec![true; start as usize];
        let mut first = vec![0; partitions.len()];
        for index in order {
            let (warps, _) = partitions[index];
            let step = warps.min(GROUP_WARPS);
            let fits = |at: &u32| (*at..at + warps).all(|warp| !is_taken(&taken, warp));
            let at = (start.next_multiple_of(step)..).step_by(step as usize).find(fits);
            let at = at.expect("there is room behind all that is taken");
            first[index] = at;
            let end = (at + warps) as usize;
            taken.resize(taken.len().max(end), false);
            taken[at as usize..end].fill(true);
        }
        let end = u32::try_from(taken.len()).expect("few warps");
        let warps = if budgets { end.next_multiple_of(GROUP_WARPS) } else { end };
        if warps > MOST_WARPS {
            return Err(PlacementProblem::Warps { required: MOST_WARPS, actual: warps });
        }
        let mut barriers = Vec::new();
        let mut next = FIRST_BARRIER;
        for &(warps, _) in partitions {
            barriers.push((warps > 1).then_some(next));
            next += u32::from(warps > 1);
        }
        if next > BARRIERS {
            return Err(PlacementProblem::Barriers {
                required: BARRIERS - FIRST_BARRIER,
                actual: next - FIRST_BARRIER,
            });
        }
        let busy = own + partitions.iter().map(|(warps, _)| warps).sum::<u32>();
        let registers = if budgets { Some(budgets_of(warps, partitions, &first)?) } else { None };
        Ok(Placement { first, barriers, warps, busy, registers })
    }

    /// The first named barrier that neither the block nor a partition meets at.
    pub fn free_barrier(&self) -> u32 {
        self.barriers.iter().flatten().max().map_or(FIRST_BARRIER, |last| last + 1)
    }

    /// The registers that a thread has when a block starts: its share of the register file.
    pub fn registers_at_entry(&self) -> u32 {
        registers_at_entry(self.warps)
    }

    /// The registers that a warp sets for itself; none if it keeps those that it has.
    pub fn registers_of(&self, warp: u32) -> Option<u32> {
        let groups = self.registers.as_ref()?;
        let budget = *groups.get((warp / GROUP_WARPS) as usize)?;
        (budget != self.registers_at_entry()).then_some(budget)
    }
}

fn is_taken(taken: &[bool], warp: u32) -> bool {
    taken.get(warp as usize).copied().unwrap_or(false)
}

/// A thread's share of the register file, in a block of this many warps.
pub(crate) fn registers_at_entry(warps: u32) -> u32 {
    let share = kernel_ptx::Target::REGISTERS / (warps * LANES);
    (share / REGISTER_STEP * REGISTER_STEP).min(MOST_AT_ENTRY)
}

/// The registers of the threads of each warpgroup.
fn budgets_of(
    warps: u32,
    partitions: &[(u32, Option<u32>)],
    first: &[u32],
) -> Result<Vec<u32>, PlacementProblem> {
    let mut groups: Vec<Option<u32>> = vec![None; (warps / GROUP_WARPS) as usize];
    for (&(warps, registers), &at) in partitions.iter().zip(first) {
        let all = at / GROUP_WARPS..(at + warps).div_ceil(GROUP_WARPS);
        for group in all {
            let group = &mut groups[group as usize];
            *group = (*group).max(registers);
        }
    }
    // A group takes only what others of the block have released: a block has only the registers that it begins with.
    let at_entry = registers_at_entry(warps);
    let all = at_entry * warps / GROUP_WARPS;
    let asked: u32 = groups.iter().flatten().sum();
    let open = groups.iter().filter(|group| group.is_none()).count();
    let open = u32::try_from(open).expect("few warpgroups");
    let required = all - open * LEAST_REGISTERS;
    if asked > required {
        return Err(PlacementProblem::Registers { required, actual: asked, warps, at_entry });
    }
    let share = (all - asked) / open.max(1) / REGISTER_STEP * REGISTER_STEP;
    let share = share.min(MOST_SHARED_OUT);
    Ok(groups.into_iter().map(|group| group.unwrap_or(share)).collect())
}

/// The statement of a kernel that specialises its warps.
#[derive(Clone, Copy, Debug)]
pub struct Specialized<'k> {
    /// Its place among the statements of the kernel's body.
    pub at: usize,
    /// What the kernel's own warps run.
    pub default: &'k Region,
    /// The other partitions.
    pub partitions: &'k [Partition],
    /// Whether anything follows it that does more than compute.
    pub joins: bool,
}

/// How many warps run what makes each value.
#[derive(Clone, Debug)]
pub struct Crews {
    own: u32,
    others: ArenaMap<Value, u32>,
}

impl Crews {
    /// The warps over which a value is spread, if it is a tile.
    pub fn warps(&self, value: Value) -> u32 {
        self.others.get(value).copied().unwrap_or(self.own)
    }
}

impl Kernel {
    /// The statement that specialises the kernel's warps, if it has one.
    pub fn specialized(&self) -> Option<Specialized<'_>> {
        let stmts = &self.body.stmts;
        let pure = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Op { op, .. } if op.is_pure());
        let acts = |stmt: &Stmt| !pure(stmt) && !stmt.is_stamp();
        stmts.iter().enumerate().find_map(|(at, stmt)| {
            let StmtKind::Specialize { default, partitions, .. } = &stmt.kind else { return None };
            // The kernel frees its tensor memory when nothing uses it any more.
            let joins = stmts[at + 1..].iter().any(acts) || !self.tensor_memory.is_empty();
            Some(Specialized { at, default, partitions, joins })
        })
    }

    /// Where its partitions are; none if all warps of a block run the same.
    ///
    /// # Panics
    /// If they do not fit a block, which building refuses.
    pub fn placement(&self) -> Option<Placement> {
        let partitions = self.specialized()?.partitions;
        let asked: Vec<_> = partitions.iter().map(|one| (one.warps, one.registers)).collect();
        Some(
            Placement::of(self.warps, &asked).expect("elaborate refuses what does not fit a block"),
        )
    }

    /// The number of a named barrier of the kernel, after those at which the block and its partitions meet.
    pub fn named_barrier(&self, named: Named) -> u32 {
        self.first_named() + named.into_raw().into_u32()
    }

    /// How many named barriers of its own a kernel can have.
    pub fn most_named(&self) -> u32 {
        BARRIERS - self.first_named()
    }

    fn first_named(&self) -> u32 {
        self.placement().map_or(FIRST_FREE, |placement| placement.free_barrier())
    }

    /// Warps in a block.
    pub fn block_warps(&self) -> u32 {
        self.placement().map_or(self.warps, |placement| placement.warps)
    }

    /// Threads in a block.
    pub fn threads(&self) -> u32 {
        self.block_warps() * LANES
    }

    /// How many warps run what makes each value.
    pub fn crews(&self) -> Crews {
        let mut others = ArenaMap::default();
        for partition in self.specialized().map_or(&[][..], |found| found.partitions) {
            partition.body.each_value(&mut |value| {
                others.insert(value, partition.warps);
            });
        }
        Crews { own: self.warps, others }
    }
}

#[cfg(test)]
mod tests;
