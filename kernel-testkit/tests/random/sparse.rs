//! Products of which half of the left operand is kept, by warps, by warpgroups and in tensor memory: every type, operands and metadata from shared memory or
//! registers, one step or several, whole matrices and rows past their end.

use kernel_testkit::data::Random;

/// A type, that of the sums, the target, and the least columns.
const TYPES: [(&str, &str, &str, u64); 9] = [
    ("f16", "f32", "sm_80", 16),
    ("f16", "f16", "sm_80", 16),
    ("bf16", "f32", "sm_80", 16),
    ("i8", "i32", "sm_80", 32),
    ("u8", "i32", "sm_80", 32),
    ("e4m3", "f32", "sm_89", 64),
    ("e5m2", "f32", "sm_90a", 64),
    ("f32", "f32", "sm_80", 8),
    ("f16", "f32", "sm_90a", 16),
];

/// The four bits of each choice of two of four elements, and of one of two.
const PAIRS: [u64; 6] = [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110];
const HALVES: [u64; 2] = [0b0100, 0b1110];

/// A type, that of the right operand, and that of the sums of products by warpgroups.
const GROUP_TYPES: [(&str, &str, &str); 10] = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("f32", "f32", "f32"),
    ("i8", "i8", "i32"),
    ("i8", "u8", "i32"),
    ("u8", "i8", "i32"),
    ("e4m3", "e4m3", "f32"),
    ("e4m3", "e5m2", "f16"),
    ("e5m2", "e4m3", "f32"),
];

/// Words of metadata, an odd number of them.
fn described(below: &mut impl FnMut(u64) -> u64, choices: &[u64]) -> String {
    let words: Vec<String> = (0..23 + 2 * below(8))
        .map(|_| {
            let group = |_| choices[usize::try_from(below(choices.len() as u64)).expect("few")];
            (0..4).map(group).fold(0, |word, bits| word << 4 | bits).to_string()
        })
        .collect();
    words.join(", ")
}

/// A product by warpgroups: either index of halves contiguous, what is kept in registers or in shared memory, rows past the end.
fn by_groups(seed: u64, mut random: Random) -> String {
    let mut below = |end: u64| random.bits() % end;
    let (left, right, sums) =
        GROUP_TYPES[usize::try_from(below(GROUP_TYPES.len() as u64)).expect("a short table")];
    let bytes = match left {
        "f32" => 4,
        "f16" | "bf16" => 2,
        _ => 1,
    };
    let (columns, choices) = if bytes == 4 { (8, &HALVES[..]) } else { (16, &PAIRS[..]) };
    let groups = 1 << below(3);
    let (m, n) = (64 << below(3), (8 * groups) << below(3));
    let (k, steps) = ((64 / bytes) << below(2), 1 + below(2));
    let rows = m * (1 + below(2)) - below(3);
    let width = n * (1 + below(2)) - below(5);
    let depth = k * steps;
    let words = described(&mut below, choices);
    let numbers = |dtype: &str| match dtype {
        "u8" => "1, 2, 0, 3, 1, 2, 0",
        _ => "1, -2, 0, 3, -1, 2, 1",
    };
    // Only halves may be contiguous along the rows or columns.
    let along_k = bytes != 2 || below(2) == 0;
    let [shape, at, tile, turn] = if along_k {
        [format!("{width}, {depth}"), "n, k".to_owned(), format!("{n}, {k}"), ".t()".to_owned()]
    } else {
        [format!("{depth}, {width}"), "k, n".to_owned(), format!("{k}, {n}"), String::new()]
    };
    let half = k / 2;
    let (memory, kept) = match below(3) {
        0 => (String::new(), "w"),
        1 if bytes == 2 => (format!("let sw = shared::<{left}>([{half}, {m}]);\n"), "sw.t()"),
        _ => (format!("let sw = shared::<{left}>([{m}, {half}]);\n"), "sw"),
    };
    let store = match kept {
        "w" => "",
        "sw" => "sw.store(w);\n",
        _ => "sw.store(w.t());\n",
    };
    format!(
        "//! Made at random.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: {left}[{rows}, {of_row}] list({of_left}, 2, 1, 0, 3)
//@ arg b: {right}[{shape}] list({of_right}, 3, 2, 3, 1, 2, 0)
//@ arg p: u16[{rows}, {of_metadata}] list({words})
//@ arg c: {sums}[{rows}, {width}] list(1, 2, 3, 5, 4)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = {warps}, grid = [{down}, {across}])]
pub fn sparse_{seed}(a: Tensor<{left}, 2>, b: Tensor<{right}, 2>, p: Tensor<u16, 2>, c: TensorMut<{sums}, 2>) {{
let (m, n) = (block_id(0) * {m}, block_id(1) * {n});
{memory}let sx = shared::<{right}>([{tile}]);
let mut acc = c.tile([m, n], [{m}, {n}]).load();
for k in range(0, {depth}, {k}) {{
let w = a.tile([m, k / 2], [{m}, {half}]).load();
sx.store(b.tile([{at}], [{tile}]).load());
let t = p.tile([m, k / {columns}], [{m}, {part}]).load();
let t = select(t.eq(0), 0x4444, t);
{store}fence_async();
sync();
acc = wgmma::wait(0, wgmma::mma_sparse({kept}, t, sx{turn}, acc));
sync();
}}
c.tile([m, n], [{m}, {n}]).store(acc);
}}
",
        of_row = depth / 2,
        of_metadata = depth / columns,
        of_left = numbers(left),
        of_right = numbers(right),
        warps = 4 * groups,
        down = rows.div_ceil(m),
        across = width.div_ceil(n),
        part = k / columns,
    )
}

