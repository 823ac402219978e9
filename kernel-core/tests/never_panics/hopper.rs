//! Kernels made up from the words of Hopper: each part is right nearly always, so that many compile and the others are refused late.

use crate::random::Random;

const EXTENTS: &[&str] = &["8", "16", "32", "64", "128", "256", "512", "1", "4", "N", "3"];
const DTYPES: &[&str] = &["f16", "bf16", "i8", "u8", "e4m3", "e5m2", "f32", "f64", "i32", "bool"];
const LAYOUTS: &[&str] = &[
    "",
    ".with_layout(swizzle(128))",
    ".with_layout(swizzle(32))",
    ".with_layout(row_major())",
    ".with_layout(swizzled(8, 2, 4, [1, 0]))",
    ".with_layout(swizzled(8, 1, 8, [0, 1]))",
];
const CLUSTERS: &[&str] =
    &["", ", cluster = [1, 2]", ", cluster = [2, 2, 4]", ", cluster = 32", ", cluster = 0"];
const BARRIERS: &[&str] =
    &["bar", "bars[0]", "bars[1]", "bar.of_block(1)", "bars[2].of_block(n)", "bars", "bars[7]"];
const TILES: &[&str] = &["left", "ring[0]", "ring[slot]", "ring", "right", "left.t()", "acc", "n"];
const WINDOWS: &[&str] = &[
    "left",
    "ring[0]",
    "left.of_block(1)",
    "ring.of_block(n)[slot]",
    "row",
    "row.of_block(cluster::rank())",
    "row.of_block(9)",
    "left.t()",
    "acc",
    "bar",
];
const ADDRESSES: &[&str] = &["p", "p + n * 64", "x.ptr()", "p + arange(0, 64)", "n", "left"];
const COORDINATES: &[&str] =
    &["0", "n", "slot * 64", "block_id(0) * 64", "-8", "cluster::rank()", "1.0", "more"];

const OPTIONS: &[&str] = &[
    ", swizzle = 96, fill = nan",
    ", element_strides = [1, 2]",
    ", element_strides = [n]",
    ", filter = [3, 3]",
    ", filter = [1 << 20, -1], stride = 3",
    ", filter = [n], padding = [1 << 40], dilation = []",
    ", stride = [1]",
    ", swizzle = 128, element_strides = [8, 1], l2_promotion = 1 << 40",
    ", fill = a::b, fill = 0",
];

/// Layouts of accumulators: those of products of other generations, and others.
const PINS: &[&str] = &[
    "mma([2, 2])",
    "mma([4, 1])",
    "wgmma([4, 1], 64)",
    "wgmma([4, 1], 16)",
    "blocked([1, 4], [8, 4], [4, 1], [1, 0])",
    "dot_operand(0, mma([2, 2]), 2)",
    "mma([8, 1])",
];

/// Mostly what is right, now and then any of the list.
fn mostly(
    random: &mut Random,
    usual: &'static [&'static str],
    list: &'static [&'static str],
) -> &'static str {
    let list = if random.once_in(24) { list } else { usual };
    random.pick(list)
}

