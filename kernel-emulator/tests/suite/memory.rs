//! Loads, stores, spaces, addresses.

use kernel_emulator::{Fault, FaultKind, Hazards, LaunchConfig, Options};

use crate::harness::{Bench, check_d, check1, entry, one_block};

#[test]
fn widths_and_extension() {
    let bench = Bench::new(&entry(
        2,
        ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .b16 %s<4>; .reg .b64 %x;
         ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
         ld.global.u8 %r0, [%d0]; st.global.u32 [%d1], %r0;
         ld.global.s8 %r0, [%d0]; st.global.u32 [%d1+4], %r0;
         ld.global.u16 %s0, [%d0+2]; cvt.u32.u16 %r0, %s0; st.global.u32 [%d1+8], %r0;
         ld.global.s16 %r0, [%d0+2]; st.global.u32 [%d1+12], %r0;
         ld.global.s32 %x, [%d0+4]; st.global.u64 [%d1+16], %x;
         ld.global.s8 %s1, [%d0]; cvt.u32.u16 %r1, %s1; st.global.u32 [%d1+24], %r1;
         st.global.u8 [%d1+28], %r1; st.global.u8 [%d1+29], 7; st.global.u16 [%d1+30], 0x1234;",
    ));
    let from = bench.upload(&[0xF0, 1, 0x34, 0x92, 4, 0, 0, 0x80]);
    let to = bench.memory.allocate(32).expect("small");
    bench.launch(&one_block(1), &[from, to]);
    assert_eq!(
        bench.words(to, 8),
        [0xF0, 0xFFFF_FFF0, 0x9234, 0xFFFF_9234, 0x8000_0004, 0xFFFF_FFFF, 0xFFF0, 0x1234_07F0]
    );
}

#[test]
fn vectors_and_128_bits() {
    let bench = Bench::new(&entry(
        2,
        ".reg .b64 %d<8>; .reg .b32 %r<8>; .reg .b16 %s<4>; .reg .b128 %q; .reg .f32 %f<8>;
         ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
         ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];
         st.global.v2.u32 [%d1], {%r3, %r0};
         ld.global.v2.u64 {%d2, _}, [%d0]; st.global.u64 [%d1+8], %d2;
         ld.global.v4.u16 {%s0, %s1, %s2, %s3}, [%d0]; st.global.v2.u16 [%d1+16], {%s3, %s0};
         ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%d0]; st.global.f32 [%d1+20], %f2;
         ld.global.b128 %q, [%d0]; mov.b128 {%d4, %d5}, %q; st.global.u64 [%d1+24], %d5;
         st.global.b128 [%d1+32], %q;
         ld.global.L1::no_allocate.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d0];
         st.global.v4.b64 [%d1+64], {%d2, %d4, %d5, %d2}; st.global.u32 [%d1+48], %r7;",
    ));
    let from = bench.upload_words(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let to = bench.memory.allocate(96).expect("small");
    bench.launch(&one_block(1), &[from, to]);
    assert_eq!(bench.words(to, 13), [4, 1, 1, 2, 0x0001_0000, 3, 3, 4, 1, 2, 3, 4, 8]);
    assert_eq!(bench.words(to + 64, 8), [1, 2, 1, 2, 3, 4, 1, 2]);
}

