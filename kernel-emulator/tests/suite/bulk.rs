//! Bulk copies of one dimension, asynchronous stores and reductions.

use half::{bf16, f16};
use kernel_emulator::{Fault, FaultKind, LaunchConfig, Options};

use crate::harness::{Bench, entry, one_block};

const SETUP: &str =
    ".reg .b64 %d<8>; .reg .b32 %r<24>; .reg .b16 %h<4>; .reg .pred %p<8>; .reg .f32 %f<4>;
    .shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar[2];
    ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r0, %tid.x;
    mul.wide.u32 %d2, %r0, 4; add.s64 %d3, %d1, %d2; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2;
    add.u32 %r1, %r1, %r2; setp.eq.u32 %p0, %r0, 0;";

const INIT: &str =
    "@%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 fence.mbarrier_init.release.cluster;";
const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;";

/// Runs a kernel of 32 threads on words at `p0` and `p1`: what both hold afterwards.
fn run(body: &str, first: &[u32], second: &[u32]) -> Result<(Vec<u32>, Vec<u32>), Box<Fault>> {
    let bench = Bench::new(&entry(2, &format!("{SETUP}\n{body}")));
    let addresses = [bench.upload_words(first), bench.upload_words(second)];
    bench.try_launch(&one_block(32), &addresses, &Options::default()).map_err(Box::new)?;
    Ok((bench.words(addresses[0], first.len()), bench.words(addresses[1], second.len())))
}

#[track_caller]
fn right(body: &str, first: &[u32], second: &[u32]) -> (Vec<u32>, Vec<u32>) {
    run(body, first, second).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn from_global_to_shared_memory() {
    let source: Vec<u32> = (500..532).collect();
    for form in ["shared::cluster.global", "shared::cta.global"] {
        let body = format!(
            "{INIT} @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 112;
             @%p0 cp.async.bulk.{form}.mbarrier::complete_tx::bytes [tile+16], [%d0], 112, [bar];
             bar.sync 0; {WAIT} setp.lt.u32 %p2, %r0, 28; @!%p2 bra DONE;
             ld.shared.b32 %r3, [%r1+16]; st.global.b32 [%d3], %r3; DONE:"
        );
        let mut required: Vec<u32> = (500..528).collect();
        required.extend([9; 4]);
        assert_eq!(right(&body, &source, &[9; 32]).1, required);
    }
}

#[test]
fn several_copies_complete_one_phase_and_the_next_phase_starts_anew() {
    let source: Vec<u32> = (0..64).map(|i| i * 3).collect();
    let body = format!(
        "{INIT} @!%p0 bra ISSUED;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 64, [bar];
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+64], [%d0+64], 64, [bar];
         ISSUED: bar.sync 0; {WAIT} ld.shared.b32 %r3, [%r1]; bar.sync 0; @!%p0 bra AGAIN;
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0+128], 128, [bar];
         AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1; @!%p1 bra AGAIN;
         ld.shared.b32 %r4, [%r1]; st.global.b32 [%d3], %r3; st.global.b32 [%d3+128], %r4;"
    );
    assert_eq!(right(&body, &source, &[0; 64]).1, source);
}

#[test]
fn from_shared_to_global_memory() {
    let body = "mul.lo.u32 %r3, %r0, 7; st.shared.b32 [%r1], %r3; fence.proxy.async.shared::cta; bar.sync 0;
         @!%p0 bra DONE; createpolicy.fractional.L2::evict_first.b64 %d4, 1.0;
         cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 64;
         cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d1+64], [tile+64], 64, %d4;
         cp.async.bulk.prefetch.L2.global [%d0], 128;
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:";
    let required: Vec<u32> = (0..32).map(|i| i * 7).collect();
    assert_eq!(right(body, &[0; 32], &[0; 32]).1, required);
}

