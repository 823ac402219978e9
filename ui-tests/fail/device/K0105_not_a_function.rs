//! What cannot be reached by a name with all that belongs to it.

use kiln::prelude::*;

#[device]
pub struct Pair {
    pub a: i32,
}

#[device]
impl Pair {
    pub fn new() -> Pair {
        Pair { a: 1 }
    }
}

#[device(inline)]
fn half(x: Tile<f32>) -> Tile<f32> {
    x * 0.5
}

fn main() {}
