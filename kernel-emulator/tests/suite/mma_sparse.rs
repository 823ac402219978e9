//! `mma.sp`, against products over tables of the lanes that give metadata (PTX ISA, "Matrix fragments for multiply-accumulate operation with
//! sparse matrix A", the figures of metadata).

use half::{bf16, f16};
use kernel_emulator::{Fault, FaultKind, Options, TensorCore};

use crate::harness::{Bench, Random, entry, one_block};
use crate::matrix::{pack, small};

/// A form of the instruction.
#[derive(Clone, Copy)]
struct Form {
    k: usize,
    /// Of A, B and D.
    types: [&'static str; 3],
    /// Bits of an element of A.
    bits: usize,
    code: fn(i32) -> u32,
    /// The selectors that there are.
    selectors: usize,
    /// The lane of each four, without the selector's, and the lowest bit of the metadata of a group of a row.
    place: fn(usize, usize) -> (usize, usize),
}

fn half(x: i32) -> u32 {
    f16::from_f32(x as f32).to_bits().into()
}

fn brain(x: i32) -> u32 {
    bf16::from_f32(x as f32).to_bits().into()
}

fn single(x: i32) -> u32 {
    (x as f32).to_bits()
}

fn byte(x: i32) -> u32 {
    x as u32 & 0xff
}

/// Numbers up to 4 in e4m3.
fn e4m3(x: i32) -> u32 {
    [0, 0x38, 0x40, 0x44, 0x48][x.unsigned_abs() as usize] | if x < 0 { 0x80 } else { 0 }
}

/// One lane has two rows, of four groups each.
fn one_lane(row: usize, group: usize) -> (usize, usize) {
    (0, if row < 8 { 4 * group } else { 16 + 4 * group })
}

/// Two lanes have two rows each, the second lane the groups from 4 on.
fn two_lanes(row: usize, group: usize) -> (usize, usize) {
    let (lane, within) = if group < 4 { (0, group) } else { (1, group - 4) };
    (lane, if row < 8 { 4 * within } else { 16 + 4 * within })
}

/// Two lanes have a row each, of eight groups.
fn a_row_each(row: usize, group: usize) -> (usize, usize) {
    (row / 8, 4 * group)
}

/// Two lanes have a row each, and the other two lanes the groups from 8 on.
fn half_a_row_each(row: usize, group: usize) -> (usize, usize) {
    let lane = row / 8;
    if group < 8 { (lane, 4 * group) } else { (lane + 2, 4 * (group - 8)) }
}

const FORMS: [Form; 11] = [
    Form {
        k: 16,
        types: ["f16", "f16", "f32"],
        bits: 16,
        code: half,
        selectors: 4,
        place: one_lane,
    },
    Form {
        k: 32,
        types: ["f16", "f16", "f32"],
        bits: 16,
        code: half,
        selectors: 2,
        place: two_lanes,
    },
    Form {
        k: 16,
        types: ["f16", "f16", "f16"],
        bits: 16,
        code: half,
        selectors: 4,
        place: one_lane,
    },
    Form {
        k: 32,
        types: ["f16", "f16", "f16"],
        bits: 16,
        code: half,
        selectors: 2,
        place: two_lanes,
    },
    Form {
        k: 16,
        types: ["bf16", "bf16", "f32"],
        bits: 16,
        code: brain,
        selectors: 4,
        place: one_lane,
    },
    Form {
        k: 32,
        types: ["bf16", "bf16", "f32"],
        bits: 16,
        code: brain,
        selectors: 2,
        place: two_lanes,
    },
    Form {
        k: 8,
        types: ["tf32", "tf32", "f32"],
        bits: 32,
        code: single,
        selectors: 4,
        place: one_lane,
    },
    Form {
        k: 16,
        types: ["tf32", "tf32", "f32"],
        bits: 32,
        code: single,
        selectors: 2,
        place: two_lanes,
    },
    Form {
        k: 32,
        types: ["s8", "s8", "s32"],
        bits: 8,
        code: byte,
        selectors: 2,
        place: a_row_each,
    },
    Form {
        k: 64,
        types: ["s8", "s8", "s32"],
        bits: 8,
        code: byte,
        selectors: 1,
        place: half_a_row_each,
    },
    Form {
        k: 64,
        types: ["e4m3", "e4m3", "f32"],
        bits: 8,
        code: e4m3,
        selectors: 1,
        place: half_a_row_each,
    },
];

impl Form {
    fn group(&self) -> usize {
        if self.bits == 32 { 2 } else { 4 }
    }

    fn groups(&self) -> usize {
        self.k / self.group()
    }

    /// The code of an element of C and D.
    fn sum(&self, x: i32) -> u32 {
        match self.types[2] {
            "f16" => half(x),
            "f32" => single(x),
            _ => x as u32,
        }
    }

