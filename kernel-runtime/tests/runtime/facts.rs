//! Facts that attributes of parameters state, and launches that break them.

use kernel_runtime::{
    __launch, Actual, Argument, Device, Error, Fact, Image, IntoArgument, ParamInfo, ParamKind,
    Result, Target, Variant,
};

/// The launch is refused or described before this text is looked at.
const NO_CODE: &[Variant] = &[Variant {
    name: "general",
    entry: "none",
    ptx: "",
    dynamic_shared_bytes: 0,
    cubins: &[],
    tensor_columns: 0,
    requires: &[],
    maps: &[],
    names: None,
}];

/// A kernel of a matrix and a scalar that states one fact.
const fn stating(declared: &'static [Fact]) -> Image {
    Image {
        kernel: "stating",
        instance: "",
        target: Target::Sm80,
        threads: 32,
        cluster: [1; 3],
        programmatic: false,
        params: &[
            ParamInfo {
                name: "x",
                kind: ParamKind::Tensor { dtype: "i32", rank: 2, mutable: false },
            },
            ParamInfo { name: "n", kind: ParamKind::Scalar { dtype: "i32" } },
        ],
        declared,
        reports: None,
        stamps: None,
        variants: NO_CODE,
    }
}

static ALIGNED: [Image; 1] = [stating(&[Fact::PointerAligned { param: 0, bytes: 16 }])];
static UNIT_STRIDE: [Image; 1] = [stating(&[Fact::StrideEquals { param: 0, axis: 1, value: 1 }])];
static STRIDE_OF_4: [Image; 1] = [stating(&[Fact::StrideMultiple { param: 0, axis: 0, of: 4 }])];
static DIM_OF_8: [Image; 1] = [stating(&[Fact::DimMultiple { param: 0, axis: 1, of: 8 }])];
static SCALAR_OF_16: [Image; 1] = [stating(&[Fact::ScalarMultiple { param: 1, of: 16 }])];
/// Facts that the parameters cannot have: a compiler would not write them.
static MISPLACED: [Image; 1] = [stating(&[Fact::DimMultiple { param: 1, axis: 0, of: 2 }])];

/// Whether the launch would go ahead.
fn accepted<'a>(
    device: &Device,
    images: &'static [Image],
    x: impl IntoArgument<'a>,
    n: i32,
) -> Result<()> {
    let arguments: Vec<Argument<'_>> = vec![x.into_argument(), n.into_argument()];
    __launch(images, arguments, None).variant(device).map(|_| ())
}

fn broken(result: Result<()>) -> (&'static str, Actual, String) {
    let error = result.expect_err("the fact is broken");
    let text = error.to_string();
    let Error::FactBroken { kernel: "stating", argument, actual, .. } = error else {
        panic!("{text}")
    };
    (argument, actual, text)
}

#[test]
fn each_fact_is_checked() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let x = stream.zeros::<i32, 2>([6, 24])?;
    let odd = x.slice(1, 1..6)?;
    let flipped = x.transpose();

    accepted(&device, &ALIGNED, &x, 0)?;
    let address = x.device_ptr().address() + 4;
    let (argument, actual, text) = broken(accepted(&device, &ALIGNED, &*odd, 0));
    assert_eq!((argument, actual), ("x", Actual::Address(address)));
    assert_eq!(
        text,
        format!(
            "`stating`: argument `x` needs an address aligned to 16 bytes; it has the address {address:#x}"
        )
    );

    accepted(&device, &UNIT_STRIDE, &x, 0)?;
    let (argument, actual, text) = broken(accepted(&device, &UNIT_STRIDE, &*flipped, 0));
    assert_eq!((argument, actual), ("x", Actual::Stride(24)));
    assert_eq!(text, "`stating`: argument `x` needs a stride of 1 on axis 1; it has the stride 24");

    accepted(&device, &STRIDE_OF_4, &x, 0)?;
    let (_, actual, _) = broken(accepted(&device, &STRIDE_OF_4, &*flipped, 0));
    assert_eq!(actual, Actual::Stride(1));

    accepted(&device, &DIM_OF_8, &x, 0)?;
    let (_, actual, text) = broken(accepted(&device, &DIM_OF_8, &*odd, 0));
    assert_eq!(actual, Actual::Extent(5));
    assert_eq!(
        text,
        "`stating`: argument `x` needs an extent that is a multiple of 8 on axis 1; it has the extent 5"
    );

    for n in [-32, 0, 48] {
        accepted(&device, &SCALAR_OF_16, &x, n)?;
    }
    for n in [-8, 1, 40] {
        let (argument, actual, _) = broken(accepted(&device, &SCALAR_OF_16, &x, n));
        assert_eq!((argument, actual), ("n", Actual::Scalar(i128::from(n))));
    }

    let (argument, actual, _) = broken(accepted(&device, &MISPLACED, &x, 0));
    assert_eq!((argument, actual), ("n", Actual::None));
    Ok(())
}

/// The stride of an axis with one element is multiplied by 0 only.
#[test]
fn the_stride_of_a_single_element_does_not_matter() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let x = device.stream()?.zeros::<i32, 2>([6, 24])?;
    let column = x.slice(1, 3..4)?;
    let row = column.transpose();
    assert_eq!(row.strides(), [1, 24]);
    accepted(&device, &STRIDE_OF_4, &*row, 0)?;
    let one = row.slice(1, 2..3)?;
    accepted(&device, &UNIT_STRIDE, &*one, 0)
}
