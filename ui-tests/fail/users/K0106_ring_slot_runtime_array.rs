use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(out.dim(0), 64))]
pub fn wrong(#[block(64, 64)] x: TensorMap<bf16, 2>, out: TensorMut<bf16, 2>) {
    let bufs = [shared::<bf16>([64, 64]), shared::<bf16>([64, 64])];
    let bar = barriers(2, 1);
    for k in 0..4 {
        let buf = bufs[k % 2];
        bar[k % 2].expect(x.block_bytes());
        tma::load(x, [block_id(0) * 64, k * 64], bar[k % 2], buf);
        bar[k % 2].wait(k / 2 % 2);
        out.tile([block_id(0) * 64, k * 64], [64, 64]).store(buf.load());
        sync();
    }
}

fn main() {}
