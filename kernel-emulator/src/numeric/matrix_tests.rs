//! Fragments by the manual's formulas, shape by shape, and products by the triple loop.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "drawn and counted values are cut to the width under test"
)]
#![expect(clippy::many_single_char_names, reason = "d, a, b, c are the manual's operand names")]
#![expect(clippy::float_cmp, reason = "exact arithmetic is compared exactly")]

use super::convert::Minifloat;
use super::format::Round;
use super::fragment::{
    LANES, Place, Register, a_place, a_place_m8, b_place, c_place, load_matrix, matrix_place,
    row_address_lane, store_matrix, transpose_matrix,
};
use super::matrix::{
    Accumulate, BitOp, Element, IntElement, TensorCore, mma_b1, mma_f16, mma_f32, mma_f64, mma_s32,
    mma_s32_m8,
};
use super::narrow::{Half, narrow_f16, widen_f16};
use super::oracle::Random;

/// Row and column of element `i` of a lane's fragment, as one shape's section of the manual gives them.
pub(super) type Formula = fn(i: usize, group: usize, within: usize) -> (usize, usize);

/// The formulas of PTX ISA, "Matrix Fragments for mma.m16n8kK": shape, elements per register, A, B.
pub(super) const SHAPES: [(&str, usize, usize, usize, Formula, usize, Formula); 9] = [
    (
        "m16n8k8 f16",
        2,
        8,
        4,
        |i, g, t| (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1)),
        2,
        |i, g, t| (t * 2 + i, g),
    ),
    (
        "m16n8k16 f16",
        2,
        16,
        8,
        |i, g, t| {
            let row = if i < 2 || (4..6).contains(&i) { g } else { g + 8 };
            (row, if i < 4 { t * 2 + (i & 1) } else { t * 2 + (i & 1) + 8 })
        },
        4,
        |i, g, t| (if i < 2 { t * 2 + (i & 1) } else { t * 2 + (i & 1) + 8 }, g),
    ),
    ("m16n8k4 tf32", 1, 4, 2, |i, g, t| (if i == 0 { g } else { g + 8 }, t), 1, |_, g, t| (t, g)),
    (
        "m16n8k8 tf32",
        1,
        8,
        4,
        |i, g, t| (if i == 0 || i == 2 { g } else { g + 8 }, if i < 2 { t } else { t + 4 }),
        2,
        |i, g, t| (if i == 0 { t } else { t + 4 }, g),
    ),
    (
        "m16n8k16 s8",
        4,
        16,
        8,
        |i, g, t| (if i < 4 { g } else { g + 8 }, t * 4 + (i & 3)),
        4,
        |i, g, t| (t * 4 + i, g),
    ),
    (
        "m16n8k32 s8",
        4,
        32,
        16,
        |i, g, t| {
            let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
            (row, if i < 8 { t * 4 + (i & 3) } else { t * 4 + (i & 3) + 16 })
        },
        8,
        |i, g, t| (if i < 4 { t * 4 + (i & 3) } else { t * 4 + (i & 3) + 16 }, g),
    ),
    (
        "m16n8k32 s4",
        8,
        32,
        16,
        |i, g, t| (if i < 8 { g } else { g + 8 }, t * 8 + (i & 7)),
        8,
        |i, g, t| (t * 8 + i, g),
    ),
    (
        "m16n8k64 s4",
        8,
        64,
        32,
        |i, g, t| {
            let row = if i < 8 || (16..24).contains(&i) { g } else { g + 8 };
            (row, if i < 16 { t * 8 + (i & 7) } else { t * 8 + (i & 7) + 32 })
        },
        16,
        |i, g, t| (if i < 8 { t * 8 + (i & 7) } else { t * 8 + (i & 7) + 32 }, g),
    ),
    (
        "m16n8k256 b1",
        32,
        256,
        128,
        |i, g, t| {
            let row = if i < 32 || (64..96).contains(&i) { g } else { g + 8 };
            (row, if i < 64 { t * 32 + (i & 31) } else { t * 32 + (i & 31) + 128 })
        },
        64,
        |i, g, t| (if i < 32 { t * 32 + (i & 31) } else { t * 32 + (i & 31) + 128 }, g),
    ),
];

