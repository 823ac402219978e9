use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn digits(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [64]);
    let t = tile.load();
    let three = t.to_layout(layout!(S[(32, 2) : (3 @ laneid, 1)]));
    let below = t.to_layout(layout!(S[(32, 2) : (1 @ laneid, -4)]));
    let far = t.to_layout(layout!(S[(2, 32) : (64 @ laneid, 1 @ laneid)]));
    let wide = t.to_layout(layout!(S[64 : 1 @ laneid]));
    let twice = t.to_layout(layout!(S[(4, 16) : (8 @ laneid, 1 @ laneid)]));
    let gaps = t.to_layout(layout!(S[(32, 2) : (1 @ laneid, 2)]));
    let lanes = t.to_layout(layout!(S[(16, 4) : (2 @ laneid, 1)]));
    let half = t.to_layout(layout!(S[(16, 4) : (1 @ laneid, 1)]));
    let copies = t.to_layout(layout!(R[2 : 1 @ laneid]));
    tile.store(three + below + far + wide + twice + gaps + lanes + half + copies);
}

fn main() {}
