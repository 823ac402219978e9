//! `tcgen05.mma.sp`: products of an A of which half is zeros, against sums over plain matrices, and what is asked of metadata.
//!
//! Metadata is put into tensor memory in the order in which CUTLASS's `TensorEAtom` and JAX's `format_tcgen05_sparse_metadata` have it: two bits
//! an element that is kept, four for tf32, in rows of 64 entries of two bits, each of which is a lane's four columns.

use std::fmt::Write;

use kernel_emulator::{Fault, FaultKind};

use crate::harness::Random;
use crate::tcgen05_mma::{BF16, E4M3, E5M2, F16, Image, Place, S8, TF32, Type, U8, run};

const D_COLUMN: usize = 8;
const A_COLUMN: usize = 300;
/// The first of a pair of columns.
const METADATA_COLUMN: usize = 420;

/// The lane of an entry of a row's metadata, and its number there.
fn spot(ty: Type, row: usize, entry: usize) -> (usize, usize) {
    if ty.depth() == 32 {
        return (row, entry);
    }
    let lane = row / 16 * 16 + entry / 8 % 2 * 8 + row % 8;
    (lane, entry / 16 * 16 + row / 8 % 2 * 8 + entry % 8)
}

/// One product.
#[derive(Clone, Debug)]
struct Case {
    kind: &'static str,
    a: Type,
    b: Type,
    /// D as the descriptor has it.
    d_type: u32,
    n: usize,
    pair: bool,
    /// Which column of the pair has the metadata, of elements of 16 bits and more.
    selector: usize,
    /// A is in tensor memory without.
    a_place: Option<Place>,
    b_place: Place,
    accumulate: bool,
}

impl Case {
    fn new(kind: &'static str, ty: Type, n: usize) -> Case {
        Case {
            kind,
            a: ty,
            b: ty,
            d_type: if ty == U8 || ty == S8 { 2 } else { 1 },
            n,
            pair: false,
            selector: 0,
            a_place: Some(Place::k(6, 0, 256, 0)),
            b_place: Place::k(2, 0, 1024, 64 * 1024),
            accumulate: true,
        }
    }

    fn blocks(&self) -> usize {
        if self.pair { 2 } else { 1 }
    }

    fn descriptor(&self) -> u32 {
        let mn = |place: Option<Place>| u32::from(place.is_some_and(|place| place.mn_major));
        self.selector as u32
            | 1 << 2
            | self.d_type << 4
            | self.a.code << 7
            | self.b.code << 10
            | mn(self.a_place) << 15
            | mn(Some(self.b_place)) << 16
            | (self.n as u32 >> 3) << 17
            | (8 * self.blocks() as u32) << 24
    }

    fn issue(&self) -> String {
        let mut text = String::new();
        let a = match self.a_place {
            Some(place) => {
                write!(text, "add.u64 %d12, %d10, {};", place.descriptor()).expect("to a string");
                "%d12".to_owned()
            }
            None => format!("[%r4+{A_COLUMN}]"),
        };
        let Case { kind, b_place, .. } = self;
        let (blocks, adds) = (self.blocks(), u8::from(self.accumulate));
        write!(
            text,
            "add.u64 %d13, %d10, {}; mov.b32 %r11, {:#x}; setp.ne.u32 %p6, {adds}, 0;
             tcgen05.mma.sp.cta_group::{blocks}.{kind} [%r4+{D_COLUMN}], {a}, %d13, [%r4+{METADATA_COLUMN}], %r11, %p6;",
            b_place.descriptor(),
            self.descriptor(),
        )
        .expect("to a string");
        text
    }

