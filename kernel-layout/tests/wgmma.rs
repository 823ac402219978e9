//! Operands of `wgmma` against the formulas of the PTX manual, element by element.

use kernel_layout::forms::{nvmma_shared, row_major_shared, shared_linear, swizzled_shared};
use kernel_layout::tile::{SwizzleMode, TileLayout, mma_shared};
use kernel_layout::wgmma::{
    Elements, Major, Operand, Refusal, descriptor, instruction_n, is_instruction_n, operand,
    sparse_right_operand, tcgen05_operand,
};
use kernel_layout::{Dim, Form, Layout};

/// Where an instruction that starts at byte `start` reads the element `r` of MN and `k` of K.
///
/// PTX ISA, "Canonical Layouts" of `wgmma`, one row of the table each; then the swizzle.
fn address(read: &Operand, element_bytes: u32, start: u32, r: u32, k: u32) -> u32 {
    let (leading, stride) = (read.leading_bytes, read.stride_bytes);
    let unit = 16 / element_bytes;
    let span = read.swizzle_bytes;
    let inside = match (read.major, span) {
        (Major::K, 0) => {
            r % 8 * 16 + r / 8 * stride + k / unit * leading + k % unit * element_bytes
        }
        (Major::K, _) => {
            assert!(k * element_bytes < span);
            r % 8 * span + r / 8 * stride + k * element_bytes
        }
        (Major::Mn, 0) => {
            r % unit * element_bytes + r / unit * stride + k % 8 * 16 + k / 8 * leading
        }
        (Major::Mn, _) => {
            let wide = span / element_bytes;
            r % wide * element_bytes + r / wide * leading + k % 8 * span + k / 8 * stride
        }
    };
    swizzled_byte(start + inside, span)
}

/// PTX ISA, "Swizzling modes"; done twice, it changes nothing.
fn swizzled_byte(linear: u32, swizzle: u32) -> u32 {
    let mask = match swizzle {
        0 => 0,
        32 => 0x10,
        64 => 0x30,
        128 => 0x70,
        other => panic!("no swizzle has {other} bytes"),
    };
    linear ^ (linear >> 3 & mask)
}

/// The byte of every element (MN, K) of a tile.
struct Places {
    bytes: Vec<u32>,
    k_extent: u32,
    element_bytes: u32,
    /// What an instruction reads along K.
    k_bytes: u32,
}

impl Places {
    fn of(layout: &Layout, element_bytes: u32, mn_axis: usize) -> Places {
        let places = layout.invert().expect("every element has one place");
        let bits = |axis| -> Vec<u32> {
            places.bases(Dim::axis(axis)).iter().map(|basis| basis[0] * element_bytes).collect()
        };
        // K is the lower half of the index.
        let bits = [bits(1 - mn_axis), bits(mn_axis)].concat();
        let mut bytes = vec![0];
        for bit in bits {
            bytes.extend_from_within(..);
            let half = bytes.len() / 2;
            bytes[half..].iter_mut().for_each(|byte| *byte ^= bit);
        }
        Places {
            bytes,
            k_extent: layout.out_size(Dim::axis(1 - mn_axis)),
            element_bytes,
            k_bytes: 32,
        }
    }

    fn byte(&self, mn: u32, k: u32) -> u32 {
        self.bytes[(mn * self.k_extent + k) as usize]
    }

    /// The first element that some instruction looks for in the wrong place, with starts as they are said to be.
    fn misread(&self, read: &Operand, mn_instruction: u32) -> Option<(u32, u32)> {
        self.misread_from(read, mn_instruction, |mn, k| read.start_bytes(mn, k))
    }

    fn misread_from(
        &self,
        read: &Operand,
        mn_instruction: u32,
        start: impl Fn(u32, u32) -> u32,
    ) -> Option<(u32, u32)> {
        let k_instruction = self.k_bytes / self.element_bytes;
        let wrong = |mn: u32, k: u32| {
            let (r, own_k) = (mn % mn_instruction, k % k_instruction);
            let start = start(mn - r, k - own_k);
            address(read, self.element_bytes, start, r, own_k) != self.byte(mn, k)
        };
        let all = (0..).take(self.bytes.len());
        all.map(|at| (at / self.k_extent, at % self.k_extent)).find(|&(mn, k)| wrong(mn, k))
    }
}

