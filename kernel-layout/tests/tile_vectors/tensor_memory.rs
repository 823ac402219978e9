//! Tensor memory: data paths, scale factors, fragments of loads, copies.

use kernel_layout::Dim;
use kernel_layout::forms::{
    TmemAtom, TmemColumns, tensor_memory, tensor_memory_registers, tensor_memory_scales,
};
use kernel_layout::tile::{
    CopyShape, DataPath, Iter, ProductForm, ScaleFactors, TileAxis, accumulator_data_path,
    data_path, fragment, operand_a, scale_factors, scale_factors_shared, sparse_metadata,
};

use super::{along, text, tile};

#[test]
fn s1_11_data_paths() {
    for (path, required) in [
        (DataPath::A, "S[(128, 32) : (1 @ TLane, 1 @ TCol)]"),
        (DataPath::D, "S[(128, 32) : (1 @ TLane, 1 @ TCol)]"),
        (DataPath::B, "S[(64, 2, 16) : (1 @ TLane, 64 @ TLane, 1 @ TCol)]"),
        (DataPath::E, "S[(64, 2, 16) : (1 @ TLane, 64 @ TLane, 1 @ TCol)]"),
        (DataPath::G, "S[(32, 4, 8) : (1 @ TLane, 32 @ TLane, 1 @ TCol)]"),
        (DataPath::C, "S[(4, 16, 32) : (32 @ TLane, 1 @ TLane, 1 @ TCol)]"),
        (DataPath::F, "S[(4, 16, 32) : (32 @ TLane, 1 @ TLane, 1 @ TCol)]"),
    ] {
        assert_eq!(text(&data_path(path, 32, 0).expect("a data path")), required);
    }
    for (slab, row, col) in
        (0..2).flat_map(|s| (0..64).flat_map(move |r| (0..8).map(move |c| (s, r, c))))
    {
        let f = data_path(DataPath::F, 8, slab).expect("a data path");
        let at = f.apply(&[64, 8], &[row, col]).expect("an element");
        let required = 32 * (row / 16) + 16 * slab + row % 16;
        assert_eq!(along(&at, TileAxis::TLane), required.cast_signed());
        let b = data_path(DataPath::B, 8, 0).expect("a data path");
        let at = b.apply(&[64, 8], &[row, col]).expect("an element");
        assert_eq!(along(&at, TileAxis::TLane), (row + 64 * (col / 4)).cast_signed());
        assert_eq!(along(&at, TileAxis::TCol), (col % 4).cast_signed());
    }
    let refused =
        |path, columns, slab| data_path(path, columns, slab).expect_err("no such path").to_string();
    assert_eq!(refused(DataPath::F, 8, 2), "sub_slab is 2, but must be one of [0, 1]");
    assert_eq!(
        refused(DataPath::D, 8, 1),
        "data path D requires sub_slab 0: it spans both already"
    );
    assert_eq!(refused(DataPath::B, 7, 0), "data path B requires an even number of columns");
}

