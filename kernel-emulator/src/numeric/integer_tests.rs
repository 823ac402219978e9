//! Integers bit by bit, comparisons by the host's, atomics by table.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "drawn and counted values are cut to the width under test"
)]
#![expect(clippy::many_single_char_names, reason = "d, a, b, c are the manual's operand names")]
#![expect(clippy::float_cmp, reason = "exact arithmetic is compared exactly")]

use super::atomic::{self, FloatOp, IntOp};
use super::compare::{self, Comparison, Join};
use super::format::Format;
use super::integer::{self, Int, Permute, Range};
use super::narrow::{Half, widen_f16};
use super::oracle::Random;

const TYPES: [Int; 8] =
    [Int::U8, Int::U16, Int::U32, Int::U64, Int::S8, Int::S16, Int::S32, Int::S64];

/// The value of the low bits, by weights.
fn value(ty: Int, bits: u64) -> i128 {
    (0..ty.bits())
        .map(|i| {
            let weight = 1i128 << i;
            let bit = i128::from(bits >> i & 1);
            if ty.is_signed() && i == ty.bits() - 1 { -bit * weight } else { bit * weight }
        })
        .sum()
}

fn low(value: i128, width: u32) -> u64 {
    value.rem_euclid(1 << width) as u64
}

fn word(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => random.below(3).wrapping_sub(1),
        1 => 1 << random.below(64),
        2 => (1u64 << random.below(64)).wrapping_sub(1),
        3 => random.next() >> random.below(64),
        _ => random.next(),
    }
}

#[test]
fn arithmetic_follows_the_integers() {
    let mut random = Random::new(21);
    for _ in 0..60_000 {
        let [a, b, c] = std::array::from_fn(|_| word(&mut random));
        for ty in TYPES {
            let width = ty.bits();
            let (x, y, z) = (value(ty, a), value(ty, b), value(ty, c));
            assert_eq!(integer::add(ty, a, b), low(x + y, width));
            assert_eq!(integer::sub(ty, a, b), low(x - y, width));
            // The product of two u64 needs all of u128.
            let product =
                if ty == Int::U64 { (x as u128 * y as u128).cast_signed() } else { x * y };
            assert_eq!(integer::mul_lo(ty, a, b), product as u64 & (u64::MAX >> (64 - width)));
            assert_eq!(
                integer::mul_hi(ty, a, b),
                (product >> width) as u64 & (u64::MAX >> (64 - width))
            );
            assert_eq!(
                integer::mad_lo(ty, a, b, c),
                low(i128::from(integer::mul_lo(ty, a, b)) + z, width)
            );
            assert_eq!(
                integer::mad_hi(ty, a, b, c),
                low(i128::from(integer::mul_hi(ty, a, b)) + z, width)
            );
            if width <= 32 {
                assert_eq!(integer::mul_wide(ty, a, b), low(x * y, 2 * width));
                assert_eq!(integer::mad_wide(ty, a, b, c), low(x * y + i128::from(c), 2 * width));
            }
            assert_eq!(integer::sad(ty, a, b, c), low(z + (x - y).abs(), width));
            if y == 0 {
                assert_eq!(integer::div(ty, a, b), u64::MAX >> (64 - width));
                assert_eq!(integer::rem(ty, a, b), u64::MAX >> (64 - width));
            } else {
                assert_eq!(integer::div(ty, a, b), low(x / y, width));
                assert_eq!(integer::rem(ty, a, b), low(x % y, width));
            }
            assert_eq!(integer::min(ty, a, b), low(x.min(y), width));
            assert_eq!(integer::max(ty, a, b), low(x.max(y), width));
            assert_eq!(integer::abs(ty, a), low(x.abs(), width));
            assert_eq!(integer::neg(ty, a), low(-x, width));
            assert_eq!(integer::relu(ty, a), low(x.max(0), width));
            let carry = c & 1 == 1;
            let total = i128::from(low(x, width)) + i128::from(low(y, width)) + i128::from(carry);
            assert_eq!(
                integer::add_carry(ty, a, b, carry),
                (low(total, width), total >> width != 0)
            );
            let total = i128::from(low(x, width)) - i128::from(low(y, width)) - i128::from(carry);
            assert_eq!(integer::sub_borrow(ty, a, b, carry), (low(total, width), total < 0));
        }
        let (x, y, z) = (value(Int::S32, a), value(Int::S32, b), value(Int::S32, c));
        let clamp = |v: i128| low(v.clamp(-(1 << 31), (1 << 31) - 1), 32) as u32;
        assert_eq!(integer::add_sat_s32(a as u32, b as u32), clamp(x + y));
        assert_eq!(integer::sub_sat_s32(a as u32, b as u32), clamp(x - y));
        assert_eq!(
            integer::mad_hi_sat_s32(a as u32, b as u32, c as u32),
            clamp(((x * y) >> 32) + z)
        );
        let signed24 = |v: u64| value(Int::S32, v << 8) >> 8;
        let product = signed24(a) * signed24(b);
        assert_eq!(integer::mul24_lo(true, a as u32, b as u32), low(product, 32) as u32);
        assert_eq!(integer::mul24_hi(true, a as u32, b as u32), low(product >> 16, 32) as u32);
        let product = i128::from(a & 0xff_ffff) * i128::from(b & 0xff_ffff);
        assert_eq!(integer::mul24_lo(false, a as u32, b as u32), low(product, 32) as u32);
        assert_eq!(integer::mul24_hi(false, a as u32, b as u32), low(product >> 16, 32) as u32);
        let pairs = integer::pairwise(a as u32, b as u32, |p, q| integer::min(Int::S16, p, q));
        assert_eq!(pairs & 0xffff, integer::min(Int::S16, a, b) as u32);
        assert_eq!(pairs >> 16, integer::min(Int::S16, a >> 16, b >> 16) as u32);
    }
}

