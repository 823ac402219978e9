//! Tensor memory: its allocation, and what warps load and store.
//!
//! Where an element lies is said here by the bits of lanes and registers: what each of them adds to the lane and to the
//! column of tensor memory.

use std::fmt::Write;

use kernel_emulator::{DeviceMemory, Fault, FaultKind, LaunchConfig, Options, Program};

/// A kernel of 128 threads that holds `columns` columns. `%r0` is the thread, `%r1` its warp, `%r4` the address, `%r5` the
/// same in the warp's own quarter; `%p0` is warp 0, `%p1` thread 0; `%r2` is 64 bytes of shared memory, of which the first
/// 32 are mbarriers for one arrival each; `%d0` is where the thread's 128 words of global memory are.
pub(crate) fn kernel(columns: u32, body: &str) -> String {
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64
         .visible .entry k(.param .u64 p0) .reqntid 128, 1, 1
         {{
         .reg .b32 %r<16>; .reg .b32 %v<128>; .reg .b64 %d<16>; .reg .pred %p<8>;
         .shared .align 16 .b8 bars[64]; .shared .align 1024 .b8 tile[8192];
         mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r2, bars; mov.u32 %r3, tile;
         setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r0, 0;
         @%p1 mbarrier.init.shared::cta.b64 [%r2], 1; @%p1 mbarrier.init.shared::cta.b64 [%r2+8], 1;
         @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+32], {columns};
         bar.sync 0; tcgen05.fence::after_thread_sync;
         ld.shared.b32 %r4, [%r2+32]; shl.b32 %r5, %r1, 21; add.u32 %r5, %r5, %r4;
         ld.param.u64 %d0, [p0]; mul.wide.u32 %d1, %r0, 512; add.u64 %d0, %d0, %d1;
         {body}
         tcgen05.fence::before_thread_sync; bar.sync 0;
         @%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, {columns};
         ret;
         }}"
    )
}

/// `{%v0,%v1,...}` from a register on.
pub(crate) fn registers(first: usize, count: usize) -> String {
    let names: Vec<String> = (first..first + count).map(|i| format!("%v{i}")).collect();
    format!("{{{}}}", names.join(","))
}

/// Launches a text with words of global memory, which it returns.
pub(crate) fn launch(text: &str, words: &[u32]) -> Result<Vec<u32>, Box<Fault>> {
    launch_with(text, words, &Options::default())
}

/// The same, with options.
pub(crate) fn launch_with(
    text: &str,
    words: &[u32],
    options: &Options,
) -> Result<Vec<u32>, Box<Fault>> {
    let program = match Program::parse(text) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{text}"),
    };
    let memory = DeviceMemory::new();
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let address = memory.allocate(bytes.len() as u64).expect("the test is small");
    memory.write(address, &bytes).expect("it was just allocated");
    let config = LaunchConfig::new([1, 1, 1], [128, 1, 1]);
    let options = options.clone().with_max_instructions(1 << 22);
    let address_bytes = address.to_le_bytes();
    program.launch(&memory, "k", &config, &address_bytes, &options).map_err(Box::new)?;
    let mut bytes = vec![0; bytes.len()];
    memory.read(address, &mut bytes).expect("the kernel wrote its result");
    let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four")));
    Ok(words.collect())
}

/// The wrong kernel faults with a kind, the right one does not; both hold 64 columns.
#[track_caller]
pub(crate) fn twins(kind: FaultKind, wrong: &str, right: &str) -> Box<Fault> {
    let run = |body: &str| launch(&kernel(64, body), &vec![0; 128 * 128]);
    if let Err(fault) = run(right) {
        panic!("the right kernel: {fault}");
    }
    let fault = run(wrong).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, kind, "{fault}");
    fault
}

/// The value that a cell of tensor memory gets in these tests.
fn cell(lane: u32, column: u32) -> u32 {
    lane << 16 | column << 4 | 5
}

/// A shape by what the bits of lanes and of registers add: rows and columns.
struct Shape {
    name: &'static str,
    lane_bits: [(u32, u32); 5],
    /// The first bits of registers; each further one doubles the column of the last that added to it.
    register_bits: &'static [(u32, u32)],
}

