//! Plans carried out element by element, as the hardware does it, against what the layouts say.

use std::collections::BTreeMap;

use kernel_layout::tile::{Iter, SwizzleMode, TileAxis, TileLayout};
use kernel_layout::tma::{
    Coordinate, Cut, Number, Plan, Rule, SharedTile, Size, Start, Step, Tensor, TileCopy, Widening,
    plan,
};

/// The numbers that a launch and a kernel have.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) extents: Vec<u64>,
    pub(super) strides: Vec<u64>,
    pub(super) starts: Vec<i64>,
}

/// For every element of shared memory that is written, by its first byte, that of global memory from the tensor's start; none
/// where zero is written. In order.
pub(super) type Moves = Vec<(u64, Option<u64>)>;

/// PTX ISA, "Swizzling modes", on the byte address.
fn swizzled(byte: u64, swizzle: SwizzleMode) -> u64 {
    let mask = match swizzle {
        SwizzleMode::None => 0,
        SwizzleMode::B32 => 0x10,
        SwizzleMode::B64 => 0x30,
        SwizzleMode::B128 => 0x70,
    };
    byte ^ (byte >> 3 & mask)
}

/// What the instructions of a plan move; none where the launch refuses the map.
pub(super) fn carried_out(plan: &Plan, tensor_bytes: u32, values: &Values) -> Option<Moves> {
    let element_bytes = u64::from(plan.element_bytes);
    let exact = |number: u64, divide: u64| {
        assert_eq!(number % divide, 0, "{number} is divided by {divide}: {plan:?} with {values:?}");
        number / divide
    };
    let extent = |size: Size| match size {
        Size::Known(extent) => extent,
        Size::Axis { axis, divide, .. } => exact(values.extents[axis], divide),
    };
    let stride = |step: Step| match step {
        Step::Known(stride) => stride,
        Step::Axis { axis, times } => values.strides[axis] * times,
    };
    let coordinate = |at: Coordinate| match at.start {
        None => at.plus,
        Some(start) => {
            let scaled = values.starts[start.axis] * start.times.cast_signed();
            assert_eq!(scaled % start.divide.cast_signed(), 0, "{plan:?} with {values:?}");
            at.plus + scaled / start.divide.cast_signed()
        }
    };
    assert!((1..=5).contains(&plan.dims.len()));
    let strides: Vec<u64> = std::iter::once(element_bytes)
        .chain(plan.dims[1..].iter().map(|dim| stride(dim.stride) * u64::from(tensor_bytes)))
        .collect();
    // What is not known while compiling, the launch checks.
    let refused = plan.dims.iter().zip(&strides).enumerate().any(|(at, (dim, &bytes))| {
        let wrong = if at == 0 { stride(dim.stride) != 1 } else { bytes % 16 != 0 };
        wrong && matches!(dim.stride, Step::Axis { .. })
    });
    if refused {
        return None;
    }
    assert_eq!(stride(plan.dims[0].stride), 1);
    assert!(strides[1..].iter().all(|stride| stride % 16 == 0));
    let row_bytes = u64::from(plan.dims[0].box_elems) * element_bytes;
    // Seen on an H200: rows keep the pitch of the swizzle even where they are shorter.
    let pitch = match plan.swizzle {
        SwizzleMode::None => row_bytes,
        SwizzleMode::B32 | SwizzleMode::B64 | SwizzleMode::B128 => plan.swizzle.bytes().into(),
    };
    assert!(row_bytes % 16 == 0 && row_bytes <= pitch);
    let mut moves = Moves::new();
    for index in 0..plan.instructions() {
        let issue = plan.issue(index);
        assert_eq!(issue.shared_bytes % 128, 0);
        let corner: Vec<i64> = issue.coordinates.iter().map(|&at| coordinate(at)).collect();
        assert_eq!((corner[0] * i64::from(plan.element_bytes)) % 16, 0);
        for nth in 0..plan.box_bytes() / element_bytes {
            let (mut rest, mut global, mut inside) = (nth, 0, true);
            for (dim, (&first, stride)) in plan.dims.iter().zip(corner.iter().zip(&strides)) {
                let at = first + (rest % u64::from(dim.box_elems)).cast_signed();
                rest /= u64::from(dim.box_elems);
                inside &= at >= 0 && at.unsigned_abs() < extent(dim.extent);
                global += at.unsigned_abs() * stride;
            }
            let in_row = nth % u64::from(plan.dims[0].box_elems) * element_bytes;
            let row = nth / u64::from(plan.dims[0].box_elems);
            let shared = swizzled(issue.shared_bytes + row * pitch + in_row, plan.swizzle);
            for byte in (0..plan.element_bytes).step_by(tensor_bytes as usize).map(u64::from) {
                moves.push((shared + byte, inside.then_some(global + byte)));
            }
        }
    }
    moves.sort_unstable();
    Some(moves)
}

