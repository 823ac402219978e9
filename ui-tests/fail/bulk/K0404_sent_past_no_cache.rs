use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn give() {
    let row = shared::<f32>([128]);
    let full = barrier(1);
    row.store(zeros([128]));
    bulk::send(row, full, row.of_block(1)).evict_last();
}

fn main() {}
