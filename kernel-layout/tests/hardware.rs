//! Fragments and swizzles against the per-lane and per-byte formulas of the PTX manual.

use kernel_layout::forms::{
    TmemAtom, TmemColumns, blocked, matrix_fragment, mma_v2_accumulator, mma_v2_operand,
    nvmma_shared, swizzled_shared, tensor_memory, tensor_memory_moves, tensor_memory_registers,
    wgmma_accumulator, wgmma_operand,
};
use kernel_layout::{Dim, Layout};

fn at(layout: &Layout, register: u32, lane: u32, warp: u32) -> Vec<u32> {
    layout.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)])
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": `c0..c3`.
#[test]
fn accumulator_of_mma() {
    let layout = mma_v2_accumulator([1, 1], &[16, 8]).expect("one instruction");
    for lane in 0..32 {
        let (group, t) = (lane >> 2, lane & 3);
        for i in 0..4 {
            let row = if i < 2 { group } else { group + 8 };
            assert_eq!(at(&layout, i, lane, 0), [row, t * 2 + (i & 1)], "c{i} of lane {lane}");
        }
    }
}

/// PTX ISA, "Matrix Fragments for mma": with `e` elements in a 32-bit register, register `r` of A is row `g` (even `r`)
/// or `g + 8`, and starts at `k = e·t`, or `e·t + 4e` from the third on; B has two registers, of column `g`.
#[test]
fn operands_of_mma() {
    for elements in [1, 2, 4] {
        let a = mma_v2_operand(0, [1, 1], elements, &[16, 8 * elements]).expect("one instruction");
        let b = mma_v2_operand(1, [1, 1], elements, &[8 * elements, 8]).expect("one instruction");
        for lane in 0..32 {
            let (group, t) = (lane >> 2, lane & 3);
            for i in 0..4 * elements {
                let (register, element) = (i / elements, i % elements);
                let row = if register % 2 == 0 { group } else { group + 8 };
                let k = elements * t + element + if register < 2 { 0 } else { 4 * elements };
                assert_eq!(
                    at(&a, i, lane, 0),
                    [row, k],
                    "A, {elements} elements, {i} of lane {lane}"
                );
            }
            for i in 0..2 * elements {
                let k = elements * t + i % elements + if i < elements { 0 } else { 4 * elements };
                assert_eq!(
                    at(&b, i, lane, 0),
                    [k, group],
                    "B, {elements} elements, {i} of lane {lane}"
                );
            }
        }
    }
}

/// PTX ISA, "Register Fragments for `wgmma.mma_async.m64nNk16`".
#[test]
fn fragments_of_wgmma() {
    for n in [8, 16, 32, 64, 128, 256] {
        let layout = wgmma_accumulator([4, 1], n, &[64, n]).expect("one instruction");
        assert_eq!(layout.in_size(Dim::Register), n / 2);
        for warp in 0..4 {
            for lane in 0..32 {
                for i in 0..n / 2 {
                    let row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
                    let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
                    assert_eq!(at(&layout, i, lane, warp), [row, column]);
                }
            }
        }
    }
    let a = wgmma_operand([4, 1], 2, &[64, 16]).expect("one instruction");
    for warp in 0..4 {
        for lane in 0..32 {
            for i in 0..8 {
                let row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
                let k = 2 * (lane % 4) + i % 2 + 8 * (i / 4);
                assert_eq!(at(&a, i, lane, warp), [row, k]);
            }
        }
    }
}

/// A warp holds the rows of A that its accumulator has, whatever columns the accumulator has.
#[test]
fn operand_rows_of_wgmma_are_the_accumulator_rows() {
    for warps in [[4, 1], [4, 2], [8, 1]] {
        let shape = [128, 128];
        let accumulator = wgmma_accumulator(warps, 64, &shape).expect("whole instructions");
        let a = wgmma_operand(warps, 2, &shape).expect("whole instructions");
        for warp in 0..warps[0] * warps[1] {
            assert_eq!(
                at(&a, 0, 0, warp)[0],
                at(&accumulator, 0, 0, warp)[0],
                "warp {warp} of {warps:?}"
            );
            assert_eq!(at(&a, 0, 0, warp)[1], 0);
        }
    }
}

