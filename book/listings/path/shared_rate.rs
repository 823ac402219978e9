/// Operations of the tensor cores of a multiprocessor in a clock, in bf16.
const OPERATIONS: i32 = 4096;

// ANCHOR: rates
/// Bytes a clock that tiles of 128 × `n` read from shared memory, and that copies write there, at
/// the full rate of the tensor cores.
fn rates(n: i32) -> (i32, i32) {
    // An instruction for 64 rows reads 64 × 16 numbers of `a` and 16 × n of `b`.
    let clocks = 2 * 64 * n * 16 / OPERATIONS;
    let read = 2 * (64 * 16 + 16 * n) / clocks;
    // A step of 64 along `k` needs 128 × 64 numbers of `a` and 64 × n of `b`.
    let clocks = 2 * 128 * n * 64 / OPERATIONS;
    let written = 2 * (128 * 64 + 64 * n) / clocks;
    (read, written)
}
// ANCHOR_END: rates

pub fn main() -> kiln::Result<()> {
    println!("{:>9}  {:>4}  {:>7}  {:>4}  of 128", "tile", "read", "written", "both");
    for n in [128, 256] {
        let (read, written) = rates(n);
        println!("{:>9}  {read:>4}  {written:>7}  {:>4}", format!("128 x {n}"), read + written);
    }
    Ok(())
}
