use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn words(x: Tensor<u8, 2>, y: TensorMut<u32, 2>) {
    let s = shared::<u8>([64, 64]);
    s.store(x.tile([0, 0], [64, 64]).load());
    sync();
    let flags = s.view::<bool>().load();
    y.tile([0, 0], [64, 64]).store(flags.cast::<u32>());
}

fn main() {}
