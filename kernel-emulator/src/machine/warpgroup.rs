//! Warpgroups: four warps that multiply matrices together (PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Instructions").
//!
//! A product needs all four warps at one instruction; each then computes sixteen rows of it for itself.
//! What the products in flight read is known for the warpgroup as a whole, since every warp reads all of B;
//! which registers they use is known to each warp.

use std::collections::VecDeque;

use crate::code::W;
use crate::fault::{FaultKind, Run, Trap};
use crate::numeric::wgmma::Accumulator;

/// Warps of a warpgroup.
pub(crate) const WARPS: u32 = 4;

/// What must be the same for the four warps of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) pc: u32,
    /// The descriptors.
    pub(crate) a: Option<u64>,
    pub(crate) b: u64,
    /// Whether D is added to.
    pub(crate) accumulates: bool,
}

/// The factors of a product that come from shared memory, as they are when the fourth warp arrives.
#[derive(Debug, Default)]
pub(crate) struct Factors {
    /// 64 rows along k; empty where A is in registers.
    pub(crate) a: Vec<f32>,
    /// One row of columns for each k, see [`place`](crate::numeric::wgmma::place).
    pub(crate) b: Vec<f32>,
    /// Rows of A and columns of B with bytes that were never written; empty where there are none.
    pub(crate) a_unwritten: Vec<u32>,
    pub(crate) b_unwritten: Vec<u32>,
    /// One of those bytes.
    pub(crate) unwritten_at: u64,
    /// Whether D is added to. The ticket may already be that of the next product, which a warp may reach before
    /// the others have computed this one.
    pub(crate) accumulates: bool,
}

/// A product in flight: what of shared memory it reads, as numbers of 16 bytes.
#[derive(Debug)]
pub(crate) struct Reads {
    /// A quarter for each warp, in order.
    pub(crate) a: Vec<u32>,
    pub(crate) b: Vec<u32>,
    /// The warps that have not waited for it.
    pub(crate) open: u32,
}

impl Reads {
    /// What of A one warp reads, by its number in the warpgroup.
    pub(crate) fn quarter(&self, member: u32) -> &[u32] {
        let length = self.a.len() / WARPS as usize;
        &self.a[length * member as usize..][..length]
    }
}

/// A warpgroup of a block.
#[derive(Debug, Default)]
pub(crate) struct Warpgroup {
    /// The warps that wait for the others, and what they execute.
    pub(crate) waiting: u32,
    pub(crate) ticket: Ticket,
    /// How often all four were there.
    pub(crate) generation: u64,
    /// The warps that may execute it.
    pub(crate) admitted: u32,
    pub(crate) factors: Factors,
    /// Products so far; they are numbered from 1.
    pub(crate) issued: u64,
    /// Those that some warp has not waited for, and the number of the first of them.
    pub(crate) flight: VecDeque<Reads>,
    pub(crate) first: u64,
}

impl Warpgroup {
    /// The product of a number that is in flight.
    pub(crate) fn product(&mut self, number: u64) -> &mut Reads {
        let index = usize::try_from(number - self.first).expect("few products are in flight");
        &mut self.flight[index]
    }
}

/// What a product does with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Part of D, of this many columns.
    Sum(u32, Accumulator),
    /// Part of A.
    Fragment,
}

/// What is known of a register that some product of the kernel uses.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// The last product that uses it, and as what.
    product: u64,
    role: Option<Role>,
    /// The last access by another instruction: how many fences there were before, and which it is.
    access: Option<(u64, u32)>,
}

/// A product as one warp issued it.
#[derive(Clone, Copy, Debug)]
struct Issued {
    pc: u32,
    /// How often the warp had handed something on by then, for races.
    handed_on: u32,
}

/// The products of one warp, numbered from 1 as in its [`Warpgroup`].
#[derive(Debug, Default)]
pub(crate) struct Products {
    /// By number of the word register.
    uses: Vec<Use>,
    fences: u64,
    issued: u64,
    /// Products up to here are complete.
    waited: u64,
    /// The last product of each group that is not complete.
    groups: VecDeque<u64>,
    /// The products that are not complete.
    flight: VecDeque<Issued>,
}

impl Products {
    /// Forgets everything; `registers` is how many word registers a kernel with products has.
    pub(crate) fn reset(&mut self, registers: usize) {
        self.uses.clear();
        self.uses.resize(registers, Use::default());
        (self.fences, self.issued, self.waited) = (0, 0, 0);
        self.groups.clear();
        self.flight.clear();
    }

    /// The instruction of a product in flight.
    pub(crate) fn in_flight(&self) -> Option<u32> {
        self.flight.front().map(|issued| issued.pc)
    }

