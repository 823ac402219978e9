use kernel_layout::{Dim, Form, Layout};

use super::blocked;

fn form(per_thread: [u32; 2], lanes: [u32; 2], warps: [u32; 2], order: [u32; 2]) -> Form {
    Form::Blocked {
        per_thread: per_thread.to_vec(),
        lanes: lanes.to_vec(),
        warps: warps.to_vec(),
        order: order.to_vec(),
    }
}

/// Every element that a thread of `form` holds is one that it holds in `layout`, and they are as many.
fn check_same(form: &Form, layout: &Layout) {
    let other = form.to_layout(&layout.shape()).expect("a recognised form can be built");
    let held = |layout: &Layout, lane: u32, warp: u32| {
        let mut held: Vec<Vec<u32>> = (0..layout.in_size(Dim::Register))
            .map(|register| {
                layout.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)])
            })
            .collect();
        held.sort();
        held.dedup();
        held
    };
    for warp in 0..layout.in_size(Dim::Warp) {
        for lane in 0..32 {
            assert_eq!(held(&other, lane, warp), held(layout, lane, warp), "{form} for {layout}");
        }
    }
}

#[test]
fn every_blocked_layout_is_recognised() {
    let splits = |bits: u32| (0..=bits).map(move |rows| [1 << rows, 1 << (bits - rows)]);
    for shape in [[64, 64], [4, 128], [128, 2], [8, 8], [1, 64]] {
        for per_thread in [[1, 1], [1, 4], [4, 2], [16, 1]] {
            for lanes in splits(5) {
                for warps in splits(2) {
                    for order in [[1, 0], [0, 1]] {
                        let form = form(per_thread, lanes, warps, order);
                        let layout = form.to_layout(&shape).expect("the lists are right");
                        let found = blocked(&layout, 4).expect("it is blocked");
                        check_same(&found, &layout);
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_not_blocked_is_not_recognised() {
    let layout = form([1, 4], [2, 16], [4, 1], [1, 0]).to_layout(&[64, 64]).expect("a matrix");
    let mut ins = layout.ins().to_vec();
    // A lane that is one row and one column away.
    ins[1].1[4] = vec![1, 4];
    let skewed = Layout::new(ins, layout.outs().to_vec()).expect("bases within the tile");
    assert_eq!(blocked(&skewed, 4), None);
    let vector = form([1, 4], [2, 16], [4, 1], [1, 0]).to_layout(&[1, 64]).expect("a row").slice(0);
    assert_eq!(blocked(&vector, 4), None);
}
