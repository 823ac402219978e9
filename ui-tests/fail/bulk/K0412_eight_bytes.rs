use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Ptr<u8>) {
    let row = shared::<u8>([8]);
    let full = barrier(1);
    full.expect(row.bytes());
    bulk::load(x, full, row);
    full.wait(0);
}

fn main() {}
