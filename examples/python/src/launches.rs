//! Launches for tensors whose types are known only at run time.

use crate::{kernels::Number, raise};
use half::{bf16, f16};
use kiln::{AnyTensor, DeviceTensor, Stream};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

/// Calls a function with the element type of a name as type parameter.
macro_rules! for_dtype {
    ($dtype:expr, $argument:expr, $function:ident($($value:expr),*)) => {
        match $dtype {
            "f32" => $function::<f32>($($value),*),
            "f64" => $function::<f64>($($value),*),
            "f16" => $function::<f16>($($value),*),
            "bf16" => $function::<bf16>($($value),*),
            actual => Err(PyTypeError::new_err(format!(
                "{}: required elements of f16, bf16, f32 or f64; actual {actual}",
                $argument
            ))),
        }
    };
}

/// The results of [`backward`], and its workspace: a row of sums for each block.
pub(crate) struct Gradients {
    pub(crate) x: AnyTensor,
    pub(crate) weight: AnyTensor,
    pub(crate) sums: AnyTensor,
}

/// Puts the kernel onto the stream. The result goes to `out`, which is made if there is none.
pub(crate) fn forward(
    stream: &Stream,
    x: &AnyTensor,
    weight: &AnyTensor,
    eps: f64,
    out: Option<AnyTensor>,
) -> PyResult<AnyTensor> {
    for_dtype!(x.dtype(), "x", forward_of(stream, x, weight, eps, out))
}

fn forward_of<T: Number>(
    stream: &Stream,
    x: &AnyTensor,
    weight: &AnyTensor,
    eps: f64,
    out: Option<AnyTensor>,
) -> PyResult<AnyTensor> {
    let shape = shape_of(x)?;
    require_shape("weight", weight, &shape[1..])?;
    let mut out = match out {
        Some(out) => out,
        None => new::<T, 2>(stream, shape, "x")?,
    };
    require_shape("out", &out, &shape)?;
    let x = x.as_tensor::<T, 2>().map_err(|error| raise("x", error))?;
    let weight = weight.as_tensor::<T, 1>().map_err(|error| raise("weight", error))?;
    let mut result = out.as_tensor_mut::<T, 2>().map_err(|error| raise("out", error))?;
    T::forward(&x, &weight, T::sum_of(eps), &mut result)
        .launch(stream)
        .map_err(|error| raise("rms_norm", error))?;
    Ok(out)
}

/// Puts the kernels onto the stream. The results go to `out`, which is made if there is none.
pub(crate) fn backward(
    stream: &Stream,
    x: &AnyTensor,
    weight: &AnyTensor,
    grad: &AnyTensor,
    eps: f64,
    out: Option<Gradients>,
) -> PyResult<Gradients> {
    for_dtype!(x.dtype(), "x", backward_of(stream, x, weight, grad, eps, out))
}

fn backward_of<T: Number>(
    stream: &Stream,
    x: &AnyTensor,
    weight: &AnyTensor,
    grad: &AnyTensor,
    eps: f64,
    out: Option<Gradients>,
) -> PyResult<Gradients> {
    let shape = shape_of(x)?;
    let [rows, columns] = shape;
    require_shape("weight", weight, &shape[1..])?;
    require_shape("grad", grad, &shape)?;
    let mut out = if let Some(out) = out {
        out
    } else {
        // Some blocks for each multiprocessor, while there are rows for them.
        let properties = stream.device().properties();
        let blocks = rows.clamp(1, 4 * properties.multiprocessors.max(1) as usize);
        Gradients {
            x: new::<T, 2>(stream, shape, "x")?,
            weight: new::<T, 1>(stream, [columns], "weight")?,
            sums: new::<T::Sum, 2>(stream, [blocks, columns], "sums")?,
        }
    };
    require_shape("grad_x", &out.x, &shape)?;
    require_shape("grad_weight", &out.weight, &shape[1..])?;
    if out.sums.rank() == 2 && out.sums.shape()[0] == 0 {
        return Err(PyValueError::new_err("sums: required a row or more; actual 0"));
    }
    let blocks = out.sums.shape().first().copied().unwrap_or(0);
    require_shape("sums", &out.sums, &[blocks, columns])?;
    let x = x.as_tensor::<T, 2>().map_err(|error| raise("x", error))?;
    let weight = weight.as_tensor::<T, 1>().map_err(|error| raise("weight", error))?;
    let grad = grad.as_tensor::<T, 2>().map_err(|error| raise("grad", error))?;
    let mut grad_x = out.x.as_tensor_mut::<T, 2>().map_err(|error| raise("grad_x", error))?;
    let mut grad_weight =
        out.weight.as_tensor_mut::<T, 1>().map_err(|error| raise("grad_weight", error))?;
    let mut sums = out.sums.as_tensor_mut::<T::Sum, 2>().map_err(|error| raise("sums", error))?;
    T::backward(&x, &weight, &grad, T::sum_of(eps), &mut grad_x, &mut sums)
        .launch(stream)
        .and_then(|()| T::sum_columns(&sums, &mut grad_weight).launch(stream))
        .map_err(|error| raise("rms_norm_backward", error))?;
    Ok(out)
}

/// A copy on the stream.
pub(crate) fn copy(tensor: &AnyTensor, stream: &Stream) -> PyResult<AnyTensor> {
    for_dtype!(tensor.dtype(), "copy", copy_of(tensor, stream))
}

fn copy_of<T: Number>(tensor: &AnyTensor, stream: &Stream) -> PyResult<AnyTensor> {
    fn of_rank<T: Number, const R: usize>(
        tensor: &AnyTensor,
        stream: &Stream,
    ) -> kiln::Result<AnyTensor> {
        let from = tensor.as_tensor::<T, R>()?;
        let mut to = stream.empty::<T, R>(from.shape())?;
        stream.copy(&from, &mut to)?;
        Ok(to.into())
    }
    // Results have one axis or two.
    let copied = if tensor.rank() == 1 {
        of_rank::<T, 1>(tensor, stream)
    } else {
        of_rank::<T, 2>(tensor, stream)
    };
    copied.map_err(|error| raise("copy", error))
}

fn new<T: kiln::Element, const R: usize>(
    stream: &Stream,
    shape: [usize; R],
    argument: &str,
) -> PyResult<AnyTensor> {
    let tensor: DeviceTensor<T, R> = stream.empty(shape).map_err(|error| raise(argument, error))?;
    Ok(tensor.into())
}

fn shape_of(x: &AnyTensor) -> PyResult<[usize; 2]> {
    x.shape().try_into().map_err(|_| {
        PyValueError::new_err(format!(
            "x: required a matrix, of 2 axes; actual the shape {:?}",
            x.shape()
        ))
    })
}

/// A kernel checks accesses against each tensor's own shape, so it would accept shapes that do not fit together.
fn require_shape(argument: &str, tensor: &AnyTensor, required: &[usize]) -> PyResult<()> {
    if tensor.shape() == required {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{argument}: required the shape {required:?}; actual {:?}",
        tensor.shape()
    )))
}
