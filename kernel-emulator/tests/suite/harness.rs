//! Running small kernels: one warp, operands by lane.

use std::sync::Mutex;

use kernel_emulator::{
    DeviceMemory, Fault, Hazards, LaunchConfig, Options, Program, ProgramError, Report,
};

/// Values of 32 lanes.
pub(crate) type W = [u32; 32];
/// Values of 32 lanes.
pub(crate) type D = [u64; 32];

/// The head of every module.
pub(crate) const HEAD: &str = ".version 8.7\n.target sm_90\n.address_size 64\n";

/// A generator of repeatable numbers (Steele, Lea, Flood: `SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Any word, extreme ones often.
    pub(crate) fn word(&mut self) -> u32 {
        let value = self.next();
        match value % 8 {
            0 => [0, 1, 2, 31, 32, 33, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF, 0x8000]
                [(value >> 8) as usize % 11],
            1 => (value >> 32) as u32 >> ((value >> 8) % 32),
            _ => (value >> 32) as u32,
        }
    }

    pub(crate) fn words(&mut self) -> W {
        std::array::from_fn(|_| self.word())
    }

    pub(crate) fn doubles(&mut self) -> D {
        std::array::from_fn(|_| u64::from(self.word()) << 32 | u64::from(self.word()))
    }

    /// A float of moderate size.
    pub(crate) fn float(&mut self) -> f32 {
        let value = self.next();
        let fraction = (value >> 40) as f32 / (1 << 24) as f32 * 2.0 - 1.0;
        fraction * 2.0_f32.powi((value % 16) as i32 - 8)
    }
}

/// A program, its memory, and what it gets.
pub(crate) struct Bench {
    pub(crate) memory: DeviceMemory,
    pub(crate) program: Program,
    /// Address and size of what was uploaded.
    uploads: Mutex<Vec<(u64, usize)>>,
}

impl Bench {
    /// A module: the head and `text`.
    pub(crate) fn new(text: &str) -> Bench {
        Bench::with_head(HEAD, text)
    }

    /// A module for data-centre Blackwell.
    pub(crate) fn blackwell(text: &str) -> Bench {
        Bench::with_head(".version 8.8\n.target sm_100a\n.address_size 64\n", text)
    }

    fn with_head(head: &str, text: &str) -> Bench {
        let program = match Program::parse(&format!("{head}{text}")) {
            Ok(program) => program,
            Err(error) => panic!("{error}\n{text}"),
        };
        Bench::of(program)
    }

    /// A program, and new memory.
    pub(crate) fn of(program: Program) -> Bench {
        Bench { memory: DeviceMemory::new(), program, uploads: Mutex::default() }
    }

    /// Device memory with these bytes.
    pub(crate) fn upload(&self, data: &[u8]) -> u64 {
        let address = self.memory.allocate(data.len() as u64).expect("the test is small");
        self.memory.write(address, data).expect("it was just allocated");
        self.uploads.lock().expect("no test panics here").push((address, data.len()));
        address
    }

    /// What the uploaded memory holds.
    fn uploaded(&self) -> Vec<(u64, Vec<u8>)> {
        let uploads = self.uploads.lock().expect("no test panics here");
        let held = uploads.iter().map(|&(address, bytes)| {
            let mut data = vec![0; bytes];
            self.memory.read_unchecked(address, &mut data).expect("it was uploaded");
            (address, data)
        });
        held.collect()
    }

    pub(crate) fn upload_words(&self, data: &[u32]) -> u64 {
        let bytes: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.upload(&bytes)
    }

    pub(crate) fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.memory.read(address, &mut bytes).expect("the kernel wrote its result");
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four"))).collect()
    }

    pub(crate) fn doubles(&self, address: u64, count: usize) -> Vec<u64> {
        let words = self.words(address, 2 * count);
        words.chunks_exact(2).map(|w| u64::from(w[1]) << 32 | u64::from(w[0])).collect()
    }

    /// Launches the only entry.
    #[expect(clippy::result_large_err, reason = "the fault is what the tests look at")]
    pub(crate) fn try_launch(
        &self,
        config: &LaunchConfig,
        params: &[u64],
        options: &Options,
    ) -> Result<Report, Fault> {
        let entry = &self.program.entries()[0];
        let params: Vec<u8> = params.iter().flat_map(|p| p.to_le_bytes()).collect();
        let launch = |options: &Options| {
            self.program.launch(&self.memory, &entry.name, config, &params, options)
        };
        let before = self.uploaded();
        let result = launch(options);
        if let Err(fault) = &result
            && fault.kind.is_hazard()
        {
            // A flag that the first launch has set would let the second go past its wait.
            for (address, data) in before {
                self.memory.write(address, &data).expect("it was uploaded");
            }
            let warned = launch(&options.clone().with_hazards(Hazards::Warn));
            found_again(fault, &warned);
        }
        result
    }

    pub(crate) fn launch(&self, config: &LaunchConfig, params: &[u64]) -> Report {
        match self.try_launch(config, params, &Options::default()) {
            Ok(report) => report,
            Err(fault) => panic!("{fault}"),
        }
    }
}

