//! `cp.async`.

use kernel_emulator::{Fault, FaultKind, Options};

use crate::harness::{Bench, entry, one_block, outcome};

/// Copies 16 bytes a lane into shared memory with `copy`, waits, and stores what is there.
fn staged(copy: &str) -> Vec<u32> {
    let bench = Bench::new(&entry(
        2,
        &format!(
            ".shared .align 16 .b8 tile[512]; .reg .b64 %d<4>; .reg .b32 %r<10>; .reg .pred %p<4>;
             ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
             mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 16; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
             mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2;
             st.shared.v4.u32 [%r1], {{9, 9, 9, 9}};
             and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 1;
             {copy}
             ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r1];
             st.global.v4.u32 [%d1], {{%r4, %r5, %r6, %r7}};"
        ),
    ));
    let from = bench.upload_words(&(100..228).collect::<Vec<_>>());
    let to = bench.memory.allocate(512).expect("small");
    bench.launch(&one_block(32), &[from, to]);
    bench.words(to, 128)
}

#[test]
fn sizes() {
    let whole: Vec<u32> = (100..228).collect();
    assert_eq!(
        staged(
            "cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.commit_group; cp.async.wait_group 0;"
        ),
        whole
    );
    assert_eq!(
        staged("cp.async.ca.shared.global.L2::128B [%r1], [%d0], 16; cp.async.wait_all;"),
        whole
    );
    let part = |words: usize| -> Vec<u32> {
        (0..128).map(|i| if i % 4 < words { 100 + i as u32 } else { 9 }).collect()
    };
    assert_eq!(staged("cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.wait_all;"), part(1));
    assert_eq!(staged("cp.async.ca.shared.global [%r1], [%d0], 8; cp.async.wait_all;"), part(2));
}

#[test]
fn short_sources_are_filled_with_zeros() {
    let expected: Vec<u32> = (0..128).map(|i| if i % 4 < 2 { 100 + i } else { 0 }).collect();
    assert_eq!(
        staged("cp.async.cg.shared.global [%r1], [%d0], 16, 8; cp.async.wait_all;"),
        expected
    );
    // With `ignore-src`, odd lanes write zeros and read nothing.
    let expected: Vec<u32> = (0..128).map(|i| if i / 4 % 2 == 0 { 100 + i } else { 0 }).collect();
    assert_eq!(
        staged("cp.async.cg.shared.global [%r1], [%d0], 16, %p0; cp.async.wait_all;"),
        expected
    );
    // Of no bytes nothing is read, so the address does not matter.
    assert_eq!(
        staged(
            "mov.b64 %d0, 16; cp.async.cg.shared.global [%r1], [%d0], 16, 0; cp.async.wait_all;"
        ),
        vec![0; 128]
    );
}

#[test]
fn guarded_copies_leave_other_lanes_alone() {
    let expected: Vec<u32> = (0..128).map(|i| if i / 4 % 2 == 1 { 100 + i } else { 9 }).collect();
    assert_eq!(
        staged("@%p0 cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.wait_all;"),
        expected
    );
}

#[test]
fn a_source_must_not_change_on_the_way() {
    let body = |first: &str, second: &str| {
        entry(
            1,
            &format!(
                ".shared .align 16 .b8 tile[16]; .reg .b64 %d; ld.param.u64 %d, [p0];
                 cp.async.ca.shared.global [tile], [%d], 4; {first} cp.async.wait_all; {second}"
            ),
        )
    };
    let write = "st.global.u32 [%d], 5;";
    assert!(outcome(&body("", write), &one_block(1), 8).is_ok());
    let fault = outcome(&body(write, ""), &one_block(1), 8).expect_err("overwritten");
    assert_eq!(fault.kind, FaultKind::AsyncInFlight);
    assert!(fault.ptx.contains("cp.async.ca"), "{fault}");
}

