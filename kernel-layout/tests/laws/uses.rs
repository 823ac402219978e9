//! Laws of conversions, vector accesses, bank conflicts and exchanges.

use std::collections::{BTreeMap, BTreeSet};

use kernel_layout::forms::{
    blocked, blocked_for, fma_operand, matrix_fragment, mma_v2_accumulator, mma_v2_operand,
    nvmma_shared, row_major_shared, wgmma_accumulator,
};
use kernel_layout::{
    Conversion, Dim, Exchange, Layout, PaddedShared, Visit, accesses, bank_conflicts, max_vector,
    meeting, offsets,
};
use proptest::prelude::*;

use crate::samples::{all, bijections, holders, image, layouts, named, positions, seeded};

fn value(at: &[(Dim, u32)], dim: Dim) -> u32 {
    at.iter().find(|(other, _)| *other == dim).map_or(0, |&(_, value)| value)
}

/// Who holds each element of `from`, as positions.
fn same_place(a: &[(Dim, u32)], b: &[(Dim, u32)], dims: &[Dim]) -> bool {
    dims.iter().all(|&dim| value(a, dim) == value(b, dim))
}

/// The class found by looking at every position.
fn class(from: &Layout, to: &Layout) -> u32 {
    let holders = holders(from);
    let near = |dims: &[Dim]| {
        positions(to).iter().all(|x| holders[&to.apply(x)].iter().any(|y| same_place(x, y, dims)))
    };
    let by_registers = || {
        let threads: Vec<_> =
            positions(to).into_iter().filter(|x| value(x, Dim::Register) == 0).collect();
        let held = |layout: &Layout, thread: &[(Dim, u32)], register| {
            let mut at = thread.to_vec();
            at.iter_mut()
                .filter(|(dim, _)| *dim == Dim::Register)
                .for_each(|(_, value)| *value = register);
            layout.apply(&at)
        };
        (0..to.in_size(Dim::Register)).all(|wanted| {
            (0..from.in_size(Dim::Register)).any(|source| {
                threads.iter().all(|thread| held(from, thread, source) == held(to, thread, wanted))
            })
        })
    };
    if from == to {
        0
    } else if by_registers() {
        1
    } else if near(&[Dim::Lane, Dim::Warp, Dim::Block]) {
        2
    } else if near(&[Dim::Warp, Dim::Block]) {
        3
    } else if near(&[Dim::Block]) {
        4
    } else {
        5
    }
}

/// A conversion is of the cheapest class there is, and the positions it names hold the elements.
fn check_conversion(from: &Layout, to: &Layout) {
    let cheapest = class(from, to);
    match Conversion::between(from, to) {
        Conversion::Trivial => assert_eq!(cheapest, 0, "{from} to {to}"),
        Conversion::Registers(sources) => {
            assert_eq!(cheapest, 1, "{from} to {to}");
            for x in positions(to) {
                let mut y = x.clone();
                for (dim, value) in &mut y {
                    if *dim == Dim::Register {
                        *value = sources[*value as usize];
                    }
                }
                assert_eq!(from.apply(&y), to.apply(&x), "{from} to {to}");
            }
        }
        Conversion::Shuffle(map) => {
            assert!((2..=3).contains(&cheapest), "{from} to {to}");
            for x in positions(to) {
                let y = named(map.out_dims(), &map.apply(&x));
                assert_eq!(from.apply(&y), to.apply(&x), "{from} to {to}");
                assert!(same_place(&x, &y, &[Dim::Warp, Dim::Block]), "{from} to {to}");
                assert!(cheapest == 3 || same_place(&x, &y, &[Dim::Lane]), "{from} to {to}");
            }
        }
        Conversion::SharedMemory => assert_eq!(cheapest, 4, "{from} to {to}"),
        Conversion::ClusterSharedMemory => assert_eq!(cheapest, 5, "{from} to {to}"),
    }
}

