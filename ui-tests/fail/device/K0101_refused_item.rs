//! What uses a refused device item has nothing said of it: neither by Kiln nor by rustc.
use kiln::prelude::*;

#[device]
pub mod parts {
    use kiln::prelude::*;

    pub union Kind {
        sum: i32,
    }

    pub struct Acc {
        pub sum: Tile<i32>,
    }

    impl Acc {
        pub fn new(sum: Tile<i32>) -> Acc {
            Acc { sum }
        }
    }

    pub fn of_block() -> i32 {
        block_id(0)
    }
}

#[device]
pub fn place() -> i32 {
    parts::of_block() * 32
}

#[kernel(target = sm_80, warps = 1)]
pub fn positions(out: TensorMut<i32, 1>) {
    let acc = parts::Acc::new(arange(0, 32));
    let at = place();
    out.tile([at], [32]).store(acc.sum + parts::of_block());
}

/// Functions of these kinds cannot be called in a kernel.
pub mod kinds {
    use kiln::prelude::*;

    #[device]
    pub async fn later(x: i32) -> i32 {
        x
    }

    #[device]
    pub unsafe fn unchecked(x: i32) -> i32 {
        x
    }

    #[device]
    pub extern "C" fn foreign(x: i32) -> i32 {
        x
    }
}

#[kernel(target = sm_80, warps = 1)]
pub fn calls(out: TensorMut<i32, 1>) {
    let sum = kinds::later(1) + kinds::unchecked(2) + kinds::foreign(3);
    out.tile([0], [1]).store(full([1], sum));
}

fn main() {}
