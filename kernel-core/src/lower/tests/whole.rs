//! Whole kernels: the PTX they become.

use expect_test::{Expect, expect};
use kernel_ptx::{Modifier, Module, Opcode, Word};

use crate::ir::tests::builder::Builder;
use crate::ir::{Binary, CopyOp, Dtype, Kernel, MemoryOp, SourceOp, SyncOp, TileOp};
use crate::layouts::infer;
use crate::lower::{Lowered, run};

fn lowered(mut kernel: Kernel) -> Lowered {
    let inferred = infer(&mut kernel).expect("the kernel has layouts");
    let lowered = run(&kernel, &inferred.layouts, &inferred.shared, "k.rs", &|_| (0, 0));
    assert_eq!(lowered.module.validate().map_err(|invalid| format!("{invalid:?}")), Ok(()));
    let text = kernel_ptx::print(&lowered.module);
    let again = kernel_ptx::parse(&text).expect("the text is PTX");
    assert_eq!(kernel_ptx::print(&again), text);
    lowered
}

/// The instructions, one a line, without declarations.
fn body(module: &Module) -> String {
    let text = kernel_ptx::print(module);
    let start = text.rfind(".reg").and_then(|at| text[at..].find('\n').map(|end| at + end + 1));
    let body = text[start.expect("a kernel has registers")..].trim_end_matches("}\n");
    let lines: Vec<&str> = body.lines().map(str::trim_start).collect();
    lines.join("\n") + "\n"
}

fn check(kernel: Kernel, expect: &Expect) {
    expect.assert_eq(&body(&lowered(kernel).module));
}

fn count(module: &Module, opcode: Opcode, word: Option<Word>) -> usize {
    let has =
        |modifiers: &[Modifier]| word.is_none_or(|word| modifiers.contains(&Modifier::Word(word)));
    module.instructions().filter(|(_, inst)| inst.opcode == opcode && has(&inst.modifiers)).count()
}

