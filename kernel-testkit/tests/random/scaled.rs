//! Block-scaled products as people write them for Blackwell: MXFP8, MXFP6, FP4 with either block, scales copied to tensor memory or stored
//! there, by all warps or by partitions; and by pairs of blocks.

use kernel_testkit::data::Random;

use crate::operand::{ALONE, Extents, Operand, Ways};
use crate::product::{Head, Outlet, Product};
use crate::tcgen05::{ADVANCE, BY_MAP};

/// Element types of A and B, that of the scales, elements of an operand that have a scale, and what scales there are. Sums are exact
/// whatever their order.
const FORMATS: [([&str; 2], &str, u64, &str); 10] = [
    (["e4m3", "e4m3"], "ue8m0", 32, POWERS),
    (["e4m3", "e5m2"], "ue8m0", 32, POWERS),
    (["e5m2", "e4m3"], "ue8m0", 32, POWERS),
    (["e5m2", "e5m2"], "ue8m0", 32, POWERS),
    (["e2m3x16", "e2m3x16"], "ue8m0", 2, POWERS),
    (["e2m3x16", "e3m2x16"], "ue8m0", 2, POWERS),
    (["e3m2x16", "e3m2x16"], "ue8m0", 2, POWERS),
    (["e2m1x2", "e2m1x2"], "ue8m0", 16, POWERS),
    (["e2m1x2", "e2m1x2"], "ue8m0", 8, POWERS),
    (["e2m1x2", "e2m1x2"], "e4m3", 8, "1, 0.5, 1.5, 2"),
];
/// Powers of two around 1.
const POWERS: &str = "127, 128, 126, 127";
/// Pairs of FP4 numbers, of either sign.
const FP4: &str = "33, 250, 7, 0, 129, 84, 99";

/// Sixteen FP6 numbers each, of either sign and at most 3.5, so that sums are exact.
const FP6: &str = "0x820a_6e4a_b433_02c3_60a8_8bc0, 0xb8ca_4946_caf2_40fc_9127_300f, 0xbf12_e9b8_8c8c_c2dc_282d_344b";

/// How one operand's scales come to tensor memory.
#[derive(Clone, Copy, PartialEq)]
enum Bring {
    /// The tensor cores copy them from shared memory.
    Copied,
    /// The threads store them.
    Stored,
}

