//! Grids that begin before the one before them is over (PTX ISA, "griddepcontrol").

use kernel_emulator::{Fault, FaultKind, Hazards, Options};

use crate::harness::{Bench, entry, one_block};

const WAIT: &str = "griddepcontrol.wait;";

/// Runs a kernel on one block of 64 threads after a grid that writes the first 64 words of the data, each thread its own. The thread's word is at
/// `%d0`, and 256 bytes further on is one that no grid writes.
fn after(body: &str) -> Result<(), Box<Fault>> {
    let text = |body: &str| {
        let head = ".reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p<2>; ld.param.u64 %d0, [p0];
            mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; setp.eq.u32 %p0, %r0, 0;";
        entry(1, &format!("{head} {body}"))
    };
    let run = |bench: &Bench, options: &Options| {
        let data = bench.upload(&[0; 512]);
        bench.try_launch(&one_block(64), &[data], options).map_err(Box::new)
    };
    let first = Bench::new(&text("griddepcontrol.launch_dependents; st.global.u32 [%d0], 1;"));
    let report = run(&first, &Options::default().with_record_writes(true)).expect("it is right");
    let writes = report.writes.expect("it was asked for");
    let options = Options::default().with_grid_before(writes);
    run(&Bench::new(&text(body)), &options).map(drop)
}

#[track_caller]
fn twins(wrong: &str, right: &str) -> Box<Fault> {
    after(right).unwrap_or_else(|fault| panic!("the right kernel: {fault}"));
    let fault = after(wrong).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, FaultKind::Race, "{fault}");
    assert!(
        fault.detail.contains("some of which the grid before writes: is a `griddep"),
        "{fault}"
    );
    fault
}

#[test]
fn what_the_grid_before_writes_is_touched_after_the_wait() {
    for touch in [
        "ld.global.u32 %r1, [%d0];",
        "st.global.u32 [%d0], 2;",
        "atom.global.add.u32 %r1, [%d0], 1;",
        "ld.acquire.gpu.global.u32 %r1, [%d0];",
    ] {
        let fault = twins(&format!("{touch} {WAIT}"), &format!("{WAIT} {touch}"));
        assert!(fault.detail.contains("of 4 bytes at global address"), "{fault}");
        // That the next grid may start says nothing of the one before.
        twins(
            &format!("griddepcontrol.launch_dependents; {touch}"),
            &format!("griddepcontrol.launch_dependents; {WAIT} {touch}"),
        );
    }
    // Others' memory is nobody's matter.
    after("ld.global.u32 %r1, [%d0+256]; st.global.u32 [%d0+256], 2;").expect("nobody writes it");
}

#[test]
fn a_thread_may_wait_for_others_which_synchronise_with_it() {
    let read = "ld.global.u32 %r1, [%d0];";
    let one = format!("@%p0 {WAIT}");
    twins(&format!("{one} {read}"), &format!("{one} bar.sync 0; {read}"));
    // The lanes of a warp do not wait for one another otherwise.
    twins(&format!("{one} bar.warp.sync -1; {read}"), &format!("{WAIT} {read}"));
}

#[test]
fn what_a_launch_writes_is_recorded_whether_hazards_are_looked_for_or_not() {
    let text = entry(
        1,
        ".reg .b64 %d<4>; .reg .b32 %r<4>; ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;
         add.u64 %d0, %d0, %d1; st.global.u32 [%d0], 1; red.global.add.u32 [%d0+256], 1;",
    );
    let bench = Bench::new(&text);
    let data = bench.upload(&[0; 512]);
    let options = Options::default().with_record_writes(true);
    let writes = |options: &Options| {
        let report = bench.try_launch(&one_block(64), &[data], options).expect("it is right");
        report.writes.expect("it was asked for")
    };
    let all = writes(&options);
    assert_eq!(writes(&options.clone().with_hazards(Hazards::Off)), all);
    assert_eq!(writes(&options.clone().with_check_races(false)), all);
    // They are what the next launch has to wait for.
    let before = Options::default().with_grid_before(all);
    let fault = bench.try_launch(&one_block(64), &[data], &before).expect_err("it does not wait");
    assert_eq!(fault.kind, FaultKind::Race);
}
