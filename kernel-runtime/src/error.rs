//! Errors as types: each variant names the argument or the device, and what was required and what was there.

mod comm;
mod map;

use crate::GridFault;
pub use comm::CommError;
pub use map::{MapPlace, MapRule};
use std::fmt;

/// The result of the runtime's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed operation. If a launch returns one, nothing was launched, unless the device reports a failure of work that
/// it had accepted ([`Error::Driver`]), or the kernel stopped itself ([`Error::Assertion`]).
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The NVIDIA driver's library could not be loaded.
    #[error(
        "no CUDA driver: the library {library} cannot be loaded; install the NVIDIA driver or use the emulator"
    )]
    DriverMissing {
        /// The library that was looked for.
        library: &'static str,
    },
    /// The installed driver lacks something that is needed.
    #[error(
        "the CUDA driver is too old: {needed_by} needs CUDA {required}, the driver has CUDA {actual}"
    )]
    DriverTooOld {
        /// What needs the newer driver.
        needed_by: String,
        /// The version needed at least.
        required: DriverVersion,
        /// The version that the driver reports.
        actual: DriverVersion,
    },
    /// The driver is there, but no GPU has this number.
    #[error("there is no device cuda:{ordinal}: the driver reports {count} GPU(s)")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// How many GPUs the driver reports.
        count: usize,
    },
    /// The crate was built without this back end.
    #[error("Kiln was built without the back end `{back_end}`: turn on the feature of that name")]
    BackEndDisabled {
        /// The feature's name.
        back_end: &'static str,
    },
    /// No device can run any of the targets.
    #[error("no device runs {targets}: {reasons}")]
    NoDevice {
        /// The targets asked for.
        targets: String,
        /// Why each device was refused.
        reasons: String,
    },
    /// The environment variable `KILN_MAX_INSTRUCTIONS` is not a number.
    #[error(
        "KILN_MAX_INSTRUCTIONS is `{actual}`; it takes how many instructions of warps a launch on the emulator may run, such as 1000000"
    )]
    LimitVariable {
        /// Its value.
        actual: String,
    },
    /// The environment variable `KILN_EMULATOR_THREADS` is not a positive number.
    #[error(
        "KILN_EMULATOR_THREADS is `{actual}`; it takes how many host threads may run a launch on the emulator, such as 1"
    )]
    ThreadsVariable {
        /// Its value.
        actual: String,
    },
    /// An environment variable about traces or profiles of launches is not what it takes.
    #[error("{variable}: {reason}")]
    TraceVariable {
        /// Its name.
        variable: &'static str,
        /// What it takes, and what it is.
        reason: String,
    },
    /// The environment variable `KILN_DEVICE` does not name a device.
    #[error("KILN_DEVICE is `{actual}`; it takes `gpu`, `cuda:0`, `emulator` or `emulator:sm_90a`")]
    DeviceVariable {
        /// The variable's value.
        actual: String,
    },
    /// The kernel was not compiled for any target that the device runs.
    #[error("`{kernel}` was compiled for {required}; {actual} runs none of them")]
    TargetNotRunnable {
        /// The kernel.
        kernel: &'static str,
        /// The targets that it was compiled for.
        required: String,
        /// The device of the launch.
        actual: String,
    },
    /// An argument is on a device other than the stream's.
    #[error("`{kernel}`: argument `{argument}` is on {actual}, the stream on {required}")]
    WrongDevice {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// The stream's device.
        required: String,
        /// The argument's device.
        actual: String,
    },
    /// A tensor was used with a stream of another device, outside a launch.
    #[error("{operation}: the tensor is on {actual}, the stream on {required}")]
    StreamOfAnotherDevice {
        /// The operation, such as `to_vec`.
        operation: &'static str,
        /// The stream's device.
        required: String,
        /// The tensor's device.
        actual: String,
    },
    /// Kernels on one device cannot access the memory of another.
    #[error("kernels on {device} cannot reach the memory of {peer}: copy the tensor")]
    NoPeerAccess {
        /// The device of the kernels.
        device: String,
        /// The device of the memory.
        peer: String,
    },
    /// An extent does not fit the kernels' index type, `i32`.
    #[error(
        "`{kernel}`: axis {axis} of argument `{argument}` has {actual} elements; at most {} are possible",
        i32::MAX
    )]
    DimTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// The axis.
        axis: usize,
        /// Its extent.
        actual: usize,
    },
    /// An argument breaks a fact in an attribute of the parameter.
    #[error("`{kernel}`: argument `{argument}` needs {required}; it has {actual}")]
    FactBroken {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// What the attribute states.
        required: crate::Fact,
        /// The stride, extent, scalar or address that was there.
        actual: Actual,
    },
    /// A written argument has several elements at one address.
    #[error(
        "`{kernel}`: argument `{argument}` is written, and its elements overlap: shape {shape:?}, strides {strides:?}"
    )]
    OverlappingElements {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// The argument's shape.
        shape: Vec<usize>,
        /// The argument's strides, in elements.
        strides: Vec<usize>,
    },
    /// A written argument shares memory with another argument.
    #[error(
        "`{kernel}`: argument `{argument}` is written, and shares memory with argument `{other}`"
    )]
    Aliased {
        /// The kernel.
        kernel: &'static str,
        /// The written argument.
        argument: &'static str,
        /// The argument that it overlaps.
        other: &'static str,
    },
    /// An argument is not what the parameter takes.
    #[error("`{kernel}`: argument `{argument}` takes {required}, not {actual}")]
    ArgumentKind {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// What the parameter takes.
        required: crate::ParamKind,
        /// What was given.
        actual: crate::ParamKind,
    },
    /// The value given for an argument has no tensor.
    #[error("`{kernel}`: argument `{argument}`: {cause}")]
    Argument {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// What [`TensorArgument`](crate::TensorArgument) says.
        cause: Box<Error>,
    },
    /// An instance that was chosen at run time got arguments that it does not take.
    #[error("{cause} (the instance {instance}); instances that take these arguments: {instances}")]
    InstanceArgument {
        /// The [`Error::ArgumentKind`] of the instance.
        cause: Box<Error>,
        /// The instance.
        instance: &'static str,
        /// The instances of the kernel that take these arguments, shortened in the middle if there are many.
        instances: Box<str>,
    },
    /// No instance of a kernel has the requested values.
    #[error("`{kernel}` has no instance {required}; it has {actual}")]
    NoInstance {
        /// The kernel.
        kernel: &'static str,
        /// What was asked for, such as `with BM = 96, BN = 64`.
        required: String,
        /// The instances that exist, shortened in the middle if there are many.
        actual: String,
    },
    /// The number of arguments is not the number of parameters.
    #[error("`{kernel}` takes {required} arguments, not {actual}")]
    ArgumentCount {
        /// The kernel.
        kernel: &'static str,
        /// Parameters of the image.
        required: usize,
        /// Arguments of the launch.
        actual: usize,
    },
    /// Neither the kernel nor the caller said how many blocks to start.
    #[error(
        "`{kernel}` has no grid: write `.grid([x, y, z])` before `.launch(..)`, or `grid = ..` in the attribute"
    )]
    GridMissing {
        /// The kernel.
        kernel: &'static str,
    },
    /// The kernel's `grid = ..` has no value for these arguments.
    #[error("`{kernel}`: `grid` cannot be computed for these arguments: {fault}")]
    GridExpression {
        /// The kernel.
        kernel: &'static str,
        /// What is wrong.
        fault: GridFault,
    },
    /// An extent of the grid is negative, or is more than the device takes.
    #[error("`{kernel}`: axis {axis} of the grid is {actual}; it has to be 0 to {limit}")]
    GridOutOfRange {
        /// The kernel.
        kernel: &'static str,
        /// The axis: 0 for x, 1 for y, 2 for z.
        axis: usize,
        /// The largest extent of the axis.
        limit: i32,
        /// The extent asked for.
        actual: i32,
    },
    /// The blocks of a grid are not whole clusters.
    #[error(
        "`{kernel}`: axis {axis} of the grid is {actual}; it has to be a multiple of {required}, the blocks of a cluster along it"
    )]
    GridNotOfClusters {
        /// The kernel.
        kernel: &'static str,
        /// The axis: 0 for x, 1 for y, 2 for z.
        axis: usize,
        /// The extent of a cluster along the axis.
        required: u32,
        /// The extent of the grid.
        actual: i32,
    },
    /// A cooperative launch has more blocks than the device holds at once.
    #[error(
        "`{kernel}`: a cooperative launch has {required} blocks; {device} holds {actual} of this kernel's at once"
    )]
    TooManyBlocks {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// Blocks of the grid.
        required: u64,
        /// Blocks that the device holds at once.
        actual: u32,
    },
    /// The device does not hold a cluster of this kernel's blocks at once.
    #[error(
        "`{kernel}`: a cluster has {} blocks ({}); {device} takes at most {actual} of this kernel's in one",
        required.iter().product::<u32>(),
        by(required)
    )]
    ClusterTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// Blocks of a cluster along x, y and z.
        required: [u32; 3],
        /// Blocks of the largest cluster that the device takes.
        actual: u32,
    },
    /// The tensor map of a kernel's copy cannot describe the argument.
    #[error(
        "`{kernel}`: the tensor map of argument `{argument}` needs {required}; it has {actual}"
    )]
    TensorMap {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// The rule that is broken.
        required: MapRule,
        /// What there is instead.
        actual: Actual,
    },
    /// The device's encoder refused a tensor map for a reason that Kiln does not check.
    #[error(
        "`{kernel}`: the tensor map of argument `{argument}` cannot be made on {device}: {cause} ({encoding})"
    )]
    TensorMapRefused {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// The device.
        device: String,
        /// What the driver or the emulator says.
        cause: Box<str>,
        /// What the map was made from.
        encoding: Box<str>,
    },
    /// A block needs more shared memory than the device has for one.
    #[error("`{kernel}`: a block needs {required} bytes of shared memory; {device} has {actual}")]
    SharedMemory {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// Static and dynamic shared memory of a block, in bytes.
        required: u64,
        /// The device's limit for a block, in bytes.
        actual: u64,
    },
    /// A block has more threads than the compiled kernel can run with.
    #[error(
        "`{kernel}`: a block has {required} threads; {device} takes at most {actual} with the kernel's registers"
    )]
    BlockTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// Threads of a block.
        required: u32,
        /// The limit for this kernel on this device.
        actual: u32,
    },
    /// The kernel's PTX could not be loaded.
    #[error("`{kernel}` ({variant}) cannot be loaded on {device}: {cause}{}", on_new_line(log))]
    ModuleLoad {
        /// The kernel.
        kernel: &'static str,
        /// The variant's name.
        variant: &'static str,
        /// The device.
        device: String,
        /// What the driver or the emulator says.
        cause: Box<str>,
        /// The log of the driver's PTX compiler; empty when it wrote none.
        log: Box<str>,
    },
    /// The driver refused the launch.
    #[error("`{kernel}` cannot be launched on {device}: {cause}")]
    LaunchRefused {
        /// The kernel.
        kernel: &'static str,
        /// The device.
        device: String,
        /// What the driver says.
        cause: Box<DriverError>,
    },
    /// A call of the driver failed; earlier work may be the cause.
    #[error("{device}: {cause}")]
    Driver {
        /// The device.
        device: String,
        /// What the driver says.
        cause: Box<DriverError>,
    },
    /// The device has too little free memory.
    #[error("{device} has no {required} bytes of free memory")]
    OutOfMemory {
        /// The device.
        device: String,
        /// The bytes asked for.
        required: u64,
    },
    /// A stream or context of another library that Kiln cannot use.
    #[error(
        "the stream or context is not of the primary context of {device}, which is what Kiln shares with CUDA's runtime and cudarc"
    )]
    ForeignContext {
        /// The device.
        device: String,
    },
    /// A stream for the per-thread default stream, `CU_STREAM_PER_THREAD`, was used outside the thread that made it.
    #[error(
        "the per-thread default stream is another one in each thread: make the `Stream` in the thread that uses it, or hand over a stream that \
         was created"
    )]
    PerThreadStream,
    /// Memory of another library is not what the caller said.
    #[error("a tensor over memory of {device} needs {required}: {actual}")]
    ForeignMemory {
        /// The device.
        device: String,
        /// The bytes that the tensor covers.
        required: String,
        /// What is there instead.
        actual: String,
    },
    /// The recorded work contains something that a graph cannot hold.
    #[error("{operation} cannot be recorded into a graph: {instead}")]
    NotInGraph {
        /// The operation.
        operation: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A tensor whose type is known only at run time does not have the requested type.
    #[error("the tensor is a {actual}, not a {required}")]
    NotOfType {
        /// The type asked for.
        required: crate::ParamKind,
        /// The tensor's type.
        actual: crate::ParamKind,
    },
    /// A write to a read-only tensor.
    #[error(
        "{operation}: whoever lent the tensor allows reading only: use `as_tensor`, or copy it"
    )]
    ReadOnly {
        /// The operation.
        operation: &'static str,
    },
    /// Elements cannot be reinterpreted as another type.
    #[error(
        "a tensor of {from} with shape {shape:?} and strides {strides:?} cannot be seen as {to}: {why}"
    )]
    Reinterpret {
        /// The element type.
        from: &'static str,
        /// The requested type.
        to: &'static str,
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The tensor's strides, in elements.
        strides: Vec<usize>,
        /// What does not fit.
        why: &'static str,
    },
    /// Memory cannot be passed on, because something else has it too.
    #[error(
        "{operation} needs memory that Kiln allocated and that nothing else uses: copy the tensor"
    )]
    NotOwned {
        /// The operation.
        operation: &'static str,
    },
    /// A guard forbids this use of pinned memory.
    #[error("pinned memory is in use: a guard of `read` or `write` is still held")]
    PinnedInUse,
    /// An `assert!` of the kernel failed, and the kernel was stopped. On a GPU the device is lost: see [`Error::is_fatal`].
    #[error(
        "`{kernel}`: the assertion `{condition}` failed at {place}, in block ({}, {}, {}){text}",
        block[0], block[1], block[2]
    )]
    Assertion {
        /// The kernel.
        kernel: &'static str,
        /// The condition as it is written, `left == right` or `left != right`.
        condition: &'static str,
        /// The place in the source, such as `src/kernel.rs:12:5`.
        place: &'static str,
        /// The block along x, y and z.
        block: [u32; 3],
        /// What the assertion says beside its condition: `: row 4 of 4`.
        text: Box<str>,
        /// What the device says of its end.
        cause: Box<Error>,
    },
    /// The emulator stopped the kernel, because it did something that gives wrong results, a trap or a hang on a GPU.
    #[cfg(feature = "emulator")]
    #[error("`{kernel}` failed in the emulator: {fault}")]
    Fault {
        /// The kernel.
        kernel: &'static str,
        /// What the kernel did, and where.
        fault: Box<kernel_emulator::Fault>,
    },
    /// The emulator's memory refused an operation of the host.
    #[error("{operation} on {device}: {cause}")]
    EmulatorMemory {
        /// The operation, such as `upload`.
        operation: &'static str,
        /// The device.
        device: String,
        /// What the emulator says.
        cause: Box<str>,
    },
    /// A host slice does not have as many elements as the shape.
    #[error("{operation}: the shape {shape:?} has {required} elements, the slice {actual}")]
    Length {
        /// The operation, such as `upload`.
        operation: &'static str,
        /// The tensor's shape.
        shape: Vec<usize>,
        /// Elements of the shape.
        required: usize,
        /// Elements of the slice.
        actual: usize,
    },
    /// Two tensors of one operation differ in shape.
    #[error("{operation}: the shapes {required:?} and {actual:?} differ")]
    Shape {
        /// The operation, such as `copy`.
        operation: &'static str,
        /// The shape of the tensor written to, or of the one viewed.
        required: Vec<usize>,
        /// The other shape.
        actual: Vec<usize>,
    },
    /// A shape has more bytes than an address can count.
    #[error("the shape {shape:?} of {dtype} does not fit a 64-bit address space")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: &'static str,
    },
    /// An operation needs elements in row-major order without gaps.
    #[error("{operation} needs a contiguous tensor; shape {shape:?} has strides {strides:?}")]
    NotContiguous {
        /// The operation, such as `reshape`.
        operation: &'static str,
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The tensor's strides, in elements.
        strides: Vec<usize>,
    },
    /// An axis, a range or a permutation does not fit the tensor.
    #[error("{operation}: {actual} does not fit the shape {shape:?}")]
    View {
        /// The operation, such as `slice`.
        operation: &'static str,
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The axis and range, or the permutation, asked for.
        actual: String,
    },
    /// Communication between devices failed or has ended.
    #[error(transparent)]
    Comm(Box<CommError>),
    /// Two events cannot be compared.
    #[error("events on {required} and {actual} have no common clock")]
    EventsOfTwoDevices {
        /// The device of the first event.
        required: String,
        /// The device of the second event.
        actual: String,
    },
}

