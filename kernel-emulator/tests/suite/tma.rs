//! Tensor copies in tiled mode: what lands where, element by element.

use kernel_emulator::{Fault, FaultKind, LaunchConfig, Options, TensorMap};

use crate::harness::{Bench, one_block};

/// The bytes that shared memory holds where nothing is to land.
pub(crate) const UNTOUCHED: u8 = 0xEE;

/// An f16 map without swizzle: the tests change what they are about.
pub(crate) fn plain(address: u64, dims: &[u64], strides: &[u64], boxes: &[u32]) -> TensorMap {
    TensorMap {
        dtype: 6,
        address,
        dims: dims.to_vec(),
        strides_bytes: strides.to_vec(),
        box_dims: boxes.to_vec(),
        element_strides: vec![1; dims.len()],
        interleave: 0,
        swizzle: 0,
        oob_fill: 0,
    }
}

/// Parameters of a kernel that takes a map and then 64-bit values.
pub(crate) fn params(map: &TensorMap, rest: &[u64]) -> Vec<u64> {
    let bytes = map.encode().unwrap_or_else(|error| panic!("{error}"));
    let words = bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight")));
    words.chain(rest.iter().copied()).collect()
}

/// A kernel with a map `map` and a pointer `p0`: `%d0` is the map's address, `%d1` the pointer.
pub(crate) fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p0) {{
         .reg .b64 %d<8>; .reg .b32 %r<24>; .reg .b16 %h<4>; .reg .pred %p<8>; .reg .f32 %f<4>;
         mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u64 %d1, [p0]; mov.u32 %r0, %tid.x;
         {body}
         ret; }}"
    )
}

/// PTX that lets 32 threads set the words of `tile` to `%r1`, which `each` computes from the word index `%r2`.
pub(crate) fn fill(words: usize, each: &str) -> String {
    format!(
        "mov.u32 %r2, %r0; FILL: setp.ge.u32 %p0, %r2, {words}; @%p0 bra FILLED;
         {each} mov.u32 %r3, tile; shl.b32 %r4, %r2, 2; add.u32 %r3, %r3, %r4;
         st.shared.b32 [%r3], %r1; add.u32 %r2, %r2, 32; bra FILL; FILLED:
         fence.proxy.async.shared::cta; bar.sync 0;"
    )
}

/// PTX that lets 32 threads copy `tile` to global memory at `%d1`.
pub(crate) fn dump(words: usize) -> String {
    format!(
        "bar.sync 0; mov.u32 %r2, %r0; DUMP: setp.ge.u32 %p0, %r2, {words}; @%p0 bra DUMPED;
         mov.u32 %r3, tile; shl.b32 %r4, %r2, 2; add.u32 %r3, %r3, %r4; ld.shared.b32 %r1, [%r3];
         mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d1, %d3; st.global.b32 [%d3], %r1;
         add.u32 %r2, %r2, 32; bra DUMP; DUMPED:"
    )
}

fn list(coordinates: &[i32]) -> String {
    coordinates.iter().map(i32::to_string).collect::<Vec<_>>().join(", ")
}

/// A byte of the data that tests start with.
pub(crate) fn pattern(i: usize) -> u8 {
    (i * 167 + i / 251 + 1) as u8
}

/// Runs a kernel of [`kernel`] on one block of 32 threads with `bytes` bytes of [`pattern`], at whose
/// address the map is made, and `out` bytes for `p0`, which start as zeros: what both hold afterwards.
fn run(
    body: &str,
    bytes: usize,
    map: impl Fn(u64) -> TensorMap,
    out: usize,
) -> Result<(Vec<u8>, Vec<u8>), Box<Fault>> {
    let bench = Bench::new(&kernel(body));
    let data = bench.upload(&(0..bytes).map(pattern).collect::<Vec<_>>());
    let to = bench.upload(&vec![0; out.max(1)]);
    let params = params(&map(data), &[to]);
    bench.try_launch(&one_block(32), &params, &Options::default()).map_err(Box::new)?;
    let read = |address, bytes| {
        let mut read = vec![0; bytes];
        bench.memory.read(address, &mut read).expect("it was written before the launch");
        read
    };
    Ok((read(data, bytes), read(to, out)))
}

