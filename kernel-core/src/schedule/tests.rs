//! What is cut and what is not, on the text of the IR.

use expect_test::{Expect, expect};

use super::{blocks_per_multiprocessor, rotate};
use crate::eval::{self, Arg};
use crate::ir::tests::builder::Builder;
use crate::ir::{
    Compare, CopyOp, Dtype, Kernel, MemoryOp, StmtKind, SyncOp, Terminator, Type, Value, verify,
};
use crate::layouts::infer;

/// A loop over k that copies a tile, waits, and multiplies; `change` writes what comes between.
struct Parts {
    b: Builder,
    x: u32,
    window: Value,
    out: u32,
}

impl Parts {
    fn new() -> Parts {
        let mut b = Builder::new("k", 1);
        let (x, out) = (b.tensor("x", Dtype::F16, 2), b.tensor("out", Dtype::F32, 2));
        let (_, window) = b.shared(Dtype::F16, &[16, 16]);
        Parts { b, x, window, out }
    }
}

/// The loop with a body: what is given writes the whole iteration, and gives the next accumulator.
fn kernel(iteration: impl FnOnce(&mut Builder, u32, Value, Value, Value) -> Value) -> Kernel {
    let Parts { mut b, x, window, out } = Parts::new();
    let (zero, end, step) = (b.int(0), b.dim(x, 1), b.int(16));
    let zeros = b.zeros(Dtype::F32, &[16, 16]);
    let ends = b.count([zero, end, step], &[zeros], |b, k, carried| {
        vec![iteration(b, x, window, k, carried[0])]
    });
    b.store_tensor(out, &[zero, zero], ends[0]);
    b.finish()
}

/// Copy, wait, barrier, product, barrier.
fn usual(b: &mut Builder, x: u32, window: Value, k: Value, acc: Value) -> Value {
    let zero = b.int(0);
    b.copy_async(x, &[zero, k], window);
    b.effect(CopyOp::WaitAll, &[]);
    product(b, window, acc)
}

fn product(b: &mut Builder, window: Value, acc: Value) -> Value {
    b.effect(SyncOp::Block, &[]);
    let loaded = b.load_shared(window);
    let sum = b.dot(loaded, loaded, acc);
    b.effect(SyncOp::Block, &[]);
    sum
}

/// The statements of the kernel after the pass, of which values keep their numbers; the pass keeps its meaning.
fn rotated(mut kernel: Kernel) -> (Kernel, bool) {
    let before = (kernel.to_string(), evaluated(&kernel));
    rotate(&mut kernel);
    assert_eq!(verify(&kernel), Ok(()), "{kernel}");
    assert_eq!(evaluated(&kernel), before.1, "the pass keeps the meaning");
    let changed = kernel.to_string() != before.0;
    (kernel, changed)
}

fn evaluated(kernel: &Kernel) -> Vec<Arg> {
    // Small integers as halves: 0, 1, 2 and 3.
    let halves = [0u16, 0x3c00, 0x4000, 0x4200];
    let x: Vec<u8> =
        (0..16 * 48usize).flat_map(|index| halves[index * 7 % 11 % 4].to_le_bytes()).collect();
    let tensor = |data, dtype, columns: i64| Arg::Tensor {
        data,
        dtype,
        shape: vec![16, columns.unsigned_abs().try_into().expect("a small extent")],
        strides: vec![columns, 1],
        offset: 0,
    };
    let mut args = vec![tensor(x, Dtype::F16, 48), tensor(vec![0; 16 * 16 * 4], Dtype::F32, 16)];
    eval::run(kernel, [1, 1, 1], &mut args).expect("the kernel runs");
    args
}

fn body(kernel: &Kernel, expect: &Expect) {
    let text = kernel.to_string();
    let start = text.find("  %0").expect("the body begins with a value");
    expect.assert_eq(&text[start..]);
}

#[test]
fn copies_of_the_next_turn_start_before_the_product() {
    let (kernel, changed) = rotated(kernel(usual));
    assert!(changed);
    body(
        &kernel,
        &expect![[r"
          %0 = shared_alloc @tile0 : @tile0 f16[16, 16]
          %1 = const 0 : i32
          %2 = param_dim x 1 : i32
          %3 = const 16 : i32
          %4 = const 0.0 : f32
          %5 = splat %4 : f32[16, 16]
          %6 = lt %1, %2 : bool
          if %6 {
            %7 = const 0 : i32
            copy_async x [%7, %1] %0
            yield ()
          }
          %8 = const -2147483632 : i32
          %9 = max %2, %8 : i32
          %10 = sub %9, %3 : i32
          for %11 in (%1, %2, %3) carry (%12 = %5 : f32[16, 16]) -> (%13 : f32[16, 16]) {
            %14 = const 0 : i32
            copy_wait_all
            sync
            %15 = load_shared %0 : f16[16, 16]
            sync
            %16 = add %11, %3 : i32
            %17 = lt %11, %10 : bool
            if %17 {
              %18 = const 0 : i32
              copy_async x [%18, %16] %0
              yield ()
            }
            %19 = dot %15, %15, %12 : f32[16, 16]
            continue (%19)
          }
          store_tensor out [%1, %1] %13
          return
        }
    "]],
    );
}

#[test]
fn groups_that_are_waited_for_keep_their_order() {
    let (kernel, changed) = rotated(kernel(|b, x, window, k, acc| {
        let zero = b.int(0);
        b.copy_async(x, &[zero, k], window);
        b.effect(CopyOp::Commit, &[]);
        b.effect(CopyOp::Wait(0), &[]);
        product(b, window, acc)
    }));
    assert!(changed);
    let text = kernel.to_string();
    let order: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| ["copy_", "sync", "for"].iter().any(|word| line.starts_with(word)))
        .map(|line| line.split(' ').next().expect("a line has a word"))
        .collect();
    let expected = [
        "copy_async",
        "copy_commit",
        "for",
        "copy_wait",
        "sync",
        "sync",
        "copy_async",
        "copy_commit",
    ];
    assert_eq!(order, expected);
}