impl Error {
    /// Whether the GPU's context is lost: the driver returns the same error from every later call in this process, and
    /// memory of the device is gone.
    ///
    /// This happens when a kernel accesses memory out of bounds, is stopped or traps (CUDA Driver API, "CUresult": the
    /// errors after which "the process must be terminated and relaunched"). A program has to end and be restarted, or
    /// run what may fail in its own process. Errors of arguments, errors for lack of memory, and all errors of the
    /// emulator change nothing.
    pub fn is_fatal(&self) -> bool {
        if let Self::Argument { cause, .. }
        | Self::InstanceArgument { cause, .. }
        | Self::Assertion { cause, .. } = self
        {
            return cause.is_fatal();
        }
        if let Self::Comm(error) = self {
            return matches!(&**error, CommError::Driver { cause, .. } if cause.is_fatal());
        }
        matches!(self, Self::Driver { cause, .. } | Self::LaunchRefused { cause, .. } if cause.is_fatal())
    }
}

impl DriverError {
    /// Whether the context is lost; see [`Error::is_fatal`].
    pub fn is_fatal(&self) -> bool {
        // CUDA Driver API, "CUresult": ECC uncorrectable, NVLink uncorrectable, hardware stack error, illegal instruction, misaligned
        // address, invalid address space, invalid pc, launch failed, illegal address, launch timeout, assert, tensor memory
        // leak, contained, context is destroyed.
        const FATAL: [u32; 14] =
            [214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 226];
        FATAL.contains(&self.code)
    }
}

