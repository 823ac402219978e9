use kiln::prelude::*;

#[device]
fn gelu<T: Float>(x: Tile<T>) -> Tile<T> {
    let inner = (x * T::of(0.707_106_77)).erf();
    0.5 * x * (inner + T::of(1.0))
}

// Wrong: a literal times a tile of the generic type `T`; right is `T::of(0.5) * x`, as in the rest of the function.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), N), instances(T = [f16, bf16, f32], N = [1024]))]
pub fn wrong<T: Float, const N: i32>(x: Tensor<T, 1>, gate: Tensor<T, 1>, out: TensorMut<T, 1>) {
    let at = [block_id(0) * N];
    let value = x.tile(at, [N]).load();
    let gate = gelu(gate.tile(at, [N]).load());
    let result = value * gate;
    out.tile(at, [N]).store(result);
}

fn main() {}
