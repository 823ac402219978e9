//! Copies by tensor map: boxes of one to five dimensions, some over the edges, in every swizzle, and reductions of every
//! element type.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::{Fill, MapDim, MapExtent, MapInfo, MapStride, Target};

use super::Entry;
use crate::{
    case::{Bound, Buffer, Case, Ending, Map, Role, entry_with, head, line},
    random::Random,
    types,
};

/// What a form with a cache policy ends with.
const HINT: &str = ".L2::cache_hint";
/// The policy that `createpolicy.fractional` makes of whole accesses to be evicted first.
const EVICT_FIRST: u64 = 0x12F0_0000_0000_0000;

/// Boxes of a launch.
const BOXES: usize = 2048;
const THREADS: u32 = 32;

/// What is copied, and how.
#[derive(Clone, Debug)]
struct Copy {
    /// The instruction, with all but its operands.
    form: String,
    way: Way,
    rank: usize,
    /// As the runtime calls it.
    dtype: &'static str,
    swizzle_bytes: u32,
    /// Of the second dimension.
    element_stride: u32,
    fill: Fill,
    edge: Edge,
}

/// Over which edges of the tensor boxes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// Of loads any, of stores the far ones.
    Usual,
    /// The near one of this dimension, which a device stops at.
    Near(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Load,
    /// Into both blocks of a cluster.
    Multicast,
    /// A store, or a reduction.
    Store,
    Prefetch,
}

/// The cases.
pub(super) fn entries() -> Vec<Entry> {
    let mut copies = Vec::new();
    let plain = |form: String, way, rank, dtype| Copy {
        form,
        way,
        rank,
        dtype,
        swizzle_bytes: 0,
        element_stride: 1,
        fill: Fill::Zero,
        edge: Edge::Usual,
    };
    for rank in 1..=5 {
        let load = |space: &str, tile: &str| {
            format!(
                "cp.async.bulk.tensor.{rank}d.{space}.global{tile}.mbarrier::complete_tx::bytes"
            )
        };
        let cluster = load("shared::cluster", ".tile");
        for dtype in ["u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16"] {
            copies.push(plain(cluster.clone(), Way::Load, rank, dtype));
        }
        copies.push(plain(load("shared::cluster", ""), Way::Load, rank, "f16"));
        copies.push(plain(load("shared::cta", ".tile"), Way::Load, rank, "f16"));
        let nan = plain(cluster.clone(), Way::Load, rank, "f32");
        copies.push(Copy { fill: Fill::Nan, ..nan.clone() });
        copies.push(Copy { fill: Fill::Nan, dtype: "bf16", ..nan });
        let store = format!("cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group");
        let prefetch = format!("cp.async.bulk.prefetch.tensor.{rank}d.L2.global.tile");
        copies.push(plain(format!("{prefetch}{HINT}"), Way::Prefetch, rank, "f32"));
        copies.push(plain(prefetch, Way::Prefetch, rank, "f32"));
        copies.push(plain(format!("{cluster}{HINT}"), Way::Load, rank, "f16"));
        copies.push(plain(format!("{store}{HINT}"), Way::Store, rank, "f16"));
        copies.push(plain(format!("{cluster}.multicast::cluster"), Way::Multicast, rank, "f16"));
        for dtype in ["u8", "u16", "u64", "f16", "f32"] {
            copies.push(plain(store.clone(), Way::Store, rank, dtype));
        }
        if rank > 1 {
            for swizzle_bytes in [32, 64, 128] {
                for (form, way) in [(&cluster, Way::Load), (&store, Way::Store)] {
                    let copy = plain(form.clone(), way, rank, "f16");
                    copies.push(Copy { swizzle_bytes, ..copy });
                }
            }
            for element_stride in [2, 3] {
                let copy = plain(cluster.clone(), Way::Load, rank, "f32");
                copies.push(Copy { element_stride, ..copy });
            }
        }
        for (operation, dtypes) in [
            ("add", &["u32", "i32", "u64", "f16", "bf16", "f32"][..]),
            ("min", &["u32", "i32", "u64", "i64", "f16", "bf16"]),
            ("max", &["u32", "i32", "u64", "i64", "f16", "bf16"]),
            ("inc", &["u32"]),
            ("dec", &["u32"]),
            ("and", &["u32", "u64"]),
            ("or", &["u32", "u64"]),
            ("xor", &["u32", "u64"]),
        ] {
            let form = format!(
                "cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{operation}.tile.bulk_group"
            );
            copies.extend(dtypes.iter().map(|dtype| plain(form.clone(), Way::Store, rank, dtype)));
        }
    }
    for (rank, dimension) in [(1, 0), (2, 0), (2, 1), (5, 4)] {
        for (begin, operation, dtype) in [("cp", "", "f16"), ("cp.reduce", ".add", "u32")] {
            let form = format!(
                "{begin}.async.bulk.tensor.{rank}d.global.shared::cta{operation}.tile.bulk_group"
            );
            let edge = Edge::Near(dimension);
            copies.push(Copy { edge, ..plain(form, Way::Store, rank, dtype) });
        }
    }
    copies.into_iter().map(into_entry).collect()
}

