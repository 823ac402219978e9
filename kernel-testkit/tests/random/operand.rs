//! An operand of a matrix product: a tensor, how a tile of it comes to shared memory, and how it lies there.

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

/// How many of the ways there are to choose from, in their order.
#[derive(Clone, Copy)]
pub(crate) struct Ways(pub(crate) u64);

impl Ways {
    /// Those that complete on a barrier.
    pub(crate) const BY_BARRIER: Ways = Ways(2);
    pub(crate) const ALL: Ways = Ways(4);
}

/// Rows, columns and depth of a product.
#[derive(Clone, Copy)]
pub(crate) struct Extents {
    /// Of its tiles.
    pub(crate) tile: [u64; 3],
    /// Of the whole.
    pub(crate) whole: [u64; 3],
    /// Bytes of an element of the operands.
    pub(crate) bytes: u64,
    /// Where the tile of a block begins.
    pub(crate) at: [&'static str; 3],
}

/// Where the tiles of blocks begin that share nothing out among them.
pub(crate) const ALONE: [&str; 3] = ["m", "n", "k"];

/// One operand: a tensor, and its tile in shared memory.
pub(crate) struct Operand {
    name: &'static str,
    dtype: &'static str,
    way: Way,
    /// The tile, as it lies.
    pub(crate) tile: [u64; 2],
    extents: [u64; 2],
    /// Where the tile begins.
    at: [&'static str; 2],
    swizzle: Option<u64>,
    /// Whether the tile is a part of one of twice as many rows, where there is one tile of it.
    part: bool,
    pub(crate) transposed: bool,
    /// What its elements begin with.
    pub(crate) numbers: &'static str,
}

impl Operand {
    /// One whose tensor has these axes of the product; `below(end)` chooses a number below `end`.
    pub(crate) fn of(
        [name, dtype]: [&'static str; 2],
        extents: &Extents,
        (axes, transposed): ([usize; 2], bool),
        ways: Ways,
        below: &mut impl FnMut(u64) -> u64,
    ) -> Operand {
        let way = match below(ways.0) {
            0 => Way::Map,
            1 => Way::Window,
            2 => Way::Registers,
            _ => Way::Pieces,
        };
        let tile = axes.map(|axis| extents.tile[axis]);
        let row = tile[1] * extents.bytes;
        let swizzle = (below(3) == 0 && row >= 32).then(|| (32 << below(3)).min(row).min(128));
        // The one of elements of sixteen numbers.
        let swizzle = swizzle.map(|span| if dtype.ends_with("x16") { 128 } else { span });
        let at = axes.map(|axis| extents.at[axis]);
        let extents = axes.map(|axis| extents.whole[axis]);
        let numbers = match dtype {
            "u8" => "1, 2, 0, 3, 1, 2, 0",
            _ => "1, -2, 0, 3, -1, 2, 1",
        };
        let packed = dtype.ends_with("x16") || dtype == "e2m1x2";
        let moved = match way {
            // A box is contiguous: a row has at most the bytes of the swizzle.
            Way::Map => row <= swizzle.unwrap_or(128) && tile[0] >= 8,
            Way::Window => false,
            Way::Registers | Way::Pieces => true,
        };
        let part = moved && !packed && ((extents[0] + extents[1]) / 16).is_multiple_of(3);
        Operand { name, dtype, way, tile, extents, at, swizzle, part, transposed, numbers }
    }

    /// The header's line for it; `more` are two numbers among its elements.
    pub(crate) fn argument(&self, more: [u64; 2]) -> String {
        let Operand { name, dtype, extents, numbers, .. } = self;
        format!("//@ arg {name}: {dtype}{extents:?} list({numbers}, {}, {})\n", more[0], more[1])
    }

    pub(crate) fn parameter(&self) -> String {
        let Operand { name, dtype, tile: [rows, columns], .. } = self;
        match self.way {
            Way::Map => format!("#[block({rows}, {columns})] {name}: TensorMap<{dtype}, 2>"),
            Way::Window | Way::Registers | Way::Pieces => format!("{name}: Tensor<{dtype}, 2>"),
        }
    }

    pub(crate) fn shared(&self, stages: Option<u64>) -> String {
        let Operand { name, dtype, tile: [rows, columns], .. } = self;
        let layout =
            self.swizzle.map_or(String::new(), |bytes| format!(".with_layout(swizzle({bytes}))"));
        if self.part && stages.is_none() {
            return format!(
                "    let whole_{name} = shared::<{dtype}>([{}, {columns}]){layout};\n\
                     let s{name} = whole_{name}.tile([{rows}, 0], [{rows}, {columns}]);\n",
                2 * rows
            );
        }
        let stages = stages.map_or(String::new(), |stages| format!("{stages}, "));
        format!("    let s{name} = shared::<{dtype}>([{stages}{rows}, {columns}]){layout};\n")
    }

    /// What brings the tile at `slot`.
    pub(crate) fn load(&self, slot: &str, bar: &str) -> String {
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

    /// The bytes of the tile that a barrier counts.
    pub(crate) fn expected(&self, bytes: u64) -> u64 {
        match self.way {
            Way::Map | Way::Window => self.tile[0] * self.tile[1] * bytes,
            Way::Registers | Way::Pieces => 0,
        }
    }

    /// The tile at `slot`, in registers.
    pub(crate) fn loaded(&self, slot: &str) -> String {
        format!("s{}{slot}.load()", self.name)
    }

    pub(crate) fn factor(&self, slot: &str) -> String {
        format!("s{}{slot}{}", self.name, if self.transposed { ".t()" } else { "" })
    }
}
