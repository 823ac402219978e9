use kiln::prelude::*;

// ANCHOR: kernel
/// Transposes a tile through shared memory of the layout `L`: rows are written, columns are read.
#[kernel(target = sm_80, warps = 1, grid = 1, instances(L = [0, 1, 2]))]
pub fn turned<const L: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let lanes_along_rows = blocked([1, 1], [1, 32], [1, 1], [1, 0]);
    let tile = if L == 0 {
        shared::<f32>([32, 32]).with_layout(row_major())
    } else if L == 1 {
        shared::<f32>([32, 32]).with_layout(swizzle(128))
    } else {
        shared::<f32>([32, 32]).with_layout(swizzled(1, 1, 32, [1, 0]))
    };
    tile.store(x.tile([0, 0], [32, 32]).load().to_layout(lanes_along_rows));
    sync();
    out.tile([0, 0], [32, 32]).store(tile.t().load().to_layout(lanes_along_rows));
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let host: Vec<f32> = (0..1024u16).map(f32::from).collect();
    let turned_host: Vec<f32> = (0..1024).map(|at| host[at % 32 * 32 + at / 32]).collect();
    let x = stream.upload(&host, [32, 32])?;
    let mut out = stream.zeros([32, 32])?;
    for (instance, layout) in turned::instances().zip(["row_major()", "swizzle(128)", "swizzled(1, 1, 32, [1, 0])"]) {
        instance.with(turned::Args { x: &x, out: &mut out }).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, turned_host);
        let report = stream.device().emulator_report().expect("a launch has run");
        println!("{layout}: {} bank conflicts", report.shared_bank_conflicts);
    }
    Ok(())
}
