//! Bulk copies, issued by one thread (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk").

use kernel_ptx::{Guard, Modifier, Opcode, Operand, Space, Type, Word};

use crate::ir::{Bulk, BulkKind, Dtype, Elem, Evict, TmaReduce, Value};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};

/// The instructions of one copy, but for the places that each of them copies between.
pub(crate) struct CopyInstruction {
    guard: Option<Guard>,
    modifiers: Vec<Modifier>,
    /// The barrier, the multicast mask and the cache policy.
    last: Vec<Operand>,
}

impl CopyInstruction {
    /// Adds operands after the barrier, if there is one.
    pub(crate) fn after_barrier(&mut self, barrier: Option<Value>, operand: Operand) {
        self.last.insert(usize::from(barrier.is_some()), operand);
    }
}

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
        let dtype = match self.kernel.ty(operands.first).elem() {
            Some(Elem::Number(dtype) | Elem::Ptr(dtype)) => Some(dtype),
            None => None,
        };
        let modifiers = (modifiers(bulk.kind), None);
        let mut copy = self.copy_instruction(modifiers, barrier, operands.mask, bulk.evict, issues);
        if let (BulkKind::Reduce(how), Some(dtype)) = (bulk.kind, dtype) {
            copy.modifiers.extend(reduction(how, dtype));
        }
        let places: Vec<Operand> = match bulk.kind {
            BulkKind::Load | BulkKind::Send => window.into_iter().chain([first, bytes]).collect(),
            BulkKind::Store | BulkKind::Reduce(_) => {
                [first].into_iter().chain(window).chain([bytes]).collect()
            }
            BulkKind::Prefetch(_) => vec![first, bytes],
        };
        self.issue(&copy, places);
        if matches!(bulk.kind, BulkKind::Store | BulkKind::Reduce(_)) {
            self.commit_stores(condition.unwrap_or(Val::Int(1)));
        }
    }

    /// The instructions of a copy that are issued if `issues` holds. They begin with these modifiers; the second ones follow those of
    /// a multicast.
    pub(crate) fn copy_instruction(
        &mut self,
        (mut modifiers, beside): (Vec<Modifier>, Option<Modifier>),
        barrier: Option<Operand>,
        mask: Option<Value>,
        evict: Evict,
        issues: Val,
    ) -> CopyInstruction {
        let mask = mask.map(|mask| self.multicast_mask(mask));
        let policy = self.cache_policy(evict);
        modifiers.extend(mask.as_ref().map(|_| Modifier::from(Word::MulticastCluster)));
        modifiers.extend(beside);
        modifiers.extend(policy.as_ref().map(|_| Modifier::from(Word::L2CacheHint)));
        let last = barrier.into_iter().chain(mask).chain(policy).collect();
        CopyInstruction { guard: self.e.guard(issues), modifiers, last }
    }

    /// Issues one of them.
    pub(crate) fn issue(&mut self, copy: &CopyInstruction, places: Vec<Operand>) {
        let operands = [places, copy.last.clone()].concat();
        self.e.effect_if(copy.guard, Opcode::Cp, &copy.modifiers, operands);
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
    let ty = match how {
        TmaReduce::Add | TmaReduce::Min | TmaReduce::Max => dtype.row().instruction,
        TmaReduce::And | TmaReduce::Or | TmaReduce::Xor if dtype.bytes() == 8 => Type::B64,
        TmaReduce::And | TmaReduce::Or | TmaReduce::Xor => Type::B32,
    };
    let rounds = how == TmaReduce::Add && dtype.is_half();
    let mut modifiers = vec![how.word().into()];
    modifiers.extend(rounds.then(|| Modifier::from(Word::Noftz)));
    modifiers.push(ty.into());
    modifiers
}

impl TmaReduce {
    /// The modifier of the instruction.
    pub(crate) const fn word(self) -> Word {
        match self {
            TmaReduce::Add => Word::Add,
            TmaReduce::Min => Word::Min,
            TmaReduce::Max => Word::Max,
            TmaReduce::And => Word::And,
            TmaReduce::Or => Word::Or,
            TmaReduce::Xor => Word::Xor,
        }
    }
}
