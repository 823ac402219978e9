//! Arguments that a map cannot describe, and maps that no compiler should write.

use super::{MATRIX, axis, images, launch, map, stream, tensor, variant};
use half::f16;
use kernel_runtime::{
    __launch, Actual, Device, DeviceTensor, Element, Error, Fill, Image, IntoArgument, MapDim,
    MapExtent, MapInfo, MapPlace, MapPlaces, MapRule, MapStride, Result, Stream, Target, e2m1x2,
};

/// How a map of `x` is refused; nothing has run.
fn refusal<T: Element, const R: usize>(
    stream: &Stream,
    info: MapInfo,
    x: &DeviceTensor<T, R>,
) -> (MapRule, Actual, String) {
    let images = images(T::DTYPE, R, vec![variant(R, vec![info].leak())]);
    let mut out = stream.zeros([16]).expect("there is memory");
    let error = launch(images, x, &mut out).launch(stream).expect_err("a rule is broken");
    let text = error.to_string();
    assert!(stream.device().emulator_report().is_none(), "nothing has run");
    let Error::TensorMap { kernel: "copy_maps", argument: "x", required, actual } = error else {
        panic!("{text}")
    };
    (required, actual, text)
}

/// As [`refusal`], of a map with these dimensions of a row-major `f16` matrix.
fn of_matrix(dims: Vec<MapDim>) -> Result<(MapRule, Actual, String)> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    Ok(refusal(&stream, map("f16", dims.leak()), &x))
}

fn text(needs: &str, has: &str) -> String {
    format!("`copy_maps`: the tensor map of argument `x` needs {needs}; it has {has}")
}

#[test]
fn a_misaligned_address() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let address = x.device_ptr().address() + 8;
    let (rule, actual, message) = refusal(&stream, MATRIX, &*x.slice(1, 4..64)?);
    assert_eq!((rule, actual), (MapRule::Address { bytes: 16 }, Actual::Address(address)));
    let has = format!("the address {address:#x}");
    assert_eq!(message, text("an address that is a multiple of 16 bytes", &has));
    Ok(())
}

/// A map that pads FP4 numbers takes 128 of them at a time, and begins rows at multiples of 32 bytes.
#[test]
fn padded_numbers_have_rules_of_their_own() -> Result<()> {
    let stream = stream()?;
    let dims = const { &[axis(1, 128), axis(0, 8)] };
    let padded = MapInfo { swizzle_bytes: 128, ..map("16u4_align16b", dims) };
    let x = stream.zeros::<e2m1x2, 2>([48, 160])?;
    let (rule, actual, message) = refusal(&stream, padded, &x);
    let place = MapPlace::Axis(1);
    assert_eq!((rule, actual), (MapRule::PaddedRow { place, bytes: 64 }, Actual::Bytes(160)));
    assert_eq!(
        message,
        text(
            "a multiple of 64 bytes on axis 1, of which the map pads 128 numbers together",
            "160 bytes"
        )
    );
    let (rule, actual, _) = refusal(&stream, padded, &*x.slice(1, 16..144)?);
    let address = x.device_ptr().address() + 16;
    assert_eq!((rule, actual), (MapRule::Address { bytes: 32 }, Actual::Address(address)));
    let x = stream.zeros::<e2m1x2, 2>([48, 144])?;
    let (rule, actual, _) = refusal(&stream, padded, &*x.slice(1, 0..128)?);
    let place = MapPlace::Axis(0);
    assert_eq!(
        (rule, actual),
        (MapRule::StrideMultiple { place, bytes: 32 }, Actual::StrideBytes(144))
    );
    Ok(())
}

