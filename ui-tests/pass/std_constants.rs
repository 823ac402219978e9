//! The constants of the standard library, by every path that Rust has to them.
#![deny(warnings)]

use kiln::prelude::*;
use std::f32::consts;
use std::f32::consts::{LOG2_E, SQRT_2 as ROOT};

const LOG2E: f32 = LOG2_E;
const QUARTER: f32 = std::f32::consts::PI / 4.0;
const DOUBLE: f64 = core::f64::consts::E;
const LEAST: f32 = consts::LN_2;

#[device]
fn turned(x: Tile<f32>) -> Tile<f32> {
    x + ROOT + consts::TAU
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn file(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [4]);
    let part = arange(0, 4);
    let first = select(part.eq(0), LOG2E, QUARTER);
    let value = select(part.ge(2), LEAST, first);
    window.store(select(part.eq(3), consts::FRAC_1_PI, value) + window.load());
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn called(x: TensorMut<f32, 1>) {
    let window = x.tile([0], [4]);
    window.store(turned(window.load()));
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn body(x: TensorMut<f64, 1>) {
    use std::f64::consts::LN_10;
    let window = x.tile([0], [4]);
    let part = arange(0, 4);
    let first = select(part.eq(0), LN_10, std::f64::consts::LOG10_2);
    window.store(select(part.ge(2), DOUBLE, first));
}

mod all {
    use kiln::prelude::*;
    use std::f32::consts::*;

    #[kernel(target = sm_80, warps = 1, grid = 1)]
    pub fn each(x: TensorMut<f32, 1>) {
        let part = arange(0, 4);
        let value = select(part.lt(2), FRAC_PI_2, FRAC_2_SQRT_PI);
        x.tile([0], [4]).store(select(part.eq(0), E, value));
    }
}

#[allow(deprecated, clippy::legacy_numeric_constants)]
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn starred(x: TensorMut<f32, 1>) {
    use std::f32::consts::*;
    x.tile([0], [4]).store(full([4], FRAC_PI_8 + std::f32::EPSILON));
}

#[kernel]
mod unit {
    use core::f32::consts::LOG10_E;
    use kiln::prelude::*;

    #[kernel(target = sm_80, warps = 1, grid = 1)]
    pub fn one(x: TensorMut<f32, 1>) {
        #[allow(deprecated, clippy::legacy_numeric_constants)]
        let most = std::f32::MAX;
        x.tile([0], [4]).store(select(arange(0, 4).eq(0), LOG10_E, most));
    }
}

fn main() -> Result<()> {
    use std::f64::consts as double;
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let mut x = stream.zeros::<f32, 1>([4])?;
    file(file::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(
        x.to_vec(&stream)?,
        [LOG2_E, consts::FRAC_PI_4, consts::LN_2, consts::FRAC_1_PI]
    );
    let mut x = stream.zeros::<f32, 1>([4])?;
    called(called::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [ROOT + consts::TAU; 4]);
    let mut y = stream.zeros::<f64, 1>([4])?;
    body(body::Args { x: &mut y }).launch(&stream)?;
    assert_eq!(y.to_vec(&stream)?, [double::LN_10, double::LOG10_2, double::E, double::E]);
    all::each(all::each::Args { x: &mut x }).launch(&stream)?;
    let root = consts::FRAC_2_SQRT_PI;
    assert_eq!(x.to_vec(&stream)?, [consts::E, consts::FRAC_PI_2, root, root]);
    starred(starred::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?, [consts::FRAC_PI_8 + f32::EPSILON; 4]);
    unit::one(unit::one::Args { x: &mut x }).launch(&stream)?;
    assert_eq!(x.to_vec(&stream)?[..2], [consts::LOG10_E, f32::MAX]);
    Ok(())
}
