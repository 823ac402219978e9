//! What a message tells to write is written: with it the kernel compiles.

use crate::rendered::rendered;

/// The messages of a kernel with this body, as text.
fn messages(body: &str) -> Vec<String> {
    let source = format!(
        "fn k(a: Tensor<f32, 2>, h: Tensor<f16, 2>, y: TensorMut<f32, 2>, p: Ptr<f32>, n: i32) {{
            let t = a.tile([0, 0], [32, 64]).load();
            let u = h.tile([0, 0], [32, 64]).load();
            let s = shared::<f32>([32, 64]);
            let ring = shared::<f32>([2, 32, 64]);
            let m = t.gt(0.0);
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_80, warps = 2), &function)
}

/// A body has one message, of this code; `mended` is the body with the message's help in it.
#[track_caller]
fn pasted(body: &str, code: &str, mended: &str) {
    let found = messages(body);
    assert_eq!(found.len(), 1, "{body}\n{}", found.join("\n"));
    assert!(found[0].starts_with(&format!("[{code}]")), "{body}\n{}", found[0]);
    let help = found[0].split_once("help      ").map_or("no help", |(_, help)| help);
    assert!(mended.contains(help), "{body}\n{}\nmended    {mended}", found[0]);
    let left = messages(mended);
    assert!(left.is_empty(), "{mended}\n{}", left.join("\n"));
}

#[test]
fn a_layout_fits_the_tile_and_the_warps() {
    let of_two = "blocked([1, 4], [2, 16], [2, 1], [1, 0])";
    for method in ["to_layout", "assert_layout"] {
        let body = format!("let w = t.{method}(3);");
        let found = messages(&body);
        assert!(found[0].ends_with(&format!("help      {of_two}")), "{}", found[0]);
    }
    pasted("let w = t.to_layout(3);", "K0206", &format!("let w = t.to_layout({of_two});"));
    pasted(
        "let w = t.sum(1).to_layout(t);",
        "K0206",
        "let w = t.sum(1).to_layout(blocked([1], [32], [2], [0]));",
    );
    pasted("let w = t.to_layout();", "K0107", &format!("let w = t.to_layout({of_two});"));
    pasted("s.with_layout(t);", "K0206", "s.with_layout(swizzle(128));");
    pasted("s.with_layout();", "K0107", "s.with_layout(swizzle(128));");
}

#[test]
fn methods_that_exist_say_how_they_are_called() {
    pasted("let w = a.tile([0, 0]).load();", "K0107", "let w = a.tile([0, 0], [32, 64]).load();");
    pasted("let w = a.dims(0);", "K0107", "let w = a.dims();");
    pasted("let w = a.stride();", "K0107", "let w = a.stride(0);");
    pasted(
        "let w = a.tile([0, 0], [64, 64]).load(0);",
        "K0107",
        "let w = a.tile([0, 0], [64, 64]).load();",
    );
    pasted("let w = s.load(1);", "K0107", "let w = s.load();");
    pasted("let w = s.t(1);", "K0107", "let w = s.t();");
    pasted("let w = s.dim();", "K0107", "let w = s.dim(0);");
    pasted("let w = s.bytes(1);", "K0107", "let w = s.bytes();");
    pasted("let w = n.to_f32(1);", "K0107", "let w = n.to_f32();");
    for (wrong, method) in [("n.min()", "min"), ("n.clamp(1)", "clamp"), ("s.store()", "store")] {
        let found = messages(&format!("let w = {wrong};"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("[K0107] `{method}`")), "{}", found[0]);
    }
    pasted("let w = t.sum();", "K0107", "let w = t.sum([0, 1]);");
    pasted("let w = t.argmax(0, 1);", "K0107", "let w = t.argmax(0);");
    pasted("let w = t.cumsum();", "K0107", "let w = t.cumsum(1);");
    pasted("let w = t.scan(0);", "K0107", "let w = t.scan(0, |a, b| a + b);");
    pasted("let w = t.reduce(|a, b| a + b);", "K0107", "let w = t.reduce(1, |a, b| a + b);");
    pasted("let w = t.scan_reverse(0);", "K0107", "let w = t.scan_reverse(0, |a, b| a + b);");
    pasted(
        "let w = u.scan_exclusive(1, |a, b| a + b);",
        "K0107",
        "let w = u.scan_exclusive(1, f16::of(0.0), |a, b| a + b);",
    );
    pasted(
        "let (w, v) = (t, m).reduce(|a, b| a);",
        "K0107",
        "let (w, v) = (t, m).reduce(1, |a, b| a);",
    );
    pasted("let w = t.flip();", "K0107", "let w = t.flip(1);");
    pasted("let w = t.sort();", "K0107", "let w = t.sort(1);");
    pasted("let w = t.top_k(4);", "K0107", "let w = t.top_k(4, 1);");
    pasted("let w = t.reshape(2, 1024);", "K0107", "let w = t.reshape([2, 1024]);");
    pasted("let w = t.permute(1, 0);", "K0107", "let w = t.permute([1, 0]);");
    pasted("let w = t.broadcast(32, 64);", "K0107", "let w = t.broadcast([32, 64]);");
    pasted("let w = t.expand();", "K0107", "let w = t.expand(2);");
    pasted("let w = t.map();", "K0107", "let w = t.map(|v| v + v);");
    pasted(
        "let w = t.reshape([32, 32, 2]).split(1);",
        "K0107",
        "let w = t.reshape([32, 32, 2]).split();",
    );
    pasted("let w = t.exp(1);", "K0107", "let w = t.exp();");
}

