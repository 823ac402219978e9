//! The largest error of each function of floats, in units in the last place: a table in `docs/accuracy.md`.
//!
//! `cargo run --release -p benches --bin math_errors -- --write` runs on the first GPU, over all 2^32 values of `f32` and all 2^16 of
//! the half types; without `--write` it prints the table. `--emulator` runs on the emulator, over every 65521st value of `f32`;
//! `--step N` over every Nth; with names of functions, of these alone, which `--write` does not take. Powers have two arguments: pairs drawn at random, so that results of all sizes occur.
//!
//! `--doubles` measures `f64` instead, against slow functions that are exact to about 100 bits: `--count N` arguments of each function,
//! drawn at random, so that all sizes occur, the range in which the function is neither 0 nor infinite, and numbers near 1 and near
//! multiples of π/2. Functions of `f64` have the same bits everywhere, save for the cube root, so that the emulator measures them too.
//!
//! The program fails if a function that promises 2 ulp has a larger error.
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

use std::fmt::Write as _;
use std::{fs, path::Path, thread};

use anyhow::{Context, Result, ensure};
use exact::Exact;
use kiln::prelude::*;

#[path = "../../../tests/exact/functions.rs"]
mod exact;

/// A kernel for each function; `$promised` says whether it promises 2 ulp.
macro_rules! functions {
    ($($name:ident: $exact:expr, $promised:expr;)*) => {
        $(mod $name {
            use kiln::prelude::*;

            #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024), instances(T = [f16, bf16, f32]))]
            pub(crate) fn apply<T: Float>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
                let at = block_id(0) * 1024;
                out.tile([at], [1024]).store(x.tile([at], [1024]).load().$name());
            }
        })*

        const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            promised: $promised,
            exact: $exact,
            f32: |stream, x, out| $name::apply::<f32>($name::apply::Args { x, out }).launch(stream),
            f16: |stream, x, out| $name::apply::<f16>($name::apply::Args { x, out }).launch(stream),
            bf16: |stream, x, out| $name::apply::<bf16>($name::apply::Args { x, out }).launch(stream),
        }),*];
    };
}

type Run<T> = fn(&Stream, &DeviceTensor<T, 1>, &mut DeviceTensor<T, 1>) -> kiln::Result<()>;

struct Function {
    name: &'static str,
    promised: bool,
    exact: fn(f64) -> f64,
    f32: Run<f32>,
    f16: Run<f16>,
    bf16: Run<bf16>,
}

functions! {
    exp: f64::exp, true;
    exp_m1: f64::exp_m1, true;
    exp2: f64::exp2, true;
    ln: f64::ln, true;
    ln_1p: f64::ln_1p, true;
    log2: f64::log2, true;
    log10: f64::log10, true;
    sin: f64::sin, true;
    cos: f64::cos, true;
    tanh: f64::tanh, true;
    erf: libm::erf, true;
    erfc: libm::erfc, true;
    cbrt: f64::cbrt, true;
    rsqrt: |x| x.sqrt().recip(), true;
    sqrt: f64::sqrt, true;
    exp_approx: f64::exp, false;
    exp2_approx: f64::exp2, false;
    ln_approx: f64::ln, false;
    log2_approx: f64::log2, false;
    sin_approx: f64::sin, false;
    cos_approx: f64::cos, false;
    tanh_approx: f64::tanh, false;
}

/// A kernel for each function of `f64`.
macro_rules! doubles {
    ($($name:ident)*) => {
        mod of_doubles {
            $(pub(crate) mod $name {
                use kiln::prelude::*;

                #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
                pub(crate) fn apply(x: Tensor<f64, 1>, out: TensorMut<f64, 1>) {
                    let at = block_id(0) * 1024;
                    out.tile([at], [1024]).store(x.tile([at], [1024]).load().$name());
                }
            })*
        }

        const DOUBLES: &[Double] = &[$(Double {
            name: stringify!($name),
            exact: exact::$name,
            run: |stream, x, out| of_doubles::$name::apply(of_doubles::$name::apply::Args { x, out }).launch(stream),
        }),*];
    };
}

