//! Kernels as people write them.

#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written with them")]

use expect_test::{expect, expect_file};

use super::{inferred, text};
use crate::ir::tests::builder::{Builder, tile};
use crate::ir::{
    Binary, Compare, CopyOp, Dtype, Elem, MemoryOp, SourceOp, SyncOp, Transcendental, Type, Unary,
};

#[test]
fn vector_add_takes_sixteen_bytes_per_thread() {
    let mut b = Builder::new("vector_add", 4);
    let [x, y, out] = ["x", "y", "out"].map(|name| b.tensor(name, Dtype::F32, 1));
    let start = b.block_start(0, 1024);
    let [x, y] = [x, y].map(|param| b.load_tensor(param, &[start], &[1024]));
    let sum = b.binary(Binary::Add, x, y);
    b.store_tensor(out, &[start], sum);
    expect![[r#"
        L0 = register [1] [2] [512], lane [4] [8] [16] [32] [64], warp [128] [256] -> [1024]
        kernel vector_add(x: tensor_mut<f32, 1>, y: tensor_mut<f32, 1>, out: tensor_mut<f32, 1>)
        {
          %0 = block_id 0 : i32
          %1 = const 1024 : i32
          %2 = mul %0, %1 : i32
          %3 = load_tensor x [%2] : f32[1024] in L0
          %4 = load_tensor y [%2] : f32[1024] in L0
          %5 = add %3, %4 : f32[1024] in L0
          store_tensor out [%2] %5
          return
        }
    "#]]
    .assert_eq(&text(b.finish()));
}

#[test]
fn masks_are_made_in_the_layout_of_the_pointers() {
    let mut b = Builder::new("masked_copy", 4);
    let [x, out] = ["x", "out"].map(|name| b.pointer(name, Dtype::F16));
    let n = b.scalar_param("n", Dtype::I32);
    b.fact(crate::ir::Fact::ScalarMultiple { param: n, of: 16 });
    let start = b.block_start(0, 1024);
    let start = b.splat(start, &[1024]);
    let range = b.arange(1024);
    let offsets = b.binary(Binary::Add, start, range);
    let n = b.op(SourceOp::ParamScalar(n), &[], Type::scalar(Dtype::I32));
    let n = b.splat(n, &[1024]);
    let mask = b.op(Compare::Lt, &[offsets, n], tile(Dtype::Bool, &[1024]));
    let mut addresses = |param| {
        let base = b.op(SourceOp::ParamPtr(param), &[], Type::Scalar(Elem::Ptr(Dtype::F16)));
        let base = b.splat(base, &[1024]);
        b.binary(Binary::Add, base, offsets)
    };
    let (from, to) = (addresses(x), addresses(out));
    let other = b.zeros(Dtype::F16, &[1024]);
    let loaded = b.same(MemoryOp::LoadPtr { masked: true }, &[from, mask, other]);
    b.effect(MemoryOp::StorePtr { masked: true }, &[to, loaded, mask]);
    expect_file!["kernels/masked_copy.ir"].assert_eq(&text(b.finish()));
}

#[test]
fn softmax_comes_back_from_its_reductions_without_conversions() {
    let mut b = Builder::new("softmax", 4);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let (row, zero) = (b.block_start(0, 16), b.int(0));
    let x = b.load_tensor(x, &[row, zero], &[16, 256]);
    let most = b.reduce(x, 1, Binary::Max);
    let most = b.spread(most, 1, &[16, 256]);
    let shifted = b.binary(Binary::Sub, x, most);
    let raised = b.same(Transcendental::Exp, &[shifted]);
    let sum = b.reduce(raised, 1, Binary::Add);
    let sum = b.spread(sum, 1, &[16, 256]);
    let quotient = b.binary(Binary::Div, raised, sum);
    b.store_tensor(out, &[row, zero], quotient);
    expect_file!["kernels/softmax.ir"].assert_eq(&text(b.finish()));
}

#[test]
fn rms_norm_loads_its_weights_as_the_rows_want_them() {
    let mut b = Builder::new("rms_norm", 4);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F16, 2));
    let w = b.tensor("w", Dtype::F16, 1);
    let (row, zero) = (b.block_start(0, 4), b.int(0));
    let w = b.load_tensor(w, &[zero], &[512]);
    let x = b.load_tensor(x, &[row, zero], &[4, 512]);
    let x = b.cast(x, Dtype::F32);
    let square = b.binary(Binary::Mul, x, x);
    let sum = b.reduce(square, 1, Binary::Add);
    let scale = b.same(Unary::Rsqrt, &[sum]);
    let scale = b.spread(scale, 1, &[4, 512]);
    let scaled = b.binary(Binary::Mul, x, scale);
    let w = b.cast(w, Dtype::F32);
    let w = b.spread(w, 0, &[4, 512]);
    let weighted = b.binary(Binary::Mul, scaled, w);
    let weighted = b.cast(weighted, Dtype::F16);
    b.store_tensor(out, &[row, zero], weighted);
    expect_file!["kernels/rms_norm.ir"].assert_eq(&text(b.finish()));
}

