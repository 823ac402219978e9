//! Arguments that may be absent: each choice of them is code of its own, and the launch takes that of its arguments.
#![expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "the numbers are small and exact in `f32`"
)]

use kiln::prelude::*;

/// `out = (x + bias) * scale`, each of the two only if it is there.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(0), 16), cdiv(out.dim(1), 32)])]
fn affine(
    x: Tensor<f32, 2>,
    bias: Option<Tensor<f32, 1>>,
    scale: Option<f32>,
    out: TensorMut<f32, 2>,
) {
    let at = [block_id(0) * 16, block_id(1) * 32];
    let mut acc = x.tile(at, [16, 32]).load();
    if let Some(bias) = bias {
        acc = acc + bias.tile([at[1]], [32]).load().expand(0);
    }
    acc = match scale {
        Some(scale) => acc * scale,
        None => acc,
    };
    out.tile(at, [16, 32]).store(acc);
}

/// A function of another module's kind: it comes when the kernel has been read.
#[device]
fn biased(v: Tile<f32>, bias: Option<Tensor<f32, 1>>) -> Tile<f32> {
    let Some(bias) = bias else { return v };
    v + bias.tile([0], [64]).load()
}

#[kernel(target = sm_80, warps = 2, grid = 1)]
fn calls(bias: Option<Tensor<f32, 1>>, out: TensorMut<f32, 1>) {
    let window = out.tile([0], [64]);
    window.store(biased(window.load(), bias));
}

#[test]
fn a_device_function_takes_what_is_there() -> Result<()> {
    let stream = stream()?;
    let (bias, mut out) = (stream.full([64], 0.5f32)?, stream.full([64], 2.0f32)?);
    calls(calls::Args { bias: Some(&bias), out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [2.5; 64]);
    calls(calls::Args { bias: None, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [2.5; 64]);
    Ok(())
}

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm80)?.stream()
}

#[test]
fn each_choice_of_two_arguments_computes_what_is_there() -> Result<()> {
    let stream = stream()?;
    for (rows, columns) in [(16, 32), (1, 1), (37, 50), (3, 64)] {
        let x_host: Vec<f32> = (0..rows * columns).map(|i| i as f32 - 40.0).collect();
        let bias_host: Vec<f32> = (0..columns).map(|j| 3.0 * j as f32 + 0.5).collect();
        let x = stream.upload(&x_host, [rows, columns])?;
        let there = stream.upload(&bias_host, [columns])?;
        for (with_bias, scale) in
            [(true, Some(2.0)), (true, None), (false, Some(2.0)), (false, None)]
        {
            let mut out = stream.zeros::<f32, 2>([rows, columns])?;
            let bias: Option<&dyn kiln::TensorArgument<f32, 1>> =
                if with_bias { Some(&there) } else { None };
            affine(affine::Args { x: &x, bias, scale, out: &mut out }).launch(&stream)?;
            let out = out.to_vec(&stream)?;
            for (at, value) in out.iter().enumerate() {
                let sum = x_host[at] + if with_bias { bias_host[at % columns] } else { 0.0 };
                let required = sum * scale.unwrap_or(1.0);
                assert_eq!(*value, required, "{rows} {columns} {with_bias} {scale:?} at {at}");
            }
        }
    }
    Ok(())
}

/// Rows of `x`, or of `fallback` where there is no `x`; the sums of the columns too, if they are asked for.
#[kernel(
    target = [sm_80, sm_90a],
    warps = W,
    grid = match x { Some(x) => cdiv(x.dim(0), 8), None => 1 },
    instances(T = [f32, i32], W = [1, 4])
)]
fn rows<T: Number, const W: i32>(
    x: Option<Tensor<T, 2>>,
    fallback: Option<T>,
    out: TensorMut<T, 2>,
    sums: Option<TensorMut<T, 1>>,
) {
    let row = block_id(0) * 8;
    let tile = match (x, fallback) {
        (Some(x), _) => x.tile([row, 0], [8, 64]).load(),
        (None, Some(fallback)) => full([8, 64], fallback),
        (None, None) => zeros([8, 64]),
    };
    out.tile([row, 0], [8, 64]).store(tile);
    let Some(sums) = sums else { return };
    sums.tile([block_id(0) * 64], [64]).store(tile.sum(0));
}