/// What the layouts say.
pub(super) fn said(copy: &TileCopy, values: &Values) -> Moves {
    let bytes = u64::from(copy.tensor.element_bytes);
    let mut moves = Moves::new();
    for index in 0..copy.extents.iter().product() {
        let (mut rest, mut global, mut inside) = (index, 0, true);
        for axis in (0..copy.extents.len()).rev() {
            let at = values.starts[axis] + (rest % copy.extents[axis]).cast_signed();
            rest /= copy.extents[axis];
            let digits = copy.tensor.axes[axis].iter().map(|digit| {
                let number = |number, values: &[u64]| match number {
                    Number::Known(number) => number,
                    Number::Axis { axis, .. } => values[axis],
                };
                (number(digit.extent, &values.extents), number(digit.stride, &values.strides))
            });
            let digits: Vec<(u64, u64)> = digits.collect();
            inside &= at >= 0
                && at.unsigned_abs() < digits.iter().map(|(extent, _)| extent).product::<u64>();
            let mut higher = at.unsigned_abs();
            for (extent, stride) in digits.into_iter().rev() {
                global += higher % extent * stride;
                higher /= extent;
            }
        }
        let place = copy.shared.tile.place(index);
        let [(TileAxis::Memory, place)] = place[..] else { panic!("the tile lies in memory") };
        let shared = swizzled(place.unsigned_abs() * bytes, copy.shared.swizzle);
        moves.push((shared, inside.then_some(global * bytes)));
    }
    moves.sort_unstable();
    moves
}

/// A fixed sequence of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (limit as u64)).expect("below a small limit")
    }

    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// A divisor of a number that is not 0, in a list of possible ones.
    fn divisor(&mut self, number: u64) -> u64 {
        let divisors: Vec<u64> = [1, 2, 4, 8, 16, 24, 32, 64, 128]
            .into_iter()
            .filter(|&by| number.is_multiple_of(by))
            .collect();
        self.one_of(&divisors)
    }
}

/// A copy, the same copy with numbers that are not known while compiling, and the numbers.
struct Case {
    known: TileCopy,
    open: TileCopy,
    values: Values,
}

