use kiln::prelude::*;

#[kernel]
mod kernels {
    use kiln::prelude::*;

    fn shifted(x: Tile<f32>, by: i32) -> Tile<f32> {
        x + by
    }

    #[kernel(target = sm_80, warps = 4)]
    pub fn wrong(y: TensorMut<f32, 1>) {
        y.tile([0], [64]).store(shifted(zeros([64]), 1));
    }
}

fn main() {}