#[test]
fn an_instance_is_launched_with_what_is_there() -> Result<()> {
    let stream = stream()?;
    let x = stream.upload(&(0..16 * 64).collect::<Vec<i32>>(), [16, 64])?;
    let mut out = stream.zeros::<i32, 2>([16, 64])?;
    let mut sums = stream.zeros::<i32, 1>([128])?;
    let args = rows::Args { x: Some(&x), fallback: None, out: &mut out, sums: Some(&mut sums) };
    let launch = rows::<i32, 4>(args);
    assert_eq!(launch.blocks(), Some([2, 1, 1]));
    launch.launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, x.to_vec(&stream)?);
    // Rows 0 to 7 of column j hold j + 64 r.
    let of_block = |block: i32| (0..64).map(move |j| 8 * j + 64 * (28 + 64 * block));
    assert_eq!(sums.to_vec(&stream)?, of_block(0).chain(of_block(1)).collect::<Vec<_>>());

    // By the value of an instance, and with arguments whose types are checked by the launch.
    let one = rows::find(|one| one.T == Dtype::of::<i32>() && one.W == 1)?;
    let args = rows::Args { x: None, fallback: Some(7), out: &mut out, sums: None };
    let launch = one.with(args);
    assert_eq!(launch.blocks(), Some([1, 1, 1]));
    launch.launch(&stream)?;
    let required: Vec<i32> = (0..16 * 64).map(|at| if at < 512 { 7 } else { at }).collect();
    assert_eq!(out.to_vec(&stream)?, required);
    let absent = || None::<i32>.into_argument();
    let arguments = [Some(&x).into_argument(), absent(), (&mut out).into_argument(), absent()];
    let launch = one.with_arguments(arguments);
    assert_eq!(launch.blocks(), Some([2, 1, 1]));
    launch.launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, x.to_vec(&stream)?);
    Ok(())
}

#[test]
fn a_tensor_that_a_host_keeps_or_not_is_passed_as_it_is() -> Result<()> {
    let stream = stream()?;
    let (x, mut out) = (stream.full([1, 8], 3.0f32)?, stream.zeros::<f32, 2>([1, 8])?);
    for kept in [Some(stream.full([8], 0.5f32)?), None] {
        let required = if kept.is_some() { 3.5 } else { 3.0 };
        let bias = kept.as_ref().map(|bias| bias as _);
        affine(affine::Args { x: &x, bias, scale: None, out: &mut out }).launch(&stream)?;
        assert_eq!(out.to_vec(&stream)?, [required; 8]);
    }
    let any = AnyTensor::from(stream.full([8], 0.25f32)?);
    affine(affine::Args { x: &x, bias: Some(&any), scale: None, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [3.25; 8]);
    Ok(())
}

#[test]
fn what_is_absent_has_no_code_and_breaks_no_variant() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let (x, mut out) = (stream.full([16, 64], 3.0f32)?, stream.zeros::<f32, 2>([16, 64])?);
    // An address that the aligned variant does not take.
    let wide = stream.full([65], 0.5f32)?;
    let odd = wide.slice(0, 1..65)?;
    let launch = affine(affine::Args { x: &x, bias: None, scale: None, out: &mut out });
    assert_eq!(launch.variant(&device)?.name, "aligned");
    assert!(!launch.ptx(&device)?.contains("p1_") && !launch.ptx(&device)?.contains("p2_"));
    assert_eq!(launch.images().len(), 1);
    let launch = affine(affine::Args { x: &x, bias: Some(&odd), scale: None, out: &mut out });
    assert_eq!(launch.variant(&device)?.name, "general");
    assert!(launch.ptx(&device)?.contains("p1_data") && !launch.ptx(&device)?.contains("p2_"));
    let all = rows::instances().next().expect("it has instances");
    assert_eq!(all.targets(), rows::TARGETS);
    all.resources(&device)?;
    Ok(())
}

#[test]
fn what_may_not_be_absent_is_named() -> Result<()> {
    let stream = stream()?;
    let mut out = stream.zeros::<f32, 2>([16, 64])?;
    let one = affine::instances().next().expect("it has an instance");
    let absent = || None::<f32>.into_argument();
    let launch = one.with_arguments([absent(), absent(), absent(), (&mut out).into_argument()]);
    let error = launch.grid([1]).launch(&stream).expect_err("there is no `x`");
    let text = error.to_string();
    assert!(
        text.contains("`x`") && text.contains("Tensor<f32, 2>") && text.contains("None"),
        "{text}"
    );
    // The wrong type for what may be absent.
    let x = stream.full([16, 64], 3.0f32)?;
    let bias = stream.full([64], 3i32)?;
    let arguments =
        [(&x).into_argument(), (&bias).into_argument(), absent(), (&mut out).into_argument()];
    let error = one.with_arguments(arguments).launch(&stream).expect_err("the bias is of `i32`");
    let text = error.to_string();
    assert!(text.contains("`bias`") && text.contains("Tensor<f32, 1>"), "{text}");
    Ok(())
}

/// Structs and arrays that may be absent as a whole.
#[kernel]
mod wholes {
    use kiln::prelude::*;

    #[derive(Clone, Copy)]
    struct Layer<T> {
        weight: Tensor<T, 1>,
        bias: Option<Tensor<f32, 1>>,
        /// More tensors than one, or none.
        more: Option<[Tensor<f32, 1>; 2]>,
        factor: T,
    }

