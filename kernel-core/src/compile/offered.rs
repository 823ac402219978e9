//! Where a help goes, found by building the kernel with it.
//!
//! A help takes the place of what is underlined. One that does not take the message away there is tried in other places:
//!
//! * an expression around it or in it, which is underlined instead: `at.lt(n)` goes in place of `at < n`, not of `at`;
//! * a statement before or after the one that is underlined, the declaration of a variable or of a parameter, and the arguments of
//!   `#[kernel(..)]`: the message says where.
//!
//! Where accesses are not ordered, an operation may stand there that is nearly right (`nearly`): that is underlined and mended.
//!
//! What takes the message away nowhere stays as it is. But a help for the order of accesses is left out then, and so is one that names its
//! lines (`lines`): a kernel with it would build, and be wrong. One for extents or types is left out as well: the same message would follow.

use std::cell::Cell;

use proc_macro2::TokenStream;

use super::{Only, Options, build_kernels, instances::Left, instances::Work};
use crate::{
    diag::{Area, Code, Diagnostic, Goes, NOTHING, Side},
    elaborate::messages,
    loc::{Loc, Locations},
    syntax::{self, Unit, written},
};

mod edit;
mod elsewhere;
mod expressions;
mod lines;
mod nearly;
mod source;

use edit::{Put, Range, put, tokens_at};
use nearly::Nearly;
use source::Part;

/// How often a unit with problems is built anew at most, if it is small.
const MOST_BUILDS: usize = 32;

/// Steps of evaluation that building anew takes at most, all together.
const MOST_STEPS: u64 = 400_000;

/// The longest text that a message repeats to say where a help goes.
const LONGEST: usize = 80;

/// The arguments of `#[kernel(..)]` that a help may give.
const ARGUMENTS: [&str; 6] = ["target", "warps", "grid", "cluster", "debug", "instances"];

/// The text of a kernel, or of a module of kernels, in which helps are tried.
#[derive(Clone)]
struct Text {
    attr: TokenStream,
    item: TokenStream,
}

/// The text with a help in it.
struct Candidate {
    /// How well it has to fit.
    least: Fit,
    text: Text,
    /// Where the help stands.
    pasted: Range,
    settled: Settled,
}

/// What a message says of its help.
struct Settled {
    /// What is underlined, if that is something else than before.
    primary: Option<Loc>,
    help: String,
    goes: Option<Goes>,
}

/// What becomes of a help.
enum Outcome {
    /// It stays as it is.
    Stays,
    /// It is left out.
    Dropped,
    /// It goes somewhere else.
    Goes(Settled),
    /// Something that stands there is mended instead.
    Nearly(Nearly),
}

/// A text that was built.
struct Built {
    problems: Vec<Diagnostic>,
    /// How many images have launches that are known to go wrong, though nothing is reported.
    hazards: usize,
}

/// Whether a help takes a message away.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// Something around the help is refused now, for another reason.
    Barely,
    /// Something elsewhere is refused now, which may have been so behind this message.
    Partly,
    Whole,
}

/// A help, and the expression that it is offered for.
#[derive(Clone, Copy)]
struct Place<'a> {
    loc: Loc,
    at: Range,
    help: &'a str,
    new: &'a TokenStream,
}

/// What is tried.
struct Trial<'a> {
    unit: &'a Unit,
    only: Option<Only>,
    locations: &'a Locations,
    text: Text,
    parts: Vec<Part>,
    found: Vec<Diagnostic>,
    builds: Cell<usize>,
    /// [`Built::hazards`] of the text without a help, once that is known.
    hazards: Cell<Option<usize>>,
}

/// Says of each help where it goes, if it does not take the place of what is underlined.
pub(super) fn settle(unit: &Unit, only: Option<Only>, locations: &Locations, left: &mut Left) {
    if left.problems.iter().all(|one| one.help.is_none() && !is_order(one.code)) {
        return;
    }
    let Some(trial) = Trial::new(unit, only, locations, left) else { return };
    left.problems.change(|list| {
        for diagnostic in list.iter_mut() {
            match trial.settle(diagnostic) {
                Outcome::Stays => {}
                Outcome::Dropped => diagnostic.help = None,
                Outcome::Goes(Settled { primary, help, goes }) => {
                    if let Some(primary) = primary {
                        diagnostic.found_at = Some(diagnostic.primary);
                        diagnostic.primary = primary;
                    }
                    diagnostic.help = Some(help);
                    diagnostic.goes = goes;
                }
                Outcome::Nearly(nearly) => nearly.tell(diagnostic),
            }
        }
        join(list);
    });
}

