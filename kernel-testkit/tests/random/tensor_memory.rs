//! Tensor memory as people write it for Blackwell without products: tiles in every arrangement, written and read by threads, as a
//! whole, in parts and as elements of another type, and written by copies from shared memory.

use kernel_testkit::data::Random;

/// Element types, and their bytes.
const TYPES: [(&str, u64); 8] =
    [("f32", 4), ("i32", 4), ("u32", 4), ("f16", 2), ("bf16", 2), ("u16", 2), ("i8", 1), ("u8", 1)];

/// How a tile lies.
#[derive(Clone, Copy, PartialEq)]
enum Lies {
    /// In blocks of so many rows and columns, whose elements have so many bytes of a column.
    Blocks { rows: u64, columns: u64, bytes: u64 },
    /// As is spelled out: a row for each of 128 rows of tensor memory, or copies.
    Spelled,
}

/// A tile in tensor memory.
struct Tile {
    name: String,
    dtype: &'static str,
    bytes: u64,
    rows: u64,
    columns: u64,
    lies: Lies,
    /// It is one of several.
    several: bool,
}

/// A kernel under way.
struct Kernel {
    random: Random,
    header: Vec<String>,
    parameters: Vec<String>,
    /// Allocations stand at the top.
    allocations: Vec<String>,
    lines: Vec<String>,
    names: u64,
    /// The elements of all tiles in shared memory.
    shared_bytes: u64,
    /// Copies that were committed to the one barrier.
    copies: u64,
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut kernel = Kernel {
        random: Random::of(&format!("tensor memory {seed}")),
        header: Vec::new(),
        parameters: Vec::new(),
        allocations: Vec::new(),
        lines: Vec::new(),
        names: 0,
        shared_bytes: 0,
        copies: 0,
    };
    let warps = 4 << kernel.below(2);
    let tiles: Vec<Tile> = (0..=kernel.below(2)).map(|_| kernel.tile()).collect();
    for tile in &tiles {
        kernel.fill(tile);
    }
    for _ in 0..2 + kernel.below(4) {
        let tile = &tiles[usize::try_from(kernel.below(tiles.len() as u64)).expect("few tiles")];
        match kernel.below(6) {
            0 => kernel.store_part(tile),
            1 => kernel.load_part(tile),
            2 => kernel.exchange(tile),
            3 => kernel.view(tile),
            _ => kernel.copy(tile),
        }
    }
    for tile in &tiles {
        let (window, extents) = (tile.window(0), [tile.rows, tile.columns]);
        kernel.out(&format!("{window}.load()"), tile.dtype, extents);
    }
    let Kernel { header, parameters, allocations, lines, copies, .. } = kernel;
    let [header, allocations, lines] = [header, allocations, lines].map(|list| list.concat());
    let barrier = if copies > 0 { "let done = barrier(1);\n" } else { "" };
    format!(
        "//@ run: eval, emulate\n//@ compare: exact\n{header}use kiln::prelude::*;\n\n\
         #[kernel(target = sm_100a, warps = {warps}, grid = 1)]\npub fn memory_{seed}({}) {{\n\
         {allocations}{barrier}{lines}}}\n",
        parameters.join(", ")
    )
}

impl Tile {
    /// The tile, or one of the two.
    fn window(&self, which: u64) -> String {
        if self.several { format!("{}[{which}]", self.name) } else { self.name.clone() }
    }

    /// Bytes of a column that an element has.
    fn stride(&self) -> u64 {
        match self.lies {
            Lies::Blocks { bytes, .. } => bytes,
            Lies::Spelled => self.bytes,
        }
    }

    /// Whether the tensor cores copy to the tile, or a part of it with these extents.
    fn copied(&self, [rows, columns]: [u64; 2]) -> bool {
        let whole = [rows, columns] == [self.rows, self.columns];
        match self.lies {
            // Of a tile of several blocks of rows, a part of the columns of more than one of them has gaps.
            Lies::Blocks { rows: block, columns: most, .. } => {
                self.bytes == 4
                    && block == 128
                    && columns >= 4
                    && most >= 4
                    && (whole || rows == 128 && columns <= most)
            }
            // A row for each warp comes in 32 bytes.
            Lies::Spelled => whole && columns * self.bytes >= if rows == 4 { 32 } else { 16 },
        }
    }
}

