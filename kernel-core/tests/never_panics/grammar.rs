//! Kernels made up from the words of the language: mostly nonsense, always Rust.

use crate::random::Random;

/// A name that a kernel may have in it: a function of the language, or another word.
pub(crate) fn word(random: &mut Random) -> &'static str {
    let functions = kernel_core::elaborate::names().collect::<Vec<_>>();
    let at = random.below(functions.len() + WORDS.len());
    functions.get(at).copied().unwrap_or_else(|| WORDS[at - functions.len()])
}

/// Other words: methods, types, those of Rust and of the made-up kernels.
const WORDS: &[&str] = &[
    "atomic",
    "add",
    "exp",
    "exp2",
    "sqrt",
    "abs",
    "cast",
    "reshape",
    "broadcast",
    "expand",
    "t",
    "lt",
    "eq",
    "sum",
    "max",
    "min",
    "map",
    "reduce",
    "scan",
    "scan_exclusive",
    "flip",
    "sort",
    "top_k",
    "gather",
    "histogram",
    "to_layout",
    "with_layout",
    "dim",
    "dims",
    "stride",
    "ptr",
    "tile",
    "bytes",
    "len",
    "f16",
    "bf16",
    "e4m3",
    "ue8m0",
    "from_bits",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u32",
    "u64",
    "bool",
    "usize",
    "Tile",
    "Tensor",
    "TensorMut",
    "Ptr",
    "Shared",
    "Layout",
    "Float",
    "T",
    "N",
    "M",
    "Self",
    "self",
    "BYTES",
    "MAX",
    "ZERO",
    "INFINITY",
    "x",
    "y",
    "n",
    "p",
    "a",
    "b",
    "acc",
    "buf",
    "i",
    "k",
    "f",
    "g",
    "s",
    "Pair",
    "Ring",
    "left",
    "right",
    "if",
    "else",
    "for",
    "in",
    "while",
    "loop",
    "break",
    "continue",
    "return",
    "let",
    "mut",
    "fn",
    "struct",
    "impl",
    "const",
    "use",
    "as",
    "match",
    "unsafe",
    "move",
    "instances",
    "warps",
    "grid",
    "multiple_of",
    "TensorMap",
    "TensorMapMut",
    "block",
    "cluster",
    "tma",
    "bulk",
    "send",
    "named_barrier",
    "store_async",
    "wgmma",
    "store",
    "prefetch",
    "mma",
    "wait",
    "expect",
    "arrive",
    "of_block",
    "on",
    "when",
    "multicast",
    "_",
];

const TYPES: &[&str] = &[
    "f16", "bf16", "f32", "f64", "i8", "i32", "i64", "u8", "u32", "u64", "bool", "e5m2", "e2m1x2",
];
const SHAPES: &[&str] = &[
    "[16]",
    "[64]",
    "[128]",
    "[16, 16]",
    "[64, 32]",
    "[1, 64]",
    "[N]",
    "[2, N]",
    "[2, 16, 16]",
    "[3]",
];
const NAMES: &[&str] = &["n", "m", "x", "y", "p", "v", "w", "acc", "buf", "pair", "f", "i", "N"];
const BINARY: &[&str] =
    &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "==", "&&", "||"];
const METHODS: &[&str] =
    &["abs", "sqrt", "exp2", "t", "load", "dims", "len", "floor", "to_f32", "bytes"];
const WITH_ONE: &[&str] = &[
    "sum",
    "max",
    "min",
    "expand",
    "dim",
    "lt",
    "ge",
    "ne",
    "stride",
    "reshape",
    "broadcast",
    "store",
    "to_layout",
];

/// A kernel with a few arguments of every kind and a body.
pub(crate) fn kernel(random: &mut Random) -> String {
    let body = block(random, 4);
    let warps = random.pick(&["1", "2", "4", "8", "N"]);
    let target = random.pick(&["sm_80", "sm_90a", "[sm_80, sm_100a]"]);
    let optional =
        if random.once_in(8) { "o: Option<i32>, t: Option<Tensor<f32, 1>>," } else { "" };
    let values = random.pick(&["[16]", "[16, 32]", "[4]", "[0]", "[-1]", "[{ 2 + 2 }]"]);
    format!(
        "#[kernel(target = {target}, warps = {warps}, instances(N = {values}))]
         pub fn made_up<const N: i32>(
             n: i32, m: f32, x: Tensor<f32, 2>, y: TensorMut<f16, 1>, p: Ptr<f32>, {optional}
         ) {{
             struct Pair {{ left: i32, right: Tile<f32> }}
             impl Pair {{
                 fn sum(&self) -> f32 {{ self.right.sum(0) }}
                 fn step(&mut self, by: i32) -> i32 {{ self.left += by; self.left }}
             }}
             fn f(a: i32, b: i32) -> i32 {{ if a > b {{ return a; }} b }}
             let mut pair = Pair {{ left: 0, right: zeros([64]) }};
             let mut acc = zeros::<f32>([64]);
             let buf = shared::<f16>([2, 16, 16]);
             {body}
         }}"
    )
}

