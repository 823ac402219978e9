//! How many registers a thread needs, estimated: the most values of an entry that are live at once.
//!
//! ptxas decides it and says so only when it runs. Values that it gets from the constant bank need none, moves share one, and it takes some
//! more for addresses; so the estimate is for the number of blocks that fit on a multiprocessor, and for nothing finer.

use kernel_ptx::Target;

use super::facts::{Action, Facts};
use crate::code::{Code, Inst, Op, Place};

/// Registers that a thread takes beside live values.
const BESIDE: u32 = 12;
/// The most that a thread can have.
const MOST: u32 = 255;

/// Numbers of warps on a multiprocessor for which ptxas was seen to save registers, where that takes no more than [`SAVED`]: of thirteen
/// kernels that need 103 registers or so, for 256 threads, it gave 80, and so on.
const WARPS: [u32; 6] = [8, 16, 24, 32, 48, 64];
/// The most that it saves: as a factor.
const SAVED: f64 = 1.3;

/// What ptxas makes of an estimate for blocks of so many threads: a little less, if more warps fit then.
pub(super) fn squeezed(estimate: u32, threads: u32) -> u32 {
    let fits = WARPS.iter().rev().filter(|warps| threads <= 32 * **warps).map(|warps| {
        let registers = Target::REGISTERS / (warps * 32) / 8 * 8;
        registers.min(MOST)
    });
    let mut fits = fits.filter(|fits| f64::from(estimate) <= f64::from(*fits) * SAVED);
    fits.next().map_or(estimate, |fits| estimate.min(fits))
}

/// A set of registers.
type Set = Vec<u64>;

/// What the values of an entry need.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pressure {
    /// Registers of a thread.
    pub(super) registers: u32,
    /// The parts of the values live at each instruction that no register is left for, if a thread has at most the number that was asked for.
    without: Vec<f64>,
}

impl Pressure {
    /// 32-bit words that an instruction moves between registers and local memory, if values without a register are found among its
    /// operands as often as among all.
    pub(super) fn spilled(&self, pc: usize, facts: &Facts, words: &[u32]) -> f64 {
        let moved: u32 =
            facts.reads().chain(facts.results.iter().copied()).map(|r| words[r as usize]).sum();
        self.without[pc] * f64::from(moved)
    }
}

/// The estimate for threads of at most `most` registers; `words` are the 32-bit registers of each value, none of predicates.
pub(super) fn pressure(code: &Code, facts: &[Facts], words: &[u32], most: u32) -> Pressure {
    let counts = counted(code, facts, words);
    let mut sums = vec![false; words.len()];
    for facts in facts.iter().filter(|facts| facts.action == Action::Wgmma) {
        facts.later.iter().for_each(|register| sums[*register as usize] = true);
    }
    let most = most.min(MOST);
    let mut needed = 0;
    let mut without = Vec::new();
    for live in live(code, facts, words.len()) {
        let (mut fixed, mut other) = (0, 0);
        for (index, bits) in live.iter().enumerate() {
            let mut rest = *bits;
            while rest != 0 {
                let register = 64 * index + rest.trailing_zeros() as usize;
                let to = if sums[register] { &mut fixed } else { &mut other };
                *to += counts[register];
                rest &= rest - 1;
            }
        }
        needed = needed.max(fixed + other + BESIDE);
        // What a `wgmma` writes cannot be computed again, as other values can.
        let least = f64::from(fixed) + f64::from(other + BESIDE) / SAVED;
        let over = (least - f64::from(most)).max(0.0);
        without.push(over / f64::from((fixed + other).max(1)));
    }
    Pressure { registers: needed.min(most), without }
}

/// The values that are live before each instruction and after the last, of `registers` in all.
fn live(code: &Code, facts: &[Facts], registers: usize) -> Vec<Set> {
    let size = registers.div_ceil(64);
    let mut before: Vec<Set> = vec![vec![0; size]; facts.len() + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for pc in (0..facts.len()).rev() {
            let mut live = vec![0; size];
            for next in successors(&code.insts[pc], pc) {
                let there = before.get(next).into_iter().flatten();
                live.iter_mut().zip(there).for_each(|(live, there)| *live |= there);
            }
            let facts = &facts[pc];
            // What a guard may leave out does not end what was there before.
            if code.insts[pc].guard.is_none() {
                facts.results.iter().for_each(|register| clear(&mut live, *register));
            }
            facts.reads().for_each(|register| set(&mut live, register));
            if live != before[pc] {
                before[pc] = live;
                changed = true;
            }
        }
    }
    before
}

/// The 32-bit registers that each value counts for: none where it is a parameter, which stays in the constant bank.
fn counted(code: &Code, facts: &[Facts], words: &[u32]) -> Vec<u32> {
    let mut counts = words.to_vec();
    let mut written_otherwise = vec![false; words.len()];
    let mut parameters = vec![false; words.len()];
    for (inst, facts) in code.insts.iter().zip(facts) {
        let parameter = matches!(&inst.op, Op::Load(load) if load.address.place == Place::Param);
        for register in &facts.results {
            let to = if parameter { &mut parameters } else { &mut written_otherwise };
            to[*register as usize] = true;
        }
    }
    for (register, count) in counts.iter_mut().enumerate() {
        if parameters[register] && !written_otherwise[register] {
            *count = 0;
        }
    }
    counts
}

fn set(live: &mut Set, register: u32) {
    live[register as usize / 64] |= 1 << (register % 64);
}

fn clear(live: &mut Set, register: u32) {
    live[register as usize / 64] &= !(1 << (register % 64));
}

/// Where control goes after an instruction; a call comes back.
fn successors(inst: &Inst, pc: usize) -> Vec<usize> {
    let mut next = Vec::new();
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every instruction that is not control flow goes on to the next"
    )]
    let goes_on = match &inst.op {
        Op::Bra { target } => {
            next.push(*target as usize);
            inst.guard.is_some()
        }
        Op::BrxIdx { targets, .. } => {
            next.extend(targets.iter().map(|target| *target as usize));
            inst.guard.is_some()
        }
        Op::Exit | Op::Ret | Op::Trap { .. } | Op::AssertFail { .. } => inst.guard.is_some(),
        _ => true,
    };
    if goes_on {
        next.push(pc + 1);
    }
    next
}