/// A filter of 5 x 3 taps without padding needs as many elements along each axis.
#[test]
fn a_filter_has_places_along_each_axis() -> Result<()> {
    let stream = stream()?;
    let dims = const { &[axis(3, 16), axis(2, 1), axis(1, 1), axis(0, 1)] };
    let places = MapPlaces { count: 64, lower: &[0, 0], upper: &[-2, -4] };
    let info = MapInfo { places: Some(places), ..map("f16", dims) };
    let x = stream.zeros::<f16, 4>([2, 4, 3, 16])?;
    let (rule, actual, message) = refusal(&stream, info, &x);
    let most = i64::from(i32::MAX) + 4;
    let required = MapRule::FilterFits { axis: 1, least: 5, most };
    assert_eq!((rule, actual), (required, Actual::Extent(4)));
    let needs = format!("5 to {most} elements on axis 1, for its filter to have places there");
    assert_eq!(message, text(&needs, "the extent 4"));
    let x = stream.zeros::<f16, 4>([2, 5, 2, 16])?;
    let (rule, actual, _) = refusal(&stream, info, &x);
    let required = MapRule::FilterFits { axis: 2, least: 3, most: most - 2 };
    assert_eq!((rule, actual), (required, Actual::Extent(2)));
    // A tensor without images has no element, and its filter has to fit all the same.
    let x = stream.zeros::<f16, 4>([0, 4, 3, 16])?;
    let (rule, ..) = refusal(&stream, info, &x);
    assert!(matches!(rule, MapRule::FilterFits { axis: 1, .. }), "{rule:?}");
    // No compiler writes such a map.
    let (rule, actual, message) = {
        let places = MapPlaces { lower: &[0], ..places };
        let x = stream.zeros::<f16, 4>([2, 5, 3, 16])?;
        refusal(&stream, MapInfo { places: Some(places), ..info }, &x)
    };
    assert_eq!((rule, actual), (MapRule::Places, Actual::Dims(4)));
    let needs = "3 to 5 dimensions, and a filter along all but two of them";
    assert_eq!(message, text(needs, "4 dimensions"));
    Ok(())
}

#[test]
fn strides_that_no_map_has() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 68])?;
    // 136 bytes: 8 times 17.
    let (rule, actual, message) = refusal(&stream, MATRIX, &x);
    let place = MapPlace::Axis(0);
    assert_eq!(
        (rule, actual),
        (MapRule::StrideMultiple { place, bytes: 16 }, Actual::StrideBytes(136))
    );
    assert_eq!(
        message,
        text("a stride that is a multiple of 16 bytes on axis 0", "a stride of 136 bytes")
    );
    let (rule, actual, message) = refusal(&stream, MATRIX, &*x.transpose());
    let place = MapPlace::Axis(1);
    assert_eq!(
        (rule, actual),
        (MapRule::InnerStride { place, bytes: 2 }, Actual::StrideBytes(136))
    );
    assert_eq!(
        message,
        text("a stride of 2 bytes, which is one element, on axis 1", "a stride of 136 bytes")
    );
    let (rule, actual, _) = refusal(&stream, MATRIX, &*x.as_strided([48, 30], [64, 2])?);
    assert_eq!((rule, actual), (MapRule::InnerStride { place, bytes: 2 }, Actual::StrideBytes(4)));
    let (rule, actual, _) = refusal(&stream, MATRIX, &*x.as_strided([48, 64], [64, 0])?);
    assert_eq!((rule, actual), (MapRule::InnerStride { place, bytes: 2 }, Actual::StrideBytes(0)));
    Ok(())
}

#[test]
fn strides_from_2_to_the_40_on() -> Result<()> {
    for (elements, bytes) in [(1 << 39, 1 << 40), (1 << 62, 1 << 63), (1 << 63, u64::MAX)] {
        let dim = MapDim { stride: MapStride::Elements(elements), ..axis(0, 8) };
        let (rule, actual, message) = of_matrix(vec![axis(1, 32), dim])?;
        let place = MapPlace::Dim(1);
        assert_eq!((rule, actual), (MapRule::StrideLimit { place }, Actual::StrideBytes(bytes)));
        assert_eq!(
            message,
            text(
                "a stride below 2^40 bytes on dimension 1 of the map",
                &format!("a stride of {bytes} bytes")
            )
        );
    }
    // The largest legal stride leaves the tensor, and so does 2^32 - 1 times 64 elements, which is 2^39 - 128 bytes.
    let largest = MapDim { stride: MapStride::Elements((1 << 39) - 8), ..axis(0, 8) };
    let (rule, ..) = of_matrix(vec![axis(1, 32), largest])?;
    assert!(matches!(rule, MapRule::Inside { .. }), "{rule:?}");
    let times = MapStride::Axis { axis: 0, times: u32::MAX };
    let (rule, ..) = of_matrix(vec![axis(1, 32), MapDim { stride: times, ..axis(0, 8) }])?;
    assert!(matches!(rule, MapRule::Inside { .. }), "{rule:?}");
    Ok(())
}

