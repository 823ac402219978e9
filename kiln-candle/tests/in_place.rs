//! Ops in place: what they change, what they leave, what is refused.

use candle_core::{DType, Device, IndexOp, Result, Tensor, Var};
use kernels::{add_products, double};
use kiln::Target;
use kiln_candle::{Arg, ArgMut, Call, Edited, Error, InPlaceOp, Input, cause, match_dtype};

mod kernels {
    use kiln::prelude::*;

    #[kernel(target = sm_80, warps = 1, grid = [cdiv(x.dim(0), 4), cdiv(x.dim(1), 16)], instances(T = [f32, bf16]))]
    pub(super) fn double<T: Float>(x: TensorMut<T, 2>) {
        let window = x.tile([block_id(0) * 4, block_id(1) * 16], [4, 16]);
        window.store(window.load() + window.load());
    }

    /// c += a · b
    #[kernel(target = sm_80, warps = 1, grid = cdiv(c.dim(0), 32))]
    pub(super) fn add_products(a: Tensor<f32, 1>, b: Tensor<f32, 1>, c: TensorMut<f32, 1>) {
        let at = [block_id(0) * 32];
        let products = a.tile(at, [32]).load() * b.tile(at, [32]).load();
        c.tile(at, [32]).store(c.tile(at, [32]).load() + products);
    }
}

/// Where the tests run: on the GPU with the feature `cuda`.
fn device() -> Result<Device> {
    if cfg!(feature = "cuda") { Device::new_cuda(0) } else { Ok(Device::Cpu) }
}

struct Double;

impl InPlaceOp<0> for Double {
    const NAME: &'static str = "double";
    const TARGETS: &'static [Target] = double::TARGETS;

    fn change(&self, call: &Call, target: ArgMut<'_>, []: [Arg<'_>; 0]) -> kiln_candle::Result<()> {
        match_dtype!(target, T in [f32, half::bf16] => {
            target.edit_flattened(|x: &mut Edited<'_, T, 2>| {
                double::<T>(double::Args { x }).launch(call.stream())
            })
        })
    }
}

struct AddProducts;

impl InPlaceOp<2> for AddProducts {
    const NAME: &'static str = "add-products";
    const TARGETS: &'static [Target] = add_products::TARGETS;

    fn change(
        &self,
        call: &Call,
        target: ArgMut<'_>,
        [a, b]: [Arg<'_>; 2],
    ) -> kiln_candle::Result<()> {
        let (a, b) = (a.view::<f32, 1>()?, b.view::<f32, 1>()?);
        target.edit(|c: &mut Edited<'_, f32, 1>| {
            add_products(add_products::Args { a: &a, b: &b, c }).launch(call.stream())
        })
    }
}

#[test]
fn a_part_of_a_tensor_is_changed() -> Result<()> {
    let x = Tensor::arange(0f32, 60.0, &device()?)?.reshape((5, 12))?;
    Double.apply(&x.i((1..4, 3..10))?, [])?;
    let actual = x.to_vec2::<f32>()?;
    for (row, values) in actual.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            let before = f64::from(u8::try_from(row * 12 + column).expect("it is below 60"));
            let inside = (1..4).contains(&row) && (3..10).contains(&column);
            let required = if inside { 2.0 * before } else { before };
            let error = (f64::from(*value) - required).abs();
            assert!(error < 1e-9, "element ({row}, {column}): {value}, not {required}");
        }
    }
    Ok(())
}

#[test]
fn a_transposed_tensor_and_one_of_three_axes() -> Result<()> {
    let device = device()?;
    let x = Tensor::arange(0f32, 40.0, &device)?.reshape((5, 8))?.to_dtype(DType::BF16)?;
    Double.apply(&x.t()?, [])?;
    Double.apply(&x.reshape((1, 5, 8))?, [])?;
    let required: Vec<f32> = (0..40u8).map(|i| 4.0 * f32::from(i)).collect();
    assert_eq!(x.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?, required);
    Ok(())
}

#[test]
fn inputs_stay_as_they_are() -> Result<()> {
    let device = device()?;
    let (a, b) =
        (Tensor::new(&[1f32, 2.0, 3.0], &device)?, Tensor::new(&[10f32, 100.0, 1000.0], &device)?);
    let c = Var::new(&[1f32, 1.0, 1.0], &device)?;
    AddProducts.apply(&c, [&a, &b])?;
    AddProducts.apply(&c, [&a, &a])?;
    assert_eq!(c.to_vec1::<f32>()?, [12.0, 205.0, 3010.0]);
    assert_eq!(
        (a.to_vec1::<f32>()?, b.to_vec1::<f32>()?),
        (vec![1.0, 2.0, 3.0], vec![10.0, 100.0, 1000.0])
    );
    Ok(())
}

#[test]
fn what_cannot_be_changed_is_refused() -> Result<()> {
    let device = device()?;
    let x = Tensor::zeros((2, 3), DType::F32, &device)?;
    let error = Double.apply(&x.i(0)?.broadcast_as((4, 3))?, []).expect_err("four rows are one");
    assert!(error.to_string().starts_with("double: dst has repeated elements"), "{error}");

    let row = x.i(0)?;
    let error = AddProducts.apply(&row, [&row, &x.i(1)?]).expect_err("they share a storage");
    assert!(error.to_string().starts_with("src 0 shares storage with dst"), "{error}");

    let error = Double.apply(&x.to_dtype(DType::U8)?, []).expect_err("u8 is neither");
    let Some(Error::Dtype { input: Input::Target, .. }) = cause(&error) else { panic!("{error}") };
    assert!(
        error
            .to_string()
            .starts_with("double: input `target` has dtype u8; the kernel takes f32, bf16"),
        "{error}"
    );
    let error = AddProducts.apply(&x, [&row.copy()?, &row.copy()?]).expect_err("it has two axes");
    assert!(matches!(cause(&error), Some(Error::Rank { input: Input::Target, .. })), "{error}");
    Ok(())
}
