//! candle's tensors as kernels see them: element types, layouts, alignment, and what is refused.

use candle_core::{CpuStorage, DType, Device, IndexOp, Result, Storage, Tensor, op::BackpropOp};
use kernels::{copy, copy_2d};
use kiln::prelude::{e4m3, ue8m0};
use kiln_candle::{Element, Error, Input, cause, match_dtype, run};

mod kernels {
    use kiln::prelude::*;

    #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 128),
             instances(T = [u8, u32, i16, i32, i64, f16, bf16, f32, f64, e4m3, ue8m0]))]
    pub(super) fn copy<T: Scalar>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
        let at = [block_id(0) * 128];
        out.tile(at, [128]).store(x.tile(at, [128]).load());
    }

    #[kernel(target = sm_80, warps = 1, grid = [cdiv(out.dim(0), 8), cdiv(out.dim(1), 32)], instances(T = [f32, u8]))]
    pub(super) fn copy_2d<T: Scalar>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
        let at = [block_id(0) * 8, block_id(1) * 32];
        out.tile(at, [8, 32]).store(x.tile(at, [8, 32]).load());
    }
}

/// Where the tests run: on the GPU with the feature `cuda`.
fn device() -> Result<Device> {
    if cfg!(feature = "cuda") { Device::new_cuda(0) } else { Ok(Device::Cpu) }
}

/// A tensor's copy, made by a kernel that takes one axis.
fn copied(x: &Tensor) -> Result<Tensor> {
    run("copy", copy::TARGETS, [x], |call, [x]| {
        match_dtype!(x, T in [u8, u32, i16, i32, i64, half::f16, half::bf16, f32, f64, e4m3, ue8m0] => {
            let view = x.flattened::<T, 1>()?;
            let mut out = call.empty(view.shape())?;
            copy::<T>(copy::Args { x: &view, out: &mut out }).launch(call.stream())?;
            out.finish(x.shape())
        })
    })
}

/// A tensor's copy, made by a kernel that takes two axes.
fn copied_2d(x: &Tensor) -> Result<Tensor> {
    run("copy", copy_2d::TARGETS, [x], |call, [x]| {
        match_dtype!(x, T in [f32, u8] => {
            let view = x.view::<T, 2>()?;
            let mut out = call.full(view.shape(), T::default())?;
            copy_2d::<T>(copy_2d::Args { x: &view, out: &mut out }).launch(call.stream())?;
            out.finish(x.shape())
        })
    })
}

#[test]
fn every_element_type_goes_there_and_back() -> Result<()> {
    let device = device()?;
    // Exact in every type, and not a whole number of tiles.
    let values: Vec<u8> =
        (0..300u32).map(|i| u8::try_from(i % 15).expect("it is below 15")).collect();
    let values = Tensor::from_vec(values, (3, 100), &Device::Cpu)?;
    let dtypes = [
        DType::U8,
        DType::U32,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::F8E4M3,
    ];
    for dtype in dtypes {
        let x = values.to_dtype(dtype)?.to_device(&device)?;
        let copy = copied(&x)?;
        assert_eq!((copy.dtype(), copy.dims()), (dtype, &[3, 100][..]));
        let copy = copy.to_device(&Device::Cpu)?.to_dtype(DType::U8)?;
        assert_eq!(copy.to_vec2::<u8>()?, values.to_vec2::<u8>()?, "of {dtype:?}");
    }
    Ok(())
}

#[test]
fn scales_of_eight_bits_are_moved() -> Result<()> {
    let bytes: Vec<u8> = (0..=255).collect();
    let storage = Storage::Cpu(CpuStorage::F8E8M0(bytes.clone()));
    let x = Tensor::from_storage(storage, 256, BackpropOp::none(), false);
    let copy = copied(&x)?;
    let (storage, _) = copy.storage_and_layout();
    let Storage::Cpu(CpuStorage::F8E8M0(copy)) = &*storage else { panic!("{storage:?}") };
    assert_eq!(*copy, bytes);
    Ok(())
}