#[test]
fn shifts_move_each_bit() {
    let mut random = Random::new(22);
    for _ in 0..30_000 {
        let (a, b) = (word(&mut random), word(&mut random));
        let by = if random.below(8) == 0 { random.next() as u32 } else { random.below(70) as u32 };
        let far = i64::from(by);
        for ty in [Int::U16, Int::U32, Int::U64, Int::S16, Int::S32, Int::S64] {
            let width = i64::from(ty.bits());
            let bit = |i: i64| if (0..width).contains(&i) { a >> i & 1 } else { 0 };
            let left: u64 = (0..width).map(|i| bit(i - far) << i).sum();
            assert_eq!(integer::shl(ty.bits(), a, by), left);
            let fill = if ty.is_signed() { bit(width - 1) } else { 0 };
            let right: u64 =
                (0..width).map(|i| (if i + far < width { bit(i + far) } else { fill }) << i).sum();
            assert_eq!(integer::shr(ty, a, by), right, "{ty:?} {a:x} >> {by}");
            assert_eq!(
                integer::brev(ty.bits(), a),
                (0..width).map(|i| bit(i) << (width - 1 - i)).sum::<u64>()
            );
            assert_eq!(u64::from(integer::popc(ty.bits(), a)), (0..width).map(bit).sum::<u64>());
            let zeros = (0..width).rev().take_while(|i| bit(*i) == 0).count();
            assert_eq!(integer::clz(ty.bits(), a) as usize, zeros);
            let sign = if ty.is_signed() { bit(width - 1) } else { 0 };
            let found = (0..width).rev().find(|i| bit(*i) != sign);
            assert_eq!(integer::bfind(ty, a), found.map_or(u32::MAX, |i| i as u32));
            assert_eq!(
                integer::bfind_shift(ty, a),
                found.map_or(u32::MAX, |i| (width - 1 - i) as u32)
            );
            assert_eq!(integer::cnot(ty.bits(), a), u64::from((0..width).all(|i| bit(i) == 0)));
        }
        // The manual's shf: the concatenation shifted by the reduced amount.
        let both = (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
        for (range, n) in [(Range::Wrap, by % 32), (Range::Clamp, by.min(32))] {
            let bit = |i: i64| if (0..64).contains(&i) { both >> i & 1 } else { 0 };
            let left: u64 = (0..32).map(|i| bit(i + 32 - i64::from(n)) << i).sum();
            let right: u64 = (0..32).map(|i| bit(i + i64::from(n)) << i).sum();
            assert_eq!(u64::from(integer::shf_left(a as u32, b as u32, by, range)), left);
            assert_eq!(u64::from(integer::shf_right(a as u32, b as u32, by, range)), right);
        }
    }
}

/// The loops of the manual's pseudocode for bfe, bfi, bmsk, szext and fns.
#[test]
fn bit_fields_follow_the_pseudocode() {
    let mut random = Random::new(23);
    for _ in 0..60_000 {
        let (a, b) = (word(&mut random), word(&mut random));
        let [pos, len] = std::array::from_fn(|_| match random.below(8) {
            0 => random.next() as u32,
            1 => random.below(300) as u32,
            _ => random.below(66) as u32,
        });
        for ty in [Int::U32, Int::U64, Int::S32, Int::S64] {
            let msb = ty.bits() - 1;
            // The 32-bit forms read eight bits of position and length.
            let (p, l) =
                if msb == 31 { (pos & 0xff, len & 0xff) } else { (pos.min(1000), len.min(1000)) };
            let at = |i: u32| a >> i & 1;
            let sbit = if !ty.is_signed() || l == 0 { 0 } else { at((p + l - 1).min(msb)) };
            let mut field = 0;
            for i in 0..=msb {
                field |= (if i < l && p + i <= msb { at(p + i) } else { sbit }) << i;
            }
            assert_eq!(integer::bfe(ty, a, pos, len), field, "{ty:?} {a:x} {pos} {len}");
            let mut inserted = b & (u64::MAX >> (63 - msb));
            for i in 0..l {
                if p + i <= msb {
                    inserted = inserted & !(1 << (p + i)) | at(i.min(63)) << (p + i);
                }
            }
            assert_eq!(
                integer::bfi(ty.bits(), a, b, pos, len),
                inserted,
                "{a:x} {b:x} {pos} {len}"
            );
        }
        for (range, p, l) in [(Range::Wrap, pos % 32, len % 32), (Range::Clamp, pos, len)] {
            let ones = (0..32u32)
                .filter(|i| *i >= p && u64::from(*i) < u64::from(p) + u64::from(l))
                .fold(0, |m, i| m | 1u32 << i);
            assert_eq!(integer::bmsk(pos, len, range), ones);
            let n = match range {
                Range::Wrap => pos % 32,
                Range::Clamp => pos.min(32),
            };
            let sign = if n == 0 { 0 } else { a as u32 >> (n - 1) & 1 };
            let extended =
                (0..32u32).fold(0, |m, i| m | (if i < n { a as u32 >> i & 1 } else { sign }) << i);
            assert_eq!(integer::szext(true, a as u32, pos, range), extended);
            let extended =
                (0..32u32).fold(0, |m, i| m | (if i < n { a as u32 >> i & 1 } else { 0 }) << i);
            assert_eq!(integer::szext(false, a as u32, pos, range), extended);
        }
        let (mask, base, offset) = (a as u32, pos % 40, random.below(20) as i32 - 10);
        let set: Vec<u32> = (0..32).filter(|i| mask >> i & 1 == 1).collect();
        let expected = match offset {
            _ if base > 31 => None,
            0 => set.iter().copied().find(|i| *i == base),
            1.. => set.iter().copied().filter(|i| *i >= base).nth(offset as usize - 1),
            _ => set.iter().rev().copied().filter(|i| *i <= base).nth((-offset) as usize - 1),
        };
        assert_eq!(integer::fns(mask, base, offset as u32), expected.unwrap_or(u32::MAX));
    }
}

/// The manual's table of byte selections for each prmt mode.
#[test]
fn permutations_follow_the_table() {
    let (a, b) = (0x8372_6150, 0xf7e6_d5c4);
    let byte = |i: u32| if i < 4 { a >> (8 * i) & 0xff } else { b >> (8 * (i - 4)) & 0xff };
    let word = |picks: [u32; 4]| (0..4).fold(0, |w, i| w | byte(picks[i]) << (8 * i));
    // Rows: c[1:0] = 0..3; entries d.b0 to d.b3.
    let tables = [
        (Permute::Forward4, [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]),
        (Permute::Backward4, [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]]),
        (Permute::Replicate8, [[0; 4], [1; 4], [2; 4], [3; 4]]),
        (Permute::EdgeLeft, [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]]),
        (Permute::EdgeRight, [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]]),
        (Permute::Replicate16, [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]]),
    ];
    for (mode, rows) in tables {
        for (c, row) in rows.into_iter().enumerate() {
            assert_eq!(integer::prmt(a, b, c as u32, mode), word(row), "{mode:?} {c}");
        }
    }
    for selector in 0..=0xffffu32 {
        let expected = (0..4).fold(0, |w, i| {
            let nibble = selector >> (4 * i) & 15;
            let picked = byte(nibble & 7);
            let picked = if nibble < 8 {
                picked
            } else if picked < 128 {
                0
            } else {
                255
            };
            w | picked << (8 * i)
        });
        assert_eq!(integer::prmt(a, b, selector, Permute::Bytes), expected);
    }
}

