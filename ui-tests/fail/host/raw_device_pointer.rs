use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn set(p: Ptr<f32>, value: f32) {
    store(p, value);
}

fn run(stream: &Stream, address: u64) -> Result<()> {
    // SAFETY: the address is that of an f32.
    unsafe { set(set::Args { p: address, value: 1.0f64 }).launch(stream) }
}

fn main() {}
