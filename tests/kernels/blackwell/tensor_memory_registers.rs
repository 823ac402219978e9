//! Tiles that are read from and written to tensor memory in pinned layouts: each shape of the instructions by four and by eight warps,
//! of 128 and 64 rows and of several blocks, of 32, 16 and 8 bits, and as fragments of `mma`; along with elementwise operations whose
//! other operand is pinned.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f32[128, 64] iota(-100, 3)
//@ arg b: f32[64, 64] iota(7, 1)
//@ arg c: f16[128, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg d: u8[128, 64] iota(0, 1)
//@ arg e: f32[128, 64] poison
//@ arg f: f32[64, 64] poison
//@ arg g: f16[128, 64] poison
//@ arg h: u8[128, 64] poison
//@ expect e: a(i, j) + a(i, j)
//@ expect f: b(i, j)
//@ expect g: c(i, j)
//@ expect h: d(i, j)
use kiln::prelude::*;

#[kernel]
pub mod tensor_memory_registers {
    use kiln::prelude::*;

    #[kernel(target = sm_100a, warps = WARPS, grid = 1,
             instances((SHAPE, WARPS) = [(0, 4), (1, 4), (2, 4), (3, 4), (0, 8), (1, 8), (2, 8), (3, 8)]))]
    pub fn tensor_memory_registers<const SHAPE: i32, const WARPS: i32>(
        a: Tensor<f32, 2>,
        b: Tensor<f32, 2>,
        c: Tensor<f16, 2>,
        d: Tensor<u8, 2>,
        e: TensorMut<f32, 2>,
        f: TensorMut<f32, 2>,
        g: TensorMut<f16, 2>,
        h: TensorMut<u8, 2>,
    ) {
        let wide = tmem::<f32>([128, 64]);
        let narrow = tmem::<f32>([64, 64]);
        let halves = tmem::<f16>([128, 64]).with_layout(tmem_block([64, 32], 2));
        let bytes = tmem::<u8>([128, 64]);
        let shape = if SHAPE == 0 {
            "32x32b"
        } else if SHAPE == 1 {
            "16x64b"
        } else if SHAPE == 2 {
            "16x128b"
        } else {
            "16x256b"
        };
        let of_wide = tmem_load(shape, tmem_block([128, 64], 1), WARPS);
        let of_narrow = tmem_load(shape, tmem_block([64, 64], 1), WARPS);
        let of_halves = tmem_load(shape, tmem_block([64, 32], 2), WARPS);
        wide.store(a.tile([0, 0], [128, 64]).load().to_layout(of_wide));
        narrow.store(b.tile([0, 0], [64, 64]).load());
        halves.store(c.tile([0, 0], [128, 64]).load().to_layout(of_halves));
        bytes.store(d.tile([0, 0], [128, 64]).load());
        let x = wide.load();
        e.tile([0, 0], [128, 64]).store((x + a.tile([0, 0], [128, 64]).load().to_layout(of_wide)).to_layout(of_wide));
        f.tile([0, 0], [64, 64]).store(narrow.load().to_layout(of_narrow));
        g.tile([0, 0], [128, 64]).store(halves.load().to_layout(of_halves));
        h.tile([0, 0], [128, 64]).store(bytes.load().to_layout(of_wide));
    }
}