#[test]
fn lop3_reads_its_table() {
    // The manual's recipe: the table is the expression on these three constants.
    let (ta, tb, tc) = (0xf0u8, 0xcc, 0xaa);
    let (a, b, c) = (0x1234_5678, 0x9abc_def0, 0x0f1e_2d3c);
    assert_eq!(integer::lop3(a, b, c, ta & tb & tc), a & b & c);
    assert_eq!(integer::lop3(a, b, c, ta | tb | !tc), a | b | !c);
    assert_eq!(integer::lop3(a, b, c, ta ^ tb ^ tc), a ^ b ^ c);
    assert_eq!(integer::lop3(a, b, c, ta & tb | !ta & tc), a & b | !a & c);
    for table in 0..=u8::MAX {
        for row in 0..8u32 {
            let all = |bit: u32| if row >> bit & 1 == 1 { u32::MAX } else { 0 };
            let expected = if table >> row & 1 == 1 { u32::MAX } else { 0 };
            assert_eq!(integer::lop3(all(2), all(1), all(0), table), expected);
        }
    }
}

#[test]
fn dot_products_sum_bytes() {
    let mut random = Random::new(24);
    for _ in 0..20_000 {
        let [a, b, c] = std::array::from_fn(|_| word(&mut random) as u32);
        let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
        let read = |byte: u8, signed: bool| {
            if signed { i64::from(byte.cast_signed()) } else { i64::from(byte) }
        };
        for (sa, sb) in [(false, false), (false, true), (true, false), (true, true)] {
            let sum: i64 = (0..4).map(|i| read(x[i], sa) * read(y[i], sb)).sum();
            assert_eq!(integer::dp4a(a, b, c, sa, sb), (i64::from(c) + sum) as u32);
            let half = |i: usize| {
                let bits = u16::from_le_bytes([x[2 * i], x[2 * i + 1]]);
                if sa { i64::from(bits.cast_signed()) } else { i64::from(bits) }
            };
            for high in [false, true] {
                let sum: i64 =
                    (0..2).map(|i| half(i) * read(y[i + 2 * usize::from(high)], sb)).sum();
                assert_eq!(integer::dp2a(a, b, c, sa, sb, high), (i64::from(c) + sum) as u32);
            }
        }
    }
}

