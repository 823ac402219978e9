//! `as` and `cast` of scalars.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg f: f32 scalar -300.75
//@ arg n: i32 scalar 70000
//@ arg ints: i64[6] poison
//@ arg floats: f32[4] poison
//@ case: one
//@ expect ints: if i == 0 { f as i8 } else { if i == 1 { f as u8 } else { if i == 2 { f as i32 } else { if i == 3 { n as i16 } else { if i == 4 { n as u8 } else { n as i64 } } } } }
//@ expect floats: if i == 0 { n as f16 } else { if i == 1 { n as bf16 } else { if i == 2 { n } else { f as f16 } } }
//@ case: two
//@ arg f: f32 scalar nan
//@ arg n: i32 scalar -1
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn scalars(f: f32, n: i32, ints: TensorMut<i64, 1>, floats: TensorMut<f32, 1>) {
    ints.tile([0], [1]).store(full([1], f as i8 as i64));
    ints.tile([1], [1]).store(full([1], f.cast::<u8>().cast::<i64>()));
    ints.tile([2], [1]).store(full([1], f as i32 as i64));
    ints.tile([3], [1]).store(full([1], n as i16 as i64));
    ints.tile([4], [1]).store(full([1], n as u8 as i64));
    ints.tile([5], [1]).store(full([1], n as i64));
    floats.tile([0], [1]).store(full([1], n.cast::<f16>().cast::<f32>()));
    floats.tile([1], [1]).store(full([1], n.cast::<bf16>().cast::<f32>()));
    floats.tile([2], [1]).store(full([1], n as f32));
    floats.tile([3], [1]).store(full([1], f.cast::<f16>().cast::<f32>()));
}