/// The matrix product of asynchronous copies: `c = a · b`, tiles of `bm` × `bn` × `bk`.
fn matmul(b: &mut Builder, [bm, bn, bk]: [u32; 3]) {
    let int = |extent: u32| i32::try_from(extent).expect("a small extent");
    let [a, w, c] = ["a", "b", "c"].map(|name| b.tensor(name, Dtype::F16, 2));
    let (row, col) = (b.block_start(0, int(bm)), b.block_start(1, int(bn)));
    let (_, sa) = b.shared(Dtype::F16, &[bm, bk]);
    let (_, sb) = b.shared(Dtype::F16, &[bk, bn]);
    let acc = b.zeros(Dtype::F32, &[bm, bn]);
    let range = [b.int(0), b.dim(a, 1), b.int(int(bk))];
    let acc = b.count(range, &[acc], |b, k, carried| {
        b.copy_async(a, &[row, k], sa);
        b.copy_async(w, &[k, col], sb);
        b.effect(CopyOp::WaitAll, &[]);
        b.effect(SyncOp::Block, &[]);
        let (left, right) = (b.load_shared(sa), b.load_shared(sb));
        let acc = b.dot(left, right, carried[0]);
        b.effect(SyncOp::Block, &[]);
        vec![acc]
    });
    let out = b.cast(acc[0], Dtype::F16);
    b.store_tensor(c, &[row, col], out);
}

#[test]
fn matmul_reads_fragments_and_stores_rows() {
    let mut b = Builder::new("matmul", 4);
    matmul(&mut b, [128, 128, 32]);
    expect_file!["kernels/matmul.ir"].assert_eq(&text(b.finish()));
}

#[test]
fn warps_form_squares() {
    let grid = |warps: u32, extents: [u32; 3]| {
        let mut b = Builder::new("matmul", warps);
        matmul(&mut b, extents);
        let (kernel, inferred) = inferred(b.finish());
        let found = inferred
            .layouts
            .values()
            .find_map(|layout| super::super::mma_warps(layout, kernel.warps));
        found.expect("the product runs on tensor cores")
    };
    assert_eq!(grid(1, [16, 8, 16]), [1, 1]);
    assert_eq!(grid(4, [128, 128, 32]), [2, 2]);
    assert_eq!(grid(4, [128, 64, 32]), [4, 1]);
    assert_eq!(grid(4, [64, 128, 16]), [2, 2]);
    assert_eq!(grid(8, [128, 128, 32]), [4, 2]);
    assert_eq!(grid(8, [64, 256, 32]), [2, 4]);
    assert_eq!(grid(4, [16, 64, 16]), [1, 4]);
}

