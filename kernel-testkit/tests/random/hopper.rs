//! Matrix products as people write them for Hopper: each operand brought to shared memory in one of several ways, multiplied by
//! warpgroups, with or without partitions, and brought out in one of several ways. Values are small integers: sums are exact in any order.

use kernel_testkit::data::Random;

/// An element type of the factors, that of the sums, bytes of an element, whether an operand may lie with its depth outermost.
const TYPES: [(&str, &str, u64, bool); 7] = [
    ("f16", "f32", 2, true),
    ("f16", "f16", 2, true),
    ("bf16", "f32", 2, true),
    ("bf16", "f32", 2, true),
    ("f32", "f32", 4, false),
    ("i8", "i32", 1, false),
    ("u8", "i32", 1, false),
];

/// How an operand comes to shared memory.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// A tensor map of the kernel's parameters.
    Map,
    /// A window of a tensor, by a map of its own.
    Window,
    /// By way of registers.
    Registers,
    /// In pieces of 16 bytes.
    Pieces,
}

/// One factor: a tensor, and its tile in shared memory.
struct Operand {
    name: &'static str,
    way: Way,
    /// The tile, as it lies.
    tile: [u64; 2],
    extents: [u64; 2],
    /// Where the tile begins.
    at: [&'static str; 2],
    swizzle: Option<u64>,
    transposed: bool,
}

impl Operand {
    fn parameter(&self, dtype: &str) -> String {
        let Operand { name, tile: [rows, columns], .. } = self;
        match self.way {
            Way::Map => format!("#[block({rows}, {columns})] {name}: TensorMap<{dtype}, 2>"),
            Way::Window | Way::Registers | Way::Pieces => format!("{name}: Tensor<{dtype}, 2>"),
        }
    }

    fn shared(&self, dtype: &str, stages: Option<u64>) -> String {
        let Operand { name, tile: [rows, columns], .. } = self;
        let stages = stages.map_or(String::new(), |stages| format!("{stages}, "));
        let layout =
            self.swizzle.map_or(String::new(), |bytes| format!(".with_layout(swizzle({bytes}))"));
        format!("    let s{name} = shared::<{dtype}>([{stages}{rows}, {columns}]){layout};\n")
    }

    /// What brings the tile at `slot`.
    fn load(&self, slot: &str, bar: &str) -> String {
        let Operand { name, tile: [rows, columns], at: [row, column], .. } = self;
        let window = format!("{name}.tile([{row}, {column}], [{rows}, {columns}])");
        match self.way {
            Way::Map => format!("tma::load({name}, [{row}, {column}], {bar}, s{name}{slot});\n"),
            Way::Window => format!("copy_async({window}, s{name}{slot}).on({bar});\n"),
            Way::Registers => format!("s{name}{slot}.store({window}.load());\n"),
            Way::Pieces => {
                format!("copy_async({window}, s{name}{slot});\ncopy_async_wait_all();\n")
            }
        }
    }

    fn by_barrier(&self) -> bool {
        matches!(self.way, Way::Map | Way::Window)
    }

    fn factor(&self, slot: &str) -> String {
        format!("s{}{slot}{}", self.name, if self.transposed { ".t()" } else { "" })
    }
}

/// A product: rows, columns and depth of its tiles and of the whole.
struct Product {
    dtype: &'static str,
    sums: &'static str,
    tile: [u64; 3],
    whole: [u64; 3],
    left: Operand,
    right: Operand,
    left_in_registers: bool,
}

/// How the sums leave: the parameter, what is said of the argument, and the statements.
struct Outlet {
    parameter: String,
    argument: String,
    statements: String,
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
    let mut operand = |name, transposed: bool, axes: [usize; 2]| {
        let way = match below(if specialized { 2 } else { 4 }) {
            0 => Way::Map,
            1 => Way::Window,
            2 => Way::Registers,
            _ => Way::Pieces,
        };
        let tile = axes.map(|axis| [rows, columns, depth][axis]);
        let row = tile[1] * bytes;
        let swizzle = (below(3) == 0 && row >= 32).then(|| (32 << below(3)).min(row).min(128));
        let (extents, at) = (axes.map(|axis| whole[axis]), axes.map(|axis| ["m", "n", "k"][axis]));
        Operand { name, way, tile, extents, at, swizzle, transposed }
    };
    let depth_first = either && seed.is_multiple_of(3);
    let left = operand("a", depth_first, if depth_first { [2, 0] } else { [0, 2] });
    let depth_first = either && seed % 5 < 2 && columns * bytes >= 16;
    let right = operand("b", !depth_first, if depth_first { [2, 1] } else { [1, 2] });
    let left_in_registers = !left.transposed && below(4) == 0;
    let tile = [rows, columns, depth];
    let product = Product { dtype, sums, tile, whole, left, right, left_in_registers };
    let out = product.out(below(4));
    let signs = if dtype == "u8" { "1, 2, 0, 3, 1, 2, 0" } else { "1, -2, 0, 3, -1, 2, 1" };
    let arguments = [(&product.left, 11), (&product.right, 7)].map(|(operand, salt)| {
        let more = seed / salt + salt;
        let (name, extents) = (operand.name, operand.extents);
        format!(
            "//@ arg {name}: {dtype}{extents:?} list({signs}, {}, {})\n",
            more % 4,
            more / 4 % 3
        )
    });
    let body = if specialized { product.specialized(&out) } else { product.plain(&out) };
    let grid = [whole[0].div_ceil(rows), whole[1].div_ceil(columns)];
    let parameters = [&product.left, &product.right].map(|operand| operand.parameter(dtype));
    format!(
        "//@ run: eval, emulate, gpu\n//@ compare: exact\n{}//@ arg c: {}\nuse kiln::prelude::*;\n\n\
         #[kernel(target = sm_90a, warps = {warps}, grid = {grid:?})]\npub fn hopper_{seed}({}, {}) {{\n\
         let (m, n) = (block_id(0) * {rows}, block_id(1) * {columns});\n{body}}}\n",
        arguments.concat(),
        out.argument,
        parameters.join(", "),
        out.parameter
    )
}

impl Product {
    fn out(&self, choice: u64) -> Outlet {
        let Product { sums, tile: [rows, columns, _], whole: [m, n, _], .. } = self;
        let bytes = if *sums == "f16" { 2 } else { 4 };
        // Rows of what is stored by a map are multiples of 16 bytes too.
        let n = n.next_multiple_of(16 / bytes);
        let mapped = columns * bytes >= 16;
        let staged =
            format!("let staged = shared::<{sums}>([{rows}, {columns}]);\nstaged.store(acc);\n");
        let map = format!("#[block({rows}, {columns})] c: TensorMapMut<{sums}, 2>");
        let (parameter, argument, statements) = match choice {
            0 if mapped => (
                map,
                format!("{sums}[{m}, {n}] poison"),
                format!("{staged}tma::store(c, [m, n], staged);\ntma::store_wait(0);\n"),
            ),
            1 if mapped => (
                map,
                format!("{sums}[{m}, {n}] list(3, 1, 2)"),
                format!(
                    "{staged}fence_async();\ntma::reduce_add(c, [m, n], staged);\ntma::store_wait_written(0);\n"
                ),
            ),
            2 => (
                format!("c: TensorMut<{sums}, 1>"),
                format!("{sums}[{}] poison", m.div_ceil(*rows) * n.div_ceil(*columns) * rows),
                format!(
                    "c.tile([(block_id(0) * num_blocks(1) + block_id(1)) * {rows}], [{rows}]).store(acc.max(1));\n"
                ),
            ),
            _ => (
                format!("c: TensorMut<{sums}, 2>"),
                format!("{sums}[{m}, {n}] poison"),
                format!("c.tile([m, n], [{rows}, {columns}]).store(acc);\n"),
            ),
        };
        Outlet { parameter, argument, statements }
    }