/// A box in shared memory: how large the memory is, where in it the box starts, and the bytes that the
/// barrier expects.
#[derive(Clone, Copy)]
struct Image {
    bytes: usize,
    start: usize,
    expect: usize,
}

/// What shared memory holds after the box at coordinates was loaded.
fn loaded(
    data: usize,
    map: impl Fn(u64) -> TensorMap,
    coordinates: &[i32],
    image: Image,
) -> Result<Vec<u8>, Box<Fault>> {
    let Image { bytes, start, expect } = image;
    let untouched = i32::from_le_bytes([UNTOUCHED; 4]);
    let body = format!(
        ".shared .align 1024 .b8 tile[{bytes}]; .shared .align 8 .b64 bar;
         {} setp.ne.u32 %p1, %r0, 0; @%p1 bra ISSUED;
         mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
         mbarrier.arrive.expect_tx.shared.b64 _, [bar], {expect};
         cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
             [tile+{start}], [%d0, {{{}}}], [bar];
         ISSUED: bar.sync 0; WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
         {}",
        fill(bytes / 4, &format!("mov.b32 %r1, {untouched};")),
        coordinates.len(),
        list(coordinates),
        dump(bytes / 4),
    );
    run(&body, data, map, bytes).map(|(_, out)| out)
}

/// The manual's formulas: where in a tile of 16-byte units, from an aligned start, a byte lies.
pub(crate) fn swizzled(at: usize, mode: u32) -> usize {
    let (unit, line) = (at / 16, at / 128);
    let unit = match mode {
        1 => unit / 2 * 2 + (unit % 2 ^ line % 2),
        2 => unit / 4 * 4 + (unit % 4 ^ line % 4),
        3 => unit / 8 * 8 + (unit % 8 ^ line % 8),
        _ => unit,
    };
    unit * 16 + at % 16
}

/// The image that a load has to give, from the manual's words: the box is taken element by element, the innermost
/// dimension first.
fn required(map: &TensorMap, element: usize, coordinates: &[i32], image: Image) -> Vec<u8> {
    let mut out = vec![UNTOUCHED; image.bytes];
    let extents: Vec<usize> = (0..map.dims.len())
        .map(|i| {
            let step = if i == 0 { 1 } else { map.element_strides[i] };
            map.box_dims[i].div_ceil(step) as usize
        })
        .collect();
    let span = [extents[0] * element, 32, 64, 128][map.swizzle as usize];
    let count: usize = extents.iter().product();
    for index in 0..count {
        let (mut rest, mut inside) = (index, true);
        let mut from = 0;
        for (i, extent) in extents.iter().enumerate() {
            let k = (rest % extent) as i64;
            rest /= extent;
            let step = if i == 0 { 1 } else { i64::from(map.element_strides[i]) };
            let at = i64::from(coordinates[i]) + k * step;
            inside &= at >= 0 && at < map.dims[i] as i64;
            let stride = if i == 0 { element as i64 } else { map.strides_bytes[i - 1] as i64 };
            from += at * stride;
        }
        let (row, column) = (index / extents[0], index % extents[0]);
        for byte in 0..element {
            let at = image.start + row * span + column * element + byte;
            out[swizzled(at, map.swizzle)] = match (inside, map.oob_fill) {
                (true, _) => pattern(from as usize + byte),
                (false, 0) => 0,
                // As an H200 fills.
                (false, _) if at % 2 == 1 => 0x7F,
                (false, _) => 0xF7,
            };
        }
    }
    out
}

/// Loads a box and compares all of shared memory.
#[track_caller]
fn check(data: usize, element: usize, map: &TensorMap, coordinates: &[i32], image: Image) {
    let at = |address| TensorMap { address, ..map.clone() };
    let actual = loaded(data, at, coordinates, image).unwrap_or_else(|fault| panic!("{fault}"));
    let required = required(map, element, coordinates, image);
    if let Some(i) = (0..actual.len()).find(|&i| actual[i] != required[i]) {
        panic!(
            "{map:?} at {coordinates:?}: byte {i}: actual {:#x}, required {:#x}",
            actual[i], required[i]
        );
    }
}

