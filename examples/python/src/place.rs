//! The place of work: a GPU stream that the caller names, or the emulator for memory of the CPU.

use crate::raise;
use kiln::{Device, Stream, Target};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{ptr::without_provenance_mut, sync::OnceLock};

/// A stream, and the stream number that DLPack producers get.
pub(crate) struct Place {
    device: (i32, i32),
    pub(crate) stream: Stream,
    pub(crate) asked: Option<i64>,
}

impl Place {
    /// The place for memory of a device, which DLPack numbers like this. `stream` is the driver's or the CUDA runtime's handle;
    /// 0, 1 and nothing are the legacy default stream, and 2 is the per-thread default stream, for tensors of this thread.
    pub(crate) fn new(
        argument: &str,
        (kind, number): (i32, i32),
        stream: Option<i64>,
    ) -> PyResult<Self> {
        let refuse = |required: &str, actual: String| {
            PyValueError::new_err(format!("{argument}: required {required}; actual {actual}"))
        };
        let raise = |error| raise(argument, error);
        match (kind, usize::try_from(number)) {
            (1, _) => {
                if let Some(stream) = stream {
                    let actual = format!("stream {stream}");
                    return Err(refuse("no stream for arrays on the CPU", actual));
                }
                let stream = emulator().and_then(|device| device.stream()).map_err(raise)?;
                Ok(Self { device: (kind, number), stream, asked: None })
            }
            (2 | 13, Ok(ordinal)) => {
                let stream = stream.filter(|stream| *stream != 0).unwrap_or(1);
                let handle = usize::try_from(stream).map_err(|_| {
                    refuse("the handle of a CUDA stream", format!("stream {stream}"))
                })?;
                let device = Device::cuda(ordinal).map_err(raise)?;
                // SAFETY: the caller says that this is a stream. Nothing owns it for us: Python hands streams over as
                // numbers, and as for every consumer of them, whoever made the stream keeps it until the work on it is done.
                let foreign =
                    unsafe { Stream::from_raw(&device, without_provenance_mut(handle), ()) };
                let asked = Some(stream);
                Ok(Self { device: (kind, number), stream: foreign.map_err(raise)?, asked })
            }
            _ => Err(refuse("memory of the CPU or of a CUDA device", words((kind, number)))),
        }
    }

    /// Refuses memory of another device, which DLPack numbers like this.
    pub(crate) fn require(&self, device: (i32, i32), argument: &str) -> PyResult<()> {
        let (required, actual) = (words(self.device), words(device));
        if required == actual {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "{argument}: required memory of {required}, as `x` has; actual {actual}"
        )))
    }
}

/// A device in words, as DLPack numbers it; managed memory is used from its GPU.
fn words((kind, number): (i32, i32)) -> String {
    match kind {
        1 => "the CPU".to_owned(),
        2 | 13 => format!("CUDA device {number}"),
        _ => format!("device {number} of DLPack's type {kind}"),
    }
}

/// One emulator for the process.
fn emulator() -> kiln::Result<Device> {
    static EMULATOR: OnceLock<Device> = OnceLock::new();
    if let Some(device) = EMULATOR.get() {
        return Ok(device.clone());
    }
    let device = Device::emulator(Target::Sm80)?;
    Ok(EMULATOR.get_or_init(|| device).clone())
}
