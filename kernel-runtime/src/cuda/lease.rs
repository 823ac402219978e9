//! Memory of other libraries that goes back to them when Kiln's work on it is done.

use super::{Mark, Queue};
use crate::buffer::Owner;
use std::{
    panic::catch_unwind,
    sync::{OnceLock, mpsc},
    thread,
};

/// What waits for a mark to be given back.
struct Waiting {
    mark: Mark,
    owner: Owner,
}

impl Queue {
    /// Drops what keeps memory of another library allocated, behind all work of the stream so far: at once where the library frees it in
    /// the order of this stream, which is its own.
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
    /// The host goes on meanwhile: a thread waits.
    fn end(self) {
        static THREAD: OnceLock<mpsc::Sender<Waiting>> = OnceLock::new();
        if self.mark.is_over().unwrap_or(false) {
            return drop(self.owner);
        }
        let start = || {
            let (sender, waiting) = mpsc::channel::<Self>();
            // Without a thread the channel has no receiver, and whoever sends waits itself.
            let _ = thread::Builder::new()
                .name("kiln-give-back".to_owned())
                .spawn(move || waiting.into_iter().for_each(Self::wait));
            sender
        };
        if let Err(unsent) = THREAD.get_or_init(start).send(self) {
            unsent.0.wait();
        }
    }

    fn wait(self) {
        let Self { mark, owner } = self;
        match mark.wait_for_end() {
            // A panic of one library's has nothing to do with what the others wait for.
            Ok(()) => drop(catch_unwind(|| drop(owner))),
            Err(_) => std::mem::forget(owner),
        }
    }
}