struct Double {
    name: &'static str,
    exact: fn(f64) -> Exact,
    run: Run<f64>,
}

doubles! { exp exp_m1 exp2 ln ln_1p log2 log10 sin cos tanh erf erfc cbrt rsqrt }

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
fn raise_double(x: Tensor<f64, 1>, y: Tensor<f64, 1>, out: TensorMut<f64, 1>) {
    let at = [block_id(0) * 1024];
    let power = x.tile(at, [1024]).load().powf(y.tile(at, [1024]).load());
    out.tile(at, [1024]).store(power);
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
fn raise(x: Tensor<f32, 1>, y: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 1024];
    let power = x.tile(at, [1024]).load().powf(y.tile(at, [1024]).load());
    out.tile(at, [1024]).store(power);
}

/// An element type as the errors see it.
trait Format: Copy + Send + Sync {
    const FRACTION_BITS: i32;
    const LEAST_EXPONENT: i32;
    const BEYOND: i32;
    fn exactly(self) -> f64;
}

macro_rules! formats {
    ($($ty:ty: $fraction:literal $least:literal $beyond:literal;)*) => {$(
        impl Format for $ty {
            const FRACTION_BITS: i32 = $fraction;
            const LEAST_EXPONENT: i32 = $least;
            const BEYOND: i32 = $beyond;
            fn exactly(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
}

formats! {
    f32: 23 -126 128;
    f16: 10 -14 16;
    bf16: 7 -126 128;
}

/// How far `actual` is from `exact`, in units in the last place of a `T` of that size. Infinity stands for the power of two after the
/// largest number; NaN for a number, or a number for NaN, is infinitely wrong.
fn ulp<T: Format>(actual: T, exact: f64) -> f64 {
    let actual = actual.exactly();
    if actual.is_nan() || exact.is_nan() {
        return if actual.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let beyond = 2f64.powi(T::BEYOND);
    let within = |value: f64| if value.is_infinite() { beyond.copysign(value) } else { value };
    if actual.is_infinite() && exact.abs() >= beyond {
        return if (actual > 0.0) == (exact > 0.0) { 0.0 } else { f64::INFINITY };
    }
    let (actual, exact) = (within(actual), within(exact));
    let exponent = if exact == 0.0 {
        T::LEAST_EXPONENT
    } else {
        i32::try_from(exact.abs().to_bits() >> 52).expect("11 bits") - 1023
    };
    let exponent = exponent.clamp(T::LEAST_EXPONENT, T::BEYOND - 1);
    (actual - exact).abs() / 2f64.powi(exponent - T::FRACTION_BITS)
}

/// The largest error so far, and where it is.
#[derive(Clone, Copy, Default)]
struct Largest {
    ulp: f64,
    at: [f64; 2],
}

impl Largest {
    fn or(self, other: Largest) -> Largest {
        if other.ulp > self.ulp { other } else { self }
    }
}

/// The largest error of results, computed on all cores.
fn largest<T: Format>(
    results: &[T],
    of: impl Fn(usize) -> ([f64; 2], f64) + Sync,
) -> Result<Largest> {
    largest_of(results, |index, actual| {
        let (at, exact) = of(index);
        Largest { ulp: ulp(actual, exact), at }
    })
}

/// The largest of the errors that `of` finds, on all cores.
fn largest_of<T: Copy + Sync>(
    results: &[T],
    of: impl Fn(usize, T) -> Largest + Sync,
) -> Result<Largest> {
    let threads = thread::available_parallelism()?.get();
    let share = results.len().div_ceil(threads).max(1);
    let parts = thread::scope(|scope| {
        let parts: Vec<_> = results
            .chunks(share)
            .enumerate()
            .map(|(part, results)| {
                let of = &of;
                scope.spawn(move || {
                    let mut largest = Largest::default();
                    for (index, &actual) in results.iter().enumerate() {
                        largest = largest.or(of(part * share + index, actual));
                    }
                    largest
                })
            })
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().expect("a part does not panic"))
            .collect::<Vec<_>>()
    });
    Ok(parts.into_iter().fold(Largest::default(), Largest::or))
}

/// How many values are on the device at once.
const CHUNK: usize = 1 << 24;

fn measure<T: Format + Element + Default>(
    stream: &Stream,
    run: Run<T>,
    exact: fn(f64) -> f64,
    values: impl Iterator<Item = T>,
) -> Result<Largest> {
    let mut values = values.peekable();
    let mut worst = Largest::default();
    while values.peek().is_some() {
        let part: Vec<T> = values.by_ref().take(CHUNK).collect();
        let x = stream.upload(&part, [part.len()])?;
        let mut out = stream.zeros([part.len()])?;
        run(stream, &x, &mut out)?;
        let results = out.to_vec(stream)?;
        let found = largest(&results, |index| {
            let x = part[index].exactly();
            ([x, 0.0], exact(x))
        })?;
        worst = worst.or(found);
    }
    Ok(worst)
}

/// A generator of the kind of Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A base and a power: bases of all sizes, between 1/2 and 2 and near 1, with results of all sizes; then any two numbers.
#[expect(clippy::cast_possible_truncation, reason = "bits are taken from words")]
#[expect(clippy::cast_precision_loss, reason = "an exponent need not be exact")]
fn pair(random: &mut Random, index: usize) -> (f32, f32) {
    let (bits, word) = (random.word() as u32, random.word());
    let log2 = (word >> 11) as f64 / 2f64.powi(53) * 300.0 - 150.0;
    let x = match index % 4 {
        0 => f32::from_bits(bits & 0x7fff_ffff),
        1 => f32::from_bits(0x3f00_0000 + (bits & 0xff_ffff)),
        2 => f32::from_bits(0x3f7f_0000 + (bits & 0x1_ffff)),
        _ => return (f32::from_bits(bits), f32::from_bits(word as u32)),
    };
    (x, (log2 / f64::from(x).log2()) as f32)
}

fn measure_powers(stream: &Stream, count: usize) -> Result<Largest> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut worst = Largest::default();
    for begin in (0..count).step_by(CHUNK) {
        let end = count.min(begin + CHUNK);
        let (x, y): (Vec<f32>, Vec<f32>) =
            (begin..end).map(|index| pair(&mut random, index)).unzip();
        let (bases, powers) = (stream.upload(&x, [x.len()])?, stream.upload(&y, [y.len()])?);
        let mut out = stream.zeros([x.len()])?;
        raise(raise::Args { x: &bases, y: &powers, out: &mut out }).launch(stream)?;
        let results = out.to_vec(stream)?;
        let found = largest(&results, |index| {
            let [x, y] = [&x, &y].map(|of| f64::from(of[index]));
            ([x, y], x.powf(y))
        })?;
        worst = worst.or(found);
    }
    Ok(worst)
}

/// A number from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn part(random: &mut Random) -> f64 {
    (random.word() >> 11) as f64 / 2f64.powi(53)
}

/// An `f64`: of any size, in the range of the exponential function, in that of the error function, near 1, or near a multiple of π/2.
fn double(random: &mut Random, index: usize) -> f64 {
    let near = i32::try_from(random.word() % 50).expect("a small number");
    let far = i32::try_from(random.word() % 1000).expect("a small number");
    match index % 6 {
        0 => f64::from_bits(random.word()),
        1 => 1500.0 * part(random) - 750.0,
        2 => 34.0 * part(random) - 6.0,
        3 => (2.0 * part(random) - 1.0) * 2f64.powi(3 - near),
        4 => 1.0 + (part(random) - 0.5) * 2f64.powi(-near),
        _ => (part(random) * 2f64.powi(far)).round() * std::f64::consts::FRAC_PI_2,
    }
}

fn measure_double(stream: &Stream, function: &Double, count: usize) -> Result<Largest> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut worst = Largest::default();
    for begin in (0..count).step_by(CHUNK) {
        let x: Vec<f64> =
            (begin..count.min(begin + CHUNK)).map(|index| double(&mut random, index)).collect();
        let values = stream.upload(&x, [x.len()])?;
        let mut out = stream.zeros([x.len()])?;
        (function.run)(stream, &values, &mut out)?;
        let results = out.to_vec(stream)?;
        let found = largest_of(&results, |index, actual| Largest {
            ulp: (function.exact)(x[index]).ulp(actual),
            at: [x[index], 0.0],
        })?;
        worst = worst.or(found);
    }
    Ok(worst)
}

/// A base and a power of `f64`, as [`pair`] has them.
fn double_pair(random: &mut Random, index: usize) -> (f64, f64) {
    let log2 = 2200.0 * part(random) - 1100.0;
    let near = i32::try_from(random.word() % 45).expect("a small number");
    let x = match index % 4 {
        0 => f64::from_bits(random.word() & (u64::MAX >> 1)),
        1 => 0.5 + 1.5 * part(random),
        2 => 1.0 + (part(random) - 0.5) * 2f64.powi(-near),
        _ => return (f64::from_bits(random.word()), f64::from_bits(random.word())),
    };
    (x, log2 / x.log2())
}

fn measure_double_powers(stream: &Stream, count: usize) -> Result<Largest> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut worst = Largest::default();
    for begin in (0..count).step_by(CHUNK) {
        let (x, y): (Vec<f64>, Vec<f64>) =
            (begin..count.min(begin + CHUNK)).map(|index| double_pair(&mut random, index)).unzip();
        let (bases, powers) = (stream.upload(&x, [x.len()])?, stream.upload(&y, [y.len()])?);
        let mut out = stream.zeros([x.len()])?;
        raise_double(raise_double::Args { x: &bases, y: &powers, out: &mut out }).launch(stream)?;
        let results = out.to_vec(stream)?;
        let found = largest_of(&results, |index, actual| {
            let [x, y] = [x[index], y[index]];
            Largest { ulp: exact::powf(x, y).ulp(actual), at: [x, y] }
        })?;
        worst = worst.or(found);
    }
    Ok(worst)
}

