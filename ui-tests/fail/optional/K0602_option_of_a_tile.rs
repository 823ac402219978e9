use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(tile: Option<Tile<f32>>, list: Option<&[f32]>, twice: Option<Option<f32>>) {}

fn main() {}
