//! Blackwell's tensor cores: messages, and the fences of tensor memory that are put between what threads and tensor cores do.

use crate::fragment::Fragment;
use expect_test::{Expect, expect};

/// A kernel with this body, over factors in shared memory, sums in tensor memory, and barriers.
fn kernel(body: &str) -> syn::ItemFn {
    let source = format!(
        "fn k(
            #[block(64, 64)] x: TensorMap<f16, 2>, p: Ptr<f16>, c: TensorMut<f32, 2>, n: i32, more: bool,
        ) {{
            let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
            let (acc, other) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 64]));
            let (full, done) = (barrier(1), barrier(1));
            {body}
        }}"
    );
    syn::parse_str(&source).expect("the source is Rust")
}

fn attributes() -> proc_macro2::TokenStream {
    quote::quote!(target = sm_100a, warps = 4)
}

/// The messages of a kernel with this body.
fn messages(body: &str, expect: &Expect) {
    expect.assert_eq(&Fragment::of(attributes(), &kernel(body)).said.join("\n"));
}

/// What a kernel with this body does with tensor memory and at barriers, in order and with the fences that were put between, one word
/// for each.
#[track_caller]
fn order(body: &str, required: &str) {
    let function = kernel(body);
    let fragment = Fragment::of(attributes(), &function);
    let text = fragment.stage(".schedule");
    let what = |line: &str| {
        let line = line.trim();
        let line = line.split_once(" = ").map_or(line, |(_, made)| made);
        let word = line.split(' ').next().unwrap_or_default();
        let known = ["tcgen05_", "tensor_memory_load", "tensor_memory_store", "sync", "barrier_"];
        let allocates = word.ends_with("_alloc") || word.ends_with("_index");
        let opens = ["if", "for", "}"].contains(&word);
        (!allocates && (opens || known.iter().any(|known| word.starts_with(known))))
            .then(|| word.to_owned())
    };
    let words: Vec<String> = text.lines().filter_map(what).collect();
    assert_eq!(words.join(" "), required, "{body}");
}

/// The PTX of a kernel with this body, for tensors of any extents.
#[track_caller]
fn ptx(body: &str) -> String {
    let function = kernel(body);
    Fragment::of(attributes(), &function).stage("general.ptx").to_owned()
}

#[test]
fn no_more_blocks_are_asked_for_than_have_columns() {
    let products = "let mut s = zeros::<f32>([128, 64]); for k in 0..n { s = dot(a.load(), b.load(), s); } acc.store(s);";
    let asked = |body: &str| {
        let text = ptx(body);
        let line = text.lines().find(|line| line.contains(".minnctapersm"));
        line.map(|line| line.trim().to_owned())
    };
    assert_eq!(asked(products).as_deref(), Some(".minnctapersm 2"));
    // 128 columns of the two tiles, and 256: a block has all 512.
    let more = "let wide = tmem::<f32>([128, 256]); wide.store(zeros([128, 256]));";
    assert_eq!(asked(&format!("{more} {products}")), None);
}

#[test]
fn the_fragment_of_mma_is_read_without_an_exchange() {
    let to = |layout: &str| {
        ptx(&format!(
            "let out = shared::<f16>([128, 64]).with_layout(swizzle(128)); out.store(acc.load().to_layout({layout}).cast::<f16>()); c.tile([0, 0], [128, 64]).store(out.load().cast::<f32>());"
        ))
    };
    let count = |text: &str, word: &str| text.lines().filter(|line| line.contains(word)).count();
    let fragment = to("tmem_load(\"16x256b\", tmem_block([128, 64], 1), 4)");
    // Rows 0 to 15 and 16 to 31 of each warp.
    assert_eq!(count(&fragment, "tcgen05.ld.sync.aligned.16x256b.x8.b32"), 2, "{fragment}");
    assert_eq!(count(&fragment, "tcgen05.ld"), 2, "{fragment}");
    assert!(count(&fragment, "stmatrix") > 0, "{fragment}");
    let rows = to("tmem_load(\"32x32b\", tmem_block([128, 64], 1), 4)");
    assert_eq!(count(&rows, "tcgen05.ld.sync.aligned.32x32b.x64.b32"), 1, "{rows}");
    assert_eq!(count(&rows, "stmatrix"), 0, "{rows}");
    assert_eq!(
        count(&fragment, "bar.sync"),
        count(&rows, "bar.sync"),
        "no exchange through shared memory"
    );
}

