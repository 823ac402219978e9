//! The tensor-core model against its own statement in integers, and against an H200.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "drawn and counted values are cut to the width under test"
)]
#![expect(clippy::many_single_char_names, reason = "d, a, b, c are the manual's operand names")]
#![expect(clippy::float_cmp, reason = "exact arithmetic is compared exactly")]

use super::convert::{Minifloat, unpack_minis};
use super::format::{Format, Round};
use super::fragment::{LANES, Register};
use super::matrix::{self, Element, TensorCore};
use super::matrix_tests::{SHAPES, accumulators, registers};
use super::narrow::Half;
use super::oracle::{self, Random, Real};
use super::scalar::Clamp;

fn mma_f32(
    left: Element,
    a: &[Register],
    right: Element,
    b: &[Register],
    c: &[Register; 4],
) -> [Register; 4] {
    matrix::mma_f32(left, a, right, b, c, TensorCore::Hopper)
}

fn mma_f16(
    left: Element,
    a: &[Register],
    right: Element,
    b: &[Register],
    c: &[Register; 2],
) -> [Register; 2] {
    matrix::mma_f16(left, a, right, b, c, TensorCore::Hopper)
}

/// A number as units and scale, with the exponent that it enters a sum with.
fn factor(format: Format, code: u64) -> (i128, i32, i32) {
    let Real::Number { units, scale, .. } = oracle::value(format, code) else {
        panic!("finite operands only")
    };
    let own = scale + 127 - units.unsigned_abs().leading_zeros() as i32;
    (units, scale, own.max(format.min_exponent()))
}

/// The cut terms of one sum by the steps of the module's description, added: units, and the exponent of one. None where all are zero.
fn cut_sum(
    format: Format,
    pairs: &[(u64, u64)],
    (c_format, c): (Format, u32),
) -> Option<(i128, i32)> {
    let mut terms: Vec<(i128, i32, i32)> = pairs
        .iter()
        .map(|&(x, y)| {
            let (x, y) = (factor(format, x), factor(format, y));
            (x.0 * y.0, x.1 + y.1, x.2 + y.2)
        })
        .collect();
    terms.push(factor(c_format, c.into()));
    let largest = terms.iter().filter(|term| term.0 != 0).map(|term| term.2).max()?;
    let unit = largest - 25;
    let sum: i128 = terms
        .iter()
        .map(|&(units, scale, _)| {
            if scale >= unit {
                units << (scale - unit)
            } else {
                units / (1i128 << (unit - scale).min(126))
            }
        })
        .sum();
    Some((sum, unit))
}

/// One sum in f32.
fn block(format: Format, pairs: &[(u64, u64)], c: u32) -> u32 {
    let Some((sum, unit)) = cut_sum(format, pairs, (Format::F32, c)) else { return 0 };
    let top = unit + 127 - sum.unsigned_abs().leading_zeros() as i32;
    if sum != 0 && top > 127 {
        return if sum < 0 { 0xff80_0000 } else { 0x7f80_0000 };
    }
    oracle::round(Format::F32, sum, unit, false, Round::Zero) as u32
}

/// One sum of 8-bit elements in f16.
fn half_block(pairs: &[(u64, u64)], c: u32) -> u32 {
    let Some((sum, unit)) = cut_sum(Format::F16, pairs, (Format::F16, c)) else { return 0 };
    let top = unit + 127 - sum.unsigned_abs().leading_zeros() as i32;
    if sum == 0 || top < -25 {
        return 0;
    }
    match oracle::round(Format::F16, sum, unit, false, Round::NearestEven) as u32 {
        0x8000 => 0,
        bits => bits,
    }
}

/// 8-bit elements as f16, the first or the second half of k in the order of the sums.
fn as_f16(
    (left, right): (Element, Element),
    pairs: &[(u64, u64)],
    first: usize,
) -> Vec<(u64, u64)> {
    let wide = |element, code: u64| {
        let Element::Mini(mini) = element else { panic!("8 bits only") };
        u64::from(unpack_minis(mini, Half::F16, code as u16, Clamp::None) & 0xffff)
    };
    pairs
        .iter()
        .enumerate()
        .filter(|(k, _)| k % 4 / 2 == first)
        .map(|(_, (x, y))| (wide(left, *x), wide(right, *y)))
        .collect()
}

