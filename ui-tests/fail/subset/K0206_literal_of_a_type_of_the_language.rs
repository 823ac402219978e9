use kiln::prelude::*;

#[kernel]
pub mod kernels {
    use kiln::prelude::*;

    struct Ring {
        slot: i32,
    }

    impl Ring {
        fn new() -> Ring {
            Tensor { slot: 0 }
        }
    }

    #[kernel(target = sm_80, warps = 4)]
    pub fn first(y: TensorMut<i32, 1>) {
        let ring = Ring::new();
        y.tile([0], [128]).store(full([128], ring.slot));
    }
}

fn main() {}
