//! What waits for what on Hopper: deadlocks and who they name, clusters, registers that move between warps.

use kernel_emulator::{Fault, FaultKind, LaunchConfig};

use crate::faults::{SETUP, twins};
use crate::harness::{Bench, entry, one_block, outcome};

/// An mbarrier for some arrivals, made by thread 0 before all go on.
fn mbarrier(arrivals: u32, body: &str) -> String {
    format!(
        ".shared .align 8 .b64 bar; setp.ne.u32 %p0, %r0, 0; @!%p0 mbarrier.init.shared.b64 [bar], {arrivals};
         bar.sync 0; {body}"
    )
}

fn wait(label: &str, parity: u32) -> String {
    format!("{label}: mbarrier.try_wait.parity.shared.b64 %p2, [bar], {parity}; @!%p2 bra {label};")
}

#[test]
fn a_wait_for_the_wrong_phase_says_that_nothing_came_in_it() {
    // The first phase, of parity 0, is over: a wait for parity 1 is one for the second.
    let body = |parity: u32| {
        mbarrier(
            1,
            &format!(
                "@!%p0 mbarrier.arrive.shared.b64 _, [bar]; bar.sync 0; {}",
                wait("W", parity)
            ),
        )
    };
    let fault = twins(FaultKind::Deadlock, 64, &body(1), &body(0));
    for part in [
        "phase parity 1 of the mbarrier at shared address 0x400",
        "1 of 1 arrivals are missing: nothing has come in this phase",
        "; warp 1 waits there too",
    ] {
        assert!(fault.detail.contains(part), "{part}: {fault}");
    }
}

#[test]
fn a_wait_without_any_arrive_says_that_nothing_came() {
    let fault = twins(
        FaultKind::Deadlock,
        32,
        &mbarrier(4, &wait("W", 0)),
        &mbarrier(
            4,
            &format!(
                "setp.lt.u32 %p1, %r0, 4; @%p1 mbarrier.arrive.shared.b64 _, [bar]; {}",
                wait("W", 0)
            ),
        ),
    );
    assert!(fault.detail.contains("4 of 4 arrivals are missing: nothing has come"), "{fault}");
    assert!(fault.ptx.contains("try_wait"), "{fault}");
}

#[test]
fn a_missing_arrive_says_how_many_are_missing() {
    let body = |threads: u32| {
        mbarrier(
            64,
            &format!(
                "setp.lt.u32 %p1, %r0, {threads}; @%p1 mbarrier.arrive.shared.b64 _, [bar]; {}",
                wait("W", 0)
            ),
        )
    };
    let fault = twins(FaultKind::Deadlock, 64, &body(61), &body(64));
    assert!(fault.detail.contains("3 of 64 arrivals are missing"), "{fault}");
    assert!(!fault.detail.contains("nothing has come"), "{fault}");
}

#[test]
fn more_arrivals_than_a_phase_has_are_counted() {
    let body = |threads: u32| {
        mbarrier(
            8,
            &format!(
                "setp.lt.u32 %p1, %r0, {threads}; @%p1 mbarrier.arrive.shared.b64 _, [bar], 3; bar.warp.sync -1;
                 setp.eq.u32 %p1, %r0, 31; @%p1 mbarrier.arrive.shared.b64 _, [bar], 5; {}",
                wait("W", 0)
            ),
        )
    };
    let fault = twins(FaultKind::IllegalOperand, 32, &body(2), &body(1));
    let words =
        "5 arrivals at an mbarrier whose phase waits for 2 of 8: more arrive in one phase than";
    assert!(fault.detail.starts_with(words), "{fault}");
}

#[test]
fn bytes_that_never_come_are_counted() {
    let body = |bytes: u32| {
        mbarrier(
            1,
            &format!(
                "@!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {bytes};
                 @!%p0 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 48; {}",
                wait("W", 0)
            ),
        )
    };
    let fault = twins(FaultKind::Deadlock, 32, &body(64), &body(48));
    assert!(fault.detail.contains("0 of 1 arrivals and 16 bytes are missing"), "{fault}");
}

