//! Making and running the mutants of many kernels, on all cores, always with the same result.

use std::{
    num::NonZero,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use sha2::{Digest as _, Sha256};

use super::{
    Mutant,
    subject::{Kernel, Origin, Outcome, Subject},
};

/// What became of the mutants of a kernel.
#[derive(Debug)]
pub struct Judged {
    /// Its name.
    pub kernel: String,
    /// Who compiled it.
    pub origin: Origin,
    /// Its PTX texts, and the mutants of each.
    pub variants: Vec<(String, Vec<Outcome>)>,
    /// What went wrong before any mutant ran.
    pub problems: Vec<String>,
}

/// Which mutants are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// All.
    All,
    /// So many of all, chosen by a seed.
    Sample {
        /// How many.
        size: usize,
        /// Another one gives another sample.
        seed: u64,
    },
}

/// A PTX text with the mutants that are run; what went wrong with the kernel.
type Made<'k> = Result<Vec<(Subject<'k>, Vec<Mutant>)>, String>;

/// Makes mutants of the kernels and runs them.
pub fn judge(kernels: &[Kernel], choice: Choice) -> Vec<Judged> {
    let mut made: Vec<Made<'_>> = each(kernels.iter().collect(), |kernel: &Kernel| {
        let subjects = kernel.subjects()?.into_iter();
        subjects.map(|subject| subject.mutants().map(|mutants| (subject, mutants))).collect()
    });
    if let Choice::Sample { size, seed } = choice {
        sample(&mut made, kernels, size, seed);
    }
    let mut jobs = Vec::new();
    let mut judged = Vec::new();
    for (number, (kernel, made)) in kernels.iter().zip(made).enumerate() {
        let mut problems = Vec::new();
        match made {
            Ok(made) => {
                let made = made.into_iter().filter(|(_, mutants)| !mutants.is_empty());
                jobs.extend(made.map(|(subject, mutants)| (number, subject, mutants)));
            }
            Err(problem) => problems.push(problem),
        }
        let (kernel, origin) = (kernel.name().to_owned(), kernel.origin());
        judged.push(Judged { kernel, origin, variants: Vec::new(), problems });
    }
    let outcomes = each(jobs, |(number, subject, mutants)| {
        (number, subject.variant.clone(), subject.judge(mutants))
    });
    for (number, variant, outcomes) in outcomes {
        match outcomes {
            Ok(outcomes) => judged[number].variants.push((variant, outcomes)),
            Err(problem) => judged[number].problems.push(format!("{variant}: {problem}")),
        }
    }
    judged
}

/// Keeps only a sample of the mutants: those with the least hashes, so that a new kernel changes little of the sample.
fn sample(made: &mut [Made<'_>], kernels: &[Kernel], size: usize, seed: u64) {
    let hash = |kernel: &Kernel, subject: &Subject<'_>, mutant: &Mutant| {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        for text in [kernel.name(), &subject.variant, mutant.class.name, mutant.mutation.name()] {
            hash.update(text);
            hash.update([0]);
        }
        hash.update((mutant.ordinal as u64).to_le_bytes());
        hash.finalize()
    };
    let mut hashes = Vec::new();
    for (kernel, made) in kernels.iter().zip(&*made) {
        for (subject, mutants) in made.iter().flatten() {
            hashes.extend(mutants.iter().map(|mutant| hash(kernel, subject, mutant)));
        }
    }
    let mut sorted = hashes.clone();
    sorted.sort_unstable();
    let Some(first_left_out) = sorted.get(size) else { return };
    let mut hashes = hashes.iter();
    for (_, mutants) in made.iter_mut().flatten().flatten() {
        mutants.retain(|_| hashes.next().is_some_and(|hash| hash < first_left_out));
    }
}

/// Does something with each of a list, on all cores. The results are in the order of the list.
fn each<T: Send, R: Send>(items: Vec<T>, act: impl Fn(T) -> R + Sync) -> Vec<R> {
    let items: Vec<Mutex<Option<T>>> =
        items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let at = AtomicUsize::new(0);
    let work = || {
        while let Some((item, result)) = {
            let at = at.fetch_add(1, Relaxed);
            items.get(at).zip(results.get(at))
        } {
            let item = item.lock().ok().and_then(|mut item| item.take());
            let done = act(item.expect("each item is taken once"));
            if let Ok(mut result) = result.lock() {
                *result = Some(done);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
    let done = results.into_iter().map(|result| result.into_inner().ok().flatten());
    done.map(|result| result.expect("every item was worked on")).collect()
}
