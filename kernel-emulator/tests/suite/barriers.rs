//! Named barriers, cluster barriers, mbarriers.

use kernel_emulator::LaunchConfig;

use crate::harness::{Bench, entry, one_block};

const SETUP: &str = ".reg .b64 %d<6>; .reg .b32 %r<16>; .reg .pred %p<8>;
    ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1;
    shr.u32 %r1, %r0, 5;";

#[test]
fn reductions_over_a_barrier() {
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} setp.lt.u32 %p0, %r0, 40; setp.lt.u32 %p4, %r0, 200;
             barrier.red.popc.u32 %r2, 1, %p0; bar.red.and.pred %p1, 0, %p4; bar.red.or.pred %p2, 0, 96, %p0;
             selp.u32 %r3, 1000, 0, %p1; add.u32 %r2, %r2, %r3; @%p2 add.u32 %r2, %r2, 2000;
             st.global.u32 [%d1], %r2;"
        ),
    ));
    let to = bench.memory.allocate(4 * 96).expect("small");
    bench.launch(&one_block(96), &[to]);
    assert_eq!(bench.words(to, 96), vec![3040; 96]);
}

#[test]
fn producers_arrive_and_consumers_wait() {
    // Warp 0 fills, arrives at barrier 2 without waiting; warp 1 waits there for both.
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} .shared .b32 tile[32]; mov.u32 %r2, tile; and.b32 %r3, %r0, 31; shl.b32 %r4, %r3, 2;
             add.u32 %r4, %r4, %r2; setp.ne.u32 %p0, %r1, 0; @%p0 bra CONSUME;
             st.shared.u32 [%r4], %r0; barrier.arrive 2, 64; st.global.u32 [%d1], 7; bra DONE;
             CONSUME: bar.sync 2, 64; ld.shared.u32 %r5, [%r4]; st.global.u32 [%d1], %r5;
             DONE:"
        ),
    ));
    let to = bench.memory.allocate(256).expect("small");
    bench.launch(&one_block(64), &[to]);
    let mut expected = vec![7; 32];
    expected.extend(0..32);
    assert_eq!(bench.words(to, 64), expected);
}

#[test]
fn barriers_of_part_of_a_block_are_independent() {
    // Two pairs of warps, each with its own barrier, exchange through shared memory many times.
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} .shared .b32 tile[128]; mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r2;
             xor.b32 %r4, %r0, 32; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2;
             shr.u32 %r5, %r0, 6; add.u32 %r5, %r5, 1; mov.u32 %r6, %r0; mov.u32 %r7, 0;
             LOOP: st.shared.u32 [%r3], %r6; bar.sync %r5, 64;
             ld.shared.u32 %r8, [%r4]; add.u32 %r6, %r8, 1; bar.sync %r5, 64;
             add.u32 %r7, %r7, 1; setp.lt.u32 %p0, %r7, 10; @%p0 bra LOOP;
             st.global.u32 [%d1], %r6;"
        ),
    ));
    let to = bench.memory.allocate(512).expect("small");
    bench.launch(&one_block(128), &[to]);
    assert_eq!(bench.words(to, 128), (0..128).map(|i| i + 10).collect::<Vec<u32>>());
}

#[test]
fn mbarrier_phases() {
    // Warp 0 produces ten values, warp 1 consumes them, with a full and an empty barrier.
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} .shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .b32 cell[32];
             mov.u32 %r10, cell; and.b32 %r11, %r0, 31; shl.b32 %r11, %r11, 2; add.u32 %r10, %r10, %r11;
             setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
             mbarrier.init.shared.b64 [full], 32; mbarrier.init.shared.b64 [empty], 32;
             READY: bar.sync 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r6, 0;
             setp.ne.u32 %p1, %r1, 0; @%p1 bra CONSUME;
             PRODUCE: xor.b32 %r4, %r3, 1;
             W0: mbarrier.try_wait.parity.shared.b64 %p2, [empty], %r4; @!%p2 bra W0;
             mul.lo.u32 %r5, %r2, %r0; st.shared.u32 [%r10], %r5;
             mbarrier.arrive.shared.b64 _, [full];
             xor.b32 %r3, %r3, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 10; @%p3 bra PRODUCE;
             bra DONE;
             CONSUME:
             W1: mbarrier.try_wait.parity.shared.b64 %p2, [full], %r3; @!%p2 bra W1;
             ld.shared.u32 %r5, [%r10]; add.u32 %r6, %r6, %r5;
             mbarrier.arrive.shared.b64 %d2, [empty];
             xor.b32 %r3, %r3, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 10; @%p3 bra CONSUME;
             DONE: st.global.u32 [%d1], %r6;"
        ),
    ));
    let to = bench.memory.allocate(256).expect("small");
    bench.launch(&one_block(64), &[to]);
    let words = bench.words(to, 64);
    assert_eq!(words[..32], [0; 32]);
    assert_eq!(words[32..], (0..32).map(|i| 45 * i).collect::<Vec<u32>>());
}

#[test]
fn transactions_complete_a_phase() {
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} .shared .align 8 .b64 bar; mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.expect_tx.shared::cta.b64 %d2, [bar], 48;
             mbarrier.test_wait.shared.b64 %p0, [bar], %d2;
             mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 48;
             mbarrier.test_wait.shared.b64 %p1, [bar], %d2;
             mbarrier.pending_count.b64 %r4, %d2;
             selp.u32 %r2, 1, 0, %p0; @%p1 add.u32 %r2, %r2, 2; mad.lo.u32 %r2, %r4, 10, %r2;
             st.global.u32 [%d1], %r2;"
        ),
    ));
    let to = bench.memory.allocate(4).expect("small");
    bench.launch(&one_block(1), &[to]);
    assert_eq!(bench.words(to, 1), [12]);
}

#[test]
fn blocks_of_a_cluster_reach_one_another() {
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} .shared .b32 cell; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank;
             add.u32 %r4, %r2, 1; rem.u32 %r4, %r4, %r3;
             mov.u32 %r5, cell; mapa.shared::cluster.u32 %r6, %r5, %r4;
             barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
             mov.u32 %r7, %clusterid.x; mad.lo.u32 %r7, %r7, 100, %r2;
             setp.eq.u32 %p0, %r0, 0; @%p0 st.shared::cluster.u32 [%r6], %r7;
             barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
             ld.shared.u32 %r8, [cell]; getctarank.shared::cluster.u32 %r9, %r6; mad.lo.u32 %r8, %r9, 1000, %r8;
             mov.u32 %r10, %ctaid.x; mul.wide.u32 %d2, %r10, 4; add.s64 %d2, %d0, %d2;
             @%p0 st.global.u32 [%d2], %r8;
             barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
        ),
    ));
    let to = bench.memory.allocate(24).expect("small");
    let config = LaunchConfig { cluster: [3, 1, 1], ..LaunchConfig::new([6, 1, 1], [64, 1, 1]) };
    bench.launch(&config, &[to]);
    assert_eq!(bench.words(to, 6), [1002, 2000, 1, 1102, 2100, 101]);
}