const SHAPES: [Shape; 5] = [
    Shape {
        name: "32x32b",
        lane_bits: [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)],
        register_bits: &[(0, 1)],
    },
    Shape {
        name: "16x64b",
        lane_bits: [(8, 0), (0, 1), (1, 0), (2, 0), (4, 0)],
        register_bits: &[(0, 2)],
    },
    Shape {
        name: "16x128b",
        lane_bits: [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)],
        register_bits: &[(8, 0), (0, 4)],
    },
    Shape {
        name: "16x256b",
        lane_bits: [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)],
        register_bits: &[(0, 1), (8, 0), (0, 8)],
    },
    // With 16 columns from one half to the other.
    Shape {
        name: "16x32bx2",
        lane_bits: [(1, 0), (2, 0), (4, 0), (8, 0), (0, 16)],
        register_bits: &[(0, 1)],
    },
];

impl Shape {
    /// The row and column of a register of a lane.
    fn place(&self, lane: u32, register: u32) -> (u32, u32) {
        let (mut row, mut column) = (0, 0);
        for (i, (rows, columns)) in self.lane_bits.iter().enumerate() {
            (row, column) = (row + (lane >> i & 1) * rows, column + (lane >> i & 1) * columns);
        }
        let mut last = (0, 0);
        for i in 0..7 {
            let bit = match self.register_bits.get(i) {
                Some(bit) => *bit,
                None => (0, 2 * last.1),
            };
            last = bit;
            (row, column) =
                (row + (register >> i & 1) * bit.0, column + (register >> i & 1) * bit.1);
        }
        (row, column)
    }

    /// Registers of `.xN`, and the operand behind the address.
    fn registers(&self, times: usize) -> (usize, &'static str) {
        match self.name {
            "16x128b" => (2 * times, ""),
            "16x256b" => (4 * times, ""),
            "16x32bx2" => (times, ", 16"),
            _ => (times, ""),
        }
    }
}

/// Stores of whole quarters, or loads, 32 columns at a time; `global` is what lies between the two.
fn whole(load: bool, columns: usize) -> String {
    let mut text = String::new();
    for at in (0..columns).step_by(32) {
        let list = registers(at, 32);
        if load {
            writeln!(text, "tcgen05.ld.sync.aligned.32x32b.x32.b32 {list}, [%r5+{at}];")
                .expect("to a string");
        } else {
            writeln!(text, "tcgen05.st.sync.aligned.32x32b.x32.b32 [%r5+{at}], {list};")
                .expect("to a string");
        }
    }
    text + if load { "tcgen05.wait::ld.sync.aligned;" } else { "tcgen05.wait::st.sync.aligned;" }
}

/// Moves registers from or to global memory.
fn global(load: bool, count: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        if load {
            writeln!(text, "ld.global.b32 %v{i}, [%d0+{}];", 4 * i).expect("to a string");
        } else {
            writeln!(text, "st.global.b32 [%d0+{}], %v{i};", 4 * i).expect("to a string");
        }
    }
    text
}

#[test]
fn every_shape_loads_the_lanes_and_columns_of_its_figure() {
    for shape in &SHAPES {
        for (times, upper) in [(1, 0u32), (2, 0), (4, 0), (8, 16)] {
            let upper = if shape.name == "32x32b" { 0 } else { upper };
            let (count, split) = shape.registers(times);
            let body = format!(
                "{} {} tcgen05.ld.sync.aligned.{}.x{times}.b32 {}, [%r5+{}]{split};
                 tcgen05.wait::ld.sync.aligned; {}",
                global(true, 128),
                whole(false, 128),
                shape.name,
                registers(0, count),
                (upper << 16) + 3,
                global(false, count),
            );
            let input: Vec<u32> = (0..128 * 128).map(|i| cell(i / 128, i % 128)).collect();
            let output =
                launch(&kernel(128, &body), &input).unwrap_or_else(|fault| panic!("{fault}"));
            for thread in 0..128 {
                for register in 0..count {
                    let (row, column) = shape.place(thread % 32, register as u32);
                    let required = cell(thread / 32 * 32 + upper + row, 3 + column);
                    let actual = output[128 * thread as usize + register];
                    assert_eq!(actual, required, "{} x{times}: {thread} {register}", shape.name);
                }
            }
        }
    }
}

#[test]
fn every_shape_stores_what_it_loads() {
    for shape in &SHAPES {
        let (count, split) = shape.registers(4);
        // The whole quarter first, then some of it by the shape.
        let body = format!(
            "{} {} {} tcgen05.st.sync.aligned.{}.x4.b32 [%r5+2]{split}, {};
             tcgen05.wait::st.sync.aligned; {} {}",
            (0..64).fold(String::new(), |text, i| text + &format!("mov.b32 %v{i}, 7;")),
            whole(false, 64),
            global(true, count),
            shape.name,
            registers(0, count),
            whole(true, 64),
            global(false, 64),
        );
        let input: Vec<u32> = (0..128 * 128).map(|i| cell(i / 128, i % 128)).collect();
        let output = launch(&kernel(64, &body), &input).unwrap_or_else(|fault| panic!("{fault}"));
        let mut required = vec![7; 128 * 64];
        for thread in 0..128 {
            for register in 0..count as u32 {
                let (row, column) = shape.place(thread % 32, register);
                let lane = thread / 32 * 32 + row;
                required[(lane * 64 + column + 2) as usize] = cell(thread, register);
            }
        }
        for (lane, row) in required.chunks_exact(64).enumerate() {
            assert_eq!(output[128 * lane..][..64], *row, "{} lane {lane}", shape.name);
        }
    }
}

