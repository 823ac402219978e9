//! Bulk copies, issued by one thread (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk").

use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Space, Type, Word};

use crate::ir::{Bulk, BulkKind, Dtype, Elem, TmaReduce, Value};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};

impl Lower<'_> {
    pub(crate) fn bulk(&mut self, bulk: Bulk, args: &[Value]) {
        let operands = bulk.operands(args);
        let first = self.e.first_of(self.e.threads - 1);
        let condition = operands.condition.map(|value| self.scalar(value));
        let issues = match condition {
            Some(condition) => self.e.and(Type::Pred, first, condition),
            None => first,
        };
        if issues == Val::Int(0) {
            return;
        }
        let bytes = match bulk.kind {
            BulkKind::Prefetch(bytes) => bytes,
            BulkKind::Load | BulkKind::Store | BulkKind::Reduce(_) | BulkKind::Send => {
                let window = self.shared_type(operands.window.expect("it has a window"));
                window.shape.iter().product::<u32>() * window.dtype.bytes()
            }
        };
        let bytes = Operand::Int(i128::from(bytes));
        let window = operands.window.map(|window| self.window_address(window, 0));
        let barrier = operands.barrier.map(|barrier| match (bulk.kind, operands.window) {
            (BulkKind::Send, Some(window)) => self.barrier_beside(window, barrier),
            _ => self.barrier_address(barrier),
        });
        let first = match bulk.kind {
            BulkKind::Send => self.window_address(operands.first, 0),
            BulkKind::Load | BulkKind::Store | BulkKind::Reduce(_) | BulkKind::Prefetch(_) => {
                let address = self.scalar(operands.first);
                self.e.at(address, 0)
            }
        };
        let mask = operands.mask.map(|mask| self.multicast_mask(mask));
        let policy = self.cache_policy(bulk.evict);
        let guard = self.e.guard(issues);
        let dtype = match self.kernel.ty(operands.first).elem() {
            Some(Elem::Number(dtype) | Elem::Ptr(dtype)) => Some(dtype),
            None => None,
        };
        let mut modifiers = modifiers(bulk.kind);
        if mask.is_some() {
            modifiers.push(Word::MulticastCluster.into());
        }
        if policy.is_some() {
            modifiers.push(Word::L2CacheHint.into());
        }
        if let (BulkKind::Reduce(how), Some(dtype)) = (bulk.kind, dtype) {
            modifiers.extend(reduction(how, dtype));
        }
        let mut all: Vec<Operand> = match bulk.kind {
            BulkKind::Load | BulkKind::Send => window.into_iter().chain([first, bytes]).collect(),
            BulkKind::Store | BulkKind::Reduce(_) => {
                [first].into_iter().chain(window).chain([bytes]).collect()
            }
            BulkKind::Prefetch(_) => vec![first, bytes],
        };
        all.extend(barrier);
        all.extend(mask);
        all.extend(policy);
        let mut inst = Instruction::new(Opcode::Cp, modifiers, all);
        inst.guard = guard;
        self.e.push(inst, 0, true);
        if matches!(bulk.kind, BulkKind::Store | BulkKind::Reduce(_)) {
            self.commit_stores(condition.unwrap_or(Val::Int(1)));
        }
    }
}

fn modifiers(kind: BulkKind) -> Vec<Modifier> {
    match kind {
        BulkKind::Load => mods![
            Word::Async,
            Word::Bulk,
            Word::SharedCluster,
            Space::Global,
            Word::MbarrierCompleteTxBytes
        ]
        .to_vec(),
        BulkKind::Store => {
            mods![Word::Async, Word::Bulk, Space::Global, Word::SharedCta, Word::BulkGroup].to_vec()
        }
        BulkKind::Reduce(_) => mods![
            Word::Reduce,
            Word::Async,
            Word::Bulk,
            Space::Global,
            Word::SharedCta,
            Word::BulkGroup
        ]
        .to_vec(),
        BulkKind::Prefetch(_) => {
            mods![Word::Async, Word::Bulk, Word::PrefetchWord, Word::L2Word, Space::Global].to_vec()
        }
        BulkKind::Send => mods![
            Word::Async,
            Word::Bulk,
            Word::SharedCluster,
            Word::SharedCta,
            Word::MbarrierCompleteTxBytes
        ]
        .to_vec(),
    }
}

/// How elements are combined, and what they are taken for (PTX ISA, "cp.reduce.async.bulk").
fn reduction(how: TmaReduce, dtype: Dtype) -> Vec<Modifier> {
    let bits = if dtype.bytes() == 8 { Type::B64 } else { Type::B32 };
    let number = dtype.row().instruction;
    let half = dtype.is_half();
    match how {
        TmaReduce::Add if half => mods![Word::Add, Word::Noftz, number].to_vec(),
        TmaReduce::Add => mods![Word::Add, number].to_vec(),
        TmaReduce::Min => mods![Word::Min, number].to_vec(),
        TmaReduce::Max => mods![Word::Max, number].to_vec(),
        TmaReduce::And => mods![Word::And, bits].to_vec(),
        TmaReduce::Or => mods![Word::Or, bits].to_vec(),
        TmaReduce::Xor => mods![Word::Xor, bits].to_vec(),
    }
}