/// A product in tensor memory, of one block or of a pair: either index of operands contiguous, what is kept and its metadata stored or copied,
/// rows and columns past the end.
pub(crate) fn in_tensor_memory(seed: u64) -> String {
    let mut random = Random::of(&format!("sparse in tensor memory {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (left, right, sums) =
        GROUP_TYPES[usize::try_from(below(GROUP_TYPES.len() as u64)).expect("a short table")];
    let bytes = match left {
        "f32" => 4,
        "f16" | "bf16" => 2,
        _ => 1,
    };
    let (columns, choices) = if bytes == 4 { (8, &HALVES[..]) } else { (16, &PAIRS[..]) };
    let pair = below(3) == 0;
    let blocks = if pair { 2 } else { 1 };
    let m = if pair { 128 } else { 128 << below(2) };
    // With more columns, words of 32 bits leave shared memory no room to exchange the sums of a pair.
    let widths = if m == 256 { 2 } else { 4 - u64::from(pair && bytes == 4) };
    let n = (if pair { 32 } else { 16 }) << below(widths);
    let (k, steps) = ((4 * columns) << below(3), 1 + below(3));
    let rows = m * blocks * (1 + below(2)) - below(3);
    let (width, depth) = (n - below(5), k * steps);
    let words = described(&mut below, choices);
    let numbers = |dtype: &str| match dtype {
        "u8" => "1, 2, 0, 3, 1, 2, 0",
        _ => "1, -2, 0, 3, -1, 2, 1",
    };
    // Words of 32 bits are contiguous along k.
    let along_k = [bytes == 4 || below(2) == 0, bytes == 4 || below(2) == 0];
    let (half, part, own) = (k / 2, k / columns, n / blocks);
    let [shape, at, tile, turn] = if along_k[1] {
        [format!("{width}, {depth}"), "n, k".to_owned(), format!("{own}, {k}"), ".t()".to_owned()]
    } else {
        [format!("{depth}, {width}"), "k, n".to_owned(), format!("{k}, {own}"), String::new()]
    };
    let (memory, kept, store) = match below(3) {
        0 => (format!("let sw = tmem::<{left}>([{m}, {half}]);\n"), "sw", "sw.store(w);\n"),
        1 if !along_k[0] => {
            (format!("let sw = shared::<{left}>([{half}, {m}]);\n"), "sw.t()", "sw.store(w.t());\n")
        }
        _ => (format!("let sw = shared::<{left}>([{m}, {half}]);\n"), "sw", "sw.store(w);\n"),
    };
    // A copy takes four columns of 32 bits at a time, of one block of rows.
    let copied = m == 128 && part >= 8 && below(2) == 0;
    let (described_in, bring) = if copied {
        (format!("let st = shared::<u16>([{m}, {part}]);\n"), "tcgen05::copy(st, held);\n")
    } else {
        (String::new(), "")
    };
    let keep = if copied { "st.store(t);\n" } else { "held.store(t);\n" };
    let (meet, name, to) = if pair {
        ("cluster::sync();\n", "mma_sparse_pair", ".multicast(0b11)")
    } else {
        ("sync();\n", "mma_sparse", "")
    };
    let adds = if below(2) == 0 { "" } else { ".accumulate(k >= 0)" };
    let first = if pair { format!("(cluster::rank() & 1) * {own}") } else { "0".to_owned() };
    format!(
        "//! Made at random.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: {left}[{rows}, {of_row}] list({of_left}, 2, 1, 0, 3)
//@ arg b: {right}[{shape}] list({of_right}, 3, 2, 3, 1, 2, 0)
//@ arg p: u16[{rows}, {of_metadata}] list({words})
//@ arg c: {sums}[{rows}, {width}] list(1, 2, 3, 5, 4)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = {warps}, cluster = {blocks}, grid = {down})]
pub fn sparse_{seed}(a: Tensor<{left}, 2>, b: Tensor<{right}, 2>, p: Tensor<u16, 2>, c: TensorMut<{sums}, 2>) {{
let (m, n) = (block_id(0) * {m}, {first});
{memory}{described_in}let sx = shared::<{right}>([{tile}]);
let held = tmem::<u16>([{m}, {part}]);
let acc = tmem::<{sums}>([{m}, {n}]);
let done = barrier(1);
let mut turn = 0;
acc.store(c.tile([m, 0], [{m}, {n}]).load());
for k in range(0, {depth}, {k}) {{
let w = a.tile([m, k / 2], [{m}, {half}]).load();
sx.store(b.tile([{at}], [{tile}]).load());
let t = p.tile([m, k / {columns}], [{m}, {part}]).load();
let t = select(t.eq(0), 0x4444, t);
{store}{keep}{meet}{bring}tcgen05::{name}({kept}, held, sx{turn}, acc){adds};
tcgen05::commit(done){to};
done.wait(turn);
turn ^= 1;
}}
c.tile([m, 0], [{m}, {n}]).store(acc.load());
}}
",
        of_row = depth / 2,
        of_metadata = depth / columns,
        of_left = numbers(left),
        of_right = numbers(right),
        warps = 4 << below(2),
        down = rows.div_ceil(m * blocks) * blocks,
    )
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("sparse by warpgroups {seed}"));
    if random.bits().is_multiple_of(3) {
        return by_groups(seed, random);
    }
    let mut random = Random::of(&format!("sparse {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtype, sums, target, least) =
        TYPES[usize::try_from(below(TYPES.len() as u64)).expect("a short table")];
    // Columns of an element of metadata.
    let columns = if dtype == "f32" { 8 } else { 16 };
    let (m, n, k) = (4 << below(5), 4 << below(5), least << below(3));
    let (steps, warps) = (1 + below(3), 1 << below(4));
    let rows = (m * (1 + below(2))).saturating_sub(below(3)).max(1);
    let width = (n * (1 + below(2))).saturating_sub(below(5)).max(1);
    let depth = k * steps;
    let words = described(&mut below, if dtype == "f32" { &HALVES[..] } else { &PAIRS[..] });
    let numbers = if dtype == "u8" { "1, 2, 0, 3, 1, 2, 0" } else { "1, -2, 0, 3, -1, 2, 1" };
    let name = if dtype == "f32" { "dot_sparse_tf32" } else { "dot_sparse" };
    let turned = below(2) == 0;
    let [shape, at, tile] = if turned {
        [format!("{width}, {depth}"), "n, k".to_owned(), format!("{n}, {k}")]
    } else {
        [format!("{depth}, {width}"), "k, n".to_owned(), format!("{k}, {n}")]
    };
    let (mut memory, mut stores) = (Vec::new(), Vec::new());
    let mut operand = |name: &str, dtype: &str, tile: &str, in_shared: bool| {
        if !in_shared {
            return name.to_owned();
        }
        memory.push(format!("let s{name} = shared::<{dtype}>([{tile}]);\n"));
        stores.push(format!("s{name}.store({name});\n"));
        format!("s{name}")
    };
    let left = operand("w", dtype, &format!("{m}, {}", k / 2), below(2) == 0);
    let right = operand("x", dtype, &tile, below(2) == 0);
    let metadata = operand("t", "u16", &format!("{m}, {}", k / columns), below(3) == 0);
    let right = if turned { format!("{right}.t()") } else { right };
    let (memory, stores) = (memory.concat(), stores.concat());
    let meets = if stores.is_empty() { "" } else { "sync();\n" };
    format!(
        "//! Made at random.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: {dtype}[{rows}, {kept}] list({numbers}, 2, 1, 0, 3)
//@ arg b: {dtype}[{shape}] list({numbers}, 3, 2, 3, 1, 2, 0)
//@ arg p: u16[{rows}, {described}] list({words})
//@ arg c: {sums}[{rows}, {width}] list(1, 2, 3, 5, 4)
use kiln::prelude::*;

#[kernel(target = {target}, warps = {warps}, grid = [{down}, {across}])]
pub fn sparse_{seed}(a: Tensor<{dtype}, 2>, b: Tensor<{dtype}, 2>, p: Tensor<u16, 2>, c: TensorMut<{sums}, 2>) {{
let (m, n) = (block_id(0) * {m}, block_id(1) * {n});
{memory}let mut acc = c.tile([m, n], [{m}, {n}]).load();
for k in range(0, {depth}, {k}) {{
let w = a.tile([m, k / 2], [{m}, {half}]).load();
let x = b.tile([{at}], [{tile}]).load();
let t = p.tile([m, k / {columns}], [{m}, {part}]).load();
let t = select(t.eq(0), 0x4444, t);
{stores}{meets}acc = {name}({left}, {right}, acc, {metadata});
{meets}}}
c.tile([m, n], [{m}, {n}]).store(acc);
}}
",
        kept = depth / 2,
        described = depth / columns,
        down = rows.div_ceil(m),
        across = width.div_ceil(n),
        half = k / 2,
        part = k / columns,
    )
}
