//! Layouts that the user pinned.

#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written with them")]

use expect_test::{Expect, expect};
use kernel_layout::Form;

use super::super::infer;
use super::text;
use crate::ir::tests::builder::Builder;
use crate::ir::{Binary, Dtype, Kernel, TileOp, Value};

fn blocked(per_thread: &[u32], lanes: &[u32], warps: &[u32], order: &[u32]) -> Form {
    let [per_thread, lanes, warps, order] = [per_thread, lanes, warps, order].map(<[u32]>::to_vec);
    Form::Blocked { per_thread, lanes, warps, order }
}

fn pin(b: &mut Builder, value: Value, form: Form) -> Value {
    b.same(TileOp::ToLayout(form), &[value])
}

#[test]
fn vectors_are_loaded_as_they_are_pinned() {
    let mut b = Builder::new("rows", 4);
    let [rows, out] = ["rows", "out"].map(|name| b.tensor(name, Dtype::I32, 1));
    let zero = b.int(0);
    let loaded = b.load_tensor(rows, &[zero], &[128]);
    let parent = blocked(&[1, 4], &[32, 1], &[1, 4], &[1, 0]);
    let pinned = pin(&mut b, loaded, Form::Slice { axis: 0, parent: Box::new(parent) });
    b.store_tensor(out, &[zero], pinned);
    expect![[r#"
        L0 = register [1] [2] [16] [32] [64], lane [0] [0] [0] [0] [0], warp [4] [8] -> [128]
        kernel rows(rows: tensor_mut<i32, 1>, out: tensor_mut<i32, 1>)
        {
          %0 = const 0 : i32
          %1 = load_tensor rows [%0] : i32[128] in L0
          %2 = to_layout %1 slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0])) : i32[128] in L0  // free
          store_tensor out [%0] %2
          return
        }
    "#]].assert_eq(&text(b.finish()));
}

