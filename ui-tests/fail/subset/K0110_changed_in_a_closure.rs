use kiln::prelude::*;

/// Closures that change what is declared outside of them.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, least: f32) {
    let tile = x.tile([0], [128]).load();
    let seen = 0.0;
    let mut steps = 0;
    let mut parts = (0, 0.0);
    let total = tile.reduce(0, |a, b| {
        steps += 1;
        a + b
    });
    let sums = tile.scan_exclusive(0, 0.0, |a, b| {
        seen = a;
        a + b
    });
    let both = (tile, sums).reduce(0, |(a, b), (c, d)| {
        parts.1 = c;
        (a + c, b + d)
    });
    let mut small = 3;
    let mapped = tile.map(|v| {
        let mut own = v;
        if v < least {
            small += 1;
            own += 1.0;
        }
        own
    });
    out.tile([0], [128]).store(mapped * total.item() + sums * both.0.item());
}

/// A count of two axes, and one that starts elsewhere.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn counts(x: TensorMut<i32, 2>, out: TensorMut<u32, 1>) {
    let window = x.tile([0, 0], [16, 16]);
    let tile = window.load();
    let mut odd: u32 = 0;
    window.store(tile.map(|v| {
        if v != 7 {
            odd += 1;
        }
        v
    }));
    out.tile([0], [1]).store(full([1], odd));
}

fn main() {}
