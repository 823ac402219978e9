//! The messages about `tcgen05` operations without the waits that they need.

use std::collections::BTreeSet;

use la_arena::ArenaMap;

use super::{
    flight::{Does, Flight, Operand, Places},
    state::State,
};
use crate::{
    check::signals::Signals,
    diag::{Code, Commit, Diagnostic, Lacking, Missing, Phase, Signal, Spot},
    elaborate::Written,
    ir::{Kernel, Region, Value, flow::Number},
    loc::Loc,
};

/// Why a product needs a wait.
const ONE_THREAD: &str = "one thread starts products and copies, and no thread waits for them; a barrier signals that the tensor cores are done (PTX ISA, \"tcgen05.commit\")";
/// Why a product needs a wait before another one.
const IN_ORDER: &str = "copies and products run in the order in which they start, and so do products of one kind and shape with the same accumulator; other products overlap unless a wait is between them (PTX ISA, \"tcgen05: Pipelined instructions\")";

pub(super) struct Refusals<'a> {
    kernel: &'a Kernel,
    signals: &'a Signals<'a>,
    places: &'a Places<'a>,
    written: &'a Written,
    pub(super) found: Vec<Diagnostic>,
    /// The statements so far, in the order of the text.
    pub(super) started: BTreeSet<Loc>,
    /// The number of the statement that is looked at.
    pub(super) number: Number,
    /// From the first to the second of these statements, the name of a value means the same.
    visible: ArenaMap<Value, [Number; 2]>,
}

/// A barrier in a message.
struct Spelled {
    text: String,
    /// Whether that names it where the message is: of a ring, the number may be a variable of a loop or of another partition.
    can_be_written: bool,
}

impl<'a> Refusals<'a> {
    pub(super) fn of(
        kernel: &'a Kernel,
        signals: &'a Signals<'a>,
        places: &'a Places<'a>,
        written: &'a Written,
    ) -> Self {
        let mut visible = ArenaMap::default();
        see(&kernel.body, &mut 0, &mut visible);
        let (found, started) = (Vec::new(), BTreeSet::new());
        Refusals { kernel, signals, places, written, found, started, number: 0, visible }
    }

    /// Threads access tensor memory that an operation in flight accesses, of the same part or of another one: the wait goes to that spot.
    pub(super) fn access(
        &mut self,
        stores: bool,
        (flight, state): (&Flight, &State),
        (loc, spot): (Loc, Spot),
    ) {
        let verb = if stores { "written" } else { "read" };
        let headline =
            format!("tensor memory is {verb} while tcgen05 operations on it may be in flight");
        // A wait right after it, for what it reads, is one for this as well.
        let waits = |one: &Diagnostic| {
            let missing = one.missing.as_ref();
            missing.is_some_and(|one| one.spot == Spot::After && one.after == flight.at)
        };
        if let Some(known) = self.found.iter_mut().find(|one| waits(one)) {
            known.secondary.push((loc, format!("its accumulator is {verb} here")));
            return;
        }
        let diagnostic = self.unwaited(flight, state, (loc, spot), &headline).why(ONE_THREAD);
        self.push(diagnostic.place(flight.at, "started here"));
    }

    /// Shared memory that an operation in flight reads is written.
    pub(super) fn overwritten(&mut self, (flight, state): (&Flight, &State), loc: Loc) {
        let headline = "shared memory is written while the tensor cores may still read it";
        // If it comes round, a wait before it would be for nothing in the first iteration.
        let spot = if self.started.contains(&flight.at) { Spot::Between } else { Spot::After };
        let diagnostic = self.unwaited(flight, state, (loc, spot), headline).why(ONE_THREAD);
        if !self.said(flight) {
            self.push(diagnostic.place(flight.at, "read here"));
        }
    }

    /// A product that starts without a wait for an earlier one.
    pub(super) fn product(&mut self, later: &Flight, earlier: &Flight, state: &State) {
        let places = self.kernel.operands.get(&later.at).copied().unwrap_or([later.at; 3]);
        let [left, _, sums] = places;
        let new = |at, headline: &str| self.unwaited(earlier, state, (at, Spot::Between), headline);
        let diagnostic = match (later.does, earlier.does) {
            (Does::Reads(what), _) => {
                let at = if what == Operand::Left { left } else { later.at };
                new(at, "a product reads the accumulator of one that may be in flight")
            }
            (Does::Writes, Does::Reads(what)) => {
                let what = what.name();
                new(sums, &format!("a product overwrites the {what} of one that may be in flight"))
            }
            (Does::Writes, Does::Writes) => {
                let headline = "a product of another kind or shape uses the accumulator of one that may be in flight";
                let [after, before] = [later, earlier].map(|flight| {
                    flight.shape.map_or_else(String::new, super::flight::Shape::in_words)
                });
                let mut diagnostic = new(sums, headline);
                // The help says the other one.
                diagnostic.compare.clear();
                diagnostic.compare("instructions of", before, after)
            }
        };
        self.push(diagnostic.why(IN_ORDER).place(earlier.at, "started here"));
    }

