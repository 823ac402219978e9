//! What `wgmma` has in flight: before a wait covers a product, nothing reads its accumulator or overwrites its operands.
//!
//! A product writes its registers, and reads shared memory, some time after it starts. `wgmma::wait(n, acc)` waits until at most `n` later
//! products are in flight; a product is done once a wait asks for fewer than came after it. The check counts, for each product, those that
//! were started after it, on the path with the fewest.
//!
//! A wait on a condition counts for products that start on a condition, and for those of the iteration before, of which the first one has none.
//!
//! The check follows each partition by itself: writes of another one need barriers, and the emulator checks those.

use std::collections::BTreeMap;

use la_arena::ArenaMap;

use super::{
    other_paths::{OtherPaths, on_some},
    tiles::{self, Tile},
};
use crate::{
    diag::{Code, Compared, Diagnostic, Lacking, Missing, Spot},
    elaborate::{Written, products::wgmma::MOST_PENDING},
    ir::{
        By, Done, Kernel, Memory, Op, ProductOp, Shared, Stmt, StmtKind, Terminator, Value, Wait,
        flow::{self, End, Flow, Number, Part, Passing},
    },
    loc::Loc,
};

/// A product that may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flight {
    /// How many products were started after it.
    age: u32,
    /// Where it was started.
    at: Loc,
    /// What the last wait left pending, if that is the same on every path.
    waited: Option<u32>,
    others: OtherPaths,
}

/// A tile of shared memory that a product reads, which is started at a place.
type Read = (Shared, Tile, Loc);

/// What may be in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Flights {
    /// By accumulator.
    sums: BTreeMap<u32, Flight>,
    /// By operand in shared memory.
    reads: BTreeMap<Read, Flight>,
}

impl Flights {
    fn all(&mut self) -> impl Iterator<Item = &mut Flight> {
        self.sums.values_mut().chain(self.reads.values_mut())
    }
}

/// Reads and writes of what is in flight.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    let mut before = BTreeMap::new();
    kernel.body.each_op(&mut |op, args, result, _| {
        if let Op::Product(ProductOp::Wgmma { .. }) = op {
            before.extend(result.map(|result| (result, args[2])));
        } else if let Op::Product(ProductOp::WgmmaWait(_)) = op {
            before.extend(result.map(|result| (result, args[0])));
        }
    });
    if before.is_empty() {
        return Vec::new();
    }
    let tiles = tiles::shared(kernel);
    let (found, left) = (Vec::new(), Vec::new());
    let mut products = Products { kernel, written, before, tiles, found, left };
    let end = match flow::solve(&mut products, &kernel.body, &Flights::default()) {
        Ok(end) => end.unwrap_or_default(),
        Err(unsettled) => return vec![super::unknown(unsettled)],
    };
    let held = end.sums.values().next().and_then(|last| products.holder(&end, last));
    let held = held.filter(|_| end.sums.len() == 1);
    let Products { mut found, left, .. } = products;
    merge(&mut found);
    let left = end.sums.into_values().chain(left).next();
    if let Some(flight) = left.filter(|_| found.is_empty()) {
        let mutable = held.as_ref().is_some_and(|(_, mutable)| *mutable);
        let name = held.map(|(name, _)| name);
        let what = Lacking::Product { name, mutable, pending: 0 };
        let missing = Missing { what, after: flight.at, before: flight.at, spot: Spot::Behind };
        found.push(
            Diagnostic::new(
                Code::InFlight,
                flight.at,
                "the kernel can end without a wait for this product",
            )
            .compare("", required(0), waited(flight))
            .why("a block must not end while `wgmma` reads its shared memory")
            .help("wgmma::wait(0, ..)")
            .exemplified()
            .lacks(Some(missing)),
        );
    }
    found
}