#[test]
fn groups_are_waited_for_in_order() {
    // Two groups fly; waiting for all but one lets only the first be read.
    let body = |read: &str, keep: u32| {
        entry(
            1,
            &format!(
                ".shared .align 16 .b8 tile[32]; .reg .b64 %d; .reg .b32 %r;
                 ld.param.u64 %d, [p0];
                 cp.async.ca.shared.global [tile], [%d], 4; cp.async.commit_group;
                 cp.async.ca.shared.global [tile+16], [%d], 4; cp.async.commit_group;
                 cp.async.wait_group {keep}; ld.shared.u32 %r, [{read}]; st.global.u32 [%d+4], %r;"
            ),
        )
    };
    assert!(outcome(&body("tile", 1), &one_block(1), 8).is_ok());
    assert!(outcome(&body("tile+16", 1), &one_block(1), 8).is_err());
    assert!(outcome(&body("tile+16", 0), &one_block(1), 8).is_ok());
}

#[test]
fn arrival_on_an_mbarrier() {
    let text = entry(
        1,
        ".shared .align 8 .b64 bar; .shared .align 16 .b8 tile[16]; .reg .b64 %d; .reg .b32 %r; .reg .pred %p;
         ld.param.u64 %d, [p0]; mbarrier.init.shared.b64 [bar], 1;
         cp.async.ca.shared.global [tile], [%d], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
         W: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra W;
         ld.shared.u32 %r, [tile]; st.global.u32 [%d+4], %r;",
    );
    assert!(outcome(&text, &one_block(1), 8).is_ok());
}

/// 64 threads copy a word each into `tile`, and read the word of the other warp; what they read.
fn tracked(count: u32, arrive: &str, wait: &str) -> Result<Vec<u32>, Box<Fault>> {
    let body = format!(
        ".shared .align 8 .b64 bar; .shared .align 16 .b32 tile[64]; .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p<4>;
         ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;
         mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; xor.b32 %r4, %r2, 128; add.u32 %r4, %r4, %r1;
         setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [bar], {count}; bar.sync 0;
         cp.async.ca.shared.global [%r3], [%d1], 4; {arrive}
         {wait} ld.shared.u32 %r5, [%r4]; st.global.u32 [%d1+256], %r5; cp.async.wait_all;"
    );
    let bench = Bench::new(&entry(1, &body));
    let data = bench.upload_words(&(0..128).collect::<Vec<u32>>());
    let options = Options::default().with_max_instructions(1 << 22);
    bench.try_launch(&one_block(64), &[data], &options).map_err(Box::new)?;
    Ok(bench.words(data + 256, 64))
}

const TRY: &str =
    "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W; bar.warp.sync -1;";

#[test]
fn copies_that_an_mbarrier_tracks_have_landed_after_the_wait_for_it() {
    let noinc = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];";
    let counted = "cp.async.mbarrier.arrive.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];";
    let exchanged: Vec<u32> = (0..64).map(|i| i ^ 32).collect();
    // The arrival that a copy adds is one more than those of the threads.
    for arrive in [noinc, counted] {
        assert_eq!(tracked(64, arrive, TRY).expect("it is right"), exchanged);
    }
    // Without the wait, and with a barrier in its place.
    assert!(tracked(64, noinc, "").is_err());
    let fault = tracked(64, noinc, "bar.sync 0;").expect_err("nobody waited");
    assert_eq!(fault.kind, FaultKind::AsyncInFlight, "{fault}");
    assert_eq!(fault.missing, Some("mbarrier.try_wait"), "{fault}");
    // The threads' own wait and a barrier do as well.
    let own = "cp.async.wait_all; bar.sync 0;";
    assert_eq!(tracked(64, noinc, own).expect("it is right"), exchanged);
    // Each thread knows of its own copy, and no other one's.
    assert!(tracked(64, noinc, "cp.async.wait_all;").is_err());
    // A count too small lets go before all have arrived, one too large never does.
    assert!(tracked(32, noinc, TRY).is_err());
    let fault = tracked(65, noinc, TRY).expect_err("one arrival is missing");
    assert_eq!(fault.kind, FaultKind::Deadlock, "{fault}");
}