/// PTX ISA, "ldmatrix": two elements of row `lane / 4`; with `.trans` the same of a column.
#[test]
fn fragments_of_ldmatrix() {
    for lane in 0..32 {
        for half in 0..2 {
            let (line, place) = (lane >> 2, 2 * (lane & 3) + half);
            assert_eq!(at(&matrix_fragment(1), half, lane, 0), [line, place]);
            assert_eq!(at(&matrix_fragment(0), half, lane, 0), [place, line]);
        }
    }
}

/// The byte at which TMA leaves an element: rows of `swizzle` bytes, then address bits exchanged.
/// PTX ISA, "Swizzling modes": the 16-byte chunk index is changed by address bits 7 and up.
fn swizzled_address(row: u32, byte: u32, swizzle: u32, rows: u32) -> u32 {
    let (column_of_atoms, inside) = (byte / swizzle, byte % swizzle);
    let linear = column_of_atoms * rows * swizzle + row * swizzle + inside;
    let mask = match swizzle {
        32 => 0x10,
        64 => 0x30,
        128 => 0x70,
        _ => unreachable!("there is no such swizzle"),
    };
    linear ^ linear >> 3 & mask
}

#[test]
fn swizzles_of_tma() {
    for bits in [8, 16, 32, 64] {
        let bytes = bits / 8;
        for swizzle in [32, 64, 128] {
            for (rows, atoms) in [(8, 1), (16, 1), (8, 2), (64, 2), (32, 4)] {
                let columns = atoms * swizzle / bytes;
                let layout = nvmma_shared(swizzle, bits, false, false, &[rows, columns])
                    .expect("whole atoms");
                let turned = nvmma_shared(swizzle, bits, true, false, &[columns, rows])
                    .expect("whole atoms");
                for offset in 0..rows * columns {
                    let element = layout.apply(&[(Dim::Offset, offset)]);
                    let address = swizzled_address(element[0], element[1] * bytes, swizzle, rows);
                    assert_eq!(
                        address,
                        offset * bytes,
                        "{bits} bits, {swizzle} bytes, element {element:?}"
                    );
                    assert_eq!(turned.apply(&[(Dim::Offset, offset)]), [element[1], element[0]]);
                }
            }
        }
    }
}

/// TMA pads packed 4-bit elements: every 8 bytes of them take up 16 bytes of shared memory.
#[test]
fn padding_of_packed_elements() {
    let layout = nvmma_shared(128, 8, false, true, &[16, 64]).expect("two atoms");
    for row in 0..16 {
        for column in 0..64 {
            let byte = column / 8 * 16 + column % 8;
            let address = swizzled_address(row, byte, 128, 16);
            for offset in [address, address + 8] {
                assert_eq!(layout.apply(&[(Dim::Offset, offset)]), [row, column]);
            }
        }
    }
    assert_eq!(layout.free_variable_mask(Dim::Offset), 8);
}

/// Boxes of TMA have at most 256 elements along an axis; a further box follows the whole one before it.
#[test]
fn tiles_of_several_boxes() {
    let layout = nvmma_shared(128, 8, false, false, &[512, 256]).expect("two by two boxes");
    let boxes = [[0, 0], [256, 0], [0, 128], [256, 128]];
    for (index, corner) in (0..).zip(boxes) {
        assert_eq!(layout.apply(&[(Dim::Offset, index * 256 * 128)]), corner);
    }
    let plain = nvmma_shared(0, 8, false, false, &[4, 512]).expect("two boxes");
    assert_eq!(plain.apply(&[(Dim::Offset, 255)]), [0, 255]);
    assert_eq!(plain.apply(&[(Dim::Offset, 256)]), [1, 0]);
    assert_eq!(plain.apply(&[(Dim::Offset, 4 * 256)]), [0, 256]);
}

/// The group of `vec` elements in which a phase-swizzled row stores each of its groups.
#[test]
fn swizzles_by_phases() {
    for (vec, per_phase, max_phase) in [(8, 1, 8), (8, 2, 4), (4, 4, 2), (1, 1, 16)] {
        let layout =
            swizzled_shared(vec, per_phase, max_phase, &[1, 0], &[32, 64]).expect("powers of two");
        for row in 0..32 {
            for column in 0..64 {
                let group = (column / vec) ^ (row / per_phase % max_phase);
                let offset = row * 64 + group * vec + column % vec;
                assert_eq!(layout.apply(&[(Dim::Offset, offset)]), [row, column]);
            }
        }
    }
}

