//! Loads over the places of filters: images of one to three dimensions, every tap of any filter, from any place on.

use kernel_testkit::data::Random;

/// An element type, and the bytes of an element.
const TYPES: [(&str, u64); 5] = [("f16", 2), ("bf16", 2), ("f32", 4), ("u8", 1), ("i32", 4)];

/// A filter along one axis: its taps, stride, padding and dilation.
type Axis = [u64; 4];

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("filters {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtype, bytes) = TYPES[usize::try_from(below(5)).expect("a short table")];
    let moved = 1 + below(3);
    // What a map of rank 5 can say bounds the padding.
    let axes: Vec<Axis> =
        (0..moved).map(|_| [1 + below(3), 1 + below(3), below(4), 1 + below(3)]).collect();
    let reach = |[taps, _, padding, dilation]: &Axis| {
        ((taps - 1) * dilation + 1).saturating_sub(2 * padding).max(1)
    };
    let extents: Vec<u64> = axes.iter().map(|axis| reach(axis) + below(5)).collect();
    let places: u64 = axes
        .iter()
        .zip(&extents)
        .map(|([taps, stride, padding, dilation], extent)| {
            (extent + 2 * padding - (taps - 1) * dilation - 1) / stride + 1
        })
        .product();
    let images = 1 + below(3);
    let taken = 4 << below(5);
    let channels = (16 << below(4)) / bytes;
    let whole = (channels + 16 / bytes * below(3)).saturating_sub(16 / bytes).max(16 / bytes);
    let first = below(images * places + taken).cast_signed() - (taken / 2).cast_signed();
    let channel = 16 / bytes * below(3);
    let column = |index: usize| {
        let entries: Vec<String> = axes.iter().map(|axis| axis[index].to_string()).collect();
        entries.join(", ")
    };
    let [filter, stride, padding, dilation] = [0, 1, 2, 3].map(column);
    let taps: u64 = axes.iter().map(|axis| axis[0]).product();
    // The tap of a number, the last axis first.
    let mut under = 1;
    let mut tap: Vec<String> = Vec::new();
    for [count, ..] in axes.iter().rev() {
        tap.insert(0, format!("tap / {under} % {count}"));
        under *= count;
    }
    let tap = tap.join(", ");
    let ones = "1, ".repeat(axes.len());
    let shape: Vec<String> = extents.iter().map(ToString::to_string).collect();
    let (shape, rank) = (shape.join(", "), axes.len() + 2);
    let fill = if below(4) == 0 && bytes > 1 && dtype != "i32" { ", fill = nan" } else { "" };
    let (start, load) = match below(3) {
        0 => ("for tap in pipeline(range(0, TAPS, 1), 2)", "copy_async(x.at([AT]), tile);"),
        1 => (
            "for tap in range(0, TAPS, 1)",
            "full.expect(x.block_bytes()); copy_async(x.at([AT]), tile).on(full); full.wait(tap % 2);",
        ),
        _ => (
            "for tap in range(0, TAPS, 1)",
            "full.expect(x.block_bytes()); tma::load(x, [AT], full, tile); full.wait(tap % 2);",
        ),
    };
    let start = start.replace("TAPS", &taps.to_string());
    let load = load.replace("AT", &format!("{first}, {tap}, {channel}"));
    format!(
        "//! Made at random.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: {dtype}[{images}, {shape}, {whole}] list(1, 2, 3, 5, 7, 11, 13, 4, 6, 9, 8)
//@ arg y: {dtype}[{taps}, {taken}, {channels}] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1)]
pub fn filters_{seed}(
    #[block({taken}, {ones}{channels}, filter = [{filter}], stride = [{stride}], padding = [{padding}], dilation = [{dilation}]{fill})]
    x: TensorMap<{dtype}, {rank}>,
    y: TensorMut<{dtype}, 3>,
) {{
    let tile = shared::<{dtype}>([{taken}, {channels}]);
    let full = barrier(1);
    {start} {{
        {load}
        y.tile([tap, 0, 0], [1, {taken}, {channels}]).store(tile.load().reshape([1, {taken}, {channels}]));
        sync();
    }}
}}
"
    )
}
