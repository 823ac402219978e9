//! `tcgen05.mma`: products of every kind, of matrices in every layout, against sums over plain matrices.
//!
//! The image of shared memory is made from the formulas of the manual ("Canonical layouts"), that of tensor memory from
//! its section "Data path layout organization". All values are small multiples of a half, so no sum is rounded, in
//! whatever order it is made.

use std::fmt::Write;

use kernel_emulator::{DeviceMemory, Fault, FaultKind, LaunchConfig, Options, Program};

use crate::harness::Random;

/// Lanes and columns of tensor memory.
const LANES: usize = 128;
const COLUMNS: usize = 512;
/// Bytes of shared memory for matrices.
const TILE: usize = 128 * 1024;

/// The memory of one block before or after.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) shared: Vec<u8>,
    /// Lane after lane.
    pub(crate) tensor: Vec<u32>,
}

impl Image {
    pub(crate) fn new() -> Image {
        Image { shared: vec![0; TILE], tensor: vec![0; LANES * COLUMNS] }
    }

    pub(crate) fn cell(&mut self, lane: usize, column: usize) -> &mut u32 {
        &mut self.tensor[lane * COLUMNS + column]
    }
}

/// The kernel: fills shared and tensor memory of each block, issues, waits, and writes tensor memory back. Each block
/// holds all 512 columns. In `issue`, `%r4` is the address of tensor memory, `%d10` the descriptor of the start of
/// shared memory without layout, `%p2` true; one thread of the first block executes it.
fn kernel(blocks: usize, issue: &str) -> String {
    let list = |first: usize, count: usize| {
        let names: Vec<String> = (first..first + count).map(|i| format!("%v{i}")).collect();
        format!("{{{}}}", names.join(","))
    };
    let mut load = String::new();
    let mut store = String::new();
    for at in (0..COLUMNS).step_by(32) {
        for i in (0..32).step_by(4) {
            let (at, list) = (4 * (at + i), list(i, 4));
            writeln!(load, "ld.global.v4.b32 {list}, [%d1+{at}];").expect("to a string");
        }
        let all = list(0, 32);
        writeln!(load, "tcgen05.st.sync.aligned.32x32b.x32.b32 [%r5+{at}], {all};")
            .expect("to a string");
        writeln!(store, "tcgen05.ld.sync.aligned.32x32b.x32.b32 {all}, [%r5+{at}];\ntcgen05.wait::ld.sync.aligned;").expect("to a string");
        for i in (0..32).step_by(4) {
            let (at, list) = (4 * (at + i), list(i, 4));
            writeln!(store, "st.global.v4.b32 [%d1+{at}], {list};").expect("to a string");
        }
    }
    let multicast = (1 << blocks) - 1;
    let synchronise = "fence.proxy.async.shared::cta; tcgen05.fence::before_thread_sync;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; tcgen05.fence::after_thread_sync;";
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 tile[];
         .visible .entry k(.param .u64 p0, .param .u64 p1) .reqntid 128, 1, 1
         {{
         .reg .b32 %r<16>; .reg .b32 %v<32>; .reg .b64 %d<24>; .reg .pred %p<8>; .reg .b16 %h<2>;
         .shared .align 16 .b8 bars[64];
         mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r2, bars; mov.u32 %r3, tile; mov.u32 %r8, %cluster_ctarank;
         setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r0, 0;
         @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
         @%p0 tcgen05.alloc.cta_group::{blocks}.sync.aligned.shared::cta.b32 [%r2+32], 512;
         @%p0 tcgen05.relinquish_alloc_permit.cta_group::{blocks}.sync.aligned;
         bar.sync 0;
         ld.shared.b32 %r4, [%r2+32]; shl.b32 %r5, %r1, 21; add.u32 %r5, %r5, %r4;
         ld.param.u64 %d0, [p0]; mul.wide.u32 %d2, %r8, {TILE}; add.u64 %d0, %d0, %d2;
         mul.wide.u32 %d2, %r0, 16; add.u64 %d0, %d0, %d2; shl.b32 %r6, %r0, 4; add.u32 %r6, %r6, %r3;
         mov.u32 %r7, 0;
         FILL: ld.global.v4.b32 {{%v0,%v1,%v2,%v3}}, [%d0]; st.shared.v4.b32 [%r6], {{%v0,%v1,%v2,%v3}};
         add.u64 %d0, %d0, 2048; add.u32 %r6, %r6, 2048; add.u32 %r7, %r7, 2048;
         setp.lt.u32 %p3, %r7, {TILE}; @%p3 bra FILL;
         ld.param.u64 %d1, [p1]; mul.wide.u32 %d2, %r8, {tensor}; add.u64 %d1, %d1, %d2;
         mul.wide.u32 %d2, %r0, {row}; add.u64 %d1, %d1, %d2;
         {load}
         tcgen05.wait::st.sync.aligned; {synchronise}
         bfe.u32 %r9, %r3, 4, 14; cvt.u64.u32 %d10, %r9; setp.eq.u32 %p2, %r0, %r0;
         or.b32 %r10, %r0, %r8; setp.ne.u32 %p4, %r10, 0; @%p4 bra ISSUED;
         {issue}
         mov.b16 %h0, {multicast};
         tcgen05.commit.cta_group::{blocks}.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r2], %h0;
         ISSUED: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2], 0; @!%p5 bra ISSUED;
         bar.warp.sync -1; tcgen05.fence::after_thread_sync;
         {store}
         {synchronise}
         @%p0 tcgen05.dealloc.cta_group::{blocks}.sync.aligned.b32 %r4, 512;
         ret;
         }}",
        tensor = 4 * LANES * COLUMNS,
        row = 4 * COLUMNS,
    )
}

