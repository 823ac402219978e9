//! Every operation on every kind of operand compiles or is a message: the compiler never blames itself.

#[path = "support/rendered.rs"]
mod rendered;

use rendered::rendered;

/// One of each kind: addresses and tiles of them, tiles, scalars, literals, shared memory, tensors, closures, layouts.
const OPERANDS: [&str; 16] = [
    "p",
    "addresses",
    "v",
    "bools",
    "ints",
    "matrix",
    "f",
    "n",
    "b",
    "1",
    "1.0",
    "s",
    "x",
    "pair",
    "add",
    "L",
];

/// What is done with one or two of them, `A` and `B`.
const FORMS: [&str; 72] = [
    "A + B",
    "A & B",
    "A >> B",
    "-A + B",
    "!A",
    "A < B",
    "A == B",
    "A.ge(B)",
    "A.eq(B)",
    "A.min(B)",
    "A.max(0)",
    "A.abs()",
    "minimum(A, B)",
    "A.clamp(B, A)",
    "fma(A, B, B)",
    "fma(B, B, A)",
    "select(bools, A, B)",
    "select(b, A, B)",
    "A.cast::<f32>() + B",
    "A as i32",
    "A.item()",
    "A.sum(0)",
    "A.argmax(0)",
    "A.cumsum(0)",
    "A.reduce(0, |a, b| a + B)",
    "A.reduce(0, |a, b| a + b)",
    "A.scan(0, |a, b| B)",
    "A.map(|e| e + B)",
    "A.map(|e| B)",
    "dot(A, A, B)",
    "dot(A, B, A)",
    "dot(matrix, A, B)",
    "dot_tf32(A, matrix, B)",
    "join(A, B)",
    "A.split()",
    "A.t()",
    "A.expand(0)",
    "A.permute([0])",
    "A.reshape([2, 64])",
    "A.broadcast([128]) + B",
    "full([128], A).ge(B)",
    "arange(A, B)",
    "zeros::<f32>([A, B])",
    "A.load()",
    "load(A)",
    "load_masked(A, b, B)",
    "load_masked(A, bools, B)",
    "store(A, B)",
    "A.store(B)",
    "y.tile([A], [128]).store(B)",
    "x.tile([A], [B])",
    "copy_async(A, B)",
    "atomic::add(A, B)",
    "atomic::cas(p, A, B)",
    "A.to_layout(B)",
    "A.assert_layout(B)",
    "A.dim(B)",
    "A[B]",
    "[A, B][n]",
    "array(2, |i| B)[n]",
    "A(B)",
    "A.0",
    "cdiv(A, B)",
    "device_assert(A)",
    "printf(\"{}\", A)",
    "ptx!(\"mov.b32 {o}, {a};\", a = A => i32)",
    "if b { A } else { B }",
    "while A < B { }",
    "for i in pipeline(A..B, 2) { }",
    "{ let mut z = A; for _ in 0..n { z = B; } z }",
    "{ let mut z = A; z += B; z }",
    "loop { if b { break A; } else { break B; } }",
];

/// The messages of a kernel with this statement.
fn messages(statement: &str) -> Vec<String> {
    let source = format!(
        "fn k(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, p: Ptr<f32>, n: i32, f: f32, b: bool) {{
            const L: Layout = blocked([1], [32], [4], [0]);
            let v = x.tile([0], [128]).load();
            let bools = v.gt(0.0);
            let ints = arange(0, 128);
            let addresses = p + ints;
            let matrix = zeros::<f16>([64, 64]);
            let s = shared::<f32>([128]);
            let pair = (1, v);
            let add = |a| a + 1;
            let z = {statement};
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_80, warps = 4), &function)
}

#[test]
fn every_operation_takes_or_refuses_every_operand() {
    let (mut taken, mut refused) = (0, 0);
    for form in FORMS {
        for a in OPERANDS {
            let form = form.replace('A', "\u{1}");
            for b in OPERANDS.iter().take(if form.contains('B') { OPERANDS.len() } else { 1 }) {
                let statement = form.replace('B', b).replace('\u{1}', a);
                let found = messages(&statement);
                for message in &found {
                    assert!(!message.contains("[K9999]"), "{statement}\n{message}");
                }
                *if found.is_empty() { &mut taken } else { &mut refused } += 1;
            }
        }
    }
    // Where nothing is taken, or nothing refused, the forms above test nothing.
    assert!(taken > 500 && refused > 5000, "{taken} taken, {refused} refused");
}
