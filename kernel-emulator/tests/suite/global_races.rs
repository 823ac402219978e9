//! Races on global memory, between blocks and within one: the litmus tests of the PTX memory model, and more.
//!
//! The shapes are those of the formal analysis of the model (Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA PTX Memory
//! Consistency Model", 2019): message passing, store buffering, load buffering, independent reads of independent writes, coherence. Each test
//! says whether two accesses race, which is what the emulator looks for; the weak outcomes themselves do not come up.

use kernel_emulator::{Fault, FaultKind, LaunchConfig, Options};

use crate::harness::{Bench, entry};

/// Where the threads of a test are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Together {
    /// Warps of one block.
    Block,
    /// Blocks of one cluster.
    Cluster,
    /// Blocks of different clusters.
    Grid,
}

const PLACES: [Together; 3] = [Together::Block, Together::Cluster, Together::Grid];

/// The scopes, each with the farthest threads that are in it.
const SCOPES: [(&str, Together); 4] = [
    ("cta", Together::Block),
    ("cluster", Together::Cluster),
    ("gpu", Together::Grid),
    ("sys", Together::Grid),
];

/// Runs texts, each in a thread of its own, on words of zeros: `%d0` is the data, `%d1` and `%d2` are flags. `FLAG` polls.
#[expect(clippy::result_large_err, reason = "the fault is what the tests look at")]
fn run(texts: &[&str], together: Together) -> Result<(), Fault> {
    let count = u32::try_from(texts.len()).expect("few threads");
    let (blocks, threads, cluster) = match together {
        Together::Block => (1, 32 * count, 1),
        Together::Cluster => (count, 32, count),
        Together::Grid => (count, 32, 1),
    };
    let role = if together == Together::Block { "%r1" } else { "%ctaid.x" };
    let mut body = format!(
        ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<8>;
        ld.param.u64 %d0, [p0]; add.u64 %d1, %d0, 1024; add.u64 %d2, %d0, 2048; mov.u32 %r0, %tid.x;
        shr.u32 %r1, %r0, 5; mov.u32 %r2, {role}; and.b32 %r3, %r0, 31; setp.ne.u32 %p0, %r3, 0; @%p0 ret;\n"
    );
    for (index, text) in texts.iter().enumerate() {
        let text = text.replace("AGAIN", &format!("AGAIN{index}"));
        body.push_str(&["setp.ne.u32 %p7, %r2, ", &index.to_string(), "; @%p7 bra NEXT"].concat());
        body.push_str(
            &[&index.to_string(), ";\n", &text, "\nNEXT", &index.to_string(), ":\n"].concat(),
        );
    }
    let bench = Bench::new(&entry(1, &body));
    let data = bench.upload_words(&[0; 1024]);
    let mut config = LaunchConfig::new([blocks, 1, 1], [threads, 1, 1]);
    config.cluster = [cluster, 1, 1];
    let options = Options::default().with_max_instructions(1 << 24);
    bench.try_launch(&config, &[data], &options).map(drop)
}

/// The texts race, or do not.
#[track_caller]
fn races(texts: &[&str], together: Together, required: bool) {
    match run(texts, together) {
        Ok(()) => assert!(!required, "a race is missed, {together:?}: {texts:#?}"),
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::Race, "{fault}");
            assert!(required, "{together:?}: {texts:#?}\n{fault}");
        }
    }
}

/// Message passing: the data are stored, the flag is written and polled, the data are loaded.
fn passing(write: &str, read: &str) -> [String; 2] {
    [
        format!("st.global.u32 [%d0], 42; mov.u32 %r5, 1; {write}"),
        format!(
            "AGAIN: {} setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN; {} ld.global.u32 %r6, [%d0];",
            read.split('|').next().expect("a load"),
            read.split('|').nth(1).unwrap_or_default()
        ),
    ]
}