#[test]
fn written_rows_that_end_within_16_bytes() -> Result<()> {
    let stream = stream()?;
    let mut x = stream.zeros::<f16, 2>([48, 64])?;
    let mut out = stream.zeros([16])?;
    let maps: &[MapInfo] = vec![MATRIX].leak();
    // The same rows may be read.
    launch(images("f16", 2, vec![variant(2, maps)]), &*x.as_strided([48, 60], [64, 1])?, &mut out)
        .launch(&stream)?;
    let params = vec![tensor("x", "f16", 2, true), tensor("out", "u64", 1, true)].leak();
    let mut part = x.as_strided_mut([48, 60], [64, 1])?;
    let mut launched = |maps: &'static [MapInfo]| {
        let written = Image { params, ..images("f16", 2, vec![variant(2, maps)])[0] };
        let arguments = vec![(&mut *part).into_argument(), (&mut out).into_argument()];
        __launch(vec![written].leak(), arguments, None).grid(1).launch(&stream)
    };
    // Also of a tensor that threads write.
    launched(maps)?;
    let error = launched(vec![MapInfo { written: true, ..MATRIX }].leak());
    let message = error.expect_err("a row of 120 bytes is written").to_string();
    let needs = "rows of a multiple of 16 bytes in a tensor that is written by tensor map";
    assert_eq!(message, text(needs, "120 bytes"));
    Ok(())
}

#[test]
fn extents_that_do_not_divide() -> Result<()> {
    let split = |divide| MapDim { extent: MapExtent::Axis { axis: 0, divide }, ..axis(0, 8) };
    let (rule, actual, message) = of_matrix(vec![axis(1, 32), split(7)])?;
    assert_eq!((rule, actual), (MapRule::Divisible { axis: 0, by: 7 }, Actual::Extent(48)));
    assert_eq!(message, text("an extent that is a multiple of 7 on axis 0", "the extent 48"));
    let (rule, ..) = of_matrix(vec![axis(1, 32), split(0)])?;
    assert_eq!(rule, MapRule::Divisible { axis: 0, by: 0 });
    Ok(())
}

#[test]
fn extents_that_no_map_has() -> Result<()> {
    for extent in [0, (1 << 32) + 1] {
        let dim = MapDim { extent: MapExtent::Const(extent), ..axis(0, 8) };
        let (rule, actual, message) = of_matrix(vec![axis(1, 32), dim])?;
        let place = MapPlace::Axis(0);
        assert_eq!((rule, actual), (MapRule::Extent { place }, Actual::Elements(extent)));
        assert_eq!(message, text("1 to 2^32 elements on axis 0", &format!("{extent} elements")));
    }
    // The largest extent is one, of a row again and again.
    let stride = MapStride::Elements(0);
    let dim = MapDim { extent: MapExtent::Const(1 << 32), stride, ..axis(0, 8) };
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let maps = vec![map("f16", vec![axis(1, 32), dim].leak())].leak();
    let passed = super::passed(&stream, maps, &x)?;
    let required = super::required(x.device_ptr().address(), &[64, 1 << 32], &[0], &[32, 8]);
    assert_eq!(passed, [super::bytes(&required)]);
    Ok(())
}

