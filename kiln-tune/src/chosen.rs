//! A choice that a process makes once.

use crate::Result;
use kernel_runtime::{Device, Instance};
use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
};

type Places<I> = BTreeMap<(String, Option<usize>, String), Arc<Mutex<Option<I>>>>;

/// The instances that a process has chosen, by device and key: a `static` beside the function that launches the kernel, which then
/// tunes, or reads the cache, at the first use only.
///
/// ```ignore
/// static CHOSEN: Chosen<matmul::Instance> = Chosen::new();
///
/// fn product(stream: &Stream, a: &DeviceTensor<f16, 2>, b: &DeviceTensor<f16, 2>, c: &mut DeviceTensor<f16, 2>) -> kiln_tune::Result<()> {
///     let key = (a.shape(), b.shape());
///     let tuner = || Tuner::new(stream, key).run(|one| one.with(matmul::Args { a, b, c: &mut *c }).launch(stream));
///     let chosen = CHOSEN.get(stream.device(), key, || Ok(tuner()?.best))?;
///     Ok(chosen.with(matmul::Args { a, b, c }).launch(stream)?)
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

    /// The instance that was chosen for the device and the key; what `choose` gives, the first time. Threads that ask for the same
    /// wait for the one that chooses; an error is not kept.
    ///
    /// # Errors
    /// Those of `choose`.
    pub fn get(
        &self,
        device: &Device,
        key: impl Debug,
        choose: impl FnOnce() -> Result<I>,
    ) -> Result<I> {
        let place = (device.name(), device.ordinal(), format!("{key:?}"));
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(places.entry(place).or_default())
        };
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *place {
            return Ok(known);
        }
        let chosen = choose()?;
        Ok(*place.insert(chosen))
    }
}

impl<I: Instance> Default for Chosen<I> {
    fn default() -> Self {
        Self::new()
    }
}
