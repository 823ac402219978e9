//! Copies by tensor map in im2col mode: pixels of images of one to three dimensions, from anywhere in their bounding boxes on.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::{Fill, MapDim, MapExtent, MapInfo, MapPlaces, MapStride, Target};

use super::Entry;
use crate::{
    case::{Bound, Buffer, Case, Ending, Map, Role, entry_with, head, line},
    random::Random,
};

/// Copies of a launch.
const COPIES: usize = 512;
const THREADS: u32 = 32;
/// Pixels of a copy, and channels of each.
const PIXELS: usize = 64;
const CHANNELS: usize = 16;
/// Bytes of a copy of elements of two bytes.
const BYTES: usize = PIXELS * CHANNELS * 2;

/// What is copied, and how.
#[derive(Clone, Copy, Debug)]
struct Copy {
    rank: usize,
    prefetched: bool,
    swizzle_bytes: u32,
    fill: Fill,
    /// A copy begins before its bounding box, which a device stops at.
    outside: bool,
}

/// The cases.
pub(super) fn entries() -> Vec<Entry> {
    let mut copies = Vec::new();
    for rank in 3..=5 {
        let plain =
            Copy { rank, prefetched: false, swizzle_bytes: 0, fill: Fill::Zero, outside: false };
        copies.extend([
            plain,
            Copy { prefetched: true, ..plain },
            Copy { swizzle_bytes: 32, ..plain },
            Copy { fill: Fill::Nan, ..plain },
            Copy { outside: true, ..plain },
        ]);
    }
    let entry = |copy: Copy| Entry {
        name: name(copy),
        forms: forms(copy),
        make: Box::new(move || case(copy)),
    };
    copies.into_iter().map(entry).collect()
}

fn load(rank: usize) -> String {
    format!(
        "cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
    )
}

fn prefetch(rank: usize) -> String {
    format!("cp.async.bulk.prefetch.tensor.{rank}d.L2.global.im2col")
}

fn name(copy: Copy) -> String {
    let form = if copy.prefetched { prefetch(copy.rank) } else { load(copy.rank) };
    let swizzle = if copy.swizzle_bytes > 0 { ", swizzle 32" } else { "" };
    let fill = if copy.fill == Fill::Nan { ", NaN outside" } else { "" };
    let outside = if copy.outside { ", before the bounding box" } else { "" };
    format!("{form}{swizzle}{fill}{outside}")
}

fn forms(copy: Copy) -> Vec<String> {
    match copy {
        Copy { outside: true, .. } => Vec::new(),
        Copy { prefetched: true, rank, .. } => vec![prefetch(rank)],
        Copy { rank, .. } => vec![load(rank)],
    }
}

