//! Matrix products as people write them for Blackwell: sums in tensor memory, A there or in shared memory, in one
//! partition or several.

use kernel_testkit::data::Random;

use crate::operand::{ALONE, Extents, Operand, Ways};
use crate::product::{Head, Outlet, Product};

/// Element types of A and B, that of the sums, bytes of an element, whether an operand may lie with its depth outermost.
pub(crate) const TYPES: [([&str; 2], &str, u64, bool); 12] = [
    (["f16", "f16"], "f32", 2, true),
    (["f16", "f16"], "f16", 2, true),
    (["bf16", "bf16"], "f32", 2, true),
    (["f32", "f32"], "f32", 4, false),
    (["i8", "i8"], "i32", 1, true),
    (["u8", "u8"], "i32", 1, true),
    (["i8", "u8"], "i32", 1, true),
    (["u8", "i8"], "i32", 1, true),
    (["e4m3", "e4m3"], "f32", 1, true),
    (["e4m3", "e5m2"], "f32", 1, true),
    (["e5m2", "e4m3"], "f16", 1, true),
    (["e5m2", "e5m2"], "f16", 1, true),
];

/// Tensor maps of the kernel's parameters, which complete on barriers of other blocks too.
pub(crate) const BY_MAP: Ways = Ways(1);

/// How the work is divided.
#[derive(Clone, Copy)]
enum Parts {
    /// All warps do everything.
    One,
    /// One warp loads, the others start products and store.
    Two,
    /// One warp loads, another starts products, the others store.
    Three,
}

/// What the sums begin with.
#[derive(Clone, Copy)]
enum Start {
    /// The first product overwrites them.
    Overwritten,
    /// It adds to what the threads have stored.
    Stored,
    /// It adds in blocks of the first row of the grid, and overwrites in the others.
    StoredInSome,
    /// It adds to what the tensor cores have copied from shared memory.
    Copied,
}

/// Where the sums lie.
#[derive(Clone, Copy, PartialEq)]
enum Sums {
    /// In a tile of their own.
    Alone,
    /// In one of two tiles.
    OneOfTwo,
    /// In the left or the right half of a tile.
    Half(u64),
}

