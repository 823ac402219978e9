//! In whose words a report speaks: those of the PTX manual, or Kiln's where the text is that of a kernel in Kiln.

use std::fmt::Write;

use super::locate::{origin, source_line};
use crate::code::{AsyncCopy, BulkCopy, Compare, Op, P, Pred};
use crate::exec::bulk;
use crate::machine::{Launch, Warp};
use crate::names::NamedWarps;
use crate::numeric::compare::{Comparison, Join, integers};
use crate::numeric::integer::Int;

/// Whose words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// The PTX manual's.
    Ptx,
    /// Those of Kiln.
    Kiln,
}

impl Words {
    pub(crate) fn of(launch: &Launch<'_>) -> Words {
        if launch.names.is_some() { Words::Kiln } else { Words::Ptx }
    }

    /// One of two words.
    pub(crate) fn choose<T>(self, ptx: T, kiln: T) -> T {
        match self {
            Words::Ptx => ptx,
            Words::Kiln => kiln,
        }
    }

    /// How to wait for an asynchronous copy.
    pub(crate) fn advice(self, op: &Op) -> &'static str {
        if self == Words::Ptx {
            return bulk::advice(op);
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others copy nothing")]
        match op {
            _ if bulk::is_store(op) => {
                "its thread waits for it first (`tma::store_wait`, then `sync()`)"
            }
            Op::Bulk(BulkCopy::Bytes(_) | BulkCopy::Tensor(_) | BulkCopy::Store(_))
            | Op::CpAsync(AsyncCopy::Arrive { .. }) => "wait on its barrier first (`.wait(phase)`)",
            Op::Wgmma(_) => "each of the four warps waits for it first (`wgmma::wait`)",
            Op::Tcgen05(_) => "wait on the barrier of its `tcgen05::commit` first (`.wait(phase)`)",
            _ => "wait for the copy first (`copy_async_wait`)",
        }
    }

    /// What waits for an asynchronous operation.
    pub(crate) fn wait_of(self, op: &Op) -> &'static str {
        if self == Words::Ptx {
            return bulk::wait_of(op);
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others copy nothing")]
        match op {
            _ if bulk::is_store(op) => "tma::store_wait",
            Op::Bulk(_) | Op::Tcgen05(_) | Op::CpAsync(AsyncCopy::Arrive { .. }) => ".wait(phase)",
            Op::Wgmma(_) => "wgmma::wait",
            _ => "copy_async_wait",
        }
    }
}

/// Where an instruction stands, with its preposition: in the text, and in the kernel's source. Of a kernel in Kiln the source comes first.
pub(crate) fn place(launch: &Launch<'_>, pc: u32) -> String {
    let origin = origin(launch, pc);
    match (source_line(launch, origin.source), Words::of(launch)) {
        (None, _) => format!("in PTX line {}", origin.line),
        (Some(source), Words::Ptx) => format!("in PTX line {} ({source})", origin.line),
        (Some(source), Words::Kiln) => format!("at {source} (PTX line {})", origin.line),
    }
}

/// Where an instruction stands, for a list of such places: in the text, of a kernel in Kiln in the source.
pub(crate) fn short_place(launch: &Launch<'_>, pc: u32) -> String {
    let origin = origin(launch, pc);
    match (source_line(launch, origin.source), Words::of(launch)) {
        (Some(source), Words::Kiln) => format!("at {source}"),
        (Some(_), Words::Ptx) | (None, _) => format!("at PTX line {}", origin.line),
    }
}

/// The partition that all of these warps run, if one does: ` (the partition at kernel.rs:12:5)`.
pub(crate) fn partition(launch: &Launch<'_>, warps: &[u32]) -> String {
    let Some(names) = launch.names else { return String::new() };
    let [first, rest @ ..] = warps else { return String::new() };
    let Some(part) = names.partition(*first) else { return String::new() };
    if rest.iter().any(|warp| names.partition(*warp) != Some(part)) {
        return String::new();
    }
    let NamedWarps { line, column, .. } = *part;
    let file = launch.files.first().map_or("the kernel", |(_, name)| name);
    format!(" (the partition at {file}:{line}:{column})")
}

/// How many warps arrive for one arrival in the source at the mbarrier of a word of shared memory.
pub(crate) fn warps_an_arrival(launch: &Launch<'_>, word: u32) -> u32 {
    launch.names.map_or(1, |names| names.warps_an_arrival(8 * word, launch.dynamic_offset()))
}

/// Whether two warps run the same partition, or neither runs one.
pub(crate) fn same_part(launch: &Launch<'_>, [one, other]: [u32; 2]) -> bool {
    let part = |warp| launch.names.and_then(|names| names.partition(warp));
    part(one) == part(other)
}

