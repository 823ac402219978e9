//! Sorts and orders of every element type, with equal elements.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg i8_in: i8[16] list(5, -128, 127, -1, 0, 5, -1)
//@ arg u8_in: u8[16] list(5, 128, 255, 0, 127, 5, 255)
//@ arg i16_in: i16[16] list(5, -32768, 32767, -1, 0, 5, -1)
//@ arg u16_in: u16[16] list(5, 32768, 65535, 0, 32767, 5, 65535)
//@ arg i32_in: i32[16] list(5, -2147483648, 2147483647, -1, 0, 5, -1)
//@ arg u32_in: u32[16] list(5, 2147483648, 4294967295, 0, 2147483647, 5, 4294967295)
//@ arg i64_in: i64[16] list(5, -9223372036854775808, 9223372036854775807, -1, 4294967296, 0, 5, 4294967297, -1)
//@ arg u64_in: u64[16] list(5, 9223372036854775808, 18446744073709551615, 4294967296, 0, 5, 4294967297, 18446744073709551615)
//@ arg f16_in: f16[16] list(0.5, -2.5, inf, 3, -inf, -0.25, 0.5, -2.5, 1)
//@ arg bf16_in: bf16[16] list(0.5, -2.5, inf, 3, -inf, -0.25, 0.5, -2.5, 1)
//@ arg f32_in: f32[16] list(0.5, -2.5, inf, 3, -inf, -0.25, 0.5, -2.5, 1)
//@ arg f64_in: f64[16] list(0.5, -2.5, inf, 3, -inf, -0.25, 0.5, -2.5, 1)
//@ arg i8_up: i8[16] poison
//@ arg i8_down: i8[16] poison
//@ arg i8_order: i32[16] poison
//@ arg u8_up: u8[16] poison
//@ arg u8_down: u8[16] poison
//@ arg u8_order: i32[16] poison
//@ arg i16_up: i16[16] poison
//@ arg i16_down: i16[16] poison
//@ arg i16_order: i32[16] poison
//@ arg u16_up: u16[16] poison
//@ arg u16_down: u16[16] poison
//@ arg u16_order: i32[16] poison
//@ arg i32_up: i32[16] poison
//@ arg i32_down: i32[16] poison
//@ arg i32_order: i32[16] poison
//@ arg u32_up: u32[16] poison
//@ arg u32_down: u32[16] poison
//@ arg u32_order: i32[16] poison
//@ arg i64_up: i64[16] poison
//@ arg i64_down: i64[16] poison
//@ arg i64_order: i32[16] poison
//@ arg u64_up: u64[16] poison
//@ arg u64_down: u64[16] poison
//@ arg u64_order: i32[16] poison
//@ arg f16_up: f16[16] poison
//@ arg f16_down: f16[16] poison
//@ arg f16_order: i32[16] poison
//@ arg bf16_up: bf16[16] poison
//@ arg bf16_down: bf16[16] poison
//@ arg bf16_order: i32[16] poison
//@ arg f32_up: f32[16] poison
//@ arg f32_down: f32[16] poison
//@ arg f32_order: i32[16] poison
//@ arg f64_up: f64[16] poison
//@ arg f64_down: f64[16] poison
//@ arg f64_order: i32[16] poison
//@ expect i8_up: least(n, 0, 16, if sum(m, 0, 16, if i8_in(m) <= i8_in(n) { 1 } else { 0 }) > i { i8_in(n) } else { most(o, 0, 16, i8_in(o)) })
//@ expect i8_down: most(n, 0, 16, if sum(m, 0, 16, if i8_in(m) >= i8_in(n) { 1 } else { 0 }) > i { i8_in(n) } else { least(o, 0, 16, i8_in(o)) })
//@ expect i8_order: sum(n, 0, 16, if sum(m, 0, 16, if i8_in(m) < i8_in(n) || i8_in(m) == i8_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect u8_up: least(n, 0, 16, if sum(m, 0, 16, if u8_in(m) <= u8_in(n) { 1 } else { 0 }) > i { u8_in(n) } else { most(o, 0, 16, u8_in(o)) })
//@ expect u8_down: most(n, 0, 16, if sum(m, 0, 16, if u8_in(m) >= u8_in(n) { 1 } else { 0 }) > i { u8_in(n) } else { least(o, 0, 16, u8_in(o)) })
//@ expect u8_order: sum(n, 0, 16, if sum(m, 0, 16, if u8_in(m) < u8_in(n) || u8_in(m) == u8_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect i16_up: least(n, 0, 16, if sum(m, 0, 16, if i16_in(m) <= i16_in(n) { 1 } else { 0 }) > i { i16_in(n) } else { most(o, 0, 16, i16_in(o)) })
//@ expect i16_down: most(n, 0, 16, if sum(m, 0, 16, if i16_in(m) >= i16_in(n) { 1 } else { 0 }) > i { i16_in(n) } else { least(o, 0, 16, i16_in(o)) })
//@ expect i16_order: sum(n, 0, 16, if sum(m, 0, 16, if i16_in(m) < i16_in(n) || i16_in(m) == i16_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect u16_up: least(n, 0, 16, if sum(m, 0, 16, if u16_in(m) <= u16_in(n) { 1 } else { 0 }) > i { u16_in(n) } else { most(o, 0, 16, u16_in(o)) })
//@ expect u16_down: most(n, 0, 16, if sum(m, 0, 16, if u16_in(m) >= u16_in(n) { 1 } else { 0 }) > i { u16_in(n) } else { least(o, 0, 16, u16_in(o)) })
//@ expect u16_order: sum(n, 0, 16, if sum(m, 0, 16, if u16_in(m) < u16_in(n) || u16_in(m) == u16_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect i32_up: least(n, 0, 16, if sum(m, 0, 16, if i32_in(m) <= i32_in(n) { 1 } else { 0 }) > i { i32_in(n) } else { most(o, 0, 16, i32_in(o)) })
//@ expect i32_down: most(n, 0, 16, if sum(m, 0, 16, if i32_in(m) >= i32_in(n) { 1 } else { 0 }) > i { i32_in(n) } else { least(o, 0, 16, i32_in(o)) })
//@ expect i32_order: sum(n, 0, 16, if sum(m, 0, 16, if i32_in(m) < i32_in(n) || i32_in(m) == i32_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect u32_up: least(n, 0, 16, if sum(m, 0, 16, if u32_in(m) <= u32_in(n) { 1 } else { 0 }) > i { u32_in(n) } else { most(o, 0, 16, u32_in(o)) })
//@ expect u32_down: most(n, 0, 16, if sum(m, 0, 16, if u32_in(m) >= u32_in(n) { 1 } else { 0 }) > i { u32_in(n) } else { least(o, 0, 16, u32_in(o)) })
//@ expect u32_order: sum(n, 0, 16, if sum(m, 0, 16, if u32_in(m) < u32_in(n) || u32_in(m) == u32_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect i64_up: least(n, 0, 16, if sum(m, 0, 16, if i64_in(m) <= i64_in(n) { 1 } else { 0 }) > i { i64_in(n) } else { most(o, 0, 16, i64_in(o)) })
//@ expect i64_down: most(n, 0, 16, if sum(m, 0, 16, if i64_in(m) >= i64_in(n) { 1 } else { 0 }) > i { i64_in(n) } else { least(o, 0, 16, i64_in(o)) })
//@ expect i64_order: sum(n, 0, 16, if sum(m, 0, 16, if i64_in(m) < i64_in(n) || i64_in(m) == i64_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect u64_up: least(n, 0, 16, if sum(m, 0, 16, if u64_in(m) <= u64_in(n) { 1 } else { 0 }) > i { u64_in(n) } else { most(o, 0, 16, u64_in(o)) })
//@ expect u64_down: most(n, 0, 16, if sum(m, 0, 16, if u64_in(m) >= u64_in(n) { 1 } else { 0 }) > i { u64_in(n) } else { least(o, 0, 16, u64_in(o)) })
//@ expect u64_order: sum(n, 0, 16, if sum(m, 0, 16, if u64_in(m) < u64_in(n) || u64_in(m) == u64_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect f16_up: least(n, 0, 16, if sum(m, 0, 16, if f16_in(m) <= f16_in(n) { 1 } else { 0 }) > i { f16_in(n) } else { most(o, 0, 16, f16_in(o)) })
//@ expect f16_down: most(n, 0, 16, if sum(m, 0, 16, if f16_in(m) >= f16_in(n) { 1 } else { 0 }) > i { f16_in(n) } else { least(o, 0, 16, f16_in(o)) })
//@ expect f16_order: sum(n, 0, 16, if sum(m, 0, 16, if f16_in(m) < f16_in(n) || f16_in(m) == f16_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect bf16_up: least(n, 0, 16, if sum(m, 0, 16, if bf16_in(m) <= bf16_in(n) { 1 } else { 0 }) > i { bf16_in(n) } else { most(o, 0, 16, bf16_in(o)) })
//@ expect bf16_down: most(n, 0, 16, if sum(m, 0, 16, if bf16_in(m) >= bf16_in(n) { 1 } else { 0 }) > i { bf16_in(n) } else { least(o, 0, 16, bf16_in(o)) })
//@ expect bf16_order: sum(n, 0, 16, if sum(m, 0, 16, if bf16_in(m) < bf16_in(n) || bf16_in(m) == bf16_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect f32_up: least(n, 0, 16, if sum(m, 0, 16, if f32_in(m) <= f32_in(n) { 1 } else { 0 }) > i { f32_in(n) } else { most(o, 0, 16, f32_in(o)) })
//@ expect f32_down: most(n, 0, 16, if sum(m, 0, 16, if f32_in(m) >= f32_in(n) { 1 } else { 0 }) > i { f32_in(n) } else { least(o, 0, 16, f32_in(o)) })
//@ expect f32_order: sum(n, 0, 16, if sum(m, 0, 16, if f32_in(m) < f32_in(n) || f32_in(m) == f32_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
//@ expect f64_up: least(n, 0, 16, if sum(m, 0, 16, if f64_in(m) <= f64_in(n) { 1 } else { 0 }) > i { f64_in(n) } else { most(o, 0, 16, f64_in(o)) })
//@ expect f64_down: most(n, 0, 16, if sum(m, 0, 16, if f64_in(m) >= f64_in(n) { 1 } else { 0 }) > i { f64_in(n) } else { least(o, 0, 16, f64_in(o)) })
//@ expect f64_order: sum(n, 0, 16, if sum(m, 0, 16, if f64_in(m) < f64_in(n) || f64_in(m) == f64_in(n) && m < n { 1 } else { 0 }) == i { n } else { 0 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "an input and its outputs for each type")]
pub fn types(
    i8_in: Tensor<i8, 1>,
    i8_up: TensorMut<i8, 1>,
    i8_down: TensorMut<i8, 1>,
    i8_order: TensorMut<i32, 1>,
    u8_in: Tensor<u8, 1>,
    u8_up: TensorMut<u8, 1>,
    u8_down: TensorMut<u8, 1>,
    u8_order: TensorMut<i32, 1>,
    i16_in: Tensor<i16, 1>,
    i16_up: TensorMut<i16, 1>,
    i16_down: TensorMut<i16, 1>,
    i16_order: TensorMut<i32, 1>,
    u16_in: Tensor<u16, 1>,
    u16_up: TensorMut<u16, 1>,
    u16_down: TensorMut<u16, 1>,
    u16_order: TensorMut<i32, 1>,
    i32_in: Tensor<i32, 1>,
    i32_up: TensorMut<i32, 1>,
    i32_down: TensorMut<i32, 1>,
    i32_order: TensorMut<i32, 1>,
    u32_in: Tensor<u32, 1>,
    u32_up: TensorMut<u32, 1>,
    u32_down: TensorMut<u32, 1>,
    u32_order: TensorMut<i32, 1>,
    i64_in: Tensor<i64, 1>,
    i64_up: TensorMut<i64, 1>,
    i64_down: TensorMut<i64, 1>,
    i64_order: TensorMut<i32, 1>,
    u64_in: Tensor<u64, 1>,
    u64_up: TensorMut<u64, 1>,
    u64_down: TensorMut<u64, 1>,
    u64_order: TensorMut<i32, 1>,
    f16_in: Tensor<f16, 1>,
    f16_up: TensorMut<f16, 1>,
    f16_down: TensorMut<f16, 1>,
    f16_order: TensorMut<i32, 1>,
    bf16_in: Tensor<bf16, 1>,
    bf16_up: TensorMut<bf16, 1>,
    bf16_down: TensorMut<bf16, 1>,
    bf16_order: TensorMut<i32, 1>,
    f32_in: Tensor<f32, 1>,
    f32_up: TensorMut<f32, 1>,
    f32_down: TensorMut<f32, 1>,
    f32_order: TensorMut<i32, 1>,
    f64_in: Tensor<f64, 1>,
    f64_up: TensorMut<f64, 1>,
    f64_down: TensorMut<f64, 1>,
    f64_order: TensorMut<i32, 1>,
) {
    let x = i8_in.tile([0], [16]).load();
    i8_up.tile([0], [16]).store(x.sort(0));
    i8_down.tile([0], [16]).store(x.sort_descending(0));
    i8_order.tile([0], [16]).store(x.argsort(0));
    let x = u8_in.tile([0], [16]).load();
    u8_up.tile([0], [16]).store(x.sort(0));
    u8_down.tile([0], [16]).store(x.sort_descending(0));
    u8_order.tile([0], [16]).store(x.argsort(0));
    let x = i16_in.tile([0], [16]).load();
    i16_up.tile([0], [16]).store(x.sort(0));
    i16_down.tile([0], [16]).store(x.sort_descending(0));
    i16_order.tile([0], [16]).store(x.argsort(0));
    let x = u16_in.tile([0], [16]).load();
    u16_up.tile([0], [16]).store(x.sort(0));
    u16_down.tile([0], [16]).store(x.sort_descending(0));
    u16_order.tile([0], [16]).store(x.argsort(0));
    let x = i32_in.tile([0], [16]).load();
    i32_up.tile([0], [16]).store(x.sort(0));
    i32_down.tile([0], [16]).store(x.sort_descending(0));
    i32_order.tile([0], [16]).store(x.argsort(0));
    let x = u32_in.tile([0], [16]).load();
    u32_up.tile([0], [16]).store(x.sort(0));
    u32_down.tile([0], [16]).store(x.sort_descending(0));
    u32_order.tile([0], [16]).store(x.argsort(0));
    let x = i64_in.tile([0], [16]).load();
    i64_up.tile([0], [16]).store(x.sort(0));
    i64_down.tile([0], [16]).store(x.sort_descending(0));
    i64_order.tile([0], [16]).store(x.argsort(0));
    let x = u64_in.tile([0], [16]).load();
    u64_up.tile([0], [16]).store(x.sort(0));
    u64_down.tile([0], [16]).store(x.sort_descending(0));
    u64_order.tile([0], [16]).store(x.argsort(0));
    let x = f16_in.tile([0], [16]).load();
    f16_up.tile([0], [16]).store(x.sort(0));
    f16_down.tile([0], [16]).store(x.sort_descending(0));
    f16_order.tile([0], [16]).store(x.argsort(0));
    let x = bf16_in.tile([0], [16]).load();
    bf16_up.tile([0], [16]).store(x.sort(0));
    bf16_down.tile([0], [16]).store(x.sort_descending(0));
    bf16_order.tile([0], [16]).store(x.argsort(0));
    let x = f32_in.tile([0], [16]).load();
    f32_up.tile([0], [16]).store(x.sort(0));
    f32_down.tile([0], [16]).store(x.sort_descending(0));
    f32_order.tile([0], [16]).store(x.argsort(0));
    let x = f64_in.tile([0], [16]).load();
    f64_up.tile([0], [16]).store(x.sort(0));
    f64_down.tile([0], [16]).store(x.sort_descending(0));
    f64_order.tile([0], [16]).store(x.argsort(0));
}
