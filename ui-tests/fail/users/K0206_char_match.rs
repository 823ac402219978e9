use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn act(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    let mode = "relu";
    w.store(match mode {
        "relu" => maximum(w.load(), 0.0),
        _ => w.load(),
    });
}

fn main() {}