#[test]
fn operands_are_called_by_their_names() {
    pasted("let w = s + t;", "K0206", "let w = s.load() + t;");
    pasted("let w = t + ring[n % 2];", "K0206", "let w = t + ring[n % 2].load();");
    pasted("let w = ring.load();", "K0402", "let w = ring[0].load();");
    pasted("let w = select(t, t, t);", "K0204", "let w = select(t.gt(0.0), t, t);");
    pasted("let w = select(u, t, t);", "K0204", "let w = select(u.gt(f16::of(0.0)), t, t);");
    pasted("let w = select(n > 0, t, t);", "K0206", "let w = if n > 0 { t } else { t };");
    pasted("let w = maximum(0.0, t);", "K0206", "let w = maximum(t, 0.0);");
    pasted("let w = maximum(n, 3);", "K0206", "let w = n.max(3);");
    pasted("s.store(3);", "K0206", "s.store(full([32, 64], 3.0));");
    pasted(
        "y.tile([0, 0], [32, 64]).store(1);",
        "K0206",
        "y.tile([0, 0], [32, 64]).store(full([32, 64], 1.0));",
    );
    pasted(
        "let row = t.sum(1); let w = t + row;",
        "K0202",
        "let row = t.sum(1); let w = t + row.expand(1);",
    );
    pasted(
        "let acc = zeros::<f32>([32, 32]); let w = dot(t, t, acc);",
        "K0210",
        "let acc = zeros::<f32>([32, 32]); let w = dot(t, t.t(), acc);",
    );
    pasted("let (c, d) = t.split();", "K0202", "let (c, d) = t.reshape([32, 32, 2]).split();");
    pasted(
        "copy_async(s, y.tile([0, 0], [32, 64]));",
        "K0404",
        "y.tile([0, 0], [32, 64]).store(s.load());",
    );
    pasted("copy_async(t, s);", "K0404", "s.store(t);");
    pasted(
        "let w = load_masked(p + arange(0, 64), arange(0, 64).lt(n), t);",
        "K0206",
        "let w = load_masked(p + arange(0, 64), arange(0, 64).lt(n), 0.0);",
    );
    pasted("let w = t.map(|v| t);", "K0206", "let w = t.map(|v| if v > 0.0 { v } else { 0.0 });");
    pasted("let w = m && t.lt(1.0);", "K0206", "let w = m & t.lt(1.0);");
    pasted("if t < 0.0 { sync(); }", "K0206", "let w = t.lt(0.0);");
    pasted("if 0.0 < t { sync(); }", "K0206", "let w = t.gt(0.0);");
    pasted("*p = 2.0;", "K0108", "store(p, 2.0);");
    pasted("let w = p[n];", "K0108", "let w = load(p + n);");
    pasted("let w = arange(0, 64).exp();", "K0204", "let w = arange(0, 64).cast::<f32>().exp();");
    pasted("let w = t.mean(1);", "K0108", "let w = t.sum(1) / 64.0;");
    pasted("let w = u.mean(0);", "K0108", "let w = u.sum(0) / f16::of(32.0);");
    pasted(
        "let w = t.softmax(1);",
        "K0108",
        "let w = { let e = (t - t.max(1).expand(1)).exp(); e / e.sum(1).expand(1) };",
    );
    pasted("let w = a[0];", "K0108", "let w = a.tile([0, 0], [64, 64]).load();");
    pasted("let w = a.load();", "K0108", "let w = a.tile([0, 0], [64, 64]).load();");
    pasted(
        "let w = a.tile([0, 0], 64);",
        "K0206",
        "let w = h.tile([0, 0], [32, 64]); let v = full([64], 1.0);",
    );
}

