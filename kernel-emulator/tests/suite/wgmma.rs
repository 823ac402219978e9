//! `wgmma`: products of every pair of types from every layout, against sums over plain matrices.
//!
//! The image of shared memory is made from the formulas of the manual ("Shared Memory Matrix Layout"), the
//! registers from its maps ("Register Fragments"). All values are small multiples of a quarter, so no sum is
//! rounded, in whatever order it is made.

use std::fmt::Write;

use kernel_emulator::{Fault, FaultKind, LaunchConfig, Options, Program};

use crate::harness::{Bench, Random};

/// An element type: name, exponent and fraction bits of floats; bits and sign of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Type {
    Float(&'static str, u32, u32, usize),
    Int(&'static str, bool),
}

use Type::{Float, Int};

const F16: Type = Float("f16", 5, 10, 2);
const BF16: Type = Float("bf16", 8, 7, 2);
const TF32: Type = Float("tf32", 8, 23, 4);
const E4M3: Type = Float("e4m3", 4, 3, 1);
const E5M2: Type = Float("e5m2", 5, 2, 1);
const S8: Type = Int("s8", true);
const U8: Type = Int("u8", false);

impl Type {
    fn name(self) -> &'static str {
        match self {
            Float(name, ..) | Int(name, _) => name,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Float(.., bytes) => bytes,
            Int(..) => 1,
        }
    }

    /// The bits of a value that the type holds exactly and not as a subnormal.
    fn encode(self, x: f64) -> u32 {
        match self {
            Float(_, exponent_bits, fraction_bits, bytes) => {
                let (bits, width) = ((x as f32).to_bits(), 8 * bytes as u32);
                if x == 0.0 {
                    return 0;
                }
                let exponent = (bits >> 23 & 0xFF) as i32 - 127 + (1 << (exponent_bits - 1)) - 1;
                let fraction = bits >> (23 - fraction_bits) & ((1 << fraction_bits) - 1);
                (bits >> 31) << (width - 1) | (exponent as u32) << fraction_bits | fraction
            }
            Int(..) => x as i32 as u32 & 0xFF,
        }
    }

    /// A value that all floats hold, or any of an integer.
    fn value(self, random: &mut Random) -> f64 {
        let r = random.next();
        match self {
            Float(..) => {
                [0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 3.0, -3.0][r as usize % 11]
            }
            Int(_, true) => f64::from(r as u8 as i8),
            Int(_, false) => f64::from(r as u8),
        }
    }
}

/// How a matrix lies in shared memory. Offsets are from the block's dynamic shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) mn_major: bool,
    /// Bytes of the swizzle; 0 without.
    pub(crate) span: usize,
    pub(crate) leading: usize,
    pub(crate) stride: usize,
    /// Where the pattern starts, and how far into its first rows the matrix does.
    pub(crate) start: usize,
    pub(crate) inside: usize,
}

impl Place {
    const fn k(span: usize, leading: usize, stride: usize, start: usize) -> Place {
        Place { mn_major: false, span, leading, stride, start, inside: 0 }
    }

    fn mn(span: usize, leading: usize, stride: usize, start: usize) -> Place {
        Place { mn_major: true, ..Place::k(span, leading, stride, start) }
    }

    /// The byte of element (row, k), `es` bytes wide.
    fn byte(self, es: usize, row: usize, k: usize) -> usize {
        let Place { span, leading, stride, .. } = self;
        let t = 16 / es;
        let linear = match (self.mn_major, span) {
            (false, 0) => row % 8 * 16 + row / 8 * stride + k / t * leading + k % t * es,
            (false, _) => row % 8 * span + row / 8 * stride + k * es,
            (true, 0) => row % t * es + row / t * stride + k % 8 * 16 + k / 8 * leading,
            (true, _) => {
                let s = span / es;
                row % s * es + row / s * leading + k % 8 * span + k / 8 * stride
            }
        } + self.inside;
        // From the start of the pattern: bits 4 to 6 by bits 7 to 9, as far as the span goes.
        let swizzled = match span {
            0 => linear,
            32 => linear ^ (linear >> 3 & 0x10),
            64 => linear ^ (linear >> 3 & 0x30),
            _ => linear ^ (linear >> 3 & 0x70),
        };
        self.start + swizzled
    }

