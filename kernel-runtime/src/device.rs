//! Devices: GPUs with a number, emulators of a target, and the choice between them.

mod machine;

#[cfg(feature = "cuda")]
use crate::cuda;
#[cfg(feature = "emulator")]
use crate::emulator;
use crate::{Error, Image, Result, Stream, Target, image::list_of, tensor_map};
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) use machine::Shared;
use std::{
    fmt,
    sync::{Arc, Once, OnceLock, PoisonError, RwLock},
};

/// The environment variable that names the device of [`Device::best_for`].
const VARIABLE: &str = "KILN_DEVICE";

/// A GPU or an emulator. Clones name the same device.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
    /// Why [`Device::best_for`] chose it.
    reason: Option<Arc<str>>,
}

struct Inner {
    id: u64,
    machine: Machine,
    tensor_maps: tensor_map::Cache,
    stand_ins: OnceLock<StandIns>,
    /// The other devices whose memory kernels of this one may use, by their numbers.
    peers: RwLock<Vec<u64>>,
}

/// Addresses of memory for the tensor maps of tensors without elements, [`StandIns::BYTES`] at each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandIns {
    pub(crate) zeros: u64,
    /// Bits that are all 1: not a number, in every floating-point type.
    pub(crate) ones: u64,
    /// What a kernel may write.
    pub(crate) written: u64,
}

impl StandIns {
    const BYTES: usize = 256;
}

/// The back end's side of a device.
enum Machine {
    #[cfg(feature = "cuda")]
    Cuda(Arc<cuda::Gpu>),
    #[cfg(feature = "emulator")]
    Emulator(Arc<emulator::Machine>),
}

/// What a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The compute capability: (major, minor).
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory that one block can use at most, static and dynamic together, in bytes.
    pub shared_bytes_per_block: u32,
}

/// How much memory a device has, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// Free memory of the whole device.
    pub free: u64,
    /// All memory of the device.
    pub total: u64,
    /// Memory of this process's pool, used or not.
    pub reserved: u64,
    /// Memory of the pool that tensors and others use.
    pub used: u64,
}

impl Device {
    /// A device that runs code for one of `targets`: the first GPU that runs the newest of them that any GPU runs, and
    /// without such a GPU the emulator of the newest target. `to_string` says which device it is and why.
    ///
    /// If it is the emulator, a line on standard error says so, and why, once in a process.
    ///
    /// The environment variable `KILN_DEVICE` overrides the choice: `emulator`, `emulator:sm_90a`, `cuda:0`; `gpu`
    /// takes the GPU that would be chosen, and refuses the emulator. Every call that chooses the same GPU, or the same
    /// emulator, returns the same device.
    ///
    /// # Errors
    /// [`Error::NoDevice`] when nothing runs any of the targets, [`Error::DeviceVariable`] when the
    /// variable names no device, and the errors of [`Device::cuda`] for a GPU that it names.
    pub fn best_for(targets: &[Target]) -> Result<Self> {
        match std::env::var(VARIABLE) {
            Ok(value) => Self::named(&value, targets),
            Err(std::env::VarError::NotPresent) => Self::chosen(targets),
            Err(std::env::VarError::NotUnicode(value)) => {
                Err(Error::DeviceVariable { actual: value.to_string_lossy().into_owned() })
            }
        }
    }

    /// The emulator of the newest of `targets`, which the whole process shares: every call with the same target returns
    /// the same device.
    ///
    /// # Errors
    /// [`Error::NoDevice`] when the list is empty; those of [`Device::emulator`].
    pub fn emulator_for(targets: &[Target]) -> Result<Self> {
        Self::shared_emulator(newest(targets)?)
    }