#[test]
fn two_pins_meet_in_a_conversion() {
    let mut b = Builder::new("meet", 4);
    let [x, y, out] = ["x", "y", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[64, 64]);
    let y = b.load_tensor(y, &[zero, zero], &[64, 64]);
    let x = pin(&mut b, x, blocked(&[1, 4], &[2, 16], &[4, 1], &[1, 0]));
    let y = pin(&mut b, y, blocked(&[4, 1], &[16, 2], &[1, 4], &[0, 1]));
    let sum = b.binary(Binary::Add, x, y);
    b.store_tensor(out, &[zero, zero], sum);
    expect![[r#"
        L0 = register [0,1] [0,2] [8,0] [16,0] [32,0], lane [0,4] [0,8] [0,16] [0,32] [1,0], warp [2,0] [4,0] -> [64, 64]
        L1 = register [1,0] [2,0] [0,8] [0,16] [0,32], lane [4,0] [8,0] [16,0] [32,0] [0,1], warp [0,2] [0,4] -> [64, 64]
        kernel meet(x: tensor_mut<f32, 2>, y: tensor_mut<f32, 2>, out: tensor_mut<f32, 2>)
        {
          %0 = const 0 : i32
          %1 = load_tensor x [%0, %0] : f32[64, 64] in L0
          %2 = load_tensor y [%0, %0] : f32[64, 64] in L0
          %3 = to_layout %1 blocked([1, 4], [2, 16], [4, 1], [1, 0]) : f32[64, 64] in L0  // free
          %4 = to_layout %2 blocked([4, 1], [16, 2], [1, 4], [0, 1]) : f32[64, 64] in L1  // shared memory, 16384 bytes, no bank conflicts
          %5 = to_layout %4 : f32[64, 64] in L0  // shared memory, 16384 bytes, no bank conflicts
          %6 = add %3, %5 : f32[64, 64] in L0
          store_tensor out [%0, %0] %6
          return
        }
    "#]].assert_eq(&text(b.finish()));
}

#[test]
fn conversions_leave_loops_that_do_not_change_the_tile() {
    let mut b = Builder::new("hoisted", 4);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[64, 64]);
    let y = pin(&mut b, x, blocked(&[4, 1], &[16, 2], &[1, 4], &[0, 1]));
    let range = [b.int(0), b.int(8), b.int(1)];
    let ends = b.count(range, &[x], |b, _, carried| vec![b.binary(Binary::Add, carried[0], y)]);
    b.store_tensor(out, &[zero, zero], ends[0]);
    expect![[r#"
        L0 = register [0,1] [0,2] [8,0] [16,0] [32,0], lane [0,4] [0,8] [0,16] [0,32] [1,0], warp [2,0] [4,0] -> [64, 64]
        L1 = register [1,0] [2,0] [0,8] [0,16] [0,32], lane [4,0] [8,0] [16,0] [32,0] [0,1], warp [0,2] [0,4] -> [64, 64]
        L2 = register [0,1] [0,2] [1,0] [2,0] [32,0], lane [0,4] [0,8] [0,16] [0,32] [4,0], warp [8,0] [16,0] -> [64, 64]
        kernel hoisted(x: tensor_mut<f32, 2>, out: tensor_mut<f32, 2>)
        {
          %0 = const 0 : i32
          %1 = load_tensor x [%0, %0] : f32[64, 64] in L0
          %2 = to_layout %1 blocked([4, 1], [16, 2], [1, 4], [0, 1]) : f32[64, 64] in L1  // shared memory, 16384 bytes, no bank conflicts
          %3 = const 0 : i32
          %4 = const 8 : i32
          %5 = const 1 : i32
          for %6 in (%3, %4, %5) carry (%7 = %2 : f32[64, 64] in L1) -> (%8 : f32[64, 64] in L1) {
            %9 = add %7, %2 : f32[64, 64] in L1
            continue (%9)
          }
          %10 = to_layout %8 : f32[64, 64] in L2  // shared memory, 16384 bytes, no bank conflicts
          store_tensor out [%0, %0] %10
          return
        }
    "#]].assert_eq(&text(b.finish()));
}

#[test]
fn a_reduction_leaves_the_slice_and_is_converted() {
    let mut b = Builder::new("reduced", 4);
    let x = b.tensor("x", Dtype::F32, 2);
    let out = b.tensor("out", Dtype::F32, 1);
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[64, 128]);
    let start = b.zeros(Dtype::F32, &[64]);
    let start = pin(&mut b, start, blocked(&[1], &[32], &[4], &[0]));
    let range = [b.int(0), b.int(8), b.int(1)];
    let ends = b.count(range, &[start], |b, _, carried| {
        let sum = b.reduce(x, 1, Binary::Add);
        vec![b.binary(Binary::Add, carried[0], sum)]
    });
    b.store_tensor(out, &[zero], ends[0]);
    expect![[r#"
        L0 = register [0,1] [0,2] [4,0] [8,0] [16,0] [32,0], lane [0,4] [0,8] [0,16] [0,32] [0,64], warp [1,0] [2,0] -> [64, 128]
        L1 = register, lane [1] [2] [4] [8] [16], warp [32] [0] -> [64]
        L2 = register [4] [8] [16] [32], lane [0] [0] [0] [0] [0], warp [1] [2] -> [64]
        kernel reduced(x: tensor_mut<f32, 2>, out: tensor_mut<f32, 1>)
        {
          %0 = const 0 : i32
          %1 = load_tensor x [%0, %0] : f32[64, 128] in L0
          %2 = const 0.0 : f32
          %3 = splat %2 : f32[64] in L1
          %4 = to_layout %3 blocked([1], [32], [4], [0]) : f32[64] in L1  // free
          %5 = const 0 : i32
          %6 = const 8 : i32
          %7 = const 1 : i32
          for %8 in (%5, %6, %7) carry (%9 = %4 : f32[64] in L1) -> (%10 : f32[64] in L1) {
            reduce 1 (%1) by (%12 : f32, %13 : f32) -> (%11 : f32[64] in L2) {  // between lanes
              %14 = add %12, %13 : f32
              yield (%14)
            }
            %15 = to_layout %11 : f32[64] in L1  // shared memory, 256 bytes, no bank conflicts
            %16 = add %9, %15 : f32[64] in L1
            continue (%16)
          }
          store_tensor out [%0] %10
          return
        }
    "#]].assert_eq(&text(b.finish()));
}

/// A product whose left operand, or whose accumulator, is pinned.
fn product(factors: Dtype, left: Option<Form>, accumulator: Option<Form>) -> Kernel {
    let mut b = Builder::new("product", 4);
    let out = b.tensor("out", Dtype::F32, 2);
    let [x, y] = ["x", "y"].map(|name| b.tensor(name, factors, 2));
    let (_, sx) = b.shared(factors, &[64, 32]);
    let (_, sy) = b.shared(factors, &[32, 64]);
    let zero = b.int(0);
    b.copy_async(x, &[zero, zero], sx);
    b.copy_async(y, &[zero, zero], sy);
    let (x, y, acc) = (b.load_shared(sx), b.load_shared(sy), b.zeros(Dtype::F32, &[64, 64]));
    let x = left.map_or(x, |form| pin(&mut b, x, form));
    let acc = accumulator.map_or(acc, |form| pin(&mut b, acc, form));
    let acc = b.dot(x, y, acc);
    b.store_tensor(out, &[zero, zero], acc);
    b.finish()
}

#[test]
fn operands_decide_about_the_warps() {
    let form =
        |warps| Form::DotOperand { index: 0, parent: Box::new(Form::MmaV2 { warps }), k_width: 2 };
    let shown = text(product(Dtype::F16, Some(form([1, 4])), None));
    assert!(shown.contains("warp [0,8] [0,16] -> [64, 64]"), "{shown}");
    let shown = text(product(Dtype::F16, None, Some(Form::MmaV2 { warps: [4, 1] })));
    assert!(shown.contains("warp [16,0] [32,0] -> [64, 64]"), "{shown}");
}

fn problems(mut kernel: Kernel) -> String {
    let before = kernel.to_string();
    let problems = infer(&mut kernel).expect_err("the layout is not possible");
    assert_eq!(before, kernel.to_string(), "an error leaves the kernel alone");
    problems.iter().flat_map(|problem| [format!("{problem:?}"), "\n".to_owned()]).collect()
}

#[track_caller]
fn check_pin(form: Form, expect: &Expect) {
    let mut b = Builder::new("pinned", 4);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let x = b.load_tensor(x, &[zero, zero], &[64, 64]);
    let x = pin(&mut b, x, form);
    b.store_tensor(out, &[zero, zero], x);
    expect.assert_eq(&problems(b.finish()));
}

#[test]
fn impossible_pins_are_reported() {
    check_pin(
        blocked(&[4], &[32], &[4], &[0]),
        &expect![[r#"
            Form { at: Loc(0), form: Blocked { per_thread: [4], lanes: [32], warps: [4], order: [0] }, place: Place { memory: Registers, shape: [64, 64], element_bytes: 4, warps: 4 }, error: Rank { what: "per_thread", actual: 1, required: 2 } }
        "#]],
    );
    check_pin(
        blocked(&[1, 4], &[4, 4], &[4, 1], &[1, 0]),
        &expect![[r#"
            Form { at: Loc(0), form: Blocked { per_thread: [1, 4], lanes: [4, 4], warps: [4, 1], order: [1, 0] }, place: Place { memory: Registers, shape: [64, 64], element_bytes: 4, warps: 4 }, error: Lanes { actual: 16, required: 32 } }
        "#]],
    );
    check_pin(
        blocked(&[1, 4], &[2, 16], &[4, 2], &[1, 0]),
        &expect![[r#"
            Warps { at: Loc(0), form: Blocked { per_thread: [1, 4], lanes: [2, 16], warps: [4, 2], order: [1, 0] }, actual: 8, required: 4, place: Place { memory: Registers, shape: [64, 64], element_bytes: 4, warps: 4 } }
        "#]],
    );
    check_pin(
        Form::RowMajor,
        &expect![[r#"
            OtherMemory { at: Loc(0), form: RowMajor, actual: Shared, place: Place { memory: Registers, shape: [64, 64], element_bytes: 4, warps: 4 } }
        "#]],
    );
}

#[test]
fn pinned_operands_that_a_product_cannot_use_are_reported() {
    let by_rows = blocked(&[1, 4], &[4, 8], &[4, 1], &[1, 0]);
    expect![[r#"
        DotOperand { at: Loc(0), index: 0, pinned_at: Loc(0), actual: Layout { ins: [(Register, [[0, 1], [0, 2], [16, 0], [32, 0]]), (Lane, [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]]), (Warp, [[4, 0], [8, 0]])], outs: [(Axis(0), 64), (Axis(1), 32)] }, required: Layout { ins: [(Register, [[0, 1], [8, 0], [0, 8], [0, 16], [32, 0]]), (Lane, [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]), (Warp, [[0, 0], [16, 0]])], outs: [(Axis(0), 64), (Axis(1), 32)] }, form: DotOperand { index: 0, parent: MmaV2 { warps: [2, 2] }, k_width: 2 } }
    "#]].assert_eq(&problems(product(Dtype::F16, Some(by_rows), None)));
}

/// How the accumulator of a product of `[64, 32]` by `[32, 64]` may spell `blocked([1, 4], [2, 16], [4, 1], [1, 0])`.
fn spellings() -> [Form; 3] {
    let written = blocked(&[1, 4], &[2, 16], &[4, 1], &[1, 0]);
    let bases = written.to_layout(&[64, 64]).expect("the lists are right");
    let parent = Box::new(blocked(&[1, 4, 1], &[2, 16, 1], &[4, 1, 1], &[1, 0, 2]));
    [written, Form::Linear(bases), Form::Slice { axis: 2, parent }]
}

#[test]
fn tensor_cores_multiply_whatever_the_accumulator_is_pinned_to() {
    let shown = spellings().map(|form| {
        let written = format!(" {form}");
        text(product(Dtype::F16, None, Some(form))).replace(&written, "")
    });
    expect![[r#"
        L0 = offset [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,16] [8,0] [16,0] [32,0] -> [64, 32]
        L1 = offset [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [1,8] [2,16] [4,32] [8,0] [16,0] -> [32, 64]
        L2 = register [0,1] [8,0] [0,8] [0,16] [32,0], lane [0,2] [0,4] [1,0] [2,0] [4,0], warp [0,0] [16,0] -> [64, 32]
        L3 = register [1,0] [8,0] [16,0] [0,16] [0,32], lane [2,0] [4,0] [0,1] [0,2] [0,4], warp [0,8] [0,0] -> [32, 64]
        L4 = register [0,1] [0,2] [8,0] [16,0] [32,0], lane [0,4] [0,8] [0,16] [0,32] [1,0], warp [2,0] [4,0] -> [64, 64]
        L5 = register [0,1] [8,0] [0,16] [0,32] [32,0], lane [0,2] [0,4] [1,0] [2,0] [4,0], warp [0,8] [16,0] -> [64, 64]
        kernel product(out: tensor_mut<f32, 2>, x: tensor_mut<f16, 2>, y: tensor_mut<f16, 2>)
          shared @tile0 : f16[64, 32] in L0
          shared @tile1 : f16[32, 64] in L1
        {
          %0 = shared_alloc @tile0 : @tile0 f16[64, 32]
          %1 = shared_alloc @tile1 : @tile1 f16[32, 64]
          %2 = const 0 : i32
          copy_async x [%2, %2] %0
          copy_async y [%2, %2] %1
          %3 = load_shared %0 : f16[64, 32] in L2  // no bank conflicts
          %4 = load_shared %1 : f16[32, 64] in L3  // no bank conflicts
          %5 = const 0.0 : f32
          %6 = splat %5 : f32[64, 64] in L4
          %7 = to_layout %6 : f32[64, 64] in L4  // free
          %8 = to_layout %7 : f32[64, 64] in L5  // shared memory, 16384 bytes, no bank conflicts
          %9 = dot %3, %4, %8 : f32[64, 64] in L5
          store_tensor out [%2, %2] %9
          return
        }
    "#]].assert_eq(&shown[0]);
    assert_eq!((&shown[1], &shown[2]), (&shown[0], &shown[0]));
}

#[test]
fn a_blocked_accumulator_is_one_by_any_name() {
    let shown = spellings().map(|form| {
        let written = format!(" {form}");
        text(product(Dtype::F32, None, Some(form))).replace(&written, "")
    });
    assert!(shown[0].contains("// free"), "{}", shown[0]);
    assert_eq!((&shown[1], &shown[2]), (&shown[0], &shown[0]));
    // An accumulator of `mma.sync` is not, by whichever name.
    let accumulator = Form::MmaV2 { warps: [2, 2] };
    let bases = accumulator.to_layout(&[64, 64]).expect("a matrix");
    for form in [accumulator, Form::Linear(bases)] {
        let problems = infer(&mut product(Dtype::F32, None, Some(form))).expect_err("refused");
        let accumulator =
            matches!(problems[..], [super::super::LayoutProblem::DotAccumulator { .. }]);
        assert!(accumulator, "{problems:?}");
    }
}

/// Three iterations of `acc = dot(x, y, acc) * acc`, from an accumulator in a pinned layout; `pinned` pins what each iteration leaves, too.
fn sums(pinned: Option<Form>) -> String {
    let mut b = Builder::new("sums", 4);
    let out = b.tensor("out", Dtype::F32, 2);
    let [x, y] = ["x", "y"].map(|name| b.tensor(name, Dtype::F16, 2));
    let (_, sx) = b.shared(Dtype::F16, &[64, 32]);
    let (_, sy) = b.shared(Dtype::F16, &[32, 64]);
    let zero = b.int(0);
    b.copy_async(x, &[zero, zero], sx);
    b.copy_async(y, &[zero, zero], sy);
    let start = b.load_tensor(out, &[zero, zero], &[64, 64]);
    let start = pin(&mut b, start, blocked(&[1, 4], &[2, 16], &[4, 1], &[1, 0]));
    let (three, one) = (b.int(3), b.int(1));
    let results = b.count([zero, three, one], &[start], |b, _, carried| {
        let (x, y) = (b.load_shared(sx), b.load_shared(sy));
        let sum = b.dot(x, y, carried[0]);
        let sum = b.binary(Binary::Mul, sum, carried[0]);
        vec![pinned.map_or(sum, |form| pin(b, sum, form))]
    });
    b.store_tensor(out, &[zero, zero], results[0]);
    text(b.finish())
}

#[test]
fn sums_that_a_loop_carries_stay_where_the_product_leaves_them() {
    let shown = sums(None);
    let (_, body) = shown.split_once("for ").expect("there is a loop");
    assert!(!body.split_once('}').expect("it ends").0.contains("to_layout"), "{shown}");
    // A pin inside of the loop asks for conversions in every iteration, one to it and one back.
    let shown = sums(Some(blocked(&[1, 4], &[2, 16], &[4, 1], &[1, 0])));
    let (_, body) = shown.split_once("for ").expect("there is a loop");
    let exchanges = body.split_once('}').expect("it ends").0.matches("// shared memory").count();
    assert_eq!(exchanges, 2, "{shown}");
}

#[test]
fn shared_pins_are_taken_as_they_are() {
    let pinned = |form: Form| {
        let mut b = Builder::new("pinned", 4);
        let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F16, 2));
        let (root, window) = b.shared(Dtype::F16, &[64, 32]);
        b.pin_shared(root, form);
        let zero = b.int(0);
        b.copy_async(x, &[zero, zero], window);
        let x = b.load_shared(window);
        b.store_tensor(out, &[zero, zero], x);
        b.finish()
    };
    let swizzled = Form::Swizzled { vec: 8, per_phase: 2, max_phase: 2, order: vec![1, 0] };
    expect![[r#"
        L0 = offset [0,1] [0,2] [0,4] [0,8] [0,16] [1,0] [2,8] [4,0] [8,0] [16,0] [32,0] -> [64, 32]
        L1 = register [0,1] [0,2] [0,4] [32,0], lane [0,8] [0,16] [1,0] [2,0] [4,0], warp [8,0] [16,0] -> [64, 32]
        kernel pinned(x: tensor_mut<f16, 2>, out: tensor_mut<f16, 2>)
          shared @tile0 : f16[64, 32] in L0 pinned swizzled(8, 2, 2, [1, 0])
        {
          %0 = shared_alloc @tile0 : @tile0 f16[64, 32]
          %1 = const 0 : i32
          copy_async x [%1, %1] %0
          %2 = load_shared %0 : f16[64, 32] in L1  // no bank conflicts
          store_tensor out [%1, %1] %2
          return
        }
    "#]].assert_eq(&text(pinned(swizzled)));
    expect![[r#"
        OtherMemory { at: Loc(0), form: MmaV2 { warps: [2, 2] }, actual: Registers, place: Place { memory: Shared, shape: [64, 32], element_bytes: 2, warps: 1 } }
    "#]]
    .assert_eq(&problems(pinned(Form::MmaV2 { warps: [2, 2] })));
    let one_axis = Form::Swizzled { vec: 8, per_phase: 2, max_phase: 2, order: vec![0] };
    expect![[r#"
        Form { at: Loc(0), form: Swizzled { vec: 8, per_phase: 2, max_phase: 2, order: [0] }, place: Place { memory: Shared, shape: [64, 32], element_bytes: 2, warps: 1 }, error: Rank { what: "order", actual: 1, required: 2 } }
    "#]].assert_eq(&problems(pinned(one_axis)));
}

/// A loaded tile, added to itself, of which a layout is asserted; with `pinned`, the load's layout is pinned before.
fn asserted(form: Form, pinned: Option<Form>) -> Kernel {
    let mut b = Builder::new("asserted", 4);
    let [x, out] = ["x", "out"].map(|name| b.tensor(name, Dtype::F32, 2));
    let zero = b.int(0);
    let mut tile = b.load_tensor(x, &[zero, zero], &[64, 64]);
    if let Some(form) = pinned {
        tile = pin(&mut b, tile, form);
    }
    let sum = b.binary(Binary::Add, tile, tile);
    let sum = b.same(TileOp::AssertLayout(form), &[sum]);
    b.store_tensor(out, &[zero, zero], sum);
    b.finish()
}

#[test]
fn an_assertion_costs_nothing_or_is_refused() {
    let rows = blocked(&[1, 4], &[2, 16], &[4, 1], &[1, 0]);
    let columns = blocked(&[4, 1], &[16, 2], &[1, 4], &[0, 1]);
    let problems = |kernel: Kernel| infer(&mut kernel.clone()).err().unwrap_or_default();
    // What a load by rows has anyway, and what was pinned before.
    assert_eq!(problems(asserted(rows.clone(), None)), []);
    assert_eq!(problems(asserted(columns.clone(), Some(columns.clone()))), []);
    let refused = problems(asserted(columns.clone(), None));
    let [super::super::LayoutProblem::Asserted { actual, required, form, .. }] = &refused[..]
    else {
        panic!("{refused:?}")
    };
    assert_eq!((form, required), (&columns, &columns.to_layout(&[64, 64]).expect("a layout")));
    assert_eq!(*actual, rows.to_layout(&[64, 64]).expect("a layout"));
    // The same elements in other registers of the same thread: renaming them costs nothing.
    let renamed = blocked(&[2, 4], &[2, 16], &[4, 1], &[0, 1]);
    let other = blocked(&[2, 4], &[2, 16], &[4, 1], &[1, 0]);
    let renamed = renamed.to_layout(&[64, 64]).expect("a layout");
    let in_lanes = Form::Linear(
        kernel_layout::Layout::new(
            vec![
                (
                    kernel_layout::Dim::Register,
                    renamed.bases(kernel_layout::Dim::Register).to_vec(),
                ),
                (
                    kernel_layout::Dim::Lane,
                    other
                        .to_layout(&[64, 64])
                        .expect("a layout")
                        .bases(kernel_layout::Dim::Lane)
                        .to_vec(),
                ),
                (
                    kernel_layout::Dim::Warp,
                    other
                        .to_layout(&[64, 64])
                        .expect("a layout")
                        .bases(kernel_layout::Dim::Warp)
                        .to_vec(),
                ),
            ],
            renamed.outs().to_vec(),
        )
        .expect("a layout"),
    );
    assert_eq!(problems(asserted(in_lanes, Some(other))), []);
}