/// Runs instructions on the memory of one block or of a pair.
#[expect(clippy::result_large_err, reason = "the fault is what the tests look at")]
pub(crate) fn run(images: &[Image], issue: &str) -> Result<Vec<Image>, Fault> {
    let text = kernel(images.len(), issue);
    let program = match Program::parse(&text) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{issue}"),
    };
    let memory = DeviceMemory::new();
    let upload = |bytes: Vec<u8>| {
        let address = memory.allocate(bytes.len() as u64).expect("the test is small");
        memory.write(address, &bytes).expect("it was just allocated");
        address
    };
    let shared = upload(images.iter().flat_map(|image| image.shared.clone()).collect());
    let tensor = images.iter().flat_map(|image| image.tensor.iter().flat_map(|w| w.to_le_bytes()));
    let tensor = upload(tensor.collect());
    let blocks = images.len() as u32;
    let mut config = LaunchConfig::new([blocks, 1, 1], [128, 1, 1]);
    config.cluster = [blocks, 1, 1];
    config.dynamic_shared_bytes = TILE as u32;
    let params: Vec<u8> = [shared, tensor].iter().flat_map(|p| p.to_le_bytes()).collect();
    program.launch(&memory, "k", &config, &params, &Options::default())?;
    let mut bytes = vec![0; 4 * LANES * COLUMNS * images.len()];
    memory.read(tensor, &mut bytes).expect("the kernel wrote its result");
    let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four")));
    let words: Vec<u32> = words.collect();
    let tensors = words.chunks_exact(LANES * COLUMNS).map(<[u32]>::to_vec);
    Ok(tensors.map(|tensor| Image { shared: Vec::new(), tensor }).collect())
}

/// An element type: its code in the instruction descriptor, its bits, and how they stand for a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Type {
    pub(crate) code: u32,
    /// Bits of an element that lies beside others, and those that hold the value.
    stride: usize,
    bits: usize,
    /// Exponent and fraction bits of floats.
    float: Option<(u32, u32)>,
    signed: bool,
}

const fn float(code: u32, stride: usize, exponent: u32, fraction: u32) -> Type {
    let bits = 1 + exponent as usize + fraction as usize;
    Type { code, stride, bits, float: Some((exponent, fraction)), signed: true }
}

