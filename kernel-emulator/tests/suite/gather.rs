//! Four rows of a tensor: `.tile::gather4` and `.tile::scatter4`, what lands where and what is refused.

use kernel_emulator::{Fault, FaultKind, Options, TensorMap};

use crate::harness::{Bench, one_block};
use crate::tma::{UNTOUCHED, dump, fill, kernel, params, pattern, plain, swizzled};

/// The tensor of these tests: 52 columns of `f16` in rows of 112 bytes, 20 rows.
const COLUMNS: i64 = 52;
const ROWS: i64 = 20;
const STRIDE: usize = 112;

fn map(swizzle: u32, columns: u32) -> TensorMap {
    TensorMap { swizzle, ..plain(0, &[52, 20], &[112], &[columns, 1]) }
}

/// From one row to the next in shared memory.
fn span(map: &TensorMap) -> usize {
    [map.box_dims[0] as usize * 2, 32, 64, 128][map.swizzle as usize]
}

fn list(coordinates: [i32; 5]) -> String {
    coordinates.map(|c| c.to_string()).join(", ")
}

/// Runs a kernel on one block of 32 threads over the tensor, filled with [`pattern`], and 4096 bytes of output.
fn run(body: &str, map: &TensorMap) -> Result<(Vec<u8>, Vec<u8>), Box<Fault>> {
    let bench = Bench::blackwell(&kernel(body));
    let bytes = STRIDE * ROWS as usize;
    let data = bench.upload(&(0..bytes).map(pattern).collect::<Vec<_>>());
    let to = bench.upload(&vec![0; 4096]);
    let params = params(&TensorMap { address: data, ..map.clone() }, &[to]);
    bench.try_launch(&one_block(32), &params, &Options::default()).map_err(Box::new)?;
    let read = |address, bytes| {
        let mut read = vec![0; bytes];
        bench.memory.read(address, &mut read).expect("it was written before the launch");
        read
    };
    Ok((read(data, bytes), read(to, 4096)))
}

/// What 1024 bytes of shared memory hold after four rows were gathered at byte `start`.
fn gathered(
    map: &TensorMap,
    at: [i32; 5],
    (start, expect): (usize, usize),
    form: &str,
) -> Result<Vec<u8>, Box<Fault>> {
    let untouched = i32::from_le_bytes([UNTOUCHED; 4]);
    let body = format!(
        ".shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 bar;
         {} setp.ne.u32 %p1, %r0, 0; @%p1 bra ISSUED;
         mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], {expect};
         cp.async.bulk.tensor.2d.{form} [tile+{start}], [%d0, {{{}}}], [bar];
         ISSUED: bar.sync 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
         {}",
        fill(256, &format!("mov.b32 %r1, {untouched};")),
        list(at),
        dump(256),
    );
    run(&body, map).map(|(_, out)| out[..1024].to_vec())
}

const OWN: &str = "shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes";
const CLUSTER: &str = "shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes";

/// The offsets in the tensor of the two bytes at a column and a row; none outside of it.
fn element(column: i64, row: i64) -> Option<usize> {
    let inside = (0..COLUMNS).contains(&column) && (0..ROWS).contains(&row);
    inside.then(|| row as usize * STRIDE + column as usize * 2)
}

/// Gathers and compares all of shared memory with what the manual's words give.
#[track_caller]
fn check_gather(map: &TensorMap, at: [i32; 5], start: usize, form: &str) {
    let columns = map.box_dims[0] as usize;
    let actual =
        gathered(map, at, (start, columns * 8), form).unwrap_or_else(|fault| panic!("{fault}"));
    let mut required = vec![UNTOUCHED; 1024];
    for (row, &source) in at[1..].iter().enumerate() {
        for column in 0..columns {
            let from = element(i64::from(at[0]) + column as i64, source.into());
            for byte in 0..2 {
                let to = swizzled(start + row * span(map) + column * 2 + byte, map.swizzle);
                required[to] = match (from, map.oob_fill) {
                    (Some(from), _) => pattern(from + byte),
                    (None, 0) => 0,
                    // As an H200 fills what lies outside.
                    (None, _) => [0xF7, 0x7F][byte],
                };
            }
        }
    }
    assert_eq!(actual, required, "{map:?} at {at:?}");
}

#[test]
fn four_rows_land_one_after_another_as_the_swizzle_says() {
    for (swizzle, columns) in [(0, 16), (0, 32), (1, 16), (2, 32), (3, 64), (3, 32)] {
        check_gather(&map(swizzle, columns), [8, 7, 0, 19, 3], 0, OWN);
        check_gather(&map(swizzle, columns), [0, 2, 2, 2, 1], 0, CLUSTER);
    }
    // By the address: the second four rows of eight in a swizzle of 128 bytes.
    check_gather(&map(3, 64), [0, 4, 5, 6, 18], 512, OWN);
    check_gather(&map(1, 16), [0, 4, 5, 6, 18], 128, OWN);
}