/// A result in f16 for 8-bit elements.
fn expected_half(elements: (Element, Element), pairs: &[(u64, u64)], c: u32) -> u32 {
    let mut sum = 0;
    for first in [0, 1] {
        sum = half_block(&as_f16(elements, pairs, first), sum);
        // Nothing finite changes it.
        if sum & 0x7fff == 0x7c00 {
            return sum;
        }
    }
    let (x, y) = (factor(Format::F16, sum.into()), factor(Format::F16, c.into()));
    let scale = x.1.min(y.1);
    let total = (x.0 << (x.1 - scale)) + (y.0 << (y.1 - scale));
    if total == 0 {
        0
    } else {
        oracle::round(Format::F16, total, scale, false, Round::NearestEven) as u32
    }
}

fn expected(element: Element, pairs: &[(u64, u64)], c: u32) -> u32 {
    match element {
        Element::F16 => block(Format::F16, pairs, c),
        Element::Bf16 => block(Format::BF16, pairs, c),
        Element::Tf32 => {
            let top: Vec<(u64, u64)> = pairs.iter().map(|(x, y)| (x >> 13, y >> 13)).collect();
            block(Format::TF32, &top, c)
        }
        Element::Mini(_) => {
            let sum = block(Format::F16, &as_f16((element, element), pairs, 0), 0);
            let sum = block(Format::F16, &as_f16((element, element), pairs, 1), sum);
            (f32::from_bits(sum) + f32::from_bits(c)).to_bits()
        }
    }
}

fn shape(element: Element, k: usize) -> usize {
    match (element, k) {
        (Element::F16 | Element::Bf16, 8) => 0,
        (Element::F16 | Element::Bf16, _) => 1,
        (Element::Tf32, 4) => 2,
        (Element::Tf32, _) => 3,
        (Element::Mini(_), 16) => 4,
        (Element::Mini(_), _) => 5,
    }
}

fn format(element: Element) -> Format {
    match element {
        Element::F16 => Format::F16,
        Element::Bf16 => Format::BF16,
        Element::Tf32 => Format::F32,
        Element::Mini(mini) => mini.format(),
    }
}

const E4M3: Element = Element::Mini(Minifloat::E4m3);
const E5M2: Element = Element::Mini(Minifloat::E5m2);

#[test]
fn sums_follow_the_stated_steps() {
    let mut random = Random::new(51);
    let kinds = [
        (Element::F16, 8),
        (Element::F16, 16),
        (Element::Bf16, 8),
        (Element::Bf16, 16),
        (Element::Tf32, 4),
        (Element::Tf32, 8),
        (E4M3, 16),
        (E4M3, 32),
        (E5M2, 32),
    ];
    for (element, k) in kinds {
        let (_, e, _, a_elements, a_formula, b_elements, b_formula) = SHAPES[shape(element, k)];
        for _ in 0..60 {
            let mut code = |format: Format| loop {
                let bits = random.pattern(format);
                if matches!(oracle::value(format, bits), Real::Number { .. }) {
                    break bits as u32;
                }
            };
            let a: Vec<u32> = (0..16 * k).map(|_| code(format(element))).collect();
            let b: Vec<u32> = (0..8 * k).map(|_| code(format(element))).collect();
            let c: [u32; 128] =
                std::array::from_fn(|i| if i % 3 == 0 { 0 } else { code(Format::F32) });
            let d: [u32; 128] = std::array::from_fn(|i| {
                let pairs: Vec<(u64, u64)> =
                    (0..k).map(|j| (a[i / 8 * k + j].into(), b[j * 8 + i % 8].into())).collect();
                expected(element, &pairs, c[i])
            });
            let (ra, rb) = (
                registers(e, a_elements, a_formula, k, &a),
                registers(e, b_elements, b_formula, 8, &b),
            );
            assert_eq!(
                mma_f32(element, &ra, element, &rb, &accumulators(&c)),
                accumulators(&d),
                "{element:?} k{k}"
            );
        }
    }
}

/// One row of A, one column of B, C and D.
type Recorded = (Element, &'static [u32], &'static [u32], u32, u32);

