//! Timelines of small kernels, of which every time is worked out by hand from the costs that the documentation gives.

use kernel_emulator::trace::{Arrow, Kind, Others, Span};
use kernel_emulator::{LaunchConfig, Options, Report, Timeline, TraceOptions};

use crate::faults::SETUP;
use crate::harness::{Bench, entry, one_block};

/// Waiting warps issue again so long after the last arrival at a barrier.
const BARRIER: f64 = 20.0;
/// The latency of shared memory, with which a wait for an mbarrier sees that the phase is over.
const SHARED: f64 = 29.0;

/// Runs and traces the only entry; it may end with a fault.
fn traced(
    bench: &Bench,
    (config, params): (&LaunchConfig, &[u64]),
    (options, trace): (&Options, &TraceOptions),
) -> (Option<Report>, Timeline) {
    let entry = &bench.program.entries()[0];
    let params: Vec<u8> = params.iter().flat_map(|p| p.to_le_bytes()).collect();
    let launch = (entry.name.as_str(), config);
    let (result, timeline) = bench.program.trace(&bench.memory, launch, &params, options, trace);
    (result.ok(), timeline.expect("the launch is possible"))
}

/// The timeline of a kernel of one block, which gets a buffer of 8 KiB.
fn timeline(threads: u32, body: &str) -> Timeline {
    let bench = Bench::new(&entry(1, body));
    let data = bench.upload(&vec![0; 8192]);
    let options = Options::default().with_max_instructions(1 << 16);
    traced(&bench, (&one_block(threads), &[data]), (&options, &TraceOptions::default())).1
}

/// The spans of a lane.
fn lane<'a>(timeline: &'a Timeline, name: &str) -> Vec<&'a Span> {
    let index = timeline.lanes.iter().position(|lane| lane.name == name);
    let index = index.unwrap_or_else(|| panic!("no lane {name}: {:?}", timeline.lanes));
    timeline.spans.iter().filter(|span| span.lane == index).collect()
}

/// Kind, start and end of the spans of a lane.
fn times(timeline: &Timeline, name: &str) -> Vec<(Kind, f64, f64)> {
    lane(timeline, name).iter().map(|span| (span.kind, span.start, span.end)).collect()
}

/// Lanes and times of an arrow.
fn ends<'a>(timeline: &'a Timeline, arrow: &Arrow) -> (&'a str, f64, &'a str, f64) {
    let name = |lane: usize| timeline.lanes[lane].name.as_str();
    (name(arrow.from.0), arrow.from.2, name(arrow.to.0), arrow.to.2)
}

#[test]
fn each_of_a_chain_of_additions_waits_four_cycles_for_the_one_before() {
    let adds = "add.u32 %r1, %r0, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;";
    let timeline = timeline(32, &format!(".reg .b32 %r<2>; mov.u32 %r0, %tid.x; {adds}"));
    // At 0, 4 and 8: what is no more than four cycles apart is one span. The move costs nothing.
    let required = [(Kind::Arithmetic, 0.0, 9.0), (Kind::Control, 9.0, 10.0)];
    assert_eq!(times(&timeline, "warp 0"), required);
    let span = lane(&timeline, "warp 0")[0];
    assert_eq!((span.name.as_str(), span.count), ("add.u32", 3));
    // Additions that are independent issue every two cycles: 64 of 128 lanes a cycle.
    let adds = "add.u32 %r1, %r0, 1; add.u32 %r2, %r0, 1; add.u32 %r3, %r0, 1;";
    let body = format!(".reg .b32 %r<4>; mov.u32 %r0, %tid.x; {adds}");
    assert_eq!(times(&self::timeline(32, &body), "warp 0")[0], (Kind::Arithmetic, 0.0, 5.0));
}