/// A product whose operands have scales.
struct Scaled {
    product: Product,
    /// The type of the scales.
    dtype: &'static str,
    /// Elements of an operand that have a scale.
    block: u64,
    /// The type of A in tensor memory.
    held: Option<&'static str>,
    /// Those of A and of B.
    bring: [Bring; 2],
    /// Whether two blocks multiply together.
    pair: bool,
    /// The rows and columns of an instruction, where they are pinned.
    pinned: Option<[u64; 2]>,
    /// The sums begin with what the threads store.
    adds_to: bool,
    when: Option<String>,
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("scaled {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtypes, dtype, block, scales) =
        FORMATS[usize::try_from(below(FORMATS.len() as u64)).expect("a short table")];
    let is_float6 = dtypes[0].ends_with("x16");
    let is_float8 = dtypes[0] != "e2m1x2" && !is_float6;
    // In a ring both operands' scales are copied, those of 128 rows or more.
    let ring = below(4) == 0;
    let rows = if ring { 128 } else { 128 << below(2) };
    let columns = if ring { 128 } else { 16 << below(if rows == 256 { 3 } else { 5 }) };
    let depth = block * (4 << below(if rows * columns > 128 * 64 { 1 } else { 2 }));
    let warps = 4 << below(if ring { 1 } else { 2 });
    let unit = 16;
    let pair = seed.is_multiple_of(3) && !ring && rows == 128 && columns >= 32;
    let cluster = if pair { 2 } else { 1 };
    let mut less = |extent: u64| extent.saturating_sub(unit * below(3)).max(unit);
    let several = if columns < 64 { 1 + seed % 2 } else { 1 };
    let whole = [less(rows * cluster), less(columns * several), less(depth * 2)];
    let bytes = if is_float6 { 12 } else { 1 };
    let extents = Extents { tile: [rows, columns, depth], whole, bytes, at: ALONE };
    let of_right = if pair {
        Extents { tile: [rows, columns / 2, depth], at: ["m", "half", "k"], ..extents }
    } else {
        extents
    };
    let ways = match (ring, is_float6) {
        (true, _) => BY_MAP,
        // No register holds what threads would move.
        (false, true) => Ways::BY_BARRIER,
        (false, false) => Ways::ALL,
    };
    let depth_first = is_float8 && below(3) == 0;
    let lies = if depth_first { ([2, 0], true) } else { ([0, 2], false) };
    let left = Operand::of(["a", dtypes[0]], &extents, lies, ways, &mut below);
    let depth_first = is_float8 && below(3) == 0;
    let lies = if depth_first { ([2, 1], false) } else { ([1, 2], true) };
    let right = Operand::of(["b", dtypes[1]], &of_right, lies, ways, &mut below);
    let [left, right] = [left, right].map(|mut operand| {
        if !is_float8 {
            operand.numbers = if is_float6 { FP6 } else { FP4 };
        }
        operand
    });
    let bring = [rows, columns].map(|extent| {
        let copied = ring || extent >= 128 && below(2) == 0;
        if copied { Bring::Copied } else { Bring::Stored }
    });
    // The scales of 32 columns share a column of tensor memory.
    let pinned = (below(3) == 0).then(|| [128, (columns >> below(2)).max(columns.min(32))]);
    // One instruction multiplies all columns of a pair.
    let pinned = pinned.map(|block| if pair { [128, columns] } else { block });
    let when = match below(6) {
        0 => Some("k >= 0".to_owned()),
        // The second does not.
        1 => Some(format!("k != {depth}")),
        _ => None,
    };
    let held = (!ring && !left.transposed && !is_float6 && below(3) == 0).then_some(dtypes[0]);
    let product = Product { extents, sums: "f32", left, right };
    let adds_to = !ring && below(3) == 0;
    let made = Scaled { product, dtype, block, held, bring, pair, pinned, adds_to, when };
    let out = made.product.out(below(4));
    let body = if ring { made.ring(&out) } else { made.one(&out) };
    let of_depth = whole[2].div_ceil(block);
    // The two sides' lists repeat after other numbers of scales.
    let arguments = [("p", whole[0], "127, 126"), ("q", whole[1], "128, 127, 126, 126")].map(
        |(name, extent, more)| {
            let more = if dtype == "ue8m0" { more } else { "1.5, 1, 2" };
            format!("//@ arg {name}: {dtype}[{extent}, {of_depth}] list({scales}, {more})\n")
        },
    );
    let parameters = ["p", "q"].map(|name| format!("{name}: Tensor<{dtype}, 2>, "));
    let more = [arguments.concat(), parameters.concat()];
    let (run, target, name) = ("eval, emulate", "sm_100a", "scaled");
    made.product.file(seed, &Head { run, target, name, warps, cluster, more }, &out, &body)
}

impl Scaled {
    /// The scales of a tile along the depth.
    fn scales(&self) -> u64 {
        self.product.extents.tile[2] / self.block
    }

    /// The names of both sides' scales, where their tiles begin, and their rows.
    fn sides(&self) -> [(&'static str, &'static str, u64, Bring); 2] {
        let [rows, columns, _] = self.product.extents.tile;
        [("p", "m", rows, self.bring[0]), ("q", "n", columns, self.bring[1])]
    }

    /// Allocations, `stages` of what a ring has, and what the sums begin with.
    fn memory(&self, stages: Option<u64>) -> String {
        let [rows, columns, depth] = self.product.extents.tile;
        let layout = self
            .pinned
            .map_or(String::new(), |block| format!(".with_layout(tmem_block({block:?}, 1))"));
        let mut text = vec![self.product.shared(stages)];
        let slots = stages.map_or(String::new(), |stages| format!("{stages}, "));
        let (dtype, scales) = (self.dtype, self.scales());
        for (name, _, extent, bring) in self.sides() {
            text.push(format!("let {name}_held = tmem::<{dtype}>([{extent}, {scales}]);\n"));
            if bring == Bring::Copied {
                text.push(format!(
                    "let s{name} = shared::<{dtype}>([{slots}{extent}, {scales}]);\n"
                ));
            }
        }
        text.push(format!("let sums = tmem::<f32>([{rows}, {columns}]){layout};\n"));
        if let Some(dtype) = self.held {
            text.push(format!("let held = tmem::<{dtype}>([{rows}, {depth}]);\n"));
        }
        if self.adds_to {
            text.push(format!("sums.store(full([{rows}, {columns}], 2.0));\n"));
        }
        text.concat()
    }

