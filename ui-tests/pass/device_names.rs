//! Device functions may have names that are near to the language's, or those of methods.

#[kiln::device]
pub mod shapes {
    use kiln::prelude::*;

    pub fn fill(s: Shared<f32>) {
        s.store(zeros([s.dim(0)]));
    }

    pub fn max(a: i32, b: i32) -> i32 {
        a.max(b)
    }

    pub fn score(a: i32) -> i32 {
        a * 2
    }
}

#[kiln::kernel]
pub mod kernels {
    use super::shapes::{fill, max};
    use kiln::prelude::*;

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn filled(n: i32, y: TensorMut<f32, 1>) {
        let s = shared::<f32>([64]);
        fill(s);
        sync();
        y.tile([max(n, 0)], [64]).store(s.load());
    }
}

mod alone {
    use super::shapes::{self, score};
    use kiln::prelude::*;

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn scored(n: i32, y: TensorMut<i32, 1>) {
        y.tile([0], [64]).store(full([64], shapes::max(score(n), 1)));
    }
}

fn main() {
    let _ = (kernels::filled::TARGETS, alone::scored::TARGETS);
}
