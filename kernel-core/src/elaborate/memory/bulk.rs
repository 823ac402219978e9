//! Bulk copies: `bulk::load(p, bar, tile)` and so on, without a tensor map.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Bulk, BulkKind, Dtype, SharedType, TmaReduce, Type, Value, merges},
    loc::Loc,
};

/// What addresses and sizes are multiples of (PTX ISA, "cp.async.bulk").
const UNIT_BYTES: u32 = 16;
/// The most bytes of a prefetch. The manual has no bound but the 32 bits of the size (PTX ISA, "cp.async.bulk.prefetch"); this one is
/// that of the load that the prefetch is ahead of, whose bytes a barrier counts (PTX ISA, "Contents of the mbarrier object").
const MOST_PREFETCHED: i128 = (1 << 20) - 16;

impl Builder<'_> {
    /// `bulk::load(from, bar, to)`
    pub(crate) fn bulk_load(&mut self, given: &Given<'_>) -> Option<()> {
        let (address, (window, shared)) = (given.value(0), given.window(2));
        self.bulk_dtype(address, (window, shared), given.at(2))?;
        let load = Bulk::plain(BulkKind::Load);
        self.does(load, vec![address, given.value(1), window], given)
    }

    /// `bulk::store(to, from)`, and the reductions
    pub(crate) fn bulk_store(&mut self, kind: BulkKind, given: &Given<'_>) -> Option<()> {
        let (address, (window, shared)) = (given.value(0), given.window(1));
        self.bulk_dtype(address, (window, shared), given.at(1))?;
        self.note_write(address);
        self.does(Bulk::plain(kind), vec![address, window], given)
    }

    /// `bulk::reduce_add(to, from)` and the like
    pub(crate) fn bulk_reduce(&mut self, how: TmaReduce, given: &Given<'_>) -> Option<()> {
        let dtype = self.cells.settled(self.num(given.value(0)));
        let mut takes = how.takes().to_vec();
        // What no tensor map has (PTX ISA, "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor").
        match how {
            TmaReduce::Add => takes.push(Dtype::F64),
            TmaReduce::And | TmaReduce::Or | TmaReduce::Xor => takes.push(Dtype::I64),
            TmaReduce::Min | TmaReduce::Max => {}
        }
        self.reduces(&takes, dtype, given)?;
        self.bulk_store(BulkKind::Reduce(how), given)
    }

    /// `bulk::prefetch(from, bytes)`
    pub(crate) fn bulk_prefetch(&mut self, given: &Given<'_>) -> Option<()> {
        let count = given.integer(1);
        let fits = (1..=MOST_PREFETCHED).contains(&count) && count % i128::from(UNIT_BYTES) == 0;
        let Some(size) = u32::try_from(count).ok().filter(|_| fits) else {
            let required = format!("a multiple of {UNIT_BYTES}, at most {MOST_PREFETCHED}");
            return self.refuse(
                Code::BulkCopy
                    .at(given.at(1), format!("a bulk copy does not move {count} bytes"))
                    .compare("bytes", required, count)
                    .why(UNITS),
            );
        };
        self.does(Bulk::plain(BulkKind::Prefetch(size)), vec![given.value(0)], given)
    }

    /// `bulk::send(from, bar, to)`
    pub(crate) fn bulk_send(&mut self, given: &Given<'_>) -> Option<()> {
        let (source, sent) = given.window(0);
        let at = given.at(2);
        let (target, shared) = self.shared_side(given.arg(2), "what is sent goes to")?;
        if !shared.remote {
            let help = if self.cluster == [1; 3] {
                self.applied(target, &format!(".store({})", self.applied(source, ".load()")))
            } else {
                self.applied(target, &format!(".of_block({})", self.another_block()))
            };
            return self.refuse(
                Code::SharedUse
                    .at(at, "`bulk::send` needs a window of another block of the cluster")
                    .compare("", "a window of another block", "one of this block")
                    .why("between windows of one block threads copy: `to.store(from.load())`")
                    .help(help),
            );
        }
        self.whole_units(&shared, at)?;
        self.same_extents(&sent.shape, &shared.shape, given.loc)?;
        let (a, b) = (self.num(source), self.num(target));
        self.unify(a, b, "a copy between blocks", given.loc)?;
        let send = Bulk::plain(BulkKind::Send);
        self.does(send, vec![source, given.value(1), target], given)
    }

    /// Both sides of a copy have the same extents.
    pub(crate) fn same_extents(
        &mut self,
        required: &[u32],
        actual: &[u32],
        loc: Loc,
    ) -> Option<()> {
        if required == actual {
            return Some(());
        }
        let headline = "a copy has the same extents on both sides";
        self.refuse(Code::ShapeMismatch.at(loc, headline).compare(
            "",
            format!("{required:?}"),
            format!("{actual:?}"),
        ))
    }

    /// Shapes with the same elements in the same order; see [`merges`].
    pub(crate) fn same_elements_in_order(
        &mut self,
        required: &[u32],
        actual: &[u32],
        loc: Loc,
    ) -> Option<()> {
        if merges(required, actual) {
            return Some(());
        }
        let headline = "a copy has the same extents on both sides";
        let diagnostic = Code::ShapeMismatch.at(loc, headline).compare(
            "",
            format!("{required:?}"),
            format!("{actual:?}"),
        );
        self.refuse(in_other_order(diagnostic, required, actual))
    }

    /// One address for the whole copy.
    pub(crate) fn one_address(&mut self, at: (&Val, Loc), stmt: Loc) -> Option<Value> {
        let value = self.address(at)?;
        if self.is_scalar(value) {
            self.note_use(value, stmt, at.1);
            return Some(value);
        }
        let why = "it moves contiguous bytes; read a tile of addresses with `load`";
        self.refuse(
            Code::Kind
                .at(at.1, "a bulk copy begins at one address")
                .compare("", "a `Ptr<T>`", self.describe(at.0))
                .why(why),
        )
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
            if !shared.is_dense() {
                self.whole_tiles(&shared, "a bulk copy", loc)?;
            }
            if shared.transposed {
                return self.refuse(
                    Code::CopyOperands.at(loc, "a bulk copy does not transpose").why(
                        "the order of bytes stays; transpose where the tile is read: `tile.t()`",
                    ),
                );
            }
            return Some((*value, shared));
        }
        self.refuse(
            Code::CopyOperands
                .at(loc, format!("{what} shared memory"))
                .compare("", "shared memory: `shared::<T>([N])`", self.describe(window))
                .why("bulk copies cannot access registers; put the tile into shared memory"),
        )
    }

    /// A window of this block's own that a bulk copy moves whole.
    pub(crate) fn bulk_window(
        &mut self,
        window: (&Val, Loc),
        what: &str,
    ) -> Option<(Value, SharedType)> {
        let (value, shared) = self.shared_side(window, what)?;
        self.own_window(&shared, "a bulk copy", window.1)?;
        self.whole_units(&shared, window.1)?;
        Some((value, shared))
    }

    /// The bytes of a window are a multiple of 16.
    fn whole_units(&mut self, shared: &SharedType, loc: Loc) -> Option<()> {
        let num = self.shared_cells.get(shared.root).copied().filter(|_| !shared.is_retyped());
        let element_bytes = self.cells.settled(num.unwrap_or(Num::Known(shared.dtype))).bytes();
        let bytes = shared.shape.iter().product::<u32>() * element_bytes;
        if bytes.is_multiple_of(UNIT_BYTES) {
            return Some(());
        }
        self.refuse(
            Code::BulkCopy
                .at(loc, format!("a bulk copy does not move {bytes} bytes"))
                .compare("bytes", format!("a multiple of {UNIT_BYTES}"), bytes)
                .why(UNITS),
        )
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
        let data = &self.shared[shared.root];
        let help = format!("shared::<{required}>({:?})", data.shape);
        self.refuse(
            Code::DtypeMismatch
                .at(loc, "a copy has the same elements on both sides")
                .compare("element type", required, actual)
                .place(data.loc, "allocated here")
                .why("a copy moves bytes as they are; a tile is converted in registers: `.load().cast::<..>()`")
                .help(help),
        )
    }
}

/// Why sizes are what they are.
const UNITS: &str = "bulk copies move units of 16 bytes (PTX ISA, \"cp.async.bulk\")";

/// Says of shapes with as many elements why a copy does not go from one to the other.
pub(crate) fn in_other_order(diagnostic: Diagnostic, a: &[u32], b: &[u32]) -> Diagnostic {
    let elements = |shape: &[u32]| shape.iter().map(|extent| u64::from(*extent)).product::<u64>();
    if elements(a) != elements(b) {
        return diagnostic;
    }
    diagnostic.why(
        "a copy may merge neighbouring axes or take an axis apart, but not put elements into rows of another length",
    )
}
