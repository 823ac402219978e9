//! How many mutants are stopped, by class and by who compiled the kernel, and which are not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use kernel_emulator::FaultKind;

use super::{
    Mutation,
    subject::{Origin, Outcome, Verdict},
    survivors::{Judgement, Key, Survivors},
    work::Judged,
};

/// Mutants, counted by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Stopped by the emulator, or with wrong results.
    pub killed: usize,
    /// Listed as as correct as the kernel.
    pub equivalent: usize,
    /// Listed as wrong.
    pub missed: usize,
    /// Not listed.
    pub unlisted: usize,
    /// Not executed on the inputs that there are.
    pub not_reached: usize,
}

impl Counts {
    fn add(&mut self, fate: Fate) {
        let count = match fate {
            Fate::Killed => &mut self.killed,
            Fate::Listed(Judgement::Equivalent) => &mut self.equivalent,
            Fate::Listed(Judgement::Missed) => &mut self.missed,
            Fate::Unlisted => &mut self.unlisted,
            Fate::NotReached => &mut self.not_reached,
        };
        *count += 1;
    }

    /// Of those that are executed and not listed as equivalent, how many are killed, in percent; 100 where there are none.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 mutants")]
    pub fn score(self) -> f64 {
        match self.killed + self.missed + self.unlisted {
            0 => 100.0,
            all => 100.0 * self.killed as f64 / all as f64,
        }
    }

    fn row(self, name: &str) -> String {
        let Counts { killed, equivalent, missed, unlisted, not_reached } = self;
        let all = killed + equivalent + missed + unlisted + not_reached;
        let score = self.score();
        format!(
            "{name:<33} {all:>8} {killed:>8} {equivalent:>10} {missed:>8} {unlisted:>8} {not_reached:>11} {score:>7.1}%\n"
        )
    }
}

/// The head of a table of [`Counts`].
fn head(what: &str) -> String {
    format!(
        "{what:<33} {:>8} {:>8} {:>10} {:>8} {:>8} {:>11} {:>8}\n",
        "mutants", "killed", "equivalent", "missed", "unlisted", "not reached", "score"
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Killed,
    Listed(Judgement),
    Unlisted,
    NotReached,
}

impl Fate {
    fn of(survivors: &Survivors, kernel: &str, outcome: &Outcome) -> Fate {
        match outcome.verdict {
            Verdict::Fault(..) | Verdict::Wrong(_) => Fate::Killed,
            Verdict::NotReached => Fate::NotReached,
            // What does not run at all is a fault of the mutation or of the emulator.
            Verdict::Refused(_) | Verdict::Panicked(_) => Fate::Unlisted,
            Verdict::Survived => {
                let reason = survivors.reason(&Key::of(kernel, &outcome.mutant));
                reason.map_or(Fate::Unlisted, |reason| Fate::Listed(reason.judgement()))
            }
        }
    }
}

/// Every mutant that ran, against the list of survivors.
#[derive(Debug)]
pub struct Score<'a> {
    judged: &'a [Judged],
    survivors: &'a Survivors,
}