/// A release is ordered before what follows an acquire of it, with its own access to the flag: the thread that waited may write the flag.
/// A relaxed access is not.
#[test]
fn a_flag_is_cleared_by_who_acquired_it() {
    for together in PLACES {
        let scope = if together == Together::Block { "cta" } else { "gpu" };
        for write in
            ["st.ORDER.S.global.u32 [%d1], 1;", "atom.ORDER.S.global.exch.b32 %r7, [%d1], 1;"]
        {
            for (order, racing) in [("release", false), ("relaxed", true)] {
                let write = write.replace("ORDER", order).replace(".S", &format!(".{scope}"));
                let read = "AGAIN: ld.acquire.S.global.u32 %r4, [%d1]; setp.eq.u32 %p1, %r4, 0;
                    @%p1 bra AGAIN; st.global.u32 [%d1], 0;";
                let read = read.replace(".S", &format!(".{scope}"));
                races(&[&write, &read], together, racing);
            }
        }
        // The last of three to arrive clears the counter.
        for (order, racing) in [("acq_rel", false), ("relaxed", true)] {
            let arrive = format!(
                "atom.{order}.{scope}.global.add.u32 %r4, [%d1], 1; setp.ne.u32 %p1, %r4, 2;
                @!%p1 st.global.u32 [%d1], 0;"
            );
            races(&[&arrive, &arrive, &arrive], together, racing);
        }
    }
}

#[test]
fn message_passing_at_each_scope() {
    for together in PLACES {
        for (of_writer, farthest) in SCOPES {
            for (of_reader, reader_farthest) in SCOPES {
                let wide = farthest >= together && reader_farthest >= together;
                for (write, read) in [
                    ("st.release.S.global.u32 [%d1], %r5;", "ld.acquire.S.global.u32 %r4, [%d1];"),
                    (
                        "fence.acq_rel.S; st.relaxed.S.global.u32 [%d1], %r5;",
                        "ld.relaxed.S.global.u32 %r4, [%d1];| fence.acq_rel.S;",
                    ),
                    (
                        "fence.sc.S; red.relaxed.S.global.add.u32 [%d1], %r5;",
                        "atom.acquire.S.global.or.b32 %r4, [%d1], 0;",
                    ),
                    (
                        "atom.release.S.global.exch.b32 %r7, [%d1], %r5;",
                        "ld.relaxed.S.global.u32 %r4, [%d1];| fence.sc.S;",
                    ),
                ] {
                    let (write, read) = (
                        write.replace(".S", &format!(".{of_writer}")),
                        read.replace(".S", &format!(".{of_reader}")),
                    );
                    let [writer, reader] = passing(&write, &read);
                    races(&[&writer, &reader], together, !wide);
                }
            }
        }
    }
}

#[test]
fn a_fence_reaches_as_far_as_its_scope() {
    // The flag alone reaches everywhere.
    for together in PLACES {
        for (scope, farthest) in SCOPES {
            for (write, read) in [
                (
                    "fence.acq_rel.S; st.relaxed.sys.global.u32 [%d1], %r5;",
                    "ld.acquire.sys.global.u32 %r4, [%d1];",
                ),
                (
                    "st.release.sys.global.u32 [%d1], %r5;",
                    "ld.relaxed.sys.global.u32 %r4, [%d1];| fence.acq_rel.S;",
                ),
            ] {
                let named = |text: &str| text.replace(".S", &format!(".{scope}"));
                let [writer, reader] = passing(&named(write), &named(read));
                races(&[&writer, &reader], together, farthest < together);
            }
        }
    }
}

#[test]
fn message_passing_without_a_release_or_an_acquire() {
    for together in PLACES {
        for (write, read) in [
            // Weak flags.
            ("st.global.u32 [%d1], %r5;", "ld.global.u32 %r4, [%d1];"),
            (
                "fence.acq_rel.gpu; st.global.u32 [%d1], %r5;",
                "ld.acquire.gpu.global.u32 %r4, [%d1];",
            ),
            (
                "st.release.gpu.global.u32 [%d1], %r5;",
                "ld.global.u32 %r4, [%d1];| fence.acq_rel.gpu;",
            ),
            // Neither side may be relaxed.
            ("st.relaxed.gpu.global.u32 [%d1], %r5;", "ld.acquire.gpu.global.u32 %r4, [%d1];"),
            ("st.volatile.global.u32 [%d1], %r5;", "ld.volatile.global.u32 %r4, [%d1];"),
            ("st.release.gpu.global.u32 [%d1], %r5;", "ld.relaxed.gpu.global.u32 %r4, [%d1];"),
            ("red.global.add.u32 [%d1], %r5;", "atom.acquire.gpu.global.or.b32 %r4, [%d1], 0;"),
            // A fence on the wrong side of the access.
            (
                "st.relaxed.gpu.global.u32 [%d1], %r5; fence.acq_rel.gpu;",
                "ld.acquire.gpu.global.u32 %r4, [%d1];",
            ),
            (
                "membar.gl; st.relaxed.gpu.global.u32 [%d1], %r5;",
                "fence.acq_rel.gpu; ld.relaxed.gpu.global.u32 %r4, [%d1];",
            ),
            // A fence too narrow.
            (
                "membar.cta; st.volatile.global.u32 [%d1], %r5;",
                "ld.volatile.global.u32 %r4, [%d1];| membar.gl;",
            ),
        ] {
            let [writer, reader] = passing(write, read);
            let narrow = write.contains("membar.cta") && together == Together::Block;
            races(&[&writer, &reader], together, !narrow);
        }
        let fences = passing(
            "membar.gl; st.volatile.global.u32 [%d1], %r5;",
            "ld.volatile.global.u32 %r4, [%d1];| membar.gl;",
        );
        races(&[&fences[0], &fences[1]], together, false);
    }
}