#[test]
fn a_register_may_stand_for_the_low_halves_of_two_columns() {
    for shape in SHAPES.iter().filter(|shape| shape.name != "16x32bx2") {
        let (count, _) = shape.registers(4);
        let list = registers(0, count);
        let body = format!(
            "{} {} tcgen05.ld.sync.aligned.{}.x4.pack::16b.b32 {list}, [%r5];
             tcgen05.wait::ld.sync.aligned; {}
             tcgen05.st.sync.aligned.{}.x4.unpack::16b.b32 [%r5+64], {list};
             tcgen05.wait::st.sync.aligned;
             tcgen05.ld.sync.aligned.32x32b.x4.b32 {}, [%r5+64]; tcgen05.wait::ld.sync.aligned;
             st.global.v4.b32 [%d0+256], {};",
            global(true, 128),
            whole(false, 128),
            shape.name,
            global(false, count),
            shape.name,
            registers(0, 4),
            registers(0, 4),
        );
        let input: Vec<u32> = (0..128 * 128).map(|i| cell(i / 128, i % 128)).collect();
        let output = launch(&kernel(128, &body), &input).unwrap_or_else(|fault| panic!("{fault}"));
        let low = |lane, column| cell(lane, column) & 0xFFFF;
        for thread in 0..128 {
            for register in 0..count as u32 {
                let (row, pair) = shape.place(thread % 32, register);
                let lane = thread / 32 * 32 + row;
                let required = low(lane, 2 * pair) | low(lane, 2 * pair + 1) << 16;
                let actual = output[(128 * thread + register) as usize];
                assert_eq!(actual, required, "{} {thread} {register}", shape.name);
            }
            // Behind `.unpack`, the same halves stand alone in their columns; the shapes of sixteen lanes leave the others.
            let rows = if shape.name == "32x32b" { 32 } else { 16 };
            for column in 0..4 {
                let actual = output[(128 * thread + 64 + column) as usize];
                let required = if thread % 32 < rows {
                    low(thread, column)
                } else {
                    cell(thread, 64 + column)
                };
                assert_eq!(actual, required, "{} {thread} {column}", shape.name);
            }
        }
    }
}

const LOAD: &str = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r5];";
const STORE: &str = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r0};";
const WAIT_LOAD: &str = "tcgen05.wait::ld.sync.aligned;";
const WAIT_STORE: &str = "tcgen05.wait::st.sync.aligned;";
const OUT: &str = "st.global.b32 [%d0], %v0;";

#[test]
fn registers_of_a_load_are_not_touched_before_the_wait() {
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{STORE} {WAIT_STORE} {LOAD} {OUT} {WAIT_LOAD}"),
        &format!("{STORE} {WAIT_STORE} {LOAD} {WAIT_LOAD} {OUT}"),
    );
    assert!(fault.detail.contains("`%v0` is written by a `tcgen05.ld` in flight"), "{fault}");
    assert!(fault.detail.contains("`tcgen05.wait::ld` is missing"), "{fault}");
}

#[test]
fn a_load_waits_for_the_store_before() {
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{STORE} {LOAD} {WAIT_LOAD} {WAIT_STORE} {OUT}"),
        &format!("{STORE} {WAIT_STORE} {LOAD} {WAIT_LOAD} {OUT}"),
    );
    assert!(
        fault.detail.contains("has still to write: its `tcgen05.wait::st` is missing"),
        "{fault}"
    );
    // A store behind a load of the same cells.
    let fault = twins(
        FaultKind::AsyncInFlight,
        &format!("{STORE} {WAIT_STORE} {LOAD} {STORE} {WAIT_LOAD} {WAIT_STORE}"),
        &format!("{STORE} {WAIT_STORE} {LOAD} {WAIT_LOAD} {STORE} {WAIT_STORE}"),
    );
    assert!(fault.detail.contains("`tcgen05.wait::ld` is missing"), "{fault}");
}