#[test]
fn rows_and_columns_outside_of_the_tensor_are_filled_and_counted() {
    let plain = map(1, 16);
    for at in [[0, -1, 3, 20, 5], [-8, 0, 1, 2, 3], [48, 19, 4, 4, -100], [56, 1, 2, 3, 4]] {
        check_gather(&plain, at, 0, OWN);
        check_gather(&TensorMap { oob_fill: 1, ..plain.clone() }, at, 0, OWN);
    }
    check_gather(&plain, [0, i32::MAX, i32::MIN, 21, -1], 0, OWN);
}

/// Scatters 4 rows of `map` from shared memory filled with words of 2654435761 times their index.
fn scattered(map: &TensorMap, issue: &str) -> Result<Vec<u8>, Box<Fault>> {
    let body = format!(
        ".shared .align 1024 .b8 tile[1024]; {}
         setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; {issue}
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:",
        fill(256, "mul.lo.u32 %r1, %r2, 2654435761;"),
    );
    run(&body, map).map(|(data, _)| data)
}

fn scatter(at: [i32; 5], from: &str) -> String {
    format!(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d0, {{{}}}], [{from}];",
        list(at)
    )
}

fn source_byte(at: usize) -> u8 {
    (at as u32 / 4).wrapping_mul(2_654_435_761).to_le_bytes()[at % 4]
}

#[test]
fn four_rows_are_written_and_those_behind_the_tensor_are_dropped() {
    for (swizzle, columns, at) in [
        (0, 16, [8, 7, 0, 19, 3]),
        (1, 16, [8, 7, 0, 19, 3]),
        (2, 32, [16, 20, 4, 1000, 5]),
        (3, 64, [0, 1, 2, 3, 4]),
        (3, 32, [48, 20, 20, i32::MAX, 6]),
    ] {
        // The hardware writes whole units of 16 bytes: these tensors end with one.
        let map = TensorMap { dims: vec![48, 20], ..map(swizzle, columns) };
        let actual =
            scattered(&map, &scatter(at, "tile")).unwrap_or_else(|fault| panic!("{fault}"));
        let mut required: Vec<u8> = (0..STRIDE * ROWS as usize).map(pattern).collect();
        for (row, &to) in at[1..].iter().enumerate() {
            for column in 0..columns as usize {
                let x = i64::from(at[0]) + column as i64;
                let Some(to) = element(x, to.into()).filter(|_| x < 48) else { continue };
                for byte in 0..2 {
                    let from = swizzled(row * span(&map) + column * 2 + byte, swizzle);
                    required[to + byte] = source_byte(from);
                }
            }
        }
        assert_eq!(actual, required, "{map:?} at {at:?}");
    }
}

#[test]
fn a_reduction_of_four_rows_adds_and_may_meet_itself() {
    let map = TensorMap { dtype: 2, ..plain(0, &[8, 20], &[112], &[8, 1]) };
    let issue = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group \
                 [%d0, {0, 3, 5, 3, 20}], [tile];";
    let actual = scattered(&map, issue).unwrap_or_else(|fault| panic!("{fault}"));
    let word = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    };
    let before: Vec<u8> = (0..STRIDE * ROWS as usize).map(pattern).collect();
    let source: Vec<u8> = (0..128).map(source_byte).collect();
    let mut required = before;
    for (row, to) in [(0, 3), (1, 5), (2, 3)] {
        for column in 0..8 {
            let at = to * STRIDE + column * 4;
            let sum = word(&required, at).wrapping_add(word(&source, row * 32 + column * 4));
            required[at..at + 4].copy_from_slice(&sum.to_le_bytes());
        }
    }
    assert_eq!(actual, required);
}

#[test]
fn a_prefetch_of_four_rows_moves_nothing_that_a_kernel_sees() {
    let prefetch = |at| {
        let at = list(at);
        format!("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%d0, {{{at}}}];")
    };
    let before: Vec<u8> = (0..STRIDE * ROWS as usize).map(pattern).collect();
    let after = scattered(&map(1, 16), &prefetch([0, -1, 3, 3, 99]));
    assert_eq!(after.unwrap_or_else(|fault| panic!("{fault}")), before);
    let refused = scattered(&map(1, 16), &prefetch([4, 0, 1, 2, 3])).expect_err("8 bytes");
    assert_eq!(refused.kind, FaultKind::IllegalOperand, "{refused}");
}

