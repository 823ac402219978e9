//! What authors write by habit, and the answer: the code of the first message and its fix.

use crate::rendered::rendered;
use kernel_core::{
    check,
    diag::Problems,
    elaborate, eval,
    ir::{Dtype, Kernel},
    loc::Locations,
    syntax,
};

/// The messages of a kernel over `x`, `y`, `p` and `n` with this body, as text.
fn messages(body: &str) -> Vec<String> {
    let source = format!(
        "fn k(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, p: Ptr<f32>, n: i32) {{
            let v = x.tile([0], [128]).load();
            {body}
        }}"
    );
    whole(&source)
}

fn whole(source: &str) -> Vec<String> {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_80, warps = 4), &function)
}

/// The only message of a body has this code and this help, or this example.
#[track_caller]
fn answer(body: &str, code: &str, help: &str) {
    let found = messages(body);
    assert_eq!(found.len(), 1, "{body}\n{}", found.join("\n"));
    assert!(found[0].starts_with(&format!("[{code}]")), "{body}\n{}", found[0]);
    let offered = ["help      ", "example   "].iter().find_map(|row| found[0].split_once(row));
    let given = offered.map_or("", |(_, help)| help);
    // A help that continues an expression repeats it.
    let fits = if help.starts_with('.') { given.ends_with(help) } else { given == help };
    assert!(fits, "{help} of {body}\n{}", found[0]);
}

#[track_caller]
fn compiles(source: &str) {
    let found = whole(source);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_reduction_is_no_scalar() {
    for body in [
        "if v.sum(0) > 3.0 { store(p, 1.0); }",
        "if v.sum(0).gt(3.0) { store(p, 1.0); }",
        "let s: f32 = v.sum(0);",
        "let mut s = 0.0; s += v.sum(0); store(p, s);",
        "let mut s = 0.0f32; s = v.sum(0); store(p, s);",
        "let i = arange(0, 64).max(0); y.tile([i], [128]).store(v);",
        "let i = arange(0, 64).max(0); for _ in 0..i { sync(); }",
        "y.tile([0], [1]).store(full([1], v.max(0)));",
        "store(p, v.max(0));",
        "for _ in 0..v.sum(0) { sync(); }",
        "for _ in range(0, 8, v.max(0)) { sync(); }",
        "let a = array(2, |_| 1.0); let i = arange(0, 64).max(0); store(p, a[i]);",
        "let s = shared::<f32>([2, 64]); let w = s[arange(0, 64).max(0)];",
        "fn f(s: f32) -> f32 { s } store(p, f(v.sum(0)));",
    ] {
        answer(body, "K0206", ".item()");
    }
    answer("y.tile([0], [1]).store(v.sum(0));", "K0202", ".expand(0)");
    answer("y.tile([0], [1]).store(v.sum(0).item());", "K0206", "full([1], x)");
    let help = "arange(0, 64).max(0).item() as usize";
    answer("store(p, [1.0, 2.0][arange(0, 64).max(0)]);", "K0203", help);
    answer("for i in 0..v { sync(); }", "K0206", "");
    answer("store(p, v.item());", "K0202", ".sum(0).item()");
    answer("store(p, n.cast::<f32>().item());", "K0108", "n.cast::<f32>()");
}

#[test]
fn a_reduction_is_a_tile() {
    compiles(
        "fn k(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, n: i32) {
            fn halved(t: Tile<f32>) -> Tile<f32> { t * 0.5 }
            let v = x.tile([0], [128]).load();
            let mut s = halved(v.sum(0));
            for i in 0..n {
                s = select(s.gt(0.0), s.exp(), 0.0) + v.max(0);
            }
            if s.item() > 3.0 { s = -s; }
            y.tile([0], [128]).store(s.broadcast([128]) + v - s);
        }",
    );
}

