//! Matrix instructions of a warp, against products over the manual's index tables.

use half::{bf16, f16};
use kernel_emulator::{Options, TensorCore};

use crate::harness::{Bench, Random, entry, one_block};

/// Runs `mma` on fragments: 32 lanes of `na`, `nb`, `nc` registers each, `nd` results.
fn mma(op: &str, registers: [usize; 4], a: &[u32], b: &[u32], c: &[u32]) -> Vec<u32> {
    mma_with(&Options::default(), op, registers, a, b, c)
}

fn mma_with(
    options: &Options,
    op: &str,
    [na, nb, nc, nd]: [usize; 4],
    a: &[u32],
    b: &[u32],
    c: &[u32],
) -> Vec<u32> {
    let list = |prefix: &str, n: usize| {
        let names: Vec<String> = (0..n).map(|i| format!("%{prefix}{i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let load = |prefix: &str, n: usize, param: usize| {
        (0..n).fold(
            format!(
                "ld.param.u64 %d1, [p{param}]; mul.wide.u32 %d2, %t, {}; add.s64 %d1, %d1, %d2;",
                4 * n
            ),
            |text, i| format!("{text} ld.global.b32 %{prefix}{i}, [%d1+{}];", 4 * i),
        )
    };
    let store = (0..nd).fold(
        format!("ld.param.u64 %d1, [p3]; mul.wide.u32 %d2, %t, {}; add.s64 %d1, %d1, %d2;", 4 * nd),
        |text, i| format!("{text} st.global.b32 [%d1+{}], %e{i};", 4 * i),
    );
    let bench = Bench::new(&entry(
        4,
        &format!(
            ".reg .b64 %d<4>; .reg .b32 %t, %a<8>, %b<8>, %c<8>, %e<8>; mov.u32 %t, %tid.x;
             {} {} {} {op} {}, {}, {}, {}; {store}",
            load("a", na, 0),
            load("b", nb, 1),
            load("c", nc, 2),
            list("e", nd),
            list("a", na),
            list("b", nb),
            list("c", nc),
        ),
    ));
    let params = [
        bench.upload_words(a),
        bench.upload_words(b),
        bench.upload_words(c),
        bench.memory.allocate(128 * nd as u64).expect("small"),
    ];
    if let Err(fault) = bench.try_launch(&one_block(32), &params, options) {
        panic!("{fault}");
    }
    bench.words(params[3], 32 * nd)
}

/// Packs a matrix of codes into fragments: `place(register, element, lane)` is (row, column).
pub(crate) fn pack(
    registers: usize,
    bits: usize,
    value: impl Fn(usize, usize) -> u32,
    place: impl Fn(usize, usize, usize) -> (usize, usize),
) -> Vec<u32> {
    let mut out = Vec::new();
    for lane in 0..32 {
        for register in 0..registers {
            let mut word = 0;
            for element in 0..32 / bits {
                let (row, column) = place(register, element, lane);
                word |= value(row, column) << (bits * element);
            }
            out.push(word);
        }
    }
    out
}

/// Small numbers whose products and sums are exact everywhere.
pub(crate) fn small(seed: u64, rows: usize, columns: usize) -> Vec<i32> {
    let mut random = Random(seed);
    (0..rows * columns).map(|_| (random.next() % 9) as i32 - 4).collect()
}

/// The f32-accumulating shapes: `code` encodes a small number.
fn floats(op: &str, k: usize, bits: usize, code: fn(i32) -> u32) {
    let e = 32 / bits;
    let (a, b, c) = (small(1, 16, k), small(2, k, 8), small(3, 16, 8));
    let (na, nb) = (16 * k * bits / 1024, 8 * k * bits / 1024);
    let pa = pack(
        na,
        bits,
        |r, q| code(a[r * k + q]),
        |reg, j, lane| (lane / 4 + 8 * (reg % 2), e * (lane % 4) + j + 4 * e * (reg / 2)),
    );
    let pb = pack(
        nb,
        bits,
        |r, q| code(b[r * 8 + q]),
        |reg, j, lane| (e * (lane % 4) + j + 4 * e * reg, lane / 4),
    );
    let place =
        |reg: usize, _: usize, lane: usize| (lane / 4 + 8 * (reg / 2), 2 * (lane % 4) + reg % 2);
    let pc = pack(4, 32, |r, q| (c[r * 8 + q] as f32).to_bits(), place);
    let d = mma(op, [na, nb, 4, 4], &pa, &pb, &pc);
    let expected = pack(
        4,
        32,
        |r, q| {
            let sum: i32 = (0..k).map(|i| a[r * k + i] * b[i * 8 + q]).sum();
            ((sum + c[r * 8 + q]) as f32).to_bits()
        },
        place,
    );
    assert_eq!(d, expected, "{op}");
}

fn code_f16(x: i32) -> u32 {
    f16::from_f32(x as f32).to_bits().into()
}

fn code_bf16(x: i32) -> u32 {
    bf16::from_f32(x as f32).to_bits().into()
}

fn code_f32(x: i32) -> u32 {
    (x as f32).to_bits()
}

/// -4..4 in e4m3: exponent bias 7.
fn code_e4m3(x: i32) -> u32 {
    let magnitude = [0, 0x38, 0x40, 0x44, 0x48][x.unsigned_abs() as usize];
    magnitude | u32::from(x < 0) << 7
}

#[test]
fn float_products() {
    let op = |shape: &str, ty: &str| format!("mma.sync.aligned.{shape}.row.col.f32.{ty}.{ty}.f32");
    floats(&op("m16n8k16", "f16"), 16, 16, code_f16);
    floats(&op("m16n8k8", "f16"), 8, 16, code_f16);
    floats(&op("m16n8k16", "bf16"), 16, 16, code_bf16);
    floats(&op("m16n8k8", "bf16"), 8, 16, code_bf16);
    floats(&op("m16n8k8", "tf32"), 8, 32, code_f32);
    floats(&op("m16n8k4", "tf32"), 4, 32, code_f32);
    floats(&op("m16n8k32", "e4m3"), 32, 8, code_e4m3);
}

#[test]
fn half_accumulators() {
    let (a, b, c) = (small(4, 16, 16), small(5, 16, 8), small(6, 16, 8));
    let pa = pack(
        4,
        16,
        |r, q| code_f16(a[r * 16 + q]),
        |reg, j, lane| (lane / 4 + 8 * (reg % 2), 2 * (lane % 4) + j + 8 * (reg / 2)),
    );
    let pb = pack(
        2,
        16,
        |r, q| code_f16(b[r * 8 + q]),
        |reg, j, lane| (2 * (lane % 4) + j + 8 * reg, lane / 4),
    );
    let place = |reg: usize, j: usize, lane: usize| (lane / 4 + 8 * reg, 2 * (lane % 4) + j);
    let pc = pack(2, 16, |r, q| code_f16(c[r * 8 + q]), place);
    let d = mma("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", [4, 2, 2, 2], &pa, &pb, &pc);
    let expected = pack(
        2,
        16,
        |r, q| code_f16((0..16).map(|i| a[r * 16 + i] * b[i * 8 + q]).sum::<i32>() + c[r * 8 + q]),
        place,
    );
    assert_eq!(d, expected);
}

#[test]
fn products_are_added_in_order_of_k_or_as_on_an_h200() {
    // A row of A and a column of B, with what `mma.sync` gave on an H200.
    let row = [
        0xbd3f, 0xc009, 0xb88d, 0xbd35, 0xc055, 0x3ad9, 0x3ad5, 0x3802, 0x3df6, 0x3dd0, 0x3cfc,
        0xbfc0, 0xbf08, 0xc105, 0x3aeb, 0x3c38,
    ];
    let column = [
        0xba87, 0x4098, 0x3881, 0x3fb4, 0x3994, 0x3b03, 0xbdcb, 0xc362, 0xbe89, 0x4257, 0x4342,
        0x3cd6, 0x431e, 0x3f28, 0xb98b, 0x4103,
    ];
    let hopper = 0xc169_685f;
    let a = pack(
        4,
        16,
        |_, k| row[k],
        |reg, j, lane| (lane / 4 + 8 * (reg % 2), 2 * (lane % 4) + j + 8 * (reg / 2)),
    );
    let b = pack(2, 16, |k, _| column[k], |reg, j, lane| (2 * (lane % 4) + j + 8 * reg, lane / 4));
    let wide = |bits: u32| f16::from_bits(bits as u16).to_f32();
    let in_order =
        row.iter().zip(&column).fold(0.0_f32, |sum, (a, b)| sum + wide(*a) * wide(*b)).to_bits();
    assert_ne!(in_order, hopper);
    let op = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let run = |how| {
        let options = Options::default().with_tensor_core(how);
        mma_with(&options, op, [4, 2, 4, 4], &a, &b, &[0; 128])
    };
    assert_eq!(run(TensorCore::InOrder), [in_order; 128]);
    assert_eq!(run(TensorCore::Hopper), [hopper; 128]);
    assert_eq!(Options::default().tensor_core, TensorCore::InOrder);
}

#[test]
fn integer_products() {
    let k = 32;
    let mut random = Random(9);
    let mut bytes =
        |n: usize| -> Vec<u32> { (0..n).map(|_| (random.next() & 0xFF) as u32).collect() };
    let (a, b) = (bytes(16 * k), bytes(k * 8));
    let pa = pack(
        4,
        8,
        |r, q| a[r * k + q],
        |reg, j, lane| (lane / 4 + 8 * (reg % 2), 4 * (lane % 4) + j + 16 * (reg / 2)),
    );
    let pb =
        pack(2, 8, |r, q| b[r * 8 + q], |reg, j, lane| (4 * (lane % 4) + j + 16 * reg, lane / 4));
    let place =
        |reg: usize, _: usize, lane: usize| (lane / 4 + 8 * (reg / 2), 2 * (lane % 4) + reg % 2);
    let pc = pack(4, 32, |r, q| (r * 8 + q) as u32, place);
    let d = mma("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", [4, 2, 4, 4], &pa, &pb, &pc);
    let expected = pack(
        4,
        32,
        |r, q| {
            let sum: i32 =
                (0..k).map(|i| i32::from(a[r * k + i] as i8) * b[i * 8 + q] as i32).sum();
            (sum + (r * 8 + q) as i32) as u32
        },
        place,
    );
    assert_eq!(d, expected);
}

#[test]
fn matrices_from_and_to_shared_memory() {
    // Row j of matrix i lies at lane 8 i + j, rows 48 bytes apart.
    let run = |trans: &str, back: &str| {
        let bench = Bench::new(&entry(
            2,
            &format!(
                ".shared .align 16 .b8 tile[1536]; .shared .align 16 .b8 other[512];
                 .reg .b64 %d<4>; .reg .b32 %r<16>, %t; mov.u32 %t, %tid.x;
                 ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
                 mul.wide.u32 %d2, %t, 16; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
                 ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%d0];
                 mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 48, %r4; st.shared.v4.u32 [%r4], {{%r0, %r1, %r2, %r3}};
                 bar.warp.sync -1;
                 ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r5, %r6, %r7, %r8}}, [%r4];
                 {back}
                 st.global.v4.u32 [%d1], {{%r5, %r6, %r7, %r8}};"
            ),
        ));
        let halves: Vec<u32> = (0..128).map(|i| (2 * i) | (2 * i + 1) << 16).collect();
        let from = bench.upload_words(&halves);
        let to = bench.memory.allocate(512).expect("small");
        bench.launch(&one_block(32), &[from, to]);
        bench.words(to, 128)
    };
    // Element (row, column) of matrix i is 64 i + 8 row + column.
    let expected = |transposed: bool| -> Vec<u32> {
        (0..128)
            .map(|i| {
                let (lane, matrix) = (i / 4, i % 4);
                let element = |k: u32| {
                    let (row, column) = (lane / 4, 2 * (lane % 4) + k);
                    let (row, column) = if transposed { (column, row) } else { (row, column) };
                    64 * matrix + 8 * row + column
                };
                element(0) | element(1) << 16
            })
            .collect()
    };
    assert_eq!(run("", ""), expected(false));
    assert_eq!(run(".trans", ""), expected(true));
    // movmatrix transposes what ldmatrix loaded.
    let moved = (5..9).fold(String::new(), |text, i| {
        format!("{text} movmatrix.sync.aligned.m8n8.trans.b16 %r{i}, %r{i};")
    });
    assert_eq!(run("", &moved), expected(true));
    // stmatrix is the inverse: stored transposed and loaded transposed again.
    let there_and_back = "mov.u32 %r9, other; shl.b32 %r10, %t, 4; add.u32 %r9, %r9, %r10;
         stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r9], {%r5, %r6, %r7, %r8};
         bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r9];";
    assert_eq!(run("", there_and_back), expected(true));
}