impl CommError {
    /// The error of an operation. No `From` does this: `?` in a closure finds out its error type as long as one type alone becomes an
    /// [`Error`].
    pub(crate) fn into_error(self) -> Error {
        Error::Comm(Box::new(self))
    }
}

/// `2x1x1`: extents as messages show them.
fn by([x, y, z]: &[u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

fn on_new_line(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("\n{log}") }
}

/// The actual value of an argument that breaks a fact or a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Actual {
    /// An address, in bytes.
    Address(u64),
    /// A stride, in elements.
    Stride(i64),
    /// The extent of an axis, in elements.
    Extent(usize),
    /// The value of a scalar.
    Scalar(i128),
    /// A distance between neighbours, in bytes.
    StrideBytes(u64),
    /// A number of elements.
    Elements(u64),
    /// A size in bytes.
    Bytes(u64),
    /// A number of dimensions.
    Dims(usize),
    /// An element type.
    Dtype(&'static str),
    /// Copies of one element.
    Every(u32),
    /// The argument has no such property: a scalar has no stride, a floating-point number no divisor.
    None,
}

impl fmt::Display for Actual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "the address {address:#x}"),
            Self::Stride(stride) => write!(f, "the stride {stride}"),
            Self::Extent(extent) => write!(f, "the extent {extent}"),
            Self::Scalar(value) => write!(f, "the value {value}"),
            Self::StrideBytes(bytes) => write!(f, "a stride of {bytes} bytes"),
            Self::Elements(count) => write!(f, "{count} elements"),
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Self::Dims(count) => write!(f, "{count} dimensions"),
            Self::Dtype(name) => write!(f, "the element type `{name}`"),
            Self::Every(step) => write!(f, "copies of one element in {step}"),
            Self::None => f.write_str("nothing of the kind"),
        }
    }
}

