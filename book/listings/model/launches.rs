use kiln::prelude::*;

// ANCHOR: kernel
/// x = factor · x + 1
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn step(x: TensorMut<f32, 1>, factor: f32) {
    let window = x.tile([block_id(0) * 512], [512]);
    window.store(window.load() * factor + 1.0);
}
// ANCHOR_END: kernel

// ANCHOR: persistent
/// The same by as many blocks as the device holds at once: each takes one tile after the other.
#[kernel(target = sm_80, warps = 4, grid = persistent(cdiv(x.dim(0), 512)))]
pub fn step_persistent(x: TensorMut<f32, 1>, factor: f32) {
    for tile in range(block_id(0), cdiv(x.dim(0), 512), num_blocks(0)) {
        let window = x.tile([tile * 512], [512]);
        window.store(window.load() * factor + 1.0);
    }
}
// ANCHOR_END: persistent

// ANCHOR: grid
/// Which block wrote each element; the caller gives the grid.
#[kernel(target = sm_80, warps = 1)]
pub fn blocks(out: TensorMut<i32, 2>) {
    let (column, row) = (block_id(0), block_id(1));
    out.tile([row, column], [1, 1]).store(full([1, 1], row * num_blocks(0) + column));
}
// ANCHOR_END: grid

pub fn main() -> kiln::Result<()> {
    // ANCHOR: main
    let device = Device::best_for(step::TARGETS)?;
    let stream = device.stream()?;
    let mut x = stream.zeros::<f32, 1>([2000])?;
    step(step::Args { x: &mut x, factor: 2.0 }).launch(&stream)?;
    step_persistent(step_persistent::Args { x: &mut x, factor: 2.0 }).launch(&stream)?;
    println!("{}", x.to_vec(&stream)?[1999]);

    let mut out = stream.full([2, 3], -1)?;
    blocks(blocks::Args { out: &mut out }).grid([3, 2]).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    // ANCHOR_END: main

    // ANCHOR: streams
    let other = device.stream()?;
    let filled = stream.record()?; // after the work that is in `stream` so far
    other.wait(&filled)?;
    step(step::Args { x: &mut x, factor: 0.5 }).launch(&other)?;
    other.synchronize()?;
    println!("{}", x.to_vec(&stream)?[0]);
    // ANCHOR_END: streams

    // ANCHOR: graph
    step(step::Args { x: &mut x, factor: 1.0 }).load(&device)?;
    let graph = device.capture(|stream| {
        for _ in 0..10 {
            step(step::Args { x: &mut x, factor: 1.0 }).launch(stream)?;
        }
        Ok(())
    })?;
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    println!("{}", x.to_vec(&stream)?[0]);
    // ANCHOR_END: graph

    assert_eq!(x.to_vec(&stream)?, [22.5; 2000]);
    Ok(())
}
