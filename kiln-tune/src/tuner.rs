//! The choice of an instance.

use crate::{
    Cache, Entry, Error, Outcome, Output, Result, Row, Tuned, Unit,
    measure::{self, Cost},
    output::{self, Comparison},
    question::Question,
    report::named,
};
use indicatif::{ProgressBar, ProgressStyle};
use kernel_runtime::{Error as RuntimeError, Instance, Resources, Stream};
use std::{
    collections::BTreeMap,
    fmt::{self, Debug},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing, and no results are compared. The fastest instance with a known time is chosen; without known times, the
    /// first one that the device runs. In [`Tuner::run_checked`] a time is known only if the result was compared when
    /// it was measured.
    Off,
    /// Instances without a known time.
    #[default]
    On,
    /// Everything again.
    All,
}

impl Mode {
    /// The mode in the environment variable `KILN_TUNE`: `off`, `on` or `all`; `on` without it.
    ///
    /// # Errors
    /// [`Error::Variable`].
    pub fn from_environment() -> Result<Self> {
        let Some(value) = std::env::var_os("KILN_TUNE") else { return Ok(Self::On) };
        match value.to_str() {
            Some("off") => Ok(Self::Off),
            Some("on" | "") => Ok(Self::On),
            Some("all") => Ok(Self::All),
            _ => Err(Error::Variable { actual: value.to_string_lossy().into_owned() }),
        }
    }
}

/// Leaves out instances by their values and resources.
type Keep<'a, I> = Box<dyn FnMut(I, &Resources) -> bool + 'a>;

/// Predicts the cost of an instance.
type Model<'a, I> = Box<dyn FnMut(I, &Resources) -> f64 + 'a>;

/// Chooses an instance of a kernel; see the [crate](crate).
///
/// ```
/// use kernel_runtime::{DeviceTensor, Instance, Result, Stream};
/// use kiln_tune::{Cache, Tuned, Tuner};
///
/// /// The fastest of all instances that keep everything in registers, for one `y`.
/// fn fastest<I: Instance>(
///     stream: &Stream,
///     y: &mut DeviceTensor<f32, 2>,
///     launch: impl Fn(I, &mut DeviceTensor<f32, 2>) -> Result<()>,
/// ) -> kiln_tune::Result<Tuned<I>> {
///     Tuner::new(stream, y.shape())
///         .prune(|_, takes| takes.local_bytes.unwrap_or(0) == 0)
///         .cache(Cache::user())
///         .tolerance(1e-6)
///         .run_checked(y, launch)
/// }
/// ```
#[must_use = "nothing is chosen before `run`"]
pub struct Tuner<'a, I: Instance> {
    stream: &'a Stream,
    key: String,
    among: Vec<I>,
    prune: Option<Keep<'a, I>>,
    model: Option<(usize, Model<'a, I>)>,
    cache: Option<Cache>,
    mode: Option<Mode>,
    tolerance: f64,
    report: Option<PathBuf>,
}

impl<I: Instance> Debug for Tuner<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, key, among, cache, mode, tolerance, report, .. } = self;
        f.debug_struct("Tuner")
            .field("stream", stream)
            .field("key", key)
            .field("among", among)
            .field("cache", cache)
            .field("mode", mode)
            .field("tolerance", tolerance)
            .field("report", report)
            .finish_non_exhaustive()
    }
}

/// An instance to choose from.
struct Candidate<I> {
    instance: I,
    question: Option<Question>,
    outcome: Outcome,
    resources: Option<Resources>,
    /// The cost in the cache, even if it does not count now.
    cached: Option<f64>,
    bursts: u32,
    /// The least tolerance with which its result was compared.
    compared: Option<f64>,
    /// Whether the cache lacks the newest result.
    is_new: bool,
}

impl<'a, I: Instance> Tuner<'a, I> {
    /// Chooses among all instances, for launches on the stream's device.
    ///
    /// `key` has everything about the arguments that times depend on, such as `[m, n, k]`: times under one key say
    /// nothing about another. If an instance refuses some arguments, for example because they break a fact, the key has
    /// to distinguish these too.
    pub fn new(stream: &'a Stream, key: impl Debug) -> Self {
        Self {
            stream,
            key: format!("{key:?}"),
            among: I::all().to_vec(),
            prune: None,
            model: None,
            cache: None,
            mode: None,
            tolerance: 0.0,
            report: None,
        }
    }

