//! What the tensor cores do to tensor memory, in any order: products of several kinds and shapes, copies, commits, waits, and reads and
//! writes by threads. Where the compiler misses a wait (K0410) one is put, and what it accepts then must run: the emulator finds what it has
//! not seen, by the instructions.
//!
//! `below` reads two halves as one number, and sums that begin with such a number are rounded: by the tensor cores in steps of 2^-24 of the largest
//! summand, of at most a few hundred, where the evaluator rounds as f32 does. What comes in another order differs by 1 or more.

use kernel_testkit::{FileTest, data::Random};

/// Windows of tensor memory with sums of `f32`: how it is written, its columns.
const WINDOWS: [(&str, u64); 7] = [
    ("acc", 64),
    ("wide", 128),
    ("wide.tile([0, 0], [128, 64])", 64),
    ("wide.tile([0, 64], [128, 64])", 64),
    ("accs[0]", 32),
    ("accs[1]", 32),
    ("below", 32),
];

/// The statements of a kernel, one in a line, and what they need to know of one another.
struct Writer {
    random: Random,
    lines: Vec<String>,
    /// For each barrier, whether a commit to it has not been waited for.
    open: [bool; 2],
    /// How many tiles have been stored to the result.
    stored: u64,
}

/// The rows of the result.
const TILES: u64 = 12;
/// What is put where the compiler misses a wait.
const MENDED: &str = "tcgen05::commit(mend); mend.wait(mended); mended ^= 1;";
/// More than statements that can be refused.
const MOST: usize = 64;

/// The text of the file test with the kernel of a seed.
///
/// # Panics
/// Where the compiler says something else of it, or does not name the line.
pub(crate) fn kernel(seed: u64) -> String {
    let mut lines = lines(seed);
    for _ in 0..MOST {
        let text = lines.join("\n") + "\n";
        let Err(message) = FileTest::of("order", &text).builds().map(|_| ()) else { return text };
        assert!(message.contains("[K0410]"), "{message}\n\n{text}");
        let ends = message.contains("the kernel can end");
        let line = if ends { Some(lines.len() - 1) } else { line(&message) };
        let line = line.unwrap_or_else(|| panic!("no line is named\n{message}\n\n{text}"));
        lines.insert(line, MENDED.to_owned());
    }
    panic!("waits do not help\n\n{}", lines.join("\n"));
}

/// Where a message says that the first problem is, from 0.
fn line(message: &str) -> Option<usize> {
    let (line, _) = message.split_once(':')?;
    line.trim().parse::<usize>().ok()?.checked_sub(1)
}

fn lines(seed: u64) -> Vec<String> {
    let head = format!(
        "//@ run: eval, emulate
//@ compare: rtol=1e-5 atol=1e-3
//@ arg x: f16[128, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg y: e4m3[128, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg z: f32[128, 128] list(5, -3, 0, 7, 1, -9, 2, 4)
//@ arg c: f32[{}, 128] list(0)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn order_{seed}(x: Tensor<f16, 2>, y: Tensor<e4m3, 2>, z: Tensor<f32, 2>, c: TensorMut<f32, 2>) {{
let (a, b, broad, narrow) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]), shared::<f16>([64, 128]), shared::<f16>([64, 32]));
let (e, f) = (shared::<e4m3>([128, 64]), shared::<e4m3>([64, 64]));
let (of_32, of_64) = (shared::<f32>([128, 32]), shared::<f32>([128, 64]));
let (acc, wide, accs) = (tmem::<f32>([128, 64]), tmem::<f32>([128, 128]), tmem::<f32>([2, 128, 32]));
let (held, unread) = (tmem::<f16>([128, 64]), tmem::<f32>([128, 64]));
let below = held.view::<f32>([128, 32]);
let (first, second, mend) = (barrier(1), barrier(1), barrier(1));
let (mut of_first, mut of_second, mut mended) = (0, 0, 0);
a.store(x.tile([0, 0], [128, 64]).load());
b.store(x.tile([64, 0], [64, 64]).load());
broad.store(x.tile([0, 0], [64, 128]).load());
narrow.store(x.tile([64, 32], [64, 32]).load());
e.store(y.tile([0, 0], [128, 64]).load());
f.store(y.tile([64, 0], [64, 64]).load());
of_32.store(z.tile([0, 0], [128, 32]).load());
of_64.store(z.tile([0, 32], [128, 64]).load());
acc.store(full([128, 64], 1.0));
wide.store(full([128, 128], 2.0));
accs[0].store(full([128, 32], 3.0));
accs[1].store(full([128, 32], 4.0));
held.store(x.tile([0, 64], [128, 64]).load());
unread.store(full([128, 64], 0.0));
sync();",
        TILES * 128
    );
    let random = Random::of(&format!("order {seed}"));
    let lines = head.lines().map(str::to_owned).collect();
    let mut writer = Writer { random, lines, open: [false; 2], stored: 0 };
    let statements = 8 + writer.below(10);
    for _ in 0..statements {
        writer.statement();
    }
    for (at, name) in ["first", "second"].iter().enumerate() {
        if writer.open[at] {
            writer.lines.push(format!("{name}.wait(of_{name});"));
        }
    }
    writer.lines.push("}".to_owned());
    writer.lines
}

