//! How fast the emulator is on one core: lane instructions a second of each kind of instruction, and
//! operations a second of `mma.sync` in each kind of element. It asserts nothing.
//!
//! `cargo run --release -p kiln-gpu-emulator --example speed`
//!
//! Every line is the best of several runs, by the time that the thread ran, so that other work on the
//! machine disturbs little. The last column is how many times longer the launch takes than without looking for hazards.
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use std::time::Instant;

use kernel_emulator::{DeviceMemory, Hazards, LaunchConfig, Options, Program, TensorCore};

const HEAD: &str = ".version 8.4\n.target sm_90\n.address_size 64\n";
/// Rounds of the measured loop: the host counts a thread's time in steps of some milliseconds.
const ROUNDS: u32 = 50_000;
/// Runs of each kernel, of which the best counts.
const RUNS: usize = 5;

/// Seconds that this thread has run, where the host says so (Linux), else the time of day: a busy
/// machine must not make the emulator look slow.
fn seconds(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// A kernel whose loop runs `body` `ROUNDS` times.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 data) {{
         .reg .pred %p<4>; .reg .b16 %s<4>; .reg .b32 %r<40>; .reg .b64 %d<10>; .reg .f32 %f<40>;
         .shared .align 16 .b8 tile[8192];
         ld.param.u64 %d0, [data];
         mov.u32 %r0, %tid.x;
         mul.wide.u32 %d1, %r0, 4;
         add.s64 %d1, %d0, %d1;
         mov.u32 %r1, 0; mov.u32 %r2, 1; mov.u32 %r3, 3; mov.u32 %r4, 5; mov.u32 %r5, 7;
         mov.u32 %r6, 0x3c013c02; mov.u32 %r7, 0x3c03bc04; mov.u32 %r8, 0x3c053c06; mov.u32 %r9, 0xbc073c08;
         mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
         mov.u16 %s0, 7; mov.u32 %r24, tile; shl.b32 %r25, %r0, 1; add.u32 %r24, %r24, %r25; add.u32 %r24, %r24, 4096;
         st.shared.b16 [%r24], %s0;
         mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f3F000000; mov.f32 %f2, 0f3E800000; mov.f32 %f3, 0f3F900000;
         mov.u32 %r20, tile; shl.b32 %r21, %r0, 2; add.u32 %r20, %r20, %r21;
         st.shared.u32 [%r20], %r0;
         mov.u32 %r22, tile; shl.b32 %r23, %r0, 4; add.u32 %r22, %r22, %r23; add.u32 %r22, %r22, 1024;
         st.shared.v4.u32 [%r22], {{%r0, %r0, %r0, %r0}};
         bar.sync 0;
         LOOP:
         {body}
         add.u32 %r1, %r1, 1;
         setp.lt.u32 %p0, %r1, {ROUNDS};
         @%p0 bra LOOP;
         st.global.u32 [%d1], %r2;
         st.global.f32 [%d1], %f0;
         ret; }}"
    )
}

fn measure(name: &str, body: &str) {
    measure_with(&Options::default(), name, body, 0.0);
}

fn measure_with(options: &Options, name: &str, body: &str, flops_per_round: f64) {
    let program = Program::parse(&kernel(body)).expect("the kernel is well formed");
    let memory = DeviceMemory::new();
    let data = memory.allocate(1 << 16).expect("64 KB");
    memory.fill(data, 0, 1 << 16).expect("it was just allocated");
    let config = LaunchConfig::new([1, 1, 1], [128, 1, 1]);
    let options = options.clone().with_threads(1);
    let unchecked = options.clone().with_hazards(Hazards::Off);
    let clock = Instant::now();
    let run = |options: &Options| {
        let start = seconds(clock);
        let report = program
            .launch(&memory, "k", &config, &data.to_le_bytes(), options)
            .unwrap_or_else(|fault| panic!("{fault}"));
        (seconds(clock) - start, report)
    };
    // In turn, so that both meet the same machine.
    let runs: Vec<_> = (0..RUNS).map(|_| (run(&unchecked).0, run(&options))).collect();
    let without = runs.iter().map(|(off, _)| *off).min_by(f64::total_cmp).expect("several runs");
    let checked = runs.into_iter().map(|(_, on)| on);
    let (seconds, report) = checked.min_by(|a, b| a.0.total_cmp(&b.0)).expect("several runs");
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let (lanes, warps) = (report.lane_instructions as f64, report.warp_instructions as f64);
    println!(
        "{name:24} {:8.1} M lane instructions/s {:7.1} ns each warp instruction {:6.2} times",
        lanes / seconds / 1e6,
        seconds / warps * 1e9,
        seconds / without
    );
    if flops_per_round > 0.0 {
        let flops = flops_per_round * f64::from(ROUNDS) * 4.0;
        println!("{:24} {:8.2} G operations/s", "", flops / seconds / 1e9);
    }
}