/// Asks for a fault of a kind whose words include `says`; the fixed twin runs.
#[track_caller]
fn refused<T>(
    wrong: Result<T, Box<Fault>>,
    twin: Result<T, Box<Fault>>,
    kind: FaultKind,
    says: &str,
) {
    if let Err(fault) = twin {
        panic!("the fixed twin: {fault}");
    }
    match wrong {
        Ok(_) => panic!("it runs, instead of: {says}"),
        Err(fault) => {
            assert_eq!(fault.kind, kind, "{fault}");
            assert!(fault.to_string().contains(says), "{fault}");
        }
    }
}

#[test]
fn a_column_that_is_no_multiple_of_16_bytes_is_refused() {
    let gather = |column| gathered(&map(1, 16), [column, 0, 1, 2, 3], (0, 128), OWN);
    refused(gather(2), gather(8), FaultKind::IllegalOperand, "a multiple of 16 bytes");
    refused(gather(-4), gather(-8), FaultKind::IllegalOperand, "a multiple of 16 bytes");
    let twin = TensorMap { dims: vec![48, 20], ..map(1, 16) };
    let write = |column| scattered(&twin, &scatter([column, 0, 1, 2, 3], "tile"));
    refused(write(20), write(24), FaultKind::IllegalOperand, "a multiple of 16 bytes");
}

#[test]
fn a_scatter_before_the_tensor_is_refused() {
    let map = TensorMap { dims: vec![48, 20], ..map(1, 16) };
    let write = |at| scattered(&map, &scatter(at, "tile"));
    let (kind, ok) = (FaultKind::IllegalOperand, [0, 4, 1, 2, 3]);
    refused(write([0, 4, -1, 2, 3]), write(ok), kind, "row -1");
    refused(write([-8, 4, 1, 2, 3]), write(ok), kind, "column -8");
}

#[test]
fn rows_that_two_writes_meet_in_are_a_race() {
    let map = TensorMap { dims: vec![48, 20], ..map(1, 16) };
    let write = |issue: &str| scattered(&map, issue);
    // In one instruction.
    refused(
        write(&scatter([0, 4, 1, 4, 3], "tile")),
        write(&scatter([0, 4, 1, 5, 3], "tile")),
        FaultKind::Race,
        "for another of its rows too",
    );
    // Two instructions under way, in one group or in two; other columns do not meet.
    let first = scatter([0, 4, 1, 5, 3], "tile");
    let again = scatter([8, 9, 10, 11, 3], "tile+128");
    let apart = scatter([16, 9, 10, 11, 3], "tile+128");
    let commit = "cp.async.bulk.commit_group;";
    for between in ["", commit, "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"] {
        refused(
            write(&format!("{first} {between} {again}")),
            write(&format!("{first} {between} {apart}")),
            FaultKind::Race,
            "which an asynchronous copy writes that was issued in PTX line",
        );
    }
    // After the wait for the first one the row is free; a wait that leaves it under way does not help.
    let waited = format!("{first} {commit} cp.async.bulk.wait_group 0; {again}");
    let left = format!("{first} {commit} cp.async.bulk.wait_group 1; {again}");
    refused(
        write(&left),
        write(&waited),
        FaultKind::Race,
        "which an asynchronous copy writes that was issued in PTX line",
    );
}

#[test]
fn a_map_that_does_not_describe_single_rows_is_refused() {
    let at = [0, 0, 1, 2, 3];
    let kind = FaultKind::IllegalOperand;
    let ok = || gathered(&map(1, 16), at, (0, 128), OWN);
    let tall = TensorMap { box_dims: vec![16, 4], ..map(1, 16) };
    refused(gathered(&tall, at, (0, 128), OWN), ok(), kind, "it needs a box of 1 row");
    let deep = plain(0, &[48, 5, 4], &[112, 560], &[16, 1, 1]);
    refused(gathered(&deep, at, (0, 128), OWN), ok(), kind, "a tensor map of 3 dimensions");
    // The destination is a multiple of 128 bytes, as that of every tensor copy.
    let off = gathered(&map(1, 16), at, (64, 128), OWN);
    refused(off, ok(), FaultKind::Misaligned, "not a multiple of 128");
}

#[test]
fn a_gather_that_nobody_expects_all_bytes_of_does_not_complete() {
    let at = [0, 0, 1, 2, 3];
    let wrong = gathered(&map(1, 16), at, (0, 256), OWN);
    refused(
        wrong,
        gathered(&map(1, 16), at, (0, 128), OWN),
        FaultKind::Deadlock,
        "128 bytes are missing",
    );
}
