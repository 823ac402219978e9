//! What the fields of `Args` take: tensors, views, temporaries, pointers to them, and tensors of the program's own.
#![deny(warnings)]

use std::sync::{Arc, Mutex};

use kiln::prelude::*;
use kiln::{AnyTensor, TensorArgument, TensorArgumentMut, TensorRef, TensorRefMut};

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 32), instances(T = [f32, i32]))]
pub fn add<T: Number>(x: Tensor<T, 1>, by: T, out: TensorMut<T, 1>) {
    let at = [block_id(0) * 32];
    out.tile(at, [32]).store(out.tile(at, [32]).load() + x.tile(at, [32]).load() * by);
}

/// One page of a cache.
struct Page<'a> {
    cache: &'a DeviceTensor<f32, 2>,
    number: usize,
}

impl TensorArgument<f32, 1> for Page<'_> {
    fn tensor(&self) -> Result<TensorRef<'_, f32, 1>> {
        let [_, columns] = self.cache.shape();
        let page = self.cache.slice(0, self.number..self.number + 1)?;
        Ok(page.reshape([columns])?.into())
    }
}

/// A tensor whose first element is not written.
struct Tail(DeviceTensor<f32, 1>);

impl TensorArgumentMut<f32, 1> for Tail {
    fn tensor_mut(&mut self) -> Result<TensorRefMut<'_, f32, 1>> {
        let len = self.0.len();
        Ok(self.0.slice_mut(0, 1..len)?.into())
    }
}

/// A reference is borrowed anew for each launch.
fn twice(stream: &Stream, x: &DeviceTensor<f32, 1>, out: &mut DeviceTensor<f32, 1>) -> Result<()> {
    for _ in 0..2 {
        add(add::Args { x, by: 1.0, out }).launch(stream)?;
    }
    Ok(())
}

/// A launch that somebody else starts.
fn halved<'a>(x: &'a DeviceTensor<f32, 1>, out: &'a mut DeviceTensor<f32, 1>) -> Launch<'a> {
    add(add::Args { x, by: 0.5, out })
}

type Make<T> = for<'a> fn(add::Args<'a, T>) -> Launch<'a>;

fn main() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let x = stream.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    let mut out = stream.zeros([4])?;

    // Views that nobody else holds.
    add(add::Args { x: &x.slice(0, 2..4)?, by: 2.0, out: &mut out.slice_mut(0, 0..2)? }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [6.0, 8.0, 0.0, 0.0]);
    let args = add::Args { x: &x.slice(0, 0..1)?, by: 1.0, out: &mut out.slice_mut(0, 3..4)? };
    add(args).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [6.0, 8.0, 0.0, 1.0]);

    // Views with names; a written one is read as well.
    let view = x.slice(0, 0..2)?;
    let mut half = out.slice_mut(0, 2..4)?;
    add(add::Args { x: &view, by: 1.0, out: &mut half }).launch(&stream)?;
    twice(&stream, &view, &mut half)?;
    assert_eq!(out.to_vec(&stream)?, [6.0, 8.0, 3.0, 7.0]);
    let mut sum = stream.zeros([2])?;
    add(add::Args { x: &mut out.slice_mut(0, 0..2)?, by: 1.0, out: &mut sum }).launch(&stream)?;
    halved(&view, &mut sum).launch(&stream)?;
    assert_eq!(sum.to_vec(&stream)?, [6.5, 9.0]);

    // Pointers.
    let shared = Arc::new(stream.full([2], 1.0f32)?);
    let locked = Mutex::new(sum);
    add(add::Args { x: &shared, by: 1.0, out: &mut locked.lock().expect("nobody panics") }).launch(&stream)?;
    let mut boxed = Box::new(locked.into_inner().expect("nobody panics"));
    add(add::Args { x: &shared, by: 1.0, out: &mut boxed }).launch(&stream)?;
    assert_eq!(boxed.to_vec(&stream)?, [8.5, 11.0]);

    // One of several, and what may not be there.
    let all = [stream.full([2], 1i32)?, stream.full([2], 5i32)?];
    let mut count = stream.zeros([2])?;
    for which in [0, 1] {
        let x = if which == 0 { &all[0] } else { all.last().expect("there are two") };
        add(add::Args { x, by: 1, out: &mut count }).launch(&stream)?;
    }
    let first = || all.first().ok_or(Error::BackEndDisabled { back_end: "none" });
    let make: Make<i32> = add::<i32>;
    make(add::Args { x: first()?, by: 10, out: &mut count }).launch(&stream)?;
    assert_eq!(count.to_vec(&stream)?, [16, 16]);

    // Tensors of the program's own; what is wrong with them is an error of the launch.
    let cache = stream.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    let mut tail = Tail(stream.zeros([4])?);
    add(add::Args { x: &Page { cache: &cache, number: 1 }, by: 1.0, out: &mut tail }).launch(&stream)?;
    assert_eq!(tail.0.to_vec(&stream)?, [0.0, 4.0, 5.0, 6.0]);
    let page = Page { cache: &cache, number: 2 };
    let error = add(add::Args { x: &page, by: 1.0, out: &mut tail }).launch(&stream);
    let error = error.expect_err("there are two pages").to_string();
    assert_eq!(error, "`add`: argument `x`: slice: 2..3 of axis 0 does not fit the shape [2, 3]");
    for one in add::instances().filter(|one| one.T == Dtype::F32) {
        let launch = one.with(add::Args { x: &page, by: 1.0, out: &mut tail });
        assert_eq!(launch.blocks(), None);
        assert_eq!(launch.variant(&device).expect_err("there are two pages").to_string(), error);
    }

    // Tensors whose types the program knows when it runs, with an instance to match.
    let any = AnyTensor::from(stream.full([2], 2i32)?);
    let mut sum = AnyTensor::from(stream.full([2], 40i32)?);
    add::<i32>(add::Args { x: &any, by: 1, out: &mut sum }).launch(&stream)?;
    let one = add::find(|one| one.T.name() == any.dtype())?;
    let launch = one.with_arguments([(&any).into_argument(), 4i32.into_argument(), (&mut sum).into_argument()]);
    assert_eq!(launch.blocks(), Some([1, 1, 1]));
    launch.launch(&stream)?;
    let error = add::<f32>(add::Args { x: &any, by: 1.0, out: &mut tail }).launch(&stream);
    assert_eq!(
        error.expect_err("a tensor of i32").to_string(),
        "`add`: argument `x`: the tensor is a Tensor<i32, 1>, not a Tensor<f32, 1>"
    );
    assert_eq!(sum.downcast::<i32, 1>()?.to_vec(&stream)?, [50, 50]);
    Ok(())
}