#[test]
fn s1_11_data_paths_of_products() {
    let dense = |m, ctas| accumulator_data_path(ProductForm::Dense, m, ctas);
    assert_eq!(dense(128, 1), Ok(DataPath::D));
    assert_eq!(dense(64, 1), Ok(DataPath::F));
    assert_eq!(dense(256, 2), Ok(DataPath::A));
    assert_eq!(dense(128, 2), Ok(DataPath::B));
    assert!(dense(256, 1).is_err() && dense(128, 4).is_err());
    let stationary = |m, ctas| accumulator_data_path(ProductForm::WeightStationary, m, ctas);
    assert_eq!(stationary(64, 1), Ok(DataPath::E));
    for (m, ctas, required) in [
        (128, 1, "M of a weight-stationary product is 128, but must be one of [64]"),
        (64, 2, "the number of CTAs of a weight-stationary product is 2, but must be one of [1]"),
    ] {
        assert_eq!(stationary(m, ctas).expect_err("refused").to_string(), required);
    }
    let a = |path, shape: &[u64]| operand_a(path, shape).map(|layout| text(&layout));
    let twice = "S[(64, 16) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]";
    let batches = "S[(2, 64, 16) : (64 @ TLane, 1 @ TLane, 1 @ TCol)]";
    assert_eq!(a(DataPath::D, &[128, 16]).as_deref(), Ok("S[(128, 16) : (1 @ TLane, 1 @ TCol)]"));
    assert_eq!(a(DataPath::B, &[64, 16]).as_deref(), Ok(twice));
    assert_eq!(a(DataPath::B, &[2, 64, 16]).as_deref(), Ok(batches));
    assert_eq!(a(DataPath::E, &[2, 64, 16]).as_deref(), Ok(batches));
    assert_eq!(a(DataPath::F, &[64, 16]).as_deref(), Ok("S[(64, 16) : (1 @ TLane, 1 @ TCol)]"));
    assert!(a(DataPath::E, &[64, 16]).is_err() && a(DataPath::F, &[2, 64, 16]).is_err());
}

#[test]
fn s1_11_scale_factors() {
    let factors = |rows, columns, per_instruction| {
        let factors = ScaleFactors { rows, columns, per_instruction, reuse: 1, depth: 1 };
        text(&scale_factors(factors).expect("whole words"))
    };
    let copies = "R[4 : 32 @ TLane]";
    assert_eq!(factors(128, 1, 1), format!("S[(4, 32) : (4 @ TCol, 1 @ TLane)] + {copies}"));
    // Four instructions of one factor each share a word: the next factor is the next byte.
    assert_eq!(
        factors(128, 8, 1),
        format!("S[(4, 32, 2, 4) : (4 @ TCol, 1 @ TLane, 16 @ TCol, 1 @ TCol)] + {copies}")
    );
    // Two factors each: the second instruction's are two bytes further.
    assert_eq!(
        factors(64, 8, 2),
        format!("S[(2, 32, 2, 4) : (4 @ TCol, 1 @ TLane, 8 @ TCol, 1 @ TCol)] + {copies}")
    );
    assert_eq!(
        factors(128, 8, 4),
        format!("S[(4, 32, 2, 4) : (4 @ TCol, 1 @ TLane, 16 @ TCol, 1 @ TCol)] + {copies}")
    );
    let reused = ScaleFactors { rows: 128, columns: 4, per_instruction: 4, reuse: 2, depth: 3 };
    assert_eq!(
        text(&scale_factors(reused).expect("whole words")),
        format!(
            "S[(3, 4, 32, 4, 2) : (16 @ TCol, 4 @ TCol, 1 @ TLane, 1 @ TCol, 0 @ TCol)] + {copies}"
        )
    );
    // Buffers lie as far apart as all the words of one.
    let deep = ScaleFactors { rows: 128, columns: 16, per_instruction: 4, reuse: 1, depth: 2 };
    let shard = scale_factors(deep).expect("whole words").shard().to_vec();
    assert_eq!(shard[0], Iter::new(2, 64, TileAxis::TCol));
    // The same tile as by bases.
    for (rows, columns) in [(128, 4), (256, 8), (128, 16)] {
        let factors = ScaleFactors {
            rows: rows.into(),
            columns: columns.into(),
            per_instruction: 4,
            reuse: 1,
            depth: 1,
        };
        let linear = scale_factors(factors).and_then(|tile| tile.to_linear(&[rows, columns]));
        assert_eq!(linear, Ok(tensor_memory_scales(&[rows, columns]).expect("a tile of scales")));
    }
    // In shared memory: 512 bytes for 128 rows by 4 factors.
    assert_eq!(
        text(&scale_factors_shared(256, 8).expect("whole blocks")),
        "S[(2, 4, 32, 2, 4) : (1024, 4, 16, 512, 1)]"
    );
}