    #[kernel(
        target = sm_80,
        warps = 2,
        grid = match layer {
            Some(l) => match l.bias { Some(b) => cdiv(b.dim(0), 64), None => l.weight.dim(0) / 64 },
            None => match out { Some(rows) => cdiv(rows[0].dim(0), 64), None => 1 },
        },
        instances((T, N) = [(f32, 1), (f32, 2), (i32, 2)])
    )]
    pub fn forward<T: Cast + Number, const N: usize>(
        layer: Option<Layer<T>>,
        out: Option<[TensorMut<f32, 1>; N]>,
    ) {
        let at = block_id(0) * 64;
        let mut y = full([64], 0.25);
        if let Some(layer) = layer {
            y = (layer.weight.tile([at], [64]).load() * layer.factor).cast::<f32>();
            if let Some(bias) = layer.bias {
                y += bias.tile([at], [64]).load();
            }
            if let Some(more) = layer.more {
                y += more[0].tile([at], [64]).load() - more[1].tile([at], [64]).load();
            }
        }
        let Some(out) = out else { return };
        for out in out {
            out.tile([at], [64]).store(y);
        }
    }
}

#[test]
fn a_struct_or_an_array_is_absent_as_a_whole() -> Result<()> {
    use wholes::{LayerArgs, forward};
    let stream = stream()?;
    let weight = stream.upload(&(0..128).map(|i| i as f32).collect::<Vec<_>>(), [128])?;
    let (bias, a, b) =
        (stream.full([128], 0.5f32)?, stream.full([128], 8.0f32)?, stream.full([128], 2.0f32)?);
    let layer = |with_bias: bool, more: bool| LayerArgs {
        weight: &weight,
        bias: if with_bias { Some(&bias) } else { None },
        more: if more { Some([&a, &b]) } else { None },
        factor: 3.0f32,
    };
    for (with_bias, more) in [(true, true), (true, false), (false, true), (false, false)] {
        let (mut c, mut d) = (stream.zeros::<f32, 1>([128])?, stream.zeros::<f32, 1>([128])?);
        let (layer, out) = (Some(layer(with_bias, more)), Some([&mut c as _, &mut d as _]));
        let launch = forward::<f32, 2>(forward::Args { layer, out });
        assert_eq!(launch.blocks(), Some([2, 1, 1]));
        launch.launch(&stream)?;
        let more = if with_bias { 0.5 } else { 0.0 } + if more { 6.0 } else { 0.0 };
        let required: Vec<f32> = (0..128).map(|i| 3.0 * i as f32 + more).collect();
        assert_eq!(c.to_vec(&stream)?, required);
        assert_eq!(d.to_vec(&stream)?, required);
    }
    let mut c = stream.zeros::<f32, 1>([100])?;
    forward::<f32, 1>(forward::Args { layer: None, out: Some([&mut c]) }).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [0.25; 100]);
    forward::<f32, 1>(forward::Args { layer: None, out: None }).launch(&stream)?;
    forward::<f32, 1>(forward::Args { layer: Some(layer(true, false)), out: None })
        .launch(&stream)?;
    Ok(())
}

#[test]
fn what_is_absent_as_a_whole_is_absent_in_each_argument() -> Result<()> {
    use wholes::forward;
    let stream = stream()?;
    let one = forward::find(|one| one.N == 1)?;
    let mut c = stream.zeros::<f32, 1>([100])?;
    let none = || None::<f32>.into_argument();
    let absent = [none(), none(), none(), none(), none()];
    let args = absent.into_iter().chain([(&mut c).into_argument()]);
    let launch = one.with_arguments(args);
    assert_eq!(launch.blocks(), Some([2, 1, 1]));
    launch.launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [0.25; 100]);
    // Half of a struct is none.
    let args = [none(), none(), none(), none(), 2.0f32.into_argument(), (&mut c).into_argument()];
    let error = one.with_arguments(args).grid([1]).launch(&stream).expect_err("a half").to_string();
    assert!(error.contains("layer"), "{error}");
    Ok(())
}

#[test]
fn an_axis_that_a_renamed_tensor_has_not_is_an_error_of_the_launch() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f32, 1>([64])?;
    let error = third_axis(third_axis::Args { x: Some(&x) }).launch(&stream);
    let error = error.expect_err("a vector has one axis").to_string();
    assert!(error.contains("axis 2"), "{error}");
    third_axis(third_axis::Args { x: None }).launch(&stream)
}

/// Its grid asks for an axis that is not there.
#[kernel(target = sm_80, warps = 1, grid = match x { Some(rows) => rows.dim(AXIS), None => 1 })]
fn third_axis(x: Option<Tensor<f32, 1>>) {
    if let Some(x) = x {
        let _ = x.tile([0], [32]).load();
    }
}

const AXIS: usize = 2;