#[test]
fn fragments_follow_the_manual_and_cover_the_matrix() {
    for (name, e, k, a_elements, a, b_elements, b) in SHAPES {
        let mut seen = vec![0; 16 * k];
        let mut seen_b = vec![0; 8 * k];
        for lane in 0..LANES {
            for i in 0..a_elements {
                let (row, column) = a(i, lane >> 2, lane % 4);
                assert_eq!(
                    a_place(e, i / e, i % e, lane),
                    Place { row, column },
                    "A {name} {i} {lane}"
                );
                seen[row * k + column] += 1;
            }
            for i in 0..b_elements {
                let (row, column) = b(i, lane >> 2, lane % 4);
                assert_eq!(
                    b_place(e, i / e, i % e, lane),
                    Place { row, column },
                    "B {name} {i} {lane}"
                );
                seen_b[row * 8 + column] += 1;
            }
        }
        assert!(seen.iter().chain(&seen_b).all(|count| *count == 1), "{name}");
    }
    let mut seen = [0; 128];
    for lane in 0..LANES {
        for i in 0..4 {
            let row = if i < 2 { lane >> 2 } else { (lane >> 2) + 8 };
            let column = lane % 4 * 2 + (i & 1);
            assert_eq!(c_place(i, lane), Place { row, column });
            seen[row * 8 + column] += 1;
        }
        // m8n8k16: row = groupID, col = threadID_in_group * 4 + i.
        for i in 0..4 {
            assert_eq!(
                a_place_m8(4, 0, i, lane),
                Place { row: lane >> 2, column: lane % 4 * 4 + i }
            );
        }
        assert_eq!(a_place_m8(1, 0, 0, lane), Place { row: lane >> 2, column: lane % 4 });
    }
    assert!(seen.iter().all(|count| *count == 1));
}

/// Packs a row-major matrix into registers by a shape's formula.
pub(super) fn registers(
    e: usize,
    elements: usize,
    place: Formula,
    columns: usize,
    codes: &[u32],
) -> Vec<Register> {
    let mut registers = vec![[0; LANES]; elements / e];
    for (r, register) in registers.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            for j in 0..e {
                let (row, column) = place(e * r + j, lane >> 2, lane % 4);
                let code = codes[row * columns + column] & (u32::MAX >> (32 - 32 / e));
                *word |= code << (32 / e * j);
            }
        }
    }
    registers
}

pub(super) fn accumulators(values: &[u32; 128]) -> [Register; 4] {
    let mut c = [[0; LANES]; 4];
    for lane in 0..LANES {
        for (i, register) in c.iter_mut().enumerate() {
            let row = if i < 2 { lane >> 2 } else { (lane >> 2) + 8 };
            register[lane] = values[row * 8 + lane % 4 * 2 + (i & 1)];
        }
    }
    c
}

/// The sum in order of increasing k with f32 rounding, written as the manual's triple loop.
fn reference(k: usize, a: &[f32], b: &[f32], c: &[f32; 128]) -> [f32; 128] {
    std::array::from_fn(|i| {
        let (row, column) = (i / 8, i % 8);
        (0..k).fold(c[i], |sum, j| sum + a[row * k + j] * b[j * 8 + column])
    })
}