/// A map reads no further than its tensor, whatever its constants say.
#[test]
fn a_map_that_reaches_beyond_its_tensor() -> Result<()> {
    let dim = MapDim { extent: MapExtent::Const(49), ..axis(0, 8) };
    let (rule, actual, message) = of_matrix(vec![axis(1, 32), dim])?;
    // 48 rows of 128 bytes, and a 49th.
    assert_eq!((rule, actual), (MapRule::Inside { bytes: 6272 }, Actual::Bytes(6144)));
    assert_eq!(
        message,
        text("6272 bytes from its first element to the end of its last one", "6144 bytes")
    );
    // A column less in each row but the last.
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let wide = MapDim { extent: MapExtent::Const(64), ..axis(1, 32) };
    let info = map("f16", vec![wide, axis(0, 8)].leak());
    let (rule, actual, _) = refusal(&stream, info, &*x.slice(1, 0..63)?);
    assert_eq!((rule, actual), (MapRule::Inside { bytes: 6144 }, Actual::Bytes(6142)));
    Ok(())
}

#[test]
fn parameters_and_axes_that_are_not_there() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let images = images("f16", 2, vec![variant(2, vec![MapInfo { param: 2, ..MATRIX }].leak())]);
    let mut out = stream.zeros([16])?;
    let error = launch(images, &x, &mut out).launch(&stream).expect_err("there is no parameter 2");
    assert!(
        matches!(error, Error::TensorMap { required: MapRule::Tensor, actual: Actual::None, .. }),
        "{error}"
    );
    let (rule, actual, message) = of_matrix(vec![axis(1, 32), axis(2, 8)])?;
    assert_eq!((rule, actual), (MapRule::Axis { axis: 2 }, Actual::Dims(2)));
    assert_eq!(message, text("an axis 2", "2 dimensions"));
    let dim = MapDim { stride: MapStride::Axis { axis: 7, times: 1 }, ..axis(0, 8) };
    let (rule, ..) = of_matrix(vec![axis(1, 32), dim])?;
    assert_eq!(rule, MapRule::Axis { axis: 7 });
    Ok(())
}

#[test]
fn more_dimensions_than_a_map_has() -> Result<()> {
    for count in [0, 6] {
        let (rule, actual, message) = of_matrix(vec![axis(1, 32); count])?;
        assert_eq!((rule, actual), (MapRule::Rank, Actual::Dims(count)));
        assert_eq!(message, text("1 to 5 dimensions", &format!("{count} dimensions")));
    }
    Ok(())
}

#[test]
fn boxes_that_no_copy_moves() -> Result<()> {
    for box_elems in [0, 257] {
        let (rule, actual, message) = of_matrix(vec![axis(1, 32), axis(0, box_elems)])?;
        let (place, actual_box) = (MapPlace::Axis(0), Actual::Elements(box_elems.into()));
        assert_eq!((rule, actual), (MapRule::Box { place }, actual_box));
        let has = format!("{box_elems} elements");
        assert_eq!(message, text("a box of 1 to 256 elements on axis 0", &has));
    }
    let (rule, actual, message) = of_matrix(vec![axis(1, 12), axis(0, 8)])?;
    assert_eq!((rule, actual), (MapRule::InnerBox, Actual::Bytes(24)));
    assert_eq!(message, text("a box with rows of a multiple of 16 bytes", "24 bytes"));
    let (stream, info) = (stream()?, map("f16", const { &[axis(1, 64), axis(0, 8)] }));
    let x = stream.zeros::<f16, 2>([48, 64])?;
    for bytes in [32, 64] {
        let (rule, actual, message) =
            refusal(&stream, MapInfo { swizzle_bytes: bytes, ..info }, &x);
        assert_eq!((rule, actual), (MapRule::SwizzleSpan { bytes }, Actual::Bytes(128)));
        let needs =
            format!("a box with rows of at most {bytes} bytes, the width of its swizzle pattern");
        assert_eq!(message, text(&needs, "128 bytes"));
    }
    Ok(())
}

