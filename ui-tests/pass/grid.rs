//! A grid that cannot be computed is an error of the launch, however the program is compiled; and a parameter may be
//! called `args`.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [n * n, 1 << bits])]
pub fn square(n: i32, bits: i32, out: TensorMut<i32, 1>) {
    let _ = n + bits;
    out.tile([0], [32]).store(zeros([32]));
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(axis as usize), 32))]
pub fn along(axis: i32, out: TensorMut<i32, 1>) {
    let _ = axis;
    out.tile([0], [32]).store(zeros([32]));
}

#[kernel(target = sm_80, warps = 4, grid = { let rest = args - 1; rest / (args - 2) })]
pub fn named(args: i32, out: TensorMut<i32, 1>) {
    out.tile([0], [32]).store(full([32], args));
}

fn main() -> Result<()> {
    let device = Device::emulator(Target::Sm80)?;
    let stream = device.stream()?;
    let mut out = stream.zeros::<i32, 1>([32])?;
    let mut fault = |n, bits| {
        let launched = square(square::Args { n, bits, out: &mut out }).launch(&stream);
        launched.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let overflow = |operator: &str| {
        format!("`square`: `grid` cannot be computed for these arguments: the result of `{operator}` does not fit into its type (extents and scalars are `i32`)")
    };
    assert_eq!(fault(65_537, 0), overflow("*"));
    assert_eq!(fault(1, 31), overflow("<<"));
    assert_eq!(fault(1, -1), overflow("<<"));
    assert_eq!(fault(2, 1), "");
    assert!(along(along::Args { axis: 0, out: &mut out }).launch(&stream).is_ok());
    let error = along(along::Args { axis: 1, out: &mut out }).launch(&stream).expect_err("no axis 1");
    assert!(error.to_string().ends_with("a tensor of rank 1 has no axis 1"), "{error}");
    assert!(named(named::Args { args: 2, out: &mut out }).launch(&stream).is_err(), "2 - 2 divides");
    named(named::Args { args: 3, out: &mut out }).launch(&stream)?;
    assert_eq!(out.to_vec(&stream)?, [3; 32]);
    // What the caller says takes the place of the kernel's own.
    square(square::Args { n: i32::MAX, bits: 0, out: &mut out }).grid(1).launch(&stream)
}
