//! What a message about Hopper's operations tells to write is written: with it the kernel compiles.

use crate::rendered::rendered;

/// The messages of a kernel with this body, as text.
fn messages(body: &str) -> Vec<String> {
    let source = format!(
        "fn k(
            #[block(64, 64)] x: TensorMap<f16, 2>,
            #[block(64, 64)] y: TensorMapMut<f16, 2>,
            a: Tensor<e4m3, 2>, b: Tensor<e5m2, 2>,
            p: Ptr<f16>, n: i32, wide: i64, more: bool,
        ) {{
            let tile = shared::<f16>([64, 64]);
            let other = shared::<f16>([64, 64]);
            let full = barrier(1);
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_90a, warps = 4, cluster = 2), &function)
}

/// The help of the one message that a body has, which is of this code.
#[track_caller]
fn help(body: &str, code: &str) -> String {
    let found = messages(body);
    assert_eq!(found.len(), 1, "{body}\n{}", found.join("\n"));
    assert!(found[0].starts_with(&format!("[{code}]")), "{body}\n{}", found[0]);
    let offered = ["help      ", "example   "].iter().find_map(|row| found[0].split_once(row));
    offered.map_or_else(String::new, |(_, help)| help.to_owned())
}

/// A body has one message, of this code; `mended` is the body with the message's help in it.
#[track_caller]
fn pasted(body: &str, code: &str, mended: &str) {
    let help = help(body, code);
    assert!(!help.is_empty() && mended.contains(&help), "{body}\n{help}\nmended    {mended}");
    let left = messages(mended);
    assert!(left.is_empty(), "{mended}\n{}", left.join("\n"));
}

#[test]
fn bytes_that_are_not_counted_are_announced_by_a_number_where_it_is_known() {
    // 64 x 64 elements of two bytes, from each of two blocks.
    pasted(
        "full.expect_copies(); tma::load(x, [0, 0], full, tile).multicast(0b11); full.wait(0);",
        "K0411",
        "full.expect(16384); tma::load(x, [0, 0], full, tile).multicast(0b11); full.wait(0);",
    );
    // One of them for this block alone.
    let copies = "tma::load(x, [0, 0], full, tile); bulk::load(p, full, other).multicast(3);";
    pasted(
        &format!("full.expect_copies(); {copies} full.wait(0);"),
        "K0411",
        &format!("full.expect(24576); {copies} full.wait(0);"),
    );
    let arrival = "full.of_block(cluster::rank() ^ 1).arrive();";
    pasted(
        &format!("full.expect_copies(); tma::load(x, [0, 0], full, tile); {arrival}"),
        "K0411",
        &format!("full.expect(8192); tma::load(x, [0, 0], full, tile); {arrival}"),
    );
}

#[test]
fn no_number_is_told_where_it_depends_on_what_happens() {
    for run in [
        // One of the blocks comes here, or one receives.
        "if cluster::rank() == 0 {
             full.expect_copies(); tma::load(x, [0, 0], full, tile).multicast(0b11);
         }",
        "full.expect_copies(); tma::load(x, [0, 0], full, tile).multicast(0b01);",
        "full.expect_copies(); tma::load(x, [0, 0], full, tile).multicast(1 << n);",
        "full.expect_copies(); tma::load(x, [0, 0], full, tile).multicast(0b11).when(more);",
        "full.expect_copies(); tma::load(x, [0, 0], full, tile).when(more);",
        "full.expect_copies(); if more { tma::load(x, [0, 0], full, tile); }",
        "tma::load(x, [0, 0], full, tile); full.expect_copies(); tma::load(x, [0, 0], full, other);",
        "full.expect_copies(); full.wait(0);",
        // Another block adds its own.
        "full.expect_copies(); tma::load(x, [0, 0], full, tile);
         bulk::send(other, full, tile.of_block(cluster::rank() ^ 1));",
        "full.expect_copies(); tma::load(x, [0, 0], full, tile).multicast(0b11);
         full.of_block(cluster::rank() ^ 1).arrive();",
    ] {
        assert_eq!(help(run, "K0411"), "", "{run}");
    }
}

#[test]
fn places_in_other_blocks_are_written_out() {
    pasted(
        "bulk::send(tile, full, other);",
        "K0402",
        "bulk::send(tile, full, other.of_block(cluster::rank() ^ 1));",
    );
    let row = "let row = shared::<f32>([128]);";
    pasted(
        &format!("{row} row.store_async(zeros([128]), full);"),
        "K0402",
        &format!("{row} row.of_block(cluster::rank() ^ 1).store_async(zeros([128]), full);"),
    );
    pasted(
        "copy_async(tile, other.of_block(cluster::rank() ^ 1)).on(full);",
        "K0404",
        "bulk::send(tile, full, other.of_block(cluster::rank() ^ 1));",
    );
    pasted(
        "bulk::send(tile, full);",
        "K0107",
        "bulk::send(tile, full, tile.of_block(cluster::rank() ^ 1));",
    );
    pasted(
        "tile.store(other.of_block(wide).load());",
        "K0206",
        "tile.store(other.of_block(wide as i32).load());",
    );
    pasted("full.wait(wide);", "K0206", "full.wait(wide as i32);");
    // What has no name has no help.
    assert_eq!(help("full.wait(wide + 1);", "K0206"), "");
}

#[test]
fn operands_that_stand_in_each_others_place_are_turned_round() {
    pasted(
        "full.expect(8192); tma::load(x, [0, 64 * n], tile, full);",
        "K0206",
        "full.expect(8192); tma::load(x, [0, 64 * n], full, tile);",
    );
    pasted(
        "full.expect(8192); bulk::load(p + n, tile, full);",
        "K0206",
        "full.expect(8192); bulk::load(p + n, full, tile);",
    );
    pasted(
        "bulk::send(tile, other.of_block(1), full);",
        "K0206",
        "bulk::send(tile, full, other.of_block(1));",
    );
}