    /// The descriptor, without the address of the block's dynamic shared memory, which is a multiple of 1024.
    fn descriptor(self) -> u64 {
        let code = match self.span {
            0 => 0u64,
            128 => 1,
            64 => 2,
            _ => 3,
        };
        let period = self.span.max(1) * 8;
        let base = if self.start.is_multiple_of(period) { 0 } else { self.start >> 7 & 7 };
        (self.start + self.inside) as u64 >> 4
            | (self.leading as u64 >> 4) << 16
            | (self.stride as u64 >> 4) << 32
            | (base as u64) << 49
            | code << 62
    }
}

/// One product.
#[derive(Clone, Copy, Debug)]
struct Case {
    d: &'static str,
    a: Type,
    b: Type,
    n: usize,
    /// In registers if none.
    a_place: Option<Place>,
    b_place: Place,
    accumulate: bool,
    scales: (i32, i32),
    saturate: bool,
    /// The selector of a sparse A.
    selector: Option<usize>,
}

/// What a sparse A keeps of a row.
struct Kept {
    /// The places along k of the elements of each row.
    places: Vec<Vec<usize>>,
    /// The metadata of each thread.
    words: Vec<u32>,
}

impl Case {
    fn new(
        d: &'static str,
        a: Type,
        b: Type,
        n: usize,
        a_place: Option<Place>,
        b_place: Place,
    ) -> Case {
        Case {
            d,
            a,
            b,
            n,
            a_place,
            b_place,
            accumulate: true,
            scales: (1, 1),
            saturate: false,
            selector: None,
        }
    }

    fn depth(&self) -> usize {
        32 / self.a.bytes()
    }

    /// Elements of a column of B.
    fn depth_of_b(&self) -> usize {
        if self.selector.is_some() { 2 * self.depth() } else { self.depth() }
    }

    /// Choices of what is kept, in either order, and the metadata that says so (PTX ISA, the figures of "Matrix fragments for
    /// warpgroup-level multiply-accumulate operation with sparse matrix A"). Lanes that give none hold nonsense.
    fn kept(&self, selector: usize, random: &mut Random) -> Kept {
        let group = if self.a.bytes() == 4 { 2 } else { 4 };
        let mut places = vec![Vec::new(); 64];
        let mut words = vec![0x5a5a_5a5au32; 128];
        // The lane of each four, and the lowest bit.
        let at = |row: usize, number: usize| {
            let (lane, bit) = if self.a.bytes() == 1 {
                (row / 8 % 2 + 2 * (number / 8), 4 * (number % 8))
            } else {
                (number / 4, 16 * (row / 8 % 2) + 4 * (number % 4))
            };
            (32 * (row / 16) + 4 * (row % 8) + 2 * selector + lane, bit)
        };
        let groups = self.depth_of_b() / group;
        for row in 0..64 {
            for number in 0..groups {
                words[at(row, number).0] = 0;
            }
        }
        for (row, places) in places.iter_mut().enumerate() {
            for number in 0..groups {
                let (thread, bit) = at(row, number);
                let first = random.next() as usize % group;
                let bits = if group == 2 {
                    places.push(2 * number + first);
                    [0b0100, 0b1110][first]
                } else {
                    let second = (first + 1 + random.next() as usize % 3) % 4;
                    places.extend([4 * number + first, 4 * number + second]);
                    first | second << 2
                };
                words[thread] |= (bits as u32) << bit;
            }
        }
        Kept { places, words }
    }

    fn registers(&self) -> usize {
        if self.d == "f16" { self.n / 4 } else { self.n / 2 }
    }

