//! Emitted integer code against the same arithmetic in Rust.

use kernel_layout::forms::{blocked, mma_v2_accumulator, mma_v2_operand};
use kernel_layout::{Dim, Layout};
use kernel_ptx::{Opcode, Type, Word};

use super::interpret::value;
use crate::ir::{Const, Dtype};
use crate::lower::emitter::{Emitter, FrameKind, Node, Val};
use crate::lower::tiles::coords::{ThreadMap, register_part, repeated_threads};
use crate::lower::tiles::scalar::constant;

const THREADS: u32 = 128;

fn layouts() -> Vec<Layout> {
    let swizzled = Layout::new(
        vec![
            (Dim::Register, vec![vec![0, 1], vec![0, 3], vec![17, 0], vec![8, 4]]),
            (Dim::Lane, vec![vec![1, 0], vec![2, 1], vec![4, 0], vec![0, 4], vec![0, 8]]),
            (Dim::Warp, vec![vec![0, 16], vec![0, 32]]),
        ],
        vec![(Dim::Axis(0), 32), (Dim::Axis(1), 64)],
    );
    vec![
        blocked(&[1, 4], &[2, 16], &[4, 1], &[1, 0], &[32, 64]).expect("a layout"),
        blocked(&[4, 1], &[32, 1], &[1, 4], &[0, 1], &[32, 64]).expect("a layout"),
        mma_v2_accumulator([2, 2], &[32, 64]).expect("a layout"),
        mma_v2_operand(1, [2, 2], 2, &[32, 64]).expect("a layout"),
        swizzled.expect("a layout"),
    ]
}

#[test]
fn thread_maps_compute_the_layout() {
    for layout in layouts() {
        for axis in 0..2 {
            for register in [0, 1, layout.in_size(Dim::Register) - 1] {
                for thread in [0, 1, 5, 31, 32, 77, 127] {
                    let mut e = Emitter::new(THREADS);
                    let map = ThreadMap::of(&layout, axis, 1);
                    let position = e.position(&map, register_part(&layout, register, axis));
                    let actual = value(e, position.value, thread) + u64::from(position.constant);
                    let at = [
                        (Dim::Register, register),
                        (Dim::Lane, thread % 32),
                        (Dim::Warp, thread / 32),
                    ];
                    assert_eq!(actual, u64::from(layout.apply(&at)[axis]), "{layout:?} {at:?}");
                }
            }
        }
    }
}

#[test]
fn one_thread_of_those_that_repeat_an_element_is_first() {
    for layout in layouts() {
        let mut holders = std::collections::BTreeMap::new();
        for thread in 0..THREADS {
            let mut e = Emitter::new(THREADS);
            let first = e.first_of(repeated_threads(&layout, 4));
            let at = layout.apply(&[(Dim::Lane, thread % 32), (Dim::Warp, thread / 32)]);
            *holders.entry(at).or_insert(0) += value(e, first, thread);
        }
        assert!(holders.values().all(|&count| count == 1), "{layout:?}");
    }
}

#[test]
fn division_by_constants_truncates() {
    for divisor in [1, 2, 8, 7, 64] {
        for a in
            [0, 1, 7, 8, 9, 100, -1, -7, -8, -9, -100, i64::from(i32::MIN), i64::from(i32::MAX)]
        {
            for (opcode, expected) in [(Opcode::Div, a / divisor), (Opcode::Rem, a % divisor)] {
                let mut e = Emitter::new(THREADS);
                // The operand must not be a known constant: it is a sum with the thread's index, which is 0.
                let thread = e.thread();
                let dividend = e.add(Type::S32, thread, Val::Int(a));
                let quotient = e.divide(opcode, Type::S32, dividend, Val::Int(divisor));
                assert_eq!(
                    value(e, quotient, 0),
                    expected.cast_unsigned() & 0xffff_ffff,
                    "{a} {opcode:?} {divisor}"
                );
            }
        }
    }
}