#[test]
fn float_products_match_the_triple_loop() {
    let mut random = Random::new(31);
    let elements = [
        (Element::F16, 0, 1),
        (Element::Bf16, 0, 1),
        (Element::Tf32, 2, 3),
        (Element::Mini(Minifloat::E4m3), 4, 5),
        (Element::Mini(Minifloat::E5m2), 4, 5),
    ];
    for (element, first, last) in elements {
        for (_, e, k, a_elements, a_formula, b_elements, b_formula) in &SHAPES[first..=last] {
            for round in 0..20 {
                // Values near one, so that sums round; the last rounds take any finite pattern.
                let mut code = |_| {
                    let bits = random.next() as u32;
                    match element {
                        Element::F16 if round < 15 => bits & 0x83ff | 0x3800 | bits >> 16 & 0x0400,
                        // Subnormals, zeros among ordinary numbers, then none but those.
                        Element::F16 if round < 17 => bits & 0xbbff,
                        Element::F16 if bits.is_multiple_of(8) => bits & 0x8000,
                        Element::F16 => bits & 0xbbff | 0x0400,
                        Element::Bf16 => bits & 0x80ff | 0x3f00,
                        Element::Tf32 => bits & 0x80ff_ffff | 0x3f00_0000,
                        Element::Mini(_) => bits & 0xbb,
                    }
                };
                let a: Vec<u32> = (0..16 * k).map(&mut code).collect();
                let b: Vec<u32> = (0..8 * k).map(&mut code).collect();
                let widen = |code: &u32| match element {
                    Element::F16 => Half::F16.widen(*code as u16),
                    Element::Bf16 => Half::Bf16.widen(*code as u16),
                    Element::Tf32 => f32::from_bits(code >> 13 << 13),
                    Element::Mini(mini) => mini.widen(*code as u8),
                };
                let wide_a: Vec<f32> = a.iter().map(widen).collect();
                let wide_b: Vec<f32> = b.iter().map(widen).collect();
                let a = registers(*e, *a_elements, *a_formula, *k, &a);
                let b = registers(*e, *b_elements, *b_formula, 8, &b);
                let c: [u32; 128] =
                    std::array::from_fn(|_| (random.below(2000) as f32 - 1000.0).to_bits() ^ 0x155);
                let d = mma_f32(element, &a, element, &b, &accumulators(&c), TensorCore::InOrder);
                let expected =
                    reference(*k, &wide_a, &wide_b, &c.map(f32::from_bits)).map(f32::to_bits);
                assert_eq!(d, accumulators(&expected), "{element:?} k{k}");
                if element != Element::Tf32 && element != Element::Bf16 {
                    let halves: [u16; 128] = std::array::from_fn(|_| random.next() as u16 & 0x3bff);
                    let pack = |values: &[u16; 128]| -> [Register; 2] {
                        let wide = accumulators(&values.map(u32::from));
                        std::array::from_fn(|r| {
                            std::array::from_fn(|l| wide[2 * r][l] | wide[2 * r + 1][l] << 16)
                        })
                    };
                    let d = mma_f16(element, &a, element, &b, &pack(&halves), TensorCore::InOrder);
                    let expected =
                        reference(*k, &wide_a, &wide_b, &halves.map(widen_f16)).map(narrow_f16);
                    assert_eq!(d, pack(&expected), "{element:?} k{k} f16");
                }
            }
        }
    }
}

#[test]
fn mixed_eight_bit_operands_keep_their_own_type() {
    let (_, e, k, a_elements, a_formula, b_elements, b_formula) = SHAPES[5];
    let a = registers(e, a_elements, a_formula, k, &vec![0x38; 16 * k]);
    let b = registers(e, b_elements, b_formula, 8, &vec![0x40; 8 * k]);
    let (left, right) = (Element::Mini(Minifloat::E4m3), Element::Mini(Minifloat::E5m2));
    // 32 times 1.0 (e4m3) times 2.0 (e5m2).
    let d = mma_f32(left, &a, right, &b, &[[0; LANES]; 4], TensorCore::InOrder);
    assert_eq!(d, [[64f32.to_bits(); LANES]; 4]);
}

#[test]
fn nan_results_are_canonical() {
    let mut a = [[0x3c00_3c00; LANES]; 4];
    // NaN in row 0, infinity in row 1.
    (a[0][0], a[0][4]) = (0x3c00_fe01, 0x3c00_7c00);
    let d = mma_f32(
        Element::F16,
        &a,
        Element::F16,
        &[[0x3c00_3c00; LANES]; 2],
        &[[0; LANES]; 4],
        TensorCore::InOrder,
    );
    // Lanes 0 to 3 hold row 0, the next four row 1.
    let infinity = f32::INFINITY.to_bits();
    assert_eq!([d[0][0], d[1][3]], [0x7fff_ffff; 2]);
    assert_eq!([d[0][4], d[1][7], d[0][8]], [infinity, infinity, 16f32.to_bits()]);
}

