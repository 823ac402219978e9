//! Why the digits of a tile layout are not a linear layout, and which digit it is.

use kernel_layout::forms::LANES;
use kernel_layout::tile::{Iter, TileAxis, TileLayout};

use crate::{
    diag::{Code, Diagnostic},
    loc::Loc,
};

/// Rows of tensor memory (PTX ISA, "Tensor Memory").
const TENSOR_MEMORY_ROWS: u64 = 128;

/// A digit of a layout, and where it is written.
pub(crate) struct Digit {
    pub(crate) iter: Iter,
    pub(crate) extent_at: Loc,
    pub(crate) stride_at: Loc,
    /// Whether it counts copies.
    pub(crate) replica: bool,
}

/// What a place is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counted {
    Places,
    Lanes,
    Warps,
    Rows,
    Columns,
}

impl Counted {
    const ALL: [Counted; 5] =
        [Counted::Places, Counted::Lanes, Counted::Warps, Counted::Rows, Counted::Columns];

    /// The name of one; beside axes of threads, places in memory are registers.
    fn name(self, digits: &[Digit]) -> &'static str {
        match self {
            Counted::Places if digits.iter().any(|digit| digit.iter.axis.is_thread()) => "register",
            Counted::Places => "place",
            Counted::Lanes => "lane",
            Counted::Warps => "warp",
            Counted::Rows => "row",
            Counted::Columns => "column",
        }
    }

    /// The axis on which copies fill what is left empty; none if they would cost memory.
    fn copies(self) -> Option<TileAxis> {
        match self {
            Counted::Lanes => Some(TileAxis::LaneId),
            Counted::Warps => Some(TileAxis::WarpId),
            Counted::Places | Counted::Rows | Counted::Columns => None,
        }
    }
}

/// A bit of a place, and the digit that gives it.
struct Bit {
    of: Counted,
    number: u32,
    digit: usize,
}

/// Which bit of which number a step of `2^exponent` along an axis changes.
fn counted(axis: TileAxis, exponent: u32) -> (Counted, u32) {
    let log2_lanes = LANES.ilog2();
    match axis {
        TileAxis::WarpId => (Counted::Warps, exponent),
        TileAxis::LaneId | TileAxis::Thread if exponent < log2_lanes => (Counted::Lanes, exponent),
        TileAxis::LaneId | TileAxis::Thread => (Counted::Warps, exponent - log2_lanes),
        TileAxis::TLane => (Counted::Rows, exponent),
        TileAxis::TCol => (Counted::Columns, exponent),
        TileAxis::Memory => (Counted::Places, exponent),
        TileAxis::WarpInWarpgroup
        | TileAxis::ThreadInWarpgroup
        | TileAxis::WarpgroupId
        | TileAxis::Partition
        | TileAxis::Free
        | TileAxis::Bank
        | TileAxis::ClusterBlockX
        | TileAxis::ClusterBlockY
        | TileAxis::ClusterBlockZ
        | TileAxis::BlockX
        | TileAxis::BlockY
        | TileAxis::BlockZ => unreachable!("kernels do not name `{axis}`, see tile_layouts"),
    }
}