    /// The kernel ends.
    pub(super) fn end(&mut self, flight: &Flight, state: &State) {
        let headline = "the kernel can end while tcgen05 operations are in flight";
        let why = "at its end a block frees tensor memory and shared memory, which the tensor cores would still access (PTX ISA, \"tcgen05.dealloc\")";
        if !self.said(flight) {
            let place = (flight.at, Spot::Behind);
            let diagnostic = self.unwaited(flight, state, place, headline).why(why);
            self.push(diagnostic);
        }
    }

    /// Whether there is already a message about this operation: one wait fixes them all.
    fn said(&self, flight: &Flight) -> bool {
        self.found.iter().any(|one| one.secondary.iter().any(|(at, _)| *at == flight.at))
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if !self.found.iter().any(|one| one.primary == diagnostic.primary) {
            self.found.push(diagnostic);
        }
    }

    /// The message about an operation without a wait.
    fn unwaited(
        &self,
        flight: &Flight,
        state: &State,
        (at, spot): (Loc, Spot),
        headline: &str,
    ) -> Diagnostic {
        let by = state.by.or_else(|| self.signals.commits(flight.agent).first().copied());
        let wait = |name: &Spelled, commit: Commit| {
            let of_others = spot == Spot::Before && commit != Commit::Done;
            let handed_over = of_others.then_some(Lacking::HandedOver(Signal::Commit));
            let what = handed_over.unwrap_or(Lacking::Phase(Phase {
                barrier: name.text.clone(),
                ring: None,
                commit,
                first: true,
                alone: state.missed.is_none(),
            }));
            let missing = Missing { what, after: flight.at, before: at, spot };
            name.can_be_written.then_some(missing)
        };
        let (required, actual, missing) = if let Some(by) = state.by {
            let by = self.name(by);
            let text = &by.text;
            let actual = match state.missed.map(|missed| self.name(missed).text) {
                Some(missed) => format!("committed to `{text}`; the wait is on `{missed}`"),
                None => format!("committed to `{text}`, with no wait"),
            };
            (format!("a wait on `{text}`"), actual, wait(&by, Commit::Done))
        } else {
            let spelled = |text| Spelled { text, can_be_written: true };
            // A barrier that is waited on elsewhere has phases of its own.
            let by = by.filter(|&by| !self.is_awaited(by));
            let name = by.map(|by| self.name(by)).or_else(|| self.unused().map(spelled));
            let made = name.is_none();
            let name = name.unwrap_or_else(|| spelled("done".to_owned()));
            let commit = if made { Commit::OfNewBarrier } else { Commit::Missing };
            let text = &name.text;
            let required = if made {
                "`tcgen05::commit` to a barrier, and a wait on it".to_owned()
            } else {
                format!("`tcgen05::commit({text})`, and a wait on `{text}`")
            };
            (required, "not committed to a barrier".to_owned(), wait(&name, commit))
        };
        Diagnostic::new(Code::InFlight, at, headline).compare("", required, actual).lacks(missing)
    }

    /// A barrier by its name, or one of a ring by the name of the ring and its number.
    fn name(&self, barrier: Value) -> Spelled {
        let one = |value| self.written.name(value);
        if let Some(text) = one(barrier) {
            return Spelled { text, can_be_written: true };
        }
        let ring = self.places.slots.of_ring.get(barrier);
        let Some((&[_, number], ring)) = ring.and_then(|of| Some((of, one(of[0])?))) else {
            return Spelled { text: "barrier".to_owned(), can_be_written: false };
        };
        let seen = |&[first, last]: &[Number; 2]| (first..=last).contains(&self.number);
        let here = || one(number).filter(|_| self.visible.get(number).is_some_and(seen));
        let number =
            self.places.slots.constant(number).map(|known| known.to_string()).or_else(here);
        let can_be_written = number.is_some();
        let number = number.unwrap_or_else(|| "..".to_owned());
        Spelled { text: format!("{ring}[{number}]"), can_be_written }
    }

    /// Whether some part waits on a barrier, or on one of its ring.
    fn is_awaited(&self, barrier: Value) -> bool {
        let root = self.kernel.ty(barrier).barrier().map(|barrier| barrier.root);
        root.is_some_and(|root| self.signals.is_awaited(root))
    }

    /// A single barrier that no copy completes on, and that nothing waits on.
    fn unused(&self) -> Option<String> {
        let mut free = self.signals.made.iter().filter(|(root, _)| {
            self.kernel.barriers[**root].ring.is_none()
                && !self.signals.counted.contains(root)
                && !self.signals.is_awaited(**root)
        });
        free.find_map(|(_, &value)| self.written.name(value))
    }
}

/// Notes where the values of a region are visible, which begins with the statement `next`.
fn see(region: &Region, next: &mut Number, visible: &mut ArenaMap<Value, [Number; 2]>) {
    let first = *next;
    let mut made: Vec<(Value, Number)> = region.args.iter().map(|&arg| (arg, first)).collect();
    for stmt in &region.stmts {
        *next += 1;
        for inner in stmt.kind.regions() {
            see(inner, next, visible);
        }
        made.extend(stmt.kind.results().into_iter().map(|result| (result, *next)));
    }
    for (value, first) in made {
        visible.insert(value, [first, *next]);
    }
}
