use kiln::prelude::*;

// ANCHOR: kernel
/// Which code ran, and how much shared memory a block of it can have.
#[kernel(target = [sm_80, sm_90a, sm_100f], warps = 4, grid = 1)]
pub fn which(out: TensorMut<i32, 1>) {
    let number = if target(sm_80) {
        80
    } else if target(sm_90a) {
        90
    } else {
        100
    };
    out.tile([0], [1]).store(full([1], number));
    out.tile([1], [1]).store(full([1], shared_bytes_per_block()));
}
// ANCHOR_END: kernel

// ANCHOR: variants
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn double(x: TensorMut<f32, 1>) {
    let window = x.tile([block_id(0) * 1024], [1024]);
    window.store(window.load() * 2.0);
}
// ANCHOR_END: variants

// ANCHOR: facts
/// With facts that the launch checks, addresses are simpler, and accesses as wide as the facts allow.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(1), 1024))]
pub fn double_row(#[stride(_, 1)] x: TensorMut<f32, 2>, #[multiple_of(4)] row: i32) {
    let window = x.tile([row, block_id(0) * 1024], [1, 1024]);
    window.store(window.load() * 2.0);
}
// ANCHOR_END: facts

pub fn main() -> kiln::Result<()> {
    // ANCHOR: main
    for target in [Target::Sm80, Target::Sm90a, Target::Sm100a] {
        let stream = Device::emulator(target)?.stream()?;
        let mut out = stream.zeros([2])?;
        which(which::Args { out: &mut out }).launch(&stream)?;
        println!("{target}: {:?}", out.to_vec(&stream)?);
    }
    // ANCHOR_END: main

    // ANCHOR: instructions
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let mut x = stream.full([4104], 1.0f32)?;
    for first in [4, 1] {
        let mut part = x.slice_mut(0, first..first + 4096)?;
        let launch = double(double::Args { x: &mut part });
        let variant = launch.variant(&device)?;
        let loads = variant.ptx.lines().filter(|line| line.contains("ld.global")).count();
        println!("from element {first}: {}, {loads} loads a thread", variant.name);
        launch.launch(&stream)?;
    }
    // ANCHOR_END: instructions

    // ANCHOR: checked
    let mut x = stream.full([10, 100], 1.0f32)?;
    let launched = double_row(double_row::Args { x: &mut x, row: 3 }).launch(&stream);
    println!("{}", launched.expect_err("3 is not a multiple of 4"));
    // ANCHOR_END: checked
    double_row(double_row::Args { x: &mut x, row: 8 }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?[800..900], [2.0; 100]);
    Ok(())
}