/// A hazard that ends a launch is the first finding of its instruction where it does not; the launch may still end for another reason.
fn found_again(fault: &Fault, warned: &Result<Report, Fault>) {
    let report = match warned {
        Ok(report) => report,
        Err(other) => {
            assert!(!other.kind.is_hazard(), "the hazard ends the launch: {other}");
            return;
        }
    };
    // Which one of two blocks comes second is a matter of time.
    let lines = |one: &Fault| {
        let mut lines = [one.ptx_line, one.other.as_ref().map_or(0, |other| other.ptx_line)];
        lines.sort_unstable();
        lines
    };
    let same = |one: &Fault| {
        one.kind == fault.kind && (one.ptx_line == fault.ptx_line || lines(one) == lines(fault))
    };
    assert!(report.findings.iter().any(same), "not found: {fault}\nbut: {:?}", report.findings);
}

/// One block of so many threads.
pub(crate) fn one_block(threads: u32) -> LaunchConfig {
    LaunchConfig::new([1, 1, 1], [threads, 1, 1])
}

/// A module whose entry `k` takes 64-bit parameters `p0`, `p1`, ...
pub(crate) fn entry(params: usize, body: &str) -> String {
    let list: Vec<String> = (0..params).map(|i| format!(".param .u64 p{i}")).collect();
    format!(".visible .entry k({}) {{\n{body}\nret;\n}}", list.join(", "))
}

/// The fault of launching a kernel, or that there is none.
pub(crate) fn outcome(
    text: &str,
    config: &LaunchConfig,
    data_bytes: usize,
) -> Result<(), Box<Fault>> {
    let bench = Bench::new(text);
    let data = bench.upload(&vec![0; data_bytes]);
    let options = Options::default().with_max_instructions(1 << 22);
    bench.try_launch(config, &[data], &options).map(drop).map_err(Box::new)
}

/// Why a text is refused.
pub(crate) fn refusal(text: &str) -> ProgramError {
    match Program::parse(&format!("{HEAD}{text}")) {
        Ok(_) => panic!("the text was accepted:\n{text}"),
        Err(error) => error,
    }
}

/// Runs `body` in one warp. `%a`, `%b`, `%c` hold the operands of each lane (32 bits), `%h0` to
/// `%h2` their low halves, `%x`, `%y`, `%z` the 64-bit ones; `%o` and `%q` are the results. Free
/// registers: `%r0`..., `%d0`..., `%p0`..., `%s0`... (16 bits).
pub(crate) fn lanes(body: &str, words: [&W; 3], doubles: [&D; 3]) -> (W, D) {
    let text = entry(
        8,
        &format!(
            ".reg .b32 %a, %b, %c, %o, %t, %r<16>; .reg .b64 %x, %y, %z, %q, %m<8>, %d<16>;
             .reg .b16 %h<3>, %s<8>; .reg .pred %p<8>;
             mov.u32 %t, %tid.x;
             mul.wide.u32 %m0, %t, 4;
             ld.param.u64 %m1, [p0]; add.s64 %m1, %m1, %m0; ld.global.b32 %a, [%m1];
             ld.param.u64 %m1, [p1]; add.s64 %m1, %m1, %m0; ld.global.b32 %b, [%m1];
             ld.param.u64 %m1, [p2]; add.s64 %m1, %m1, %m0; ld.global.b32 %c, [%m1];
             mov.b32 {{%h0, _}}, %a; mov.b32 {{%h1, _}}, %b; mov.b32 {{%h2, _}}, %c;
             mul.wide.u32 %m2, %t, 8;
             ld.param.u64 %m1, [p3]; add.s64 %m1, %m1, %m2; ld.global.b64 %x, [%m1];
             ld.param.u64 %m1, [p4]; add.s64 %m1, %m1, %m2; ld.global.b64 %y, [%m1];
             ld.param.u64 %m1, [p5]; add.s64 %m1, %m1, %m2; ld.global.b64 %z, [%m1];
             mov.b32 %o, 0; mov.b64 %q, 0;
             {body}
             ld.param.u64 %m1, [p6]; add.s64 %m1, %m1, %m0; st.global.b32 [%m1], %o;
             ld.param.u64 %m1, [p7]; add.s64 %m1, %m1, %m2; st.global.b64 [%m1], %q;"
        ),
    );
    let bench = Bench::new(&text);
    let mut params = Vec::new();
    for words in words {
        params.push(bench.upload_words(words));
    }
    for doubles in doubles {
        let words: Vec<u32> = doubles.iter().flat_map(|d| [*d as u32, (*d >> 32) as u32]).collect();
        params.push(bench.upload_words(&words));
    }
    params.push(bench.memory.allocate(128).expect("the test is small"));
    params.push(bench.memory.allocate(256).expect("the test is small"));
    bench.launch(&one_block(32), &params);
    let o = bench.words(params[6], 32);
    let q = bench.doubles(params[7], 32);
    (o.try_into().expect("32 lanes"), q.try_into().expect("32 lanes"))
}

