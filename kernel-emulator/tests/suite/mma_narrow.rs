//! `mma.sync` of numbers of 8, 6 and 4 bits, and with scales, against products over the manual's index tables.

use kernel_emulator::{FaultKind, Options};

use crate::harness::{Bench, Random, entry, one_block};
use crate::matrix::{pack, small};

/// A type: its name, the codes of 0, 1, 2, 3 and 4, its sign, and the lowest bit of a number in its byte (OCP Microscaling Formats;
/// `.kind::f8f6f4` finds e2m1 in bits 2 to 5).
type Narrow = (&'static str, [u32; 5], u32, u32);

const TYPES: [Narrow; 5] = [
    ("e4m3", [0, 0x38, 0x40, 0x44, 0x48], 0x80, 0),
    ("e5m2", [0, 0x3C, 0x40, 0x42, 0x44], 0x80, 0),
    ("e3m2", [0, 0x0C, 0x10, 0x12, 0x14], 0x20, 0),
    ("e2m3", [0, 0x08, 0x10, 0x14, 0x18], 0x20, 0),
    ("e2m1", [0, 0x2, 0x4, 0x5, 0x6], 0x8, 2),
];

/// A small number as the code of a type.
fn code((_, codes, sign, low): Narrow, x: i32) -> u32 {
    (codes[x.unsigned_abs() as usize] | if x < 0 { sign } else { 0 }) << low
}

/// Runs an instruction on fragments of 4, 2 and 4 registers; `scales` are those of A and of B in every lane.
fn run(
    instruction: &str,
    [a, b, c]: [&[u32]; 3],
    scales: Option<[&[u32]; 2]>,
) -> Result<Vec<u32>, FaultKind> {
    let load = |name: &str, count: usize, param: usize| {
        let start = format!(
            "ld.param.u64 %d1, [p{param}]; mul.wide.u32 %d2, %t, {}; add.s64 %d1, %d1, %d2;",
            4 * count
        );
        (0..count)
            .fold(start, |text, i| format!("{text} ld.global.b32 %{name}{i}, [%d1+{}];", 4 * i))
    };
    let bench = Bench::new(&entry(
        6,
        &format!(
            ".reg .b64 %d<4>; .reg .b32 %t, %a<4>, %b<2>, %c<4>, %e<4>, %s<1>, %u<1>; mov.u32 %t, %tid.x;
             {} {} {} {} {} {instruction}
             ld.param.u64 %d1, [p5]; mul.wide.u32 %d2, %t, 16; add.s64 %d1, %d1, %d2;
             st.global.v4.b32 [%d1], {{%e0, %e1, %e2, %e3}};",
            load("a", 4, 0),
            load("b", 2, 1),
            load("c", 4, 2),
            load("s", 1, 3),
            load("u", 1, 4),
        ),
    ));
    let [of_a, of_b] = scales.unwrap_or([&[0; 32]; 2]);
    let params = [
        bench.upload_words(a),
        bench.upload_words(b),
        bench.upload_words(c),
        bench.upload_words(of_a),
        bench.upload_words(of_b),
        bench.memory.allocate(512).expect("small"),
    ];
    match bench.try_launch(&one_block(32), &params, &Options::default()) {
        Ok(_) => Ok(bench.words(params[5], 128)),
        Err(fault) => Err(fault.kind),
    }
}

/// Where an element of D lies: its row and column.
fn d_place(register: usize, _: usize, lane: usize) -> (usize, usize) {
    (lane / 4 + 8 * (register / 2), 2 * (lane % 4) + register % 2)
}

/// The fragments of A and B, of `k` columns and rows, with `bits` to a number.
fn factors(
    k: usize,
    bits: usize,
    [a, b]: [&[i32]; 2],
    [left, right]: [Narrow; 2],
) -> [Vec<u32>; 2] {
    let e = 32 / bits;
    let left = pack(
        4,
        bits,
        |row, column| code(left, a[row * k + column]),
        |reg, j, lane| (lane / 4 + 8 * (reg % 2), e * (lane % 4) + j + 4 * e * (reg / 2)),
    );
    let right = pack(
        2,
        bits,
        |row, column| code(right, b[row * 8 + column]),
        |reg, j, lane| (e * (lane % 4) + j + 4 * e * reg, lane / 4),
    );
    [left, right]
}

#[test]
fn numbers_of_8_and_fewer_bits_are_multiplied_with_each_other() {
    let (a, b, c) = (small(1, 16, 32), small(2, 32, 8), small(3, 16, 8));
    let sum = |row: usize, column: usize| {
        let products = (0..32).map(|k| a[row * 32 + k] * b[k * 8 + column]).sum::<i32>();
        (products + c[row * 8 + column]) as f32
    };
    for left in TYPES {
        for right in TYPES {
            let [pa, pb] = factors(32, 8, [&a, &b], [left, right]);
            let pc = pack(4, 32, |r, q| (c[r * 8 + q] as f32).to_bits(), d_place);
            let instruction = format!(
                "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{}.{}.f32 {{%e0, %e1, %e2, %e3}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{%c0, %c1, %c2, %c3}};",
                left.0, right.0
            );
            let expected = pack(4, 32, |r, q| sum(r, q).to_bits(), d_place);
            assert_eq!(run(&instruction, [&pa, &pb, &pc], None), Ok(expected), "{instruction}");
        }
    }
}

/// A block-scaled product.
struct Case {
    kind: &'static str,
    k: usize,
    /// Scales of a row.
    count: usize,
    /// Whether they are powers of two, or e4m3.
    powers: bool,
    types: [Narrow; 2],
    /// `byte-id` and `thread-id` of A and of B.
    selectors: [[usize; 2]; 2],
}

impl Case {
    fn instruction(&self) -> String {
        let [[byte_a, thread_a], [byte_b, thread_b]] = self.selectors;
        format!(
            "mma.sync.aligned.m16n8k{}.row.col.kind::{}.block_scale.scale_vec::{}X.f32.{}.{}.f32.{} {{%e0, %e1, %e2, %e3}}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {{%c0, %c1, %c2, %c3}}, %s0, {{{byte_a}, {thread_a}}}, %u0, {{{byte_b}, {thread_b}}};",
            self.k,
            self.kind,
            self.count,
            self.types[0].0,
            self.types[1].0,
            if self.powers { "ue8m0" } else { "ue4m3" },
        )
    }

    /// The value of a scale; the bytes of `random_scales` are among these.
    fn scale(&self, code: u32) -> f64 {
        let codes: [(u32, f64); 4] = if self.powers {
            [(126, 0.5), (127, 1.0), (128, 2.0), (129, 4.0)]
        } else {
            [(0x30, 0.5), (0x38, 1.0), (0x3C, 1.5), (0x40, 2.0)]
        };
        codes.iter().find(|(other, _)| *other == code).expect("one of these").1
    }

    /// Four scales in each lane.
    fn random_scales(&self, seed: u64) -> Vec<u32> {
        let codes = if self.powers { [126, 127, 128, 129] } else { [0x30, 0x38, 0x3C, 0x40] };
        let mut random = Random(seed);
        (0..32)
            .map(|_| (0..4).fold(0, |word, _| word << 8 | codes[random.next() as usize % 4]))
            .collect()
    }

    fn check(&self) {
        let k = self.k;
        let (a, b, c) = (small(4, 16, k), small(5, k, 8), small(6, 16, 8));
        let bits = if k == 64 { 4 } else { 8 };
        // Where two numbers share a byte, nothing lies between them.
        let types = self
            .types
            .map(|(name, codes, sign, low)| (name, codes, sign, if bits == 4 { 0 } else { low }));
        let [pa, pb] = factors(k, bits, [&a, &b], types);
        let pc = pack(4, 32, |r, q| (c[r * 8 + q] as f32).to_bits(), d_place);
        let (of_a, of_b) = (self.random_scales(7), self.random_scales(8));
        let [[byte_a, thread_a], [byte_b, thread_b]] = self.selectors;
        let expected = |row: usize, column: usize| {
            let sum: f64 = (0..k)
                .map(|i| {
                    let block = i / (k / self.count);
                    let of_row =
                        of_a[row % 8 * 4 + row / 8 + 2 * thread_a] >> (8 * (byte_a + block));
                    let of_column = of_b[column * 4 + thread_b] >> (8 * (byte_b + block));
                    f64::from(a[row * k + i] * b[i * 8 + column])
                        * self.scale(of_row & 0xFF)
                        * self.scale(of_column & 0xFF)
                })
                .sum();
            ((sum + f64::from(c[row * 8 + column])) as f32).to_bits()
        };
        let d = run(&self.instruction(), [&pa, &pb, &pc], Some([&of_a, &of_b]));
        assert_eq!(d, Ok(pack(4, 32, expected, d_place)), "{}", self.instruction());
    }
}

const CASES: [Case; 6] = [
    Case {
        kind: "mxf8f6f4",
        k: 32,
        count: 1,
        powers: true,
        types: [TYPES[0], TYPES[1]],
        selectors: [[0, 0], [0, 0]],
    },
    Case {
        kind: "mxf8f6f4",
        k: 32,
        count: 1,
        powers: true,
        types: [TYPES[4], TYPES[2]],
        selectors: [[3, 1], [2, 3]],
    },
    Case {
        kind: "mxf4",
        k: 64,
        count: 2,
        powers: true,
        types: [TYPES[4]; 2],
        selectors: [[2, 0], [0, 1]],
    },
    Case {
        kind: "mxf4nvf4",
        k: 64,
        count: 2,
        powers: true,
        types: [TYPES[4]; 2],
        selectors: [[0, 1], [2, 2]],
    },
    Case {
        kind: "mxf4nvf4",
        k: 64,
        count: 4,
        powers: false,
        types: [TYPES[4]; 2],
        selectors: [[0, 0], [0, 0]],
    },
    Case {
        kind: "mxf4nvf4",
        k: 64,
        count: 4,
        powers: false,
        types: [TYPES[4]; 2],
        selectors: [[0, 1], [0, 3]],
    },
];

#[test]
fn selectors_choose_the_lanes_and_bytes_of_scales() {
    for case in CASES {
        case.check();
    }
}

#[test]
fn selectors_out_of_range_are_faults() {
    for (case, selectors) in
        [(0, [[0, 2], [0, 0]]), (0, [[0, 0], [4, 0]]), (2, [[1, 0], [0, 0]]), (4, [[0, 0], [2, 0]])]
    {
        let case = Case { selectors, ..CASES[case] };
        let (a, b, c) = ([0; 128], [0; 64], [0; 128]);
        let result = run(&case.instruction(), [&a, &b, &c], None);
        assert_eq!(result, Err(FaultKind::IllegalOperand), "{}", case.instruction());
    }
}