/// PTX ISA, "Data path layouts": the row and column of tensor memory of an element of a product's result.
#[test]
fn blocks_of_tensor_memory_are_the_data_path_layouts() {
    let place = |layout: &Layout, row: u32, column: u32| {
        layout.apply(&[(Dim::Row, row), (Dim::Col, column)])
    };
    // Layout D, one CTA with M = 128; layout A is each CTA's half of M = 256.
    let d = tensor_memory([128, 32], 1, false, &[128, 32]).expect("one block");
    // Layout F, one CTA with M = 64: 16 rows in each warp's quarter.
    let f = tensor_memory([64, 32], 1, false, &[64, 32]).expect("one block");
    // Layout B, each CTA's half of M = 128: the right half of the columns in the lower half of the rows.
    let b = tensor_memory([64, 32], 1, true, &[64, 32]).expect("one block");
    for row in 0..128 {
        for column in 0..32 {
            assert_eq!(place(&d, row, column), [row, column]);
        }
    }
    for row in 0..64 {
        for column in 0..32 {
            assert_eq!(place(&f, 32 * (row / 16) + row % 16, column), [row, column]);
            assert_eq!(place(&b, row + 64 * (column / 16), column % 16), [row, column]);
        }
    }
    // 16 bits in words of their own: every second column is empty.
    let wide = tensor_memory([128, 32], 2, false, &[128, 32]).expect("one block");
    for column in 0..32 {
        assert_eq!(place(&wide, 5, 2 * column), [5, column]);
    }
    // Two buffers.
    let buffers = tensor_memory([128, 32], 1, false, &[2, 128, 32]).expect("two blocks");
    assert_eq!(place(&buffers, 3, 33), [1, 3, 1]);
}

/// PTX ISA, "tcgen05.ld": register `r` of lane `t` of warp `w`, for words of 32 bits. Atoms of 16 rows are loaded twice,
/// from rows 0 and 16 of the warp's quarter; the second load fills the upper half of the registers.
#[test]
fn loads_of_tensor_memory() {
    const COLUMNS: u32 = 32;
    let memory = tensor_memory([128, COLUMNS], 1, false, &[128, COLUMNS]).expect("one block");
    let narrow = tensor_memory([64, COLUMNS], 1, false, &[64, COLUMNS]).expect("one block");
    let place = |atom, register: u32, t: u32| match atom {
        TmemAtom::M32x32b => (t, register),
        TmemAtom::M16x64b => (t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * register),
        TmemAtom::M16x128b => (t / 4 + 8 * (register % 2), t % 4 + 4 * (register / 2)),
        TmemAtom::M16x256b => {
            (t / 4 + 8 * (register / 2 % 2), register % 2 + 2 * (t % 4) + 8 * (register / 4))
        }
        TmemAtom::M16x32bx2 => (t % 16, register + COLUMNS / 2 * (t / 16)),
    };
    for atom in TmemAtom::ALL {
        let gap = atom == TmemAtom::M16x32bx2;
        let (from, rows) = if gap { (&narrow, 16) } else { (&memory, 32) };
        let load = tensor_memory_registers(from, atom, TmemColumns::Whole, 4, 32);
        let load = load.expect("four warps");
        let registers = load.in_size(Dim::Register);
        assert_eq!(registers, rows * COLUMNS / 32, "{atom}");
        let halves = if matches!(atom, TmemAtom::M32x32b | TmemAtom::M16x32bx2) { 1 } else { 2 };
        for (warp, lane) in (0..4).flat_map(|warp| (0..32).map(move |lane| (warp, lane))) {
            for register in 0..registers {
                let (half, within) =
                    (register / (registers / halves), register % (registers / halves));
                let (row, column) = place(atom, within, lane);
                let required = [rows * warp + 16 * half + row, column];
                assert_eq!(at(&load, register, lane, warp), required, "{atom} {register}:{lane}");
            }
        }
    }
    // In blocks of 64 rows an atom of 16 rows is loaded once.
    let load = tensor_memory_registers(&narrow, TmemAtom::M16x256b, TmemColumns::Whole, 4, 32);
    assert_eq!(load.expect("four warps").in_size(Dim::Register), 16);
}