fn block(random: &mut Random, depth: usize) -> String {
    let mut out = String::new();
    for _ in 0..=random.below(4) {
        out.push_str(&statement(random, depth));
    }
    if random.once_in(2) {
        out.push_str(&expr(random, depth));
    }
    out
}

fn statement(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return format!("let v = {};", expr(random, 0));
    }
    let d = depth - 1;
    match random.below(17) {
        0 => format!("let v = {};", expr(random, d)),
        13 => format!(
            "let w = ptx!({:?}, a = {}, b = {} => {});",
            random.pick(&[
                "add.s32 {out}, {a}, {b};",
                "fma.rn.f32 {out}, {a}, {b}, {a};",
                "@{a} st.global.f32 [{b}], 0.0;",
                "mov.b64 {out0}, {{{a}, {b}}}; mov.b32 {out1}, 1;",
            ]),
            expr(random, d),
            expr(random, d),
            ty(random)
        ),
        1 => format!("let mut w = {};", expr(random, d)),
        2 => format!("let v: {} = {};", ty(random), expr(random, d)),
        3 => format!("let (v, w) = {};", expr(random, d)),
        4 => format!("{} = {};", place(random, d), expr(random, d)),
        5 => format!(
            "{} {}= {};",
            place(random, d),
            random.pick(&["+", "-", "*", "&", "<<"]),
            expr(random, d)
        ),
        6 => format!("for i in {} {{ {} }}", iterator(random, d), block(random, d)),
        7 => format!("while {} {{ {} }}", expr(random, d), block(random, d)),
        8 => format!("loop {{ {} break; }}", block(random, d)),
        9 => format!(
            "if {} {{ {} }} else {{ {} }}",
            expr(random, d),
            block(random, d),
            block(random, d)
        ),
        10 => random
            .pick(&["break;", "continue;", "return;", "sync();", "copy_async_wait_all();"])
            .to_owned(),
        14 => format!(
            "if {}let {} = {} && {} {{ {} }} else {{ {} }}",
            random.pick(&["", "n > 2 && ", "o.is_some() && ", "let None = &o && "]),
            random.pick(&["Some(v)", "None", "Some(3 | 4)", "(Some(v), _)", "v", "Some(Some(w))"]),
            random.pick(&["o", "t", "&o", "n", "(o, t)", "Some(n)", "x", "f(n, 2)"]),
            expr(random, d),
            block(random, d),
            block(random, d)
        ),
        15 => format!(
            "let {} = {} else {{ {} return; }};",
            random.pick(&["Some(v)", "None", "(Some(v), w)", "Some(mut w)", "3"]),
            random.pick(&["o", "t", "(o, n)", "n", "&t", "pair"]),
            block(random, d)
        ),
        11 => format!("const {{ assert!({}, \"m\") }}", expr(random, d)),
        12 => format!("buf[{}].store({});", expr(random, d), expr(random, d)),
        _ => format!("{};", expr(random, d)),
    }
}

fn iterator(random: &mut Random, depth: usize) -> String {
    let (a, b) = (expr(random, depth.min(1)), expr(random, depth.min(1)));
    match random.below(5) {
        0 => format!("{a}..{b}"),
        1 => format!("range({a}, {b}, {})", expr(random, 0)),
        2 => format!("unroll(0..{})", random.pick(&["2", "4", "N", "n", "-3", "1000000"])),
        3 => format!(
            "unroll(range(0, {}, {}))",
            random.pick(&["8", "N"]),
            random.pick(&["2", "0", "-1", "3"])
        ),
        _ => a,
    }
}

fn place(random: &mut Random, depth: usize) -> String {
    match random.below(5) {
        0 => "pair.left".to_owned(),
        1 => "pair.right".to_owned(),
        2 => format!("w[{}]", expr(random, depth.min(1))),
        3 => "(v, w)".to_owned(),
        _ => random.pick(NAMES).to_owned(),
    }
}