#[test]
fn columns_that_nobody_wrote_are_not_used() {
    let fault = twins(
        FaultKind::Uninitialised,
        &format!("{LOAD} {WAIT_LOAD} {OUT}"),
        &format!("{STORE} {WAIT_STORE} {LOAD} {WAIT_LOAD} {OUT}"),
    );
    assert!(fault.detail.contains("bytes never written were last loaded"), "{fault}");
}

#[test]
fn a_warp_reaches_its_own_quarter_of_the_lanes() {
    let fault = twins(
        FaultKind::TensorMemory,
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r0}; tcgen05.wait::st.sync.aligned;",
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r0}; tcgen05.wait::st.sync.aligned;",
    );
    // The warp that completes the barrier goes on first.
    assert_eq!(fault.warp, 3, "{fault}");
    assert!(fault.detail.contains("required lanes 96 to 127"), "{fault}");
    let upper = "add.u32 %r6, %r5, 0x80000; tcgen05.st.sync.aligned.16x64b.x1.b32 [%r6], {%r0}; tcgen05.wait::st.sync.aligned;";
    twins(FaultKind::Misaligned, upper, &upper.replace("0x80000", "0x100000"));
}

#[test]
fn columns_that_are_not_allocated_are_not_touched() {
    let fault = twins(
        FaultKind::OutOfBounds,
        "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r5+63], {%r0, %r0}; tcgen05.wait::st.sync.aligned;",
        "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r5+62], {%r0, %r0}; tcgen05.wait::st.sync.aligned;",
    );
    assert!(fault.detail.contains("column 64 is not allocated: the block holds 0..64"), "{fault}");
}

/// What a kernel does with columns that it has not allocated, or has given back: the same is right behind the allocation.
#[test]
fn nothing_is_touched_without_an_allocation() {
    let descriptor =
        "bfe.u32 %r6, %r3, 4, 14; cvt.u64.u32 %d2, %r6; add.u64 %d2, %d2, 0x401000080000;
        mad.lo.u32 %r6, %r0, 64, %r3; mov.b32 %v1, 0;
        st.shared.v4.b32 [%r6], {%v1,%v1,%v1,%v1}; st.shared.v4.b32 [%r6+16], {%v1,%v1,%v1,%v1};
        st.shared.v4.b32 [%r6+32], {%v1,%v1,%v1,%v1}; st.shared.v4.b32 [%r6+48], {%v1,%v1,%v1,%v1};
        fence.proxy.async.shared::cta; bar.sync 0;";
    let over = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2];
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra WAIT; bar.warp.sync -1;";
    for (touch, name) in [
        (format!("{STORE} {WAIT_STORE}"), "`tcgen05.st`"),
        (format!("{LOAD} {WAIT_LOAD}"), "`tcgen05.ld`"),
        (
            format!("{descriptor} @%p1 tcgen05.cp.cta_group::1.128x128b [%r4], %d2; {over}"),
            "the destination of `tcgen05.cp`",
        ),
        (
            format!(
                "{descriptor} mov.b32 %r7, 0x04020010;
                 @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r4], %d2, %d2, %r7, 0; {over}"
            ),
            "D of `tcgen05.mma`",
        ),
    ] {
        let run = |text: &str| launch(text, &vec![0; 128 * 128]);
        let right = kernel(64, &touch);
        run(&right).unwrap_or_else(|fault| panic!("the right kernel: {fault}"));
        let alloc = "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+32], 64;";
        let dealloc = "@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 64;";
        let never = right.replace(alloc, "@%p1 st.shared.b32 [%r2+32], 0;").replace(dealloc, "");
        let later = kernel(64, &format!("bar.sync 0; {dealloc} bar.sync 0; {touch}"));
        for wrong in [never, later] {
            let fault = run(&wrong).expect_err("the kernel is wrong");
            assert_eq!(fault.kind, FaultKind::OutOfBounds, "{fault}");
            assert!(fault.detail.starts_with(name), "{fault}");
            assert!(
                fault.detail.contains("column 0 is not allocated: the block holds no columns"),
                "{fault}"
            );
        }
    }
}

const ALLOC: &str = "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+36], 32;";
const DEALLOC: &str = "bar.sync 0; ld.shared.b32 %r7, [%r2+36];
    @%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 32;";