fn misread(
    read: &Operand,
    layout: &Layout,
    element_bytes: u32,
    mn_axis: usize,
    mn_instruction: u32,
) -> Option<(u32, u32)> {
    Places::of(layout, element_bytes, mn_axis).misread(read, mn_instruction)
}

#[test]
fn every_tile_that_tma_writes_with_a_swizzle_is_read_where_it_lies() {
    let mut read_tiles = 0;
    for (element_bytes, transposed) in
        [1, 2, 4].into_iter().flat_map(|size| [(size, false), (size, true)])
    {
        for swizzle in [0, 32, 64, 128] {
            for (rows, columns) in [
                (8, 16),
                (16, 8),
                (8, 256),
                (64, 16),
                (64, 64),
                (16, 512),
                (512, 32),
                (64, 256),
                (128, 128),
                (256, 64),
            ] {
                let shape = [rows, columns];
                let bits = 8 * element_bytes;
                let Ok(layout) = nvmma_shared(swizzle, bits, transposed, false, &shape) else {
                    continue;
                };
                for (mn_axis, mn_instruction) in
                    [0, 1].into_iter().flat_map(|axis| [8, 32, 64, 256].map(|n| (axis, n)))
                {
                    let k_extent = shape[1 - mn_axis];
                    if shape[mn_axis] < mn_instruction || k_extent < 32 / element_bytes {
                        continue;
                    }
                    let contiguous = usize::from(!transposed);
                    let k_major = contiguous != mn_axis;
                    // Without a swizzle TMA leaves rows as they are: the canonical layout has rows of 16 bytes.
                    let readable = (k_major || element_bytes == 2)
                        && (swizzle != 0 || shape[contiguous] * element_bytes == 16);
                    let what = format!(
                        "{swizzle}, {element_bytes} bytes, transposed {transposed}, {shape:?}, axis {mn_axis}, \
                         {mn_instruction}"
                    );
                    match operand(&layout, element_bytes, mn_axis, mn_instruction) {
                        Ok(read) => {
                            assert!(readable, "{what}");
                            assert_eq!(read.swizzle_bytes, swizzle, "{what}");
                            assert_eq!(read.major == Major::K, k_major, "{what}");
                            let wrong =
                                misread(&read, &layout, element_bytes, mn_axis, mn_instruction);
                            assert_eq!(wrong, None, "{what}");
                            read_tiles += 1;
                        }
                        Err(refusal) => assert!(!readable, "{what}: {refusal}"),
                    }
                }
            }
        }
    }
    assert!(read_tiles > 200, "only {read_tiles} tiles were read");
}

/// An instruction of a sparse product reads 64 bytes along K, which a swizzle of 32 bytes does not have.
#[test]
fn right_operands_of_sparse_products_are_read_where_they_lie() {
    let mut read_tiles = 0;
    for (element_bytes, swizzle) in
        [1, 2, 4].into_iter().flat_map(|b| [32, 64, 128].map(|s| (b, s)))
    {
        for (shape, transposed) in
            [[64, 64], [128, 256], [256, 128]].into_iter().flat_map(|s| [(s, false), (s, true)])
        {
            let bits = 8 * element_bytes;
            let Ok(layout) = nvmma_shared(swizzle, bits, transposed, false, &shape) else {
                continue;
            };
            for (mn_axis, n) in [0, 1].into_iter().flat_map(|axis| [8, 16, 64].map(|n| (axis, n))) {
                let k_major = usize::from(!transposed) != mn_axis;
                let readable = if k_major { swizzle > 32 } else { element_bytes == 2 };
                let what =
                    format!("{swizzle}, {element_bytes}, {transposed}, {shape:?}, {mn_axis}");
                match sparse_right_operand(&layout, element_bytes, mn_axis, n) {
                    Ok(read) => {
                        assert!(readable, "{what}");
                        let places = Places::of(&layout, element_bytes, mn_axis);
                        let wrong = Places { k_bytes: 64, ..places }.misread(&read, n);
                        assert_eq!(wrong, None, "{what}");
                        read_tiles += 1;
                    }
                    Err(refusal) => assert!(!readable, "{what}: {refusal}"),
                }
            }
        }
    }
    assert!(read_tiles > 100, "only {read_tiles} tiles were read");
    // Core matrices without a swizzle, four of them along K, at equal distances.
    let columns = mma_shared(16, SwizzleMode::None, &[64, 32]).expect("whole chunks");
    let columns = columns.to_linear(&[64, 32]).expect("powers of two");
    let read = sparse_right_operand(&columns, 2, 0, 64).expect("wgmma reads it");
    assert_eq!((read.leading_bytes, read.stride_bytes), (64 * 16, 128));
    let places = Places::of(&columns, 2, 0);
    assert_eq!(Places { k_bytes: 64, ..places }.misread(&read, 64), None);
}

