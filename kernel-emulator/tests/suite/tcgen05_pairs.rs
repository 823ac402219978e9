//! Whole products of `tcgen05`: tensor maps bring the factors, the tensor core multiplies, the sums are written out.

use std::fmt::Write;

use kernel_emulator::{DeviceMemory, Fault, FaultKind, LaunchConfig, Options, Program};

use crate::harness::Random;
use crate::tcgen05_mma::BF16;
use crate::tma::plain;

/// D of 256 rows and 128 columns, in f32, from 64 columns of A and of B transposed, in bf16, by a pair of blocks. Each loads half
/// of the rows of both into its own shared memory; the bytes are counted by the first block's mbarrier, which multiplies.
fn pair(group: &str) -> String {
    let mut store = String::new();
    for at in (0..128).step_by(32) {
        let list: Vec<String> = (0..32).map(|i| format!("%v{i}")).collect();
        let list = list.join(",");
        writeln!(store, "tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{list}}}, [%r9+{at}]; tcgen05.wait::ld.sync.aligned;").expect("to a string");
        for i in 0..32 {
            writeln!(store, "st.global.b32 [%d0+{}], %v{i};", 4 * (at + i)).expect("to a string");
        }
    }
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 tile[];
         .visible .entry k(.param .align 64 .b8 ta[128], .param .align 64 .b8 tb[128], .param .u64 out)
         .reqntid 128, 1, 1 .reqnctapercluster 2, 1, 1
         {{
         .reg .b32 %r<24>; .reg .b32 %v<32>; .reg .b64 %d<16>; .reg .pred %p<8>; .reg .b16 %h<2>;
         mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r2, tile; add.u32 %r3, %r2, 16384; add.u32 %r4, %r2, 24576;
         mov.u32 %r8, %cluster_ctarank; mov.u32 %r20, 0;
         setp.ne.u32 %p0, %r1, 0; @%p0 bra ALLOCATED;
         tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r4+16], 128;
         tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
         elect.sync _|%p1, -1; @!%p1 bra ALLOCATED;
         mbarrier.init.shared::cta.b64 [%r4], 2; mbarrier.init.shared::cta.b64 [%r4+8], 1; fence.mbarrier_init.release.cluster;
         ALLOCATED: tcgen05.fence::before_thread_sync;
         barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
         tcgen05.fence::after_thread_sync; ld.shared.b32 %r5, [%r4+16];
         @%p0 bra DONE; elect.sync _|%p1, -1; @!%p1 bra DONE;
         mapa.shared::cluster.u32 %r12, %r4, 0;
         mov.b64 %d0, ta; cvta.param.u64 %d0, %d0; mov.b64 %d1, tb; cvta.param.u64 %d1, %d1;
         shl.b32 %r13, %r8, 7; shl.b32 %r14, %r8, 6;
         mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r12], 24576;
         cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{group} [%r2], [%d0, {{%r20, %r13}}], [%r12];
         cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{group} [%r3], [%d1, {{%r20, %r14}}], [%r12];
         setp.ne.u32 %p6, %r8, 0; @%p6 bra DONE;
         LOADED: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r4], 0; @!%p2 bra LOADED;
         tcgen05.fence::after_thread_sync;
         bfe.u32 %r6, %r2, 4, 14; cvt.u64.u32 %d2, %r6; or.b64 %d2, %d2, 0x4000404000010000;
         bfe.u32 %r7, %r3, 4, 14; cvt.u64.u32 %d3, %r7; or.b64 %d3, %d3, 0x4000404000010000;
         mov.b32 %r8, 0x10200490; setp.ne.u32 %p3, %r0, %r0;
         MULTIPLY: tcgen05.mma.cta_group::2.kind::f16 [%r5], %d2, %d3, %r8, %p3;
         setp.eq.u32 %p3, %r0, %r0; add.u64 %d2, %d2, 2; add.u64 %d3, %d3, 2; add.u32 %r20, %r20, 1;
         setp.lt.u32 %p4, %r20, 4; @%p4 bra MULTIPLY;
         add.u32 %r10, %r4, 8; mov.b16 %h0, 3;
         tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r10], %h0;
         DONE: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [%r4+8], 0; @!%p5 bra DONE;
         bar.warp.sync -1; tcgen05.fence::after_thread_sync;
         shl.b32 %r9, %r1, 21; add.u32 %r9, %r9, %r5;
         mov.u32 %r16, %cluster_ctarank; shl.b32 %r16, %r16, 7; add.u32 %r16, %r16, %r0;
         ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %r16, 512; add.u64 %d0, %d0, %d1;
         {store}
         tcgen05.fence::before_thread_sync;
         barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
         @%p0 bra END;
         tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r5, 128;
         END: ret;
         }}"
    )
}