/// From `mma.sync` on an H200: results that a sum in order of k would not give.
#[rustfmt::skip]
const RECORDED: [Recorded; 13] = {
    use Element::{Bf16 as BF16, F16, Tf32 as TF32};
    [
        (F16, &[0xbd3f, 0xc009, 0xb88d, 0xbd35, 0xc055, 0x3ad9, 0x3ad5, 0x3802, 0x3df6, 0x3dd0, 0x3cfc, 0xbfc0, 0xbf08, 0xc105, 0x3aeb, 0x3c38], &[0xba87, 0x4098, 0x3881, 0x3fb4, 0x3994, 0x3b03, 0xbdcb, 0xc362, 0xbe89, 0x4257, 0x4342, 0x3cd6, 0x431e, 0x3f28, 0xb98b, 0x4103], 0x0000_0000, 0xc169_685f),
        (F16, &[0xb13a, 0x232b, 0xe2c3, 0xaee3, 0x34a0, 0x3b57, 0x9a97, 0xc6a7, 0xd491, 0xd31a, 0x1787, 0x47f6, 0x3178, 0x3842, 0x26be, 0xa20a], &[0x99fa, 0xad1e, 0x5366, 0x22ec, 0xb31f, 0xd888, 0xd33e, 0x27a6, 0xb72d, 0x28f6, 0x182f, 0xdc19, 0x5023, 0x5001, 0xb08d, 0x5cf4], 0x4015_3081, 0xc750_93cb),
        (F16, &[0xe4a3, 0xda3d, 0x5f33, 0xb55e, 0x5419, 0x45a5, 0xa56d, 0x4751, 0x58e5, 0x575c, 0x2412, 0x14d9, 0x1986, 0x4fc9, 0x05c2, 0xba29], &[0x8b27, 0x914d, 0x8cea, 0x5bc4, 0xb82c, 0x7716, 0xde7a, 0x5612, 0xd933, 0x9a7f, 0x5f3f, 0x6b3b, 0x4b77, 0xa335, 0x62dc, 0x27e9], 0xc1c5_d9f7, 0x4807_1d32),
        (BF16, &[0x3fbb, 0x3f79, 0xc07b, 0xbfb2, 0x3fd8, 0x3fe4, 0x3fb6, 0xbf46, 0xbf34, 0xbf10, 0x3fcb, 0xc05f, 0x3f9c, 0x4021, 0xc041, 0xbfff], &[0xbfb2, 0xbf21, 0x3fd0, 0x4025, 0xbf79, 0xbf78, 0xbf5e, 0xc044, 0x400b, 0x4009, 0xbf22, 0xbf0b, 0xc01e, 0x3fda, 0x3f95, 0x3f78], 0x0000_0000, 0xc1a6_b948),
        (BF16, &[0xbbe4, 0x4411, 0x40cc, 0xc1e3, 0xbc22, 0x4372, 0xbf1c, 0x3ac7, 0xbe58, 0xbf30, 0xbb19, 0x42b6, 0x3b66, 0xbb7c, 0x42a3, 0xc14a], &[0xc15d, 0x434c, 0x3b54, 0x3eef, 0xbf40, 0xbdea, 0xc2f4, 0x4429, 0x421e, 0x436f, 0xc0fa, 0xbe2e, 0x3c93, 0x3ee8, 0xc1b1, 0x3aab], 0xbfea_8dba, 0x47e3_44bc),
        (BF16, &[0xec8c, 0xaf01, 0x3c63, 0x9ebb, 0xe948, 0xa9f2, 0x8a59, 0x065f, 0x90b3, 0xdfc7, 0xc120, 0x9e44, 0xa4e8, 0x7920, 0xf6a6, 0xd46d], &[0x0d34, 0x5ed7, 0xdae3, 0x9932, 0x9441, 0x4398, 0x92fb, 0xbe02, 0xf406, 0xc60a, 0xa406, 0x8f7a, 0xb251, 0xa6aa, 0x04dd, 0x6b24], 0x4290_477b, 0xff80_0000),
        (TF32, &[0xbfa6_38e7, 0x3fc4_1876, 0x3f71_beae, 0x406d_7dce, 0x401a_ad0b, 0xbf15_7d78, 0xbf95_56e4, 0xc058_90b7], &[0x3ff0_9b89, 0x3f61_b4a8, 0xbf19_3fb9, 0x3fd8_1430, 0xbfbe_6eb0, 0x3f6a_2ca0, 0x3fa9_05ee, 0xc033_ae91], 0x0000_0000, 0x4106_ee7a),
        (TF32, &[0xc24d_71f2, 0x3e2c_c44b, 0xc085_3cde, 0xbf31_b2a1, 0x3b89_1408, 0xbe66_480e, 0x4340_c67f, 0x429d_7269], &[0x3ab5_f4b5, 0x3fbe_c460, 0x3a9e_3429, 0xbf60_a85c, 0xbed6_2d94, 0x441d_a4dd, 0x424a_d250, 0x3dac_a383], 0x404e_c08b, 0x4616_9b90),
        (TF32, &[0xc38b_7d32, 0x1b7c_30f3, 0x78c6_384e, 0x719d_f187, 0xea03_f43a, 0xc3e2_4dae, 0xe0a0_8201, 0x4c63_ceb3], &[0x435c_7a79, 0x5c48_d3c0, 0x26fa_778d, 0xe27d_acd6, 0x7e67_4d32, 0x03ac_7b24, 0x1fcc_e202, 0xeeb4_5836], 0xc26f_fb4d, 0xff80_0000),
        (E4M3, &[0xbe, 0x45, 0x40, 0x31, 0xb1, 0xbf, 0xb5, 0x34, 0xb4, 0x3a, 0xc0, 0xc7, 0x39, 0x31, 0xc3, 0xc3, 0x33, 0x30, 0x31, 0x46, 0x40, 0xb7, 0xbc, 0xbc, 0x36, 0xba, 0x41, 0x3f, 0xb1, 0xc4, 0xb0, 0x30], &[0x3e, 0xb2, 0xc0, 0x47, 0x3f, 0x31, 0x30, 0x3b, 0xb0, 0x3b, 0xc0, 0x47, 0xba, 0xb7, 0x39, 0x3d, 0xb0, 0x3b, 0xc6, 0x42, 0x39, 0xb8, 0x3a, 0xbd, 0x45, 0xb4, 0x33, 0x3c, 0xb6, 0x33, 0x34, 0xb8], 0x400b_a93e, 0xc0e5_cb61),
        (E4M3, &[0x12, 0x06, 0xd3, 0x82, 0x0d, 0x4e, 0x56, 0x37, 0x03, 0xbe, 0xa0, 0xdc, 0xc8, 0xa3, 0x09, 0x3f, 0x28, 0xb6, 0xaf, 0x4e, 0x87, 0x81, 0x8f, 0x48, 0x82, 0x6a, 0x37, 0x84, 0xb4, 0xea, 0x99, 0xe3], &[0xa3, 0x17, 0x84, 0x11, 0xce, 0x60, 0x09, 0x52, 0x3c, 0x27, 0x49, 0x89, 0x0b, 0x9c, 0x54, 0x98, 0x11, 0xcc, 0x91, 0xcb, 0x8f, 0xd2, 0x8b, 0x0a, 0x3e, 0x64, 0x2e, 0x97, 0x6b, 0x67, 0x26, 0xc3], 0xc062_29ac, 0xc431_110d),
        (E5M2, &[0x3b, 0xc1, 0xb9, 0x39, 0xbe, 0x3d, 0x38, 0x3f, 0xc1, 0x38, 0x3c, 0xba, 0x3c, 0x38, 0xb8, 0x3a, 0x40, 0xc0, 0x43, 0xc3, 0x3b, 0x40, 0x3c, 0x3a, 0xbd, 0x40, 0xb8, 0xb8, 0x3b, 0xba, 0xbd, 0x3a], &[0xc1, 0x3d, 0x40, 0x41, 0xbb, 0xb8, 0xb8, 0xc3, 0xbe, 0xbf, 0xbe, 0xbf, 0x40, 0x3d, 0xbe, 0x3b, 0xc1, 0xbf, 0x42, 0x40, 0xc2, 0xc3, 0xc3, 0x40, 0x40, 0x39, 0x3a, 0xc1, 0x41, 0x40, 0xbe, 0x42], 0xbf9f_43d5, 0xc126_687b),
        (E5M2, &[0xae, 0xcb, 0x3b, 0x96, 0x58, 0xdc, 0x26, 0x5a, 0xde, 0xcd, 0x4d, 0x36, 0x61, 0xc0, 0xe2, 0xa0, 0x2d, 0x9a, 0xd1, 0x3a, 0x38, 0xc6, 0xbd, 0x38, 0xb5, 0xbe, 0xa1, 0x3d, 0xa8, 0x22, 0x9e, 0x1c], &[0x2d, 0x32, 0xd5, 0x19, 0xc8, 0xc7, 0xae, 0x34, 0x59, 0x36, 0x2f, 0xba, 0x36, 0xa1, 0x4b, 0x3a, 0x46, 0xa4, 0xb2, 0x33, 0xc0, 0x97, 0x19, 0x5c, 0xab, 0xc1, 0xce, 0x4c, 0xb4, 0x36, 0xa3, 0xcd], 0x4182_2236, 0xc78a_bf6f),
    ]
};