#[test]
fn law_conversion_moves_every_element() {
    let hardware = [(Dim::Register, 1), (Dim::Lane, 1), (Dim::Warp, 1), (Dim::Block, 1)];
    let sample: Vec<Layout> = all(&hardware, &[(Dim::Axis(0), 2)]).collect();
    for from in sample.iter().filter(|layout| image(layout).len() == 4) {
        for to in sample.iter().step_by(3) {
            check_conversion(from, to);
        }
    }
    let hardware = [(Dim::Register, 1), (Dim::Lane, 2)];
    let sample: Vec<Layout> = all(&hardware, &[(Dim::Axis(0), 1), (Dim::Axis(1), 1)]).collect();
    for from in sample.iter().filter(|layout| image(layout).len() == 4) {
        for to in &sample {
            check_conversion(from, to);
        }
    }
}

/// For each position of `registers`, the offset at which a bijective `shared` stores its element, by search.
fn offsets_by_search(registers: &Layout, shared: &Layout) -> BTreeMap<Vec<(Dim, u32)>, u32> {
    let places = holders(shared);
    positions(registers)
        .into_iter()
        .map(|x| {
            let offset = value(&places[&registers.apply(&x)][0], Dim::Offset);
            (x, offset)
        })
        .collect()
}

/// A vector is possible when each thread holds whole aligned runs, with registers in the same order in all threads.
fn vector_by_search(registers: &Layout, shared: &Layout, vector: u32) -> bool {
    let offsets = offsets_by_search(registers, shared);
    let mut of_thread: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
    let mut place_in_vector: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (x, offset) in &offsets {
        let thread = [Dim::Lane, Dim::Warp].map(|dim| value(x, dim)).to_vec();
        of_thread.entry(thread).or_default().insert(*offset);
        place_in_vector.entry(value(x, Dim::Register)).or_default().insert(offset % vector);
    }
    let whole = |offsets: &BTreeSet<u32>| {
        offsets.iter().all(|offset| {
            (0..vector).all(|slot| offsets.contains(&(offset / vector * vector + slot)))
        })
    };
    of_thread.values().all(whole) && place_in_vector.values().all(|places| places.len() == 1)
}

fn check_accesses(registers: &Layout, shared: &Layout) {
    let longest = max_vector(registers, shared);
    assert!(vector_by_search(registers, shared, longest), "{registers} in {shared}");
    if longest < shared.in_size(Dim::Offset) {
        assert!(!vector_by_search(registers, shared, 2 * longest), "{registers} in {shared}");
    }
    let offsets = offsets_by_search(registers, shared);
    let mut vector = 1;
    while vector <= longest {
        let mut seen = Vec::new();
        for access in accesses(registers, shared, vector) {
            assert_eq!(access.registers.len(), vector as usize);
            assert!(access.offset.is_multiple_of(vector));
            for (slot, registers_of_slot) in (0..).zip(&access.registers) {
                assert!(!registers_of_slot.is_empty(), "{registers} in {shared}");
                for &register in registers_of_slot {
                    let x: Vec<(Dim, u32)> = registers
                        .in_dims()
                        .map(|dim| (dim, if dim == Dim::Register { register } else { 0 }))
                        .collect();
                    assert_eq!(offsets[&x], access.offset + slot, "{registers} in {shared}");
                    seen.push(register);
                }
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..registers.in_size(Dim::Register)).collect::<Vec<_>>());
        vector *= 2;
    }
}

#[test]
fn law_vectors_are_whole_runs() {
    let shared: Vec<Layout> = all(&[(Dim::Offset, 2)], &[(Dim::Axis(0), 1), (Dim::Axis(1), 1)])
        .filter(|layout| image(layout).len() == 4)
        .collect();
    for registers in all(
        &[(Dim::Register, 2), (Dim::Lane, 1), (Dim::Warp, 1)],
        &[(Dim::Axis(0), 1), (Dim::Axis(1), 1)],
    ) {
        for shared in &shared {
            check_accesses(&registers, shared);
        }
    }
}

/// Bank by bank, for every access of every warp: the words that each group of lanes wants at once.
fn conflicts_by_search(
    registers: &Layout,
    shared: &Layout,
    bytes: u32,
    vector: u32,
) -> BTreeSet<u32> {
    let offsets = offsets_by_search(registers, shared);
    let mut warps: BTreeMap<(u32, u32), BTreeMap<u32, u32>> = BTreeMap::new();
    for (x, offset) in &offsets {
        let start = offset / vector * vector * bytes;
        let access = (value(x, Dim::Register), value(x, Dim::Warp));
        warps.entry(access).or_default().insert(value(x, Dim::Lane), start);
    }
    let lanes_at_once = if bytes * vector <= 4 { 32 } else { 128 / (bytes * vector) };
    let extra = |starts: &BTreeMap<u32, u32>| {
        let mut extra = 0;
        for group in 0..32 / lanes_at_once {
            let mut banks: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for (lane, start) in starts {
                if lane / lanes_at_once == group {
                    for byte in *start..start + bytes * vector {
                        banks.entry(byte / 4 % 32).or_default().insert(byte / 128);
                    }
                }
            }
            extra += banks.values().map(BTreeSet::len).max().map_or(0, |lines| lines - 1);
        }
        u32::try_from(extra).expect("at most 31 for each group")
    };
    warps.values().map(extra).collect()
}

