//! Names that something else has already.

use kiln::prelude::*;

#[device]
fn dot(x: Tile<f32>) -> Tile<f32> {
    x
}

#[device]
fn vec(x: Tile<f32>) -> Tile<f32> {
    x
}

#[device]
mod shapes {
    pub const fn line() -> i32 {
        1
    }
}

fn main() {}