/// Warps in a list: `4 to 7, 9`.
pub(crate) fn list(warps: &[u32]) -> String {
    let mut out = String::new();
    for run in warps.chunk_by(|a, b| a + 1 == *b) {
        let separator = if out.is_empty() { "" } else { ", " };
        let _ = match run {
            [first, _, .., last] => write!(out, "{separator}{first} to {last}"),
            [first, second] => write!(out, "{separator}{first}, {second}"),
            [only] => write!(out, "{separator}{only}"),
            [] => Ok(()),
        };
    }
    out
}

/// What is wrong when a `trap` is reached, if the kernel's compiler said it: with the values that the first lane compared.
pub(crate) fn check(launch: &Launch<'_>, pc: u32, lane: u32, warp: &Warp) -> Option<String> {
    let says = launch.names?.check(origin(launch, pc).line)?;
    let guard = launch.code.insts.get(pc as usize)?.guard;
    let compared = guard.and_then(|guard| compared(launch, pc, (guard, lane), warp));
    if !says.contains("{}") {
        let fails = compared.filter(|compared| compared.alone).and_then(|compared| {
            let [a, b] = compared.bits.map(|bits| compared.ty.value(bits));
            Some(format!(": {a} {} {b} does not hold", symbol(compared.op)?))
        });
        return Some(format!("{says}{}", fails.unwrap_or_default()));
    }
    // An index has a sign, which the comparison takes for a bit of the number.
    let value = |compared: &Compared, index: usize| {
        signed(compared.ty).value(compared.bits[index]).to_string()
    };
    let mut text = says.to_owned();
    for index in 0..2 {
        let value = compared.as_ref().map(|compared| value(compared, index));
        text = text.replacen("{}", value.as_deref().unwrap_or(".."), 1);
    }
    Some(text)
}

/// A comparison of integers that failed.
struct Compared {
    op: Comparison,
    ty: Int,
    /// The bits of its operands.
    bits: [u64; 2],
    /// Nothing else decides.
    alone: bool,
}

/// The comparison of integers whose failure made a lane reach a guarded instruction. None if it was another operation, or if its registers have
/// other values by now.
fn compared(
    launch: &Launch<'_>,
    pc: u32,
    (guard, lane): (Pred, u32),
    warp: &Warp,
) -> Option<Compared> {
    let before = launch.code.insts.get(..pc as usize)?;
    let definition = |slot: P| {
        let writes =
            |op: &&Op| matches!(op, Op::Setp { d, .. } | Op::Logic { d, .. } if *d == slot);
        before.iter().rev().map(|inst| &inst.op).find(writes)
    };
    let (mut op, mut alone) = (definition(guard.slot).filter(|_| guard.negated)?, true);
    // That a copy takes place at all comes first, and what is asserted of it last.
    if let Op::Logic { op: Join::Or, b: Pred { slot, negated: false }, .. } = op {
        (op, alone) = (definition(*slot)?, false);
    }
    let Op::Setp { cmp: Compare::Int(op, ty), a, b, .. } = *op else { return None };
    let bits = [a, b].map(|slot| warp.regs.wide(slot)[lane as usize]);
    let fails = !integers(op, ty, bits[0], bits[1]);
    fails.then_some(Compared { op, ty, bits, alone })
}

/// The type with a sign of as many bits.
fn signed(ty: Int) -> Int {
    match ty {
        Int::U8 | Int::S8 => Int::S8,
        Int::U16 | Int::S16 => Int::S16,
        Int::U32 | Int::S32 => Int::S32,
        Int::U64 | Int::S64 => Int::S64,
    }
}

/// A comparison as a language writes it.
fn symbol(op: Comparison) -> Option<&'static str> {
    match op {
        Comparison::Equal => Some("=="),
        Comparison::NotEqual => Some("!="),
        Comparison::Less => Some("<"),
        Comparison::LessEqual => Some("<="),
        Comparison::Greater => Some(">"),
        Comparison::GreaterEqual => Some(">="),
        Comparison::EqualUnordered
        | Comparison::NotEqualUnordered
        | Comparison::LessUnordered
        | Comparison::LessEqualUnordered
        | Comparison::GreaterUnordered
        | Comparison::GreaterEqualUnordered
        | Comparison::Number
        | Comparison::NotANumber => None,
    }
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn neighbours_are_listed_together() {
        for (warps, text) in [
            (&[3][..], "3"),
            (&[1, 2], "1, 2"),
            (&[1, 2, 3], "1 to 3"),
            (&[0, 2, 4, 5, 6, 7, 9], "0, 2, 4 to 7, 9"),
            (&[], ""),
        ] {
            assert_eq!(list(warps), text);
        }
    }
}
