//! Tensors of pointers: kernels load addresses, and read and write through them.
#![expect(
    unsafe_code,
    clippy::cast_precision_loss,
    reason = "the launches work with addresses; the numbers are small and exact in `f32`"
)]

use kiln::prelude::*;

/// `outs[g][i] = factors[g] * inputs[g][i]` for the `lengths[g]` elements of each group.
#[kernel(target = sm_80, warps = 2, grid = [inputs.dim(0), 2])]
fn grouped(
    inputs: Tensor<Ptr<f32>, 1>,
    outs: Tensor<Ptr<f32>, 1>,
    lengths: Tensor<i32, 1>,
    factors: Tensor<f32, 1>,
) {
    let group = block_id(0);
    let input = inputs.tile([group], [1]).load().item();
    let out = outs.tile([group], [1]).load().item();
    let length = lengths.tile([group], [1]).load().item();
    let factor = factors.tile([group], [1]).load().item();
    for at in range(block_id(1) * 64, length, num_blocks(1) * 64) {
        let index = at + arange(0, 64);
        let inside = index.lt(length);
        let x = load_masked(input + index, inside, 0.0);
        store_masked(out + index, inside, x * factor);
    }
}

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm80)?.stream()
}

#[test]
fn a_group_is_read_and_written_through_its_pointers() -> Result<()> {
    let stream = stream()?;
    let lengths = [1, 64, 200, 0];
    let mut inputs = Vec::new();
    let mut outs = Vec::new();
    for length in [1usize, 64, 200, 1] {
        let host: Vec<f32> = (0..length).map(|i| i as f32 - 3.0).collect();
        inputs.push(stream.upload(&host, [length])?);
        outs.push(stream.full([length], -1.0f32)?);
    }
    let table: Vec<DevicePtr<f32>> = inputs.iter().map(DeviceTensor::device_ptr).collect();
    let to: Vec<DevicePtr<f32>> = outs.iter().map(DeviceTensor::device_ptr).collect();
    let (table, to) = (stream.upload(&table, [4])?, stream.upload(&to, [4])?);
    let lengths_of = stream.upload(&lengths, [4])?;
    let factors = stream.upload(&[1.0f32, 2.0, -1.0, 5.0], [4])?;
    let args = grouped::Args { inputs: &table, outs: &to, lengths: &lengths_of, factors: &factors };
    // SAFETY: the tables hold the addresses of `inputs` and `outs`, which live until the end and have at least `lengths` elements;
    // nothing else uses them.
    unsafe { grouped(args).launch(&stream)? };
    for (group, factor) in [1.0f32, 2.0, -1.0].into_iter().enumerate() {
        let required: Vec<f32> =
            inputs[group].to_vec(&stream)?.iter().map(|x| x * factor).collect();
        assert_eq!(outs[group].to_vec(&stream)?, required, "{group}");
    }
    assert_eq!(outs[3].to_vec(&stream)?, [-1.0]);
    // The addresses are those that were put there.
    let back = table.to_vec(&stream)?;
    assert_eq!(back[2], inputs[2].device_ptr());
    Ok(())
}

/// Makes a table of the rows of a matrix, and sums elements of two rows of it.
#[kernel(target = sm_80, warps = 1, grid = 1)]
fn rows(x: Tensor<f32, 2>, table: TensorMut<Ptr<f32>, 1>, out: TensorMut<f32, 1>) {
    let pitch = x.stride(0);
    let all = x.ptr() + arange(0, 8).cast::<i64>() * pitch;
    table.tile([0], [8]).store(all);
    let pair = table.tile([4], [2]).load().expand(1);
    let at = pair + arange(0, 32).expand(0);
    out.tile([0], [32]).store(load(at).sum(0));
}

#[test]
fn a_kernel_makes_a_table_of_pointers() -> Result<()> {
    let stream = stream()?;
    let host: Vec<f32> = (0..8 * 40).map(|i| i as f32).collect();
    let x = stream.upload(&host, [8, 40])?;
    let mut table = stream.zeros::<DevicePtr<f32>, 1>([8])?;
    let mut out = stream.zeros::<f32, 1>([32])?;
    // SAFETY: the addresses are those of `x`, of which 32 columns are read.
    unsafe { rows(rows::Args { x: &x, table: &mut table, out: &mut out }).launch(&stream)? };
    let required: Vec<f32> = (0..32).map(|i| host[4 * 40 + i] + host[5 * 40 + i]).collect();
    assert_eq!(out.to_vec(&stream)?, required);
    assert_eq!(table.to_vec(&stream)?[3], x.device_ptr().offset(3 * 40));
    Ok(())
}

#[test]
fn a_table_of_other_pointers_is_refused() -> Result<()> {
    let stream = stream()?;
    let wrong = AnyTensor::from(stream.zeros::<DevicePtr<i32>, 1>([2])?);
    let table = stream.zeros::<DevicePtr<f32>, 1>([2])?;
    let (lengths, factors) = (stream.zeros::<i32, 1>([2])?, stream.zeros::<f32, 1>([2])?);
    let args = grouped::Args { inputs: &table, outs: &wrong, lengths: &lengths, factors: &factors };
    // SAFETY: the launch is refused.
    let error = unsafe { grouped(args).launch(&stream) }.expect_err("the table is of `i32`");
    let text = error.to_string();
    assert!(text.contains("`outs`"), "{text}");
    Ok(())
}