/// Says once what one change elsewhere mends.
fn join(list: &mut Vec<Diagnostic>) {
    let mut kept: Vec<Diagnostic> = Vec::new();
    for diagnostic in std::mem::take(list) {
        let elsewhere = |goes: &Goes| matches!(goes.side, Side::Instead | Side::Behind);
        let moved = diagnostic.code == Code::SharedInLoop;
        let words = |one: &Diagnostic| one.goes.as_ref().map(|goes| goes.words.clone());
        let same = |one: &&mut Diagnostic| {
            one.code == diagnostic.code
                && one.help == diagnostic.help
                && words(one) == words(&diagnostic)
                && (one.instances == diagnostic.instances && one.variant == diagnostic.variant)
                && diagnostic.goes.as_ref().is_some_and(|goes| elsewhere(goes) || moved)
        };
        match kept.iter_mut().find(same) {
            Some(first) => {
                let alike = first.headline == diagnostic.headline;
                let words = if alike { "the same here".to_owned() } else { diagnostic.headline };
                first.secondary.push((diagnostic.primary, words));
            }
            None => kept.push(diagnostic),
        }
    }
    *list = kept;
}

impl<'a> Trial<'a> {
    fn new(
        unit: &'a Unit,
        only: Option<Only>,
        locations: &'a Locations,
        left: &Left,
    ) -> Option<Self> {
        let source = unit.source?;
        let text =
            Text { attr: locations.tokens(source.attr), item: locations.tokens(source.item) };
        let around = Range::of(&text.item)?;
        if around.start == around.end {
            // Editors may not say where tokens stand.
            return None;
        }
        let parts = source::parts(&text.item);
        let allowed = MOST_STEPS / left.problems.steps().max(1);
        let builds = Cell::new(usize::try_from(allowed).unwrap_or(MOST_BUILDS).min(MOST_BUILDS));
        let found = left.problems.iter().cloned().collect();
        let hazards = Cell::new(None);
        Some(Trial { unit, only, locations, text, parts, found, builds, hazards })
    }

    /// What a message is to say of its help.
    fn settle(&self, diagnostic: &Diagnostic) -> Outcome {
        let away = self.locations.place_away(diagnostic.primary).is_some();
        if !away && let Some(nearly) = self.nearly(diagnostic) {
            return Outcome::Nearly(nearly);
        }
        let Some(help) = diagnostic.help.as_deref() else { return Outcome::Stays };
        // A loop around partitions is written anew, as a whole.
        if away || matches!(diagnostic.code, Code::Bug | Code::Specialize) {
            return Outcome::Stays;
        }
        if lines::says_where(help) {
            let fails = self.fails(diagnostic, help);
            return if fails { Outcome::Dropped } else { Outcome::Stays };
        }
        if help.starts_with(NOTHING) {
            return Outcome::Stays;
        }
        let Some(new) = tokens_of(help) else { return Outcome::Stays };
        let (loc, at) = (diagnostic.primary, range(self.locations, diagnostic.primary));
        let place = Place { loc, at, help, new: &new };
        let mut best = Fit::No;
        let mut settled = None;
        if let Some(plain) = self.underlined(&place, loc, at) {
            best = self.fit(diagnostic, &plain);
            if best >= plain.least {
                return Outcome::Stays;
            }
        }
        for candidate in self.candidates(diagnostic, &place) {
            let fit = self.fit(diagnostic, &candidate);
            if fit >= candidate.least && fit > best {
                (best, settled) = (fit, Some(candidate.settled));
            }
            if best == Fit::Whole {
                break;
            }
        }
        // What could not be tried any more stays where it is.
        let tried = self.builds.get() > 0;
        if settled.is_none() && tried && best == Fit::No && has_to_fit(diagnostic) {
            return Outcome::Dropped;
        }
        settled
            .or_else(|| if tried { self.untried(diagnostic, &place) } else { None })
            .map_or(Outcome::Stays, Outcome::Goes)
    }

    /// The ways to put a help into the text, those first that are meant most often.
    fn candidates(&self, diagnostic: &Diagnostic, place: &Place<'_>) -> Vec<Candidate> {
        let help = place.help;
        let others: Vec<Loc> = diagnostic.secondary.iter().map(|(loc, _)| *loc).collect();
        let mut out = Vec::new();
        if diagnostic.code == Code::SharedInLoop {
            out.extend(self.moved(place));
        }
        out.extend(self.quoted(diagnostic, place));
        if is_argument(help) {
            out.extend(self.argument(place));
        } else if help.starts_with('.') && !help.starts_with("..") {
            self.continued(place, &others, &mut out);
        } else if is_statement(help) {
            self.declared(place, &mut out);
            self.around(place, &mut out);
            out.extend(self.named_here(place));
            self.statements(place, &others, &mut out);
        } else {
            out.extend(self.parameter(place));
            self.around(place, &mut out);
            self.within(place, &mut out);
            self.other_calls(place, &mut out);
            for loc in others {
                let at = range(self.locations, loc);
                match self.of_layout(place, loc, at) {
                    Some(candidate) => out.push(candidate),
                    None => out.extend(self.elsewhere(place, loc, at)),
                }
            }
        }
        out
    }

