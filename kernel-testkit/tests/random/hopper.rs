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

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut random = Random::of(&format!("hopper {seed}"));
    let mut below = |end: u64| random.bits() % end;
    let (dtype, sums, bytes, either) =
        TYPES[usize::try_from(below(TYPES.len() as u64)).expect("a short table")];
    let specialized = below(2) == 0;
    let warps = 4 << below(2);
    let bm = 64 << below(2);
    let bn = (8 << below(5)) * if warps == 8 && bm == 64 { 2 } else { 1 };
    let bk = (32 << below(if bm * bn > 64 * 128 { 2 } else { 3 })) / bytes;
    // Rows of tensors are multiples of 16 bytes, for maps.
    let unit = 16 / bytes;
    let mut extent = |tile: u64| {
        let whole = tile * (1 + below(2));
        whole.saturating_sub(unit * below(3)).max(unit)
    };
    let (m, n, k) = (extent(bm), extent(bn), extent(bk) + bk * (seed % 2));
    let signs = if dtype == "u8" { "1, 2, 0, 3, 1, 2, 0" } else { "1, -2, 0, 3, -1, 2, 1" };
    let list = |random: u64| format!("list({signs}, {}, {})", random % 4, random / 4 % 3);

    let mut operand =
        |name, transposed: bool, tile: [u64; 2], extents: [u64; 2], at: [&'static str; 2]| {
            let way = match below(if specialized { 2 } else { 4 }) {
                0 => Way::Map,
                1 => Way::Window,
                2 => Way::Registers,
                _ => Way::Pieces,
            };
            let row = tile[1] * bytes;
            let swizzle = (below(3) == 0 && row >= 32).then(|| (32 << below(3)).min(row).min(128));
            Operand { name, way, tile, extents, at, swizzle, transposed }
        };
    let a = if either && seed % 3 == 0 {
        operand("a", true, [bk, bm], [k, m], ["k", "m"])
    } else {
        operand("a", false, [bm, bk], [m, k], ["m", "k"])
    };
    let b = if either && seed % 5 < 2 && bn * bytes >= 16 {
        operand("b", false, [bk, bn], [k, n], ["k", "n"])
    } else {
        operand("b", true, [bn, bk], [n, k], ["n", "k"])
    };
    let from_registers = !a.transposed && below(4) == 0;
    let factor = |slot: &str| {
        let a = if from_registers { format!("sa{slot}.load()") } else { a.factor(slot) };
        format!("wgmma::mma({a}, {}, acc)", b.factor(slot))
    };
    let expected: u64 =
        [&a, &b].iter().filter(|o| o.by_barrier()).map(|o| o.tile[0] * o.tile[1] * bytes).sum();
    let sum_bytes = if sums == "f16" { 2 } else { 4 };
    // Rows of what is stored by a map too.
    let n_rows = n.next_multiple_of(16 / sum_bytes);
    let (parameter, argument, out) = match below(4) {
        0 if bn * sum_bytes >= 16 => (
            format!("#[block({bm}, {bn})] c: TensorMapMut<{sums}, 2>"),
            format!("{sums}[{m}, {n_rows}] poison"),
            "let staged = shared::<SUMS>([BM, BN]);\nstaged.store(acc);\ntma::store(c, [m, n], staged);\ntma::store_wait(0);\n",
        ),
        1 if bn * sum_bytes >= 16 => (
            format!("#[block({bm}, {bn})] c: TensorMapMut<{sums}, 2>"),
            format!("{sums}[{m}, {n_rows}] list(3, 1, 2)"),
            "let staged = shared::<SUMS>([BM, BN]);\nstaged.store(acc);\nfence_async();\ntma::reduce_add(c, [m, n], staged);\ntma::store_wait_written(0);\n",
        ),
        2 => (
            format!("c: TensorMut<{sums}, 1>"),
            format!("{sums}[{}] poison", cdiv(m, bm) * cdiv(n_rows, bn) * bm),
            "c.tile([(block_id(0) * num_blocks(1) + block_id(1)) * BM], [BM]).store(acc.max(1));\n",
        ),
        _ => (
            format!("c: TensorMut<{sums}, 2>"),
            format!("{sums}[{m}, {n_rows}] poison"),
            "c.tile([m, n], [BM, BN]).store(acc);\n",
        ),
    };
    let out =
        out.replace("SUMS", sums).replace("BM", &bm.to_string()).replace("BN", &bn.to_string());
    let body = if specialized {
        specialized_body(&a, &b, dtype, sums, (bm, bn, bk, k), expected, &factor("[slot]"), &out)
    } else {
        let announce =
            if expected > 0 { format!("bar.expect({expected});\n") } else { String::new() };
        let wait = if expected > 0 { "bar.wait(phase);\nphase ^= 1;\n" } else { "" };
        let shared = a.shared(dtype, None) + &b.shared(dtype, None);
        let phase = if expected > 0 { "let bar = barrier(1);\nlet mut phase = 0;\n" } else { "" };
        format!(
            "{shared}{phase}let mut acc = zeros::<{sums}>([{bm}, {bn}]);\nfor k in range(0, {k}, {bk}) {{\n\
             {announce}{}{}{wait}sync();\nacc = {};\nacc = wgmma::wait(0, acc);\nsync();\n}}\n{out}",
            a.load("", "bar"),
            b.load("", "bar"),
            factor("")
        )
    };
    let (rows, columns) = (cdiv(m, bm), cdiv(n_rows, bn));
    let [args_a, args_b] = [(&a, 11), (&b, 7)].map(|(o, salt)| {
        format!("//@ arg {}: {dtype}{:?} {}\n", o.name, o.extents, list(seed / salt + salt))
    });
    format!(
        "//@ run: eval, emulate, gpu\n//@ compare: exact\n{args_a}{args_b}//@ arg c: {argument}\nuse kiln::prelude::*;\n\n\
         #[kernel(target = sm_90a, warps = {warps}, grid = [{rows}, {columns}])]\npub fn hopper_{seed}({}, {}, {parameter}) {{\n\
         let (m, n) = (block_id(0) * {bm}, block_id(1) * {bn});\n{body}}}\n",
        a.parameter(dtype),
        b.parameter(dtype)
    )
}