/// A kernel that copies tiles by tensor map, waits at barriers and multiplies by warpgroups.
pub(crate) fn kernel(random: &mut Random) -> String {
    let rows = mostly(random, &["64", "64", "128"], EXTENTS);
    let columns = mostly(random, &["64", "32", "128"], EXTENTS);
    let block_rows = if random.once_in(24) { random.pick(EXTENTS) } else { rows };
    let block_columns = if random.once_in(24) { random.pick(EXTENTS) } else { columns };
    let dtype = mostly(random, &["f16", "bf16", "f16", "i8", "e4m3"], DTYPES);
    let mapped = if random.once_in(24) { random.pick(DTYPES) } else { dtype };
    let sum = match dtype {
        "i8" | "u8" => "i32",
        "f16" | "e4m3" => mostly(random, &["f32", "f16"], &["bf16"]),
        _ => "f32",
    };
    let body: String = (0..=random.below(6)).map(|_| statement(random, 3)).collect();
    let usual: &[&str] = if body.contains(", rows") { &["sm_100a"] } else { &["sm_90a"] };
    let target = mostly(random, usual, &["[sm_90a, sm_100a]", "sm_80", "sm_100a"]);
    let warps = mostly(random, &["4", "8"], &["1", "2", "16", "32"]);
    let cluster = mostly(random, &[", cluster = 2"], CLUSTERS);
    let (pin, layout) = (mostly(random, &[""], LAYOUTS), mostly(random, &[""], LAYOUTS));
    let ring = mostly(random, &["1", "2"], &["3", "0", "n"]);
    let arrivals = mostly(random, &["1", "2"], &["n", "0", "99999"]);
    let kind = mostly(random, &["TensorMapMut"], &["TensorMap", "TensorMut"]);
    let options = mostly(
        random,
        &[
            "",
            "",
            ", swizzle = 32",
            ", element_strides = [2, 1]",
            ", swizzle = 64, l2_promotion = 0",
        ],
        OPTIONS,
    );
    let stride =
        mostly(random, &[""], &["#[stride(_, 1)]", "#[stride(1, _)]", "#[multiple_of(2)]"]);
    let end = mostly(random, &["cluster::sync();"], &["", "return;", "acc", "loop { }"]);
    format!(
        "#[kernel(target = {target}, warps = {warps}{cluster}, instances(N = [16, 64]))]
         pub fn made_up<const N: i32>(
             n: i32, more: bool, x: Tensor<{dtype}, 2>, p: Ptr<{dtype}>,
             #[block({block_rows}, {block_columns}{options})] {stride} a: TensorMap<{mapped}, 2>,
             #[block({block_rows}, {block_columns})] b: {kind}<{mapped}, 2>,
             #[block(1, {block_columns})] g: {kind}<{mapped}, 2>,
             c: TensorMut<{sum}, 2>,
         ) {{
             let left = shared::<{dtype}>([{rows}, {columns}]){pin};
             let right = shared::<{dtype}>([{columns}, {columns}]){layout};
             let ring = shared::<{dtype}>([2, {rows}, {columns}]);
             let row = shared::<{dtype}>([{columns}]);
             let turn = named_barrier({warps});
             let bar = barrier({arrivals});
             let bars = barriers(3, {ring});
             let mut acc = zeros::<{sum}>([{rows}, {columns}]);
             let mut phase = 0;
             let mut slot = 0;
             {body}
             c.tile([0, 0], [{rows}, {columns}]).store(acc);
             {end}
         }}"
    )
}

fn tile(random: &mut Random) -> &'static str {
    mostly(random, &["left", "ring[0]", "ring[slot]"], TILES)
}

fn barrier(random: &mut Random) -> &'static str {
    mostly(random, &["bar", "bars[0]", "bars[slot]"], BARRIERS)
}

/// A copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Load,
    Other,
}

/// What may be said of a copy.
fn said(random: &mut Random, of: Of) -> String {
    match random.below(8) {
        0 => ".when(more)".to_owned(),
        1 => ".evict_first()".to_owned(),
        2 => ".evict_last().when(n > 0)".to_owned(),
        3 if of == Of::Load => {
            let mask =
                mostly(random, &["0b11", "n", "1"], &["0", "1 << 20", "-1", "more", "0xffff"]);
            format!(".multicast({mask}).when(cluster::rank() == 0)")
        }
        4 if random.once_in(12) => format!(".on({})", barrier(random)),
        5 if random.once_in(12) => ".when(more).when(more).evict_last()".to_owned(),
        _ => String::new(),
    }
}