    /// The text with tokens in it, in the item or in the arguments of the kernel.
    fn text_with(&self, at: Range, how: Put, new: &TokenStream) -> Option<Text> {
        let Text { attr, item } = &self.text;
        if let Some(item) = put(item.clone(), at, how, new) {
            return Some(Text { attr: attr.clone(), item });
        }
        Some(Text { attr: put(attr.clone(), at, how, new)?, item: item.clone() })
    }

    /// The tokens that are there.
    fn tokens_at(&self, at: Range) -> Option<TokenStream> {
        tokens_at(&self.text.item, at).or_else(|| tokens_at(&self.text.attr, at))
    }

    /// The help in place of an expression, which is underlined then.
    fn underlined(&self, place: &Place<'_>, loc: Loc, at: Range) -> Option<Candidate> {
        let text = self.text_with(at, Put::Instead, place.new)?;
        let settled = Settled { primary: Some(loc), help: place.help.to_owned(), goes: None };
        Some(Candidate { least: Fit::Partly, text, pasted: at, settled })
    }

    /// The help where the message says that it goes.
    fn told(
        &self,
        place: &Place<'_>,
        (loc, at, side): (Loc, Range, Side),
        words: String,
    ) -> Option<Candidate> {
        let how = match side {
            Side::Before => Put::Before,
            Side::After | Side::Behind => Put::After,
            Side::Instead => Put::Instead,
        };
        let text = self.text_with(at, how, place.new)?;
        let goes = Some(Goes { at: loc, side, also: None, words });
        let settled = Settled { primary: None, help: place.help.to_owned(), goes };
        Some(Candidate { least: Fit::Partly, text, pasted: at, settled })
    }

    /// The help in place of something that the message points at, or that declares what it is about.
    fn elsewhere(&self, place: &Place<'_>, loc: Loc, at: Range) -> Option<Candidate> {
        let line = at.start.0;
        let shown = written(&self.tokens_at(at)?);
        let words = if shown.len() <= LONGEST {
            format!("in place of `{shown}`, line {line}")
        } else {
            format!("in line {line}")
        };
        self.told(place, (loc, at, Side::Instead), words)
    }

    /// Whether the message is gone with the help in the text.
    fn fit(&self, diagnostic: &Diagnostic, candidate: &Candidate) -> Fit {
        let Some(left) = self.builds.get().checked_sub(1) else { return Fit::No };
        self.builds.set(left);
        let Some(built) = self.built(&candidate.text, diagnostic.code) else { return Fit::No };
        if is_order(diagnostic.code) && self.has_more_hazards(&built, diagnostic.code) {
            return Fit::No;
        }
        let now = built.problems;
        let like = |list: &[Diagnostic], of: &Diagnostic| {
            list.iter().filter(|one| one.code == of.code && one.headline == of.headline).count()
        };
        let own = range(self.locations, diagnostic.primary);
        let near = [candidate.pasted, own];
        let touches = |at: Range, of: Range| at.start < of.end && of.start < at.end;
        let within = |one: &Diagnostic| {
            let at = range(self.locations, one.primary);
            near.iter().any(|of| touches(at, *of) && (at == *of || !at.holds(*of)))
        };
        let (before, after) = (like(&self.found, diagnostic), like(&now, diagnostic));
        // The same may be wrong with what is around it, and is found now.
        let alike = |one: &&Diagnostic| like(std::slice::from_ref(*one), diagnostic) == 1;
        if after > before || after == before && now.iter().filter(alike).any(within) {
            return Fit::No;
        }
        let broken = |one: &Diagnostic| one.code == Code::Bug && like(&self.found, one) == 0;
        if now.iter().any(broken) {
            return Fit::No;
        }
        // Names and types are told from what is behind them; what is wrong with memory is told all at once.
        let named = |code: Code| matches!(code.area(), Area::Subset | Area::Shapes);
        let alike = |one: &&Diagnostic| named(one.code) || !named(diagnostic.code);
        let new = now.iter().filter(alike).filter(|one| like(&self.found, one) == 0);
        let mut fit = Fit::Whole;
        for one in new {
            let at = range(self.locations, one.primary);
            // Another rule of memory may hold where this one did.
            let beside = !named(one.code) && !touches(at, candidate.pasted);
            if !beside && within(one) {
                return Fit::No;
            }
            let around = !beside && near.iter().any(|of| touches(at, *of));
            fit = fit.min(if around { Fit::Barely } else { Fit::Partly });
        }
        fit
    }