fn check_conflicts(registers: &Layout, shared: &Layout, bytes: u32) {
    let mut vector = 1;
    while vector <= max_vector(registers, shared) && vector * bytes <= 16 {
        let found = bank_conflicts(registers, shared, bytes, vector);
        let each = conflicts_by_search(registers, shared, bytes, vector);
        assert_eq!(
            each,
            BTreeSet::from([found]),
            "{registers} in {shared}, {vector} of {bytes} bytes"
        );
        vector *= 2;
    }
}

#[test]
fn law_bank_conflicts_are_those_of_every_access() {
    let registers = [
        blocked(&[1, 8], &[4, 8], &[2, 1], &[1, 0], &[16, 64]),
        blocked(&[8, 1], &[2, 16], &[1, 2], &[0, 1], &[16, 64]),
        blocked(&[1, 1], &[32, 1], &[1, 2], &[1, 0], &[32, 32]),
        blocked(&[1, 4], &[32, 1], &[1, 2], &[1, 0], &[16, 64]),
        mma_v2_accumulator([2, 1], &[32, 32]),
        mma_v2_operand(1, [2, 1], 2, &[32, 32]),
    ];
    for registers in registers {
        let registers = registers.expect("the layout is legal");
        let shape = registers.shape();
        let shared = [
            row_major_shared(&shape),
            nvmma_shared(64, 16, false, false, &shape),
            nvmma_shared(32, 8, true, false, &shape).or_else(|_| row_major_shared(&shape)),
        ];
        for shared in shared {
            let shared = shared.expect("the layout is legal");
            for bytes in [1, 2, 4, 8] {
                check_conflicts(&registers, &shared, bytes);
            }
        }
    }
}

/// Every thread has elements of its own as long as there are enough, and vectors are as long as that allows.
#[test]
fn law_blocked_for_wastes_no_thread() {
    let sizes = [1, 2, 16, 64, 256];
    for rows in sizes {
        for columns in sizes {
            for (order, fastest_size) in [([1, 0], columns), ([0, 1], rows)] {
                for per_thread in [1, 4, 16] {
                    for warps in [1, 4] {
                        let layout = blocked_for(&[rows, columns], &order, per_thread, warps);
                        let (elements, threads) = (rows * columns, 32 * warps);
                        assert!(layout.is_surjective(), "{layout}");
                        assert_eq!(
                            (layout.in_size(Dim::Lane), layout.in_size(Dim::Warp)),
                            (32, warps)
                        );
                        let own = u32::try_from(image(&layout).len()).expect("a small tile");
                        assert_eq!(own, elements);
                        assert_eq!(
                            layout.in_size(Dim::Register),
                            (elements / threads).max(1),
                            "{layout}"
                        );
                        let vector = per_thread.min(fastest_size).min((elements / threads).max(1));
                        let along = Dim::axis(order[0] as usize);
                        assert!(
                            layout.num_consecutive_along(Dim::Register, along) >= vector,
                            "{layout}"
                        );
                    }
                }
            }
        }
    }
    let scalar = blocked_for(&[], &[], 4, 2);
    assert_eq!(scalar.to_string(), "register, lane [] [] [] [] [], warp [] -> []");
}

/// Wavefronts and accesses of one warp, with the longest vectors.
fn price(registers: &Layout, shared: &Layout, bytes: u32) -> (u32, u32) {
    let vector = max_vector(registers, shared).min(16 / bytes);
    let distinct = registers.sublayout(&[Dim::Register], &registers.out_dims().collect::<Vec<_>>());
    let accesses = u32::try_from(image(&distinct).len()).expect("few registers") / vector;
    let passes = (vector * bytes / 4).max(1);
    (accesses * (passes + bank_conflicts(registers, shared, bytes, vector)), accesses)
}

