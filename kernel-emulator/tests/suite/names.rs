//! Reports about a text of which the emulator knows the source's names, and about the same text without them.

use kernel_emulator::{
    DeviceMemory, Fault, FaultKind, LaunchConfig, NamedMemory, NamedWarps, Names, Options, Program,
};

const HEAD: &str = ".version 8.7\n.target sm_90\n.address_size 64\n.file 1 \"src/kernel.rs\"
    .extern .shared .align 1024 .b8 smem[];
    .visible .entry k(.param .u32 p0) { .reg .b32 %r<8>; .reg .pred %p<6>;
    mov.u32 %r0, %tid.x; mov.u32 %r1, smem; ld.param.u32 %r2, [p0]; setp.eq.u32 %p0, %r0, 0;";

/// `tile` of 256 bytes, a ring of two tiles of 128, two barriers, and another one. Warps 2 and 3 are a partition.
fn names(checks: &[(u32, &str)]) -> Names {
    let memory = |name: &str, start, bytes, each_bytes, warps_an_arrival| NamedMemory {
        name: name.to_owned(),
        start,
        bytes,
        each_bytes,
        warps_an_arrival,
    };
    Names {
        memory: vec![
            memory("tile", 0, 256, None, None),
            memory("rows", 256, 256, Some(128), None),
            memory("full", 512, 16, Some(8), Some(1)),
            memory("ring.done", 528, 8, None, Some(4)),
        ],
        partitions: vec![NamedWarps { first: 2, warps: 2, line: 40, column: 10 }],
        checks: checks.iter().map(|(line, says)| (*line, (*says).to_owned())).collect(),
    }
}

/// The faults of a body: with the names, and without. The argument is what the entry gets.
fn faults(
    kind: FaultKind,
    threads: u32,
    body: &str,
    (names, argument): (Names, u32),
) -> [Fault; 2] {
    let program = Program::parse(&format!("{HEAD}\n{body}\nret; }}")).expect("it is PTX");
    let mut config = LaunchConfig::new([1; 3], [threads, 1, 1]);
    config.dynamic_shared_bytes = 1024;
    [program.clone().with_names(names), program].map(|program| {
        let params = argument.to_le_bytes();
        let (memory, options) = (DeviceMemory::new(), Options::default());
        let launched = program.launch(&memory, "k", &config, &params, &options);
        let fault = launched.expect_err("the kernel is wrong");
        assert_eq!(fault.kind, kind, "{fault}");
        fault
    })
}

/// Line of the text, from 1, on which the first line of a body stands.
fn first_line() -> u32 {
    u32::try_from(HEAD.lines().count()).expect("a few lines") + 1
}

#[test]
fn a_check_says_what_is_wrong_and_with_which_values() {
    let ring = "index {} is out of range: `full` has 4 barriers";
    let index = |index: u32| {
        let body = "setp.lt.u32 %p1, %r2, 4;\n@!%p1 trap;";
        let names = names(&[(first_line() + 1, ring)]);
        faults(FaultKind::Trap, 32, body, (names, index))
    };
    let [named, plain] = index(4);
    assert_eq!(named.detail, "index 4 is out of range: `full` has 4 barriers");
    assert_eq!(plain.detail, "the kernel executed `trap`");
    assert_eq!(index(u32::MAX)[0].detail, "index -1 is out of range: `full` has 4 barriers");
    // Only the trap of that line.
    let body = "setp.lt.u32 %p1, %r2, 4;\n@!%p1 trap;";
    let [other, _] = faults(FaultKind::Trap, 32, body, (names(&[(first_line(), ring)]), 4));
    assert_eq!(other.detail, "the kernel executed `trap`");
    // A condition has its own words: the values stand behind them.
    let condition = |body: &str, argument| {
        let names = names(&[(first_line() + 1, "`device_assert(n <= 3)` failed")]);
        let [named, _] = faults(FaultKind::Trap, 32, body, (names, argument));
        named.detail
    };
    let compared = "setp.le.s32 %p1, %r2, 3;\n@!%p1 trap;";
    assert_eq!(condition(compared, 4), "`device_assert(n <= 3)` failed: 4 <= 3 does not hold");
    let two = "setp.le.s32 %p1, %r2, 3; and.pred %p2, %p1, %p0;\n@!%p2 trap;";
    assert_eq!(condition(two, 4), "`device_assert(n <= 3)` failed");
    // Registers that have changed since show nothing.
    let later = "setp.le.s32 %p1, %r2, 3; mov.u32 %r2, 1;\n@!%p1 trap;";
    assert_eq!(condition(later, 4), "`device_assert(n <= 3)` failed");
    // What is asserted of a copy counts if the copy takes place.
    let slice = "begins at {}, before {}";
    let body = "setp.ne.u32 %p1, %r2, 7; not.pred %p1, %p1; setp.ge.s32 %p2, %r0, 40; or.pred %p3, %p1, %p2;\n@!%p3 trap;";
    let [named, _] = faults(FaultKind::Trap, 32, body, (names(&[(first_line() + 1, slice)]), 4));
    assert_eq!(named.detail, "begins at 0, before 40");
    // The first lane that fails, of the values of its own.
    let body = "setp.lt.u32 %p1, %r0, 5;\n@!%p1 trap;";
    let [named, _] = faults(FaultKind::Trap, 32, body, (names(&[(first_line() + 1, ring)]), 0));
    assert_eq!(
        (named.detail.as_str(), named.lane),
        ("index 5 is out of range: `full` has 4 barriers", Some(5))
    );
}

#[test]
fn a_deadlock_names_the_barrier_and_the_partitions() {
    let body = "@%p0 mbarrier.init.shared::cta.b64 [%r1+520], 1; bar.sync 0;
        setp.ge.u32 %p1, %r0, 64; @%p1 bra OTHERS;
        .loc 1 12 9
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+520], 0; @!%p2 bra WAIT; bra DONE;
        OTHERS:
        .loc 1 41 5
        DONE:";
    let [named, plain] = faults(FaultKind::Deadlock, 128, body, (names(&[]), 0));
    let missing = "1 of 1 arrivals are missing: nothing has come in this phase";
    assert_eq!(
        named.detail,
        format!(
            "waits for phase parity 0 of `full[1]`: {missing}; warp 1 waits there too; warps 2, 3 (the partition at src/kernel.rs:40:10) have ended"
        )
    );
    assert_eq!(
        plain.detail,
        format!(
            "waits for phase parity 0 of the mbarrier at shared address 0x608: {missing}; warp 1 waits there too; warps 2, 3 have ended"
        )
    );
}

