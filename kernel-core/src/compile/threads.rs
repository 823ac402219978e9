//! Independent jobs, on several threads.

use std::{
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The stack of a thread beside the caller's: as much as rustc gives the caller. Less than 2 MiB is in use when calls nest as deep as
/// they may (`MAX_DEPTH` of `elaborate`), in a compiler without optimisation, which is 8 KiB for each of 256 expressions; no other phase
/// recurses deeper than the 96 expressions that a tree may have.
const STACK_BYTES: usize = 8 << 20;

/// What each of `count` jobs gives, on this many threads at most, the caller's among them.
///
/// A job that panics gives nothing: the caller does it again, and panics where its own panics are awaited. What `work` gives must
/// depend on nothing but the number of the job.
pub(super) fn share_out<T: Send>(
    count: usize,
    threads: Option<NonZero<usize>>,
    work: &(dyn Fn(usize) -> Option<T> + Sync),
) -> Vec<Option<T>> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= count {
                return done;
            }
            // What was borrowed is shared and not changed, and what was owned is gone.
            let result = catch_unwind(AssertUnwindSafe(|| work(job)));
            done.push((job, result.unwrap_or(None)));
        }
    };
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let others = threads.map_or(1, NonZero::get).min(count).saturating_sub(1);
    thread::scope(|scope| {
        // If the system gives no more threads, fewer do the work.
        let spawn = |_| {
            let builder = thread::Builder::new().name("kiln".to_owned()).stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, run).ok()
        };
        let spawned: Vec<_> = (0..others).map_while(spawn).collect();
        let own = run();
        let joined = spawned.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
        for (job, result) in own.into_iter().chain(joined) {
            results[job] = result;
        }
    });
    results
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs_whoever_did_them() {
        for threads in [None, NonZero::new(1), NonZero::new(4), NonZero::new(99)] {
            let results = share_out(20, threads, &|job| (job % 7 != 3).then_some(job * job));
            let required: Vec<_> = (0..20).map(|job| (job % 7 != 3).then_some(job * job)).collect();
            assert_eq!(results, required);
        }
    }

    #[test]
    fn two_jobs_run_at_the_same_time() {
        // Each waits for the other one.
        let here = [AtomicBool::new(false), AtomicBool::new(false)];
        let results = share_out(2, NonZero::new(2), &|job| {
            here[job].store(true, Ordering::SeqCst);
            while !here[1 - job].load(Ordering::SeqCst) {
                thread::yield_now();
            }
            Some(())
        });
        assert_eq!(results, [Some(()), Some(())]);
    }

    #[test]
    fn a_job_that_panics_gives_nothing_and_the_others_are_done() {
        let results = share_out(9, NonZero::new(3), &|job| {
            assert_ne!(job, 4, "this message is wanted");
            Some(job)
        });
        let required: Vec<_> = (0..9).map(|job| (job != 4).then_some(job)).collect();
        assert_eq!(results, required);
    }
}