    /// The GPU with a number in the driver's order.
    ///
    /// # Errors
    /// [`Error::DriverMissing`], [`Error::DriverTooOld`], [`Error::NoSuchDevice`],
    /// [`Error::Driver`]; [`Error::BackEndDisabled`] without the feature `cuda`.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        #[cfg(feature = "cuda")]
        {
            use std::{
                collections::BTreeMap,
                sync::{Mutex, PoisonError},
            };
            // One device for each GPU: tensors made in different places can meet in one launch, and a
            // kernel is loaded once.
            static DEVICES: Mutex<BTreeMap<usize, Device>> = Mutex::new(BTreeMap::new());
            let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(device) = devices.get(&ordinal) {
                return Ok(device.clone());
            }
            let device = Self::new(Machine::Cuda(Arc::new(cuda::Gpu::open(ordinal)?)));
            devices.insert(ordinal, device.clone());
            Ok(device)
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = ordinal;
            Err(Error::BackEndDisabled { back_end: "cuda" })
        }
    }

    /// How many GPUs the driver reports.
    ///
    /// # Errors
    /// As [`Device::cuda`].
    pub fn cuda_count() -> Result<usize> {
        #[cfg(feature = "cuda")]
        {
            cuda::device_count()
        }
        #[cfg(not(feature = "cuda"))]
        {
            Err(Error::BackEndDisabled { back_end: "cuda" })
        }
    }

    /// A new emulated GPU of a target, with its own memory.
    ///
    /// A launch that runs more than 2^31 warp instructions, some minutes of work, ends with a fault, so that a kernel
    /// that never ends is found. The environment variable `KILN_MAX_INSTRUCTIONS` sets another limit for devices that
    /// are made afterwards.
    ///
    /// With `KILN_STATS=1`, devices that are made afterwards write a line to standard error about each successful
    /// launch: the kernel, its instance and variant, the grid, how many instructions ran, and bank conflicts of shared
    /// memory (passes after the first).
    #[cfg_attr(
        feature = "emulator",
        doc = "[`Device::emulator_report`] has the numbers of the last launch."
    )]
    ///
    /// # Errors
    /// [`Error::BackEndDisabled`] without the feature `emulator`, [`Error::LimitVariable`] when `KILN_MAX_INSTRUCTIONS`
    /// is not a number.
    pub fn emulator(target: Target) -> Result<Self> {
        #[cfg(feature = "emulator")]
        {
            Ok(Self::new(Machine::Emulator(Arc::new(emulator::Machine::new(target)?))))
        }
        #[cfg(not(feature = "emulator"))]
        {
            let _ = target;
            Err(Error::BackEndDisabled { back_end: "emulator" })
        }
    }

    /// A new stream.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed.
    pub fn stream(&self) -> Result<Stream> {
        self.stream_with(None)
    }

    /// The device's name, such as `NVIDIA H200` or `emulator for sm_90a`.
    pub fn name(&self) -> String {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.name().to_owned(),
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => machine.name(),
        }
    }

    /// Whether kernels run on the CPU.
    pub fn is_emulator(&self) -> bool {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(_) => false,
            #[cfg(feature = "emulator")]
            Machine::Emulator(_) => true,
        }
    }

    /// The properties of the device.
    pub fn properties(&self) -> Properties {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.properties(),
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => machine.properties(),
        }
    }

    /// Whether the device runs code for a target.
    pub fn runs(&self, target: Target) -> bool {
        target.runs_on(self.properties().compute_capability)
            && match self.inner.machine {
                #[cfg(feature = "cuda")]
                Machine::Cuda(_) => true,
                #[cfg(feature = "emulator")]
                Machine::Emulator(ref machine) => machine.runs(target),
            }
    }

    /// What the last launch on this emulator did: instructions, bank conflicts. `None` before the first
    /// launch, and on a GPU.
    #[cfg(feature = "emulator")]
    pub fn emulator_report(&self) -> Option<kernel_emulator::Report> {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(_) => None,
            Machine::Emulator(ref machine) => machine.report(),
        }
    }

    /// The newest image that the device runs.
    pub(crate) fn image_for(&self, images: &'static [Image]) -> Option<&'static Image> {
        images.iter().filter(|image| self.runs(image.target)).max_by_key(|image| image.target)
    }

    /// The device's name in messages: its number and its name.
    pub(crate) fn label(&self) -> String {
        match self.inner.machine {
            #[cfg(feature = "cuda")]
            Machine::Cuda(ref gpu) => gpu.label(),
            #[cfg(feature = "emulator")]
            Machine::Emulator(ref machine) => machine.name(),
        }
    }

    /// The name in a message of a device that is not `other`: emulators of one target share their label.
    pub(crate) fn label_beside(&self, other: &Device) -> String {
        let label = self.label();
        if label == other.label() { format!("another {label}") } else { label }
    }

    /// The tensor maps of launches so far.
    pub(crate) fn tensor_maps(&self) -> &tensor_map::Cache {
        &self.inner.tensor_maps
    }

    /// The memory of [`StandIns`], allocated the first time that it is needed and kept as long as the device.
    pub(crate) fn stand_ins(&self) -> Result<StandIns> {
        if let Some(known) = self.inner.stand_ins.get() {
            return Ok(*known);
        }
        // A stream of its own: that of the launch may be recording.
        let stream = self.stream()?;
        let address = stream.queue().allocate(3 * StandIns::BYTES)?;
        let mut bytes = [0u8; 3 * StandIns::BYTES];
        bytes[StandIns::BYTES..].fill(0xFF);
        stream.queue().upload(address, &bytes)?;
        let at = |index: usize| address + (index * StandIns::BYTES) as u64;
        let made = StandIns { zeros: at(0), ones: at(1), written: at(2) };
        let kept = *self.inner.stand_ins.get_or_init(|| made);
        if kept.zeros != address {
            stream.queue().free(address);
        }
        Ok(kept)
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    /// Whether kernels on this device may use memory of the one with this number.
    pub(crate) fn reaches_number(&self, id: u64) -> bool {
        let peers = || self.inner.peers.read().unwrap_or_else(PoisonError::into_inner);
        id == self.inner.id || peers().contains(&id)
    }

    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn new(machine: Machine) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let tensor_maps = tensor_map::Cache::default();
        let (stand_ins, peers) = (OnceLock::new(), RwLock::default());
        let inner = Inner { id, machine, tensor_maps, stand_ins, peers };
        Self { inner: Arc::new(inner), reason: None }
    }

    /// The device that a value of [`VARIABLE`] names.
    fn named(value: &str, targets: &[Target]) -> Result<Self> {
        let unknown = || Error::DeviceVariable { actual: value.to_owned() };
        let device = match value.split_once(':') {
            None if value == "emulator" => Self::shared_emulator(newest(targets)?)?,
            None if value == "gpu" => {
                let refused = |reasons| Error::NoDevice {
                    targets: list_of(targets.iter().copied()),
                    reasons: format!("{VARIABLE} is `gpu`, and {reasons}"),
                };
                Self::best_gpu(targets).map_err(refused)?.0
            }
            Some(("emulator", name)) => {
                Self::shared_emulator(Target::from_name(name).ok_or_else(unknown)?)?
            }
            Some(("cuda", ordinal)) => Self::cuda(ordinal.parse().map_err(|_| unknown())?)?,
            _ => return Err(unknown()),
        };
        if !targets.iter().any(|target| device.runs(*target)) {
            return Err(Error::NoDevice {
                targets: list_of(targets.iter().copied()),
                reasons: format!("{VARIABLE} names {}", device.label()),
            });
        }
        Ok(device.because(format!("{VARIABLE} is `{value}`")))
    }

    /// A GPU, else the emulator.
    fn chosen(targets: &[Target]) -> Result<Self> {
        let newest = newest(targets)?;
        let refused = match Self::best_gpu(targets) {
            Ok((device, target)) => return Ok(device.because(format!("runs {target}"))),
            Err(refused) => refused,
        };
        match Self::shared_emulator(newest) {
            Ok(device) => {
                static SAID: Once = Once::new();
                SAID.call_once(|| say(&fallback(&device.label(), &refused)));
                Ok(device.because(refused))
            }
            Err(disabled) => Err(Error::NoDevice {
                targets: list_of(targets.iter().copied()),
                reasons: format!("{refused}; {disabled}"),
            }),
        }
    }

    /// The first GPU that runs the newest target that any runs, or why there is none.
    fn best_gpu(targets: &[Target]) -> Result<(Self, Target), String> {
        let count = Self::cuda_count().map_err(|error| error.to_string())?;
        let mut best: Option<(Self, Target)> = None;
        let mut refused = Vec::new();
        for ordinal in 0..count {
            let device = match Self::cuda(ordinal) {
                Ok(device) => device,
                Err(error) => {
                    refused.push(format!("cuda:{ordinal}: {error}"));
                    continue;
                }
            };
            match targets.iter().copied().filter(|target| device.runs(*target)).max() {
                Some(target) if best.as_ref().is_none_or(|(_, other)| target > *other) => {
                    best = Some((device, target));
                }
                Some(_) => {}
                None => {
                    let (major, minor) = device.properties().compute_capability;
                    let label = device.label();
                    refused.push(format!("{label} has compute capability {major}.{minor}"));
                }
            }
        }
        best.ok_or_else(|| match refused.as_slice() {
            [] => "the driver reports no GPU".to_owned(),
            refused => {
                let list = list_of(targets.iter().copied());
                format!("no GPU runs {list}: {}", refused.join("; "))
            }
        })
    }

    /// The emulator that the whole process shares, one for each target.
    fn shared_emulator(target: Target) -> Result<Self> {
        static SHARED: [OnceLock<Device>; Target::ALL.len()] =
            [const { OnceLock::new() }; Target::ALL.len()];
        let shared = &SHARED[target as usize];
        if let Some(device) = shared.get() {
            return Ok(device.clone());
        }
        let device = Self::emulator(target)?;
        Ok(shared.get_or_init(|| device).clone())
    }

    fn because(self, reason: String) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

/// The message if kernels run on the CPU though nobody asked for it.
fn fallback(device: &str, reason: &str) -> String {
    format!(
        "kiln: kernels run on the {device}, since {reason} ({VARIABLE}=gpu makes this an error, {VARIABLE}=emulator says that it is meant)"
    )
}

#[expect(
    clippy::print_stderr,
    reason = "a program that is slower than it should be has to say why"
)]
fn say(line: &str) {
    eprintln!("{line}");
}

