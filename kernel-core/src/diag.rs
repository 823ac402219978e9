//! Diagnostics: facts with places, gathered through the phases, rendered at the end.

use std::{collections::BTreeSet, fmt::Display};

use crate::loc::Loc;

mod codes;
mod layout;
mod missing;
mod nearest;
mod pasted;
mod render;
mod rustc;

pub use codes::{Area, Code};
pub(crate) use layout::SPILLED;
pub(crate) use missing::{Commit, Lacking, Missing, Phase, Signal, Spot};
pub(crate) use nearest::edits;
pub use nearest::nearest;
pub(crate) use pasted::names_used;
pub use render::render;
pub use rustc::{compile_errors, compile_warnings};

/// One problem of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Its code.
    pub code: Code,
    /// What is wrong, on one line, in the user's words.
    pub headline: String,
    /// The smallest expression to change.
    pub primary: Loc,
    /// Where the requirement or the choice came from.
    pub secondary: Vec<(Loc, String)>,
    /// What was required and what is there, row by row.
    pub compare: Vec<Compared>,
    /// Why the hardware or the language requires it.
    pub notes: Vec<String>,
    /// Code that can be pasted, in place of what is underlined.
    pub help: Option<String>,
    /// Where the help goes, if not there.
    pub goes: Option<Goes>,
    /// How such code looks, where none can be pasted: it has names of its own, or leaves parts out.
    pub example: Option<String>,
    /// The operand of the underlined expression that is to be underlined alone, and the help if it cannot be.
    pub(crate) operand: Option<(usize, Option<String>)>,
    /// Where it was found, if something else is underlined because the help replaces that.
    pub(crate) found_at: Option<Loc>,
    /// What is missing in the kernel: the help is written from it where the kernel's text is known.
    pub(crate) missing: Option<Missing>,
    /// Where the kernel calls the function that it is in, if it is in one.
    pub called: Option<Loc>,
    /// The instances in which it shows, if it does not show in all or not alike; its numbers are those of the first.
    pub instances: Vec<String>,
    /// The variant whose numbers these are, if those of the other one differ or it has no such problem.
    pub variant: Option<&'static str>,
}

/// Where a help goes that does not take the place of what is underlined.
#[derive(Clone, Debug, PartialEq)]
pub struct Goes {
    /// What it takes the place of, or stands beside.
    pub at: Loc,
    /// On which side of that.
    pub side: Side,
    /// What changes with it: the text at a second place.
    pub also: Option<(Loc, String)>,
    /// The same in words, with the line: `before line 20`.
    pub words: String,
}

/// A side of an expression or a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before the statement.
    Before,
    /// After the statement.
    After,
    /// After the argument, as one more.
    Behind,
    /// In its place.
    Instead,
}

/// One row of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What is compared, or empty.
    pub what: String,
    /// The value that is required.
    pub required: String,
    /// The value that is there.
    pub actual: String,
}

impl Diagnostic {
    /// A diagnostic with a headline only.
    pub fn new(code: Code, primary: Loc, headline: impl Into<String>) -> Self {
        Diagnostic {
            code,
            headline: headline.into(),
            primary,
            secondary: Vec::new(),
            compare: Vec::new(),
            notes: Vec::new(),
            help: None,
            goes: None,
            example: None,
            operand: None,
            found_at: None,
            missing: None,
            called: None,
            instances: Vec::new(),
            variant: None,
        }
    }

    /// Whether two problems are one for a user.
    fn is_as(&self, other: &Diagnostic) -> bool {
        let same_place = self.code == other.code && self.primary == other.primary;
        let same_words = self.headline == other.headline && self.compare == other.compare;
        same_place && (self.called == other.called || same_words)
    }

    /// Whether another problem, of another place, has the same words.
    pub(crate) fn says_as(&self, other: &Diagnostic) -> bool {
        let words = |one: &Diagnostic| {
            (one.code, one.headline.clone(), one.help.clone(), one.example.clone(), one.called)
        };
        words(self) == words(other)
            && self.compare == other.compare
            && self.instances == other.instances
            && self.variant == other.variant
    }

    /// The problem is that of one operand of the underlined expression; `otherwise` is the help if that cannot be found.
    #[must_use]
    pub(crate) fn of_operand(mut self, operand: usize, otherwise: Option<String>) -> Self {
        self.operand = Some((operand, otherwise));
        self
    }

    /// The kernel lacks something, from which the help is written.
    #[must_use]
    pub(crate) fn lacks(self, missing: Option<Missing>) -> Self {
        Diagnostic { missing, ..self }
    }

    /// Adds a place that explains the problem.
    #[must_use]
    pub fn place(mut self, loc: Loc, text: impl Into<String>) -> Self {
        self.secondary.push((loc, text.into()));
        self
    }

    /// Adds a row of required against actual.
    #[must_use]
    pub fn compare(
        mut self,
        what: impl Into<String>,
        required: impl Display,
        actual: impl Display,
    ) -> Self {
        let (required, actual) = (required.to_string(), actual.to_string());
        self.compare.push(Compared { what: what.into(), required, actual });
        self
    }