    fn instruction(&self) -> String {
        let list = |letter: char, count: usize| {
            let names: Vec<String> = (0..count).map(|i| format!("%{letter}{i}")).collect();
            format!("{{{}}}", names.join(","))
        };
        let a = if self.a_place.is_none() { list('a', 4) } else { "%x0".to_owned() };
        let mut text = format!(
            "wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}.{}.{}{} {}, {a}, %x1, {}%p0",
            if self.selector.is_some() { ".sp" } else { "" },
            self.n,
            self.depth_of_b(),
            self.d,
            self.a.name(),
            self.b.name(),
            if self.saturate { ".satfinite" } else { "" },
            list('c', self.registers()),
            self.selector.map_or_else(String::new, |selector| format!("%m0, {selector}, "))
        );
        if self.d != "s32" {
            write!(text, ", {}, {}", self.scales.0, self.scales.1).expect("to a string");
            if self.a.bytes() == 2 {
                if let Some(a) = self.a_place {
                    write!(text, ", {}", u8::from(a.mn_major)).expect("to a string");
                }
                write!(text, ", {}", u8::from(self.b_place.mn_major)).expect("to a string");
            }
        }
        text + ";"
    }

    /// The kernel: copies the image to shared memory, multiplies once.
    fn kernel(&self) -> String {
        let count = self.registers();
        let ty = if self.d == "f32" { "f32" } else { "b32" };
        let mut loads = String::new();
        let mut stores = String::new();
        for i in 0..count {
            write!(loads, "ld.global.{ty} %c{i}, [%d1+{}];", 4 * i).expect("to a string");
            write!(stores, "st.global.{ty} [%d2+{}], %c{i};", 4 * i).expect("to a string");
        }
        let fragments = "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%d3];";
        format!(
            ".version 8.7\n.target sm_90a\n.address_size 64\n
             .extern .shared .align 1024 .b8 smem[];
             .visible .entry k(.param .u64 image, .param .u64 bytes, .param .u64 a, .param .u64 b, .param .u64 c,
                 .param .u64 d, .param .u64 fragments, .param .u64 accumulate, .param .u64 metadata) {{
             .reg .{ty} %c<{count}>; .reg .b32 %a<4>; .reg .b32 %r<16>; .reg .b32 %m<1>; .reg .b64 %d<16>; .reg .b64 %x<2>;
             .reg .pred %p<4>;
             mov.u32 %r0, %tid.x; mov.u32 %r1, smem; ld.param.u64 %d0, [image]; ld.param.u32 %r2, [bytes];
             shl.b32 %r3, %r0, 4;
             COPY: setp.ge.u32 %p1, %r3, %r2; @%p1 bra COPIED;
             cvt.u64.u32 %d4, %r3; add.u64 %d4, %d0, %d4; add.u32 %r4, %r1, %r3;
             ld.global.v4.b32 {{%r5, %r6, %r7, %r8}}, [%d4]; st.shared.v4.b32 [%r4], {{%r5, %r6, %r7, %r8}};
             add.u32 %r3, %r3, 2048; bra COPY;
             COPIED: fence.proxy.async.shared::cta; bar.sync 0;
             mul.lo.u32 %r9, %r0, {bytes}; cvt.u64.u32 %d5, %r9;
             ld.param.u64 %d1, [c]; add.u64 %d1, %d1, %d5; ld.param.u64 %d2, [d]; add.u64 %d2, %d2, %d5;
             ld.param.u64 %d3, [fragments]; mul.wide.u32 %d6, %r0, 16; add.u64 %d3, %d3, %d6;
             {loads} {fragments}
             bfe.u32 %r10, %r1, 4, 14; cvt.u64.u32 %d7, %r10;
             ld.param.u64 %x0, [a]; add.u64 %x0, %x0, %d7; ld.param.u64 %x1, [b]; add.u64 %x1, %x1, %d7;
             ld.param.u32 %r11, [accumulate]; setp.ne.u32 %p0, %r11, 0;
             {metadata}
             wgmma.fence.sync.aligned;
             {mma}
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
             {stores}
             ret; }}",
            bytes = 4 * count,
            metadata = if self.selector.is_some() {
                "ld.param.u64 %d8, [metadata]; mul.wide.u32 %d9, %r0, 4; add.u64 %d8, %d8, %d9; ld.global.b32 %m0, [%d8];"
            } else {
                ""
            },
            mma = self.instruction()
        )
    }