#[test]
fn integer_products_match_the_triple_loop() {
    let mut random = Random::new(32);
    let sign =
        |value: i64, bits: u32| if value >= 1 << (bits - 1) { value - (1 << bits) } else { value };
    let types = [
        (IntElement::U8, 8, false),
        (IntElement::S8, 8, true),
        (IntElement::U4, 4, false),
        (IntElement::S4, 4, true),
    ];
    for (left, bits, left_signed) in types {
        for (right, right_bits, right_signed) in types {
            if bits != right_bits {
                continue;
            }
            let shapes = if bits == 8 { 4..=5 } else { 6..=7 };
            for (_, e, k, a_elements, a_formula, b_elements, b_formula) in &SHAPES[shapes] {
                for _ in 0..10 {
                    let a: Vec<u32> =
                        (0..16 * k).map(|_| random.next() as u32 & ((1 << bits) - 1)).collect();
                    let b: Vec<u32> =
                        (0..8 * k).map(|_| random.next() as u32 & ((1 << bits) - 1)).collect();
                    let c: [u32; 128] = std::array::from_fn(|_| random.next() as u32 | 0x7fff_0000);
                    let read = |code: u32, signed: bool| {
                        if signed { sign(i64::from(code), bits) } else { i64::from(code) }
                    };
                    let sum = |i: usize| {
                        let products: i64 = (0..*k)
                            .map(|j| {
                                read(a[i / 8 * k + j], left_signed)
                                    * read(b[j * 8 + i % 8], right_signed)
                            })
                            .sum();
                        i64::from(c[i].cast_signed()) + products
                    };
                    let ra = registers(*e, *a_elements, *a_formula, *k, &a);
                    let rb = registers(*e, *b_elements, *b_formula, 8, &b);
                    let wrapped: [u32; 128] = std::array::from_fn(|i| sum(i) as u32);
                    let clamped: [u32; 128] = std::array::from_fn(|i| {
                        sum(i).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
                    });
                    let rc = accumulators(&c);
                    assert_eq!(
                        mma_s32(left, &ra, right, &rb, &rc, Accumulate::Wrap),
                        accumulators(&wrapped)
                    );
                    assert_eq!(
                        mma_s32(left, &ra, right, &rb, &rc, Accumulate::Saturate),
                        accumulators(&clamped)
                    );
                }
            }
        }
    }
    // m8n8k16: one register each, two accumulators.
    let d = mma_s32_m8(
        IntElement::S8,
        &[0x0101_01ff; LANES],
        IntElement::U8,
        &[0x0203_04ff; LANES],
        &[[5; LANES]; 2],
        Accumulate::Wrap,
    );
    assert_eq!(d, [[(5 + 4 * (2 + 3 + 4 - 255)) as u32; LANES]; 2]);
}

#[test]
fn bit_products_count_ones() {
    let mut random = Random::new(33);
    let (_, e, k, a_elements, a_formula, b_elements, b_formula) = SHAPES[8];
    let a: Vec<u32> = (0..16 * k).map(|_| random.next() as u32 & 1).collect();
    let b: Vec<u32> = (0..8 * k).map(|_| random.next() as u32 & 1).collect();
    let ra = registers(e, a_elements, a_formula, k, &a);
    let rb = registers(e, b_elements, b_formula, 8, &b);
    let c: [u32; 128] = std::array::from_fn(|i| i as u32);
    for (op, f) in [(BitOp::Xor, (|x, y| x ^ y) as fn(u32, u32) -> u32), (BitOp::And, |x, y| x & y)]
    {
        let count = |k: usize, stride: usize| -> [u32; 128] {
            std::array::from_fn(|i| {
                c[i] + (0..k).map(|j| f(a[i / 8 * stride + j], b[j * 8 + i % 8])).sum::<u32>()
            })
        };
        assert_eq!(mma_b1(op, &ra, &rb, &accumulators(&c)), accumulators(&count(256, 256)));
        // k128 is the first half: two registers of A and one of B.
        assert_eq!(
            mma_b1(op, &ra[..2], &rb[..1], &accumulators(&c)),
            accumulators(&count(128, 256))
        );
    }
}