/// A product of which an operand is overwritten and the accumulator is used lacks one wait, right after it.
fn merge(found: &mut Vec<Diagnostic>) {
    let product = |one: &Diagnostic| one.secondary[0].0;
    let used: Vec<(Loc, Loc)> = found
        .iter()
        .filter(|one| one.headline == READ[0])
        .map(|one| (product(one), one.primary))
        .collect();
    let mut merged = Vec::new();
    for one in found.iter_mut().filter(|one| one.headline == OVERWRITTEN[0]) {
        let at = product(one);
        let Some((_, used)) = used.iter().find(|(other, _)| *other == at) else { continue };
        let what = Lacking::Product { name: None, mutable: false, pending: 0 };
        one.missing = Some(Missing { what, after: at, before: at, spot: Spot::Between });
        one.compare.clear();
        one.compare.push(Compared {
            what: String::new(),
            required: required(0),
            actual: "none on at least one path".to_owned(),
        });
        let written = std::mem::replace(&mut one.primary, at);
        one.secondary = vec![
            (written, "written here".to_owned()),
            (*used, "the accumulator is used here".to_owned()),
        ];
        merged.push(at);
    }
    found.retain(|one| one.headline != READ[0] || !merged.contains(&product(one)));
}

struct Products<'k> {
    kernel: &'k Kernel,
    written: &'k Written,
    /// The value whose registers a product or a wait continues with.
    before: BTreeMap<Value, Value>,
    tiles: ArenaMap<Value, Tile>,
    found: Vec<Diagnostic>,
    /// What partitions leave in flight when they end.
    left: Vec<Flight>,
}

/// A wait that covers a product.
fn required(pending: u32) -> String {
    match pending {
        0 => "a wait for the product".to_owned(),
        1 => "a wait for the product, which may leave 1 later one in flight".to_owned(),
        _ => format!("a wait for the product, which may leave {pending} later ones in flight"),
    }
}

/// The last wait for a product.
fn waited(flight: Flight) -> String {
    match flight.waited {
        Some(pending) => format!("a wait that leaves {pending} in flight, of which it is one"),
        None => "none on at least one path".to_owned(),
    }
}

fn key(value: Value) -> u32 {
    value.into_raw().into_u32()
}

fn join<K: Copy + Ord>(into: &mut BTreeMap<K, Flight>, other: &BTreeMap<K, Flight>) {
    for (&key, &flight) in other {
        let known = into.entry(key).or_insert(flight);
        known.age = known.age.min(flight.age);
        known.waited = known.waited.filter(|pending| flight.waited == Some(*pending));
        known.others.join(flight.others);
    }
}

