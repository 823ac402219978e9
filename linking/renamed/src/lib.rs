//! Kernels of a package that calls Kiln `tiles`, with device code of its own, of Kiln's and of a package that calls it `gpu`.
//!
//! A program of documentation sees it under the same name:
//!
//! ```
//! use tiles::prelude::*;
//!
//! #[kernel(target = sm_80, warps = 1, grid = 1)]
//! fn fill(y: TensorMut<f32, 1>, value: f32) {
//!     y.tile([0], [32]).store(full([32], value));
//! }
//!
//! let stream = Device::emulator(Target::Sm80)?.stream()?;
//! let mut y = stream.zeros::<f32, 1>([3])?;
//! fill(fill::Args { y: &mut y, value: 2.5 }).launch(&stream)?;
//! assert_eq!(y.to_vec(&stream)?, [2.5; 3]);
//! # Ok::<(), tiles::Error>(())
//! ```

use library::{act::leaky, place};
use tiles::prelude::*;

/// Twice a tile, by an instruction written out.
#[device]
pub fn doubled(x: Tile<f32>) -> Tile<f32> {
    ptx!("add.f32 {out}, {a}, {a};", a = x => f32)
}

/// Device code of both packages, a grid and instances.
#[kernel(target = sm_80, warps = 2, grid = cdiv(y.dim(0), N), instances(N = [32, 64]))]
pub fn activate<const N: i32>(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let at = [place::Line::<N>::own().start()];
    y.tile(at, [N]).store(leaky(doubled(x.tile(at, [N]).load())));
}

/// Kernels of a module, one of them with a ring of Kiln's own.
#[tiles::kernel]
pub mod rows {
    use tiles::prelude::*;

    /// The sum of the first numbers that `doubled` gives, in order of a ring of two.
    #[kernel(target = sm_80, warps = 1, grid = 1)]
    pub fn turns(y: TensorMut<i32, 1>, count: i32) {
        let mut ring = tiles::Ring::reader(2);
        for _ in 0..count {
            ring.advance();
        }
        y.tile([0], [2]).store(arange(0, 2) + ring.slot * 10 + ring.phase * 100);
    }

    /// Names of the language by their whole path.
    #[kernel(target = sm_80, warps = 1, grid = 1)]
    pub fn clear(y: TensorMut<f32, 1>) {
        y.tile([0], [64]).store(tiles::lang::zeros([64]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_the_library_run() -> Result<()> {
        let stream = Device::emulator(Target::Sm80)?.stream()?;
        let x: Vec<f32> = (0u8..100).map(|i| f32::from(i) - 50.0).collect();
        let given = stream.upload(&x, [100])?;
        let mut y = stream.zeros::<f32, 1>([100])?;
        for instance in [activate::<32>, activate::<64>] {
            stream.fill(&mut y, 0.0)?;
            instance(activate::Args { x: &given, y: &mut y }).launch(&stream)?;
            let required: Vec<f32> =
                x.iter().map(|x| if *x > 0.0 { x * 2.0 } else { x * 0.5 }).collect();
            assert_eq!(y.to_vec(&stream)?, required);
        }
        rows::clear(rows::clear::Args { y: &mut y }).launch(&stream)?;
        assert_eq!(y.to_vec(&stream)?[..65], [[0.0; 64].as_slice(), &[28.0]].concat());
        let mut turns = stream.zeros::<i32, 1>([2])?;
        rows::turns(rows::turns::Args { y: &mut turns, count: 3 }).launch(&stream)?;
        assert_eq!(turns.to_vec(&stream)?, [110, 111]);
        Ok(())
    }
}