fn into_entry(copy: Copy) -> Entry {
    let Copy { form, dtype, swizzle_bytes, element_stride, fill, edge, .. } = &copy;
    let mut name = format!("{form} of {dtype}");
    if *swizzle_bytes > 0 {
        let _ = write!(name, ", swizzle {swizzle_bytes}");
    }
    if *element_stride > 1 {
        let _ = write!(name, ", every {element_stride} rows");
    }
    if let Edge::Near(dimension) = edge {
        let _ = write!(name, ", before the tensor along {dimension}");
    }
    if *fill == Fill::Nan {
        name.push_str(", NaN outside");
    }
    let forms = if *edge == Edge::Usual { forms(form) } else { Vec::new() };
    Entry { name: name.clone(), forms, make: Box::new(move || case(&name, &copy)) }
}

/// What a kernel tests: the copy, and how the map's address is found.
fn forms(form: &str) -> Vec<String> {
    [form, "mov.b64 symbol", "cvta.param.u64"].map(str::to_owned).to_vec()
}

/// The type that values are made of.
fn element(dtype: &str) -> Type {
    let text = dtype.replace('i', "s");
    Type::ALL.iter().find(|ty| ty.text() == text).copied().unwrap_or(Type::B32)
}

/// How many boxes lie along each dimension, the innermost first, and how many elements a box has.
fn shape(copy: &Copy, size: usize) -> (Vec<usize>, Vec<usize>) {
    let span = if copy.swizzle_bytes > 0 { copy.swizzle_bytes as usize } else { 64 };
    let inner = span / size;
    match copy.rank {
        1 => (vec![BOXES], vec![256 / size]),
        2 => (vec![16, 128], vec![inner, 8]),
        3 => (vec![8, 16, 16], vec![inner, 4, 2]),
        4 => (vec![8, 8, 8, 4], vec![inner, 4, 2, 1]),
        _ => (vec![8, 4, 4, 4, 4], vec![inner, 2, 2, 1, 2]),
    }
}

