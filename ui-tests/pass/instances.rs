//! Instances as values: whatever the parameters are called, wherever the kernel stands, for any kind of value; and in generic code.
#![deny(warnings)]

use kiln::prelude::*;

/// Names that generated code uses as well.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(launch.dim(0), I), 1], instances(I = [32, 64], Args = [f32, i32]))]
pub fn find<const I: i32, Args: Number>(
    launch: TensorMut<Args, 1>,
    targets: i32,
    given: Args,
    images: Tensor<Args, 1>,
    arguments: i32,
    position: i32,
) {
    let at = [block_id(0) * I];
    let _ = targets + arguments + position;
    launch.tile(at, [I]).store(images.tile(at, [I]).load() + given);
}

/// Other such names.
#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1,
         instances((Instance, Instances) = [(f16, f32), (f32, f16)], r#loop = [true, false], __position = [-1, 0x10]))]
#[allow(non_upper_case_globals)]
pub fn values<Instance: Float, Instances: Float, const r#loop: bool, const __position: i32>(
    r#type: Tensor<Instance, 1>,
    with: TensorMut<Instances, 1>,
) {
    let value = r#type.tile([0], [32]).load().cast::<Instances>();
    if r#loop {
        with.tile([0], [32]).store(value);
    }
    let _ = __position;
}

/// No generic parameters, and no arguments.
#[kernel(target = sm_80, warps = 4, grid = 1)]
fn nothing() {}

/// The grid is the caller's, and pointers make launches unsafe.
#[kernel(target = sm_80, warps = 1, instances(T = [i32, f32], N = [32, 64]))]
pub fn fill<T: Number, const N: i32>(p: Ptr<T>, value: T) {
    store(p + arange(0, N), full([N], value));
}

#[kernel]
mod ordered {
    use kiln::prelude::*;

    pub trait Order {
        const STEP: i32;
    }
    #[derive(Clone, Copy)]
    pub struct Rows;
    #[derive(Clone, Copy)]
    pub struct Columns<const BY: i32>;
    impl Order for Rows {
        const STEP: i32 = 1;
    }
    impl<const BY: i32> Order for Columns<BY> {
        const STEP: i32 = BY;
    }

    const WIDE: i32 = 128;

    #[kernel(target = sm_80, warps = 4, grid = cdiv(y.dim(0), N), instances(O = [Rows, Columns<3>], N = [64, WIDE]))]
    pub fn steps<O: Order, const N: i32>(y: TensorMut<i32, 1>) {
        y.tile([block_id(0) * N], [N]).store(full([N], O::STEP));
    }
}

mod device {
    use kiln::prelude::*;

    #[device]
    pub fn twice(x: Tile<f32>) -> Tile<f32> {
        x + x
    }
}

/// Waits for a device function.
#[kernel(target = sm_80, warps = 4, grid = cdiv(y.dim(0), N), instances(N = [32, 64]))]
pub fn doubled<const N: i32>(y: TensorMut<f32, 1>) {
    let window = y.tile([block_id(0) * N], [N]);
    window.store(device::twice(window.load()));
}

/// Any instance of any kernel.
fn names<I: kiln::Instance>() -> Vec<String> {
    I::all().iter().map(|one| format!("{} {one}", I::KERNEL)).collect()
}

/// Generic over what the kernel is generic over.
fn add<T: Element, const N: i32>(
    stream: &Stream,
    x: &DeviceTensor<T, 1>,
    by: T,
    y: &mut DeviceTensor<T, 1>,
) -> Result<()>
where
    find::Instances: find::Include<N, T>,
{
    for _ in 0..2 {
        let args = find::Args { launch: y, targets: 0, given: by, images: x, arguments: 0, position: 0 };
        find::<N, T>(args).launch(stream)?;
    }
    Ok(())
}

fn in_a_body(stream: &Stream, y: &mut DeviceTensor<i32, 1>) -> Result<Vec<String>> {
    #[kernel(target = sm_80, warps = 4, grid = cdiv(y.dim(0), N), instances(N = [32, 64]))]
    fn inner<const N: i32>(y: TensorMut<i32, 1>) {
        y.tile([block_id(0) * N], [N]).store(full([N], N));
    }

    let mut texts = Vec::new();
    for one in inner::instances() {
        let launch = one.with(inner::Args { y });
        texts.push(format!("{one}: {:?}", launch.blocks()));
        launch.launch(stream)?;
    }
    Ok(texts)
}