/// A product whose sums lie in tensor memory.
struct Tcgen05 {
    product: Product,
    dtype: &'static str,
    start: Start,
    left_in_tensor_memory: bool,
    /// The rows and columns of an instruction, where they are pinned.
    block: Option<[u64; 2]>,
    /// The layout of A in tensor memory is pinned with that of the sums.
    left_pinned: bool,
    lie: Sums,
    /// Whether a product takes place.
    when: Option<String>,
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("tcgen05 {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtypes, sums, bytes, either) =
        TYPES[usize::try_from(below(TYPES.len() as u64)).expect("a short table")];
    let parts = match seed % 3 {
        0 => Parts::One,
        1 => Parts::Two,
        _ => Parts::Three,
    };
    let warps = 4 << below(2);
    let rows = 64 << below(3);
    // An instruction of 128 rows has 16 columns, one of 64 rows 8.
    let least = if rows == 64 { 8 } else { 16 };
    let columns = least << below(if rows == 256 { 3 } else { 5 });
    let depth = (32 << below(if rows * columns > 64 * 128 { 2 } else { 3 })) / bytes;
    // Rows of tensors are multiples of 16 bytes, for maps.
    let unit = 16 / bytes;
    let mut extent = |tile: u64| {
        let whole = tile * (1 + below(2));
        whole.saturating_sub(unit * below(3)).max(unit)
    };
    let whole = [extent(rows), extent(columns), extent(depth) + depth * below(2)];
    let extents = Extents { tile: [rows, columns, depth], whole, bytes, at: ALONE };
    let ways = match parts {
        Parts::One => Ways::ALL,
        Parts::Two | Parts::Three => Ways::BY_BARRIER,
    };
    let depth_first = either && below(3) == 0;
    let lies = if depth_first { ([2, 0], true) } else { ([0, 2], false) };
    let left = Operand::of(["a", dtypes[0]], &extents, lies, ways, &mut below);
    // Bytes with their columns side by side come in 16 of those, and in rows of 16 bytes.
    let depth_first = either && below(5) < 2 && columns >= 16;
    let lies = if depth_first { ([2, 1], false) } else { ([1, 2], true) };
    let right = Operand::of(["b", dtypes[1]], &extents, lies, ways, &mut below);
    let by_one_warp = matches!(parts, Parts::Three);
    let left_in_tensor_memory = !left.transposed && bytes > 1 && !by_one_warp && below(3) == 0;
    let start = match below(4) {
        1 if !by_one_warp => Start::Stored,
        2 if !by_one_warp => Start::StoredInSome,
        3 if !by_one_warp && rows >= 128 && rows * columns <= 128 * 64 && sums != "f16" => {
            Start::Copied
        }
        _ => Start::Overwritten,
    };
    let block = (below(3) == 0).then(|| {
        // Copies bring sums to blocks of 128 rows.
        let halved = if matches!(start, Start::Copied) { 1 } else { below(2) };
        let block_rows = if rows == 64 { 64 } else { 64 << halved };
        // Sums of 64 rows in blocks side by side lie in other rows than A.
        let halved = if left_in_tensor_memory && rows == 64 { 0 } else { below(2) };
        let least = if block_rows == 64 && (bytes > 1 || right.transposed) { 8 } else { 16 };
        [block_rows, (columns >> halved).max(columns.min(least))]
    });
    // The layout of A follows that of the sums, where it would not be the same by itself.
    let left_pinned =
        block.is_some_and(|[block_rows, _]| block_rows != rows.min(128)) || below(2) == 0;
    // The second of two blocks of 64 rows side by side lies in other rows than A.
    let in_other_rows = left_in_tensor_memory && rows == 64 && block.is_some();
    // Both tiles, and A, are at most 512 columns.
    let lie = match below(6) {
        0 if rows < 256 && columns <= 128 => Sums::OneOfTwo,
        1 if rows < 256 && columns <= 128 => Sums::Half(if in_other_rows { 0 } else { below(2) }),
        _ => Sums::Alone,
    };
    let when = match below(6) {
        0 => Some("k >= 0".to_owned()),
        // The second does not.
        1 => Some(format!("k != {depth}")),
        _ => None,
    };
    let product = Product { extents, sums, left, right };
    let dtype = dtypes[0];
    let made =
        Tcgen05 { product, dtype, start, left_in_tensor_memory, block, left_pinned, lie, when };
    let out = made.product.out(below(4));
    let body = match parts {
        Parts::One => made.one(&out),
        Parts::Two => made.two(&out),
        Parts::Three => made.three(&out),
    };
    let more = made.first_sums();
    let (run, target, name) = ("eval, emulate", "sm_100a", "tcgen05");
    made.product.file(seed, &Head { run, target, name, warps, cluster: 1, more }, &out, &body)
}

impl Tcgen05 {
    /// A pinned layout, whose elements lie so many of their own size apart.
    fn layout(&self, block: [u64; 2], stride: u64) -> String {
        match self.block {
            Some(_) => format!(".with_layout(tmem_block({block:?}, {stride}))"),
            None => String::new(),
        }
    }

    /// Allocations, and what the sums begin with.
    fn memory(&self) -> String {
        let Product { extents: Extents { tile: [rows, columns, depth], .. }, sums, .. } =
            &self.product;
        let block = self.block.unwrap_or_default();
        let stride = if *sums == "f16" { 2 } else { 1 };
        let layout = self.layout(block, stride);
        let sums = match self.lie {
            Sums::Alone => format!("let sums = tmem::<{sums}>([{rows}, {columns}]){layout};\n"),
            Sums::OneOfTwo => format!(
                "let both = tmem::<{sums}>([2, {rows}, {columns}]){layout};\nlet sums = both[(block_id(1) + 1) & 1];\n"
            ),
            Sums::Half(half) => format!(
                "let wide = tmem::<{sums}>([{rows}, {}]){layout};\nlet sums = wide.tile([0, {}], [{rows}, {columns}]);\n",
                2 * columns,
                half * columns
            ),
        };
        let staged = match self.start {
            Start::Copied => {
                format!("let first = shared::<{}>([{rows}, {columns}]);\n", self.product.sums)
            }
            Start::Overwritten | Start::Stored | Start::StoredInSome => String::new(),
        };
        let memory = sums + &staged;
        if !self.left_in_tensor_memory {
            return memory;
        }
        let layout =
            if self.left_pinned { self.layout([block[0], *depth], 1) } else { String::new() };
        format!("{memory}let left = tmem::<{}>([{rows}, {depth}]){layout};\n", self.dtype)
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
            Start::Stored | Start::StoredInSome => {
                format!("sums.store(full([{rows}, {columns}], {two}));\n")
            }
            Start::Copied => format!(
                "first.store(d.tile([m, n], [{rows}, {columns}]).load());\ntcgen05::copy(first, sums);\n"
            ),
        }
    }

