//! Kernels as people write them.

use expect_test::expect;

use super::builder::{Builder, tile};
use super::{check, inferred};
use crate::ir::{Binary, Compare, Dtype, Elem, Op, Type, Unary};

#[test]
fn vector_add_takes_sixteen_bytes_per_thread() {
    let mut b = Builder::new("vector_add", 4);
    let [x, y, out] = ["x", "y", "out"].map(|name| b.tensor(name, Dtype::F32, 1));
    let start = b.block_start(0, 1024);
    let [x, y] = [x, y].map(|param| b.load_tensor(param, &[start], &[1024]));
    let sum = b.binary(Binary::Add, x, y);
    b.store_tensor(out, &[start], sum);
    check(b.finish(), &expect![[r#"
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
    "#]]);
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
    let n = b.op(Op::ParamScalar(n), &[], Type::scalar(Dtype::I32));
    let n = b.splat(n, &[1024]);
    let mask = b.op(Op::Compare(Compare::Lt), &[offsets, n], tile(Dtype::Bool, &[1024]));
    let mut addresses = |param| {
        let base = b.op(Op::ParamPtr(param), &[], Type::Scalar(Elem::Ptr(Dtype::F16)));
        let base = b.splat(base, &[1024]);
        b.binary(Binary::Add, base, offsets)
    };
    let (from, to) = (addresses(x), addresses(out));
    let other = b.zeros(Dtype::F16, &[1024]);
    let loaded = b.same(Op::LoadPtr { masked: true }, &[from, mask, other]);
    b.effect(Op::StorePtr { masked: true }, &[to, loaded, mask]);
    check(b.finish(), &expect![[r#"
        L0 = register [1] [2] [4], lane [8] [16] [32] [64] [128], warp [256] [512] -> [1024]
        kernel masked_copy(x: ptr<f16>, out: ptr<f16>, n: i32)
        {
          %0 = block_id 0 : i32
          %1 = const 1024 : i32
          %2 = mul %0, %1 : i32
          %3 = splat %2 : i32[1024] in L0
          %4 = arange 0 : i32[1024] in L0
          %5 = add %3, %4 : i32[1024] in L0
          %6 = param n : i32
          %7 = splat %6 : i32[1024] in L0
          %8 = lt %5, %7 : bool[1024] in L0
          %9 = param_ptr x : ptr<f16>
          %10 = splat %9 : ptr<f16>[1024] in L0
          %11 = add %10, %5 : ptr<f16>[1024] in L0
          %12 = param_ptr out : ptr<f16>
          %13 = splat %12 : ptr<f16>[1024] in L0
          %14 = add %13, %5 : ptr<f16>[1024] in L0
          %15 = const 0.0 : f16
          %16 = splat %15 : f16[1024] in L0
          %17 = load_ptr %11 where %8, %16 : f16[1024] in L0
          store_ptr %14, %17 where %8
          return
        }
    "#]]);
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
    let raised = b.same(Op::Unary(Unary::Exp), &[shifted]);
    let sum = b.reduce(raised, 1, Binary::Add);
    let sum = b.spread(sum, 1, &[16, 256]);
    let quotient = b.binary(Binary::Div, raised, sum);
    b.store_tensor(out, &[row, zero], quotient);
    check(b.finish(), &expect![[r#"
        L0 = register [0,1] [0,2] [0,128] [4,0] [8,0], lane [0,4] [0,8] [0,16] [0,32] [0,64], warp [1,0] [2,0] -> [16, 256]
        L1 = register [4] [8], lane [0] [0] [0] [0] [0], warp [1] [2] -> [16]
        L2 = register [4,0] [8,0], lane [0,0] [0,0] [0,0] [0,0] [0,0], warp [1,0] [2,0] -> [16, 1]
        kernel softmax(x: tensor_mut<f32, 2>, out: tensor_mut<f32, 2>)
        {
          %0 = block_id 0 : i32
          %1 = const 16 : i32
          %2 = mul %0, %1 : i32
          %3 = const 0 : i32
          %4 = load_tensor x [%2, %3] : f32[16, 256] in L0
          reduce 1 (%4) by (%6 : f32, %7 : f32) -> (%5 : f32[16] in L1) {
            %8 = max %6, %7 : f32
            yield (%8)
          }
          %9 = expand 1 %5 : f32[16, 1] in L2
          %10 = broadcast %9 : f32[16, 256] in L0
          %11 = sub %4, %10 : f32[16, 256] in L0
          %12 = exp %11 : f32[16, 256] in L0
          reduce 1 (%12) by (%14 : f32, %15 : f32) -> (%13 : f32[16] in L1) {
            %16 = add %14, %15 : f32
            yield (%16)
          }
          %17 = expand 1 %13 : f32[16, 1] in L2
          %18 = broadcast %17 : f32[16, 256] in L0
          %19 = div %12, %18 : f32[16, 256] in L0
          store_tensor out [%2, %3] %19
          return
        }
    "#]]);
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
    let scale = b.same(Op::Unary(Unary::Rsqrt), &[sum]);
    let scale = b.spread(scale, 1, &[4, 512]);
    let scaled = b.binary(Binary::Mul, x, scale);
    let w = b.cast(w, Dtype::F32);
    let w = b.spread(w, 0, &[4, 512]);
    let weighted = b.binary(Binary::Mul, scaled, w);
    let weighted = b.cast(weighted, Dtype::F16);
    b.store_tensor(out, &[row, zero], weighted);
    check(b.finish(), &expect![[r#"
        L0 = register [1] [2] [4] [256], lane [8] [16] [32] [64] [128], warp [0] [0] -> [512]
        L1 = register [0,1] [0,2] [0,4] [0,256], lane [0,8] [0,16] [0,32] [0,64] [0,128], warp [1,0] [2,0] -> [4, 512]
        L2 = register, lane [0] [0] [0] [0] [0], warp [1] [2] -> [4]
        L3 = register, lane [0,0] [0,0] [0,0] [0,0] [0,0], warp [1,0] [2,0] -> [4, 1]
        L4 = register [0,1] [0,2] [0,4] [0,256], lane [0,8] [0,16] [0,32] [0,64] [0,128], warp [0,0] [0,0] -> [1, 512]
        kernel rms_norm(x: tensor_mut<f16, 2>, out: tensor_mut<f16, 2>, w: tensor_mut<f16, 1>)
        {
          %0 = block_id 0 : i32
          %1 = const 4 : i32
          %2 = mul %0, %1 : i32
          %3 = const 0 : i32
          %4 = load_tensor w [%3] : f16[512] in L0
          %5 = load_tensor x [%2, %3] : f16[4, 512] in L1
          %6 = cast %5 : f32[4, 512] in L1
          %7 = mul %6, %6 : f32[4, 512] in L1
          reduce 1 (%7) by (%9 : f32, %10 : f32) -> (%8 : f32[4] in L2) {
            %11 = add %9, %10 : f32
            yield (%11)
          }
          %12 = rsqrt %8 : f32[4] in L2
          %13 = expand 1 %12 : f32[4, 1] in L3
          %14 = broadcast %13 : f32[4, 512] in L1
          %15 = mul %6, %14 : f32[4, 512] in L1
          %16 = cast %4 : f32[512] in L0
          %17 = expand 0 %16 : f32[1, 512] in L4
          %18 = broadcast %17 : f32[4, 512] in L1
          %19 = mul %15, %18 : f32[4, 512] in L1
          %20 = cast %19 : f16[4, 512] in L1
          store_tensor out [%2, %3] %20
          return
        }
    "#]]);
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
        b.effect(Op::CopyWaitAll, &[]);
        b.effect(Op::Sync, &[]);
        let (left, right) = (b.load_shared(sa), b.load_shared(sb));
        let acc = b.dot(left, right, carried[0]);
        b.effect(Op::Sync, &[]);
        vec![acc]
    });
    let out = b.cast(acc[0], Dtype::F16);
    b.store_tensor(c, &[row, col], out);
}

#[test]
fn matmul_reads_fragments_and_stores_rows() {
    let mut b = Builder::new("matmul", 4);
    matmul(&mut b, [128, 128, 32]);
    check(b.finish(), &expect![[r#"
        L0 = offset [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0] [64,0] -> [128, 32]
        L1 = offset [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [0,64] [1,8] [2,16] [4,32] [8,0] [16,0] -> [32, 128]
        L2 = register [0,1] [8,0] [0,16] [0,32] [0,64] [32,0] [64,0], lane [0,2] [0,4] [1,0] [2,0] [4,0], warp [0,8] [16,0] -> [128, 128]
        L3 = register [0,1] [8,0] [0,8] [0,16] [32,0] [64,0], lane [0,2] [0,4] [1,0] [2,0] [4,0], warp [0,0] [16,0] -> [128, 32]
        L4 = register [1,0] [8,0] [16,0] [0,16] [0,32] [0,64], lane [2,0] [4,0] [0,1] [0,2] [0,4], warp [0,8] [0,0] -> [32, 128]
        L5 = register [0,1] [0,2] [0,4] [8,0] [16,0] [32,0] [64,0], lane [0,8] [0,16] [0,32] [0,64] [1,0], warp [2,0] [4,0] -> [128, 128]
        kernel matmul(a: tensor_mut<f16, 2>, b: tensor_mut<f16, 2>, c: tensor_mut<f16, 2>)
          shared @tile0 : f16[128, 32] in L0
          shared @tile1 : f16[32, 128] in L1
        {
          %0 = block_id 0 : i32
          %1 = const 128 : i32
          %2 = mul %0, %1 : i32
          %3 = block_id 1 : i32
          %4 = const 128 : i32
          %5 = mul %3, %4 : i32
          %6 = shared_alloc @tile0 : @tile0 f16[128, 32]
          %7 = shared_alloc @tile1 : @tile1 f16[32, 128]
          %8 = const 0.0 : f32
          %9 = splat %8 : f32[128, 128] in L2
          %10 = const 0 : i32
          %11 = param_dim a 1 : i32
          %12 = const 32 : i32
          for %13 in (%10, %11, %12) carry (%14 = %9 : f32[128, 128] in L2) -> (%15 : f32[128, 128] in L2) {
            copy_async a [%2, %13] %6
            copy_async b [%13, %5] %7
            copy_wait_all
            sync
            %16 = load_shared %6 : f16[128, 32] in L3
            %17 = load_shared %7 : f16[32, 128] in L4
            %18 = dot %16, %17, %14 : f32[128, 128] in L2
            sync
            continue (%18)
          }
          %19 = cast %15 : f16[128, 128] in L2
          %20 = to_layout %19 linear(register [0,1] [0,2] [0,4] [8,0] [16,0] [32,0] [64,0], lane [0,8] [0,16] [0,32] [0,64] [1,0], warp [2,0] [4,0] -> [128, 128]) : f16[128, 128] in L5  // shared memory
          store_tensor c [%2, %5] %20
          return
        }
    "#]]);
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