fn main() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;

    let all: Vec<String> = find::instances().map(|one| one.to_string()).collect();
    assert_eq!(all, ["I = 32, Args = f32", "I = 32, Args = i32", "I = 64, Args = f32", "I = 64, Args = i32"]);
    let of_f32: Vec<i32> = find::instances().filter(|i| i.Args == Dtype::F32).map(|i| i.I).collect();
    assert_eq!(of_f32, [32, 64]);
    let x = stream.upload(&[1.0f32; 40], [40])?;
    let mut y = stream.zeros([40])?;
    for (one, blocks) in find::instances().filter(|i| i.Args == Dtype::of::<f32>()).zip([2, 1]) {
        stream.fill(&mut y, 0.0)?;
        let args = find::Args { launch: &mut y, targets: 1, given: 2.5, images: &x, arguments: 2, position: 3 };
        let launch = one.with(args);
        assert_eq!(launch.blocks(), Some([blocks, 1, 1]));
        launch.launch(&stream)?;
        assert_eq!(y.to_vec(&stream)?, [3.5; 40]);
    }
    add::<f32, 64>(&stream, &x, 1.0, &mut y)?;
    assert_eq!(y.to_vec(&stream)?, [2.0; 40]);

    // An instance of another type than the arguments have.
    let wrong = find::find(|i| i.Args == Dtype::I32)?;
    let args = find::Args { launch: &mut y, targets: 1, given: 2.5, images: &x, arguments: 2, position: 3 };
    let error = wrong.with(args).launch(&stream).expect_err("an instance of i32").to_string();
    assert_eq!(
        error,
        "`find`: argument `launch` takes TensorMut<i32, 1>, not TensorMut<f32, 1> (the instance I = 32, Args = i32); \
         instances that take these arguments: I = 32, Args = f32; I = 64, Args = f32"
    );
    // What there is not.
    let error = find::Values { I: 48, Args: Dtype::F16 }.find().expect_err("no such instance");
    assert_eq!(
        error.to_string(),
        "`find` has no instance with I = 48, Args = f16; it has \
         I = 32, Args = f32; I = 32, Args = i32; I = 64, Args = f32; I = 64, Args = i32"
    );
    assert_eq!(find::Values { I: 64, Args: Dtype::F32 }.find()?.to_string(), "I = 64, Args = f32");
    let error = ordered::steps::find(|i| i.N > 128).expect_err("128 is the most");
    assert_eq!(
        error.to_string(),
        "`steps` has no instance that `find` accepts; it has \
         O = Rows, N = 64; O = Rows, N = 128; O = Columns<3>, N = 64; O = Columns<3>, N = 128"
    );

    // Types that are not element types, and constants by name.
    let columns = ordered::steps::find(|i| i.O.is::<ordered::Columns<3>>() && i.N == 128)?;
    assert_eq!(columns.values(), ordered::steps::Values { O: NamedType::of::<ordered::Columns<3>>(), N: 128 });
    let mut steps = stream.zeros([130])?;
    let launch = columns.with(ordered::steps::Args { y: &mut steps });
    assert_eq!(launch.blocks(), Some([2, 1, 1]));
    launch.launch(&stream)?;
    assert_eq!(steps.to_vec(&stream)?, [3; 130]);

    // Arguments whose types the program knows when it runs.
    let (half, mut single) = (stream.full([32], f16::ONE)?, stream.zeros::<f32, 1>([32])?);
    let chosen = values::Values { Instance: Dtype::F16, Instances: Dtype::F32, r#loop: true, __position: 16 }.find()?;
    assert_eq!(format!("{chosen:<50}|"), format!("{:<50}|", "Instance = f16, Instances = f32, loop = true, __position = 16"));
    assert_eq!(chosen.targets(), [Target::Sm80, Target::Sm90a]);
    assert_eq!(chosen.position(), 1);
    let arguments = [half.slice(0, 0..32)?.into_argument(), single.slice_mut(0, 0..32)?.into_argument()];
    chosen.with_arguments(arguments).launch(&stream)?;
    assert_eq!(single.to_vec(&stream)?, [1.0; 32]);
    assert!(chosen.with_arguments([]).launch(&stream).is_err());

    // One instance, without a value.
    assert_eq!(nothing::instances().len(), 1);
    nothing(nothing::Args {}).launch(&stream)?;
    nothing::Values {}.find()?.with(nothing::Args {}).launch(&stream)?;
    let error = nothing::find(|_| false).expect_err("nothing is accepted");
    assert_eq!(error.to_string(), "`nothing` has no instance that `find` accepts; it has one, without parameters");

    // Pointers and a grid of the caller's.
    let fill_64 = fill::find(|i| i.N == 64 && i.T == Dtype::F32)?;
    let launch: LaunchOfRawAddresses<'_> = fill_64.with(fill::Args { p: single.device_ptr(), value: 1.0 }).grid(1);
    assert_eq!(launch.instance(), "T = f32, N = 64");

    let mut ones = stream.full([64], 1.0f32)?;
    for one in doubled::instances() {
        one.with(doubled::Args { y: &mut ones }).launch(&stream)?;
    }
    assert_eq!(ones.to_vec(&stream)?, [4.0; 64]);
    let texts = in_a_body(&stream, &mut stream.zeros([64])?)?;
    assert_eq!(texts, ["N = 32: Some([2, 1, 1])", "N = 64: Some([1, 1, 1])"]);

    assert_eq!(names::<doubled::Instance>(), ["doubled N = 32", "doubled N = 64"]);
    let mut sorted: Vec<_> = find::instances().rev().collect();
    sorted.sort();
    assert_eq!(sorted, find::INSTANCES);
    Ok(())
}