#[test]
fn a_copy_at_a_carried_place_stays() {
    let Parts { mut b, x, window, out } = Parts::new();
    let (zero, end, step) = (b.int(0), b.dim(x, 1), b.int(16));
    let zeros = b.zeros(Dtype::F32, &[16, 16]);
    let ends = b.count([zero, end, step], &[zeros, zero], |b, _, carried| {
        let sum = usual(b, x, window, carried[1], carried[0]);
        vec![sum, b.binary(crate::ir::Binary::Add, carried[1], step)]
    });
    b.store_tensor(out, &[zero, zero], ends[0]);
    assert!(!rotated(b.finish()).1);
}

#[test]
fn a_loop_that_may_end_early_stays() {
    let mut kernel = kernel(|b, x, window, k, acc| {
        let condition = b.op(Compare::Gt, &[k, k], Type::scalar(Dtype::Bool));
        b.branch(condition, |_| Vec::new(), |_| Vec::new());
        usual(b, x, window, k, acc)
    });
    for stmt in &mut kernel.body.stmts {
        if let StmtKind::For { body, .. } = &mut stmt.kind {
            let acc = body.args[1];
            for stmt in &mut body.stmts {
                if let StmtKind::If { then, .. } = &mut stmt.kind {
                    then.end = Terminator::Break(0, vec![acc]);
                }
            }
        }
    }
    assert!(!rotated(kernel).1);
}

#[test]
fn a_store_before_the_copy_stays_before_it() {
    let (_, changed) = rotated(kernel(|b, x, window, k, acc| {
        let half = b.zeros(Dtype::F16, &[16, 16]);
        b.effect(MemoryOp::StoreShared, &[window, half]);
        b.effect(SyncOp::Block, &[]);
        usual(b, x, window, k, acc)
    }));
    assert!(!changed);
}

#[test]
fn what_does_not_end_in_a_barrier_or_multiplies_nothing_stays() {
    let (_, changed) = rotated(kernel(|b, x, window, k, acc| {
        let zero = b.int(0);
        b.copy_async(x, &[zero, k], window);
        b.effect(CopyOp::WaitAll, &[]);
        b.effect(SyncOp::Block, &[]);
        let loaded = b.load_shared(window);
        b.dot(loaded, loaded, acc)
    }));
    assert!(!changed, "another warp may still read what the next copy writes");
    let (_, changed) = rotated(kernel(|b, x, window, k, acc| {
        let zero = b.int(0);
        b.copy_async(x, &[zero, k], window);
        b.effect(CopyOp::WaitAll, &[]);
        b.effect(SyncOp::Block, &[]);
        let loaded = b.load_shared(window);
        let wide = b.cast(loaded, Dtype::F32);
        let sum = b.binary(crate::ir::Binary::Add, acc, wide);
        b.effect(SyncOp::Block, &[]);
        sum
    }));
    assert!(!changed, "there is nothing to hide the copies behind");
}

/// Blocks of the usual loop with `warps` warps and a window of `bytes` bytes.
fn blocks(warps: u32, shared_bytes: u32, aligned: bool) -> Option<u32> {
    let mut b = Builder::new("k", warps);
    let out = b.tensor("out", Dtype::F32, 2);
    let x = if aligned { b.tensor("x", Dtype::F16, 2) } else { b.plain_tensor("x", Dtype::F16, 2) };
    let (_, window) = b.shared(Dtype::F16, &[32, 32]);
    let (zero, end, step) = (b.int(0), b.dim(x, 1), b.int(32));
    let zeros = b.zeros(Dtype::F32, &[32, 32]);
    let ends = b.count([zero, end, step], &[zeros], |b, k, carried| {
        vec![usual(b, x, window, k, carried[0])]
    });
    b.store_tensor(out, &[zero, zero], ends[0]);
    let mut kernel = b.finish();
    let inferred = infer(&mut kernel).expect("the kernel has layouts");
    blocks_per_multiprocessor(&kernel, &inferred.layouts, shared_bytes)
}

#[test]
fn no_more_blocks_are_asked_for_than_fit() {
    // One warp: an accumulator of 32 registers, operands of 16 each, 16 for addresses: 80 of 65536, for 32 threads.
    assert_eq!(blocks(1, 2048, true), Some(25));
    // Shared memory: 164 KiB of a multiprocessor, 1 KiB of each block reserved.
    assert_eq!(blocks(1, 15 << 10, true), Some(10));
    assert_eq!(blocks(1, 160 << 10, true), None);
    // 16 warps: of 2048 threads, whatever registers allow (2, 4 and 2 of them, 16: 24).
    assert_eq!(blocks(16, 2048, true), Some(4));
    // Copies of single halves: 32 a thread, four registers each; 80 + 128.
    assert_eq!(blocks(1, 2048, false), Some(9));
}