/// Shared memory for a box that starts at its beginning, of rows that are `span` bytes apart.
fn whole(rows: usize, span: usize, row_bytes: usize) -> Image {
    Image { bytes: (rows * span).next_multiple_of(128), start: 0, expect: rows * row_bytes }
}

#[test]
fn a_box_lands_as_its_swizzle_says() {
    for (swizzle, span) in [(0, 128), (1, 32), (2, 64), (3, 128)] {
        // f16: 64 columns at most; the tensor has rows of 192 bytes.
        let columns = span as u32 / 2;
        let map = TensorMap { swizzle, ..plain(0, &[96, 40], &[192], &[columns, 32]) };
        check(192 * 40, 2, &map, &[8, 3], whole(32, span, span));
        // One byte an element.
        let bytes = TensorMap { dtype: 0, box_dims: vec![span as u32, 32], ..map.clone() };
        check(192 * 40, 1, &bytes, &[16, 3], whole(32, span, span));
        // Eight bytes an element.
        let wide =
            TensorMap { dtype: 4, box_dims: vec![span as u32 / 8, 32], dims: vec![24, 40], ..map };
        check(192 * 40, 8, &wide, &[2, 3], whole(32, span, span));
    }
}

#[test]
fn a_row_shorter_than_the_span_keeps_the_pitch_of_the_span_and_leaves_the_gap_alone() {
    for (swizzle, span, row_bytes) in
        [(3, 128, 64), (3, 128, 32), (3, 128, 16), (2, 64, 32), (2, 64, 16), (1, 32, 16)]
    {
        let map = TensorMap { swizzle, ..plain(0, &[96, 40], &[192], &[row_bytes as u32 / 2, 24]) };
        // The barrier expects the bytes of the box, not of the memory that it is spread over.
        check(192 * 40, 2, &map, &[8, 3], whole(24, span, row_bytes));
    }
}

#[test]
fn a_swizzle_goes_by_the_address_and_not_by_the_row() {
    for start in [128, 256, 384, 512, 640, 768, 896] {
        let map = TensorMap { swizzle: 3, ..plain(0, &[96, 40], &[192], &[64, 10]) };
        check(192 * 40, 2, &map, &[8, 3], Image { bytes: 10 * 128 + 1024, start, expect: 1280 });
    }
    let map = TensorMap { swizzle: 2, ..plain(0, &[96, 40], &[192], &[32, 10]) };
    check(192 * 40, 2, &map, &[8, 3], Image { bytes: 1024, start: 128, expect: 640 });
}

#[test]
fn what_lies_outside_is_filled_and_counted() {
    let map = plain(0, &[20, 10], &[48], &[16, 8]);
    for coordinates in [[-8, 2], [8, 2], [16, -3], [0, 6], [24, 0], [0, 100], [-160, -100]] {
        check(48 * 10, 2, &map, &coordinates, whole(8, 32, 32));
        let swizzled = TensorMap { swizzle: 3, ..map.clone() };
        check(48 * 10, 2, &swizzled, &coordinates, whole(8, 128, 32));
    }
    // NaN: every float type, also where a row ends inside 16 bytes.
    for (dtype, element, columns, dims) in
        [(6, 2, 16, 21), (9, 2, 16, 21), (7, 4, 8, 11), (8, 8, 4, 5)]
    {
        let map = TensorMap { dtype, oob_fill: 1, ..plain(0, &[dims, 10], &[48], &[columns, 8]) };
        let start = 16 / element as i32;
        check(48 * 10, element, &map, &[start, 5], whole(8, 32, 32));
        check(48 * 10, element, &map, &[-start, -2], whole(8, 32, 32));
    }
}

