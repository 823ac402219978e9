//! The bytes of shared memory as elements of another type, wider and narrower, in parts, and written through the view.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: u8[32, 64] bits
//@ arg n: i32 scalar 1
//@ arg words: u32[32, 16] poison
//@ arg halves: u16[8, 16] poison
//@ arg longs: u64[32, 4] poison
//@ arg bytes: u8[32, 64] poison
//@ arg of_part: u8[16, 8] poison
//@ expect words: x(i, 4 * j) + 256 * x(i, 4 * j + 1) + 65536 * x(i, 4 * j + 2) + 16777216 * x(i, 4 * j + 3)
//@ expect halves: x(8 + i, 32 + 2 * j) + 256 * x(8 + i, 32 + 2 * j + 1)
//@ expect bytes: x(i, j)
//@ expect of_part: x(16 + i, 8 + j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4], PINNED = [0, 1]))]
pub fn view<const W: i32, const PINNED: i32>(
    x: Tensor<u8, 2>,
    n: i32,
    words: TensorMut<u32, 2>,
    halves: TensorMut<u16, 2>,
    longs: TensorMut<u64, 2>,
    bytes: TensorMut<u8, 2>,
    of_part: TensorMut<u8, 2>,
) {
    let tile = shared::<u8>([32, 64]);
    let s = if PINNED == 1 { tile.with_layout(swizzled(16, 1, 4, [1, 0])) } else { tile };
    s.store(x.tile([0, 0], [32, 64]).load());
    sync();
    words.tile([0, 0], [32, 16]).store(s.view::<u32>().load());
    halves.tile([0, 0], [8, 16]).store(s.tile([8, n * 32], [8, 32]).view::<u16>().load());
    longs.tile([0, 0], [32, 4]).store(s.view::<u64>().tile([0, 0], [32, 4]).load());
    let wide = shared::<u32>([32, 16]);
    wide.store(s.view::<u32>().load());
    sync();
    let narrow = wide.view::<u8>();
    bytes.tile([0, 0], [32, 64]).store(narrow.load());
    of_part.tile([0, 0], [16, 8]).store(narrow.tile([n * 16, n * 8], [16, 8]).load());
}
