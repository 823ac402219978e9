//! Block-scaled `tcgen05.mma`, and `tcgen05.cp`, which brings scales to tensor memory.

use kernel_emulator::FaultKind;

use crate::harness::Random;
use crate::tcgen05_mma::{E2M1, E2M3, E3M2, E4M3, E5M2, Image, PAIRS, Place, Type, run};
use crate::tensor_memory::twins;

/// The columns where D and the scales start.
const D: usize = 0;
const A_SCALES: usize = 256;
const B_SCALES: usize = 300;

/// A block-scaled product; A and B lie along k.
#[derive(Clone, Debug)]
struct Case {
    words: &'static str,
    a: Type,
    b: Type,
    m: usize,
    n: usize,
    /// Scales of a row.
    count: usize,
    /// Whether they are powers of two, or e4m3.
    powers: bool,
    /// The first bytes of the scales of A and of B in their words.
    ids: (usize, usize),
    accumulate: bool,
}

impl Case {
    fn pair(&self) -> bool {
        self.words.contains("cta_group::2")
    }

    fn descriptor(&self) -> u32 {
        (self.ids.1 as u32) << 4
            | self.a.code << 7
            | self.b.code << 10
            | (self.n as u32 >> 3) << 17
            | u32::from(self.powers) << 23
            | (self.m as u32 >> 4) << 24
            | (self.ids.0 as u32) << 29
    }

    /// The code and value of a scale.
    fn scale(&self, random: &mut Random) -> (u32, f64) {
        let i = random.next() as usize % 4;
        if self.powers {
            [(126, 0.5), (127, 1.0), (128, 2.0), (129, 4.0)][i]
        } else {
            [(0x30, 0.5), (0x38, 1.0), (0x3C, 1.5), (0x40, 2.0)][i]
        }
    }

    /// The lanes and the column of the scales of a row among `rows` in so many parts of the lanes.
    fn scale_cells(row: usize, rows: usize, parts: usize) -> (Vec<usize>, usize) {
        let per_part = rows / parts;
        let (part, row) = (row / per_part, row % per_part);
        let lanes = (0..4).filter(|quarter| quarter / (4 / parts) == part);
        (lanes.map(|quarter| 32 * quarter + row % 32).collect(), row / 32)
    }

