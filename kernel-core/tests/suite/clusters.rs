//! Kernels that reach other blocks, in PTX: where the blocks meet, in which state space they access, what they fence.

use crate::fragment::Fragment;

/// The PTX of the last variant of a kernel with four blocks in a cluster and this body.
#[track_caller]
fn ptx(body: &str) -> String {
    ptx_for(&quote::quote!(sm_90a), body)
}

/// As [`ptx`], for a target.
#[track_caller]
fn ptx_for(target: &proc_macro2::TokenStream, body: &str) -> String {
    let source = format!(
        "fn k(x: TensorMut<f32, 1>, #[block(128)] y: TensorMapMut<f32, 1>, p: Ptr<f32>, n: i32) {{
            let (tile, other) = (shared::<f32>([128]), shared::<f32>([128]));
            let row = x.tile([0], [128]).load();
            {body}
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let attr = quote::quote!(target = #target, warps = 4, cluster = 4);
    Fragment::of(attr, &function).stage("general.ptx").to_owned()
}

/// The lines that have any of the words, in order, each as that word.
fn order(text: &str, words: &[&'static str]) -> Vec<&'static str> {
    text.lines()
        .filter_map(|line| words.iter().find(|word| line.contains(*word)).copied())
        .collect()
}

const ARRIVE: &str = "barrier.cluster.arrive";
const WAIT: &str = "barrier.cluster.wait";
const READ: &str = "ld.shared::cluster";
const WRITE: &str = "st.shared::cluster";
const FENCE: &str = "fence.proxy.async;";

#[test]
fn blocks_meet_before_the_first_of_them_is_reached_and_after_the_last() {
    let text = ptx("tile.of_block(1).store(row); sync();");
    assert_eq!(order(&text, &[ARRIVE, WAIT, WRITE]), [ARRIVE, WAIT, WRITE, ARRIVE, WAIT]);
}

#[test]
fn meetings_that_the_program_has_are_not_doubled() {
    let text = ptx("tile.store(row);
        cluster::sync();
        x.tile([0], [128]).store(tile.of_block(1).load());
        cluster::sync();");
    assert_eq!(order(&text, &[ARRIVE, WAIT, READ]), [ARRIVE, WAIT, READ, ARRIVE, WAIT]);
}

#[test]
fn an_arrival_before_the_last_access_is_no_meeting_after_it() {
    let text = ptx("tile.store(row);
        cluster::sync();
        cluster::arrive();
        x.tile([0], [128]).store(tile.of_block(1).load());
        cluster::wait();");
    let halves = [ARRIVE, WAIT, ARRIVE, READ, WAIT, ARRIVE, WAIT];
    assert_eq!(order(&text, &[ARRIVE, WAIT, READ]), halves);
    let text = ptx("tile.store(row);
        cluster::sync();
        let there = tile.of_block(1).load();
        cluster::arrive();
        x.tile([0], [128]).store(there);
        cluster::wait();");
    assert_eq!(order(&text, &[ARRIVE, WAIT, READ]), [ARRIVE, WAIT, READ, ARRIVE, WAIT]);
}

#[test]
fn a_loop_that_may_be_left_between_access_and_meeting_is_followed_by_one() {
    let text = ptx("tile.store(row);
        cluster::sync();
        for i in 0..n {
            x.tile([i], [128]).store(tile.of_block(i % 4).load());
            if i == 3 { break; }
            cluster::sync();
        }");
    assert_eq!(order(&text, &[ARRIVE, READ]), [ARRIVE, READ, ARRIVE, ARRIVE]);
    let text = ptx("tile.store(row);
        cluster::sync();
        for i in 0..n {
            x.tile([i], [128]).store(tile.of_block(i % 4).load());
            cluster::sync();
        }");
    assert_eq!(order(&text, &[ARRIVE, READ]), [ARRIVE, READ, ARRIVE]);
}

#[test]
fn blocks_that_do_not_reach_each_other_do_not_meet() {
    let text = ptx("tile.store(row * cluster::rank() as f32); sync();");
    assert_eq!(order(&text, &[ARRIVE, WAIT]), Vec::<&str>::new());
}

#[test]
fn a_phase_is_tried_by_the_instruction_of_that_name() {
    let text = ptx("let bar = barrier(1);
        bar.arrive();
        let over = bar.try_wait(0);
        store(p, if over { 1.0 } else { 0.0 });");
    let words = ["mbarrier.try_wait.parity", "mbarrier.test_wait", "bar.red.and.pred"];
    assert_eq!(order(&text, &words), [words[0], words[2]]);
}

#[test]
fn arrivals_and_waits_have_the_scope_of_the_cluster_where_they_order_something() {
    let words = [
        "mbarrier.arrive.release.cluster.shared::cluster.b64",
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64",
        "mbarrier.arrive.shared::cta.b64",
        "mbarrier.try_wait.parity.shared::cta.b64",
        "mbarrier.arrive.shared::cluster.b64",
    ];
    let meetings = "let (here, there) = (barrier(1), barrier(1));
        here.arrive();
        here.wait(0);
        there.of_block(0).arrive();
        there.wait(0);";
    // Other blocks learn no more than that this one has come so far.
    let text = ptx(meetings);
    assert_eq!(order(&text, &words), [words[2], words[3], words[4], words[3]]);
    // They read what it wrote to them; what it read and writes in global memory; what instructions that it wrote out did.
    for before in [
        "tile.of_block(1).store(row);",
        "x.tile([n], [128]).store(row);",
        "store(p, load(p + 1));",
        "let lane = ptx!(\"mov.u32 {out}, %laneid;\" => i32);",
    ] {
        let text = ptx(&format!("{before} {meetings}"));
        assert_eq!(order(&text, &words), [words[2], words[3], words[0], words[1]], "{before}");
    }
    let text = ptx("let full = barrier(1);
        full.expect(512);
        tile.of_block(1).store_async(row, full);
        full.wait(0);");
    assert_eq!(order(&text, &words), [words[1]]);
}

#[test]
fn what_another_block_copies_is_fenced_by_the_block_that_wrote_it() {
    let text = ptx("tile.of_block(1).store(row);
        cluster::sync();
        tma::store(y, [0], tile);
        tma::store_wait(0);");
    let words = [WRITE, FENCE, ARRIVE, "cp.async.bulk.tensor"];
    assert_eq!(order(&text, &words)[1..], [WRITE, FENCE, ARRIVE, words[3]]);
}

#[test]
fn a_store_in_bulk_is_fenced_as_one_by_tensor_map_is() {
    let text = ptx("tile.store(row); bulk::store(p, tile); tma::store_wait(0);");
    let words =
        ["st.shared", "fence.proxy.async.shared::cta", "cp.async.bulk.global", "commit_group"];
    assert_eq!(order(&text, &words), words);
}

#[test]
fn the_bytes_of_a_window_that_others_reach_serve_for_nothing_else() {
    // A reduction over rows of warps exchanges through scratch, which may take the place of what is not needed any more.
    let bytes = |body: &str| {
        let text = ptx(body);
        let (_, after) = text.split_once(READ).expect("it reads another block");
        let places = after.lines().filter(|line| line.contains("st.shared.")).map(|line| {
            let (_, rest) = line.split_once('+').unwrap_or((line, "0]"));
            rest.split(']').next().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0)
        });
        places.min().expect("the sum goes through shared memory")
    };
    let sum = "let sum = there.sum(0);";
    let kept = bytes(&format!(
        "tile.store(row); cluster::sync(); let there = tile.of_block(1).load(); {sum}
         x.tile([0], [1]).store(sum.reshape([1]));"
    ));
    assert!(kept >= 512, "scratch begins at {kept}");
    let free = bytes(&format!(
        "tile.store(row); cluster::sync(); let there = tile.of_block(1).load(); cluster::sync(); {sum}
         x.tile([0], [1]).store(sum.reshape([1]));"
    ));
    assert_eq!(free, 0);
}

/// How a block waits, and how it arrives at another one's barrier.
const ACQUIRE: &str = "try_wait.parity.acquire.cluster";
const TRY: &str = "try_wait.parity.shared::cta";
const RELEASE: &str = "arrive.release.cluster.shared::cluster";
const PLAIN: &str = "arrive.shared::cluster";

#[test]
fn what_another_block_has_waited_for_is_ordered_in_the_cluster_where_threads_read_it() {
    let copied = |then: &str| {
        let body = format!(
            "let (full, there) = (barrier(1), barrier(1));
            full.expect(512);
            tma::load(y, [0], full.of_block(cluster::rank() & !1), tile);
            full.wait(0);
            there.of_block(cluster::rank() ^ 1).arrive();
            there.wait(0);
            {then}"
        );
        let text = ptx_for(&quote::quote!(sm_100a), &body);
        order(&text, &[ACQUIRE, TRY, RELEASE, PLAIN]).join(" ")
    };
    let read = "x.tile([0], [128]).store(tile.load());";
    assert_eq!(copied(read), [ACQUIRE, RELEASE, ACQUIRE].join(" "));
    assert_eq!(copied(""), [TRY, PLAIN, TRY].join(" "));
}

#[test]
fn what_threads_write_for_the_tensor_cores_of_a_pair_is_fenced_and_ordered_before_they_tell_it() {
    let body = "let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 32]));
        let (acc, told, done) = (tmem::<f32>([64, 64]), barrier(2), barrier(1));
        a.store(zeros([64, 64]));
        b.store(zeros([64, 32]));
        told.of_block(cluster::rank() & !1).arrive();
        if cluster::rank() % 2 == 0 { told.wait(0); }
        tcgen05::mma_pair(a, b, acc).accumulate(false);
        tcgen05::commit(done).multicast(0b11);
        done.wait(0);";
    let text = ptx_for(&quote::quote!(sm_100a), body);
    let (fence, product) = ("fence.proxy.async.shared::cta", "tcgen05.mma.cta_group::2");
    let found = order(&text, &[ACQUIRE, TRY, RELEASE, PLAIN, fence, product]);
    assert_eq!(found[..4], [fence, RELEASE, ACQUIRE, product], "{found:?}");
}

/// Shared and tensor memory of a product, single or of a pair, and a barrier.
const PRODUCT: &str = "let (a, b) = (shared::<f16>([64, 64]), shared::<f16>([64, 32]));
    let done = barrier(4);";

#[test]
fn blocks_that_commits_tell_meet_before_they_end() {
    let told = |said: &str| {
        let body = format!(
            "{PRODUCT} let acc = tmem::<f32>([64, 32]);
            tcgen05::mma(a, b, acc).accumulate(false);
            tcgen05::commit(done){said};
            if n > 0 {{ done.wait(0); }}"
        );
        let text = ptx_for(&quote::quote!(sm_100a), &body);
        order(&text, &[ARRIVE, WAIT, "tcgen05.commit"]).join(" ")
    };
    let commit = "tcgen05.commit";
    assert_eq!(told(".multicast(0b1111)"), [ARRIVE, WAIT, commit, ARRIVE, WAIT].join(" "));
    assert_eq!(told(""), [ARRIVE, WAIT, commit].join(" "));
}

#[test]
fn pairs_meet_before_they_give_tensor_memory_back_and_not_twice() {
    let body = format!(
        "{PRODUCT} let acc = tmem::<f32>([64, 64]);
        tcgen05::mma_pair(a, b, acc).accumulate(false);
        tcgen05::commit(done).multicast(0b11);
        if n > 0 {{ done.wait(0); }}"
    );
    let text = ptx_for(&quote::quote!(sm_100a), &body);
    let gives = "tcgen05.dealloc.cta_group::2";
    assert_eq!(order(&text, &[ARRIVE, WAIT, gives]), [ARRIVE, WAIT, ARRIVE, WAIT, gives]);
}

#[test]
fn a_relaxed_arrival_orders_nothing_where_a_tensor_is_read_and_written() {
    let arrived = |how: &str| {
        let body = format!(
            "x.tile([0], [128]).store(x.tile([0], [128]).load() + 1.0);
            let there = barrier(1);
            there.of_block(cluster::rank() ^ 1).{how};
            there.wait(0);"
        );
        order(&ptx(&body), &[ACQUIRE, TRY, RELEASE, PLAIN]).join(" ")
    };
    assert_eq!(arrived("arrive()"), [RELEASE, ACQUIRE].join(" "));
    assert_eq!(arrived("arrive_relaxed()"), [PLAIN, TRY].join(" "));
}

#[test]
fn a_wait_that_commits_end_as_well_sees_what_other_blocks_did() {
    let waited = |how: &str| {
        let body = format!(
            "x.tile([0], [128]).store(x.tile([0], [128]).load() + 1.0);
            {PRODUCT} let acc = tmem::<f32>([64, 32]);
            tcgen05::mma(a, b, acc).accumulate(false);
            tcgen05::commit(done).multicast(0b1111);
            {how}
            if n > 0 {{ done.wait(0); }}"
        );
        let text = ptx_for(&quote::quote!(sm_100a), &body);
        order(&text, &[ACQUIRE, TRY]).join(" ")
    };
    assert_eq!(waited(""), ACQUIRE);
    assert_eq!(waited("done.of_block(0).arrive_relaxed();"), ACQUIRE);
}