    /// Chooses among these instances only.
    pub fn among(self, instances: impl IntoIterator<Item = I>) -> Self {
        Self { among: instances.into_iter().collect(), ..self }
    }

    /// Leaves out the instances that `keep` rejects because of their resources. These are known without loading the
    /// code if the cache has them; [`among`](Self::among) never loads any code.
    pub fn prune(self, keep: impl FnMut(I, &Resources) -> bool + 'a) -> Self {
        Self { prune: Some(Box::new(keep)), ..self }
    }

    /// Leaves out all but the `count` instances with the lowest cost that `cost` predicts. Equal ones are kept in their
    /// order.
    pub fn model(self, count: usize, cost: impl FnMut(I, &Resources) -> f64 + 'a) -> Self {
        Self { model: Some((count, Box::new(cost))), ..self }
    }

    /// Where times are stored; the default is [`Cache::user`].
    pub fn cache(self, cache: Cache) -> Self {
        Self { cache: Some(cache), ..self }
    }

    /// What is measured; this overrides [`Mode::from_environment`].
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// How far results may differ, relative to the greatest magnitude in them; the default is 0, which means equality.
    /// Instances that add floats in another order need a tolerance of about the square root of the number of terms
    /// times the precision of the type. A negative value or NaN is 0. Integers beyond 2^53 are compared as the nearest
    /// `f64`.
    pub fn tolerance(self, relative: f64) -> Self {
        Self { tolerance: output::bound(relative), ..self }
    }

    /// The folder for the table and plot of the choice; this overrides the environment variable `KILN_TUNE_REPORT`.
    pub fn report(self, folder: impl Into<PathBuf>) -> Self {
        Self { report: Some(folder.into()), ..self }
    }

    /// Chooses; `launch` launches an instance once, on the stream. Results are not compared. The tensors that the
    /// kernel writes keep what the launches wrote.
    ///
    /// # Errors
    /// [`Error::NothingToChoose`], [`Error::Failed`], [`Error::Variable`], [`Error::Runtime`].
    pub fn run(self, mut launch: impl FnMut(I) -> kernel_runtime::Result<()>) -> Result<Tuned<I>> {
        self.run_checked(&mut (), |instance, ()| launch(instance))
    }

    /// Like [`run`](Self::run), but compares what the instances write to `output`. Before each compared launch, and
    /// after tuning, the output is restored to what it was: so kernels that add to their output can be tuned too.
    ///
    /// If the other instances are already known, a newly measured one is compared with the fastest of them. An instance
    /// is known only if it was compared with this tolerance or a smaller one: what [`run`](Self::run) measured is
    /// measured again. With [`Mode::Off`] nothing is launched, and times of results that were not compared do not
    /// count.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and [`Error::Different`].
    pub fn run_checked<O: Output>(
        mut self,
        output: &mut O,
        mut launch: impl FnMut(I, &mut O) -> kernel_runtime::Result<()>,
    ) -> Result<Tuned<I>> {
        let mode = self.mode.map_or_else(Mode::from_environment, Ok)?;
        let cache = self.cache.take().unwrap_or_else(Cache::user);
        let required = O::COMPARES.then_some(self.tolerance);
        let mut candidates = self.candidates(&cache.known(), mode, required);
        self.leave_out(&mut candidates)?;
        let is_missing = |one: &Candidate<I>| one.outcome == Outcome::Unknown;
        if mode != Mode::Off && candidates.iter().any(is_missing) {
            let saved = output.save(self.stream)?;
            let measured = self.measured(&mut candidates, output, &saved, &mut launch);
            let restored = output.restore(&saved, self.stream);
            measured?;
            restored?;
            self.stream.synchronize()?;
        }
        let chosen = self.chosen(&mut candidates)?;
        cache.add(&new_entries(&candidates));
        let tuned = self.tuned(candidates, chosen)?;
        if let Some(folder) = self.report_folder() {
            save(&tuned, &folder);
        }
        Ok(tuned)
    }