/// A gather or a scatter: of maps that are mostly wrong, on targets that mostly have none.
fn by_rows(random: &mut Random) -> String {
    let rows = mostly(
        random,
        &["arange(0, 64)", "arange(n, n + 64)", "full([64], n)"],
        &["arange(-3, 5)", "full([8], -1)", "n", "acc", "zeros::<i64>([64])", "full([64, 1], n)"],
    );
    let pinned = mostly(
        random,
        &["", "", ".to_layout(slice(0, blocked([1, 4], [32, 1], [1, 4], [1, 0])))"],
        &[".to_layout(blocked([4], [32], [4], [0]))", ".to_layout(blocked([64], [32], [4], [0]))"],
    );
    let column = mostly(random, &["0", "n", "64"], COORDINATES);
    if random.once_in(2) {
        let said = said(random, Of::Load);
        let map = mostly(random, &["g", "g", "a"], &["x", "left"]);
        format!(
            "let rows = {rows}; tma::gather({map}, rows{pinned}, {column}, {}, {}){said};",
            barrier(random),
            tile(random)
        )
    } else {
        let said = said(random, Of::Other);
        let map = mostly(random, &["g", "g"], &["b", "a"]);
        let tile = tile(random);
        format!("let rows = {rows}; tma::scatter({map}, rows{pinned}, {column}, {tile}){said};")
    }
}

fn statement(random: &mut Random, depth: usize) -> String {
    if random.once_in(5) { of_others(random) } else { of_tiles(random, depth) }
}

fn of_tiles(random: &mut Random, depth: usize) -> String {
    let at = format!(
        "[{}, {}]",
        mostly(random, &["0", "n", "block_id(0) * 64"], COORDINATES),
        mostly(random, &["0", "n", "slot * 64"], COORDINATES)
    );
    match random.below(if depth == 0 { 16 } else { 21 }) {
        0 | 1 => {
            let bytes = mostly(
                random,
                &["a.block_bytes()", "left.bytes()", "n"],
                &["2 * left.bytes()", "0", "ring.bytes()", "1 << 21", "more"],
            );
            format!("{}.expect({bytes});", barrier(random))
        }
        2 => {
            let map = mostly(random, &["a", "b"], &["x", "c", "left"]);
            let said = said(random, Of::Load);
            format!("tma::load({map}, {at}, {}, {}){said};", barrier(random), tile(random))
        }
        3 => format!(
            "bar.{}; tma::load(a, {at}, bar, left){}; bar.wait(phase); phase ^= 1;",
            mostly(random, &["expect(a.block_bytes())", "expect_copies()"], &["expect_copies(0)"]),
            said(random, Of::Load)
        ),
        4 => {
            let phase = mostly(random, &["phase", "0", "1", "n"], &["2", "more", "-1"]);
            format!("{}.wait({phase});", barrier(random))
        }
        5 => format!(
            "{}.arrive();",
            mostly(random, &["bar", "bar.of_block(1)", "bars[2].of_block(n)"], BARRIERS)
        ),
        6 => format!("if {}.try_wait(phase) {{ slot = 1; }}", barrier(random)),
        7 => {
            let how = mostly(
                random,
                &["store", "store", "prefetch"],
                &["reduce_add", "reduce_max", "reduce_xor", "load"],
            );
            let from =
                if how == "prefetch" { String::new() } else { format!(", {}", tile(random)) };
            format!("tma::{how}(b, {at}{from}){};", said(random, Of::Other))
        }
        8 => format!(
            "tma::{}({});",
            random.pick(&["store_wait", "store_wait_written"]),
            mostly(random, &["0", "1", "63"], &["64", "n"])
        ),
        9 if random.once_in(2) => by_rows(random),
        9 => format!("tma::prefetch(a, {at}){};", said(random, Of::Other)),
        10 => {
            let (from, to, on) = match random.below(8) {
                0..=2 => ("a.at([n, 0])", "left", ".on(bar)"),
                3 => ("b.at([0, n])", "ring[slot]", ".on(bar)"),
                4 | 5 => ("left", "b.at([0, 0])", ""),
                6 => ("a.at([0, n])", "ring[slot]", ""),
                _ => ("a.at([0, n])", "left.t()", ".on(bar)"),
            };
            format!("copy_async({from}, {to}){on}{};", said(random, Of::Other))
        }
        11 => format!(
            "{};",
            random.pick(&[
                "sync()",
                "fence_async()",
                "cluster::sync()",
                "cluster::arrive(); cluster::wait()",
                "launch_dependents()",
                "grid_dependency_wait()",
            ])
        ),
        12 => format!(
            "{}.store({});",
            tile(random),
            mostly(random, &["acc.cast()", "left.load()"], &["acc", "zeros([16, 64])", "n"])
        ),
        13 | 14 => {
            let left = mostly(
                random,
                &["left", "ring[slot]", "left.load()", "left.load().to_layout(mma([2, 2]))"],
                &["right.t()", "left.t()", "n"],
            );
            let right =
                mostly(random, &["right", "right.t()"], &["left.t()", "ring[0]", "acc", "more"]);
            let product = format!("wgmma::mma({left}, {right}, acc)");
            match mostly(random, &["0"], &["1", "7", "8", "n", "none"]) {
                "none" => format!("acc = {product};"),
                pending => format!("acc = wgmma::wait({pending}, {product});"),
            }
        }
        15 => pinned(random),
        _ => nested(random, depth),
    }
}