impl Products<'_> {
    /// The variable that holds the accumulator of a product, and whether it can be assigned to.
    fn holder(&self, flights: &Flights, flight: &Flight) -> Option<(String, bool)> {
        let same = flights.sums.iter().filter(|(_, other)| flight.at == other.at);
        let held = same.map(|(&value, _)| Value::from_raw(value.into()));
        let holder = held.into_iter().find_map(|value| self.written.holder(value))?;
        Some((holder.name.to_string(), holder.mutable || holder.name.contains('.')))
    }

    fn report(
        &mut self,
        at: Loc,
        (flight, flights): (Flight, &Flights),
        headline: &str,
        why: &str,
    ) {
        // One wait mends all uses of an accumulator.
        let is_same = |one: &Diagnostic| {
            one.primary == at || one.headline == headline && one.secondary[0].0 == flight.at
        };
        if !self.found.iter().any(is_same) {
            // The product is done once no more are pending than were started after it.
            let pending = flight.age.min(MOST_PENDING);
            let held = self.holder(flights, &flight);
            let mutable = held.as_ref().is_some_and(|(_, mutable)| *mutable);
            let name = held.map(|(name, _)| name);
            let what = Lacking::Product { name, mutable, pending };
            self.found.push(
                Diagnostic::new(Code::InFlight, at, headline)
                    .compare("", required(pending), waited(flight))
                    .place(flight.at, "the product is started here")
                    .why(why)
                    .lacks(Some(Missing {
                        what,
                        after: flight.at,
                        before: at,
                        spot: Spot::Between,
                    })),
            );
        }
    }

    /// Reports the first of these values that a product may still write.
    fn sums(&mut self, values: &[Value], flights: &Flights, at: Loc, [headline, why]: [&str; 2]) {
        for &value in values {
            if let Some(&flight) = flights.sums.get(&key(value)) {
                self.report(at, (flight, flights), headline, why);
            }
        }
    }

    /// What is in flight stays in the registers that it is in: a copy of them would read them.
    fn in_place(&mut self, values: &[Value], args: &[Value], flights: &Flights, last: Loc) {
        for (&value, &arg) in values.iter().zip(args) {
            let mut origin = value;
            while let Some(&before) = self.before.get(&origin) {
                origin = before;
            }
            if origin != arg {
                self.sums(&[value], flights, last, MOVED);
            }
        }
    }

    /// Reports what an operation writes in shared memory that a product may still read. A pipelined loop waits before its copies.
    fn overwritten(&mut self, stmt: &Stmt, flights: &Flights) {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        let effects = self.kernel.effects(op, args, *result);
        for access in effects.writes().filter(|access| access.done != Done::Pipeline) {
            let Memory::Shared(window) = access.memory else { continue };
            let Some(ty) = self.kernel.ty(window).shared().filter(|ty| !ty.remote) else {
                continue;
            };
            let Some(&tile) = self.tiles.get(window) else { continue };
            let mut read = flights.reads.iter();
            let hit = read.find(|((root, read, _), flight)| {
                *root == ty.root && tile.same(*read) == Some(true) && !flight.others.excused
            });
            if let Some((_, &flight)) = hit {
                let [headline, why] = OVERWRITTEN;
                self.report(stmt.loc, (flight, flights), headline, why);
            }
        }
    }
}

const READ: [&str; 2] = [
    "an accumulator is used before its product is done",
    "`wgmma` writes its registers some time after it starts; before a wait they hold neither the old nor the new accumulator (PTX ISA, \"wgmma.wait_group\")",
];
const CARRIED: [&str; 2] = [
    "a branch passes on an accumulator whose product is in flight",
    "the code after the branch reads both paths' results from the same registers, so the product is done before the paths join",
];
const TAKEN_OVER: [&str; 2] = [
    "a loop starts with an accumulator whose product is in flight",
    "a variable of a loop has registers of its own, set before the first iteration; a product started before the loop writes other registers",
];
const MOVED: [&str; 2] = [
    "an accumulator changes registers while its product is in flight",
    "the product writes the registers of its accumulator; another variable has others",
];
const OVERWRITTEN: [&str; 2] = [
    "shared memory is written while `wgmma` may still read it",
    "`wgmma` reads its operands in shared memory some time after it starts; after a wait on its accumulator it has read them (PTX ISA, \"wgmma.wait_group\")",
];