    /// Whether more images than without a help have launches that are known to go wrong: those of other instances may have had them.
    fn has_more_hazards(&self, built: &Built, code: Code) -> bool {
        if built.hazards == 0 {
            return false;
        }
        let before = self.hazards.get().or_else(|| Some(self.built(&self.text, code)?.hazards));
        self.hazards.set(before);
        before.is_none_or(|before| built.hazards > before)
    }

    /// What building another text gives.
    fn built(&self, text: &Text, code: Code) -> Option<Built> {
        let source = self.unit.source?;
        let mut left = Left::default();
        let mut unit = if source.is_module {
            let module: syn::ItemMod = syn::parse2(text.item.clone()).ok()?;
            syntax::parse_module(&module, self.locations, &mut left.problems)
        } else {
            let function: syn::ItemFn = syn::parse2(text.item.clone()).ok()?;
            let attr = text.attr.clone();
            syntax::parse_function(attr, &function, self.locations, &mut left.problems)
        };
        unit.devices = self.unit.devices.clone();
        unit.items.extend(self.unit.items.iter().skip(source.items).cloned());
        // Names and types are known when a kernel is built; layouts and order come after that.
        let build = matches!(code.area(), Area::Subset | Area::Shapes);
        let work = if build { Work::Build } else { self.only.map_or(Work::All, |only| only.work) };
        let all = build_kernels(
            &unit,
            (self.only, work),
            self.locations,
            &mut left,
            Options::default(),
            &|_, _| {},
        );
        messages::set(&unit, self.locations, &mut left.problems);
        let images = all.iter().flatten().flat_map(|instance| &instance.images);
        let hazards = images.filter(|image| image.order.is_hazard()).count();
        Some(Built { problems: left.problems.iter().cloned().collect(), hazards })
    }
}

/// Whether a help that takes its message away nowhere is left out: one for the order of accesses, for which a kernel would be wrong, and
/// one for extents and types, which leads to the same message again.
fn has_to_fit(diagnostic: &Diagnostic) -> bool {
    let of_values = matches!(
        diagnostic.code,
        Code::Extent | Code::ShapeMismatch | Code::DtypeMismatch | Code::DotShape
    );
    let statement = diagnostic.help.as_deref().is_some_and(is_statement);
    is_order(diagnostic.code) || of_values && !statement
}

/// Whether a message is about the order of accesses.
fn is_order(code: Code) -> bool {
    matches!(
        code,
        Code::Unordered
            | Code::WrongPhase
            | Code::Deadlock
            | Code::Arrivals
            | Code::ClusterOrder
            | Code::OpenAtEnd
    )
}

fn range(locations: &Locations, loc: Loc) -> Range {
    let (first, last) = locations.spans(loc);
    Range::between(first, last)
}

fn is_argument(help: &str) -> bool {
    let end = help.find(|c: char| !c.is_alphanumeric()).unwrap_or(help.len());
    let rest = help[end..].trim_start();
    let given = rest.starts_with('(') || rest.starts_with('=') && !rest.starts_with("==");
    ARGUMENTS.contains(&&help[..end]) && given
}

fn is_statement(help: &str) -> bool {
    let code = parted(help).0;
    let loops = ["for ", "while ", "loop "].iter().any(|word| code.starts_with(word));
    code.starts_with("let ") || code.ends_with(';') || loops
}

/// The code of a help, and its last comment.
fn parted(help: &str) -> (String, Option<&str>) {
    let code = |line: &'_ str| line.split(" // ").next().unwrap_or_default().to_owned();
    let lines: Vec<String> = help.lines().map(code).collect();
    (lines.join("\n"), comment_of(help))
}

fn comment_of(help: &str) -> Option<&str> {
    help.lines().last()?.split_once(" // ").map(|(_, comment)| comment)
}

/// The tokens of a help, if it is code.
fn tokens_of(help: &str) -> Option<TokenStream> {
    let code = parted(help).0;
    // What no token begins with would be an error of its own.
    if code.contains(['\\', '\'', '`']) || !code.is_ascii() {
        return None;
    }
    code.parse().ok()
}
