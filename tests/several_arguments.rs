//! Arrays and structs of tensors as parameters: the launch passes and checks each tensor of them.
#![expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "the numbers are small and exact in `f32`"
)]

use kiln::prelude::*;

/// `outs[0]` is the sum of all `xs`, `outs[1]` the sum of `(i + 1) * xs[i]`.
#[kernel(
    target = sm_80,
    warps = 4,
    grid = cdiv(if N > 0 { outs[0].dim(0) } else { 0 }, 128),
    instances(N = [0, 1, 3])
)]
fn sums<const N: usize>(xs: [Tensor<f32, 1>; N], outs: [TensorMut<f32, 1>; 2]) {
    let at = block_id(0) * 128;
    let (mut plain, mut weighted) = (zeros::<f32>([128]), zeros::<f32>([128]));
    for x in xs {
        plain += x.tile([at], [128]).load();
    }
    for i in unroll(0..N as i32) {
        weighted += xs[i as usize].tile([at], [128]).load() * (i + 1) as f32;
    }
    outs[0].tile([at], [128]).store(plain);
    outs[1].tile([at], [128]).store(weighted);
}

const COUNT: usize = 2;
const RANK: usize = 1;

/// A length and a rank that are constants of the file, and an element of the other of two arrays.
#[kernel(target = sm_80, warps = 1, grid = 1)]
fn swapped(
    xs: [Tensor<i32, RANK>; COUNT],
    numbers: [i32; 2 * COUNT],
    mut outs: [TensorMut<i32, RANK>; COUNT],
) {
    let pair = outs;
    outs[0] = pair[1];
    outs[1] = pair[0];
    for (i, out) in [(0, outs[0]), (1, outs[1])] {
        let x = if i == 0 { xs[0] } else { xs[1] };
        let factor = numbers[(x.dim(0) - 1) as usize];
        out.tile([0], [32]).store(x.tile([0], [32]).load() * factor);
    }
}

#[test]
fn lengths_are_constants_of_the_file() -> Result<()> {
    let stream = stream()?;
    let (a, b) = (stream.full([1], 5)?, stream.full([4], 7)?);
    let (mut c, mut d) = (stream.zeros::<i32, 1>([4])?, stream.zeros::<i32, 1>([1])?);
    let args = swapped::Args { xs: [&a, &b], numbers: [1, 10, 100, 1000], outs: [&mut c, &mut d] };
    swapped(args).launch(&stream)?;
    assert_eq!(c.to_vec(&stream)?, [7000; 4]);
    assert_eq!(d.to_vec(&stream)?, [5]);
    Ok(())
}

fn stream() -> Result<Stream> {
    Device::emulator(Target::Sm80)?.stream()
}

#[test]
fn each_tensor_of_an_array_is_passed() -> Result<()> {
    let stream = stream()?;
    for size in [1, 100, 128, 300] {
        let of = |k: usize| (0..size).map(|i| (i * k) as f32 - 7.0).collect::<Vec<f32>>();
        let host = [of(1), of(2), of(5)];
        let x = [
            stream.upload(&host[0], [size])?,
            stream.upload(&host[1], [size])?,
            stream.upload(&host[2], [size])?,
        ];
        let (mut a, mut b) = (stream.zeros([size])?, stream.zeros([size])?);
        let args = sums::Args { xs: [&x[0], &x[1], &x[2]], outs: [&mut a, &mut b] };
        sums::<3>(args).launch(&stream)?;
        let plain = |i: usize| host[0][i] + host[1][i] + host[2][i];
        let weighted = |i: usize| host[0][i] + 2.0 * host[1][i] + 3.0 * host[2][i];
        assert_eq!(a.to_vec(&stream)?, (0..size).map(plain).collect::<Vec<_>>());
        assert_eq!(b.to_vec(&stream)?, (0..size).map(weighted).collect::<Vec<_>>());

        // The same tensor may be read twice, views are tensors, and an instance may be a value.
        let one = sums::find(|one| one.N == 1)?;
        let args = sums::Args { xs: [&x[2]], outs: [&mut a, &mut b] };
        one.with(args).launch(&stream)?;
        assert_eq!(b.to_vec(&stream)?, host[2]);
        let half = x[1].slice(0, 0..size / 2)?;
        let args = sums::Args { xs: [&half, &x[0], &x[0]], outs: [&mut a, &mut b] };
        sums::<3>(args).launch(&stream)?;
        let last = host[0][size - 1];
        assert_eq!(a.to_vec(&stream)?[size - 1], 2.0 * last);
    }
    Ok(())
}