#[test]
fn tensors_of_one_to_five_dimensions() {
    let map = plain(0, &[100], &[], &[40]);
    check(200, 2, &map, &[16], whole(1, 80, 80));
    check(200, 2, &map, &[72], whole(1, 80, 80));
    let map = plain(0, &[16, 5, 4], &[32, 160], &[8, 3, 2]);
    check(640, 2, &map, &[8, 1, 1], whole(6, 16, 16));
    check(640, 2, &TensorMap { swizzle: 1, ..map }, &[0, 3, 3], whole(6, 32, 16));
    let map = plain(0, &[16, 3, 3, 4], &[32, 96, 288], &[16, 2, 2, 3]);
    check(1152, 2, &map, &[0, 1, 0, 1], whole(12, 32, 32));
    check(1152, 2, &map, &[0, -1, 2, 3], whole(12, 32, 32));
    let map = plain(0, &[8, 3, 2, 2, 3], &[16, 48, 96, 192], &[8, 2, 2, 2, 2]);
    check(576, 2, &map, &[0, 1, 0, 0, 1], whole(16, 16, 16));
    check(576, 2, &map, &[0, -1, 1, 1, 2], whole(16, 16, 16));
}

#[test]
fn strides_may_be_zero_smaller_than_a_row_or_of_elements() {
    // Every row is the same.
    check(256, 2, &plain(0, &[64, 8], &[0], &[32, 8]), &[8, 0], whole(8, 64, 64));
    // Rows overlap, as windows over a line do.
    check(512, 2, &plain(0, &[64, 8], &[16], &[32, 8]), &[8, 0], whole(8, 64, 64));
    // Every other row, and of seven rows every third; the innermost stride does not count.
    let map = plain(0, &[32, 20], &[64], &[16, 8]);
    let second = TensorMap { element_strides: vec![1, 2], ..map.clone() };
    check(1280, 2, &second, &[8, 5], whole(4, 32, 32));
    let third = TensorMap { box_dims: vec![16, 7], element_strides: vec![8, 3], ..map };
    check(1280, 2, &third, &[8, 5], whole(3, 32, 32));
    check(1280, 2, &third, &[8, 15], whole(3, 32, 32));
}

/// The body of a kernel that fills `image` bytes of shared memory with words of 2654435761 times the word
/// index, and lets one thread execute `issue`, commit and wait.
fn stored(image: usize, issue: &str) -> String {
    format!(
        ".shared .align 1024 .b8 tile[{image}]; {}
         setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; {issue}
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; DONE:",
        fill(image / 4, "mul.lo.u32 %r1, %r2, 2654435761;"),
    )
}

fn stored_byte(at: usize) -> u8 {
    (at as u32 / 4).wrapping_mul(2_654_435_761).to_le_bytes()[at % 4]
}

#[test]
fn a_stored_box_comes_from_where_a_load_would_put_it() {
    for (swizzle, columns, coordinates) in [
        (0, 16, [8, 2]),
        (1, 16, [8, 2]),
        (2, 32, [40, 3]),
        (3, 64, [8, 9]),
        (3, 32, [24, 12]),
        (3, 16, [40, 10]),
    ] {
        let map = TensorMap { swizzle, ..plain(0, &[48, 20], &[112], &[columns, 16]) };
        let row_bytes = columns as usize * 2;
        let span = [row_bytes, 32, 64, 128][swizzle as usize];
        let issue = format!(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0, {{{}}}], [tile];",
            list(&coordinates)
        );
        let at = |address| TensorMap { address, ..map.clone() };
        let (actual, _) = run(&stored(16 * span, &issue), 112 * 20, at, 0)
            .unwrap_or_else(|fault| panic!("{fault}"));
        let mut required: Vec<u8> = (0..112 * 20).map(pattern).collect();
        for row in 0..16 {
            for column in 0..columns as usize {
                let x = i64::from(coordinates[0]) + column as i64;
                let y = i64::from(coordinates[1]) + row as i64;
                if !(0..48).contains(&x) || !(0..20).contains(&y) {
                    continue;
                }
                for byte in 0..2 {
                    let from = swizzled(row * span + column * 2 + byte, swizzle);
                    required[(y * 112 + x * 2) as usize + byte] = stored_byte(from);
                }
            }
        }
        assert_eq!(actual, required, "{map:?} at {coordinates:?}");
    }
}