#[test]
fn shared_memory_static_and_dynamic() {
    // The dynamic part starts at a multiple of 1024 behind the static variables.
    let text = format!(
        ".extern .shared .align 16 .b8 dynamic[];\n{}",
        entry(
            1,
            ".shared .align 4 .b32 first[3]; .shared .align 8 .b64 second;
             .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p;
             ld.param.u64 %d0, [p0];
             mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
             mov.u32 %r2, dynamic; add.u32 %r3, %r2, %r1;
             st.shared.u32 [%r3], %r0;
             bar.sync 0;
             xor.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];
             mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1; st.global.u32 [%d1], %r5;
             setp.ne.u32 %p, %r0, 0; @%p bra DONE;
             st.shared.u32 [first+8], 77; st.shared.u64 [second], 0x1122334455667788;
             ld.shared.u32 %r6, [first+8]; st.global.u32 [%d0+256], %r6;
             ld.shared.u32 %r6, [second+4]; st.global.u32 [%d0+260], %r6;
             and.b32 %r6, %r2, 1023; st.global.u32 [%d0+264], %r6;
             mov.u32 %r7, first; sub.u32 %r6, %r2, %r7; st.global.u32 [%d0+268], %r6;
             mov.u32 %r6, %dynamic_smem_size; st.global.u32 [%d0+272], %r6;
             DONE:",
        )
    );
    let bench = Bench::new(&text);
    assert_eq!(bench.program.entries()[0].static_shared_bytes, 24);
    let to = bench.memory.allocate(512).expect("small");
    let config = LaunchConfig { dynamic_shared_bytes: 256, ..one_block(64) };
    bench.launch(&config, &[to]);
    let words = bench.words(to, 69);
    for (i, word) in words[..64].iter().enumerate() {
        assert_eq!(*word as usize, i ^ 1);
    }
    assert_eq!(words[64..], [77, 0x1122_3344, 0, 1024, 256]);
}

#[test]
fn generic_addresses_of_every_space() {
    let text = format!(
        ".global .align 4 .u32 table[4] = {{10, 20, 30}};
         .const .align 4 .u32 limit = 5;
         {}",
        entry(
            1,
            ".shared .b32 tile; .local .align 8 .b8 frame[16];
             .reg .b64 %d<12>; .reg .b32 %r<12>; .reg .pred %p<8>;
             ld.param.u64 %d0, [p0];
             st.shared.u32 [tile], 1; st.local.u32 [frame+4], 2;
             mov.u64 %d1, tile; cvta.shared.u64 %d1, %d1; ld.u32 %r0, [%d1];
             mov.u64 %d2, frame; cvta.local.u64 %d2, %d2; ld.u32 %r1, [%d2+4];
             mov.u64 %d3, table; cvta.global.u64 %d3, %d3; ld.u32 %r2, [%d3+4];
             mov.u64 %d4, limit; cvta.const.u64 %d4, %d4; ld.u32 %r3, [%d4];
             mov.u64 %d5, p0; cvta.param.u64 %d5, %d5; ld.u64 %d6, [%d5];
             cvta.to.shared.u64 %d7, %d1; ld.shared.u32 %r4, [%d7];
             st.u32 [%d2+8], 9; ld.local.u32 %r5, [frame+8];
             ld.const.u32 %r6, [limit];
             isspacep.shared %p0, %d1; isspacep.local %p1, %d2; isspacep.global %p2, %d3;
             isspacep.const %p3, %d4; isspacep.shared %p4, %d2;
             selp.u32 %r7, 1, 0, %p0; @%p1 add.u32 %r7, %r7, 2; @%p2 add.u32 %r7, %r7, 4;
             @%p3 add.u32 %r7, %r7, 8; @%p4 add.u32 %r7, %r7, 16;
             st.global.v4.u32 [%d6], {%r0, %r1, %r2, %r3};
             st.global.v4.u32 [%d0+16], {%r4, %r5, %r6, %r7};
             ld.global.u32 %r8, [table+12]; st.global.u32 [%d0+32], %r8;",
        )
    );
    let bench = Bench::new(&text);
    let to = bench.memory.allocate(64).expect("small");
    bench.launch(&one_block(1), &[to]);
    assert_eq!(bench.words(to, 9), [1, 2, 20, 5, 1, 9, 5, 15, 0]);
}

