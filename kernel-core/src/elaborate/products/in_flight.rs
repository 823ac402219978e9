//! Accumulators of asynchronous products: nothing reads one before a wait covers its product.
//!
//! A product by warpgroups writes its registers whenever it gets to. `wgmma::wait(n, acc)` waits until at most `n` later products are
//! under way; a product is done once a wait asks for fewer than came after it. The check follows the program: it counts, for each
//! accumulator, the products that were started after its own, on the way with the fewest.

use std::collections::BTreeMap;

use super::wgmma::MOST_PENDING;
use crate::{
    diag::{Code, Diagnostic},
    ir::{Kernel, Op, Region, StmtKind, Terminator, Value},
    loc::Loc,
};

/// A product that may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flight {
    /// How many products were started after it.
    age: u32,
    /// Where it was started.
    at: Loc,
    /// What the last wait left pending, if that is the same on every way.
    waited: Option<u32>,
}

/// The products that may be under way, by accumulator.
type Flights = BTreeMap<u32, Flight>;

/// Loops settle after so many looks: ages only shrink, and waits leave at most 7 products.
const LOOKS: usize = 16;

/// What is wrong with the accumulators of a kernel.
pub(crate) fn check(kernel: &Kernel, named: Named<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let reports = Reports::All;
    let left = Vec::new();
    let mut walk = Walk { kernel, named, loops: Vec::new(), found: &mut found, reports, left };
    let mut flights = Flights::new();
    walk.region(&kernel.body, &mut flights);
    let help = walk.wait(0, &flights, flights.values().next());
    let left = flights.into_values().chain(walk.left).next();
    if let Some(flight) = left.filter(|_| found.is_empty()) {
        found.push(
            Diagnostic::new(Code::InFlight, flight.at, "the kernel can end without a wait for this product")
                .compare("", required(0), waited(flight))
                .why("a block that ends while its warpgroups multiply takes shared memory away from under them")
                .help(help),
        );
    }
    found
}

/// Whether what is found is reported: only once loops have settled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reports {
    All,
    None,
}

/// A loop that is open: what it carries, and what its iterations and breaks pass.
struct Iterations {
    args: Vec<Value>,
    continued: Vec<Flights>,
    broken: Vec<(Flights, Vec<Value>)>,
}

/// How a value is given what a wait leaves, `acc = ` or `let acc = `, and the variable that holds it, if one does.
pub(crate) type Named<'n> = &'n dyn Fn(Value) -> Option<[String; 2]>;

struct Walk<'k, 'f> {
    kernel: &'k Kernel,
    named: Named<'k>,
    loops: Vec<Iterations>,
    found: &'f mut Vec<Diagnostic>,
    reports: Reports,
    /// What partitions leave under way when they end.
    left: Vec<Flight>,
}

/// A wait that a product is done after.
fn required(pending: u32) -> String {
    format!("a wait that leaves at most {pending} products under way")
}

/// The last wait for a product.
fn waited(flight: Flight) -> String {
    match flight.waited {
        Some(pending) => format!("a wait that leaves {pending}"),
        None => "none on at least one way".to_owned(),
    }
}

fn key(value: Value) -> u32 {
    value.into_raw().into_u32()
}

/// What may be under way where ways meet.
fn join(into: &mut Flights, other: &Flights) {
    for (&value, &flight) in other {
        let known = into.entry(value).or_insert(flight);
        known.age = known.age.min(flight.age);
        known.waited = known.waited.filter(|pending| flight.waited == Some(*pending));
    }
}

impl Walk<'_, '_> {
    /// The wait for a product, with the variable that holds its sums.
    fn wait(&self, pending: u32, flights: &Flights, flight: Option<&Flight>) -> String {
        let held = flights
            .iter()
            .filter(|(_, other)| flight.is_some_and(|flight| flight.at == other.at))
            .find_map(|(&value, _)| (self.named)(Value::from_raw(value.into())));
        match held {
            Some([gets, name]) => format!("{gets}wgmma::wait({pending}, {name});"),
            None => format!("wgmma::wait({pending}, ..)"),
        }
    }