/// CUTLASS, `TensorEAtom` of `Sm1xxGemmSparseConfig`: rows of 16 bytes of metadata, one for each lane, two bits an element that is kept.
#[test]
fn metadata_lies_as_proven_kernels_have_it() {
    for (bits, rows, columns) in [(8, 128, 8), (16, 128, 8), (32, 256, 16), (16, 128, 4)] {
        let tile = sparse_metadata(rows.into(), columns.into(), bits).expect("whole pairs");
        let layout = tile.to_linear(&[rows, columns]).expect("powers of two");
        let mut seen = 0;
        for lane in 0..layout.in_size(Dim::Row) {
            for at in 0..layout.in_size(Dim::Col) {
                let [row, column]: [u32; 2] =
                    layout.apply(&[(Dim::Row, lane), (Dim::Col, at)]).try_into().expect("two axes");
                let (block, row) = (row / 128, row % 128);
                let (required, place) = if bits == 8 {
                    (row, column)
                } else {
                    // Strides of the atom in bytes: 16 for a row, 2 for eight rows, 256 for sixteen; 128 for the second two bytes, 4 for four.
                    let byte = row % 8 * 16 + row / 8 % 2 * 2 + row / 16 * 256;
                    let byte = byte + column % 2 * 128 + column / 2 % 4 * 4;
                    (byte / 16, byte % 16 / 2 + column / 8 * 8)
                };
                assert_eq!([lane, at], [required, place + block * columns], "{bits}");
                seen += 1;
            }
        }
        assert_eq!(seen, rows * columns);
    }
    for (rows, columns) in [(64, 4), (128, 2), (0, 4), (128, 6)] {
        assert!(sparse_metadata(rows, columns, 16).is_err());
    }
}

#[test]
fn s1_11_fragments_of_loads() {
    // Rows, columns and registers of every thread t of a warpgroup, by the formulas of the PTX manual.
    for n in [1, 2, 4, 8] {
        for t in 0..128_i64 {
            let (w, l) = (t / 32, t % 32);
            let expect = |atom, columns: u64, register: i64, row: i64, col: i64| {
                let layout = fragment(atom, 64, n, 32).expect("a load");
                let at = [row, col].map(i64::cast_unsigned);
                let places = layout.apply(&[64, columns], &at).expect("an element");
                assert_eq!(along(&places, TileAxis::ThreadInWarpgroup), t, "{atom} {row},{col}");
                assert_eq!(along(&places, TileAxis::Memory), register, "{atom} {row},{col}");
            };
            for r in 0..n.cast_signed() {
                let (t0, t1, t2) = (l % 2, l / 2 % 2, l / 4);
                expect(TmemAtom::M16x64b, 2 * n, r, t2 + 8 * t0 + 16 * w, t1 + 2 * r);
                for a in 0..2 {
                    let (t0, t1) = (l % 4, l / 4);
                    expect(TmemAtom::M16x128b, 4 * n, a + 2 * r, t1 + 8 * a + 16 * w, t0 + 4 * r);
                    for v in 0..2 {
                        let register = v + 2 * a + 4 * r;
                        let (row, col) = (t1 + 8 * a + 16 * w, v + 2 * t0 + 8 * r);
                        expect(TmemAtom::M16x256b, 8 * n, register, row, col);
                    }
                }
            }
        }
    }
    assert_eq!(
        text(&fragment(TmemAtom::M32x32b, 64, 16, 32).expect("a load")),
        "S[(64, 2, 16) : (1 @ tid_in_wg, 64 @ tid_in_wg, 1)]"
    );
    assert!(fragment(TmemAtom::M16x256b, 64, 64, 32).is_err());
    assert!(fragment(TmemAtom::M16x32bx2, 128, 16, 32).is_err());
}

