//! `clusterlaunchcontrol`: clusters that take over the work of others that have not started.

use kernel_emulator::{DeviceMemory, Fault, FaultKind, LaunchConfig, Options, Program};

/// Every block adds one to `p0[64]` when it starts, then to `p0[x + 10 y]` for each block (x, y) whose work it does: its own
/// first, then that of clusters that it cancels. One thread of the first block of a cluster asks; `modifier` may send
/// the answer to all of its blocks.
fn kernel(modifier: &str, query: &str) -> String {
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64
         .visible .entry k(.param .u64 p0) .reqntid 32, 1, 1
         {{
         .reg .b32 %r<20>; .reg .b64 %d<4>; .reg .b128 %q; .reg .pred %p<6>;
         .shared .align 16 .b8 tile[32];
         ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y;
         mov.u32 %r10, %cluster_ctarank; mov.u32 %r4, 0; mov.u32 %r5, 1; setp.eq.u32 %p0, %r0, 0;
         @%p0 mbarrier.init.shared::cta.b64 [%r1+16], 1; @%p0 red.global.add.u32 [%d0+256], 1;
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
         WORK:
         mad.lo.u32 %r6, %r3, 10, %r2; mul.wide.u32 %d1, %r6, 4; add.u64 %d1, %d0, %d1;
         @%p0 red.global.add.u32 [%d1], 1;
         @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+16], 16;
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
         or.b32 %r11, %r0, %r10; setp.eq.u32 %p1, %r11, 0;
         @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{modifier}.b128 [%r1], [%r1+16];
         WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+16], %r4; @!%p2 bra WAIT;
         xor.b32 %r4, %r4, 1;
         ld.shared.b128 %q, [%r1];
         fence.proxy.async.shared::cta;
         clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
         @!%p3 bra DONE;
         {query}
         mov.u32 %r12, %cluster_ctaid.x; add.u32 %r2, %r2, %r12;
         bra WORK;
         DONE: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
         ret;
         }}"
    )
}

const VECTOR: &str =
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r2, %r3, %r13, %r14}, %q;";
const SINGLE: &str = "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r2, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r3, %q;";

/// What blocks counted: of each block's work how often it was done, and how many blocks started.
fn counts(text: &str, cluster: u32, threads: usize) -> Result<(Vec<u32>, u32), Box<Fault>> {
    let program = match Program::parse(text) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{text}"),
    };
    let memory = DeviceMemory::new();
    let address = memory.allocate(4 * 65).expect("the test is small");
    memory.write(address, &[0; 4 * 65]).expect("it was just allocated");
    let mut config = LaunchConfig::new([6, 3, 1], [32, 1, 1]);
    config.cluster = [cluster, 1, 1];
    let options = Options::default().with_threads(threads).with_max_instructions(1 << 22);
    let params = address.to_le_bytes();
    program.launch(&memory, "k", &config, &params, &options).map_err(Box::new)?;
    let mut bytes = [0; 4 * 65];
    memory.read(address, &mut bytes).expect("it was written before the launch");
    let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four")));
    let words: Vec<u32> = words.collect();
    Ok((words[..64].to_vec(), words[64]))
}

/// Each block of the grid once.
fn once() -> Vec<u32> {
    (0..64).map(|i| u32::from(i % 10 < 6 && i / 10 < 3)).collect()
}

#[test]
fn a_block_does_the_work_of_blocks_that_have_not_started() {
    for query in [VECTOR, SINGLE] {
        // On one thread of the host, the first block is alone until it ends.
        let (work, started) = counts(&kernel("", query), 1, 1).unwrap_or_else(|f| panic!("{f}"));
        assert_eq!((work, started), (once(), 1));
        let (work, _) = counts(&kernel("", query), 1, 3).unwrap_or_else(|f| panic!("{f}"));
        assert_eq!(work, once());
    }
}

#[test]
fn every_block_of_a_cluster_gets_the_answer() {
    let text = kernel(".multicast::cluster::all", VECTOR);
    let (work, started) = counts(&text, 2, 1).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!((work, started), (once(), 2));
}

#[test]
fn a_fence_stands_between_reading_an_answer_and_asking_for_the_next() {
    let fence = "fence.proxy.async.shared::cta;";
    let barrier = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n         or.b32";
    let right = kernel(".multicast::cluster::all", VECTOR);
    assert!(right.contains(fence) && right.contains(barrier));
    let without = right.replace(fence, "");
    // The thread that asks may execute it as well, after the barrier behind the reads.
    let later = without.replace(barrier, &barrier.replace("or.b32", &format!("{fence} or.b32")));
    for (text, cluster) in [(&right, 1), (&right, 2), (&later, 1), (&later, 2)] {
        counts(text, cluster, 1).unwrap_or_else(|fault| panic!("{fault}"));
    }
    let early = without.replace("ld.shared.b128", &format!("{fence} ld.shared.b128"));
    for (text, cluster) in [(&without, 1), (&without, 2), (&early, 1), (&early, 2)] {
        let fault = counts(text, cluster, 1).expect_err("the fence is missing");
        assert_eq!(fault.kind, FaultKind::ProxyFence, "{fault}");
        assert!(
            fault.detail.contains("`clusterlaunchcontrol.try_cancel` writes 16 bytes"),
            "{fault}"
        );
        assert!(fault.detail.contains("of warp 0 read last, in PTX line"), "{fault}");
    }
}
