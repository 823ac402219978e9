use super::tensors::scale;
use kiln::prelude::*;

pub fn main() -> kiln::Result<()> {
    // ANCHOR: main
    let device = Device::best_for(scale::TARGETS)?;
    let stream = device.stream()?;
    let mut x = stream.full([4, 6], 1.0f32)?;
    let mut y = stream.zeros([4, 6])?;
    // Loading is not work of a stream, so it is done before.
    scale::<256>(scale::Args { x: &x, factor: 0.0, out: &mut y }).load(&device)?;

    let graph = device.capture(|stream| {
        scale::<256>(scale::Args { x: &x, factor: 2.0, out: &mut y }).launch(stream)?;
        scale::<256>(scale::Args { x: &y, factor: 3.0, out: &mut x }).launch(stream)
    })?;
    println!("after capture: {}", x.to_vec(&stream)?[0]);
    for _ in 0..3 {
        graph.launch(&stream)?;
    }
    println!("after three launches: {}", x.to_vec(&stream)?[0]);
    // ANCHOR_END: main
    Ok(())
}
