//! Each tensor is asked for as much alignment as its own accesses use.

use super::needed;
use crate::ir::{
    Dtype, Fact,
    tests::builder::{Builder, tile},
};

/// What a variant assumes of matrices whose elements are 4 bytes.
fn assumed(params: &[u32]) -> Vec<Fact> {
    let of = |&param: &u32| {
        [
            Fact::PointerAligned { param, bytes: 16 },
            Fact::StrideEquals { param, axis: 1, value: 1 },
            Fact::DimMultiple { param, axis: 1, of: 4 },
            Fact::StrideMultiple { param, axis: 0, of: 4 },
        ]
    };
    params.iter().flat_map(of).collect()
}

fn of(facts: &[Fact], wanted: u32) -> Vec<Fact> {
    let about = |fact: &&Fact| super::subject(fact) == wanted;
    facts.iter().filter(about).copied().collect()
}

/// Scales of rows beside the rows.
#[test]
fn a_tensor_of_single_elements_may_begin_anywhere() {
    let mut b = Builder::new("scaled", 1);
    let x = b.plain_tensor("x", Dtype::F32, 2);
    let scales = b.plain_tensor("scales", Dtype::F32, 2);
    let zero = b.int(0);
    b.load_tensor(x, &[zero, zero], &[16, 64]);
    b.load_tensor(scales, &[zero, zero], &[16, 1]);
    let facts = needed(&b.finish(), &assumed(&[x, scales]));
    assert_eq!(of(&facts, x), assumed(&[x]));
    assert_eq!(of(&facts, scales), [Fact::StrideEquals { param: scales, axis: 1, value: 1 }]);
}

#[test]
fn the_widest_window_says_how_much() {
    let mut b = Builder::new("pairs", 1);
    let x = b.plain_tensor("x", Dtype::F32, 2);
    let zero = b.int(0);
    let pairs = b.load_tensor(x, &[zero, zero], &[64, 2]);
    b.load_tensor(x, &[zero, zero], &[64, 1]);
    b.store_tensor(x, &[zero, zero], pairs);
    let facts = needed(&b.finish(), &assumed(&[x]));
    assert_eq!(
        facts,
        [
            Fact::PointerAligned { param: x, bytes: 8 },
            Fact::StrideEquals { param: x, axis: 1, value: 1 },
            Fact::DimMultiple { param: x, axis: 1, of: 2 },
            Fact::StrideMultiple { param: x, axis: 0, of: 2 },
        ]
    );
}

/// The extent of one tensor says where the rows of another are read.
#[test]
fn what_others_rely_on_stays() {
    let mut b = Builder::new("behind", 1);
    let x = b.plain_tensor("x", Dtype::F32, 2);
    let other = b.plain_tensor("other", Dtype::F32, 2);
    let unused = b.plain_tensor("unused", Dtype::F32, 2);
    let zero = b.int(0);
    let column = b.dim(other, 1);
    b.load_tensor(x, &[zero, column], &[16, 64]);
    let facts = needed(&b.finish(), &assumed(&[x, other, unused]));
    assert_eq!(of(&facts, x), assumed(&[x]));
    assert_eq!(of(&facts, other), assumed(&[other]));
    assert_eq!(of(&facts, unused), [Fact::StrideEquals { param: unused, axis: 1, value: 1 }]);
}

#[test]
fn copies_of_threads_count_as_accesses() {
    let mut b = Builder::new("copied", 1);
    let x = b.plain_tensor("x", Dtype::F32, 2);
    let (_, window) = b.shared(Dtype::F32, &[16, 64]);
    let zero = b.int(0);
    b.copy_async(x, &[zero, zero], window);
    let facts = needed(&b.finish(), &assumed(&[x]));
    assert_eq!(facts, assumed(&[x]));
}

/// Neighbours by addresses, which begin where a pointer does.
#[test]
fn pointers_stay_aligned() {
    use crate::ir::{Binary, Elem, MemoryOp, SourceOp, Type};
    let mut b = Builder::new("pointed", 1);
    let x = b.pointer("x", Dtype::F32);
    let range = b.arange(64);
    let base = b.op(SourceOp::ParamPtr(x), &[], Type::Scalar(Elem::Ptr(Dtype::F32)));
    let base = b.splat(base, &[64]);
    let pointers = b.binary(Binary::Add, base, range);
    b.op(MemoryOp::LoadPtr { masked: false }, &[pointers], tile(Dtype::F32, &[64]));
    let facts = [Fact::PointerAligned { param: x, bytes: 16 }];
    assert_eq!(needed(&b.finish(), &facts), facts);
}
