use kiln::prelude::*;

// ANCHOR: kernel
/// One block computes `BM` rows of one head: `BN` keys and values at a time, whose scores stay in registers.
#[kernel(target = sm_90a, warps = 4, grid = [cdiv(q.dim(1), BM), q.dim(0)],
         instances((BM, BN, D) = [(64, 64, 64)]))]
pub fn attention<const BM: i32, const BN: i32, const D: i32>(
    #[block(1, BM, D)] q: TensorMap<bf16, 3>,
    #[block(1, BN, D)] k: TensorMap<bf16, 3>,
    #[block(1, BN, D)] v: TensorMap<bf16, 3>,
    scale: f32, // with log2(e)
    out: TensorMut<bf16, 3>,
) {
    let (start, head) = (block_id(0) * BM, block_id(1));
    let qs = shared::<bf16>([BM, D]);
    let ready = barrier(1);
    ready.expect(q.block_bytes());
    tma::load(q, [head, start, 0], ready, qs);
    ready.wait(0);

    let mut top = full::<f32>([BM], f32::MIN);
    let mut total = zeros::<f32>([BM]);
    let mut acc = zeros::<f32>([BM, D]);
    let (ks, vs) = (shared::<bf16>([BN, D]), shared::<bf16>([BN, D]));
    for at in pipeline(range(0, k.dim(1), BN), 2) {
        copy_async(k.at([head, at, 0]), ks);
        copy_async(v.at([head, at, 0]), vs);
        let s = dot(qs, ks.t(), zeros::<f32>([BM, BN])) * scale;
        let inside = (at + arange(0, BN).expand(0)).lt(k.dim(1));
        let s = select(inside, s, f32::MIN);
        let new_top = maximum(top, s.max(1));
        let shrink = (top - new_top).exp2_approx();
        let p = (s - new_top.expand(1)).exp2_approx();
        total = total * shrink + p.sum(1);
        acc = dot(p.cast::<bf16>(), vs, acc * shrink.expand(1));
        top = new_top;
    }
    let result = (acc / total.expand(1)).cast::<bf16>();
    out.tile([head, start, 0], [1, BM, D]).store(result.reshape([1, BM, D]));
}
// ANCHOR_END: kernel

pub fn main() -> kiln::Result<()> {
    let device = Device::emulator(Target::Sm90a)?;
    let stream = device.stream()?;
    let (heads, queries, keys, width) = (2, 100, 160, 64);
    // Equal scores: each result is the mean of the values, which are 0 to 15 ten times.
    let q = stream.zeros([heads, queries, width])?;
    let k = stream.full([heads, keys, width], bf16::from_f32(1.0))?;
    let values: Vec<bf16> =
        (0..heads * keys * width).map(|at| bf16::from_f32((at / width % 16) as f32)).collect();
    let v = stream.upload(&values, [heads, keys, width])?;
    let mut out = stream.zeros([heads, queries, width])?;
    let args = attention::Args { q: &q, k: &k, v: &v, scale: 1.0, out: &mut out };
    attention::<64, 64, 64>(args).launch(&stream)?;
    let out = out.to_vec(&stream)?;
    assert!(out.iter().all(|&mean| mean == bf16::from_f32(7.5)), "the mean of 0 to 15");
    println!("{} results, each {}", out.len(), out[0]);
    Ok(())
}
