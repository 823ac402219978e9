//! Mbarriers: allocation, arrivals, waits.

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
    },
    ir::{BarrierData, BarrierOp, BarrierType, Const, Dtype, Op, Type, Value},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// Every method of a barrier, for suggestions.
const BARRIER_METHODS: &[&str] =
    &["expect", "expect_copies", "arrive", "wait", "try_wait", "of_block"];
/// The most barriers of one allocation.
const MOST_BARRIERS: i128 = 1024;
/// The most arrivals of a phase, before they are multiplied by warps (PTX ISA, "mbarrier.init": 2^20 - 1).
const MOST_ARRIVALS: i128 = 1 << 14;
/// The most bytes that a phase can wait for (PTX ISA, "Contents of the mbarrier object").
pub(crate) const MOST_BYTES: i128 = (1 << 20) - 1;
/// Why `sm_80` has none of this.
const SINCE_HOPPER: &str =
    "copies that complete on a barrier, and the barriers that count their bytes, come with Hopper";

impl Builder<'_> {
    /// `barrier(count)`, and `barriers(n, count)` with a number of them.
    pub(crate) fn barrier_alloc(
        &mut self,
        ring: Option<(&Val, Loc)>,
        (count, count_loc): (&Val, Loc),
        loc: Loc,
    ) -> Val {
        let what = if ring.is_some() { "`barriers`" } else { "`barrier`" };
        if self.wants(Capability::Tma, what, SINCE_HOPPER, loc).is_none() {
            return Val::Error;
        }
        if self.conditional > 0 {
            return self.report(
                Diagnostic::new(Code::SharedInLoop, loc, "a barrier is made inside a loop or branch")
                    .why("it lies in shared memory, at an address that is fixed when compiling, and is made ready once, before the kernel begins")
                    .help("let bar = barrier(1); // before the loop"),
            );
        }
        let Some(arrivals) = self.const_int(count, "the arrivals of a barrier", count_loc) else {
            return Val::Error;
        };
        let arrivals = match u32::try_from(arrivals) {
            Ok(count) if (1..=MOST_ARRIVALS).contains(&arrivals) => count,
            _ => {
                return self.report(
                    Diagnostic::new(Code::Overflow, count_loc, format!("no phase of a barrier ends after {arrivals} arrivals"))
                        .compare("arrivals", format!("1 to {MOST_ARRIVALS}"), arrivals.to_string())
                        .why("a phase ends when so many partitions have arrived; an `expect` is an arrival as well"),
                );
            }
        };
        let ring = match ring {
            None => None,
            Some((number, at)) => {
                let Some(number) = self.const_int(number, "the number of barriers", at) else {
                    return Val::Error;
                };
                match u32::try_from(number) {
                    Ok(ring) if (1..=MOST_BARRIERS).contains(&number) => Some(ring),
                    _ => {
                        return self.report(
                            Diagnostic::new(
                                Code::Extent,
                                at,
                                format!("there cannot be {number} barriers in a ring"),
                            )
                            .compare(
                                "barriers",
                                format!("1 to {MOST_BARRIERS}"),
                                number.to_string(),
                            ),
                        );
                    }
                }
            }
        };
        let root = self.barriers.alloc(BarrierData { ring, count: arrivals, loc });
        let ty = BarrierType { root, ring: ring.is_some(), remote: false };
        Val::Value(self.emit(
            Op::Barrier(BarrierOp::Alloc(root)),
            Vec::new(),
            Type::Barrier(ty),
            loc,
        ))
    }

    /// `bars[i]`
    pub(crate) fn barrier_index(&mut self, ring: Value, at: &Val, at_loc: Loc, loc: Loc) -> Val {
        let Type::Barrier(ty) = *self.ty(ring) else { return Val::Error };
        let Some(count) = self.barriers[ty.root].ring.filter(|_| ty.ring) else {
            return self.report(
                Diagnostic::new(Code::SharedUse, loc, "a single barrier has no parts")
                    .help("let bars = barriers(3, 1); // bars[i]"),
            );
        };
        let Some(index) = self.scalar_i32(at, "a barrier is chosen by an `i32`", at_loc) else {
            return Val::Error;
        };
        if let Val::Const(Const::Int(at), _) = at
            && !(0..i128::from(count)).contains(at)
        {
            return self.report(
                Diagnostic::new(Code::Overflow, at_loc, "an index past the end of the barriers")
                    .compare("index", format!("0 to {}", count - 1), at.to_string()),
            );
        }
        self.note_use(index, at_loc, at_loc);
        let ty = BarrierType { ring: false, ..ty };
        let op = Op::Barrier(BarrierOp::Index);
        Val::Value(self.emit(op, vec![ring, index], Type::Barrier(ty), loc))
    }

    /// A scalar of type `i32`, or a report.
    pub(crate) fn scalar_i32(&mut self, val: &Val, headline: &str, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        self.wants_scalar(value, headline, loc)?;
        if self.is_scalar(value)
            && !self.is_ptr(value)
            && self.cells.unify(self.num(value), Num::Known(Dtype::I32)).is_ok()
        {
            return Some(value);
        }
        let actual = self.describe(val);
        let diagnostic = Diagnostic::new(Code::Kind, loc, headline.to_owned()).compare(
            "",
            "a scalar (i32)",
            actual,
        );
        let named = match val {
            Val::Value(value) if self.is_scalar(*value) && !self.is_ptr(*value) => {
                self.written(val)
            }
            _ => None,
        };
        self.report(match named {
            Some(name) => diagnostic.help(format!("{name} as i32")),
            None => diagnostic,
        });
        None
    }

    /// One barrier of this or another block, or a report.
    pub(crate) fn one_barrier(&mut self, val: &Val, loc: Loc) -> Option<(Value, BarrierType)> {
        if let Val::Value(value) = val
            && let Type::Barrier(ty) = *self.ty(*value)
        {
            if !ty.ring {
                return Some((*value, ty));
            }
            self.report(
                Diagnostic::new(Code::SharedUse, loc, "one barrier of a ring is used at a time")
                    .help(self.applied(*value, "[0]")),
            );
            return None;
        }
        let actual = self.describe(val);
        self.report(
            Diagnostic::new(Code::Kind, loc, "a barrier is wanted here")
                .compare("", "a `Barrier`", actual)
                .help("let bar = barrier(1);"),
        );
        None
    }

    /// A method of one or several barriers.
    pub(crate) fn barrier_method(
        &mut self,
        barrier: Value,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let Type::Barrier(ty) = *self.ty(barrier) else { return Val::Error };
        let at = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        if let ("len", []) = (name.name.as_str(), vals) {
            let count = self.barriers[ty.root].ring.unwrap_or(1);
            return Val::Const(Const::Int(i128::from(count)), Num::Known(Dtype::I32));
        }
        let known = BARRIER_METHODS.contains(&name.name.as_str());
        if known && self.one_barrier(&Val::Value(barrier), loc).is_none() {
            return Val::Error;
        }
        match (name.name.as_str(), vals) {
            ("wait" | "try_wait", [_]) if ty.remote => self.report(
                Diagnostic::new(Code::SharedUse, loc, "a barrier of another block cannot be waited for")
                    .why("a thread tests the mbarriers of its own block; other blocks arrive at them (PTX ISA, \"mbarrier.try_wait\")"),
            ),
            ("expect", [bytes]) => {
                let Some(value) =
                    self.scalar_i32(bytes, "the bytes of a copy are counted by an `i32`", at(0))
                else {
                    return Val::Error;
                };
                if let Val::Const(Const::Int(bytes), _) = bytes
                    && !(0..=MOST_BYTES).contains(bytes)
                {
                    return self.report(
                        Diagnostic::new(Code::Overflow, at(0), format!("a phase cannot wait for {bytes} bytes"))
                            .compare("bytes", format!("0 to {MOST_BYTES}"), bytes.to_string()),
                    );
                }
                self.note_use(value, loc, at(0));
                self.op(Op::Barrier(BarrierOp::Expect), vec![barrier, value], None, loc);
                Val::Unit
            }
            ("expect_copies", []) => {
                // Its bytes are known when the copies behind it are: `counted::fill` puts them here.
                let bytes = Op::Const(Const::Int(0));
                let value = self.emit(bytes, Vec::new(), Type::scalar(Dtype::I32), loc);
                self.written.counted.insert(value, ());
                self.op(Op::Barrier(BarrierOp::Expect), vec![barrier, value], None, loc);
                Val::Unit
            }
            ("arrive", []) => {
                self.op(Op::Barrier(BarrierOp::Arrive), vec![barrier], None, loc);
                Val::Unit
            }
            ("wait", [phase]) => {
                let Some(value) =
                    self.scalar_i32(phase, "the phase of a barrier is an `i32`", at(0))
                else {
                    return Val::Error;
                };
                if self.parity(phase, at(0)).is_none() {
                    return Val::Error;
                }
                self.op(Op::Barrier(BarrierOp::Wait), vec![barrier, value], None, loc);
                Val::Unit
            }
            ("try_wait", [phase]) => {
                let Some(value) =
                    self.scalar_i32(phase, "the phase of a barrier is an `i32`", at(0))
                else {
                    return Val::Error;
                };
                if self.parity(phase, at(0)).is_none() {
                    return Val::Error;
                }
                let op = Op::Barrier(BarrierOp::Test);
                Val::Value(self.emit(op, vec![barrier, value], Type::scalar(Dtype::Bool), loc))
            }
            ("of_block", [rank]) => {
                if ty.remote {
                    return self.of_block_twice(name.loc);
                }
                let Some(value) =
                    self.scalar_i32(rank, "the rank of a block is an `i32`", at(0))
                else {
                    return Val::Error;
                };
                if self.in_cluster(rank, at(0), loc).is_none() {
                    return Val::Error;
                }
                self.note_use(value, loc, at(0));
                let op = Op::Barrier(BarrierOp::Remote);
                let ty = BarrierType { remote: true, ..ty };
                Val::Value(self.emit(op, vec![barrier, value], Type::Barrier(ty), loc))
            }
            ("len", _) => self.count(name, 0, vals.len(), Some(".len()".to_owned()), loc),
            ("expect_copies", _) => {
                self.count(name, 0, vals.len(), Some(".expect_copies()".to_owned()), loc)
            }
            ("arrive", _) => self.count(name, 0, vals.len(), Some(".arrive()".to_owned()), loc),
            ("expect", _) => {
                self.count(name, 1, vals.len(), Some(".expect(tile.bytes())".to_owned()), loc)
            }
            ("wait" | "try_wait" | "of_block", _) => {
                self.count(name, 1, vals.len(), Some(format!(".{}(0)", name.name)), loc)
            }
            _ => {
                let methods = if ty.ring { &["len"][..] } else { BARRIER_METHODS };
                self.no_method(&Val::Value(barrier), name, vals, methods)
            }
        }
    }

    /// A phase is known by whether its number is even or odd.
    fn parity(&mut self, phase: &Val, loc: Loc) -> Option<()> {
        let Val::Const(Const::Int(number), _) = phase else { return Some(()) };
        if (0..=1).contains(number) {
            return Some(());
        }
        self.report(
            Diagnostic::new(Code::Overflow, loc, "the phase of a barrier is 0 or 1")
                .compare("phase", "0 or 1", number.to_string())
                .why("a barrier remembers whether the phase it is in is even or odd, and no more: `phase ^= 1` after each wait")
                .help((number & 1).to_string()),
        );
        None
    }
}
