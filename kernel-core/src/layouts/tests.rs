//! Layout inference on kernels written by hand: what is chosen, and that it fits together.

mod consistent;
mod kernels;
mod pinned;
mod random;

use super::{Inferred, infer};
use crate::eval::{self, Arg};
use crate::ir::{Dtype, Kernel, ParamKind, verify};
use crate::lower;

/// Infers layouts, checks that they fit together, and gives them with the kernel.
fn inferred(mut kernel: Kernel) -> (Kernel, Inferred) {
    let (before, mut again) = (kernel.clone(), kernel.clone());
    let inferred = infer(&mut kernel).expect("the kernel has layouts");
    assert_eq!(verify(&kernel), Ok(()), "{kernel}");
    consistent::check(&kernel, &inferred);
    assert_eq!(evaluated(&before), evaluated(&kernel), "inference keeps the meaning");
    let second = infer(&mut again).expect("as before");
    let text = |kernel: &Kernel, inferred: &Inferred| {
        lower::annotated(kernel, &inferred.layouts, &inferred.shared, None)
    };
    assert_eq!(text(&kernel, &inferred), text(&again, &second), "inference is deterministic");
    (kernel, inferred)
}

/// One block on data in which every bit of a fraction counts; gives what the block leaves in memory.
fn evaluated(kernel: &Kernel) -> Vec<Arg> {
    let mut state = 0x9e37_79b9_u32;
    let mut args: Vec<Arg> =
        kernel.params.iter().map(|param| arg(&param.kind, &mut state)).collect();
    eval::run(kernel, [1, 1, 1], &mut args).expect("the kernel runs");
    args
}

/// An argument of 64 elements along each axis, or 32 KiB after a pointer.
fn arg(kind: &ParamKind, state: &mut u32) -> Arg {
    match *kind {
        ParamKind::Tensor { dtype, rank, .. } => {
            let shape = vec![64; rank as usize];
            let strides = (0..rank).rev().map(|axis| 64_i64.pow(axis)).collect();
            Arg::Tensor {
                data: numbers(dtype, 64_usize.pow(rank), state),
                dtype,
                shape,
                strides,
                offset: 0,
            }
        }
        ParamKind::Pointer(dtype) => {
            let count = (1 << 15) / dtype.bytes() as usize;
            Arg::Pointer { data: numbers(dtype, count, state), offset: 0 }
        }
        ParamKind::Scalar(_) => Arg::Scalar { bits: 48 },
    }
}

/// Numbers between one half and one, or small integers.
fn numbers(dtype: Dtype, count: usize, state: &mut u32) -> Vec<u8> {
    let mut next = || {
        // A linear congruential generator (Numerical Recipes, "Quick and dirty generators"); the high bits are good.
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *state >> 8
    };
    let mut data = Vec::new();
    for _ in 0..count {
        if dtype == Dtype::F16 {
            data.extend(&(next() & 0x3ff | 0x3800).to_le_bytes()[..2]);
        } else if dtype == Dtype::F32 {
            data.extend(&(next() & 0x7f_ffff | 0x3f00_0000).to_le_bytes());
        } else {
            assert_eq!(dtype, Dtype::I32, "a type that tests have");
            data.extend(&(next() & 0xff).to_le_bytes());
        }
    }
    data
}

/// The kernel after inference, without facts and target.
fn text(kernel: Kernel) -> String {
    let (kernel, inferred) = inferred(kernel);
    let text = lower::annotated(&kernel, &inferred.layouts, &inferred.shared, None);
    let lines =
        text.lines().filter(|line| !line.starts_with("  fact ") && !line.starts_with("  target "));
    lines.flat_map(|line| [line, "\n"]).collect()
}
