//! Laws of products, composition, inverses, ranks and axes.

use kernel_layout::{Dim, Layout};
use proptest::prelude::*;

use crate::samples::{
    all, all_small, bijections, elements, holders, image, layouts, named, positions, register_dims,
    seeded,
};

const AXES: [(Dim, usize); 2] = [(Dim::Axis(0), 4), (Dim::Axis(1), 3)];

fn check_linear(layout: &Layout) {
    for x in positions(layout) {
        for y in positions(layout) {
            let sum: Vec<(Dim, u32)> =
                x.iter().zip(&y).map(|(&(dim, a), &(_, b))| (dim, a ^ b)).collect();
            let both = layout
                .apply(&x)
                .iter()
                .zip(layout.apply(&y))
                .map(|(a, b)| a ^ b)
                .collect::<Vec<_>>();
            assert_eq!(layout.apply(&sum), both, "{layout}");
        }
    }
}

#[test]
fn law_layouts_are_linear() {
    all_small().for_each(|layout| check_linear(&layout));
}

/// Sizes multiply, and each part acts on its own bits: the inner one on the low bits of every dimension.
fn check_product(inner: &Layout, outer: &Layout) {
    let product = inner.product(outer);
    for x in positions(inner) {
        for y in positions(outer) {
            let at = |dim, values: &[(Dim, u32)]| {
                values.iter().find(|(other, _)| *other == dim).map_or(0, |v| v.1)
            };
            let place: Vec<(Dim, u32)> = product
                .in_dims()
                .map(|dim| (dim, at(dim, &x) + inner.in_size(dim) * at(dim, &y)))
                .collect();
            let a = named(inner.out_dims(), &inner.apply(&x));
            let b = named(outer.out_dims(), &outer.apply(&y));
            let element: Vec<u32> = product
                .out_dims()
                .map(|dim| at(dim, &a) + inner.out_size(dim) * at(dim, &b))
                .collect();
            assert_eq!(product.apply(&place), element, "({inner}) * ({outer})");
        }
    }
    for dim in product.in_dims() {
        assert_eq!(product.in_size(dim), inner.in_size(dim) * outer.in_size(dim));
    }
    for dim in product.out_dims() {
        assert_eq!(product.out_size(dim), inner.out_size(dim) * outer.out_size(dim));
    }
}

#[test]
fn law_product_is_a_monoid() {
    let tiles: Vec<Layout> =
        all(&[(Dim::Register, 1), (Dim::Lane, 1)], &[(Dim::Axis(0), 1), (Dim::Axis(1), 1)])
            .chain(all(&[(Dim::Lane, 1), (Dim::Warp, 1)], &[(Dim::Axis(1), 1), (Dim::Axis(2), 1)]))
            .collect();
    for a in &tiles {
        assert_eq!(a.product(&Layout::empty()), *a);
        assert_eq!(Layout::empty().product(a), *a);
        for b in &tiles {
            check_product(a, b);
            for c in tiles.iter().step_by(5) {
                assert_eq!(a.product(b).product(c), a.product(&b.product(c)));
            }
        }
    }
}

fn check_divisions(a: &Layout, b: &Layout) {
    let product = a.product(b);
    let left = product.divide_left(a).expect("the inner factor divides");
    assert_eq!(a.product(&left), product);
    assert_eq!(b.in_dims().map(|dim| left.bases(dim).len()).sum::<usize>(), b.in_bits());
    let right = product.divide_right(b).expect("the outer factor divides");
    assert_eq!(right.product(b), product);
}

#[test]
fn law_divide_left_undoes_product() {
    let ins = [(Dim::Register, 1), (Dim::Lane, 1)];
    let outs = [(Dim::Axis(0), 1), (Dim::Axis(1), 1)];
    for a in all(&ins, &outs) {
        for b in all(&ins, &outs) {
            check_divisions(&a, &b);
        }
    }
}