    #[track_caller]
    fn check(&self) {
        let mut random = Random(self.n as u64 + 17);
        let depth = self.a.depth();
        let blocks = if self.pair() { 2 } else { 1 };
        let rows = self.m / blocks;
        let (a_place, b_place) = (Place::k(6, 0, 256, 0), Place::k(6, 0, 256, 64 * 1024));
        let mut images = vec![Image::new(); blocks];
        let mut all = |ty: Type, rows: usize| -> Vec<Vec<f64>> {
            (0..rows).map(|_| (0..depth).map(|_| ty.value(&mut random)).collect()).collect()
        };
        let (a, b) = (all(self.a, self.m), all(self.b, self.n));
        let mut scales = |rows: usize| -> Vec<Vec<(u32, f64)>> {
            (0..rows).map(|_| (0..self.count).map(|_| self.scale(&mut random)).collect()).collect()
        };
        let (a_scales, b_scales) = (scales(self.m), scales(self.n));
        for (row, values) in a.iter().enumerate() {
            for (k, x) in values.iter().enumerate() {
                let shared = &mut images[row / rows].shared;
                a_place.put(shared, self.a, (row % rows, k), self.a.encode(*x));
            }
            let (lanes, column) = Case::scale_cells(row % rows, rows, 1);
            for (j, (code, _)) in a_scales[row].iter().enumerate() {
                for lane in &lanes {
                    *images[row / rows].cell(*lane, A_SCALES + column) |=
                        code << (8 * (self.ids.0 + j));
                }
            }
        }
        let columns = self.n / blocks;
        for (column, values) in b.iter().enumerate() {
            for (k, x) in values.iter().enumerate() {
                let shared = &mut images[column / columns].shared;
                b_place.put(shared, self.b, (column % columns, k), self.b.encode(*x));
            }
            // Each block has the scales of all columns.
            let parts = if self.pair() && self.m == 128 { 2 } else { 1 };
            let (lanes, cell) = Case::scale_cells(column, self.n, parts);
            for (j, (code, _)) in b_scales[column].iter().enumerate() {
                for lane in &lanes {
                    for image in &mut images {
                        *image.cell(*lane, B_SCALES + cell) |= code << (8 * (self.ids.1 + j));
                    }
                }
            }
        }
        for image in &mut images {
            for i in 0..128 * 256 {
                *image.cell(i / 256, i % 256) = ((i % 13) as f32).to_bits();
            }
        }
        let mut required = images.clone();
        for (row, a) in a.iter().enumerate() {
            for (column, b) in b.iter().enumerate() {
                let terms = a.iter().zip(b).enumerate().map(|(k, (a, b))| {
                    let j = k / (depth / self.count);
                    a * b * a_scales[row][j].1 * b_scales[column][j].1
                });
                let (lane, at) = if self.pair() && self.m == 128 {
                    (row % 64 + 64 * (column / columns), column % columns)
                } else {
                    (row % 128, column)
                };
                let cell = required[row / rows].cell(lane, D + at);
                let old = if self.accumulate { f64::from(f32::from_bits(*cell)) } else { 0.0 };
                *cell = ((terms.sum::<f64>() + old) as f32).to_bits();
            }
        }
        let issue = format!(
            "add.u64 %d12, %d10, {}; add.u64 %d13, %d10, {}; mov.b32 %r11, {:#x}; setp.ne.u32 %p6, {}, 0;
             add.u32 %r12, %r4, {A_SCALES}; add.u32 %r13, %r4, {B_SCALES};
             tcgen05.mma.{} [%r4], %d12, %d13, %r11, [%r12], [%r13], %p6;",
            a_place.descriptor(),
            b_place.descriptor(),
            self.descriptor(),
            u8::from(self.accumulate),
            self.words
        );
        let actual = run(&images, &issue).unwrap_or_else(|fault| panic!("{fault}\n{self:?}"));
        for (actual, required) in actual.iter().zip(&required) {
            for (at, (actual, required)) in actual.tensor.iter().zip(&required.tensor).enumerate() {
                assert_eq!(actual, required, "lane {}, column {} of {self:?}", at / 512, at % 512);
            }
        }
    }
}

const MXF8: Case = Case {
    words: "cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X",
    a: E4M3,
    b: E4M3,
    m: 128,
    n: 64,
    count: 1,
    powers: true,
    ids: (0, 0),
    accumulate: true,
};
const MXF4: Case = Case {
    words: "cta_group::1.kind::mxf4.block_scale.scale_vec::2X",
    a: PAIRS,
    b: PAIRS,
    count: 2,
    ..MXF8
};
const NVF4: Case = Case {
    words: "cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X",
    count: 4,
    powers: false,
    ..MXF4
};

#[test]
fn products_are_scaled_by_32_or_16_elements() {
    MXF8.check();
    MXF4.check();
    NVF4.check();
    Case { accumulate: false, n: 256, ..MXF8.clone() }.check();
    Case { n: 8, ..MXF4.clone() }.check();
    Case { powers: true, n: 128, ..NVF4.clone() }.check();
    let words = "cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X";
    Case { words, ..MXF4.clone() }.check();
    // The words of later versions of PTX.
    let words = "cta_group::1.kind::mxf4nvf4.block_scale.block16";
    Case { words, ..NVF4.clone() }.check();
    Case { words: "cta_group::1.kind::mxf8f6f4.block_scale.block32", ..MXF8.clone() }.check();
}