fn newest(targets: &[Target]) -> Result<Target> {
    targets.iter().copied().max().ok_or_else(|| Error::NoDevice {
        targets: "a kernel without targets".to_owned(),
        reasons: "the list of targets is empty".to_owned(),
    })
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.inner.id == other.inner.id
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())?;
        match &self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device {}: {self}", self.inner.id)
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;

    const TARGETS: &[Target] = &[Target::Sm80, Target::Sm90a];

    /// A device of a family has what all of the family have, and no more.
    #[test]
    fn an_emulator_runs_what_its_target_has() -> Result<()> {
        for (device, runs, refuses) in [
            (Target::Sm89, Target::Sm80, Target::Sm90a),
            (Target::Sm100f, Target::Sm89, Target::Sm100a),
            (Target::Sm100a, Target::Sm100f, Target::Sm103a),
            (Target::Sm103a, Target::Sm100f, Target::Sm100a),
        ] {
            let emulator = Device::emulator(device)?;
            assert!(emulator.runs(device) && emulator.runs(runs), "{device}");
            assert!(!emulator.runs(refuses), "{device}");
        }
        Ok(())
    }

    #[test]
    fn the_variable_names_an_emulator() -> Result<()> {
        let newest = Device::named("emulator", TARGETS)?;
        assert_eq!(newest.to_string(), "emulator for sm_90a (KILN_DEVICE is `emulator`)");
        let ampere = Device::named("emulator:sm_80", TARGETS)?;
        assert_eq!(ampere.to_string(), "emulator for sm_80 (KILN_DEVICE is `emulator:sm_80`)");
        assert_eq!(newest, Device::named("emulator:sm_90a", &[Target::Sm90a])?);
        assert_ne!(newest, ampere);
        Ok(())
    }

    #[test]
    fn the_emulator_of_the_newest_target_is_shared() -> Result<()> {
        let device = Device::emulator_for(TARGETS)?;
        assert_eq!(device.to_string(), "emulator for sm_90a");
        assert_eq!(device, Device::emulator_for(&[Target::Sm90a])?);
        assert_ne!(device, Device::emulator_for(&[Target::Sm80])?);
        assert!(matches!(Device::emulator_for(&[]), Err(Error::NoDevice { .. })));
        Ok(())
    }

    #[test]
    fn the_variable_has_to_name_a_device() {
        for value in
            ["", "gpus", "cuda", "cuda:", "cuda:x", "cuda:-1", "emulator:sm_70", "cuda:0:1"]
        {
            let error = Device::named(value, TARGETS).expect_err(value);
            assert!(
                matches!(&error, Error::DeviceVariable { actual } if actual == value),
                "{error}"
            );
        }
    }

    #[test]
    fn the_variable_refuses_the_emulator() {
        match Device::named("gpu", TARGETS) {
            Ok(device) => assert!(!device.is_emulator(), "{device}"),
            Err(error) => assert!(
                error
                    .to_string()
                    .starts_with("no device runs sm_80, sm_90a: KILN_DEVICE is `gpu`, and "),
                "{error}"
            ),
        }
    }

    #[test]
    fn the_fallback_says_what_and_why() {
        assert_eq!(
            fallback("emulator for sm_90a", "the driver reports no GPU"),
            "kiln: kernels run on the emulator for sm_90a, since the driver reports no GPU (KILN_DEVICE=gpu makes this an \
             error, KILN_DEVICE=emulator says that it is meant)"
        );
    }

    #[test]
    fn the_named_device_has_to_run_a_target() {
        let error = Device::named("emulator:sm_80", &[Target::Sm90a, Target::Sm100a])
            .expect_err("Ampere runs neither");
        assert_eq!(
            error.to_string(),
            "no device runs sm_90a, sm_100a: KILN_DEVICE names emulator for sm_80"
        );
    }
}