#[test]
fn any_layout_is_taken_as_it_is() -> Result<()> {
    let x = Tensor::arange(0f32, 2000.0, &device()?)?.reshape((40, 50))?;
    let views = [
        x.clone(),
        x.t()?,
        x.i((3..20, 7..45))?,
        x.i((.., 1..2))?,
        x.i(5)?.broadcast_as((9, 50))?,
        x.narrow(1, 30, 20)?.t()?.narrow(0, 1, 18)?,
    ];
    for view in views {
        assert_eq!(
            copied_2d(&view)?.to_vec2::<f32>()?,
            view.to_vec2::<f32>()?,
            "{:?}",
            view.layout()
        );
    }
    Ok(())
}

#[test]
fn axes_that_follow_one_another_become_one() -> Result<()> {
    let x = Tensor::arange(0f32, 240.0, &device()?)?.reshape((2, 3, 5, 8))?;
    let as_rows = |x: &Tensor| {
        run("rows", copy_2d::TARGETS, [x], |call, [x]| {
            let view = x.flattened::<f32, 2>()?;
            let mut out = call.empty(view.shape())?;
            copy_2d::<f32>(copy_2d::Args { x: &view, out: &mut out }).launch(call.stream())?;
            let [rows, columns] = view.shape();
            out.finish((rows, columns))
        })
    };
    assert_eq!(as_rows(&x)?.to_vec2::<f32>()?, x.reshape((30, 8))?.to_vec2::<f32>()?);
    // Every second column of the last axis but one: the first two axes still follow the third.
    let columns = x.i((.., .., .., 2..5))?;
    assert_eq!(as_rows(&columns)?.to_vec2::<f32>()?, columns.reshape((30, 3))?.to_vec2::<f32>()?);
    // Fewer axes than the kernel's get one of extent 1 in front.
    assert_eq!(as_rows(&x.i((1, 2, 4))?)?.to_vec2::<f32>()?, x.i((1, 2, 4..))?.to_vec2::<f32>()?);
    // One of extent 1 follows anything.
    let thin = x.i((.., 1..2, 3..4))?;
    assert_eq!(as_rows(&thin)?.to_vec2::<f32>()?, thin.reshape((2, 8))?.to_vec2::<f32>()?);

    let refused = as_rows(&x.i((.., .., 1..3))?.transpose(0, 1)?).expect_err("rows are apart");
    let Some(Error::NotFlat { required: 2, input: Input::Number(0), shape, .. }) = cause(&refused)
    else {
        panic!("{refused}")
    };
    assert_eq!(*shape, [3, 2, 2, 8]);
    Ok(())
}

#[test]
fn a_kernel_has_the_alignment_that_it_would_have_on_a_gpu() -> Result<()> {
    let x = Tensor::zeros(1000, DType::F32, &device()?)?;
    let variant = |x: &Tensor| -> Result<&'static str> {
        let mut name = "";
        run("copy", copy::TARGETS, [x], |call, [x]| {
            let view = x.view::<f32, 1>()?;
            let mut out = call.empty(view.shape())?;
            let launch = copy::<f32>(copy::Args { x: &view, out: &mut out });
            name = launch.variant(call.stream().device())?.name;
            Ok(())
        })?;
        Ok(name)
    };
    // 16 bytes are four elements.
    for (start, required) in
        [(0, "aligned"), (4, "aligned"), (64, "aligned"), (1, "general"), (70, "general")]
    {
        assert_eq!(variant(&x.narrow(0, start, 100)?)?, required, "from element {start}");
    }
    Ok(())
}

#[test]
fn empty_tensors_and_scalars() -> Result<()> {
    let device = device()?;
    let scalar = Tensor::new(2.5f32, &device)?;
    assert_eq!(copied(&scalar)?.reshape(1)?.to_vec1::<f32>()?, [2.5]);
    run("read", copy::TARGETS, [&scalar], |_, [x]| {
        assert_eq!(x.flattened::<f32, 0>()?.shape(), [0; 0]);
        Ok(())
    })?;
    let empty = Tensor::zeros((3, 0, 4), DType::F32, &device)?;
    let shapes = run("shapes", copy::TARGETS, [&empty], |call, [x]| {
        assert_eq!(x.view::<f32, 3>()?.shape(), [3, 0, 4]);
        assert_eq!(x.flattened::<f32, 2>()?.shape(), [0, 4]);
        call.empty::<f32, 2>([0, 4])?.finish((3, 0, 4))
    })?;
    assert_eq!((shapes.dims(), shapes.elem_count()), (&[3, 0, 4][..], 0));
    Ok(())
}