impl Flow for Products<'_> {
    type State = Flights;

    fn cross(&mut self, stmt: &Stmt, flights: &mut Flights) {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        let effects = self.kernel.effects(op, args, *result);
        for wait in &effects.waits {
            let Wait::Wgmma { pending } = wait else { continue };
            flights.sums.retain(|_, flight| flight.age < *pending);
            flights.reads.retain(|_, flight| flight.age < *pending);
            flights.all().for_each(|flight| flight.waited = Some(*pending));
            let sums = args.first().and_then(|&sums| flights.sums.get(&key(sums)).copied());
            flights.sums.extend(result.map(key).zip(sums));
        }
        let started = |by: By, done: Done| by == By::TensorCores && done == Done::WgmmaGroup;
        if !effects.accesses.iter().any(|access| started(access.by, access.done)) {
            return;
        }
        flights.all().for_each(|flight| flight.age += 1);
        let flight = Flight { age: 0, at: stmt.loc, waited: None, others: OtherPaths::default() };
        flights.sums.extend(result.map(|result| (key(result), flight)));
        for access in effects.reads() {
            let Memory::Shared(window) = access.memory else { continue };
            let root = self.kernel.ty(window).shared().map(|ty| ty.root);
            if let (Some(root), Some(&tile)) = (root, self.tiles.get(window)) {
                flights.reads.insert((root, tile, stmt.loc), flight);
            }
        }
    }

    fn join(&mut self, into: &mut Flights, other: &Flights) {
        join(&mut into.sums, &other.sums);
        join(&mut into.reads, &other.reads);
    }

    fn meet(&mut self, before: &Flights, paths: Vec<Flights>) -> Option<Flights> {
        let some = on_some(&paths.iter().map(|path| &path.reads).collect::<Vec<_>>());
        let mut paths = paths.into_iter();
        let mut met = paths.next()?;
        paths.for_each(|path| self.join(&mut met, &path));
        for read in some {
            met.reads.entry(read).and_modify(|flight| flight.others.part(&read, &before.reads));
        }
        Some(met)
    }

    fn pass(
        &mut self,
        passing: Passing,
        from: &[Value],
        to: &[Value],
        flights: &mut Flights,
    ) -> bool {
        // Anything else that is passed in flight is refused.
        if matches!(passing, Passing::Continue | Passing::Finish) {
            let passed: Vec<_> =
                from.iter().map(|&value| flights.sums.get(&key(value)).copied()).collect();
            for (&to, flight) in to.iter().zip(passed) {
                match flight {
                    Some(flight) => flights.sums.insert(key(to), flight),
                    None => flights.sums.remove(&key(to)),
                };
            }
        }
        false
    }

    fn next_iteration(&mut self, _: &StmtKind, entered: &Flights, left: Flights) -> Flights {
        let mut reads = BTreeMap::new();
        for ((root, tile, at), mut flight) in left.reads {
            flight.others.iterate(&(root, tile, at), &entered.reads);
            join(&mut reads, &BTreeMap::from([((root, tile.later(), at), flight)]));
        }
        Flights { reads, ..left }
    }

    fn enter(&mut self, part: Part<'_>, before: &Flights) -> Flights {
        if part.index == 0 { before.clone() } else { Flights::default() }
    }

    fn behind_parts(&mut self, _: Loc, _: &Flights, left: Vec<Option<Flights>>) -> Option<Flights> {
        left.into_iter().next()?
    }

    fn visit(&mut self, stmt: &Stmt, flights: &Flights, _: Number) {
        match &stmt.kind {
            StmtKind::Op { op: Op::Product(ProductOp::Wgmma { .. }), args, .. } => {
                self.sums(&args[..2], flights, stmt.loc, READ);
            }
            StmtKind::For { inits, .. } | StmtKind::Loop { inits, .. } => {
                self.sums(inits, flights, stmt.loc, TAKEN_OVER);
            }
            StmtKind::Op { op: Op::Product(ProductOp::WgmmaWait(_)), .. }
            | StmtKind::If { .. }
            | StmtKind::Specialize { .. } => {}
            StmtKind::Op { args, .. }
            | StmtKind::Ptx { args, .. }
            | StmtKind::Reduce { args, .. }
            | StmtKind::Scan { args, .. } => self.sums(args, flights, stmt.loc, READ),
        }
        self.overwritten(stmt, flights);
    }

    fn visit_end(&mut self, End { end, to, last, around }: End<'_>, flights: &Flights) {
        let last = last.map_or(Loc::KERNEL, |stmt| stmt.loc);
        match (end, around) {
            (Terminator::Return, _) | (Terminator::Yield(_), None) => {}
            (Terminator::Yield(values), Some(around)) => {
                let what = if let StmtKind::If { .. } = around.kind { CARRIED } else { READ };
                self.sums(values, flights, around.loc, what);
            }
            (Terminator::Continue(_, values), _) => self.in_place(values, to, flights, last),
            (Terminator::Break(_, values), _) => self.sums(values, flights, last, READ),
        }
    }

    fn visit_part(&mut self, part: Part<'_>, left: &Flights, _: Option<Number>) {
        if part.index > 0 {
            self.left.extend(left.sums.values());
        }
    }
}
