use kiln::prelude::*;

/// Each block adds the last element of the block before it to its own elements.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn add_neighbour(x: TensorMut<f32, 1>) {
    let at = block_id(0) * 128;
    let before = x.tile([at - 1], [1]).load();
    let window = x.tile([at], [128]);
    window.store(window.load() + before);
}

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.full([1000], 1.0f32)?;
    let launched = add_neighbour(add_neighbour::Args { x: &mut x }).launch(&stream);
    println!("{}", launched.expect_err("the emulator reports the race"));
    Ok(())
}