fn check_exchange(writer: &Layout, reader: &Layout, bytes: u32) -> Exchange {
    let exchange = Exchange::between(writer, reader, bytes);
    assert!(exchange.shared.is_bijective(), "{exchange:?}");
    let (writes, stores) = price(writer, &exchange.shared, bytes);
    let (reads, loads) = price(reader, &exchange.shared, bytes);
    assert_eq!(exchange.wavefronts, writes + reads);
    assert_eq!(exchange.write_vector, max_vector(writer, &exchange.shared).min(16 / bytes));
    assert_eq!(exchange.read_vector, max_vector(reader, &exchange.shared).min(16 / bytes));
    let plain = row_major_shared(&writer.shape()).expect("the shape is legal");
    let (plain_writes, plain_stores) = price(writer, &plain, bytes);
    let (plain_reads, plain_loads) = price(reader, &plain, bytes);
    let (own, others) =
        (writes + reads + stores + loads, plain_writes + plain_reads + plain_stores + plain_loads);
    assert!(
        own <= others,
        "{writer} to {reader}: {own} against {others} when row-major; {}",
        exchange.shared
    );
    exchange
}

/// The layouts that kernels have, for a tile of this shape and four warps.
fn usual_layouts(shape: &[u32]) -> Vec<Layout> {
    let mut layouts: Vec<Layout> = [1, 2, 4, 8, 16]
        .into_iter()
        .flat_map(|fastest| [[1, 0], [0, 1]].map(|order| blocked_for(shape, &order, fastest, 4)))
        .collect();
    layouts.extend(mma_v2_accumulator([2, 2], shape));
    layouts.extend(mma_v2_accumulator([4, 1], shape));
    layouts.extend(mma_v2_operand(0, [2, 2], 2, shape));
    layouts.extend(mma_v2_operand(1, [2, 2], 2, shape));
    layouts.extend(mma_v2_operand(0, [4, 1], 4, shape));
    layouts.extend(wgmma_accumulator([4, 1], 32, shape));
    layouts.extend(fma_operand(0, &[2, 2], &[8, 4], &[2, 2], &[1, 0], shape));
    layouts.extend(fma_operand(1, &[1, 4], &[1, 32], &[4, 1], &[1, 0], shape));
    layouts
}

/// Between layouts that deal out index bits, an exchange never has bank conflicts.
#[test]
fn law_exchange_beats_row_major() {
    for shape in [[64, 64], [32, 128]] {
        let layouts = usual_layouts(&shape);
        for writer in &layouts {
            for reader in &layouts {
                for bytes in [1, 2, 4, 8] {
                    let exchange = check_exchange(writer, reader, bytes);
                    let of = |side, vector| bank_conflicts(side, &exchange.shared, bytes, vector);
                    assert_eq!(
                        of(writer, exchange.write_vector),
                        0,
                        "{writer} to {reader}, {bytes} bytes"
                    );
                    assert_eq!(
                        of(reader, exchange.read_vector),
                        0,
                        "{writer} to {reader}, {bytes} bytes"
                    );
                }
            }
        }
    }
}

/// A tile that is written in one layout and read in another one meets as without conflicts as an exchange; with a third visitor
/// the choice is at least as cheap as every candidate given.
#[test]
fn law_meeting_beats_its_candidates() {
    let shape = [64, 64];
    let layouts = usual_layouts(&shape);
    let plain = row_major_shared(&shape).expect("powers of two");
    let swizzled = nvmma_shared(128, 16, false, false, &shape).expect("powers of two");
    // Counted here in another way than by the search: accesses, and wavefronts by the banks that lanes touch.
    let price = |shared: &Layout, visits: &[Visit]| -> u32 {
        visits
            .iter()
            .map(|one| {
                let vector = max_vector(&one.registers, shared).min(8);
                let accesses = accesses(&one.registers, shared, vector).len();
                let extra = bank_conflicts(&one.registers, shared, 2, vector);
                let passes = (vector * 2 / 4).max(1) + extra + 1;
                one.times * u32::try_from(accesses).expect("few") * passes
            })
            .sum()
    };
    for (at, first) in layouts.iter().enumerate() {
        for (other, second) in layouts.iter().enumerate() {
            let third = &layouts[(at + other) % layouts.len()];
            let of = |registers: &Layout, times| Visit {
                registers: registers.clone(),
                times,
                least_vector: 1,
            };
            let visits = [of(first, 1), of(second, 8), of(third, 1)];
            let given = vec![plain.clone(), swizzled.clone()];
            let best = meeting(&visits, given.clone(), 2).expect("there are candidates");
            for candidate in given {
                assert!(price(&best, &visits) <= price(&candidate, &visits));
            }
            let best = meeting(&visits[..2], Vec::new(), 2).expect("a pair is enough");
            for visit in &visits[..2] {
                let vector = max_vector(&visit.registers, &best).min(8);
                assert_eq!(bank_conflicts(&visit.registers, &best, 2, vector), 0);
            }
        }
    }
}

