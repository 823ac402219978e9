use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn collect(x: Ptr<u8>) {
    let row = shared::<u8>([128]);
    row.store(full([128], 1));
    bulk::reduce_add(x, row);
    tma::store_wait(0);
}

fn main() {}