#[test]
fn f64_products_are_fused_chains() {
    let mut random = Random::new(34);
    let mut number = |_| ((random.below(1 << 40) as f64) - 5e11) * 1e-3;
    for k in [4usize, 8, 16] {
        let a: Vec<f64> = (0..16 * k).map(&mut number).collect();
        let b: Vec<f64> = (0..8 * k).map(&mut number).collect();
        let c: Vec<f64> = (0..128).map(&mut number).collect();
        // One element in a register: rows alternate, then k advances by four.
        let mut ra = vec![[0; LANES]; k / 2];
        let mut rb = vec![[0; LANES]; k / 4];
        let mut rc = [[0; LANES]; 4];
        for lane in 0..LANES {
            let (g, t) = (lane >> 2, lane % 4);
            for (i, register) in ra.iter_mut().enumerate() {
                let row = if i % 2 == 0 { g } else { g + 8 };
                let column = if i % 2 == 0 { i * 2 + t } else { i * 2 - 2 + t };
                register[lane] = a[row * k + column].to_bits();
            }
            for (i, register) in rb.iter_mut().enumerate() {
                register[lane] = b[(t + i * 4) * 8 + g].to_bits();
            }
            for (i, register) in rc.iter_mut().enumerate() {
                let row = if i < 2 { g } else { g + 8 };
                register[lane] = c[row * 8 + t * 2 + (i & 1)].to_bits();
            }
        }
        let d = mma_f64(&ra, &rb, &rc, Round::NearestEven);
        for lane in 0..LANES {
            for (i, register) in d.iter().enumerate() {
                let (row, column) =
                    (if i < 2 { lane >> 2 } else { (lane >> 2) + 8 }, lane % 4 * 2 + (i & 1));
                let sum = (0..k)
                    .fold(c[row * 8 + column], |s, j| a[row * k + j].mul_add(b[j * 8 + column], s));
                assert_eq!(f64::from_bits(register[lane]), sum);
            }
        }
        if k == 4 {
            let d8 = mma_f64(&ra[..1], &rb, &[rc[0], rc[1]], Round::NearestEven);
            assert_eq!(d8, [d[0], d[1]]);
        }
    }
}

#[test]
fn matrix_moves_follow_the_manual() {
    let rows: [[u16; 8]; 8] = std::array::from_fn(|r| std::array::from_fn(|c| (16 * r + c) as u16));
    let plain = load_matrix(&rows, false);
    let transposed = load_matrix(&rows, true);
    for lane in 0..LANES {
        // ldmatrix: thread t receives elements 2(t % 4), 2(t % 4) + 1 of row t / 4.
        let (row, column) = (lane as u32 / 4, 2 * (lane as u32 % 4));
        assert_eq!(plain[lane], (16 * row + column) | (16 * row + column + 1) << 16);
        // .trans: the same of the matrix loaded in column-major order.
        assert_eq!(transposed[lane], (16 * column + row) | (16 * (column + 1) + row) << 16);
    }
    assert_eq!(store_matrix(&plain, false), rows);
    assert_eq!(store_matrix(&transposed, true), rows);
    assert_eq!(transpose_matrix(&plain), transposed);
    assert_eq!(transpose_matrix(&transposed), plain);
    assert_eq!(matrix_place(5, 1, false), Place { row: 1, column: 3 });
    // The table of thread groups: matrix i takes the addresses of threads 8i to 8i + 7.
    assert_eq!(
        [row_address_lane(0, 7), row_address_lane(1, 0), row_address_lane(3, 7)],
        [7, 8, 31]
    );
}
