// ANCHOR: machine
/// Bytes a second: a copy of 1 GiB on an H200, which reads and writes.
const BANDWIDTH: f64 = 4259e9;
/// Operations a second in bf16 and f16: the data sheet of an H200.
const RATE: f64 = 989e12;
// ANCHOR_END: machine

// ANCHOR: floors
/// What a kernel has to do at least.
#[derive(Clone, Copy)]
struct Work {
    /// Bytes that it reads and writes, each once.
    bytes: f64,
    /// Operations of the tensor cores.
    operations: f64,
}

impl Work {
    /// The least time, in microseconds: memory and tensor cores work at the same time.
    fn floor(self) -> f64 {
        1e6 * (self.bytes / BANDWIDTH).max(self.operations / RATE)
    }
}

/// Reads and writes each element of a matrix.
fn pass(rows: f64, columns: f64, bytes_of_one: f64) -> Work {
    Work { bytes: 2.0 * rows * columns * bytes_of_one, operations: 0.0 }
}

/// A product of square matrices of 16-bit numbers: two operations for each of n³ pairs.
fn product(n: f64) -> Work {
    Work { bytes: 3.0 * n * n * 2.0, operations: 2.0 * n * n * n }
}

/// Attention: of each head the products of queries with keys and of weights with values.
fn attention(heads: f64, keys: f64, width: f64) -> Work {
    let operands = heads * keys * width;
    Work { bytes: 4.0 * operands * 2.0, operations: 2.0 * 2.0 * operands * keys }
}
// ANCHOR_END: floors

pub fn main() -> kiln::Result<()> {
    // ANCHOR: steps
    // The last number of each row is the time that was measured, in microseconds.
    let steps = [
        ("softmax, bf16 65536x8192", pass(65536.0, 8192.0, 2.0), 513.8),
        ("transpose, f16 16384x16384", pass(16384.0, 16384.0, 2.0), 260.6),
        ("transpose, f32 16384x16384", pass(16384.0, 16384.0, 4.0), 518.8),
        ("copies, then mma.sync, f16 4096", product(4096.0), 430.5),
        ("pipeline, mma.sync, f16 4096", product(4096.0), 305.7),
        ("TMA and wgmma, f16 4096", product(4096.0), 209.2),
        ("TMA and wgmma, bf16 4096", product(4096.0), 204.7),
        ("warp-specialised, bf16 4096", product(4096.0), 170.1),
        ("persistent, bf16 4096", product(4096.0), 169.8),
        ("clusters of two, bf16 4096", product(4096.0), 171.2),
        ("warp-specialised, bf16 8192", product(8192.0), 1332.6),
        ("attention, pipelined, bf16", attention(128.0, 8192.0, 128.0), 9413.1),
        ("attention, specialised, bf16", attention(128.0, 8192.0, 128.0), 6551.9),
    ];
    // ANCHOR_END: steps
    println!("{:<31}  {:>8}  {:>11}  {:>5}", "step", "floor us", "measured us", "share");
    for (step, work, measured) in steps {
        let share = (100.0 * work.floor() / measured).floor();
        println!("{step:<31}  {:>8.1}  {measured:>11.1}  {share:>4}%", work.floor());
    }
    Ok(())
}
