//! `atom` and `red`.

use half::f16;
use kernel_emulator::{LaunchConfig, Options};

use crate::harness::{Bench, entry, one_block};

/// Lanes act in order on one word; `%r0` is the lane, `%d0` the word, `%d1` where results go.
fn on_global(op: &str, start: u32) -> (u32, Vec<u32>) {
    let bench = Bench::new(&entry(
        2,
        &format!(
            ".reg .b64 %d<4>; .reg .b32 %r<8>;
             ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
             mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.s64 %d1, %d1, %d2;
             {op} st.global.u32 [%d1], %r1;"
        ),
    ));
    let word = bench.upload_words(&[start]);
    let to = bench.memory.allocate(128).expect("small");
    bench.launch(&one_block(32), &[word, to]);
    (bench.words(word, 1)[0], bench.words(to, 32))
}

#[test]
fn every_operation_on_words() {
    let table: [(&str, u32, fn(u32, u32) -> u32); 12] =
        [
            ("atom.global.add.u32 %r1, [%d0], %r0;", 5, u32::wrapping_add),
            ("atom.global.min.s32 %r1, [%d0], %r0;", 17, |old, b| {
                (old as i32).min(b as i32) as u32
            }),
            ("atom.global.max.u32 %r1, [%d0], %r0;", 3, u32::max),
            ("atom.global.inc.u32 %r1, [%d0], 4;", 3, |old, _| if old >= 4 { 0 } else { old + 1 }),
            ("atom.global.dec.u32 %r1, [%d0], 4;", 2, |old, _| {
                if old == 0 || old > 4 { 4 } else { old - 1 }
            }),
            ("atom.global.and.b32 %r1, [%d0], %r0;", 0xFF, |old, b| old & b),
            ("atom.global.or.b32 %r1, [%d0], %r0;", 0x100, |old, b| old | b),
            ("atom.global.xor.b32 %r1, [%d0], %r0;", 0, |old, b| old ^ b),
            ("atom.global.exch.b32 %r1, [%d0], %r0;", 9, |_, b| b),
            ("atom.global.cas.b32 %r1, [%d0], 9, %r0;", 9, |old, b| if old == 9 { b } else { old }),
            ("cvt.rn.f32.u32 %r2, %r0; atom.global.add.f32 %r1, [%d0], %r2;", 0, |old, b| {
                (f32::from_bits(old) + b as f32).to_bits()
            }),
            ("atom.acq_rel.gpu.add.s32 %r1, [%d0], -1;", 100, |old, _| old - 1),
        ];
    for (op, start, f) in table {
        let (last, olds) = on_global(op, start);
        let mut value = start;
        for (lane, old) in olds.iter().enumerate() {
            assert_eq!(*old, value, "{op} lane {lane}");
            value = f(value, lane as u32);
        }
        assert_eq!(last, value, "{op}");
    }
}

#[test]
fn narrow_and_wide_words() {
    let bench = Bench::new(&entry(
        1,
        ".reg .b64 %d<8>; .reg .b32 %r<8>; .reg .b16 %s<4>; .reg .b128 %q<4>;
         ld.param.u64 %d0, [p0];
         mov.b32 %r0, 0x3C004000; atom.global.add.noftz.f16x2 %r1, [%d0], %r0;
         mov.b16 %s0, 0x3C00; red.global.add.noftz.f16 [%d0+6], %s0;
         atom.global.cas.b16 %s1, [%d0+4], 0, 0x1234;
         atom.global.add.u64 %d1, [%d0+8], 0x100000001;
         red.global.max.s64 [%d0+8], 7;
         mov.b64 %d2, 3; mov.b64 %d3, 4; mov.b128 %q0, {%d2, %d3}; mov.b128 %q1, {%d3, %d2};
         atom.global.exch.b128 %q2, [%d0+16], %q0; atom.global.cas.b128 %q3, [%d0+16], %q0, %q1;
         mov.b128 {%d4, %d5}, %q3; st.global.u64 [%d0+32], %d5;
         mov.b32 %r2, 0f40000000; red.global.add.v2.f32 [%d0+40], {%r2, %r2};",
    ));
    let to = bench.upload(&[0; 64]);
    bench.launch(&one_block(1), &[to]);
    let one = u32::from(f16::from_f32(1.0).to_bits());
    assert_eq!(
        bench.words(to, 12),
        [0x3C00_4000, one << 16 | 0x1234, 1, 1, 4, 0, 3, 0, 4, 0, 0x4000_0000, 0x4000_0000]
    );
}

#[test]
fn shared_memory_and_reductions_without_result() {
    let bench = Bench::new(&entry(
        1,
        ".shared .b32 sum; .reg .b64 %d; .reg .b32 %r<4>; .reg .pred %p;
         ld.param.u64 %d, [p0]; mov.u32 %r0, %tid.x;
         setp.eq.u32 %p, %r0, 0; @%p st.shared.u32 [sum], 0;
         bar.sync 0;
         red.shared.add.u32 [sum], %r0;
         bar.sync 0;
         ld.shared.u32 %r1, [sum]; @%p st.global.u32 [%d], %r1;",
    ));
    let to = bench.memory.allocate(4).expect("small");
    bench.launch(&one_block(256), &[to]);
    assert_eq!(bench.words(to, 1), [255 * 128]);
}

#[test]
fn blocks_on_several_threads_lose_nothing() {
    let bench = Bench::new(&entry(
        1,
        ".reg .b64 %d; .reg .b32 %r<4>; .reg .pred %p;
         ld.param.u64 %d, [p0]; mov.u32 %r0, 0;
         LOOP: red.global.add.u32 [%d], 1; red.global.add.u64 [%d+8], 3;
         add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 8; @%p bra LOOP;",
    ));
    let to = bench.upload(&[0; 16]);
    let config = LaunchConfig::new([64, 1, 1], [64, 1, 1]);
    let options = Options::default().with_threads(4);
    bench.try_launch(&config, &[to], &options).expect("the kernel is right");
    assert_eq!(bench.words(to, 4), [64 * 64 * 8, 0, 3 * 64 * 64 * 8, 0]);
}