#[expect(clippy::too_many_lines, reason = "the text of one kernel")]
fn case(copy: Copy) -> Case {
    let (name, rank) = (name(copy), copy.rank);
    let mut random = Random::of(&name);
    // Innermost first: channels, an image, images.
    let extents = [&[CHANNELS + 8], &[11, 7, 5][..rank - 2], &[6]].concat();
    let steps = [1, 2, 1, 3, 1];
    let lower = &[-2, -1, -3][..rank - 2];
    let upper = &[1, -3, 0][..rank - 2];
    let mut strides = vec![1];
    for extent in &extents[..rank - 1] {
        strides.push(strides[strides.len() - 1] * extent);
    }
    let elements = strides[rank - 1] * extents[rank - 1];
    let mut words: Vec<u8> = Vec::new();
    for number in 0..COPIES {
        // A multiple of 16 bytes.
        let mut at = vec![as_i32(pick(&mut random, 3)) * 8 - 8];
        for (d, (lower, upper)) in lower.iter().zip(upper).enumerate() {
            let begins = as_i32(extents[d + 1]) + upper - lower;
            at.push(lower + as_i32(pick(&mut random, usize::try_from(begins).expect("some"))));
        }
        if copy.outside && number == 0 {
            at[1] = lower[0] - 1;
        }
        at.push(as_i32(pick(&mut random, extents[rank - 1] + 2)) - 1);
        at.resize(5, 0);
        at.extend((0..3).map(|_| as_i32(pick(&mut random, 6))));
        words.extend(at.iter().flat_map(|word| word.to_le_bytes()));
    }
    let list = |word: &str, count: usize| {
        (0..count).map(|d| format!("%{word}{d}")).collect::<Vec<_>>().join(", ")
    };
    let at = format!("[%map, {{{}}}]", list("c", rank));
    let offsets = format!("{{{}}}", list("h", rank - 2));
    let prefetched = if copy.prefetched {
        format!("@%first {} {at}, {offsets};\n", prefetch(rank))
    } else {
        String::new()
    };
    let mut body = format!(
        ".shared .align 1024 .b8 tile[{BYTES}];
.shared .align 8 .b64 bar[1];
.reg .pred %first, %p;
.reg .b16 %h<3>;
.reg .b32 %m, %x, %c<8>, %v<4>;
.reg .b64 %g, %o, %map;
setp.eq.u32 %first, %thread, 0;
mov.u32 %m, tile;
mov.b64 %map, map0;
cvta.param.u64 %map, %map;
mul.wide.u32 %g, %cta, 32;
add.u64 %g, %g, %a0;
ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%g];
ld.global.v4.b32 {{%c4, %c5, %c6, %c7}}, [%g+16];
cvt.u16.u32 %h0, %c5;
cvt.u16.u32 %h1, %c6;
cvt.u16.u32 %h2, %c7;
@%first mbarrier.init.shared::cta.b64 [bar], 1;
@%first fence.mbarrier_init.release.cluster;
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {BYTES};
bar.sync 0;
{prefetched}@%first {} [%m], {at}, [bar], {offsets};
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra wait;
mul.lo.u32 %x, %thread, 16;
cvt.u64.u32 %o, %x;
mul.wide.u32 %g, %cta, {BYTES};
add.u64 %g, %g, %o;
add.u64 %g, %g, %a2;
add.u32 %m, %m, %x;
",
        load(rank)
    );
    for at in (0..BYTES).step_by(16 * THREADS as usize) {
        let _ = write!(
            body,
            "ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%m+{at}];
st.global.v4.b32 [%g+{at}], {{%v0, %v1, %v2, %v3}};
"
        );
    }
    let values = (0..elements).flat_map(|_| {
        let [low, high, ..] = random.value(Type::F16).to_le_bytes();
        [low, high]
    });
    let values: Vec<u8> = values.collect();
    let given = |bytes| Buffer { bytes, role: Role::Given };
    let out = Buffer { bytes: vec![0; COPIES * BYTES], role: Role::Compared };
    let dims: Vec<MapDim> = (0..rank)
        .map(|d| MapDim {
            extent: MapExtent::Axis { axis: rank - 1 - d, divide: 1 },
            stride: MapStride::Axis { axis: rank - 1 - d, times: 1 },
            box_elems: if d == 0 { 16 } else { 1 },
            element_stride: if d + 1 == rank { 1 } else { steps[d] },
        })
        .collect();
    let reversed = |list: &[usize]| list.iter().rev().copied().collect::<Vec<usize>>();
    let places = MapPlaces {
        count: u32::try_from(PIXELS).expect("few"),
        lower: lower.to_vec().leak(),
        upper: upper.to_vec().leak(),
    };
    let map = Map {
        buffer: 1,
        dtype: "f16",
        element_bytes: 2,
        shape: reversed(&extents),
        strides: reversed(&strides),
        info: MapInfo {
            param: 0,
            dtype: "f16",
            dims: dims.leak(),
            places: Some(places),
            swizzle_bytes: copy.swizzle_bytes,
            l2_promotion_bytes: 0,
            fill: copy.fill,
            written: false,
        },
    };
    Case {
        name,
        forms: forms(copy),
        target: Target::Sm90a,
        ptx: format!("{}{}", head(Target::Sm90a), entry_with(3, &[], &[rank], THREADS, &body)),
        threads: THREADS,
        blocks: line(COPIES),
        cluster: [1; 3],
        shared_bytes: 0,
        buffers: vec![given(words), given(values), out],
        maps: vec![map],
        operands: (COPIES * PIXELS * CHANNELS) as u64,
        result: Type::F16,
        pitch_bytes: 2,
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: if copy.outside { Ending::Fault } else { Ending::Normal },
    }
}

fn pick(random: &mut Random, count: usize) -> usize {
    usize::try_from(random.below(count as u64)).expect("small")
}

fn as_i32(n: usize) -> i32 {
    i32::try_from(n).expect("tensors of tests are small")
}