#[test]
fn every_narrow_float_is_scaled() {
    for (a, b) in [(E5M2, E4M3), (E2M1, E2M1), (E2M3, E3M2), (E3M2, E2M1), (E4M3, E2M1)] {
        Case { a, b, ..MXF8.clone() }.check();
    }
}

#[test]
fn scales_start_in_the_byte_that_the_descriptor_names() {
    for ids in [(1, 2), (3, 0), (2, 3)] {
        Case { ids, ..MXF8.clone() }.check();
    }
    for ids in [(2, 0), (0, 2)] {
        Case { ids, ..MXF4.clone() }.check();
    }
}

#[test]
fn two_blocks_share_a_scaled_product() {
    let words = "cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X";
    Case { words, m: 256, n: 128, ..MXF8.clone() }.check();
    Case { words, m: 128, n: 64, ..MXF8.clone() }.check();
    let words = "cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X";
    Case { words, m: 256, n: 64, ..NVF4.clone() }.check();
}

#[test]
fn scales_are_the_same_in_every_quarter_of_the_lanes() {
    let issue = format!(
        "add.u64 %d12, %d10, {}; mov.b32 %r11, {:#x}; add.u32 %r12, %r4, {A_SCALES};
         tcgen05.mma.{} [%r4], %d12, %d12, %r11, [%r12], [%r12], 0;",
        Place::k(6, 0, 256, 0).descriptor(),
        MXF8.descriptor(),
        MXF8.words
    );
    let mut image = Image::new();
    for lane in 0..128 {
        for column in 0..4 {
            *image.cell(lane, A_SCALES + column) = 127;
        }
    }
    run(std::slice::from_ref(&image), &issue).unwrap_or_else(|fault| panic!("{fault}"));
    *image.cell(37, A_SCALES + 1) = 128;
    let fault = run(&[image], &issue).expect_err("the scales differ");
    assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
    assert!(fault.detail.contains("row 37 has 0x7f in lane 5 and 0x80 in lane 37"), "{fault}");
}

/// The rows of a copy, and the row that a lane gets, if any.
type RowOf = fn(usize) -> Option<usize>;

/// Copies of 16 bytes a row, or 32.
const COPIES: [(&str, usize, RowOf); 6] = [
    ("128x256b", 2, Some),
    ("128x128b", 1, Some),
    ("4x256b", 2, |lane| (lane % 32 == 0).then_some(lane / 32)),
    ("64x128b.warpx2::02_13", 1, |lane| Some(lane % 64)),
    ("64x128b.warpx2::01_23", 1, |lane| Some(lane / 64 * 32 + lane % 32)),
    ("32x128b.warpx4", 1, |lane| Some(lane % 32)),
];

/// The byte of a row of a matrix along k, in bytes.
fn source(swizzle: u64, row: usize, byte: usize) -> usize {
    match swizzle {
        // Rows of 16 bytes, eight of them together; the second 16 bytes of a row 4096 further on.
        0 => row % 8 * 16 + row / 8 * 128 + byte / 16 * 4096 + byte % 16,
        6 => {
            let linear = row * 32 + byte;
            linear ^ (linear >> 3 & 0x10)
        }
        _ => {
            let linear = row * 128 + byte;
            linear ^ (linear >> 3 & 0x70)
        }
    }
}