/// The best times of several runs, each without and with looking for hazards, in turn.
fn best(run: impl Fn() -> (f64, f64)) -> (f64, f64) {
    let runs: Vec<(f64, f64)> = (0..RUNS).map(|_| run()).collect();
    let least = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::INFINITY, f64::min);
    (least(&mut runs.iter().map(|run| run.0)), least(&mut runs.iter().map(|run| run.1)))
}

/// How long it takes to start a block that does next to nothing.
fn blocks() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 data, .param .u32 n) {{
         .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;
         ld.param.u64 %d0, [data]; ld.param.u32 %r0, [n];
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
         setp.ge.u32 %p, %r4, %r0; @%p bra DONE;
         mul.wide.u32 %d1, %r4, 4; add.s64 %d1, %d0, %d1; ld.global.u32 %r5, [%d1]; add.u32 %r5, %r5, 1;
         st.global.u32 [%d1], %r5; DONE: ret; }}"
    );
    let program = Program::parse(&text).expect("the kernel is well formed");
    let memory = DeviceMemory::new();
    let bytes = 4 * 128 * 10_000;
    let data = memory.allocate(bytes).expect("5 MB");
    memory.fill(data, 0, bytes).expect("it was just allocated");
    let mut params = data.to_le_bytes().to_vec();
    params.extend((128_u32 * 10_000).to_le_bytes());
    let config = LaunchConfig::new([10_000, 1, 1], [128, 1, 1]);
    let clock = Instant::now();
    let run = |hazards: Hazards| {
        let options = Options::default().with_threads(1).with_hazards(hazards);
        let start = seconds(clock);
        program
            .launch(&memory, "k", &config, &params, &options)
            .unwrap_or_else(|fault| panic!("{fault}"));
        seconds(clock) - start
    };
    let (without, with) = best(|| (run(Hazards::Off), run(Hazards::Error)));
    println!(
        "blocks of 4 warps        {:8.2} us each {:6.2} times",
        with / 10_000.0 * 1e6,
        with / without
    );
}

fn main() {
    blocks();
    let integer = "add.u32 %r2, %r2, %r3; xor.b32 %r3, %r3, %r2; shl.b32 %r4, %r2, 3; and.b32 %r5, %r4, %r3;
        mad.lo.u32 %r2, %r5, %r4, %r3; shr.u32 %r4, %r4, 2; sub.u32 %r5, %r5, %r2; or.b32 %r3, %r3, %r5;";
    measure("integer", integer);
    measure(
        "f32 add, mul",
        "add.f32 %f0, %f0, %f1; mul.f32 %f1, %f1, %f3; sub.f32 %f2, %f0, %f1; max.f32 %f3, %f2, %f1;",
    );
    measure(
        "f32 fma",
        "fma.rn.f32 %f0, %f0, %f1, %f2; fma.rn.f32 %f1, %f1, %f2, %f0; fma.rn.f32 %f2, %f1, %f2, %f0; fma.rn.f32 %f3, %f1, %f2, %f0;",
    );
    measure("f32 ex2", "ex2.approx.f32 %f0, %f1; ex2.approx.f32 %f3, %f2;");
    measure(
        "selection, comparison",
        "setp.lt.s32 %p1, %r2, %r3; selp.b32 %r4, %r2, %r3, %p1; setp.lt.f32 %p2, %f0, %f1; and.pred %p3, %p1, %p2;",
    );
    measure(
        "64-bit addresses",
        "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d2, %d1; shl.b64 %d4, %d2, 2; add.s64 %d4, %d4, 8;",
    );
    measure("ld.global.b32", "ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+512];");
    measure("st.global.b32", "st.global.u32 [%d1], %r2; st.global.u32 [%d1+512], %r2;");
    measure("ld.shared.b32", "ld.shared.u32 %r4, [%r20]; ld.shared.u32 %r5, [%r20];");
    measure("ld.shared.v4.b32", "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r22];");
    measure("ld.shared.b16", "ld.shared.b16 %s1, [%r24]; ld.shared.b16 %s2, [%r24];");
    measure("st.shared.b32", "st.shared.b32 [%r20], %r2; st.shared.b32 [%r20], %r3;");
    measure("st.shared.v4.b32", "st.shared.v4.b32 [%r22], {%r2, %r3, %r2, %r3};");
    measure("st.shared.b16", "st.shared.b16 [%r24], %s0; st.shared.b16 [%r24], %s0;");
    measure(
        "shfl.sync",
        "shfl.sync.bfly.b32 %r4, %r2, 16, 31, -1; shfl.sync.idx.b32 %r5, %r2, 3, 31, -1;",
    );
    measure(
        "ldmatrix.x4",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r22];",
    );
    measure("bar.sync", "bar.sync 0;");
    matrices();
    warpgroups();
}

