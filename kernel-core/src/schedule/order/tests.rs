//! Where barriers are put, and where none is needed.

use super::order;
use crate::ir::tests::builder::Builder;
use crate::ir::{Binary, Dtype, Kernel, Value};
use crate::layouts::infer;

/// The barriers of a kernel of four warps over one tensor that it writes.
fn barriers(body: impl FnOnce(&mut Builder, u32)) -> usize {
    let mut b = Builder::new("k", 4);
    let x = b.tensor("x", Dtype::F32, 2);
    body(&mut b, x);
    let mut kernel: Kernel = b.finish();
    let inferred = infer(&mut kernel).expect("nothing is pinned");
    order(&mut kernel, &inferred.layouts).expect("the loops are few");
    kernel.to_string().lines().filter(|line| line.trim() == "sync").count()
}

/// A loop from 0 to the tensor's columns in steps of `step`.
fn iterations(b: &mut Builder, x: u32, step: i32, iteration: impl FnOnce(&mut Builder, Value)) {
    let (zero, end, step) = (b.int(0), b.dim(x, 1), b.int(step));
    b.count([zero, end, step], &[], |b, at, _| {
        iteration(b, at);
        Vec::new()
    });
}

#[test]
fn a_window_that_is_read_and_written_in_one_layout_needs_none() {
    let count = barriers(|b, x| {
        let (row, zero) = (b.block_start(0, 16), b.int(0));
        let tile = b.load_tensor(x, &[row, zero], &[16, 64]);
        b.store_tensor(x, &[row, zero], tile);
        let again = b.load_tensor(x, &[row, zero], &[16, 64]);
        b.store_tensor(x, &[row, zero], again);
    });
    assert_eq!(count, 0);
}

#[test]
fn elements_that_several_threads_hold_need_one() {
    let count = barriers(|b, x| {
        let zero = b.int(0);
        let tile = b.load_tensor(x, &[zero, zero], &[1, 16]);
        b.store_tensor(x, &[zero, zero], tile);
    });
    assert_eq!(count, 1);
}

#[test]
fn windows_that_overlap_need_one_for_every_change_of_hands() {
    let count = barriers(|b, x| {
        let (zero, one) = (b.int(0), b.int(1));
        let tile = b.load_tensor(x, &[one, zero], &[16, 64]);
        b.store_tensor(x, &[zero, zero], tile);
        let after = b.load_tensor(x, &[one, zero], &[16, 64]);
        b.store_tensor(x, &[zero, zero], after);
    });
    assert_eq!(count, 3);
}

#[test]
fn windows_beside_each_other_need_none() {
    let count = barriers(|b, x| {
        let (row, zero, next) = (b.block_start(0, 32), b.int(0), b.int(16));
        let below = b.binary(Binary::Add, row, next);
        let tile = b.load_tensor(x, &[row, zero], &[16, 64]);
        b.store_tensor(x, &[below, zero], tile);
    });
    assert_eq!(count, 0);
}

#[test]
fn one_row_further_down_is_not_beside() {
    let count = barriers(|b, x| {
        let (row, zero, next) = (b.block_start(0, 32), b.int(0), b.int(15));
        let below = b.binary(Binary::Add, row, next);
        let tile = b.load_tensor(x, &[row, zero], &[16, 64]);
        b.store_tensor(x, &[below, zero], tile);
    });
    assert_eq!(count, 1);
}

#[test]
fn turns_that_each_write_a_window_of_their_own_need_none() {
    for (step, required) in [(64, 0), (128, 0), (32, 1), (-64, 0), (-63, 1)] {
        let count = barriers(|b, x| {
            let zero = b.int(0);
            let ones = b.zeros(Dtype::F32, &[16, 64]);
            iterations(b, x, step, |b, at| b.store_tensor(x, &[zero, at], ones));
        });
        assert_eq!(count, required, "steps of {step}");
    }
}

#[test]
fn a_turn_that_reads_what_the_one_before_has_written_needs_one() {
    let count = barriers(|b, x| {
        let zero = b.int(0);
        iterations(b, x, 64, |b, at| {
            let back = b.int(-64);
            let before = b.binary(Binary::Add, at, back);
            let tile = b.load_tensor(x, &[zero, before], &[16, 64]);
            b.store_tensor(x, &[zero, at], tile);
        });
    });
    assert_eq!(count, 1);
}

#[test]
fn what_a_loop_has_written_is_ordered_before_a_read_behind_it() {
    let count = barriers(|b, x| {
        let zero = b.int(0);
        let ones = b.zeros(Dtype::F32, &[16, 64]);
        iterations(b, x, 64, |b, at| b.store_tensor(x, &[zero, at], ones));
        let tile = b.load_tensor(x, &[zero, zero], &[16, 64]);
        let other = b.int(1 << 20);
        b.store_tensor(x, &[other, zero], tile);
    });
    // The store far away may meet one of the loop's too, for all that is known, but the barrier before the load has passed.
    assert_eq!(count, 1);
}

#[test]
fn partitions_order_their_own_accesses_and_meet_at_both_ends() {
    let count = barriers(|b, x| {
        let (zero, one) = (b.int(0), b.int(1));
        let before = b.load_tensor(x, &[one, zero], &[16, 64]);
        b.store_tensor(x, &[zero, zero], before);
        // What comes before is ordered by the barrier of the whole block, and so is what comes after; of the two overlapping
        // windows inside, the second waits for the first.
        b.specialize(
            |_| Vec::new(),
            vec![(
                2,
                Box::new(move |b: &mut Builder| {
                    let tile = b.load_tensor(x, &[one, zero], &[16, 64]);
                    b.store_tensor(x, &[zero, zero], tile);
                }),
            )],
        );
        let after = b.load_tensor(x, &[one, zero], &[16, 64]);
        b.store_tensor(x, &[zero, one], after);
    });
    assert_eq!(count, 3);
}
