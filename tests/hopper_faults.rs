//! Kernels for Hopper that are wrong, each beside its twin that is right: what the emulator says of the first, and that it runs the second.
//!
//! A missing fence is none of them: the compiler puts fences where they are missing. What is said of a kernel without them, see
//! `kernel-testkit/tests/mutants.rs`. An argument says which twin it is: what a kernel's text proves wrong, the compiler refuses.

use kiln::prelude::*;

/// Launches the wrong twin and the right one, and gives what is said of the wrong one.
#[track_caller]
fn said(mut launch: impl FnMut(&Stream, Twin) -> Result<()>) -> String {
    let device = Device::emulator(Target::Sm90a).expect("the emulator is built in");
    let stream = device.stream().expect("the emulator has streams");
    launch(&stream, Twin::Right).expect("this twin is right");
    launch(&stream, Twin::Wrong).expect_err("this twin is wrong").to_string()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Twin {
    Wrong,
    Right,
}

/// Each of `parts` stands in the message, one after the other.
#[track_caller]
fn has(message: &str, parts: &[&str]) {
    let mut rest = message;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("required: {part}\nactual: {message}") };
        rest = &rest[at + part.len()..];
    }
}

/// The place in this file of a line with such a mark behind it, as messages have it.
#[track_caller]
fn at(mark: &str) -> String {
    let mark = format!("// [{mark}]");
    let lines = include_str!("hopper_faults.rs").lines();
    let line = lines.zip(1..).find_map(|(line, number)| line.ends_with(&mark).then_some(number));
    format!("tests/hopper_faults.rs:{}:", line.expect("a line has this mark"))
}

/// Whether there is a wait is known when the kernel runs: where no path has one the compiler refuses the kernel (K0417).
#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn reads_after_the_wait(
    #[block(64, 64)] x: TensorMap<f32, 2>,
    right: bool,
    out: TensorMut<f32, 2>,
) {
    let (tile, arrived) = (shared::<f32>([64, 64]), barrier(1));
    arrived.expect(x.block_bytes());
    tma::load(x, [0, 0], arrived, tile); // [copy without a wait]
    if right {
        arrived.wait(0);
    }
    out.tile([0, 0], [64, 64]).store(tile.load()); // [no wait before]
    arrived.wait(0);
}