/// A quotient exists exactly when some layout of the right sizes has the product.
#[test]
fn law_divide_right_undoes_product() {
    let (ins, outs) = ([(Dim::Register, 1), (Dim::Lane, 1)], [(Dim::Axis(0), 1)]);
    let products: Vec<(Layout, Layout, Layout)> = all(&ins, &outs)
        .flat_map(|a| all(&ins, &outs).map(move |b| (a.product(&b), a.clone(), b)))
        .collect();
    for whole in all(&[(Dim::Register, 2), (Dim::Lane, 2)], &[(Dim::Axis(0), 2)]) {
        for part in all(&ins, &outs) {
            let as_left = products.iter().find(|(product, a, _)| *product == whole && *a == part);
            assert_eq!(
                whole.divide_left(&part),
                as_left.map(|(_, _, b)| b.clone()),
                "({whole}) / ({part})"
            );
            let as_right = products.iter().find(|(product, _, b)| *product == whole && *b == part);
            assert_eq!(
                whole.divide_right(&part),
                as_right.map(|(_, a, _)| a.clone()),
                "({whole}) / ({part})"
            );
        }
    }
}

fn check_compose(inner: &Layout, outer: &Layout) {
    let both = inner.compose(outer);
    for x in positions(inner) {
        let middle = named(inner.out_dims(), &inner.apply(&x));
        assert_eq!(both.apply(&x), outer.apply(&middle));
    }
}

#[test]
fn law_compose_applies_twice() {
    let inner = || all(&[(Dim::Lane, 2)], &[(Dim::Row, 1), (Dim::Col, 1)]);
    let outer = || all(&[(Dim::Row, 1), (Dim::Col, 1)], &[(Dim::Axis(0), 2)]);
    for a in inner() {
        for b in outer() {
            check_compose(&a, &b);
            for c in all(&[(Dim::Axis(0), 2)], &[(Dim::Offset, 1)]) {
                assert_eq!(a.compose(&b).compose(&c), a.compose(&b.compose(&c)));
            }
        }
    }
}

fn check_ranks(layout: &Layout) {
    let image = image(layout);
    assert_eq!(1 << layout.rank(), image.len(), "{layout}");
    assert_eq!(layout.is_surjective(), image.len() == elements(layout), "{layout}");
    assert_eq!(layout.is_injective(), image.len() == positions(layout).len(), "{layout}");
}

/// Every vector of the kernel leads to 0, they are independent, and their number is what the rank leaves.
fn check_kernel(layout: &Layout) {
    let kernel = layout.kernel();
    assert_eq!(layout.rank() + kernel.len(), layout.in_bits());
    let mut sums = std::collections::BTreeSet::new();
    for choice in 0..1_u32 << kernel.len() {
        let mut sum = vec![0; layout.ins().len()];
        for (_, vector) in kernel.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1) {
            sum.iter_mut().zip(vector).for_each(|(sum, part)| *sum ^= part);
        }
        assert!(
            layout.apply(&named(layout.in_dims(), &sum)).iter().all(|&part| part == 0),
            "{layout}"
        );
        sums.insert(sum);
    }
    assert_eq!(sums.len(), 1 << kernel.len(), "{layout}");
}

#[test]
fn law_rank_plus_kernel() {
    for layout in all_small() {
        check_ranks(&layout);
        check_kernel(&layout);
    }
}

/// Where the free bits are 0, every element is held exactly once.
fn check_free_variables(layout: &Layout) {
    let masks = layout.free_variable_masks();
    let kept = |at: &Vec<(Dim, u32)>| {
        at.iter().zip(&masks).all(|((_, value), (_, mask))| value & mask == 0)
    };
    for (element, holders) in holders(layout) {
        assert_eq!(holders.iter().filter(|at| kept(at)).count(), 1, "{element:?} in {layout}");
    }
}

#[test]
fn law_free_variables_lose_nothing() {
    all_small().for_each(|layout| check_free_variables(&layout));
}

fn check_inverse(layout: &Layout) {
    match layout.invert() {
        Some(inverse) => {
            for x in positions(layout) {
                let element = named(layout.out_dims(), &layout.apply(&x));
                assert_eq!(named(inverse.out_dims(), &inverse.apply(&element)), x, "{layout}");
            }
            assert_eq!(inverse.invert().as_ref(), Some(layout));
        }
        None => {
            assert!(
                image(layout).len() < positions(layout).len().max(elements(layout)),
                "{layout}"
            );
        }
    }
}

#[test]
fn law_inverse_on_both_sides() {
    all_small().for_each(|layout| check_inverse(&layout));
    let ins = [(Dim::Register, 2), (Dim::Lane, 1)];
    all(&ins, &[(Dim::Axis(0), 1), (Dim::Axis(1), 2)]).for_each(|layout| check_inverse(&layout));
}

