//! Where partitions lie among the warps of a block, worked out by hand.

use super::{Placement, PlacementProblem};

/// Partitions without budgets.
fn plain(warps: &[u32]) -> Vec<(u32, Option<u32>)> {
    warps.iter().map(|&warps| (warps, None)).collect()
}

#[test]
fn small_partitions_fill_what_large_ones_leave() {
    // Warp 0 is the kernel's own; 4 to 7 are a warpgroup; 2 and 3, and 1, are free before it.
    let placed = Placement::of(1, &plain(&[1, 4, 2])).expect("there is room");
    assert_eq!(placed.first, [1, 4, 2]);
    assert_eq!((placed.warps, placed.busy), (8, 8));
    assert_eq!(placed.registers, None);
}

#[test]
fn partitions_of_a_warpgroup_begin_at_one() {
    let placed = Placement::of(2, &plain(&[4, 8])).expect("there is room");
    assert_eq!(placed.first, [12, 4]);
    // Warps 2 and 3 have nothing to do.
    assert_eq!((placed.warps, placed.busy), (16, 14));
}

#[test]
fn one_warp_needs_no_barrier() {
    let placed = Placement::of(4, &plain(&[1, 2, 1, 4])).expect("there is room");
    assert_eq!(placed.barriers, [None, Some(2), None, Some(3)]);
}

#[test]
fn a_warpgroup_has_the_largest_budget_of_its_partitions() {
    let placed = Placement::of(1, &[(8, Some(96)), (1, Some(24)), (2, Some(56)), (1, None)]);
    let placed = placed.expect("there is room");
    // 0 to 3: the kernel's own; 4 to 11: eight warps; 12 and 13: two; 14 and 15: one each.
    assert_eq!(placed.first, [4, 14, 12, 15]);
    // 512 - 96 - 96 - 56 = 264, and a share is 240 at most.
    assert_eq!(placed.registers, Some(vec![240, 96, 96, 56]));
}

#[test]
fn warpgroups_without_a_budget_share_what_is_left() {
    let placed = Placement::of(4, &[(4, None), (4, Some(40))]).expect("there is room");
    // 3 * 168, and of those (504 - 40) / 2 for each.
    assert_eq!(placed.registers, Some(vec![232, 232, 40]));
    assert_eq!(placed.warps, 12);
    // 65536 / 384 = 170, in steps of 8.
    assert_eq!(placed.registers_at_entry(), 168);
    assert_eq!([0, 5, 11].map(|warp| placed.registers_of(warp)), [232, 232, 40].map(Some));
}

#[test]
fn who_has_its_registers_already_sets_none() {
    let placed = Placement::of(8, &[(4, Some(168))]).expect("there is room");
    // (504 - 168) / 2: 168 for everybody, as at the start.
    assert_eq!(placed.registers, Some(vec![168; 3]));
    assert_eq!([0, 8].map(|warp| placed.registers_of(warp)), [None; 2]);
}

#[test]
fn a_block_has_32_warps() {
    let full = Placement::of(8, &plain(&[8, 8, 8])).expect("there is room");
    assert_eq!(full.warps, 32);
    let problem = Placement::of(8, &plain(&[8, 8, 8, 1]));
    assert_eq!(problem, Err(PlacementProblem::Warps { required: 32, actual: 33 }));
    // With budgets warpgroups are filled up: 1 to 4, and 29 to 32.
    let filled =
        Placement::of(1, &[(8, Some(24)), (8, Some(24)), (8, Some(24)), (4, None), (1, None)]);
    assert_eq!(filled, Err(PlacementProblem::Warps { required: 32, actual: 36 }));
}

#[test]
fn a_block_has_16_barriers() {
    assert!(Placement::of(2, &plain(&[2; 14])).is_ok());
    let problem = Placement::of(2, &plain(&[2; 15]));
    assert_eq!(problem, Err(PlacementProblem::Barriers { required: 14, actual: 15 }));
}

#[test]
fn every_warpgroup_keeps_24_registers() {
    assert!(Placement::of(4, &[(8, Some(240))]).is_ok());
    let refused = |own: u32, partitions: &[(u32, Option<u32>)]| {
        let Err(PlacementProblem::Registers { required, actual, warps, at_entry }) =
            Placement::of(own, partitions)
        else {
            panic!("{own} {partitions:?}")
        };
        [required, actual, warps, at_entry]
    };
    // 3 * 168 - 24, and 4 * 128 - 2 * 24.
    assert_eq!(refused(4, &[(8, Some(248))]), [480, 496, 12, 168]);
    assert_eq!(refused(8, &[(8, Some(240))]), [464, 480, 16, 128]);
}

/// A warpgroup that takes more registers waits until others have given up as many: those of the file that no thread began with,
/// nobody gives up.
#[test]
fn all_warpgroups_together_have_what_the_block_begins_with() {
    let some = [None, Some(24), Some(40), Some(96), Some(168), Some(232)];
    let all = [1, 2, 4, 8].into_iter().flat_map(|warps| some.map(|registers| (warps, registers)));
    for own in [1, 2, 4, 8, 16] {
        for first in all.clone() {
            for second in all.clone() {
                let Ok(placed) = Placement::of(own, &[first, second]) else { continue };
                let Some(registers) = &placed.registers else { continue };
                let groups = placed.warps / 4;
                let sum: u32 = registers.iter().sum();
                assert!(sum <= groups * placed.registers_at_entry(), "{own} {first:?} {second:?}");
            }
        }
    }
}