#[test]
fn a_store_is_seen_by_its_thread_after_the_wait_for_its_group_and_no_earlier() {
    let body = |wait: &str, load: &str| {
        format!(
            "@!%p0 bra DONE; st.shared.v4.b32 [tile], {{1, 2, 3, 4}}; st.shared.v4.b32 [tile+16], {{5, 6, 7, 8}};
             fence.proxy.async.shared::cta; mov.b32 %r3, 0; mov.b32 %r4, 0;
             cp.async.bulk.global.shared::cta.bulk_group [%d0], [tile], 16; cp.async.bulk.commit_group;
             cp.async.bulk.global.shared::cta.bulk_group [%d0+16], [tile+16], 16; cp.async.bulk.commit_group;
             {wait} {load}
             st.global.v2.b32 [%d1], {{%r3, %r4}}; cp.async.bulk.wait_group.read 0; DONE:"
        )
    };
    let (first, second) = ("ld.global.b32 %r3, [%d0];", "ld.global.b32 %r4, [%d0+16];");
    let both = format!("{first} {second}");
    for (wait, load, required) in [
        ("", "", [0, 0]),
        ("cp.async.bulk.wait_group 1;", first, [1, 0]),
        ("cp.async.bulk.wait_group 0;", &both, [1, 5]),
    ] {
        let (data, loaded) = right(&body(wait, load), &[0; 8], &[0; 2]);
        assert_eq!(loaded, required, "{wait}");
        assert_eq!(data, [1, 2, 3, 4, 5, 6, 7, 8], "in the end all is there, {wait}");
    }
    for (wait, load) in [
        ("", first),
        ("", second),
        ("cp.async.bulk.wait_group 2;", first),
        ("cp.async.bulk.wait_group.read 0;", first),
        ("cp.async.bulk.wait_group 1;", second),
    ] {
        let fault = run(&body(wait, load), &[0; 8], &[0; 2]).expect_err("it comes too early");
        assert_eq!(fault.kind, FaultKind::Race, "{fault}");
        assert_eq!(fault.missing, Some("cp.async.bulk.wait_group"), "{fault}");
    }
}

/// Reduces 32 bytes of shared memory, `operands`, into global memory that holds `old`.
fn reduced(op: &str, old: &[u8], operands: &[u8]) -> Vec<u8> {
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four"))).collect()
    };
    let body = format!(
        "setp.lt.u32 %p2, %r0, 8; @%p2 ld.global.b32 %r3, [%d3]; @%p2 st.shared.b32 [%r1], %r3;
         fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra DONE;
         cp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [%d0], [tile], 32;
         cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; DONE:"
    );
    let (first, _) = right(&body, &words(old), &words(operands));
    first.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Checks a reduction of elements of `N` bytes on some of their values.
#[track_caller]
fn check<const N: usize>(
    op: &str,
    (old, operands): (&[[u8; N]], &[[u8; N]]),
    apply: impl Fn([u8; N], [u8; N]) -> [u8; N],
) {
    let take = |values: &[[u8; N]]| -> Vec<[u8; N]> {
        values.iter().copied().cycle().take(32 / N).collect()
    };
    let (old, operands) = (take(old), take(operands));
    let actual = reduced(op, &old.concat(), &operands.concat());
    for (i, actual) in actual.chunks_exact(N).enumerate() {
        let required = apply(old[i], operands[i]);
        assert_eq!(actual, required, "{op}: {:?} and {:?}", old[i], operands[i]);
    }
}

