//! What partitions take from outside: constants, parameters, arithmetic on these, and what only the kernel's own warps know, as a
//! reduction and a value that a loop leaves; windows of shared memory at an index, addresses. Afterwards the default
//! partition goes on, sees what the others wrote, and has what its own part gave and changed.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[256] uniform(-1000, 1000)
//@ arg n: i32 scalar 5
//@ arg out: i32[4, 256] poison
//@ arg p: ptr i32[256] poison
//@ expect out: if i == 0 { x(j) + sum(k, 0, 256, x(k)) } else { if i == 1 { x(j) * 32 + 7 } else { if i == 2 { x(j) * 3 + 2 * (x(j) + sum(k, 0, 256, x(k))) + n } else { x(j) * 2 } } }
//@ expect p: x(i) - 32
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances((W, A) = [(4, 1), (1, 4), (2, 2), (8, 8)]))]
pub fn handed_over<const W: i32, const A: i32>(x: Tensor<i32, 1>, n: i32, out: TensorMut<i32, 2>, p: Ptr<i32>) {
    let ring = shared::<i32>([2, 256]);
    let v = x.tile([0], [256]).load();
    let total = v.sum(0).item();
    let mut power = 1;
    for _ in 0..n {
        power = power * 2;
    }
    ring[n % 2].store(v);
    let here = ring[n % 2];
    let there = ring[(n + total * 0 + 1) % 2];
    let at = p + 0;
    let mut kept = v;
    let twice = warp_specialize(
        || {
            kept = v * 3;
            n + power * 0
        },
        [
            partition(A).run(|| {
                let mine = here.load();
                out.tile([0, 0], [1, 256]).store((mine + total).expand(0));
                there.store(mine * 2);
                sync();
                out.tile([3, 0], [1, 256]).store(there.load().expand(0));
            }),
            partition(1).run(|| {
                let mine = x.tile([0], [256]).load();
                out.tile([1, 0], [1, 256]).store((mine * power + 7).expand(0));
                store(at + arange(0, 256), mine - power);
            }),
        ],
    );
    let first = out.tile([0, 0], [1, 256]).load();
    out.tile([2, 0], [1, 256]).store(kept.expand(0) + first * 2 + twice);
}
