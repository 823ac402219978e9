//! Loops that poll what nobody changes any more, beside their twins: somebody does, or time ends them.

use std::time::Instant;

use kernel_emulator::{DeviceMemory, Fault, FaultKind, LaunchConfig, Options, Program};

use crate::faults::{SETUP, twins};
use crate::harness::{HEAD, entry};

/// Blocks of so many threads, on so many threads of the host: 64 bytes of zeroes. The limit of instructions is the default one, which takes
/// minutes to reach.
fn launch(body: &str, grid: [u32; 2], threads: usize) -> Result<(), Box<Fault>> {
    let text = format!("{HEAD}{}", entry(1, &format!("{SETUP}\nmov.u32 %r11, %ctaid.x;\n{body}")));
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let memory = DeviceMemory::new();
    let address = memory.allocate(64).expect("the test is small");
    memory.write(address, &[0; 64]).expect("it was just allocated");
    let [blocks, size] = grid;
    let config = LaunchConfig::new([blocks, 1, 1], [size, 1, 1]);
    let options = Options::default().with_threads(threads);
    program.launch(&memory, "k", &config, &address.to_le_bytes(), &options)?;
    Ok(())
}

/// On one thread of the host and on several.
const THREADS: [usize; 2] = [1, 3];

#[track_caller]
fn livelock(body: &str, grid: [u32; 2], parts: &[&str]) {
    for threads in THREADS {
        let begin = Instant::now();
        let fault = launch(body, grid, threads).expect_err("it never ends");
        assert_eq!((fault.kind, fault.block), (FaultKind::Livelock, [0; 3]), "{fault}");
        for part in parts {
            assert!(fault.detail.contains(part), "{part}: {fault}");
        }
        let seconds = begin.elapsed().as_secs();
        assert!(seconds < 60, "it took {seconds} s");
    }
}

#[track_caller]
fn ends(body: &str, grid: [u32; 2]) {
    for threads in THREADS {
        launch(body, grid, threads).unwrap_or_else(|fault| panic!("{threads} threads: {fault}"));
    }
}

/// Polls a word of global memory until it is at least so much.
fn poll(word: u32, least: u32, label: &str) -> String {
    format!(
        "{label}: ld.acquire.gpu.global.u32 %r1, [%d0+{}]; setp.lt.u32 %p0, %r1, {least}; @%p0 bra {label};\n",
        4 * word
    )
}

#[test]
fn a_flag_that_nobody_writes() {
    let wait = poll(1, 1, "W");
    livelock(
        &wait,
        [1, 1],
        &[
            "the warp repeats PTX line 8",
            "where it reads global memory at 0x",
            "and gets 0x0, and nothing that can still happen changes that",
        ],
    );
    // The second block writes it; the first one starts before.
    let by_other = |value: u32| {
        format!(
            "setp.eq.u32 %p1, %r11, 0; @%p1 bra W; st.release.gpu.global.u32 [%d0+4], {value}; bra DONE;\n{wait}DONE:"
        )
    };
    ends(&by_other(1), [2, 1]);
    livelock(&by_other(0), [2, 1], &["and gets 0x0"]);
}

#[test]
fn blocks_that_wait_for_one_another_are_all_named() {
    // Each waits for the other's flag before it sets its own.
    let body = |first: &str, second: &str| {
        format!(
            "shl.b32 %r2, %r11, 2; cvt.u64.u32 %d2, %r2; add.s64 %d2, %d0, %d2; sub.s64 %d3, %d0, %d2; add.s64 %d3, %d3, %d0;
             {first} {second}"
        )
    };
    let wait = "W: ld.volatile.global.u32 %r1, [%d3+4]; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;";
    let tell = "st.volatile.global.u32 [%d2], 1; st.volatile.global.u32 [%d2+4], 1;";
    livelock(
        &body(wait, tell),
        [2, 32],
        &[
            "is what it waits for done by nobody, or only after a wait for this one?",
            "; block (1, 0, 0) at PTX line",
        ],
    );
    ends(&body(tell, wait), [2, 32]);
}