#[test]
fn who_waits_elsewhere_in_a_deadlock_is_found_in_the_source() {
    let body = "@%p0 mbarrier.init.shared::cta.b64 [%r1+512], 1; @%p0 mbarrier.init.shared::cta.b64 [%r1+528], 8;
        bar.sync 0; setp.ge.u32 %p1, %r0, 64; @%p1 bra OTHERS;
        .loc 1 12 9
        A: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+512], 0; @!%p2 bra A; bra DONE;
        OTHERS:
        .loc 1 41 5
        B: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+528], 0; @!%p2 bra B;
        DONE:";
    let [named, plain] = faults(FaultKind::Deadlock, 128, body, (names(&[]), 0));
    let partition = "; warps 2, 3 (the partition at src/kernel.rs:40:10) at src/kernel.rs:41:5: waits for phase parity 0 of `ring.done`: 2 of 2";
    assert!(named.detail.contains(partition), "{named}");
    let line = first_line() + 6;
    let partition = format!(
        "; warps 2, 3 at PTX line {line}: waits for phase parity 0 of the mbarrier at shared address 0x610: 8 of 8"
    );
    assert!(plain.detail.contains(&partition), "{plain}");
}

#[test]
fn races_speak_of_the_memory_and_of_the_words_of_the_source() {
    // A row of the ring: written by each thread, read by its neighbour `apart` threads away.
    let body = |apart: u32| {
        format!(
            "shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r1; xor.b32 %r4, %r0, {apart}; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r1;
             .loc 1 7 5
             st.shared.u32 [%r3], %r0;
             .loc 1 8 9
             ld.shared.u32 %r5, [%r4];"
        )
    };
    let race =
        |threads: u32, apart: u32| faults(FaultKind::Race, threads, &body(apart), (names(&[]), 0));
    let line = first_line() + 2;
    let [named, plain] = race(32, 1);
    assert_eq!(
        named.detail,
        format!(
            "a load of 4 bytes at byte 4 of `tile`, which lane 1 of this warp wrote at src/kernel.rs:7:5 (PTX line {line}), and the two lanes have not met since: is a `sync()` missing between?"
        )
    );
    assert_eq!(
        plain.detail,
        format!(
            "a load of 4 bytes at shared address 0x404, which lane 1 of this warp wrote in PTX line {line} (src/kernel.rs:7:5), and the two lanes have not met since: is a `bar.warp.sync` missing between?"
        )
    );
    assert_eq!([named.missing, plain.missing], [Some("sync()"), Some("bar.warp.sync")]);
    // Between two warps of one part, and between two parts: bytes 256 to 511 are the ring.
    let [named, plain] = race(64, 32);
    assert!(
        named.detail.ends_with(", without a barrier between: is a `sync()` missing between?"),
        "{named}"
    );
    assert!(plain.detail.ends_with(", without a barrier between"), "{plain}");
    assert_eq!([named.missing, plain.missing], [Some("sync()"), Some("bar.sync")]);
    let [named, _] = race(128, 64);
    for part in [
        "a store of 4 bytes at byte 0 of `rows[0]`, which warp 0 read at src/kernel.rs:8:9",
        "the two run different partitions: is an `.arrive()` and a `.wait()` on a barrier missing",
    ] {
        assert!(named.detail.contains(part), "{part}: {named}");
    }
}