/// Runs [`pair`] on matrices of small numbers: what it writes, and what is right.
fn run(text: &str) -> Result<(Vec<f32>, Vec<f32>), Box<Fault>> {
    let program = match Program::parse(text) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{text}"),
    };
    let memory = DeviceMemory::new();
    let mut random = Random(5);
    let mut matrix = |rows: usize| -> (Vec<f64>, u64) {
        let values: Vec<f64> = (0..64 * rows).map(|_| BF16.value(&mut random)).collect();
        let bytes: Vec<u8> =
            values.iter().flat_map(|x| (BF16.encode(*x) as u16).to_le_bytes()).collect();
        let address = memory.allocate(bytes.len() as u64).expect("the test is small");
        memory.write(address, &bytes).expect("it was just allocated");
        (values, address)
    };
    let ((a, a_address), (b, b_address)) = (matrix(256), matrix(128));
    let out = memory.allocate(4 * 256 * 128).expect("the test is small");
    let mut params = Vec::new();
    for (address, rows, box_rows) in [(a_address, 256, 128), (b_address, 128, 64)] {
        let mut map = plain(address, &[64, rows], &[128], &[64, box_rows]);
        (map.dtype, map.swizzle) = (9, 3);
        params.extend(map.encode().expect("the map keeps every rule"));
    }
    params.extend(out.to_le_bytes());
    let mut config = LaunchConfig::new([2, 1, 1], [128, 1, 1]);
    (config.cluster, config.dynamic_shared_bytes) = ([2, 1, 1], 25600);
    program.launch(&memory, "k", &config, &params, &Options::default()).map_err(Box::new)?;
    let mut bytes = vec![0; 4 * 256 * 128];
    memory.read(out, &mut bytes).expect("the kernel wrote its result");
    let actual = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four")));
    let required = (0..256 * 128).map(|i| {
        let (a, b) = (&a[i / 128 * 64..][..64], &b[i % 128 * 64..][..64]);
        a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() as f32
    });
    Ok((actual.collect(), required.collect()))
}

#[test]
fn a_pair_multiplies_what_tensor_maps_bring() {
    let (actual, required) = run(&pair(".cta_group::2")).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(actual, required);
}

#[test]
fn a_copy_to_both_blocks_of_a_pair_is_counted_by_one() {
    // The first block brings its rows of A to both, and its mbarrier counts them twice.
    let own = "[%r2], [%d0, {%r20, %r13}], [%r12];";
    let both = "[%r2], [%d0, {%r20, %r20}], [%r12], %h1;";
    let text = pair(".cta_group::2");
    let (before, after) = text.split_once(own).expect("the kernel loads A");
    let (before, copy) = before.rsplit_once("cp.async.bulk.tensor").expect("by a copy");
    let text = format!(
        "{before} setp.ne.u32 %p6, %r8, 0; mov.b16 %h1, 3; @!%p6 cp.async.bulk.tensor{}.multicast::cluster.cta_group::2 {both}{after}",
        copy.trim_end().trim_end_matches(".cta_group::2")
    );
    let (actual, required) = run(&text).unwrap_or_else(|fault| panic!("{fault}"));
    let half = 128 * 128;
    assert_eq!(actual[..half], required[..half]);
    assert_eq!(actual[half..], required[..half]);
}

#[test]
fn only_copies_of_a_pair_are_counted_by_the_other_block() {
    for group in ["", ".cta_group::1"] {
        let fault = run(&pair(group)).expect_err("the copy's mbarrier is in another block");
        assert_eq!(fault.kind, FaultKind::WrongSpace, "{fault}");
    }
}

/// Two blocks of a warp each, which allocate and give back 64 columns together. `%r0` is the rank, `%p0` the first block.
fn together(body: &str) -> Result<(), Box<Fault>> {
    let text = format!(
        ".version 8.8\n.target sm_100a\n.address_size 64
         .visible .entry k() .reqntid 32, 1, 1 .reqnctapercluster 2, 1, 1
         {{
         .reg .b32 %r<8>; .reg .pred %p<2>; .shared .align 16 .b8 word[16];
         mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, word; setp.eq.u32 %p0, %r0, 0;
         {body}
         ret;
         }}"
    );
    let program = match Program::parse(&text) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{text}"),
    };
    let mut config = LaunchConfig::new([2, 1, 1], [32, 1, 1]);
    config.cluster = [2, 1, 1];
    let launch = program.launch(&DeviceMemory::new(), "k", &config, &[], &Options::default());
    launch.map(|_| ()).map_err(Box::new)
}