impl Writer {
    fn below(&mut self, end: u64) -> u64 {
        self.random.bits() % end
    }

    fn push(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn window(&mut self) -> (&'static str, u64) {
        let at = self.below(WINDOWS.len() as u64);
        WINDOWS[usize::try_from(at).expect("a short table")]
    }

    /// One of what there is.
    fn statement(&mut self) {
        match self.below(5) {
            0 | 1 => self.what_loops_do(),
            2 => self.barrier(),
            3 => {
                let turns = 1 + self.below(3);
                self.push(format!("for step in 0..{turns} {{"));
                for _ in 0..=self.below(3) {
                    self.what_loops_do();
                }
                self.push("}");
            }
            // What is started on a condition may be waited for on that condition, which is not looked at.
            _ => {
                let rows = self.below(2) * 1000;
                self.push(format!("if x.dim(0) > {rows} {{"));
                for _ in 0..=self.below(3) {
                    self.what_threads_do();
                }
                self.push("}");
            }
        }
    }

    fn what_loops_do(&mut self) {
        match self.below(9) {
            0..5 => self.product(),
            5 => {
                let (window, columns) = match self.window() {
                    ("wide", _) => ("wide.tile([0, 64], [128, 64])", 64),
                    other => other,
                };
                self.push(format!("tcgen05::copy(of_{columns}, {window});"));
            }
            _ => self.what_threads_do(),
        }
    }

    fn what_threads_do(&mut self) {
        match self.below(3) {
            0 => {
                let (window, columns) = self.window();
                let value = self.below(5);
                self.push(format!("{window}.store(full([128, {columns}], {value}.0));"));
            }
            1 => match self.below(4) {
                0 => self.push("held.store(x.tile([0, 32], [128, 64]).load());"),
                1 => self.push("of_64.store(z.tile([0, 0], [128, 64]).load()); sync();"),
                2 => self.push("a.store(x.tile([0, 32], [128, 64]).load()); sync();"),
                _ => self.push("f.store(y.tile([0, 0], [64, 64]).load()); sync();"),
            },
            _ => self.read(),
        }
    }

    fn product(&mut self) {
        let (window, columns) = self.window();
        let (left, right, window) = match (columns, self.below(5)) {
            // Sums that lie over it are no halves: what comes of them is not read.
            (_, 0) => ("held", "b", "unread"),
            (32, _) => ("a", "narrow", window),
            (64, 1 | 2) => ("e", "f", window),
            (64, _) => ("a", "b", window),
            _ => ("a", "broad", window),
        };
        let adds = if self.below(3) == 0 { ".accumulate(false)" } else { "" };
        self.push(format!("tcgen05::mma({left}, {right}, {window}){adds};"));
    }

    fn read(&mut self) {
        if self.stored == TILES {
            return;
        }
        let (window, columns) = self.window();
        let row = 128 * self.stored;
        self.stored += 1;
        self.push(format!("c.tile([{row}, 0], [128, {columns}]).store({window}.load());"));
    }

    /// A commit to a barrier that has been waited for, or a wait for one.
    fn barrier(&mut self) {
        let at = usize::from(self.below(2) == 1);
        let name = ["first", "second"][at];
        let line = if self.open[at] {
            format!("{name}.wait(of_{name}); of_{name} ^= 1;")
        } else {
            format!("tcgen05::commit({name});")
        };
        self.open[at] ^= true;
        self.push(line);
    }
}