/// A CUDA version, such as 12.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion {
    /// The part before the point.
    pub major: u32,
    /// The part after the point.
    pub minor: u32,
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A failed call of the CUDA driver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {name} ({code}), {message}")]
#[non_exhaustive]
pub struct DriverError {
    /// The function of the driver.
    pub call: &'static str,
    /// The `CUresult` as a number.
    pub code: u32,
    /// The `CUresult`'s name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub name: String,
    /// The driver's description.
    pub message: String,
}

/// The message itself, because `fn main() -> kiln::Result<()>` prints errors with `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_the_context_along_is_fatal() {
        let of = |code| Error::Driver {
            device: "cuda:0".to_owned(),
            cause: Box::new(DriverError {
                call: "cuStreamSynchronize",
                code,
                name: String::new(),
                message: String::new(),
            }),
        };
        // Illegal address, launch failed, illegal instruction; out of memory, not found, not ready.
        assert!([700, 719, 715].into_iter().all(|code| of(code).is_fatal()));
        assert!(![2, 500, 600].into_iter().any(|code| of(code).is_fatal()));
        assert!(!Error::PinnedInUse.is_fatal());
        let inside = |cause| Error::Argument { kernel: "k", argument: "x", cause: Box::new(cause) };
        assert!(inside(of(700)).is_fatal());
        assert!(!inside(of(2)).is_fatal());
        let Error::Driver { device, cause } = of(719) else { unreachable!("`of` makes these") };
        assert!(CommError::Driver { device, cause }.into_error().is_fatal());
    }
}