fn tile(text: &str, shape: [u32; 2]) -> Layout {
    let tile: TileLayout = text.parse().expect("a layout");
    tile.to_linear(&shape).expect("powers of two")
}

#[track_caller]
fn strides(layout: &Layout, element_bytes: u32, mn_axis: usize, n: u32) -> (Major, u32, u32) {
    let read = operand(layout, element_bytes, mn_axis, n).expect("wgmma reads it");
    assert_eq!(misread(&read, layout, element_bytes, mn_axis, n), None);
    (read.major, read.leading_bytes, read.stride_bytes)
}

#[test]
fn core_matrices_may_lie_in_any_order_without_a_swizzle() {
    // 64 rows of 32 f16; a core matrix has 8 rows of 8. All rows of one column of them first.
    let columns = mma_shared(16, SwizzleMode::None, &[64, 32]).expect("whole chunks");
    let columns = columns.to_linear(&[64, 32]).expect("powers of two");
    assert_eq!(strides(&columns, 2, 0, 64), (Major::K, 64 * 16, 128));
    // All columns of one row of them first.
    let rows = tile("S[(8, 8, 4, 8) : (256, 8, 64, 1)]", [64, 32]);
    assert_eq!(strides(&rows, 2, 0, 64), (Major::K, 128, 512));
    // The same tile read as B, contiguous along its 32 columns: the two strides change places.
    assert_eq!(strides(&rows, 2, 1, 32), (Major::Mn, 512, 128));
    assert_eq!(strides(&columns, 2, 1, 8), (Major::Mn, 128, 128));
    assert_eq!(strides(&columns, 2, 1, 32), (Major::Mn, 128, 1024));
    // 8-bit elements, and f32 of which tf32 is read.
    let bytes = mma_shared(8, SwizzleMode::None, &[64, 64]).expect("whole chunks");
    assert_eq!(
        strides(&bytes.to_linear(&[64, 64]).expect("powers of two"), 1, 0, 64),
        (Major::K, 1024, 128)
    );
    let words = mma_shared(32, SwizzleMode::None, &[16, 64]).expect("whole chunks");
    assert_eq!(
        strides(&words.to_linear(&[16, 64]).expect("powers of two"), 4, 0, 16),
        (Major::K, 256, 128)
    );
}

#[test]
fn swizzled_atoms_may_lie_apart() {
    // Two tiles of 64×64 side by side in one, groups of 8 rows taken in turn from each: they lie 2048 bytes apart.
    let plain = "S[(8, 8, 2, 64) : (1024, 64, 512, 1)]";
    let swizzled = format!("Compose(3, 3, 3, {plain})");
    let layout: kernel_layout::tile::ComposeLayout = swizzled.parse().expect("a layout");
    let layout = layout.to_linear(&[64, 128]).expect("powers of two");
    assert_eq!(strides(&layout, 2, 0, 64), (Major::K, 0, 2048));
    let read = operand(&layout, 2, 0, 64).expect("wgmma reads it");
    assert_eq!(read.start_bytes(0, 64), 1024);
}