#[test]
fn recorded_results_are_met() {
    for (element, row, column, c, d) in RECORDED {
        let k = row.len();
        let (_, e, _, a_elements, a_formula, b_elements, b_formula) = SHAPES[shape(element, k)];
        // The same row and column everywhere, so that every lane must give the result.
        let a: Vec<u32> = (0..16 * k).map(|i| row[i % k]).collect();
        let b: Vec<u32> = (0..8 * k).map(|i| column[i / 8]).collect();
        let (ra, rb) = (
            registers(e, a_elements, a_formula, k, &a),
            registers(e, b_elements, b_formula, 8, &b),
        );
        assert_eq!(
            mma_f32(element, &ra, element, &rb, &[[c; LANES]; 4]),
            [[d; LANES]; 4],
            "{element:?} {d:08x}"
        );
        let pairs: Vec<(u64, u64)> =
            row.iter().zip(column).map(|(x, y)| ((*x).into(), (*y).into())).collect();
        assert_eq!(expected(element, &pairs, c), d);
    }
}

/// Elements of A and of B, one row of A, one column of B, C and D.
type RecordedHalf = (Element, Element, &'static [u32], &'static [u32], u32, u32);

/// From `mma.sync` on an H200 with C and D in f16: the first three are results that neither another order of the sums nor sums in
/// f32 would give, then two with infinite sums of finite products, and two whose sums round to zero.
#[rustfmt::skip]
const RECORDED_HALVES: [RecordedHalf; 7] = [
        (E4M3, E4M3, &[0x33, 0xe2, 0x67, 0x16, 0xea, 0x10, 0x26, 0xe5, 0x05, 0xd8, 0x71, 0x91, 0xd2, 0x1f, 0x76, 0xf3], &[0x45, 0xb5, 0xb1, 0x86, 0xe9, 0x60, 0x99, 0xcf, 0xcd, 0x53, 0xe0, 0xe9, 0xfb, 0xf8, 0x0b, 0xad], 0xea69, 0x667a),
        (E4M3, E5M2, &[0x0b, 0xce, 0x4a, 0xd2, 0x19, 0x91, 0x49, 0x60, 0x89, 0xe4, 0xe9, 0xb7, 0xae, 0xf4, 0x0d, 0x7a, 0xcb, 0x32, 0x03, 0xa8, 0xe9, 0xf4, 0x14, 0x8a, 0x38, 0x8a, 0x42, 0x79, 0xc9, 0x5b, 0xb8, 0x34], &[0x27, 0xda, 0xcd, 0x05, 0xe2, 0x8e, 0x0c, 0x54, 0x59, 0x2b, 0xd2, 0x49, 0xb7, 0xc7, 0x78, 0xd1, 0x39, 0x34, 0xa4, 0x45, 0x2d, 0xcd, 0xdf, 0xca, 0x3f, 0xe0, 0xdc, 0xb4, 0x16, 0x53, 0x5a, 0x30], 0xbfb3, 0x5a57),
        (E5M2, E4M3, &[0xb2, 0x3f, 0x41, 0x35, 0x41, 0x3b, 0xb0, 0xae, 0x4a, 0x43, 0x45, 0xb7, 0x43, 0xad, 0xbe, 0xbd, 0xbd, 0xc0, 0x4b, 0xb5, 0xc3, 0xb9, 0x30, 0x39, 0x36, 0x34, 0xc9, 0x4b, 0x2e, 0x4a, 0xc0, 0xad], &[0x9d, 0x57, 0xd7, 0x40, 0x32, 0x46, 0xab, 0x27, 0xc8, 0x33, 0xaa, 0xbe, 0x56, 0xc8, 0x4e, 0xc7, 0xa6, 0x1d, 0xad, 0xa0, 0xd1, 0x28, 0x9e, 0xd4, 0xcd, 0xa8, 0xa7, 0x1e, 0x40, 0xab, 0xa7, 0x9e], 0xb642, 0x46ee),
        (E5M2, E5M2, &[0xe6, 0x37, 0x4e, 0x5e, 0x14, 0xda, 0x89, 0x8b, 0xb6, 0x99, 0xd4, 0xed, 0x2f, 0x68, 0x95, 0x5d, 0x47, 0x29, 0xf9, 0x31, 0xfb, 0x64, 0x1f, 0xae, 0xce, 0x4f, 0x0f, 0xc7, 0x52, 0x33, 0xb0, 0xbf], &[0x3a, 0x11, 0x6c, 0x8d, 0x09, 0x30, 0xcd, 0x82, 0x83, 0x44, 0xc8, 0x0a, 0xd8, 0xcd, 0xeb, 0x19, 0x31, 0x3c, 0x94, 0xae, 0xa2, 0xd1, 0x91, 0x30, 0x08, 0xe3, 0xd7, 0x1d, 0x04, 0x94, 0x99, 0x6b], 0x8a6b, 0xfc00),
        (E4M3, E4M3, &[0x6b, 0xea, 0x70, 0xf1, 0xeb, 0xeb, 0x73, 0xf2, 0xf2, 0xf4, 0xf5, 0x6c, 0xf0, 0x78, 0xeb, 0x72, 0xea, 0x7d, 0x6c, 0x6d, 0xfd, 0xf4, 0xe9, 0x68, 0xf2, 0x75, 0x6c, 0xfe, 0xee, 0xf2, 0x7a, 0x6a], &[0xfa, 0xfc, 0xee, 0x7a, 0x79, 0xf6, 0xf8, 0xe9, 0x77, 0x72, 0xf6, 0xea, 0x69, 0xf5, 0xe8, 0x7c, 0xfb, 0xea, 0xf1, 0xfe, 0xf6, 0xf8, 0x6f, 0xf2, 0xf8, 0x79, 0xfb, 0xed, 0x69, 0xf3, 0xf9, 0xf7], 0xf1b1, 0x7c00),
        (E5M2, E5M2, &[0x82, 0x02, 0x87, 0x80, 0x01, 0x83, 0x84, 0x81, 0x06, 0x82, 0x85, 0x80, 0x80, 0x06, 0x80, 0x02, 0x05, 0x07, 0x86, 0x02, 0x04, 0x05, 0x80, 0x07, 0x82, 0x02, 0x81, 0x85, 0x01, 0x03, 0x87, 0x03], &[0x80, 0x80, 0x81, 0x81, 0x86, 0x82, 0x86, 0x05, 0x80, 0x00, 0x87, 0x01, 0x85, 0x00, 0x81, 0x02, 0x87, 0x06, 0x05, 0x80, 0x87, 0x80, 0x04, 0x81, 0x86, 0x87, 0x03, 0x01, 0x01, 0x82, 0x02, 0x82], 0x8000, 0x0000),
        (E5M2, E5M2, &[0x85, 0x03, 0x02, 0x81, 0x05, 0x02, 0x81, 0x03, 0x81, 0x84, 0x02, 0x83, 0x02, 0x81, 0x80, 0x00], &[0x03, 0x81, 0x02, 0x86, 0x87, 0x01, 0x04, 0x86, 0x00, 0x02, 0x02, 0x81, 0x80, 0x01, 0x81, 0x84], 0x8000, 0x0000),
];

