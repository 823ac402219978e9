use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn add(n: i32, x: TensorMut<f32, 1>) {
    x.tile([n], [128]).store(zeros([128]));
}

fn main() {
    let stream = Device::emulator().stream().unwrap();
    let mut x = stream.zeros::<f32, 1>([256]).unwrap();
    add(add::Args { x: &mut x }).launch(&stream).unwrap();
}