#[test]
fn comparisons_agree_with_the_host() {
    use Comparison as C;
    let mut random = Random::new(25);
    let pairs: Vec<(u64, u64)> = (0..20_000)
        .map(|_| {
            let (a, b) = (random.pattern(Format::F16), random.pattern(Format::F16));
            (a, if random.below(4) == 0 { a ^ random.below(2) << 15 } else { b })
        })
        .collect();
    for (a, b) in pairs {
        let (x, y) = (widen_f16(a as u16), widen_f16(b as u16));
        let unordered = x.is_nan() || y.is_nan();
        let table = [
            (C::Equal, x == y),
            (C::NotEqual, !unordered && x != y),
            (C::Less, x < y),
            (C::LessEqual, x <= y),
            (C::Greater, x > y),
            (C::GreaterEqual, x >= y),
            (C::EqualUnordered, unordered || x == y),
            (C::NotEqualUnordered, unordered || x != y),
            (C::LessUnordered, unordered || x < y),
            (C::LessEqualUnordered, unordered || x <= y),
            (C::GreaterUnordered, unordered || x > y),
            (C::GreaterEqualUnordered, unordered || x >= y),
            (C::Number, !unordered),
            (C::NotANumber, unordered),
        ];
        for (op, expected) in table {
            assert_eq!(
                compare::floats(op, Format::F16, a, b, false),
                expected,
                "{op:?} {a:04x} {b:04x}"
            );
        }
    }
    assert!(compare::floats(C::Equal, Format::F32, 1, 0x8000_0001, true));
    assert!(!compare::floats(C::Equal, Format::F32, 1, 0x8000_0001, false));
    assert!(compare::integers(C::Less, Int::S32, 0xffff_ffff, 0));
    assert!(compare::integers(C::Greater, Int::U32, 0xffff_ffff, 0));
    assert!(compare::integers(C::Equal, Int::U16, 0xabcd_0001, 1));
    assert!(compare::integers(C::LessEqual, Int::S64, 1 << 63, 0));
    assert_eq!(Join::None.apply(true, false), (true, false));
    assert_eq!(Join::And.apply(true, false), (false, false));
    assert_eq!(Join::Or.apply(false, true), (true, true));
    assert_eq!(Join::Xor.apply(true, true), (false, true));
    assert!(compare::select_s32(0) && !compare::select_s32(1 << 31));
    assert!(compare::select_f32(1 << 31, false) && !compare::select_f32(0x8000_0001, false));
    assert!(compare::select_f32(0x8000_0001, true) && !compare::select_f32(0x7fc0_0000, false));
}