/// PTX ISA, "Matrix Descriptor Format" of `wgmma`; the constants were executed on an H200.
#[test]
fn descriptors_that_are_known_to_work() {
    let of = |swizzle, shape: [u32; 2], mn_axis, n| {
        let layout = nvmma_shared(swizzle, 16, false, false, &shape).expect("whole atoms");
        descriptor(&operand(&layout, 2, mn_axis, n).expect("wgmma reads it"))
    };
    assert_eq!(of(128, [64, 64], 0, 64), 0x4000_0040_0000_0000);
    assert_eq!(of(64, [64, 32], 0, 64), 0x8000_0020_0000_0000);
    assert_eq!(of(128, [64, 128], 1, 128), 0x4000_0040_0200_0000);
    // 32 bytes: code 3, and 8 rows of 32 bytes to the next group.
    assert_eq!(of(32, [64, 16], 0, 64), 0xc000_0010_0000_0000);
    // No swizzle: code 0, chunks of all 64 rows 1024 bytes apart, groups of 8 rows 128 bytes.
    let plain = mma_shared(16, SwizzleMode::None, &[64, 32]).expect("whole chunks");
    let plain = plain.to_linear(&[64, 32]).expect("powers of two");
    assert_eq!(
        descriptor(&operand(&plain, 2, 0, 64).expect("wgmma reads it")),
        0x0000_0008_0040_0000
    );
}

#[test]
fn instructions_start_where_the_manual_advances_to() {
    let read = |swizzle, bits: u32, shape: [u32; 2], mn_axis, n| {
        let layout = nvmma_shared(swizzle, bits, false, false, &shape).expect("whole atoms");
        operand(&layout, bits / 8, mn_axis, n).expect("wgmma reads it")
    };
    // 256 rows of 128 f16 with 128 bytes: 32 bytes on within an atom, then a column of 256 rows of 128 bytes on.
    let a = read(128, 16, [256, 128], 0, 64);
    assert_eq!([0, 16, 48, 64, 80].map(|k| a.start_bytes(0, k)), [0, 32, 96, 32768, 32800]);
    assert_eq!([64, 128, 192].map(|row| a.start_bytes(row, 0)), [8192, 16384, 24576]);
    assert_eq!(a.start_bytes(192, 112), 24576 + 32768 + 96);
    assert_eq!(a.alignment_bytes(), 1024);
    // Contiguous columns of B: 16 rows of K are 16 rows of 128 bytes, 128 units of 16 bytes; a column of atoms has 64.
    let b = read(128, 16, [64, 512], 1, 256);
    assert_eq!([16, 32, 48].map(|k| b.start_bytes(0, k)), [2048, 4096, 6144]);
    assert_eq!((b.leading_bytes, b.stride_bytes), (8192, 1024));
    assert_eq!(b.start_bytes(256, 0), 4 * 8192);
    // 8 columns out of a span of 64: a start within the row of an atom.
    let narrow = read(128, 16, [64, 64], 1, 8);
    assert_eq!(narrow.start_bytes(8, 16), 16 + 2048);
    // tf32: 8 elements of K an instruction, 32 of them in a span.
    let words = read(128, 32, [64, 64], 0, 64);
    assert_eq!([8, 24, 32].map(|k| words.start_bytes(0, k)), [32, 96, 8192]);
    // No swizzle: two chunks of 16 bytes on.
    let chunks = mma_shared(16, SwizzleMode::None, &[64, 32]).expect("whole chunks");
    let chunks = operand(&chunks.to_linear(&[64, 32]).expect("powers of two"), 2, 0, 64);
    assert_eq!(chunks.expect("wgmma reads it").start_bytes(0, 16), 2 * 1024);
}