#[test]
fn a_warp_waits_at_a_barrier_for_the_last_one() {
    let slow = "add.u32 %r1, %r1, 1;".repeat(5);
    let timeline = timeline(
        64,
        &format!(
            ".reg .b32 %r<2>; .reg .pred %p<1>; mov.u32 %r0, %tid.x; mov.u32 %r1, %r0;
             setp.ge.u32 %p0, %r0, 32; @%p0 bra SLOW; bar.sync 0; ret; SLOW: {slow} bar.sync 0;"
        ),
    );
    // The comparison at 0, its result at 4; the barrier of warp 0 at 5. Warp 1 branches at 4, issues again at 12, and adds until 28.
    let arrival = 12.0 + 4.0 * 4.0 + 1.0;
    let over = arrival + BARRIER;
    let waits = |warp: &str| {
        let spans = times(&timeline, warp);
        spans.into_iter().filter(|span| span.0 == Kind::Wait).collect::<Vec<_>>()
    };
    assert_eq!(waits("warp 0"), [(Kind::Wait, 6.0, over)]);
    assert_eq!(waits("warp 1"), [(Kind::Wait, arrival + 1.0, over)]);
    let wait = lane(&timeline, "warp 0").into_iter().find(|span| span.kind == Kind::Wait);
    assert_eq!(wait.expect("it was there").name, "waits at barrier 0");
    let arrows: Vec<_> = timeline.arrows.iter().map(|arrow| ends(&timeline, arrow)).collect();
    assert_eq!(arrows, [("warp 1", arrival, "warp 0", over)]);
}

/// A copy of 8 KiB, for which all threads wait.
const COPY: &str = ".shared .align 128 .b8 tile[8192]; .shared .align 8 .b64 bar;
    setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [bar], 1;
    @%p0 fence.mbarrier_init.release.cluster; bar.sync 0;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 8192;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 8192, [bar];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;";

#[test]
fn a_bulk_copy_completes_a_phase_for_which_warps_wait() {
    let timeline = timeline(64, &format!("{SETUP} {COPY}"));
    let copies = lane(&timeline, "TMA and bulk copies");
    assert_eq!(copies.len(), 1);
    let copy = copies[0];
    assert!(copy.name.ends_with(", 8192 bytes"), "{}", copy.name);
    // 64 bytes a cycle, then the latency of main memory, and what a bulk copy takes longer.
    assert_eq!(copy.end - copy.start, 8192.0 / 64.0 + 665.0 + 170.0);
    let mbarrier = timeline.lanes.iter().find(|lane| lane.name.starts_with("mbarrier "));
    let mbarrier = &mbarrier.expect("it has a phase").name;
    let phases = lane(&timeline, mbarrier);
    assert_eq!(phases.len(), 1);
    assert_eq!(phases[0].name, "phase 0: 2 contributions, 8192 bytes");
    assert_eq!((phases[0].kind, phases[0].end), (Kind::Phase, copy.end));
    // The arrival is the instruction before the copy.
    assert_eq!(phases[0].start, copy.start - 1.0);
    for warp in ["warp 0", "warp 1"] {
        let last = lane(&timeline, warp).into_iter().rfind(|span| span.kind == Kind::Wait);
        let wait = last.expect("it waits");
        assert_eq!(wait.name, format!("waits for phase 0 of {mbarrier}"));
        assert_eq!(wait.end, copy.end + SHARED);
    }
    let mut arrows: Vec<_> = timeline.arrows.iter().map(|arrow| ends(&timeline, arrow)).collect();
    arrows.retain(|arrow| arrow.0 == "TMA and bulk copies");
    let to = |warp| ("TMA and bulk copies", copy.end, warp, copy.end + SHARED);
    assert_eq!(arrows, [to("warp 0"), to("warp 1")]);
}

#[test]
fn an_asynchronous_copy_ends_the_wait_for_its_group() {
    let copy = |at: u32| {
        format!("cp.async.cg.shared.global [%r1+{at}], [%d1+{at}], 16; cp.async.commit_group;")
    };
    let timeline = timeline(
        32,
        &format!(
            "{SETUP} .shared .align 16 .b8 tile[2048]; mul.wide.u32 %d1, %r0, 16; add.s64 %d1, %d0, %d1;
             cvt.u32.u64 %r1, %d1; mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; {}{}
             cp.async.wait_group 1; cp.async.wait_group 0;",
            copy(0),
            copy(512)
        ),
    );
    let copies = lane(&timeline, "cp.async");
    assert_eq!(copies.len(), 2, "a span for each group");
    let waits: Vec<_> =
        lane(&timeline, "warp 0").into_iter().filter(|span| span.kind == Kind::Wait).collect();
    let named: Vec<_> = waits.iter().map(|span| (span.name.as_str(), span.end)).collect();
    let required = [
        ("waits for its cp.async but the last group", copies[0].end),
        ("waits for its cp.async", copies[1].end),
    ];
    assert_eq!(named, required);
    let arrows: Vec<_> = timeline.arrows.iter().map(|arrow| ends(&timeline, arrow)).collect();
    let arrow = |at| ("cp.async", at, "warp 0", at);
    assert_eq!(arrows, [arrow(copies[0].end), arrow(copies[1].end)]);
    let row_of = |arrow: &Arrow| arrow.from.1;
    assert_eq!(
        timeline.arrows.iter().map(row_of).collect::<Vec<_>>(),
        [copies[0].row, copies[1].row]
    );
}