/// Four products in a round, so that little of it is the loop.
fn matrices() {
    let operands = "{%f0, %f1, %f2, %f3}, {%r6, %r7, %r8, %r9}, {%r6, %r7}, {%f0, %f1, %f2, %f3};";
    let f16 = format!("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {operands}");
    let halves = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r10, %r11}, {%r6, %r7, %r8, %r9}, {%r6, %r7}, {%r10, %r11};";
    let s8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10, %r11, %r12, %r13}, {%r6, %r7, %r8, %r9}, {%r6, %r7}, {%r10, %r11, %r12, %r13};";
    let kinds = [
        ("mma m16n8k16 f16", f16.clone(), 4096.0),
        ("mma m16n8k16 f16 to f16", halves.to_owned(), 4096.0),
        ("mma m16n8k16 bf16", f16.replace("f16.f16.f32", "bf16.bf16.f32"), 4096.0),
        (
            "mma m16n8k8 tf32",
            f16.replace("k16", "k8").replace("f16.f16.f32", "tf32.tf32.f32"),
            2048.0,
        ),
        (
            "mma m16n8k32 e4m3",
            f16.replace("k16", "k32").replace("f16.f16.f32", "e4m3.e4m3.f32"),
            8192.0,
        ),
        ("mma m16n8k32 s8", s8.to_owned(), 8192.0),
    ];
    for (name, mma, operations) in &kinds {
        measure_with(&Options::default(), name, &mma.repeat(4), 4.0 * operations);
    }
    let (_, mma, operations) = &kinds[0];
    let hopper = Options::default().with_tensor_core(TensorCore::Hopper);
    measure_with(&hopper, "the same f16, as Hopper", &mma.repeat(4), 4.0 * operations);
}

/// Products of a warpgroup: sixteen in a group, as a loop over k of 256 has them.
fn warpgroups() {
    const GROUPS: u32 = 200;
    for (name, types, columns, registers, scales) in [
        ("wgmma m64n256k16 f16", "k16.f32.f16.f16", 256_u32, 128, ", 1, 1, 0, 0"),
        ("wgmma m64n64k16 f16", "k16.f32.f16.f16", 64, 32, ", 1, 1, 0, 0"),
        ("wgmma m64n256k8 tf32", "k8.f32.tf32.tf32", 256, 128, ", 1, 1"),
        ("wgmma m64n256k32 e4m3", "k32.f32.e4m3.e4m3", 256, 128, ", 1, 1"),
        ("wgmma m64n256k32 s8", "k32.s32.s8.s8", 256, 128, ""),
    ] {
        let d: Vec<String> = (0..registers).map(|i| format!("%c{i}")).collect();
        let ty = if scales.is_empty() { "b32" } else { "f32" };
        let zero = if ty == "f32" { "0f00000000" } else { "0" };
        let zeros: Vec<String> = d.iter().map(|d| format!("mov.{ty} {d}, {zero};")).collect();
        let zeros = zeros.concat();
        let mma = format!(
            "wgmma.mma_async.sync.aligned.m64n{columns}{types} {{{}}}, %x0, %x1, 1{scales};",
            d.join(",")
        );
        let text = format!(
            ".version 8.4\n.target sm_90a\n.address_size 64\n
             .visible .entry k(.param .u64 data) {{
             .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .b64 %x<2>; .reg .{ty} %c<{registers}>;
             .shared .align 1024 .b8 tile[40960]; {zeros}
             mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 2; mov.u32 %r1, tile;
             FILL: add.u32 %r2, %r1, %r0; st.shared.b32 [%r2], 0x38383838; add.u32 %r0, %r0, 512;
             setp.lt.u32 %p0, %r0, 40960; @%p0 bra FILL; fence.proxy.async.shared::cta; bar.sync 0;
             bfe.u32 %r3, %r1, 4, 14; cvt.u64.u32 %d0, %r3;
             add.u64 %x0, %d0, 0x4000004000010000; add.u64 %x1, %x0, 512; mov.u32 %r4, 0;
             LOOP: wgmma.fence.sync.aligned; {} wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
             add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {GROUPS}; @%p1 bra LOOP; ret; }}",
            mma.repeat(16)
        );
        let program = Program::parse(&text).expect("the kernel is well formed");
        let memory = DeviceMemory::new();
        let config = LaunchConfig::new([1, 1, 1], [128, 1, 1]);
        let clock = Instant::now();
        let run = |hazards: Hazards| {
            let options = Options::default().with_threads(1).with_hazards(hazards);
            let start = seconds(clock);
            program
                .launch(&memory, "k", &config, &[0; 8], &options)
                .unwrap_or_else(|fault| panic!("{fault}"));
            seconds(clock) - start
        };
        let (without, with) = best(|| (run(Hazards::Off), run(Hazards::Error)));
        println!(
            "{name:24} {:8.1} us each {:6.2} times",
            with / f64::from(GROUPS * 16) * 1e6,
            with / without
        );
    }
}