pub(crate) const F16: Type = float(0, 16, 5, 10);
pub(crate) const BF16: Type = float(1, 16, 8, 7);
pub(crate) const TF32: Type = Type { bits: 32, ..float(2, 32, 8, 23) };
pub(crate) const E4M3: Type = float(0, 8, 4, 3);
pub(crate) const E5M2: Type = float(1, 8, 5, 2);
pub(crate) const E2M3: Type = float(3, 8, 2, 3);
pub(crate) const E3M2: Type = float(4, 8, 3, 2);
pub(crate) const E2M1: Type = float(5, 8, 2, 1);
/// Two to a byte.
pub(crate) const PAIRS: Type = float(1, 4, 2, 1);
pub(crate) const U8: Type = Type { code: 0, stride: 8, bits: 8, float: None, signed: false };
pub(crate) const S8: Type = Type { code: 1, stride: 8, bits: 8, float: None, signed: true };

impl Type {
    /// The bits of a value that the type holds exactly and not as a subnormal.
    pub(crate) fn encode(self, x: f64) -> u32 {
        let Some((exponent_bits, fraction_bits)) = self.float else {
            return x as i32 as u32 & 0xFF;
        };
        if x == 0.0 {
            return 0;
        }
        let bits = (x as f32).to_bits();
        let exponent = (bits >> 23 & 0xFF) as i32 - 127 + (1 << (exponent_bits - 1)) - 1;
        let fraction = bits >> (23 - fraction_bits) & ((1 << fraction_bits) - 1);
        (bits >> 31) << (self.bits - 1) | (exponent as u32) << fraction_bits | fraction
    }

    /// A value that all floats hold as a normal number, or any of an integer.
    pub(crate) fn value(self, random: &mut Random) -> f64 {
        let r = random.next();
        match (self.float, self.signed) {
            (Some(_), _) => [0.0, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 3.0, -3.0][r as usize % 9],
            (None, true) => f64::from(r as u8 as i8),
            (None, false) => f64::from(r as u8),
        }
    }

    /// Elements of 16 bytes: narrow floats outside of pairs are padded to a byte each.
    fn per_unit(self) -> usize {
        128 / self.stride
    }

    /// Extent of k in one instruction: 32 bytes.
    pub(crate) fn depth(self) -> usize {
        2 * self.per_unit()
    }
}

/// How a matrix lies in shared memory, from an offset on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) mn_major: bool,
    /// The code of the swizzle in descriptors.
    pub(crate) swizzle: u64,
    pub(crate) leading: usize,
    pub(crate) stride: usize,
    /// Where the pattern starts, and how far into its first rows the matrix does.
    pub(crate) start: usize,
    pub(crate) inside: usize,
}

impl Place {
    pub(crate) fn k(swizzle: u64, leading: usize, stride: usize, start: usize) -> Place {
        Place { mn_major: false, swizzle, leading, stride, start, inside: 0 }
    }

    fn mn(swizzle: u64, leading: usize, stride: usize, start: usize) -> Place {
        Place { mn_major: true, ..Place::k(swizzle, leading, stride, start) }
    }

    /// The 16 bytes of an element (row, k), and its number in them.
    fn unit(self, ty: Type, row: usize, k: usize) -> (usize, usize) {
        let Place { leading, stride, .. } = self;
        let t = ty.per_unit();
        let span = match self.swizzle {
            0 => 0,
            1 | 2 => 128,
            4 => 64,
            _ => 32,
        };
        // Elements of a span.
        let s = span / 16 * t;
        let (linear, element) = match (self.mn_major, span) {
            (false, 0) => (row % 8 * 16 + row / 8 * stride + k / t * leading, k % t),
            (false, _) => (row % 8 * span + row / 8 * stride + k / t * 16, k % t),
            (true, 0) => (row / t * stride + k % 8 * 16 + k / 8 * leading, row % t),
            (true, _) => {
                let group = if self.swizzle == 1 { 4 } else { 8 };
                let across = k % group * span + k / group * stride;
                (row % s / t * 16 + row / s * leading + across, row % t)
            }
        };
        let linear = linear + self.inside;
        let swizzled = match self.swizzle {
            0 => linear,
            1 => linear ^ (linear >> 2 & 0x60),
            2 => linear ^ (linear >> 3 & 0x70),
            4 => linear ^ (linear >> 3 & 0x30),
            _ => linear ^ (linear >> 3 & 0x10),
        };
        (self.start + swizzled, element)
    }

