//! Kernels made up from the words of Blackwell's tensor cores, of tensor memory, of pairs of blocks and of cluster launch control.

use crate::random::Random;

/// Mostly what is right, now and then any of the list.
fn mostly(
    random: &mut Random,
    usual: &'static [&'static str],
    list: &'static [&'static str],
) -> &'static str {
    let list = if random.once_in(20) { list } else { usual };
    random.pick(list)
}

const EXTENTS: &[&str] = &["8", "16", "32", "64", "128", "256", "512", "1", "3", "n"];
const DTYPES: &[&str] =
    &["f16", "bf16", "f32", "i8", "u8", "i32", "e4m3", "f64", "u32", "bool", "e2m1x2", "ue8m0"];
const PINS: &[&str] = &[
    ".with_layout(tmem_block([128, 64], 1))",
    ".with_layout(tmem_block([64, 32], 1))",
    ".with_layout(tmem_block([64, 16], 2))",
    ".with_layout(tmem_block([64, 8], 1))",
    ".with_layout(tmem_block([128, 8], 1))",
    ".with_layout(tmem_block([32, 64], 1))",
    ".with_layout(swizzle(128))",
];
const NOTATION: &[&str] = &[
    ".with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))",
    ".with_layout(layout!(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))",
    ".with_layout(layout!(S[(64, 64) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]))",
    ".with_layout(layout!(S[(128, 4, 16) : (1 @ TLane, 1 @ TCol, 4 @ TCol)]))",
];
const SHARED_PINS: &[&str] =
    &["", ".with_layout(swizzle(32))", ".with_layout(swizzle(128))", ".with_layout(row_major())"];
const BARRIERS: &[&str] = &["bar", "bars[0]", "bars[slot]", "bar.of_block(1)", "bars", "bars[5]"];
const SUMS: &[&str] = &["acc", "accs[0]", "accs[slot]", "accs", "accs[2]", "left", "n"];
const LEFT: &[&str] = &[
    "left",
    "left.t()",
    "ring[0]",
    "ring",
    "tall",
    "acc",
    "left.of_block(1)",
    "left.tile([0, 0], [64, 32])",
    "ring[slot].tile([64, slot], [64, 64])",
    "ring.reshape([256, 32])",
    "left.view::<u16>()",
    "left.view::<u32>().view::<bf16>()",
];
const RIGHT: &[&str] = &[
    "right",
    "right.t()",
    "left",
    "tall",
    "right.of_block(0)",
    "n",
    "right.tile([0, 0], [32, 32])",
    "right.tile([0, 8], [32, 8])",
    "left.tile([0, 0], [64, 64]).t()",
    "left.view::<i8>().t()",
];
const WINDOWS: &[&str] = &["acc", "accs[0]", "accs[slot]", "tall", "wide", "scales"];
const SOURCES: &[&str] = &["staged", "staged.t()", "left", "bytes"];
const CONDITIONS: &[&str] = &["more", "n > 0", "cluster::rank() == 0", "true", "false", "n", "acc"];
const MASKS: &[&str] = &["0b11", "1", "n", "0", "0b111", "1 << 20", "-1", "more"];

