//! The evaluator against values worked out by hand, or by loops over plain arrays.

use super::{Arg, EvalError, Fault, run};
use crate::ir::tests::builder::{Builder, tile};
use crate::ir::{
    Atomic, Binary, Compare, CopyOp, Dtype, Elem, ElementwiseOp, Kernel, MemoryOp, Op, Scope,
    SourceOp, SyncOp, TileOp, Transcendental, Type,
};

mod arithmetic;
mod control;
mod hopper;
mod tensor_memory;

/// A row-major tensor of `f32`.
fn floats(shape: &[u32], values: &[f32]) -> Arg {
    let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(Dtype::F32, shape, data)
}

/// A row-major tensor of `i32`.
fn ints(shape: &[u32], values: &[i32]) -> Arg {
    let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(Dtype::I32, shape, data)
}

fn tensor(dtype: Dtype, shape: &[u32], data: Vec<u8>) -> Arg {
    let mut strides: Vec<i64> = Vec::new();
    let mut stride = 1;
    for &extent in shape.iter().rev() {
        strides.insert(0, stride);
        stride *= i64::from(extent);
    }
    Arg::Tensor { data, dtype, shape: shape.to_vec(), strides, offset: 0 }
}

fn bytes(arg: &Arg) -> &[u8] {
    match arg {
        Arg::Tensor { data, .. } | Arg::Pointer { data, .. } => data,
        Arg::Scalar { .. } | Arg::Absent => &[],
    }
}

fn words(arg: &Arg) -> impl Iterator<Item = [u8; 4]> {
    bytes(arg).chunks(4).map(|word| word.try_into().expect("four bytes"))
}

fn to_floats(arg: &Arg) -> Vec<f32> {
    words(arg).map(f32::from_le_bytes).collect()
}

fn to_ints(arg: &Arg) -> Vec<i32> {
    words(arg).map(i32::from_le_bytes).collect()
}

fn fault(kernel: &Kernel, args: &mut [Arg]) -> Fault {
    run(kernel, [1, 1, 1], args).expect_err("the kernel fails").fault
}

#[test]
fn tiles_read_zero_and_write_nothing_outside_of_their_tensor() {
    let mut b = Builder::new("shift", 1);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::I32, 2));
    let (minus, zero) = (b.int(-1), b.int(0));
    let loaded = b.load_tensor(x, &[minus, zero], &[4, 4]);
    b.store_tensor(out, &[zero, minus], loaded);
    let mut args = [ints(&[2, 3], &[1, 2, 3, 4, 5, 6]), ints(&[2, 3], &[9; 6])];
    run(&b.finish(), [1, 1, 1], &mut args).expect("it runs");
    // Row -1 is zero; column 0 of the tile falls outside, and column 3 of x is zero.
    assert_eq!(to_ints(&args[1]), [0, 0, 0, 2, 3, 0]);
}