    /// Writes an element.
    pub(crate) fn put(self, shared: &mut [u8], ty: Type, (row, k): (usize, usize), bits: u32) {
        let (unit, element) = self.unit(ty, row, k);
        let unit = &mut shared[unit..unit + 16];
        // Narrow floats lie close together, and are padded behind.
        let width = if ty.stride == 8 { ty.bits } else { ty.stride };
        let mut value = u128::from_le_bytes((&*unit).try_into().expect("16 bytes"));
        value |= u128::from(bits) << (width * element);
        unit.copy_from_slice(&value.to_le_bytes());
    }

    /// The descriptor, without the address of the block's dynamic shared memory.
    pub(crate) fn descriptor(self) -> u64 {
        (self.start + self.inside) as u64 >> 4
            | (self.leading as u64 >> 4) << 16
            | (self.stride as u64 >> 4) << 32
            | 1 << 46
            | self.swizzle << 61
    }
}

/// One product.
#[derive(Clone, Debug)]
struct Case {
    /// The words between `tcgen05.mma` and the collector.
    words: &'static str,
    kind: &'static str,
    /// D as the descriptor has it.
    d_type: u32,
    a: Type,
    b: Type,
    m: usize,
    n: usize,
    /// In tensor memory without.
    a_place: Option<Place>,
    b_place: Place,
    accumulate: bool,
    negated: (bool, bool),
    /// The lane where D starts.
    lane: usize,
    scale_input: u32,
    /// Lanes that are not written, by word.
    disabled: Option<[u32; 4]>,
    saturate: bool,
    /// What is added to the copy of A in the upper lanes, in a pair's product of 128 rows.
    copy_off: u32,
}

/// The column where D starts, and that of A.
const D_COLUMN: usize = 8;
const A_COLUMN: usize = 300;

impl Case {
    fn new(kind: &'static str, ty: Type, (m, n): (usize, usize)) -> Case {
        let a_place = Some(Place::k(2, 0, 1024, 0));
        let b_place = Place::k(2, 0, 1024, 64 * 1024);
        Case {
            words: "cta_group::1",
            kind,
            d_type: if ty.float.is_some() { 1 } else { 2 },
            a: ty,
            b: ty,
            m,
            n,
            a_place,
            b_place,
            accumulate: true,
            negated: (false, false),
            lane: 0,
            scale_input: 0,
            disabled: None,
            saturate: false,
            copy_off: 0,
        }
    }

    fn pair(&self) -> bool {
        self.words.contains("::2")
    }

    fn stationary(&self) -> bool {
        self.words.starts_with("ws")
    }

    fn descriptor(&self) -> u32 {
        let mn = |place: Option<Place>| u32::from(place.is_some_and(|place| place.mn_major));
        u32::from(self.saturate) << 3
            | self.d_type << 4
            | self.a.code << 7
            | self.b.code << 10
            | u32::from(self.negated.0) << 13
            | u32::from(self.negated.1) << 14
            | mn(self.a_place) << 15
            | mn(Some(self.b_place)) << 16
            | (self.n as u32 >> 3) << 17
            | (self.m as u32 >> 4) << 24
    }

    /// Block, lane and column of an element of D.
    fn d_cell(&self, row: usize, column: usize) -> (usize, usize, usize) {
        let n = self.n;
        let (block, lane, column) = match (self.pair(), self.stationary(), self.m) {
            (false, true, 32) => (0, row + 32 * (column / (n / 4)), column % (n / 4)),
            (false, true, 64) => (0, row + 64 * (column / (n / 2)), column % (n / 2)),
            (false, false, 64) => (0, row % 16 + 32 * (row / 16), column),
            (false, ..) => (0, row, column),
            (true, _, 128) => (row / 64, row % 64 + 64 * (column / (n / 2)), column % (n / 2)),
            (true, ..) => (row / 128, row % 128, column),
        };
        (block, self.lane + lane, D_COLUMN + column)
    }

