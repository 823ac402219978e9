#[kiln::kernel]
pub mod acts {
    use kiln::prelude::*;

    #[derive(Clone, Copy)]
    pub enum Act {
        Relu,
        Gelu,
        Silu,
    }

    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128), instances(KIND = [0, 1, 2]))]
    pub fn apply<const KIND: i32>(x: TensorMut<f32, 1>) {
        let w = x.tile([block_id(0) * 128], [128]);
        let act = if KIND == 0 { Act::Relu } else { Act::Silu };
        let v = w.load();
        w.store(match act {
            Act::Relu => maximum(v, 0.0),
            Act::Silu => v / (1.0 + (-v).exp()),
        });
    }
}

fn main() {}
