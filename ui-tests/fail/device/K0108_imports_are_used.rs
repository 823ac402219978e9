//! A mistake that is found when the device items have come leaves no imports unused.
#![deny(warnings)]

#[kiln::kernel]
pub mod m {
    use kiln::prelude::{TensorMut, arange, block_id};
    use kiln::sched::{Grouped, Schedule};

    #[kernel(target = sm_80, warps = 1, grid = 1)]
    pub fn q(p: TensorMut<i32, 1>) {
        let (row, _) = Grouped::<8>::new(4, 4).tile(block_id(0));
        p.tile([row], [4]).store(arange(0, 4).exq());
    }
}

fn main() {}
