//! Every operation on every kind of operand compiles or is a message: the compiler never blames itself.

use crate::rendered::rendered;

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
const FORMS: [&str; 90] = [
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
    "A.cumprod(0)",
    "A.flip(0)",
    "A.flip(B)",
    "A.sort(0)",
    "A.argsort_descending(B)",
    "A.top_k(B, 0)",
    "A.gather(0, B)",
    "A.histogram(B)",
    "A.reduce(0, |a, b| a + B)",
    "A.reduce(0, |a, b| a + b)",
    "A.scan(0, |a, b| B)",
    "A.scan_reverse(0, |a, b| a * b)",
    "A.scan_exclusive(0, B, |a, b| a + b)",
    "A.scan_reverse_exclusive(0, B, |a, b| b)",
    "(A, B).reduce(0, |(a, b), (c, d)| (a + c, b * d))",
    "(A, B).reduce(-1, |a, b| A)",
    "(A, (B, v)).scan(0, |(a, b), (c, d)| (c, b))",
    "(v, A).scan_reverse(0, |a, b| (b.0, a.1))",
    "(v, v).scan_exclusive(0, (A, B), |a, b| a)",
    "(v, A).scan_reverse_exclusive(0, B, |a, b| a)",
    "A.scan(0, |(a, b), (c, d)| (a, d))",
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

/// One of each kind that Hopper adds, with some of the others.
const HOPPER_OPERANDS: [&str; 16] = [
    "bar",
    "bars",
    "bars[n]",
    "far",
    "a",
    "o",
    "h",
    "h.t()",
    "ring",
    "acc",
    "x",
    "n",
    "b",
    "0",
    "1.0",
    "tma::load(a, [0, 0], bar, h)",
];

/// What is done with one or two of them, `A` and `B`.
const HOPPER_FORMS: [&str; 50] = [
    "barrier(A)",
    "barriers(A, B)",
    "A.expect(B)",
    "A.arrive()",
    "A.wait(B)",
    "A.try_wait(B)",
    "A.of_block(B)",
    "A.of_block(0).of_block(B)",
    "A.len()",
    "A[B]",
    "tma::load(A, [0, 0], bar, B)",
    "tma::load(a, [A, 0], bar, B)",
    "tma::load(a, [0, 0], A, B)",
    "tma::load(a, A, bar, B)",
    "tma::store(A, [0, 0], B)",
    "tma::store(o, A, B)",
    "tma::reduce_add(A, [0, 0], B)",
    "tma::reduce_and(A, [0, 0], B)",
    "tma::prefetch(A, [0, B])",
    "tma::store_wait(A)",
    "A.on(B)",
    "A.when(B)",
    "A.multicast(B)",
    "A.multicast(B).when(b).evict_last()",
    "A.evict_first()",
    "copy_async(A, B)",
    "copy_async(A, B).on(bar)",
    "copy_async(a.at([0, n]), A).on(B)",
    "copy_async(A.at([n, B]), h).on(bar)",
    "A.block()",
    "A.block_bytes()",
    "A.tile([n, B], [64, 64]).load()",
    "A.tile([n, B], [64, 64]).prefetch()",
    "A.at([n, B]).prefetch()",
    "copy_async(A, B).evict_last()",
    "wgmma::mma(A, B, acc)",
    "wgmma::mma(h, A, B)",
    "wgmma::mma(A, h, B)",
    "wgmma::wait(A, B)",
    "wgmma::wait(0, wgmma::mma(A, B, acc))",
    "wgmma::wait(0, wgmma::mma(h, A, B))",
    "cluster::rank() + A",
    "cluster::block_id(A)",
    "cluster::id(A) + cluster::size()",
    "A + B",
    "A.load()",
    "A.store(B)",
    "if b { A } else { B }",
    "{ let mut z = A; for _ in 0..n { z = B; } z }",
    "A(B)",
];

/// The messages of a kernel for Hopper with this statement.
fn messages_of_hopper(statement: &str) -> Vec<String> {
    let source = format!(
        "fn k(
            x: Tensor<f16, 2>,
            #[block(64, 64)] a: TensorMap<f16, 2>,
            #[block(64, 64)] o: TensorMapMut<f16, 2>,
            n: i32,
            b: bool,
        ) {{
            let h = shared::<f16>([64, 64]);
            let ring = shared::<f16>([2, 64, 64]);
            let bar = barrier(1);
            let bars = barriers(3, 2);
            let far = bar.of_block(1);
            let acc = zeros::<f32>([64, 64]);
            let z = {statement};
        }}"
    );
    let function: syn::ItemFn = syn::parse_str(&source).expect("the source is Rust");
    rendered(quote::quote!(target = sm_90a, warps = 4, cluster = 2), &function)
}

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

/// How many of the statements are taken and refused.
fn every_pair(
    forms: &[&str],
    operands: &[&str],
    messages: impl Fn(&str) -> Vec<String>,
) -> (usize, usize) {
    let (mut taken, mut refused) = (0, 0);
    for form in forms {
        for a in operands {
            let form = form.replace('A', "\u{1}");
            for b in operands.iter().take(if form.contains('B') { operands.len() } else { 1 }) {
                let statement = form.replace('B', b).replace('\u{1}', a);
                let found = messages(&statement);
                for message in &found {
                    assert!(!message.contains("[K9999]"), "{statement}\n{message}");
                }
                *if found.is_empty() { &mut taken } else { &mut refused } += 1;
            }
        }
    }
    (taken, refused)
}

#[test]
fn every_operation_takes_or_refuses_every_operand() {
    let (taken, refused) = every_pair(&FORMS, &OPERANDS, messages);
    // Where nothing is taken, or nothing refused, the forms above test nothing.
    assert!(taken > 500 && refused > 5000, "{taken} taken, {refused} refused");
}

#[test]
fn every_operation_of_hopper_takes_or_refuses_every_operand() {
    let (taken, refused) = every_pair(&HOPPER_FORMS, &HOPPER_OPERANDS, messages_of_hopper);
    assert!(taken > 100 && refused > 3000, "{taken} taken, {refused} refused");
}
