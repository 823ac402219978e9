use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn give() {
    let (from, to) = (shared::<f32>([128]), shared::<f32>([128]));
    let full = barrier(1);
    from.store(zeros([128]));
    full.expect(to.bytes());
    bulk::send(from, full, to);
    full.wait(0);
}

fn main() {}
