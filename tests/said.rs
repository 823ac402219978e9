//! What kernels print and assert.
//!
//! Each test runs itself again in a process of its own, whose standard output it reads: a kernel that fails takes the device along.
//! The device is the emulator, or what `KILN_DEVICE` names.

#![expect(clippy::print_stdout, reason = "what kernels print is under test")]

use std::{fmt::Write as _, process::Command};

use kiln::prelude::*;

/// The variable that names the test whose kernels a process is to run.
const CHILD: &str = "KILN_SAID";

/// What a test prints, and how it ends; nothing in the process that is to print it.
fn said(test: &str, run: fn(&Stream) -> Result<()>) -> Option<String> {
    if std::env::var(CHILD).is_ok_and(|child| child == test) {
        let device = Device::best_for(&[Target::Sm80, Target::Sm90a]).expect("the device is there");
        let stream = device.stream().expect("a stream");
        println!("<begin>");
        let ended = run(&stream);
        match ended {
            Ok(()) => println!("<end>"),
            Err(error) => println!("{error}<end>"),
        }
        return None;
    }
    let device = std::env::var("KILN_DEVICE").unwrap_or_else(|_| "emulator".to_owned());
    let program = std::env::current_exe().expect("the test's program");
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, test)
        .env("KILN_DEVICE", device)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let (_, text) = text.split_once("<begin>\n").expect("the test begins");
    let (text, _) = text.split_once("<end>").expect("the test ends");
    Some(text.to_owned())
}

