//! How many instructions conversions take: the table of `docs/conversions.md`.
//!
//! `UPDATE_EXPECT=1` writes the page.

use std::fmt::Write as _;

use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};

const PAGE: &str = include_str!("../../../docs/conversions.md");

const HEAD: &str = "# What conversions cost

Instructions of PTX for an element that is converted by `cast`, on `sm_90a`, between shared memory and shared memory. Loads and stores do
not count. Instructions that take elements of 8 and 16 bits out of the words in which they are loaded do, and those that put them into the
words in which they are stored. The row *`i32`, 24 bits* holds for integers of which the text says that they are from -16777216 to
16777216: `x & 4095`, `x % 100`, positions of `arange`, sums and products of these. A test of the compiler writes the table.

";

/// The rows: how they are called, the type, and what is done with the values before.
const FROM: [(&str, &str, &str); 12] = [
    ("`bool`", "bool", "x"),
    ("`i8`", "i8", "x"),
    ("`u8`", "u8", "x"),
    ("`i16`", "i16", "x"),
    ("`i32`", "i32", "x"),
    ("`i32`, 24 bits", "i32", "(x & 4095)"),
    ("`u32`", "u32", "x"),
    ("`i64`", "i64", "x"),
    ("`f16`", "f16", "x"),
    ("`bf16`", "bf16", "x"),
    ("`f32`", "f32", "x"),
    ("`e4m3`", "e4m3", "x"),
];

const FIELDS: &str = "
## Numbers of a few bits

Weights of four bits are two to a byte or eight to a word. Shifts and masks take them out, and a `cast` makes them floats. If the text says
at which bit a number begins and how many bits it has, the compiler converts two neighbours at once, without a conversion instruction:
one `prmt` for all numbers of two neighbours, a shift where one is needed, one `lop3` that puts the bits below an exponent, and one
`fma` or `add` that takes the exponent off. All values are exact. The numbers are these:

```rust
use kiln::prelude::*;

/// A row of bf16 numbers for each kind.
#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn unpack(
    bytes: Tensor<u8, 1>,
    signed: Tensor<i8, 1>,
    words: Tensor<u32, 1>,
    numbers: Tensor<i32, 1>,
    out: TensorMut<bf16, 2>,
) {
    let put = |row: i32, x: Tile<bf16>| out.tile([row, 0], [1, 512]).store(x.expand(0));
    let x = bytes.tile([0], [512]).load();
    put(0, (x & 15).cast::<bf16>()); // 0 to 15
    put(1, (x >> 4).cast::<bf16>());
    let x = signed.tile([0], [512]).load();
    put(2, (x << 4 >> 4).cast::<bf16>()); // -8 to 7
    put(3, (x >> 4).cast::<bf16>());
    let x = words.tile([0], [512]).load(); // the same of `i32`
    put(4, ((x >> 8) & 15).cast::<bf16>());
    let x = numbers.tile([0], [512]).load();
    put(5, (((x >> 8) & 15) - 8).cast::<bf16>()); // a constant that is taken off is free
}
```

A `bf16` takes numbers of up to 7 bits, an `f16` of up to 10; a number must not lie across bit 16 of a word. The table has
instructions for a number, including those that take it out.

| numbers | `f16` | `bf16` |
|---|---|---|
";

/// What is taken out of each element: how it is called, the type, and the numbers.
const PACKED: [(&str, &str, &[&str]); 5] = [
    ("two of a `u8`", "u8", &["x & 15", "x >> 4"]),
    ("two of an `i8`, with a sign", "i8", &["x << 4 >> 4", "x >> 4"]),
    (
        "eight of a `u32`",
        "u32",
        &[
            "x & 15",
            "(x >> 4) & 15",
            "(x >> 8) & 15",
            "(x >> 12) & 15",
            "(x >> 16) & 15",
            "(x >> 20) & 15",
            "(x >> 24) & 15",
            "x >> 28",
        ],
    ),
    (
        "eight of an `i32`, with a sign",
        "i32",
        &[
            "x << 28 >> 28",
            "x << 24 >> 28",
            "x << 20 >> 28",
            "x << 16 >> 28",
            "x << 12 >> 28",
            "x << 8 >> 28",
            "x << 4 >> 28",
            "x >> 28",
        ],
    ),
    ("two of an `i32`, less 8", "i32", &["(x & 15) - 8", "((x >> 4) & 15) - 8"]),
];

const TO: [&str; 7] = ["i8", "i32", "i64", "f16", "bf16", "f32", "e4m3"];

