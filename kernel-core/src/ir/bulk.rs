//! Bulk copies: contiguous bytes, without a tensor map (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk").

use super::{Evict, TmaReduce};

/// A copy of the bytes of a shared window, unchanged.
///
/// Operands are the address of the first element in global memory, or for [`BulkKind::Send`] the window that is sent; then the
/// barrier that a load or a sending completes on; with `multicast` the mask (`i32`); with `guarded` the condition (`bool`); the
/// shared window that is written or read, except for a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bulk {
    /// The direction.
    pub kind: BulkKind,
    /// An operand says which blocks of the cluster receive the bytes.
    pub multicast: bool,
    /// An operand says whether the copy takes place.
    pub guarded: bool,
    /// The L2 eviction priority of what is copied.
    pub evict: Evict,
}

/// The direction of a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkKind {
    /// From global to shared memory.
    Load,
    /// From shared to global memory. Each store is a group of its own, together with TMA stores.
    Store,
    /// From shared memory, combined with what global memory has.
    Reduce(TmaReduce),
    /// This many bytes from global memory into the L2 cache.
    Prefetch(u32),
    /// From this block's shared memory to that of another block, whose barrier at the same place counts the bytes.
    Send,
}

/// The operands of a bulk copy.
#[derive(Clone, Copy, Debug)]
pub struct BulkOperands<T> {
    /// The address in global memory; of [`BulkKind::Send`] the window that is sent.
    pub first: T,
    /// What it completes on.
    pub barrier: Option<T>,
    /// The blocks of the cluster that receive the bytes.
    pub mask: Option<T>,
    /// Whether the copy takes place.
    pub condition: Option<T>,
    /// The shared window that it fills, or that a store reads; none for a prefetch.
    pub window: Option<T>,
}

impl<T: Copy> BulkOperands<T> {
    /// The shared window that the copy reads, if it reads one.
    pub fn reads(self, kind: BulkKind) -> Option<T> {
        match kind {
            BulkKind::Store | BulkKind::Reduce(_) => self.window,
            BulkKind::Send => Some(self.first),
            BulkKind::Load | BulkKind::Prefetch(_) => None,
        }
    }

    /// The shared window that the copy fills, if it fills one.
    pub fn fills(self, kind: BulkKind) -> Option<T> {
        match kind {
            BulkKind::Load | BulkKind::Send => self.window,
            BulkKind::Store | BulkKind::Reduce(_) | BulkKind::Prefetch(_) => None,
        }
    }
}

impl Bulk {
    /// A copy that always takes place, into one block.
    pub const fn plain(kind: BulkKind) -> Bulk {
        Bulk { kind, multicast: false, guarded: false, evict: Evict::Normal }
    }

    const fn has_barrier(self) -> bool {
        match self.kind {
            BulkKind::Load | BulkKind::Send => true,
            BulkKind::Store | BulkKind::Reduce(_) | BulkKind::Prefetch(_) => false,
        }
    }

    /// Whether the last operand is a shared window.
    pub const fn has_window(self) -> bool {
        !matches!(self.kind, BulkKind::Prefetch(_))
    }

    /// The operands by name.
    ///
    /// # Panics
    /// If there are none, which `ir::verify` refuses.
    pub fn operands<T: Copy>(self, args: &[T]) -> BulkOperands<T> {
        let mut rest = args.iter().copied();
        let first = rest.next().expect("ir::verify counts the operands");
        let barrier = self.has_barrier().then(|| rest.next()).flatten();
        let mask = self.multicast.then(|| rest.next()).flatten();
        let condition = self.guarded.then(|| rest.next()).flatten();
        BulkOperands { first, barrier, mask, condition, window: rest.next() }
    }

    /// How many operands there are.
    pub const fn operand_count(self) -> usize {
        1 + self.has_barrier() as usize
            + self.multicast as usize
            + self.guarded as usize
            + self.has_window() as usize
    }

    /// The operation and its operands in dumps.
    pub(crate) fn printed(self, args: &str) -> String {
        let word = match self.kind {
            BulkKind::Load => "bulk_load".to_owned(),
            BulkKind::Store => "bulk_store".to_owned(),
            BulkKind::Reduce(how) => format!("bulk_reduce_{}", how.name()),
            BulkKind::Prefetch(bytes) => format!("bulk_prefetch {bytes}"),
            BulkKind::Send => "bulk_send".to_owned(),
        };
        let multicast = if self.multicast { " multicast" } else { "" };
        let guarded = if self.guarded { " where" } else { "" };
        format!("{word}{multicast}{guarded}{} {args}", self.evict.printed())
    }
}