impl Kernel {
    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.random.bits() % end
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// An allocation of tensor memory.
    fn tile(&mut self) -> Tile {
        let (dtype, bytes) = TYPES[usize::try_from(self.below(8)).expect("a short table")];
        let name = self.name("t");
        if self.below(3) == 0 {
            return self.spelled(name, dtype, bytes);
        }
        let rows = 64 << self.below(3);
        let columns = (8 / bytes) << self.below(5);
        let (mut block, mut stride) = ([rows.min(128), columns], bytes);
        let mut layout = String::new();
        if self.below(2) == 0 {
            // Elements that are narrower than a column may have one each, unless they are bytes.
            if bytes == 2 && self.below(2) == 0 {
                stride = 4;
            }
            // Of 64 rows an instruction has two columns at least.
            block = [if rows == 64 { 64 } else { 64 << self.below(2) }, columns];
            block[1] = (columns >> self.below(3)).max((128 / block[0]) * 4 / stride);
            layout = format!(".with_layout(tmem_block({block:?}, {}))", stride / bytes);
        }
        let several = self.below(4) == 0;
        let count = if several { "2, " } else { "" };
        self.allocations
            .push(format!("let {name} = tmem::<{dtype}>([{count}{rows}, {columns}]){layout};\n"));
        let lies = Lies::Blocks { rows: block[0], columns: block[1], bytes: stride };
        Tile { name, dtype, bytes, rows, columns, lies, several }
    }

    /// One whose rows are spelled out, with copies where there are fewer than 128.
    fn spelled(&mut self, name: String, dtype: &'static str, bytes: u64) -> Tile {
        let columns = (16 / bytes) << self.below(4);
        let (rows, layout) = match self.below(5) {
            0 => (128, format!("S[(128, {columns}) : (1 @ TLane, 1 @ TCol)]")),
            1 => (64, format!("S[(64, {columns}) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]")),
            2 => (
                64,
                format!(
                    "S[(2, 32, {columns}) : (64 @ TLane, 1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]"
                ),
            ),
            // The first of the rows of each warp.
            3 => (4, format!("S[(4, {columns}) : (32 @ TLane, 1 @ TCol)]")),
            _ => (32, format!("S[(32, {columns}) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]")),
        };
        self.allocations.push(format!(
            "let {name} = tmem::<{dtype}>([{rows}, {columns}]).with_layout(layout!({layout}));\n"
        ));
        Tile { name, dtype, bytes, rows, columns, lies: Lies::Spelled, several: false }
    }

    /// The window of a tensor with new values.
    fn values(&mut self, dtype: &str, [rows, columns]: [u64; 2], at: &str) -> String {
        let name = self.name("x");
        // What lies behind the tensor is zero.
        let [all, less] = [2 * rows, columns - self.below(2).min(columns - 1)];
        let data = if dtype.contains('f') { "uniform(-9, 9)" } else { "bits" };
        self.header.push(format!("//@ arg {name}: {dtype}[{all}, {less}] {data}\n"));
        self.parameters.push(format!("{name}: Tensor<{dtype}, 2>"));
        format!("{name}.tile([{at}, 0], [{rows}, {columns}])")
    }

    /// A tile leaves the kernel.
    fn out(&mut self, value: &str, dtype: &str, extents: [u64; 2]) {
        let name = self.name("y");
        self.header.push(format!("//@ arg {name}: {dtype}{extents:?} poison\n"));
        self.parameters.push(format!("{name}: TensorMut<{dtype}, 2>"));
        self.lines.push(format!("{name}.tile([0, 0], {extents:?}).store({value});\n"));
    }

    /// Writes all of a tile, which nobody has written before.
    fn fill(&mut self, tile: &Tile) {
        let extents = [tile.rows, tile.columns];
        if tile.several {
            let values = self.values(tile.dtype, extents, &format!("i * {}", tile.rows));
            self.lines
                .push(format!("for i in 0..2 {{\n{}[i].store({values}.load());\n}}\n", tile.name));
        } else {
            let values = self.values(tile.dtype, extents, "0");
            self.lines.push(format!("{}.store({values}.load());\n", tile.name));
        }
    }