/// The instructions of a kernel that computes expressions of the elements of `x`, but for loads and stores.
fn instructions(from: &str, to: &str, expressions: &[&str], elements: u32) -> usize {
    let mut stores = String::new();
    for expression in expressions {
        let _ = write!(stores, "shared::<{to}>([{elements}]).store({expression});");
    }
    let source = format!("fn k() {{ let x = shared::<{from}>([{elements}]).load(); {stores} }}");
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    let locations = Locations::new(function.sig.ident.span());
    let mut problems = Problems::new();
    let attr = quote::quote!(target = sm_90a, warps = 1);
    let unit = syntax::parse_function(attr, &function, &locations, &mut problems);
    let compiled =
        compile_unit(&unit, &locations, &mut problems, Options::default(), &mut Vec::new());
    assert!(problems.is_empty(), "{source}: {problems:?}");
    let ptx = &compiled[0][0].images[0].variants[0].ptx;
    let instructions = ptx.lines().filter(|line| line.starts_with('\t') && line.ends_with(';'));
    let others = ["ld.", "st.", "bar.", ".loc", ".reg", "ret"];
    let instructions = instructions.map(str::trim);
    instructions.filter(|line| !others.iter().any(|other| line.starts_with(other))).count()
}

/// What each further element of `x` costs, in hundredths.
fn hundredths_of(from: &str, to: &str, expressions: &[&str]) -> usize {
    // 16 and 32 elements in each thread.
    let [few, many] = [512, 1024].map(|elements| instructions(from, to, expressions, elements));
    (many - few) * 100 / 16
}

fn hundredths(from: &str, to: &str, expression: &str) -> usize {
    hundredths_of(from, to, &[expression])
}

/// Hundredths as the page has them.
fn shown(cost: usize) -> String {
    let text = format!("{}.{:02}", cost / 100, cost % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn table() -> String {
    let mut page = HEAD.to_owned();
    let heads: Vec<String> = TO.iter().map(|to| format!("`{to}`")).collect();
    let _ = writeln!(page, "| from | {} |", heads.join(" | "));
    let _ = writeln!(page, "|{}", "---|".repeat(TO.len() + 1));
    for (name, from, value) in FROM {
        // The mask is one instruction.
        let before = if value == "x" { 0 } else { 100 };
        let costs: Vec<String> = TO
            .iter()
            .map(|to| {
                let cast = format!("{value}.cast::<{to}>()");
                let cost = hundredths(from, to, &cast) - before;
                shown(cost)
            })
            .collect();
        let _ = writeln!(page, "| {name} | {} |", costs.join(" | "));
    }
    page.push_str(FIELDS);
    for (name, from, values) in PACKED {
        let costs = ["f16", "bf16"].map(|to| {
            let casts: Vec<String> =
                values.iter().map(|value| format!("({value}).cast::<{to}>()")).collect();
            let casts: Vec<&str> = casts.iter().map(String::as_str).collect();
            shown(hundredths_of(from, to, &casts) / casts.len())
        });
        let _ = writeln!(page, "| {name} | {} |", costs.join(" | "));
    }
    page
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests may read the environment and write their expected text; the compiler may not"
)]
fn update(table: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/conversions.md");
        std::fs::write(path, table).expect("the page can be written");
    }
}

#[test]
fn the_page_has_what_conversions_cost() {
    let table = table();
    update(&table);
    assert_eq!(PAGE, table, "UPDATE_EXPECT=1 writes it anew");
}

/// Counted by hand: `cvt.rn.f32.s32` of each, `cvt.rn.bf16x2.f32` of two.
#[test]
fn small_integers_become_bf16_by_three_instructions_for_two() {
    let masked = hundredths("i32", "i32", "(x & 4095)");
    assert_eq!(hundredths("i32", "bf16", "(x & 4095).cast::<bf16>()"), masked + 150);
    // 2^24 + 1 is none that `f32` has.
    let wide = "minimum(maximum(x, 0), 16_777_217)";
    let one_less = "minimum(maximum(x, 0), 16_777_216)";
    let cost = |value: &str| {
        hundredths("i32", "bf16", &format!("{value}.cast::<bf16>()"))
            - hundredths("i32", "i32", value)
    };
    assert_eq!(cost(one_less), 150);
    assert!(cost(wide) > 400, "{}", cost(wide));
}

/// Counted by hand, for two neighbours: `prmt`; of each number `shr` unless it is at the lowest bit, `lop3`, and `fma` or `add`.
#[test]
fn numbers_of_four_bits_become_bf16_by_three_instructions_for_two() {
    let costs = PACKED.map(|(_, from, values)| {
        let casts: Vec<String> =
            values.iter().map(|value| format!("({value}).cast::<bf16>()")).collect();
        let casts: Vec<&str> = casts.iter().map(String::as_str).collect();
        hundredths_of(from, "bf16", &casts) / casts.len()
    });
    // Of a word 2 `prmt`, 6 `shr`, 8 `lop3` and 8 `fma` for sixteen numbers.
    assert_eq!(costs, [150; 5]);
}