    fn report(
        &mut self,
        at: Loc,
        (flight, flights): (Flight, &Flights),
        headline: &str,
        why: &str,
    ) {
        if self.reports == Reports::All && !self.found.iter().any(|one| one.primary == at) {
            // The product is done once no more are pending than were started after it.
            let most = flight.age.min(MOST_PENDING);
            let help = self.wait(most, flights, Some(&flight));
            self.found.push(
                Diagnostic::new(Code::InFlight, at, headline)
                    .compare("", required(most), waited(flight))
                    .place(flight.at, "the product is started here")
                    .why(why)
                    .help(help),
            );
        }
    }

    /// Reports what is read while it may still be written.
    fn reads(&mut self, values: &[Value], flights: &Flights, at: Loc) {
        for &value in values {
            if let Some(&flight) = flights.get(&key(value)) {
                self.report(
                    at,
                    (flight, flights),
                    "an accumulator is used before its product is done",
                    "a product by warpgroups writes its registers some time after it was started; until a wait they hold neither the old nor the new sums (PTX ISA, \"wgmma.wait_group\")",
                );
            }
        }
    }

    /// Reports what a branch hands on while it may still be written.
    fn carried(&mut self, values: &[Value], flights: &Flights, at: Loc) {
        for &value in values {
            if let Some(&flight) = flights.get(&key(value)) {
                self.report(
                    at,
                    (flight, flights),
                    "one way through this branch hands on an accumulator whose product is under way",
                    "what follows the branch reads the sums of either way from the same registers, so that they are there before they meet",
                );
            }
        }
    }

    /// Reports what a loop begins with while it may still be written.
    fn taken_over(&mut self, inits: &[Value], flights: &Flights, at: Loc) {
        for &value in inits {
            if let Some(&flight) = flights.get(&key(value)) {
                self.report(
                    at,
                    (flight, flights),
                    "a loop begins with an accumulator whose product is under way",
                    "what goes from iteration to iteration has registers of the loop's own, which are filled before its first iteration; a product that was started in front of the loop writes others",
                );
            }
        }
    }

    /// Follows a region; what is under way at its end stands in `flights`.
    fn region(&mut self, region: &Region, flights: &mut Flights) {
        for stmt in &region.stmts {
            self.stmt(&stmt.kind, stmt.loc, flights);
        }
        let last = region.stmts.last().map_or(Loc::KERNEL, |stmt| stmt.loc);
        match &region.end {
            Terminator::Return | Terminator::Yield(_) => {}
            Terminator::Continue(depth, values) => {
                let at = self.loops.len() - 1 - *depth as usize;
                let args = self.loops[at].args.clone();
                self.in_place(values, &args, flights, last);
                let mut passed = flights.clone();
                for (&value, &arg) in values.iter().zip(&args) {
                    match flights.get(&key(value)) {
                        Some(&state) => passed.insert(key(arg), state),
                        None => passed.remove(&key(arg)),
                    };
                }
                self.loops[at].continued.push(passed);
            }
            Terminator::Break(depth, values) => {
                let at = self.loops.len() - 1 - *depth as usize;
                self.reads(values, flights, last);
                self.loops[at].broken.push((flights.clone(), values.clone()));
            }
        }
    }

    /// What is under way stays in the registers that it is in: a copy of them would read them.
    fn in_place(&mut self, values: &[Value], args: &[Value], flights: &Flights, last: Loc) {
        for (&value, &arg) in values.iter().zip(args) {
            if let Some(&flight) = flights.get(&key(value))
                && self.origin(value) != arg
            {
                self.report(
                    last,
                    (flight, flights),
                    "an accumulator changes places while its product is under way",
                    "the sums are in registers that the product writes; another variable has others",
                );
            }
        }
    }

