//! Products of pairs of blocks as people write them for Blackwell: each block brings its rows of A and its half of
//! the columns of B, and the blocks take their tiles in turns or fill a ring.

use kernel_testkit::data::Random;

use crate::operand::{ALONE, Extents, Operand, Ways};
use crate::product::{Head, Outlet, Product};
use crate::tcgen05::{ADVANCE, BY_MAP, TYPES};

/// What the sums begin with.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// The first product overwrites them.
    Overwritten,
    /// It adds to what the threads of both blocks have stored.
    Stored,
}

/// Products of pairs.
struct Pairs {
    product: Product,
    /// The type of A in tensor memory.
    held: Option<&'static str>,
    start: Start,
    /// The layout of the sums, of 128 rows, is pinned.
    pinned: bool,
    /// Whether a product takes place: the even block's condition counts.
    when: Option<String>,
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("pairs {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtypes, sums, bytes, either) =
        TYPES[usize::try_from(below(TYPES.len() as u64)).expect("a short table")];
    let ring = below(2) == 0;
    let warps = 4 << below(2);
    let cluster = if below(4) == 0 { 4 } else { 2 };
    let rows = 64 << below(2);
    let columns = 32 << below(3);
    let depth = (32 << below(2)) / bytes;
    // Rows of tensors are multiples of 16 bytes, for maps.
    let unit = 16 / bytes;
    let mut less = |extent: u64| extent.saturating_sub(unit * below(3)).max(unit);
    let whole = [less(rows * cluster), less(columns * (1 + seed % 2)), less(depth * 2)];
    let extents = Extents { tile: [rows, columns, depth], whole, bytes, at: ALONE };
    let of_right = Extents { tile: [rows, columns / 2, depth], at: ["m", "half", "k"], ..extents };
    let ways = if ring { BY_MAP } else { Ways::ALL };
    let depth_first = either && below(3) == 0;
    let lies = if depth_first { ([2, 0], true) } else { ([0, 2], false) };
    let left = Operand::of(["a", dtypes[0]], &extents, lies, ways, &mut below);
    let depth_first = either && below(5) < 2;
    let lies = if depth_first { ([2, 1], false) } else { ([1, 2], true) };
    let right = Operand::of(["b", dtypes[1]], &of_right, lies, ways, &mut below);
    let start = if !ring && below(2) == 0 { Start::Stored } else { Start::Overwritten };
    let pinned = rows == 128 && below(3) == 0;
    let when = match below(6) {
        0 => Some("k >= 0".to_owned()),
        // The second does not.
        1 => Some(format!("k != {depth}")),
        _ => None,
    };
    // Of 64 rows in each block, A would be needed twice.
    let holds = !ring && rows == 128 && !left.transposed && below(3) == 0;
    let held = holds.then_some(dtypes[0]);
    let product = Product { extents, sums, left, right };
    let made = Pairs { product, held, start, pinned, when };
    let out = made.product.out(below(4));
    let body = if ring { made.ring(&out) } else { made.one(&out) };
    let (run, target, name) = ("eval, emulate", "sm_100a", "pairs");
    let head = Head { run, target, name, warps, cluster, more: Default::default() };
    made.product.file(seed, &head, &out, &body)
}

impl Pairs {
    /// What both partitions and all blocks need to know, and allocations.
    fn memory(&self) -> String {
        let Product { extents: Extents { tile: [rows, columns, depth], .. }, sums, .. } =
            &self.product;
        let held = self.held.map_or(String::new(), |dtype| {
            format!("let held = tmem::<{dtype}>([{rows}, {depth}]);\n")
        });
        let stride = if *sums == "f16" { 2 } else { 1 };
        let layout = if self.pinned {
            format!(".with_layout(tmem_block([128, {columns}], {stride}))")
        } else {
            String::new()
        };
        format!(
            "let rank = cluster::rank();\nlet both = 0b11 << (rank & !1);\n\
             let half = n + (rank & 1) * {};\n\
             let sums = tmem::<{sums}>([{rows}, {columns}]){layout};\n{held}",
            columns / 2
        )
    }

    fn first(&self) -> String {
        let two = match self.product.sums {
            "f16" => "f16::of(2.0)",
            "i32" => "2",
            _ => "2.0",
        };
        let [rows, columns, _] = self.product.extents.tile;
        match self.start {
            Start::Overwritten => String::new(),
            Start::Stored => format!("sums.store(full([{rows}, {columns}], {two}));\n"),
        }
    }

    /// Starts the product of both tiles.
    fn multiply(&self, slot: &str) -> String {
        let Product { left, right, .. } = &self.product;
        let adds = match self.start {
            Start::Overwritten => ".accumulate(k > 0)",
            Start::Stored => "",
        };
        let when = self.when.as_ref().map_or(String::new(), |when| format!(".when({when})"));
        let left = self.held.map_or_else(|| left.factor(slot), |_| "held".to_owned());
        format!("tcgen05::mma_pair({left}, {}, sums){adds}{when};\n", right.factor(slot))
    }

    fn turns(&self) -> String {
        let Extents { tile: [.., depth], whole: [.., all], .. } = self.product.extents;
        format!("for k in range(0, {all}, {depth}) {{\n")
    }

    /// All warps do everything, and the blocks meet in front of every product.
    fn one(&self, out: &Outlet) -> String {
        let [bar, announce, wait] = self.product.arrivals();
        let bring = self.held.map_or(String::new(), |_| {
            format!("sync();\nheld.store({});\n", self.product.left.loaded(""))
        });
        format!(
            "{}{}{bar}let done = barrier(1);\nlet mut turn = 0;\n{}{}{announce}{}{wait}{bring}\
             cluster::sync();\n{}tcgen05::commit(done).multicast(both);\ndone.wait(turn);\n\
             turn ^= 1;\n}}\nlet acc = sums.load();\n{}",
            self.memory(),
            self.product.shared(None),
            self.first(),
            self.turns(),
            self.product.loads("", "bar"),
            self.multiply(""),
            out.statements
        )
    }

    /// Both blocks fill a ring, whose bytes the barriers of the even one count.
    fn ring(&self, out: &Outlet) -> String {
        let turns = self.turns();
        let multiply = self.multiply("[slot]");
        format!(
            "{}{}let (filled, empty) = (barriers(2, 1), barriers(2, 1));\nlet done = barrier(1);\n\
             let load = || {{\nlet (mut slot, mut phase) = (0, 1);\n{turns}empty[slot].wait(phase);\n\
             if rank & 1 == 0 {{\nfilled[slot].expect({});\n}}\n\
             let full = filled[slot].of_block(rank & !1);\n{}{ADVANCE}}};\n\
             let multiply = || {{\nif rank & 1 == 0 {{\nlet (mut slot, mut phase) = (0, 0);\n\
             {turns}filled[slot].wait(phase);\n{multiply}\
             tcgen05::commit(empty[slot]).multicast(both);\n{ADVANCE}\
             tcgen05::commit(done).multicast(both);\n}}\n}};\n\
             let store = || {{\ndone.wait(0);\nlet acc = sums.load();\n{}}};\n\
             warp_specialize(store, [partition(1).run(load), partition(1).run(multiply)]);\n",
            self.memory(),
            self.product.shared(Some(2)),
            2 * self.product.expected(),
            self.product.loads("[slot]", "full"),
            out.statements
        )
    }
}
