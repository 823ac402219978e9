//! Launches: a kernel instance with its arguments and its grid, checked before anything reaches a device.

mod check;
mod maps;
mod said;

use crate::{
    __GridOf, Argument, Device, Error, Grid, GridFault, Image, IntoGrid, Resources, Result, Stream,
    Variant,
    argument::Value,
    back_end::Order,
    buffer::Access,
    graph,
    image::list_of,
    profile::{self, Profile},
};
use std::ops::Deref;

/// Entry parameters that a launch packs without allocating; kernels with more take a `Vec`.
const INLINE_SLOTS: usize = 64;

/// A kernel instance with its arguments, ready to be launched.
///
/// Dtypes and ranks are right by construction. [`launch`](Self::launch) checks what depends on values, and returns an
/// error that names the argument; nothing has been launched then.
#[derive(Debug)]
#[must_use = "nothing runs before `.launch(&stream)`"]
pub struct Launch<'a> {
    images: &'static [Image],
    arguments: Vec<Argument<'a>>,
    grid: Option<[i32; 3]>,
    persistent: Option<i32>,
    /// The error of the kernel's own grid.
    fault: Option<GridFault>,
    /// The error of the arguments.
    refused: Option<Box<Error>>,
    /// The images of all instances, if the program chose the instance at run time.
    choices: &'static [&'static [Image]],
    blocks: Blocks,
}

/// What a kernel may assume of the blocks of its grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// They run in any order, not all at once.
    Independent,
    /// All of them run at the same time: they may wait for one another.
    Cooperative,
}

/// Like [`Launch`], for a kernel that works with raw addresses: the launch itself is `unsafe`.
///
/// These are kernels with a `Ptr` argument, with `.ptr()` of a tensor, or with a `ptx!` text that does more than
/// compute or gives a pointer: their reads and writes have no bounds check.
#[derive(Debug)]
#[must_use = "nothing runs before `.launch(&stream)`"]
pub struct LaunchOfRawAddresses<'a>(Launch<'a>);

/// Makes a launch; generated code calls it with one image for each target.
#[doc(hidden)]
pub fn __launch<'a>(
    images: &'static [Image],
    arguments: Vec<Argument<'a>>,
    grid: Option<Result<Grid, GridFault>>,
) -> Launch<'a> {
    let launch = Launch {
        images: check::for_arguments(images, &arguments),
        arguments,
        grid: None,
        persistent: None,
        fault: None,
        blocks: Blocks::Independent,
        refused: None,
        choices: &[],
    };
    match grid {
        Some(Ok(grid)) => launch.grid(grid),
        Some(Err(fault)) => Launch { fault: Some(fault), ..launch },
        None => launch,
    }
}

/// As [`__launch`], for kernels that take `Ptr` arguments.
#[doc(hidden)]
pub fn __launch_unsafe<'a>(
    images: &'static [Image],
    arguments: Vec<Argument<'a>>,
    grid: Option<Result<Grid, GridFault>>,
) -> LaunchOfRawAddresses<'a> {
    LaunchOfRawAddresses(__launch(images, arguments, grid))
}

/// A launch that fails, because an argument has no tensor.
#[doc(hidden)]
pub fn __refused<'a>(images: &'static [Image], error: Error) -> Launch<'a> {
    Launch { refused: Some(Box::new(error)), ..__launch(images, Vec::new(), None) }
}

/// As [`__refused`], for kernels whose launches are unsafe.
#[doc(hidden)]
pub fn __refused_unsafe<'a>(images: &'static [Image], error: Error) -> LaunchOfRawAddresses<'a> {
    LaunchOfRawAddresses(__refused(images, error))
}

/// Makes a launch of the instance at a position, with the grid that the kernel gives for it.
#[doc(hidden)]
pub fn __launch_of<'a>(
    choices: &'static [&'static [Image]],
    grids: &'static [__GridOf],
    position: usize,
    arguments: Result<Vec<Argument<'a>>>,
) -> Launch<'a> {
    let images = choices.get(position).copied().unwrap_or_default();
    match arguments {
        Ok(arguments) => {
            let grid = grids.get(position).and_then(|grid| grid(&arguments));
            Launch { choices, ..__launch(images, arguments, grid) }
        }
        Err(error) => __refused(images, error),
    }
}