    /// Row and column of element `i` of a thread, by the manual's map.
    fn spot(thread: usize, i: usize) -> (usize, usize) {
        let (warp, lane) = (thread / 32, thread % 32);
        (16 * warp + lane / 4 + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * (lane % 4) + (i & 1))
    }

    /// A's fragments: register r, element j of lane 4g + t is row g + 8 (r % 2), k = e t + j + 4e (r / 2).
    fn fragments(&self, a: &[Vec<f64>]) -> Vec<u32> {
        let e = 4 / self.a.bytes();
        let mut fragments = vec![0u32; 128 * 4];
        for (i, word) in fragments.iter_mut().enumerate() {
            let (thread, r) = (i / 4, i % 4);
            let (warp, lane) = (thread / 32, thread % 32);
            for j in 0..e {
                let row = 16 * warp + lane / 4 + 8 * (r % 2);
                let k = e * (lane % 4) + j + 4 * e * (r / 2);
                *word |= self.a.encode(a[row][k]) << (32 / e * j);
            }
        }
        fragments
    }

    #[track_caller]
    fn check(&self) {
        let kept = self.selector.map_or_else(
            || Kept { places: vec![(0..self.depth()).collect(); 64], words: Vec::new() },
            |selector| self.kept(selector, &mut Random(self.n as u64 + 7)),
        );
        self.check_with(&kept).unwrap_or_else(|fault| panic!("{self:?}: {fault}"));
    }

