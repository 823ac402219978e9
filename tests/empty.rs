//! Tensors without elements are arguments as any other: what a kernel reads of them is what lies outside of a tensor.

use kiln::prelude::*;

/// b = a, by tensor maps; tiles of `b` that lie outside are left out.
#[kernel(target = [sm_90a, sm_100a], warps = 1, grid = [cdiv(blocks, 8), cdiv(b.dim(1), 256)])]
fn copied(a: Tensor<f16, 2>, b: TensorMut<f16, 2>, blocks: i32) {
    let at = [block_id(0) * 8, block_id(1) * 256];
    let staged = shared::<f16>([8, 256]).with_layout(swizzle(128));
    let arrived = barrier(1);
    arrived.expect(staged.bytes());
    copy_async(a.tile(at, [8, 256]), staged).on(arrived);
    arrived.wait(0);
    copy_async(staged, b.tile(at, [8, 256]));
    tma::store_wait(0);
}

/// out = the sum of the columns of `x`, by masked loads.
#[kernel(target = sm_80, warps = 1, grid = cdiv(out.dim(0), 32))]
fn column_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let column = block_id(0) * 32;
    let mut sum = zeros::<f32>([32]);
    for row in range(0, x.dim(0), 8) {
        sum += x.tile([row, column], [8, 32]).load().sum(0);
    }
    out.tile([column], [32]).store(sum);
}

#[test]
fn a_copy_by_tensor_map_of_nothing_is_zeros() -> Result<()> {
    for target in [Target::Sm90a, Target::Sm100a] {
        let stream = Device::emulator(target)?.stream()?;
        for shape in [[0, 512], [8, 0], [0, 0]] {
            let a = stream.zeros::<f16, 2>(shape)?;
            let mut b = stream.full([8, 512], f16::ONE)?;
            copied(copied::Args { a: &a, b: &mut b, blocks: 8 }).launch(&stream)?;
            assert_eq!(b.to_vec(&stream)?, vec![f16::ZERO; 8 * 512], "{shape:?}");
        }
        // Blocks that write outside of a tensor without rows leave the rest of the memory alone.
        let a = stream.full([8, 512], f16::ONE)?;
        let mut b = stream.zeros::<f16, 2>([0, 512])?;
        copied(copied::Args { a: &a, b: &mut b, blocks: 8 }).launch(&stream)?;
        // No blocks at all.
        let mut b = stream.zeros::<f16, 2>([8, 0])?;
        copied(copied::Args { a: &a, b: &mut b, blocks: 8 }).launch(&stream)?;
        // What was written outside has not become what is read there.
        let a = stream.zeros::<f16, 2>([0, 512])?;
        let mut b = stream.full([8, 512], f16::ONE)?;
        copied(copied::Args { a: &a, b: &mut b, blocks: 8 }).launch(&stream)?;
        assert_eq!(b.to_vec(&stream)?, vec![f16::ZERO; 8 * 512]);
    }
    Ok(())
}

#[test]
fn a_sum_of_no_rows_is_zero() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let x = stream.zeros::<f32, 2>([0, 100])?;
    let mut out = stream.full([100], 5.0f32)?;
    column_sums(column_sums::Args { x: &x, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [0.0; 100]);
    let mut out = stream.zeros([0])?;
    column_sums(column_sums::Args { x: &x, out: &mut out }).launch(&stream)
}
