use kiln::prelude::*;

struct Stats { mean: f32, count: i32 }

impl Stats {
    fn add(self, v: f32) -> Stats {
        Stats { mean: self.mean + v, count: self.count + 1 }
    }
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut stats = Stats { mean: 0.0, count: 0 };
    for at in range(0, x.dim(1), 1024) {
        stats = stats.add(x.tile([block_id(0), at], [1, 1024]).load().sum([0, 1]));
    }
    out.tile([block_id(0)], [1]).store(full([1], stats.mean));
}

fn main() {}