#[test]
fn in_a_function_operands_have_its_names() {
    pasted(
        "fn f(x: Shared<f32>, t: Tile<f32>) -> Tile<f32> { x + t } let w = f(s, t);",
        "K0206",
        "fn f(x: Shared<f32>, t: Tile<f32>) -> Tile<f32> { x.load() + t } let w = f(s, t);",
    );
    // A name that another variable has by now is not what was added.
    pasted(
        "let r = s; let s = 1; let w = t + r;",
        "K0206",
        "let r = s; let s = 1; let w = t + r.load();",
    );
}

#[test]
fn words_of_other_languages_have_the_extents_of_the_tile() {
    pasted("let w = t.view([2, 1024]);", "K0108", "let w = t.reshape([2, 1024]);");
    pasted("let w = t.view([2, 3]);", "K0108", "let w = t.reshape([2048]);");
    pasted("let w = t.flatten();", "K0108", "let w = t.reshape([2048]);");
    pasted("let w = t.expand(0).squeeze();", "K0108", "let w = t.expand(0).reshape([32, 64]);");
    pasted("let w = t.sum(1).unsqueeze(1);", "K0108", "let w = t.sum(1).expand(1);");
    pasted("let w = t.transpose();", "K0108", "let w = t.t();");
    pasted("let w = t.T;", "K0108", "let w = t.t();");
    pasted("let w = t.expand(0).trans();", "K0108", "let w = t.expand(0).permute([2, 1, 0]);");
    pasted(
        "let w = t.expand(2).broadcast_to([32, 64, 2]);",
        "K0108",
        "let w = t.expand(2).broadcast([32, 64, 2]);",
    );
    pasted(
        "let w = t.associative_scan(1, |a, b| a + b);",
        "K0108",
        "let w = t.scan(1, |a, b| a + b);",
    );
    pasted("let w = m.any(1);", "K0108", "let w = m.reduce(1, |a, b| a | b);");
    pasted("let w = t.clip(1.0, 2.0);", "K0108", "let w = t.clamp(1.0, 2.0);");
    pasted("let w = t.mul(u);", "K0108", "let w = u * u; let v = t * t; let u = t; let w = t * u;");
    pasted("let w = n.pow(2);", "K0108", "let w = n * n;");
    pasted("let w = t.to(f16);", "K0206", "let w = t.cast::<f16>();");
}

#[test]
fn words_of_gluon_have_kilns() {
    pasted("let w = t.convert_layout(mma([2, 1]));", "K0108", "let w = t.to_layout(mma([2, 1]));");
    pasted("let w = convert_layout(t, mma([2, 1]));", "K0102", "let w = t.to_layout(mma([2, 1]));");
    pasted(
        "let w = BlockedLayout([1, 4], [8, 4], [2, 1], [1, 0]);",
        "K0102",
        "let w = blocked([1, 4], [8, 4], [2, 1], [1, 0]);",
    );
    pasted("let w = SliceLayout(1, mma([2, 1]));", "K0102", "let w = slice(1, mma([2, 1]));");
    pasted(
        "s.with_layout(NVMMASharedLayout(128, 32, 2));",
        "K0102",
        "s.with_layout(swizzle(128));",
    );
    pasted("let w = transpose(t);", "K0102", "let w = t.t();");
    pasted("let w = reduce(t, 1, |a, b| a + b);", "K0102", "let w = t.reduce(1, |a, b| a + b);");
    pasted("let w = tl::arange(0, 64);", "K0102", "let w = arange(0, 64);");
    pasted("let w = tl.load(p + 1);", "K0102", "let w = load(p + 1);");
    pasted("let w = tl::sum(t, 0);", "K0102", "let w = t.sum(0);");
    pasted(
        "let w = gl::convert_layout(t, mma([2, 1]));",
        "K0102",
        "let w = t.to_layout(mma([2, 1]));",
    );
    pasted("let w = ttgl::trans(t);", "K0102", "let w = t.t();");
    pasted("let l: BlockedLayout = mma([2, 1]);", "K0102", "let l: Layout = mma([2, 1]);");
    pasted("let w = sort(t, 1);", "K0102", "let w = t.sort(1);");
    pasted("let (v, w) = t.topk(4);", "K0108", "let (v, w) = t.top_k(4, 1);");
    pasted("let (v, w) = t.topk(3);", "K0108", "let (v, w) = t.top_k(8, 1);");
    for (body, why) in [
        ("let w = t.scatter(u);", "shared memory is written at a tile of indices"),
        ("let w = t.take_along_axis(u, 1);", "chooses the elements of each line"),
        ("let w = t.unique();", "where one differs from the one before it"),
    ] {
        let found = messages(body).join("\n");
        assert!(found.contains(why) && !found.contains("sqrt"), "{found}");
    }
}

