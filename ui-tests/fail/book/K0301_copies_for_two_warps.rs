use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn through(x: Tensor<u32, 2>, y: TensorMut<u32, 2>) {
    let copies = layout!(S[(32, 4) : (1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]);
    let (staged, held) = (shared::<u32>([32, 4]), tmem::<u32>([32, 4]).with_layout(copies));
    let copied = barrier(1);
    staged.store(x.tile([0, 0], [32, 4]).load());
    copy_async(staged, held);
    tcgen05::commit(copied);
    copied.wait(0);
    y.tile([0, 0], [32, 4]).store(held.load());
}

fn main() {}