#[test]
fn a_chain_of_threads_hands_on_what_the_first_one_did() {
    let [first, _] = passing("st.release.gpu.global.u32 [%d1], %r5;", "ld");
    let middle = |order: &str| {
        format!(
            "AGAIN: ld.{order}.gpu.global.u32 %r4, [%d1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;
            st.release.gpu.global.u32 [%d2], 1;"
        )
    };
    let last =
        "AGAIN: ld.acquire.gpu.global.u32 %r4, [%d2]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;
        ld.global.u32 %r6, [%d0];";
    for together in PLACES {
        races(&[&first, &middle("acquire"), last], together, false);
        races(&[&first, &middle("relaxed"), last], together, true);
    }
    // Atomic operations behind a release hand it on; a store of another thread does not.
    let counts = |write: &str| {
        let second = format!(
            "AGAIN: ld.relaxed.gpu.global.u32 %r4, [%d1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN; {write}"
        );
        let third =
            "AGAIN: ld.acquire.gpu.global.u32 %r4, [%d1]; setp.lt.u32 %p1, %r4, 2; @%p1 bra AGAIN;
            ld.global.u32 %r6, [%d0];"
                .to_owned();
        [second, third]
    };
    for together in PLACES {
        let [second, third] = counts("red.relaxed.gpu.global.add.u32 [%d1], 1;");
        races(&[&first, &second, &third], together, false);
        let [second, third] = counts("st.relaxed.gpu.global.u32 [%d1], 2;");
        races(&[&first, &second, &third], together, true);
    }
}

#[test]
fn buffering_and_coherence_race_where_an_access_is_weak_or_its_scope_too_small() {
    // Store buffering, load buffering, two writes of one word in both orders, reads of a word that is written.
    let shapes: [&[&str]; 4] = [
        &[
            "st.S.global.u32 [%d1], 1; ld.L.global.u32 %r4, [%d2];",
            "st.S.global.u32 [%d2], 1; ld.L.global.u32 %r4, [%d1];",
        ],
        &[
            "ld.L.global.u32 %r4, [%d1]; st.S.global.u32 [%d2], 1;",
            "ld.L.global.u32 %r4, [%d2]; st.S.global.u32 [%d1], 1;",
        ],
        &[
            "st.S.global.u32 [%d1], 1; st.S.global.u32 [%d2], 2;",
            "st.S.global.u32 [%d2], 1; st.S.global.u32 [%d1], 2;",
        ],
        &[
            "st.S.global.u32 [%d1], 1; st.S.global.u32 [%d1], 2;",
            "ld.L.global.u32 %r4, [%d1]; ld.L.global.u32 %r5, [%d1];",
        ],
    ];
    // Independent reads of independent writes.
    let independent: &[&str] = &[
        "st.S.global.u32 [%d1], 1;",
        "st.S.global.u32 [%d2], 1;",
        "ld.L.global.u32 %r4, [%d1]; ld.L.global.u32 %r5, [%d2];",
        "ld.L.global.u32 %r4, [%d2]; ld.L.global.u32 %r5, [%d1];",
    ];
    for together in PLACES {
        for shape in shapes.into_iter().chain([independent]) {
            let with = |store: &str, load: &str| -> Vec<String> {
                let text = |text: &&str| text.replace("st.S", store).replace("ld.L", load);
                shape.iter().map(text).collect()
            };
            let check = |store: &str, load: &str, required: bool| {
                let texts = with(store, load);
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                races(&texts, together, required);
            };
            for (scope, farthest) in SCOPES {
                let (store, load) = (format!("st.relaxed.{scope}"), format!("ld.relaxed.{scope}"));
                // Whether `.cta` has both is not asked within a cluster.
                check(&store, &load, farthest < together && together == Together::Grid);
            }
            check("st.volatile", "ld.volatile", false);
            check("st", "ld", true);
            check("st.weak", "ld.relaxed.sys", true);
            if shape.iter().any(|text| text.contains("ld.L")) {
                check("st.relaxed.sys", "ld", true);
            }
        }
    }
}

