use kiln::prelude::*;

#[kernel]
mod modes {
    use kiln::prelude::*;

    #[repr(i64)]
    #[derive(Clone, Copy)]
    enum Mode {
        Small = 1,
        Large = 5000000000,
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub fn k(x: i32, out: TensorMut<i32, 1>) {
        let mode = if x > 1 { Mode::Large } else { Mode::Small };
        out.tile([0], [128]).store(full([128], mode as i32));
    }
}

fn main() {}