#[test]
fn aligned_tiles_go_in_vectors() {
    let mut b = Builder::new("twice", 1);
    let (x, y) = (b.tensor("x", Dtype::F32, 1), b.tensor("y", Dtype::F32, 1));
    let start = b.block_start(0, 128);
    let tile = b.load_tensor(x, &[start], &[128]);
    let sum = b.binary(Binary::Add, tile, tile);
    b.store_tensor(y, &[start], sum);
    check(
        b.finish(),
        &expect![[r"
            mov.u32 %r0, %ctaid.x;
            mov.u32 %r1, %tid.x;
            ld.param.u64 %rd0, [p0_data];
            ld.param.u32 %r2, [p0_dim0];
            ld.param.u64 %rd1, [p1_data];
            ld.param.u32 %r3, [p1_dim0];
            shl.b32 %r4, %r0, 7;
            shl.b32 %r5, %r1, 2;
            cvta.to.global.u64 %rd2, %rd0;
            add.s32 %r6, %r4, %r5;
            mul.wide.s32 %rd3, %r6, 4;
            add.s64 %rd4, %rd2, %rd3;
            setp.lt.u32 %p0, %r6, %r2;
            mov.f32 %f0, 0f00000000;
            mov.f32 %f1, 0f00000000;
            mov.f32 %f2, 0f00000000;
            mov.f32 %f3, 0f00000000;
            @%p0 ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd4];
            add.rn.f32 %f4, %f0, %f0;
            add.rn.f32 %f5, %f1, %f1;
            add.rn.f32 %f6, %f2, %f2;
            add.rn.f32 %f7, %f3, %f3;
            cvta.to.global.u64 %rd5, %rd1;
            add.s64 %rd6, %rd5, %rd3;
            setp.lt.u32 %p1, %r6, %r3;
            @%p1 st.global.v4.f32 [%rd6], {%f4, %f5, %f6, %f7};
            ret;
        "]],
    );
}

#[test]
fn exchanged_values_are_read_before_they_are_written() {
    let mut b = Builder::new("exchange", 1);
    let x = b.plain_tensor("x", Dtype::I32, 1);
    let (zero, n, one) = (b.int(0), b.dim(x, 0), b.int(1));
    let (first, second) = (b.int(3), b.int(5));
    let results =
        b.count([zero, n, one], &[first, second], |_, _, carried| vec![carried[1], carried[0]]);
    let tile = b.splat(results[0], &[32]);
    b.store_tensor(x, &[zero], tile);
    let text = body(&lowered(b.finish()).module);
    let iteration = text.split("L0:").nth(1).and_then(|rest| rest.split("add.s32").next());
    expect![[r"

        mov.b32 %r5, %r4;
        mov.b32 %r4, %r3;
        mov.b32 %r3, %r5;
    "]]
    .assert_eq(iteration.expect("there is a loop"));
}

#[test]
fn a_product_is_made_of_matrices() {
    let mut b = Builder::new("product", 4);
    let [left_param, right_param, out] = ["x", "y", "z"].map(|name| b.tensor(name, Dtype::F16, 2));
    let (row, column) = (b.block_start(0, 64), b.block_start(1, 64));
    let ((_, left), (_, right)) =
        (b.shared(Dtype::F16, &[64, 32]), b.shared(Dtype::F16, &[32, 64]));
    let zeros = b.zeros(Dtype::F32, &[64, 64]);
    let (zero, depth, step) = (b.int(0), b.dim(left_param, 1), b.int(32));
    let sums = b.count([zero, depth, step], &[zeros], |b, k, carried| {
        b.copy_async(left_param, &[row, k], left);
        b.copy_async(right_param, &[k, column], right);
        b.effect(CopyOp::WaitAll, &[]);
        b.effect(SyncOp::Block, &[]);
        let (left, right) = (b.load_shared(left), b.load_shared(right));
        let sum = b.dot(left, right, carried[0]);
        b.effect(SyncOp::Block, &[]);
        vec![sum]
    });
    let result = b.cast(sums[0], Dtype::F16);
    b.store_tensor(out, &[row, column], result);
    let lowered = lowered(b.finish());
    let module = &lowered.module;
    // A warp has 64 × 64 × 32 / 4 products, an instruction 16 × 8 × 16.
    assert_eq!(count(module, Opcode::Mma, None), 16);
    assert_eq!(count(module, Opcode::Cp, Some(Word::Cg)), 4);
    assert_eq!(
        count(module, Opcode::Ldmatrix, Some(Word::X4)),
        count(module, Opcode::Ldmatrix, None)
    );
    assert_eq!(count(module, Opcode::Prmt, None), 0);
    // Only the zeros at the start are moved into the accumulator: products are computed where they are carried.
    let moves = module
        .instructions()
        .filter(|(_, inst)| inst.opcode == Opcode::Mov && inst.operands.len() == 2);
    let copies = moves.filter(|(_, inst)| matches!(inst.operands[1], kernel_ptx::Operand::Reg(_)));
    assert_eq!(copies.count(), 1, "the counter");
    assert!(lowered.shared_bytes >= 2 * 64 * 32 * 2);
}

#[test]
fn what_nothing_needs_is_not_there() {
    let mut b = Builder::new("idle", 1);
    let x = b.tensor("x", Dtype::F32, 1);
    let zero = b.int(0);
    let tile = b.load_tensor(x, &[zero], &[128]);
    b.binary(Binary::Add, tile, tile);
    let lowered = lowered(b.finish());
    assert_eq!(lowered.module.instructions().count(), 1, "the return");
    assert_eq!(lowered.shared_bytes, 0);
}

#[test]
fn chains_of_thousands_of_operations_need_no_deep_stack() {
    let mut b = Builder::new("chain", 1);
    let out = b.tensor("out", Dtype::I32, 1);
    let factor = b.scalar_param("factor", Dtype::I32);
    let factor = b.op(SourceOp::ParamScalar(factor), &[], crate::ir::Type::scalar(Dtype::I32));
    let factor = b.splat(factor, &[32]);
    // What follows from ranges and scalars alone is asked for along the whole chain; the second half hangs on a load.
    let mut tile = b.arange(32);
    let start = b.int(0);
    let loaded = b.load_tensor(out, &[start], &[32]);
    for iteration in 0..4000 {
        tile = b.binary(if iteration % 2 == 0 { Binary::Mul } else { Binary::Xor }, tile, factor);
    }
    let mut sum = b.binary(Binary::Add, tile, loaded);
    for iteration in 0..4000 {
        sum = b.binary(if iteration % 2 == 0 { Binary::Mul } else { Binary::Xor }, sum, factor);
    }
    b.store_tensor(out, &[start], sum);
    let kernel = b.finish();
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let compile = move || count(&lowered(kernel).module, Opcode::Xor, None);
    let xors = small.spawn(compile).expect("a thread starts").join();
    assert_eq!(xors.expect("the compiler does not overflow its stack"), 4000);
}

/// Elements of four bytes, 64 by 64.
const TILE_BYTES: u32 = 64 * 64 * 4;

/// A tile that is brought to columns and back `times` times, while shared memory is stored before and, with `later`, read after.
fn converted(times: usize, stored: bool, later: bool) -> u32 {
    let mut b = Builder::new("converted", 4);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let mut tile = b.load_tensor(x, &[zero, zero], &[64, 64]);
    let window = stored.then(|| {
        let (_, window) = b.shared(Dtype::F32, &[64, 64]);
        b.effect(MemoryOp::StoreShared, &[window, tile]);
        b.effect(SyncOp::Block, &[]);
        if !later {
            let loaded = b.load_shared(window);
            tile = b.binary(Binary::Add, tile, loaded);
            b.effect(SyncOp::Block, &[]);
        }
        window
    });
    for _ in 0..times {
        let columns = kernel_layout::Form::Blocked {
            per_thread: vec![4, 1],
            lanes: vec![16, 2],
            warps: vec![1, 4],
            order: vec![0, 1],
        };
        let rows = kernel_layout::Form::Blocked {
            per_thread: vec![1, 4],
            lanes: vec![2, 16],
            warps: vec![4, 1],
            order: vec![1, 0],
        };
        tile = b.same(TileOp::ToLayout(columns), &[tile]);
        tile = b.binary(Binary::Mul, tile, tile);
        tile = b.same(TileOp::ToLayout(rows), &[tile]);
    }
    if later && let Some(window) = window {
        let loaded = b.load_shared(window);
        tile = b.binary(Binary::Add, tile, loaded);
    }
    b.store_tensor(out, &[zero, zero], tile);
    lowered(b.finish()).shared_bytes
}

#[test]
fn conversions_take_turns_in_one_scratch() {
    assert_eq!(converted(0, false, false), 0);
    assert_eq!(converted(1, false, false), TILE_BYTES);
    assert_eq!(converted(3, false, false), TILE_BYTES);
}

#[test]
fn scratch_takes_the_bytes_of_allocations_that_nothing_needs_any_more() {
    assert_eq!(converted(2, true, false), TILE_BYTES);
    assert_eq!(converted(2, true, true), 2 * TILE_BYTES);
}