#[test]
fn columns_that_are_allocated_anew_are_not_written() {
    let store = |base: &str| {
        format!(
            "add.u32 %r8, {base}, %r5; sub.u32 %r8, %r8, %r4; bar.sync 0;
             tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {{%r0}}; {WAIT_STORE}"
        )
    };
    let load = format!(
        "bar.sync 0; ld.shared.b32 %r7, [%r2+36]; add.u32 %r8, %r7, %r5; sub.u32 %r8, %r8, %r4;
         tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%v0}}, [%r8]; {WAIT_LOAD} {OUT} {DEALLOC}"
    );
    let first = format!("{ALLOC} bar.sync 0; ld.shared.b32 %r7, [%r2+36]; {}", store("%r7"));
    twins(
        FaultKind::Uninitialised,
        &format!("{first} {DEALLOC} bar.sync 0; {ALLOC} {load}"),
        &format!("{first} {load}"),
    );
}

#[test]
fn every_allocation_is_given_back_once() {
    let fault = twins(FaultKind::TensorMemory, ALLOC, &format!("{ALLOC} {DEALLOC}"));
    assert!(fault.detail.contains("still holds columns 64..96"), "{fault}");
    let again = "@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 32;";
    let fault = twins(
        FaultKind::TensorMemory,
        &format!("{ALLOC} {DEALLOC} {again}"),
        &format!("{ALLOC} {DEALLOC}"),
    );
    assert!(fault.detail.contains("columns 64..96, which is no allocation"), "{fault}");
    // Half of an allocation is none.
    let half = "@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 32;";
    let fault = twins(FaultKind::TensorMemory, half, "");
    assert!(fault.detail.contains("it holds 0..64"), "{fault}");
}

#[test]
fn an_allocation_asks_for_what_can_be_had() {
    let fault = twins(
        FaultKind::IllegalOperand,
        "mov.u32 %r6, 48; @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+36], %r6;",
        "",
    );
    assert!(
        fault.detail.contains("48 columns") && fault.detail.contains("power of two"),
        "{fault}"
    );
    let fault = twins(
        FaultKind::TensorMemory,
        "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+36], 128;",
        "",
    );
    assert!(fault.detail.contains("must not grow"), "{fault}");
    let relinquish = "@%p0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";
    let fault = twins(
        FaultKind::TensorMemory,
        &format!("{relinquish} {ALLOC} {DEALLOC}"),
        &format!("{ALLOC} {relinquish} {DEALLOC}"),
    );
    assert!(fault.detail.contains("relinquish_alloc_permit"), "{fault}");
}

#[test]
fn an_allocation_waits_for_room() {
    let most = "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+36], 512;";
    let fault = launch(&kernel(512, most), &vec![0; 128 * 128]).expect_err("the kernel is wrong");
    assert_eq!(fault.kind, FaultKind::Deadlock, "{fault}");
    assert!(
        fault.detail.contains("waits for 512 columns") && fault.detail.contains("holds 512 of 512"),
        "{fault}"
    );
    // Another warp makes room.
    let room = "setp.eq.u32 %p2, %r1, 1;
        @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+36], 512;
        @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 512;
        bar.sync 0; ld.shared.b32 %r4, [%r2+36];";
    launch(&kernel(512, room), &vec![0; 128 * 128]).unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn another_warp_of_the_same_lanes_synchronises_first() {
    // Warps 0 and 4 share the lanes, in a block of 160 threads.
    let text = |between: &str| {
        kernel(
            64,
            &format!(
                "setp.eq.u32 %p2, %r1, 4; mov.u32 %r8, %r4;
                 @%p0 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {{%r0}};
                 @%p0 tcgen05.wait::st.sync.aligned; {between}
                 @%p2 tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%v0}}, [%r8];
                 @%p2 tcgen05.wait::ld.sync.aligned;"
            ),
        )
        .replace(".reqntid 128", ".reqntid 160")
    };
    let run = |between: &str| {
        let program = Program::parse(&text(between)).expect("the text is PTX");
        let memory = DeviceMemory::new();
        let address = memory.allocate(160 * 512).expect("the test is small");
        let config = LaunchConfig::new([1, 1, 1], [160, 1, 1]);
        let address = address.to_le_bytes();
        program.launch(&memory, "k", &config, &address, &Options::default()).map_err(Box::new)
    };
    run("bar.sync 0;").unwrap_or_else(|fault| panic!("{fault}"));
    let fault = run("").expect_err("the kernel is wrong");
    assert_eq!(fault.kind, FaultKind::Race, "{fault}");
    assert!(
        fault.detail.contains("in PTX line") && fault.detail.contains("without a barrier"),
        "{fault}"
    );
}

#[test]
fn instructions_of_one_block_and_of_a_pair_do_not_mix() {
    let text = kernel(64, "@%p0 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    let error = Program::parse(&text).expect_err("the text is refused").to_string();
    assert!(error.contains("`.cta_group::1`") && error.contains("`.cta_group::2`"), "{error}");
}