    /// The header's line and the parameter of what copies bring to the sums.
    fn first_sums(&self) -> [String; 2] {
        let Product { extents: Extents { whole: [m, n, _], .. }, sums, .. } = &self.product;
        match self.start {
            Start::Overwritten | Start::Stored | Start::StoredInSome => Default::default(),
            Start::Copied => [
                format!("//@ arg d: {sums}[{m}, {n}] list(5, -3, 0, 7, 1, -9, 2)\n"),
                format!("d: Tensor<{sums}, 2>, "),
            ],
        }
    }

    /// Starts the product of both tiles.
    fn multiply(&self, slot: &str) -> String {
        let Product { left, right, .. } = &self.product;
        let adds = match self.start {
            Start::Overwritten => ".accumulate(k > 0)",
            Start::Stored | Start::Copied => "",
            Start::StoredInSome => ".accumulate(k > 0 || block_id(0) == 0)",
        };
        let when = self.when.as_ref().map_or(String::new(), |when| format!(".when({when})"));
        let (brought, a) = if self.left_in_tensor_memory {
            (format!("left.store({});\n", left.loaded(slot)), "left".to_owned())
        } else {
            (String::new(), left.factor(slot))
        };
        format!("{brought}tcgen05::mma({a}, {}, sums){adds}{when};\n", right.factor(slot))
    }

    fn turns(&self) -> String {
        let Extents { tile: [.., depth], whole: [.., all], .. } = self.product.extents;
        format!("for k in range(0, {all}, {depth}) {{\n")
    }

    fn one(&self, out: &Outlet) -> String {
        let [bar, announce, wait] = self.product.arrivals();
        format!(
            "{}{}{bar}let done = barrier(1);\nlet mut turn = 0;\n{}{}{announce}{}{wait}sync();\n{}\
             tcgen05::commit(done);\ndone.wait(turn);\nturn ^= 1;\n}}\nlet acc = sums.load();\n{}",
            self.product.shared(None),
            self.memory(),
            self.first(),
            self.turns(),
            self.product.loads("", "bar"),
            self.multiply(""),
            out.statements
        )
    }

    /// A ring of two places, its barriers, and the partition that fills it.
    fn loading(&self) -> String {
        format!(
            "{}{}let (filled, empty) = (barriers(2, 1), barriers(2, 1));\nlet done = barrier(1);\n\
             let load = || {{\nlet (mut slot, mut phase) = (0, 1);\n{}empty[slot].wait(phase);\n\
             filled[slot].expect({});\n{}{ADVANCE}}};\n",
            self.product.shared(Some(2)),
            self.memory(),
            self.turns(),
            self.product.expected(),
            self.product.loads("[slot]", "filled[slot]"),
        )
    }

    /// Products of all that comes, each of which gives its place of the ring back; `done` hears of the last.
    fn products(&self) -> String {
        // What A is overwritten with waits for the product that reads it.
        let (turn, waits) = if self.left_in_tensor_memory {
            ("let mut turn = 0;\n", "tcgen05::commit(done);\ndone.wait(turn);\nturn ^= 1;\n")
        } else {
            ("", "")
        };
        let last = if self.left_in_tensor_memory { "" } else { "tcgen05::commit(done);\n" };
        format!(
            "let (mut slot, mut phase) = (0, 0);\n{turn}{}filled[slot].wait(phase);\n{}\
             tcgen05::commit(empty[slot]);\n{waits}{ADVANCE}{last}",
            self.turns(),
            self.multiply("[slot]")
        )
    }

    fn two(&self, out: &Outlet) -> String {
        let waits = if self.left_in_tensor_memory { "" } else { "done.wait(0);\n" };
        format!(
            "{}let multiply = || {{\n{}{}{waits}let acc = sums.load();\n{}}};\n\
             warp_specialize(multiply, [partition(1).run(load)]);\n",
            self.loading(),
            self.first(),
            self.products(),
            out.statements
        )
    }

    fn three(&self, out: &Outlet) -> String {
        format!(
            "{}let multiply = || {{\n{}}};\n\
             let store = || {{\ndone.wait(0);\nlet acc = sums.load();\n{}}};\n\
             warp_specialize(store, [partition(1).run(load), partition(1).run(multiply)]);\n",
            self.loading(),
            self.products(),
            out.statements
        )
    }
}

/// The next place of a ring of two, at the end of an iteration.
pub(crate) const ADVANCE: &str = "slot += 1;\nif slot == 2 {\nslot = 0;\nphase ^= 1;\n}\n}\n";
