//! Activation functions, alone and as gates.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::tile_of;
use crate::{Activation, Real, shape::require};

mod kernel;

use kernel::functions;

/// `out = act(x)`.
///
/// NaN and infinities give what the formulas give in f32: NaN stays NaN, and minus infinity gives 0 for
/// [`ReluSquared`](Activation::ReluSquared) and NaN, which is 0 times infinity, for the others.
///
/// # Errors
/// [`Error::Shape`] for different extents, those of launches.
pub fn activate<T: Real>(
    stream: &Stream,
    activation: Activation,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = out.tensor_mut()?.shape();
    require("an activation, of x", shape, x.tensor()?.shape())?;
    forward::<T>(activation, shape)?
        .with(functions::forward::Args { x, up: None, out })
        .launch(stream)
}

/// The derivative of [`activate`]: `grad_x = grad · act'(x)`.
///
/// # Errors
/// [`Error::Shape`] for different extents, those of launches.
pub fn activate_backward<T: Real>(
    stream: &Stream,
    activation: Activation,
    x: &impl TensorArgument<T, 2>,
    grad: &impl TensorArgument<T, 2>,
    grad_x: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = grad_x.tensor_mut()?.shape();
    require("the derivative of an activation, of x", shape, x.tensor()?.shape())?;
    require("the derivative of an activation, of grad", shape, grad.tensor()?.shape())?;
    let [rows, columns] = tile_of(shape);
    functions::backward::Values { T: Dtype::of::<T>(), ACT: activation as i32, R: rows, C: columns }
        .find()?
        .with(functions::backward::Args { x, grad, grad_x })
        .launch(stream)
}

/// `out = act(gate) · up`: `SwiGLU` and `GEGLU` for [`Silu`](Activation::Silu) and [`Gelu`](Activation::Gelu).
///
/// The two halves of the columns of one tensor, `[rows, 2 n]`, are passed as views of it.
///
/// # Errors
/// [`Error::Shape`] for different extents, those of launches.
pub fn gate<T: Real>(
    stream: &Stream,
    activation: Activation,
    gate: &impl TensorArgument<T, 2>,
    up: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = out.tensor_mut()?.shape();
    require("act(gate) · up, of gate", shape, gate.tensor()?.shape())?;
    require("act(gate) · up, of up", shape, up.tensor()?.shape())?;
    forward::<T>(activation, shape)?
        .with(functions::forward::Args { x: gate, up: Some(up), out })
        .launch(stream)
}

/// The derivatives of [`gate`]: `grad_gate = grad · up · act'(gate)` and `grad_up = grad · act(gate)`.
///
/// # Errors
/// [`Error::Shape`] for different extents, those of launches.
pub fn gate_backward<T: Real>(
    stream: &Stream,
    activation: Activation,
    [gate, up]: [&impl TensorArgument<T, 2>; 2],
    grad: &impl TensorArgument<T, 2>,
    grad_gate: &mut impl TensorArgumentMut<T, 2>,
    grad_up: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = grad.tensor()?.shape();
    require("the derivatives of act(gate) · up, of gate", shape, gate.tensor()?.shape())?;
    require("the derivatives of act(gate) · up, of up", shape, up.tensor()?.shape())?;
    let (of_gate, of_up) = (grad_gate.tensor_mut()?.shape(), grad_up.tensor_mut()?.shape());
    require("the derivatives of act(gate) · up, of grad_gate", shape, of_gate)?;
    require("the derivatives of act(gate) · up, of grad_up", shape, of_up)?;
    let [rows, columns] = tile_of(shape);
    functions::gate_backward::Values {
        T: Dtype::of::<T>(),
        ACT: activation as i32,
        R: rows,
        C: columns,
    }
    .find()?
    .with(functions::gate_backward::Args { gate, up, grad, grad_gate, grad_up })
    .launch(stream)
}

/// [`gate_backward`] for one tensor of gates and factors, and one of their gradients. `x` and `grad_x` are `[rows, 2, n]`: a contiguous
/// tensor `[rows, 2 n]` is reshaped to that.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn gate_backward_packed<T: Real>(
    stream: &Stream,
    activation: Activation,
    x: &impl TensorArgument<T, 3>,
    grad: &impl TensorArgument<T, 2>,
    grad_x: &mut impl TensorArgumentMut<T, 3>,
) -> Result<()> {
    let shape = grad.tensor()?.shape();
    let packed = [shape[0], 2, shape[1]];
    require("the derivatives of act(gate) · up, of x", packed, x.tensor()?.shape())?;
    require("the derivatives of act(gate) · up, of grad_x", packed, grad_x.tensor_mut()?.shape())?;
    let [rows, columns] = tile_of(shape);
    functions::gate_backward_packed::Values {
        T: Dtype::of::<T>(),
        ACT: activation as i32,
        R: rows,
        C: columns,
    }
    .find()?
    .with(functions::gate_backward_packed::Args { x, grad, grad_x })
    .launch(stream)
}

fn forward<T: Real>(
    activation: Activation,
    shape: [usize; 2],
) -> Result<functions::forward::Instance> {
    let [rows, columns] = tile_of(shape);
    functions::forward::Values { T: Dtype::of::<T>(), ACT: activation as i32, R: rows, C: columns }
        .find()
}
