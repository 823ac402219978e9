/// Bytes a second: a copy on an H200.
const BANDWIDTH: f64 = 4259e9;
/// Operations a second: the data sheet of an H200, bf16.
const RATE: f64 = 989e12;

pub fn main() -> kiln::Result<()> {
    // ANCHOR: floors
    let (heads, queries, keys, width) = (128.0, 8192.0, 8192.0, 128.0);
    // Two products, of queries with keys and of weights with values; two operations for each pair of numbers.
    let operations = 2.0 * 2.0 * heads * queries * keys * width;
    // Queries, keys, values and results in bf16.
    let operands = 2.0 * 4.0 * heads * keys * width;
    // Scores in bf16 are written by a product and read by softmax, and so are weights by softmax and a product.
    let scores = 2.0 * 4.0 * heads * queries * keys;
    // ANCHOR_END: floors
    let us = |seconds: f64| (seconds * 1e6).floor();
    println!("operations           {:>6} us", us(operations / RATE));
    println!("operands and results {:>6} us", us(operands / BANDWIDTH));
    println!("scores and weights   {:>6} us", us(scores / BANDWIDTH));
    Ok(())
}
