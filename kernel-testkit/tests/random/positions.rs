//! Windows anywhere: at positions that arithmetic on scalars with extreme values gives, in tensors of no, one and odd numbers of elements, with
//! gaps, transposed, and repeated, and in slices of these. Launches of these kernels are safe, so that no access may be outside of a tensor.

use kernel_testkit::data::Random;
use std::fmt::Write as _;

/// Values of scalars at which arithmetic wraps, and those around edges of tensors.
const EXTREMES: [i32; 14] = [
    i32::MIN,
    i32::MIN + 1,
    -1 << 30,
    -64,
    -3,
    -1,
    0,
    1,
    4,
    63,
    1 << 30,
    i32::MAX - 63,
    i32::MAX - 3,
    i32::MAX,
];

/// How positions are computed: of scalars `a` and `b`, and a counter `i`.
const POSITIONS: [&str; 16] = [
    "0",
    "-1",
    "4",
    "a",
    "b",
    "i",
    "a + b",
    "a - b",
    "a * 4",
    "a * b",
    "i + a",
    "i * 4",
    "i - 64",
    "-a",
    "a / 4 * 4",
    "b % 16",
];

/// Bounds of counters, which make few iterations.
const LOOPS: [&str; 9] = [
    "0..2",
    "range(0, x.dim(AXIS), 64)",
    "range(0, x.dim(AXIS), 1073741824)",
    "range(4, x.dim(AXIS), 32)",
    "range(-64, x.dim(AXIS), 64)",
    "range(a, a.min(2147483583) + 64, 32)",
    "range(2147483640, 2147483647, 4)",
    "range(64, -64, -64)",
    "range(x.dim(AXIS), 0, -64)",
];

/// The ranges of slices; one may be of the slice of another.
const RANGES: [&str; 10] =
    ["..", "a..b", "b..a", "a..", "..b", "..16", "8..", "i..i + 8", "1..40", "b % 16..a / 4 * 4"];

struct Draw(Random);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.bits() % end as u64).expect("less than a usize")
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Shape, strides and offset of a tensor, as the header has them.
    fn tensor(&mut self, rank: usize, repeats: bool) -> String {
        let shape: Vec<usize> =
            (0..rank).map(|_| self.pick(&[0, 1, 1, 2, 3, 5, 16, 24, 64, 65])).collect();
        let mut order: Vec<usize> = (0..rank).rev().collect();
        if self.below(4) == 0 {
            order.reverse();
        }
        let (mut strides, mut step) = (vec![1; rank], 1);
        for axis in order {
            strides[axis] = step;
            step *= shape[axis].max(1) + self.pick(&[0, 0, 0, 1, 7, 8]);
        }
        if repeats && self.below(6) == 0 {
            strides[self.below(rank)] = 0;
        }
        let strides: Vec<String> = strides.iter().map(usize::to_string).collect();
        let offset = self.pick(&[0, 0, 0, 1, 8]);
        format!("{shape:?} DATA strides({}) offset({offset})", strides.join(", "))
    }

    /// A tensor, or a slice of it.
    fn slice_of(&mut self, name: &str, rank: usize) -> String {
        let mut out = name.to_owned();
        for _ in 0..self.pick(&[0, 0, 1, 1, 2]) {
            let ranges: Vec<&str> = (0..rank).map(|_| self.pick(&RANGES)).collect();
            let _ = write!(out, ".slice(({},))", ranges.join(", "));
        }
        out
    }

    /// A position, one an axis.
    fn position(&mut self, rank: usize) -> String {
        let axes: Vec<&str> = (0..rank).map(|_| self.pick(&POSITIONS)).collect();
        format!("[{}]", axes.join(", "))
    }
}

/// The text of the file test with the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut draw = Draw(Random::of(&format!("positions {seed}")));
    let rank = 1 + draw.below(3);
    let (dtype, warps) = (draw.pick(&["i8", "f16", "i32", "f32", "i64"]), draw.pick(&[1, 2, 4]));
    let x = draw.tensor(rank, true).replace("DATA", "bits");
    let out = draw.tensor(rank, false).replace("DATA", "fill(7)");
    let window: Vec<u32> = (0..rank).map(|_| draw.pick(&[1, 2, 4, 16, 32])).collect();
    // The largest tiles of the largest elements do not fit the registers of one warp.
    let warps = if window.iter().product::<u32>() > 1 << 14 { warps.max(2) } else { warps };
    let mut body = String::new();
    for _ in 0..=draw.below(3) {
        let counter = draw.pick(&LOOPS).replace("AXIS", &draw.below(rank).to_string());
        let (from, to) = (draw.position(rank), draw.position(rank));
        let (read_of, written_of) = (draw.slice_of("x", rank), draw.slice_of("out", rank));
        // Shared memory has at most two axes.
        let read = if rank < 3 && draw.below(2) == 0 {
            format!(
                "sync();\n        copy_async({read_of}.tile({from}, {window:?}), s);\n        copy_async_wait_all();\n        \
                 sync();\n        let v = s.load();"
            )
        } else {
            format!("let v = {read_of}.tile({from}, {window:?}).load();")
        };
        let _ = writeln!(
            body,
            "    for i in {counter} {{\n        {read}\n        {written_of}.tile({to}, {window:?}).store(v);\n    }}"
        );
    }
    let shared = if body.contains(", s)") {
        format!("    let s = shared::<{dtype}>({window:?});\n")
    } else {
        String::new()
    };
    let [a, b] = [draw.pick(&EXTREMES), draw.pick(&EXTREMES)];
    format!(
        "//@ run: eval, emulate, gpu\n//@ compare: exact\n//@ arg x: {dtype}{x}\n//@ arg a: i32 scalar {a}\n//@ arg b: i32 scalar {b}\n\
         //@ arg out: {dtype}{out}\n\
         use kiln::prelude::*;\n\n#[kernel(target = [sm_80, sm_90a], warps = {warps}, grid = 1)]\n\
         pub fn positions_{seed}(x: Tensor<{dtype}, {rank}>, a: i32, b: i32, out: TensorMut<{dtype}, {rank}>) {{\n{shared}{body}}}\n"
    )
}
