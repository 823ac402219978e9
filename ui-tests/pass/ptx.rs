//! `ptx!` as rustc sees it: the type of its result follows from the operands.
use kiln::prelude::*;

#[device]
pub fn rounded_down<T: Float>(x: Tile<T>, y: Tile<T>) -> Tile<T> {
    let _same: (Tile<T>, Tile<T>) = (x, y);
    x.cast::<f32>()
        .map(|e| {
            let half: f32 = ptx!("mul.rz.f32 {out}, {e}, 0.5;", e = e => f32);
            half
        })
        .cast::<T>()
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn forms(x: TensorMut<f32, 1>, p: Ptr<f32>, n: i32) {
    let v = x.tile([0], [32]).load();
    let scalar: i32 = ptx!("add.s32 {out}, {n}, 1;", n = n => i32);
    let tile: Tile<f32> = ptx!("fma.rz.f32 {out}, {v}, {f}, {v};", f = n as f32, v = v, => f32);
    let (low, high): (Tile<i32>, Tile<i32>) =
        ptx!("mov.b64 {{{out0}, {out1}}}, {at};", at = p + arange(0, 32) => (i32, i32),);
    let next: Ptr<f32> = ptx!("add.u64 {out}, {p}, 4;", p = p => Ptr<f32>);
    let loaded: Tile<f32> =
        ptx!("ld.global.cs.f32 {out}, [{p}];", p = next + arange(0, 32) => f32);
    ptx!("st.global.cs.f32 [{p}], {v};", p = p + arange(0, 32), v = loaded);
    ptx!("membar.gl;");
    let sum = tile + loaded + (low + high + scalar).cast::<f32>();
    x.tile([0], [32]).store(rounded_down(sum, v));
}

fn main() {}
