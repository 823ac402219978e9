use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn fill(out: TensorMut<i32, 1>, n: i32) {
    out.tile([0], [128]).store(full([128], n));
}

fn main() -> kiln::Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let data = vec![1, 2, 3];
    let mut out = stream.zeros::<i32, 1>([128])?;
    fill(fill::Args { out: &mut out, n: data.len() }).launch(&stream)?;
    Ok(())
}
