//! Errors of communication between devices.

use super::DriverError;

/// A failed operation of a [`Comm`](crate::Comm), or a failure to make one.
///
/// After [`Self::Mismatch`], [`Self::Lost`], [`Self::Timeout`], [`Self::Aborted`], [`Self::Nccl`] and [`Self::Driver`]
/// the group is over: each rank gets such an error from every wait and every later operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommError {
    /// NCCL's library cannot be used.
    #[error(
        "collectives between GPUs need {required}: {actual}; install NCCL's libnccl.so.2, or name the file in KILN_NCCL"
    )]
    Library {
        /// The oldest version that has what is needed, or the function.
        required: String,
        /// What was found instead.
        actual: String,
    },
    /// NCCL refused a call, or met a failure.
    #[error("{device}: {call}: {message} ({code})")]
    Nccl {
        /// The device of the rank.
        device: String,
        /// The function of NCCL.
        call: &'static str,
        /// The `ncclResult_t` as a number.
        code: u32,
        /// NCCL's description.
        message: String,
    },
    /// The rank's own GPU has failed.
    #[error("{device}: {cause}")]
    Driver {
        /// The device of the rank.
        device: String,
        /// What the driver says.
        cause: Box<DriverError>,
    },
    /// An environment variable of the launcher is absent, or is not what it has to be.
    #[error("the environment variable {variable} has to be {required}; it is {actual}")]
    Variable {
        /// The variable, or those of which one is enough.
        variable: String,
        /// What it has to be.
        required: &'static str,
        /// What it is.
        actual: String,
    },
    /// The ranks did not find each other.
    #[error("rank {rank} needs {required} at {address}: {actual}")]
    Rendezvous {
        /// The rank that reports it.
        rank: usize,
        /// Where the ranks meet.
        address: String,
        /// Who has to be there.
        required: String,
        /// Who or what is there instead.
        actual: String,
    },
    /// An argument does not fit the operation or the group.
    #[error("{operation} needs {required}, not {actual}")]
    Argument {
        /// The operation, such as `all_reduce`.
        operation: &'static str,
        /// What fits.
        required: String,
        /// What was there.
        actual: String,
    },
    /// Two ranks called different operations at the same position in their order.
    #[error("the ranks do not agree: rank {rank} calls {actual}, rank {other} {required}")]
    Mismatch {
        /// The rank that came later.
        rank: usize,
        /// What it called.
        actual: String,
        /// The rank that it differs from.
        other: usize,
        /// What that one called.
        required: String,
    },
    /// A rank is gone.
    #[error("rank {rank} is gone: {cause}")]
    Lost {
        /// The rank.
        rank: usize,
        /// How this was noticed.
        cause: String,
    },
    /// An operation took longer than the group's limit.
    #[error("{operation} was not done within {seconds} s: {cause}")]
    Timeout {
        /// The operation.
        operation: String,
        /// The limit, in seconds.
        seconds: String,
        /// What it was waiting for.
        cause: String,
    },
    /// Somebody ended the group with [`Comm::abort`](crate::Comm::abort).
    #[error("rank {rank} has aborted the group")]
    Aborted {
        /// The rank that did.
        rank: usize,
    },
}
