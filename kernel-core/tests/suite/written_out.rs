//! `ptx!` from the kernel to the PTX: where it stands, what it may decide, what becomes of it.

use crate::rendered;
use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};

/// The PTX of the general variant of a kernel, or what is wrong with it.
fn compile(body: &str) -> Result<String, Vec<String>> {
    let source = format!(
        "fn k(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, p: Ptr<i32>, n: i32) {{
            let v = x.tile([0], [128]).load();
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attr = quote::quote!(target = sm_80, warps = 4);
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let compiled =
        compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    if !problems.is_empty() {
        return Err(problems.iter().map(|problem| rendered::said(problem, &locations)).collect());
    }
    let variant = compiled[0][0].images[0].variants.last().expect("a kernel has a variant");
    Ok(variant.ptx.clone())
}

/// The codes and headlines of the messages.
fn said(body: &str) -> Vec<String> {
    let found = compile(body).expect_err(body);
    found.iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect()
}

/// How often these words stand in the PTX.
fn count(body: &str, words: &str) -> usize {
    let ptx = compile(body).unwrap_or_else(|found| panic!("{body}\n{}", found.join("\n")));
    ptx.matches(words).count()
}

const LANE: &str = "let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32);";
const LOADED: &str = "let lane = ptx!(\"ld.global.b32 {out}, [{p}];\", p = p => i32);";

#[test]
fn texts_are_neither_merged_nor_dropped_nor_moved() {
    let text = "ptx!(\"mov.u32 {out}, %clock;\" => i32)";
    assert_eq!(count(&format!("{text}; {text};"), "%clock"), 2);
    assert_eq!(count(&format!("let _ = {text} + {text};"), "%clock"), 2);
    assert_eq!(count(&format!("if n > 0 {{ {text}; }}"), "%clock"), 1);
    assert_eq!(count(&format!("for _ in unroll(0..3) {{ {text}; }}"), "%clock"), 3);
    // 128 elements are one for each thread, 512 are four.
    assert_eq!(
        count("let _ = v.map(|e| ptx!(\"tanh.approx.f32 {out}, {e};\", e = e => f32));", "tanh"),
        1
    );
    let wide =
        "let w = x.tile([0], [512]).load(); ptx!(\"tanh.approx.f32 {out}, {w};\", w = w => f32);";
    assert_eq!(count(wide, "tanh"), 4);
    // It runs for each element, even if it reads none.
    let own =
        "let w = x.tile([0], [512]).load(); w.map(|_| ptx!(\"mov.u32 {out}, %clock;\" => i32));";
    assert_eq!(count(own, "%clock"), 4);
    // Of 32 elements each thread has one, four threads the same.
    let few = "ptx!(\"red.global.add.s32 [{q}], 1;\", q = p + arange(0, 32));";
    assert_eq!(count(few, "red.global"), 1);
    // Of 2 elements each thread has both, in four registers.
    let both = "ptx!(\"red.global.add.s32 [{q}], 1;\",
        q = (p + arange(0, 2)).to_layout(blocked([4], [32], [4], [0])));";
    assert_eq!(count(both, "red.global"), 2);
    // Constants are in registers, as the form may want.
    assert_eq!(
        count("ptx!(\"red.global.add.s32 [{p}], {one};\", p = p, one = 1i32);", "red.global"),
        1
    );

    // In their order, around what touches memory.
    let body =
        "ptx!(\"membar.gl;\"); store(p, n); ptx!(\"membar.sys;\"); sync(); ptx!(\"membar.cta;\");";
    let ptx = compile(body).expect("it compiles");
    let mut rest = ptx.as_str();
    for words in ["membar.gl;", "st.global", "membar.sys;", "bar.sync", "membar.cta;"] {
        let (_, after) = rest.split_once(words).unwrap_or_else(|| panic!("{words} in {ptx}"));
        rest = after;
    }
    // In a loop it stays, though nothing of it changes from iteration to iteration.
    let ptx = compile("for _ in 0..n { ptx!(\"membar.gl;\"); }").expect("it compiles");
    let (label, text) = (ptx.find("L0:"), ptx.find("membar.gl"));
    assert!(label.is_some() && label < text, "{ptx}");
}

#[test]
fn what_a_thread_has_for_itself_decides_nothing() {
    let condition = "[K0406] the condition may differ from thread to thread";
    let range = "[K0406] the range of a loop may differ from thread to thread";
    let window = "[K0406] the coordinate of a window may differ from thread to thread";
    for (body, headline) in [
        ("if lane == 0 { store(p, 1); }", condition),
        ("if n > 0 && 2 * lane + 1 > n { sync(); }", condition),
        ("let mut i = 0; while i < lane { i += 1; store(p, i); }", condition),
        ("let mut i = 0; while i < 5 { if n == 3 { i = lane; } i += 1; sync(); }", condition),
        ("let s = if n > 0 { lane } else { 0 }; if s > 2 { sync(); }", condition),
        ("fn f(i: i32) -> bool { i > 3 } if f(lane) { sync(); }", condition),
        ("if full([128], lane).max(0).item() > 3 { sync(); }", condition),
        (
            "let t = v.map(|e| ptx!(\"shfl.sync.idx.b32 {out}, {e}, 0, 31, -1;\", e = e => f32)); if t.sum(0).item() > 0.0 { sync(); }",
            condition,
        ),
        ("if load(p + lane) > 0 { sync(); }", condition),
        ("for i in 0..lane { store(p, i); }", range),
        ("for i in range(lane, 8, 1) { store(p, i); }", range),
        ("y.tile([lane], [128]).store(v);", window),
        ("y.tile([0], [128]).store(x.tile([lane * 128], [128]).load());", window),
        (
            "let s = shared::<f32>([2, 128]); copy_async(x.tile([lane], [128]), s[0]); copy_async_wait_all(); sync();",
            window,
        ),
        (
            "let s = shared::<f32>([2, 128]); s[lane].store(v);",
            "[K0406] the index into shared memory may differ from thread to thread",
        ),
    ] {
        assert_eq!(said(&format!("{LANE} {body}")), [headline], "{body}");
    }
    assert_eq!(said(&format!("{LOADED} if lane > 0 {{ sync(); }}")), [condition]);
}