    /// The instances with what is known about them; `required` is the tolerance with which results must have been
    /// compared.
    fn candidates(
        &self,
        known: &BTreeMap<Question, Entry>,
        mode: Mode,
        required: Option<f64>,
    ) -> Vec<Candidate<I>> {
        let device = self.stream.device();
        let candidate = |&instance: &I| {
            let image = match instance.image(device) {
                Ok(image) => image,
                Err(error) => {
                    let outcome = Outcome::Refused(error.to_string());
                    return Candidate {
                        instance,
                        question: None,
                        outcome,
                        resources: None,
                        cached: None,
                        bursts: 0,
                        compared: None,
                        is_new: false,
                    };
                }
            };
            // What a launch takes depends on which optional arguments are absent.
            let images: Vec<_> =
                instance.images().iter().filter(|other| other.target == image.target).collect();
            let question = Question::new(&images, instance.to_string(), device, &self.key);
            let entry = known.get(&question);
            let outcome = match entry {
                Some(entry) if mode != Mode::All => {
                    match (&entry.refused, entry.cost_compared(required)) {
                        (Some(why), _) => Outcome::Refused(why.clone()),
                        (None, Some(cost)) => Outcome::Cached(cost),
                        (None, None) => Outcome::Unknown,
                    }
                }
                Some(_) | None => Outcome::Unknown,
            };
            let resources = entry.and_then(|entry| entry.takes).map(Resources::from);
            let bursts = entry.map_or(0, |entry| entry.bursts);
            Candidate {
                instance,
                question: Some(question),
                outcome,
                resources,
                cached: entry.and_then(|entry| entry.cost),
                bursts,
                compared: entry.and_then(|entry| entry.compared),
                is_new: false,
            }
        };
        self.among.iter().map(candidate).collect()
    }

    /// Asks the predicate and the model.
    fn leave_out(&mut self, candidates: &mut [Candidate<I>]) -> Result<()> {
        if self.prune.is_none() && self.model.is_none() {
            return Ok(());
        }
        let mut predicted = Vec::new();
        for (at, one) in candidates.iter_mut().enumerate() {
            one.load(self.stream)?;
            let Some(resources) = one.resources.filter(|_| !one.is_refused()) else { continue };
            if self.prune.as_mut().is_some_and(|keep| !keep(one.instance, &resources)) {
                one.outcome = Outcome::Pruned;
            } else if let Some((_, model)) = &mut self.model {
                let cost = model(one.instance, &resources);
                // `total_cmp` orders a NaN by its sign, before or behind every number.
                predicted.push((if cost.is_nan() { f64::INFINITY } else { cost }, at));
            }
        }
        if let Some((count, _)) = self.model {
            predicted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            for (_, at) in predicted.into_iter().skip(count) {
                candidates[at].outcome = Outcome::Pruned;
            }
        }
        Ok(())
    }

