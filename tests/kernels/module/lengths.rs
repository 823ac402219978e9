//! Lengths of arrays that a call infers: of tensors, of arrays of arrays, of pairs behind a reference; one that is given.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ instance: N = 3
//@ arg xs[0]: f32[64] list(1, 2, 3)
//@ arg xs[1]: f32[64] list(4, 5)
//@ arg xs[2]: f32[64] list(-1)
//@ arg out: f32[4, 64] poison
//@ expect out: if i == 0 { xs[0](j) + xs[1](j) + xs[2](j) } else { if i == 1 { 34 } else { if i == 2 { 28 } else { 5 } } }
use kiln::prelude::*;

#[kernel]
mod lengths {
    use kiln::prelude::*;

    fn total<const K: usize>(xs: [Tensor<f32, 1>; K]) -> Tile<f32> {
        let mut sum = zeros([64]);
        for i in unroll(0..K as i32) {
            sum += xs[i as usize].tile([0], [64]).load();
        }
        sum
    }

    fn nested<const A: usize, const B: usize>(_rows: [[i32; A]; B]) -> i32 {
        A as i32 * 10 + B as i32
    }

    fn twice<const P: usize>(pairs: &[(f32, f32); P]) -> f32 {
        let mut sum = 0.0;
        for i in unroll(0..P as i32) {
            sum += pairs[i as usize].0 * pairs[i as usize].1;
        }
        sum * (P as i32).to_f32()
    }

    fn count<const N: usize>(_values: [f32; N]) -> i32 {
        N as i32
    }

    #[kernel(target = sm_80, warps = 2, grid = 1, instances(N = [3]))]
    pub fn lengths<const N: usize>(xs: [Tensor<f32, 1>; N], out: TensorMut<f32, 2>) {
        out.tile([0, 0], [1, 64]).store(total(xs).reshape([1, 64]));
        out.tile([1, 0], [1, 64]).store(full([1, 64], nested([[1, 2, 3]; 4]).to_f32()));
        out.tile([2, 0], [1, 64]).store(full([1, 64], twice(&[(1.0, 2.0), (3.0, 4.0)])));
        out.tile([3, 0], [1, 64]).store(full([1, 64], count::<5>([0.0; 5]).to_f32()));
    }
}