#[test]
fn every_wait_of_a_deadlock_is_listed() {
    // Warp 0 waits for the mbarrier, 1 and 2 at barrier 1 for a third warp, 3 for nobody.
    let body = |threads: u32| {
        mbarrier(
            1,
            &format!(
                "setp.ge.u32 %p1, %r0, 32; @%p1 bra OTHERS; {} bra DONE;
                 OTHERS: setp.ge.u32 %p1, %r0, 96; @%p1 bra DONE; barrier.sync 1, {threads};
                 setp.eq.u32 %p1, %r0, 40; @%p1 mbarrier.arrive.shared.b64 _, [bar]; DONE:",
                wait("W", 0)
            ),
        )
    };
    let run = |threads: u32| {
        outcome(&entry(1, &format!("{SETUP} {}", body(threads))), &one_block(128), 512)
    };
    assert_eq!(run(64), Ok(()));
    let fault = run(96).expect_err("one warp is missing at the barrier");
    assert!(fault.detail.starts_with("64 of 96 threads are at barrier 1"), "{fault}");
    assert!(fault.detail.contains("warp 0 at PTX line"), "{fault}");
    assert!(fault.detail.contains("1 of 1 arrivals are missing"), "{fault}");
    assert!(fault.detail.ends_with("; warp 2 waits there too; warp 3 has ended"), "{fault}");
}

#[test]
fn an_mbarrier_is_used_after_it_was_made() {
    let body = |sync: &str| {
        format!(
            ".shared .align 8 .b64 bar; setp.ne.u32 %p0, %r0, 0; @!%p0 mbarrier.init.shared.b64 [bar], 64;
             fence.mbarrier_init.release.cluster; {sync} mbarrier.arrive.shared.b64 _, [bar]; {}",
            wait("W", 0)
        )
    };
    let fault = twins(FaultKind::Race, 64, &body("bar.warp.sync -1;"), &body("bar.sync 0;"));
    assert!(fault.detail.contains("which warp 0 wrote in PTX line"), "{fault}");
    // Nor is it given back while others wait for it.
    let body = |sync: &str| {
        mbarrier(
            64,
            &format!(
                "mbarrier.arrive.shared.b64 _, [bar]; {} {sync} @!%p0 mbarrier.inval.shared.b64 [bar];",
                wait("W", 0)
            ),
        )
    };
    twins(FaultKind::Race, 64, &body(""), &body("bar.sync 0;"));
}

/// The outcome of a kernel in clusters of two blocks of 64 threads. `%r8` is the rank, `%r9` the other one.
fn in_cluster(body: &str) -> Result<(), Box<Fault>> {
    let text =
        entry(1, &format!("{SETUP} mov.u32 %r8, %cluster_ctarank; xor.b32 %r9, %r8, 1; {body}"));
    let config = LaunchConfig { cluster: [2, 1, 1], ..LaunchConfig::new([4, 1, 1], [64, 1, 1]) };
    outcome(&text, &config, 4096)
}

#[track_caller]
fn cluster_twins(kind: FaultKind, wrong: &str, right: &str) -> Box<Fault> {
    if let Err(fault) = in_cluster(right) {
        panic!("the right kernel: {fault}");
    }
    let fault = in_cluster(wrong).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, kind, "{fault}");
    fault
}

const CLUSTER_SYNC: &str =
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";