fn check_pseudo_inverse(layout: &Layout) {
    let Some(inverse) = layout.pseudo_inverse() else {
        assert!(image(layout).len() < elements(layout), "{layout}");
        return;
    };
    let masks = layout.free_variable_masks();
    for element in positions(&inverse) {
        let place = named(inverse.out_dims(), &inverse.apply(&element));
        assert!(
            place.iter().zip(&masks).all(|((_, value), (_, mask))| value & mask == 0),
            "{layout}"
        );
        assert_eq!(named(layout.out_dims(), &layout.apply(&place)), element, "{layout}");
    }
}

#[test]
fn law_pseudo_inverse_is_a_right_inverse() {
    all_small().for_each(|layout| check_pseudo_inverse(&layout));
}

fn check_invert_and_compose(a: &Layout, b: &Layout) {
    match a.invert_and_compose(b) {
        Some(map) => {
            for x in positions(a) {
                let y = named(map.out_dims(), &map.apply(&x));
                assert_eq!(b.apply(&y), a.apply(&x), "from {a} to {b}");
            }
        }
        None => assert!(!image(a).is_subset(&image(b)), "from {a} to {b}"),
    }
}

#[test]
fn law_invert_and_compose_finds_the_same_element() {
    let outs = [(Dim::Axis(0), 1), (Dim::Axis(1), 1)];
    for a in all(&[(Dim::Register, 1), (Dim::Lane, 1)], &outs) {
        for b in all(&[(Dim::Register, 1), (Dim::Lane, 2)], &outs) {
            check_invert_and_compose(&a, &b);
        }
    }
}

/// The row-major index of an element, by Horner's rule.
fn row_major(layout: &Layout, coordinates: &[u32]) -> u64 {
    layout
        .shape()
        .iter()
        .zip(coordinates)
        .fold(0, |index, (&size, &part)| index * u64::from(size) + u64::from(part))
}

fn check_axes(layout: &Layout) {
    let size: u32 = layout.shape().iter().product();
    for shape in [vec![size], vec![1, size], vec![2.min(size), size / 2.min(size)]] {
        let reshaped = layout.reshape(&shape);
        assert_eq!(reshaped.reshape(&layout.shape()), *layout);
        for x in positions(layout) {
            let index = row_major(layout, &layout.apply(&x));
            assert_eq!(row_major(&reshaped, &reshaped.apply(&x)), index);
            assert_eq!(layout.flatten_out(&layout.apply(&x)), index);
            assert_eq!(layout.unflatten_out(index), layout.apply(&x));
        }
    }
}

#[test]
fn law_reshape_keeps_the_index() {
    all_small().for_each(|layout| check_axes(&layout));
}

#[test]
fn law_slice_undoes_expand() {
    for layout in all_small() {
        for axis in 0..=layout.tensor_rank() {
            let expanded = layout.expand_axis(axis);
            assert_eq!(expanded.out_size(Dim::axis(axis)), 1);
            let again = expanded.slice(axis);
            assert_eq!(again, layout.remove_zero_bases(Dim::Register));
        }
    }
}

/// What a slice holds is what its parent holds, without the coordinate; only registers can be lost.
#[test]
fn law_slice_drops_a_coordinate() {
    for layout in all_small().filter(|layout| layout.tensor_rank() == 2) {
        for axis in 0..2 {
            let slice = layout.slice(axis);
            let expected: std::collections::BTreeSet<Vec<u32>> =
                image(&layout).into_iter().map(|element| vec![element[1 - axis]]).collect();
            assert_eq!(image(&slice), expected, "{layout}");
            for dim in [Dim::Lane, Dim::Warp] {
                let parts: Vec<Vec<u32>> =
                    layout.bases(dim).iter().map(|basis| vec![basis[1 - axis]]).collect();
                assert_eq!(slice.bases(dim), parts);
            }
        }
    }
}