/// An accumulator in a layout that the product may not have.
fn pinned(random: &mut Random) -> String {
    let pin = format!(".to_layout({})", random.pick(PINS));
    let product = "wgmma::mma(left, right, acc";
    match random.below(4) {
        0 => format!("acc = acc{pin};"),
        1 => format!("acc = wgmma::wait(0, {product}{pin}));"),
        2 => format!("acc = wgmma::wait(0, {product})){pin};"),
        _ => format!("acc = dot(left.load(), right.load(), acc{pin}){pin};"),
    }
}

/// What has statements of its own.
fn nested(random: &mut Random, depth: usize) -> String {
    match random.below(5) {
        0 | 1 => {
            let range = mostly(
                random,
                &["0..n", "unroll(0..3)", "0..4"],
                &["pipeline(0..n, 2)", "n..more"],
            );
            format!("for i in {range} {{ {} }}", inner(random, depth))
        }
        2 => format!("if more {{ {} }} else {{ {} }}", inner(random, depth), inner(random, depth)),
        3 => format!("while slot < n {{ {} slot += 1; }}", inner(random, depth)),
        _ => format!("loop {{ {} if more {{ break; }} }}", inner(random, depth)),
    }
}

/// What reaches other blocks, copies in bulk, or meets at a named barrier.
fn of_others(random: &mut Random) -> String {
    let window = mostly(random, &["left", "row", "ring[slot]"], WINDOWS);
    let remote = mostly(random, &["left.of_block(1)", "ring[0].of_block(n)"], WINDOWS);
    let address = mostly(random, &["p", "p + n * 64"], ADDRESSES);
    match random.below(9) {
        0 => format!("acc = {remote}.load().cast();"),
        1 => format!("{remote}.store({});", mostly(random, &["left.load()"], &["acc", "n"])),
        2 => {
            let value = mostly(random, &["left.load()"], &["acc", "n"]);
            format!("{remote}.store_async({value}, {});", barrier(random))
        }
        3 => {
            let said = said(random, Of::Other);
            format!("bulk::send({window}, {}, {remote}){said};", barrier(random))
        }
        4 | 5 => {
            let (bar, said) = (barrier(random), said(random, Of::Load));
            format!("{bar}.expect({window}.bytes()); bulk::load({address}, {bar}, {window}){said};")
        }
        6 => {
            let how = mostly(random, &["store", "reduce_add"], &["reduce_max", "reduce_and", "x"]);
            format!("bulk::{how}({address}, {window}){};", said(random, Of::Other))
        }
        7 => {
            let bytes = mostly(random, &["256"], &["0", "8", "n", "-16", "1 << 40"]);
            format!("bulk::prefetch({address}, {bytes}){};", said(random, Of::Other))
        }
        _ => format!("turn.{}();", mostly(random, &["sync", "arrive"], &["wait", "expect"])),
    }
}

fn inner(random: &mut Random, depth: usize) -> String {
    (0..=random.below(2)).map(|_| statement(random, depth - 1)).collect()
}
