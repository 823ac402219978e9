//! Copies of bytes in a row: `bulk::load(p, bar, tile)` and so on, without a tensor map.

use kernel_ptx::Capability;

use super::tma::TMA_NAMES;
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
    },
    ir::{Bulk, BulkKind, Dtype, Elem, Op, SharedType, TmaReduce, Type, Value},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// Every function of `bulk`, for suggestions.
pub(crate) const BULK_NAMES: &[&str] = &[
    "load",
    "store",
    "reduce_add",
    "reduce_min",
    "reduce_max",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "prefetch",
    "send",
];
/// What addresses and sizes are multiples of (PTX ISA, "cp.async.bulk").
const UNIT_BYTES: u32 = 16;
/// The most bytes of a prefetch. The manual has no bound but the 32 bits of the size (PTX ISA, "cp.async.bulk.prefetch"); this one is
/// that of the load that the prefetch is ahead of, whose bytes a barrier counts (PTX ISA, "Contents of the mbarrier object").
const MOST_PREFETCHED: i128 = (1 << 20) - 16;
/// Why `sm_80` has none of this.
const SINCE_HOPPER: &str =
    "the unit that copies bytes in a row, and counts them on barriers, comes with Hopper";

impl Builder<'_> {
    /// `bulk::name(..)`
    pub(crate) fn bulk_call(
        &mut self,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let form = match name.name.as_str() {
            "load" => "p, bar, tile".to_owned(),
            "send" => format!("tile, bar, tile.of_block({})", self.another_block()),
            "prefetch" => "p, 256".to_owned(),
            known if BULK_NAMES.contains(&known) => "p, tile".to_owned(),
            other if TMA_NAMES.contains(&other) => {
                let headline = format!("`bulk` has no function `{other}`");
                return self.report(
                    Diagnostic::new(Code::UnknownName, name.loc, headline)
                        .help(format!("tma::{other}")),
                );
            }
            _ => {
                self.no_such_function("bulk", name, BULK_NAMES);
                return Val::Error;
            }
        };
        let required = if matches!(name.name.as_str(), "load" | "send") { 3 } else { 2 };
        let call = format!("bulk::{}({form})", name.name);
        if self.takes(required, vals.len(), &call, loc).is_none() {
            return Val::Error;
        }
        if self
            .wants(Capability::Tma, &format!("`bulk::{}`", name.name), SINCE_HOPPER, loc)
            .is_none()
        {
            return Val::Error;
        }
        let at = |index: usize| (&vals[index], args[index].loc);
        let started = match name.name.as_str() {
            "load" | "send" if self.turned_round(name, [1, 2], (vals, args)) => None,
            "load" => self.bulk_load(at(0), at(1), at(2), loc),
            "send" => self.bulk_send(at(0), at(1), at(2), loc),
            "prefetch" => self.bulk_prefetch(at(0), at(1), loc),
            other => self.bulk_store(other, at(0), at(1), loc),
        };
        started.map_or(Val::Error, |()| self.copying(loc))
    }

    fn bulk_load(
        &mut self,
        from: (&Val, Loc),
        bar: (&Val, Loc),
        to: (&Val, Loc),
        loc: Loc,
    ) -> Option<()> {
        let address = self.one_address(from, loc)?;
        let barrier = self.own_barrier(bar.0, bar.1)?;
        let (window, shared) = self.bulk_window(to, "a bulk load fills")?;
        self.bulk_dtype(address, (window, &shared), to.1)?;
        let args = vec![address, barrier, window];
        self.op(Op::Bulk(Bulk::plain(BulkKind::Load)), args, None, loc);
        Some(())
    }

    fn bulk_store(
        &mut self,
        name: &str,
        to: (&Val, Loc),
        from: (&Val, Loc),
        loc: Loc,
    ) -> Option<()> {
        let address = self.one_address(to, loc)?;
        let (window, shared) = self.bulk_window(from, "a bulk store reads")?;
        self.bulk_dtype(address, (window, &shared), from.1)?;
        let how = name.strip_prefix("reduce_");
        let reduce = TmaReduce::ALL.into_iter().find(|one| Some(one.name()) == how);
        let kind = match reduce {
            Some(how) => {
                let dtype = self.cells.settled(self.num(address));
                let mut takes = how.takes().to_vec();
                // What no tensor map has (PTX ISA, "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor").
                match how {
                    TmaReduce::Add => takes.push(Dtype::F64),
                    TmaReduce::And | TmaReduce::Or | TmaReduce::Xor => takes.push(Dtype::I64),
                    TmaReduce::Min | TmaReduce::Max => {}
                }
                self.reduces("bulk", &takes, (how, dtype), loc)?;
                BulkKind::Reduce(how)
            }
            None => BulkKind::Store,
        };
        self.note_write(address);
        self.op(Op::Bulk(Bulk::plain(kind)), vec![address, window], None, loc);
        Some(())
    }

    fn bulk_prefetch(&mut self, from: (&Val, Loc), bytes: (&Val, Loc), loc: Loc) -> Option<()> {
        let address = self.one_address(from, loc)?;
        let count = self.const_size(bytes.0, "the bytes of a prefetch", bytes.1)?;
        let fits = (1..=MOST_PREFETCHED).contains(&count) && count % i128::from(UNIT_BYTES) == 0;
        let Some(size) = u32::try_from(count).ok().filter(|_| fits) else {
            self.report(
                Diagnostic::new(
                    Code::BulkCopy,
                    bytes.1,
                    format!("a bulk copy does not move {count} bytes"),
                )
                .compare(
                    "bytes",
                    format!("a multiple of {UNIT_BYTES}, at most {MOST_PREFETCHED}"),
                    count.to_string(),
                )
                .why(UNITS),
            );
            return None;
        };
        self.op(Op::Bulk(Bulk::plain(BulkKind::Prefetch(size))), vec![address], None, loc);
        Some(())
    }

    fn bulk_send(
        &mut self,
        from: (&Val, Loc),
        bar: (&Val, Loc),
        to: (&Val, Loc),
        loc: Loc,
    ) -> Option<()> {
        let (source, sent) = self.bulk_window(from, "what is sent lies in")?;
        let barrier = self.own_barrier(bar.0, bar.1)?;
        let (target, shared) = self.shared_side(to, "what is sent goes to")?;
        if !shared.remote {
            let help = if self.cluster == [1; 3] {
                self.applied(target, &format!(".store({})", self.applied(source, ".load()")))
            } else {
                self.applied(target, &format!(".of_block({})", self.another_block()))
            };
            self.report(
                Diagnostic::new(
                    Code::SharedUse,
                    to.1,
                    "bytes are sent to another block of the cluster",
                )
                .compare("", "a window of another block", "one of this block")
                .why("between windows of one block threads copy: `to.store(from.load())`")
                .help(help),
            );
            return None;
        }
        self.whole_units(&shared, to.1)?;
        if shared.shape != sent.shape {
            self.report(
                Diagnostic::new(
                    Code::ShapeMismatch,
                    loc,
                    "a copy has the same extents on both sides",
                )
                .compare(
                    "",
                    format!("{:?}", sent.shape),
                    format!("{:?}", shared.shape),
                ),
            );
            return None;
        }
        let (a, b) = (self.num(source), self.num(target));
        self.unify(a, b, "a copy between blocks", loc)?;
        let args = vec![source, barrier, target];
        self.op(Op::Bulk(Bulk::plain(BulkKind::Send)), args, None, loc);
        Some(())
    }

    /// One address for the whole copy.
    fn one_address(&mut self, at: (&Val, Loc), stmt: Loc) -> Option<Value> {
        let value = self.address(at)?;
        if self.is_scalar(value) {
            self.note_use(value, stmt, at.1);
            return Some(value);
        }
        let actual = self.describe(at.0);
        self.report(
            Diagnostic::new(Code::Kind, at.1, "a bulk copy begins at one address")
                .compare("", "a `Ptr<T>`", actual)
                .why(
                    "it moves bytes that lie side by side; a tile of addresses is read with `load`",
                ),
        );
        None
    }

    /// A window of shared memory, or a report.
    fn shared_side(
        &mut self,
        (window, loc): (&Val, Loc),
        what: &str,
    ) -> Option<(Value, SharedType)> {
        if let Val::Value(value) = window
            && let Type::Shared(shared) = self.ty(*value).clone()
        {
            self.check_window(*value, &shared, loc)?;
            if shared.transposed {
                self.report(
                    Diagnostic::new(Code::CopyOperands, loc, "a copy of bytes does not transpose")
                        .why("bytes go as they lie; what reads them transposed says so where it reads: `tile.t()`"),
                );
                return None;
            }
            return Some((*value, shared));
        }
        let actual = self.describe(window);
        self.report(
            Diagnostic::new(Code::CopyOperands, loc, format!("{what} shared memory"))
                .compare("", "shared memory: `shared::<T>([N])`", actual)
                .why("bulk copies do not see registers; a tile goes through shared memory"),
        );
        None
    }

    /// A window of this block's own that a bulk copy moves whole.
    fn bulk_window(&mut self, window: (&Val, Loc), what: &str) -> Option<(Value, SharedType)> {
        let (value, shared) = self.shared_side(window, what)?;
        self.own_window(&shared, "a bulk copy", window.1)?;
        self.whole_units(&shared, window.1)?;
        Some((value, shared))
    }

    /// The bytes of a window are a multiple of 16.
    fn whole_units(&mut self, shared: &SharedType, loc: Loc) -> Option<()> {
        let num = self.shared_cells.get(shared.root).copied().unwrap_or(Num::Known(shared.dtype));
        let element_bytes = self.cells.settled(num).bytes();
        let bytes = shared.shape.iter().product::<u32>() * element_bytes;
        if bytes.is_multiple_of(UNIT_BYTES) {
            return Some(());
        }
        self.report(
            Diagnostic::new(
                Code::BulkCopy,
                loc,
                format!("a bulk copy does not move {bytes} bytes"),
            )
            .compare("bytes", format!("a multiple of {UNIT_BYTES}"), bytes.to_string())
            .why(UNITS),
        );
        None
    }

    /// A copy converts nothing: both memories have the same elements.
    fn bulk_dtype(
        &mut self,
        address: Value,
        (window, shared): (Value, &SharedType),
        loc: Loc,
    ) -> Option<()> {
        let (to, num) = (self.num(address), self.num(window));
        let Err((required, actual)) = self.cells.unify(to, num) else { return Some(()) };
        let place = self.shared[shared.root].loc;
        self.report(
            Diagnostic::new(Code::DtypeMismatch, loc, "a copy has the same elements on both sides")
                .compare("element type", required, actual)
                .place(place, "the shared memory is made here")
                .why("a copy moves bytes as they are"),
        );
        None
    }

    /// Whether a value is a `Ptr<T>`, for messages of copies that are written as if it were a tensor.
    pub(crate) fn is_one_address(&self, val: &Val) -> bool {
        matches!(val, Val::Value(value) if matches!(self.ty(*value), Type::Scalar(Elem::Ptr(_))))
    }
}

/// Why sizes are what they are.
const UNITS: &str = "bulk copies move pieces of 16 bytes (PTX ISA, \"cp.async.bulk\")";