    /// Compares the product, if there is no fault.
    #[track_caller]
    fn check_with(&self, kept: &Kept) -> Result<(), Box<Fault>> {
        let mut random = Random(self.n as u64 * 31 + self.b_place.span as u64);
        let mut matrix = |ty: Type, rows: usize, depth: usize| -> Vec<Vec<f64>> {
            (0..rows).map(|_| (0..depth).map(|_| ty.value(&mut random)).collect()).collect()
        };
        let depth = self.depth();
        let (a, b) = (matrix(self.a, 64, depth), matrix(self.b, self.n, self.depth_of_b()));
        let mut image = Vec::new();
        let mut put = |place: Place, ty: Type, matrix: &[Vec<f64>]| {
            for (row, values) in matrix.iter().enumerate() {
                for (k, value) in values.iter().enumerate() {
                    let at = place.byte(ty.bytes(), row, k);
                    let bytes = ty.encode(*value).to_le_bytes();
                    if image.len() < at + 16 {
                        image.resize((at + 16).next_multiple_of(16), 0xAA);
                    }
                    image[at..at + ty.bytes()].copy_from_slice(&bytes[..ty.bytes()]);
                }
            }
        };
        if let Some(place) = self.a_place {
            put(place, self.a, &a);
        }
        put(self.b_place, self.b, &b);
        let fragments = self.fragments(&a);
        let c: Vec<Vec<f64>> = (0..64)
            .map(|_| {
                (0..self.n)
                    .map(|_| match self.d {
                        "s32" if self.saturate => f64::from(i32::MAX - 40_000),
                        "s32" => f64::from((random.next() as i32) >> 8),
                        _ => (random.next() % 64) as f64 / 4.0 - 8.0,
                    })
                    .collect()
            })
            .collect();
        let scale = f64::from(self.scales.0 * self.scales.1);
        let required = |row: usize, column: usize| {
            let sum: f64 =
                kept.places[row].iter().zip(&a[row]).map(|(&k, a)| scale * a * b[column][k]).sum();
            let start = if self.accumulate { c[row][column] } else { 0.0 };
            if self.saturate { (sum + start).min(f64::from(i32::MAX)) } else { sum + start }
        };
        let count = self.registers();
        let pack = |value: &dyn Fn(usize, usize) -> f64| -> Vec<u32> {
            let mut words = Vec::new();
            for thread in 0..128 {
                for i in 0..count {
                    let at = |i: usize| {
                        let (row, column) = Case::spot(thread, i);
                        value(row, column)
                    };
                    words.push(match self.d {
                        "f32" => (at(i) as f32).to_bits(),
                        "f16" => F16.encode(at(2 * i)) | F16.encode(at(2 * i + 1)) << 16,
                        _ => at(i) as i32 as u32,
                    });
                }
            }
            words
        };
        let kernel = self.kernel();
        let program = Program::parse(&kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        let bench = Bench::of(program);
        let (from, start) = (bench.upload(&image), bench.upload_words(&pack(&|r, n| c[r][n])));
        let out = bench.memory.allocate(4 * 128 * count as u64).expect("small");
        let fragments = bench.upload_words(&fragments);
        let a_descriptor = self.a_place.map_or(0, Place::descriptor);
        let accumulate = u64::from(self.accumulate);
        let params = [
            from,
            image.len() as u64,
            a_descriptor,
            self.b_place.descriptor(),
            start,
            out,
            fragments,
            accumulate,
            bench.upload_words(&[&kept.words[..], &[0; 128]].concat()),
        ];
        let config = LaunchConfig {
            dynamic_shared_bytes: image.len() as u32,
            ..LaunchConfig::new([1, 1, 1], [128, 1, 1])
        };
        bench.try_launch(&config, &params, &Options::default()).map_err(Box::new)?;
        let (actual, required) = (bench.words(out, 128 * count), pack(&required));
        for (i, (actual, required)) in actual.iter().zip(&required).enumerate() {
            let (thread, register) = (i / count, i % count);
            assert_eq!(
                actual, required,
                "{self:?}: thread {thread}, register {register}: actual {actual:#x} required {required:#x}"
            );
        }
        Ok(())
    }
}

/// A at 0, K-major without swizzle, packed.
const PLAIN_A: Option<Place> = Some(Place::k(0, 128, 256, 0));

/// B behind it.
fn plain_b() -> Place {
    Place::k(0, 128, 256, 4096)
}

#[test]
fn every_width_of_b() {
    for n in (8..=256).step_by(8) {
        Case::new("f32", F16, F16, n, PLAIN_A, plain_b()).check();
    }
    for n in [8, 16, 24, 32, 48, 96, 256] {
        Case::new("s32", S8, S8, n, PLAIN_A, plain_b()).check();
    }
}

#[test]
fn every_pair_of_types() {
    let floats = [(F16, F16), (BF16, BF16), (TF32, TF32)];
    let bytes = [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3), (E5M2, E5M2)];
    let ints = [(S8, S8), (S8, U8), (U8, S8), (U8, U8)];
    for a_place in [PLAIN_A, None] {
        for (a, b) in floats.into_iter().chain(bytes) {
            Case::new("f32", a, b, 24, a_place, plain_b()).check();
        }
        for (a, b) in bytes.into_iter().chain([(F16, F16)]) {
            Case::new("f16", a, b, 16, a_place, plain_b()).check();
        }
        for (a, b) in ints {
            let case = Case::new("s32", a, b, 16, a_place, plain_b());
            case.check();
            Case { saturate: true, ..case }.check();
        }
    }
}

#[test]
fn scales_and_whether_d_is_added_to() {
    for scales in [(1, 1), (-1, 1), (1, -1), (-1, -1)] {
        for accumulate in [true, false] {
            for a_place in [PLAIN_A, None] {
                for d in ["f32", "f16"] {
                    let case = Case::new(d, F16, F16, 8, a_place, plain_b());
                    Case { accumulate, scales, ..case }.check();
                }
            }
        }
    }
    Case { accumulate: false, ..Case::new("s32", S8, U8, 8, PLAIN_A, plain_b()) }.check();
}

/// Places of a B of which an instruction reads 64 bytes along k.
fn deep_b() -> Vec<Place> {
    vec![
        Place::k(0, 128, 512, 4096),
        Place::k(0, 1024, 128, 4096),
        Place::k(64, 0, 512, 4096),
        Place::k(128, 0, 1024, 4096),
        Place { inside: 64, ..Place::k(128, 0, 1024, 4096) },
    ]
}