#[test]
fn more_warps_than_four_meet_where_they_hand_tensor_memory_on() {
    let meetings = |body: &str, warps: u32| {
        let function = kernel(body);
        let attributes = quote::quote!(target = sm_100a, warps = #warps);
        let fragment = Fragment::of(attributes, &function);
        let text = fragment.stage(".layouts");
        text.lines().filter(|line| line.trim() == "sync").count()
    };
    let part = "acc.store(zeros([128, 64])); c.tile([0, 0], [128, 32]).store(acc.tile([0, 32], [128, 32]).load());";
    let same = "acc.store(zeros([128, 64])); c.tile([0, 0], [128, 64]).store(acc.load());";
    let looped = "for i in 0..n { acc.store(acc.tile([0, 0], [128, 32]).load().sum(1).expand(1) + zeros([128, 64])); }";
    let met = "acc.store(zeros([128, 64])); sync(); c.tile([0, 0], [128, 32]).store(acc.tile([0, 32], [128, 32]).load());";
    assert_eq!([meetings(part, 4), meetings(same, 4), meetings(looped, 4)], [0, 0, 0]);
    assert_eq!([meetings(part, 8), meetings(same, 8)], [1, 0]);
    assert_eq!(meetings(looped, 8), 2, "between the load and the store, and between iterations");
    assert_eq!(meetings(met, 8), 1, "that of the user is enough");
}

#[test]
fn what_is_read_behind_a_barrier_has_a_fence_in_front() {
    order(
        "tcgen05::mma(a, b, acc).accumulate(false); tcgen05::commit(done); done.wait(0); c.tile([0, 0], [128, 64]).store(acc.load());",
        "tcgen05_mma tcgen05_commit barrier_wait tcgen05_fence_after tensor_memory_load }",
    );
    order(
        "done.wait(0); acc.store(acc.load() + other.load());",
        "barrier_wait tcgen05_fence_after tensor_memory_load tensor_memory_load tensor_memory_store }",
    );
    order(
        "done.wait(0); tcgen05::mma(a, b, acc); tcgen05::commit(full); full.wait(0);",
        "barrier_wait tcgen05_fence_after tcgen05_mma tcgen05_commit barrier_wait }",
    );
    order(
        "if more { done.wait(0); } c.tile([0, 0], [128, 64]).store(acc.load());",
        "if barrier_wait } tcgen05_fence_after tensor_memory_load }",
    );
}

#[test]
fn no_fence_stands_where_nothing_is_ordered() {
    order(
        "acc.store(zeros([128, 64])); c.tile([0, 0], [128, 64]).store(acc.load());",
        "tensor_memory_store tensor_memory_load }",
    );
    order("done.wait(0); c.tile([0, 0], [128, 64]).store(zeros([128, 64]));", "barrier_wait }");
    order(
        "full.arrive(); c.tile([0, 0], [128, 64]).store(acc.load());",
        "barrier_arrive tensor_memory_load }",
    );
    order(
        "tcgen05::mma(a, b, acc); tcgen05::mma(a, b, other); tcgen05::commit(done); done.wait(0);",
        "tcgen05_mma tcgen05_mma tcgen05_commit barrier_wait }",
    );
}

#[test]
fn what_is_told_behind_an_access_has_a_fence_in_front() {
    order(
        "c.tile([0, 0], [128, 64]).store(acc.load()); full.arrive();",
        "tensor_memory_load tcgen05_fence_before barrier_arrive }",
    );
    order(
        "c.tile([0, 0], [128, 64]).store(acc.load()); full.arrive(); done.arrive();",
        "tensor_memory_load tcgen05_fence_before barrier_arrive barrier_arrive }",
    );
    order(
        "if more { acc.store(zeros([128, 64])); } full.arrive();",
        "if tensor_memory_store } tcgen05_fence_before barrier_arrive }",
    );
}

#[test]
fn threads_meet_before_one_of_them_adds_to_what_they_have_accessed() {
    order(
        "acc.store(zeros([128, 64])); tcgen05::mma(a, b, acc); tcgen05::commit(done); done.wait(0);",
        "tensor_memory_store tcgen05_fence_before sync tcgen05_fence_after tcgen05_mma tcgen05_commit barrier_wait }",
    );
    order(
        "acc.store(zeros([128, 64])); tcgen05::mma(a, b, other); tcgen05::commit(done); done.wait(0);",
        "tensor_memory_store tcgen05_mma tcgen05_commit barrier_wait }",
    );
    order(
        "acc.store(zeros([128, 64])); sync(); tcgen05::mma(a, b, acc); tcgen05::commit(done); done.wait(0);",
        "tensor_memory_store tcgen05_fence_before sync tcgen05_fence_after tcgen05_mma tcgen05_commit barrier_wait }",
    );
}

#[test]
fn an_iteration_goes_on_from_the_one_before() {
    order(
        "for k in 0..n { c.tile([0, 0], [128, 64]).store(acc.load()); done.wait(k & 1); }",
        "for tcgen05_fence_after tensor_memory_load barrier_wait } }",
    );
    order(
        "for k in 0..n { full.arrive(); acc.store(zeros([128, 64])); }",
        "for tcgen05_fence_before barrier_arrive tensor_memory_store } }",
    );
    order(
        "for k in 0..n { tcgen05::mma(a, b, acc); tcgen05::commit(done); done.wait(k & 1); }",
        "for tcgen05_fence_after tcgen05_mma sync tcgen05_commit barrier_wait } }",
    );
}

#[test]
fn accumulate_names_what_it_was_said_of() {
    for (started, name) in [
        ("bulk::load(p, full, b)", "`bulk::load(..)`"),
        ("tma::load(x, [0, 0], full, b)", "`tma::load(..)`"),
        ("tma::prefetch(x, [0, 0])", "`tma::prefetch(..)`"),
    ] {
        let body = format!("full.expect(8192); {started}.accumulate(more); full.wait(0);");
        let found = Fragment::of(attributes(), &kernel(&body)).said;
        let actual = format!("actual    {name}");
        assert!(
            found[0].contains("is not an option of") && found[0].contains(&actual),
            "{}",
            found[0]
        );
    }
}

#[test]
fn tiles_that_products_cannot_have_say_how_many_rows_they_lack() {
    messages(
        "let few = tmem::<f16>([2, 32, 64]); few[0].store(zeros([32, 64]));",
        &expect![[r#"
        [K0414] a tile of tensor memory has more rows than this
           required  rows 64 or more
           actual    rows 32
           why       without `.with_layout(..)` tensor memory has the layout of products, which have 64 or 128 rows (PTX ISA, "tcgen05.mma: Matrix shape")
           help      tmem::<f16>([2, 64, 64])"#]],
    );
}

#[test]
fn factors_along_the_other_axis_name_the_product_of_this_generation() {
    messages(
        "let wide = shared::<f32>([32, 64]); let tall = shared::<f32>([128, 32]); tcgen05::mma(tall, wide, acc); tcgen05::commit(done); done.wait(0);",
        &expect![[r#"
            [K0302] tensor cores cannot read their right operand in this layout
               required  offset bit 0 [1,0]
               actual    offset bit 0 [0,1]
               ::: <parsed string 2>:7:24  allocated here
               why       operands of 32 bits have to be contiguous along `k`; those of 8 and 16 bits can be contiguous along either axis (PTX ISA, "tcgen05: Canonical layouts")
               help      shared::<f32>([64, 32]) // contiguous along `k`, read with `.t()`"#]],
    );
}

/// A product of a left factor in tensor memory, with these extents and layouts.
fn from_tensor_memory([rows, columns]: [u32; 2], left: &str, sums: &str) -> String {
    format!(
        "let right = shared::<f16>([64, {columns}]);
         let left = tmem::<f16>([{rows}, 64]){left};
         let sums = tmem::<f32>([{rows}, {columns}]){sums};
         tcgen05::mma(left, right, sums); tcgen05::commit(done); done.wait(0);"
    )
}

#[test]
fn left_factors_lie_in_the_rows_of_their_sums() {
    let block =
        |rows: u32, columns: u32| format!(".with_layout(tmem_block([{rows}, {columns}], 1))");
    let plain = String::new();
    for (extents, layouts, required, mended) in [
        ([128, 32], [plain.clone(), block(64, 32)], ["64", "128"], [block(64, 64), block(64, 32)]),
        ([128, 32], [block(64, 64), plain.clone()], ["128", "64"], [block(128, 64), plain.clone()]),
        ([64, 32], [plain.clone(), block(64, 16)], ["32", "16"], [plain.clone(), block(64, 32)]),
        ([64, 32], [block(64, 32), plain.clone()], ["64", "32"], [block(64, 64), plain.clone()]),
    ] {
        let body = from_tensor_memory(extents, &layouts[0], &layouts[1]);
        let found = Fragment::of(attributes(), &kernel(&body)).said;
        assert_eq!(found.len(), 1, "{body}");
        assert!(found[0].starts_with("[K0302]"), "{}", found[0]);
        let [required, actual] = required;
        for (side, number) in [("required", required), ("actual", actual)] {
            let line = found[0].lines().find(|line| line.trim_start().starts_with(side));
            assert!(line.is_some_and(|line| line.ends_with(&format!(" {number}"))), "{}", found[0]);
        }
        // What the message tells to write is written.
        let (_, help) = found[0].split_once("help      ").expect("there is a help");
        let help = help.split(" // ").next().unwrap_or_default();
        let mended_body = from_tensor_memory(extents, &mended[0], &mended[1]);
        assert!(mended_body.contains(help), "{help}");
        assert_eq!(
            Fragment::of(attributes(), &kernel(&mended_body)).said,
            [""; 0],
            "{mended_body}"
        );
    }
    // More rows than a block: the second lies between the rows of the first, of factors and sums alike.
    let body = from_tensor_memory([128, 32], &block(64, 16), &block(64, 16));
    assert_eq!(Fragment::of(attributes(), &kernel(&body)).said, [""; 0]);
}