#[test]
fn what_is_the_same_in_every_thread_may_decide() {
    for body in [
        "let b = ptx!(\"bfind.s32 {out}, {n};\", n = n => i32); if b > 3 { sync(); }",
        "let b = ptx!(\"mov.u32 {out}, %ctaid.x;\" => i32); for i in 0..b { store(p, i); }",
        "let old = atomic::add(p, ptx!(\"mov.u32 {out}, %laneid;\" => i32)); if old > 3 { sync(); }",
        "let t = ptx!(\"ex2.approx.ftz.f32 {out}, {v};\", v = v => f32); if t.sum(0).item() > 0.0 { sync(); }",
        "let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32); store(p, lane); device_assert(lane < 32);
         y.tile([0], [128]).store(select(full([128], lane).eq(0), v, 0.0));",
        "let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32); if n > 0 { store(p, lane); }",
    ] {
        if let Err(found) = compile(body) {
            panic!("{body}\n{}", found.join("\n"));
        }
    }
}

#[test]
fn operands_and_results_have_types_of_their_own() {
    for (body, headline) in [
        (
            "ptx!(\"add.s32 {out}, {a}, 1;\", a = 1 => i32);",
            "[K0204] an operand of `ptx!` needs a type",
        ),
        (
            "ptx!(\"add.f32 {out}, {a}, 1.0;\", a = -1.5 => f32);",
            "[K0204] an operand of `ptx!` needs a type",
        ),
        (
            "ptx!(\"neg.f32 {out}, {a};\", a = zeros([32]) => f32);",
            "[K0204] an operand of `ptx!` needs a type",
        ),
        (
            "ptx!(\"neg.s32 {out}, {a};\", a = n.cast::<i16>() => i32);",
            "[K0204] `ptx!` has no registers of `i16`",
        ),
        ("ptx!(\"neg.s32 {out}, {a};\", a = n => u8);", "[K0204] `ptx!` has no registers of `u8`"),
        (
            "ptx!(\"neg.f32 {out}, {a};\", a = v => Tile<f32>);",
            "[K0206] the type after `=>` is the type of one element",
        ),
        (
            "ptx!(\"neg.f32 {out}, {a};\", a = x => f32);",
            "[K0206] a tensor stands where a scalar or a tile is required",
        ),
        (
            "let s = shared::<f32>([32]); ptx!(\"neg.f32 {out}, {a};\", a = s => f32);",
            "[K0206] an operand of `ptx!` is in registers",
        ),
        (
            "ptx!(\"add.f32 {out}, {a}, {b};\", a = v, b = x.tile([0], [64]).load() => f32);",
            "[K0202] `ptx!` combines tiles of different shapes",
        ),
        (
            "ptx!(\"neg.f32 {out}, {a};\", a = v, a = v => f32);",
            "[K0111] `a` is the name of another operand",
        ),
        (
            "ptx!(\"neg.f32 {out}, {out};\", out = v => f32);",
            "[K0111] `out` is the name of a result",
        ),
        (
            "ptx!(\"st.global.f32 [{q}], 0.0;\", q = x.ptr());",
            "[K0401] a store of `ptx!` to `x`, which is read-only",
        ),
        (
            "let q = ptx!(\"add.u64 {out}, {q}, 4;\", q = x.ptr() => Ptr<f32>); store(q, 1.0);",
            "[K0401] a store to `x`, which is read-only",
        ),
        (
            "let s = v.reduce(0, |a, b| ptx!(\"add.rz.f32 {out}, {a}, {b};\", a = a, b = b => f32));",
            "[K0206] a reduction combines two scalars by arithmetic only",
        ),
        (
            "ptx!(n);",
            "[K0111] `ptx!` takes a text, operands with names, and the types of its results",
        ),
        (
            "ptx!(\"neg.f32 {out}, {v};\", v => f32);",
            "[K0111] `ptx!` takes a text, operands with names, and the types of its results",
        ),
        (
            "ptx!(\"membar.gl;\" => );",
            "[K0111] `ptx!` takes a text, operands with names, and the types of its results",
        ),
        (
            "ptx!(\"fence.proxy.async;\");",
            "[K0502] `fence.proxy.async` is not an instruction of sm_80",
        ),
    ] {
        assert_eq!(said(body), [headline], "{body}");
    }
    // The branch of another target is looked at, and may have what that target has.
    let other = "if target(sm_90a) { ptx!(\"fence.proxy.async;\"); }";
    assert_eq!(count(other, "fence.proxy"), 0);
}