#[test]
fn blocks_that_write_one_word_race_unless_they_write_the_same() {
    let store = |value: u32| format!("st.global.u32 [%d0], {value};");
    for together in PLACES {
        races(&[&store(1), &store(2)], together, true);
        races(&[&store(7), &store(7)], together, false);
        // Halves of one word are two places.
        let half = |at: u32| {
            format!("mov.b32 %r5, {at}; cvt.u16.u32 %h0, %r5; st.global.u16 [%d0+{at}], %h0;")
        };
        let halves = |at: u32| format!(".reg .b16 %h<2>; {}", half(at));
        races(&[&format!("{{ {} }}", halves(0)), &format!("{{ {} }}", halves(2))], together, false);
        races(&[&format!("{{ {} }}", halves(2)), &store(9)], together, true);
        // Who reads may not be overwritten, in either order.
        races(&["ld.global.u32 %r4, [%d0];", &store(3)], together, true);
        races(&[&store(3), "ld.global.u32 %r4, [%d0];"], together, true);
        races(&["ld.global.u32 %r4, [%d0];", "ld.global.u32 %r4, [%d0];"], together, false);
        // An atomic operation races with weak accesses only.
        let add = "red.global.add.u32 [%d0], 1;";
        races(&[add, add], together, false);
        let narrow = "atom.relaxed.cta.global.add.u32 %r4, [%d0], 1;";
        races(&[narrow, narrow], together, together == Together::Grid);
        races(&[narrow, add], together, together == Together::Grid);
        // A strong access of the same thread behind it changes nothing.
        for weak in [narrow, "st.global.u32 [%d0], 3;"] {
            let between = format!("{add} {weak} {add}");
            let required = together == Together::Grid || weak != narrow;
            races(&[add, &between], together, required);
            races(&[&between, add], together, required);
        }
        races(&[add, &store(3)], together, true);
        races(&[add, "ld.global.u32 %r4, [%d0];"], together, true);
        races(&[add, "ld.relaxed.gpu.global.u32 %r4, [%d0];"], together, false);
    }
}

#[test]
fn a_message_names_both_blocks_and_what_is_missing() {
    let fault = run(&["st.global.u32 [%d0], 1;", "ld.global.u32 %r4, [%d0];"], Together::Grid);
    let fault = fault.expect_err("nothing orders the two");
    let (block, other) =
        if fault.block == [0; 3] { ("(1, 0, 0)", "read") } else { ("(0, 0, 0)", "wrote") };
    let said = format!("lane 0 of warp 0 of block {block} {other} in PTX line ");
    assert!(fault.detail.contains(&said), "{fault}");
    assert!(fault.detail.contains("a release in scope `.gpu` has to follow"), "{fault}");
    assert_eq!(fault.missing, Some("a release and an acquire in the scope .gpu"));
}

/// 16 bytes of the block's own shared memory to the data, by `%p0`'s thread, and its group.
const STORE: &str =
    "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r9], 16;
    cp.async.bulk.commit_group;";
/// 16 bytes from the data to shared memory, and the wait.
const LOAD: &str = "mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 16, [bar];
    LAND: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra LAND;";

/// A text before which shared memory is declared and filled.
fn with_tile(text: &str) -> String {
    let declared = ".shared .align 16 .b32 tile[8]; .shared .b64 bar;";
    format!("{{ {declared} mov.u32 %r9, tile; st.shared.v4.b32 [%r9], {{1, 2, 3, 4}}; {text} }}")
}

const RELEASE: &str = "st.release.gpu.global.u32 [%d1], 1;";
const ACQUIRE: &str =
    "AGAIN: ld.acquire.gpu.global.u32 %r4, [%d1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;";