/// One step of attention over a block of keys: two chained products.
#[test]
fn chained_products_keep_rows_in_their_warps() {
    let mut b = Builder::new("attention", 4);
    let [queries, keys, values, out] =
        ["q", "k", "v", "o"].map(|name| b.tensor(name, Dtype::F16, 2));
    let (row, zero) = (b.block_start(0, 64), b.int(0));
    let (_, sk) = b.shared(Dtype::F16, &[2, 64, 32]);
    let (_, sv) = b.shared(Dtype::F16, &[2, 64, 32]);
    let queries = b.load_tensor(queries, &[row, zero], &[64, 32]);
    let inits = [b.zeros(Dtype::F32, &[64, 32]), b.zeros(Dtype::F32, &[64])];
    let range = [b.int(0), b.dim(keys, 0), b.int(64)];
    let ends = b.count(range, &inits, |b, at, carried| {
        let one = b.int(1);
        let slot = b.binary(Binary::And, at, one);
        let (sk, sv) = (b.slot(sk, slot), b.slot(sv, slot));
        b.copy_async(keys, &[at, zero], sk);
        b.copy_async(values, &[at, zero], sv);
        b.effect(CopyOp::WaitAll, &[]);
        b.effect(SyncOp::Block, &[]);
        let turned = b.transposed(sk);
        let turned = b.load_shared(turned);
        let none = b.zeros(Dtype::F32, &[64, 64]);
        let scores = b.dot(queries, turned, none);
        let weights = b.same(Transcendental::Exp2, &[scores]);
        let sum = b.reduce(weights, 1, Binary::Add);
        let sum = b.binary(Binary::Add, carried[1], sum);
        let weights = b.cast(weights, Dtype::F16);
        let rows = b.load_shared(sv);
        let acc = b.dot(weights, rows, carried[0]);
        b.effect(SyncOp::Block, &[]);
        vec![acc, sum]
    });
    let sum = b.spread(ends[1], 1, &[64, 32]);
    let quotient = b.binary(Binary::Div, ends[0], sum);
    let quotient = b.cast(quotient, Dtype::F16);
    b.store_tensor(out, &[row, zero], quotient);
    expect_file!["kernels/attention.ir"].assert_eq(&text(b.finish()));
}

/// Pointers that a loop moves on keep their layout; operands from global memory are loaded along rows, then converted.
#[test]
fn pointers_move_through_loops_in_the_layout_of_their_loads() {
    let mut b = Builder::new("pointers", 4);
    let [x, y] = ["x", "y"].map(|name| b.pointer(name, Dtype::F16));
    let out = b.tensor("out", Dtype::F32, 2);
    let addresses = |b: &mut Builder, param: u32, shape: [u32; 2]| {
        let stride = b.int(64);
        let stride = b.splat(stride, &[shape[0]]);
        let rows = b.arange(shape[0]);
        let rows = b.binary(Binary::Mul, rows, stride);
        let rows = b.spread(rows, 1, &shape);
        let columns = b.arange(shape[1]);
        let columns = b.spread(columns, 0, &shape);
        let offsets = b.binary(Binary::Add, rows, columns);
        let base = b.op(SourceOp::ParamPtr(param), &[], Type::Scalar(Elem::Ptr(Dtype::F16)));
        let base = b.splat(base, &shape);
        b.binary(Binary::Add, base, offsets)
    };
    let inits = [
        addresses(&mut b, x, [64, 32]),
        addresses(&mut b, y, [32, 64]),
        b.zeros(Dtype::F32, &[64, 64]),
    ];
    let range = [b.int(0), b.int(256), b.int(32)];
    let ends = b.count(range, &inits, |b, _, carried| {
        let left =
            b.op(MemoryOp::LoadPtr { masked: false }, &[carried[0]], tile(Dtype::F16, &[64, 32]));
        let right =
            b.op(MemoryOp::LoadPtr { masked: false }, &[carried[1]], tile(Dtype::F16, &[32, 64]));
        let acc = b.dot(left, right, carried[2]);
        let step = b.int(32);
        let steps = [b.splat(step, &[64, 32]), b.splat(step, &[32, 64])];
        let moved = [0, 1].map(|at| b.binary(Binary::Add, carried[at], steps[at]));
        vec![moved[0], moved[1], acc]
    });
    let zero = b.int(0);
    b.store_tensor(out, &[zero, zero], ends[2]);
    expect_file!["kernels/pointers.ir"].assert_eq(&text(b.finish()));
}