#[test]
fn lanes_may_mix_spaces_and_allocations() {
    let bench = Bench::new(&entry(
        3,
        ".shared .b32 tile[32]; .reg .b64 %d<8>; .reg .b32 %r<8>; .reg .pred %p<4>;
         mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, 4;
         ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2];
         mov.u64 %d4, tile; cvta.shared.u64 %d4, %d4;
         add.s64 %d5, %d4, %d3; add.u32 %r1, %r0, 100; st.u32 [%d5], %r1;
         rem.u32 %r2, %r0, 3;
         setp.eq.u32 %p0, %r2, 0; setp.eq.u32 %p1, %r2, 1;
         selp.b64 %d6, %d0, %d1, %p0; selp.b64 %d6, %d4, %d6, %p1; add.s64 %d6, %d6, %d3;
         ld.u32 %r3, [%d6]; add.s64 %d2, %d2, %d3; st.global.u32 [%d2], %r3;",
    ));
    let first = bench.upload_words(&[1; 32]);
    let second = bench.upload_words(&[2; 32]);
    let to = bench.memory.allocate(128).expect("small");
    bench.launch(&one_block(32), &[first, second, to]);
    let expected: Vec<u32> = (0..32).map(|i| [1, i + 100, 2][i as usize % 3]).collect();
    assert_eq!(bench.words(to, 32), expected);
}

#[test]
fn local_memory_is_each_threads_own() {
    check1(
        ".local .align 4 .b8 frame[64]; and.b32 %r0, %t, 7; shl.b32 %r0, %r0, 2;
         mov.u32 %r1, frame; add.u32 %r1, %r1, %r0; st.local.u32 [%r1], %a; ld.local.u32 %o, [%r1];",
        |a| a,
    );
}

#[test]
fn module_variables_live_as_long_as_the_memory() {
    let text = format!(
        ".global .u32 counter = 40;\n{}",
        entry(
            1,
            ".reg .b64 %d; .reg .b32 %r<2>; ld.param.u64 %d, [p0];
             ld.global.u32 %r0, [counter]; add.u32 %r0, %r0, 1; st.global.u32 [counter], %r0;
             st.global.u32 [%d], %r0;"
        )
    );
    let bench = Bench::new(&text);
    let to = bench.memory.allocate(4).expect("small");
    bench.launch(&one_block(1), &[to]);
    bench.launch(&one_block(1), &[to]);
    assert_eq!(bench.words(to, 1), [42]);
}

#[test]
fn parameters_of_several_sizes() {
    let bench = Bench::new(
        ".visible .entry k(.param .u8 a, .param .u16 b, .param .f64 c, .param .align 16 .b8 d[24], .param .u64 to) {
         .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .b16 %s<2>;
         ld.param.u64 %d0, [to];
         ld.param.u8 %r0, [a]; ld.param.u16 %r1, [b]; ld.param.f64 %d1, [c]; ld.param.u32 %r2, [d+20];
         st.global.u32 [%d0], %r0; st.global.u32 [%d0+4], %r1; st.global.u64 [%d0+8], %d1;
         st.global.u32 [%d0+16], %r2; ret; }",
    );
    let entry = &bench.program.entries()[0];
    let offsets: Vec<u32> = entry.params.iter().map(|p| p.offset).collect();
    assert_eq!(offsets, [0, 2, 8, 16, 40]);
    assert_eq!(entry.param_bytes, 48);
    let to = bench.memory.allocate(20).expect("small");
    let mut params = vec![0; 48];
    params[0] = 200;
    params[2..4].copy_from_slice(&0x1234_u16.to_le_bytes());
    params[8..16].copy_from_slice(&1.5_f64.to_le_bytes());
    params[36..40].copy_from_slice(&99_u32.to_le_bytes());
    params[40..48].copy_from_slice(&to.to_le_bytes());
    let report =
        bench.program.launch(&bench.memory, "k", &one_block(1), &params, &Options::default());
    assert!(report.is_ok(), "{report:?}");
    let bits = 1.5_f64.to_bits();
    assert_eq!(bench.words(to, 5), [200, 0x1234, bits as u32, (bits >> 32) as u32, 99]);
}

