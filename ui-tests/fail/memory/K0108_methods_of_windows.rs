use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: TensorMut<i32, 1>, n: i32) {
    let window = x.tile([0], [128]);
    let held = shared::<i32>([128]);
    let mask = arange(0, 128).lt(n);
    held.fill(0);
    window.store_masked(mask, arange(0, 128));
    window.atomic_cas(full([128], 0), full([128], 1));
    window.clear();
    let sum = window.sum(0);
    let most = held.load_masked(mask, 0);
    let ends = [1, 2, 3];
    for end in ends.iter() {
        window.store(most + sum + end + ends.last());
    }
}

fn main() {}