/// Reduces 4 rows of 32 bytes of the stored words into the tensor of [`pattern`] at column 0, row 1.
fn reduced(dtype: u32, columns: u32, op: &str) -> Result<Vec<u8>, Box<Fault>> {
    let map =
        |address| TensorMap { dtype, ..plain(address, &[columns.into(), 6], &[32], &[columns, 4]) };
    let issue = format!(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.tile.bulk_group [%d0, {{0, 1}}], [tile];"
    );
    run(&stored(128, &issue), 32 * 6, map, 0).map(|(data, _)| data)
}

#[track_caller]
fn check_reduction<const N: usize>(
    dtype: u32,
    op: &str,
    apply: impl Fn([u8; N], [u8; N]) -> [u8; N],
) {
    let actual = reduced(dtype, 32 / N as u32, op).unwrap_or_else(|fault| panic!("{fault}"));
    for (i, actual) in actual.chunks_exact(N).enumerate() {
        let old: [u8; N] = std::array::from_fn(|byte| pattern(i * N + byte));
        // The first row stays, the next four change.
        let required = match (i * N).checked_sub(32).filter(|at| *at < 128) {
            None => old,
            Some(at) => apply(old, std::array::from_fn(|byte| stored_byte(at + byte))),
        };
        assert_eq!(actual, required, "{op} of type {dtype}, element {i}");
    }
}

#[test]
fn reductions_of_integers_go_by_the_type_of_the_map() {
    let u32s = |f: fn(u32, u32) -> u32| {
        move |a, b| f(u32::from_le_bytes(a), u32::from_le_bytes(b)).to_le_bytes()
    };
    check_reduction(2, "add", u32s(u32::wrapping_add));
    check_reduction(2, "min", u32s(u32::min));
    check_reduction(2, "max", u32s(u32::max));
    check_reduction(2, "and", u32s(|a, b| a & b));
    check_reduction(2, "or", u32s(|a, b| a | b));
    check_reduction(2, "xor", u32s(|a, b| a ^ b));
    check_reduction(2, "inc", u32s(|a, b| if a >= b { 0 } else { a + 1 }));
    check_reduction(2, "dec", u32s(|a, b| if a == 0 || a > b { b } else { a - 1 }));
    check_reduction(3, "min", |a, b| {
        i32::from_le_bytes(a).min(i32::from_le_bytes(b)).to_le_bytes()
    });
    check_reduction(4, "add", |a, b| {
        u64::from_le_bytes(a).wrapping_add(u64::from_le_bytes(b)).to_le_bytes()
    });
    check_reduction(4, "max", |a, b| {
        u64::from_le_bytes(a).max(u64::from_le_bytes(b)).to_le_bytes()
    });
    check_reduction(5, "max", |a, b| {
        i64::from_le_bytes(a).max(i64::from_le_bytes(b)).to_le_bytes()
    });
}

#[test]
fn a_reduction_that_the_type_does_not_have_is_a_fault() {
    for (dtype, columns, op) in [
        (7, 8, "min"),
        (6, 16, "xor"),
        (3, 8, "inc"),
        (0, 32, "add"),
        // Signed 64 bits.
        (5, 4, "and"),
        (5, 4, "add"),
    ] {
        let fault = reduced(dtype, columns, op).expect_err("there is no such reduction");
        assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
    }
}

/// One load of a map at coordinates.
fn fault(map: impl Fn(u64) -> TensorMap, coordinates: &[i32], image: Image) -> Box<Fault> {
    loaded(4096, map, coordinates, image).expect_err("the copy is not possible")
}

