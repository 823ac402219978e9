use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(q.dim(0), 64))]
pub fn attention(
    q: Tensor<bf16, 2>,
    k: Tensor<bf16, 2>,
    v: Tensor<bf16, 2>,
    scale: f32, // with log2(e)
    out: TensorMut<bf16, 2>,
) {
    let start = block_id(0) * 64;
    let queries = q.tile([start, 0], [64, 64]).load();
    let mut top = full::<f32>([64], f32::MIN);
    let mut total = zeros::<f32>([64]);
    let mut acc = zeros::<f32>([64, 64]);
    let (ks, vs) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 64]));
    for at in pipeline(range(0, k.dim(0), 64), 2) {
        copy_async(k.tile([at, 0], [64, 64]), ks);
        copy_async(v.tile([at, 0], [64, 64]), vs);
        let s = dot(queries, ks.t(), zeros::<f32>([64, 64])) * scale;
        let inside = (at + arange(0, 64).expand(0)).lt(k.dim(0));
        let s = select(inside, s, f32::MIN);
        let new_top = maximum(top, s.max(1));
        let shrink = (top - new_top).exp2_approx();
        let p = (s - new_top.expand(1)).exp2_approx();
        total = total * shrink + p.sum(1);
        acc = dot(p, vs, acc * shrink.expand(1));
        top = new_top;
    }
    out.tile([start, 0], [64, 64]).store((acc / total.expand(1)).cast::<bf16>());
}

#[kernel(target = sm_80, warps = 4)]
pub fn widened(a: Tensor<f32, 2>, b: Tensor<f16, 2>, out: TensorMut<f32, 2>) {
    let a = a.tile([0, 0], [64, 64]).load();
    let b = b.tile([0, 0], [64, 64]).load();
    out.tile([0, 0], [64, 64]).store(dot(a, b, zeros([64, 64])));
}

#[kernel(target = sm_80, warps = 4)]
pub fn shared_wider(a: Tensor<f16, 2>, b: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let a = a.tile([0, 0], [64, 64]).load();
    let bs = shared::<f32>([64, 64]);
    copy_async(b.tile([0, 0], [64, 64]), bs);
    copy_async_wait_all();
    sync();
    out.tile([0, 0], [64, 64]).store(dot(a, bs, zeros([64, 64])));
}

#[kernel(target = sm_80, warps = 4)]
pub fn halves(a: Tensor<f16, 2>, b: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let a = a.tile([0, 0], [64, 64]).load();
    let b = b.tile([0, 0], [64, 64]).load();
    out.tile([0, 0], [64, 64]).store(dot(a, b, zeros([64, 64])));
}

fn main() {}
