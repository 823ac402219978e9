//! Hazards that are listed and do not end the launch.

use kernel_emulator::{Fault, FaultKind, Hazards, LaunchConfig, Options, Report};

use crate::harness::{Bench, entry};

/// Runs blocks of 64 threads on `words` words of zeros, and gives these words back.
#[expect(clippy::result_large_err, reason = "the fault is what the tests look at")]
fn run(
    body: &str,
    (blocks, words): (u32, usize),
    hazards: Hazards,
) -> Result<(Report, Vec<u32>), Fault> {
    let registers = ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<2>;";
    let bench = Bench::new(&entry(1, &format!("{registers} {body}")));
    let data = bench.upload_words(&vec![0; words]);
    let config = LaunchConfig::new([blocks, 1, 1], [64, 1, 1]);
    let options = Options::default().with_hazards(hazards);
    let report = bench.try_launch(&config, &[data], &options)?;
    Ok((report, bench.words(data, words)))
}

/// Each thread stores its number, and loads that of the thread 32 before or behind.
const EXCHANGE: &str = ".shared .b32 tile[64]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
    mov.u32 %r2, tile; add.u32 %r3, %r2, %r1; xor.b32 %r4, %r1, 128; add.u32 %r4, %r4, %r2;
    ld.param.u64 %d0, [p0]; cvt.u64.u32 %d1, %r1; add.u64 %d0, %d0, %d1;
    st.shared.u32 [%r3], %r0;
    BARRIER
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%d0], %r5;";

#[test]
fn a_race_is_listed_once_and_the_launch_goes_on() {
    // The second warp reads what the first one wrote; the first one would read what nobody has written yet.
    let body = EXCHANGE.replace("BARRIER", "setp.lt.u32 %p0, %r0, 32; @%p0 mov.u32 %r4, %r3;");
    let fault = run(&body, (8, 64), Hazards::Error).expect_err("there is no barrier");
    assert_eq!(fault.kind, FaultKind::Race);
    let (report, words) = run(&body, (8, 64), Hazards::Warn).expect("a hazard ends no launch");
    assert_eq!(words, (0..64).map(|i| i % 32).collect::<Vec<u32>>());
    let [found] = &report.findings[..] else { panic!("{:?}", report.findings) };
    assert_eq!((found.kind.code(), found.missing), ("H05", Some("bar.sync")));
    assert_eq!((found.bytes, found.block, found.warp), (Some(4), [0; 3], 1));
    let other = found.other.as_ref().expect("a race has two sides");
    assert!(other.ptx.contains("st.shared.u32 [%r3], %r0"), "{other:?}");
    assert!(found.ptx.contains("ld.shared.u32 %r5, [%r4]"), "{found}");
    assert_eq!(other.agent, "lane 0 of warp 0");
    let (report, _) = run(&body, (8, 64), Hazards::Off).expect("nobody looks");
    assert_eq!(report.findings, []);
    let right = EXCHANGE.replace("BARRIER", "bar.sync 0;");
    let (report, words) = run(&right, (8, 64), Hazards::Warn).expect("it is right");
    assert_eq!((report.findings, words), (Vec::new(), (0..64).map(|i| i ^ 32).collect()));
}

#[test]
fn asynchronous_copies_have_acted_where_nobody_waited() {
    let copy = |wait: &str| {
        format!(
            ".shared .align 16 .b32 tile[64]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
            mov.u32 %r2, tile; add.u32 %r3, %r2, %r1; ld.param.u64 %d0, [p0]; cvt.u64.u32 %d1, %r1;
            add.u64 %d0, %d0, %d1; add.u32 %r6, %r0, 7; st.global.u32 [%d0], %r6;
            cp.async.ca.shared.global [%r3], [%d0], 4; {wait} ld.shared.u32 %r5, [%r3];
            add.u32 %r5, %r5, 100; cp.async.wait_all; st.global.u32 [%d0+256], %r5;"
        )
    };
    let (report, words) = run(&copy(""), (1, 128), Hazards::Warn).expect("no fault");
    assert_eq!(words[64..], (0..64).map(|i| i + 107).collect::<Vec<u32>>());
    let [found] = &report.findings[..] else { panic!("{:?}", report.findings) };
    assert_eq!((found.kind.code(), found.missing), ("H01", Some("cp.async.wait_group")));
    let (report, _) = run(&copy("cp.async.wait_all;"), (1, 128), Hazards::Warn).expect("no fault");
    assert_eq!(report.findings, []);
}

#[test]
fn a_fault_has_the_hazards_that_came_before_it() {
    let race = EXCHANGE.replace("BARRIER", "setp.lt.u32 %p0, %r0, 32; @%p0 mov.u32 %r4, %r3;");
    let text = format!("{race} setp.ge.u32 %p1, %r0, 32; @%p1 trap;");
    let fault = run(&text, (1, 64), Hazards::Warn).expect_err("it traps");
    assert_eq!(fault.kind, FaultKind::Trap);
    let [found] = &fault.findings[..] else { panic!("{:?}", fault.findings) };
    assert_eq!((found.kind, found.missing), (FaultKind::Race, Some("bar.sync")));
    assert!(fault.to_string().contains("found before: data race: a load of 4 bytes"), "{fault}");
    // The same instruction may be both: its first lanes race, its last one is outside.
    let text = "mov.u32 %r0, %tid.x; ld.param.u64 %d0, [p0]; setp.eq.u32 %p1, %r0, 63; @%p1 add.u64 %d0, %d0, 4096;
        st.global.u32 [%d0], %r0;";
    let fault = run(text, (1, 64), Hazards::Warn).expect_err("a lane is outside");
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    let kinds: Vec<FaultKind> = fault.findings.iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [FaultKind::Race], "{fault}");
    let fault = run(text, (1, 64), Hazards::Off).expect_err("a lane is outside");
    assert_eq!(fault.findings, []);
}