#[test]
fn reductions_of_integers() {
    let old = [5u32, 0, u32::MAX, 1 << 31, 77, 3].map(u32::to_le_bytes);
    let operands = [3u32, u32::MAX, 1, 1 << 31, 77].map(u32::to_le_bytes);
    let u = u32::from_le_bytes;
    let i = i32::from_le_bytes;
    let sides = (&old[..], &operands[..]);
    check("add.u32", sides, |a, b| u(a).wrapping_add(u(b)).to_le_bytes());
    check("add.s32", sides, |a, b| i(a).wrapping_add(i(b)).to_le_bytes());
    check("min.u32", sides, |a, b| u(a).min(u(b)).to_le_bytes());
    check("max.u32", sides, |a, b| u(a).max(u(b)).to_le_bytes());
    check("min.s32", sides, |a, b| i(a).min(i(b)).to_le_bytes());
    check("max.s32", sides, |a, b| i(a).max(i(b)).to_le_bytes());
    check("inc.u32", sides, |a, b| if u(a) >= u(b) { [0; 4] } else { (u(a) + 1).to_le_bytes() });
    check(
        "dec.u32",
        sides,
        |a, b| {
            if u(a) == 0 || u(a) > u(b) { b } else { (u(a) - 1).to_le_bytes() }
        },
    );
    check("and.b32", sides, |a, b| (u(a) & u(b)).to_le_bytes());
    check("or.b32", sides, |a, b| (u(a) | u(b)).to_le_bytes());
    check("xor.b32", sides, |a, b| (u(a) ^ u(b)).to_le_bytes());
    let old = [u64::MAX, 1 << 40, 5].map(u64::to_le_bytes);
    let operands = [1u64, 1 << 63, 6, 0].map(u64::to_le_bytes);
    let sides = (&old[..], &operands[..]);
    let u = u64::from_le_bytes;
    let i = i64::from_le_bytes;
    check("add.u64", sides, |a, b| u(a).wrapping_add(u(b)).to_le_bytes());
    check("min.u64", sides, |a, b| u(a).min(u(b)).to_le_bytes());
    check("max.s64", sides, |a, b| i(a).max(i(b)).to_le_bytes());
    check("xor.b64", sides, |a, b| (u(a) ^ u(b)).to_le_bytes());
}

#[test]
fn reductions_of_floats() {
    // Sums that f16 and bf16 have to round, to even where they lie between two values.
    let old = [2048.0, 1.0, -3.5, 0.1].map(|x| f16::from_f32(x).to_le_bytes());
    let operands = [1.0, 2049.0, 3.5, 0.2, -7.0].map(|x| f16::from_f32(x).to_le_bytes());
    let sides = (&old[..], &operands[..]);
    let x = |bytes| f16::from_le_bytes(bytes).to_f32();
    check("add.noftz.f16", sides, |a, b| f16::from_f32(x(a) + x(b)).to_le_bytes());
    check("min.f16", sides, |a, b| f16::from_f32(x(a).min(x(b))).to_le_bytes());
    check("max.f16", sides, |a, b| f16::from_f32(x(a).max(x(b))).to_le_bytes());
    let old = [256.0, 1.0, -3.5, 0.1].map(|x| bf16::from_f32(x).to_le_bytes());
    let operands = [1.0, 257.0, 3.5, 0.2, -7.0].map(|x| bf16::from_f32(x).to_le_bytes());
    let sides = (&old[..], &operands[..]);
    let x = |bytes| bf16::from_le_bytes(bytes).to_f32();
    check("add.noftz.bf16", sides, |a, b| bf16::from_f32(x(a) + x(b)).to_le_bytes());
    check("min.bf16", sides, |a, b| bf16::from_f32(x(a).min(x(b))).to_le_bytes());
    check("max.bf16", sides, |a, b| bf16::from_f32(x(a).max(x(b))).to_le_bytes());
    let old = [16_777_216.0f32, 1.5, -0.1].map(f32::to_le_bytes);
    let operands = [1.0f32, 3.0, 0.3, 1e30].map(f32::to_le_bytes);
    check("add.f32", (&old, &operands), |a, b| {
        (f32::from_le_bytes(a) + f32::from_le_bytes(b)).to_le_bytes()
    });
    // Subnormal numbers stay what they are.
    let tiny = [f32::from_bits(5).to_le_bytes()];
    check("add.f32", (&tiny, &tiny), |_, _| f32::from_bits(10).to_le_bytes());
    let old = [9_007_199_254_740_992.0f64, 0.1].map(f64::to_le_bytes);
    let operands = [1.0f64, 0.2, -5.5].map(f64::to_le_bytes);
    check("add.f64", (&old, &operands), |a, b| {
        (f64::from_le_bytes(a) + f64::from_le_bytes(b)).to_le_bytes()
    });
}