#[test]
fn a_pair_allocates_and_gives_back_together() {
    let alloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 64;";
    let relinquish = "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;";
    let address = "bar.warp.sync -1; ld.shared.b32 %r2, [%r1];";
    let dealloc = "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r2, 64;";
    let meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    let right = format!("{alloc} {relinquish} {address} {meet} {dealloc}");
    together(&right).unwrap_or_else(|fault| panic!("{fault}"));
    for (wrong, kind, says) in [
        // The second block takes no part.
        (
            format!("@%p0 {alloc} {meet}"),
            FaultKind::Deadlock,
            "waits for the other block of its pair: a warp of each executes `tcgen05.alloc` of 64 columns",
        ),
        (format!("@%p0 {alloc}"), FaultKind::Deadlock, "pair, which has left the kernel: a warp"),
        (
            format!("{alloc} @%p0 {relinquish} {address} {dealloc}"),
            FaultKind::TensorMemory,
            "`tcgen05.relinquish_alloc_permit` here, `tcgen05.dealloc` of 64 columns in the other block",
        ),
        (
            format!("mov.u32 %r3, 64; @%p0 mov.u32 %r3, 32; {}", right.replace("64;", "%r3;")),
            FaultKind::TensorMemory,
            "together: `tcgen05.alloc` of 64 columns here, `tcgen05.alloc` of 32 columns in the other block",
        ),
        // The first block gives back before the blocks have met, the second one after that.
        (
            format!("{alloc} {relinquish} {address} @%p0 {dealloc} {meet} @!%p0 {dealloc}"),
            FaultKind::Deadlock,
            "a warp of each executes `tcgen05.dealloc` of 64 columns",
        ),
    ] {
        let fault = together(&wrong).expect_err("the kernel is wrong");
        assert_eq!(fault.kind, kind, "{fault}");
        assert!(fault.detail.contains(says), "{fault}");
    }
}

/// Block 0 copies into its tensor memory and commits to mbarriers of both blocks; block 1 does something else, and both end.
fn commits_to_both(second: &str, end: &str) -> Result<(), Box<Fault>> {
    together(&format!(
        ".reg .b32 %w<8>; .reg .b64 %d<4>; .reg .pred %q1; .reg .b16 %h0;
         .shared .align 1024 .b8 tile[2048]; .shared .align 8 .b64 bar;
         mov.u32 %w0, %tid.x; setp.eq.u32 %p1, %w0, 0; mov.u32 %w1, tile; shl.b32 %w2, %w0, 6; add.u32 %w2, %w2, %w1;
         mov.u32 %w3, 0;
         st.shared.v4.b32 [%w2], {{%w3,%w3,%w3,%w3}}; st.shared.v4.b32 [%w2+16], {{%w3,%w3,%w3,%w3}};
         st.shared.v4.b32 [%w2+32], {{%w3,%w3,%w3,%w3}}; st.shared.v4.b32 [%w2+48], {{%w3,%w3,%w3,%w3}};
         @%p1 mbarrier.init.shared::cta.b64 [bar], 1; @%p1 fence.mbarrier_init.release.cluster;
         tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;
         fence.proxy.async.shared::cta; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
         ld.shared.b32 %r2, [%r1]; mov.u32 %r3, bar;
         bfe.u32 %w4, %w1, 4, 14; cvt.u64.u32 %d0, %w4; add.u64 %d0, %d0, 0x400800080000; mov.b16 %h0, 3;
         @!%p0 bra SECOND; @!%p1 bra FIRST;
         tcgen05.cp.cta_group::1.128x128b [%r2], %d0;
         tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r3], %h0;
         FIRST: mbarrier.try_wait.parity.shared::cta.b64 %q1, [%r3], 0; @!%q1 bra FIRST; bra OVER;
         SECOND: {second}
         OVER: bar.warp.sync -1; {end}
         tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;"
    ))
}

#[test]
fn a_block_stays_until_the_commits_of_another_one_have_arrived() {
    let wait = "mbarrier.try_wait.parity.shared::cta.b64 %q1, [%r3], 0; @!%q1 bra SECOND;";
    let meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    for (second, end) in [(wait, ""), ("", meet)] {
        commits_to_both(second, end).unwrap_or_else(|fault| panic!("{fault}"));
    }
    // The commit has arrived by then, but block 1 does not know.
    let fault = commits_to_both("nanosleep.u32 20000;", "").expect_err("nothing orders the two");
    assert_eq!(fault.kind, FaultKind::Race, "{fault}");
    assert!(
        fault.detail.contains(
            "the block leaves the kernel, and nothing orders that behind the `tcgen05.commit`"
        ),
        "{fault}"
    );
}