    /// Accumulators: registers, and where their elements are.
    fn sums(&self, value: impl Fn(usize, usize) -> i32) -> Vec<u32> {
        let code = |row, column| self.sum(value(row, column));
        if self.types[2] == "f16" {
            let place = |reg, j, lane| (lane / 4 + 8 * reg, 2 * (lane % 4) + j);
            return pack(2, 16, code, place);
        }
        pack(4, 32, code, |reg, _, lane| (lane / 4 + 8 * (reg / 2), 2 * (lane % 4) + reg % 2))
    }

    fn instruction(&self, variant: &str, selector: usize) -> String {
        let list = |name: &str, count: usize| {
            let names: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let [a, b, d] = self.types;
        let (na, nb) = (self.k * self.bits / 128, self.k * self.bits / 128);
        let nd = if d == "f16" { 2 } else { 4 };
        format!(
            "mma.{variant}.sync.aligned.m16n8k{}.row.col.{d}.{a}.{b}.{d} {}, {}, {}, {}, %m0, {selector};",
            self.k,
            list("e", nd),
            list("a", na),
            list("b", nb),
            list("c", nd),
        )
    }

    /// Metadata of groups in the lanes of a selector; the other lanes hold nonsense.
    fn metadata(&self, selector: usize, bits: impl Fn(usize, usize) -> u32) -> Vec<u32> {
        let mut lanes = vec![0x5a5a_5a5a; 32];
        let first = 4 / self.selectors * selector;
        let places = |row, group| {
            let (lane, low) = (self.place)(row, group);
            (4 * (row % 8) + first + lane, low)
        };
        for row in 0..16 {
            for group in 0..self.groups() {
                lanes[places(row, group).0] = 0;
            }
        }
        for row in 0..16 {
            for group in 0..self.groups() {
                let (lane, low) = places(row, group);
                lanes[lane] |= bits(row, group) << low;
            }
        }
        lanes
    }
}

/// Runs an instruction on fragments of 4, 4 and 4 registers and the metadata of each lane.
fn run(
    instruction: &str,
    [a, b, c]: [&[u32]; 3],
    metadata: &[u32],
    options: &Options,
) -> Result<Vec<u32>, Box<Fault>> {
    let load = |name: &str, words: &[u32], param: usize| {
        let count = words.len() / 32;
        let start = format!(
            "ld.param.u64 %d1, [p{param}]; mul.wide.u32 %d2, %t, {}; add.s64 %d1, %d1, %d2;",
            4 * count
        );
        (0..count)
            .fold(start, |text, i| format!("{text} ld.global.b32 %{name}{i}, [%d1+{}];", 4 * i))
    };
    let results = c.len() / 32;
    let store = (0..results).fold(
        format!(
            "ld.param.u64 %d1, [p4]; mul.wide.u32 %d2, %t, {}; add.s64 %d1, %d1, %d2;",
            4 * results
        ),
        |text, i| format!("{text} st.global.b32 [%d1+{}], %e{i};", 4 * i),
    );
    let bench = Bench::new(&entry(
        5,
        &format!(
            ".reg .b64 %d<4>; .reg .b32 %t, %a<4>, %b<4>, %c<4>, %e<4>, %m<1>; mov.u32 %t, %tid.x;
             {} {} {} {} {instruction} {store}",
            load("a", a, 0),
            load("b", b, 1),
            load("c", c, 2),
            load("m", metadata, 3),
        ),
    ));
    let params = [
        bench.upload_words(a),
        bench.upload_words(b),
        bench.upload_words(c),
        bench.upload_words(metadata),
        bench.memory.allocate(512).expect("small"),
    ];
    bench.try_launch(&one_block(32), &params, options).map_err(Box::new)?;
    Ok(bench.words(params[4], 32 * results))
}

/// The fragments of A and B.
fn factors(form: &Form, kept: &[i32], b: impl Fn(usize, usize) -> u32) -> [Vec<u32>; 2] {
    let (e, registers) = (32 / form.bits, form.k * form.bits / 128);
    let left = pack(
        registers,
        form.bits,
        |row, column| (form.code)(kept[row * form.k / 2 + column]),
        |reg, j, lane| (lane / 4 + 8 * (reg % 2), e * (lane % 4) + j + 4 * e * (reg / 2)),
    );
    let place = |reg, j, lane| (e * (lane % 4) + j + 4 * e * reg, lane / 4);
    [left, pack(registers, form.bits, b, place)]
}

/// The places of what is kept of a group, in the order of the kept elements.
type Places = Vec<usize>;

/// For each row and group, places by a random choice; both orders where they may be.
fn places(form: &Form, ordered: bool, seed: u64) -> Vec<Places> {
    let mut random = Random(seed);
    let one = |_| {
        if form.group() == 2 {
            return vec![random.next() as usize % 2];
        }
        let first = random.next() as usize % 4;
        let second = (first + 1 + random.next() as usize % 3) % 4;
        if ordered && first > second { vec![second, first] } else { vec![first, second] }
    };
    (0..16 * form.groups()).map(one).collect()
}

/// The bits of places.
fn bits(places: &Places) -> u32 {
    match places[..] {
        [0] => 0b0100,
        [1] => 0b1110,
        [first, second] => (first | second << 2) as u32,
        _ => unreachable!("one or two of a group"),
    }
}

fn product(form: &Form, variant: &str, selector: usize, options: &Options) {
    let places = places(form, variant != "sp", 5 + selector as u64);
    let (kept, b, c) = (small(1, 16, form.k / 2), small(2, form.k, 8), small(3, 16, 8));
    let [pa, pb] = factors(form, &kept, |k, n| (form.code)(b[k * 8 + n]));
    let metadata = form.metadata(selector, |row, group| bits(&places[row * form.groups() + group]));
    let sum = |row: usize, column: usize| {
        let mut sum = c[row * 8 + column];
        for group in 0..form.groups() {
            let places = &places[row * form.groups() + group];
            for (at, place) in places.iter().enumerate() {
                let left = kept[row * form.k / 2 + group * places.len() + at];
                sum += left * b[(group * form.group() + place) * 8 + column];
            }
        }
        sum
    };
    let instruction = form.instruction(variant, selector);
    let pc = form.sums(|row, column| c[row * 8 + column]);
    match run(&instruction, [&pa, &pb, &pc], &metadata, options) {
        Ok(actual) => assert_eq!(actual, form.sums(sum), "{instruction}"),
        Err(fault) => panic!("{instruction}: {fault}"),
    }
}

#[test]
fn each_row_is_multiplied_by_what_its_metadata_names() {
    for form in &FORMS {
        for selector in 0..form.selectors {
            product(form, "sp::ordered_metadata", selector, &Options::default());
            // In any order, and as an H200 adds.
            product(form, "sp", selector, &Options::default());
            let hopper = Options { tensor_core: TensorCore::Hopper, ..Options::default() };
            product(form, "sp", selector, &hopper);
        }
    }
}

#[test]
fn rows_of_b_that_nothing_names_are_not_read() {
    // The first two of each four columns are kept, and NaN is in the others.
    for form in FORMS.iter().filter(|form| form.bits > 8) {
        let nan = if form.types[0] == "f16" { 0x7e00 } else { u32::MAX >> (32 - form.bits) };
        let kept = form.group() / 2;
        let b = |k: usize, _: usize| {
            if k % form.group() < kept { (form.code)(2) } else { nan }
        };
        let [pa, pb] = factors(form, &vec![1; 8 * form.k], b);
        let pc = form.sums(|_, _| 0);
        let metadata = form.metadata(0, |_, _| 0b0100);
        let instruction = form.instruction("sp::ordered_metadata", 0);
        let sum = i32::try_from(form.k).expect("small");
        let actual = run(&instruction, [&pa, &pb, &pc], &metadata, &Options::default());
        match actual {
            Ok(actual) => assert_eq!(actual, form.sums(|_, _| sum), "{instruction}"),
            Err(fault) => panic!("{instruction}: {fault}"),
        }
    }
}

/// The fault of metadata with these bits for group 1 of row 9, and `0b0100` for all others; none if there is none.
fn fault(form: &Form, variant: &str, selector: usize, bits: u32) -> Option<(FaultKind, String)> {
    let [pa, pb] = factors(form, &vec![1; 8 * form.k], |_, _| (form.code)(1));
    let pc = form.sums(|_, _| 0);
    let metadata =
        form.metadata(0, |row, group| if (row, group) == (9, 1) { bits } else { 0b0100 });
    let instruction = form.instruction(variant, selector);
    let fault = run(&instruction, [&pa, &pb, &pc], &metadata, &Options::default()).err()?;
    Some((fault.kind, fault.to_string()))
}

#[test]
fn metadata_that_the_manual_calls_undefined_is_a_fault() {
    for form in &FORMS {
        for bits in 0..16 {
            let (first, second) = (bits & 3, bits >> 2);
            for (variant, meant) in
                [("sp", first != second), ("sp::ordered_metadata", first < second)]
            {
                let meant =
                    if form.group() == 2 { [0b0100, 0b1110].contains(&bits) } else { meant };
                let fault = fault(form, variant, 0, bits);
                let kind = fault.as_ref().map(|(kind, _)| *kind);
                let required = (!meant).then_some(FaultKind::IllegalOperand);
                assert_eq!(kind, required, "{variant} {:?} {bits:#06b}", form.types);
                if let Some((_, text)) = fault {
                    let said = format!("the metadata of group 1 of row 9 of A is {bits:#06b}");
                    assert!(text.contains(&said), "{text}");
                }
            }
        }
    }
}

#[test]
fn a_selector_of_lanes_that_there_are_not_is_a_fault() {
    for form in &FORMS {
        for selector in form.selectors..4 {
            let (kind, text) = fault(form, "sp", selector, 0b0100).expect("no such lanes");
            assert_eq!(kind, FaultKind::IllegalOperand);
            let said = format!("the sparsity selector of `mma.sp` is {selector}");
            assert!(text.contains(&said), "{text}");
        }
    }
}