#[test]
fn indices_get_the_extents_of_the_tile() {
    let at = |help: &str| format!("let w = t.gather(1, arange(0, 16){help});");
    pasted(&at(""), "K0202", &at(".expand(0).broadcast([32, 16])"));
    pasted(&at(".expand(0)"), "K0202", &at(".expand(0).broadcast([32, 16])"));
    let at = |help: &str| format!("let w = t.gather(1, arange(0, 32){help});");
    pasted(&at(""), "K0202", &at(".expand(1)"));
    let found = messages("let w = t.gather(1, zeros([16, 64]));").join("\n");
    assert!(found.contains("[32, any]") && !found.contains("help"), "{found}");
    pasted("let w = t.gather(1, u);", "K0203", "let w = t.gather(1, u.cast::<i32>());");
    pasted("let w = t.top_k(3, 1);", "K0201", "let w = t.top_k(4, 1);");
    pasted("let w = t.top_k(128, 1);", "K0202", "let w = t.top_k(64, 1);");
    pasted(
        "let w = t.cast::<i32>().histogram(100);",
        "K0201",
        "let w = t.cast::<i32>().histogram(128);",
    );
}

#[test]
fn slips_of_constants_and_axes_are_answered() {
    pasted("let w = f32::MINN;", "K0102", "let w = f32::MIN;");
    pasted("let w = f32::INFINTY;", "K0102", "let w = f32::INFINITY;");
    pasted(
        "struct C {} impl C { const WIDE: i32 = 4; } let w = C::WYDE;",
        "K0102",
        "struct C {} impl C { const WIDE: i32 = 4; } let w = C::WIDE;",
    );
    pasted("let w = t.reduce(1, f32::max);", "K0206", "let w = t.reduce(1, |a, b| a.max(b));");
    let layout = |lane: &str, warp: &str| {
        format!("let w = layout!(S[(2, 16, 32, 2) : (1 @ {warp}, 2, 1 @ {lane}, 1)]);")
    };
    pasted(&layout("lane", "warpid"), "K0102", &layout("laneid", "warpid"));
    pasted(&layout("laneid", "warp"), "K0102", &layout("laneid", "warpid"));
    let found = messages("let w = layout!(S[(2, 32) : (1 @ bx, 1 @ laneid)]);").join("\n");
    assert!(found.contains("belong to one block") && !found.contains("help"), "{found}");
}

#[test]
fn operands_of_a_text_are_typed_by_it() {
    let text = |y: &str| {
        format!("let w = ptx!(\"add.f32 {{out}}, {{x}}, {{y}};\", x = t, y = {y} => f32);")
    };
    pasted(&text("3"), "K0204", &text("3.0f32"));
    pasted(&text("2.5"), "K0204", &text("2.5f32"));
    let text = |out: &str| format!("let w = ptx!(\"neg.f32 {out}, {{x}};\", x = t => f32);");
    pasted(&text("{r}"), "K0111", &text("{out}"));
}

#[test]
fn macros_that_are_nearly_there_are_named() {
    pasted(
        "let w = layuot!(S[(2, 32) : (32, 1)]);",
        "K0101",
        "let w = layout!(S[(2, 32) : (32, 1)]);",
    );
    let found = messages("frobnicate!(n);").join("\n");
    assert!(found.contains("`layout!` and `ptx!`") && !found.contains("help"), "{found}");
}

#[test]
fn an_argument_that_is_no_tile_is_said_at_the_argument() {
    let silu = "fn silu<T: Float>(x: Tile<T>) -> Tile<T> { x / (T::of(1.0) + (-x).exp()) }";
    for wrong in ["3", "n", "s", "a"] {
        let found = messages(&format!("{silu} let w = silu({wrong});"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("[K0206] `silu` takes a `Tile` here"), "{}", found[0]);
    }
    assert!(
        messages(&format!("{silu} let w = silu(t); let v = silu(t.sum(0).sum(0));")).is_empty()
    );
}

#[test]
fn each_call_of_a_function_may_be_wrong_in_its_own_way() {
    let wide = "fn wide<const N: i32>(x: Tile<f32>) -> Tile<f32> { x + zeros::<f32>([N, 2]) }";
    let found = messages(&format!("{wide} let w = wide::<64>(t); let v = wide::<16>(t);"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("[64, 2]") && found[1].contains("[16, 2]"), "{found:?}");
    // What is wrong in the function alone is said once.
    let found = messages(&format!("{wide} let w = wide::<16>(t); let v = wide::<16>(t);"));
    assert_eq!(found.len(), 1, "{found:?}");
}
