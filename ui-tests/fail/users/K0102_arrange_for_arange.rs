// Rust: A histogram of bytes: counted in shared memory, then added to those of the other blocks. A typo: `arrange`.
// RIGHT: let at = first + arange(0, 1024);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn histogram(x: Tensor<u8, 1>, counts: TensorMut<i32, 1>) {
    let first = block_id(0) * 1024;
    let bins = shared::<i32>([256]);
    bins.store(zeros([256]));
    sync();
    let at = first + arrange(0, 1024);
    let bytes = x.tile([first], [1024]).load().cast::<i32>();
    let bytes = select(at.lt(x.dim(0)), bytes, -1);
    bins.atomic_add(bytes, full([1024], 1));
    sync();
    counts.tile([0], [256]).atomic_add(bins.load());
}

fn main() {}