#[test]
fn a_deadlock_ends_with_who_waits_for_what() {
    // Warp 1 leaves without the arrival that warp 0 waits for.
    let timeline = timeline(
        64,
        &format!(
            "{SETUP} .shared .align 8 .b64 bar; setp.eq.u32 %p0, %r0, 0;
             @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra DONE;
             W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W; DONE:"
        ),
    );
    let fault = timeline.fault.as_deref().expect("it never ends");
    assert!(fault.contains("deadlock"), "{fault}");
    assert!(timeline.model.is_none(), "a launch that does not end takes no time");
    let stuck: Vec<_> = timeline.spans.iter().filter(|span| span.kind == Kind::Stuck).collect();
    assert_eq!(stuck.len(), 1, "{stuck:?}");
    assert_eq!(timeline.lanes[stuck[0].lane].name, "warp 0");
    assert!(stuck[0].name.contains("mbarrier"), "{}", stuck[0].name);
    let others = timeline.spans.iter().filter(|span| span.kind != Kind::Stuck);
    assert!(others.map(|span| span.end).fold(0.0, f64::max) < stuck[0].end);
}

#[test]
fn a_race_is_marked_at_both_accesses() {
    let timeline = timeline(
        64,
        &format!(
            "{SETUP} .shared .align 16 .b32 tile[64]; mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1;
             xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1;
             st.shared.u32 [%r2], %r0; ld.shared.u32 %r4, [%r3];"
        ),
    );
    let mut marks: Vec<_> = timeline
        .marks
        .iter()
        .map(|mark| {
            (timeline.lanes[mark.lane].name.as_str(), mark.text.contains("the other access"))
        })
        .collect();
    marks.sort_unstable();
    assert_eq!(marks, [("warp 0", true), ("warp 1", false)], "{:?}", timeline.marks);
    assert!(timeline.marks.iter().all(|mark| mark.text.contains("race")), "{:?}", timeline.marks);
}

/// Eight blocks: each adds its number to its words, through shared memory and with a loop as long as its number.
fn blocks() -> (Bench, LaunchConfig, u64) {
    let body = "{SETUP} .shared .b32 tile[64]; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0;
        mul.wide.u32 %d1, %r2, 4; add.s64 %d1, %d0, %d1; ld.global.u32 %r3, [%d1]; mov.u32 %r4, tile; shl.b32 %r5, %r0, 2;
        add.u32 %r4, %r4, %r5; mov.u32 %r6, 0; LOOP: add.u32 %r3, %r3, 1; add.u32 %r6, %r6, 1;
        setp.le.u32 %p0, %r6, %r1; @%p0 bra LOOP; st.shared.u32 [%r4], %r3; bar.sync 0; ld.shared.u32 %r7, [%r4];
        st.global.u32 [%d1], %r7;";
    let bench = Bench::new(&entry(1, &body.replace("{SETUP}", SETUP)));
    let data = bench.upload(&vec![0; 8 * 64 * 4]);
    (bench, LaunchConfig::new([8, 1, 1], [64, 1, 1]), data)
}

#[test]
fn a_trace_changes_nothing_and_is_the_same_each_time() {
    let options = TraceOptions::default().with_blocks("1,4-6").expect("right");
    let texts: Vec<String> = [1, 3, 3]
        .map(|threads| {
            let (bench, config, data) = blocks();
            let launch = Options::default().with_threads(threads);
            let (report, timeline) = traced(&bench, (&config, &[data]), (&launch, &options));
            let (plain, config, other) = blocks();
            let untraced = plain.try_launch(&config, &[other], &launch).expect("it is right");
            assert_eq!(report, Some(untraced));
            let words = bench.words(data, 512);
            assert_eq!(words, plain.words(other, 512));
            assert_eq!(words, (0..512).map(|i| i / 64 + 1).collect::<Vec<u32>>());
            let mut numbers: Vec<u64> =
                timeline.lanes.iter().map(|lane| lane.block_number).collect();
            numbers.dedup();
            assert_eq!(numbers, [1, 4, 5, 6]);
            timeline.chrome_json()
        })
        .into();
    assert!(texts[1..].iter().all(|text| *text == texts[0]));
}

