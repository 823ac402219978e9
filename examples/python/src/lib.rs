//! The compiled half of the Python package `kiln_rms_norm`.
//!
//! Arrays come in through DLPack. GPU arrays are used in place, on the stream that the caller names, and the host does
//! not wait. CPU arrays are copied into Kiln's emulator; other Python threads run meanwhile.

#[expect(clippy::cast_possible_truncation, reason = "sums of `f32` take the nearest `f32`")]
mod kernels;

#[expect(unsafe_code, reason = "DLPack is a C interface")]
mod capsule;

mod launches;

#[expect(unsafe_code, reason = "a stream comes as a number, which has to be believed")]
mod place;

mod tensor;

use launches::Gradients;
use place::Place;
use pyo3::{
    exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
};
use tensor::Tensor;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Tensor, rms_norm, rms_norm_backward};
}

/// x / sqrt(mean(x²) + eps) · weight, over the rows of a matrix.
///
/// Arrays are anything with `__dlpack__`, or capsules, of f16, bf16, f32 or f64; `x` has two axes, `weight` one. On
/// CUDA, `stream` is the handle of the stream to work on, as an integer (without it the legacy default stream), and the
/// result is written to `out` if there is one. On the CPU both are refused, since the emulator has its own memory.
///
/// Returns `out`, or a new `Tensor`.
#[pyfunction]
#[pyo3(signature = (x, weight, eps=1e-6, *, out=None, stream=None))]
fn rms_norm<'py>(
    x: &Bound<'py, PyAny>,
    weight: &Bound<'py, PyAny>,
    eps: f64,
    out: Option<&Bound<'py, PyAny>>,
    stream: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let place = Place::new("x", capsule::device_of(x, "x")?, stream)?;
    refuse_out(&place, out.is_some())?;
    let import = |object, argument| capsule::import(object, argument, &place);
    let (x, weight) = (import(x, "x")?, import(weight, "weight")?);
    let given = out.map(|out| import(out, "out")).transpose()?;
    let result = py.detach(|| launches::forward(&place.stream, &x, &weight, eps, given))?;
    match out {
        Some(out) => Ok(out.clone()),
        None => Ok(Bound::new(py, Tensor::new(result, &place.stream))?.into_any()),
    }
}

/// The gradients of `rms_norm` from `grad`, that of its result: those of `x` and of `weight`.
///
/// Arguments as for `rms_norm`. `out` is (gradient of x, gradient of the weight, sums): as many blocks as the matrix `sums` has rows
/// share the work, each with a row to add up in, of f64 for f64 and of f32 otherwise.
///
/// Returns the two gradients, as in `out` or as a new `Tensor` each.
#[pyfunction]
#[pyo3(signature = (x, weight, grad, eps=1e-6, *, out=None, stream=None))]
fn rms_norm_backward<'py>(
    x: &Bound<'py, PyAny>,
    weight: &Bound<'py, PyAny>,
    grad: &Bound<'py, PyAny>,
    eps: f64,
    out: Option<[Bound<'py, PyAny>; 3]>,
    stream: Option<i64>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = x.py();
    let place = Place::new("x", capsule::device_of(x, "x")?, stream)?;
    refuse_out(&place, out.is_some())?;
    let import = |object, argument| capsule::import(object, argument, &place);
    let (x, weight, grad) = (import(x, "x")?, import(weight, "weight")?, import(grad, "grad")?);
    let given = match &out {
        Some([grad_x, grad_weight, sums]) => Some(Gradients {
            x: import(grad_x, "grad_x")?,
            weight: import(grad_weight, "grad_weight")?,
            sums: import(sums, "sums")?,
        }),
        None => None,
    };
    let result = py.detach(|| launches::backward(&place.stream, &x, &weight, &grad, eps, given))?;
    if let Some([grad_x, grad_weight, _]) = out {
        return Ok((grad_x, grad_weight));
    }
    let new = |tensor| Bound::new(py, Tensor::new(tensor, &place.stream));
    Ok((new(result.x)?.into_any(), new(result.weight)?.into_any()))
}

fn refuse_out(place: &Place, given: bool) -> PyResult<()> {
    if given && place.stream.device().is_emulator() {
        return Err(PyValueError::new_err(
            "out: required none for arrays on the CPU, whose results are new; actual an array: take what is returned",
        ));
    }
    Ok(())
}

/// Python's exception for a Kiln error about an argument, or in a function.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn raise(subject: &str, error: kiln::Error) -> PyErr {
    use kiln::{Error, ParamKind};
    let text = format!("{subject}: {error}");
    match error {
        Error::NotOfType {
            required: ParamKind::Tensor { dtype: required, .. },
            actual: ParamKind::Tensor { dtype: actual, .. },
        } if required != actual => PyTypeError::new_err(text),
        Error::NotOfType { .. }
        | Error::ForeignMemory { .. }
        | Error::ForeignContext { .. }
        | Error::PerThreadStream
        | Error::ReadOnly { .. }
        | Error::Aliased { .. }
        | Error::OverlappingElements { .. }
        | Error::DimTooLarge { .. }
        | Error::TooLarge { .. }
        | Error::WrongDevice { .. }
        | Error::StreamOfAnotherDevice { .. } => PyValueError::new_err(text),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        // What the device, the driver or the emulator reports.
        _ => PyRuntimeError::new_err(text),
    }
}