#[test]
fn numbers_of_6_and_4_bits_are_loaded_to_bytes() {
    // Sixteen numbers fill the first bytes of a row of 16; the number of a row and column is told by both.
    for (bits, format) in [(6, "b6x16_p32"), (4, "b4x16_p64")] {
        let number = |row: usize, column: usize| (5 * row + 3 * column) as u128 & ((1 << bits) - 1);
        let rows: Vec<u32> = (0..32)
            .flat_map(|row| {
                let filled =
                    (0..16).fold(0, |all, column| all | number(row, column) << (bits * column));
                let padding = u128::MAX << (16 * bits);
                let row = filled | padding;
                [0, 32, 64, 96].map(|low| (row >> low) as u32)
            })
            .collect();
        let bench = Bench::new(&entry(
            2,
            &format!(
                ".shared .align 16 .b8 tile[512]; .reg .b64 %d<4>; .reg .b32 %r<16>, %t; mov.u32 %t, %tid.x;
                 ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
                 mul.wide.u32 %d2, %t, 16; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
                 ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%d0];
                 mov.u32 %r4, tile; mad.lo.u32 %r4, %t, 16, %r4; st.shared.v4.u32 [%r4], {{%r0, %r1, %r2, %r3}};
                 bar.warp.sync -1;
                 ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.{format} {{%r5, %r6, %r7, %r8}}, [%r4];
                 st.global.v4.u32 [%d1], {{%r5, %r6, %r7, %r8}};"
            ),
        ));
        let params = [bench.upload_words(&rows), bench.memory.allocate(512).expect("small")];
        if let Err(fault) = bench.try_launch(&one_block(32), &params, &Options::default()) {
            panic!("{fault}");
        }
        let expected: Vec<u32> = (0..32)
            .flat_map(|lane| (0..4).map(move |matrix| (8 * matrix + lane / 4, 4 * (lane % 4))))
            .map(|(row, column)| {
                (0..4).fold(0, |word, j| word | (number(row, column + j) as u32) << (8 * j))
            })
            .collect();
        assert_eq!(bench.words(params[1], 128), expected, "{format}");
    }
}