/// What keeps a layout of these digits from being linear; none if it is, whatever the shape.
pub(crate) fn fault(layout: &TileLayout, digits: &[Digit]) -> Option<Diagnostic> {
    let linear = |layout: &TileLayout| match u32::try_from(layout.size()) {
        Ok(size) => layout.to_linear(&[size]).map(|_| ()).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let error = linear(layout).err()?;
    let mut bits: Vec<Bit> = Vec::new();
    for (index, digit) in digits.iter().enumerate() {
        let Iter { extent, stride, axis } = digit.iter;
        if extent == 1 || (digit.replica && stride == 0) {
            continue;
        }
        if stride <= 0 || !stride.cast_unsigned().is_power_of_two() {
            return Some(
                Code::LayoutForm.at(digit.stride_at,
                    "the strides of a layout are powers of two",
                )
                .compare("stride", "1, 2, 4, 8, ..", stride)
                .why("a layout maps the bits of thread and register numbers to the bits of coordinates"),
            );
        }
        let last = stride.saturating_mul(extent.cast_signed() - 1);
        if axis == TileAxis::LaneId && last >= i64::from(LANES) {
            let at = if stride >= i64::from(LANES) { digit.stride_at } else { digit.extent_at };
            let diagnostic = Code::LayoutForm.at(at, "this layout has more lanes than a warp")
                .compare("lane", "0 to 31", last)
                .why("a warp has 32 lanes; `@ warpid` counts warps, `@ tx` the threads of a block, and `@ TLane` the rows of tensor memory");
            return Some(with_copies(diagnostic, digit, digits));
        }
        for bit in 0..extent.ilog2() {
            let (of, bit) = counted(axis, stride.ilog2() + bit);
            if let Some(other) = bits.iter().find(|other| other.of == of && other.number == bit) {
                let name = of.name(digits);
                let diagnostic = Code::LayoutForm
                    .at(digit.stride_at, "two digits of this layout give the same place")
                    .compare(format!("bit {bit} of the {name}"), "of one digit", "of two digits")
                    .place(digits[other.digit].stride_at, "the other one")
                    .why("two elements would be at the same place");
                return Some(with_copies(diagnostic, digit, digits));
            }
            bits.push(Bit { of, number: bit, digit: index });
        }
    }
    let hole = Counted::ALL.into_iter().find_map(|of| empty(of, &bits, layout, digits));
    hole.or_else(|| Some(unexplained(digits, error)))
}

/// A place below the last one that holds nothing.
fn empty(of: Counted, bits: &[Bit], layout: &TileLayout, digits: &[Digit]) -> Option<Diagnostic> {
    let mut own: Vec<&Bit> = bits.iter().filter(|bit| bit.of == of).collect();
    own.sort_unstable_by_key(|bit| bit.number);
    let (first, above) = (0..).zip(&own).find(|(bit, own)| own.number != *bit)?;
    let name = of.name(digits);
    let diagnostic = Code::LayoutForm
        .at(digits[above.digit].stride_at, format!("this layout leaves {name}s empty"))
        .compare(format!("{name} {}", 1u64 << first), "an element, or a copy of one", "nothing")
        .why(format!("every {name} up to the last one holds an element"));
    if of == Counted::Rows && digits[above.digit].replica {
        return Some(with_copies(diagnostic, &digits[above.digit], digits));
    }
    let Some(axis) = of.copies() else {
        // Without the gap, if the digit begins above it.
        let digit = &digits[above.digit];
        let closer = (1i64 << first).min(digit.iter.stride);
        let mended = digits.iter().map(|other| {
            let own = std::ptr::eq(other, digit);
            if own { Iter { stride: closer, ..other.iter } } else { other.iter }
        });
        let mended = of_iters(mended.zip(digits).map(|(iter, digit)| (iter, digit.replica)));
        return Some(if mended { diagnostic.help(closer.to_string()) } else { diagnostic });
    };
    let last = own.last().map_or(0, |bit| bit.number);
    let missing: Vec<Iter> = (0..last)
        .filter(|bit| own.iter().all(|own| own.number != *bit))
        .map(|bit| Iter::new(2, 1 << bit, axis))
        .collect();
    let shard = layout.shard().iter().map(|&iter| (iter, false));
    let replica = layout.replica().iter().chain(&missing).map(|&iter| (iter, true));
    let copies = TileLayout::new(Vec::new(), missing.clone(), []);
    match copies {
        Ok(copies) if of_iters(shard.chain(replica)) => {
            let text = copies.to_string();
            let text = text.split_once(" + ").map_or("", |(_, copies)| copies);
            Some(diagnostic.help(format!("+ {text}")))
        }
        Ok(_) | Err(_) => Some(diagnostic),
    }
}

/// Of copies in tensor memory, those with which its rows hold what the layout has: each of four warps reaches a quarter of the 128 rows (PTX ISA,
/// "tcgen05: Access restrictions").
fn with_copies(diagnostic: Diagnostic, digit: &Digit, digits: &[Digit]) -> Diagnostic {
    let own = digits.iter().filter(|one| one.iter.axis == TileAxis::TLane && !one.replica);
    let rows: u64 = own.map(|one| one.iter.extent).product();
    if digit.replica && (rows == 32 || rows == 64) {
        return diagnostic.help(format!("R[{} : {rows} @ TLane]", TENSOR_MEMORY_ROWS / rows));
    }
    diagnostic
}

/// Whether a layout of these digits and copies is linear.
fn of_iters(iters: impl Iterator<Item = (Iter, bool)>) -> bool {
    let (replica, shard): (Vec<_>, Vec<_>) = iters.partition(|(_, replica)| *replica);
    let only = |list: Vec<(Iter, bool)>| list.into_iter().map(|(iter, _)| iter).collect();
    let Ok(layout) = TileLayout::new(only(shard), only(replica), []) else { return false };
    u32::try_from(layout.size()).is_ok_and(|size| layout.to_linear(&[size]).is_ok())
}

/// What no digit alone explains.
fn unexplained(digits: &[Digit], error: String) -> Diagnostic {
    let at = digits.first().map_or(Loc::KERNEL, |digit| digit.extent_at);
    Code::LayoutForm.at(at, "these digits are not a layout").why(error)
}