/// The table of `f64`, and the functions with more than 2 ulp.
fn measure_doubles(
    device: &Device,
    count: usize,
    wanted: impl Fn(&str) -> bool,
) -> Result<(String, Vec<&'static str>)> {
    let stream = device.stream()?;
    let mut wrong = Vec::new();
    let mut table = format!(
        "Measured on {device}: {count} arguments of each function.\n\n\
         | function | `f64` | at |\n|---|---|---|\n"
    );
    let mut row = |name: &'static str, found: Largest, at: String| -> Result<()> {
        println!("{name}: {}", shown(found));
        writeln!(table, "| `{name}` | {} | {at} |", shown(found))?;
        if found.ulp > 2.0 {
            wrong.push(name);
        }
        Ok(())
    };
    for function in DOUBLES.iter().filter(|function| wanted(function.name)) {
        let found = measure_double(&stream, function, count)?;
        row(function.name, found, format!("{:e}", found.at[0]))?;
    }
    if wanted("powf") {
        let found = measure_double_powers(&stream, count)?;
        row("powf", found, format!("{:e}, {:e}", found.at[0], found.at[1]))?;
    }
    Ok((table, wrong))
}

/// An argument, which came from an `f32`.
#[expect(clippy::cast_possible_truncation, reason = "the value is one of `f32`")]
fn narrowed(value: f64) -> f32 {
    value as f32
}