fn ty(random: &mut Random) -> String {
    let scalar = random.pick(TYPES);
    match random.below(5) {
        0 => format!("Tile<{scalar}>"),
        1 => format!("({scalar}, i32)"),
        2 => format!("Ptr<{scalar}>"),
        _ => scalar.to_owned(),
    }
}

fn literal(random: &mut Random) -> &'static str {
    random.pick(&[
        "0",
        "1",
        "2",
        "3",
        "7",
        "16",
        "64",
        "-1",
        "2147483647",
        "-2147483648",
        "4294967296",
        "1u8",
        "300u8",
        "1i64",
        "0.0",
        "1.5",
        "1e30",
        "-0.5f32",
        "2.0f64",
        "true",
        "false",
        "N",
    ])
}

fn expr(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return if random.once_in(2) {
            literal(random).to_owned()
        } else {
            random.pick(NAMES).to_owned()
        };
    }
    let d = depth - 1;
    match random.below(34) {
        0 => literal(random).to_owned(),
        1 => random.pick(NAMES).to_owned(),
        2..=6 => format!("({} {} {})", expr(random, d), random.pick(BINARY), expr(random, d)),
        7 => format!("{}{}", random.pick(&["-", "!", "*", "&", "&mut "]), expr(random, d)),
        8 => format!("({}).{}()", expr(random, d), random.pick(METHODS)),
        9 | 10 => format!("({}).{}({})", expr(random, d), random.pick(WITH_ONE), expr(random, d)),
        11 => format!("({}).cast::<{}>()", expr(random, d), random.pick(TYPES)),
        12 => format!("zeros::<{}>({})", random.pick(TYPES), random.pick(SHAPES)),
        13 => format!("full({}, {})", random.pick(SHAPES), expr(random, d)),
        14 => format!(
            "arange({}, {})",
            random.pick(&["0", "4", "-8", "n"]),
            random.pick(&["16", "64", "N", "12"])
        ),
        15 => format!("select({}, {}, {})", expr(random, d), expr(random, d), expr(random, d)),
        16 => format!(
            "{}({}, {})",
            random.pick(&["maximum", "minimum", "cdiv", "f", "store", "load"]),
            expr(random, d),
            expr(random, d)
        ),
        17 => format!("x.tile([{}, {}], [16, 16]).load()", expr(random, d), expr(random, d)),
        18 => format!(
            "y.tile([{}], [64]).{}",
            expr(random, d),
            random.pick(&["load()", "store(v)", "store(acc)"])
        ),
        19 => format!("dot({}, {}, {})", expr(random, d), expr(random, d), expr(random, d)),
        20 => format!(
            "if {} {{ {} }} else {{ {} }}",
            expr(random, d),
            block(random, d),
            block(random, d)
        ),
        21 => format!("({}, {})", expr(random, d), expr(random, d)),
        22 => format!("[{}, {}]", expr(random, d), expr(random, d)),
        23 => {
            format!("[{}; {}]", expr(random, d), random.pick(&["2", "4", "N", "4096", "-1", "n"]))
        }
        24 => format!("({}).{}", expr(random, d), random.pick(&["0", "1", "left", "right"])),
        25 => format!("({})[{}]", expr(random, d), expr(random, d)),
        26 => format!("(|a, b| {})({}, {})", expr(random, d), expr(random, d), expr(random, d)),
        27 => {
            format!("({}).reduce({}, |a, b| {})", expr(random, d), literal(random), expr(random, d))
        }
        28 => format!("({}).map(|v| {})", expr(random, d), expr(random, d)),
        29 => format!(
            "load_masked(p + {}, {}, {})",
            expr(random, d),
            expr(random, d),
            expr(random, d)
        ),
        30 => format!(
            "atomic::{}(p + {}, {})",
            random.pick(&["add", "max", "exchange", "and"]),
            expr(random, d),
            expr(random, d)
        ),
        31 => format!("({}) as {}", expr(random, d), random.pick(TYPES)),
        32 => random
            .pick(&[
                "pair.step(n)",
                "pair.sum()",
                "Pair { left: 1, right: acc }",
                "f32::INFINITY",
                "f16::BYTES",
                "i32::MAX",
                "block_id(0)",
                "x.dim(1)",
                "y.dims()",
                "blocked([1], [32], [N], [0])",
                "swizzle(128)",
                "array(3, |i| i)",
                "copy_async(x.tile([0, 0], [16, 16]), buf[0])",
                "loop { break n }",
                "target(sm_80)",
                "shared::<f32>([64])",
            ])
            .to_owned(),
        _ => format!("{{ {} }}", block(random, d)),
    }
}