/// The f16 result for a row and a column, the same in every lane.
fn half_result((left, right): (Element, Element), (row, column): (&[u32], &[u32]), c: u32) -> u32 {
    let k = row.len();
    let (_, e, _, a_elements, a_formula, b_elements, b_formula) = SHAPES[shape(left, k)];
    let a: Vec<u32> = (0..16 * k).map(|i| row[i % k]).collect();
    let b: Vec<u32> = (0..8 * k).map(|i| column[i / 8]).collect();
    let ra = registers(e, a_elements, a_formula, k, &a);
    let rb = registers(e, b_elements, b_formula, 8, &b);
    let d = mma_f16(left, &ra, right, &rb, &[[c | c << 16; LANES]; 2]);
    assert_eq!(d, [[d[0][0]; LANES]; 2]);
    assert_eq!(d[0][0] & 0xffff, d[0][0] >> 16);
    d[0][0] & 0xffff
}

#[test]
fn recorded_f16_results_are_met() {
    for (left, right, row, column, c, d) in RECORDED_HALVES {
        let elements = (left, right);
        assert_eq!(half_result(elements, (row, column), c), d, "{elements:?} {d:04x}");
        let pairs: Vec<(u64, u64)> =
            row.iter().zip(column).map(|(x, y)| ((*x).into(), (*y).into())).collect();
        assert_eq!(expected_half(elements, &pairs, c), d, "{elements:?} {d:04x}");
    }
}

