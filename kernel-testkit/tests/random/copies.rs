//! Kernels as people write them around one copy: a whole tensor, asynchronously to shared memory, read in up to three ways that
//! together choose how it lies there. Nothing is odd but the combination.

use kernel_testkit::data::Random;

/// What is done with the tile `s` of `rows` × `columns`, and the extents of the result.
fn reads(rows: u64, columns: u64) -> Vec<(String, [u64; 2])> {
    let mut all = Vec::new();
    for (load, [rows, columns]) in
        [("s.load()", [rows, columns]), ("s.t().load()", [columns, rows])]
    {
        let mut read = |words: &str, extents: [u64; 2]| {
            all.push((format!("{load}{words}"), extents));
        };
        read("", [rows, columns]);
        read(".t()", [columns, rows]);
        read(".max(0).expand(0)", [1, columns]);
        read(".max(1).expand(1)", [rows, 1]);
        read(".scan(0, |a, b| a.max(b))", [rows, columns]);
        read(".scan(1, |a, b| a.max(b))", [rows, columns]);
        read(&format!(".reshape({:?})", [rows * 2, columns / 2]), [rows * 2, columns / 2]);
        read(&format!(".reshape({:?}).t()", [rows / 2, columns * 2]), [columns * 2, rows / 2]);
    }
    all
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("copies {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let mut pick = |list: &[&'static str]| {
        list[usize::try_from(below(list.len() as u64)).expect("lists here are short")]
    };
    let (warps, dtype) =
        (pick(&["1", "2", "4", "4", "8"]), pick(&["f16", "f32", "f64", "i8", "i32"]));
    let (mut rows, mut columns) = (2 + below(6), 2 + below(6));
    while rows + columns > 13 {
        rows -= rows.min(1);
        columns -= 1;
    }
    let [rows, columns] = [1 << rows, 1 << columns];
    let data = if dtype.starts_with('f') { "uniform(-9, 9)" } else { "bits" };
    let all = reads(rows, columns);
    let chosen: Vec<&(String, [u64; 2])> = (0..=below(3))
        .map(|_| &all[usize::try_from(below(all.len() as u64)).expect("lists here are short")])
        .collect();
    let stored = || chosen.iter().enumerate();
    let header: Vec<String> = stored()
        .map(|(place, (_, extents))| format!("//@ arg o{place}: {dtype}{extents:?} poison\n"))
        .collect();
    let params: Vec<String> =
        stored().map(|(place, _)| format!(", o{place}: TensorMut<{dtype}, 2>")).collect();
    let body: Vec<String> = stored()
        .map(|(place, (words, extents))| {
            format!("    o{place}.tile([0, 0], {extents:?}).store({words});\n")
        })
        .collect();
    let (header, params, body) = (header.concat(), params.concat(), body.concat());
    // The tensor may have other axes than shared memory, be smaller than the tile, and be a slice of a larger one.
    let tile: Vec<u64> = match below(8) {
        0 => vec![1, rows, columns],
        1 => vec![2, rows / 2, columns],
        2 => vec![rows, 2, columns / 2],
        3 => vec![1, rows, 1, columns],
        4 => vec![rows * columns],
        _ => vec![rows, columns],
    };
    let less = |choice: u64| if choice < 2 { 0 } else { choice };
    let extents: Vec<u64> =
        tile.iter().map(|extent| extent.saturating_sub(less(below(4))).max(1)).collect();
    let (rank, corner) = (tile.len(), vec!["0"; tile.len()].join(", "));
    let ranges: String = extents
        .iter()
        .map(|extent| match below(4) {
            0 => format!("{}..{}, ", below(3), below(extent + 3)),
            1 => "1.., ".to_owned(),
            _ => ".., ".to_owned(),
        })
        .collect();
    let sliced = if below(3) == 0 { format!(".slice(({ranges}))") } else { String::new() };
    format!(
        "//@ run: eval, emulate, gpu\n//@ compare: exact\n//@ arg x: {dtype}{extents:?} {data}\n{header}\
         use kiln::prelude::*;\n\n#[kernel(target = sm_80, warps = {warps}, grid = 1)]\n\
         pub fn copies_{seed}(x: Tensor<{dtype}, {rank}>{params}) {{\n    let s = shared::<{dtype}>([{rows}, {columns}]);\n    \
         copy_async(x{sliced}.tile([{corner}], {tile:?}), s);\n    copy_async_wait_all();\n    sync();\n{body}}}\n"
    )
}
