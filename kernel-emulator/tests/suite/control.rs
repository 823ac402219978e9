//! Branches, divergence, calls, locks.

use kernel_emulator::{LaunchConfig, Options};

use crate::harness::{Bench, check1, check2, entry, one_block, refusal};

#[test]
fn two_sided_branches_and_joins() {
    check2(
        "setp.lt.s32 %p0, %a, %b; @%p0 bra LESS; mov.u32 %r0, 10; bra JOIN;
         LESS: mov.u32 %r0, 20; JOIN: add.u32 %o, %r0, 1;",
        |a, b| if (a as i32) < b as i32 { 21 } else { 11 },
    );
}

#[test]
fn loops_with_different_trip_counts() {
    check1(
        "and.b32 %r0, %a, 15; mov.u32 %r1, 0;
         LOOP: setp.eq.u32 %p0, %r0, 0; @%p0 bra DONE;
         mad.lo.u32 %r1, %r1, 3, %r0; sub.u32 %r0, %r0, 1; bra LOOP;
         DONE: mov.u32 %o, %r1;",
        |a| (1..=a & 15).rev().fold(0, |sum: u32, i| sum.wrapping_mul(3).wrapping_add(i)),
    );
}

#[test]
fn nested_divergence_with_break_and_continue() {
    // for i in 0..10 { if i * a & 4 { continue } if i + b > 20 { break } sum += i }
    check2(
        "and.b32 %a, %a, 7; and.b32 %b, %b, 31; mov.u32 %r0, 0; mov.u32 %r1, 0;
         LOOP: mul.lo.u32 %r2, %r0, %a; and.b32 %r2, %r2, 4; setp.ne.u32 %p0, %r2, 0; @%p0 bra NEXT;
         add.u32 %r3, %r0, %b; setp.gt.u32 %p1, %r3, 20; @%p1 bra OUT;
         add.u32 %r1, %r1, %r0;
         NEXT: add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 10; @%p2 bra LOOP;
         OUT: activemask.b32 %r5; popc.b32 %r5, %r5; mad.lo.u32 %o, %r5, 1000, %r1;",
        |a, b| {
            let (a, b) = (a & 7, b & 31);
            let mut sum = 0;
            for i in 0..10 {
                if i * a & 4 != 0 {
                    continue;
                }
                if i + b > 20 {
                    break;
                }
                sum += i;
            }
            // All lanes are together again behind the loop.
            32 * 1000 + sum
        },
    );
}

#[test]
fn indexed_branches() {
    check1(
        "and.b32 %r0, %a, 3; TABLE: .branchtargets L0, L1, L2, L3; brx.idx %r0, TABLE;
         L0: mov.u32 %o, 5; bra DONE;
         L1: mov.u32 %o, 6; bra DONE;
         L2: mov.u32 %o, 7; bra DONE;
         L3: mov.u32 %o, 8;
         DONE: activemask.b32 %r1; popc.b32 %r1, %r1; mad.lo.u32 %o, %r1, 10, %o;",
        |a| 320 + 5 + (a & 3),
    );
}

#[test]
fn lanes_that_leave_early() {
    let bench = Bench::new(&entry(
        1,
        ".reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred %p<2>;
         ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;
         setp.ge.u32 %p0, %r0, 20; @%p0 exit;
         setp.lt.u32 %p1, %r0, 4; @%p1 bra OTHER;
         activemask.b32 %r1; st.global.u32 [%d0], %r1; ret;
         OTHER: activemask.b32 %r1; st.global.u32 [%d0], %r1;",
    ));
    let to = bench.upload(&[0; 128]);
    bench.launch(&one_block(32), &[to]);
    let mut expected = vec![0xF; 4];
    expected.extend([0xFFFF0; 16]);
    expected.extend([0; 12]);
    assert_eq!(bench.words(to, 32), expected);
}

#[test]
fn calls_with_memory_and_register_parameters() {
    let text = format!(
        ".func (.param .b32 result) twice(.param .b32 x, .param .align 8 .b8 pair[8])
         {{
             .reg .b32 %r<4>; .reg .pred %p;
             ld.param.u32 %r0, [x]; ld.param.u32 %r1, [pair+4];
             setp.lt.u32 %p, %r0, 16; @%p bra SMALL;
             add.u32 %r2, %r0, %r1; st.param.b32 [result], %r2; ret;
             SMALL: mul.lo.u32 %r2, %r0, %r1; st.param.b32 [result], %r2; ret;
         }}
         .func (.reg .b32 %out) plus(.reg .b32 %x, .reg .b32 %y)
         {{ add.u32 %out, %x, %y; ret; }}
         {}",
        entry(
            1,
            ".reg .b64 %d<2>; .reg .b32 %r<8>; .reg .pred %p<2>;
             ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;
             mov.u32 %r3, 0;
             and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;
             @%p0 bra SKIP;
             {
                 .param .b32 arg; .param .align 8 .b8 two[8]; .param .b32 out;
                 st.param.b32 [arg], %r0; st.param.b32 [two], 1; st.param.b32 [two+4], 3;
                 call.uni (out), twice, (arg, two);
                 ld.param.b32 %r3, [out];
             }
             SKIP: call (%r4), plus, (%r3, 1000);
             activemask.b32 %r5; popc.b32 %r5, %r5; add.u32 %r4, %r4, %r5;
             st.global.u32 [%d0], %r4;"
        )
    );
    let bench = Bench::new(&text);
    let to = bench.memory.allocate(128).expect("small");
    bench.launch(&one_block(32), &[to]);
    let expected: Vec<u32> = (0..32)
        .map(|i| {
            let twice = if i % 2 == 0 {
                0
            } else if i < 16 {
                3 * i
            } else {
                i + 3
            };
            twice + 1000 + 32
        })
        .collect();
    assert_eq!(bench.words(to, 32), expected);
}

