//! What a kernel says of layouts, and what it costs: assertions, pinned loads.

use crate::rendered::said;
use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};

/// The PTX of a kernel's variants, that which assumes most first, without the positions in the source; or the messages.
fn compiled(text: &str) -> Result<Vec<String>, String> {
    let mut function: syn::ItemFn = syn::parse_str(text).expect("the text is a function");
    let attr = function.attrs.remove(0).meta.require_list().expect("arguments").tokens.clone();
    let mut problems = Problems::new();
    let locations = Locations::new(function.sig.ident.span());
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let mut dumps = Vec::new();
    let all = compile_unit(&unit, &locations, &mut problems, Options::default(), &mut dumps);
    if !problems.is_empty() {
        return Err(problems.iter().map(|problem| said(problem, &locations)).collect());
    }
    let instance = &all.first().expect("one kernel")[0];
    let kept = |ptx: &str| {
        let lines = ptx.lines();
        lines
            .filter(|line| !line.starts_with(".file") && !line.trim().starts_with(".loc"))
            .collect()
    };
    Ok(instance.images[0].variants.iter().map(|variant| kept(&variant.ptx)).collect())
}

/// A kernel with 4 warps over two matrices of `f32`.
fn with(body: &str) -> Result<Vec<String>, String> {
    compiled(&format!(
        "#[kernel(target = sm_80, warps = 4)]
         fn k(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {{
             {body}
         }}"
    ))
}

#[test]
fn an_assertion_that_holds_changes_nothing() {
    // After a loop, in it, and of positions, which are made as their use wants them.
    let kernel = |assertion: &str, iterations: &str, positions: &str| {
        with(&format!(
            "const ROWS: Layout = blocked([1, 4], [1, 32], [4, 1], [1, 0]);
             let mut acc = zeros::<f32>([64, 128]);
             for i in 0..3 {{
                 acc = (acc + x.tile([i * 64, 0], [64, 128]).load().to_layout(ROWS)){iterations};
             }}
             let column = arange(0, 64).expand(1).broadcast([64, 128]){positions};
             out.tile([0, 0], [64, 128]).store((acc + column.cast::<f32>()){assertion});"
        ))
        .expect("the assertions hold")
    };
    let bare = kernel("", "", "");
    let rows = ".assert_layout(ROWS)";
    for [assertion, iterations, positions] in [[rows, "", ""], ["", rows, ""], ["", "", rows]] {
        assert_eq!(
            kernel(assertion, iterations, positions),
            bare,
            "{assertion} {iterations} {positions}"
        );
    }
    // The same elements in other registers of the same threads.
    let renamed = ".assert_layout(blocked([4, 4], [1, 32], [4, 1], [1, 0]))";
    let other = with(&format!(
        "let t = x.tile([0, 0], [16, 128]).load();
         out.tile([0, 0], [16, 128]).store(t{renamed});"
    ));
    let columns = ".assert_layout(blocked([4, 4], [1, 32], [4, 1], [0, 1]))";
    assert!(other.is_err(), "rows of a warp are four apart");
    let pinned = |assertion: &str| {
        with(&format!(
            "let t = x.tile([0, 0], [16, 128]).load().to_layout(blocked([4, 4], [1, 32], [4, 1], [1, 0]));
             out.tile([0, 0], [16, 128]).store((t * 2.0){assertion});"
        ))
        .expect("the assertion holds")
    };
    assert_eq!(pinned(columns), pinned(""));
}

#[test]
fn an_assertion_in_a_loop_is_no_pin() {
    let columns = "blocked([1, 1], [32, 1], [1, 4], [1, 0])";
    for (inside, outside) in [(".assert_layout(L)", ""), ("", ".assert_layout(L)")] {
        let message = with(&format!(
            "const L: Layout = {columns};
             let mut acc = zeros::<f32>([64, 128]);
             for _ in 0..3 {{ acc = (acc + x.tile([0, 0], [64, 128]).load()){inside}; }}
             out.tile([0, 0], [64, 128]).store(acc{outside});"
        ))
        .expect_err("the load is by rows");
        assert!(message.starts_with("[K0303]"), "{message}");
        assert!(message.contains("an exchange through shared memory, with a barrier"), "{message}");
    }
}

#[test]
fn an_assertion_asks_for_no_version_of_what_is_made_anew() {
    let message = with(
        "let i = arange(0, 64).expand(1).broadcast([64, 64])
             .assert_layout(blocked([1, 4], [32, 1], [1, 4], [1, 0]));
         out.tile([0, 0], [64, 64]).store(x.tile([0, 0], [64, 64]).load() + i.cast::<f32>());",
    )
    .expect_err("the sum is by rows");
    assert!(message.starts_with("[K0303]"), "{message}");
    assert!(message.contains("no use requires this one"), "{message}");
    assert!(!message.contains("layout chosen here"), "{message}");
}

#[test]
fn a_tile_is_loaded_in_the_layout_that_it_is_pinned_to() {
    let copy = |layout: &str| {
        with(&format!(
            "let t = x.tile([0, 0], [64, 128]).load();
             let u = t.to_layout({layout});
             out.tile([0, 0], [64, 128]).store(u);"
        ))
        .expect("a layout of the tile")
        .swap_remove(0)
    };
    // Rows of lanes: coalesced, though not as inference would choose it.
    for direct in [
        "blocked([1, 2], [1, 32], [4, 1], [1, 0])",
        "blocked([2, 4], [4, 8], [1, 4], [1, 0])",
        "mma([2, 2])",
    ] {
        let ptx = copy(direct);
        assert!(!ptx.contains("bar.sync"), "{direct}: {ptx}");
        assert!(!ptx.contains("st.shared"), "{direct}: {ptx}");
    }
    // A column of lanes reads 4 bytes of each row, and every warp of the last one the whole tile.
    for moved in [
        "blocked([1, 1], [32, 1], [1, 4], [1, 0])",
        "slice(2, blocked([1, 4, 1], [2, 16, 1], [1, 1, 4], [2, 1, 0]))",
    ] {
        let ptx = copy(moved);
        assert!(ptx.contains("bar.sync") || ptx.contains("shfl"), "{moved}: {ptx}");
    }
}

/// The help of the only message of a kernel that takes a tile of `dtype` with these extents through `{..}`.
fn help(body: &str) -> String {
    let message = compiled(body).err().unwrap_or_else(|| panic!("accepted: {body}"));
    assert!(message.starts_with("[K0301]"), "{body}: {message}");
    assert!(!message.contains("[K0301] ["), "one message: {message}");
    let (_, help) = message.split_once("help      ").unwrap_or_else(|| panic!("{message}"));
    help.to_owned()
}

#[test]
fn the_help_for_a_layout_that_does_not_fit_is_one_that_does() {
    let registers = |dtype: &str, shape: &str, rank: usize, warps: u32, layout: &str| {
        let zeros = vec!["0"; rank].join(", ");
        format!(
            "#[kernel(target = sm_80, warps = {warps})]
             fn k(x: Tensor<{dtype}, {rank}>, out: TensorMut<{dtype}, {rank}>) {{
                 let t = x.tile([{zeros}], {shape}).load();
                 out.tile([{zeros}], {shape}).store(t.to_layout({layout}));
             }}"
        )
    };
    let rank_three = "blocked([1, 1, 4], [1, 2, 16], [1, 1, 4], [2, 1, 0])";
    let missing = "linear([[0, 1]], [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], [], [8, 16])";
    let tensor = "layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane])";
    for (dtype, shape, rank, warps, layout) in [
        ("f32", "[64]", 1, 1, "swizzle(128)"),
        ("f16", "[64, 64]", 2, 8, "row_major()"),
        ("f16", "[64, 64]", 2, 2, rank_three),
        ("i8", "[4, 16, 32]", 3, 4, "blocked([1, 4], [2, 16], [4, 1], [1, 0])"),
        ("f64", "[2, 2, 4, 8, 16]", 5, 2, "swizzled(8, 1, 8, [1, 0])"),
        ("f32", "[8, 16]", 2, 1, missing),
        ("f32", "[32, 16]", 2, 1, tensor),
        ("f32", "[32, 16]", 2, 4, "layout!(S[(8, 16) : (1 @ laneid, 1)])"),
        ("f32", "[16, 32]", 2, 1, "layout!(S[(32, 8) : (1 @ laneid, 1)])"),
    ] {
        let help = help(&registers(dtype, shape, rank, warps, layout));
        let mended = compiled(&registers(dtype, shape, rank, warps, &help));
        assert!(mended.is_ok(), "{dtype} {shape}: {layout}: {help}: {mended:?}");
    }
    let shared = |dtype: &str, shape: &str, layout: &str| {
        format!(
            "#[kernel(target = sm_80, warps = 1)]
             fn k(x: Tensor<{dtype}, 2>, out: TensorMut<{dtype}, 2>) {{
                 let s = shared::<{dtype}>({shape}).with_layout({layout});
                 s.store(x.tile([0, 0], {shape}).load());
                 sync();
                 out.tile([0, 0], {shape}).store(s.load());
             }}"
        )
    };
    for (dtype, shape, layout) in [
        ("f32", "[32, 8]", "swizzle(128)"),
        ("f16", "[64, 64]", "mma([1, 1])"),
        ("f32", "[4, 64]", "swizzle(128)"),
        ("f32", "[32, 16]", tensor),
        ("i8", "[2, 4]", "shared_linear([[0, 1], [1, 0]], [2, 4])"),
        ("i8", "[2, 4]", "shared_linear([[0, 1], [0, 2], [1, 0]], [2, 8])"),
    ] {
        let help = help(&shared(dtype, shape, layout));
        let mended = compiled(&shared(dtype, shape, &help));
        assert!(mended.is_ok(), "{dtype} {shape}: {layout}: {help}: {mended:?}");
    }
    // Where one list is wrong, the help stands in its place.
    for (layout, list) in [
        ("blocked([1, 4], [8, 8], [1, 1], [1, 0])", "[8, 8]"),
        ("blocked([1, 4], [8, 4], [1, 1], [1, 1])", "[1, 1])"),
        ("mma([1])", "[1]"),
        ("swizzled(1, 1, 1, [0, 0])", "[0, 0]"),
    ] {
        let kernel = |layout: &str| {
            if layout.starts_with("swizzled") {
                shared("f32", "[64, 64]", layout)
            } else {
                registers("f32", "[64, 64]", 2, 1, layout)
            }
        };
        let list = list.trim_end_matches(')');
        let (before, after) = layout.rsplit_once(list).expect("the list");
        let mended = format!("{before}{}{after}", help(&kernel(layout)));
        assert!(compiled(&kernel(&mended)).is_ok(), "{layout}: {mended}");
    }
}

#[test]
fn a_product_without_tensor_cores_does_not_speak_of_them() {
    let product = |dot: &str, pin: &str| {
        with(&format!(
            "let t = x.tile([0, 0], [32, 32]).load();
             let acc = zeros::<f32>([32, 32]).to_layout({pin});
             out.tile([0, 0], [32, 32]).store({dot}(t, t, acc));"
        ))
    };
    let message = product("dot", "mma([2, 2])").expect_err("threads multiply");
    assert!(message.starts_with("[K0302]"), "{message}");
    assert!(message.contains("fused multiply-add") && !message.contains("mma.sync"), "{message}");
    // What the message proposes.
    let (_, form) = message.split_once("inference chooses `").expect("a layout");
    let (form, _) = form.split_once('`').expect("closed");
    assert!(product("dot", form).is_ok(), "{form}");
    assert!(product("dot_tf32", "mma([2, 2])").is_ok());
}

/// The lines of the dump of layouts, of the variant that assumes most, that begin so.
fn dumped(text: &str, starts: &[&str]) -> Vec<String> {
    let mut function: syn::ItemFn = syn::parse_str(text).expect("the text is a function");
    let attr = function.attrs.remove(0).meta.require_list().expect("arguments").tokens.clone();
    let mut problems = Problems::new();
    let locations = Locations::new(function.sig.ident.span());
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let mut dumps = Vec::new();
    compile_unit(
        &unit,
        &locations,
        &mut problems,
        Options { dump: true, ..Options::default() },
        &mut dumps,
    );
    assert!(problems.is_empty(), "{problems:?}");
    let (_, dump) =
        dumps.iter().find(|(name, _)| name.ends_with("aligned.layouts")).expect("a dump");
    let lines = dump.lines().map(str::trim);
    lines
        .filter(|line| starts.iter().any(|start| line.starts_with(start)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn what_loops_carry_and_reductions_leave_is_shown_with_its_line_and_cost() {
    let lines = dumped(
        "#[kernel(target = sm_80, warps = 4)]
fn k(x: Tensor<f32, 2>, out: TensorMut<f32, 2>, sums: TensorMut<f32, 1>) {
    let mut t = x.tile([0, 0], [128, 64]).load();
    for _ in 0..3 {
        t = t.cumsum(0);
    }
    sums.tile([0], [64]).store(t.sum(0));
    sums.tile([64], [128]).store(t.sum(1));
    out.tile([0, 0], [128, 64]).store(t);
}",
        &["for", "scan", "reduce"],
    );
    let ends: Vec<&str> =
        lines.iter().map(|line| &line[line.rfind("in L").expect("a layout")..]).collect();
    // Rows are 16 lanes of 4 elements; a warp has two of them, and four warps take turns. The second step of the scan is the first
    // that crosses warps: 128 · 64 / 4 pairs of runs, 4 bytes each. The sum keeps 64 elements for each of 4 warps.
    let required = [
        "in L0) {  // line 4",
        "in L0) {  // line 5: shared memory, 8192 bytes, no bank conflicts",
        "in L1) {  // line 7: shared memory, 1024 bytes, no bank conflicts",
        "in L2) {  // line 8: between lanes",
    ];
    assert_eq!(ends, required);
}
