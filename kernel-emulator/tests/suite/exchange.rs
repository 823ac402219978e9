//! Values between lanes.

use crate::harness::{Random, W, lanes};

/// Runs a body on words and compares all lanes at once.
#[track_caller]
fn warp(body: &str, expected: impl Fn(&W, usize) -> u32) {
    let mut random = Random(3);
    let a = random.words().map(|x| x % 5);
    let (o, _) = lanes(body, [&a, &[0; 32], &[0; 32]], [&[0; 32]; 3]);
    for (lane, actual) in o.iter().enumerate() {
        assert_eq!(*actual, expected(&a, lane), "{body} lane {lane}");
    }
}

#[test]
fn shuffles() {
    warp("shfl.sync.bfly.b32 %o, %a, 5, 31, -1;", |a, i| a[i ^ 5]);
    warp("shfl.sync.idx.b32 %o, %a, 7, 31, -1;", |a, _| a[7]);
    warp("shfl.sync.down.b32 %o|%p0, %a, 3, 31, -1; @!%p0 add.u32 %o, %o, 100;", |a, i| {
        if i + 3 < 32 { a[i + 3] } else { a[i] + 100 }
    });
    warp("shfl.sync.up.b32 %o|%p0, %a, 4, 0, -1; @!%p0 add.u32 %o, %o, 100;", |a, i| {
        if i >= 4 { a[i - 4] } else { a[i] + 100 }
    });
    // Segments of 8 lanes: clamp 0x1f, segment mask 0x18.
    warp("shfl.sync.idx.b32 %o, %a, 2, 0x181f, -1;", |a, i| a[i / 8 * 8 + 2]);
    warp(
        "shfl.sync.down.b32 %o, %a, 1, 0x1807, -1;",
        |a, i| if i % 8 < 7 { a[i + 1] } else { a[i] },
    );
}

#[test]
fn votes() {
    warp("setp.eq.u32 %p0, %a, 1; vote.sync.ballot.b32 %o, %p0, -1;", |a, _| {
        (0..32).filter(|i| a[*i] == 1).fold(0, |m, i| m | 1 << i)
    });
    warp(
        "setp.lt.u32 %p0, %a, 5; vote.sync.all.pred %p1, %p0, -1; vote.sync.any.pred %p2, !%p0, -1;
         setp.eq.u32 %p0, %a, 0; vote.sync.uni.pred %p3, %p0, -1;
         selp.u32 %o, 1, 0, %p1; @%p2 add.u32 %o, %o, 2; @%p3 add.u32 %o, %o, 4;",
        |_, _| 1,
    );
}

#[test]
fn groups_with_their_own_member_masks() {
    // Both halves of the warp execute one instruction, each with its own mask.
    warp(
        "setp.lt.u32 %p0, %t, 16; selp.b32 %r0, 0xFFFF, 0xFFFF0000, %p0;
         redux.sync.add.u32 %o, %a, %r0;",
        |a, i| a[i / 16 * 16..i / 16 * 16 + 16].iter().sum(),
    );
}

#[test]
fn matches_and_reductions() {
    warp("match.any.sync.b32 %o, %a, -1;", |a, i| {
        (0..32).filter(|j| a[*j] == a[i]).fold(0, |m, j| m | 1 << j)
    });
    warp("match.all.sync.b32 %o|%p0, %a, -1; @%p0 add.u32 %o, %o, 1;", |_, _| 0);
    warp("mov.u32 %r0, 3; match.all.sync.b32 %o|%p0, %r0, -1; @!%p0 mov.u32 %o, 1;", |_, _| {
        u32::MAX
    });
    warp("redux.sync.max.u32 %o, %a, -1;", |a, _| *a.iter().max().expect("32"));
    warp("neg.s32 %r0, %a; redux.sync.min.s32 %o, %r0, -1;", |a, _| {
        a.iter().max().expect("32").wrapping_neg()
    });
    warp("redux.sync.xor.b32 %o, %a, -1;", |a, _| a.iter().fold(0, |x, y| x ^ y));
    warp("redux.sync.add.s32 %o, %a, -1;", |a, _| a.iter().sum());
}

#[test]
fn election_and_active_lanes() {
    warp(
        "setp.lt.u32 %p0, %t, 20; @%p0 bra IN; bra OUT;
         IN: elect.sync %r0|%p1, 0xFFFFF; mov.u32 %o, 1; @%p1 mov.u32 %o, 2;
         OUT: bar.warp.sync -1;",
        |_, i| match i {
            0 => 2,
            1..20 => 1,
            _ => 0,
        },
    );
}

#[test]
fn members_gather_from_both_sides_of_a_branch() {
    // Even lanes run long before they meet the odd ones at the shuffle.
    warp(
        "and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, 5; @!%p0 bra MEET;
         mov.u32 %r2, 0; SLOW: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 300; @%p1 bra SLOW;
         mov.u32 %r1, 9;
         MEET: shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; mad.lo.u32 %o, %r1, 10, %r3;",
        |_, i| if i % 2 == 0 { 95 } else { 59 },
    );
}