    /// The memory before, and D of each block as it has to be.
    fn made(&self) -> (Vec<Image>, Vec<Image>) {
        let mut random = Random(self.n as u64 + self.selector as u64);
        let (kept, blocks) = (self.a.depth(), self.blocks());
        let columns = self.n / blocks;
        let mut images = vec![Image::new(); blocks];
        for image in &mut images {
            for lane in 0..128 {
                for column in 0..A_COLUMN - 4 {
                    let value = ((lane * 7 + column * 3) % 64) as f64 - 32.0;
                    *image.cell(lane, column) = match self.d_type {
                        2 => value as i32 as u32,
                        1 => (value as f32).to_bits(),
                        _ => F16.encode(value),
                    };
                }
            }
        }
        let b: Vec<Vec<f64>> = (0..self.n)
            .map(|_| (0..2 * kept).map(|_| self.b.value(&mut random)).collect())
            .collect();
        for (column, values) in b.iter().enumerate() {
            for (k, value) in values.iter().enumerate() {
                let image = &mut images[column / columns];
                let at = (column % columns, k);
                self.b_place.put(&mut image.shared, self.b, at, self.b.encode(*value));
            }
        }
        let mut required = images.clone();
        for row in 0..128 * blocks {
            let block = row / 128;
            let image = &mut images[block];
            // Two of four, or one of two.
            let group = if self.a == TF32 { 2 } else { 4 };
            let mut line = vec![0.0; 2 * kept];
            for at in 0..2 * kept / group {
                let choice = random.next() as usize;
                let (within, bits) = if group == 2 {
                    [(vec![0], 0b0100), (vec![1], 0b1110)][choice % 2].clone()
                } else {
                    [
                        (vec![0, 1], 0b0100),
                        (vec![0, 2], 0b1000),
                        (vec![0, 3], 0b1100),
                        (vec![1, 2], 0b1001),
                        (vec![1, 3], 0b1101),
                        (vec![2, 3], 0b1110),
                    ][choice % 6]
                        .clone()
                };
                for half in 0..2 {
                    let (lane, entry) = spot(self.a, row % 128, 2 * at + half);
                    let entry = entry + 16 * self.selector;
                    let cell = image.cell(lane, METADATA_COLUMN + entry / 16);
                    *cell |= (bits >> (2 * half) & 3) << (2 * (entry % 16));
                }
                for (number, within) in within.iter().enumerate() {
                    let (k, value) = (at * group / 2 + number, self.a.value(&mut random));
                    line[at * group + within] = value;
                    let bits = self.a.encode(value);
                    if let Some(place) = self.a_place {
                        place.put(&mut image.shared, self.a, (row % 128, k), bits);
                    } else {
                        let per_cell = 4 * kept / 32;
                        let up = 32 / per_cell * (k % per_cell);
                        *image.cell(row % 128, A_COLUMN + k / per_cell) |= bits << up;
                    }
                }
            }
            for (column, b) in b.iter().enumerate() {
                let products: f64 = line.iter().zip(b).map(|(a, b)| a * b).sum();
                let cell = required[block].cell(row % 128, D_COLUMN + column);
                *cell = self.result(products, *cell);
            }
        }
        for (required, image) in required.iter_mut().zip(&images) {
            for lane in 0..128 {
                for column in A_COLUMN - 4..512 {
                    *required.cell(lane, column) = image.tensor[lane * 512 + column];
                }
            }
        }
        (images, required)
    }

    /// The bits of D, from the value of the products and what it held.
    fn result(&self, products: f64, c: u32) -> u32 {
        let old = f64::from(u8::from(self.accumulate));
        match self.d_type {
            2 => (products as i64 + if self.accumulate { i64::from(c as i32) } else { 0 }) as u32,
            1 => ((products + old * f64::from(f32::from_bits(c))) as f32).to_bits(),
            _ => {
                let c = f64::from(kernel_emulator::numeric::narrow::widen_f16(c as u16));
                let sum = (products + old * c) as f32;
                u32::from(kernel_emulator::numeric::narrow::narrow_f16(sum))
            }
        }
    }

    #[track_caller]
    fn check(&self) {
        let (images, required) = self.made();
        let actual =
            run(&images, &self.issue()).unwrap_or_else(|fault| panic!("{fault}\n{self:?}"));
        for (block, (actual, required)) in actual.iter().zip(&required).enumerate() {
            for (at, (actual, required)) in actual.tensor.iter().zip(&required.tensor).enumerate() {
                let (lane, column) = (at / 512, at % 512);
                assert_eq!(
                    actual, required,
                    "block {block}, lane {lane}, column {column} of {self:?}"
                );
            }
        }
    }

    /// The fault after a change of the memory, and of the instruction.
    #[track_caller]
    fn refused(&self, change: impl Fn(&mut Image), issue: impl Fn(String) -> String) -> Fault {
        let (mut images, _) = self.made();
        change(&mut images[0]);
        run(&images, &issue(self.issue())).expect_err("it is refused")
    }
}

#[test]
fn every_element_type_multiplies() {
    for (kind, ty) in [
        ("kind::f16", F16),
        ("kind::f16", BF16),
        ("kind::tf32", TF32),
        ("kind::f8f6f4", E4M3),
        ("kind::f8f6f4", E5M2),
        ("kind::i8", U8),
        ("kind::i8", S8),
    ] {
        Case::new(kind, ty, 64).check();
        Case { accumulate: false, ..Case::new(kind, ty, 16) }.check();
        if ty.depth() < 32 {
            Case { selector: 1, ..Case::new(kind, ty, 32) }.check();
        }
    }
    Case { b: E5M2, ..Case::new("kind::f8f6f4", E4M3, 32) }.check();
    Case { b: S8, ..Case::new("kind::i8", U8, 32) }.check();
    Case { d_type: 0, ..Case::new("kind::f16", F16, 256) }.check();
}