/// The flag is in shared memory; the writer waits at a barrier for the one that polls.
#[test]
fn a_warp_that_waits_at_a_barrier_for_one_that_polls() {
    let body = |before: &str, after: &str| {
        format!(
            ".shared .b32 flag; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [flag], 0; bar.sync 1;
             setp.lt.u32 %p2, %r0, 32; @%p2 bra FIRST;
             W: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p0, %r1, 0; @%p0 bra W;
             bar.sync 0; bra DONE;
             FIRST: {before} bar.sync 0; {after} DONE:"
        )
    };
    let write = "@%p1 st.volatile.shared.u32 [flag], 1;";
    livelock(
        &body("", write),
        [1, 64],
        &[
            "where it reads shared memory at 0x400 and gets 0x0",
            "; warp 0 at PTX line",
            "waits at barrier 0, where 32 of 64 threads are",
        ],
    );
    ends(&body(write, ""), [1, 64]);
}

#[test]
fn a_phase_that_is_tested_and_never_ends() {
    let body = |arrivals: u32| {
        format!(
            ".shared .align 8 .b64 bar; setp.ne.u32 %p0, %r0, 0; @!%p0 mbarrier.init.shared.b64 [bar], 2;
             bar.sync 0; setp.lt.u32 %p1, %r0, {arrivals}; @%p1 mbarrier.arrive.shared.b64 _, [bar];
             W: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; @%p2 bra DONE; nanosleep.u32 20; bra W; DONE:"
        )
    };
    livelock(
        &body(1),
        [1, 32],
        &[
            "where it asks for phase parity 0 of the mbarrier at shared address 0x400: 1 of 2 arrivals",
        ],
    );
    ends(&body(2), [1, 32]);
}

#[test]
fn a_lock_that_is_not_given_back() {
    let body = |back: &str| {
        format!(
            "L: atom.acquire.gpu.global.cas.b32 %r1, [%d0], 0, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra L;
             ld.global.u32 %r2, [%d0+4]; add.u32 %r2, %r2, 1; st.global.u32 [%d0+4], %r2; {back}"
        )
    };
    let back = "membar.gl; atom.release.gpu.global.exch.b32 %r3, [%d0], 0;";
    ends(&body(back), [8, 1]);
    for threads in THREADS {
        let fault = launch(&body(""), [8, 1], threads).expect_err("the lock is kept");
        assert_eq!(fault.kind, FaultKind::Livelock, "{fault}");
        assert!(fault.ptx.contains("cas") && fault.detail.contains("and gets 0x1"), "{fault}");
    }
    // One lane of a warp holds it, and is not let go on by those that spin.
    ends(&body(back), [1, 32]);
}

#[test]
fn resident_blocks_that_wait_for_those_that_have_not_started() {
    // Every block counts itself, then waits for all blocks of the grid.
    let body =
        |blocks: u32| format!("red.release.gpu.global.add.u32 [%d0], 1; {}", poll(0, blocks, "W"));
    livelock(
        &body(3000),
        [3000, 1],
        &[
            "; 952 blocks of the grid have not started, since the 2048 that are resident have not ended",
            "and likewise 2046 more blocks",
        ],
    );
    ends(&body(2000), [2000, 1]);
}

#[test]
fn a_loop_that_reads_nothing() {
    livelock("LOOP: bra LOOP;", [1, 32], &["which read nothing that could end the loop"]);
    livelock("LOOP: nanosleep.u32 100; bra LOOP;", [2, 64], &["read nothing"]);
}

