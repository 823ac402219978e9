use kiln::prelude::*;

// ANCHOR: device
mod activations {
    use kiln::prelude::*;

    /// x / (1 + exp(-x)), of tiles of any float type.
    #[device]
    pub fn silu<T: Float>(x: Tile<T>) -> Tile<T> {
        x / (T::of(1.0) + (-x).exp())
    }
}
use activations::silu;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn activate(x: TensorMut<f32, 1>) {
    let window = x.tile([block_id(0) * 256], [256]);
    window.store(silu(window.load()));
}
// ANCHOR_END: device

// ANCHOR: module
#[kernel]
mod softmax {
    use kiln::prelude::*;

    /// The greatest number of each row so far, and the sum of the exponentials below it.
    #[derive(Clone, Copy)]
    struct Running {
        most: Tile<f32>,
        sum: Tile<f32>,
    }

    impl Running {
        fn new<const M: i32>() -> Running {
            Running { most: full([M], f32::MIN), sum: zeros([M]) }
        }

        /// Takes in further columns of the rows.
        fn add(self, x: Tile<f32>) -> Running {
            let most = maximum(self.most, x.max(1));
            let part = (x - most.expand(1)).exp().sum(1);
            Running { most, sum: self.sum * (self.most - most).exp() + part }
        }
    }

    /// The logarithm of the sum of the exponentials of each row, of any width.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), M), instances(M = [4]))]
    pub fn log_sum_exp<const M: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
        let mut running = Running::new::<M>();
        for column in range(0, x.dim(1), 128) {
            let tile = x.tile([block_id(0) * M, column], [M, 128]).load();
            let inside = (column + arange(0, 128)).lt(x.dim(1)).expand(0);
            running = running.add(select(inside, tile, f32::NEG_INFINITY));
        }
        out.tile([block_id(0) * M], [M]).store(running.most + running.sum.ln());
    }
}
use softmax::log_sum_exp;
// ANCHOR_END: module

// ANCHOR: traits
#[kernel]
mod elementwise {
    use kiln::prelude::*;

    /// What happens to each element.
    pub trait Step {
        fn apply(x: Tile<f32>) -> Tile<f32>;
    }

    pub struct Double;
    pub struct Clip<const LIMIT: i32>;

    impl Step for Double {
        fn apply(x: Tile<f32>) -> Tile<f32> {
            x * 2.0
        }
    }

    impl<const LIMIT: i32> Step for Clip<LIMIT> {
        fn apply(x: Tile<f32>) -> Tile<f32> {
            x.clamp(-(LIMIT as f32), LIMIT as f32)
        }
    }

    #[kernel(
        target = sm_80,
        warps = 4,
        grid = cdiv(x.dim(0), 256),
        instances((F, G) = [(Double, Clip<6>), (Clip<6>, Double)])
    )]
    pub fn both<F: Step, G: Step>(x: TensorMut<f32, 1>) {
        let window = x.tile([block_id(0) * 256], [256]);
        window.store(G::apply(F::apply(window.load())));
    }
}
use elementwise::{Clip, Double, both};
// ANCHOR_END: traits

// ANCHOR: constants
/// Columns that one iteration takes.
const WIDTH: i32 = 1 << 7;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), ROWS), instances(ROWS = [1, 2]))]
pub fn count_ones<const ROWS: i32>(x: Tensor<u32, 2>, out: TensorMut<u32, 1>) {
    const {
        assert!(ROWS * WIDTH <= 1024, "a thread holds at most eight elements");
    }
    let mut ones = zeros::<u32>([ROWS]);
    for column in range(0, x.dim(1), WIDTH) {
        let tile = x.tile([block_id(0) * ROWS, column], [ROWS, WIDTH]).load();
        ones += tile.count_ones().sum(1);
    }
    out.tile([block_id(0) * ROWS], [ROWS]).store(ones);
}
// ANCHOR_END: constants

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(activate::TARGETS)?.stream()?;
    // ANCHOR: main
    let mut x = stream.upload(&[0.0, 4.0, -5.0f32], [3])?;
    both::<Double, Clip<6>>(both::Args { x: &mut x }).launch(&stream)?;
    println!("{:?}", x.to_vec(&stream)?);
    let mut x = stream.upload(&[0.0, 4.0, -5.0f32], [3])?;
    both::<Clip<6>, Double>(both::Args { x: &mut x }).launch(&stream)?;
    println!("{:?}", x.to_vec(&stream)?);
    // ANCHOR_END: main

    let mut x = stream.upload(&[0.0, 100.0f32], [2])?;
    activate(activate::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [0.0, 100.0]);

    let x = stream.full([3, 500], -1000.0f32)?;
    let mut out = stream.zeros([3])?;
    log_sum_exp::<4>(log_sum_exp::Args { x: &x, out: &mut out }).launch(&stream)?;
    let required = -1000.0 + 500f32.ln();
    assert!(out.to_vec(&stream)?.iter().all(|value| (value - required).abs() < 1e-3));

    let x = stream.full([3, 500], 7u32)?;
    let mut out = stream.zeros([3])?;
    count_ones::<2>(count_ones::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [1500; 3]);
    Ok(())
}