#[test]
fn a_product_without_tensor_cores_spreads_squares_over_threads() {
    let mut b = Builder::new("product", 4);
    let [x, y, out] = ["x", "y", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let left = b.load_tensor(x, &[zero, zero], &[64, 16]);
    let right = b.load_tensor(y, &[zero, zero], &[16, 64]);
    let acc = b.zeros(Dtype::F32, &[64, 64]);
    let acc = b.dot(left, right, acc);
    b.store_tensor(out, &[zero, zero], acc);
    expect![[r#"
        L0 = register [0,1] [0,2] [32,0], lane [0,4] [0,8] [1,0] [2,0] [4,0], warp [8,0] [16,0] -> [64, 16]
        L1 = register [0,1] [0,2] [8,0], lane [0,4] [0,8] [0,16] [0,32] [1,0], warp [2,0] [4,0] -> [16, 64]
        L2 = register [0,1] [0,2] [1,0] [2,0] [0,32], lane [0,4] [0,8] [0,16] [4,0] [8,0], warp [16,0] [32,0] -> [64, 64]
        L3 = register [0,1] [0,2] [0,4] [0,8] [1,0] [2,0], lane [0,0] [0,0] [0,0] [4,0] [8,0], warp [16,0] [32,0] -> [64, 16]
        L4 = register [0,1] [0,2] [1,0] [2,0] [4,0] [8,0] [0,32], lane [0,4] [0,8] [0,16] [0,0] [0,0], warp [0,0] [0,0] -> [16, 64]
        kernel product(x: tensor_mut<f32, 2>, y: tensor_mut<f32, 2>, out: tensor_mut<f32, 2>)
        {
          %0 = const 0 : i32
          %1 = load_tensor x [%0, %0] : f32[64, 16] in L0
          %2 = load_tensor y [%0, %0] : f32[16, 64] in L1
          %3 = const 0.0 : f32
          %4 = splat %3 : f32[64, 64] in L2
          %5 = to_layout %1 : f32[64, 16] in L3  // shared memory, 4096 bytes, no bank conflicts
          %6 = to_layout %2 : f32[16, 64] in L4  // shared memory, 4096 bytes, no bank conflicts
          %7 = dot %5, %6, %4 : f32[64, 64] in L2
          store_tensor out [%0, %0] %7
          return
        }
    "#]].assert_eq(&text(b.finish()));
}

#[test]
fn branches_and_loops_agree_on_what_they_pass() {
    let mut b = Builder::new("passing", 4);
    let [x, y, out] = ["x", "y", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    // Axis 0 of this one is contiguous.
    let turned = b.plain_tensor("turned", Dtype::F32, 2);
    b.fact(crate::ir::Fact::StrideEquals { param: turned, axis: 0, value: 1 });
    let zero = b.int(0);
    let sum = b.load_tensor(x, &[zero, zero], &[64, 64]);
    let other = b.load_tensor(turned, &[zero, zero], &[64, 64]);
    let range = [b.int(0), b.int(8), b.int(1)];
    let ends = b.count(range, &[sum], |b, at, carried| {
        let first = b.op(Compare::Eq, &[at, zero], Type::scalar(Dtype::Bool));
        let chosen = b.branch(first, |_| vec![other], |b| vec![b.zeros(Dtype::F32, &[64, 64])]);
        vec![b.binary(Binary::Add, carried[0], chosen[0])]
    });
    let y = b.load_tensor(y, &[zero, zero], &[64, 64]);
    let product = b.binary(Binary::Mul, ends[0], y);
    b.store_tensor(out, &[zero, zero], product);
    expect_file!["kernels/passing.ir"].assert_eq(&text(b.finish()));
}

#[test]
fn columns_are_summed_within_warps() {
    let mut b = Builder::new("columns", 4);
    let x = b.tensor("x", Dtype::F32, 2);
    let out = b.tensor("out", Dtype::F32, 1);
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[32, 512]);
    let sum = b.reduce(x, 0, Binary::Add);
    b.store_tensor(out, &[zero], sum);
    expect![[r#"
        L0 = register [0,1] [0,2] [1,0] [2,0] [4,0] [8,0] [16,0], lane [0,4] [0,8] [0,16] [0,32] [0,64], warp [0,128] [0,256] -> [32, 512]
        L1 = register [1] [2], lane [4] [8] [16] [32] [64], warp [128] [256] -> [512]
        kernel columns(x: tensor_mut<f32, 2>, out: tensor_mut<f32, 1>)
        {
          %0 = const 0 : i32
          %1 = load_tensor x [%0, %0] : f32[32, 512] in L0
          reduce 0 (%1) by (%3 : f32, %4 : f32) -> (%2 : f32[512] in L1) {  // within threads
            %5 = add %3, %4 : f32
            yield (%5)
          }
          store_tensor out [%0] %2
          return
        }
    "#]].assert_eq(&text(b.finish()));
}
