//! Copies to tensor memory: every byte that the rule of an instruction leads to is the one that the layouts have there.

use kernel_layout::forms::{nvmma_shared, row_major_shared, tensor_memory, tensor_memory_scales};
use kernel_layout::tensor_copy::{
    CopyRefusal, RowsHeld, TensorCopy, tensor_copy, unswizzled_source,
};
use kernel_layout::tile::{CopyShape, TileLayout};
use kernel_layout::{Dim, Layout};

/// The rows that an instruction reads (PTX ISA, "tcgen05.cp": .shape).
fn source_rows(shape: CopyShape) -> u32 {
    match shape {
        CopyShape::M128x256b | CopyShape::M128x128b => 128,
        CopyShape::M64x128bWarps02And13 | CopyShape::M64x128bWarps01And23 => 64,
        CopyShape::M32x128bWarps4 => 32,
        CopyShape::M4x256b => 4,
    }
}

/// The rows of tensor memory to which it writes one of them (PTX ISA, "tcgen05.cp": .multicast).
fn written_rows(shape: CopyShape, row: u32) -> Vec<u32> {
    match shape {
        CopyShape::M128x256b | CopyShape::M128x128b => vec![row],
        CopyShape::M64x128bWarps02And13 => vec![row, row + 64],
        CopyShape::M64x128bWarps01And23 => {
            let first = row % 32 + row / 32 * 64;
            vec![first, first + 32]
        }
        CopyShape::M32x128bWarps4 => vec![row, row + 32, row + 64, row + 96],
        CopyShape::M4x256b => vec![32 * row],
    }
}

/// The byte that a descriptor leads to for byte `byte` of row `row` (PTX ISA, "Shared memory descriptor", "Strides", K-major).
fn read_at(copy: &TensorCopy, start: u32, row: u32, byte: u32) -> u32 {
    let source = &copy.source;
    let rows = row / 8 * source.stride_bytes;
    if source.swizzle_bytes == 0 {
        return start + rows + row % 8 * 16 + byte / 16 * source.leading_bytes + byte % 16;
    }
    let plain = start + rows + row % 8 * source.swizzle_bytes + byte;
    let mask = (source.swizzle_bytes / 16 - 1) << 4;
    plain ^ (plain >> 3 & mask)
}

/// What each place along a dimension holds, the two coordinates in halves of a word.
fn elements(layout: &Layout, dim: Dim) -> Vec<u32> {
    let mut held = vec![0];
    for basis in layout.bases(dim) {
        let bit = basis[0] << 16 | basis[1];
        held.extend(held.clone().into_iter().map(|element| element ^ bit));
    }
    held
}

fn law_copies_write_what_the_layouts_say(
    shared: &Layout,
    memory: &Layout,
    held: RowsHeld,
    bytes: u32,
) -> Result<CopyShape, CopyRefusal> {
    let copy = tensor_copy(shared, memory, held, bytes)?;
    let stored = elements(shared, Dim::Offset);
    let (rows, columns) = (elements(memory, Dim::Row), elements(memory, Dim::Col));
    let mut written = vec![false; (memory.in_size(Dim::Row) * memory.in_size(Dim::Col)) as usize];
    for (column, start) in copy.instructions() {
        for row in 0..source_rows(copy.shape) {
            for byte in (0..copy.row_bytes).step_by(bytes as usize) {
                let from = read_at(&copy, start, row, byte);
                assert_eq!(from % bytes, 0);
                let element = stored[(from / bytes) as usize];
                for to in written_rows(copy.shape, row) {
                    let col = (4 * column + byte) / bytes;
                    let held = rows[to as usize] ^ columns[col as usize];
                    assert_eq!(held, element, "row {to}, column {col} of {memory} from {shared}");
                    let place = to * memory.in_size(Dim::Col) + col;
                    assert!(
                        !std::mem::replace(&mut written[place as usize], true),
                        "written twice"
                    );
                }
            }
        }
    }
    let columns = memory.in_size(Dim::Col) as usize;
    for (row, written) in written.chunks(columns).enumerate() {
        let holds = held == RowsHeld::All || row % 32 == 0;
        assert!(written.iter().all(|&one| one == holds), "row {row} of {memory}");
    }
    Ok(copy.shape)
}