/// A round of several branches back: an inner loop over the flags of four others, an outer one until all are set.
#[test]
fn rounds_of_loops_in_loops() {
    let body = |sets: u32| {
        format!(
            "setp.eq.u32 %p1, %r11, 0; @%p1 bra OUTER;
             setp.le.u32 %p2, %r11, {sets}; mul.wide.u32 %d2, %r11, 4; add.s64 %d2, %d0, %d2; @%p2 st.volatile.global.u32 [%d2], 1; bra DONE;
             OUTER: mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u64 %d3, %d0;
             INNER: ld.volatile.global.u32 %r1, [%d3+4]; add.u32 %r2, %r2, %r1; add.s64 %d3, %d3, 4; add.u32 %r3, %r3, 1;
             setp.lt.u32 %p3, %r3, 4; @%p3 bra INNER;
             setp.lt.u32 %p4, %r2, 4; @%p4 bra OUTER; DONE:"
        )
    };
    livelock(&body(3), [5, 1], &["where it reads global memory at 0x"]);
    ends(&body(4), [5, 1]);
}

/// One lane polls, in a path of its own; the others wait where it joins them.
#[test]
fn a_lane_that_others_wait_for() {
    let body = |tell: &str| {
        format!(
            "setp.ne.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r11, 1; @%p2 bra TELL;
             @%p1 bra JOIN; {} JOIN: bar.sync 0; bra DONE; TELL: {tell} DONE:",
            poll(1, 1, "W")
        )
    };
    livelock(
        &body(""),
        [2, 64],
        &[
            "where it reads global memory at",
            "; warp 1 at PTX line",
            "; warp 0 (lanes 0xfffffffe) at PTX line",
        ],
    );
    ends(&body("st.release.gpu.global.u32 [%d0+4], 1;"), [2, 64]);
}

/// What ends by itself is no livelock: by the clock, or after so many attempts, however long it sleeps between them.
#[test]
fn loops_that_give_up() {
    let clock = "mov.u64 %d2, %clock64;
         W: ld.volatile.global.u32 %r1, [%d0]; setp.ne.u32 %p0, %r1, 0; @%p0 bra DONE;
         mov.u64 %d3, %clock64; sub.u64 %d3, %d3, %d2; setp.lt.u64 %p1, %d3, 3000000; mov.u64 %d3, 0; @%p1 bra W; DONE:";
    ends(clock, [1, 1]);
    ends(clock, [4, 64]);
    let attempts = "mov.u32 %r2, 0; mov.u32 %r3, 8;
         W: ld.volatile.global.u32 %r1, [%d0]; setp.ne.u32 %p0, %r1, 0; @%p0 bra DONE;
         nanosleep.u32 %r3; shl.b32 %r3, %r3, 1; min.u32 %r3, %r3, 256; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100000; @%p1 bra W; DONE:";
    ends(attempts, [1, 1]);
    // Without the count of attempts, the time to sleep grows to a limit and stays there.
    livelock(&attempts.replace("add.u32 %r2, %r2, 1;", ""), [1, 1], &["and gets 0x0"]);
}

/// The one that polls sees a write however late it comes.
#[test]
fn a_writer_that_takes_long() {
    let body = format!(
        "setp.eq.u32 %p1, %r11, 0; @%p1 bra W;
         mov.u32 %r2, 0; WORK: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 2000000; @%p2 bra WORK;
         st.release.gpu.global.u32 [%d0+4], 1; bra DONE;\n{}DONE:",
        poll(1, 1, "W")
    );
    ends(&body, [2, 1]);
}

/// A cluster that is lost lets those that wait for it be.
#[test]
fn a_fault_of_another_block_comes_first() {
    let body = format!(
        "setp.eq.u32 %p1, %r11, 0; @%p1 bra W; st.global.u32 [%d0+64], 1;\n{}",
        poll(1, 1, "W")
    );
    for threads in THREADS {
        let fault = launch(&body, [2, 1], threads).expect_err("the second block is wrong");
        assert_eq!((fault.kind, fault.block), (FaultKind::OutOfBounds, [1, 0, 0]), "{fault}");
    }
}

#[test]
fn an_endless_loop_that_counts_ends_at_the_limit() {
    twins(
        FaultKind::InstructionLimit,
        1,
        "LOOP: add.u32 %r2, %r0, 1; add.u32 %r0, %r0, 1; bra LOOP;",
        "",
    );
}