/// Two blocks of a cluster: `push` runs in block 0, whose `%r10` and `%r11` are the addresses of `tile` and `bar`
/// in block 1, which holds `old` in `tile` and waits for `expect` bytes. What block 1 finds then.
fn pushed(push: &str, old: u32, expect: u32) -> Vec<u32> {
    let bench = Bench::new(&entry(
        2,
        &format!(
            "{SETUP} {INIT} mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p3, %r9, 0;
             mov.u32 %r12, tile; mov.u32 %r13, bar;
             mapa.shared::cluster.u32 %r10, %r12, 1; mapa.shared::cluster.u32 %r11, %r13, 1;
             mov.b32 %r3, {old}; @%p3 mul.lo.u32 %r3, %r0, 11; st.shared.b32 [%r1], %r3;
             @%p3 fence.proxy.async.shared::cta;
             @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {expect};
             barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
             @%p3 bra PUSH; {WAIT} ld.shared.b32 %r4, [%r1]; st.global.b32 [%d3], %r4; bra DONE;
             PUSH: {push} DONE: barrier.cluster.arrive; barrier.cluster.wait;"
        ),
    ));
    let to = bench.upload_words(&[0; 32]);
    let config = LaunchConfig { cluster: [2, 1, 1], ..LaunchConfig::new([2, 1, 1], [32, 1, 1]) };
    bench.launch(&config, &[to, to]);
    bench.words(to, 32)
}

#[test]
fn from_the_shared_memory_of_one_block_to_that_of_another() {
    let copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
    let actual = pushed(&format!("@%p0 {copy} [%r10+64], [tile], 64, [%r11];"), 9, 64);
    let required: Vec<u32> = (0..32).map(|i| if i < 16 { 9 } else { (i - 16) * 11 }).collect();
    assert_eq!(actual, required);
    let reduce = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
    for (op, f) in [
        ("add.u32", (|a, b| a + b) as fn(u32, u32) -> u32),
        ("max.s32", u32::max),
        ("min.u32", u32::min),
        ("inc.u32", |a, b| if a >= b { 0 } else { a + 1 }),
        ("dec.u32", |a, b| if a == 0 || a > b { b } else { a - 1 }),
        ("xor.b32", |a, b| a ^ b),
        ("and.b32", |a, b| a & b),
    ] {
        let actual = pushed(&format!("@%p0 {reduce}.{op} [%r10], [tile], 128, [%r11];"), 90, 128);
        let required: Vec<u32> = (0..32).map(|i| f(90, i * 11)).collect();
        assert_eq!(actual, required, "{op}");
    }
    // Two reductions of the same bytes may meet on the way.
    let twice = format!("@%p0 {reduce}.add.u32 [%r10], [tile], 128, [%r11];").repeat(2);
    let required: Vec<u32> = (0..32).map(|i| 7 + 2 * i * 11).collect();
    assert_eq!(pushed(&twice, 7, 256), required);
}

#[test]
fn asynchronous_stores_and_reductions_of_registers() {
    let at = "shl.b32 %r5, %r0, 2; add.u32 %r5, %r10, %r5; add.u32 %r6, %r0, 1000;";
    let actual = pushed(
        &format!(
            "{at} st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r6, [%r11];"
        ),
        9,
        128,
    );
    assert_eq!(actual, (1000..1032).collect::<Vec<_>>());
    // Eight lanes store four words each.
    let wide = "setp.lt.u32 %p4, %r0, 8; shl.b32 %r5, %r0, 4; add.u32 %r5, %r10, %r5; add.u32 %r6, %r0, 50;
        @%p4 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r5], {%r6, %r0, %r6, 7}, [%r11];";
    let required: Vec<u32> =
        (0..32).map(|i| [i / 4 + 50, i / 4, i / 4 + 50, 7][i as usize % 4]).collect();
    assert_eq!(pushed(wide, 9, 128), required);
    let double = "setp.lt.u32 %p4, %r0, 16; shl.b32 %r5, %r0, 3; add.u32 %r5, %r10, %r5; mov.b64 %d4, {%r0, 6};
        @%p4 st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r5], %d4, [%r11];";
    let required: Vec<u32> = (0..32).map(|i| if i % 2 == 0 { i / 2 } else { 6 }).collect();
    assert_eq!(pushed(double, 9, 128), required);
    // All lanes add to one word, which they do one after another.
    let red = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
    let mut required = vec![9; 32];
    required[0] = 9 + (0..32).sum::<u32>();
    assert_eq!(pushed(&format!("{red}.add.u32 [%r10], %r0, [%r11];"), 9, 128), required);
    required[0] = 31;
    assert_eq!(pushed(&format!("{red}.max.s32 [%r10], %r0, [%r11];"), 9, 128), required);
    required[0] = 9 ^ 5;
    assert_eq!(pushed(&format!("@%p0 {red}.xor.b32 [%r10], 5, [%r11];"), 9, 4), required);
}