    /// Launches instances without a known cost: once to compare results, then as often as needed.
    fn measured<O: Output>(
        &self,
        candidates: &mut [Candidate<I>],
        output: &mut O,
        saved: &O::Saved,
        launch: &mut impl FnMut(I, &mut O) -> kernel_runtime::Result<()>,
    ) -> Result<()> {
        let device = self.stream.device();
        let compared = O::COMPARES.then_some(self.tolerance);
        let reference = best(candidates);
        let mut comparison = Comparison::new(self.tolerance);
        let mut timed = Vec::new();
        let missing =
            (0..candidates.len()).filter(|&at| candidates[at].outcome == Outcome::Unknown);
        let order: Vec<usize> = reference.into_iter().chain(missing).collect();
        let progress = progress(order.len(), I::KERNEL, &self.key);
        for at in order {
            let is_reference = reference == Some(at);
            let one = &mut candidates[at];
            if !is_reference {
                one.load(self.stream)?;
            }
            if one.is_refused() {
                continue;
            }
            progress.set_message(named(&one.instance));
            output.restore(saved, self.stream)?;
            let before = device.emulated_instructions();
            let launched = launch(one.instance, output).and_then(|()| self.stream.synchronize());
            match launched {
                Ok(()) => {}
                Err(error) if does_not_fit(&error) => {
                    one.outcome = Outcome::Refused(error.to_string());
                    continue;
                }
                Err(error) => return Err(failed(one.instance, error)),
            }
            let after = device.emulated_instructions();
            let values = output.values(self.stream)?;
            comparison.add(named(&one.instance), values);
            progress.inc(1);
            if is_reference {
                continue;
            }
            match before.zip(after) {
                #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
                Some((before, after)) => {
                    let cost = after.saturating_sub(before) as f64;
                    one.keep(Cost { cost, bursts: 1 }, compared);
                }
                None => timed.push(at),
            }
        }
        comparison.finish(I::KERNEL)?;
        let known = best(candidates).and_then(|at| candidates[at].outcome.cost());
        let instances: Vec<I> = timed.iter().map(|&at| candidates[at].instance).collect();
        let mut failing = None;
        progress.set_length(progress.length().unwrap_or(0) + measure::bursts(timed.len()) as u64);
        let costs = measure::times(
            self.stream,
            timed.len(),
            known.unwrap_or(f64::INFINITY),
            &mut |at| {
                failing = Some(instances[at]);
                launch(instances[at], output)
            },
            &mut || progress.inc(1),
        );
        progress.finish_and_clear();
        let costs = costs.map_err(|error| match failing {
            Some(instance) => failed(instance, error),
            None => error.into(),
        })?;
        for (at, cost) in timed.into_iter().zip(costs) {
            candidates[at].keep(cost, compared);
        }
        Ok(())
    }

