//! Integers of which the text says how large they are, to floats: by fewer instructions, with the same values.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[256] bits
//@ arg o0: bf16[256] poison
//@ arg o1: bf16[256] poison
//@ arg o2: bf16[256] poison
//@ arg o3: bf16[256] poison
//@ arg o4: bf16[256] poison
//@ arg o5: e4m3[256] poison
//@ case: bits
//@ case: edges
//@ arg x: i32[256] list(0, 1, -1, 15, 16, 127, 128, 129, 255, 256, 257, 259, -257, -259, 65535, 65536, 65537, 8388607, 8388608, 16777215, 16777216, 16777217, 16777218, 16777219, 16842752, 16842753, -16777216, -16777217, 2147483647, -2147483648)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1)]
pub fn known_ranges(
    x: Tensor<i32, 1>,
    o0: TensorMut<bf16, 1>,
    o1: TensorMut<bf16, 1>,
    o2: TensorMut<bf16, 1>,
    o3: TensorMut<bf16, 1>,
    o4: TensorMut<bf16, 1>,
    o5: TensorMut<e4m3, 1>,
) {
    let x = x.tile([0], [256]).load();
    o0.tile([0], [256]).store((x & 15).cast::<bf16>());
    o1.tile([0], [256]).store((x >> 7).cast::<bf16>());
    // The last number that `f32` holds with all before it, and one more: 2^24 + 1 would be rounded twice.
    o2.tile([0], [256]).store((x & 0xff_ffff).cast::<bf16>());
    o3.tile([0], [256]).store(minimum(maximum(x, -16_777_216), 16_777_217).cast::<bf16>());
    o4.tile([0], [256]).store(x.cast::<i16>().cast::<bf16>());
    o5.tile([0], [256]).store(x.cast::<e4m3>());
}
