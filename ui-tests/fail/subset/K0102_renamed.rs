#[kiln::kernel]
mod named {
    use kiln::prelude::*;
    use kiln::prelude::{TensorMut as Out, zeros as nothing};

    #[kernel(target = kiln::lang::sm_80, warps = 4)]
    pub fn clear(y: Out<f32, 1>) {
        y.tile([0], [64]).store(nothing::<f32>([64]));
    }
}

fn main() {}
