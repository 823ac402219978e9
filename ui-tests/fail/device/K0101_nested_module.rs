//! A module in a device module is refused, and what uses it has nothing said of it.
use kiln::prelude::*;

#[device]
pub mod parts {
    use kiln::prelude::*;

    pub mod inner {
        use kiln::prelude::*;

        pub enum Kind {
            Sum,
        }

        pub struct Acc {
            pub sum: Tile<i32>,
        }

        pub mod deep {
            pub const ONE: i32 = 1;
        }

        pub fn twice(x: Tile<i32>) -> Tile<i32> {
            x + x
        }
    }

    pub use inner::twice;

    pub fn of_block() -> i32 {
        block_id(0)
    }
}

#[kernel(target = sm_80, warps = 1)]
pub fn positions(out: TensorMut<i32, 1>) {
    let x = parts::inner::twice(parts::twice(arange(0, 32))) + parts::inner::deep::ONE;
    let kind = parts::inner::Kind::Sum;
    let acc = parts::inner::Acc { sum: x };
    out.tile([parts::of_block()], [32]).store(acc.sum);
}

fn main() {}
