//! Errors of tuning.

/// The result of tuning.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no choice. A cache that cannot be read or written is not an error: it is reported on standard error,
/// and times are measured as without a cache.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No instance is left to choose from.
    #[error("`{kernel}`: no instance to choose from; {reasons}")]
    NothingToChoose {
        /// The kernel.
        kernel: &'static str,
        /// What ruled the instances out.
        reasons: String,
    },
    /// An instance failed, and not because it does not fit the device or the arguments.
    #[error("`{kernel}` ({instance}): {cause}")]
    Failed {
        /// The kernel.
        kernel: &'static str,
        /// The instance that was launched.
        instance: String,
        /// The error of the launch or the device.
        cause: Box<kernel_runtime::Error>,
    },
    /// Two instances compute different results. The first one differs from most others, if there are others.
    #[error(
        "`{kernel}`: the result of the instance {instance} differs from that of {other}, at element {element}: required \
         {required}, actual {actual}, of values up to {greatest}; `Tuner::tolerance` allows {allowed}"
    )]
    Different {
        /// The kernel.
        kernel: &'static str,
        /// The instance whose result is wrong.
        instance: String,
        /// The instance that it was compared with.
        other: String,
        /// Where the difference is greatest, counted in row-major order; for results of different lengths, where the
        /// shorter one ends.
        element: usize,
        /// The value of `other` there; NaN after its end.
        required: f64,
        /// The value of `instance` there; NaN after its end.
        actual: f64,
        /// The greatest magnitude in the result of `other`.
        greatest: f64,
        /// The difference that is allowed.
        allowed: f64,
    },
    /// The environment variable `KILN_TUNE` has no such value.
    #[error("the variable KILN_TUNE: required `off`, `on` or `all`, actual `{actual}`")]
    Variable {
        /// Its value.
        actual: String,
    },
    /// The tuned function asks [`Chosen`](crate::Chosen) for its own choice.
    #[error(
        "`{kernel}`: the choice for {key} asks for itself; what is tuned has to launch the instance that it is given"
    )]
    AsksForItself {
        /// The kernel.
        kernel: &'static str,
        /// The key.
        key: String,
    },
    /// The device failed outside of a launch.
    #[error(transparent)]
    Runtime(Box<kernel_runtime::Error>),
}

impl From<kernel_runtime::Error> for Error {
    fn from(error: kernel_runtime::Error) -> Self {
        Self::Runtime(Box::new(error))
    }
}
