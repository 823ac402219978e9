//! The list of mutants that nothing stops, `tests/mutants.txt`: why each is as correct as the kernel that it was made from, or what
//! the emulator does not follow yet.
//!
//! ```text
//! # A comment.
//! [fence.proxy.async delete] equivalent redundant
//! : The fence before the copy of the first tile covers this one too.
//! hopper/pipeline_tma_stores 31 35
//! ```
//!
//! A heading names a class, a mutation, a verdict and a [`Reason`]; lines after a colon explain; each line below names a kernel and
//! the places in it: lines of its source, or `#3` for the fourth instruction of the class where the PTX does not say the line. One place
//! stands for all variants and instances of the kernel.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

use super::{Mutant, Mutation, table::CLASSES};

/// The file, in the repository.
const FILE: &str = "tests/mutants.txt";

/// Declares the reasons with their names.
macro_rules! reasons {
    ($($(#[$meta:meta])* $reason:ident = $name:literal, $verdict:ident;)*) => {
        /// Why nothing stops a mutant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$meta])* $reason,)*
        }

        impl Reason {
            const ALL: &[Reason] = &[$(Reason::$reason,)*];

            /// Its name in the list.
            pub const fn name(self) -> &'static str {
                match self { $(Reason::$reason => $name,)* }
            }

            /// Whether the mutant is as correct as the kernel.
            pub const fn judgement(self) -> Judgement {
                match self { $(Reason::$reason => Judgement::$verdict,)* }
            }
        }
    };
}

reasons! {
    /// Something else orders the same accesses.
    Redundant = "redundant", Equivalent;
    /// Nothing that the instruction orders follows, or came before.
    NothingToOrder = "nothing-to-order", Equivalent;
    /// The changed instruction means the same in this kernel.
    SameMeaning = "same-meaning", Equivalent;
    /// The instruction is about resources or speed, not about order.
    Resources = "resources", Equivalent;
    /// Order between the accesses of blocks, or of warps, to global memory is not followed.
    GlobalMemory = "global-memory", Missed;
    /// Order between lanes of a warp is not followed here.
    Lanes = "lanes", Missed;
    /// Order between the generic proxy and another is not followed in this direction.
    Proxy = "proxy", Missed;
    /// Order between a grid and the one before it is not followed.
    DependentLaunch = "dependent-launch", Missed;
    /// Another order of events than the emulator's would show it.
    Schedule = "schedule", Missed;
    /// The kernel ends before the fault can show.
    TooShort = "too-short", Missed;
}

/// What a listed survivor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// As correct as the kernel that it was made from.
    Equivalent,
    /// Wrong, and nothing says so.
    Missed,
}

impl Judgement {
    /// Its name in the list.
    pub const fn name(self) -> &'static str {
        match self {
            Judgement::Equivalent => "equivalent",
            Judgement::Missed => "missed",
        }
    }
}

/// Where an instruction of a kernel is, for all its variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line of the kernel's source.
    Source(u32),
    /// The number of the instruction among those of its class in the PTX, from 0.
    Ordinal(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Source(line) => write!(f, "{line}"),
            Place::Ordinal(number) => write!(f, "#{number}"),
        }
    }
}

/// What a survivor is listed by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The class and the mutation.
    pub change: (&'static str, Mutation),
    /// The kernel.
    pub kernel: String,
    /// The place.
    pub place: Place,
}

impl Key {
    /// That of a mutant of a kernel.
    pub fn of(kernel: &str, mutant: &Mutant) -> Key {
        let place = match mutant.source {
            Some((_, line)) if line > 0 => Place::Source(line),
            Some(_) | None => Place::Ordinal(mutant.ordinal),
        };
        let change = (mutant.class.name, mutant.mutation);
        Key { change, kernel: kernel.to_owned(), place }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, mutation) = self.change;
        write!(f, "[{class} {}] {} {}", mutation.name(), self.kernel, self.place)
    }
}

/// The list.
#[derive(Clone, Debug, Default)]
pub struct Survivors {
    reasons: BTreeMap<Key, Reason>,
}

impl Survivors {
    /// Reads the list of a checkout.
    ///
    /// # Errors
    /// A file that cannot be read, or the first line that is not understood.
    pub fn read(root: &Path) -> Result<Survivors, String> {
        let text = std::fs::read_to_string(root.join(FILE));
        Survivors::parse(&text.map_err(|error| format!("{FILE}: {error}"))?)
    }