/// 131072 blocks of one warp take 81.69 us on an H200 at 1.755 GHz (`benches/results/modelled.md`), whatever they do: 143366 cycles.
#[test]
fn a_grid_takes_as_long_as_its_blocks_take_to_start() {
    let bench = Bench::new(&entry(1, SETUP));
    let data = bench.upload(&[0]);
    let config = LaunchConfig::new([131_072, 1, 1], [32, 1, 1]);
    let options = TraceOptions { others: Others::LeftOut, ..TraceOptions::default() };
    let options = TraceOptions { device: Some("sm_90a".to_owned()), ..options };
    let (_, timeline) = traced(&bench, (&config, &[data]), (&Options::default(), &options));
    let cycles = timeline.model.expect("it ends").cycles;
    // The model's interval has two digits after the point: half of the last one, 0.005 cycles for each block, is 655 cycles.
    assert!((cycles - 143_366.0).abs() <= 655.0, "{cycles}");
}

#[test]
fn a_block_keeps_its_place_until_its_stores_are_done() {
    let cycles = |store: &str, blocks: u32| {
        let place = "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 128; add.s64 %d1, %d1, %d2; setp.lt.u32 %p0, %r0, 32;";
        let bench = Bench::new(&entry(1, &format!("{SETUP} {place} {store}")));
        let data = bench.upload(&vec![0; 528 * 128]);
        let config = LaunchConfig::new([blocks, 1, 1], [1024, 1, 1]);
        let trace = TraceOptions::default();
        let (_, timeline) = traced(&bench, (&config, &[data]), (&Options::default(), &trace));
        timeline.model.expect("it ends").cycles
    };
    // Two blocks of 1024 threads fit on each of 132 multiprocessors: half of 528 wait for the others. The second-level cache has a store
    // 287 cycles after it is issued.
    let waits = |store| cycles(store, 528) - cycles(store, 264);
    let (idle, stores) = (waits(""), waits("@%p0 st.global.u32 [%d1], %r0;"));
    assert!(stores > idle + 250.0, "{stores} cycles with stores, {idle} without");
}

#[test]
fn values_without_a_register_go_to_memory_and_back() {
    let cycles = |values: u32| {
        let each = |text: &dyn Fn(u32) -> String| {
            let lines: Vec<String> = (1..=values).map(text).collect();
            lines.join(" ")
        };
        let loads = each(&|at| format!("ld.global.f32 %f{at}, [%d0+{}];", 4 * at));
        let sums = each(&|at| format!("add.f32 %f0, %f0, %f{at};"));
        let registers = values + 1;
        let body = format!(
            ".reg .b64 %d<1>; .reg .f32 %f<{registers}>; ld.param.u64 %d0, [p0]; mov.f32 %f0, 0f00000000; {loads} {sums} st.global.f32 [%d0], %f0;"
        );
        timeline(32, &body).model.expect("it ends").block_cycles
    };
    // Twice the additions, each of four cycles; of 400 values not all have one of 255 registers.
    let (few, many) = (cycles(200), cycles(400));
    assert!(many > 3.0 * few, "{few} and {many} cycles");
}

#[test]
fn blocks_that_are_not_traced_may_be_left_out() {
    let (bench, config, data) = blocks();
    let options = TraceOptions { others: Others::LeftOut, ..TraceOptions::default() };
    let options = options.with_blocks("2").expect("right");
    let (report, timeline) = traced(&bench, (&config, &[data]), (&Options::default(), &options));
    assert!(report.is_some());
    let words: Vec<u32> = (0..512).map(|i| if i / 64 == 2 { 3 } else { 0 }).collect();
    assert_eq!(bench.words(data, 512), words);
    assert_eq!(timeline.model.expect("it ends").blocks, 8);
    // No block of the grid has this number.
    let options = TraceOptions::default().with_blocks("8").expect("right");
    let timeline = traced(&bench, (&config, &[data]), (&Options::default(), &options)).1;
    assert!(timeline.lanes.is_empty() && timeline.model.is_none(), "{timeline:?}");
}

#[test]
fn numbers_of_blocks_that_are_wrong_are_refused() {
    for wrong in ["", "a", "-1", "3-1", "1,", "0-64", "0-63,64", "0-18446744073709551615", "1e3"] {
        let error = TraceOptions::default().with_blocks(wrong).expect_err(wrong);
        assert!(
            error.starts_with("required ") && error.ends_with(&format!("actual `{wrong}`")),
            "{error}"
        );
    }
    let right = TraceOptions::default().with_blocks("0-2, 7").expect("right");
    assert_eq!(right.blocks, [0, 1, 2, 7]);
}