/// Every configuration of the peer's test of copies of `f32` to blocks of tensor memory, those that it leaves out as
/// having no instruction included.
#[test]
fn law_copies_of_words_to_blocks() {
    let (mut copied, mut refused) = (0, 0);
    for block in (0..=8).map(|bit| 1 << bit) {
        for rows in [128, 256] {
            for columns in [16, 32, 64, 128, 256] {
                for swizzle in [32, 64, 128] {
                    if columns < block || rows * columns * 4 > 228 * 1024 || columns * 4 < swizzle {
                        continue;
                    }
                    let shared =
                        nvmma_shared(swizzle, 32, false, false, &[rows, columns]).expect("it fits");
                    let memory =
                        tensor_memory([128, block], 1, false, &[rows, columns]).expect("it fits");
                    let result =
                        law_copies_write_what_the_layouts_say(&shared, &memory, RowsHeld::All, 4);
                    if rows == 256 && swizzle / block >= 8 {
                        let (span_bytes, actual) = (swizzle, 4 * block);
                        assert_eq!(result, Err(CopyRefusal::Interrupted { span_bytes, actual }));
                        refused += 1;
                    } else {
                        assert_eq!(
                            result,
                            Ok(CopyShape::M128x256b),
                            "{rows}x{columns} in {block}, {swizzle}"
                        );
                        copied += 1;
                    }
                }
            }
        }
    }
    assert_eq!((copied, refused), (130, 43));
}

/// From notation of tiles, in every shape whose rows have no gap, with elements of 8, 16 and 32 bits.
#[test]
fn law_copies_to_several_warps() {
    for (lanes, copies, rows, shape) in [
        ("128:1", "", 128, CopyShape::M128x128b),
        ("64:1", "2 : 64 @ TLane", 64, CopyShape::M64x128bWarps02And13),
        ("2:64 32:1", "2 : 32 @ TLane", 64, CopyShape::M64x128bWarps01And23),
        ("32:1", "4 : 32 @ TLane", 32, CopyShape::M32x128bWarps4),
    ] {
        for bytes in [1, 2, 4] {
            for words in [4, 8, 16, 32] {
                let digits: Vec<(&str, &str)> = lanes
                    .split(' ')
                    .map(|digit| digit.split_once(':').expect("extent and stride"))
                    .collect();
                let extents: Vec<&str> = digits.iter().map(|digit| digit.0).collect();
                let strides: Vec<String> =
                    digits.iter().map(|digit| format!("{} @ TLane", digit.1)).collect();
                let columns = words * 4 / bytes;
                let mut text = format!(
                    "S[({}, {columns}) : ({}, 1 @ TCol)]",
                    extents.join(", "),
                    strides.join(", ")
                );
                if !copies.is_empty() {
                    text = format!("{text} + R[{copies}]");
                }
                let tile: TileLayout = text.parse().expect("it is notation");
                let memory = tile.to_linear(&[rows, columns]).expect("it is linear");
                let expected = if rows == 128 && words > 4 { CopyShape::M128x256b } else { shape };
                let shared = unswizzled_source(&memory, bytes).expect("there is one");
                let result =
                    law_copies_write_what_the_layouts_say(&shared, &memory, RowsHeld::All, bytes);
                assert_eq!(result, Ok(expected), "{text}");
                for swizzle in [32, 64, 128] {
                    if words * 4 < swizzle {
                        continue;
                    }
                    let shared = nvmma_shared(swizzle, 8 * bytes, false, false, &[rows, columns])
                        .expect("it fits");
                    let result = law_copies_write_what_the_layouts_say(
                        &shared,
                        &memory,
                        RowsHeld::All,
                        bytes,
                    );
                    assert_eq!(result, Ok(expected), "{text} by {swizzle}");
                }
            }
        }
    }
}

/// One row for each warp, in its first lane.
#[test]
fn law_copies_of_a_row_to_each_warp() {
    for bytes in [1, 2, 4] {
        for words in [8, 16, 64] {
            let columns = words * 4 / bytes;
            let text = format!("S[(4, {columns}) : (32 @ TLane, 1 @ TCol)]");
            let tile: TileLayout = text.parse().expect("it is notation");
            let filled = CopyShape::filled(&tile).expect("a row for each warp");
            let memory = filled.to_linear(&[4, columns]).expect("it is linear");
            let shared = unswizzled_source(&memory, bytes).expect("there is one");
            let copied = law_copies_write_what_the_layouts_say(
                &shared,
                &memory,
                RowsHeld::FirstOfWarps,
                bytes,
            );
            assert_eq!(copied, Ok(CopyShape::M4x256b), "{text}");
            let actual = (0..5).collect();
            let refusal = CopyRefusal::Copies { actual };
            assert_eq!(tensor_copy(&shared, &memory, RowsHeld::All, bytes), Err(refusal));
        }
    }
}