#[test]
fn recursion_is_refused_by_name() {
    let error = refusal(".func f() { call f; ret; }\n.visible .entry k() { call f; ret; }");
    assert!(error.to_string().contains("`f` calls itself"), "{error}");
}

#[test]
fn a_lock_inside_one_warp_is_released() {
    // Every lane takes the lock in turn: the one that has it waits at the join of the loop for those
    // that spin, and must go on nevertheless.
    let bench = Bench::new(&entry(
        1,
        ".reg .b64 %d; .reg .b32 %r<4>; .reg .pred %p;
         ld.param.u64 %d, [p0];
         SPIN: atom.global.cas.b32 %r0, [%d], 0, 1; setp.ne.u32 %p, %r0, 0; @%p bra SPIN;
         ld.volatile.global.u32 %r1, [%d+4]; add.u32 %r1, %r1, 1; st.volatile.global.u32 [%d+4], %r1;
         membar.gl; atom.global.exch.b32 %r2, [%d], 0;",
    ));
    let to = bench.upload(&[0; 8]);
    bench.launch(&one_block(4), &[to]);
    assert_eq!(bench.words(to, 2), [0, 4]);
}

#[test]
fn blocks_that_wait_for_later_blocks_make_progress() {
    // Block i waits until block i + 1 has written, on one host thread.
    let bench = Bench::new(&entry(
        1,
        ".reg .b64 %d<3>; .reg .b32 %r<4>; .reg .pred %p<2>;
         ld.param.u64 %d0, [p0]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1;
         mov.u32 %r1, %nctaid.x; sub.u32 %r1, %r1, 1; setp.eq.u32 %p0, %r0, %r1; @%p0 bra LAST;
         WAIT: ld.acquire.gpu.global.u32 %r2, [%d1+4]; setp.eq.u32 %p1, %r2, 0; @%p1 bra WAIT;
         add.u32 %r2, %r2, 1; st.release.gpu.global.u32 [%d1], %r2; ret;
         LAST: st.release.gpu.global.u32 [%d1], 1;",
    ));
    let to = bench.upload(&[0; 16]);
    let config = LaunchConfig::new([4, 1, 1], [1, 1, 1]);
    bench.try_launch(&config, &[to], &Options::default().with_threads(1)).expect("no deadlock");
    assert_eq!(bench.words(to, 4), [4, 3, 2, 1]);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let run = |threads: usize| {
        let bench = Bench::new(&entry(
            1,
            ".reg .b64 %d<2>; .reg .b32 %r<8>; .reg .pred %p; .shared .b32 tile[64];
             ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
             mad.lo.u32 %r2, %r1, 64, %r0; mul.wide.u32 %d1, %r2, 4; add.s64 %d0, %d0, %d1;
             mov.u32 %r3, tile; shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r3;
             mad.lo.u32 %r5, %r2, 747796405, 12345; st.shared.u32 [%r4], %r5; bar.sync 0;
             xor.b32 %r6, %r0, %r1; and.b32 %r6, %r6, 63; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3;
             ld.shared.u32 %r7, [%r6]; st.global.u32 [%d0], %r7;",
        ));
        let to = bench.memory.allocate(4 * 64 * 50).expect("small");
        let config = LaunchConfig::new([50, 1, 1], [64, 1, 1]);
        let options = Options::default().with_threads(threads);
        bench.try_launch(&config, &[to], &options).expect("the kernel is right");
        bench.words(to, 64 * 50)
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
    for (i, word) in one.iter().enumerate() {
        let (block, thread) = (i / 64, i % 64);
        let source = (64 * block + (thread ^ block & 63) % 64) as u32;
        assert_eq!(*word, source.wrapping_mul(747_796_405).wrapping_add(12345));
    }
}

#[test]
fn unknown_instructions_are_named_with_their_line() {
    for (line, name) in [
        (
            "tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%r], %d, %d, [%r], %r, 1;",
            "tcgen05.mma.ws.sp.cta_group::1.kind::f16",
        ),
        ("multimem.red.global.add.u32 [%d], %r;", "multimem.red"),
        ("add.sat.u32 %r, %r, %r;", "add.sat.u32"),
        ("ld.global.f16x2.v2 %r, [%d];", "ld.global"),
    ] {
        let text = entry(0, &format!(".reg .b32 %r; .reg .b64 %d;\n{line}"));
        let error = refusal(&text).to_string();
        assert!(error.contains(name) && error.contains("line 6"), "{error}");
    }
}

/// The limit ends what goes on, and lets what is over be over: whichever instruction it falls on, there is no panic.
#[test]
fn a_limit_of_any_size_ends_in_a_result_or_a_fault() {
    let body = ".reg .b64 %rd0;\nld.param.u64 %rd0, [p0];\nst.global.u32 [%rd0], 7;";
    let bench = Bench::new(&entry(1, body));
    let out = bench.upload(&[0; 4]);
    let mut done = 0;
    for limit in 0..12 {
        let options = Options::default().with_max_instructions(limit);
        match bench.try_launch(&one_block(64), &[out], &options) {
            Ok(_) => done += 1,
            Err(fault) => assert!(fault.to_string().contains("instructions"), "{fault}"),
        }
    }
    assert!(done > 0, "no launch was over in time");
    let text = entry(0, "again:\nbra again;");
    let bench = Bench::new(&text);
    for limit in [0, 1, 1000] {
        let options = Options::default().with_max_instructions(limit);
        let fault = bench.try_launch(&one_block(64), &[], &options).expect_err("it never ends");
        assert!(fault.to_string().contains("instructions"), "{fault}");
    }
}
