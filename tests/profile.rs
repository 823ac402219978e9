//! Profiles of kernels with `stamp!`.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
fn scale(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, by: f32) {
    let at = block_id(0) * 256;
    stamp!("load");
    let tile = x.tile([at], [256]).load() * by;
    stamp!("store");
    y.tile([at], [256]).store(tile);
    stamp!("end");
}

#[test]
fn first() {
    let stream = Device::emulator(Target::Sm80).unwrap().stream().unwrap();
    let x = stream.upload(&[1.5f32; 300], [300]).unwrap();
    let mut y = stream.zeros::<f32, 1>([300]).unwrap();
    scale(scale::Args { x: &x, y: &mut y, by: 2.0 }).launch(&stream).unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [3.0; 300]);
}