    fn issue(&self) -> String {
        let mut text = String::new();
        let a = match self.a_place {
            Some(place) => {
                write!(text, "add.u64 %d12, %d10, {};", place.descriptor()).expect("to a string");
                "%d12".to_owned()
            }
            None => format!("[%r4+{}]", (self.lane << 16) + A_COLUMN),
        };
        let p = u8::from(self.accumulate);
        write!(
            text,
            "add.u64 %d13, %d10, {}; mov.b32 %r11, {:#x}; setp.ne.u32 %p6, {p}, 0;",
            self.b_place.descriptor(),
            self.descriptor()
        )
        .expect("to a string");
        let mut mask = String::new();
        if let Some(words) = self.disabled {
            for (i, word) in words.iter().enumerate() {
                write!(text, "mov.b32 %v{i}, {word:#x};").expect("to a string");
            }
            mask.push_str("{%v0, %v1, %v2, %v3}, ");
        }
        let scale =
            if self.scale_input > 0 { format!(", {}", self.scale_input) } else { String::new() };
        write!(
            text,
            "tcgen05.mma.{}.{} [%r4+{}], {a}, %d13, %r11, {mask}%p6{scale};",
            self.words,
            self.kind,
            (self.lane << 16) + D_COLUMN
        )
        .expect("to a string");
        text
    }

    /// The bits of D, from the value of the products and what it held.
    fn result(&self, products: f64, c: u32) -> u32 {
        let old = self.accumulate;
        match self.d_type {
            2 => {
                let sum = products as i64 + if old { i64::from(c as i32) } else { 0 };
                if self.saturate {
                    sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 as u32
                } else {
                    sum as u32
                }
            }
            1 => {
                let c = f64::from(f32::from_bits(c)) / 2f64.powi(self.scale_input as i32);
                ((products + if old { c } else { 0.0 }) as f32).to_bits()
            }
            _ => {
                let c = kernel_emulator::numeric::narrow::widen_f16(c as u16);
                let c = f64::from(c) / 2f64.powi(self.scale_input as i32);
                // All of them are half-integers below 2048, which f16 holds.
                let sum = products + if old { c } else { 0.0 };
                let bits = kernel_emulator::numeric::narrow::narrow_f16(sum as f32);
                assert_eq!(f64::from(kernel_emulator::numeric::narrow::widen_f16(bits)), sum);
                u32::from(bits)
            }
        }
    }

    #[track_caller]
    fn check(&self) {
        let mut random = Random(self.m as u64 * 1000 + self.n as u64);
        let depth = self.a.depth();
        let blocks = if self.pair() { 2 } else { 1 };
        let (rows, columns) = (self.m / blocks, self.n / blocks);
        let mut images = vec![Image::new(); blocks];
        let mut values = |ty: Type, rows: usize| -> Vec<Vec<f64>> {
            (0..rows).map(|_| (0..depth).map(|_| ty.value(&mut random)).collect()).collect()
        };
        let (a, b) = (values(self.a, self.m), values(self.b, self.n));
        for (row, values) in a.iter().enumerate() {
            for (k, value) in values.iter().enumerate() {
                let (image, bits) = (&mut images[row / rows], self.a.encode(*value));
                if let Some(place) = self.a_place {
                    place.put(&mut image.shared, self.a, (row % rows, k), bits);
                    continue;
                }
                let (_, lane, _) = self.d_cell(row, 0);
                let per_cell = 32 / self.a.stride;
                let up = if self.a == E2M1 { 2 } else { 0 };
                let bits = bits << (self.a.stride * (k % per_cell) + up);
                *image.cell(lane, A_COLUMN + k / per_cell) |= bits;
                if self.pair() && self.m == 128 {
                    *image.cell(lane + 64, A_COLUMN + k / per_cell) |= bits;
                }
            }
        }
        for (column, values) in b.iter().enumerate() {
            for (k, value) in values.iter().enumerate() {
                let image = &mut images[column / columns];
                let at = (column % columns, k);
                self.b_place.put(&mut image.shared, self.b, at, self.b.encode(*value));
            }
        }
        // Everything around D has a pattern of its own, which must stay.
        for image in &mut images {
            for lane in 0..LANES {
                for column in 0..A_COLUMN - 4 {
                    let value = ((lane * 7 + column * 3) % 64) as f64 - 32.0;
                    *image.cell(lane, column) = match self.d_type {
                        2 if self.saturate => 0x7FFF_FF00 + (lane + column) as u32 % 256,
                        2 => value as i32 as u32,
                        1 => (value as f32).to_bits(),
                        _ => F16.encode(value),
                    };
                }
            }
        }
        let mut required = images.clone();
        for (row, a) in a.iter().enumerate() {
            for (column, b) in b.iter().enumerate() {
                let sign = if self.negated.0 == self.negated.1 { 1.0 } else { -1.0 };
                let products: f64 = a.iter().zip(b).map(|(a, b)| sign * a * b).sum();
                let (block, lane, column) = self.d_cell(row, column);
                let disabled = self.disabled.is_some_and(|w| w[lane / 32] >> (lane % 32) & 1 != 0);
                if !disabled {
                    let cell = required[block].cell(lane, column);
                    *cell = self.result(products, *cell);
                }
            }
        }
        if self.copy_off != 0 {
            *images[1].cell(70, A_COLUMN) += self.copy_off;
            let fault = run(&images, &self.issue()).expect_err("the copy of A differs");
            assert_eq!(fault.kind, FaultKind::IllegalOperand, "{fault}");
            assert!(fault.detail.contains("differs between lanes 6 and 70"), "{fault}");
            return;
        }
        let actual =
            run(&images, &self.issue()).unwrap_or_else(|fault| panic!("{fault}\n{self:?}"));
        for (block, (actual, required)) in actual.iter().zip(&required).enumerate() {
            for at in 0..LANES * COLUMNS {
                assert_eq!(
                    actual.tensor[at],
                    required.tensor[at],
                    "block {block}, lane {}, column {} of {self:?}",
                    at / COLUMNS,
                    at % COLUMNS
                );
            }
        }
    }
}