    /// The bytes that a barrier counts for the tiles of a turn.
    fn expected(&self) -> u64 {
        let bytes = TYPES.iter().find(|row| row.0 == self.dtype).map_or(0, |row| row.2);
        let counted = [&self.left, &self.right].into_iter().filter(|operand| operand.by_barrier());
        counted.map(|operand| operand.tile[0] * operand.tile[1] * bytes).sum()
    }

    fn shared(&self, stages: Option<u64>) -> String {
        self.left.shared(self.dtype, stages) + &self.right.shared(self.dtype, stages)
    }

    fn zeros(&self) -> String {
        format!("let mut acc = zeros::<{}>([{}, {}]);\n", self.sums, self.tile[0], self.tile[1])
    }

    /// Loads of both tiles, and the product of both.
    fn turn(&self, slot: &str, bar: &str) -> [String; 2] {
        let left = if self.left_in_registers {
            format!("sa{slot}.load()")
        } else {
            self.left.factor(slot)
        };
        let product = format!(
            "acc = wgmma::mma({left}, {}, acc);\nacc = wgmma::wait(0, acc);\n",
            self.right.factor(slot)
        );
        [self.left.load(slot, bar) + &self.right.load(slot, bar), product]
    }

    /// All warps do everything.
    fn plain(&self, out: &Outlet) -> String {
        let [loads, product] = self.turn("", "bar");
        let expected = self.expected();
        let (bar, announce, wait) = if expected > 0 {
            (
                "let bar = barrier(1);\nlet mut phase = 0;\n",
                format!("bar.expect({expected});\n"),
                "bar.wait(phase);\nphase ^= 1;\n",
            )
        } else {
            ("", String::new(), "")
        };
        let [.., depth] = self.tile;
        format!(
            "{}{bar}{}for k in range(0, {}, {depth}) {{\n{announce}{loads}{wait}sync();\n{product}sync();\n}}\n{}",
            self.shared(None),
            self.zeros(),
            self.whole[2],
            out.statements
        )
    }

    /// One warp loads into a ring, the others multiply.
    fn specialized(&self, out: &Outlet) -> String {
        let [rows, columns, depth] = self.tile;
        let stages = if (rows + columns) * depth > 16_384 { 1 } else { 2 };
        let [loads, product] = self.turn("[slot]", "filled[slot]");
        let turns = format!("for k in range(0, {}, {depth}) {{\n", self.whole[2]);
        let advance =
            format!("slot += 1;\nif slot == {stages} {{\nslot = 0;\nphase ^= 1;\n}}\n}}\n");
        format!(
            "{}let (filled, empty) = (barriers({stages}, 1), barriers({stages}, 1));\n\
             let load = || {{\nlet (mut slot, mut phase) = (0, 1);\n{turns}empty[slot].wait(phase);\n\
             filled[slot].expect({});\n{loads}{advance}}};\n\
             let multiply = || {{\n{}let (mut slot, mut phase) = (0, 0);\n{turns}filled[slot].wait(phase);\n\
             {product}empty[slot].arrive();\n{advance}{}}};\n\
             warp_specialize(multiply, [partition(1).run(load)]);\n",
            self.shared(Some(stages)),
            self.expected(),
            self.zeros(),
            out.statements
        )
    }
}