#[test]
fn a_bulk_store_is_over_after_the_wait_for_its_group() {
    let read = "ld.global.u32 %r4, [%d0];";
    for (wait, wrong) in [
        ("cp.async.bulk.wait_group 0;", false),
        ("cp.async.bulk.wait_group.read 0;", true),
        ("", true),
    ] {
        let last = "cp.async.bulk.wait_group 0;";
        let writer = with_tile(&format!("{STORE} {wait} {RELEASE} {last}"));
        for together in [Together::Block, Together::Grid] {
            races(&[&writer, &format!("{ACQUIRE} {read}")], together, wrong);
        }
    }
    // Two copies to one place: of one thread, and of two blocks.
    let twice = with_tile(&format!("{STORE} {STORE} cp.async.bulk.wait_group 0;"));
    races(&[&twice], Together::Grid, true);
    let apart = with_tile(&format!(
        "{STORE} cp.async.bulk.wait_group 0; {STORE} cp.async.bulk.wait_group 0;"
    ));
    races(&[&apart], Together::Grid, false);
    let once = with_tile(&format!("{STORE} cp.async.bulk.wait_group 0;"));
    races(&[&once, &once], Together::Grid, true);
    // Reductions may meet, a reduction and a copy may not.
    let reduce = once.replace(
        "cp.async.bulk.global.shared::cta.bulk_group",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
    );
    races(&[&reduce, &reduce], Together::Grid, false);
    races(&[&reduce, &once], Together::Grid, true);
    races(&[&reduce, read], Together::Grid, true);
}

#[test]
fn a_bulk_load_needs_a_proxy_fence_behind_a_store() {
    let store = "st.global.v4.u32 [%d0], {5, 6, 7, 8};";
    let fence = "fence.proxy.async;";
    let missing = |texts: &[&str], together: Together| {
        let fault = run(texts, together).expect_err("the fence is missing");
        assert_eq!(fault.kind, FaultKind::ProxyFence, "{fault}");
        assert_eq!(fault.missing, Some("fence.proxy.async"), "{fault}");
    };
    // In one thread, and on either side of a flag.
    for between in ["fence.proxy.async;", "fence.proxy.async.global;"] {
        races(&[&with_tile(&format!("{store} {between} {LOAD}"))], Together::Grid, false);
    }
    for between in ["", "fence.proxy.async.shared::cta;", "fence.acq_rel.gpu;"] {
        missing(&[&with_tile(&format!("{store} {between} {LOAD}"))], Together::Grid);
    }
    missing(&[&with_tile(&format!("{fence} {store} {LOAD}"))], Together::Grid);
    for together in [Together::Block, Together::Cluster, Together::Grid] {
        let reader = |fence: &str| with_tile(&format!("{ACQUIRE} {fence} {LOAD}"));
        let writer = |fence: &str| format!("{store} {fence} {RELEASE}");
        races(&[&writer(fence), &reader("")], together, false);
        races(&[&writer(""), &reader(fence)], together, false);
        missing(&[&writer(""), &reader("")], together);
        // A fence before what it is for has come.
        let early = with_tile(&format!("{fence} {ACQUIRE} {LOAD}"));
        missing(&[&writer(""), &early], together);
        let late = format!("{store} {RELEASE} {fence}");
        missing(&[&late, &reader("")], together);
    }
    // What a bulk store wrote needs none.
    let copied = with_tile(&format!("{STORE} cp.async.bulk.wait_group 0; {LOAD}"));
    races(&[&copied], Together::Grid, false);
}

/// Two blocks run texts with all of their 32 lanes: `%p0` holds for lane 0, `%d3` is the lane's word of the data, `%d4` that of the flags.
#[track_caller]
fn whole_warps_do_not_race(first: &str, second: &str) {
    let body = format!(
        ".reg .pred %p<8>; .reg .b16 %h<2>; .reg .b32 %r<16>; .reg .b64 %d<8>;
        ld.param.u64 %d0, [p0]; add.u64 %d1, %d0, 1024; add.u64 %d2, %d0, 2048; mov.u32 %r0, %tid.x;
        setp.eq.u32 %p0, %r0, 0; mul.wide.u32 %d5, %r0, 4; add.u64 %d3, %d0, %d5; add.u64 %d4, %d1, %d5;
        mov.u32 %r5, 1; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p7, %r2, 0; @%p7 bra SECOND;
        {first} ret; SECOND: {second}"
    );
    let bench = Bench::new(&entry(1, &body));
    let data = bench.upload_words(&[0; 1024]);
    let options = Options::default().with_max_instructions(1 << 24);
    let config = LaunchConfig::new([2, 1, 1], [32, 1, 1]);
    if let Err(fault) = bench.try_launch(&config, &[data], &options) {
        panic!("{fault}");
    }
}

