//! Mbarriers: allocation, arrivals, waits.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{
        BarrierData, BarrierOp, BarrierType, Const, Dtype, MemoryOrder, Op, SourceOp, SyncOp, Type,
        Value,
    },
    loc::Loc,
};

/// The most bytes that a phase can wait for (PTX ISA, "Contents of the mbarrier object").
pub(crate) const MOST_BYTES: i128 = (1 << 20) - 1;

impl Builder<'_> {
    /// `barrier(count)`, and `barriers(number, count)` with a number of them.
    pub(crate) fn barrier_alloc(
        &mut self,
        ring: Option<u32>,
        count: u32,
        given: &Given<'_>,
    ) -> Option<Val> {
        self.made_once(
            "a barrier is created inside a loop or branch",
            "it is in shared memory, at an address fixed at compile time, and is initialised once, before the kernel begins",
            "let bar = barrier(1);",
            given.loc,
        )?;
        let root = self.barriers.alloc(BarrierData { ring, count, name: None, loc: given.loc });
        let ty = Type::Barrier(BarrierType { root, ring: ring.is_some(), remote: false });
        let op = Op::Sync(SyncOp::Barrier(BarrierOp::Alloc(root)));
        Some(Val::Value(self.emit(op, Vec::new(), ty, given.loc)))
    }

    /// `bars[i]`
    pub(crate) fn barrier_index(&mut self, ring: Value, at: (&Val, Loc), loc: Loc) -> Option<Val> {
        let Type::Barrier(ty) = *self.ty(ring) else { return None };
        let Some(count) = self.barriers[ty.root].ring.filter(|_| ty.ring) else {
            return self.refuse(
                Code::SharedUse
                    .at(loc, "a single barrier cannot be indexed")
                    .compare("", "a ring of barriers, made by `barriers(3, 1)`", "one barrier")
                    .help_if(self.written(&Val::Value(ring))),
            );
        };
        let words = ("the index of a barrier is an `i32`", "an index past the end of the barriers");
        let index = self.chosen(at, count, words)?;
        self.note_use(index, at.1, at.1);
        let ty = BarrierType { ring: false, ..ty };
        let op = Op::Sync(SyncOp::Barrier(BarrierOp::Index));
        Some(Val::Value(self.emit(op, vec![ring, index], Type::Barrier(ty), loc)))
    }

    /// A scalar of type `i32`, or a report.
    pub(crate) fn scalar_i32(&mut self, val: &Val, headline: &str, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        self.wants_scalar_of(Some(Dtype::I32), value, headline, loc)?;
        if self.is_scalar(value)
            && !self.is_ptr(value)
            && self.cells.unify(self.num(value), Num::Known(Dtype::I32)).is_ok()
        {
            return Some(value);
        }
        let actual = self.describe(val);
        let diagnostic =
            Code::Kind.at(loc, headline.to_owned()).compare("", "a scalar (i32)", actual);
        let number = val.value().filter(|value| self.is_scalar(*value) && !self.is_ptr(*value));
        let named = number.and_then(|_| self.written(val));
        let help = if let Val::Const(Const::Bool(holds), _) = val {
            Some(u8::from(*holds).to_string())
        } else {
            named.map(|name| format!("{name} as i32"))
        };
        let truth = number.is_some_and(|value| *self.ty(value) == Type::scalar(Dtype::Bool))
            || matches!(val, Val::Const(Const::Bool(_), _));
        let diagnostic = if truth && headline.contains("phase") {
            diagnostic.why("a phase is named by its parity, 0 or 1: that of the number of phases before it; `phase ^= 1` gives that of the next one")
        } else {
            diagnostic
        };
        self.refuse(diagnostic.help_if(help))
    }

    /// One barrier of this or another block, or a report.
    pub(crate) fn one_barrier(&mut self, val: &Val, loc: Loc) -> Option<(Value, BarrierType)> {
        if let Val::Value(value) = val
            && let Type::Barrier(ty) = *self.ty(*value)
        {
            if !ty.ring {
                return Some((*value, ty));
            }
            let of = self.written(val).map_or("the barriers".to_owned(), |of| format!("`{of}`"));
            return self.refuse(
                Code::SharedUse
                    .at(loc, "one barrier of a ring is used at a time")
                    .compare("", "one of the barriers", format!("{of}, a ring of several barriers"))
                    .why("each barrier has phases of its own, and counts its own arrivals")
                    .of_operand(0, None)
                    .help(self.applied(*value, "[slot]"))
                    .exemplified(),
            );
        }
        self.no_barrier(val, None, loc)
    }

    /// Reports what is no barrier; there may be one of this name.
    pub(crate) fn no_barrier<T>(
        &mut self,
        val: &Val,
        named: Option<String>,
        loc: Loc,
    ) -> Option<T> {
        self.refuse(
            Code::Kind
                .at(loc, "a barrier is required here")
                .compare("", "a `Barrier`", self.describe(val))
                .why("the copy signals this barrier when its bytes have arrived, and the kernel waits on it")
                .help(named.unwrap_or_else(|| "let bar = barrier(1);".to_owned())),
        )
    }

    /// The barrier that a method is called on.
    fn barrier_type(&self, given: &Given<'_>) -> BarrierType {
        let ty = self.ty(given.receiver()).barrier();
        *ty.expect("these methods are in the table of barriers")
    }

    /// `bars.len()`
    pub(crate) fn barriers_len(&mut self, given: &Given<'_>) -> Val {
        let count = self.barriers[self.barrier_type(given).root].ring.unwrap_or(1);
        Val::i32(count)
    }

    /// `bar.expect(bytes)`
    pub(crate) fn barrier_expect(&mut self, given: &Given<'_>) -> Option<()> {
        if let Val::Const(Const::Int(bytes), _) = given.val(0)
            && !(0..=MOST_BYTES).contains(bytes)
        {
            let headline = format!("a phase cannot expect {bytes} bytes");
            return self.refuse(Code::Overflow.at(given.at(0), headline).compare(
                "bytes",
                format!("0 to {MOST_BYTES}"),
                bytes,
            ));
        }
        self.note_use(given.value(0), given.loc, given.at(0));
        let expect = Op::Sync(SyncOp::Barrier(BarrierOp::Expect));
        self.does(expect, vec![given.receiver(), given.value(0)], given)
    }

    /// `bar.expect_copies()`
    pub(crate) fn barrier_expect_copies(&mut self, given: &Given<'_>) -> Option<()> {
        // Its bytes are known when the copies after it are: `counted::fill` puts them here.
        let bytes = Op::Source(SourceOp::Const(Const::Int(0)));
        let value = self.emit(bytes, Vec::new(), Type::scalar(Dtype::I32), given.loc);
        self.written.counted.insert(value, ());
        self.does(BarrierOp::Expect, vec![given.receiver(), value], given)
    }

    /// `bar.of_block(rank)`
    pub(crate) fn barrier_of_block(&mut self, given: &Given<'_>) -> Option<Val> {
        let ty = self.barrier_type(given);
        let rank = self.rank_of_block(ty.remote, given)?;
        let (op, ty) =
            (Op::Sync(SyncOp::Barrier(BarrierOp::Remote)), BarrierType { remote: true, ..ty });
        let operands = vec![given.receiver(), rank];
        Some(Val::Value(self.emit(op, operands, Type::Barrier(ty), given.loc)))
    }

    /// `bar.of_block(rank).arrive_relaxed()`
    pub(crate) fn barrier_arrive_relaxed(&mut self, given: &Given<'_>) -> Option<()> {
        if !self.barrier_type(given).remote {
            return self.refuse(
                Code::SharedUse
                    .at(given.name.loc, "a relaxed arrival at a barrier of this block")
                    .compare(
                        "",
                        "a barrier of another block: `bar.of_block(rank)`",
                        "one of this block",
                    )
                    .why("an arrival at a barrier of the own block orders accesses at no cost")
                    .help("arrive"),
            );
        }
        // The place is the method: that is what a help replaces.
        let op = BarrierOp::Arrive(MemoryOrder::Relaxed);
        self.op(op, vec![given.receiver()], None, given.name.loc);
        Some(())
    }

    /// The phase that a barrier of this block is waited for in.
    pub(crate) fn barrier_phase(&mut self, given: &Given<'_>) -> Option<Value> {
        if self.barrier_type(given).remote {
            return self.refuse(
                Code::SharedUse.at(given.loc, "a thread cannot wait on a barrier of another block")
                    .why("a thread waits only on mbarriers of its own block; other blocks can arrive at them (PTX ISA, \"mbarrier.try_wait\")"),
            );
        }
        self.parity(given.val(0), given.at(0))?;
        Some(given.value(0))
    }

    /// A phase is known by whether its number is even or odd.
    fn parity(&mut self, phase: &Val, loc: Loc) -> Option<()> {
        let Val::Const(Const::Int(number), _) = phase else { return Some(()) };
        if (0..=1).contains(number) {
            return Some(());
        }
        self.refuse(
            Code::Overflow.at(loc, "the phase of a barrier is 0 or 1")
                .compare("phase", "0 or 1", number)
                .why("a barrier knows only whether its phase is even or odd: `phase ^= 1` after each wait")
                .help((number & 1).to_string()),
        )
    }
}
