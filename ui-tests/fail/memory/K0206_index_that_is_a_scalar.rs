use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn count(y: TensorMut<i32, 1>) {
    let bins = shared::<i32>([256]);
    bins.store(zeros([256]));
    sync();
    bins.atomic_add(block_id(0), 1);
    sync();
    y.tile([0], [256]).store(bins.load());
}

fn main() {}