#[test]
fn arguments_whose_types_the_launch_checks_stand_one_after_the_other() -> Result<()> {
    let stream = stream()?;
    let x = stream.upload(&[1.0f32, 2.0, 3.0], [3])?;
    let (mut a, mut b) = (stream.zeros::<f32, 1>([3])?, stream.zeros::<f32, 1>([3])?);
    let three = sums::find(|one| one.N == 3)?;
    let xs = [(&x).into_argument(), (&x).into_argument(), (&x).into_argument()];
    let outs = [(&mut a).into_argument(), (&mut b).into_argument()];
    let launch = three.with_arguments(xs.into_iter().chain(outs));
    assert_eq!(launch.blocks(), Some([1, 1, 1]));
    launch.launch(&stream)?;
    assert_eq!(b.to_vec(&stream)?, [6.0, 12.0, 18.0]);
    // One too few.
    let arguments = [(&x).into_argument(), (&x).into_argument(), (&mut a).into_argument()];
    let error = three.with_arguments(arguments).grid([1]).launch(&stream).expect_err("too few");
    assert!(error.to_string().contains('5'), "{error}");
    Ok(())
}

#[test]
fn an_error_names_the_element_of_an_array() -> Result<()> {
    let stream = stream()?;
    let x = stream.full([8], 1.0f32)?;
    let (mut a, mut b) = (stream.zeros::<f32, 1>([8])?, stream.zeros::<f32, 1>([8])?);
    // Of another type, which only the launch knows.
    let wrong = AnyTensor::from(stream.full([8], 1i32)?);
    let args = sums::Args { xs: [&x, &wrong, &x], outs: [&mut a, &mut b] };
    let error = sums::<3>(args).launch(&stream).expect_err("`wrong` is of `i32`").to_string();
    assert!(error.contains("`xs[1]`"), "{error}");
    // Of another device.
    let other = Device::emulator(Target::Sm80)?.stream()?.full([8], 1.0f32)?;
    let args = sums::Args { xs: [&x, &x, &other], outs: [&mut a, &mut b] };
    let error = sums::<3>(args).launch(&stream).expect_err("another device").to_string();
    assert!(error.contains("`xs[2]`"), "{error}");
    Ok(())
}

#[test]
fn an_array_may_be_empty() -> Result<()> {
    let stream = stream()?;
    let (mut a, mut b) = (stream.full([8], 1.0f32)?, stream.full([8], 1.0f32)?);
    sums::<0>(sums::Args { xs: [], outs: [&mut a, &mut b] }).grid([1]).launch(&stream)?;
    assert_eq!(a.to_vec(&stream)?, [0.0; 8]);
    Ok(())
}

/// Layers of a network, as their kernel takes them.
#[kernel]
mod network {
    use kiln::prelude::*;

    const BLOCK: i32 = 64;

    /// A layer.
    #[derive(Clone, Copy)]
    struct Layer<T> {
        /// Its weight.
        #[stride(_, 1)]
        weight: Tensor<T, 2>,
        bias: Option<Tensor<f32, 1>>,
        scale: f32,
    }

    impl<T: Cast> Layer<T> {
        fn apply(self, x: Tile<f32>) -> Tile<f32> {
            let weight = self.weight.tile([0, 0], [BLOCK, 64]).load().cast::<f32>();
            let mut y = (weight * x.expand(0)).sum(1) * self.scale;
            if let Some(bias) = self.bias {
                y += bias.tile([0], [BLOCK]).load();
            }
            y
        }
    }

    /// What comes out, and how often.
    struct Output(TensorMut<f32, 1>, i32);

    #[kernel(
        target = sm_80,
        warps = 2,
        grid = cdiv(layer.weight.dim(0), BLOCK),
        instances(T = [f32, f16])
    )]
    pub fn forward<T: Cast>(layer: Layer<T>, x: Tensor<f32, 1>, out: Output) {
        let mut y = x.tile([0], [64]).load();
        for _ in range(0, out.1, 1) {
            y = layer.apply(y);
        }
        out.0.tile([block_id(0) * BLOCK], [BLOCK]).store(y);
    }

    /// A pair of tensors of one type.
    struct Pair<const R: usize> {
        a: Tensor<i32, R>,
        b: Tensor<i32, R>,
    }

    /// Structs in structs and in arrays.
    struct Pairs<const N: usize> {
        all: [Pair<1>; N],
        factor: i32,
    }

    #[kernel(
        target = sm_80,
        warps = 1,
        grid = cdiv(pairs.all[0].a.dim(0), 32) * pairs.factor / pairs.factor,
        instances(N = [1, 2])
    )]
    pub fn dots<const N: usize>(pairs: Pairs<N>, out: TensorMut<i32, 1>) {
        let at = block_id(0) * 32;
        let mut sum = zeros::<i32>([32]);
        for pair in pairs.all {
            sum += pair.a.tile([at], [32]).load() * pair.b.tile([at], [32]).load();
        }
        out.tile([at], [32]).store(sum * pairs.factor);
    }
}