#[test]
fn two_blocks_share_a_product_and_have_metadata_each() {
    for (kind, ty) in [("kind::f16", F16), ("kind::tf32", TF32), ("kind::i8", S8)] {
        Case { pair: true, ..Case::new(kind, ty, 64) }.check();
    }
    Case { pair: true, selector: 1, ..Case::new("kind::f16", BF16, 256) }.check();
}

#[test]
fn operands_lie_in_tensor_memory_and_in_every_layout_that_has_64_bytes() {
    for (kind, ty) in [("kind::f16", F16), ("kind::tf32", TF32), ("kind::f8f6f4", E4M3)] {
        Case { a_place: None, ..Case::new(kind, ty, 32) }.check();
        for place in [Place::k(4, 0, 512, 64 * 1024), Place::k(0, 128, 512, 64 * 1024)] {
            Case { b_place: place, ..Case::new(kind, ty, 64) }.check();
        }
    }
    for (kind, ty) in [("kind::f16", F16), ("kind::i8", S8)] {
        // 64 bytes of rows or columns beside one another; A has half as many lines along k.
        let place =
            |depth: usize, start| Place { mn_major: true, ..Place::k(4, 64 * depth, 512, start) };
        let (a_place, b_place) = (Some(place(ty.depth(), 0)), place(2 * ty.depth(), 64 * 1024));
        Case { a_place, b_place, ..Case::new(kind, ty, 64) }.check();
    }
}

#[test]
fn metadata_without_a_meaning_stops_a_product() {
    let cell =
        |lane: usize, bits: u32| move |image: &mut Image| *image.cell(lane, METADATA_COLUMN) = bits;
    let halves = Case::new("kind::f16", F16, 32);
    for bits in [0b0000, 0b0101, 0b1010, 0b1111, 0b0001, 0b0010, 0b0011, 0b0111, 0b1011] {
        // Row 8 has the upper half of lane 0.
        let fault = halves.refused(cell(0, bits << 20 | 0x4404_4444), |text| text);
        assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
        let said = format!("the metadata of group 1 of row 8 of A is {bits:#06b}");
        assert!(fault.detail.contains(&said), "{fault}");
    }
    let single = Case::new("kind::tf32", TF32, 32);
    for bits in (0..16).filter(|bits| ![0b0100, 0b1110].contains(bits)) {
        let fault = single.refused(cell(9, 0x4444_4440 | bits), |text| text);
        let said = format!(
            "the metadata of group 4 of row 1 of A is {bits:#06b}: required 0b0100 or 0b1110"
        );
        assert!(fault.detail.contains(&said), "{fault}");
    }
    let bytes = Case::new("kind::i8", S8, 32);
    let fault = bytes.refused(cell(77, 0x0444_4444), |text| text);
    assert!(fault.detail.contains("the metadata of group 7 of row 77 of A is 0b0000"), "{fault}");
}

#[test]
fn the_instruction_says_where_metadata_is() {
    let halves = Case::new("kind::f16", F16, 32);
    let bytes = Case::new("kind::f8f6f4", E4M3, 32);
    let bits = |case: &Case, change: u32| {
        let old = format!("{:#x}", case.descriptor());
        let new = format!("{:#x}", case.descriptor() ^ change);
        case.refused(|_| {}, |text| text.replace(&old, &new)).detail
    };
    let said = bits(&halves, 1 << 2);
    assert!(
        said.contains("sparsity, of an instruction with `.sp`: required 1, actual 0"),
        "{said}"
    );
    let said = bits(&halves, 2);
    assert!(said.contains("sparsity selector: required 0 or 1, actual 2"), "{said}");
    let said = bits(&bytes, 1);
    assert!(said.contains("sparsity selector: required 0, actual 1"), "{said}");
    // 64 rows instead of 128.
    let said = bits(&halves, 12 << 24);
    assert!(said.contains("with 64 rows in each block is not modelled: required 128"), "{said}");
    let moved = |to: usize| {
        let old = format!("[%r4+{METADATA_COLUMN}]");
        let new = format!("[%r4+{to}]");
        halves.refused(|_| {}, |text| text.replace(&old, &new)).detail
    };
    for to in [METADATA_COLUMN + 1, METADATA_COLUMN + (16 << 16)] {
        let said = moved(to);
        assert!(said.contains("required lane 0 and an even column"), "{said}");
    }
    let dense = halves.refused(
        |_| {},
        |text| text.replace("mma.sp", "mma").replace(&format!("[%r4+{METADATA_COLUMN}], "), ""),
    );
    assert!(dense.detail.contains("sparsity, of an instruction without `.sp`"), "{dense}");
}
