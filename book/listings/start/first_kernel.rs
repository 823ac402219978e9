// ANCHOR: program
use kiln::prelude::*;

// ANCHOR: kernel
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [1024]))]
pub fn vector_add<const N: i32>(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(a.tile(at, [N]).load() + b.tile(at, [N]).load());
}
// ANCHOR_END: kernel

// ANCHOR: main
pub fn main() -> kiln::Result<()> {
    let device = Device::best_for(vector_add::TARGETS)?;
    let stream = device.stream()?;
    let a = stream.upload(&[1.0f32, 2.0, 3.0], [3])?;
    let b = stream.upload(&[10.0f32, 20.0, 30.0], [3])?;
    let mut out = stream.zeros::<f32, 1>([3])?;
    vector_add::<1024>(vector_add::Args { a: &a, b: &b, out: &mut out }).launch(&stream)?;
    println!("{:?}", out.to_vec(&stream)?);
    Ok(())
}
// ANCHOR_END: main
// ANCHOR_END: program

// ANCHOR: test
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_right_where_the_elements_do_not_fill_the_tiles() -> kiln::Result<()> {
        let stream = Device::emulator(Target::Sm80)?.stream()?;
        for n in [0, 1, 1023, 1024, 1025, 5000] {
            let a_host: Vec<f32> = (0..n).map(|i| (i % 64) as f32).collect();
            let a = stream.upload(&a_host, [n])?;
            let b = stream.full([n], 0.5f32)?;
            let mut out = stream.zeros([n])?;
            vector_add::<1024>(vector_add::Args { a: &a, b: &b, out: &mut out }).launch(&stream)?;
            let required: Vec<f32> = a_host.iter().map(|a| a + 0.5).collect();
            assert_eq!(out.to_vec(&stream)?, required, "of {n} elements");
        }
        Ok(())
    }
}
// ANCHOR_END: test
