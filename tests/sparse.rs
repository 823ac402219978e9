//! Compressing matrices on the host, against places worked out by hand and by a slow search.

use kiln::prelude::*;
use kiln::sparse::{Error, Sparse, compress, decompress, prune};

/// Numbers that repeat late.
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % end
    }
}

/// Rows of small numbers, of which about a third is zeros.
fn small(rows: usize, columns: usize) -> Vec<i8> {
    let mut numbers = Numbers(7);
    let one = |_| i8::try_from(numbers.below(13)).expect("small") - 6;
    (0..rows * columns).map(one).map(|x| if x.abs() < 2 { 0 } else { x }).collect()
}

fn there_and_back<T: Sparse>(columns: usize, of: impl Fn(i8) -> T) {
    for rows in [0, 1, 5] {
        let mut dense: Vec<T> = small(rows, columns).into_iter().map(&of).collect();
        prune(&mut dense, columns).expect("whole rows");
        for group in dense.chunks(T::GROUP) {
            let others = group.iter().filter(|x| **x != T::default()).count();
            assert!(others <= T::GROUP / 2, "{}: {group:?}", T::DTYPE);
        }
        let compressed = compress(&dense, columns).expect("it was pruned");
        assert_eq!(compressed.kept_shape, [rows, columns / 2], "{}", T::DTYPE);
        assert_eq!(compressed.kept.len(), rows * columns / 2, "{}", T::DTYPE);
        assert_eq!(compressed.metadata_shape, [rows, columns / (4 * T::GROUP)], "{}", T::DTYPE);
        let back = decompress(&compressed.kept, &compressed.metadata, columns);
        assert_eq!(back.as_ref(), Ok(&dense), "{}", T::DTYPE);
    }
}

#[test]
fn every_element_type_is_the_same_after_the_way_back() {
    there_and_back(16, |x| x);
    there_and_back(32, i8::unsigned_abs);
    there_and_back(48, |x| f16::from_f32(x.into()));
    there_and_back(64, |x| bf16::from_f32(x.into()));
    there_and_back(8, f32::from);
    there_and_back(24, f32::from);
    there_and_back(128, |x| e4m3::from_f32(x.into()));
    there_and_back(16, |x| e5m2::from_f32(x.into()));
}

#[test]
fn each_pair_of_places_has_the_bits_of_the_manual() {
    // PTX ISA, "Sparse matrix storage": the meaningful values, and what they keep.
    let pairs = [
        (0b0100, [0, 1]),
        (0b1000, [0, 2]),
        (0b1001, [1, 2]),
        (0b1100, [0, 3]),
        (0b1101, [1, 3]),
        (0b1110, [2, 3]),
    ];
    for (bits, places) in pairs {
        for group in 0..4 {
            // The other groups are empty: their first two zeros are kept.
            let mut row = [0i8; 16];
            row[4 * group + places[0]] = 3;
            row[4 * group + places[1]] = 5;
            let compressed = compress(&row, 16).expect("two of four");
            let others = 0x4444 & !(0xf << (4 * group));
            assert_eq!(compressed.metadata, [others | bits << (4 * group)], "{places:?}");
            assert_eq!(compressed.kept[2 * group..2 * group + 2], [3, 5], "{places:?}");
        }
    }
    for (bits, place) in [(0b0100, 0), (0b1110, 1)] {
        for group in 0..4 {
            let mut row = [0f32; 8];
            row[2 * group + place] = 3.0;
            let compressed = compress(&row, 8).expect("one of two");
            let others = 0x4444 & !(0xf << (4 * group));
            assert_eq!(compressed.metadata, [others | bits << (4 * group)], "{place}");
            assert_eq!(compressed.kept[group].to_bits(), 3f32.to_bits(), "{place}");
        }
    }
}

#[test]
fn a_group_with_one_number_keeps_the_first_zero_too() {
    let mut row = [0i8; 16];
    (row[3], row[4], row[10]) = (7, 8, 9);
    let compressed = compress(&row, 16).expect("one of four");
    assert_eq!(compressed.kept, [0, 7, 8, 0, 0, 9, 0, 0]);
    assert_eq!(compressed.metadata, [0b0100_1000_0100_1100]);
}

#[test]
fn special_values_are_kept_and_negative_zero_is_zero() {
    let (nan, inf) = (f32::NAN, f32::NEG_INFINITY);
    let mut row = [1e30, nan, inf, 3.0, -0.0, 0.0, 2.0, -2.0];
    prune(&mut row, 8).expect("one row");
    assert!(row[1].is_nan(), "{row:?}");
    assert_eq!([&row[..1], &row[2..]].concat(), [0.0, inf, 0.0, 0.0, 0.0, 2.0, 0.0]);
    let halves = [-0.0, f16::NAN.to_f32(), -0.0, 4.0].map(f16::from_f32);
    let compressed = compress(&halves.repeat(4), 16).expect("two of four");
    assert_eq!(compressed.metadata, [0xdddd]);
}

#[test]
fn what_does_not_fit_is_an_error_that_says_where() {
    let mut row = [0i8; 32];
    (row[20], row[21], row[23]) = (1, 2, 3);
    let error = compress(&row, 16).expect_err("three of four");
    assert_eq!(error, Error::Group { row: 1, column: 4, required: 2, actual: 3 });
    assert_eq!(
        error.to_string(),
        "row 1 has 3 elements that are not zero in the group from column 4 on: required 2 at most; \
         `sparse::prune` sets the others to zero"
    );
    let error = compress(&[1f32, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 8).expect_err("two of two");
    assert_eq!(error, Error::Group { row: 0, column: 0, required: 1, actual: 2 });
    for columns in [0, 8, 24] {
        let error = compress(&[0i8; 48], columns).expect_err("not whole groups");
        assert_eq!(error, Error::Columns { multiple: 16, actual: columns });
    }
    let error = prune(&mut [0f32; 9], 8).expect_err("not whole rows");
    assert_eq!(error, Error::Length { what: "matrix", required: 8, actual: 9 });
    let error = decompress(&[0i8; 16], &[0x4444], 16).expect_err("two rows");
    assert_eq!(error, Error::Length { what: "metadata", required: 2, actual: 1 });
}

#[test]
fn metadata_that_names_no_elements_is_an_error() {
    for bits in 0..16u16 {
        let halves = decompress(&[1u8; 8], &[0x4444 & !0xf0 | bits << 4], 16);
        let meant = [0x4, 0x8, 0x9, 0xc, 0xd, 0xe].contains(&bits);
        let error = Error::Metadata { row: 0, column: 4, bits };
        assert_eq!(halves.is_ok(), meant, "{bits:#06b}");
        assert_eq!(halves.err(), (!meant).then_some(error.clone()), "{bits:#06b}");
        let words = decompress(&[1f32; 4], &[0x4444 & !0xf000 | bits << 12], 8);
        let meant = [0x4, 0xe].contains(&bits);
        let error = Error::Metadata { row: 0, column: 6, bits };
        assert_eq!(words.err(), (!meant).then_some(error), "{bits:#06b}");
    }
}
