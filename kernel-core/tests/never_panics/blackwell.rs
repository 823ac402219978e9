//! Kernels made up from the words of Blackwell's tensor cores, of pairs of blocks and of cluster launch control.

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
const DTYPES: &[&str] = &["f16", "bf16", "f32", "i8", "e4m3", "f64", "u32", "bool"];
const PINS: &[&str] = &[
    ".with_layout(tmem_block([128, 64], 1))",
    ".with_layout(tmem_block([64, 32], 1))",
    ".with_layout(tmem_block([64, 16], 2))",
    ".with_layout(tmem_block([32, 64], 1))",
    ".with_layout(swizzle(128))",
];
const BARRIERS: &[&str] = &["bar", "bars[0]", "bars[slot]", "bar.of_block(1)", "bars", "bars[5]"];
const SUMS: &[&str] = &["acc", "accs[0]", "accs[slot]", "accs", "accs[2]", "left", "n"];
const LEFT: &[&str] = &["left", "left.t()", "ring[0]", "ring", "tall", "acc", "left.of_block(1)"];
const RIGHT: &[&str] = &["right", "right.t()", "left", "tall", "right.of_block(0)", "n"];
const CONDITIONS: &[&str] = &["more", "n > 0", "cluster::rank() == 0", "true", "false", "n", "acc"];
const MASKS: &[&str] = &["0b11", "1", "n", "0", "0b111", "1 << 20", "-1", "more"];

/// A kernel that multiplies in tensor memory, alone or in pairs.
pub(crate) fn kernel(random: &mut Random) -> String {
    let rows = mostly(random, &["128", "64"], EXTENTS);
    let depth = mostly(random, &["64", "32"], EXTENTS);
    let columns = mostly(random, &["64", "128"], EXTENTS);
    let half = mostly(random, &["32", "64", "64"], EXTENTS);
    let dtype = mostly(random, &["f16", "bf16", "f16", "e4m3"], DTYPES);
    let sum = mostly(random, &["f32"], DTYPES);
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

fn statement(random: &mut Random, products: &'static [&'static str], depth: usize) -> String {
    let bar = mostly(random, &["bar", "bars[slot]"], BARRIERS);
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
