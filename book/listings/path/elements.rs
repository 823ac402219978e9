use kiln::prelude::*;

// ANCHOR: kernel
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [128, 256, 512, 1024, 2048]))]
pub fn vector_add<const N: i32>(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(a.tile(at, [N]).load() + b.tile(at, [N]).load());
}
// ANCHOR_END: kernel

// ANCHOR: count
pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let n = 65536;
    let (a, b) = (stream.full([n], 1.0f32)?, stream.full([n], 2.0f32)?);
    println!("{:>8}  {:>6}  {:>17}", "elements", "blocks", "warp instructions");
    for instance in vector_add::instances() {
        let mut out = stream.zeros([n])?;
        instance.with(vector_add::Args { a: &a, b: &b, out: &mut out }).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, vec![3.0; n]);
        let report = device.emulator_report().expect("the emulator has run a launch");
        println!("{:>8}  {:>6}  {:>17}", instance.N, 65536 / instance.N, report.warp_instructions);
    }
    Ok(())
}
// ANCHOR_END: count
