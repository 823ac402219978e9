//! What a message about tensor memory, and what the tensor cores do there, tells to write is written: with it the kernel compiles.

use crate::rendered::rendered;

/// The messages of a kernel with this body, whose clusters have so many blocks.
fn messages(body: &str, cluster: u32) -> Vec<String> {
    let source = format!(
        "fn k(x: Tensor<f32, 2>, h: Tensor<f16, 2>, s: Tensor<u8, 2>, c: TensorMut<f32, 2>, more: bool) {{
            let done = barrier(1);
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_100a, warps = 4, cluster = #cluster), &function)
}

/// A body has one message, of this code; with its help in place of the text that it names, or of this one, the body compiles.
#[track_caller]
fn pasted(body: &str, code: &str, place: &str) {
    pasted_in_clusters(body, code, place, 1);
}

#[track_caller]
fn pasted_in_clusters(body: &str, code: &str, place: &str, cluster: u32) {
    let found = messages(body, cluster);
    assert_eq!(found.len(), 1, "{body}\n{}", found.join("\n"));
    assert!(found[0].starts_with(&format!("[{code}]")), "{body}\n{}", found[0]);
    let help = found[0].split_once("help      ").map_or("no help", |(_, help)| help);
    // The message says where it goes, if that is not what it underlines.
    let (help, place) = match help.split_once(" // in place of `") {
        Some((help, rest)) => (help, rest.split('`').next().unwrap_or(place)),
        None => (help, place),
    };
    assert!(body.contains(place), "{place}");
    let mended = body.replacen(place, help, 1);
    assert_ne!(mended, body, "the help is what was there");
    let left = messages(&mended, cluster);
    assert!(left.is_empty(), "{mended}\n{}", left.join("\n"));
}

const END: &str = "tcgen05::commit(done); done.wait(0);";

#[test]
fn a_block_fits_its_tile() {
    let pinned = |element: &str, shape: &str, block: &str| {
        let body = format!(
            "let t = tmem::<{element}>({shape}).with_layout({block}); t.store(zeros({shape}));"
        );
        pasted(&body, "K0301", block);
    };
    pinned("f32", "[128, 16]", "tmem_block([128, 32], 1)");
    pinned("f32", "[64, 64]", "tmem_block([128, 64], 1)");
    pinned("f32", "[256, 64]", "tmem_block([256, 64], 1)");
    pinned("f32", "[128, 64]", "tmem_block([32, 64], 1)");
    pinned("f32", "[128, 64]", "tmem_block([128, 64], 2)");
    pinned("f16", "[128, 64]", "tmem_block([128, 64], 4)");
    pinned("u8", "[128, 64]", "tmem_block([64, 64], 2)");
    pinned("f32", "[128, 64]", "swizzle(128)");
    pinned("u8", "[32, 16]", "layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[8 : 32 @ TLane])");
    pinned("f32", "[128, 16]", "layout!(S[(128, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 16 @ TCol])");
}

#[test]
fn an_instruction_moves_what_the_tile_has() {
    let loaded = |atom: &str, shape: &str| {
        let load = format!("tmem_load(\"{atom}\", tmem_block({shape}, 1), 4)");
        let body = format!(
            "let t = tmem::<f32>({shape}); c.tile([0, 0], {shape}).store(t.load().to_layout({load}));"
        );
        pasted(&body, "K0301", &load);
    };
    loaded("16x256b", "[128, 4]");
    loaded("16x32bx2", "[128, 64]");
    let narrow = |element: &str, columns: u32| {
        let allocation = format!("tmem::<{element}>([64, {columns}])");
        let body = format!("let t = {allocation}; let v = t.load(); t.store(v);");
        // A load and a store.
        assert_eq!(messages(&body, 1).len(), 2, "{body}");
        let body = format!("let t = {allocation}; let v = t.load();");
        pasted(&body, "K0414", &allocation);
    };
    narrow("f32", 1);
    narrow("f16", 2);
    narrow("u8", 4);
}

#[test]
fn parts_and_views_have_what_instructions_reach() {
    let part = |shape: &str, at: &str, of: &str| {
        let body = format!(
            "let t = tmem::<f16>({shape}); let p = t.tile({at}, {of}); let v = p.load(); p.store(v);"
        );
        pasted(&body, "K0414", of);
    };
    part("[128, 64]", "[0, 0]", "[64, 64]");
    part("[128, 64]", "[0, 0]", "[128, 1]");
    let view = |of: &str| {
        let body = format!(
            "let t = tmem::<f32>([128, 32]); let p = t.view::<f16>({of}); let v = p.load(); p.store(v);"
        );
        pasted(&body, "K0414", of);
    };
    view("[128, 128]");
    let few = "let t = tmem::<f32>([128, 64]); let p = t.view::<u32>([32, 64]); let v = p.load(); p.store(v + v);";
    pasted(few, "K0414", "t.view::<u32>([32, 64])");
}

#[test]
fn a_product_has_its_operands_in_layouts_of_products() {
    let product = |left: &str, sums: &str| {
        format!(
            "let b = shared::<f16>([64, 64]); let a = {left}; let acc = {sums}; tcgen05::mma(a, b, acc); {END}"
        )
    };
    let (left, sums) = ("tmem::<f16>([128, 64])", "tmem::<f32>([128, 64])");
    let narrow = "tmem_block([128, 8], 1)";
    let body = product("shared::<f16>([128, 64])", &format!("{sums}.with_layout({narrow})"));
    pasted(&body, "K0302", narrow);
    // Blocks of 8 columns are those of instructions of 64 rows.
    let narrow = |sums: &str, columns: u32| {
        format!(
            "let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, {columns}])); let acc = {sums}; tcgen05::mma(a, b, acc); {END}"
        )
    };
    for element in ["f32", "f16"] {
        let sums = format!("tmem::<{element}>([128, 8]) /*layout*/");
        pasted(&narrow(&sums, 8), "K0210", " /*layout*/");
    }
    for block in ["tmem_block([64, 4], 1)", "tmem_block([128, 8], 1)"] {
        let sums = format!("tmem::<f32>([128, 32]).with_layout({block})");
        pasted(&narrow(&sums, 32), "K0302", block);
    }
    assert_eq!(
        messages(&narrow("tmem::<f32>([128, 32]).with_layout(tmem_block([64, 8], 1))", 32), 1),
        [""; 0]
    );
    let apart = "tmem_block([128, 64], 2)";
    pasted(&product(&format!("{left}.with_layout({apart})"), sums), "K0302", apart);
    let again = format!(
        "let b = shared::<f16>([64, 64]); let (one, acc) = (tmem::<f16>([128, 64]), tmem::<f32>([128, 64]));
         let a = shared::<f16>([128, 64]); tcgen05::mma(a, b, one); let two = /*again*/one; tcgen05::mma(two, b, acc); {END}"
    );
    pasted(&again, "K0302", "/*again*/one");
}

#[test]
fn sums_lie_in_columns_of_their_own() {
    let over = format!(
        "let b = shared::<f16>([64, 64]); let both = tmem::<f32>([128, 64]); let a = both.view::<f16>([128, 64]);
         let sums = both; tcgen05::mma(a, b, sums); {END}"
    );
    pasted(&over, "K0302", "let sums = both;");
    let ring = |left: &str, sums: &str| {
        messages(
            &format!(
                "let b = shared::<f32>([64, 64]); let ring = tmem::<f32>([2, 128, 128]); let slot = block_id(0) % 2;
                 tcgen05::mma(ring[{left}].tile([0, 0], [128, 64]), b.t(), ring[{sums}].tile([0, 64], [128, 64]));
                 tcgen05::mma(ring[{left}].tile([0, 0], [128, 64]), b.t(), ring[{sums}].tile([0, 0], [128, 64])); {END}"
            ),
            1,
        )
    };
    // The same columns of one tile; of two tiles, the same columns are others.
    for (tiles, refused) in
        [(["0", "0"], 1), (["slot", "slot"], 1), (["0", "1"], 0), (["slot", "0"], 0)]
    {
        assert_eq!(ring(tiles[0], tiles[1]).len(), refused, "{tiles:?}");
    }
}

#[test]
fn a_pair_has_blocks_of_its_extents() {
    let pair = |rows: u32, sums: &str, used: &str| {
        format!(
            "let (a, b) = (shared::<f16>([{rows}, 64]), shared::<f16>([64, 32])); let acc = {sums};
             tcgen05::mma_pair(a, b, {used}); tcgen05::commit(done).multicast(0b11); done.wait(0);"
        )
    };
    let part = pair(128, "tmem::<f32>([128, 128])", "acc.tile([0, 64], [128, 64])");
    assert_eq!(messages(&part, 2), [""; 0]);
    let narrow = "tmem_block([128, 32], 1)";
    let part = format!("tmem::<f32>([128, 128]).with_layout({narrow})");
    pasted_in_clusters(&pair(128, &part, "acc.tile([0, 64], [128, 64])"), "K0302", narrow, 2);
    let pinned = "tmem::<f32>([64, 64]).with_layout(tmem_block([64, 64], 1))";
    pasted_in_clusters(&pair(64, pinned, "acc"), "K0302", pinned, 2);
    let half = pair(64, "tmem::<f32>([64, 64])", "acc");
    let half = half.replace(
        "tcgen05::mma_pair",
        "let p = acc.tile([0, 0], [32 + 32, 32]); p.store(p.load()); tcgen05::mma_pair",
    );
    pasted_in_clusters(&half, "K0414", "[32 + 32, 32]", 2);
}

#[test]
fn a_copy_joins_what_an_instruction_joins() {
    let copy = |element: &str, source: &str, to: &str| {
        format!(
            "let from = {source}; let to = tmem::<{element}>({to}; tcgen05::copy(from, to); {END}"
        )
    };
    let part = copy("f32", "shared::<f32>([256, 32])", "[256, 64])/**/.tile([0, 32], [256, 32])");
    pasted(&part, "K0307", "/**/");
    pasted(&copy("f16", "shared::<f16>([128, 64])", "[128, 64])/**/"), "K0307", "/**/");
    pasted(&copy("f32", "shared::<f32>([64, 64])", "[64, 64])/**/"), "K0307", "/**/");
    let turned = ".with_layout(layout!(S[(64, 128): (1, 64)]))";
    pasted(
        &copy("f32", &format!("shared::<f32>([64, 128]){turned}.t()"), "[128, 64])"),
        "K0307",
        turned,
    );
    let swizzled = ".with_layout(swizzle(128))";
    pasted(
        &copy("f32", &format!("shared::<f32>([64, 128]){swizzled}.t()"), "[128, 64])"),
        "K0307",
        swizzled,
    );
    let narrow = "tmem_block([128, 8], 1)";
    let source = "shared::<f32>([256, 64]).with_layout(swizzle(128))";
    pasted(&copy("f32", source, &format!("[256, 64]).with_layout({narrow})")), "K0307", narrow);
    for scales in [".with_layout(row_major())", ".with_layout(swizzle(32))"] {
        let body = format!(
            "let (a, b) = (shared::<e4m3>([128, 1024]), shared::<e4m3>([32, 1024])); let acc = tmem::<f32>([128, 32]);
             let (of_a, of_b) = (tmem::<ue8m0>([128, 32]), tmem::<ue8m0>([32, 32])); of_b.store(zeros([32, 32]));
             let from = shared::<ue8m0>([128, 32]){scales}; tcgen05::copy(from, of_a);
             tcgen05::mma_scaled(a, b.t(), acc, of_a, of_b); {END}"
        );
        pasted(&body, "K0307", scales);
    }
}

#[test]
fn threads_write_what_the_tensor_cores_do_not_copy() {
    for from in ["x.tile([0, 0], [128, 64]).load()", "x.tile([0, 0], [128, 64])", "other"] {
        for started in ["tcgen05::copy", "copy_async"] {
            let statement = format!("{started}({from}, held);");
            let body = format!(
                "let (held, other) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 64])); {statement}"
            );
            pasted(&body, "K0206", &statement);
        }
    }
    let copied = "let from = shared::<f32>([128, 32]); let to = tmem::<f32>([128, 64]); tcgen05::copy(from, to);";
    pasted(&format!("{copied} {END}"), "K0202", "tmem::<f32>([128, 64])");
    let copied = copied.replace("32]);", "64]);").replace("tmem::<f32>", "tmem::<i32>");
    pasted(&format!("{copied} {END}"), "K0203", "tmem::<i32>([128, 64])");
    let back = "let (held, to) = (tmem::<f32>([128, 64]), shared::<f32>([128, 64])); copy_async(held, to);";
    pasted(back, "K0404", "copy_async(held, to)");
}

#[test]
fn tensor_memory_is_loaded_before_it_is_reckoned_with() {
    for (used, place) in [("held + 1.0", "held"), ("held", "held"), ("held.exp()", "held.exp()")] {
        let body =
            format!("let held = tmem::<f32>([128, 64]); c.tile([0, 0], [128, 64]).store({used});");
        let found = messages(&body, 1);
        assert_eq!(found.len(), 1, "{body}");
        let (_, help) = found[0].split_once("help      ").expect("there is a help");
        let mended = body
            .replace(&format!("store({used})"), &format!("store({})", used.replace(place, help)));
        assert_eq!(messages(&mended, 1), [""; 0], "{mended}");
    }
}

#[test]
fn what_is_started_is_waited_for_before_the_kernel_ends() {
    let started = "let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64])); let acc = tmem::<f32>([128, 64]); tcgen05::mma(a, b, acc);";
    for (end, refused) in [
        ("", 1),
        ("tcgen05::commit(done);", 1),
        ("done.wait(0);", 1),
        ("tcgen05::commit(done); done.wait(0);", 0),
        ("tcgen05::commit(done); if more { done.wait(0); }", 1),
        ("if more { tcgen05::commit(done); } done.wait(0);", 1),
        ("warp_specialize(|| { sync(); }, [partition(1).run(|| { done.wait(0); })]);", 1),
        (
            "tcgen05::commit(done); warp_specialize(|| { sync(); }, [partition(1).run(|| { done.wait(0); })]);",
            0,
        ),
    ] {
        let found = messages(&format!("{started} {end}"), 1);
        assert_eq!(found.len(), refused, "{end}\n{}", found.join("\n"));
        assert!(
            found.iter().all(|one| one.starts_with("[K0410] the kernel can end")),
            "{}",
            found.join("\n")
        );
    }
}
