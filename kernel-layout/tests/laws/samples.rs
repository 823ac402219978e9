//! Where the laws take their layouts from, and how they look at them: by enumeration.

use std::collections::{BTreeMap, BTreeSet};

use kernel_layout::{Dim, Layout};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// So many random cases, the same in every run.
pub(crate) fn seeded(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x4b69_6c6e),
        ..ProptestConfig::with_cases(cases)
    }
}

/// The bits of one dimension, of inputs or outputs.
pub(crate) type Bits = (Dim, usize);

/// A layout from a word of coordinates: each basis takes as many bits of `word` as the outputs have.
pub(crate) fn from_word(ins: &[Bits], outs: &[Bits], mut word: u64) -> Layout {
    let mut take = |bits: usize| {
        let part = word & ((1 << bits) - 1);
        word >>= bits;
        u32::try_from(part).expect("samples are small")
    };
    let ins = ins
        .iter()
        .map(|&(dim, bits)| {
            (dim, (0..bits).map(|_| outs.iter().map(|&(_, bits)| take(bits)).collect()).collect())
        })
        .collect();
    Layout::new(ins, outs.iter().map(|&(dim, bits)| (dim, 1 << bits)).collect())
        .expect("samples are legal")
}

/// All layouts with these dimensions.
pub(crate) fn all(ins: &[Bits], outs: &[Bits]) -> impl Iterator<Item = Layout> {
    let total = |dims: &[Bits]| dims.iter().map(|(_, bits)| bits).sum::<usize>();
    let word_bits = total(ins) * total(outs);
    assert!(word_bits <= 12, "2^{word_bits} layouts are too many");
    let (ins, outs) = (ins.to_vec(), outs.to_vec());
    (0..1_u64 << word_bits).map(move |word| from_word(&ins, &outs, word))
}

/// All register layouts of up to 4 input bits onto tensors of one and two axes.
pub(crate) fn all_small() -> impl Iterator<Item = Layout> {
    let shapes: [(&[Bits], &[Bits]); 6] = [
        (&[(Dim::Register, 2), (Dim::Lane, 2)], &[(Dim::Axis(0), 1), (Dim::Axis(1), 2)]),
        (&[(Dim::Register, 1), (Dim::Lane, 2)], &[(Dim::Axis(0), 2), (Dim::Axis(1), 2)]),
        (&[(Dim::Register, 1), (Dim::Lane, 1), (Dim::Warp, 1)], &[(Dim::Axis(0), 3)]),
        (
            &[(Dim::Register, 2), (Dim::Lane, 0), (Dim::Warp, 2)],
            &[(Dim::Axis(0), 1), (Dim::Axis(1), 1)],
        ),
        (&[(Dim::Register, 0), (Dim::Lane, 3)], &[(Dim::Axis(0), 0), (Dim::Axis(1), 2)]),
        (&[(Dim::Register, 2)], &[]),
    ];
    shapes.into_iter().flat_map(|(ins, outs)| all(ins, outs))
}

/// Bases of `bits` words that are zero or few bits, as real layouts mostly are, or anything.
fn basis_word(bits: usize) -> BoxedStrategy<u64> {
    let mask = (1_u64 << bits) - 1;
    if bits == 0 {
        return Just(0).boxed();
    }
    prop_oneof![1 => Just(0), 4 => (0..bits).prop_map(|bit| 1 << bit), 3 => any::<u64>().prop_map(move |word| word & mask)]
        .boxed()
}

/// Random layouts with the given dimensions.
pub(crate) fn layouts(ins: Vec<Bits>, outs: Vec<Bits>) -> impl Strategy<Value = Layout> {
    let out_bits: usize = outs.iter().map(|(_, bits)| bits).sum();
    let in_bits: usize = ins.iter().map(|(_, bits)| bits).sum();
    proptest::collection::vec(basis_word(out_bits), in_bits).prop_map(move |words| {
        let mut words = words.into_iter();
        let basis = |mut word: u64| -> Vec<u32> {
            outs.iter()
                .map(|&(_, bits)| {
                    let part = word & ((1 << bits) - 1);
                    word >>= bits;
                    u32::try_from(part).expect("samples are small")
                })
                .collect()
        };
        let ins = ins
            .iter()
            .map(|&(dim, bits)| (dim, words.by_ref().take(bits).map(basis).collect()))
            .collect();
        Layout::new(ins, outs.iter().map(|&(dim, bits)| (dim, 1 << bits)).collect())
            .expect("samples are legal")
    })
}

/// Random bijections with the given dimensions: row operations on the identity.
pub(crate) fn bijections(ins: Vec<Bits>, outs: Vec<Bits>) -> impl Strategy<Value = Layout> {
    let bits: usize = ins.iter().map(|(_, bits)| bits).sum();
    let shuffled = Just((0..bits).collect::<Vec<_>>()).prop_shuffle();
    let additions = proptest::collection::vec((0..bits, 0..bits), 0..2 * bits);
    (shuffled, additions).prop_map(move |(order, additions)| {
        let mut words: Vec<u64> = order.into_iter().map(|bit| 1 << bit).collect();
        for (to, from) in additions {
            if to != from {
                words[to] ^= words[from];
            }
        }
        let flat = words
            .iter()
            .map(|&word| vec![u32::try_from(word).expect("samples are small")])
            .collect();
        let flat = Layout::new(vec![(Dim::Offset, flat)], vec![(Dim::Row, 1 << bits)])
            .expect("samples are legal");
        let sizes =
            |dims: &[Bits]| dims.iter().map(|&(dim, bits)| (dim, 1 << bits)).collect::<Vec<_>>();
        flat.reshape_ins(&sizes(&ins)).reshape_outs(&sizes(&outs))
    })
}

/// The usual inputs of a register layout.
pub(crate) fn register_dims() -> Vec<Bits> {
    vec![(Dim::Register, 4), (Dim::Lane, 3), (Dim::Warp, 2)]
}

/// All positions of the inputs of a layout, as arguments of `apply`.
pub(crate) fn positions(layout: &Layout) -> Vec<Vec<(Dim, u32)>> {
    let mut positions = vec![Vec::new()];
    for dim in layout.in_dims() {
        positions = positions
            .into_iter()
            .flat_map(|start: Vec<(Dim, u32)>| {
                (0..layout.in_size(dim)).map(move |value| [&start[..], &[(dim, value)]].concat())
            })
            .collect();
    }
    positions
}

/// Names the coordinates of `dims`.
pub(crate) fn named(dims: impl Iterator<Item = Dim>, values: &[u32]) -> Vec<(Dim, u32)> {
    dims.zip(values.iter().copied()).collect()
}

/// Who holds what: every element with all positions that hold it.
pub(crate) fn holders(layout: &Layout) -> BTreeMap<Vec<u32>, Vec<Vec<(Dim, u32)>>> {
    let mut holders: BTreeMap<Vec<u32>, Vec<Vec<(Dim, u32)>>> = BTreeMap::new();
    for position in positions(layout) {
        holders.entry(layout.apply(&position)).or_default().push(position);
    }
    holders
}

/// The elements that the layout holds.
pub(crate) fn image(layout: &Layout) -> BTreeSet<Vec<u32>> {
    holders(layout).into_keys().collect()
}

/// The number of elements of the tensor.
pub(crate) fn elements(layout: &Layout) -> usize {
    layout.outs().iter().map(|&(_, size)| size as usize).product()
}
