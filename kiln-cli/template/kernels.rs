//! The kernels, which are compiled while cargo builds, and their tests.

use kiln::prelude::*;

/// y = alpha · x + y. Each block computes `N` elements; the last one may reach past the end, where
/// nothing is read or written.
#[kernel(target = sm_80, warps = 4, grid = cdiv(y.dim(0), N), instances(N = [1024]))]
pub fn axpy<const N: i32>(alpha: f32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    let window = y.tile(at, [N]);
    window.store(alpha * x.tile(at, [N]).load() + window.load());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the emulator, which needs no GPU and reports every access out of bounds.
    #[test]
    fn axpy_computes_what_the_host_does() -> kiln::Result<()> {
        let device = Device::emulator(Target::Sm80)?;
        let stream = device.stream()?;
        // Mistakes show where the elements do not fill the tiles.
        for n in [1, 1023, 1024, 1025, 5000] {
            // Small multiples of 1/4, of which no result has to be rounded.
            let x_host: Vec<f32> = (0..n).map(|i| (i % 31) as f32 * 0.25).collect();
            let y_host: Vec<f32> = (0..n).map(|i| (i % 17) as f32 - 8.0).collect();
            let x = stream.upload(&x_host, [n])?;
            let mut y = stream.upload(&y_host, [n])?;
            axpy::<1024>(axpy::Args { alpha: -1.5, x: &x, y: &mut y }).launch(&stream)?;
            let required: Vec<f32> =
                x_host.iter().zip(&y_host).map(|(x, y)| -1.5 * x + y).collect();
            assert_eq!(y.to_vec(&stream)?, required, "of {n} elements");
        }
        Ok(())
    }
}