/// The next of a fixed sequence of numbers that look random.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Bits of tiles that can be read, mixed: what `operand` refuses, no strides and no starts at all would read.
#[test]
fn what_is_refused_no_descriptor_could_read() {
    let mut state = 0x2545_f491_4f6c_dd1d;
    let (mut read_tiles, mut refused) = (0, 0);
    for (shape, n) in [([8, 16], 8), ([16, 32], 8), ([32, 16], 32)] {
        let sizes = shape.map(u64::from);
        let swizzled = |mode| mma_shared(16, mode, &sizes).and_then(|tile| tile.to_linear(&shape));
        let starts: [Layout; 4] = [
            swizzled(SwizzleMode::None).expect("whole atoms"),
            swizzled(SwizzleMode::B32).expect("whole atoms"),
            tile(&format!("S[({}, 8, {}) : (8, 1, {})]", shape[0] / 8, shape[1], shape[0]), shape),
            nvmma_shared(if n == 32 { 64 } else { 0 }, 16, true, false, &shape)
                .expect("whole atoms"),
        ];
        let bits = u64::try_from(starts[0].in_bits()).expect("few");
        let bit = |state: &mut u64| usize::try_from(next(state) % bits).expect("few");
        for round in 0..60 {
            let mut bases = starts[round % starts.len()].bases(Dim::Offset).to_vec();
            for _ in 0..next(&mut state) % 3 {
                let (one, other) = (bit(&mut state), bit(&mut state));
                if next(&mut state).is_multiple_of(2) {
                    bases.swap(one, other);
                } else if one != other {
                    let added = bases[other].clone();
                    for (part, add) in bases[one].iter_mut().zip(added) {
                        *part ^= add;
                    }
                }
            }
            let outs = vec![(Dim::Axis(0), shape[0]), (Dim::Axis(1), shape[1])];
            let layout =
                Layout::new(vec![(Dim::Offset, bases)], outs).expect("bases within the tile");
            let places = Places::of(&layout, 2, 0);
            if let Ok(read) = operand(&layout, 2, 0, n) {
                assert_eq!(places.misread(&read, n), None, "{layout}");
                read_tiles += 1;
                continue;
            }
            refused += 1;
            let mut read = operand(&starts[0], 2, 0, n).expect("wgmma reads it");
            for (major, swizzle) in [Major::K, Major::Mn]
                .into_iter()
                .flat_map(|major| [0, 32, 64, 128].map(|swizzle| (major, swizzle)))
            {
                (read.major, read.swizzle_bytes) = (major, swizzle);
                let units = 1 << (bits - 3);
                for (leading, stride) in (0..units)
                    .flat_map(|leading| (0..units).map(move |stride| (16 * leading, 16 * stride)))
                {
                    (read.leading_bytes, read.stride_bytes) = (leading, stride);
                    let start = |mn, k| swizzled_byte(places.byte(mn, k), swizzle);
                    let wrong = places.misread_from(&read, n, start);
                    assert!(wrong.is_some(), "{layout} is read by {read:?}");
                }
            }
        }
    }
    assert!(read_tiles > 50 && refused > 50, "{read_tiles} read, {refused} refused");
}

#[track_caller]
fn refused(layout: &Layout, element_bytes: u32, mn_axis: usize, n: u32, words: &str) -> Refusal {
    let refusal = operand(layout, element_bytes, mn_axis, n).expect_err("wgmma cannot read it");
    assert_eq!(refusal.to_string(), words);
    refusal
}

