use kiln::prelude::*;

// Wrong: the barrier expects 1024, the number of elements, and the copy delivers 4096 bytes; right is `arrived.expect(staged.bytes())`.
#[kernel(target = sm_90a, warps = 4, grid = rows)]
pub fn wrong(#[multiple_of(16)] x: Ptr<f32>, rows: i32, scale: f32, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let staged = shared::<f32>([1024]);
    let arrived = barrier(1);
    arrived.expect(1024);
    bulk::load(x + row * 1024, arrived, staged);
    arrived.wait(0);
    let values = staged.load() * scale;
    out.tile([row, 0], [1, 1024]).store(values.reshape([1, 1024]));
}

fn main() {}