#[test]
fn special_registers() {
    let bench = Bench::new(&entry(
        1,
        ".reg .b64 %d<4>; .reg .b32 %r<20>;
         ld.param.u64 %d0, [p0];
         mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
         mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y;
         mov.u32 %r7, %nctaid.x; mov.u32 %r8, %laneid; mov.u32 %r9, %lanemask_lt;
         mad.lo.u32 %r10, %r1, %r3, %r0; mul.lo.u32 %r11, %r3, %r4; mad.lo.u32 %r10, %r2, %r11, %r10;
         mad.lo.u32 %r12, %r6, %r7, %r5; mul.lo.u32 %r12, %r12, 48; add.u32 %r12, %r12, %r10;
         mul.wide.u32 %d1, %r12, 16; add.s64 %d1, %d0, %d1;
         mad.lo.u32 %r13, %r6, 1000, %r5; popc.b32 %r14, %r9; shr.u32 %r15, %r10, 5;
         st.global.v4.u32 [%d1], {%r10, %r13, %r8, %r14};",
    ));
    let to = bench.memory.allocate(16 * 48 * 6).expect("small");
    bench.launch(&LaunchConfig::new([3, 2, 1], [4, 3, 4]), &[to]);
    let words = bench.words(to, 4 * 48 * 6);
    for block in 0..6 {
        for thread in 0..48 {
            let at = 4 * (48 * block + thread);
            let ctaid = block as u32 / 3 * 1000 + block as u32 % 3;
            let lane = thread as u32 % 32;
            assert_eq!(words[at..at + 4], [thread as u32, ctaid, lane, lane]);
        }
    }
}

#[test]
fn packing() {
    check1("mov.b32 {%s0, %s1}, %a; mov.b32 %o, {%s1, %s0};", |a| a.rotate_left(16));
    check_d("mov.b64 {%r0, %r1}, %x; mov.b64 %q, {%r1, %r0};", |x, _, _, _| x.rotate_left(32));
    check_d("mov.b64 {%s0, %s1, %s2, %s3}, %x; mov.b64 %q, {%s3, %s0, %s1, %s2};", |x, _, _, _| {
        x.rotate_left(16)
    });
}

#[test]
fn no_instruction_writes_a_constant() {
    let text = |write: &str| {
        format!(
            ".const .align 128 .b32 table[64]; .global .align 128 .b32 other[64];
             .visible .entry k(.param .u64 p0) {{ .reg .b32 %r<8>; .reg .b64 %d<8>; .shared .align 128 .b8 tile[128];
             mov.b32 %r1, 3; st.shared.u32 [tile], %r1; mov.u64 %d0, table; cvta.const.u64 %d0, %d0; mov.u64 %d1, other;
             {write} ld.const.u32 %r2, [table]; ret; }}"
        )
    };
    let bulk = "st.shared.v4.u32 [tile], {%r1, %r1, %r1, %r1}; fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%d0], [tile], 16;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
    for write in [
        "st.u32 [%d0+252], %r1;",
        "st.global.u32 [%d0], %r1;",
        "atom.global.add.u32 %r3, [%d0+4], %r1;",
        "red.global.add.u32 [%d0], 1;",
        bulk,
    ] {
        for hazards in [Hazards::Error, Hazards::Off] {
            let options = Options::default().with_hazards(hazards);
            let run = |write: &str| {
                let result = Bench::new(&text(write)).try_launch(&one_block(1), &[0], &options);
                result.map_err(Box::new)
            };
            let fault = run(write).expect_err("it writes a constant");
            assert_eq!(fault.kind, FaultKind::WrongSpace, "{fault}");
            assert!(
                fault.detail.contains("in a `.const` variable, which cannot be written"),
                "{fault}"
            );
            run(&write.replace("%d0", "%d1")).unwrap_or_else(|fault| panic!("{fault}"));
        }
    }
}