#[test]
fn a_missing_wait() {
    let message = said(|stream, twin| {
        let x = stream.full([64, 64], 1.0f32)?;
        let mut out = stream.zeros([64, 64])?;
        let right = twin == Twin::Right;
        reads_after_the_wait(reads_after_the_wait::Args { x: &x, right, out: &mut out })
            .launch(stream)
    });
    has(
        &message,
        &[
            "use of a value that was never written",
            "last loaded from shared memory at ",
            &at("no wait before"),
            "an asynchronous copy that warp 0 issues at ",
            &at("copy without a wait"),
            "writes shared memory that this warp had read: is a wait for its mbarrier missing before the load",
        ],
    );
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn waits_for_the_first_phase(
    #[block(64, 64)] x: TensorMap<f32, 2>,
    right: bool,
    out: TensorMut<f32, 2>,
) {
    let (tile, arrived) = (shared::<f32>([64, 64]), barrier(1));
    arrived.expect(x.block_bytes());
    tma::load(x, [0, 0], arrived, tile); // [copy of the first phase]
    sync();
    arrived.wait(if right { 0 } else { 1 }); // [wait for no phase]
    out.tile([0, 0], [64, 64]).store(tile.load()); // [read before the first phase]
    arrived.wait(0);
}

#[test]
fn a_wait_for_the_phase_before_the_first() {
    let message = said(|stream, twin| {
        let x = stream.full([64, 64], 1.0f32)?;
        let mut out = stream.zeros([64, 64])?;
        let args =
            waits_for_the_first_phase::Args { x: &x, right: twin == Twin::Right, out: &mut out };
        waits_for_the_first_phase(args).launch(stream)
    });
    has(
        &message,
        &[
            "which an asynchronous copy has still to write; warp 0 issued it at ",
            &at("copy of the first phase"),
            "for phase parity 0; the last wait of this warp, at ",
            &at("wait for no phase"),
            "was for 1",
            &at("read before the first phase"),
        ],
    );
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn waits_for_the_phase(#[block(64, 64)] x: TensorMap<f32, 2>, right: bool, out: TensorMut<f32, 2>) {
    let (tile, arrived) = (shared::<f32>([64, 64]), barrier(1));
    for turn in 0..2 {
        arrived.expect(x.block_bytes());
        tma::load(x, [turn * 64, 0], arrived, tile); // [copy of the second phase]
        arrived.wait(if right { turn } else { 0 }); // [wait for the wrong phase]
        out.tile([turn * 64, 0], [64, 64]).store(tile.load()); // [read in the wrong phase]
        sync();
    }
}

#[test]
fn a_wait_for_the_wrong_phase() {
    let message = said(|stream, twin| {
        let x = stream.full([128, 64], 1.0f32)?;
        let mut out = stream.zeros([128, 64])?;
        let args = waits_for_the_phase::Args { x: &x, right: twin == Twin::Right, out: &mut out };
        waits_for_the_phase(args).launch(stream)
    });
    has(
        &message,
        &[
            "data race: an asynchronous copy of ",
            "to byte 0 of `tile`, which warp ",
            "read at ",
            &at("read in the wrong phase"),
            "without a barrier between",
            "had seen phase parity 0 of the copy's mbarrier end, and waited at ",
            &at("wait for the wrong phase"),
            "for that one again: for the wrong phase?",
            &at("copy of the second phase"),
        ],
    );
}

/// How many bytes are expected is known when the kernel runs: what the compiler knows it checks itself (K0411).
#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn expects(#[block(64, 64)] x: TensorMap<f32, 2>, bytes: i32, out: TensorMut<f32, 2>) {
    let (tile, arrived) = (shared::<f32>([64, 64]), barrier(1));
    arrived.expect(bytes);
    tma::load(x, [0, 0], arrived, tile); // [copied]
    arrived.wait(0); // [never over]
    out.tile([0, 0], [64, 64]).store(tile.load());
}

#[test]
fn a_wrong_number_of_bytes() {
    let expected = |wrong: i32| {
        said(|stream, twin| {
            let x = stream.full([64, 64], 1.0f32)?;
            let mut out = stream.zeros([64, 64])?;
            let bytes = if twin == Twin::Right { 64 * 64 * 4 } else { wrong };
            expects(expects::Args { x: &x, bytes, out: &mut out }).launch(stream)
        })
    };
    let few = "16384 bytes are on the way to `arrived`, ";
    has(&expected(8192), &[few, "whose phase waits for 8192: it does not complete", &at("copied")]);
    let many = "deadlock: waits for phase parity 0 of `arrived`: ";
    let arrived =
        "0 of 1 arrivals and 16384 bytes are missing: more are expected than the copies bring";
    has(&expected(32768), &[many, arrived, &at("never over")]);
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn expects_once(#[block(64, 64)] x: TensorMap<f32, 2>, right: bool, out: TensorMut<f32, 2>) {
    let (tile, arrived) = (shared::<f32>([64, 64]), barrier(1));
    if right {
        arrived.expect(x.block_bytes());
    }
    tma::load(x, [0, 0], arrived, tile);
    arrived.wait(0); // [nothing was expected]
    out.tile([0, 0], [64, 64]).store(tile.load());
}

#[test]
fn bytes_that_nobody_expects() {
    let message = said(|stream, twin| {
        let x = stream.full([64, 64], 1.0f32)?;
        let mut out = stream.zeros([64, 64])?;
        let right = twin == Twin::Right;
        expects_once(expects_once::Args { x: &x, right, out: &mut out }).launch(stream)
    });
    let missing = "1 of 1 arrivals are missing, and 16384 bytes have come that no arrival expects";
    has(&message, &["deadlock: waits for phase parity 0", missing, &at("nothing was expected")]);
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn overwrites_after_the_store(
    x: Tensor<f32, 2>,
    right: bool,
    #[block(64, 64)] out: TensorMapMut<f32, 2>,
) {
    let staged = shared::<f32>([64, 64]);
    for turn in 0..2 {
        if right {
            tma::store_wait(0);
        } else {
            sync();
        }
        staged.store(x.tile([turn * 64, 0], [64, 64]).load()); // [overwritten]
        tma::store(out, [turn * 64, 0], staged); // [store that reads later]
    }
    tma::store_wait(0);
}

#[test]
fn a_source_overwritten_before_the_store_has_read_it() {
    let message = said(|stream, twin| {
        let x = stream.full([128, 64], 1.0f32)?;
        let mut out = stream.zeros([128, 64])?;
        let right = twin == Twin::Right;
        overwrites_after_the_store(overwrites_after_the_store::Args { x: &x, right, out: &mut out })
            .launch(stream)
    });
    has(
        &message,
        &[
            "which an asynchronous operation has still to read",
            &at("store that reads later"),
            &at("overwritten"),
        ],
    );
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn ends_after_the_load(#[block(64, 64)] x: TensorMap<f32, 2>, right: bool) {
    let (tile, arrived) = (shared::<f32>([64, 64]), barrier(1));
    arrived.expect(x.block_bytes());
    tma::load(x, [0, 0], arrived, tile); // [load at the end]
    if right {
        arrived.wait(0);
    }
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn ends_after_the_store(#[block(64, 64)] out: TensorMapMut<f32, 2>, right: bool) {
    let staged = shared::<f32>([64, 64]);
    staged.store(full([64, 64], 1.0));
    tma::store(out, [0, 0], staged); // [store at the end]
    if right {
        tma::store_wait(0);
    }
}

#[test]
fn an_end_with_copies_in_flight() {
    let message = said(|stream, twin| {
        let x = stream.full([64, 64], 1.0f32)?;
        let right = twin == Twin::Right;
        ends_after_the_load(ends_after_the_load::Args { x: &x, right }).launch(stream)
    });
    let leaves = "the block leaves the kernel while an asynchronous copy has still to ";
    let load = at("load at the end");
    has(&message, &[leaves, "write its shared memory: nobody waited for `arrived`", &load]);
    let message = said(|stream, twin| {
        let mut out = stream.zeros([64, 64])?;
        let right = twin == Twin::Right;
        ends_after_the_store(ends_after_the_store::Args { out: &mut out, right }).launch(stream)
    });
    has(&message, &[leaves, "read its shared memory", &at("store at the end")]);
}

#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn refills_after_the_readers(
    #[block(64, 64)] x: TensorMap<f32, 2>,
    right: bool,
    out: TensorMut<f32, 2>,
) {
    let (tile, full, empty) = (shared::<f32>([64, 64]), barrier(1), barrier(1));
    warp_specialize(
        || {
            for turn in 0..2 {
                full.wait(turn);
                out.tile([turn * 64, 0], [64, 64]).store(tile.load());
                empty.arrive();
            }
        },
        [partition(1).run(|| {
            for turn in 0..2 {
                if right {
                    empty.wait(1 - turn);
                }
                full.expect(x.block_bytes()); // [expected twice]
                tma::load(x, [turn * 64, 0], full, tile);
            }
        })],
    );
}

#[test]
fn a_buffer_refilled_before_its_readers_are_done() {
    let message = said(|stream, twin| {
        let x = stream.full([128, 64], 1.0f32)?;
        let mut out = stream.zeros([128, 64])?;
        let right = twin == Twin::Right;
        refills_after_the_readers(refills_after_the_readers::Args { x: &x, right, out: &mut out })
            .launch(stream)
    });
    has(
        &message,
        &[
            "an arrival at an mbarrier whose phase has had all of its arrivals, and waits for the bytes of copies",
            "is a wait for its end missing before?",
            &at("expected twice"),
        ],
    );
}
