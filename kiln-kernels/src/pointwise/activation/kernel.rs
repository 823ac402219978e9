//! The kernels: a block computes a tile.

/// Activations and their slopes, which the kernels choose by number.
#[kiln::kernel]
pub(in crate::pointwise) mod functions {
    use kiln::prelude::*;

    use crate::pointwise::corner;

    const SILU: i32 = 0;
    const GELU: i32 = 1;
    const GELU_TANH: i32 = 2;

    /// √(2 / π).
    const ROOT: f32 = 0.797_884_6;
    /// √(1 / 2).
    const ROOT_HALF: f32 = 0.707_106_77;
    /// 1 / √(2 π).
    const DENSITY: f32 = 0.398_942_3;
    const CUBIC: f32 = 0.044_715;

    /// An activation of each element.
    fn value<T: Float, const ACT: i32>(x: Tile<f32>) -> Tile<f32> {
        if ACT == SILU {
            x * sigmoid::<T>(x)
        } else if ACT == GELU {
            0.5 * x * (1.0 + (x * ROOT_HALF).erf())
        } else if ACT == GELU_TANH {
            // (1 + tanh(u)) / 2 is the sigmoid of 2 u.
            x * sigmoid::<T>(2.0 * ROOT * x * (1.0 + CUBIC * x * x))
        } else {
            let positive = positive(x);
            positive * positive
        }
    }

    /// Its derivative at each element.
    fn slope<T: Float, const ACT: i32>(x: Tile<f32>) -> Tile<f32> {
        if ACT == SILU {
            let sigmoid = sigmoid::<T>(x);
            sigmoid * (1.0 + x * (1.0 - sigmoid))
        } else if ACT == GELU {
            0.5 * (1.0 + (x * ROOT_HALF).erf()) + x * DENSITY * exp::<T>(-0.5 * x * x)
        } else if ACT == GELU_TANH {
            let sigmoid = sigmoid::<T>(2.0 * ROOT * x * (1.0 + CUBIC * x * x));
            // Further out `1 - sigmoid` is 0, or the sigmoid is, and squares of x may exceed the range.
            let near = x.clamp(-16.0, 16.0);
            let inner = 2.0 * ROOT * (1.0 + 3.0 * CUBIC * near * near);
            sigmoid * (1.0 + near * (1.0 - sigmoid) * inner)
        } else {
            2.0 * positive(x)
        }
    }

    fn sigmoid<T: Float>(x: Tile<f32>) -> Tile<f32> {
        let sum = 1.0 + exp::<T>(-x);
        if T::BITS == 32 {
            sum.recip()
        } else {
            // A reciprocal to 21 bits, for two instructions in place of ten.
            let root = sum.rsqrt();
            root * root
        }
    }

    /// The exponential, as exact as what is rounded to `T` asks for.
    fn exp<T: Float>(x: Tile<f32>) -> Tile<f32> {
        if T::BITS == 32 { x.exp() } else { x.exp_approx() }
    }

    /// The positive part, of NaN itself.
    fn positive(x: Tile<f32>) -> Tile<f32> {
        select(x.le(0.0), 0.0, x)
    }

    /// `act(x)`, or `act(x) · up`.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), R) * cdiv(out.dim(1), C),
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3], (R, C) = [(1, 2048), (16, 128)]))]
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
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3], (R, C) = [(1, 2048), (16, 128)]))]
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
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3], (R, C) = [(1, 2048), (16, 128)]))]
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
             instances(T = [bf16, f16, f32], ACT = [0, 1, 2, 3], (R, C) = [(1, 2048), (16, 128)]))]
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