    /// The position of the choice: the lowest known cost, or without any the first instance whose code the device
    /// takes.
    fn chosen(&self, candidates: &mut [Candidate<I>]) -> Result<Option<usize>> {
        if let Some(at) = best(candidates) {
            return Ok(Some(at));
        }
        for (at, one) in candidates.iter_mut().enumerate() {
            if one.outcome == Outcome::Unknown {
                one.load(self.stream)?;
                if !one.is_refused() {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }

    /// The choice with its reasons.
    fn tuned(&self, mut candidates: Vec<Candidate<I>>, chosen: Option<usize>) -> Result<Tuned<I>> {
        let Some(chosen) = chosen.map(|at| candidates[at].instance) else {
            return Err(Error::NothingToChoose {
                kernel: I::KERNEL,
                reasons: reasons(&candidates),
            });
        };
        let cost = |one: &Candidate<I>| one.outcome.cost().unwrap_or(f64::INFINITY);
        candidates.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let device = self.stream.device();
        let row = |one: Candidate<I>| Row {
            instance: one.instance,
            outcome: one.outcome,
            resources: one.resources,
        };
        Ok(Tuned {
            best: chosen,
            rows: candidates.into_iter().map(row).collect(),
            unit: if device.is_emulator() { Unit::Instructions } else { Unit::Microseconds },
            device: device.name(),
            key: self.key.clone(),
        })
    }

    fn report_folder(&self) -> Option<PathBuf> {
        let named = || std::env::var_os("KILN_TUNE_REPORT").filter(|folder| !folder.is_empty());
        self.report.clone().or_else(|| named().map(PathBuf::from))
    }
}

impl<I: Instance> Candidate<I> {
    fn is_refused(&self) -> bool {
        matches!(self.outcome, Outcome::Refused(_))
    }

    /// Finds the resources of the code, and whether the device takes it.
    fn load(&mut self, stream: &Stream) -> Result<()> {
        if self.resources.is_some() || self.is_refused() {
            return Ok(());
        }
        match self.instance.resources(stream.device()) {
            Ok(resources) => self.resources = Some(resources),
            Err(error) if does_not_fit(&error) => {
                self.outcome = Outcome::Refused(error.to_string());
            }
            Err(error) => return Err(failed(self.instance, error)),
        }
        self.is_new = true;
        Ok(())
    }

    /// Notes what was measured, and the tolerance with which the result was compared. An earlier comparison was of the same code, and
    /// still counts.
    fn keep(&mut self, Cost { cost, bursts }: Cost, compared: Option<f64>) {
        self.outcome = Outcome::Measured(cost);
        self.bursts = bursts;
        self.compared = self.compared.into_iter().chain(compared).reduce(f64::min);
        self.is_new = true;
    }

    /// What a cache stores. That arguments do not fit is not stored, since other arguments may fit.
    fn entry(&self, measured: u64) -> Option<Entry> {
        let question = self.question.clone().filter(|_| self.is_new)?;
        let refused = match &self.outcome {
            Outcome::Refused(why) if self.resources.is_none() => Some(why.clone()),
            Outcome::Refused(_)
            | Outcome::Measured(_)
            | Outcome::Cached(_)
            | Outcome::Unknown
            | Outcome::Pruned => None,
        };
        Some(Entry {
            kernel: question.kernel,
            instance: question.instance,
            ptx: question.ptx,
            device: question.device,
            driver: question.driver,
            key: question.key,
            cost: self.outcome.cost().or(self.cached),
            bursts: self.bursts,
            compared: self.compared,
            refused,
            takes: self.resources.map(Into::into),
            measured,
        })
    }
}

fn new_entries<I: Instance>(candidates: &[Candidate<I>]) -> Vec<Entry> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    candidates.iter().filter_map(|one| one.entry(now)).collect()
}

/// The position of the lowest known cost; the first of equal ones.
fn best<I: Instance>(candidates: &[Candidate<I>]) -> Option<usize> {
    let costs = candidates.iter().enumerate();
    let costs = costs.filter_map(|(at, one)| Some((at, one.outcome.cost()?)));
    costs.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at)
}

/// The reasons why no instance is left.
fn reasons<I: Instance>(candidates: &[Candidate<I>]) -> String {
    let reason = |one: &Candidate<I>| match &one.outcome {
        Outcome::Refused(why) => format!("{}: {why}", named(&one.instance)),
        Outcome::Measured(_) | Outcome::Cached(_) | Outcome::Unknown | Outcome::Pruned => {
            format!("{}: pruned", named(&one.instance))
        }
    };
    let reasons: Vec<String> = candidates.iter().map(reason).collect();
    if reasons.is_empty() { "`among` gave none".to_owned() } else { reasons.join("; ") }
}

fn failed<I: Instance>(instance: I, cause: RuntimeError) -> Error {
    Error::Failed { kernel: I::KERNEL, instance: named(&instance), cause: Box::new(cause) }
}

/// Whether an error says that an instance does not fit the device or the arguments; another one may fit.
fn does_not_fit(error: &RuntimeError) -> bool {
    matches!(
        error,
        RuntimeError::TargetNotRunnable { .. }
            | RuntimeError::SharedMemory { .. }
            | RuntimeError::BlockTooLarge { .. }
            | RuntimeError::ClusterTooLarge { .. }
            | RuntimeError::DriverTooOld { .. }
            | RuntimeError::FactBroken { .. }
            | RuntimeError::InstanceArgument { .. }
            | RuntimeError::TensorMap { .. }
            | RuntimeError::TensorMapRefused { .. }
            | RuntimeError::GridNotOfClusters { .. }
            | RuntimeError::GridOutOfRange { .. }
            | RuntimeError::TooManyBlocks { .. }
    )
}

/// A progress bar on standard error, if that is a terminal.
fn progress(len: usize, kernel: &str, key: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {msg}")
        .expect("a template without errors");
    ProgressBar::new(len as u64).with_style(style).with_prefix(format!("tuning {kernel} {key}"))
}

/// Writes the report; if that fails, the choice is kept.
#[expect(clippy::print_stderr, reason = "the report was asked for, and there is none")]
fn save<I: Instance>(tuned: &Tuned<I>, folder: &Path) {
    if let Err(error) = tuned.save(folder) {
        eprintln!("kiln: no report of tuning in {}: {error}", folder.display());
    }
}