#[test]
fn lanes_that_are_left_out_of_shared_memory_have_any_address() {
    for (width, left_out) in [("u32", 0), ("u32", 0xffff_fffd_u32), ("u8", 0), ("u8", u32::MAX)] {
        let bench = Bench::new(&entry(
            1,
            &format!(
                ".shared .align 4 .b8 s[128];
                 .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p;
                 ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
                 mov.u32 %r2, s; add.u32 %r2, %r2, %r1; setp.ne.u32 %p, %r0, 0;
                 selp.b32 %r3, %r2, {left_out}, %p; mov.u32 %r4, 7;
                 @%p st.shared.{width} [%r3], %r0; @%p ld.shared.{width} %r4, [%r3];
                 mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r4;"
            ),
        ));
        let to = bench.memory.allocate(128).expect("small");
        bench.launch(&one_block(32), &[to]);
        let required: Vec<u32> = (0..32).map(|lane| if lane == 0 { 7 } else { lane }).collect();
        assert_eq!(bench.words(to, 32), required[..], "{width} at {left_out:#x}");
    }
}

/// A kernel of 64 threads for `st.bulk`: thread 0 does what `bulk` says, with the predicate `%p0`, among 64 words that are 1 before, and
/// each thread stores its word after that, behind `barrier`.
fn zeros(bulk: &str, barrier: &str) -> Result<Vec<u32>, Box<Fault>> {
    let bench = Bench::blackwell(&entry(
        1,
        &format!(
            ".shared .align 16 .b32 words[64];
             .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p<2>;
             ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, words; add.u32 %r3, %r2, %r1;
             st.shared.u32 [%r3], 1; bar.sync 0;
             setp.eq.u32 %p0, %r0, 0; {bulk} {barrier}
             ld.shared.u32 %r4, [%r3]; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r4;"
        ),
    ));
    let to = bench.memory.allocate(256).expect("small");
    bench.try_launch(&one_block(64), &[to], &Options::default()).map_err(Box::new)?;
    Ok(bench.words(to, 64))
}

#[test]
fn one_thread_zeroes_many_bytes() {
    let required = |zeros: std::ops::Range<u32>| -> Vec<u32> {
        (0..64).map(|word| u32::from(!zeros.contains(&word))).collect()
    };
    let barrier = "bar.sync 0;";
    for (bulk, zeroed) in [
        ("@%p0 st.bulk.weak.shared::cta [%r2], 256, 0;", 0..64),
        ("@%p0 st.bulk.shared::cta [%r2+8], 232, 0;", 2..60),
        ("mov.u64 %d2, 16; @%p0 st.bulk.weak.shared::cta [%r2+16], %d2, 0;", 4..8),
        ("@%p0 st.bulk.weak.shared::cta [%r2], 0, 0;", 0..0),
        ("cvt.u64.u32 %d2, %r2; cvta.shared.u64 %d2, %d2; @%p0 st.bulk [%d2], 128, 0;", 0..32),
        // The manual asks for no alignment.
        ("@%p0 st.bulk.weak.shared::cta [%r2+4], 8, 0;", 1..3),
    ] {
        assert_eq!(zeros(bulk, barrier).expect("it is right"), required(zeroed), "{bulk}");
    }
}

#[test]
fn zeros_of_one_thread_are_its_store_and_stay_in_shared_memory() {
    let bulk = "@%p0 st.bulk.weak.shared::cta [%r2], 256, 0;";
    let race = zeros(bulk, "").expect_err("warp 1 does not know of it");
    assert_eq!(race.kind, FaultKind::Race, "{race}");
    let barrier = "bar.sync 0;";
    for (bulk, kind) in [
        (
            "mov.u64 %d2, 12; @%p0 st.bulk.weak.shared::cta [%r2], %d2, 0;",
            FaultKind::IllegalOperand,
        ),
        (
            "mov.u64 %d2, 16777224; @%p0 st.bulk.weak.shared::cta [%r2], %d2, 0;",
            FaultKind::IllegalOperand,
        ),
        ("@%p0 st.bulk.weak.shared::cta [%r2+8], 256, 0;", FaultKind::OutOfBounds),
        ("@%p0 st.bulk [%d0], 128, 0;", FaultKind::WrongSpace),
        ("@%p0 st.bulk.weak.shared::cta [%r2], %d2, 0;", FaultKind::Uninitialised),
    ] {
        let fault = zeros(bulk, barrier).expect_err("it is wrong");
        assert_eq!(fault.kind, kind, "{bulk}: {fault}");
    }
}