/// Lines with an index before each.
fn indexed<T>(values: &[T], write: impl Fn(usize, &T) -> String) -> String {
    values.iter().enumerate().fold(String::new(), |mut text, (i, value)| {
        let _ = writeln!(text, "[{i}] {}", write(i, value));
        text
    })
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
fn numbers(
    n: i32,
    byte: u8,
    long: i64,
    word: u64,
    single: f32,
    double: f64,
    half: f16,
    brain: bf16,
) {
    println!();
    println!("{n} {n:?} {n:>8}|{n:<8}|{n:^8}|{n:+}|{n:08}|{n:x} {n:#X} {n:b} {n:o} {n:e}");
    println!("{byte} {byte:#04x} {} {}", byte as i8, byte as i16);
    println!("{long} {word} {word:x} {}", n as u32);
    println!("{single} {single:?} {single:.2} {single:10.3e} {0:E}", double);
    println!("{half} {half:?} {:.1} {brain}", half.cast::<f32>());
    println!("{} {:?} {:>6}", n < 0, n > 0, n == 0);
    println!("{{{}}} {x} {0} {}", 1, 2.5f32, x = n + 1);
    print!("no end of a line");
    print!("; {} blocks\n", num_blocks(0));
}

#[test]
fn numbers_are_written_as_rust_writes_them() {
    let (n, long, word) = (-42, i64::MIN, u64::MAX - 1);
    let (single, double) = (1.0f32 / 3.0, -2.5e-300);
    let run = |stream: &Stream| {
        let (half, brain) = (f16::from_f32(65504.0), bf16::from_f32(f32::NEG_INFINITY));
        numbers(numbers::Args {
            n: -42,
            byte: 250,
            long: i64::MIN,
            word: u64::MAX - 1,
            single: 1.0 / 3.0,
            double: -2.5e-300,
            half,
            brain,
        })
        .launch(stream)
    };
    let Some(text) = said("numbers_are_written_as_rust_writes_them", run) else { return };
    let required = [
        String::new(),
        format!("{n} {n:?} {n:>8}|{n:<8}|{n:^8}|{n:+}|{n:08}|{n:x} {n:#X} {n:b} {n:o} {n:e}"),
        "250 0xfa -6 250".to_owned(),
        format!("{long} {word} {word:x} 4294967254"),
        format!("{single} {single:?} {single:.2} {single:10.3e} {double:E}"),
        "65504 65504.0 65504.0 -inf".to_owned(),
        "true false  false".to_owned(),
        "{1} -41 1 2.5".to_owned(),
        "no end of a line; 1 blocks".to_owned(),
        String::new(),
    ];
    assert_eq!(text, required.join("\n"));
}

/// A tile smaller than the block, so that several threads hold each element; one larger; an extent of 1; two tiles in a text.
#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f16, bf16, f32, f64, i8, u16, i64, bool, e4m3]))]
fn elements<T: Scalar>(x: Tensor<T, 2>) {
    println!("{:?}", x.tile([0, 0], [2, 4]).load());
    println!("one {:>7?}", x.tile([1, 3], [1, 1]).load());
    let rows = x.tile([0, 0], [32, 16]).load();
    let at = arange(0, 16).expand(0).broadcast([32, 16]);
    println!("{0:?} of {at} {0:?}", rows);
}

fn two_by_four<T: Element>(stream: &Stream, values: [T; 8]) -> Result<()>
where
    elements::Instances: elements::Include<T>,
{
    let x = stream.upload(&values, [2, 4])?;
    elements::<T>(elements::Args { x: &x }).launch(stream)
}

/// The lines for a matrix of two rows of four, and what lies outside of it, which is zero.
fn lines<T: Element>(values: [T; 8]) -> String {
    let mut text = String::new();
    for (i, value) in values.iter().enumerate() {
        let _ = writeln!(text, "[{}, {}] {value:?}", i / 4, i % 4);
    }
    let _ = writeln!(text, "[0, 0] one {:>7?}", values[7]);
    for row in 0..32 {
        for column in 0..16 {
            let inside = row < 2 && column < 4;
            let value = if inside { values[row * 4 + column] } else { T::default() };
            let _ = writeln!(text, "[{row}, {column}] {value:?} of {column} {value:?}");
        }
    }
    text
}

fn halves() -> [f16; 8] {
    [0.0, -0.0, 1.5, f32::NAN, f32::INFINITY, -65504.0, 6e-8, 0.1].map(f16::from_f32)
}

fn brains() -> [bf16; 8] {
    [0.0, -0.0, 1.5, f32::NAN, f32::NEG_INFINITY, 3e38, 1e-40, 0.1].map(bf16::from_f32)
}

const SINGLES: [f32; 8] = [0.0, -0.0, 1e-45, f32::MAX, 0.1, -7.25, f32::INFINITY, f32::NAN];
const DOUBLES: [f64; 8] = [0.0, -0.0, 5e-324, f64::MAX, 0.1, -7.25, f64::INFINITY, f64::NAN];
const BYTES: [i8; 8] = [0, 1, -1, 127, -128, 64, -64, 3];
const WORDS: [u16; 8] = [0, 1, 65535, 127, 128, 64, 32768, 3];
const LONGS: [i64; 8] = [0, 1, -1, i64::MAX, i64::MIN, 1 << 32, -(1 << 40), 3];
const FLAGS: [bool; 8] = [true, false, false, true, true, true, false, true];

fn eights() -> [e4m3; 8] {
    [0, 0x80, 0x38, 0x7e, 0xfe, 1, 0x7f, 0x41].map(e4m3::from_bits)
}

#[test]
fn tiles_are_written_element_by_element() {
    let run = |stream: &Stream| {
        two_by_four(stream, halves())?;
        two_by_four(stream, brains())?;
        two_by_four(stream, SINGLES)?;
        two_by_four(stream, DOUBLES)?;
        two_by_four(stream, BYTES)?;
        two_by_four(stream, WORDS)?;
        two_by_four(stream, LONGS)?;
        two_by_four(stream, FLAGS)?;
        two_by_four(stream, eights())
    };
    let Some(text) = said("tiles_are_written_element_by_element", run) else { return };
    let required = [
        lines(halves()),
        lines(brains()),
        lines(SINGLES),
        lines(DOUBLES),
        lines(BYTES),
        lines(WORDS),
        lines(LONGS),
        lines(FLAGS),
        lines(eights()),
    ];
    for (actual, required) in text.lines().zip(required.concat().lines()) {
        assert_eq!(actual, required);
    }
    assert_eq!(text, required.concat());
}

#[kernel(target = sm_80, warps = 2, grid = 3)]
fn branches(x: Tensor<f32, 1>, shift: Option<i32>) {
    let block = block_id(0);
    let mut sum = 0;
    for i in range(0, block, 1) {
        if i % 2 == 0 {
            println!("block {block}: even {i}");
        } else {
            println!("block {block}: odd {i}");
        }
        sum += i;
        assert_eq!(sum, i * (i + 1) / 2);
    }
    unroll_twice(block);
    if let Some(shift) = shift {
        println!("{}", x.tile([block], [1]).load() + shift as f32);
    }
    println!("sum {sum}: {}", x.tile([0], [64]).load().sum(0));
}

/// Called by a kernel: its lines are its own.
#[device]
fn unroll_twice(block: i32) {
    for i in unroll(0..2) {
        println!("{}", block * 10 + i);
    }
}

#[test]
fn lines_come_block_by_block_in_the_order_of_the_text() {
    let run = |stream: &Stream| {
        let x = stream.upload(&[0.5f32, 1.5, 2.5], [3])?;
        branches(branches::Args { x: &x, shift: Some(10) }).launch(stream)?;
        println!("absent");
        branches(branches::Args { x: &x, shift: None }).launch(stream)
    };
    let Some(text) = said("lines_come_block_by_block_in_the_order_of_the_text", run) else {
        return;
    };
    let required = "0\n1\n[0] 10.5\nsum 0: 4.5\n\
        block 1: even 0\n10\n11\n[0] 11.5\nsum 0: 4.5\n\
        block 2: even 0\nblock 2: odd 1\n20\n21\n[0] 12.5\nsum 1: 4.5\n";
    let without: String = required
        .lines()
        .filter(|line| !line.starts_with('['))
        .fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(text, format!("{required}absent\n{without}"));
}

#[kernel(target = sm_90a, warps = 1, grid = 1)]
fn partitions(x: TensorMut<f32, 1>) {
    warp_specialize(
        || {
            println!("the kernel's own warp");
            println!("{}", arange(0, 4) + 10);
            x.tile([0], [32]).store(full([32], 1.0));
        },
        [
            partition(2).run(|| {
                assert!(x.dim(0) == 64);
                println!("{}", arange(0, 128) % 2);
            }),
            partition(1).run(|| println!("one warp")),
        ],
    );
}

#[test]
fn each_partition_says_its_own_once() {
    let run = |stream: &Stream| {
        let mut x = stream.zeros::<f32, 1>([64])?;
        partitions(partitions::Args { x: &mut x }).launch(stream)
    };
    let Some(text) = said("each_partition_says_its_own_once", run) else { return };
    let count = |line: &str| text.lines().filter(|&other| other == line).count();
    assert_eq!((count("the kernel's own warp"), count("one warp")), (1, 1), "{text}");
    let mine: Vec<&str> = text.lines().filter(|line| line.ends_with(|c| c > '1')).collect();
    assert_eq!(count("[0] 10") + count("[3] 13"), 2, "{mine:?}");
    let halves: Vec<i32> = (0..128).map(|i| i % 2).collect();
    assert!(text.contains(&indexed(&halves, |_, half| half.to_string())), "{text}");
    assert_eq!(text.lines().count(), 2 + 4 + 128, "{text}");
}

/// The entry takes the memory for what is said, and a tensor map after it.
#[kernel(target = sm_90a, warps = 4, grid = 1)]
fn by_map(#[block(8, 16)] x: TensorMap<f32, 2>, n: i32) {
    let (staged, full) = (shared::<f32>([8, 16]), barrier(1));
    full.expect(staged.bytes());
    tma::load(x, [n, 0], full, staged);
    full.wait(0);
    println!("{}", staged.load().sum([0, 1]));
    assert_ne!(n, 8, "row {n}");
}

#[test]
fn kernels_with_tensor_maps_say_something() {
    let run = |stream: &Stream| {
        let values: Vec<f32> = (0u8..128).map(f32::from).collect();
        let x = stream.upload(&values, [8, 16])?;
        by_map(by_map::Args { x: &x, n: 0 }).launch(stream)?;
        by_map(by_map::Args { x: &x, n: 7 }).launch(stream)?;
        by_map(by_map::Args { x: &x, n: 8 }).launch(stream)
    };
    let Some(text) = said("kernels_with_tensor_maps_say_something", run) else { return };
    let last: f32 = (112u8..128).map(f32::from).sum();
    assert!(text.starts_with(&format!("8128\n{last}\n")), "{text}");
    assert!(text.ends_with(": row 8\n  left: 8\n right: 8"), "{text}");
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
fn many(rounds: i32) {
    for round in range(0, rounds, 1) {
        println!("{round}: {}", arange(0, 1024));
    }
    assert!(rounds < 100, "after {rounds} rounds");
}

/// `[3] 1: 3`
fn round_and_element(line: &str) -> (usize, usize) {
    let (index, rest) = line.split_once(' ').expect("an index");
    let (round, element) = rest.split_once(": ").expect("a round");
    assert_eq!(index, format!("[{element}]"));
    let number = |text: &str| text.parse().expect("a number");
    (number(round), number(element))
}

#[test]
fn what_finds_no_room_is_counted() {
    let run = |stream: &Stream| {
        many(many::Args { rounds: 40 }).launch(stream)?;
        many(many::Args { rounds: 100 }).launch(stream)
    };
    let Some(text) = said("what_finds_no_room_is_counted", run) else { return };
    // 1 MiB in slots of 24 + 2 · 8 bytes, of which an eighth is for assertions.
    let slots = ((1 << 20) - 16) / 40;
    let room = slots - slots / 8;
    // Which of the lines find room is for the device to say, as its warps come in any order.
    let first: Vec<(usize, usize)> = text.lines().take(room).map(round_and_element).collect();
    assert!(first.iter().all(|&(round, element)| round < 40 && element < 1024));
    assert!(first.is_sorted_by(|a, b| a < b), "each once, in the order of the rounds");
    let mut rest = text.lines().skip(room);
    let left = 40 * 1024 - room;
    assert_eq!(rest.next(), Some(&*format!("kiln: {left} more texts of `many` found no room")));
    // A full memory has room for what an assertion says.
    let last = rest.last().unwrap_or_default();
    assert!(last.contains("`rounds < 100` failed at tests/said.rs:"), "{last}");
    assert!(last.ends_with(": after 100 rounds"), "{last}");
}

mod wrong {
    use super::*;

    #[kernel(target = sm_80, warps = 4, grid = [2, 3])]
    pub(super) fn plain(n: i32) {
        println!("before");
        if block_id(0) == 1 && block_id(1) == 2 {
            assert!(n < 4);
        }
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub(super) fn with_text(n: i32, x: Tensor<f32, 1>) {
        let sum = x.tile([0], [64]).load().sum(0).item();
        debug_assert!(n < 4, "row {n} of {}: {sum:.3}", 4);
    }

    #[kernel(target = sm_80, warps = 4, grid = 1)]
    pub(super) fn equal(n: i32) {
        assert_eq!(n * 2, 8, "twice {n}");
        assert_ne!(n, 4);
    }
}

#[test]
fn a_failed_assertion_is_the_error_of_the_launch() {
    let plain = said("a_failed_assertion_is_the_error_of_the_launch", |stream| {
        wrong::plain(wrong::plain::Args { n: 4 }).launch(stream)
    });
    let Some(plain) = plain else { return };
    let begin = "`plain`: the assertion `n < 4` failed at tests/said.rs:";
    let (before, error) = plain.split_at(plain.find('`').expect("an error"));
    // The blocks that have not come so far print nothing.
    assert!(before.lines().all(|line| line == "before"), "{plain}");
    assert!(error.starts_with(begin) && error.ends_with(":13, in block (1, 2, 0)"), "{plain}");
}

/// The line of the assertion in the function after it.
const OF_DEVICE: u32 = line!() + 5;

/// Called by a kernel, which stands on another line.
#[device]
fn limited(n: i32) -> i32 {
    assert!(n < 4);
    n + 1
}

#[kernel(target = sm_80, warps = 1, grid = 1)]
fn calls(n: i32) {
    println!("{}", limited(n));
}

#[test]
fn an_assertion_in_a_device_function_names_its_own_line() {
    let text = said("an_assertion_in_a_device_function_names_its_own_line", |stream| {
        calls(calls::Args { n: 3 }).launch(stream)?;
        calls(calls::Args { n: 4 }).launch(stream)
    });
    let Some(text) = text else { return };
    let failed =
        format!("4\n`calls`: the assertion `n < 4` failed at tests/said.rs:{OF_DEVICE}:5,");
    assert!(text.starts_with(&failed), "{text}");
}

#[test]
fn a_failed_assertion_says_its_text() {
    let text = said("a_failed_assertion_says_its_text", |stream| {
        let x = stream.upload(&[0.25f32; 64], [64])?;
        wrong::with_text(wrong::with_text::Args { n: 3, x: &x }).launch(stream)?;
        wrong::with_text(wrong::with_text::Args { n: 4, x: &x }).launch(stream)
    });
    let Some(text) = text else { return };
    assert!(text.starts_with("`with_text`: the assertion `n < 4` failed at "), "{text}");
    assert!(text.ends_with(", in block (0, 0, 0): row 4 of 4: 16.000"), "{text}");
}

#[test]
fn compared_values_are_shown() {
    let text = said("compared_values_are_shown", |stream| {
        wrong::equal(wrong::equal::Args { n: 3 }).launch(stream)
    });
    let Some(text) = text else { return };
    assert!(text.starts_with("`equal`: the assertion `left == right` failed at "), "{text}");
    assert!(text.ends_with(": twice 3\n  left: 6\n right: 8"), "{text}");
}

#[test]
fn unequal_values_are_shown() {
    let text = said("unequal_values_are_shown", |stream| {
        wrong::equal(wrong::equal::Args { n: 4 }).launch(stream)
    });
    let Some(text) = text else { return };
    assert!(text.starts_with("`equal`: the assertion `left != right` failed at "), "{text}");
    assert!(text.ends_with("\n  left: 4\n right: 4"), "{text}");
}

/// Nobody would read what each launch of a graph leaves.
#[test]
fn recorded_launches_print_nothing() {
    let text = said("recorded_launches_print_nothing", |stream| {
        let graph =
            stream.device().capture(|stream| many(many::Args { rounds: 1 }).launch(stream))?;
        graph.launch(stream)?;
        stream.synchronize()
    });
    let Some(text) = text else { return };
    assert_eq!(text, "");
}

#[kernel(target = sm_80, warps = 4, grid = 1)]
fn addresses(p: Ptr<f32>) {
    println!("{p:p} {p:?}");
    println!("{:p}", p + arange(0, 4));
}

#[test]
#[expect(unsafe_code, reason = "the kernel takes an address")]
fn addresses_are_written_as_rust_writes_pointers() {
    let text = said("addresses_are_written_as_rust_writes_pointers", |stream| {
        let x = stream.zeros::<f32, 1>([4])?;
        let p = x.device_ptr();
        println!("{p:?}");
        // SAFETY: the kernel accesses nothing.
        unsafe { addresses(addresses::Args { p }).launch(stream) }
    });
    let Some(text) = text else { return };
    let lines: Vec<&str> = text.lines().collect();
    let (first, second) = lines[1].split_once(' ').expect("two addresses");
    assert_eq!(first, second);
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
    let start = number(first).expect("an address");
    for (i, line) in (0u64..).zip(&lines[2..]) {
        let address = line.strip_prefix(&format!("[{i}] ")).expect("an index");
        assert_eq!(number(address), Ok(start + 4 * i));
    }
    assert_eq!(lines.len(), 6);
}