const NO_WORDS: W = [0; 32];
const NO_DOUBLES: D = [0; 32];

/// Checks a function of three words, on several sets of operands.
#[track_caller]
pub(crate) fn check3(body: &str, expected: impl Fn(u32, u32, u32) -> u32) {
    let mut random = Random(7);
    for _ in 0..4 {
        let (a, b, c) = (random.words(), random.words(), random.words());
        let (o, _) = lanes(body, [&a, &b, &c], [&NO_DOUBLES; 3]);
        for lane in 0..32 {
            let required = expected(a[lane], b[lane], c[lane]);
            assert_eq!(
                o[lane], required,
                "{body}: a {:#x} b {:#x} c {:#x}: actual {:#x} required {required:#x}",
                a[lane], b[lane], c[lane], o[lane]
            );
        }
    }
}

/// Checks a function of two words.
#[track_caller]
pub(crate) fn check2(body: &str, expected: impl Fn(u32, u32) -> u32) {
    check3(body, |a, b, _| expected(a, b));
}

/// Checks a function of one word.
#[track_caller]
pub(crate) fn check1(body: &str, expected: impl Fn(u32) -> u32) {
    check3(body, |a, _, _| expected(a));
}

/// Checks a function of three 64-bit values and the word `a`.
#[track_caller]
pub(crate) fn check_d(body: &str, expected: impl Fn(u64, u64, u64, u32) -> u64) {
    let mut random = Random(11);
    for _ in 0..4 {
        let (x, y, z) = (random.doubles(), random.doubles(), random.doubles());
        let a = random.words();
        let (_, q) = lanes(body, [&a, &NO_WORDS, &NO_WORDS], [&x, &y, &z]);
        for lane in 0..32 {
            let required = expected(x[lane], y[lane], z[lane], a[lane]);
            assert_eq!(
                q[lane], required,
                "{body}: x {:#x} y {:#x} z {:#x} a {:#x}: actual {:#x} required {required:#x}",
                x[lane], y[lane], z[lane], a[lane], q[lane]
            );
        }
    }
}

/// Checks a function of three floats, given as bits.
#[track_caller]
pub(crate) fn check_floats(body: &str, expected: impl Fn(f32, f32, f32) -> u32) {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        1e-40,
        -1e-40,
        0.5,
        2.0,
        3.0,
        1.5,
    ];
    let mut random = Random(13);
    for round in 0..6 {
        let mut pick = |i: usize, step: usize| {
            let value: f32 =
                if round < 4 { special[(i * step + i / 16 + round) % 16] } else { random.float() };
            value.to_bits()
        };
        let a: W = std::array::from_fn(|i| pick(i, 1));
        let b: W = std::array::from_fn(|i| pick(i, 5));
        let c: W = std::array::from_fn(|i| pick(i, 3));
        let (o, _) = lanes(body, [&a, &b, &c], [&NO_DOUBLES; 3]);
        for lane in 0..32 {
            let (x, y, z) =
                (f32::from_bits(a[lane]), f32::from_bits(b[lane]), f32::from_bits(c[lane]));
            let required = expected(x, y, z);
            let nans = f32::from_bits(required).is_nan() && f32::from_bits(o[lane]).is_nan();
            assert!(
                o[lane] == required || nans,
                "{body}: {x:e} {y:e} {z:e}: actual {:#x} required {required:#x}",
                o[lane]
            );
        }
    }
}
