//! What a kernel says of layouts, and what it costs: assertions, pinned loads.

use kernel_core::{
    Options,
    compile::compile_unit,
    diag::{Problems, render},
    loc::Locations,
    syntax,
};

/// The PTX of a kernel's variants, that which assumes most first, without the positions in the source; or the messages.
fn compiled(text: &str) -> Result<Vec<String>, String> {
    let mut function: syn::ItemFn = syn::parse_str(text).expect("the text is a function");
    let attr = function.attrs.remove(0).meta.require_list().expect("arguments").tokens.clone();
    let mut problems = Problems::new();
    let locations = Locations::new(function.sig.ident.span());
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let mut dumps = Vec::new();
    let all = compile_unit(&unit, &locations, &mut problems, Options { dump: false }, &mut dumps);
    if !problems.is_empty() {
        return Err(problems.iter().map(|problem| render(problem, &locations)).collect());
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
    let kernel = |assertion: &str, turns: &str, positions: &str| {
        with(&format!(
            "const ROWS: Layout = blocked([1, 4], [1, 32], [4, 1], [1, 0]);
             let mut acc = zeros::<f32>([64, 128]);
             for i in 0..3 {{
                 acc = (acc + x.tile([i * 64, 0], [64, 128]).load().to_layout(ROWS)){turns};
             }}
             let column = arange(0, 64).expand(1).broadcast([64, 128]){positions};
             out.tile([0, 0], [64, 128]).store((acc + column.cast::<f32>()){assertion});"
        ))
        .expect("the assertions hold")
    };
    let bare = kernel("", "", "");
    let rows = ".assert_layout(ROWS)";
    for [assertion, turns, positions] in [[rows, "", ""], ["", rows, ""], ["", "", rows]] {
        assert_eq!(kernel(assertion, turns, positions), bare, "{assertion} {turns} {positions}");
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
        assert!(message.contains("a trip through shared memory and a barrier"), "{message}");
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
    assert!(message.contains("no use asks for this one"), "{message}");
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