    /// Brings the scales to shared memory, or to tensor memory.
    fn loads(&self, slot: &str) -> String {
        let (scales, block) = (self.scales(), self.block);
        let side = |(name, at, extent, bring)| {
            let to = match bring {
                Bring::Copied => format!("s{name}{slot}"),
                Bring::Stored => format!("{name}_held"),
            };
            format!("{to}.store({name}.tile([{at}, k / {block}], [{extent}, {scales}]).load());\n")
        };
        self.sides().map(side).concat()
    }

    /// Starts copies of scales, and the product.
    fn multiply(&self, slot: &str) -> String {
        let Product { left, right, .. } = &self.product;
        let copies: Vec<String> = self
            .sides()
            .into_iter()
            .filter(|(.., bring)| *bring == Bring::Copied)
            .map(|(name, ..)| format!("tcgen05::copy(s{name}{slot}, {name}_held);\n"))
            .collect();
        let (held, left) = match self.held {
            // The other block has to know of it.
            Some(_) if self.pair => (String::new(), "held".to_owned()),
            Some(_) => (format!("held.store({});\n", left.loaded(slot)), "held".to_owned()),
            None => (String::new(), left.factor(slot)),
        };
        let product = if self.pair { "mma_scaled_pair" } else { "mma_scaled" };
        let adds = if self.adds_to { "" } else { ".accumulate(k > 0)" };
        let when = self.when.as_ref().map_or(String::new(), |when| format!(".when({when})"));
        format!(
            "{}{held}tcgen05::{product}({left}, {}, sums, p_held, q_held){adds}{when};\n",
            copies.concat(),
            right.factor(slot)
        )
    }

    fn turns(&self) -> String {
        let Extents { tile: [.., depth], whole: [.., all], .. } = self.product.extents;
        format!("for k in range(0, {all}, {depth}) {{\n")
    }

    /// All warps do everything.
    fn one(&self, out: &Outlet) -> String {
        let [bar, announce, wait] = self.product.arrivals();
        let (first, meet, to) = if self.pair {
            let bring = self.held.map_or(String::new(), |_| {
                format!("sync();\nheld.store({});\n", self.product.left.loaded(""))
            });
            let half = self.product.extents.tile[1] / 2;
            (
                format!("let half = n + (cluster::rank() & 1) * {half};\n"),
                format!("{bring}cluster::sync();\n"),
                ".multicast(0b11)",
            )
        } else {
            (String::new(), "sync();\n".to_owned(), "")
        };
        format!(
            "{first}{}{bar}let done = barrier(1);\nlet mut turn = 0;\n{}{announce}{}{}{wait}{meet}{}\
             tcgen05::commit(done){to};\ndone.wait(turn);\nturn ^= 1;\n}}\nlet acc = sums.load();\n{}",
            self.memory(None),
            self.turns(),
            self.product.loads("", "bar"),
            self.loads(""),
            self.multiply(""),
            out.statements
        )
    }

    /// Four warps fill a ring, one starts copies and products, four others store.
    fn ring(&self, out: &Outlet) -> String {
        let turns = self.turns();
        format!(
            "{}let (filled, empty) = (barriers(2, 2), barriers(2, 1));\nlet done = barrier(1);\n\
             let load = || {{\nlet (mut slot, mut phase) = (0, 1);\n{turns}empty[slot].wait(phase);\n\
             filled[slot].expect({});\n{}{}fence_async();\nfilled[slot].arrive();\n{ADVANCE}}};\n\
             let multiply = || {{\nlet (mut slot, mut phase) = (0, 0);\n\
             {turns}filled[slot].wait(phase);\n{}tcgen05::commit(empty[slot]);\n{ADVANCE}\
             tcgen05::commit(done);\n}};\n\
             let store = || {{\ndone.wait(0);\nlet acc = sums.load();\n{}}};\n\
             warp_specialize(store, [partition(1).run(multiply), partition(4).run(load)]);\n",
            self.memory(Some(2)),
            self.product.expected(),
            self.product.loads("[slot]", "filled[slot]"),
            self.loads("[slot]"),
            self.multiply("[slot]"),
            out.statements
        )
    }
}
