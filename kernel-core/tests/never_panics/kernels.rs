// Kernels that the mutations start from.

#[kernel(target = sm_80, warps = W, grid = [cdiv(c.dim(0), BM), cdiv(c.dim(1), BN)],
         instances((BM, BN) = [(64, 32), (32, 64)], BK = [16], W = [4]))]
pub fn matmul<const BM: i32, const BN: i32, const BK: i32, const W: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f16, 2>,
) {
    let (off_m, off_n) = (block_id(0) * BM, block_id(1) * BN);
    let sa = shared::<f16>([BM, BK]);
    let sb = shared::<f16>([BK, BN]);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in range(0, a.dim(1), BK) {
        copy_async(a.tile([off_m, k], [BM, BK]), sa);
        copy_async(b.tile([k, off_n], [BK, BN]), sb);
        copy_async_wait_all();
        sync();
        acc = dot(sa.load(), sb.load(), acc);
        sync();
    }
    c.tile([off_m, off_n], [BM, BN]).store(acc.cast::<f16>());
}

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = x.dim(0), instances(T = [f16, f32], N = [128, 256]))]
pub fn softmax<T: Float, const N: i32>(#[stride(_, 1)] x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let row = block_id(0);
    let inside = arange(0, N).lt(x.dim(1));
    let v = select(inside.expand(0), x.tile([row, 0], [1, N]).load().cast::<f32>(), f32::NEG_INFINITY);
    let shifted = (v - v.max(1).expand(1)).exp();
    let y = shifted / shifted.sum(1).expand(1);
    out.tile([row, 0], [1, N]).store(y.cast::<T>());
}

#[kernel(target = sm_80, warps = 2, grid = cdiv(xs[0].dim(0), 64), instances(N = [1, 2]))]
pub fn arrays<const N: usize>(
    #[stride(1)] xs: [Tensor<f32, 1>; N],
    table: Tensor<Ptr<f32>, 1>,
    ys: [TensorMut<f32, 1>; 2],
) {
    let mut sum = zeros::<f32>([64]);
    for x in xs {
        sum += x.tile([0], [64]).load();
    }
    for i in unroll(0..N as i32) {
        sum *= xs[i as usize].tile([i], [64]).load();
    }
    let p = table.tile([0], [1]).load().item();
    let halves = (sum.slice(0..32), sum.slice((32..64,)));
    ys[1].tile([0], [64]).store(halves.0.concat(halves.1, 0) + load(p + arange(0, 64)));
}

#[kernel(target = sm_80, warps = 4, grid = match bias { Some(bias) => bias.dim(0), None => 1 })]
pub fn optional(
    #[stride(1)] bias: Option<Tensor<f32, 1>>,
    #[multiple_of(4)] n: Option<i32>,
    y: TensorMut<f32, 1>,
) {
    let mut v = y.tile([0], [64]).load();
    if let Some(bias) = bias && let Some(n) = n && n > 3 {
        v = v + bias.tile([n], [64]).load();
    } else if bias.is_none() {
        v = v * 2.0;
    }
    let factor = match (bias, n) {
        (Some(_), Some(n @ 1..)) => n as f32,
        (None, _) => 3.0,
        _ => 4.0,
    };
    let Some(n) = &n else { return };
    y.tile([*n], [64]).store(v * factor);
}

#[kernel(target = sm_80, warps = 2)]
pub fn pointers(p: Ptr<f32>, #[multiple_of(16)] q: Ptr<i32>, #[multiple_of(4)] n: i32) {
    let at = arange(0, 64) + block_id(0) * 64;
    let mask = at.lt(n) & !at.eq(3);
    let v = load_masked(p + at, mask, 0.0);
    store_masked(p + at, mask, v * 2.0);
    let old = atomic::add(q + at, 1);
    atomic::max(q + 0, old.max(0));
    device_assert(n > 0);
}

#[kernel(target = sm_80, warps = 2)]
pub fn written_out(x: TensorMut<f32, 1>, p: Ptr<f32>, n: i32) {
    let lane = ptx!("mov.u32 {out}, %laneid;" => i32);
    let v = x.tile([0], [64]).load();
    let (low, high) = ptx!("mov.b64 {{{out0}, {out1}}}, {at};", at = p + arange(0, 64) => (i32, i32));
    let fused = ptx!("fma.rz.f32 {out}, {a}, {b}, {a};", a = v, b = n as f32 => f32);
    let near = v.map(|e| if e > 0.0 { ptx!("ex2.approx.ftz.f32 {out}, {e};", e = e => f32) } else { e });
    let bit = ptx!("{{ .reg .pred p; setp.ne.s32 p, {n}, 0; selp.b32 {out}, 1, 0, p; }}", n = n => i32);
    ptx!("@{c} st.global.f32 [{p}], {v};", c = v.gt(0.0), p = p + arange(0, 64), v = fused);
    ptx!("membar.gl;");
    if bit > 0 {
        x.tile([bit * 64], [64]).store(near + (low + high + lane).cast::<f32>());
    }
}

#[kernel]
pub mod structs {
    use kiln::prelude::*;

    trait Order: Copy {
        const WIDTH: i32;
        fn place(self, i: i32) -> (i32, i32);
        fn twice(self, i: i32) -> i32 {
            self.place(i).0 * 2
        }
    }

    #[derive(Clone, Copy)]
    struct Rows;

    impl Order for Rows {
        const WIDTH: i32 = 4;
        fn place(self, i: i32) -> (i32, i32) {
            (i / 4, i % 4)
        }
    }

    struct Ring<T: Float> {
        bufs: Shared<T>,
        slot: i32,
        phases: [i32; 2],
    }

    impl<T: Float> Ring<T> {
        fn new() -> Ring<T> {
            Ring { bufs: shared::<T>([2, 16, 64]), slot: 0, phases: [0, 1] }
        }
        fn advance(&mut self) {
            self.slot += 1;
            if self.slot == 2 {
                self.slot = 0;
                self.phases[0] ^= 1;
            }
        }
    }

    fn first_above(limit: i32, n: i32) -> i32 {
        for i in 0..n {
            if i * i > limit {
                return i;
            }
        }
        n
    }

    #[kernel(target = sm_80, warps = 4, instances(O = [Rows], N = [64]))]
    pub fn run<O: Order, const N: i32>(order: i32, x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
        const HALF: f32 = 0.5;
        const { assert!(N >= 16, "N") }
        let mut ring = Ring::<f32>::new();
        let rows = Rows;
        let mut total = zeros::<f32>([16, N]);
        let scale = |v: f32, w: f32| v * w + HALF;
        let mut k = 0;
        while k < order {
            let (i, j) = rows.place(k);
            copy_async(x.tile([i * 16, j * N], [16, N]), ring.bufs[ring.slot]);
            copy_async_wait_all();
            sync();
            total = total + ring.bufs[ring.slot].load().map(|v| scale(v, 2.0));
            ring.advance();
            k += 1;
            if first_above(k, order) == 7 && k > 3 {
                break;
            }
        }
        for s in unroll(0..2) {
            total += full([16, N], s as f32);
        }
        let pinned = total.to_layout(blocked([1, 4], [2, 16], [4, 1], [1, 0]));
        let sums = pinned.reduce(1, |a, b| if a > b { a } else { b });
        let found = loop {
            k += 1;
            if k > 9 {
                break k;
            }
        };
        y.tile([found, 0], [16, N]).store(total.t().t() + sums.expand(1));
    }
}
