//! The results for the emulator's ranks: the bytes of all ranks, moved or added in the order of the ranks.
//!
//! Each step is rounded to the element type, like those of NCCL, which passes partial results from rank to rank. NCCL
//! has another order of steps, so rounded sums differ in the last bits.

use super::signature::{Operation, ReduceOp, Signature};
use crate::{Element, e4m3, e5m2};
use half::{bf16, f16};

/// What each rank gets, by rank.
pub(crate) fn combine(signature: &Signature, mut given: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let ranks = given.len();
    match signature.operation {
        Operation::AllReduce(op) => vec![reduced(signature.dtype, op, &given); ranks],
        Operation::ReduceScatter(op) => split(&reduced(signature.dtype, op, &given), ranks),
        Operation::AllGather => vec![given.concat(); ranks],
        Operation::Broadcast { root } => {
            let from_root = given.get_mut(root).map(std::mem::take).unwrap_or_default();
            vec![from_root; ranks]
        }
        Operation::AllToAll => {
            let parts: Vec<Vec<Vec<u8>>> = given.iter().map(|bytes| split(bytes, ranks)).collect();
            (0..ranks)
                .map(|to| parts.iter().flat_map(|parts| parts[to].iter().copied()).collect())
                .collect()
        }
        Operation::Barrier | Operation::Send { .. } | Operation::Recv { .. } => {
            vec![Vec::new(); ranks]
        }
    }
}

/// As many equal parts.
fn split(bytes: &[u8], parts: usize) -> Vec<Vec<u8>> {
    let each = bytes.len() / parts;
    (0..parts).map(|part| bytes[part * each..][..each].to_vec()).collect()
}

/// Numbers that can be reduced.
trait Number: Element {
    fn apply(op: ReduceOp, left: Self, right: Self) -> Self;
    fn divided(self, ranks: usize) -> Self;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            fn apply(op: ReduceOp, left: Self, right: Self) -> Self {
                match op {
                    ReduceOp::Sum | ReduceOp::Average => left.wrapping_add(right),
                    ReduceOp::Product => left.wrapping_mul(right),
                    ReduceOp::Min => left.min(right),
                    ReduceOp::Max => left.max(right),
                }
            }
            fn divided(self, ranks: usize) -> Self {
                // In the widest type: a group may have more ranks than the type has numbers.
                let quotient = i128::from(self) / i128::try_from(ranks).unwrap_or(i128::MAX);
                <$type>::try_from(quotient).expect("a quotient is no larger than its dividend")
            }
        }
    )*};
}

integers! { i8 u8 i32 u32 i64 u64 }

/// Floating-point numbers, computed in `$wide` and rounded.
macro_rules! floats {
    ($($type:ty, $wide:ty, $from:expr, $to:expr;)*) => {$(
        impl Number for $type {
            fn apply(op: ReduceOp, left: Self, right: Self) -> Self {
                let (widen, round): (fn($type) -> $wide, fn($wide) -> $type) = ($from, $to);
                let (left, right) = (widen(left), widen(right));
                round(match op {
                    ReduceOp::Sum | ReduceOp::Average => left + right,
                    ReduceOp::Product => left * right,
                    ReduceOp::Min => left.min(right),
                    ReduceOp::Max => left.max(right),
                })
            }
            #[expect(clippy::cast_precision_loss, reason = "a group has at most 65536 ranks")]
            fn divided(self, ranks: usize) -> Self {
                let (widen, round): (fn($type) -> $wide, fn($wide) -> $type) = ($from, $to);
                round(widen(self) / ranks as $wide)
            }
        }
    )*};
}

floats! {
    f32, f32, |x| x, |x| x;
    f64, f64, |x| x, |x| x;
    f16, f32, f16::to_f32, f16::from_f32;
    bf16, f32, bf16::to_f32, bf16::from_f32;
    e4m3, f32, e4m3::to_f32, e4m3::from_f32;
    e5m2, f32, e5m2::to_f32, e5m2::from_f32;
}

fn reduced(dtype: &'static str, op: ReduceOp, given: &[Vec<u8>]) -> Vec<u8> {
    let reduce = match dtype {
        "i8" => reduced_as::<i8>,
        "u8" => reduced_as::<u8>,
        "i32" => reduced_as::<i32>,
        "u32" => reduced_as::<u32>,
        "i64" => reduced_as::<i64>,
        "u64" => reduced_as::<u64>,
        "f16" => reduced_as::<f16>,
        "bf16" => reduced_as::<bf16>,
        "f32" => reduced_as::<f32>,
        "f64" => reduced_as::<f64>,
        "e4m3" => reduced_as::<e4m3>,
        "e5m2" => reduced_as::<e5m2>,
        // `Comm` refuses the others.
        _ => |_: ReduceOp, _: &[Vec<u8>]| Vec::new(),
    };
    reduce(op, given)
}

fn reduced_as<T: Number>(op: ReduceOp, given: &[Vec<u8>]) -> Vec<u8> {
    let mut result: Vec<T> = Vec::new();
    for (rank, bytes) in given.iter().enumerate() {
        let mut values = Vec::with_capacity(bytes.len() / T::BYTES);
        T::decode(bytes, &mut values);
        if rank == 0 {
            result = values;
            continue;
        }
        for (sum, value) in result.iter_mut().zip(values) {
            *sum = T::apply(op, *sum, value);
        }
    }
    if op == ReduceOp::Average {
        for sum in &mut result {
            *sum = sum.divided(given.len());
        }
    }
    let mut bytes = Vec::new();
    T::encode(&result, &mut bytes);
    bytes
}