impl<'a> Score<'a> {
    /// That of these mutants.
    pub const fn of(judged: &'a [Judged], survivors: &'a Survivors) -> Score<'a> {
        Score { judged, survivors }
    }

    fn outcomes(&self) -> impl Iterator<Item = (&'a Judged, &'a str, &'a Outcome, Fate)> {
        let survivors = self.survivors;
        self.judged.iter().flat_map(move |judged| {
            judged.variants.iter().flat_map(move |(variant, outcomes)| {
                outcomes.iter().map(move |outcome| {
                    let fate = Fate::of(survivors, &judged.kernel, outcome);
                    (judged, variant.as_str(), outcome, fate)
                })
            })
        })
    }

    /// What went wrong before any mutant of a kernel ran, a line each.
    pub fn problems(&self) -> Vec<String> {
        let problems = self.judged.iter().flat_map(|judged| {
            judged.problems.iter().map(move |problem| format!("{}: {problem}", judged.kernel))
        });
        problems.collect()
    }

    /// The mutants that are not stopped and not listed, a line each.
    pub fn unlisted(&self) -> Vec<String> {
        let unlisted = self.outcomes().filter(|(.., fate)| *fate == Fate::Unlisted);
        unlisted.map(|(judged, variant, outcome, _)| line(judged, variant, outcome)).collect()
    }

    /// The mutants that the list says are missed, a line each.
    pub fn missed(&self) -> Vec<String> {
        let missed = self.outcomes().filter(|(.., fate)| *fate == Fate::Listed(Judgement::Missed));
        missed.map(|(judged, variant, outcome, _)| line(judged, variant, outcome)).collect()
    }

    /// Entries of the list that are of no survivor, of kernels all of whose mutants ran.
    pub fn stale(&self) -> Vec<&Key> {
        let kernels: BTreeSet<&str> =
            self.judged.iter().map(|judged| judged.kernel.as_str()).collect();
        let survived = self
            .outcomes()
            .filter(|(_, _, outcome, _)| matches!(outcome.verdict, Verdict::Survived));
        let seen: BTreeSet<Key> = survived
            .map(|(judged, _, outcome, _)| Key::of(&judged.kernel, &outcome.mutant))
            .collect();
        self.survivors.stale(&kernels, &seen)
    }

    /// The tables: by who compiled the kernel, by class and mutation, and what killed.
    pub fn tables(&self) -> String {
        let mut origins: BTreeMap<Origin, Counts> = BTreeMap::new();
        let mut classes: BTreeMap<Origin, BTreeMap<(&str, Mutation), Counts>> = BTreeMap::new();
        let mut faults: BTreeMap<&str, usize> = BTreeMap::new();
        for (judged, _, outcome, fate) in self.outcomes() {
            origins.entry(judged.origin).or_default().add(fate);
            let change = (outcome.mutant.class.name, outcome.mutant.mutation);
            classes.entry(judged.origin).or_default().entry(change).or_default().add(fate);
            let fault = match &outcome.verdict {
                Verdict::Fault(kind, _) => FaultKind::text(*kind),
                Verdict::Wrong(_) => "wrong results",
                Verdict::Refused(_)
                | Verdict::Panicked(_)
                | Verdict::NotReached
                | Verdict::Survived => continue,
            };
            *faults.entry(fault).or_default() += 1;
        }
        let mut text = head("kernels");
        for (origin, counts) in origins {
            text += &counts.row(origin.name());
        }
        for (origin, changes) in classes {
            let _ = write!(text, "\n{}", head(origin.name()));
            for ((class, mutation), counts) in changes {
                text += &counts.row(&format!("{class} {}", mutation.name()));
            }
        }
        text += "\nkilled by\n";
        let mut faults: Vec<(&str, usize)> = faults.into_iter().collect();
        faults.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (fault, count) in faults {
            let _ = writeln!(text, "{count:>8} {fault}");
        }
        text
    }

    /// For each kernel how many synchronising instructions there are in all its variants, how many are needed, and which are not:
    /// those that can be left out alone. Both halves of a barrier of a cluster count as one.
    pub fn needed(&self) -> String {
        let mut kernels: BTreeMap<&str, Needed<'_>> = BTreeMap::new();
        for (judged, _, outcome, fate) in self.outcomes() {
            let class = outcome.mutant.class.name;
            let mutation = outcome.mutant.mutation;
            let counted = mutation == Mutation::DeleteBoth
                || (mutation == Mutation::Delete && !class.starts_with("barrier.cluster."));
            if counted {
                let key = Key::of(&judged.kernel, &outcome.mutant);
                kernels.entry(&judged.kernel).or_default().add(&key, fate);
            }
        }
        let mut text = format!(
            "{:<45} {:>7} {:>6} {:>11}  not needed\n",
            "kernel", "present", "needed", "not reached"
        );
        for (kernel, needed) in kernels {
            let Needed { present, unneeded, not_reached, places } = needed;
            let needed = present - unneeded - not_reached;
            let places: Vec<String> = places
                .into_iter()
                .map(|(class, places)| {
                    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                    format!("{class} at {}", places.join(", "))
                })
                .collect();
            let _ = writeln!(
                text,
                "{kernel:<45} {present:>7} {needed:>6} {not_reached:>11}  {}",
                places.join("; ")
            );
        }
        text
    }
}

/// The synchronising instructions of a kernel.
#[derive(Debug, Default)]
struct Needed<'a> {
    present: usize,
    unneeded: usize,
    not_reached: usize,
    places: BTreeMap<&'a str, BTreeSet<super::survivors::Place>>,
}

impl Needed<'_> {
    fn add(&mut self, key: &Key, fate: Fate) {
        self.present += 1;
        match fate {
            Fate::NotReached => self.not_reached += 1,
            Fate::Listed(Judgement::Equivalent) => {
                self.unneeded += 1;
                self.places.entry(key.change.0).or_default().insert(key.place);
            }
            Fate::Killed | Fate::Listed(Judgement::Missed) | Fate::Unlisted => {}
        }
    }
}

/// `[class mutation] kernel place (variant, PTX line: instruction)`
fn line(judged: &Judged, variant: &str, outcome: &Outcome) -> String {
    let mutant = &outcome.mutant;
    let key = Key::of(&judged.kernel, mutant);
    let instruction = mutant.instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = format!("{key} ({variant}, PTX line {}: {instruction})", mutant.ptx_line);
    let (verdict, words) = outcome.verdict.words();
    if !words.is_empty() {
        let _ = write!(line, ": {verdict}: {words}");
    }
    line
}