    /// The value whose registers a product or a wait goes on with.
    fn origin(&self, value: Value) -> Value {
        fn find(region: &Region, value: Value) -> Option<Value> {
            region.stmts.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::Op { op: Op::Wgmma, args, result: Some(result) } if *result == value => {
                    Some(args[2])
                }
                StmtKind::Op { op: Op::WgmmaWait(_), args, result: Some(result) }
                    if *result == value =>
                {
                    Some(args[0])
                }
                kind => kind.regions().into_iter().find_map(|inner| find(inner, value)),
            })
        }
        let mut at = value;
        while let Some(before) = find(&self.kernel.body, at) {
            at = before;
        }
        at
    }

    fn stmt(&mut self, kind: &StmtKind, at: Loc, flights: &mut Flights) {
        match kind {
            StmtKind::Op { op: Op::Wgmma, args, result } => {
                self.reads(&args[..2], flights, at);
                for flight in flights.values_mut() {
                    flight.age += 1;
                }
                if let Some(result) = result {
                    flights.insert(key(*result), Flight { age: 0, at, waited: None });
                }
            }
            StmtKind::Op { op: Op::WgmmaWait(pending), args, result } => {
                flights.retain(|_, flight| flight.age < *pending);
                for flight in flights.values_mut() {
                    flight.waited = Some(*pending);
                }
                if let (Some(&state), Some(result)) = (flights.get(&key(args[0])), result) {
                    flights.insert(key(*result), state);
                }
            }
            StmtKind::Op { args, .. }
            | StmtKind::Ptx { args, .. }
            | StmtKind::Reduce { args, .. }
            | StmtKind::Scan { args, .. } => self.reads(args, flights, at),
            StmtKind::If { then, otherwise, .. } => {
                let mut other = flights.clone();
                self.region(then, flights);
                self.region(otherwise, &mut other);
                for side in [then, otherwise] {
                    if let Terminator::Yield(values) = &side.end {
                        let both: Flights =
                            flights.iter().chain(&other).map(|(k, v)| (*k, *v)).collect();
                        self.carried(values, &both, at);
                    }
                }
                join(flights, &other);
            }
            StmtKind::Specialize { default, partitions, .. } => {
                self.region(default, flights);
                self.reads(default.end.values(), flights, at);
                for one in partitions {
                    let mut own = Flights::new();
                    self.region(&one.body, &mut own);
                    self.left.extend(own.into_values());
                }
            }
            StmtKind::For { inits, body, results, .. } => {
                let args = body.args.get(1..).unwrap_or_default();
                self.iterations(args, inits, body, Some(results), at, flights);
            }
            StmtKind::Loop { inits, body, .. } => {
                self.iterations(&body.args, inits, body, None, at, flights);
            }
        }
    }

    /// A loop: its iterations are looked at until what they pass no longer changes.
    fn iterations(
        &mut self,
        args: &[Value],
        inits: &[Value],
        body: &Region,
        ends: Option<&[Value]>,
        at: Loc,
        flights: &mut Flights,
    ) {
        self.taken_over(inits, flights, at);
        let mut entry = flights.clone();
        let reports = std::mem::replace(&mut self.reports, Reports::None);
        let mut after = Flights::new();
        for look in 0..LOOKS {
            let last = look + 1 == LOOKS;
            let open =
                Iterations { args: args.to_vec(), continued: Vec::new(), broken: Vec::new() };
            self.loops.push(open);
            let mut iteration = entry.clone();
            self.region(body, &mut iteration);
            let closed = self.loops.pop().expect("pushed above");
            let mut next = entry.clone();
            for passed in &closed.continued {
                join(&mut next, passed);
            }
            let settled = next == entry;
            if (settled || last) && self.reports == reports {
                after = next;
                for (broken, _) in &closed.broken {
                    join(&mut after, broken);
                }
                break;
            }
            if settled || last {
                // Once more, with what is wrong.
                self.reports = reports;
            }
            entry = next;
        }
        self.reports = reports;
        if let Some(results) = ends {
            for (&result, &arg) in results.iter().zip(args) {
                if let Some(&state) = after.get(&key(arg)) {
                    after.insert(key(result), state);
                }
            }
        }
        *flights = after;
    }
}
