//! TMA copies of slices: of two to four axes, any of which but the innermost is bounded, anywhere; loads in each way, stores and reductions.

use kernel_testkit::data::Random;

/// An element type, and the bytes of an element.
const TYPES: [(&str, u64); 6] =
    [("f16", 2), ("bf16", 2), ("f32", 4), ("u8", 1), ("i32", 4), ("u64", 8)];
/// The dimensions of a tensor map, at most.
const MOST_DIMS: u64 = 5;

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("slices {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtype, bytes) = TYPES[usize::try_from(below(6)).expect("a short table")];
    let rank = 2 + below(3);
    let (mut block, mut shape, mut read, mut written) = (vec![], vec![], vec![], vec![]);
    let mut ranges = [String::new(), String::new()];
    let mut spare = MOST_DIMS - rank;
    for axis in 0..rank - 1 {
        let tile = if below(3) == 0 { 1 } else { 2 << below(3) };
        let extent = 1 + below(2 * tile + 6);
        let mut bounded = [false; 2];
        for (bounded, ranges) in bounded.iter_mut().zip(&mut ranges) {
            let range = match below(5) {
                0 => "..".to_owned(),
                1 => format!("{}..", below(extent + 2)),
                2 => format!("..end - {}", below(12)),
                // Some of them are turned round, before the tensor or after it.
                _ => format!("first - {}..end - {}", below(9), below(12)),
            };
            *bounded = range != ".." && (tile == 1 || spare > 0);
            ranges.push_str(if *bounded { &range } else { ".." });
            ranges.push_str(", ");
        }
        spare -= u64::from(tile > 1 && (bounded[0] || bounded[1]));
        let step =
            if axis == 0 { format!("step * {} + ", tile.div_ceil(2)) } else { String::new() };
        // Loads begin before a tensor, and before slices of which the tile has one element; stores begin before no tensor.
        let back = if tile == 1 || !bounded[0] { below(3) } else { 0 };
        read.push(format!("{step}{} - {back}", below(extent + 1)));
        written.push(format!("{step}{}", below(extent + 1)));
        block.push(tile);
        shape.push(extent);
    }
    let unit = 16 / bytes;
    // A ring is of whole tiles that are 128 bytes or more, and pipelined loops make their own.
    let ring = block.iter().filter(|extent| **extent != 1).count() > 1;
    let columns = unit << if ring { 3 } else { below(4) };
    let column = unit * below(3);
    block.push(columns);
    shape.push(unit * (1 + below(12)));
    read.push(column.to_string());
    written.push((unit * below(2)).to_string());
    let [read_of, written_of] = ranges;
    let (read, written) = (read.join(", "), written.join(", "));
    let tile: Vec<u64> = block.iter().copied().filter(|extent| *extent != 1).collect();
    let mut copied = block.clone();
    copied[0] *= 3;
    let zeros = ", 0".repeat(block.len() - 1);
    let rows = block[0];
    let fill = if below(4) == 0 && matches!(dtype, "f16" | "f32") { ", fill = nan" } else { "" };
    let listed =
        |extents: &[u64]| extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let (start, load) = match below(3) {
        0 if !ring => (
            format!("for step in pipeline(range(0, 3, 1), {})", 2 + below(2)),
            "copy_async(x.slice((OF..)).at([AT]), tile);",
        ),
        1 => (
            "for step in range(0, 3, 1)".to_owned(),
            "full.expect(x.block_bytes()); copy_async(x.slice((OF..)).at([AT]), tile).on(full); full.wait(step % 2);",
        ),
        _ => (
            "for step in range(0, 3, 1)".to_owned(),
            "full.expect(x.block_bytes()); tma::load(x.slice((OF..)), [AT], full, tile); full.wait(step % 2);",
        ),
    };
    let load = load.replace("OF", &read_of).replace("AT", &read);
    let store = match below(3) {
        0 if !matches!(dtype, "u8") && fill.is_empty() => {
            format!("tma::reduce_add(out.slice(({written_of}..)), [{written}], tile);")
        }
        1 => format!("copy_async(tile, out.slice(({written_of}..)).at([{written}]));"),
        _ => format!("tma::store(out.slice(({written_of}..)), [{written}], tile);"),
    };
    let (first, end) = (below(8), below(24));
    let (tile, block) = (listed(&tile), listed(&block));
    let (shape, copied) = (listed(&shape), listed(&copied));
    format!(
        "//! Made at random.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg first: i32 scalar {first}
//@ arg end: i32 scalar {end}
//@ arg x: {dtype}[{shape}] list(1, 2, 3, 5, 7, 11, 13, 4, 6, 9, 8)
//@ arg copy: {dtype}[{copied}] poison
//@ arg out: {dtype}[{shape}] list(20, 30, 40, 50)
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = 1)]
pub fn slices_{seed}(
    first: i32,
    end: i32,
    #[block({block}{fill})] x: TensorMap<{dtype}, {rank}>,
    #[block({block})] copy: TensorMapMut<{dtype}, {rank}>,
    #[block({block})] out: TensorMapMut<{dtype}, {rank}>,
) {{
    let tile = shared::<{dtype}>([{tile}]);
    let full = barrier(1);
    {start} {{
        {load}
        tma::store(copy, [step * {rows}{zeros}], tile);
        {store}
        tma::store_wait_written(0);
    }}
}}
"
    )
}