/// An error as the table has it.
fn shown(largest: Largest) -> String {
    match largest.ulp {
        ulp if ulp < 100.0 => format!("{ulp:.2}"),
        ulp => format!("{ulp:.1e}"),
    }
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/accuracy.md");
const MARKS: [&str; 2] = ["<!-- measured -->\n", "<!-- end of what is measured -->\n"];
const DOUBLE_MARKS: [&str; 2] =
    ["<!-- doubles, measured -->\n", "<!-- end of what is measured of doubles -->\n"];

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (mut write, mut emulator, mut step, mut only) = (false, false, None, Vec::new());
    let (mut doubles, mut count) = (false, 10_000_000);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--write" => write = true,
            "--emulator" => emulator = true,
            "--doubles" => doubles = true,
            "--count" => count = args.next().context("`--count` takes a number")?.parse()?,
            "--step" => step = Some(args.next().context("`--step` takes a number")?.parse()?),
            name if name == "powf" || FUNCTIONS.iter().any(|function| function.name == name) => {
                only.push(arg);
            }
            other => anyhow::bail!(
                "required a function, `--write`, `--emulator`, `--doubles`, `--count N` or `--step N`, not `{other}`"
            ),
        }
    }
    let device = if emulator { Device::emulator(Target::Sm90a)? } else { Device::cuda(0)? };
    let step: usize = step.unwrap_or(if emulator { 65_521 } else { 1 });
    ensure!(step > 0, "a step is at least 1");
    ensure!(!write || only.is_empty(), "the page has all functions");
    let wanted = |name: &str| only.is_empty() || only.iter().any(|one: &String| one == name);
    if doubles {
        let (table, wrong) = measure_doubles(&device, count, wanted)?;
        if write {
            write_page(&table, DOUBLE_MARKS)?;
        } else {
            println!("\n{table}");
        }
        ensure!(wrong.is_empty(), "more than 2 ulp: {}", wrong.join(", "));
        return Ok(());
    }
    let stream = device.stream()?;
    let pairs = (1 << 32) / step.max(16);
    let of = if step == 1 { "all values".to_owned() } else { format!("one of {step} values") };
    let mut table = format!(
        "Measured on {device}: {of} of `f32`, all of `f16` and `bf16`, {pairs} pairs of `powf`.\n\n\
         | function | `f32` | at | `f16` | `bf16` |\n|---|---|---|---|---|\n"
    );
    let mut wrong = Vec::new();
    for function in FUNCTIONS.iter().filter(|function| wanted(function.name)) {
        let single = measure(
            &stream,
            function.f32,
            function.exact,
            (0..=u32::MAX).step_by(step).map(f32::from_bits),
        )?;
        let half =
            measure(&stream, function.f16, function.exact, (0..=u16::MAX).map(f16::from_bits))?;
        let brain =
            measure(&stream, function.bf16, function.exact, (0..=u16::MAX).map(bf16::from_bits))?;
        let x = narrowed(single.at[0]);
        writeln!(
            table,
            "| `{}` | {} | {x:e} | {} | {} |",
            function.name,
            shown(single),
            shown(half),
            shown(brain)
        )?;
        println!("{}: {}, {}, {}", function.name, shown(single), shown(half), shown(brain));
        // A half that is rounded once more has half a unit, and a little from before.
        if function.promised && (single.ulp > 2.0 || half.ulp.max(brain.ulp) > 0.52) {
            wrong.push(function.name);
        }
    }
    if wanted("powf") {
        let powers = measure_powers(&stream, pairs)?;
        let [x, y] = powers.at.map(narrowed);
        writeln!(table, "| `powf` | {} | {x:e}, {y:e} | | |", shown(powers))?;
        println!("powf: {}", shown(powers));
        if powers.ulp > 2.0 {
            wrong.push("powf");
        }
    }
    if write {
        write_page(&table, MARKS)?;
    } else {
        println!("\n{table}");
    }
    ensure!(wrong.is_empty(), "more than 2 ulp: {}", wrong.join(", "));
    Ok(())
}

/// Replaces what stands between the marks of the page.
fn write_page(table: &str, marks: [&str; 2]) -> Result<()> {
    let page = Path::new(PAGE);
    let text = fs::read_to_string(page).context("docs/accuracy.md")?;
    let (before, rest) = text.split_once(marks[0]).context("the page has a mark")?;
    let (_, after) = rest.split_once(marks[1]).context("the page has a second mark")?;
    fs::write(page, format!("{before}{}\n{table}\n{}{after}", marks[0], marks[1]))?;
    Ok(())
}
