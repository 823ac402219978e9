use kiln::prelude::*;

// Wrong: the function of the scan takes four values, as a `combine_fn` of `tl.associative_scan((a, b), ..)` does; right are two tuples: `|(a1, b1), (a2, b2)| (a1 * a2, b1 * a2 + b2)`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(decay.dim(0), 32))]
pub fn wrong(decay: Tensor<f32, 2>, input: Tensor<f32, 2>, states: TensorMut<f32, 2>) {
    let at = [block_id(0) * 32, 0];
    let a = decay.tile(at, [32, 128]).load();
    let b = input.tile(at, [32, 128]).load();
    let (_, h) = (a, b).scan(1, |a1, b1, a2, b2| (a1 * a2, b1 * a2 + b2));
    states.tile(at, [32, 128]).store(h);
}

fn main() {}
