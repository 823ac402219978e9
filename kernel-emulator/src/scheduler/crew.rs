//! The host threads of a launch.
//!
//! The thread that launches does the work, and takes helpers in one by one as long as there is work for them, so that a short launch
//! pays for no more threads than it needs. Launches that leave their number open share the processors: together they have one helper
//! fewer than there are processors, so that tests that launch in parallel do not start that many threads each.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{Builder, Scope, available_parallelism};

/// The helpers of all launches of this process that share the processors.
static SHARED: Helpers = Helpers { under_way: AtomicUsize::new(0) };

/// Helpers that are counted together.
#[derive(Debug)]
struct Helpers {
    under_way: AtomicUsize,
}

/// The threads of one launch besides the one that launches.
#[derive(Debug)]
pub(super) struct Crew {
    /// Those of this launch.
    own: Helpers,
    /// How many it may have.
    most: usize,
    /// How many all launches together may have, where they share the processors.
    most_shared: Option<usize>,
}

impl Helpers {
    /// Counts one more, unless there are as many as may be.
    fn claim(&self, most: usize) -> bool {
        let next = |under_way: usize| (under_way < most).then_some(under_way + 1);
        self.under_way.fetch_update(Relaxed, Relaxed, next).is_ok()
    }

    fn release(&self) {
        self.under_way.fetch_sub(1, Relaxed);
    }
}

impl Crew {
    /// For a launch of this many pieces of work: with this many threads at most, or with those that other launches leave.
    pub(super) fn new(threads: Option<usize>, pieces: u64) -> Crew {
        let pieces = usize::try_from(pieces).unwrap_or(usize::MAX);
        let most = threads.unwrap_or_else(processors).min(pieces).saturating_sub(1);
        let most_shared = threads.is_none().then(|| processors() - 1);
        Crew { own: Helpers { under_way: AtomicUsize::new(0) }, most, most_shared }
    }

    /// Has one more thread do the work, if there may be one more.
    pub(super) fn enlarge<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce() + Send + 'scope,
    ) {
        if !self.claim() {
            return;
        }
        // A helper leaves the crew however its work ends.
        let place = Place(self);
        let help = move || {
            let _place = place;
            work();
        };
        // A system that has no more threads drops the closure, and the work continues without this one.
        let _ = Builder::new().name("kiln-emulator".to_owned()).spawn_scoped(scope, help);
    }

    fn claim(&self) -> bool {
        if !self.own.claim(self.most) {
            return false;
        }
        let shared = self.most_shared.is_none_or(|most| SHARED.claim(most));
        if !shared {
            self.own.release();
        }
        shared
    }
}

/// A helper's place in its crew.
struct Place<'a>(&'a Crew);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.own.release();
        if self.0.most_shared.is_some() {
            SHARED.release();
        }
    }
}

/// How many threads run at once on this machine; asked once, since the answer takes reading files.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| available_parallelism().map_or(1, NonZeroUsize::get))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn a_crew_has_no_more_threads_than_pieces_of_work_and_than_it_was_given() {
        for (threads, pieces, required) in
            [(1, 100, 0), (4, 100, 3), (4, 2, 1), (4, 0, 0), (0, 7, 0)]
        {
            let crew = Crew::new(Some(threads), pieces);
            let ended = Barrier::new(required + 1);
            let started = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                // None ends before all were asked for, so that none makes room for another.
                for _ in 0..10 {
                    crew.enlarge(scope, || {
                        started.fetch_add(1, Relaxed);
                        ended.wait();
                    });
                }
                ended.wait();
            });
            assert_eq!(started.into_inner(), required, "{threads} threads, {pieces} pieces");
        }
    }

    #[test]
    fn a_place_is_free_again_when_a_helper_has_ended() {
        let crew = Crew::new(Some(2), 10);
        for _ in 0..3 {
            let done = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                crew.enlarge(scope, || {
                    done.fetch_add(1, Relaxed);
                });
            });
            assert_eq!(done.into_inner(), 1);
        }
    }

    #[test]
    fn launches_that_leave_the_number_open_count_their_helpers_together() {
        let most = processors() - 1;
        let (one, two) = (Crew::new(None, 1 << 20), Crew::new(None, 1 << 20));
        assert_eq!((one.most, one.most_shared), (most, Some(most)));
        let claimed =
            |crew: &Crew| std::iter::repeat_with(|| crew.claim()).take_while(|&got| got).count();
        // Other tests of this process may hold some meanwhile.
        let first = claimed(&one);
        let second = claimed(&two);
        assert!(first + second <= most, "{first} and {second} of {most}");
        (0..first).for_each(|_| drop(Place(&one)));
        (0..second).for_each(|_| drop(Place(&two)));
    }
}