/// One warp loads into a ring, the others multiply.
#[expect(clippy::too_many_arguments, reason = "the choices that were made")]
fn specialized_body(
    a: &Operand,
    b: &Operand,
    dtype: &str,
    sums: &str,
    (bm, bn, bk, k): (u64, u64, u64, u64),
    expected: u64,
    product: &str,
    out: &str,
) -> String {
    let stages = if (bm + bn) * bk > 16_384 { 1 } else { 2 };
    let shared = a.shared(dtype, Some(stages)) + &b.shared(dtype, Some(stages));
    let advance = format!("slot += 1;\nif slot == {stages} {{\nslot = 0;\nphase ^= 1;\n}}\n");
    let load = format!(
        "let load = || {{\nlet (mut slot, mut phase) = (0, 1);\nfor k in range(0, {k}, {bk}) {{\nempty[slot].wait(phase);\n\
         filled[slot].expect({expected});\n{}{}{advance}}}\n}};\n",
        a.load("[slot]", "filled[slot]"),
        b.load("[slot]", "filled[slot]")
    );
    let multiply = format!(
        "let multiply = || {{\nlet mut acc = zeros::<{sums}>([{bm}, {bn}]);\nlet (mut slot, mut phase) = (0, 0);\n\
         for k in range(0, {k}, {bk}) {{\nfilled[slot].wait(phase);\nacc = {product};\nacc = wgmma::wait(0, acc);\n\
         empty[slot].arrive();\n{advance}}}\n{out}}};\n"
    );
    format!(
        "{shared}let (filled, empty) = (barriers({stages}, 1), barriers({stages}, 1));\n{load}{multiply}\
         warp_specialize(multiply, [partition(1).run(load)]);\n"
    )
}

fn cdiv(a: u64, b: u64) -> u64 {
    a.div_ceil(b)
}
