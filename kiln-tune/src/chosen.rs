//! A choice that a process makes once.

use crate::{Error, Result};
use kernel_runtime::{Device, Instance};
use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
};

type Places<I> = BTreeMap<(String, Option<usize>, String), Arc<Place<I>>>;

/// The choice for a device and a key.
#[derive(Debug)]
struct Place<I> {
    chosen: Mutex<Option<I>>,
    /// Who is choosing.
    thread: Mutex<Option<ThreadId>>,
}

impl<I> Default for Place<I> {
    fn default() -> Self {
        Self { chosen: Mutex::new(None), thread: Mutex::new(None) }
    }
}

impl<I> Place<I> {
    fn thread(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that nobody is choosing any more, even after a panic.
struct Choosing<'a, I>(&'a Place<I>);

impl<I> Drop for Choosing<'_, I> {
    fn drop(&mut self) {
        *self.0.thread() = None;
    }
}

/// The instances that a process has chosen, by device and key. As a `static` beside the function that launches the
/// kernel, it makes the function tune, or read the cache, only at the first use.
///
/// ```
/// use kernel_runtime::{Instance, Result, Stream};
/// use kiln_tune::{Chosen, Tuner};
///
/// /// Launches the instance that is the fastest for rows of this length; `chosen` is a `static` of the caller.
/// fn launch<I: Instance>(
///     chosen: &Chosen<I>,
///     stream: &Stream,
///     columns: usize,
///     mut launch: impl FnMut(I) -> Result<()>,
/// ) -> kiln_tune::Result<()> {
///     let tune = || Ok(Tuner::new(stream, columns).run(&mut launch)?.best);
///     let best = chosen.get(stream.device(), columns, tune)?;
///     Ok(launch(best)?)
/// }
/// ```
#[derive(Debug)]
pub struct Chosen<I: Instance> {
    places: Mutex<Places<I>>,
}

impl<I: Instance> Chosen<I> {
    /// Nothing is chosen yet.
    pub const fn new() -> Self {
        Self { places: Mutex::new(BTreeMap::new()) }
    }

    /// The instance that was chosen for the device and the key; the first call takes it from `choose`. Threads that ask
    /// for the same choice wait for the one that chooses; errors are not kept. Choices in several threads that ask for
    /// one another in a circle wait forever.
    ///
    /// # Errors
    /// Those of `choose`; [`Error::AsksForItself`] if `choose` asks for its own choice.
    pub fn get(
        &self,
        device: &Device,
        key: impl Debug,
        choose: impl FnOnce() -> Result<I>,
    ) -> Result<I> {
        let key = format!("{key:?}");
        let place = (device.name(), device.ordinal(), key.clone());
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(places.entry(place).or_default())
        };
        if *place.thread() == Some(thread::current().id()) {
            return Err(Error::AsksForItself { kernel: I::KERNEL, key });
        }
        let mut chosen = place.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *chosen {
            return Ok(known);
        }
        *place.thread() = Some(thread::current().id());
        let _choosing = Choosing(&place);
        Ok(*chosen.insert(choose()?))
    }
}

impl<I: Instance> Default for Chosen<I> {
    fn default() -> Self {
        Self::new()
    }
}
