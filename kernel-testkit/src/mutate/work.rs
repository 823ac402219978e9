//! Making and running the mutants of many kernels, on all cores, always with the same result.

use std::{
    num::NonZero,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

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
        sample(&mut made, size, seed);
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

/// Keeps only a sample of the mutants.
fn sample(made: &mut [Made<'_>], size: usize, seed: u64) {
    let all: usize = made.iter().flatten().flatten().map(|(_, mutants)| mutants.len()).sum();
    // The first of a shuffled list.
    let mut numbers: Vec<usize> = (0..all).collect();
    let mut state = seed;
    for place in 0..size.min(all) {
        let left = (all - place) as u64;
        let step = usize::try_from(next(&mut state) % left).expect("it is less than a usize");
        numbers.swap(place, place + step);
    }
    numbers.truncate(size);
    numbers.sort_unstable();
    let mut chosen = numbers.into_iter().peekable();
    let mut number = 0;
    for (_, mutants) in made.iter_mut().flatten().flatten() {
        mutants.retain(|_| {
            number += 1;
            chosen.next_if_eq(&(number - 1)).is_some()
        });
    }
}

/// The next number of a sequence (`SplitMix64`).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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
