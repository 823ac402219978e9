//! Kernels that try to reach memory that is not theirs, in launches that need no `unsafe`: each is stopped or reaches nothing.
//!
//! What keeps them in is in `docs/safety.md`. The emulator knows the bounds of each allocation to the byte.

use kiln::prelude::*;

/// Positions that arithmetic on indices may wrap at, and those beside them.
const EXTREMES: [i32; 16] = [
    i32::MIN,
    i32::MIN + 1,
    i32::MIN + 63,
    -65,
    -64,
    -63,
    -1,
    0,
    1,
    3,
    4,
    63,
    64,
    i32::MAX - 64,
    i32::MAX - 63,
    i32::MAX,
];

fn stream(target: Target) -> Stream {
    let device = Device::emulator(target).expect("the emulator is built in");
    device.stream().expect("the emulator has streams")
}

/// A launch ends well exactly if its index is in range, and by the kernel's own check if not.
#[track_caller]
fn stops(launched: Result<()>, in_range: bool, index: i32) {
    match launched {
        Ok(()) => assert!(in_range, "{index} is out of range"),
        Err(error) => {
            let said = error.to_string();
            assert!(!in_range && said.contains("trap"), "{index}: {said}");
        }
    }
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
fn ring_slot(slot: i32, out: TensorMut<i32, 1>) {
    let (ring, beside) = (shared::<i32>([3, 1, 64]), shared::<i32>([1, 64]));
    for slot in unroll(0..3) {
        ring[slot].store(full([1, 64], slot));
    }
    beside.store(full([1, 64], -1));
    sync();
    out.tile([0], [64]).store((ring[slot].load() + beside.load()).reshape([64]));
}

#[test]
fn an_index_of_a_ring_stops_the_kernel_where_it_is_out_of_range() {
    let stream = stream(Target::Sm80);
    for slot in EXTREMES {
        let mut out = stream.zeros([64]).expect("memory");
        let launched = ring_slot(ring_slot::Args { slot, out: &mut out }).launch(&stream);
        stops(launched, (0..3).contains(&slot), slot);
    }
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
fn ring_written(first: i32, out: TensorMut<i32, 1>) {
    let ring = shared::<i32>([4, 64]);
    let mut slot = first;
    for _ in 0..5 {
        ring[slot].store(full([64], 1));
        slot += 1;
        if slot == 4 {
            slot = 0;
        }
    }
    sync();
    out.tile([0], [64]).store(ring[0].load());
}

#[test]
fn a_slot_that_never_meets_the_end_of_its_ring_stops_the_kernel() {
    let stream = stream(Target::Sm80);
    for first in [0, 3, 4, -2, i32::MAX] {
        let mut out = stream.zeros([64]).expect("memory");
        let args = ring_written::Args { first, out: &mut out };
        stops(ring_written(args).launch(&stream), (0..4).contains(&first), first);
    }
}

#[kernel(target = sm_90a, warps = 1, grid = 1)]
fn barrier_slot(slot: i32, out: TensorMut<i32, 1>) {
    let full = barriers(2, 1);
    full[slot].arrive();
    full[slot].wait(0);
    out.tile([0], [32]).store(arange(0, 32));
}

#[test]
fn an_index_of_barriers_stops_the_kernel_where_it_is_out_of_range() {
    let stream = stream(Target::Sm90a);
    for slot in EXTREMES {
        let mut out = stream.zeros([32]).expect("memory");
        let args = barrier_slot::Args { slot, out: &mut out };
        stops(barrier_slot(args).launch(&stream), (0..2).contains(&slot), slot);
    }
}

#[kernel(target = sm_90a, warps = 1, grid = 2, cluster = 2)]
fn block_of_cluster(rank: i32, out: TensorMut<i32, 2>) {
    let mine = shared::<i32>([32]);
    mine.store(full([32], cluster::rank()));
    cluster::sync();
    out.tile([block_id(0), 0], [1, 32]).store(mine.of_block(rank).load().expand(0));
}

#[test]
fn a_rank_that_no_block_has_stops_the_kernel() {
    let stream = stream(Target::Sm90a);
    for rank in EXTREMES {
        let mut out = stream.zeros([2, 32]).expect("memory");
        let args = block_of_cluster::Args { rank, out: &mut out };
        stops(block_of_cluster(args).launch(&stream), (0..2).contains(&rank), rank);
    }
}

#[kernel(target = sm_90a, warps = 1, grid = 2, cluster = 2)]
fn barrier_of_cluster(rank: i32, out: TensorMut<i32, 2>) {
    let told = barrier(2);
    told.of_block(rank).arrive();
    if cluster::rank() == rank {
        told.wait(0);
    }
    out.tile([block_id(0), 0], [1, 32]).store(zeros([1, 32]));
}

#[test]
fn a_barrier_of_no_block_stops_the_kernel() {
    let stream = stream(Target::Sm90a);
    for rank in EXTREMES {
        let mut out = stream.zeros([2, 32]).expect("memory");
        let args = barrier_of_cluster::Args { rank, out: &mut out };
        stops(barrier_of_cluster(args).launch(&stream), (0..2).contains(&rank), rank);
    }
}

#[kernel(target = sm_90a, warps = 1, grid = 2, cluster = 2)]
fn multicast_mask(#[block(32, 32)] x: TensorMap<f32, 2>, mask: i32, out: TensorMut<f32, 2>) {
    let (tile, arrived) = (shared::<f32>([32, 32]), barrier(1));
    arrived.expect(x.block_bytes());
    if cluster::rank() == 0 {
        tma::load(x, [0, 0], arrived, tile).multicast(mask);
    }
    arrived.wait(0);
    out.tile([32 * block_id(0), 0], [32, 32]).store(tile.load());
    cluster::sync();
}

#[test]
fn a_mask_of_blocks_that_the_cluster_lacks_stops_the_kernel() {
    let stream = stream(Target::Sm90a);
    let x = stream.full([32, 32], 1.0f32).expect("memory");
    for mask in [3, 4, 7, -1, i32::MIN, i32::MAX] {
        let mut out = stream.zeros([64, 32]).expect("memory");
        let args = multicast_mask::Args { x: &x, mask, out: &mut out };
        stops(multicast_mask(args).launch(&stream), mask == 3, mask);
    }
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
fn moved(x: Tensor<i32, 2>, at: i32, other: i32, out: TensorMut<i32, 2>) {
    let staged = shared::<i32>([2, 64]);
    copy_async(x.tile([other, at], [2, 64]), staged);
    copy_async_wait_all();
    sync();
    let read = x.tile([at, other], [2, 64]).load();
    out.tile([other, at], [2, 64]).store(read + staged.load());
    out.tile([at, other], [2, 64]).store(read);
}

#[test]
fn a_window_anywhere_touches_its_tensor_alone() {
    let stream = stream(Target::Sm80);
    for [rows, columns] in [[1, 1], [3, 65], [4, 64], [64, 4], [0, 64], [5, 0]] {
        // One row and one column more on each side, which stay as they are.
        let all = vec![7; (rows + 2) * (columns + 2)];
        let x = stream.full([rows, columns], 5).expect("memory");
        for (at, other) in EXTREMES.iter().flat_map(|at| EXTREMES.map(|other| (*at, other))) {
            let mut around = stream.upload(&all, [rows + 2, columns + 2]).expect("memory");
            let mut inside = around.slice_mut(0, 1..rows + 1).expect("rows");
            let mut inside = inside.slice_mut(1, 1..columns + 1).expect("columns");
            let args = moved::Args { x: &x, at, other, out: &mut inside };
            moved(args).launch(&stream).unwrap_or_else(|error| panic!("{at}, {other}: {error}"));
            let after = around.to_vec(&stream).expect("it ran");
            for (place, value) in after.iter().enumerate() {
                let (row, column) = (place / (columns + 2), place % (columns + 2));
                let within = (1..=rows).contains(&row) && (1..=columns).contains(&column);
                assert!(within || *value == 7, "[{row}, {column}] at {at}, {other}");
            }
        }
    }
}

/// 2147483644 + 4 wraps, whatever `n` is.
#[kernel(target = sm_80, warps = 1, grid = 1)]
fn wrapped_start(x: Tensor<i32, 1>, n: i32, out: TensorMut<i32, 1>) {
    let mut from = 2147483644;
    for _ in 0..n {
        from = 2147483644;
    }
    from += 4;
    let mut sum = zeros::<i32>([4]);
    for at in range(from, x.dim(0), 1073741824) {
        sum += x.tile([at], [4]).load();
    }
    out.tile([0], [4]).store(sum);
}

#[test]
fn a_loop_whose_start_wraps_reads_nothing_before_its_tensor() {
    let stream = stream(Target::Sm80);
    let x = stream.full([64], 1).expect("memory");
    let mut out = stream.zeros([4]).expect("memory");
    let args = wrapped_start::Args { x: &x, n: 1, out: &mut out };
    wrapped_start(args).launch(&stream).expect("it stays inside");
    // -2^31 and -2^30 are before the tensor; 0 is in it.
    assert_eq!(out.to_vec(&stream).expect("it ran"), [1; 4]);
}

/// The shift is by 1: it counts modulo 8.
#[kernel(target = sm_80, warps = 1, grid = 1)]
fn narrow_shift(x: Tensor<f32, 1>, by: u8, n: i32, out: TensorMut<f32, 1>) {
    let mut nine = 9u8;
    for _ in 0..n {
        nine = 9;
    }
    let at = i32::from(by << nine);
    out.tile([0], [128]).store(x.tile([at], [128]).load());
}

#[test]
fn a_shift_by_more_than_its_width_makes_no_position_a_multiple() {
    let stream = stream(Target::Sm80);
    let values: Vec<f32> = (0..192u8).map(f32::from).collect();
    let x = stream.upload(&values, [192]).expect("memory");
    for by in [0, 1, 3, 255] {
        let mut out = stream.zeros([128]).expect("memory");
        let args = narrow_shift::Args { x: &x, by, n: 1, out: &mut out };
        narrow_shift(args).launch(&stream).expect("it stays inside");
        let first = usize::from(by.wrapping_shl(9));
        let required: Vec<f32> =
            (first..first + 128).map(|at| values.get(at).copied().unwrap_or(0.0)).collect();
        assert_eq!(out.to_vec(&stream).expect("it ran"), required, "{by}");
    }
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
fn one_row(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let staged = shared::<f16>([4, 64]);
    copy_async(x.tile([0, 0], [4, 64]), staged);
    copy_async_wait_all();
    sync();
    out.tile([0, 0], [4, 64]).store(staged.load());
}

#[test]
fn a_row_of_any_stride_is_read_where_it_is_alone() {
    let stream = stream(Target::Sm80);
    let all = stream.full([2, 67], f16::of(3.0)).expect("memory");
    let row = all.slice(0, 0..1).expect("a row");
    let x = row.slice(1, 0..64).expect("a part of it");
    let mut out = stream.zeros([4, 64]).expect("memory");
    one_row(one_row::Args { x: &x, out: &mut out }).launch(&stream).expect("it stays inside");
    let after = out.to_vec(&stream).expect("it ran");
    assert!(after[..64].iter().all(|value| *value == f16::of(3.0)));
    assert!(after[64..].iter().all(|value| *value == f16::of(0.0)));
}

#[kernel(target = sm_80, warps = 2, grid = 4)]
fn counted(at: i32, counts: TensorMut<i32, 1>, old: TensorMut<i32, 1>) {
    let before = counts.tile([at], [64]).atomic_add(full([64], 1));
    if block_id(0) == 0 {
        old.tile([0], [64]).store(before);
    }
}

#[test]
fn atomics_on_a_window_need_no_unsafe_and_stay_inside_the_tensor() {
    const EXTENT: i32 = 100;
    let stream = stream(Target::Sm80);
    for at in EXTREMES.into_iter().chain([37, EXTENT - 1, EXTENT]) {
        let mut counts = stream.zeros([100]).expect("memory");
        let mut old = stream.zeros([64]).expect("memory");
        let args = counted::Args { at, counts: &mut counts, old: &mut old };
        counted(args).launch(&stream).expect("what is outside is left out");
        let (counts, old) =
            (counts.to_vec(&stream).expect("results"), old.to_vec(&stream).expect("results"));
        for (index, count) in (0..EXTENT).zip(counts) {
            let inside = i64::from(index) - i64::from(at);
            assert_eq!(count, if (0..64).contains(&inside) { 4 } else { 0 }, "{at}: {index}");
        }
        for (index, before) in (0..64).zip(old) {
            let inside = i64::from(at) + index;
            let most = if (0..i64::from(EXTENT)).contains(&inside) { 3 } else { 0 };
            assert!((0..=most).contains(&before), "{at}, {index}: {before}");
        }
    }
}