/// A kernel that multiplies in tensor memory, alone or in pairs.
pub(crate) fn kernel(random: &mut Random) -> String {
    let rows = mostly(random, &["128", "64"], EXTENTS);
    let depth = mostly(random, &["64", "32"], EXTENTS);
    let columns = mostly(random, &["64", "128"], EXTENTS);
    let half = mostly(random, &["32", "64", "64"], EXTENTS);
    let dtype = mostly(random, &["f16", "bf16", "f16", "e4m3", "i8", "u8"], DTYPES);
    let usual: &'static [&'static str] =
        if ["i8", "u8"].contains(&dtype) { &["i32"] } else { &["f32", "f32", "f16"] };
    let sum = mostly(random, usual, DTYPES);
    let pin = mostly(random, &["", "", ""], PINS);
    let products: &'static [&'static str] =
        if random.once_in(2) { &["mma_pair"] } else { &["mma"] };
    let body: String = (0..=random.below(6)).map(|_| statement(random, products, 2)).collect();
    let target = mostly(random, &["sm_100a"], &["[sm_90a, sm_100a]", "sm_80"]);
    let cluster = mostly(
        random,
        &[", cluster = 2", ", cluster = 4"],
        &["", ", cluster = 3", ", cluster = [1, 2]"],
    );
    let warps = mostly(random, &["4", "8"], &["1", "2"]);
    let staged = mostly(random, &["", ""], SHARED_PINS);
    let wide = mostly(random, &["", ""], NOTATION);
    let blocks = mostly(random, &["4"], &["1", "2", "8", "16"]);
    let of_scales = mostly(random, &["ue8m0", "ue8m0", "e4m3"], DTYPES);
    let scaled = mostly(random, &["e4m3", "e2m1x2"], DTYPES);
    let beside = mostly(random, &["e2m1x2", "e5m2"], DTYPES);
    let other = if random.once_in(2) { scaled } else { beside };
    let [deep, wide_deep] =
        [scaled, other].map(|dtype| if dtype == "e2m1x2" { "64" } else { "128" });
    let fours = mostly(random, &["", "", ""], &[".with_layout(swizzle(128).fp4_padded())"]);
    let load = mostly(random, &["acc.load()"], &["accs[0].load()", "accs.load()", "left.load()"]);
    format!(
        "#[kernel(target = {target}, warps = {warps}{cluster})]
         pub fn made_up(
             n: i32, more: bool, c: TensorMut<{sum}, 2>,
             #[block({rows}, {depth})] x: TensorMap<{dtype}, 2>,
         ) {{
             let left = shared::<{dtype}>([{rows}, {depth}]);
             let ring = shared::<{dtype}>([2, {rows}, {depth}]);
             let right = shared::<{dtype}>([{depth}, {half}]);
             let acc = tmem::<{sum}>([{rows}, {columns}]){pin};
             let accs = tmem::<{sum}>([2, {rows}, {columns}]);
             let tall = tmem::<{dtype}>([{rows}, {depth}]);
             let staged = shared::<{sum}>([{rows}, {columns}]){staged};
             let wide = tmem::<{sum}>([{rows}, {columns}]){wide};
             let (scales, others) = (tmem::<{of_scales}>([{rows}, {blocks}]), tmem::<{of_scales}>([{columns}, {blocks}]));
             let bytes = shared::<{of_scales}>([{rows}, {blocks}]);
             let (rows, cols) = (shared::<{scaled}>([{rows}, {deep}]){fours}, shared::<{other}>([{columns}, {wide_deep}]));
             let halved = shared::<{other}>([{half}, {wide_deep}]);
             let (deep, described) = (shared::<{dtype}>([{depth} * 2, {half}]), tmem::<u16>([{rows}, {depth} / 8]));
             let words = shared::<u32>([2, 4]);
             let (bar, bars) = (barrier(1), barriers(2, 1));
             let mut slot = 0;
             {body}
             tcgen05::commit(bar);
             bar.wait(0);
             c.tile([0, 0], [{rows}, {columns}]).store({load});
         }}"
    )
}

/// What may be said of what is started.
fn said(random: &mut Random) -> String {
    match random.below(8) {
        0 => format!(".when({})", mostly(random, &["more", "n > 0"], CONDITIONS)),
        1 => format!(".accumulate({})", mostly(random, &["more", "false"], CONDITIONS)),
        2 if random.once_in(6) => format!(".multicast({})", random.pick(MASKS)),
        3 if random.once_in(6) => ".when(more).when(more)".to_owned(),
        4 if random.once_in(6) => ".evict_first()".to_owned(),
        _ => String::new(),
    }
}

/// A tile of tensor memory, or a part or a view of one, of what that is again.
fn window(random: &mut Random, depth: usize) -> String {
    let whole = mostly(random, &["acc", "accs[0]", "wide"], WINDOWS).to_owned();
    (0..random.below(depth + 1)).fold(whole, |of, _| {
        let rows = mostly(random, &["128", "128", "64"], EXTENTS);
        let columns = mostly(random, &["32", "64", "16"], EXTENTS);
        match random.below(8) {
            0..=3 => {
                let at = mostly(random, &["0", "32", "0", "64"], &["16", "8", "1", "n", "-32"]);
                let row = mostly(random, &["0"], &["64", "128", "16"]);
                format!("{of}.tile([{row}, {at}], [{rows}, {columns}])")
            }
            4..=6 => {
                let dtype = mostly(random, &["f32", "f16", "u8"], DTYPES);
                format!("{of}.view::<{dtype}>([{rows}, {columns}])")
            }
            _ => of + mostly(random, PINS, NOTATION),
        }
    })
}