#[test]
fn a_block_stays_while_others_use_its_shared_memory() {
    let begin = format!(
        ".shared .b32 cell[2]; setp.ne.u32 %p0, %r0, 0; @!%p0 st.shared.u32 [cell], 7; {CLUSTER_SYNC}
         mov.u32 %r1, cell; mapa.shared::cluster.u32 %r2, %r1, %r9;"
    );
    // Whichever block comes first: reading from the next one, or from the one before.
    for rank in [0, 1] {
        let read =
            format!("setp.ne.u32 %p1, %r8, {rank}; @!%p1 ld.shared::cluster.u32 %r3, [%r2];");
        let fault = cluster_twins(
            FaultKind::Race,
            &format!("{begin} {read}"),
            &format!("{begin} {read} {CLUSTER_SYNC}"),
        );
        assert!(fault.detail.contains("the block leaves the kernel, and gives up"), "{fault}");
        assert!(fault.detail.contains("of block") && fault.detail.contains("read in"), "{fault}");
        // Neither a fence nor a relaxed arrival says that the read is over.
        for other in ["fence.acq_rel.cluster;", &CLUSTER_SYNC.replace("release", "relaxed")] {
            cluster_twins(
                FaultKind::Race,
                &format!("{begin} {read} {other}"),
                &format!("{begin} {read} {CLUSTER_SYNC}"),
            );
        }
    }
    // The other block is gone already.
    let late = format!(
        "{begin} setp.ne.u32 %p1, %r8, 1; @%p1 bra DONE; mov.u32 %r4, 0;
         SLEEP: nanosleep.u32 20; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 8; @%p2 bra SLEEP;
         ld.shared::cluster.u32 %r3, [%r2]; DONE:"
    );
    let fault = cluster_twins(FaultKind::Race, &late, &format!("{late} {CLUSTER_SYNC}"));
    assert!(fault.detail.contains("of block (0, 0, 0), which has left the kernel"), "{fault}");
    // An arrival at an mbarrier of the other block, which that one waits for, is as good.
    let handed = |arrive: &str| {
        format!(
            ".shared .align 8 .b64 bar; setp.ne.u32 %p2, %r0, 0; @!%p2 mbarrier.init.shared.b64 [bar], 1; {begin}
             mov.u32 %r4, bar; mapa.shared::cluster.u32 %r5, %r4, %r9; setp.eq.u32 %p3, %r8, 0; @%p3 bra READ;
             W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W; bra DONE;
             READ: @!%p2 ld.shared::cluster.u32 %r3, [%r2]; {arrive} DONE:"
        )
    };
    let arrive = "@!%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];";
    assert_eq!(in_cluster(&handed(arrive)), Ok(()));
    // The lanes meet before one of them arrives for all.
    let all = |meet: &str| {
        handed(&format!("{meet} {arrive}"))
            .replace("@!%p2 ld.shared::cluster", "ld.shared::cluster")
    };
    cluster_twins(FaultKind::Race, &all(""), &all("bar.sync 0;"));
    // Who exits last has waited for what arrives at its own mbarrier.
    let arrived = |wait: &str| {
        format!(
            ".shared .align 8 .b64 bar; setp.ne.u32 %p2, %r0, 0; @!%p2 mbarrier.init.shared.b64 [bar], 1; {begin}
             mov.u32 %r4, bar; mapa.shared::cluster.u32 %r5, %r4, %r9; {arrive} {wait}"
        )
    };
    let wait =
        "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;";
    cluster_twins(FaultKind::Race, &arrived(""), &arrived(wait));
    // Nothing comes: the waiting block names its mbarrier.
    let fault = in_cluster(&handed("")).expect_err("the arrival is missing");
    assert_eq!(fault.kind, FaultKind::Deadlock, "{fault}");
    assert!(fault.detail.contains("1 of 1 arrivals are missing"), "{fault}");
}

#[test]
fn blocks_wait_for_their_own_mbarriers_only() {
    let body = |address: &str| {
        format!(
            ".shared .align 8 .b64 bar; setp.ne.u32 %p0, %r0, 0; @!%p0 mbarrier.init.shared.b64 [bar], 64; {CLUSTER_SYNC}
             mov.u32 %r1, bar; mapa.shared::cluster.u32 %r2, %r1, %r9;
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
             W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [{address}], 0; @!%p2 bra W; {CLUSTER_SYNC}"
        )
    };
    let fault = cluster_twins(FaultKind::WrongSpace, &body("%r2"), &body("bar"));
    assert!(fault.detail.contains("only those of the own block can be waited for"), "{fault}");
}