#[test]
fn a_sparse_a_is_multiplied_by_what_its_metadata_names() {
    let all = [
        ("f32", F16, F16, 2),
        ("f16", F16, F16, 2),
        ("f32", BF16, BF16, 2),
        ("f32", TF32, TF32, 2),
        ("f32", E4M3, E5M2, 1),
        ("f16", E5M2, E4M3, 1),
        ("s32", S8, U8, 1),
        ("s32", U8, S8, 1),
    ];
    for (d, a, b, selectors) in all {
        for a_place in [PLAIN_A, None, Some(Place::k(128, 0, 1024, 16384))] {
            for (b_place, n) in deep_b().into_iter().zip([8, 16, 24, 64, 16]) {
                for selector in 0..selectors {
                    let case = Case::new(d, a, b, n, a_place, b_place);
                    Case { selector: Some(selector), ..case }.check();
                }
            }
        }
    }
    // Columns that are contiguous, in blocks of 8, 16, 32 and 64 of them; four groups of eight k.
    for b_place in [
        Place::mn(0, 128, 512, 4096),
        Place::mn(32, 1024, 256, 4096),
        Place::mn(64, 2048, 512, 4096),
        Place::mn(128, 0, 1024, 4096),
    ] {
        let case = Case::new("f32", F16, F16, 64, Some(Place::mn(128, 0, 1024, 0)), b_place);
        let b_place = Place { start: 16384, ..b_place };
        Case { selector: Some(0), b_place, ..case }.check();
        let scales = (-1, 1);
        Case { selector: Some(1), b_place, a_place: None, scales, ..case }.check();
    }
}

#[test]
fn metadata_of_a_warpgroup_without_a_meaning_is_a_fault() {
    for (ty, d) in [(F16, "f32"), (TF32, "f32"), (E4M3, "f32"), (S8, "s32")] {
        let case = Case::new(d, ty, ty, 8, PLAIN_A, deep_b()[0]);
        let case = Case { selector: Some(0), ..case };
        for bits in 0..16 {
            let meant = match ty.bytes() {
                4 => [0b0100, 0b1110].contains(&bits),
                _ => bits & 3 != bits >> 2,
            };
            // Group 1 of row 4 of warp 2; what it would be multiplied by is in another test.
            let mut kept = case.kept(0, &mut Random(3));
            let thread = 64 + 4 * 4;
            kept.words[thread] = kept.words[thread] & !0xf0 | bits << 4;
            if meant {
                continue;
            }
            let fault = case.check_with(&kept).expect_err("the metadata has no meaning");
            assert_eq!(fault.kind, FaultKind::IllegalOperand);
            let said = format!("the metadata of group 1 of row 4 of A is {bits:#06b}");
            assert!(fault.to_string().contains(&said), "{fault}");
        }
    }
}

/// Layouts of 64 rows of K-major A, or as many columns of B, with a gap between groups of eight rows.
fn k_major(span: usize, start: usize) -> Vec<Place> {
    if span == 0 {
        // Packed either way, and with gaps.
        return vec![
            Place::k(0, 128, 256, start),
            Place::k(0, 1024, 128, start),
            Place::k(0, 2048, 176, start),
        ];
    }
    let places = (0..span / 32).flat_map(|step| {
        [8 * span, 16 * span]
            .map(|stride| Place { inside: 32 * step, ..Place::k(span, 16, stride, start) })
    });
    places.collect()
}

#[test]
fn k_major_swizzles() {
    for ty in [F16, TF32, E4M3, S8] {
        let d = if ty == S8 { "s32" } else { "f32" };
        for span in [0, 32, 64, 128] {
            for (a, b) in k_major(span, 0).into_iter().zip(k_major(span, 16384)) {
                Case::new(d, ty, ty, 64, Some(a), b).check();
            }
        }
    }
    // The two matrices in different ways.
    let (a, b) = (Place::k(128, 0, 1024, 0), Place::k(32, 0, 256, 8192));
    Case::new("f32", BF16, BF16, 40, Some(a), b).check();
}