/// PTX ISA, "tcgen05.ld": the words that the instructions of a tile move are those that its layout of registers has there.
#[test]
fn moves_of_tensor_memory() {
    const COLUMNS: u32 = 32;
    // Of `.x1`: the row and the column of a register of a lane, and how many registers there are.
    let place = |atom, register: u32, t: u32, halves: u32| match atom {
        TmemAtom::M32x32b => (t, 0),
        TmemAtom::M16x64b => (t / 4 + 8 * (t % 2), t / 2 % 2),
        TmemAtom::M16x128b => (t / 4 + 8 * register, t % 4),
        TmemAtom::M16x256b => (t / 4 + 8 * (register / 2), register % 2 + 2 * (t % 4)),
        TmemAtom::M16x32bx2 => (t % 16, halves * (t / 16)),
    };
    let registers = |atom| match atom {
        TmemAtom::M32x32b | TmemAtom::M16x64b | TmemAtom::M16x32bx2 => 1,
        TmemAtom::M16x128b => 2,
        TmemAtom::M16x256b => 4,
    };
    for (atom, bits, stride, warps) in [
        (TmemAtom::M32x32b, 32, 1, 4),
        (TmemAtom::M16x64b, 32, 1, 8),
        (TmemAtom::M16x128b, 16, 1, 4),
        (TmemAtom::M16x256b, 16, 2, 8),
        (TmemAtom::M16x256b, 8, 1, 16),
        (TmemAtom::M16x32bx2, 32, 1, 4),
        (TmemAtom::M16x32bx2, 8, 1, 8),
    ] {
        let rows = if atom == TmemAtom::M16x32bx2 { 64 } else { 128 };
        let columns = COLUMNS * 32 / bits / stride;
        let memory =
            tensor_memory([rows, columns], stride, false, &[rows, columns]).expect("one block");
        let load = tensor_memory_registers(&memory, atom, TmemColumns::Whole, warps, bits);
        let load = load.expect("a load of whole columns");
        let moves = tensor_memory_moves(&memory, &load, bits).expect("the load is one");
        assert_eq!(moves.atom, atom);
        let halves = moves.halves.unwrap_or(0);
        let mut moved = 0;
        for unit in &moves.units {
            assert_eq!(unit.words.len(), registers(atom), "{atom}");
            for (word, held) in (0..).zip(&unit.words) {
                moved += held.len();
                for (warp, lane) in
                    (0..warps).flat_map(|warp| (0..32).map(move |lane| (warp, lane)))
                {
                    let (mut row, mut column) = place(atom, word, lane, halves);
                    (row, column) = (row + unit.row, column + unit.column);
                    for (bit, [down, right]) in moves.warps.iter().enumerate() {
                        (row, column) =
                            (row + down * (warp >> bit & 1), column + right * (warp >> bit & 1));
                    }
                    assert_eq!(row / 32, warp % 4, "{atom}: a warp has one quarter");
                    for (element, &register) in (0..).zip(held) {
                        let place = [(Dim::Row, row), (Dim::Col, column * 32 / bits + element)];
                        let required = memory.apply(&place);
                        assert_eq!(
                            at(&load, register, lane, warp),
                            required,
                            "{atom} of {bits} bits"
                        );
                    }
                }
            }
        }
        assert_eq!(moved, load.in_size(Dim::Register) as usize, "{atom}: every register once");
    }
}

/// A register is a word, of whichever elements: of the metadata of sparse operands those of two rows.
#[test]
fn moves_of_words_of_several_rows() {
    let tile = kernel_layout::tile::sparse_metadata(128, 8, 16).expect("whole pairs");
    let memory = tile.to_linear(&[128, 8]).expect("powers of two");
    let load = tensor_memory_registers(&memory, TmemAtom::M32x32b, TmemColumns::Whole, 4, 16);
    let load = load.expect("four warps");
    let moves = tensor_memory_moves(&memory, &load, 16).expect("the load is one");
    let words: Vec<_> = moves.units.iter().map(|unit| (unit.column, &unit.words[0])).collect();
    assert_eq!(words, [(0, &vec![0, 1]), (1, &vec![2, 3]), (2, &vec![4, 5]), (3, &vec![6, 7])]);
    // Lane 13 of warp 2: rows 69 and 77, the second of two adjacent elements.
    for (register, required) in [(0, [69, 1]), (1, [77, 1]), (6, [69, 7]), (7, [77, 7])] {
        assert_eq!(at(&load, register, 13, 2), required);
    }
}