#[test]
fn other_layouts_are_refused_with_the_nearest_that_is_read() {
    let plain = row_major_shared(&[64, 64]).expect("powers of two");
    let refusal = refused(
        &plain,
        2,
        0,
        64,
        "bit 6 of offset leads to [1,0], but to [1,8] in `swizzle(128)`, the nearest layout that can be read",
    );
    let nearest = refusal.nearest().expect("there is one");
    assert_eq!(nearest.form, Form::nvmma_default_for(&[64, 64], 16, false, false));
    assert_eq!((nearest.mismatch.dim, nearest.mismatch.bit), (Dim::Offset, 6));
    // Rows of 32 bytes come one after another in both; bit 7 is row 4.
    refused(
        &row_major_shared(&[64, 16]).expect("powers of two"),
        2,
        0,
        64,
        "bit 6 of offset leads to [4,0], but to [4,8] in `swizzle(32)`, the nearest layout that can be read",
    );
    let phases = |per_phase, max_phase| {
        swizzled_shared(8, per_phase, max_phase, &[1, 0], &[64, 64]).expect("powers of two")
    };
    refused(
        &phases(2, 4),
        2,
        0,
        64,
        "bit 6 of offset leads to [1,0], but to [1,8] in `swizzle(128)`, the nearest layout that can be read",
    );
    refused(
        &phases(1, 4),
        2,
        0,
        64,
        "bit 8 of offset leads to [4,0], but to [4,32] in `swizzle(128)`, the nearest layout that can be read",
    );
    assert!(operand(&phases(1, 8), 2, 0, 64).is_ok());
    // Rows exchanged pairwise.
    let bases = "S[(32, 2, 64) : (64, 2048, 1)]";
    refused(
        &tile(bases, [64, 64]),
        2,
        0,
        64,
        "bit 6 of offset leads to [2,0], but to [1,8] in `swizzle(128)`, the nearest layout that can be read",
    );
    // Contiguous along the columns of B: the nearest is, too.
    refused(
        &row_major_shared(&[64, 128]).expect("powers of two"),
        2,
        1,
        128,
        "bit 6 of offset leads to [0,64], but to [1,8] in `swizzle(128)`, the nearest layout that can be read",
    );
    refused(
        &tile("S[(64, 32) : (1, 64)]", [64, 32]),
        2,
        0,
        64,
        "bit 6 of offset leads to [0,1], but to [8,1] in `swizzle(128).transposed()`, the nearest layout that can be read",
    );
}

#[test]
fn only_elements_of_16_bits_are_read_along_mn() {
    refused(
        &nvmma_shared(128, 8, true, false, &[128, 64]).expect("whole atoms"),
        1,
        0,
        64,
        "elements of 8 bits must be contiguous along axis 1, but are along axis 0: bit 0 of offset leads to [1,0], but to \
         [0,1] in `swizzle(64)`, the nearest layout that can be read",
    );
    refused(
        &nvmma_shared(128, 32, false, false, &[32, 64]).expect("whole atoms"),
        4,
        1,
        64,
        "elements of 32 bits must be contiguous along axis 0, but are along axis 1: bit 0 of offset leads to [0,1], but to \
         [1,0] in `swizzle(128).transposed()`, the nearest layout that can be read",
    );
}

#[test]
fn bytes_are_read_along_mn_by_the_fifth_generation_in_atoms_alone() {
    // Rows of 128 bytes along MN, without the swizzle: it exchanges bits of what lies in the second row.
    let refusal = tcgen05_operand(&row_major_shared(&[64, 128]).expect("powers of two"), 1, 1, 128)
        .expect_err("no descriptor describes rows of 128 bytes without a swizzle");
    assert_eq!(
        refusal.to_string(),
        "bit 7 of offset leads to [1,0], but to [1,16] in `swizzle(128)`, the nearest layout that can be read",
    );
    let nearest = refusal.nearest().expect("there is one").form.clone();
    let read = tcgen05_operand(&nearest.to_layout(&[64, 128]).expect("whole atoms"), 1, 1, 128);
    assert_eq!(read.expect("it is read").major, Major::Mn);
}

