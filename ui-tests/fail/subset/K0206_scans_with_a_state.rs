use kiln::prelude::*;

/// Scans as of `Iterator::scan`: a product, a state that does not begin with nothing, and a step that is no sum.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [128]);
    let tile = window.load();
    let products = tile.scan(1.0, |product, v| {
        *product *= v;
        Some(*product)
    });
    let from_ten = tile.scan(10.0, |sum, v| {
        *sum += v;
        Some(*sum)
    });
    let decayed = tile.scan_reverse(0.0, |sum, v| {
        *sum = *sum * 0.5 + v;
        Some(*sum)
    });
    window.store(products + from_ten + decayed);
}

fn main() {}