#[test]
fn f16_sums_of_bytes_follow_the_stated_steps() {
    let mut random = Random::new(52);
    for (left, right, k) in [(E4M3, E4M3, 16), (E4M3, E5M2, 32), (E5M2, E4M3, 16), (E5M2, E5M2, 32)]
    {
        for _ in 0..400 {
            let mut code = |format: Format| loop {
                let bits = random.pattern(format);
                if matches!(oracle::value(format, bits), Real::Number { .. }) {
                    break bits as u32;
                }
            };
            let row: Vec<u32> = (0..k).map(|_| code(format(left))).collect();
            let column: Vec<u32> = (0..k).map(|_| code(format(right))).collect();
            let c = code(Format::F16);
            let pairs: Vec<(u64, u64)> =
                row.iter().zip(&column).map(|(x, y)| ((*x).into(), (*y).into())).collect();
            assert_eq!(
                half_result((left, right), (&row, &column), c),
                expected_half((left, right), &pairs, c),
                "{left:?} {right:?} {row:x?} {column:x?} {c:04x}"
            );
        }
    }
}

#[test]
fn infinities_and_nan_stay_in_their_row_and_column() {
    let mut a = [[0x3c00_3c00; LANES]; 4];
    a[0][0] = 0x3c00_7c00;
    let mut b = [[0x3c00_3c00; LANES]; 2];
    b[1][4] = 0x3c00_fc00;
    b[0][8] = 0x3c00_0000;
    // Row 0 has +inf at k = 0; column 1 has -inf at k = 8; column 2 has 0 at k = 0.
    let d = mma_f32(Element::F16, &a, Element::F16, &b, &[[0; LANES]; 4]);
    let nan = 0x7fff_ffff;
    assert_eq!([d[0][0], d[1][0], d[0][1]], [0x7f80_0000, nan, nan]);
    assert_eq!([d[0][4], d[1][4], d[0][5]], [16f32.to_bits(), 0xff80_0000, 15f32.to_bits()]);
    let c = [[f32::INFINITY.to_bits(); LANES]; 4];
    let d = mma_f32(Element::F16, &[[0; LANES]; 4], Element::F16, &[[0; LANES]; 2], &c);
    assert_eq!(d, c);
    // A zero times the largest number does not push the small products out of the sum.
    let (mut a, mut b): ([Register; 4], [Register; 2]) = ([[0; LANES]; 4], [[0; LANES]; 2]);
    (a[0][0], b[0][0]) = (0x1401_0000, 0x1401_7bff);
    let d = mma_f32(Element::F16, &a, Element::F16, &b, &[[0; LANES]; 4]);
    assert_eq!(f32::from_bits(d[0][0]), (1025.0 * 1025.0) / 2f32.powi(40));
    // Sums of zeros are +0.
    let minus = [[0x8000_0000; LANES]; 4];
    assert_eq!(
        mma_f32(Element::F16, &[[0; LANES]; 4], Element::F16, &[[0; LANES]; 2], &minus),
        [[0; LANES]; 4]
    );
}

#[test]
fn f16_results_round_the_f32_sum() {
    // 1 + 2^-11 is a tie that goes to even, 1 + 2^-11 + 2^-20 goes up.
    let mut a: [Register; 4] = [[0; LANES]; 4];
    let mut b: [Register; 2] = [[0; LANES]; 2];
    for lane in (0..LANES).step_by(4) {
        a[0][lane] = 0x1000_3c00;
        b[0][lane] = 0x3c00_3c00;
    }
    let d = mma_f16(Element::F16, &a, Element::F16, &b, &[[0; LANES]; 2]);
    assert_eq!(d[0], [0x3c00_3c00; LANES]);
    let c = [[0x0010_0010; LANES]; 2];
    assert_eq!(mma_f16(Element::F16, &a, Element::F16, &b, &c)[0], [0x3c01_3c01; LANES]);
}