fn case(random: &mut Random) -> Case {
    let bytes = random.one_of(&[1_u32, 2, 4]);
    let swizzle = random.one_of(&[
        SwizzleMode::None,
        SwizzleMode::None,
        SwizzleMode::B32,
        SwizzleMode::B64,
        SwizzleMode::B128,
    ]);
    let rank = 1 + random.below(4);
    let (mut extents, mut pieces) = (Vec::new(), Vec::new());
    for axis in 0..rank {
        let last = axis + 1 == rank;
        let mut parts = Vec::new();
        if last {
            let row = match swizzle {
                SwizzleMode::None => random.one_of(&[8, 16, 32, 64]) * 4 / bytes,
                SwizzleMode::B32 | SwizzleMode::B64 | SwizzleMode::B128 => swizzle.bytes() / bytes,
            };
            parts.push(u64::from(row));
        }
        for _ in 0..random.below(3) {
            parts.insert(0, random.one_of(&[1, 2, 3, 4, 8]));
        }
        extents.push(parts.iter().product::<u64>());
        pieces.extend(parts.iter().map(|&part| (axis, part)));
    }
    // The pieces in the order in which they lie in shared memory: the last row innermost, mostly.
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at + 1));
    }
    if random.below(8) > 0 {
        order.retain(|&piece| piece + 1 != pieces.len());
        order.insert(0, pieces.len() - 1);
    }
    let mut shard: Vec<Iter> =
        pieces.iter().map(|&(_, part)| Iter::new(part, 0, TileAxis::Memory)).collect();
    let mut stride = 1;
    for piece in order {
        shard[piece].stride = stride;
        stride *= shard[piece].extent.cast_signed();
        if random.below(12) == 0 {
            stride *= 2;
        }
    }
    let offset = [0, 0, 1024].map(i64::from)[random.below(3)];
    let tile = TileLayout::new(shard, Vec::new(), [(TileAxis::Memory, offset)]).expect("small");
    // The tensor: rows of a multiple of 16 bytes, some of them padded, its axes in any order but for the last.
    let unit = u64::from(16 / bytes);
    let (mut sizes, mut starts) = (Vec::new(), Vec::new());
    for (axis, &extent) in extents.iter().enumerate() {
        let even = if axis + 1 == rank { unit } else { 1 };
        let beyond = random.one_of(&[0, 0, extent, 3 * extent, even, 2 * even, 8 * even]);
        sizes.push(if random.below(6) == 0 { 8 * even } else { extent + beyond });
        let step = random.one_of(&[0, 0, 1, 2, 8]) * even;
        let step = if random.below(2) == 0 { step } else { step / even * extent };
        let before = random.below(8) == 0;
        starts.push(if before { -step.cast_signed() } else { step.cast_signed() });
    }
    let mut strides = vec![1; rank];
    let mut axes: Vec<usize> = (0..rank - 1).rev().collect();
    if random.below(3) == 0 && axes.len() > 1 {
        axes.swap(0, 1);
    }
    let mut stride = sizes[rank - 1].next_multiple_of(unit);
    for axis in axes {
        strides[axis] = stride;
        stride *= sizes[axis];
        stride += [0, 0, unit][random.below(3)];
    }
    let values = Values { extents: sizes, strides, starts };
    let known_axes: Vec<(Number, Number)> = (0..rank)
        .map(|axis| (Number::Known(values.extents[axis]), Number::Known(values.strides[axis])))
        .collect();
    let known = TileCopy {
        tensor: Tensor::strided(&known_axes, bytes),
        starts: values.starts.iter().map(|&start| Start::Known(start)).collect(),
        extents,
        shared: SharedTile { tile, swizzle },
        cut: Cut::Whole,
        widening: random.one_of(&[Widening::Allowed, Widening::Forbidden]),
    };
    let open_axes: Vec<(Number, Number)> = (0..rank)
        .map(|axis| {
            let mut open = |number: u64| match random.below(4) {
                0 => Number::Known(number),
                _ => Number::Axis { axis, multiple_of: random.divisor(number) },
            };
            (open(values.extents[axis]), open(values.strides[axis]))
        })
        .collect();
    let open_starts = values.starts.iter().map(|&start| match random.below(4) {
        0 => Start::Known(start),
        _ => Start::Value { multiple_of: random.divisor(start.unsigned_abs()) },
    });
    let open = TileCopy {
        starts: open_starts.collect(),
        tensor: Tensor::strided(&open_axes, bytes),
        ..known.clone()
    };
    Case { known, open, values }
}

/// Plans for what is known and what is not, finely cut and not: all move what the layouts say.
#[test]
fn a_plan_moves_what_the_layouts_say() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // Whole and fine, known and open; of them those of one instruction, and of widened elements.
    let mut planned = [[0; 2]; 2];
    let (mut several, mut widened, mut outside) = (0, 0, 0);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..800 {
        let Case { known, open, values } = case(&mut random);
        if known.extents.iter().product::<u64>() > 4096 {
            continue;
        }
        let required = said(&known, &values);
        let mut instructions = [[None; 2]; 2];
        for (nth, cut) in [Cut::Whole, Cut::Fine].into_iter().enumerate() {
            for (facts, copy) in [&known, &open].into_iter().enumerate() {
                let copy = TileCopy { cut, ..copy.clone() };
                match plan(&copy) {
                    Ok(plan) => {
                        let bytes = copy.tensor.element_bytes;
                        let Some(actual) = carried_out(&plan, bytes, &values) else { continue };
                        assert!(actual == required, "{copy:?}\n{plan:?}\n{values:?}");
                        assert_eq!(plan.bytes(), required.len() as u64 * u64::from(bytes));
                        planned[nth][facts] += 1;
                        instructions[nth][facts] = Some(plan.instructions());
                        several += usize::from(plan.instructions() > 1);
                        widened += usize::from(plan.element_bytes > copy.tensor.element_bytes);
                        outside += usize::from(actual.iter().any(|(_, from)| from.is_none()));
                    }
                    Err(declined) => {
                        let name = declined.rule().map_or(declined.stage().name(), Rule::name);
                        *reasons.entry(name).or_default() += 1;
                    }
                }
            }
        }
        // Cutting never costs instructions, and knowing more never does.
        for facts in [0, 1] {
            if let Some(whole) = instructions[0][facts] {
                let fine = instructions[1][facts].expect("what is planned whole is planned finely");
                assert!(fine <= whole, "{known:?}: {fine} instead of {whole}");
            }
        }
        for cut in instructions {
            if let (Some(known_facts), Some(open_facts)) = (cut[0], cut[1]) {
                assert!(known_facts <= open_facts, "{known:?}: {known_facts}, {open_facts}");
            }
        }
    }
    let all = format!(
        "{planned:?}, {several} several, {widened} widened, {outside} outside: {reasons:?}"
    );
    assert!(planned.iter().flatten().all(|&count| count > 100), "{all}");
    assert!(several > 100 && widened > 5 && outside > 100, "{all}");
}

