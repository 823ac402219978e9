use kiln::prelude::*;

// ANCHOR: kernel
#[kernel(
    target = sm_80,
    warps = W,
    grid = cdiv(x.dim(0), N),
    instances(T = [f16, f32], (N, W) = [(128, 1), (512, 4), (2048, 8)])
)]
pub fn scale<T: Float, const N: i32, const W: i32>(x: TensorMut<T, 1>, by: T) {
    let window = x.tile([block_id(0) * N], [N]);
    window.store(window.load() * by);
}
// ANCHOR_END: kernel

// ANCHOR: generic
/// Works for every `T` and `N` with which `scale` is compiled for 4 warps.
fn scale_twice<T: Element, const N: i32>(
    stream: &Stream,
    x: &mut DeviceTensor<T, 1>,
    by: T,
) -> kiln::Result<()>
where
    scale::Instances: scale::Include<T, N, 4>,
{
    scale::<T, N, 4>(scale::Args { x, by }).launch(stream)?;
    scale::<T, N, 4>(scale::Args { x, by }).launch(stream)
}
// ANCHOR_END: generic

pub fn main() -> kiln::Result<()> {
    let stream = Device::best_for(scale::TARGETS)?.stream()?;
    // ANCHOR: main
    let mut x = stream.full([1000], 1.0f32)?;
    // Written out: rustc refuses an instance that does not exist.
    scale::<f32, 512, 4>(scale::Args { x: &mut x, by: 2.0 }).launch(&stream)?;

    // Chosen while the program runs: all of them are values.
    for instance in scale::instances() {
        println!("{instance}");
    }
    let widest = scale::instances().filter(|i| i.T == Dtype::F32 && i.N <= 1000).max_by_key(|i| i.N);
    let widest = widest.expect("there are some of f32");
    widest.with(scale::Args { x: &mut x, by: 3.0 }).launch(&stream)?;
    println!("{widest}: {}", x.to_vec(&stream)?[999]);

    // Found by a condition, or by its values; the error says what there is.
    let narrow = scale::find(|i| i.T == Dtype::F32 && i.W == 1)?;
    println!("{narrow}");
    let missing = scale::Values { T: Dtype::Bf16, N: 128, W: 1 }.find();
    println!("{}", missing.expect_err("no instance has bf16"));
    // ANCHOR_END: main
    assert_eq!(x.to_vec(&stream)?, [6.0; 1000]);
    scale_twice::<f32, 512>(&stream, &mut x, 0.5)?;
    assert_eq!(x.to_vec(&stream)?, [1.5; 1000]);
    Ok(())
}