#[test]
fn steps_that_no_copy_takes() -> Result<()> {
    let every = |element_stride| MapDim { element_stride, ..axis(0, 8) };
    for step in [0, 9] {
        let (rule, actual, message) = of_matrix(vec![axis(1, 32), every(step)])?;
        let place = MapPlace::Axis(0);
        assert_eq!(
            (rule, actual),
            (MapRule::ElementStride { place, at_most: 8 }, Actual::Every(step))
        );
        let has = format!("copies of one element in {step}");
        assert_eq!(message, text("copies of one element in 1 to 8 on axis 0", &has));
    }
    let (rule, actual, message) =
        of_matrix(vec![MapDim { element_stride: 2, ..axis(1, 32) }, axis(0, 8)])?;
    let place = MapPlace::Axis(1);
    assert_eq!((rule, actual), (MapRule::ElementStride { place, at_most: 1 }, Actual::Every(2)));
    assert_eq!(message, text("copies of each element on axis 1", "copies of one element in 2"));
    Ok(())
}

#[test]
fn modes_that_no_map_has() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f16, 2>([48, 64])?;
    let (rule, actual, message) = refusal(&stream, MapInfo { swizzle_bytes: 256, ..MATRIX }, &x);
    assert_eq!((rule, actual), (MapRule::Swizzle, Actual::Bytes(256)));
    assert_eq!(message, text("a swizzle of 0, 32, 64 or 128 bytes", "256 bytes"));
    let (rule, actual, message) =
        refusal(&stream, MapInfo { l2_promotion_bytes: 32, ..MATRIX }, &x);
    assert_eq!((rule, actual), (MapRule::L2Promotion, Actual::Bytes(32)));
    assert_eq!(message, text("a promotion of 0, 64, 128 or 256 bytes", "32 bytes"));
    let (rule, actual, message) = refusal(&stream, MapInfo { dtype: "f8", ..MATRIX }, &x);
    assert_eq!((rule, actual), (MapRule::Dtype, Actual::Dtype("f8")));
    assert_eq!(message, text("an element type that tensor maps have", "the element type `f8`"));
    let integers = stream.zeros::<u16, 2>([48, 64])?;
    let info = MapInfo { fill: Fill::Nan, dtype: "u16", ..MATRIX };
    let (rule, actual, message) = refusal(&stream, info, &integers);
    assert_eq!((rule, actual), (MapRule::Fill, Actual::Dtype("u16")));
    let needs = "a floating-point type, to be filled with NaN";
    assert_eq!(message, text(needs, "the element type `u16`"));
    Ok(())
}

/// What is wrong with every launch is said before what is wrong with a map.
#[test]
fn tensors_of_other_devices() -> Result<()> {
    let (here, there) = (stream()?, Device::emulator(Target::Sm100a)?.stream()?);
    let images = images("f16", 2, vec![variant(2, &[MATRIX])]);
    let mut out = here.zeros([16])?;
    let elsewhere = there.zeros::<f16, 2>([48, 64])?;
    let error = launch(images, &elsewhere, &mut out).launch(&here).expect_err("another device");
    assert!(matches!(error, Error::WrongDevice { argument: "x", .. }), "{error}");
    Ok(())
}

/// A map that keeps every rule, and that the emulator has no copies for: they would round each element.
#[test]
fn what_the_device_refuses_is_said_in_its_words() -> Result<()> {
    let stream = stream()?;
    let x = stream.zeros::<f32, 2>([48, 64])?;
    let info = MapInfo { dtype: "tf32", ..map("f32", const { &[axis(1, 32), axis(0, 8)] }) };
    let mut out = stream.zeros([16])?;
    let images = images("f32", 2, vec![variant(2, vec![info].leak())]);
    let error = launch(images, &x, &mut out).launch(&stream).expect_err("no such copies");
    let text = error.to_string();
    let Error::TensorMapRefused { kernel: "copy_maps", argument: "x", cause, encoding, .. } = error
    else {
        panic!("{text}")
    };
    let start =
        "`copy_maps`: the tensor map of argument `x` cannot be made on emulator for sm_90a: ";
    assert_eq!(text, format!("{start}{cause} ({encoding})"));
    assert!(cause.contains("element type 11"), "{cause}");
    let address = x.device_ptr().address();
    assert_eq!(
        *encoding,
        *format!(
            "element type 11, address {address:#x}, extents [64, 48], strides [256] bytes, box [32, 8], \
             element strides [1, 1], swizzle 0, L2 promotion 2, fill 0"
        )
    );
    Ok(())
}