#[test]
fn every_element_type_multiplies() {
    for (kind, ty) in [
        ("kind::f16", F16),
        ("kind::f16", BF16),
        ("kind::tf32", TF32),
        ("kind::f8f6f4", E4M3),
        ("kind::f8f6f4", E5M2),
        ("kind::f8f6f4", E2M3),
        ("kind::f8f6f4", E3M2),
        ("kind::f8f6f4", E2M1),
        ("kind::i8", U8),
        ("kind::i8", S8),
    ] {
        Case::new(kind, ty, (128, 64)).check();
        Case { accumulate: false, ..Case::new(kind, ty, (64, 32)) }.check();
    }
    for (a, b) in [(E4M3, E5M2), (E2M1, E4M3), (E3M2, E2M3)] {
        Case { b, ..Case::new("kind::f8f6f4", a, (128, 32)) }.check();
    }
    Case { b: S8, ..Case::new("kind::i8", U8, (128, 32)) }.check();
    Case { saturate: true, ..Case::new("kind::i8", U8, (128, 32)) }.check();
}

#[test]
fn d_holds_f16_in_the_low_halves_of_its_columns() {
    Case { d_type: 0, ..Case::new("kind::f16", F16, (128, 32)) }.check();
    Case { d_type: 0, ..Case::new("kind::f8f6f4", E4M3, (64, 64)) }.check();
}

#[test]
fn every_number_of_rows_and_columns_has_its_place() {
    for (m, n) in [(64, 8), (64, 24), (64, 256), (128, 16), (128, 48), (128, 256)] {
        Case::new("kind::f16", F16, (m, n)).check();
    }
    Case { lane: 16, ..Case::new("kind::f16", F16, (64, 40)) }.check();
    for (m, n) in [(32, 64), (32, 256), (64, 64), (64, 128), (128, 128)] {
        Case { words: "ws.cta_group::1", ..Case::new("kind::f16", F16, (m, n)) }.check();
    }
}

#[test]
fn two_blocks_share_a_product() {
    for (m, n) in [(256, 32), (256, 128), (256, 256), (128, 64), (128, 32)] {
        Case { words: "cta_group::2", ..Case::new("kind::f16", BF16, (m, n)) }.check();
    }
    for m in [128, 256] {
        let a_place = None;
        Case { words: "cta_group::2", a_place, ..Case::new("kind::f16", F16, (m, 64)) }.check();
    }
    // Of 128 rows, both halves of the lanes hold A.
    let (words, a_place, copy_off) = ("cta_group::2", None, 1);
    Case { words, a_place, copy_off, ..Case::new("kind::f16", F16, (128, 64)) }.check();
    Case { words: "cta_group::2", ..Case::new("kind::f8f6f4", E5M2, (256, 64)) }.check();
}