#[test]
fn a_struct_of_tensors_is_passed_field_by_field() -> Result<()> {
    let stream = stream()?;
    let weight_host: Vec<f32> =
        (0..64 * 64).map(|at| f32::from(u8::from(at % 65 == 0)) * 2.0).collect();
    let weight = stream.upload(&weight_host, [64, 64])?;
    let x = stream.upload(&(0..64).map(|i| i as f32).collect::<Vec<_>>(), [64])?;
    let bias = stream.full([64], 0.5f32)?;
    for (with, times) in [(true, 1), (false, 2), (true, 0)] {
        let mut out = stream.zeros::<f32, 1>([64])?;
        let bias: Option<&dyn kiln::TensorArgument<f32, 1>> = if with { Some(&bias) } else { None };
        let layer = network::LayerArgs { weight: &weight, bias, scale: 1.5 };
        let args =
            network::forward::Args { layer, x: &x, out: network::OutputArgs(&mut out, times) };
        let launch = network::forward::<f32>(args);
        assert_eq!(launch.blocks(), Some([1, 1, 1]));
        launch.launch(&stream)?;
        // The weight is twice the identity.
        let required =
            |i: i32| (0..times).fold(i as f32, |y, _| y * 3.0 + if with { 0.5 } else { 0.0 });
        assert_eq!(out.to_vec(&stream)?, (0..64).map(required).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn structs_are_passed_within_structs_and_arrays() -> Result<()> {
    use network::{PairArgs, PairsArgs, dots};
    let stream = stream()?;
    let of = |k: i32| (0..40).map(|i| i * k - 3).collect::<Vec<i32>>();
    let host = [of(1), of(2), of(3), of(4)];
    let x = [
        stream.upload(&host[0], [40])?,
        stream.upload(&host[1], [40])?,
        stream.upload(&host[2], [40])?,
        stream.upload(&host[3], [40])?,
    ];
    let mut out = stream.zeros::<i32, 1>([40])?;
    let all = [PairArgs { a: &x[0], b: &x[1] }, PairArgs { a: &x[2], b: &x[3] }];
    dots::<2>(dots::Args { pairs: PairsArgs { all, factor: 5 }, out: &mut out }).launch(&stream)?;
    let required = |i: usize| 5 * (host[0][i] * host[1][i] + host[2][i] * host[3][i]);
    assert_eq!(out.to_vec(&stream)?, (0..40).map(required).collect::<Vec<_>>());

    let two = dots::find(|one| one.N == 2)?;
    let tensors = x.iter().map(IntoArgument::into_argument);
    let rest = [3i32.into_argument(), (&mut out).into_argument()];
    let launch = two.with_arguments(tensors.chain(rest));
    assert_eq!(launch.blocks(), Some([2, 1, 1]));
    launch.launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, (0..40).map(|i| required(i) / 5 * 3).collect::<Vec<_>>());

    // What is wrong has its place in the struct.
    let wrong = AnyTensor::from(stream.full([40], 1.0f32)?);
    let all = [PairArgs { a: &x[0], b: &x[1] }, PairArgs { a: &x[2], b: &wrong }];
    let args = dots::Args { pairs: PairsArgs { all, factor: 5 }, out: &mut out };
    let error = dots::<2>(args).launch(&stream).expect_err("`b` is of `f32`").to_string();
    assert!(error.contains("`pairs.all[1].b`"), "{error}");
    Ok(())
}

#[test]
fn a_fact_about_a_field_is_checked_by_the_launch() -> Result<()> {
    let stream = stream()?;
    let weight = stream.zeros::<f32, 2>([64, 64])?;
    let weight = weight.permute([1, 0])?;
    let (x, mut out) = (stream.zeros::<f32, 1>([64])?, stream.zeros::<f32, 1>([64])?);
    let layer = network::LayerArgs { weight: &weight, bias: None, scale: 1.0 };
    let args = network::forward::Args { layer, x: &x, out: network::OutputArgs(&mut out, 1) };
    let error =
        network::forward::<f32>(args).launch(&stream).expect_err("the columns are contiguous");
    assert!(error.to_string().contains("`layer.weight`"), "{error}");
    Ok(())
}