    /// Another instruction touches registers.
    ///
    /// # Errors
    /// One of them belongs to a product in flight.
    pub(crate) fn touch(&mut self, pc: u32, registers: &[W]) -> Run<()> {
        for &register in registers {
            let used = &mut self.uses[register.0 as usize];
            if used.product > self.waited {
                let role = used.role;
                return Err(self.busy(register, role, "it is touched"));
            }
            used.access = Some((self.fences, pc));
        }
        Ok(())
    }

    /// The fault of touching a register of a product in flight.
    #[cold]
    fn busy(&self, register: W, role: Option<Role>, touched: &str) -> Trap {
        let product = self.uses[register.0 as usize].product;
        let part = match role {
            Some(Role::Fragment) => "A",
            Some(Role::Sum(..)) | None => "D",
        };
        let committed = self.groups.back().is_some_and(|last| product <= *last);
        let missing = if committed {
            let after = self.groups.iter().filter(|last| product <= **last).count() - 1;
            format!("a `wgmma.wait_group {after}` is missing before")
        } else {
            "a `wgmma.commit_group` and a `wgmma.wait_group 0` are missing before".to_owned()
        };
        let detail = format!("is part of {part} of a `wgmma` in flight when {touched}: {missing}");
        let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
        trap.slot = Some(crate::code::Slot::W(register));
        trap.product = Some(self.issued_at(product));
        trap
    }

    /// The instruction of a product in flight, by number.
    fn issued_at(&self, product: u64) -> u32 {
        let index = usize::try_from(product - self.waited - 1).expect("few are in flight");
        self.flight[index].pc
    }

    /// `wgmma.fence`
    pub(crate) fn fence(&mut self) {
        self.fences += 1;
    }

    /// `wgmma.commit_group`
    pub(crate) fn commit(&mut self) {
        self.groups.push_back(self.issued);
    }

    /// Whether a product may use its registers.
    ///
    /// # Errors
    /// A fence or a wait is missing.
    pub(crate) fn check(&self, d: &[W], shape: (u32, Accumulator), a: &[W]) -> Run<()> {
        if self.fences == 0 {
            let detail = "no `wgmma.fence` comes before the first `wgmma`";
            return Err(Trap::new(FaultKind::WgmmaFence, detail));
        }
        for (&register, sum) in d.iter().map(|w| (w, true)).chain(a.iter().map(|w| (w, false))) {
            let used = &self.uses[register.0 as usize];
            if used.product > self.waited {
                let permitted = match used.role {
                    Some(Role::Sum(columns, accumulator)) => sum && (columns, accumulator) == shape,
                    Some(Role::Fragment) => !sum,
                    None => true,
                };
                if !permitted {
                    let touched = match (sum, used.role) {
                        (true, Some(Role::Sum(..))) => "one of another shape adds to it",
                        (true, _) => "another writes it",
                        (false, _) => "another reads it as A",
                    };
                    return Err(self.busy(register, used.role, touched));
                }
            }
            if let Some((fences, pc)) = used.access
                && fences == self.fences
            {
                let part = if sum { "D" } else { "A" };
                let detail = format!(
                    "is part of {part}, and was touched since the last `wgmma.fence`: one is missing before this `wgmma`"
                );
                let mut trap = Trap::new(FaultKind::WgmmaFence, detail);
                trap.slot = Some(crate::code::Slot::W(register));
                trap.touched = Some(pc);
                return Err(trap);
            }
        }
        Ok(())
    }

    /// A product is issued, when the warp has handed something on so often. Its number.
    pub(crate) fn issue(
        &mut self,
        (pc, handed_on): (u32, u32),
        d: &[W],
        (columns, accumulator): (u32, Accumulator),
        a: &[W],
    ) -> u64 {
        self.issued += 1;
        self.flight.push_back(Issued { pc, handed_on });
        for (registers, role) in [(a, Role::Fragment), (d, Role::Sum(columns, accumulator))] {
            for register in registers {
                let used = &mut self.uses[register.0 as usize];
                (used.product, used.role) = (self.issued, Some(role));
            }
        }
        self.issued
    }

    /// `wgmma.wait_group`: completes all but the last `keep` groups. The products that are complete now:
    /// number, instruction, the warp's time when it was issued.
    pub(crate) fn wait(&mut self, keep: u32) -> Vec<(u64, u32, u32)> {
        let before = self.waited;
        while self.groups.len() > keep as usize {
            self.waited = self.groups.pop_front().expect("there are more than `keep`");
        }
        let count = usize::try_from(self.waited - before).expect("few products are in flight");
        let done = self.flight.drain(..count).zip(before + 1..);
        done.map(|(issued, number)| (number, issued.pc, issued.handed_on)).collect()
    }
}