#[test]
fn addresses_of_the_block_take_the_place_of_those_of_a_thread() {
    let lane = "let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32);";
    pasted(
        &format!("{lane} bulk::store(p + lane * 128, tile);"),
        "K0406",
        &format!("{lane} bulk::store(p + block_id(0) * 4096, tile);"),
    );
    pasted(
        &format!("{lane} bulk::prefetch(p + lane, 256);"),
        "K0406",
        &format!("{lane} bulk::prefetch(p + block_id(0) * 128, 256);"),
    );
    for run in [
        "full.expect(8192); tma::load(x, [0, lane], full, tile);",
        "tma::store(y, [0, lane], tile);",
        "full.expect(8192); tma::load(x, [0, 0], full, tile).when(lane == 0);",
        "tma::load(x, [0, 0], full, tile).multicast(lane);",
        "full.expect(lane);",
        "let bars = barriers(4, 1); bars[lane].wait(0);",
    ] {
        let found = messages(&format!("{lane} {run}"));
        assert_eq!(found.len(), 1, "{run}\n{}", found.join("\n"));
        assert!(found[0].starts_with("[K0406]"), "{run}\n{}", found[0]);
    }
}

#[test]
fn stores_before_the_tensor_are_refused_where_they_are_known() {
    for (run, axis, at) in [
        ("tma::store(y, [-64, 0], tile);", 0, -64),
        ("tma::reduce_max(y, [64, -8], tile);", 1, -8),
        ("for i in 0..n { copy_async(tile, y.at([i, 8 - 64])); }", 1, -56),
    ] {
        let found = messages(run);
        assert_eq!(found.len(), 1, "{run}\n{}", found.join("\n"));
        assert!(found[0].starts_with("[K0409]"), "{run}\n{}", found[0]);
        let actual = format!("actual    coordinate of axis {axis} {at}\n");
        assert!(found[0].contains(&actual), "{run}\n{}", found[0]);
    }
    // What is not built is not refused, and loads begin there.
    for run in [
        "for i in unroll(-1..1) { if i >= 0 { tma::store(y, [64 * i, 0], tile); } }",
        "full.expect(8192); tma::load(x, [-64, -8], full, tile);",
    ] {
        assert_eq!(messages(run), Vec::<String>::new(), "{run}");
    }
}

#[test]
fn what_is_said_of_a_copy_is_said_by_its_own_name() {
    let copy = "full.expect(8192); tma::load(x, [0, 0], full, tile)";
    for (said, headline) in [
        (".evict_first().evict_first()", "`evict_first` is given twice for one copy"),
        (".evict_first().evict_last()", "`evict_first` and `evict_last` are given for one copy"),
    ] {
        let found = messages(&format!("{copy}{said};"));
        assert!(found[0].contains(headline), "{}", found[0]);
    }
    pasted(
        &format!("{copy}.evict_first().evict_last();"),
        "K0404",
        &format!("{copy}.evict_last();"),
    );
    let bulk = "full.expect(8192); bulk::load(p, full, tile)";
    pasted(
        &format!("{bulk}.evict_last().evict_first();"),
        "K0404",
        &format!("{bulk}.evict_first();"),
    );
}

#[test]
fn named_barriers_count_the_warps_that_come() {
    pasted(
        "for _ in 0..n { named_barrier(4).sync(); }",
        "K0403",
        "let meeting = named_barrier(4); // before line 10, and `meeting` here
         for _ in 0..n { meeting.sync(); }",
    );
    pasted("named_barrier(n).sync();", "K0106", "named_barrier(num_warps()).sync();");
}

#[test]
fn factors_of_products_are_converted_both() {
    let factors =
        "let a = a.tile([0, 0], [64, 64]).load(); let b = b.tile([0, 0], [64, 64]).load();";
    pasted(
        &format!("{factors} let c = dot(a, b, zeros([64, 64]));"),
        "K0203",
        &format!("{factors} let c = dot(a.cast::<f16>(), b.cast::<f16>(), zeros([64, 64]));"),
    );
    // Of a factor in shared memory, what is converted is loaded first.
    pasted(
        &format!("{factors} let c = dot(tile, b, zeros::<f32>([64, 64]));"),
        "K0203",
        &format!("{factors} let c = dot(tile, b.cast::<f16>(), zeros::<f32>([64, 64]));"),
    );
    // No cast makes factors of which sums of this type are.
    let sums = format!("{factors} let c = dot(a, b, zeros::<f64>([64, 64]));");
    assert_eq!(help(&sums, "K0203"), "");
}

#[test]
fn layouts_are_told_as_they_are_written() {
    let swizzled = "let s = shared::<f16>([64, 64]).with_layout(swizzle(64));";
    let found = messages(&format!("{swizzled} full.expect(8192); bulk::load(p, full, s);"));
    assert!(found[0].contains("actual    layout `swizzle(64)`"), "{}", found[0]);
    pasted(
        "let (l, r) = (shared::<i8>([64, 64]), shared::<i8>([64, 32]));
         let acc = wgmma::wait(0, wgmma::mma(l, r, zeros([64, 32])));",
        "K0302",
        "let (l, r) = (shared::<i8>([64, 64]), shared::<i8>([32, 64]) // contiguous along `k`, read with `.t()`
         );
         let acc = wgmma::wait(0, wgmma::mma(l, r.t(), zeros([64, 32])));",
    );
}