#[test]
fn habits_of_other_languages_are_answered() {
    answer(
        "y.tile([0], [128]).store(select(v.lt(1.0) && v.ge(0.0), v, v));",
        "K0206",
        "v.lt(1.0) & v.ge(0.0)",
    );
    answer(
        "y.tile([0], [128]).store(select(v.lt(1.0) || v.ge(0.0), v, v));",
        "K0206",
        "v.lt(1.0) | v.ge(0.0)",
    );
    answer("*p = 2.0;", "K0108", "store(p, 2.0)");
    answer("let a = p[0];", "K0108", "load(p + 0)");
    answer("let mut s = shared::<f32>([64]); let a = s[0];", "K0402", "s.load()");
    answer("let a = n.pow(2);", "K0108", "n * n");
    answer("for i in (0..n).step_by(128) { sync(); }", "K0108", "range(0, n, 128)");
}

#[test]
fn assembly_is_written_out() {
    let help = "ptx!(\"ex2.approx.ftz.f32 {out}, {x};\", x = v => f32)";
    answer("asm!(\"nop\");", "K0101", help);
    answer("let w = inline_asm_elementwise(v);", "K0102", help);
}

#[test]
fn only_a_call_of_the_same_instance_is_recursion() {
    compiles(
        "fn k(x: TensorMut<i32, 1>) {
            trait Step { fn go(x: i32) -> i32; }
            struct Neg {}
            struct Twice<S> { step: S }
            impl Step for Neg { fn go(x: i32) -> i32 { -x } }
            impl<S: Step> Step for Twice<S> { fn go(x: i32) -> i32 { S::go(S::go(x)) } }
            fn apply(f: impl Fn(i32) -> i32, x: i32) -> i32 { f(x) }
            let n = Twice::<Twice<Neg>>::go(1);
            let m = apply(|v| apply(|w| w + 1, v) * 2, 20);
            x.tile([0], [1]).store(full([1], n + m));
        }",
    );
    let found = whole("fn k(n: i32) { fn f(n: i32) -> i32 { f(n - 1) } let m = f(n); }");
    assert!(found[0].starts_with("[K0103] `f` calls itself"), "{found:?}");
    let found = whole(
        "fn k(n: i32) {
            fn f(g: impl Fn(i32) -> i32, n: i32) -> i32 { f(|m| g(m), n) }
            let m = f(|m| m, n);
        }",
    );
    assert!(found[0].starts_with("[K0103] `f` calls itself"), "{found:?}");
}

#[test]
fn words_before_a_kernel_are_not_dropped() {
    for (source, word) in [("unsafe fn k() {}", "unsafe"), ("const fn k() {}", "const")] {
        let found = whole(source);
        assert!(found[0].starts_with(&format!("[K0104] a kernel that is `{word}`")), "{found:?}");
    }
}

