//! TMA copies, as an H200 does them.

use super::{Fault, fault, floats, run, to_floats};
use crate::ir::tests::builder::Builder;
use crate::ir::{Dtype, Kernel, MemoryOp, Tma, TmaKind, TmaReduce};

/// Copies a tile of zeros, 4 x 4, at these coordinates of a tensor.
fn copies(kind: TmaKind, at: [i32; 2]) -> Kernel {
    let mut b = Builder::new("copies", 4);
    let y = b.tensor("y", Dtype::F32, 2);
    let (_, window) = b.shared(Dtype::F32, &[4, 4]);
    let zeros = b.zeros(Dtype::F32, &[4, 4]);
    b.effect(MemoryOp::StoreShared, &[window, zeros]);
    let [row, column] = at.map(|at| b.int(at));
    b.effect(Tma::plain(kind, y), &[row, column, window]);
    b.finish()
}

#[test]
fn stores_by_tensor_map_do_not_begin_before_the_tensor() {
    for kind in [TmaKind::Store, TmaKind::Reduce(TmaReduce::Add)] {
        for (at, dimension, before) in [([-1, 0], 1, -1), ([0, -4], 0, -4), ([-2, -8], 0, -8)] {
            let required = Fault::BeforeTensor { dimension, at: before };
            let found = fault(&copies(kind, at), &mut [floats(&[8, 8], &[1.0; 64])]);
            assert_eq!(found, required, "{kind:?} at {at:?}");
        }
    }
    let (kernel, mut args) = (copies(TmaKind::Store, [6, 7]), [floats(&[8, 8], &[1.0; 64])]);
    run(&kernel, [1, 1, 1], &mut args).expect("what lies behind the end is not stored");
    let zeros = to_floats(&args[0]).into_iter().filter(|element| *element == 0.0).count();
    assert_eq!(zeros, 2);
}