/// The fault of a kernel that the manual forbids, beside a twin that differs in one place and is right.
#[track_caller]
fn refused(kind: FaultKind, text: &str, wrong: &str, right: &str) -> Box<Fault> {
    let body = |part: &str| text.replace('$', part);
    if let Err(fault) = run(&body(right), &[1; 64], &[0; 64]) {
        panic!("the right kernel: {fault}");
    }
    let fault = run(&body(wrong), &[1; 64], &[0; 64]).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, kind, "{fault}");
    fault
}

#[test]
fn sizes_and_addresses_are_multiples_of_sixteen() {
    let load = format!(
        "{INIT} @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64; mov.u32 %r3, 64; @%p0 mov.u32 %r3, $;
         @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], %r3, [bar];
         bar.sync 0; {WAIT}"
    );
    let fault = refused(FaultKind::IllegalOperand, &load, "72", "64");
    assert!(fault.detail.contains("a bulk copy of 72 bytes"), "{fault}");
    let at = |to: &str, from: &str| {
        format!(
            "{INIT} @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
             @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+{to}], [%d0+{from}], 64, [bar];
             bar.sync 0; {WAIT}"
        )
    };
    refused(FaultKind::Misaligned, &at("$", "0"), "8", "16");
    refused(FaultKind::Misaligned, &at("0", "$"), "8", "16");
    refused(FaultKind::OutOfBounds, &at("0", "$"), "208", "192");
    let store = "st.shared.b32 [%r1], %r0; fence.proxy.async; bar.sync 0; @!%p0 bra DONE;
        cp.async.bulk.global.shared::cta.bulk_group [%d1+$], [tile], 64;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:";
    refused(FaultKind::OutOfBounds, store, "208", "192");
    refused(FaultKind::Misaligned, store, "4", "48");
}

#[test]
fn the_mbarrier_lies_where_the_copy_lands() {
    let bench = |barrier: &str| {
        let bench = Bench::new(&entry(
            2,
            &format!(
                "{SETUP} {INIT} @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
                 mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p3, %r9, 0; and.pred %p3, %p3, %p0;
                 mov.u32 %r12, tile; mov.u32 %r13, bar; mapa.shared::cluster.u32 %r10, %r12, 1;
                 mapa.shared::cluster.u32 %r11, %r13, {barrier};
                 barrier.cluster.arrive; barrier.cluster.wait;
                 @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%d0], 64, [%r11];
                 setp.eq.u32 %p3, %r9, 0; @%p3 bra DONE; {WAIT} DONE: barrier.cluster.arrive; barrier.cluster.wait;"
            ),
        ));
        let data = bench.upload_words(&[1; 16]);
        let config =
            LaunchConfig { cluster: [2, 1, 1], ..LaunchConfig::new([2, 1, 1], [32, 1, 1]) };
        bench.try_launch(&config, &[data, data], &Options::default()).map_err(Box::new)
    };
    assert!(bench("1").is_ok());
    let fault = bench("0").expect_err("the mbarrier is in the other block");
    assert_eq!(fault.kind, FaultKind::WrongSpace, "{fault}");
}