/// The kernel of a source, as it is evaluated.
fn built(source: &str) -> Kernel {
    let function: syn::ItemFn = syn::parse_str(source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attr = quote::quote!(target = sm_80, warps = 1);
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let kernel = &unit.kernels[0];
    let instance = &elaborate::instance_rows(&unit, kernel, &mut problems)[0];
    let target = kernel_ptx::Target::SM_80;
    let reports = elaborate::Reports::Made;
    let request =
        elaborate::Request { unit: &unit, kernel, instance, absent: &[], target, reports };
    let built = check::instance(&request, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    built.expect("without problems there is a kernel").kernel
}

#[test]
fn an_item_is_the_value_that_was_reduced() {
    let kernel = built(
        "fn k(x: Tensor<i32, 1>, y: TensorMut<i32, 1>) {
            let v = x.tile([0], [4]).load();
            let mut total = 0;
            for _ in 0..v.max(0).item() { total += v.sum(0).item(); }
            if v.min(0).item() < 0 { total += 1000; }
            let odd = v.sum(0).map(|s| if s % 2 == 1 { 7 } else { 8 });
            y.tile([v.max(0).item() - 5], [1]).store(full([1], total) + odd);
            y.tile([1], [1]).store(full([1], x.tile([3], [1]).load().item()));
        }",
    );
    let ints = |values: &[i32]| eval::Arg::Tensor {
        data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        dtype: Dtype::I32,
        shape: vec![u32::try_from(values.len()).expect("few")],
        strides: vec![1],
        offset: 0,
    };
    let mut args = [ints(&[3, -4, 5, 1]), ints(&[0, 0])];
    eval::run(&kernel, [1, 1, 1], &mut args).expect("it runs");
    let eval::Arg::Tensor { data, .. } = &args[1] else { panic!("it is a tensor") };
    // The greatest is 5, the sum 5, the least below zero: 5 · 5 + 1000, and 7 for an odd sum.
    assert_eq!(data[..4], 1032i32.to_le_bytes());
    assert_eq!(data[4..], 1i32.to_le_bytes());
}

#[test]
fn a_closure_that_takes_a_tile_of_its_surroundings_has_one_mistake() {
    let found = messages("let s = v.reduce(0, |a, b| a + v);");
    assert_eq!(found.len(), 1, "{}", found.join("\n"));
    assert!(found[0].starts_with("[K0206]"), "{}", found[0]);
    // The result alone is wrong.
    let found = messages("let s = v.reduce(0, |a, b| a < b);");
    assert_eq!(found.len(), 1, "{}", found.join("\n"));
    assert!(found[0].starts_with("[K0203]"), "{}", found[0]);
}

/// The messages of a kernel over tiles of its type parameter `T`, which stands for `f32`, or for what is given.
fn generic(bound: &str, types: &str, body: &str) -> Vec<String> {
    let source = format!(
        "fn k<T: {bound}>(x: Tensor<T, 1>, y: TensorMut<T, 1>, p: Ptr<T>, a: T, n: i32) {{
            let v = x.tile([0], [128]).load();
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let types: proc_macro2::TokenStream = types.parse().expect("the types are tokens");
    let attr = quote::quote!(target = sm_80, warps = 4, instances(T = [#types]));
    rendered(attr, &function)
}

/// To rustc, a literal is wrong beside a `T` of whatever instance.
#[test]
fn a_type_parameter_has_no_literals() {
    for types in ["f32", "f16", "f16, f32, bf16"] {
        for (body, help) in [
            ("y.tile([0], [128]).store(v * 2.0);", "T::of(2.0)"),
            ("y.tile([0], [128]).store(2.0 * v);", "T::of(2.0)"),
            ("y.tile([0], [128]).store((v + a) * 0.5);", "T::of(0.5)"),
            ("let m = v.gt(0.0);", "T::of(0.0)"),
            ("let m = v.gt(T::of(0.0)); let w = select(m, v, 0.0);", "T::of(0.0)"),
            ("let w = maximum(v, 1.0);", "T::of(1.0)"),
            ("let w = v.map(|e| e + 1.0);", "T::of(1.0)"),
            ("let b = a * 3.0;", "T::of(3.0)"),
            ("let w = load(p) - 1.0;", "T::of(1.0)"),
            ("let mut w = v; for i in 0..n { w += v; w = w * 4.0; }", "T::of(4.0)"),
            ("let w = fma(v, v, 1.0);", "T::of(1.0)"),
            ("let mut w = v; w += 1.0;", "T::of(1.0)"),
            ("y.tile([0], [128]).store(full([128], 0.0));", ".cast::<T>()"),
            ("store(p, 1.5);", "T::of(1.5)"),
            ("store(p + arange(0, 32), full([32], 1.5));", ".cast::<T>()"),
        ] {
            let found = generic("Float", types, body);
            assert_eq!(found.len(), 1, "{types}: {body}\n{}", found.join("\n"));
            assert!(found[0].starts_with("[K0203]"), "{}", found[0]);
            let given = found[0].split_once("help      ").map_or("", |(_, given)| given);
            let given = given.lines().next().unwrap_or_default();
            let fits = if help.starts_with('.') { given.ends_with(help) } else { given == help };
            assert!(fits, "{}", found[0]);
        }
    }
    let found = generic("Int", "i32, u8", "let w = v + 1;");
    assert!(found.len() == 1 && found[0].contains("help      1.cast::<T>()"), "{found:#?}");
}

/// What is of a type with a name of its own may meet literals, though it is the same type in this instance.
#[test]
fn what_is_no_longer_of_the_type_parameter_meets_literals() {
    for body in [
        "let w = v.cast::<f32>() * 2.0; y.tile([0], [128]).store(w.cast::<T>());",
        "let w = v * T::of(2.0) + zeros([128]); y.tile([0], [128]).store(w);",
        "fn wide<U: Float>(x: Tile<U>) -> Tile<f32> { x.cast::<f32>() }
         y.tile([0], [128]).store((wide(v) * 2.0).cast::<T>());",
        "let w = select(v.gt(T::of(0.0)), full([128], 1), 0) + 1;",
    ] {
        for types in ["f32", "f32, f16"] {
            let found = generic("Float", types, body);
            assert!(found.is_empty(), "{types}: {body}\n{}", found.join("\n"));
        }
    }
    let found = generic("Int", "i32", "let w = v.argmax(0).item() + 1 + T::BITS;");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Types of the language have no constants, whether or not the element type is named.
#[test]
fn a_type_of_the_language_has_no_constants() {
    for name in ["Ptr", "Tile", "Shared", "Array", "Tensor", "TensorMut", "View", "Layout"] {
        let found = messages(&format!("let w = {name}::NEG_INFINITY; store(p, w);"));
        assert_eq!(found.len(), 1, "{name}: {found:#?}");
        assert!(found[0].contains("K01"), "{name}: {found:#?}");
    }
}

/// What is never come to, and what never gives a value, is no riddle for the compiler.
#[test]
fn what_never_gives_a_value_is_answered_or_left_out() {
    compiles(
        "fn k(x: TensorMut<f32, 1>) { for i in range(0, return, 16) { x.tile([i], [16]).store(zeros([16])); } }",
    );
    for body in [
        "let w = v.reduce(0, |a, b| { return; let (c, d) = 16; atomic::max(p, 64) });",
        "let w = v.map(|e| { for i in unroll(range(0, 2, 3)) { let u = e; } return; 1.0 - n });",
        "let w = maximum(v, loop { return; });",
        "store(p, { return });",
    ] {
        let found = messages(body).join("\n");
        assert!(!found.contains("K9999"), "{body}\n{found}");
    }
}

/// What an iteration computes before it returns is no more after the loop; a loop whose range returns is never come to.
#[test]
fn turns_and_ranges_that_return() {
    for body in [
        "let mut t = v; for j in 0..n { t = t + 1.0; return; } y.tile([0], [128]).store(t);",
        "let mut t = v; for j in 0..n { t = t + 1.0; t = { return; t }; } y.tile([0], [128]).store(t);",
        "let mut t = (v, 0); for j in 0..n { t.0 = t.0 + 1.0; t.1 += 1; return; } y.tile([t.1], [128]).store(t.0);",
        "let mut i = 0; while i < n { i += 1; return; } y.tile([i], [128]).store(v);",
        "let mut i = 0; loop { i += 1; if i > n { break; } return; } y.tile([i], [128]).store(v);",
        "let limit = n; 'rows: for a in 0..(limit + return) { for b in 0..a { continue 'rows; } }",
        "let limit = n; 'rows: for a in 0..(limit + return) { if a > 3 { continue 'rows; } }",
    ] {
        let found = messages(body).join("\n");
        assert!(found.is_empty(), "{body}\n{found}");
    }
    for body in [
        "let mut t = v; for j in 0..n { t = t + 1.0; t = t.reshape([return, 64]); } y.tile([0], [128]).store(t);",
        "let mut t = v; for j in 0..n { t = t + 1.0; let q = t + { return }; } y.tile([0], [128]).store(t);",
    ] {
        let found = messages(body).join("\n");
        assert!(!found.contains("K9999"), "{body}\n{found}");
    }
}
