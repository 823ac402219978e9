use kiln::prelude::*;

/// No loop has stages.
#[kernel(target = sm_80, warps = 4, grid = 1, stages = 2)]
pub fn none(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [128]);
    window.store(window.load() * 2.0);
}

/// Two kernels of a module: each has its own loops.
#[kernel]
mod two {
    use kiln::prelude::*;

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn other(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
        let staged = shared::<f32>([128]);
        let mut sum = zeros::<f32>([128]);
        for at in pipeline(range(0, x.dim(0), 128), 4) {
            copy_async(x.tile([at], [128]), staged);
            sum += staged.load();
        }
        out.tile([0], [128]).store(sum);
    }

    #[kernel(target = sm_80, warps = 4, pipeline_stages = 2, grid = 1)]
    pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
        let staged = shared::<f32>([128]);
        let mut sum = zeros::<f32>([128]);
        for at in pipeline(range(0, x.dim(0), 128), 2) {
            copy_async(x.tile([at], [128]), staged);
            sum += staged.load();
        }
        out.tile([0], [128]).store(sum);
    }
}

fn main() {}