#[test]
fn tiles_that_no_layout_makes_an_operand() {
    let of = |shape: &[u32]| nvmma_shared(128, 16, false, false, shape).expect("whole atoms");
    let none = |layout: &Layout, element_bytes, mn_axis, n, words: &str| {
        assert_eq!(refused(layout, element_bytes, mn_axis, n, words).nearest(), None);
    };
    none(&of(&[64, 64]), 8, 0, 64, "an element has 8 bytes, but must have one of [1, 2, 4]");
    none(&of(&[2, 64, 64]), 2, 0, 64, "the tile has 3 axes where 2 are required");
    none(&of(&[32, 64]), 2, 0, 64, "axis 0 has 32 elements, but one instruction reads 64");
    none(
        &row_major_shared(&[64, 8]).expect("powers of two"),
        2,
        0,
        64,
        "axis 1 has 8 elements, but one instruction reads 16",
    );
    none(
        &of(&[128, 64]),
        2,
        0,
        96,
        "an instruction of 96 rows or columns was asked for, but a power of two from 8 to 256 is required",
    );
    none(&of(&[512, 512]), 2, 0, 64, "the tile has 524288 bytes, but descriptors reach 262144");
    let padded = nvmma_shared(128, 8, false, true, &[64, 64]).expect("whole atoms");
    none(&padded, 1, 0, 64, "every element must have one place, but some have none or several");
    let half: Vec<Vec<u32>> = (0..11).map(|bit| row_major_basis(bit, 6)).collect();
    let outs = vec![(Dim::Axis(0), 64), (Dim::Axis(1), 64)];
    let missing = Layout::new(vec![(Dim::Offset, half)], outs).expect("bases within the tile");
    assert!(shared_linear(&missing, &[64, 64]).is_err());
    none(&missing, 2, 0, 64, "every element must have one place, but some have none or several");
    let spread = Form::Cluster { bases: vec![vec![1, 0]], per_block: Box::new(Form::RowMajor) };
    none(
        &spread.to_layout(&[128, 64]).expect("powers of two"),
        2,
        0,
        64,
        "the layout has a dimension block, but the shared memory of one block has none",
    );
}

fn row_major_basis(bit: u32, column_bits: u32) -> Vec<u32> {
    if bit < column_bits { vec![0, 1 << bit] } else { vec![1 << (bit - column_bits), 0] }
}

#[test]
fn the_nearest_layout_is_always_read() {
    let mut asked = 0;
    for element_bytes in [1, 2, 4] {
        for (log2_rows, log2_columns) in
            (3..=9).flat_map(|rows| (3..=9).map(move |columns| (rows, columns)))
        {
            let shape: [u32; 2] = [1 << log2_rows, 1 << log2_columns];
            for (order, mn_axis) in [([0, 1], 0), ([1, 0], 0), ([0, 1], 1), ([1, 0], 1)] {
                let plain = swizzled_shared(1, 1, 1, &order, &shape).expect("powers of two");
                for n in [8, 64, 256] {
                    let Err(refusal) = operand(&plain, element_bytes, mn_axis, n) else { continue };
                    let Some(nearest) = refusal.nearest() else { continue };
                    let layout = nearest.form.to_layout(&shape).expect("it fits");
                    let read = operand(&layout, element_bytes, mn_axis, n);
                    assert!(read.is_ok(), "{} for {shape:?}, {n}: {read:?}", nearest.form);
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 500, "only {asked} layouts were refused");
}

#[test]
fn columns_are_split_into_the_fewest_instructions() {
    // PTX ISA, "wgmma.mma_async": .n8 to .n256 for floats, and the list of the integer types.
    let floats: Vec<u32> = (1..=32).map(|eighth| 8 * eighth).collect();
    let integers =
        [8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256].to_vec();
    for (elements, legal) in [(Elements::Float, floats), (Elements::Integer, integers)] {
        // The fewest parts of each sum, from those of smaller sums.
        let mut fewest: Vec<Option<usize>> = vec![Some(0)];
        for columns in 1..=1024 {
            assert_eq!(is_instruction_n(columns, elements), legal.contains(&columns), "{columns}");
            let before = |part: &&u32| **part <= columns;
            let parts = legal
                .iter()
                .filter(before)
                .filter_map(|part| fewest[(columns - part) as usize].map(|parts| parts + 1));
            fewest.push(parts.min());
            let split = instruction_n(columns, elements);
            assert_eq!(split.as_ref().map(Vec::len), fewest[columns as usize], "{columns}");
            if let Some(split) = split {
                assert_eq!(split.iter().sum::<u32>(), columns);
                assert!(split.iter().all(|part| legal.contains(part)), "{columns}: {split:?}");
            }
        }
    }
    assert_eq!(instruction_n(0, Elements::Float), None);
    assert_eq!(instruction_n(264, Elements::Float), Some(vec![136, 128]));
    assert_eq!(instruction_n(280, Elements::Integer), Some(vec![256, 24]));
}