#[test]
fn s1_11_fragments_are_the_registers_of_loads() {
    // 128 rows are data path D, 64 rows data path F, and 64 rows by 32x32b data path B.
    for (rows, two_ctas) in [(128, false), (64, false), (64, true)] {
        for atom in TmemAtom::ALL {
            for bits in [8, 16, 32] {
                let fits = match (rows, two_ctas) {
                    (128, _) => atom != TmemAtom::M16x32bx2,
                    (_, true) => atom == TmemAtom::M32x32b,
                    (_, false) => atom != TmemAtom::M32x32b,
                };
                if !fits {
                    continue;
                }
                let columns = 64 * 32 / bits;
                let memory = tensor_memory([rows, columns], 1, two_ctas, &[rows, columns]);
                let memory = memory.expect("one block");
                let load = tensor_memory_registers(&memory, atom, TmemColumns::Whole, 4, bits);
                let n = match atom {
                    TmemAtom::M32x32b => {
                        if rows == 64 {
                            32
                        } else {
                            64
                        }
                    }
                    TmemAtom::M16x32bx2 | TmemAtom::M16x64b => 32,
                    TmemAtom::M16x128b => 16,
                    TmemAtom::M16x256b => 8,
                };
                let tile = fragment(atom, rows.into(), n, bits.into()).expect("a load");
                let linear = tile.to_linear(&[rows, columns]).expect("powers of two");
                assert_eq!(linear, load.expect("four warps"), "{atom} {rows} rows {bits} bits");
            }
        }
    }
}

#[test]
fn s1_12_the_copies_that_write_a_layout() {
    for (given, required) in [
        ("S[(128, 64) : (1 @ TLane, 1 @ TCol)]", CopyShape::M128x256b),
        ("S[(4, 64) : (32 @ TLane, 1 @ TCol)]", CopyShape::M4x256b),
        (
            "S[(64, 64) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]",
            CopyShape::M64x128bWarps02And13,
        ),
        (
            "S[(2, 32, 64) : (64 @ TLane, 1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]",
            CopyShape::M64x128bWarps01And23,
        ),
        ("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]", CopyShape::M32x128bWarps4),
        (
            "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[(2, 2) : (32 @ TLane, 64 @ TLane)]",
            CopyShape::M32x128bWarps4,
        ),
    ] {
        assert_eq!(CopyShape::infer(&tile(given)), Ok(required), "{given}");
    }
    assert_eq!(CopyShape::M128x128b.mismatch(&tile("S[(128, 4) : (1 @ TLane, 1 @ TCol)]")), None);
    let refused =
        CopyShape::infer(&tile("S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]"));
    let words: Vec<String> =
        refused.expect_err("two copies").iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), 6);
    assert_eq!(
        words[5],
        "tcgen05.cp 32x128b.warpx4: required R[4 : 32 @ TLane], actual R[2 : 32 @ TLane]"
    );
    assert_eq!(
        words[0],
        "tcgen05.cp 128x256b: required S[128 : 1 @ TLane], actual S[32 : 1 @ TLane]"
    );
}

#[test]
fn s1_12_copy_shapes_by_name() {
    for shape in CopyShape::ALL {
        let (name, multicast) =
            shape.name().split_once('.').map_or((shape.name(), None), |(a, b)| (a, Some(b)));
        assert_eq!(CopyShape::named(name, multicast), Ok(shape));
    }
    let refused =
        |shape, multicast| CopyShape::named(shape, multicast).expect_err("refused").to_string();
    assert_eq!(refused("16x64b", None), "tcgen05.cp has no shape 16x64b");
    assert_eq!(
        refused("64x128b", Some("warpx4")),
        "tcgen05.cp 64x128b takes one of [\"warpx2::02_13\", \"warpx2::01_23\"], but there is warpx4"
    );
    assert_eq!(
        refused("32x128b", None),
        "tcgen05.cp 32x128b takes warpx4, but there is no multicast"
    );
    assert_eq!(
        refused("128x256b", Some("warpx4")),
        "tcgen05.cp 128x256b takes no multicast, but there is warpx4"
    );
}