#[test]
fn copies_bring_rows_to_the_lanes_of_their_shape() {
    for (shape, units, row_of) in COPIES {
        for (swizzle, place) in [
            (0, Place::k(0, 4096, 128, 0)),
            (6, Place::k(6, 0, 256, 0)),
            (2, Place::k(2, 0, 1024, 0)),
        ] {
            for (group, blocks) in [(1, 1), (2, 2)] {
                let mut random = Random(swizzle + units as u64);
                let mut images = vec![Image::new(); blocks];
                for image in &mut images {
                    image.shared.iter_mut().for_each(|byte| *byte = random.next() as u8);
                }
                let mut required = images.clone();
                for image in &mut required {
                    for lane in 0..128 {
                        let Some(row) = row_of(lane) else { continue };
                        for byte in 0..16 * units {
                            let value = u32::from(image.shared[source(swizzle, row, byte)]);
                            *image.cell(lane, 20 + byte / 4) |= value << (8 * (byte % 4));
                        }
                    }
                }
                let issue = format!(
                    "add.u64 %d12, %d10, {}; tcgen05.cp.cta_group::{group}.{shape} [%r4+20], %d12;",
                    place.descriptor()
                );
                let actual = run(&images, &issue).unwrap_or_else(|fault| panic!("{fault}"));
                for (actual, required) in actual.iter().zip(&required) {
                    assert!(actual.tensor == required.tensor, "{shape} {swizzle} {group}");
                }
            }
        }
    }
}

#[test]
fn a_copy_of_words_that_nobody_wrote_leaves_cells_that_nobody_wrote() {
    // Of sixteen bytes of each row, the first eight.
    let body = |column: u32| {
        format!(
            "shl.b32 %r6, %r0, 4; add.u32 %r6, %r6, %r3; mov.b32 %v0, 0; st.shared.v2.b32 [%r6], {{%v0, %v0}};
             fence.proxy.async.shared::cta; bar.sync 0;
             bfe.u32 %r6, %r3, 4, 14; cvt.u64.u32 %d2, %r6; add.u64 %d2, %d2, 0x400800000000;
             @%p1 tcgen05.cp.cta_group::1.128x128b [%r4], %d2;
             @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2];
             WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra WAIT; bar.warp.sync -1;
             tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%v1}}, [%r5+{column}]; tcgen05.wait::ld.sync.aligned;
             st.global.b32 [%d0], %v1;"
        )
    };
    twins(FaultKind::Uninitialised, &body(2), &body(1));
}

#[test]
fn copies_widen_narrow_elements_to_bytes() {
    for (words, bits, up) in [("b8x16.b6x16_p32", 6, 0), ("b8x16.b4x16_p64", 4, 2)] {
        let mut image = Image::new();
        let mut random = Random(bits);
        image.shared.iter_mut().for_each(|byte| *byte = random.next() as u8);
        let mut required = image.clone();
        for lane in 0..128 {
            for j in 0..16 {
                let at = source(0, lane, 0);
                let mut code = 0;
                for bit in 0..bits as usize {
                    let index = bits as usize * j + bit;
                    code |= u32::from(image.shared[at + index / 8] >> (index % 8) & 1) << bit;
                }
                *required.cell(lane, j / 4) |= code << (8 * (j % 4) + up);
            }
        }
        let issue = format!(
            "add.u64 %d12, %d10, {}; tcgen05.cp.cta_group::1.128x128b.{words} [%r4], %d12;",
            Place::k(0, 4096, 128, 0).descriptor()
        );
        let actual = run(&[image], &issue).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(actual[0].tensor == required.tensor, "{words}");
    }
}

#[test]
fn a_shift_moves_rows_to_the_next_lane() {
    let mut image = Image::new();
    for lane in 0..128 {
        for column in 0..12 {
            *image.cell(lane, column) = (100 * lane + column) as u32;
        }
    }
    // 31 rows of 256 bits, from the address on.
    for first in [0, 64] {
        let mut required = image.clone();
        for lane in first + 1..first + 32 {
            for column in 2..10 {
                *required.cell(lane, column) = (100 * (lane - 1) + column) as u32;
            }
        }
        let shift = format!("tcgen05.shift.cta_group::1.down [%r4+{}];", first << 16 | 2);
        let actual = run(&[image.clone()], &shift).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(actual[0].tensor == required.tensor, "from lane {first}");
    }
    let fault = run(&[image], "tcgen05.shift.cta_group::1.down [%r4+0x100002];");
    let fault = fault.expect_err("lane 16");
    assert!(fault.detail.contains("a multiple of 32 below 128 is required"), "{fault}");
}
