use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(n: i32, y: TensorMut<f32, 1>) {
    let window = y.tile([0], [128]);
    if let Some(v) = window.load() {
        window.store(v);
    }
    let (Some(m), 3) = (n, n) else { return };
    window.store(window.load() * m as f32);
}

fn main() {}
