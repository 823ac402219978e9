use kiln::prelude::*;

// Wrong: 1024 columns with 4 warps is not one of the instances; right is `wrong::<f32, 1024, 8>`, or `(1024, 4)` in the list.
#[kernel(target = sm_80, warps = W, grid = x.dim(0), instances(T = [f16, f32], (N, W) = [(256, 1), (1024, 8)]))]
pub fn wrong<T: Float, const N: i32, const W: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = block_id(0);
    let v = x.tile([row, 0], [1, N]).load().cast::<f32>();
    let inside = arange(0, N).expand(0).lt(x.dim(1));
    let top = select(inside, v, f32::NEG_INFINITY).max(1).expand(1);
    let p = select(inside, (v - top).exp(), 0.0);
    out.tile([row, 0], [1, N]).store((p / p.sum(1).expand(1)).cast::<T>());
}

fn main() -> kiln::Result<()> {
    let device = Device::best_for(wrong::TARGETS)?;
    let stream = device.stream()?;
    let x = stream.full([4, 1000], 0.5f32)?;
    let mut out = stream.zeros::<f32, 2>([4, 1000])?;
    wrong::<f32, 1024, 4>(wrong::Args { x: &x, out: &mut out }).launch(&stream)?;
    println!("{:?}", &out.to_vec(&stream)?[..4]);
    Ok(())
}
