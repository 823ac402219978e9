use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(N = [768]))]
pub fn rms_norm<const N: i32>(
    x: Tensor<bf16, 2>,
    gains: Tensor<bf16, 1>,
    eps: f32,
    out: TensorMut<bf16, 2>,
) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>();
    let mean = (v * v).sum(1) / x.dim(1) as f32;
    let scale = (mean + eps).rsqrt().expand(1);
    let gain = gains.tile([0], [N]).load().cast::<f32>().expand(0);
    out.tile([row, 0], [1, N]).store((v * scale * gain).cast::<bf16>());
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(T = [f32, f16], N = [512, 768]))]
pub fn some<T: Float, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, N]).load();
    out.tile([row, 0], [1, N]).store(v + v);
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances((G, N) = [(5, 128), (4, 128)]))]
pub fn groups<const G: i32, const N: i32>(x: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
    let row = block_id(0);
    let v = x.tile([row, 0, 0], [1, G, N]).load();
    let w = zeros::<f32>([1, G, N]);
    out.tile([row, 0, 0], [1, G, N]).store(v + w);
}

fn main() {}