/// A vector that should stay whole does, where reads in a loop around would be cheaper without it.
#[test]
fn a_meeting_keeps_the_vectors_of_copies() {
    let by_rows = blocked_for(&[64, 64], &[1, 0], 8, 4);
    let by_columns = blocked_for(&[64, 64], &[0, 1], 8, 4);
    let copied = Visit { registers: by_rows.clone(), times: 1, least_vector: 8 };
    let read = Visit { registers: by_columns, times: 8, least_vector: 1 };
    let best = meeting(&[copied, read], Vec::new(), 2).expect("a pair is enough");
    assert!(max_vector(&by_rows, &best) >= 8);
}

/// A copy's elements stay in their order: the same number of other elements side by side is not enough.
#[test]
fn a_meeting_keeps_the_order_of_copies() {
    let shape = [1, 2048];
    let eight = blocked_for(&shape, &[1, 0], 8, 4);
    let four = blocked_for(&shape, &[1, 0], 4, 4);
    let visit = |registers: &Layout, least_vector| Visit {
        registers: registers.clone(),
        times: 1,
        least_vector,
    };
    let visits = [visit(&eight, 8), visit(&four, 1), visit(&eight, 1)];
    let plain = row_major_shared(&shape).expect("powers of two");
    let best = meeting(&visits, vec![plain], 2).expect("there is a candidate");
    let offsets = offsets(&eight, &best);
    for bit in 0..3 {
        assert_eq!(offsets.bases(Dim::Register)[bit], [1 << bit], "{best}");
    }
}

/// Swizzling must not break the vectors of the side whose vectors are longer.
#[test]
fn exchange_keeps_the_longer_vectors() {
    let writer = blocked_for(&[64, 64], &[0, 1], 4, 4);
    let reader = mma_v2_operand(0, [2, 2], 2, &[64, 64]).expect("whole instructions");
    let exchange = check_exchange(&writer, &reader, 1);
    assert_eq!((exchange.write_vector, exchange.read_vector), (8, 16));
}

/// A writer of short rows and a reader whose bases mix many bits: nothing that fits both is as good as plain rows.
#[test]
fn exchange_with_a_reader_that_mixes_bits() {
    let lists = |lists: &[&[[u32; 2]]]| -> Vec<Vec<Vec<u32>>> {
        lists.iter().map(|list| list.iter().map(|basis| basis.to_vec()).collect()).collect()
    };
    let layout = |bases: Vec<Vec<Vec<u32>>>| {
        let ins = [Dim::Register, Dim::Lane, Dim::Warp].into_iter().zip(bases).collect();
        Layout::new(ins, vec![(Dim::Axis(0), 32), (Dim::Axis(1), 64)]).expect("the bases are legal")
    };
    let writer = layout(lists(&[
        &[[0, 1], [0, 2], [0, 16], [16, 0]],
        &[[0, 32], [1, 0], [2, 0], [0, 8], [0, 4]],
        &[[8, 0], [4, 0]],
    ]));
    let reader = layout(lists(&[
        &[[2, 8], [1, 0], [4, 1], [0, 8]],
        &[[0, 1], [13, 1], [0, 32], [0, 12], [16, 0]],
        &[[0, 2], [0, 16]],
    ]));
    for bytes in [1, 2, 4, 8] {
        check_exchange(&writer, &reader, bytes);
    }
}

