//! The kernels: a block computes a tile.

#[kiln::kernel]
pub(in crate::pointwise) mod functions {
    use kiln::prelude::*;

    use crate::{
        activation::functions::{slope, value},
        pointwise::corner,
    };

    /// `act(x)`, or `act(x) · up`.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), R) * cdiv(out.dim(1), C),
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3, 4], (R, C) = [(1, 2048), (16, 128)]))]
    pub fn forward<T: Float, const ACT: i32, const R: i32, const C: i32>(
        x: Tensor<T, 2>,
        up: Option<Tensor<T, 2>>,
        out: TensorMut<T, 2>,
    ) {
        let at = corner::<R, C>(out.dim(1));
        let x = x.tile(at, [R, C]).load();
        match up {
            Some(up) => {
                let up = up.tile(at, [R, C]).load().cast::<f32>();
                out.tile(at, [R, C]).store((value::<T, ACT>(x.cast::<f32>()) * up).cast::<T>());
            }
            None => out.tile(at, [R, C]).store(value::<T, ACT>(x.cast::<f32>()).cast::<T>()),
        }
    }

    /// `grad · act'(x)`.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(grad.dim(0), R) * cdiv(grad.dim(1), C),
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3, 4], (R, C) = [(1, 2048), (16, 128)]))]
    pub fn backward<T: Float, const ACT: i32, const R: i32, const C: i32>(
        x: Tensor<T, 2>,
        grad: Tensor<T, 2>,
        grad_x: TensorMut<T, 2>,
    ) {
        let at = corner::<R, C>(grad.dim(1));
        let x = x.tile(at, [R, C]).load().cast::<f32>();
        let grad = grad.tile(at, [R, C]).load().cast::<f32>();
        grad_x.tile(at, [R, C]).store((grad * slope::<T, ACT>(x)).cast::<T>());
    }

    /// `grad · up · act'(gate)` and `grad · act(gate)`.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(grad.dim(0), R) * cdiv(grad.dim(1), C),
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3, 4], (R, C) = [(1, 2048), (16, 128)]))]
    pub fn gate_backward<T: Float, const ACT: i32, const R: i32, const C: i32>(
        gate: Tensor<T, 2>,
        up: Tensor<T, 2>,
        grad: Tensor<T, 2>,
        grad_gate: TensorMut<T, 2>,
        grad_up: TensorMut<T, 2>,
    ) {
        let at = corner::<R, C>(grad.dim(1));
        let gate = gate.tile(at, [R, C]).load().cast::<f32>();
        let up = up.tile(at, [R, C]).load().cast::<f32>();
        let grad = grad.tile(at, [R, C]).load().cast::<f32>();
        grad_gate.tile(at, [R, C]).store((grad * up * slope::<T, ACT>(gate)).cast::<T>());
        grad_up.tile(at, [R, C]).store((grad * value::<T, ACT>(gate)).cast::<T>());
    }

    /// The same for gates at `[.., 0, ..]` and factors at `[.., 1, ..]` of one tensor.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(grad.dim(0), R) * cdiv(grad.dim(1), C),
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3, 4], (R, C) = [(1, 2048), (16, 128)]))]
    pub fn gate_backward_packed<T: Float, const ACT: i32, const R: i32, const C: i32>(
        x: Tensor<T, 3>,
        grad: Tensor<T, 2>,
        grad_x: TensorMut<T, 3>,
    ) {
        let [row, column] = corner::<R, C>(grad.dim(1));
        let gate = x.tile([row, 0, column], [R, 1, C]).load().cast::<f32>();
        let up = x.tile([row, 1, column], [R, 1, C]).load().cast::<f32>();
        let grad = grad.tile([row, column], [R, C]).load().cast::<f32>().expand(1);
        let (of_gate, of_up) = (grad * up * slope::<T, ACT>(gate), grad * value::<T, ACT>(gate));
        grad_x.tile([row, 0, column], [R, 1, C]).store(of_gate.cast::<T>());
        grad_x.tile([row, 1, column], [R, 1, C]).store(of_up.cast::<T>());
    }
}