#[test]
fn constants_are_folded() {
    let mut e = Emitter::new(THREADS);
    assert_eq!(
        e.add(Type::S32, Val::Int(i64::from(i32::MAX)), Val::Int(1)),
        Val::Int(i64::from(i32::MIN))
    );
    assert_eq!(e.shr(Type::U32, Val::Int(-1), 28), Val::Int(15));
    assert_eq!(e.shr(Type::S32, Val::Int(-16), 2), Val::Int(-4));
    assert_eq!(e.compare(Word::Lt, Type::U32, Val::Int(-1), Val::Int(1)), Val::Int(0));
    assert_eq!(e.divide(Opcode::Div, Type::U32, Val::Int(-1), Val::Int(2)), Val::Int(0x7fff_ffff));
    let thread = e.thread();
    let (a, b) = (e.add(Type::S32, thread, Val::Int(5)), e.mul(Type::S32, thread, Val::Int(1)));
    assert_eq!(e.add(Type::S32, a, Val::Int(-5)), thread);
    assert_eq!(b, thread);
}

#[test]
fn half_constants_have_their_bits() {
    for (float, bits) in [
        (1.0, 0x3c00),
        (-2.0, 0xc000),
        (65504.0, 0x7bff),
        (0.5, 0x3800),
        (6.103_515_625e-5, 0x0400),
    ] {
        assert_eq!(constant(Const::Float(float), Dtype::F16), Val::Int(bits), "{float}");
    }
    // The smallest subnormal, and one with several bits.
    assert_eq!(constant(Const::Float(2f64.powi(-24)), Dtype::F16), Val::Int(1));
    assert_eq!(
        constant(Const::Float(2f64.powi(-15) + 2f64.powi(-24)), Dtype::F16),
        Val::Int(0x0201)
    );
    assert_eq!(constant(Const::Float(f64::INFINITY), Dtype::F16), Val::Int(0x7c00));
    assert_eq!(constant(Const::Float(1.0), Dtype::Bf16), Val::Int(0x3f80));
}

/// The codes are the specification's (OCP 8-bit Floating Point Specification, "FP8 formats").
#[test]
fn constants_of_one_byte_have_their_bits() {
    let e4m3s = [
        (1.0, 0x38),
        (-0.5, 0xb0),
        (448.0, 0x7e),
        (0.015_625, 0x08),
        (0.013_671_875, 0x07),
        (-0.0, 0x80),
    ];
    for (float, bits) in e4m3s {
        assert_eq!(constant(Const::Float(float), Dtype::E4m3), Val::Int(bits), "{float}");
    }
    assert_eq!(constant(Const::Float(2f64.powi(-9)), Dtype::E4m3), Val::Int(0x01));
    assert_eq!(constant(Const::Float(f64::NAN), Dtype::E4m3), Val::Int(0x7f));
    for (float, bits) in [(1.0, 0x3c), (-57344.0, 0xfb), (1.75, 0x3f), (0.25, 0x34)] {
        assert_eq!(constant(Const::Float(float), Dtype::E5m2), Val::Int(bits), "{float}");
    }
    assert_eq!(constant(Const::Float(2f64.powi(-16)), Dtype::E5m2), Val::Int(0x01));
}

#[test]
fn what_a_loop_does_not_change_leaves_it() {
    let mut e = Emitter::new(THREADS);
    e.enter(FrameKind::Loop);
    let counter = e.fresh(Type::B32);
    let thread = e.thread();
    let invariant = e.mul(Type::S32, thread, Val::Int(12));
    let changing = e.add(Type::S32, invariant, Val::Reg(counter));
    e.enter(FrameKind::Branch);
    let again = e.mul(Type::S32, thread, Val::Int(12));
    let other = e.mul(Type::S32, thread, Val::Int(20));
    e.leave();
    e.leave();
    assert_eq!(again, invariant, "a value is computed once");
    assert_eq!((e.depth(invariant), e.depth(changing), e.depth(other)), (0, 1, 0));
    // The thread's index and two products, then the loop.
    assert_eq!(e.frames[0].nodes.iter().filter(|node| matches!(node, Node::Inst(_))).count(), 3);
}

#[test]
fn halves_know_the_word_they_came_from() {
    let mut e = Emitter::new(THREADS);
    let word = e.thread();
    let [low, high] = e.unpack(word);
    assert_eq!(e.pack(low, high), word);
    assert_ne!(e.pack(high, low), word);
    assert_eq!(e.unpack(word), [low, high]);
    assert_eq!(
        e.pack(Val::Int(0x3c00), Val::Int(0x8000)),
        Val::Int(i64::from(0x8000_3c00_u32.cast_signed()))
    );
}