#[test]
fn atomics_update_words() {
    use IntOp as O;
    let cases = [
        (O::Add, Int::U32, 0xffff_ffff, 2, 1),
        (O::Add, Int::U64, u64::MAX, 2, 1),
        (O::Min, Int::S32, 0xffff_ffff, 1, 0xffff_ffff),
        (O::Min, Int::U32, 0xffff_ffff, 1, 1),
        (O::Max, Int::S64, 1 << 63, 5, 5),
        (O::Max, Int::U64, 1 << 63, 5, 1 << 63),
        (O::Inc, Int::U32, 6, 7, 7),
        (O::Inc, Int::U32, 7, 7, 0),
        (O::Inc, Int::U32, 9, 7, 0),
        (O::Dec, Int::U32, 7, 7, 6),
        (O::Dec, Int::U32, 0, 7, 7),
        (O::Dec, Int::U32, 9, 7, 7),
        (O::And, Int::U32, 0xc, 0xa, 0x8),
        (O::Or, Int::U32, 0xc, 0xa, 0xe),
        (O::Xor, Int::U64, 0xc, 0xa, 0x6),
        (O::Exchange, Int::U64, 0xc, 0xa, 0xa),
    ];
    for (op, ty, old, b, expected) in cases {
        assert_eq!(atomic::integer(op, ty, old, b), expected, "{op:?} {ty:?}");
    }
    assert_eq!(atomic::compare_and_swap(Int::U32, 5, 5, 9), 9);
    assert_eq!(atomic::compare_and_swap(Int::U32, 5, 6, 9), 5);
    assert_eq!(atomic::compare_and_swap(Int::U16, 0x1_0005, 5, 9), 9);
    let (one, two) = (0x3f80_0000, 0x4000_0000);
    assert_eq!(atomic::f32(FloatOp::Add, one, one, true), two);
    assert_eq!(atomic::f32(FloatOp::Add, 1, 1, true), 0);
    assert_eq!(atomic::f32(FloatOp::Add, 1, 1, false), 2);
    assert_eq!(atomic::f32(FloatOp::Max, 0x7fc0_0000, one, false), one);
    assert_eq!(atomic::f64(FloatOp::Add, 0x3ff0 << 48, 0x3ff0 << 48), 0x4000 << 48);
    assert_eq!(atomic::f64(FloatOp::Min, 0x3ff0 << 48, 0x4000 << 48), 0x3ff0 << 48);
    // Recorded on an H200: a NaN goes through the memory system's addition as it is.
    assert_eq!(atomic::f64(FloatOp::Add, 0xfff1_c902_bf46_af9f, 0), 0xfff1_c902_bf46_af9f);
    assert_eq!(atomic::half2(FloatOp::Add, Half::F16, 0x3c00_0001, 0x3c00_0001), 0x4000_0002);
    assert_eq!(atomic::half2(FloatOp::Add, Half::Bf16, 0x3f80_4000, 0x3f80_4000), 0x4000_4080);
    assert_eq!(atomic::half(FloatOp::Min, Half::F16, 0xbc00, 0x3c00), 0xbc00);
}