#[test]
fn a_copy_that_hardware_refuses_is_a_fault() {
    let image = Image { bytes: 2048, start: 0, expect: 512 };
    let map = |address| plain(address, &[64, 16], &[128], &[32, 8]);
    assert!(loaded(4096, map, &[8, 1], image).is_ok());
    // The innermost coordinate.
    for x in [4, -3, 100] {
        let refused = fault(map, &[x, 0], image);
        assert_eq!(refused.kind, FaultKind::IllegalOperand, "{refused}");
        assert!(refused.detail.contains("a multiple of 16 bytes"), "{refused}");
    }
    // The destination.
    let refused = fault(map, &[0, 0], Image { start: 64, ..image });
    assert_eq!(refused.kind, FaultKind::Misaligned, "{refused}");
    let refused = fault(map, &[0, 0], Image { start: 1664, ..image });
    assert_eq!(refused.kind, FaultKind::OutOfBounds, "{refused}");
    // The tensor: its map says more than the allocation has.
    let long = |address| plain(address, &[64, 64], &[128], &[32, 8]);
    let refused = fault(long, &[0, 30], image);
    assert_eq!(refused.kind, FaultKind::OutOfBounds, "{refused}");
    // As many coordinates as dimensions.
    let refused = fault(map, &[0], image);
    assert!(refused.detail.contains("1 coordinates for a tensor map of 2"), "{refused}");
}

#[test]
fn a_store_that_begins_before_the_tensor_is_a_fault() {
    let map = |address| TensorMap { dtype: 2, ..plain(address, &[8, 6], &[32], &[8, 4]) };
    for (form, at) in [
        ("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", "{0, -1}"),
        ("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", "{0, -100}"),
        ("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group", "{-8, 0}"),
    ] {
        let issue = format!("{form} [%d0, {at}], [tile];");
        let refused = run(&stored(128, &issue), 32 * 6, map, 0).expect_err("it begins before");
        assert_eq!(refused.kind, FaultKind::IllegalOperand, "{refused}");
        assert!(refused.detail.contains("begins before the tensor"), "{refused}");
        let inside = issue.replace('-', "");
        assert!(run(&stored(128, &inside), 32 * 6, map, 0).is_ok(), "{inside}");
    }
}

#[test]
fn a_store_whose_rows_end_within_sixteen_bytes_is_a_fault() {
    let issue = |form: &str, x: u32| format!("{form} [%d0, {{{x}, 0}}], [tile];");
    let store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
    let reduce = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group";
    // Type, columns of the box, columns of the tensor, bytes behind the row that an H200 overwrites.
    for (dtype, columns, columns_inside, over) in
        [(0, 32, 31, 1), (0, 32, 17, 15), (6, 16, 13, 6), (7, 8, 7, 4)]
    {
        let map = |dims: u64| {
            move |address| TensorMap { dtype, ..plain(address, &[dims, 6], &[32], &[columns, 4]) }
        };
        let refused = run(&stored(128, &issue(store, 0)), 32 * 6, map(columns_inside), 0)
            .expect_err("the rows end within 16 bytes");
        assert_eq!(refused.kind, FaultKind::OutOfBounds, "{refused}");
        let says = format!("{over} bytes behind the row would be overwritten");
        assert!(refused.detail.contains(&says), "{refused}");
        // Rows of whole units, a box beside the tensor, and loads of the same map are carried out.
        assert!(run(&stored(128, &issue(store, 0)), 32 * 6, map(u64::from(columns)), 0).is_ok());
        assert!(run(&stored(128, &issue(store, columns)), 32 * 6, map(columns_inside), 0).is_ok());
        if dtype == 6 {
            assert!(run(&stored(128, &issue(reduce, 0)), 32 * 6, map(columns_inside), 0).is_ok());
        }
    }
}

#[test]
fn bytes_that_are_no_tensor_map_are_named() {
    let bench = Bench::new(&kernel(
        ".shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar;
         mbarrier.init.shared.b64 [bar], 1;
         cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0, {0}], [bar];",
    ));
    let fault = bench.try_launch(&one_block(1), &[1; 17], &Options::default());
    let fault = fault.expect_err("the parameter is all ones");
    assert_eq!(fault.kind, FaultKind::IllegalOperand);
    assert!(fault.detail.contains("are not a tensor map"), "{fault}");
}