/// For tiles that are copied in 16-byte pieces and read by `ldmatrix`, both sides move 16 bytes without conflicts.
#[test]
fn exchange_for_ldmatrix() {
    for shape in [[64, 32], [128, 64], [32, 128]] {
        let writer = blocked_for(&shape, &[1, 0], 8, 4);
        // Lane r supplies the address of 8 elements of row r.
        let tile = Layout::identity(Dim::Register, Dim::Axis(1), 8)
            .product(&Layout::identity(Dim::Lane, Dim::Axis(0), 8))
            .product(&Layout::identity(Dim::Lane, Dim::Axis(1), 4))
            .product(&Layout::identity(Dim::Warp, Dim::Axis(0), 4));
        let reader = tile.fit(&shape, &[1, 0]);
        let exchange = check_exchange(&writer, &reader, 2);
        assert_eq!((exchange.write_vector, exchange.read_vector), (8, 8));
        assert_eq!(bank_conflicts(&writer, &exchange.shared, 2, 8), 0);
        assert_eq!(bank_conflicts(&reader, &exchange.shared, 2, 8), 0);
    }
    assert!(matrix_fragment(1).is_bijective());
}

proptest! {
    #![proptest_config(seeded(64))]

    #[test]
    fn random_conversions(
        from in bijections(vec![(Dim::Register, 2), (Dim::Lane, 2), (Dim::Warp, 1)], vec![(Dim::Axis(0), 3), (Dim::Axis(1), 2)]),
        to in bijections(vec![(Dim::Register, 2), (Dim::Lane, 2), (Dim::Warp, 1)], vec![(Dim::Axis(0), 3), (Dim::Axis(1), 2)]),
        also in layouts(vec![(Dim::Register, 2), (Dim::Lane, 2), (Dim::Warp, 1)], vec![(Dim::Axis(0), 3), (Dim::Axis(1), 2)]),
    ) {
        check_conversion(&from, &to);
        check_conversion(&from, &also);
    }

    #[test]
    fn random_accesses(
        registers in layouts(vec![(Dim::Register, 4), (Dim::Lane, 5), (Dim::Warp, 1)], vec![(Dim::Axis(0), 4), (Dim::Axis(1), 6)]),
        shared in bijections(vec![(Dim::Offset, 10)], vec![(Dim::Axis(0), 4), (Dim::Axis(1), 6)]),
    ) {
        check_accesses(&registers, &shared);
        check_conflicts(&registers, &shared, 2);
        check_conflicts(&registers, &shared, 4);
    }

    #[test]
    fn random_exchanges(
        writer in bijections(vec![(Dim::Register, 4), (Dim::Lane, 5), (Dim::Warp, 2)], vec![(Dim::Axis(0), 5), (Dim::Axis(1), 6)]),
        reader in bijections(vec![(Dim::Register, 4), (Dim::Lane, 5), (Dim::Warp, 2)], vec![(Dim::Axis(0), 5), (Dim::Axis(1), 6)]),
    ) {
        for bytes in [1, 2, 4, 8] {
            check_exchange(&writer, &reader, bytes);
        }
    }
}

/// The address counted element by element: after every interval, its padding.
fn address_by_counting(padded: &PaddedShared, offset: u32) -> u32 {
    let mut address = 0;
    for at in 1..=offset {
        address += 1;
        for &(interval, elements) in padded.padding() {
            if at % interval == 0 {
                address += elements;
            }
        }
    }
    address
}

#[test]
fn law_padding_keeps_order_and_runs() {
    let power = |most: u32| (0..=most).prop_map(|bit| 1_u32 << bit);
    let pairs = proptest::collection::btree_map(power(7), power(4), 0..3);
    proptest!(seeded(60), |(pairs in pairs, rows in power(4), columns in power(5))| {
        let padding: Vec<(u32, u32)> = pairs.into_iter().collect();
        let padded = PaddedShared::with_identity_for(padding, &[rows, columns], &[1, 0]);
        let padded = padded.expect("powers of two");
        let size = rows * columns;
        for offset in 0..size {
            let address = padded.address(offset);
            prop_assert_eq!(address, address_by_counting(&padded, offset));
            // Within a run, addresses follow one another.
            let start = offset / padded.run() * padded.run();
            prop_assert_eq!(address, padded.address(start) + (offset - start));
        }
        prop_assert_eq!(padded.len(), padded.address(size - 1) + 1);
    });
}
