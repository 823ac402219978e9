// The source of the dump beside it, which its lines are shown from.

/// Adds up rows; `<` and `&` are escaped in pages.
pub fn row_sums(x: Ptr<f32>, out: PtrMut<f32>, columns: i32) {
    let mut sums = zeros::<f32>([128]);
    for at in range(0, columns, 128) {
        sums = sums + load(x, at);
    }
    store(out, sums.sum());
}