/// The error of a call that only looks at its input.
fn refused<T: Element, const R: usize>(x: &Tensor) -> String {
    let looked = run("look", copy::TARGETS, [x], |_, [x]| x.view::<T, R>().map(|_| ()));
    let error = looked.expect_err("it does not fit");
    assert!(cause(&error).is_some(), "{error}");
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn what_does_not_fit_is_named() -> Result<()> {
    let x = Tensor::zeros((2, 3), DType::F16, &device()?)?;
    assert_eq!(refused::<f32, 2>(&x), "look: input 0 has dtype f16; the kernel takes f32");
    assert_eq!(
        refused::<half::f16, 3>(&x),
        "look: input 0 has the shape [2, 3]; the kernel takes rank 3"
    );

    let refused = copied_2d(&x).expect_err("f16 is neither");
    let Some(Error::Dtype { required, .. }) = cause(&refused) else { panic!("{refused}") };
    assert_eq!(required.to_string(), "f32, u8");

    let refused =
        run("shape", copy::TARGETS, [&x], |call, _| call.zeros::<f32, 1>([6])?.finish((2, 2)));
    let refused = refused.expect_err("6 are not 4");
    assert!(matches!(cause(&refused), Some(Error::OutputShape { .. })), "{refused}");
    Ok(())
}

#[test]
fn a_layout_past_the_end_of_its_storage_is_refused() {
    let storage = Storage::Cpu(CpuStorage::F32(vec![1.0; 5]));
    let x = Tensor::from_storage(storage, (2, 3), BackpropOp::none(), false);
    assert_eq!(
        refused::<f32, 2>(&x),
        "look: the layout of input 0 needs 6 elements; its storage has 5"
    );
}

#[test]
fn launches_are_kilns_own_to_refuse() -> Result<()> {
    let (x, y) =
        (Tensor::zeros(4, DType::F32, &device()?)?, Tensor::zeros(4, DType::F32, &device()?)?);
    let launched = run("copy", copy::TARGETS, [&x, &y], |call, [x, _]| {
        let view = x.view::<f32, 1>()?;
        let mut out = call.empty(view.shape())?;
        copy::<f32>(copy::Args { x: &view, out: &mut out }).grid([-1]).launch(call.stream())?;
        out.finish(4)
    });
    let error = launched.expect_err("no grid has -1 blocks");
    let Some(Error::Kiln(refused)) = cause(&error) else { panic!("{error}") };
    assert!(matches!(**refused, kiln::Error::GridOutOfRange { .. }), "{refused}");
    Ok(())
}

#[test]
fn one_tensor_twice_and_tensors_of_one_storage() -> Result<()> {
    let x = Tensor::arange(0f32, 12.0, &device()?)?;
    run("all", copy::TARGETS, [&x, &x, &x.i(6..)?], |_, [a, b, c]| {
        assert_eq!((a.dims(), b.dims(), c.layout().start_offset()), (&[12][..], &[12][..], 6));
        Ok(())
    })
}

#[cfg(feature = "cuda")]
#[test]
fn inputs_are_on_one_device() -> Result<()> {
    let (here, there) =
        (Tensor::zeros(4, DType::F32, &Device::Cpu)?, Tensor::zeros(4, DType::F32, &device()?)?);
    let mixed = run("mixed", copy::TARGETS, [&here, &there], |_, _| Ok(()));
    let error = mixed.expect_err("one is on the CPU");
    assert!(
        matches!(cause(&error), Some(Error::Devices { input: Input::Number(1), .. })),
        "{error}"
    );
    Ok(())
}