#[test]
fn law_permutations_and_transpositions_undo_themselves() {
    for layout in all_small().filter(|layout| layout.tensor_rank() == 2) {
        let turned = layout.permute_axes(&[1, 0]);
        assert_eq!(turned.permute_axes(&[1, 0]), layout);
        for x in positions(&layout) {
            let mut element = layout.apply(&x);
            element.reverse();
            assert_eq!(turned.apply(&x), element);
        }
        let outs: Vec<Dim> = layout.out_dims().collect();
        let reversed: Vec<Dim> = outs.iter().rev().copied().collect();
        assert_eq!(layout.transpose_outs(&reversed).transpose_outs(&outs), layout);
        let ins: Vec<Dim> = layout.in_dims().collect();
        let reversed: Vec<Dim> = ins.iter().rev().copied().collect();
        assert_eq!(layout.transpose_ins(&reversed).mismatch(&layout), None);
    }
}

#[test]
fn law_reshape_ins_keeps_the_map() {
    for layout in
        all(&[(Dim::Register, 1), (Dim::Lane, 2)], &[(Dim::Axis(0), 2), (Dim::Axis(1), 2)])
    {
        let flat = layout.reshape_ins(&[(Dim::Offset, 8)]);
        for lane in 0..4 {
            for register in 0..2 {
                let element = layout.apply(&[(Dim::Register, register), (Dim::Lane, lane)]);
                assert_eq!(flat.apply(&[(Dim::Offset, 2 * lane + register)]), element);
            }
        }
        assert_eq!(flat.reshape_ins(&[(Dim::Register, 2), (Dim::Lane, 4)]), layout);
    }
}

#[test]
fn law_mismatch_is_none_for_equal_maps_alone() {
    let sample: Vec<Layout> =
        all(&[(Dim::Register, 1), (Dim::Lane, 2)], &[(Dim::Axis(0), 2)]).collect();
    for a in &sample {
        for b in sample.iter().step_by(3) {
            match a.mismatch(b) {
                None => assert_eq!(a, b),
                Some(found) => {
                    assert_eq!(a.bases(found.dim).get(found.bit), found.actual.as_ref());
                    assert_eq!(b.bases(found.dim).get(found.bit), found.required.as_ref());
                    assert_ne!(found.actual, found.required);
                    assert_eq!(a.bases(found.dim)[..found.bit], b.bases(found.dim)[..found.bit]);
                    assert!(
                        found.dim == Dim::Register
                            || a.bases(Dim::Register) == b.bases(Dim::Register)
                    );
                }
            }
        }
    }
}

/// A dimension of size 1 is as good as none, and the words of a mismatch name both sides.
#[test]
fn mismatches_in_words() {
    let layout = Layout::identity(Dim::Lane, Dim::Axis(0), 4);
    let with_warps = layout.product(&Layout::identity(Dim::Warp, Dim::Axis(0), 1));
    assert_eq!(layout.mismatch(&with_warps), None);
    let other = Layout::identity(Dim::Lane, Dim::Axis(0), 2).product(&Layout::identity(
        Dim::Warp,
        Dim::Axis(0),
        2,
    ));
    let words = layout.mismatch(&other).map(|mismatch| mismatch.to_string());
    assert_eq!(words.as_deref(), Some("lane basis 1: required none, actual [2]"));
    let further = Layout::zeros(Dim::Warp, Dim::Axis(0), 2).product(&layout);
    let words = further.mismatch(&layout).map(|mismatch| mismatch.to_string());
    assert_eq!(words.as_deref(), Some("warp basis 0: required none, actual [0]"));
}

#[test]
fn axes_in_the_order_they_are_walked() {
    let tile = Layout::identity(Dim::Register, Dim::Axis(2), 2).product(&Layout::identity(
        Dim::Lane,
        Dim::Axis(0),
        2,
    ));
    let within = tile.product(&Layout::zeros(Dim::Lane, Dim::Axis(1), 2)).product(&Layout::zeros(
        Dim::Lane,
        Dim::Axis(3),
        2,
    ));
    assert_eq!(within.axis_order(), [2, 0, 3, 1]);
}

#[test]
fn law_num_consecutive_counts_a_run() {
    for layout in all_small().filter(|layout| layout.tensor_rank() > 0) {
        let last = layout.outs().len() - 1;
        let runs = |length: u32| {
            (0..length).all(|register| {
                let element = layout.apply(&[(Dim::Register, register)]);
                element[last] == register && element[..last].iter().all(|&part| part == 0)
            })
        };
        let longest = [4, 2, 1]
            .into_iter()
            .filter(|&size| size <= layout.in_size(Dim::Register))
            .find(|&n| runs(n));
        assert_eq!(
            layout.num_consecutive(Dim::Register),
            longest.expect("one element is a run"),
            "{layout}"
        );
    }
}