    /// A part of a tile, of so many columns at least: its name and extents.
    fn part(&mut self, tile: &Tile, least: u64) -> (String, [u64; 2]) {
        // Of blocks of 64 rows an instruction has two columns at least.
        let pairs = matches!(tile.lies, Lies::Blocks { rows: 64, .. });
        let which = self.below(2);
        let window = tile.window(which);
        let Lies::Blocks { rows: block, .. } = tile.lies else {
            return (window, [tile.rows, tile.columns]);
        };
        let rows = if self.below(2) == 0 { block } else { tile.rows };
        // Whole columns of 32 bits.
        let words = if pairs { 2 } else { 1 };
        let least = least.max(words * 4 / tile.stride()).min(tile.columns);
        let mut columns = tile.columns;
        for _ in 0..self.below(3) {
            columns = (columns / 2).max(least);
        }
        let at = [(tile.rows, rows), (tile.columns, columns)]
            .map(|(all, extent)| extent * self.below(all / extent));
        (format!("{window}.tile({at:?}, [{rows}, {columns}])"), [rows, columns])
    }

    fn store_part(&mut self, tile: &Tile) {
        let (part, extents) = self.part(tile, 1);
        let values = self.values(tile.dtype, extents, &extents[0].to_string());
        self.lines.push(format!("{part}.store({values}.load());\n"));
    }

    fn load_part(&mut self, tile: &Tile) {
        let (part, extents) = self.part(tile, 1);
        self.out(&format!("{part}.load()"), tile.dtype, extents);
    }

    /// The rows of a part in another order, written where they came from.
    fn exchange(&mut self, tile: &Tile) {
        let (part, [rows, columns]) = self.part(tile, 1);
        let name = self.name("v");
        self.lines.push(format!(
            "let {name} = {part}.load();\n\
             {part}.store({name}.reshape([{columns}, {rows}]).t().reshape([{rows}, {columns}]));\n"
        ));
    }

    /// The columns of a tile of 128 rows as elements of another type, written or read.
    fn view(&mut self, tile: &Tile) {
        let Lies::Blocks { rows: 128, bytes: stride, .. } = tile.lies else { return };
        if tile.rows != 128 {
            return;
        }
        let (dtype, bytes) = TYPES[usize::try_from(self.below(8)).expect("a short table")];
        let extents = [128, tile.columns * stride / bytes];
        if extents[1] > 64 {
            return;
        }
        let window = tile.window(self.below(2));
        let view = format!("{window}.view::<{dtype}>({extents:?})");
        // What is left of a column that elements have to themselves is what was there.
        if stride == tile.bytes && self.below(2) == 0 {
            self.out(&format!("{view}.load()"), dtype, extents);
        } else {
            let values = self.values(dtype, extents, "0");
            self.lines.push(format!("{view}.store({values}.load());\n"));
        }
    }

    /// A copy by the tensor cores, with a wait for it, or of several one after the other.
    fn copy(&mut self, tile: &Tile) {
        let (mut part, mut extents) = self.part(tile, 4);
        if !tile.copied(extents) {
            (part, extents) = (tile.window(0), [tile.rows, tile.columns]);
        }
        let bytes = extents[0] * extents[1] * tile.bytes;
        if !tile.copied(extents) || self.shared_bytes + bytes > 100_000 {
            return;
        }
        self.shared_bytes += bytes;
        let source = self.name("s");
        self.allocations.push(format!("let {source} = shared::<{}>({extents:?});\n", tile.dtype));
        let values = self.values(tile.dtype, extents, "0");
        let when = match self.below(4) {
            0 => ".when(block_id(0) == 0)",
            1 => ".when(block_id(0) > 0)",
            _ => "",
        };
        let call = if self.below(2) == 0 { "tcgen05::copy" } else { "copy_async" };
        self.lines.push(format!(
            "{source}.store({values}.load());\n{call}({source}, {part}){when};\n\
             tcgen05::commit(done);\ndone.wait({});\n",
            self.copies % 2
        ));
        self.copies += 1;
    }
}
