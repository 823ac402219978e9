//! Matrix products as people write them for Hopper: multiplied by warpgroups, with or without partitions.

use kernel_testkit::data::Random;

use crate::operand::{ALONE, Extents, Operand, Ways};
use crate::product::{Head, Outlet, Product};

/// An element type of the operands, that of the sums, bytes of an element, whether an operand may lie with its depth outermost.
const TYPES: [(&str, &str, u64, bool); 7] = [
    ("f16", "f32", 2, true),
    ("f16", "f16", 2, true),
    ("bf16", "f32", 2, true),
    ("bf16", "f32", 2, true),
    ("f32", "f32", 4, false),
    ("i8", "i32", 1, false),
    ("u8", "i32", 1, false),
];

/// A product by warpgroups.
struct Wgmma {
    product: Product,
    left_in_registers: bool,
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("hopper {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtype, sums, bytes, either) =
        TYPES[usize::try_from(below(TYPES.len() as u64)).expect("a short table")];
    let specialized = below(2) == 0;
    let warps = 4 << below(2);
    let rows = 64 << below(2);
    let columns = (8 << below(5)) * if warps == 8 && rows == 64 { 2 } else { 1 };
    let depth = (32 << below(if rows * columns > 64 * 128 { 2 } else { 3 })) / bytes;
    // Rows of tensors are multiples of 16 bytes, for maps.
    let unit = 16 / bytes;
    let mut extent = |tile: u64| {
        let whole = tile * (1 + below(2));
        whole.saturating_sub(unit * below(3)).max(unit)
    };
    let whole = [extent(rows), extent(columns), extent(depth) + depth * (seed % 2)];
    let extents = Extents { tile: [rows, columns, depth], whole, bytes, at: ALONE };
    let ways = if specialized { Ways::BY_BARRIER } else { Ways::ALL };
    let depth_first = either && seed.is_multiple_of(3);
    let lies = if depth_first { ([2, 0], true) } else { ([0, 2], false) };
    let left = Operand::of(["a", dtype], &extents, lies, ways, &mut below);
    let depth_first = either && seed % 5 < 2 && columns * bytes >= 16;
    let lies = if depth_first { ([2, 1], false) } else { ([1, 2], true) };
    let right = Operand::of(["b", dtype], &extents, lies, ways, &mut below);
    let left_in_registers = !left.transposed && below(4) == 0;
    let wgmma = Wgmma { product: Product { extents, sums, left, right }, left_in_registers };
    let out = wgmma.product.out(below(4));
    let body = if specialized { wgmma.specialized(&out) } else { wgmma.plain(&out) };
    let head = Head {
        run: "eval, emulate, gpu",
        target: "sm_90a",
        name: "hopper",
        warps,
        cluster: 1,
        more: Default::default(),
    };
    wgmma.product.file(seed, &head, &out, &body)
}

impl Wgmma {
    fn zeros(&self) -> String {
        let [rows, columns, _] = self.product.extents.tile;
        format!("let mut acc = zeros::<{}>([{rows}, {columns}]);\n", self.product.sums)
    }

    /// The product of both tiles.
    fn multiply(&self, slot: &str) -> String {
        let Product { left, right, .. } = &self.product;
        let left = if self.left_in_registers { left.loaded(slot) } else { left.factor(slot) };
        format!(
            "acc = wgmma::mma({left}, {}, acc);\nacc = wgmma::wait(0, acc);\n",
            right.factor(slot)
        )
    }

    /// All warps do everything.
    fn plain(&self, out: &Outlet) -> String {
        let Product { extents, .. } = &self.product;
        let [bar, announce, wait] = self.product.arrivals();
        format!(
            "{}{bar}{}for k in range(0, {}, {}) {{\n{announce}{}{wait}sync();\n{}sync();\n}}\n{}",
            self.product.shared(None),
            self.zeros(),
            extents.whole[2],
            extents.tile[2],
            self.product.loads("", "bar"),
            self.multiply(""),
            out.statements
        )
    }

    /// One warp loads into a ring, the others multiply.
    fn specialized(&self, out: &Outlet) -> String {
        let Product { extents, .. } = &self.product;
        let [rows, columns, depth] = extents.tile;
        let stages = if (rows + columns) * depth > 16_384 { 1 } else { 2 };
        let turns = format!("for k in range(0, {}, {depth}) {{\n", extents.whole[2]);
        let advance =
            format!("slot += 1;\nif slot == {stages} {{\nslot = 0;\nphase ^= 1;\n}}\n}}\n");
        format!(
            "{}let (filled, empty) = (barriers({stages}, 1), barriers({stages}, 1));\n\
             let load = || {{\nlet (mut slot, mut phase) = (0, 1);\n{turns}empty[slot].wait(phase);\n\
             filled[slot].expect({});\n{}{advance}}};\n\
             let multiply = || {{\n{}let (mut slot, mut phase) = (0, 0);\n{turns}filled[slot].wait(phase);\n\
             {}empty[slot].arrive();\n{advance}{}}};\n\
             warp_specialize(multiply, [partition(1).run(load)]);\n",
            self.product.shared(Some(stages)),
            self.product.expected(),
            self.product.loads("[slot]", "filled[slot]"),
            self.zeros(),
            self.multiply("[slot]"),
            out.statements
        )
    }
}
