//! What ptxas made of each text: the record says it of a text that has been assembled before, so that only others are assembled.
//!
//! A text is found by its hash and its architecture. The numbers of another version of ptxas do not count. Of the texts whose numbers
//! count, an eighth is assembled all the same, so that a record that is wrong does not stay so.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::line::{Line, hash};
use crate::assembler::{Assemble, Cost};

/// The numbers of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The ptxas that they are from.
    pub(super) version: Option<String>,
    /// By hash and architecture; none for a line without numbers.
    texts: BTreeMap<(String, String), Option<Cost>>,
}

/// Where the numbers of a text come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Record,
    Sample,
    /// No line has the hash: the text is new or has changed.
    NoLine,
    NoNumbers,
    OtherVersion,
}

impl Costs {
    /// # Errors
    /// Two lines that say different things of one text.
    pub(super) fn of(version: Option<String>, lines: &[Line]) -> Result<Costs, String> {
        let mut costs = Costs { version, texts: BTreeMap::new() };
        for line in lines {
            for (target, cost) in &line.costs {
                let text = (line.hash().to_owned(), target.clone());
                let known = costs.texts.entry(text).or_default();
                if known.is_some() && cost.is_some() && known != cost {
                    return Err(format!("another line has other numbers for this text: {line}"));
                }
                *known = known.or(*cost);
            }
        }
        Ok(costs)
    }

    /// What is known of a text, and where its numbers are to come from.
    fn find(&self, hash: &str, target: &str, version: &str) -> (Source, Option<Cost>) {
        match self.texts.get(&(hash.to_owned(), target.to_owned())) {
            None => (Source::NoLine, None),
            Some(None) => (Source::NoNumbers, None),
            Some(Some(_)) if self.version.as_deref() != Some(version) => {
                (Source::OtherVersion, None)
            }
            Some(Some(cost)) if hash.starts_with(['0', '1']) => (Source::Sample, Some(*cost)),
            Some(Some(cost)) => (Source::Record, Some(*cost)),
        }
    }

    /// What a version of ptxas made of a text. Without a version any counts.
    fn known(&self, hash: &str, target: &str, version: Option<&str>) -> Option<Cost> {
        if version.is_some() && version != self.version.as_deref() {
            return None;
        }
        self.texts.get(&(hash.to_owned(), target.to_owned())).copied().flatten()
    }

    /// Writes numbers into lines: those that are known, and those that the assembler gives now. Gives how many texts it has assembled.
    ///
    /// # Errors
    /// What the assembler says of each text that it refuses; an assembler without a version.
    pub(super) fn fill<A: Assemble>(
        &mut self,
        lines: &mut [(Line, String)],
        assembler: Option<&A>,
    ) -> Result<usize, String> {
        let version = assembler.map(Assemble::version).transpose()?;
        if let Some(version) = version.as_ref().filter(|version| version.contains(' ')) {
            return Err(format!("required a ptxas that says its version; actual: {version}"));
        }
        let mut wanted = BTreeMap::new();
        for (line, ptx) in &mut *lines {
            let (hash, variant) = (line.hash().to_owned(), line.variant().to_owned());
            for (target, cost) in &mut line.costs {
                *cost = self.known(&hash, target, version.as_deref());
                if cost.is_none() {
                    wanted.insert((hash.clone(), target.clone()), (variant.clone(), &*ptx));
                }
            }
        }
        let Some(assembler) = assembler else { return Ok(0) };
        let wanted: Vec<_> = wanted.into_iter().collect();
        let outcomes = on_all_cores(&wanted, |((_, target), (variant, ptx))| {
            let cost = assembler.cost(variant, ptx, target);
            cost.map_err(|error| format!("{variant}, -arch={target}: {error}"))
        });
        let mut refused = Vec::new();
        let mut made = BTreeMap::new();
        for ((text, _), outcome) in wanted.into_iter().zip(outcomes) {
            match outcome {
                Ok(cost) => drop(made.insert(text, cost)),
                Err(error) => refused.push(error),
            }
        }
        if !refused.is_empty() {
            return Err(refused.join("\n"));
        }
        for (line, _) in lines {
            let hash = line.hash().to_owned();
            for (target, cost) in &mut line.costs {
                *cost = cost.or_else(|| made.get(&(hash.clone(), target.clone())).copied());
            }
        }
        self.version = version;
        Ok(made.len())
    }
}

/// Gives what becomes of each, in their order.
fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..count.min(items.len()) {
            scope.spawn(|| {
                while let Some((place, item)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    items.get(place).map(|item| (place, item))
                } {
                    let result = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// An assembler that is asked only for what a record does not say.
#[derive(Debug)]
pub struct Recorded<A> {
    assembler: A,
    version: String,
    costs: Costs,
    /// The record, for messages.
    file: &'static str,
    counts: Mutex<BTreeMap<Source, usize>>,
}

impl<A: Assemble> Recorded<A> {
    pub(super) fn new(assembler: A, costs: Costs, file: &'static str) -> Result<Self, String> {
        let version = assembler.version()?;
        Ok(Recorded { assembler, version, costs, file, counts: Mutex::default() })
    }

    /// How many texts were assembled, and why; how many were not.
    pub fn summary(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |source: Source| counts.get(&source).copied().unwrap_or(0);
        let all: usize = counts.values().sum();
        let kept = of(Source::Record);
        let mut text = format!("ptxas {}: assembled {} of {all} texts", self.version, all - kept);
        let theirs = self.costs.version.as_deref().unwrap_or("none");
        for (source, why) in [
            (Source::Sample, "as a sample of the record".to_owned()),
            (Source::NoLine, "that are new or have changed".to_owned()),
            (Source::NoNumbers, "whose numbers are not recorded".to_owned()),
            (Source::OtherVersion, format!("whose numbers are those of {theirs}")),
        ] {
            if of(source) > 0 {
                let _ = write!(text, ", {} {why}", of(source));
            }
        }
        let _ = write!(text, "; the numbers of {kept} are taken from {}", self.file);
        if all > kept + of(Source::Sample) {
            text.push_str("; `cargo xtask ptx-digest` records the others");
        }
        text
    }
}

impl<A: Assemble> Assemble for Recorded<A> {
    fn cost(&self, name: &str, ptx: &str, target: &str) -> Result<Cost, String> {
        let (source, known) = self.costs.find(&hash(ptx), target, &self.version);
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(source).or_default() += 1;
        let Some(required) = known else { return self.assembler.cost(name, ptx, target) };
        if source == Source::Record {
            return Ok(required);
        }
        let actual = self.assembler.cost(name, ptx, target)?;
        if actual == required {
            return Ok(actual);
        }
        let (file, version) = (self.file, &self.version);
        Err(format!(
            "it is not what {file} says of {version}\n  required  {required}\n  actual    {actual}\n  \
             `cargo xtask ptx-digest` assembles it anew once `-` stands in place of the numbers"
        ))
    }

    fn version(&self) -> Result<String, String> {
        Ok(self.version.clone())
    }
}

#[cfg(test)]
mod tests;