#[test]
fn a_cluster_barrier_says_how_many_arrived() {
    // The first warp of the second block never arrives, and waits for itself.
    let body = |arrive: &str| {
        format!(
            "setp.ge.u32 %p0, %r0, 32; setp.eq.u32 %p1, %r8, 0; or.pred %p1, %p1, %p0; @%p1 bra JOIN; {arrive}
             JOIN: barrier.cluster.arrive; barrier.cluster.wait;"
        )
    };
    let stuck = ".shared .align 8 .b64 bar; setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [bar], 1; bar.warp.sync -1;
        W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;";
    let fault = cluster_twins(FaultKind::Deadlock, &body(stuck), &body(""));
    assert!(
        fault.detail.contains("waits at the cluster barrier, where 96 of 128 threads arrived"),
        "{fault}"
    );
    // What the second block waits for is the cause, and comes first.
    assert!(fault.detail.starts_with("waits for phase parity 0 of the mbarrier"), "{fault}");
    assert_eq!((fault.block, fault.warp), ([1, 0, 0], 0), "{fault}");
    // The others are at the wait, in the next line, not behind it.
    let line = fault.ptx_line + 1;
    let others =
        format!("warps 0, 1 of block (0, 0, 0) at PTX line {line}: waits at the cluster barrier");
    assert!(fault.detail.contains(&others), "{fault}");
    // `.aligned` needs the whole warp.
    let part = |aligned: &str| {
        format!(
            "setp.eq.u32 %p0, %r0, 3; @%p0 bra OWN; barrier.cluster.arrive{aligned}; bra JOIN; OWN: barrier.cluster.arrive{aligned}; JOIN: barrier.cluster.wait;"
        )
    };
    cluster_twins(FaultKind::WarpDivergence, &part(".aligned"), &part(""));
}

#[test]
fn a_relaxed_arrival_orders_nothing() {
    // Two warps of a block exchange through the cluster barrier.
    let body = |arrive: &str| {
        format!(
            ".shared .b32 tile[64]; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1; xor.b32 %r3, %r0, 32;
             shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1; st.shared.u32 [%r2], %r0;
             barrier.cluster.arrive.{arrive}.aligned; barrier.cluster.wait.acquire.aligned; ld.shared.u32 %r4, [%r3];"
        )
    };
    cluster_twins(FaultKind::Race, &body("relaxed"), &body("release"));
}

/// A kernel of three warpgroups that starts with 168 registers a thread (65536 / 384, down to a multiple of 8).
fn registers(directives: &str, body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 p0) {directives} {{ .reg .b32 %r<4>; .reg .pred %p<4>; mov.u32 %r0, %tid.x;
         shr.u32 %r1, %r0, 7; {body} ret; }}"
    )
}

const KNOWN: &str = ".maxntid 384, 1, 1 .minnctapersm 1";

fn run(directives: &str, body: &str) -> Result<(), Box<Fault>> {
    outcome(&registers(directives, body), &one_block(384), 8)
}

/// The first warpgroup releases registers, the others take as many.
fn specialised(release: u32, take: u32) -> String {
    format!(
        "setp.ne.u32 %p0, %r1, 0; @%p0 bra TAKE; setmaxnreg.dec.sync.aligned.u32 {release}; bra DONE;
         TAKE: setmaxnreg.inc.sync.aligned.u32 {take}; DONE:"
    )
}

#[test]
fn registers_move_between_warpgroups() {
    // 3 * 168 = 504 = 24 + 2 * 240 = 40 + 2 * 232.
    assert_eq!(run(KNOWN, &specialised(24, 240)), Ok(()));
    assert_eq!(run(KNOWN, &specialised(40, 232)), Ok(()));
    let fault = run(KNOWN, &specialised(40, 240)).expect_err("16 registers too few");
    assert_eq!(fault.kind, FaultKind::Deadlock, "{fault}");
    // A warp of 32 threads lacks 72 for each.
    assert!(fault.detail.contains("waits for 240 registers a thread, and has 168"), "{fault}");
    assert!(fault.detail.contains("needs 2304 more"), "{fault}");
    assert!(fault.detail.contains("of the block's 64512"), "{fault}");
    // A kernel that knows nothing of its registers keeps them.
    for directives in ["", ".maxntid 384, 1, 1", ".minnctapersm 1"] {
        assert_eq!(run(directives, &specialised(40, 240)), Ok(()), "{directives}");
    }
    // `.maxnreg`: 160 a thread.
    assert_eq!(run(".maxnreg 160", &specialised(32, 224)), Ok(()));
    assert!(run(".maxnreg 160", &specialised(32, 232)).is_err());
}