/// Registers that lie across the quarters of the warps, or repeat one another, are no instruction's.
#[test]
fn registers_that_no_move_of_tensor_memory_has() {
    let memory = tensor_memory([128, 32], 1, false, &[128, 32]).expect("one block");
    let rows = blocked(&[1, 32], &[32, 1], &[4, 1], &[1, 0], &[128, 32]).expect("rows");
    assert_eq!(
        tensor_memory_moves(&memory, &rows, 32).map(|moves| moves.atom),
        Some(TmemAtom::M32x32b)
    );
    for (per_thread, lanes, warps) in
        [([1, 4], [4, 8], [4, 1]), ([1, 32], [32, 1], [1, 4]), ([1, 16], [16, 2], [4, 1])]
    {
        let other = blocked(&per_thread, &lanes, &warps, &[1, 0], &[128, 32]).expect("blocked");
        assert_eq!(tensor_memory_moves(&memory, &other, 32), None, "{other}");
    }
    let fragment = wgmma_accumulator([4, 1], 32, &[128, 32]).expect("two blocks of rows");
    assert_eq!(tensor_memory_moves(&memory, &fragment, 32), None, "rows 16 to 31 of warp 1");
    // Of a block of 64 rows, lanes 16 to 31 of a load of 32 rows would have what is not the tile's.
    let narrow = tensor_memory([64, 32], 1, false, &[64, 32]).expect("one block");
    let ins = vec![
        (Dim::Register, (0..5).map(|bit| vec![0, 1 << bit]).collect()),
        (Dim::Lane, vec![vec![1, 0], vec![2, 0], vec![4, 0], vec![8, 0], vec![0, 0]]),
        (Dim::Warp, vec![vec![16, 0], vec![32, 0]]),
    ];
    let copied = Layout::new(ins, vec![(Dim::Axis(0), 64), (Dim::Axis(1), 32)]).expect("a layout");
    assert_eq!(tensor_memory_moves(&narrow, &copied, 32), None);
}

/// However many warps load a tensor, together they have all of it, and what they repeat they repeat whole.
#[test]
fn loads_by_any_number_of_warps_have_every_element() {
    for (block, shape) in [
        ([128, 64], [128, 64]),
        ([128, 8], [128, 8]),
        ([128, 16], [256, 64]),
        ([64, 32], [64, 32]),
        ([64, 32], [128, 64]),
    ] {
        let memory = tensor_memory(block, 1, false, &shape).expect("whole blocks");
        let holder = memory.pseudo_inverse().expect("all is stored");
        for atom in TmemAtom::ALL {
            for warps in [4, 8, 16, 32] {
                for bits in [8, 16, 32] {
                    let load =
                        tensor_memory_registers(&memory, atom, TmemColumns::Whole, warps, bits);
                    let Ok(load) = load else { continue };
                    assert!(load.is_surjective(), "{atom} {shape:?} {warps} warps {bits} bits");
                    for warp in 0..warps {
                        for lane in 0..32 {
                            let element = at(&load, 0, lane, warp);
                            let row = holder
                                .apply(&[(Dim::Axis(0), element[0]), (Dim::Axis(1), element[1])])
                                [0];
                            assert_eq!(row / 32, warp % 4, "{atom}: a warp has one quarter");
                        }
                    }
                }
            }
        }
    }
}

/// A thread with both halves of the columns: no value moves when the tensor is split along them.
#[test]
fn split_loads_keep_both_halves_in_a_thread() {
    for (block, shape, warps) in [([128, 256], [128, 256], 8), ([64, 64], [64, 64], 4)] {
        let memory = tensor_memory(block, 1, false, &shape).expect("one block");
        let load =
            tensor_memory_registers(&memory, TmemAtom::M32x32b, TmemColumns::Split, warps, 32);
        let load = load.expect("a split load");
        assert_eq!(load.bases(Dim::Register).last(), Some(&vec![0, shape[1] / 2]));
        assert!(load.is_bijective());
    }
}
