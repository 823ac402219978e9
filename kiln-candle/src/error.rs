//! Errors between a candle tensor and a kernel.

use candle_core::{DType, DeviceLocation};
use std::fmt;

/// The result of an op's own code.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed call of a kernel on candle's tensors.
///
/// `?` makes one from errors of Kiln and candle, and turns it into a [`candle_core::Error`], in which [`cause`] finds
/// it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A kernel does not take the tensor's dtype.
    #[error("{op}: input {input} has dtype {actual}; the kernel takes {required}")]
    Dtype {
        /// The op.
        op: &'static str,
        /// The input, counted from 0.
        input: Input,
        /// The dtypes that fit.
        required: Names,
        /// The tensor's, in candle's words.
        actual: &'static str,
    },
    /// A kernel does not take the tensor's rank.
    #[error("{op}: input {input} has the shape {actual:?}; the kernel takes rank {required}")]
    Rank {
        /// The op.
        op: &'static str,
        /// The input.
        input: Input,
        /// The kernel's rank.
        required: usize,
        /// The tensor's shape.
        actual: Vec<usize>,
    },
    /// Axes cannot be merged into the one axis that a kernel takes.
    #[error(
        "{op}: input {input} of shape {shape:?} and strides {strides:?} has no {required} axes: its first ones do not follow one another in memory; pass `.contiguous()?`"
    )]
    NotFlat {
        /// The op.
        op: &'static str,
        /// The input.
        input: Input,
        /// How many axes the kernel takes.
        required: usize,
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The tensor's strides, in elements.
        strides: Vec<usize>,
    },
    /// A layout reaches past the end of its storage, which is possible for a tensor from `Tensor::from_storage`.
    #[error(
        "{op}: the layout of input {input} needs {required} elements; its storage has {actual}"
    )]
    PastEnd {
        /// The op.
        op: &'static str,
        /// The input.
        input: Input,
        /// Elements from the storage's first to the layout's last.
        required: usize,
        /// Elements of the storage.
        actual: usize,
    },
    /// An output is finished with a shape of another number of elements.
    #[error("{op}: an output of shape {actual:?} cannot become a tensor of shape {required:?}")]
    OutputShape {
        /// The op.
        op: &'static str,
        /// The tensor's shape.
        required: Vec<usize>,
        /// The output's shape.
        actual: Vec<usize>,
    },
    /// The inputs are on several devices.
    #[error(
        "{op}: input {input} is on {actual:?}, input 0 on {required:?}; `.to_device(..)` brings them together"
    )]
    Devices {
        /// The op.
        op: &'static str,
        /// The first input on another device.
        input: Input,
        /// Where input 0 is.
        required: DeviceLocation,
        /// Where this one is.
        actual: DeviceLocation,
    },
    /// A backward step asks for another number of saved tensors than the forward step saved.
    #[error("{op}: the forward step saved {actual} tensors, the backward step asks for {required}")]
    Saved {
        /// The op.
        op: &'static str,
        /// How many the backward step asks for.
        required: usize,
        /// How many there are.
        actual: usize,
    },
    /// The tensor of an output is still in use when the output is finished: something has moved it out, or recorded it
    /// into a graph.
    #[error(
        "{op}: the tensor of an output is held elsewhere, so that candle cannot have its memory"
    )]
    Kept {
        /// The op.
        op: &'static str,
    },
    /// An error of Kiln: a launch was refused, a kernel failed.
    #[error(transparent)]
    Kiln(Box<kiln::Error>),
    /// An error of candle.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}

impl From<kiln::Error> for Error {
    fn from(error: kiln::Error) -> Self {
        Self::Kiln(Box::new(error))
    }
}

/// Which tensor of an op a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// An input, counted from 0.
    Number(usize),
    /// The tensor that an op in place changes.
    Target,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Target => f.write_str("`target`"),
        }
    }
}

/// Dtypes by candle's names: `f32, bf16`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub(crate) Vec<DType>);

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, dtype) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { ", " };
            write!(f, "{before}{}", dtype.as_str())?;
        }
        Ok(())
    }
}

impl From<Error> for candle_core::Error {
    fn from(error: Error) -> Self {
        if let Error::Candle(error) = error {
            return error;
        }
        // Of candle's variants for errors from elsewhere, this one alone keeps their type; its text is theirs.
        Self::Cuda(Box::new(error)).bt()
    }
}

/// The error of this crate behind one of candle's, if it is one.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// # use kiln_candle::{Error, cause, run};
/// let x = Tensor::zeros(4, DType::F32, &Device::Cpu)?;
/// let refused = run("double", &[kiln::Target::Sm80], [&x], |_, [x]| {
///     x.view::<f32, 2>()?;
///     Ok([])
/// });
/// let error = refused.expect_err("the tensor has one axis");
/// assert!(matches!(cause(&error), Some(Error::Rank { required: 2, .. })));
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn cause(error: &candle_core::Error) -> Option<&Error> {
    use candle_core::Error::{Context, Cuda, WithBacktrace, WithPath};
    if let Cuda(error) = error {
        return error.downcast_ref();
    }
    if let WithBacktrace { inner, .. } | Context { inner, .. } | WithPath { inner, .. } = error {
        return cause(inner);
    }
    None
}