#[test]
fn law_copies_of_scales() {
    for shape in [[32, 16], [32, 4], [64, 4], [128, 4], [128, 8], [256, 4], [256, 16]] {
        let memory = tensor_memory_scales(&shape).expect("scales fit");
        let Some(shared) = unswizzled_source(&memory, 1) else {
            // Blocks of 128 rows fill the words.
            assert!(shape[0] < 128, "{shape:?}");
            continue;
        };
        let result = law_copies_write_what_the_layouts_say(&shared, &memory, RowsHeld::All, 1);
        assert_eq!(result, Ok(CopyShape::M32x128bWarps4), "{shape:?}");
    }
}

#[test]
fn refusals_say_what_is_in_the_way() {
    let block =
        |shape: [u32; 2]| tensor_memory([128, shape[1]], 1, false, &shape).expect("it fits");
    let swizzled = |shape: [u32; 2]| nvmma_shared(64, 32, false, false, &shape).expect("it fits");
    let tile = |text: &str, shape: [u32; 2]| {
        text.parse::<TileLayout>().expect("it is notation").to_linear(&shape).expect("it is linear")
    };
    // Rows that follow one another by 256 bytes, without a swizzle.
    let plain = row_major_shared(&[128, 64]).expect("it fits");
    assert_eq!(tensor_copy(&plain, &block([128, 64]), RowsHeld::All, 4), Err(CopyRefusal::Source));
    // The other way round.
    let turned = nvmma_shared(64, 32, true, false, &[128, 64]).expect("it fits");
    assert_eq!(tensor_copy(&turned, &block([128, 64]), RowsHeld::All, 4), Err(CopyRefusal::Source));
    // 64 rows: every other 16 rows of memory hold copies.
    let half = tensor_memory([64, 64], 1, false, &[64, 64]).expect("it fits");
    let refusal = CopyRefusal::Copies { actual: vec![4] };
    assert_eq!(tensor_copy(&swizzled([64, 64]), &half, RowsHeld::All, 4), Err(refusal));
    // Two blocks of 64 rows fill memory, but its rows of 16 to 31 are those of the second.
    let blocks = tensor_memory([64, 64], 1, false, &[128, 64]).expect("it fits");
    assert_eq!(
        tensor_copy(&swizzled([128, 64]), &blocks, RowsHeld::All, 4),
        Err(CopyRefusal::Source)
    );
    // No copies for the warps beyond the first.
    let once = tile("S[(32, 16) : (1 @ TLane, 1 @ TCol)]", [32, 16]);
    let rows = CopyRefusal::Rows { actual: 32, required: 128 };
    assert_eq!(tensor_copy(&swizzled([32, 16]), &once, RowsHeld::All, 4), Err(rows));
    let sixteen = tile("S[(16, 16) : (1 @ TLane, 1 @ TCol)] + R[8 : 16 @ TLane]", [16, 16]);
    let refusal = CopyRefusal::Copies { actual: vec![4, 5, 6] };
    assert_eq!(tensor_copy(&swizzled([16, 16]), &sixteen, RowsHeld::All, 4), Err(refusal));
    // Elements of 16 bits with a column each.
    let spaced = tensor_memory([128, 64], 2, false, &[128, 64]).expect("it fits");
    let halves = nvmma_shared(64, 16, false, false, &[128, 64]).expect("it fits");
    assert_eq!(tensor_copy(&halves, &spaced, RowsHeld::All, 2), Err(CopyRefusal::Gaps));
    let narrow = tile("S[(128, 2) : (1 @ TLane, 1 @ TCol)]", [128, 2]);
    let plain = row_major_shared(&[128, 2]).expect("it fits");
    let refusal = CopyRefusal::RowBits { actual: 64, required: 128 };
    assert_eq!(tensor_copy(&plain, &narrow, RowsHeld::All, 4), Err(refusal));
    // A row for each warp has 32 bytes at least.
    let narrow = tile("S[(4, 4) : (32 @ TLane, 1 @ TCol)] + R[32 : 1 @ TLane]", [4, 4]);
    let plain = row_major_shared(&[4, 4]).expect("it fits");
    let refusal = CopyRefusal::RowBits { actual: 128, required: 256 };
    assert_eq!(tensor_copy(&plain, &narrow, RowsHeld::FirstOfWarps, 4), Err(refusal));
}
