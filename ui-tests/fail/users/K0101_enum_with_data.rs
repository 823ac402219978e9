use kiln::prelude::*;

#[kernel]
mod acts {
    use kiln::prelude::*;

    pub enum Act {
        Relu,
        Leaky(f32),
    }

    impl Act {
        fn apply(self, x: Tile<f32>) -> Tile<f32> {
            match self {
                Act::Relu => maximum(x, 0.0),
                Act::Leaky(slope) => maximum(x, x * slope),
            }
        }
    }

    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
    pub fn leaky(x: TensorMut<f32, 1>) {
        let w = x.tile([block_id(0) * 128], [128]);
        w.store(Act::Leaky(0.1).apply(w.load()));
    }
}

fn main() {}
