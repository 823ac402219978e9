//! Kernels whose allocations may share bytes, and such whose may not.

use crate::ir::tests::builder::Builder;
use crate::ir::{CopyOp, Dtype, MemoryOp, SyncOp, Value};

/// Whether two allocations are apart: something is done with the first, and the second is written after it.
fn apart(use_first: impl FnOnce(&mut Builder, u32, Value)) -> bool {
    let mut b = Builder::new("k", 4);
    let x = b.tensor("x", Dtype::F32, 2);
    let zero = b.int(0);
    let tile = b.load_tensor(x, &[zero, zero], &[16, 16]);
    let (first, of_first) = b.shared(Dtype::F32, &[16, 16]);
    let (second, of_second) = b.shared(Dtype::F32, &[16, 16]);
    use_first(&mut b, x, of_first);
    b.effect(MemoryOp::StoreShared, &[of_second, tile]);
    let kernel = b.finish();
    let lifetimes = kernel.lifetimes();
    assert_eq!(lifetimes.are_apart(first, second), lifetimes.are_apart(second, first));
    lifetimes.are_apart(first, second)
}

/// Copies the tensor into the window, as threads do it in groups.
fn copy(b: &mut Builder, x: u32, window: Value) {
    let zero = b.int(0);
    b.copy_async(x, &[zero, zero], window);
}

#[test]
fn a_barrier_after_the_last_use_sets_them_apart() {
    let read = |barrier: bool| {
        apart(move |b, _, first| {
            b.load_shared(first);
            if barrier {
                b.effect(SyncOp::Block, &[]);
            }
        })
    };
    assert!(read(true));
    assert!(!read(false));
}

#[test]
fn a_barrier_before_the_last_use_does_not() {
    assert!(!apart(|b, _, first| {
        b.load_shared(first);
        b.effect(SyncOp::Block, &[]);
        b.load_shared(first);
    }));
}

#[test]
fn a_barrier_inside_a_loop_does_not() {
    assert!(!apart(|b, _, first| {
        let range = [0, 4, 1].map(|value| b.int(value));
        b.count(range, &[], |b, _, _| {
            b.load_shared(first);
            b.effect(SyncOp::Block, &[]);
            Vec::new()
        });
    }));
}

#[test]
fn a_copy_is_over_when_a_wait_for_it_stands_before_the_barrier() {
    assert!(!apart(|b, x, first| {
        copy(b, x, first);
        b.effect(SyncOp::Block, &[]);
    }));
    assert!(!apart(|b, x, first| {
        copy(b, x, first);
        b.effect(SyncOp::Block, &[]);
        b.effect(CopyOp::WaitAll, &[]);
    }));
    assert!(apart(|b, x, first| {
        copy(b, x, first);
        b.effect(CopyOp::WaitAll, &[]);
        b.effect(SyncOp::Block, &[]);
    }));
}

#[test]
fn a_wait_for_groups_covers_what_is_in_one() {
    let waits = |commits: bool, pending: u32| {
        apart(move |b, x, first| {
            copy(b, x, first);
            if commits {
                b.effect(CopyOp::Commit, &[]);
            }
            b.effect(CopyOp::Wait(pending), &[]);
            b.effect(SyncOp::Block, &[]);
        })
    };
    assert!(waits(true, 0));
    assert!(!waits(false, 0));
    assert!(!waits(true, 1));
}