/// Something that is done with parts and views, with copies to them, or with scales.
fn with_windows(random: &mut Random, products: &'static [&'static str]) -> String {
    let one = window(random, 3);
    match random.below(9) {
        0 | 1 => {
            let source = mostly(random, &["staged"], SOURCES);
            format!("tcgen05::copy({source}, {one}){};", said(random))
        }
        2 => format!("copy_async({}, {one});", mostly(random, &["staged", "bytes"], SOURCES)),
        3 => format!("{one}.store({}.load());", window(random, 2)),
        4 => format!("let taken = {one}; taken.store(taken.load());"),
        5 => format!(
            "tcgen05::{}({}, right, {one}){};",
            mostly(random, products, &["mma", "mma_pair"]),
            if random.once_in(2) { "left".to_owned() } else { window(random, 2) },
            said(random)
        ),
        6 | 7 => {
            let of_left = if random.once_in(4) { window(random, 2) } else { "scales".to_owned() };
            let sums = if random.once_in(4) { one } else { "acc".to_owned() };
            format!(
                "tcgen05::{}{};",
                if random.once_in(3) {
                    let pair = if random.once_in(2) { "_pair" } else { "" };
                    let metadata = mostly(
                        random,
                        &["described", "described", "described.tile([0, 0], [128, 4])"],
                        &[
                            "acc",
                            "scales",
                            "described.tile([0, 0], [64, 4])",
                            "acc.view::<u16>([128, 8])",
                        ],
                    );
                    format!("mma_sparse{pair}(left, {metadata}, deep, {sums})")
                } else if random.once_in(4) {
                    format!("mma_scaled_pair(rows, halved.t(), {sums}, {of_left}, others)")
                } else if random.once_in(2) {
                    format!("mma_scaled(rows, cols.t(), {sums}, {of_left}, others)")
                } else {
                    format!("mma(rows, cols.t(), {sums})")
                },
                said(random)
            )
        }
        _ => {
            format!("let held = if more {{ {one} }} else {{ {} }}; held.load();", window(random, 1))
        }
    }
}

fn statement(random: &mut Random, products: &'static [&'static str], depth: usize) -> String {
    let bar = mostly(random, &["bar", "bars[slot]"], BARRIERS);
    if random.once_in(3) {
        return with_windows(random, products);
    }
    match random.below(if depth == 0 { 8 } else { 11 }) {
        0..=2 => format!(
            "tcgen05::{}({}, {}, {}){};",
            mostly(random, products, &["mma", "mma_pair"]),
            mostly(random, &["left", "ring[slot]"], LEFT),
            mostly(random, &["right"], RIGHT),
            mostly(random, &["acc", "accs[slot]"], SUMS),
            said(random)
        ),
        3 => {
            let to = match random.below(3) {
                0 => format!(".multicast({})", mostly(random, &["0b11"], MASKS)),
                1 => ".multicast(0b11).when(more)".to_owned(),
                _ => said(random),
            };
            format!("tcgen05::commit({bar}){to};")
        }
        4 => format!("{bar}.expect({}); {bar}.wait(0);", mostly(random, &["n", "16"], EXTENTS)),
        5 => {
            let bar = mostly(
                random,
                &["bar", "bar.of_block(cluster::rank() & !1)", "bar.of_block(0)"],
                BARRIERS,
            );
            let said = if random.once_in(4) { ".multicast(0b11)" } else { "" };
            format!("tma::load(x, [0, n], {bar}, {}){said};", mostly(random, &["left"], LEFT))
        }
        6 => {
            let words =
                mostly(random, &["words[slot]"], &["words", "left", "words[0].of_block(1)"]);
            match random.below(3) {
                0 => format!("cluster::try_cancel({words}, {bar});"),
                1 => format!("if cluster::is_canceled({words}) {{ slot = 1; }}"),
                _ => format!("slot = cluster::canceled_block_id({words}, 0);"),
            }
        }
        7 => mostly(
            random,
            &["cluster::sync();", "sync();", "acc.store(acc.load());", "left.store(left.load());"],
            &["tcgen05::copy(left, tall);", "return;"],
        )
        .to_owned(),
        8 => format!(
            "if {} {{ {} }}",
            random.pick(CONDITIONS),
            statement(random, products, depth - 1)
        ),
        9 => format!("for _ in 0..n {{ {} slot ^= 1; }}", statement(random, products, depth - 1)),
        _ => format!(
            "warp_specialize(|| {{ {} }}, [partition(1).run(|| {{ {} }})]);",
            statement(random, products, depth - 1),
            statement(random, products, depth - 1)
        ),
    }
}
