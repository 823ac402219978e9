//! Copies in flight: kernels that use shared memory which a copy still writes or reads, beside their twins that wait.

use crate::rendered::rendered;

/// What every body finds.
const MADE: &str = "
    let (full, other, ring) = (barrier(1), barrier(1), barriers(2, 1));
    let (s, t) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    let bufs = shared::<f16>([2, 64, 64]);
    let (zero, tile) = (zeros::<f16>([64, 64]), h.tile([0, 0], [64, 64]));
    let out = c.tile([0, 0], [64, 64]);
";

/// The messages of a kernel with this body, whose clusters have so many blocks.
fn in_clusters(body: &str, cluster: u32) -> Vec<String> {
    let source = format!(
        "fn k(h: Tensor<f16, 2>, #[block(64, 64)] m: TensorMap<f16, 2>, #[block(64, 64)] to: TensorMapMut<f16, 2>, c: TensorMut<f16, 2>, p: Ptr<f16>, more: bool, n: i32) {{ {MADE} {body} }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_90a, warps = 4, cluster = #cluster), &function)
}

fn messages(body: &str) -> Vec<String> {
    in_clusters(body, 1)
}

#[track_caller]
fn accepted(body: &str) {
    let found = messages(body);
    assert!(found.is_empty(), "{body}\n{}", found.join("\n"));
}

/// The body, in which `@` stands before the statement that is refused, has one message, which begins so. With its help in
/// the place of the mark it compiles.
#[track_caller]
fn refused(headline: &str, help: &str, body: &str) {
    let found = messages(&body.replacen('@', "", 1));
    assert_eq!(found.len(), 1, "{body}\n{}", found.join("\n"));
    assert!(
        found[0].starts_with(&format!("[K0417] shared memory is {headline}\n")),
        "{}",
        found[0]
    );
    let said = found[0].split_once("help      ").map_or("", |(_, said)| said);
    // The whole body is one line.
    let said: Vec<&str> =
        said.lines().map(|line| line.trim().split(" // ").next().unwrap_or("")).collect();
    let said = said.join(" ");
    assert_eq!(said, help, "{body}");
    if !said.is_empty() {
        accepted(&body.replacen('@', &said, 1));
    }
}

const LOAD: &str = "full.expect(s.bytes()); tma::load(m, [0, 0], full, s);";
const READ: &str = "out.store(s.load());";
const STORE: &str = "s.store(zero); tma::store(to, [0, 0], s);";
const WAIT: &str = "full.wait(0);";

const READ_WHILE_LOADED: &str = "read while a TMA load may still write it";
const WRITTEN_WHILE_LOADED: &str = "written while a TMA load may still write it";
const WRITTEN_WHILE_STORED: &str = "written while a TMA store may still read it";

#[test]
fn a_use_of_what_a_load_fills_waits_on_its_barrier() {
    for read in [
        READ,
        "tma::store(to, [0, 0], s); tma::store_wait(0);",
        "bulk::store(p, s); tma::store_wait(0);",
        "let acc = wgmma::mma(s, t, zeros([64, 64])); let acc = wgmma::wait(0, acc); out.store(acc.cast::<f16>());",
    ] {
        refused(READ_WHILE_LOADED, WAIT, &format!("{LOAD} @{read}"));
    }
    for write in [
        "s.store(zero);",
        "copy_async(tile, s); copy_async_wait_all();",
        "other.expect(s.bytes()); @tma::load(m, [64, 0], other, s); other.wait(0);",
    ] {
        let marked = if write.contains('@') { "" } else { "@" };
        refused(WRITTEN_WHILE_LOADED, WAIT, &format!("{LOAD} {marked}{write}"));
    }
    // A wait on another barrier says nothing of this one, and one before the copy is for an earlier phase.
    refused(READ_WHILE_LOADED, WAIT, &format!("other.expect(0); {LOAD} other.wait(0); @{READ}"));
    refused(READ_WHILE_LOADED, "", &format!("full.expect(0); full.wait(0); {LOAD} {READ}"));
    // Nor is the other window in flight.
    accepted(&format!("t.store(zero); {LOAD} sync(); out.store(t.load()); {WAIT}"));
}

#[test]
fn a_barrier_of_a_ring_is_waited_on_by_its_number() {
    let load = "ring[1].expect(s.bytes()); tma::load(m, [0, 0], ring[1], bufs[1]);";
    let read = "out.store(bufs[1].load());";
    refused(READ_WHILE_LOADED, "ring[1].wait(0);", &format!("{load} @{read}"));
    refused(READ_WHILE_LOADED, "ring[1].wait(0);", &format!("{load} ring[0].wait(1); @{read}"));
    accepted(&format!("{load} ring[n].wait(0); {read}"));
    // Buffers and barriers of a number known at run time.
    let load = "ring[n % 2].expect(s.bytes()); tma::load(m, [0, 0], ring[n % 2], bufs[n % 2]);";
    accepted(&format!("{load} {read}"));
    accepted(&format!("{load} ring[0].wait(0); {read}"));
    accepted(
        "for k in 0..n { ring[k % 2].expect(s.bytes()); tma::load(m, [0, 0], ring[k % 2], bufs[k % 2]); if k > 0 { out.store(bufs[(k - 1) % 2].load()); } }",
    );
    refused(
        READ_WHILE_LOADED,
        "",
        "let at = n % 2; ring[at].expect(s.bytes()); tma::load(m, [0, 0], ring[at], bufs[at]); let b = bufs[at]; out.store(b.load());",
    );
}

#[test]
fn a_wait_on_some_path_is_enough() {
    for wait in [
        "if more { full.wait(0); }",
        "loop { if full.try_wait(0) { break; } }",
        "for _ in 0..n { full.wait(0); }",
        "while !full.try_wait(0) {}",
        "let there = full.try_wait(0);",
    ] {
        accepted(&format!("{LOAD} {wait} {READ}"));
    }
    // Each iteration waits for the load of the one before.
    accepted(&format!(
        "for k in 0..n {{ if k > 0 {{ full.wait((k - 1) & 1); {READ} }} full.expect(s.bytes()); tma::load(m, [0, 0], full, s); }}"
    ));
    accepted(&format!(
        "{LOAD} for k in 0..n {{ full.wait(k & 1); {READ} sync(); full.expect(s.bytes()); tma::load(m, [0, 0], full, s); }}"
    ));
    // Instructions that are written out may wait for anything, on every path or on one.
    let unknown = "ptx!(\"fence.acq_rel.cta;\");";
    for wait in
        [unknown, &format!("if more {{ {unknown} }}"), &format!("for _ in 0..n {{ {unknown} }}")]
    {
        accepted(&format!("{LOAD} {wait} {READ}"));
    }
    // A loop hides nothing, however often it runs.
    refused(READ_WHILE_LOADED, WAIT, &format!("{LOAD} for _ in 0..n {{}} @{READ}"));
    let found = messages(&format!("if more {{ {LOAD} }} for _ in 0..n {{}} {READ}"));
    assert_eq!(found.len(), 1, "{}", found.join("\n"));
    // No path waits: of the first iteration, of a later one, after the loop.
    let loop_of = |before: &str, after: &str| {
        format!(
            "for k in 0..n {{ {before} full.expect(s.bytes()); tma::load(m, [0, 0], full, s); {after} }}"
        )
    };
    refused(READ_WHILE_LOADED, "", &loop_of("full.wait(k & 1); sync();", READ));
    refused(WRITTEN_WHILE_LOADED, "full.wait(k % 2);", &loop_of("", "@"));
    refused(READ_WHILE_LOADED, "", &format!("{} {READ}", loop_of("full.wait(k & 1);", "")));
    // A loop of one iteration does not come round.
    accepted(&format!("for _ in 0..1 {{ sync(); {LOAD} }} {WAIT} {READ}"));
}

#[test]
fn conditions_may_exclude_each_other() {
    let load = format!("if more {{ {LOAD} }}");
    accepted(&format!("{load} if !more {{ {READ} }}"));
    accepted(&format!("{load} else {{ s.store(zero); }}"));
    accepted(&format!("{load} for _ in 0..n {{ {READ} }}"));
    accepted(
        "full.expect(s.bytes()); tma::load(m, [0, 0], full, s).when(more); tma::load(m, [64, 0], full, s).when(!more); full.wait(0);",
    );
    // What follows either way is read on the one of the copy, and what is in a branch is used where that is taken.
    refused(READ_WHILE_LOADED, WAIT, &format!("{load} @{READ}"));
    refused(READ_WHILE_LOADED, WAIT, &format!("{LOAD} if more {{ @{READ} }}"));
    refused(READ_WHILE_LOADED, WAIT, &format!("{load} if n > 3 {{ t.store(zero); }} @{READ}"));
    let guarded = "full.expect(s.bytes()); tma::load(m, [0, 0], full, s).when(more);";
    refused(READ_WHILE_LOADED, WAIT, &format!("{guarded} @{READ}"));
}

#[test]
fn a_write_of_what_a_store_reads_waits_for_its_group() {
    let help = "tma::store_wait(0);";
    for store in [
        "tma::store(to, [0, 0], s);",
        "tma::reduce_add(to, [0, 0], s);",
        "bulk::store(p, s);",
        "bulk::reduce_add(p, s);",
    ] {
        let what = match store {
            "tma::store(to, [0, 0], s);" => "a TMA store",
            "tma::reduce_add(to, [0, 0], s);" => "a TMA reduction",
            "bulk::store(p, s);" => "a bulk copy",
            _ => "a bulk reduction",
        };
        let headline = format!("written while {what} may still read it");
        let body = |between: &str, after: &str| {
            format!("s.store(zero); {store} {between} {after} tma::store_wait(0);")
        };
        refused(&headline, help, &body("", "@s.store(zero);"));
        refused(&headline, help, &body(LOAD, "").replace("tma::load", "@tma::load"));
        refused(&headline, help, &body("", "@copy_async(tile, s); copy_async_wait_all();"));
        accepted(&body("tma::store_wait_written(0);", "s.store(zero);"));
        // It may be read.
        accepted(&body("", READ));
    }
    refused(
        WRITTEN_WHILE_STORED,
        help,
        &format!("for _ in 0..n {{ @{STORE} }} tma::store_wait(0);"),
    );
    accepted(&format!("for _ in 0..n {{ {STORE} tma::store_wait(0); }}"));
    accepted(&format!("for k in 0..n {{ if k > 0 {{ tma::store_wait(0); }} {STORE} }}"));
}

#[test]
fn a_wait_that_leaves_stores_covers_those_before_them() {
    let two =
        "s.store(zero); t.store(zero); tma::store(to, [0, 0], s); tma::store(to, [64, 0], t);";
    let help = "tma::store_wait(0);";
    accepted(&format!("{two} tma::store_wait(1); s.store(zero);"));
    refused(WRITTEN_WHILE_STORED, help, &format!("{two} tma::store_wait(1); @t.store(zero);"));
    refused(WRITTEN_WHILE_STORED, help, &format!("{two} tma::store_wait(2); @s.store(zero);"));
    // On some path another one came after it.
    let maybe = "t.store(zero); if more { tma::store(to, [64, 0], t); }";
    accepted(&format!("{STORE} {maybe} tma::store_wait(1); s.store(zero);"));
    // In turns.
    accepted(
        "for k in 0..n { bufs[0].store(zero); tma::store(to, [k, 0], bufs[0]); tma::store_wait(1); bufs[1].store(zero); tma::store(to, [k, 64], bufs[1]); tma::store_wait(1); }",
    );
}

#[test]
fn a_use_of_what_cp_async_fills_waits_for_its_group() {
    let help = "copy_async_wait_all(); sync();";
    let (read, written) = (
        "read while `copy_async` may still write it",
        "written while `copy_async` may still write it",
    );
    let copy = "copy_async(tile, s);";
    refused(read, help, &format!("{copy} @{READ}"));
    refused(written, help, &format!("{copy} @s.store(zero);"));
    refused(written, help, &format!("{copy} @copy_async(tile, s); copy_async_wait_all();"));
    refused(read, help, &format!("{copy} @tma::store(to, [0, 0], s); tma::store_wait(0);"));
    // The threads meet already.
    refused(read, "copy_async_wait_all();", &format!("{copy} @sync(); {READ}"));
    // What is in no group, no wait for groups covers.
    refused(read, "copy_async_commit();", &format!("{copy} @copy_async_wait(0); sync(); {READ}"));
    accepted(&format!("{copy} copy_async_commit(); copy_async_wait(0); sync(); {READ}"));
    accepted(&format!("{copy} copy_async_wait_all(); sync(); {READ}"));
    let two = format!("{copy} copy_async_commit(); copy_async(tile, t); copy_async_commit();");
    accepted(&format!("{two} copy_async_wait(1); sync(); {READ}"));
    let wait = "copy_async_wait(0);";
    refused(read, wait, &format!("{two} copy_async_wait(1); @sync(); out.store(t.load());"));
    // Threads may read the parts that they have copied themselves.
    accepted(&format!("{copy} copy_async_wait_all(); {READ}"));
}

#[test]
fn pipelined_loops_wait_for_their_copies() {
    accepted(&format!(
        "for k in pipeline(range(0, n, 64), 3) {{ copy_async(h.tile([0, k], [64, 64]), s); {READ} }}"
    ));
    accepted(&format!(
        "for k in pipeline(range(0, n, 64), 3) {{ copy_async(m.at([0, k]), s); {READ} }}"
    ));
    // A loop of groups waits for all of them.
    accepted(
        "copy_async(tile, t); for k in pipeline(range(0, n, 64), 3) { copy_async(h.tile([0, k], [64, 64]), s); out.store(s.load()); } out.store(t.load());",
    );
    // What else is copied there, it does not wait for.
    let other = |wait: &str| {
        format!(
            "let mut phase = 0; for k in pipeline(range(0, n, 64), 3) {{ copy_async(h.tile([0, k], [64, 64]), s); full.expect(t.bytes()); tma::load(m, [0, k], full, t); {wait} out.store(t.load()); }}"
        )
    };
    let found = messages(&other(""));
    assert_eq!(found.len(), 1, "{}", found.join("\n"));
    assert!(found[0].contains(READ_WHILE_LOADED), "{}", found[0]);
    // The name is taken.
    assert!(found[0].contains("full.wait(parity); parity ^= 1;"), "{}", found[0]);
    accepted(&other("full.wait(phase); phase ^= 1;"));
}

#[test]
fn what_others_tell_counts_where_they_have_waited() {
    let split = |default: &str, partition: &str| {
        format!(
            "{LOAD} warp_specialize(|| {{ {default} }}, [partition(4).run(|| {{ {partition} }})]);"
        )
    };
    // The partition waits on the barrier, and arrives at another one.
    accepted(&split(&format!("other.wait(0); {READ}"), "full.wait(0); other.arrive();"));
    // It arrives, and has waited for nothing.
    refused(READ_WHILE_LOADED, WAIT, &split(&format!("other.wait(0); @{READ}"), "other.arrive();"));
    // At a named barrier, too.
    let named = |partition: &str| {
        format!(
            "let met = named_barrier(8); {}",
            split(&format!("met.sync(); @{READ}"), &format!("{partition} met.sync();"))
        )
    };
    accepted(&named("full.wait(0);").replacen('@', "", 1));
    refused(READ_WHILE_LOADED, WAIT, &named(""));
    // Who has met one that waited may tell a third.
    let third = "let met = named_barrier(8); let ready = barrier(1);";
    accepted(&format!(
        "{third} {LOAD} warp_specialize(|| {{ ready.wait(0); {READ} }}, [partition(4).run(|| {{ full.wait(0); met.sync(); }}), partition(4).run(|| {{ met.sync(); ready.arrive(); }})]);"
    ));
    // Behind the partitions, what one has started and another has waited for is there.
    accepted(&format!(
        "warp_specialize(|| {{ full.wait(0); {READ} }}, [partition(4).run(|| {{ {LOAD} }})]); s.store(zero);"
    ));
    // What a partition has started, it waits for; what others have, they may have waited for.
    let load = "other.expect(t.bytes()); tma::load(m, [0, 0], other, t);";
    refused(
        READ_WHILE_LOADED,
        "other.wait(0);",
        &split("full.wait(0);", &format!("{load} @out.store(t.load());")),
    );
    accepted(&split("full.wait(0); out.store(t.load());", &format!("{load} other.wait(0);")));
    // Groups are those of the threads that started them.
    accepted(&format!(
        "{STORE} warp_specialize(|| {{ tma::store_wait(0); other.arrive(); }}, [partition(4).run(|| {{ other.wait(0); s.store(zeros([64, 64])); }})]);"
    ));
    // After all partitions it is known what each has waited for.
    accepted(&format!("{} {READ}", split("", "full.wait(0);")));
    refused(READ_WHILE_LOADED, WAIT, &format!("{} @{READ}", split("", "")));
}

#[test]
fn other_blocks_may_have_waited() {
    let mut body = format!("{LOAD} other.wait(0); {READ} other.of_block(1).arrive();");
    // The thread that arrives has not waited for the copy.
    assert_eq!(in_clusters(&body, 2).len(), 1);
    body.push_str(WAIT);
    assert!(in_clusters(&body, 2).is_empty());
    // A copy to several blocks may leave this one out.
    let multicast = LOAD.replace("s);", "s).multicast(2);");
    assert!(in_clusters(&format!("{multicast} {READ}"), 2).is_empty());
    // What is sent is this block's again when the other one has told.
    let sent = |wait: &str| {
        format!(
            "s.store(zero); full.expect(t.bytes()); bulk::send(s, full, t.of_block(1)); {wait} s.store(zero);"
        )
    };
    assert_eq!(in_clusters(&sent(""), 2).len(), 1);
    assert!(in_clusters(&sent("cluster::sync();"), 2).is_empty());
    assert!(in_clusters(&sent("other.wait(0);"), 2).is_empty());
}

#[test]
fn written_out_instructions_may_wait_for_anything() {
    accepted(&format!("{LOAD} ptx!(\"membar.gl;\"); {READ}"));
}