#[test]
fn what_lanes_hand_on_together_and_alone() {
    let acquire =
        "AGAIN: ld.acquire.gpu.global.u32 %r4, [%d1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra AGAIN;";
    let read = "@%p0 ld.global.u32 %r6, [%d0];";
    // A fence of one lane behind one of the whole warp, and one in a smaller scope.
    for fences in ["fence.acq_rel.gpu;", "membar.gl; @%p0 st.global.u32 [%d0], 2; @%p0 membar.gl;"]
    {
        let first = format!(
            "{fences} @%p0 st.global.u32 [%d0], 1; @%p0 fence.acq_rel.gpu; @%p0 membar.cta;
            @%p0 st.relaxed.gpu.global.u32 [%d1], 1;"
        );
        whole_warps_do_not_race(&first, &format!("{acquire} {read}"));
    }
    // What a thread released stays when it polls by a relaxed atomic operation.
    let first = "@%p0 fence.acq_rel.gpu; @%p0 st.global.u32 [%d0], 1; @%p0 red.release.gpu.global.add.u32 [%d1], 1;
        @%p0 atom.relaxed.gpu.global.add.u32 %r4, [%d1], 0;";
    whole_warps_do_not_race(first, &format!("{acquire} {read}"));
    // A vector counts as its elements, on either side.
    let first = "@%p0 st.global.u32 [%d0], 1; @%p0 fence.acq_rel.gpu;
        @%p0 st.relaxed.gpu.global.v2.u32 [%d1], {%r5, %r5};";
    whole_warps_do_not_race(first, &format!("{} {read}", acquire.replace("[%d1]", "[%d1+4]")));
    // Lanes write the halves of one word, and each hands on its own.
    let first =
        "mul.wide.u32 %d5, %r0, 2; add.u64 %d5, %d5, %d0; mov.u16 %h0, 1; setp.lt.u32 %p2, %r0, 2;
        @%p2 st.global.u16 [%d5], %h0; @%p2 st.release.gpu.global.u32 [%d4], 1;";
    whole_warps_do_not_race(first, &format!("{acquire} @%p0 ld.global.u16 %h1, [%d0];"));
}

#[test]
fn who_waits_for_a_bulk_load_may_overwrite_its_source() {
    // The data were written once in this launch, so that the copy is looked at.
    let load = format!("st.global.u32 [%d0+512], 1; {LOAD} st.global.u32 [%d0], 5;");
    races(&[&with_tile(&load)], Together::Grid, false);
    let source = "st.global.u32 [%d0+512], 1; mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 16, [bar];
        LAND: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra LAND; st.release.gpu.global.u32 [%d1], 1;";
    for together in PLACES {
        let writer = format!("{ACQUIRE} st.global.u32 [%d0], 5;");
        races(&[&with_tile(source), &writer], together, false);
    }
    // `cp.async` reads no more than it is told.
    let copy = "cp.async.ca.shared.global [tile], [%d0], 16, 4; cp.async.wait_all;";
    races(&[&with_tile(copy), "st.global.u32 [%d0+8], 1;"], Together::Grid, false);
    races(&[&with_tile(copy), "st.global.u32 [%d0], 1;"], Together::Grid, true);
}

#[test]
fn what_the_launch_writes_is_not_constant() {
    // The same thread, which knows of its store.
    let own = "st.global.u32 [%d0], 42; ld.global.nc.u32 %r6, [%d0];";
    races(&[own], Together::Block, true);
    races(&["st.global.u32 [%d0], 42; ld.global.u32 %r6, [%d0];"], Together::Block, false);
    // A neighbour's word, and one that is written later.
    races(&["st.global.u32 [%d0], 42; ld.global.nc.u32 %r6, [%d0+4];"], Together::Block, false);
    races(
        &["st.global.u32 [%d0+4], 42; ld.global.nc.v2.u32 {%r6, %r7}, [%d0];"],
        Together::Block,
        true,
    );
    // Two bytes of a word whose other half is written.
    races(&["st.global.u16 [%d0+2], %r3; ld.global.nc.u16 %r6, [%d0];"], Together::Block, false);
    // Another thread, which has handed it on.
    for together in PLACES {
        for (load, wrong) in [("ld.global.u32", false), ("ld.global.nc.u32", true)] {
            let [writer, reader] = passing(
                "st.release.gpu.global.u32 [%d1], %r5;",
                "ld.acquire.gpu.global.u32 %r4, [%d1];",
            );
            let reader = reader.replace("ld.global.u32", load);
            races(&[&writer, &reader], together, wrong);
        }
    }
}
