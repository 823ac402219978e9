//! The class of results.

use crate::{capsule, launches, place::Place};
use kiln::{AnyTensor, Stream};
use pyo3::{
    exceptions::{PyBufferError, PyValueError},
    prelude::*,
    types::{PyCapsule, PyTuple},
};

/// A result, which other libraries take through DLPack: `numpy.from_dlpack(tensor)`, `torch.from_dlpack(tensor)`.
///
/// A GPU's memory is shared. For a result on the CPU, each `__dlpack__` gives a copy.
#[pyclass(frozen, module = "kiln_rms_norm")]
pub(crate) struct Tensor {
    tensor: AnyTensor,
    /// The stream that it was computed on.
    stream: Stream,
}

impl Tensor {
    pub(crate) fn new(tensor: AnyTensor, stream: &Stream) -> Self {
        Self { tensor, stream: stream.clone() }
    }

    fn device(&self) -> (i32, i32) {
        match self.tensor.device().ordinal() {
            Some(ordinal) => (2, i32::try_from(ordinal).unwrap_or(i32::MAX)),
            None => (1, 0),
        }
    }
}

#[pymethods]
impl Tensor {
    /// The extents of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tensor.shape())
    }

    /// The element type in Kiln's names: `f16`, `bf16`, `f32`, `f64`.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.tensor.dtype()
    }

    fn __repr__(&self) -> String {
        let (shape, dtype) = (self.tensor.shape(), self.tensor.dtype());
        format!("<kiln_rms_norm.Tensor of {dtype} {shape:?} on {}>", self.tensor.device())
    }

    /// The kind and number of the device, as DLPack numbers them: (1, 0) for the CPU, (2, n) for CUDA.
    fn __dlpack_device__(&self) -> (i32, i32) {
        self.device()
    }

    /// A capsule, as in the array API standard.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let device = self.device();
        if let Some(asked) = dl_device.filter(|asked| *asked != device) {
            return Err(PyBufferError::new_err(format!(
                "__dlpack__: required the device {device:?}, where the tensor is; actual {asked:?}"
            )));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        if device.0 == 1 {
            if let Some(stream) = stream {
                return Err(PyValueError::new_err(format!(
                    "__dlpack__: required no stream for a tensor on the CPU; actual {stream}"
                )));
            }
            if copy == Some(false) {
                return Err(PyBufferError::new_err(
                    "__dlpack__: a result on the CPU is in the emulator's memory, which is copied: leave `copy=False` out",
                ));
            }
            return capsule::export(py, &self.tensor, &self.stream, versioned);
        }
        let consumer = match stream {
            // The consumer takes care of the order.
            Some(-1) => self.stream.clone(),
            Some(0) => {
                return Err(PyValueError::new_err(
                    "__dlpack__: stream 0 may be either default stream of CUDA: pass 1 for the legacy one, or the handle of a stream that was created",
                ));
            }
            stream => Place::new("__dlpack__", device, Some(stream.unwrap_or(1)))?.stream,
        };
        if copy == Some(true) {
            let copied = launches::copy(&self.tensor, &consumer)?;
            return capsule::export(py, &copied, &consumer, versioned);
        }
        capsule::export(py, &self.tensor, &consumer, versioned)
    }
}