    /// Adds a sentence that says why.
    #[must_use]
    pub fn why(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds code that can be pasted.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Makes an example of a help that cannot be pasted.
    #[must_use]
    pub(crate) fn exemplified(mut self) -> Self {
        self.example = self.help.take();
        self
    }

    /// Adds a reason and a help, of which either may be empty.
    #[must_use]
    pub fn advised(self, why: &str, help: &str) -> Self {
        let diagnostic = if why.is_empty() { self } else { self.why(why) };
        if help.is_empty() { diagnostic } else { diagnostic.help(help) }
    }

    /// [`Diagnostic::place`], if there is one.
    #[must_use]
    pub fn place_if(self, loc: Option<Loc>, text: &str) -> Self {
        match loc {
            Some(loc) => self.place(loc, text),
            None => self,
        }
    }

    /// An example, if there is one and no help.
    #[must_use]
    pub(crate) fn with_example(self, example: impl FnOnce() -> Option<String>) -> Self {
        if self.help.is_some() || self.example.is_some() {
            return self;
        }
        match example() {
            Some(example) => self.help(example).exemplified(),
            None => self,
        }
    }

    /// [`Diagnostic::help`], if there is any.
    #[must_use]
    pub fn help_if(self, text: Option<impl Into<String>>) -> Self {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }
}

impl Code {
    /// A problem of this kind, without anything but its headline.
    pub fn at(self, loc: Loc, headline: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self, loc, headline)
    }
}

/// What a help has for what is to be left out: it stands before the place.
pub(crate) const NOTHING: &str = "(nothing)";

/// `a`, `a or b`, `a, b or c`
pub(crate) fn one_of(names: &[String]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// `no arguments`, `1 argument`, `2 arguments`; `what` is the singular.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The problems of a kernel, in the order in which they were found.
///
/// Each problem is kept once: instances of one kernel mostly fail in the same way, and so do the calls of one function.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Diagnostic>,
    /// The places and codes of problems that show otherwise in another instance: with other numbers, say.
    varied: BTreeSet<(Code, Loc)>,
    /// How many were reported, those known already included.
    reports: usize,
    /// The instance that is being compiled.
    instance: Option<String>,
    /// The same with the optional parameters that are absent, if some are.
    without: Option<String>,
    /// Correct but slow code: the kernel still compiles.
    warnings: Vec<Diagnostic>,
    /// How many steps of evaluation it took to find them.
    steps: u64,
}

/// A point in the work that can be returned to: see [`Problems::rewind`].
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    len: usize,
    reports: usize,
}

impl Problems {
    /// No problems so far.
    pub fn new() -> Self {
        Problems::default()
    }

    /// Adds a problem, unless there is one with that code at that place already. In a function, each call may fail in its
    /// own way.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.help.as_deref().is_some_and(pasted::leaves_out) {
            diagnostic = diagnostic.exemplified();
        }
        self.reports += 1;
        let known = self.list.iter_mut().find(|other| other.is_as(&diagnostic));
        match known {
            None => {
                let place = self.without.as_ref().or(self.instance.as_ref());
                diagnostic.instances.extend(place.cloned());
                self.list.push(diagnostic);
            }
            Some(known) => {
                // What shows with all arguments need not be said of those that lack some.
                let said = self.instance.as_ref().is_some_and(|i| known.instances.contains(i));
                let place = self.without.as_ref().or(self.instance.as_ref());
                let missing = place.filter(|place| !said && !known.instances.contains(place));
                diagnostic.instances.clone_from(&known.instances);
                if missing.is_some() && *known != diagnostic {
                    self.varied.insert((known.code, known.primary));
                }
                known.instances.extend(missing.cloned());
            }
        }
    }

    /// Adds a warning, which is not a problem: of those with one code at one place the first is kept.
    pub fn warn(&mut self, diagnostic: Diagnostic) {
        if !self.warnings.iter().any(|other| other.is_as(&diagnostic)) {
            self.warnings.push(diagnostic);
        }
    }

    /// The warnings, in the order in which they were found.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.warnings.iter()
    }

    /// Problems found from here on belong to this instance of the kernel; `absent` says which optional parameters are `None`.
    pub fn enter_instance(&mut self, description: String, absent: Option<String>) {
        self.without = absent.map(|absent| {
            let parts = [description.as_str(), &absent];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        });
        self.instance = Some(description);
    }

    /// The instances are done: problems beyond the first `before` that show in all of them do not depend on the choice, if
    /// they show alike.
    pub fn leave_instances(&mut self, before: usize, all: &[String]) {
        self.instance = None;
        self.without = None;
        for diagnostic in self.list.iter_mut().skip(before) {
            let varies = self.varied.contains(&(diagnostic.code, diagnostic.primary));
            let of_all = all.iter().all(|instance| diagnostic.instances.contains(instance));
            if of_all && !(varies && all.len() > 1) {
                diagnostic.instances.clear();
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// How many were reported so far. It grows with each, also with those that are known already.
    pub fn reports(&self) -> usize {
        self.reports
    }

    /// The state as it is.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { len: self.list.len(), reports: self.reports }
    }

    /// Counts steps of evaluation.
    pub(crate) fn took(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(steps);
    }

    /// How many steps of evaluation it took to find the problems.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Forgets what was reported since.
    pub fn rewind(&mut self, to: Checkpoint) {
        self.list.truncate(to.len);
        let list = &self.list;
        self.varied.retain(|key| list.iter().any(|kept| (kept.code, kept.primary) == *key));
        self.reports = to.reports;
    }

    /// The problems, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Changes what is said of the problems.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Vec<Diagnostic>)) {
        change(&mut self.list);
    }

    /// Keeps the problems for which this holds.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(keep);
    }

    /// Takes over the problems of another list.
    pub fn extend(&mut self, other: Problems) {
        self.took(other.steps);
        for diagnostic in other.list {
            self.push(diagnostic);
        }
        for diagnostic in other.warnings {
            self.warn(diagnostic);
        }
        self.varied.extend(other.varied);
    }
}