#[test]
fn law_concat_adds_inputs_and_lists_outputs() {
    let outs = [(Dim::Axis(0), 2)];
    for a in all(&[(Dim::Register, 2)], &outs) {
        for b in all(&[(Dim::Lane, 2)], &outs) {
            let joined = a.concat_ins(&b);
            for x in positions(&joined) {
                assert_eq!(joined.apply(&x), [a.apply(&x[..1])[0] ^ b.apply(&x[1..])[0]]);
            }
        }
        for b in all(&[(Dim::Register, 2)], &[(Dim::Axis(1), 2)]) {
            let joined = a.concat_outs(&b);
            for x in positions(&joined) {
                assert_eq!(joined.apply(&x), [a.apply(&x)[0], b.apply(&x)[0]]);
            }
        }
    }
}

/// Growing repeats the tile in further registers; shrinking repeats what is inside.
/// All lists of some of `dims`, each at most once, in every order.
fn arrangements(dims: &[Dim]) -> Vec<Vec<Dim>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in dims {
        let longer = |list: &Vec<Dim>| {
            let left: Vec<Dim> = dims.iter().copied().filter(|dim| !list.contains(dim)).collect();
            left.into_iter().map(|dim| [&list[..], &[dim]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    all
}

/// With the inputs that are left out at 0, a restriction gives those of the layout's outputs that it names, in its order.
fn check_sublayout(layout: &Layout, ins: &[Dim], outs: &[Dim]) {
    let part = layout.sublayout(ins, outs);
    assert!(part.in_dims().eq(ins.iter().copied()) && part.out_dims().eq(outs.iter().copied()));
    assert!(ins.iter().all(|&dim| part.in_size(dim) == layout.in_size(dim)), "{layout}: {part}");
    assert!(outs.iter().all(|&dim| part.out_size(dim) == layout.out_size(dim)), "{layout}: {part}");
    for place in positions(&part) {
        // `apply` takes what is not named as 0.
        let whole = named(layout.out_dims(), &layout.apply(&place));
        let required: Vec<u32> = outs
            .iter()
            .map(|out| whole.iter().find(|(dim, _)| dim == out).expect("an output").1)
            .collect();
        assert_eq!(part.apply(&place), required, "{layout}: {ins:?} -> {outs:?}");
    }
}

#[test]
fn law_sublayout_restricts_inputs_and_outputs() {
    for layout in all_small() {
        let [ins, outs] = [layout.in_dims().collect(), layout.out_dims().collect()]
            .map(|dims: Vec<Dim>| arrangements(&dims));
        for ins in &ins {
            for outs in &outs {
                check_sublayout(&layout, ins, outs);
            }
        }
    }
}

#[test]
fn law_fit_covers_the_tensor() {
    for layout in all_small().filter(|layout| layout.tensor_rank() == 2) {
        for shape in [[1, 1], [2, 8], [16, 2]] {
            let fitted = layout.fit(&shape, &[1, 0]);
            assert_eq!(fitted.shape(), shape);
            assert!(!layout.is_surjective() || fitted.is_surjective());
            for x in positions(&layout) {
                let inside: Vec<u32> =
                    layout.apply(&x).iter().zip(shape).map(|(part, size)| part % size).collect();
                assert_eq!(fitted.apply(&x), inside);
            }
        }
    }
}

proptest! {
    #![proptest_config(seeded(96))]

    #[test]
    fn random_layouts_obey_the_laws_of_rank(layout in layouts(register_dims(), AXES.to_vec())) {
        check_ranks(&layout);
        check_kernel(&layout);
        check_free_variables(&layout);
        check_pseudo_inverse(&layout);
        check_axes(&layout);
    }

    #[test]
    fn random_products_divide(
        a in layouts(vec![(Dim::Register, 2), (Dim::Lane, 2)], vec![(Dim::Axis(0), 2), (Dim::Axis(1), 3)]),
        b in layouts(vec![(Dim::Lane, 1), (Dim::Warp, 2)], vec![(Dim::Axis(1), 2), (Dim::Axis(2), 2)]),
    ) {
        check_product(&a, &b);
        check_divisions(&a, &b);
    }

    #[test]
    fn random_bijections_invert(layout in bijections(vec![(Dim::Register, 4), (Dim::Lane, 3)], AXES.to_vec())) {
        check_inverse(&layout);
        prop_assert!(layout.is_bijective());
    }

    #[test]
    fn random_layouts_find_their_elements(
        a in layouts(register_dims(), AXES.to_vec()),
        b in bijections(vec![(Dim::Offset, 7)], AXES.to_vec()),
        c in layouts(vec![(Dim::Register, 5), (Dim::Lane, 5)], AXES.to_vec()),
    ) {
        check_invert_and_compose(&a, &b);
        check_invert_and_compose(&a, &c);
        prop_assert_eq!(a.invert_and_compose(&b).map(|map| map.compose(&b)), Some(a));
    }
}

fn check_image(layout: &Layout) {
    let basis = layout.image();
    let held = image(layout);
    assert_eq!(1 << basis.len(), held.len(), "{layout}");
    let sum = |chosen: usize| {
        let mut sum = vec![0; layout.outs().len()];
        for (_, vector) in basis.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1) {
            sum.iter_mut().zip(vector).for_each(|(part, with)| *part ^= with);
        }
        sum
    };
    let sums: std::collections::BTreeSet<Vec<u32>> = (0..1 << basis.len()).map(sum).collect();
    assert_eq!(sums, held, "{layout}");
}

#[test]
fn law_image_is_what_is_held() {
    all_small().for_each(|layout| check_image(&layout));
    let outs = vec![(Dim::Axis(0), 3), (Dim::Axis(1), 3)];
    proptest!(seeded(60), |(layout in layouts(register_dims(), outs))| check_image(&layout));
    // Equal images have equal bases: the same places in another order, or added to one another.
    let outs = vec![(Dim::Axis(0), 4), (Dim::Axis(1), 2)];
    let mixing = bijections(register_dims(), register_dims());
    proptest!(seeded(60), |(layout in layouts(register_dims(), outs), mixing in mixing)| {
        prop_assert_eq!(mixing.compose(&layout).image(), layout.image());
    });
}

fn check_without_broadcasts(layout: &Layout) {
    let once = layout.remove_broadcasts();
    assert_eq!(image(&once), image(layout), "{layout}");
    assert!(holders(&once).values().all(|places| places.len() == 1), "{layout} to {once}");
    assert!(once.in_dims().eq(layout.in_dims()));
    // Its bases are among those that there were.
    for (dim, bases) in once.ins() {
        assert!(bases.iter().all(|basis| layout.bases(*dim).contains(basis)), "{layout} to {once}");
    }
}

#[test]
fn law_removing_broadcasts_leaves_one_of_each() {
    all_small().for_each(|layout| check_without_broadcasts(&layout));
    let outs = vec![(Dim::Axis(0), 3), (Dim::Axis(1), 3)];
    proptest!(seeded(60), |(layout in layouts(register_dims(), outs))| check_without_broadcasts(&layout));
}

#[test]
fn law_meaning_is_what_every_place_holds() {
    let ins = [(Dim::Register, 1), (Dim::Lane, 2)];
    let outs = [(Dim::Axis(0), 1), (Dim::Axis(1), 1)];
    let samples: Vec<Layout> = all(&ins, &outs).collect();
    for a in &samples {
        // Another order, and further dimensions of size 1.
        let spelled = a
            .transpose_ins(&[Dim::Lane, Dim::Register])
            .transpose_outs(&[Dim::Axis(1), Dim::Axis(0)])
            .product(&Layout::identity(Dim::Warp, Dim::Axis(2), 1));
        assert!(a.means_the_same(&spelled) && spelled.means_the_same(a), "{a}");
        for b in &samples {
            let same = positions(a).iter().all(|at| a.apply(at) == b.apply(at));
            assert_eq!(a.means_the_same(b), same, "{a} and {b}");
        }
    }
    // A larger tensor, or more lanes, is another layout.
    let lanes = |size| Layout::identity(Dim::Lane, Dim::Axis(0), size);
    assert!(!lanes(4).means_the_same(&lanes(8)));
    let repeated = lanes(4).product(&Layout::zeros(Dim::Lane, Dim::Axis(0), 2));
    assert!(!repeated.means_the_same(&lanes(4)));
}
