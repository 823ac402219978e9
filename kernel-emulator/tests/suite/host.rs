//! Device memory and launches, seen from the host.

use kernel_emulator::{DeviceMemory, FaultKind, LaunchConfig, MemoryError, Options, Program};

use crate::harness::{Bench, HEAD, entry, one_block};

#[test]
fn bytes_that_nothing_wrote_cannot_be_read() {
    let memory = DeviceMemory::new();
    let a = memory.allocate(16).expect("small");
    assert_eq!(a % 256, 0);
    memory.write(a + 3, &[1, 2, 3]).expect("inside");
    let mut out = [0; 3];
    memory.read(a + 3, &mut out).expect("written");
    assert_eq!(out, [1, 2, 3]);
    let mut out = [9; 4];
    assert_eq!(memory.read(a + 2, &mut out), Err(MemoryError::NeverWritten { address: a + 2 }));
    memory.read_unchecked(a + 2, &mut out).expect("inside");
    assert_eq!(out, [0, 1, 2, 3]);
}

#[test]
fn bounds_and_lifetimes() {
    let memory = DeviceMemory::new();
    let (a, b) = (memory.allocate(8).expect("small"), memory.allocate(8).expect("small"));
    assert!(b - a >= 264, "allocations lie apart");
    let long = memory.write(a, &[0; 9]);
    assert_eq!(long, Err(MemoryError::OutOfBounds { address: a, bytes: 9, base: a, size: 8 }));
    assert_eq!(memory.write(a + 8, &[0]), Err(MemoryError::NotAllocated { address: a + 8 }));
    memory.free(a).expect("allocated");
    assert_eq!(memory.write(a, &[0]), Err(MemoryError::NotAllocated { address: a }));
    assert_eq!(memory.free(a), Err(MemoryError::NotAllocated { address: a }));
    assert_ne!(memory.allocate(8), Ok(a), "addresses are not given out twice");
    assert_eq!(memory.allocate_aligned(8, 24), Err(MemoryError::Alignment { align: 24 }));
    assert_eq!(memory.allocate_aligned(8, 4096).expect("small") % 4096, 0);
}

#[test]
fn copies_keep_what_is_not_written() {
    let memory = DeviceMemory::new();
    let (a, b) = (memory.allocate(16).expect("small"), memory.allocate(16).expect("small"));
    memory.fill(b, 7, 16).expect("inside");
    memory.write(a, &[1, 2, 3, 4]).expect("inside");
    memory.copy(a, b + 1, 8).expect("inside");
    let mut out = [0; 5];
    memory.read(b, &mut out).expect("written");
    assert_eq!(out, [7, 1, 2, 3, 4]);
    assert_eq!(memory.read(b, &mut [0; 6]), Err(MemoryError::NeverWritten { address: b + 5 }));
}

#[test]
fn impossible_launches_are_refused() {
    let bench = Bench::new(
        ".visible .entry k(.param .u64 p0) .reqntid 64
         { .shared .b8 tile[40000]; .reg .b32 %r; mov.u32 %r, tile; ret; }",
    );
    let refused = |config: LaunchConfig, params: &[u64], options: &Options| {
        let fault = bench.try_launch(&config, params, options).expect_err("impossible");
        assert_eq!(fault.kind, FaultKind::Launch);
        fault.detail
    };
    let default = Options::default();
    let good = one_block(64);
    assert!(bench.try_launch(&good, &[0], &default).is_ok());
    assert!(refused(one_block(32), &[0], &default).contains("requires [64, 1, 1]"));
    assert!(refused(good, &[], &default).contains("0 bytes, the entry has 8"));
    let big = LaunchConfig { dynamic_shared_bytes: 200_000, ..good };
    assert!(refused(big, &[0], &default).contains("240000 bytes of shared memory"));
    assert!(refused(LaunchConfig { grid: [0, 1, 1], ..good }, &[0], &default).contains("grid"));
    let cluster = LaunchConfig { cluster: [2, 1, 1], ..good };
    assert!(refused(cluster, &[0], &default).contains("no multiple"));
    let old = Options::default().with_target("sm_80");
    assert!(refused(good, &[0], &old).contains("does not run on sm_80"));
    let new = Options::default().with_target("sm_100a");
    assert!(bench.try_launch(&good, &[0], &new).is_ok());
    let params = 0_u64.to_le_bytes();
    let unknown = bench.program.launch(&bench.memory, "nothing", &good, &params, &default);
    assert_eq!(unknown.expect_err("no such entry").kind, FaultKind::Launch);
}

#[test]
fn text_that_is_not_ptx_is_refused_with_its_place() {
    let error = Program::parse(&format!("{HEAD}.visible .entry k() {{ frobnicate; }}"));
    let error = error.expect_err("no such opcode").to_string();
    assert!(error.contains("line 4"), "{error}");
}

#[test]
fn reports_count() {
    let bench = Bench::new(&entry(
        1,
        ".shared .b32 tile[1024]; .reg .b32 %r<4>; .reg .pred %p; mov.u32 %r0, %tid.x; mov.u32 %r2, tile;
         shl.b32 %r1, %r0, 7; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r0;
         setp.lt.u32 %p, %r0, 8; @%p ld.shared.u32 %r3, [%r1];",
    ));
    let report = bench.launch(&one_block(32), &[0]);
    // Eight instructions with `ret` and the end of the text, all lanes but 24 in the last load.
    assert_eq!(report.warp_instructions, 8);
    assert_eq!(report.lane_instructions, 7 * 32 + 8);
    // 32 words of one bank, then 8.
    assert_eq!(report.shared_bank_conflicts, 31 + 7);
}
