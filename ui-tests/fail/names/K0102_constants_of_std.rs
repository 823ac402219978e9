use kiln::prelude::*;
use std::f32::consts;

const LOG2E: f32 = LOG2_E;
const HALF: f32 = HALFF;
const HALVES: f32 = 2.0 * HALF;

/// Constants that are not there: their own name is no help, and neither is the module's without them.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [128]);
    let tile = window.load() * LOG2E * HALVES;
    let tile = tile * std::f32::consts::LOG2E + consts::FRAC_PI_5;
    window.store(tile * core::f64::consts::LOGTWO_E.cast::<f32>());
}

fn main() {}
