#[kiln::kernel]
mod ordered {
    use kiln::prelude::*;

    trait Order {
        const STEP: i32;
    }
    struct Rows;
    struct Columns;
    impl Order for Rows {
        const STEP: i32 = 1;
    }
    #[kernel(target = sm_80, warps = 4, instances((O, N) = [(Rows, 64), (Columns, 64)]))]
    pub fn steps<O: Order, const N: i32>(y: TensorMut<i32, 1>) {
        y.tile([0], [N]).store(full([N], O::STEP));
    }
}

fn main() {}