/// As [`__launch_of`], for kernels whose launches are unsafe.
#[doc(hidden)]
pub fn __launch_unsafe_of<'a>(
    choices: &'static [&'static [Image]],
    grids: &'static [__GridOf],
    position: usize,
    arguments: Result<Vec<Argument<'a>>>,
) -> LaunchOfRawAddresses<'a> {
    LaunchOfRawAddresses(__launch_of(choices, grids, position, arguments))
}

impl Launch<'_> {
    /// The blocks along x, y and z; `None` if no grid is set yet, and for a persistent grid.
    pub const fn blocks(&self) -> Option<[i32; 3]> {
        self.grid
    }

    /// Sets how many blocks to start, overriding the kernel's own `grid`.
    pub fn grid(self, grid: impl IntoGrid) -> Self {
        let (grid, persistent) = match grid.into_grid() {
            Grid::Blocks(blocks) => (Some(blocks), None),
            Grid::Persistent { at_most } => (None, Some(at_most)),
        };
        Self { grid, persistent, fault: None, ..self }
    }

    /// Makes all blocks of the grid run at the same time, so that they may wait for one another: a cooperative launch
    /// (CUDA C++ Programming Guide, "Cooperative Groups", "Grid Synchronization"). A grid of more blocks than the
    /// device holds at once is [`Error::TooManyBlocks`]; [`persistent`](crate::persistent) starts as many as fit.
    pub fn cooperative(self) -> Self {
        Self { blocks: Blocks::Cooperative, ..self }
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &'static str {
        self.images.first().map_or("", |image| image.kernel)
    }

    /// The generic arguments of the instance, such as `BM = 128, BN = 64`.
    pub fn instance(&self) -> &'static str {
        self.images.first().map_or("", |image| image.instance)
    }

    /// The compiled code for each target, for the arguments that are absent.
    pub fn images(&self) -> &'static [Image] {
        self.images
    }

    /// The compiled code that `device` would run: the newest target that it can.
    ///
    /// # Errors
    /// [`Error::TargetNotRunnable`].
    pub fn image(&self, device: &Device) -> Result<&'static Image> {
        device.image_for(self.images).ok_or_else(|| Error::TargetNotRunnable {
            kernel: self.kernel(),
            required: list_of(self.images.iter().map(|image| image.target)),
            actual: device.label(),
        })
    }

    /// The variant that a launch on `device` would run: the first one whose facts hold for the arguments. Its `ptx` is
    /// the text.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch) that concern target and arguments.
    pub fn variant(&self, device: &Device) -> Result<&'static Variant> {
        let image = self.image(device)?;
        self.check(image, device)?;
        check::variant(image, &self.arguments)
    }

    /// Whether the image takes the arguments.
    fn check(&self, image: &'static Image, device: &Device) -> Result<()> {
        if let Some(error) = &self.refused {
            return Err((**error).clone());
        }
        let checked = check::arguments(image, &self.arguments, device);
        checked.map_err(|error| check::among(self.choices, image, &self.arguments, error))
    }

    /// The PTX that a launch on `device` would run.
    ///
    /// # Errors
    /// As [`Self::variant`].
    pub fn ptx(&self, device: &Device) -> Result<&'static str> {
        self.variant(device).map(|variant| variant.ptx)
    }

    /// Loads the code that a launch on `device` would run, so that the first launch does not have to: the driver
    /// compiles PTX when it loads it, which takes milliseconds to seconds.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch) that concern target, arguments and code.
    pub fn load(&self, device: &Device) -> Result<()> {
        self.resources(device).map(drop)
    }

    /// The resources of the code that a launch on `device` would run. Loads the code.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn resources(&self, device: &Device) -> Result<Resources> {
        let image = self.image(device)?;
        device.resources(image, self.variant(device)?)
    }

    /// Checks the launch and puts it on the stream. On a GPU the kernel runs later, in the stream's order; on the
    /// emulator it has run when this returns. A grid without blocks does nothing.
    ///
    /// A kernel with `println!` or `assert!` has run when this returns, on a GPU too: what it prints is on the standard output
    /// then. That is so in builds with `debug_assertions`; in others such a kernel has neither, unless its attribute has
    /// `debug = always`. A launch that is profiled (`KILN_PROFILE`, of a kernel with `stamp!`) has run when this returns, too: kernels that wait
    /// for one another on several streams would wait without end.
    ///
    /// # Errors
    /// About the target: [`Error::TargetNotRunnable`]. About an argument, naming it: [`Error::Argument`], [`Error::InstanceArgument`],
    /// [`Error::WrongDevice`], [`Error::DimTooLarge`], [`Error::FactBroken`],
    /// [`Error::OverlappingElements`], [`Error::Aliased`], [`Error::TensorMap`], [`Error::TensorMapRefused`]. About the grid:
    /// [`Error::GridMissing`], [`Error::GridExpression`], [`Error::GridOutOfRange`], [`Error::GridNotOfClusters`], [`Error::TooManyBlocks`]. About the code:
    /// [`Error::SharedMemory`], [`Error::BlockTooLarge`], [`Error::ClusterTooLarge`], [`Error::DriverTooOld`], [`Error::ModuleLoad`], [`Error::LaunchRefused`]. From the device:
    /// [`Error::Driver`], and `Error::Fault` on the emulator; [`Error::Assertion`]. From the environment: [`Error::TraceVariable`].
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let image = profile::chosen(self.image(stream.device())?, stream)?;
        self.check(image, stream.device())?;
        let variant = check::variant(image, &self.arguments)?;
        if let Some(fault) = self.fault {
            return Err(Error::GridExpression { kernel: image.kernel, fault });
        }
        let Some(grid) = check::grid(image, self.grid, self.persistent)? else { return Ok(()) };
        match stream.recording() {
            Some(recording) => recording.require_open()?,
            None => graph::launched_outside(),
        }
        let mut maps = maps::encoded(image, variant, &self.arguments, stream)?;
        for argument in &self.arguments {
            if let Value::Tensor(tensor) = &argument.0 {
                let access = if tensor.mutable { Access::Write } else { Access::Read };
                stream.begin_use(&tensor.buffer, access)?;
            }
        }
        let said = said::Said::of(image, stream)?;
        let profile = Profile::begin(image, variant, grid, stream)?;
        let count: usize = self.arguments.iter().map(Argument::slots).sum();
        let count = count + usize::from(image.reports.is_some()) + Profile::parameters_of(image);
        let mut inline = [0; INLINE_SLOTS];
        let mut allocated = Vec::new();
        let values = if let Some(values) = inline.get_mut(..count) {
            values
        } else {
            allocated.resize(count, 0);
            &mut allocated[..]
        };
        let mut next = 0;
        for argument in &self.arguments {
            next += argument.write(&mut values[next..]);
        }
        if let (Some(said), Some(last)) = (&said, values.get_mut(next)) {
            *last = said.address();
        }
        if let Some(profile) = &profile {
            let parameters = profile.parameters();
            if let Some(last) = values.get_mut(next..next + parameters.len()) {
                last.copy_from_slice(&parameters);
            }
        }
        let maps = &mut maps[..];
        let blocks = self.blocks;
        let queue = stream.queue();
        let launched = queue.launch(&mut Order { image, variant, grid, blocks, values, maps });
        // What it says is read when it has ended, and so are its stamps.
        match (said, profile) {
            (Some(said), _) => said.tell(image, launched.and_then(|()| queue.synchronize()))?,
            (None, Some(profile)) => profile.end(image, stream, launched)?,
            (None, None) => launched?,
        }
        for argument in &self.arguments {
            if let Value::Tensor(tensor) = &argument.0 {
                stream.end_use(&tensor.buffer)?;
            }
        }
        Ok(())
    }
}

impl LaunchOfRawAddresses<'_> {
    /// As [`Launch::grid`].
    pub fn grid(self, grid: impl IntoGrid) -> Self {
        Self(self.0.grid(grid))
    }

    /// As [`Launch::cooperative`].
    pub fn cooperative(self) -> Self {
        Self(self.0.cooperative())
    }

    /// Like [`Launch::launch`]; the `Ptr` arguments are passed on unchecked.
    ///
    /// # Safety
    /// Everything that the kernel reads or writes through its `Ptr` arguments, through `.ptr()` of a tensor and in
    /// texts of `ptx!` is in memory of the stream's device that stays allocated until the kernel has run. Until then
    /// nothing else writes that memory, nor reads the part that the kernel writes. The texts have no undefined
    /// behaviour in PTX.
    ///
    /// # Errors
    /// As [`Launch::launch`].
    pub unsafe fn launch(self, stream: &Stream) -> Result<()> {
        self.0.launch(stream)
    }
}

/// The getters of [`Launch`]. Its `launch` takes a value, so it cannot be called through this.
impl<'a> Deref for LaunchOfRawAddresses<'a> {
    type Target = Launch<'a>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