/// Digits of the tensor that lie in any order, as scale factors do.
#[test]
fn a_plan_of_a_tensor_of_many_digits_moves_what_the_layouts_say() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let (mut planned, mut by_value) = (0, 0);
    for _ in 0..800 {
        let bytes = random.one_of(&[1_u32, 2]);
        let mut digits =
            vec![random.one_of(&[2_u64, 4]), random.one_of(&[2, 4]), random.one_of(&[2, 8])];
        digits.extend([random.one_of(&[2, 4]), 16]);
        let cut = 2 + random.below(2);
        let shape = [digits[..cut].iter().product::<u64>(), digits[cut..].iter().product::<u64>()];
        let mut order: Vec<usize> = (0..digits.len() - 1).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        order.insert(0, digits.len() - 1);
        let mut shard: Vec<Iter> =
            digits.iter().map(|&extent| Iter::new(extent, 0, TileAxis::Memory)).collect();
        let mut stride = 1;
        for digit in order {
            shard[digit].stride = stride;
            stride *= shard[digit].extent.cast_signed();
        }
        let layout = TileLayout::new(shard, Vec::new(), []).expect("small");
        let tensor = Tensor::tiled(&shape, &layout, bytes).expect("digits of every axis");
        let extents: Vec<u64> =
            shape.iter().map(|&size| if random.below(2) == 0 { size } else { size / 2 }).collect();
        let starts: Vec<i64> = extents
            .iter()
            .map(|extent| {
                (random.one_of(&[0, 0, 1, 2]) * extent / random.one_of(&[1, 2])).cast_signed()
            })
            .collect();
        let mut tile = vec![extents[0], extents[1] / 16, 16];
        tile.retain(|&extent| extent > 1);
        let tile = match random.below(2) {
            0 => TileLayout::row_major(&tile),
            _ => TileLayout::new(
                vec![
                    Iter::new(extents[0], 16, TileAxis::Memory),
                    Iter::new(extents[1] / 16, 16 * extents[0].cast_signed(), TileAxis::Memory),
                    Iter::new(16, 1, TileAxis::Memory),
                ],
                Vec::new(),
                [],
            ),
        };
        let known = TileCopy {
            tensor,
            starts: starts.iter().map(|&start| Start::Known(start)).collect(),
            extents,
            shared: SharedTile { tile: tile.expect("small"), swizzle: SwizzleMode::None },
            cut: random.one_of(&[Cut::Whole, Cut::Fine]),
            widening: Widening::Allowed,
        };
        let multiples: Vec<u64> =
            starts.iter().map(|&start| random.divisor(start.unsigned_abs())).collect();
        let open = TileCopy {
            starts: multiples.into_iter().map(|multiple_of| Start::Value { multiple_of }).collect(),
            ..known.clone()
        };
        let values = Values { extents: Vec::new(), strides: Vec::new(), starts };
        let required = said(&known, &values);
        for (copy, count) in [(known, &mut planned), (open, &mut by_value)] {
            if let Ok(plan) = plan(&copy) {
                let actual = carried_out(&plan, bytes, &values);
                assert!(actual.as_ref() == Some(&required), "{copy:?}\n{plan:?}\n{values:?}");
                *count += 1;
            }
        }
    }
    assert!(planned > 150 && by_value > 50, "{planned} planned, {by_value} of them by value");
}