#[test]
fn a_load_for_several_blocks_lands_in_each_at_the_same_place() {
    // Blocks 0 and 2 of four get a copy; all wait for their own barrier, which for 1 and 3 expects nothing.
    let bench = Bench::new(&kernel(
        ".shared .align 128 .b8 pad[128]; .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar;
         mov.u32 %r5, %cluster_ctarank; and.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, 0; selp.b32 %r7, 128, 0, %p1;
         setp.eq.u32 %p3, %r0, 0;
         @%p3 mbarrier.init.shared.b64 [bar], 1; @%p3 fence.mbarrier_init.release.cluster;
         @%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r7;
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
         setp.eq.u32 %p2, %r5, 2; and.pred %p2, %p2, %p3; mov.u16 %h0, 5;
         @%p2 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
             [tile], [%d0, {8}], [bar], %h0;
         WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
         mov.u32 %r8, %r5; @!%p1 bra STORE;
         mov.u32 %r3, tile; shl.b32 %r4, %r0, 2; add.u32 %r3, %r3, %r4; ld.shared.b32 %r8, [%r3];
         STORE: shl.b32 %r9, %r5, 5; add.u32 %r9, %r9, %r0; mul.wide.u32 %d2, %r9, 4; add.s64 %d2, %d1, %d2;
         st.global.b32 [%d2], %r8;
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
    ));
    let data = bench.upload_words(&(100..200).collect::<Vec<_>>());
    let map = TensorMap { dtype: 2, ..plain(data, &[100], &[], &[32]) };
    let to = bench.memory.allocate(512).expect("small");
    let config = LaunchConfig { cluster: [4, 1, 1], ..LaunchConfig::new([4, 1, 1], [32, 1, 1]) };
    bench.launch(&config, &params(&map, &[to]));
    let mut required = Vec::new();
    for rank in 0..4 {
        required.extend((0..32).map(|i| if rank % 2 == 0 { 108 + i } else { rank }));
    }
    assert_eq!(bench.words(to, 128), required);
}

#[test]
fn narrow_elements_get_sixteen_bytes_for_each_sixteen() {
    // Nibbles, and elements of six bits: rows of 256 elements, of which the box takes the second half.
    for (dtype, bits) in [(14, 4), (15, 6)] {
        let row = 256 * bits / 8;
        for swizzle in [0, 3] {
            let map = |address| TensorMap {
                dtype,
                swizzle,
                ..plain(address, &[256, 10], &[row as u64], &[128, 8])
            };
            let image = Image { bytes: 8 * 128, start: 0, expect: 8 * row / 2 };
            let actual = loaded(10 * row, map, &[128, 2], image).unwrap_or_else(|f| panic!("{f}"));
            let mut required = vec![UNTOUCHED; 8 * 128];
            for r in 0..8 {
                for unit in 0..8 {
                    let place = if swizzle == 0 { unit } else { unit ^ r };
                    for byte in 0..2 * bits {
                        required[128 * r + 16 * place + byte] =
                            pattern((r + 2) * row + row / 2 + 2 * bits * unit + byte);
                    }
                }
            }
            assert_eq!(actual, required, "type {dtype}, swizzle {swizzle}");
            // Boxes begin where rows of 128 elements do, not at any 16 bytes.
            let fault = loaded(10 * row, map, &[64, 2], image).expect_err("in the middle of a row");
            let bytes = 64 * bits / 8;
            let required = format!(
                "is 64, at {bytes} bytes; a tensor copy starts at a multiple of {} bytes",
                2 * bytes
            );
            assert!(fault.to_string().contains(&required), "{fault}");
        }
    }
    // Nibbles side by side.
    let map = |address| TensorMap { dtype: 13, ..plain(address, &[256, 10], &[128], &[64, 8]) };
    let image = Image { bytes: 8 * 32, start: 0, expect: 8 * 32 };
    let actual = loaded(10 * 128, map, &[32, 1], image).unwrap_or_else(|fault| panic!("{fault}"));
    let required = (0..8 * 32).map(|i| pattern((i / 32 + 1) * 128 + 16 + i % 32));
    assert_eq!(actual, required.collect::<Vec<u8>>());
}