#[test]
fn blocks_run_in_order_and_know_their_place() {
    let mut b = Builder::new("places", 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let pair = |b: &mut Builder, op: fn(u32) -> SourceOp| {
        [0, 1].map(|axis| b.op(op(axis), &[], Type::scalar(Dtype::I32)))
    };
    let [x, y] = pair(&mut b, SourceOp::BlockId);
    let [width, height] = pair(&mut b, SourceOp::NumBlocks);
    let row = b.binary(Binary::Mul, y, width);
    let place = b.binary(Binary::Add, row, x);
    let number = b.binary(Binary::Add, place, height);
    let number = b.splat(number, &[1]);
    b.store_tensor(out, &[place], number);
    let mut args = [ints(&[6], &[0; 6])];
    run(&b.finish(), [3, 2, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[0]), [2, 3, 4, 5, 6, 7]);
}

#[test]
fn strides_and_the_first_element_are_respected() {
    let mut b = Builder::new("turned", 1);
    let [x, out] = ["x", "out"].map(|name| b.plain_tensor(name, Dtype::I32, 2));
    let zero = b.int(0);
    let loaded = b.load_tensor(x, &[zero, zero], &[2, 2]);
    b.store_tensor(out, &[zero, zero], loaded);
    let data = ints(&[5], &[0, 1, 2, 3, 4]);
    let turned = Arg::Tensor {
        data: bytes(&data).to_vec(),
        dtype: Dtype::I32,
        shape: vec![2, 2],
        strides: vec![1, -2],
        offset: 3,
    };
    let mut args = [turned, ints(&[2, 2], &[9; 4])];
    run(&b.finish(), [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[1]), [3, 1, 4, 2]);
}

#[test]
fn masked_accesses_leave_other_addresses_alone() {
    let mut b = Builder::new("masked", 1);
    let [x, out] = ["x", "out"].map(|name| b.pointer(name, Dtype::I32));
    let n = b.scalar_param("n", Dtype::I32);
    let n = b.op(SourceOp::ParamScalar(n), &[], Type::scalar(Dtype::I32));
    let (n, range) = (b.splat(n, &[8]), b.arange(8));
    let mask = b.op(Compare::Lt, &[range, n], tile(Dtype::Bool, &[8]));
    let mut addresses = |param| {
        let base = b.op(SourceOp::ParamPtr(param), &[], Type::Scalar(Elem::Ptr(Dtype::I32)));
        let base = b.splat(base, &[8]);
        b.binary(Binary::Add, base, range)
    };
    let (from, to) = (addresses(x), addresses(out));
    let other = b.int(7);
    let other = b.splat(other, &[8]);
    let loaded = b.same(MemoryOp::LoadPtr { masked: true }, &[from, mask, other]);
    b.effect(MemoryOp::StorePtr { masked: false }, &[to, loaded]);
    let kernel = b.finish();
    let pointer =
        |values: &[i32], offset| Arg::Pointer { data: bytes(&ints(&[1], values)).to_vec(), offset };
    let mut args = [pointer(&[1, 2, 3], 4), pointer(&[0; 8], 0), Arg::Scalar { bits: 2 }];
    run(&kernel, [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[1]), [2, 3, 7, 7, 7, 7, 7, 7]);
    args[2] = Arg::Scalar { bits: 3 };
    assert_eq!(
        fault(&kernel, &mut args),
        Fault::OutOfBounds { param: 0, offset_bytes: 12, size_bytes: 12 }
    );
    args[0] = pointer(&[1, 2, 3, 4], 2);
    assert_eq!(fault(&kernel, &mut args), Fault::Misaligned { param: 0, offset_bytes: 2 });
}

#[test]
fn an_address_that_stood_in_memory_points_where_it_did() {
    let mut b = Builder::new("table", 1);
    let x = b.pointer("x", Dtype::I32);
    let table = b.tensor("table", Dtype::U64, 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let zero = b.int(0);
    let base = b.op(SourceOp::ParamPtr(x), &[], Type::Scalar(Elem::Ptr(Dtype::I32)));
    let (base, range) = (b.splat(base, &[4]), b.arange(4));
    let from = b.binary(Binary::Sub, base, range);
    let bits = b.op(ElementwiseOp::Bitcast, &[from], tile(Dtype::U64, &[4]));
    b.store_tensor(table, &[zero], bits);
    let bits = b.load_tensor(table, &[zero], &[4]);
    let back = Type::Tile(Elem::Ptr(Dtype::I32), vec![4]);
    let back = b.op(ElementwiseOp::Bitcast, &[bits], back);
    let loaded = b.op(MemoryOp::LoadPtr { masked: false }, &[back], tile(Dtype::I32, &[4]));
    b.store_tensor(out, &[zero], loaded);
    let kernel = b.finish();
    let pointer =
        |values: &[i32], offset| Arg::Pointer { data: bytes(&ints(&[1], values)).to_vec(), offset };
    let table = || tensor(Dtype::U64, &[4], vec![0; 32]);
    let mut args = [pointer(&[7, 1, 8, 2, 9], 12), table(), ints(&[4], &[0; 4])];
    run(&kernel, [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[2]), [2, 8, 1, 7]);
    // Before the first byte: the distance has a sign.
    args[0] = pointer(&[7, 1, 8], 4);
    assert_eq!(
        fault(&kernel, &mut args),
        Fault::OutOfBounds { param: 0, offset_bytes: -4, size_bytes: 12 }
    );
    // The fourth is outside of the table: zero, which is the address of nothing.
    let mut args = [pointer(&[7, 1, 8, 2], 12), table(), ints(&[4], &[0; 4])];
    if let Arg::Tensor { shape, .. } = &mut args[1] {
        shape[0] = 3;
    }
    fault(&kernel, &mut args);
}

#[test]
fn products_are_rounded_once() {
    let mut b = Builder::new("product", 1);
    let [x, y, acc, out] = ["x", "y", "acc", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[2, 4]);
    let y = b.load_tensor(y, &[zero, zero], &[4, 2]);
    let acc = b.load_tensor(acc, &[zero, zero], &[2, 2]);
    let product = b.dot(x, y, acc);
    b.store_tensor(out, &[zero, zero], product);
    let tiny = f32::EPSILON / 2.0;
    let mut args = [
        floats(&[2, 4], &[1.0, 2.0, 3.0, 4.0, 1.0, tiny, tiny, tiny]),
        floats(&[4, 2], &[1.0, 0.5, 1.0, -1.0, 1.0, 1.0, 1.0, 2.0]),
        floats(&[2, 2], &[10.0, 20.0, 0.0, 0.0]),
        floats(&[2, 2], &[0.0; 4]),
    ];
    run(&b.finish(), [1, 1, 1], &mut args).expect("it runs");
    // In f32, 1 + tiny would be 1 three times.
    let bits: Vec<u32> = to_floats(&args[3]).iter().map(|value| value.to_bits()).collect();
    let required = [20.0, 29.5, 1.0 + 4.0 * tiny, 0.5 + 2.0 * tiny];
    assert_eq!(bits, required.map(f32::to_bits));
}

#[test]
fn reductions_keep_the_other_axes() {
    let mut b = Builder::new("sums", 1);
    let x = b.tensor("x", Dtype::I32, 2);
    let [rows, columns, all] = ["rows", "columns", "all"].map(|name| b.tensor(name, Dtype::I32, 1));
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[2, 4]);
    let by_rows = b.reduce(x, 1, Binary::Add);
    let by_columns = b.reduce(x, 0, Binary::Max);
    let total = b.reduce(by_rows, 0, Binary::Sub);
    let total = b.splat(total, &[1]);
    for (param, value) in [(rows, by_rows), (columns, by_columns), (all, total)] {
        b.store_tensor(param, &[zero], value);
    }
    let mut args = [
        ints(&[2, 4], &[1, 2, 3, 4, 50, 0, -60, 70]),
        ints(&[2], &[0; 2]),
        ints(&[4], &[0; 4]),
        ints(&[1], &[0]),
    ];
    run(&b.finish(), [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[1]), [10, 60]);
    assert_eq!(to_ints(&args[2]), [50, 2, 3, 70]);
    // In order of the index: the first minus the second.
    assert_eq!(to_ints(&args[3]), [-50]);
}

#[test]
fn shapes_change_in_row_major_order() {
    let mut b = Builder::new("shapes", 1);
    let [out, turned] = ["out", "turned"].map(|name| b.tensor(name, Dtype::I32, 2));
    let range = b.arange(8);
    let square = b.op(TileOp::Reshape, &[range], tile(Dtype::I32, &[2, 4]));
    let flipped = b.op(TileOp::Permute(vec![1, 0]), &[square], tile(Dtype::I32, &[4, 2]));
    let column = b.arange(2);
    let column = b.spread(column, 1, &[2, 4]);
    let sum = b.binary(Binary::Add, square, column);
    let zero = b.int(0);
    b.store_tensor(out, &[zero, zero], sum);
    b.store_tensor(turned, &[zero, zero], flipped);
    let mut args = [ints(&[2, 4], &[0; 8]), ints(&[4, 2], &[0; 8])];
    run(&b.finish(), [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[0]), [0, 1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(to_ints(&args[1]), [0, 4, 1, 5, 2, 6, 3, 7]);
}

#[test]
fn atomics_see_one_another() {
    let mut b = Builder::new("histogram", 1);
    let x = b.tensor("x", Dtype::I32, 1);
    let counts = b.pointer("counts", Dtype::I32);
    let start = b.block_start(0, 4);
    let x = b.load_tensor(x, &[start], &[4]);
    let base = b.op(SourceOp::ParamPtr(counts), &[], Type::Scalar(Elem::Ptr(Dtype::I32)));
    let bases = b.splat(base, &[4]);
    let bins = b.binary(Binary::Add, bases, x);
    let one = b.int(1);
    let ones = b.splat(one, &[4]);
    b.effect(MemoryOp::Atomic(Atomic::Add, Scope::Gpu), &[bins, ones]);
    // A scalar is done once for the block.
    let five = b.int(5);
    let last = b.binary(Binary::Add, base, five);
    b.effect(MemoryOp::Atomic(Atomic::Add, Scope::Gpu), &[last, one]);
    let six = b.int(6);
    let flag = b.binary(Binary::Add, base, six);
    b.effect(MemoryOp::Atomic(Atomic::CompareExchange, Scope::Gpu), &[flag, one, five]);
    let data = bytes(&ints(&[7], &[0, 0, 0, 0, 0, 0, 1])).to_vec();
    let mut args = [ints(&[8], &[0, 1, 1, 3, 3, 3, 1, 0]), Arg::Pointer { data, offset: 0 }];
    run(&b.finish(), [2, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[1]), [2, 3, 0, 3, 0, 2, 5]);
}

#[test]
fn shared_rings_hold_what_was_written() {
    let ring = |slot: i32, read: bool| {
        let mut b = Builder::new("ring", 1);
        let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::I32, 2));
        let (_, ring) = b.shared(Dtype::I32, &[3, 2, 4]);
        let (zero, two, slot) = (b.int(0), b.int(2), b.int(slot));
        let window = b.slot(ring, two);
        b.copy_async(x, &[zero, zero], window);
        b.effect(CopyOp::Commit, &[]);
        b.effect(CopyOp::Wait(0), &[]);
        let window = b.slot(ring, slot);
        let window = b.transposed(window);
        let tile = b.load_shared(window);
        if read {
            b.store_tensor(out, &[zero, zero], tile);
        }
        b.finish()
    };
    let mut args = [ints(&[2, 4], &[1, 2, 3, 4, 5, 6, 7, 8]), ints(&[4, 2], &[0; 8])];
    run(&ring(2, true), [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[1]), [1, 5, 2, 6, 3, 7, 4, 8]);
    // Nothing was written there: it may be read, but not used.
    assert_eq!(run(&ring(1, false), [1, 1, 1], &mut args), Ok(()));
    assert_eq!(fault(&ring(1, true), &mut args), Fault::Undefined);
    assert_eq!(fault(&ring(3, true), &mut args), Fault::SharedIndex { actual: 3, extent: 3 });
    assert_eq!(fault(&ring(-1, true), &mut args), Fault::SharedIndex { actual: -1, extent: 3 });
}

#[test]
fn a_stored_tile_is_read_back() {
    let mut b = Builder::new("through", 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let (_, window) = b.shared(Dtype::I32, &[4]);
    let range = b.arange(4);
    b.effect(MemoryOp::StoreShared, &[window, range]);
    b.effect(SyncOp::Block, &[]);
    let (read, zero) = (b.load_shared(window), b.int(0));
    b.store_tensor(out, &[zero], read);
    let mut args = [ints(&[4], &[9; 4])];
    run(&b.finish(), [1, 1, 1], &mut args).expect("it runs");
    assert_eq!(to_ints(&args[0]), [0, 1, 2, 3]);
}

#[test]
fn assertions_stop_the_block_that_breaks_them() {
    let mut b = Builder::new("asserts", 1);
    let (block, two) = (b.block_id(0), b.int(2));
    let small = b.op(Compare::Lt, &[block, two], Type::scalar(Dtype::Bool));
    b.effect(Op::Assert("few blocks".to_owned()), &[small]);
    let error: EvalError = run(&b.finish(), [4, 1, 1], &mut []).expect_err("block 2 fails");
    assert_eq!(error.block, [2, 0, 0]);
    assert_eq!(error.to_string(), "block [2, 0, 0]: assertion failed: few blocks");
}

#[test]
fn arguments_are_checked() {
    let mut b = Builder::new("arguments", 1);
    b.tensor("x", Dtype::F32, 2);
    let kernel = b.finish();
    assert_eq!(fault(&kernel, &mut []), Fault::ArgumentCount { actual: 0, required: 1 });
    assert_eq!(fault(&kernel, &mut [ints(&[1, 1], &[0])]), Fault::Argument { param: 0 });
    assert_eq!(fault(&kernel, &mut [floats(&[1], &[0.0])]), Fault::Argument { param: 0 });
    assert_eq!(run(&kernel, [1, 1, 1], &mut [floats(&[1, 1], &[0.0])]), Ok(()));
}

#[test]
fn softmax_agrees_with_plain_loops() {
    let mut b = Builder::new("softmax", 1);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[2, 8]);
    let most = b.reduce(x, 1, Binary::Max);
    let most = b.spread(most, 1, &[2, 8]);
    let shifted = b.binary(Binary::Sub, x, most);
    let raised = b.same(Transcendental::Exp, &[shifted]);
    let sum = b.reduce(raised, 1, Binary::Add);
    let sum = b.spread(sum, 1, &[2, 8]);
    let quotient = b.binary(Binary::Div, raised, sum);
    b.store_tensor(out, &[zero, zero], quotient);
    let input: Vec<f32> = (0..16_u8).map(|at| f32::from(at * 7 % 16) / 4.0 - 2.0).collect();
    let mut args = [floats(&[2, 8], &input), floats(&[2, 8], &[0.0; 16])];
    run(&b.finish(), [1, 1, 1], &mut args).expect("it runs");
    for (row, actual) in input.chunks(8).zip(to_floats(&args[1]).chunks(8)) {
        let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
        for (x, actual) in row.iter().zip(actual) {
            let required = f64::from(*x).exp() / sum;
            assert!(
                (f64::from(*actual) - required).abs() < 1e-6 * required,
                "{actual} instead of {required}"
            );
        }
    }
}