#[test]
fn mn_major_swizzles() {
    for ty in [F16, BF16] {
        // 64 rows: blocks of 8, 16, 32 or 64 of them; two groups of eight k.
        let places = |start: usize| {
            [
                Place::mn(0, 1024, 128, start),
                Place::mn(0, 128, 256, start),
                Place::mn(32, 512, 256, start),
                Place::mn(32, 1024, 512, start),
                Place::mn(64, 1024, 512, start),
                Place::mn(64, 2048, 1024, start),
                Place::mn(128, 0, 1024, start),
                Place::mn(128, 0, 2048, start),
            ]
        };
        for (a, b) in places(0).into_iter().zip(places(16384)) {
            Case::new("f32", ty, ty, 64, Some(a), plain_b_at(16384)).check();
            Case::new("f32", ty, ty, 64, PLAIN_A, b).check();
            Case::new("f32", ty, ty, 64, Some(a), b).check();
            Case::new("f32", ty, ty, 64, None, b).check();
        }
        // More columns than a block of the swizzle has.
        Case::new("f32", ty, ty, 256, PLAIN_A, Place::mn(128, 2048, 1024, 4096)).check();
        Case::new("f16", F16, F16, 104, PLAIN_A, Place::mn(64, 1024, 512, 4096)).check();
    }
}

fn plain_b_at(start: usize) -> Place {
    Place { start, ..plain_b() }
}

#[test]
fn a_pattern_that_starts_between_its_own_multiples_has_a_base_offset() {
    for start in [128, 256, 640] {
        let a = Place::k(128, 0, 1024, start);
        Case::new("f32", F16, F16, 8, Some(a), Place::k(128, 0, 1024, 16384 + start)).check();
    }
}

#[test]
fn the_low_bits_of_tf32_are_not_read() {
    // Hardware reads the upper 19 bits of each register.
    let case = Case::new("f32", TF32, TF32, 8, None, plain_b());
    let kernel = case.kernel().replace("wgmma.fence", "or.b32 %a0, %a0, 0x1fff; wgmma.fence");
    let program = Program::parse(&kernel).expect("well formed");
    let bench = Bench::of(program);
    let image: Vec<u8> = vec![0x3F80_0000u32.to_le_bytes(); 2048].concat();
    let image = bench.upload(&image);
    let zeros = bench.upload_words(&[0; 512]);
    let ones = bench.upload_words(&[0x3F80_0000; 512]);
    let out = bench.memory.allocate(2048).expect("small");
    let params = [image, 8192, 0, plain_b().descriptor(), zeros, out, ones, 0, 0];
    let config =
        LaunchConfig { dynamic_shared_bytes: 8192, ..LaunchConfig::new([1, 1, 1], [128, 1, 1]) };
    bench.launch(&config, &params);
    assert_eq!(bench.words(out, 512), vec![8.0f32.to_bits(); 512]);
}

#[test]
fn f32_sums_are_rounded_in_order_of_k() {
    // 2^24 + 1 + 1 ... stays 2^24 where each product is added for itself; -2^24 at the end gives 0.
    let case = Case::new("f32", F16, F16, 8, None, plain_b());
    let program = Program::parse(&case.kernel()).expect("well formed");
    let bench = Bench::of(program);
    let one = 0x3C00u16.to_le_bytes();
    let image = bench.upload(&one.repeat(4096));
    let start = bench.upload_words(&[16_777_216.0f32.to_bits(); 512]);
    let ones = bench.upload_words(&[0x3C00_3C00; 512]);
    let out = bench.memory.allocate(2048).expect("small");
    let params = [image, 8192, 0, plain_b().descriptor(), start, out, ones, 1, 0];
    let config =
        LaunchConfig { dynamic_shared_bytes: 8192, ..LaunchConfig::new([1, 1, 1], [128, 1, 1]) };
    bench.launch(&config, &params);
    assert_eq!(bench.words(out, 512), vec![16_777_216.0f32.to_bits(); 512]);
}