#[test]
fn registers_are_given_back_and_taken_again() {
    let body = |second: u32| {
        format!(
            "{} bar.sync 0; setp.ne.u32 %p0, %r1, 0; @%p0 bra GIVE; bar.sync 1, 384;
             setmaxnreg.inc.sync.aligned.u32 {second}; bra OVER;
             GIVE: setmaxnreg.dec.sync.aligned.u32 128; bar.sync 1, 384; OVER:",
            specialised(24, 240)
        )
    };
    // 504 - 2 * 128 = 248.
    assert_eq!(run(KNOWN, &body(248)), Ok(()));
    assert!(run(KNOWN, &body(256)).is_err());
}

#[test]
fn the_warps_of_a_warpgroup_change_their_registers_alike() {
    let fault = run(
        KNOWN,
        "shr.u32 %r2, %r0, 5; setp.ne.u32 %p0, %r2, 1; @%p0 bra OTHER; setmaxnreg.dec.sync.aligned.u32 40; bra DONE;
         OTHER: setmaxnreg.dec.sync.aligned.u32 48; DONE:",
    )
    .expect_err("warp 1 differs");
    assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
    let one = |warps: &str| {
        format!(
            "shr.u32 %r2, %r0, 5; setp.{warps}; @%p0 bra DONE; setmaxnreg.dec.sync.aligned.u32 40; DONE:"
        )
    };
    for warps in ["ne.u32 %p0, %r2, 1", "eq.u32 %p0, %r2, 1", "eq.u32 %p0, %r2, 0"] {
        let fault = run(KNOWN, &one(warps)).expect_err("not all of a warpgroup");
        assert_eq!(fault.kind, FaultKind::WarpDivergence, "{fault}");
    }
    assert_eq!(run(KNOWN, &one("lt.u32 %p0, %r2, 4")), Ok(()));
    // More registers are not released, nor fewer taken.
    for change in [
        "dec.sync.aligned.u32 240",
        "inc.sync.aligned.u32 168; setmaxnreg.inc.sync.aligned.u32 160",
    ] {
        let fault = run(KNOWN, &format!("setmaxnreg.{change};")).map(|()| change);
        let fault = fault.expect_err("the other direction");
        assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
    }
    assert_eq!(run(KNOWN, "setmaxnreg.inc.sync.aligned.u32 168;"), Ok(()));
}

#[test]
fn a_loop_dispatches_warpgroups_through_shared_memory() {
    // Warpgroup 1 runs what warpgroup 0 writes to a cell: adds, or ends.
    let bench = Bench::new(&entry(
        1,
        &format!(
            "{SETUP} .shared .b32 task; .shared .b32 sum[128]; mov.u32 %r1, sum; and.b32 %r2, %r0, 127; shl.b32 %r3, %r2, 2;
             add.u32 %r3, %r3, %r1; setp.ge.u32 %p0, %r0, 128; @%p0 bra WORKER;
             st.shared.u32 [%r3], %r2; mov.u32 %r4, 0;
             MASTER: setp.ne.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r4, 3; selp.u32 %r5, 0, 1, %p2;
             @!%p1 st.shared.u32 [task], %r5; barrier.sync 1; @!%p2 bra DONE; barrier.sync 1;
             add.u32 %r4, %r4, 1; bra MASTER;
             WORKER: barrier.sync 1; ld.shared.u32 %r5, [task];
             table: .branchtargets ADD, DONE; brx.idx %r5, table;
             ADD: ld.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, 100; st.shared.u32 [%r3], %r6; barrier.sync 1; bra WORKER;
             DONE: bar.sync 2; @%p0 bra END; ld.shared.u32 %r6, [%r3]; st.global.u32 [%d1], %r6; END:"
        ),
    ));
    let out = bench.memory.allocate(1024).expect("small");
    bench.launch(&one_block(256), &[out]);
    assert_eq!(bench.words(out, 128), (300..428).collect::<Vec<u32>>());
}