#[expect(clippy::too_many_lines, reason = "the text of one kernel")]
fn case(name: &str, copy: &Copy) -> Case {
    let ty = element(copy.dtype);
    let size = types::size(ty);
    let (counts, boxes) = shape(copy, size);
    let rank = copy.rank;
    // A tensor is a little smaller than its boxes, so that the last ones lie over its edge.
    let extents: Vec<usize> = counts
        .iter()
        .zip(&boxes)
        .enumerate()
        .map(
            |(d, (n, b))| if d == 0 { n * b - 16 / size } else { (n * b).saturating_sub(1).max(1) },
        )
        .collect();
    let mut strides = vec![1];
    let mut pitch = counts[0] * boxes[0] + 16 / size;
    for extent in &extents[1..] {
        strides.push(pitch);
        pitch *= extent;
    }
    let tensor_elems = pitch;
    let taken: usize = boxes
        .iter()
        .enumerate()
        .map(|(d, b)| if d == 1 { b.div_ceil(copy.element_stride as usize) } else { *b })
        .product();
    let box_bytes = taken * size;
    let mut random = Random::of(name);
    let values = |random: &mut Random, count: usize| -> Vec<u8> {
        (0..count).flat_map(|_| random.value(ty).to_le_bytes().into_iter().take(size)).collect()
    };
    let mut coordinates: Vec<u8> = Vec::new();
    for number in 0..BOXES {
        let mut rest = number;
        for d in 0..5 {
            let at = if d >= rank {
                0
            } else if copy.way == Way::Store {
                // Boxes of their own, of which some begin before the tensor does.
                let tile = rest % counts[d];
                rest /= counts[d];
                let before = if copy.edge == Edge::Near(d) { boxes[d] / 2 } else { 0 };
                as_i32(tile * boxes[d]) - as_i32(before)
            } else {
                // The innermost coordinate has to be a multiple of 16 bytes.
                let step = if d == 0 { 16 / size } else { 1 };
                let range = (extents[d] + 2 * boxes[d]) / step;
                let place = usize::try_from(random.below(range as u64)).expect("small") * step;
                as_i32(place) - as_i32(boxes[d].next_multiple_of(step))
            };
            coordinates.extend(at.to_le_bytes());
        }
        coordinates.extend([0; 12]);
    }
    let tile_bytes = if copy.way == Way::Multicast { 2 * box_bytes } else { box_bytes };
    let mut body = format!(
        ".shared .align 1024 .b8 tile[{tile_bytes}];
.shared .align 8 .b64 bar[1];
.reg .pred %first, %p;
.reg .b32 %m, %x, %c<5>, %v<4>;
.reg .b64 %g, %o, %map, %policy;
setp.eq.u32 %first, %thread, 0;
mov.u32 %m, tile;
mov.b64 %map, map0;
cvta.param.u64 %map, %map;
mul.wide.u32 %g, %cta, 32;
add.u64 %g, %g, %a0;
ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%g];
ld.global.b32 %c4, [%g+16];
mul.lo.u32 %x, %thread, 16;
mul.wide.u32 %g, %cta, {box_bytes};
cvt.u64.u32 %o, %x;
add.u64 %g, %g, %o;
"
    );
    let list: Vec<String> = (0..rank).map(|d| format!("%c{d}")).collect();
    let at = format!("[%map, {{{}}}]", list.join(", "));
    let hint = if copy.form.ends_with(HINT) { ", %policy" } else { "" };
    if !hint.is_empty() {
        let _ = writeln!(body, "mov.b64 %policy, {EVICT_FIRST};");
    }
    let pieces = box_bytes.div_ceil(512);
    let piece = |body: &mut String, number: usize, text: &str| {
        // The last piece may be less than the threads can move.
        let left = box_bytes - 512 * number;
        let guard = if left < 512 { "@%p " } else { "" };
        let _ = writeln!(body, "setp.lt.u32 %p, %x, {left};\n{guard}{text}");
    };
    match copy.way {
        Way::Load | Way::Multicast | Way::Prefetch => {
            let form = if copy.way == Way::Prefetch {
                let _ = writeln!(body, "@%first {} {at}{hint};", copy.form);
                copy.form.replace("prefetch.tensor", "tensor").replace(
                    "L2.global.tile",
                    "shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                )
            } else {
                copy.form.clone()
            };
            // Each block of a cluster loads a box into both, and writes out that of one of them.
            let (meet, to, mask, chosen) = if copy.way == Way::Multicast {
                let meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
                let to = format!(
                    ".reg .b32 %to, %rank;\nmov.u32 %rank, %cluster_ctarank;\nmad.lo.u32 %to, %rank, {box_bytes}, %m;\n"
                );
                let chosen = format!(
                    "{meet}shr.u32 %to, %cta, 1;\nxor.b32 %to, %to, %rank;\nand.b32 %to, %to, 1;\nmad.lo.u32 %m, %to, {box_bytes}, %m;\n"
                );
                (meet, to, ", 3", chosen)
            } else {
                ("", ".reg .b32 %to;\nmov.b32 %to, %m;\n".to_owned(), "", String::new())
            };
            let _ = write!(
                body,
                "@%first mbarrier.init.shared::cta.b64 [bar], 1;
@%first fence.mbarrier_init.release.cluster;
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {tile_bytes};
bar.sync 0;
{to}{meet}@%first {form} [%to], {at}, [bar]{mask}{hint};
wait:
mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra wait;
{chosen}add.u64 %g, %g, %a2;
add.u32 %m, %m, %x;
"
            );
            for number in 0..pieces {
                let at = 512 * number;
                piece(
                    &mut body,
                    number,
                    &format!("ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%m+{at}];"),
                );
                piece(
                    &mut body,
                    number,
                    &format!("st.global.v4.b32 [%g+{at}], {{%v0, %v1, %v2, %v3}};"),
                );
            }
        }
        Way::Store => {
            body.push_str("add.u64 %g, %g, %a1;\nadd.u32 %v0, %m, %x;\nmov.b32 %x, %x;\n.reg .b32 %s;\nmov.b32 %s, %v0;\n");
            for number in 0..pieces {
                let at = 512 * number;
                piece(
                    &mut body,
                    number,
                    &format!("ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%g+{at}];"),
                );
                piece(
                    &mut body,
                    number,
                    &format!("st.shared.v4.b32 [%s+{at}], {{%v0, %v1, %v2, %v3}};"),
                );
            }
            let _ = write!(
                body,
                "fence.proxy.async.shared::cta;
bar.sync 0;
@!%first bra done;
{} {at}, [%m]{hint};
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:",
                copy.form
            );
        }
    }
    let tensor = Buffer { bytes: values(&mut random, tensor_elems), role: Role::Given };
    let moved = values(&mut random, BOXES * taken);
    let (buffers, mapped) = if copy.way == Way::Store {
        let given = Buffer { bytes: moved, role: Role::Given };
        (vec![given, Buffer { role: Role::Compared, ..tensor }], 2)
    } else {
        let out = Buffer { bytes: vec![0; moved.len()], role: Role::Compared };
        (vec![tensor, out], 1)
    };
    let coordinates = Buffer { bytes: coordinates, role: Role::Given };
    let buffers = [vec![coordinates], buffers].concat();
    let dims: Vec<MapDim> = (0..rank)
        .map(|d| MapDim {
            extent: MapExtent::Axis { axis: rank - 1 - d, divide: 1 },
            stride: MapStride::Axis { axis: rank - 1 - d, times: 1 },
            box_elems: u32::try_from(boxes[d]).expect("small"),
            element_stride: if d == 1 { copy.element_stride } else { 1 },
        })
        .collect();
    let reversed = |list: &[usize]| list.iter().rev().copied().collect::<Vec<usize>>();
    let map = Map {
        buffer: mapped,
        dtype: copy.dtype,
        element_bytes: size,
        shape: reversed(&extents),
        strides: reversed(&strides),
        info: MapInfo {
            param: 0,
            dtype: copy.dtype,
            dims: dims.leak(),
            places: None,
            swizzle_bytes: copy.swizzle_bytes,
            l2_promotion_bytes: 0,
            fill: copy.fill,
            written: copy.way == Way::Store,
        },
    };
    Case {
        name: name.to_owned(),
        forms: if copy.edge == Edge::Usual { forms(&copy.form) } else { Vec::new() },
        target: Target::Sm90a,
        ptx: format!("{}{}", head(Target::Sm90a), entry_with(3, &[], &[rank], THREADS, &body)),
        threads: THREADS,
        blocks: line(BOXES),
        cluster: if copy.way == Way::Multicast { [2, 1, 1] } else { [1; 3] },
        shared_bytes: 0,
        buffers,
        maps: vec![map],
        operands: (BOXES * taken) as u64,
        result: ty,
        pitch_bytes: size,
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: if copy.edge == Edge::Usual { Ending::Normal } else { Ending::Fault },
    }
}

fn as_i32(n: usize) -> i32 {
    i32::try_from(n).expect("tensors of tests are small")
}
