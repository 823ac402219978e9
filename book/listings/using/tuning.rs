use kiln::prelude::*;
use kiln_tune::{Cache, Mode, Tuner};

// ANCHOR: kernel
/// out = -x, by blocks of `W` warps and `N` elements.
#[kernel(target = sm_80, warps = W, grid = cdiv(x.dim(0), N),
    instances((N, W) = [(128, 1), (1024, 4), (4096, 4)]))]
pub fn negate<const N: i32, const W: i32>(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(-x.tile(at, [N]).load());
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    // ANCHOR: main
    let stream = Device::best_for(negate::TARGETS)?.stream()?;
    let x = stream.full([10_000], 1.0f32)?;
    let mut out = stream.zeros([10_000])?;
    let tuned = Tuner::new(&stream, 10_000)
        .mode(Mode::All)
        .cache(Cache::none())
        .run_checked(&mut out, |instance: negate::Instance, out| {
            instance.with(negate::Args { x: &x, out }).launch(&stream)
        })
        .expect("every instance computes the same");
    println!("{}", tuned.best);
    tuned.best.with(negate::Args { x: &x, out: &mut out }).launch(&stream)?;
    // ANCHOR_END: main
    assert_eq!(out.to_vec(&stream)?, vec![-1.0; 10_000]);
    Ok(())
}