    /// Reads the text of a list.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Survivors, String> {
        let mut survivors = Survivors::default();
        let mut group = None;
        for (number, line) in (1..).zip(text.lines()) {
            let failed = |what: String| format!("{FILE}:{number}: {what}");
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ':']) {
                continue;
            }
            if let Some(heading) = line.strip_prefix('[') {
                group = Some(read_heading(heading).map_err(failed)?);
                continue;
            }
            let (change, reason) = group.ok_or_else(|| failed("a heading comes first".into()))?;
            let mut words = line.split_whitespace();
            let kernel = words.next().unwrap_or_default();
            for place in words {
                let place = read_place(place).ok_or_else(|| failed(format!("`{place}`")))?;
                let key = Key { change, kernel: kernel.to_owned(), place };
                if survivors.reasons.contains_key(&key) {
                    return Err(failed(format!("{key} is listed twice")));
                }
                survivors.reasons.insert(key, reason);
            }
        }
        Ok(survivors)
    }

    /// Why nothing stops a mutant, if the list says so.
    pub fn reason(&self, key: &Key) -> Option<Reason> {
        self.reasons.get(key).copied()
    }

    /// The entries of these kernels that no survivor is listed by.
    pub fn stale<'s>(&'s self, kernels: &BTreeSet<&str>, seen: &BTreeSet<Key>) -> Vec<&'s Key> {
        let ran = |key: &&Key| kernels.contains(key.kernel.as_str()) && !seen.contains(*key);
        self.reasons.keys().filter(ran).collect()
    }
}

/// `class mutation] judgement reason`
fn read_heading(text: &str) -> Result<((&'static str, Mutation), Reason), String> {
    let (change, why) = text.split_once(']').ok_or("a heading is `[class mutation] ..`")?;
    let (class, mutation) =
        change.split_once(' ').ok_or("a heading names a class and a mutation")?;
    let known = CLASSES.iter().find(|known| known.name == class);
    let class = known.ok_or_else(|| format!("there is no class `{class}`"))?;
    let known = class.mutations.iter().find(|known| known.name() == mutation);
    let mutation = known.ok_or_else(|| format!("`{}` has no `{mutation}`", class.name))?;
    let why = why.trim();
    let is = |reason: &&Reason| why == format!("{} {}", reason.judgement().name(), reason.name());
    let reason = Reason::ALL.iter().find(is);
    let reason = reason.ok_or_else(|| format!("`{why}` is no reason"))?;
    Ok(((class.name, *mutation), *reason))
}

fn read_place(text: &str) -> Option<Place> {
    match text.strip_prefix('#') {
        Some(number) => number.parse().ok().map(Place::Ordinal),
        None => text.parse().ok().map(Place::Source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(place: Place) -> Key {
        let change = ("bar.sync", Mutation::Delete);
        Key { change, kernel: "area/name".to_owned(), place }
    }

    #[test]
    fn a_group_gives_its_reason_to_every_place_below() {
        let text = "# about\n[bar.sync delete] equivalent redundant\n: why\narea/name 12 #3\n";
        let survivors = Survivors::parse(text).expect("it is a list");
        assert_eq!(survivors.reason(&key(Place::Source(12))), Some(Reason::Redundant));
        assert_eq!(survivors.reason(&key(Place::Ordinal(3))), Some(Reason::Redundant));
        assert_eq!(survivors.reason(&key(Place::Source(3))), None);
    }

    #[test]
    fn an_entry_of_a_kernel_that_ran_and_that_no_survivor_has_is_stale() {
        let text = "[bar.sync delete] missed lanes\narea/name 12 13\narea/other 7\n";
        let survivors = Survivors::parse(text).expect("it is a list");
        let seen = BTreeSet::from([key(Place::Source(12))]);
        let stale = survivors.stale(&BTreeSet::from(["area/name"]), &seen);
        assert_eq!(stale, [&key(Place::Source(13))]);
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        let error = |text: &str| Survivors::parse(text).expect_err("it is no list");
        assert!(error("area/name 12").contains(":1: a heading comes first"));
        assert!(error("[bar.sync relax] missed lanes").contains("`bar.sync` has no `relax`"));
        assert!(error("[bar.sync delete] equivalent lanes").contains("is no reason"));
        assert!(error("[bar.sync delete] missed lanes\n\na/b 1 x").contains(":3: `x`"));
        assert!(error("[bar.sync delete] missed lanes\na/b 1 1").contains("listed twice"));
    }
}
