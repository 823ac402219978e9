//! Memory of other libraries that is returned to them when Kiln's work on it is done.

use super::{Mark, Queue};
use crate::buffer::Owner;
use std::{
    panic::catch_unwind,
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

/// The pause between two checks of work in flight.
const LOOK: Duration = Duration::from_millis(1);

/// Owners that wait for a mark.
struct Waiting {
    mark: Mark,
    owner: Owner,
}

impl Queue {
    /// Drops the owner of another library's memory after all work of the stream so far: at once if the library frees it
    /// in the order of this stream, which is its own.
    pub(crate) fn give_back(&self, owner: Owner) {
        if self.is_foreign() {
            // In another thread than the stream's, all work is over.
            return drop(owner);
        }
        match self.mark() {
            Ok(mark) => Waiting { mark, owner }.end(),
            // The device has failed, and nobody can tell whether its work is over.
            Err(_) => std::mem::forget(owner),
        }
    }
}

impl Waiting {
    /// The host does not wait: a thread does.
    fn end(self) {
        static THREAD: OnceLock<mpsc::Sender<Waiting>> = OnceLock::new();
        if self.mark.is_over().unwrap_or(false) {
            return drop(self.owner);
        }
        let start = || {
            let (sender, coming) = mpsc::channel();
            // Without a thread the channel has no receiver, and whoever sends waits itself.
            let _ = thread::Builder::new()
                .name("kiln-give-back".to_owned())
                .spawn(move || give_back_in_turn(&coming));
            sender
        };
        if let Err(unsent) = THREAD.get_or_init(start).send(self) {
            let Self { mark, owner } = unsent.0;
            match mark.wait_for_end() {
                Ok(()) => drop(owner),
                Err(_) => std::mem::forget(owner),
            }
        }
    }
}

/// Drops each owner when its work is done, in any order: work of one stream does not keep memory of another.
fn give_back_in_turn(coming: &mpsc::Receiver<Waiting>) {
    let mut waiting: Vec<Waiting> = Vec::new();
    loop {
        let next = if waiting.is_empty() {
            coming.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected)
        } else {
            coming.recv_timeout(LOOK)
        };
        match next {
            Ok(one) => waiting.push(one),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            // The sender is a static, and lives as long as the process.
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
        let (over, under_way): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .map(|one| (one.mark.is_over(), one))
            .partition(|(over, _)| !matches!(over, Ok(false)));
        waiting = under_way.into_iter().map(|(_, one)| one).collect();
        for (over, Waiting { owner, .. }) in over {
            match over {
                // A panic of one library's has nothing to do with what the others wait for.
                Ok(_) => drop(catch_unwind(|| drop(owner))),
                Err(_) => std::mem::forget(owner),
            }
        }
    }
}