#[test]
fn every_layout_of_shared_memory_is_read() {
    let (rows, start) = (128, 64 * 1024);
    for ty in [F16, E4M3, TF32, E2M1] {
        let kind = match ty {
            F16 => "kind::f16",
            TF32 => "kind::tf32",
            _ => "kind::f8f6f4",
        };
        // Along k: nothing exchanged, in either order of the groups, then each swizzle.
        for place in [
            Place::k(0, 128, 256, 0),
            Place::k(0, 16 * rows, 128, 0),
            Place::k(6, 0, 256, 0),
            Place::k(4, 0, 512, 0),
            Place::k(2, 0, 1024, 0),
            Place::k(1, 0, 1024, 0),
        ] {
            let b_place = Place { start, ..place };
            Case { a_place: Some(place), b_place, ..Case::new(kind, ty, (128, 64)) }.check();
            // The second 32 bytes of a row of the span, as a loop along k reads them.
            if [4, 2].contains(&place.swizzle) {
                let a_place = Some(Place { inside: 32, ..place });
                let b_place = Place { start: 48 * 1024, inside: 32, ..place };
                Case { a_place, b_place, ..Case::new(kind, ty, (64, 64)) }.check();
            }
        }
    }
    for ty in [F16, BF16, E4M3, E2M3] {
        let kind = if ty.stride == 16 { "kind::f16" } else { "kind::f8f6f4" };
        let t = ty.per_unit();
        for (swizzle, span) in [(0, 16), (6, 32), (4, 64), (2, 128)] {
            // Blocks of a span of rows lie behind one another, with all of k.
            let depth = ty.depth();
            let place = if swizzle == 0 {
                Place::mn(0, 128, 16 * depth, 0)
            } else {
                Place::mn(swizzle, span * depth, 8 * span, 0)
            };
            assert!(span / 16 * t <= 128);
            let b_place = Place { start, ..place };
            let case = Case { b_place, ..Case::new(kind, ty, (128, 128)) };
            Case { a_place: Some(place), ..case.clone() }.check();
            case.check();
        }
    }
    // Groups of four along k lie behind all blocks of 32 rows.
    let place = Place::mn(1, 512, 2048, 0);
    let b_place = Place { start, ..place };
    Case { a_place: Some(place), b_place, ..Case::new("kind::tf32", TF32, (128, 64)) }.check();
}

#[test]
fn a_lies_in_tensor_memory() {
    for (kind, ty) in [
        ("kind::f16", F16),
        ("kind::tf32", TF32),
        ("kind::f8f6f4", E4M3),
        ("kind::f8f6f4", E3M2),
        ("kind::f8f6f4", E2M1),
        ("kind::i8", S8),
    ] {
        Case { a_place: None, ..Case::new(kind, ty, (128, 32)) }.check();
        Case { a_place: None, lane: 16, ..Case::new(kind, ty, (64, 32)) }.check();
    }
}

#[test]
fn factors_are_negated_and_d_is_scaled() {
    Case { negated: (true, false), ..Case::new("kind::f16", F16, (128, 32)) }.check();
    Case { negated: (false, true), ..Case::new("kind::f8f6f4", E4M3, (128, 32)) }.check();
    Case { negated: (true, true), ..Case::new("kind::tf32", TF32, (64, 32)) }.check();
    Case { scale_input: 3, ..Case::new("kind::f16", F16, (128, 32)) }.check();
    Case { scale_input: 15, ..Case::new("kind::tf32", TF32, (128, 32)) }.check();
}

#[test]
fn lanes_of_d_are_left_out() {
    let disabled = Some([0x8000_0001, 0, u32::MAX, 0x0F0F]);
    Case { disabled, ..Case::new("kind::f16", F16, (128, 32)) }.check();
    Case { disabled, ..Case::new("kind::i8", S8, (64, 32)) }.check();
}
