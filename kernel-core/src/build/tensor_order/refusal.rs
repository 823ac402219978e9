//! What is said of an order that the tensor cores do not keep.

use super::{
    Named,
    flight::{Does, Flight, Operand, Places},
    told::Told,
    under_way::State,
};
use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, Value},
    loc::Loc,
};

/// Why products are waited for.
const ONE_THREAD: &str = "one thread starts products and copies, and all go on; a barrier says when the tensor cores are done (PTX ISA, \"tcgen05.commit\")";
/// Why products are waited for that others follow.
const IN_ORDER: &str = "copies and products run in the order in which they are started, and so do products of one kind and shape that add to the same sums; other products overlap where no wait is between them (PTX ISA, \"tcgen05: Pipelined instructions\")";

pub(super) struct Refusals<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) told: &'a Told<'a>,
    pub(super) places: &'a Places<'a>,
    pub(super) named: Named<'a>,
    pub(super) found: Vec<Diagnostic>,
}

impl Refusals<'_> {
    /// Threads read or write tensor memory that something under way writes, or reads.
    pub(super) fn access(&mut self, stores: bool, (flight, state): (&Flight, &State), loc: Loc) {
        let verb = if stores { "written" } else { "read" };
        let headline =
            format!("tensor memory is {verb} while what was started may still be under way");
        let diagnostic = self.unwaited(flight, state, loc, &headline).why(ONE_THREAD);
        self.push(diagnostic.place(flight.at, "started here"));
    }

    /// Shared memory is written that something under way reads.
    pub(super) fn overwritten(&mut self, (flight, state): (&Flight, &State), loc: Loc) {
        let headline = "shared memory is written while the tensor cores may still read it";
        let diagnostic = self.unwaited(flight, state, loc, headline).why(ONE_THREAD);
        if !self.said(flight) {
            self.push(diagnostic.place(flight.at, "read here"));
        }
    }

    /// A product behind one that it does not wait for.
    pub(super) fn product(&mut self, later: &Flight, earlier: &Flight, state: &State) {
        let places = self.kernel.operands.get(&later.at).copied().unwrap_or([later.at; 3]);
        let [left, _, sums] = places;
        let new = |at, headline: &str| self.unwaited(earlier, state, at, headline);
        let diagnostic = match (later.does, earlier.does) {
            (Does::Reads(what), _) => {
                let at = if what == Operand::Left { left } else { later.at };
                let what = what.name();
                new(
                    at,
                    &format!(
                        "a product reads its {what} where one that may be under way has its sums"
                    ),
                )
            }
            (Does::Writes, Does::Reads(what)) => {
                let what = what.name();
                new(
                    sums,
                    &format!(
                        "a product writes its sums over the {what} of one that may be under way"
                    ),
                )
            }
            (Does::Writes, Does::Writes) => {
                let headline =
                    "a product of another kind or shape adds to sums of one that may be under way";
                let [after, before] = [later, earlier].map(|flight| {
                    flight.shape.map_or_else(String::new, super::flight::Shape::in_words)
                });
                let mut diagnostic = new(sums, headline);
                // One of the two, of which the help says the other.
                diagnostic.compare.clear();
                diagnostic.compare("instructions of", before, after)
            }
        };
        self.push(diagnostic.why(IN_ORDER).place(earlier.at, "started here"));
    }

    /// The kernel ends.
    pub(super) fn end(&mut self, flight: &Flight, state: &State) {
        let headline = "the kernel can end while what was started is under way";
        let why = "at its end a block gives back tensor memory, and shared memory as well, which the tensor cores would still write and read (PTX ISA, \"tcgen05.dealloc\")";
        if !self.said(flight) {
            let diagnostic = self.unwaited(flight, state, flight.at, headline).why(why);
            self.push(diagnostic);
        }
    }

    /// Whether there is a message already of what this has started: one wait mends them all.
    fn said(&self, flight: &Flight) -> bool {
        self.found.iter().any(|one| one.secondary.iter().any(|(at, _)| *at == flight.at))
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if !self.found.iter().any(|one| one.primary == diagnostic.primary) {
            self.found.push(diagnostic);
        }
    }

    /// What was started and nobody has waited for.
    fn unwaited(&self, flight: &Flight, state: &State, at: Loc, headline: &str) -> Diagnostic {
        let by = state.by.or_else(|| self.told.commits(flight.agent).first().copied());
        let (required, actual, help) = match state.by {
            Some(by) => {
                let by = self.name(by);
                let actual = match state.missed {
                    Some(missed) => {
                        format!("committed to `{by}`; the wait is for `{}`", self.name(missed))
                    }
                    None => format!("committed to `{by}`, and not waited for"),
                };
                (format!("a wait for `{by}`"), actual, format!("{by}.wait(0);"))
            }
            None => {
                let (made, name) = match by.map(|by| self.name(by)).or_else(|| self.unused()) {
                    Some(name) => ("", name),
                    None => ("let done = barrier(1); ", "done".to_owned()),
                };
                (
                    format!("`tcgen05::commit({name})`, and a wait for `{name}`"),
                    "not committed to a barrier".to_owned(),
                    format!("{made}tcgen05::commit({name}); {name}.wait(0);"),
                )
            }
        };
        Diagnostic::new(Code::InFlight, at, headline).compare("", required, actual).help(help)
    }

    /// A barrier by its name, or one of a ring by the name of the ring and its number.
    fn name(&self, barrier: Value) -> String {
        let one = |value| (self.named)(value);
        if let Some(name) = one(barrier) {
            return name;
        }
        let Some(&[ring, number]) = self.places.of_ring.get(barrier) else {
            return "done".to_owned();
        };
        let number = match self.places.known(number) {
            Some(known) => known.to_string(),
            None => one(number).unwrap_or_else(|| "i".to_owned()),
        };
        format!("{}[{number}]", one(ring).unwrap_or_else(|| "done".to_owned()))
    }

    /// A single barrier that no copy completes on.
    fn unused(&self) -> Option<String> {
        let mut free = self.told.made.iter().filter(|(root, _)| {
            self.kernel.barriers[**root].ring.is_none() && !self.told.counted.contains(root)
        });
        free.find_map(|(_, &value)| (self.named)(value))
    }
}
