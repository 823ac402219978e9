//! Products by warpgroups: each type pair and each number of columns, with the factors in every place and order that there
//! is.
//!
//! A block of 128 threads copies random bytes to shared memory and multiplies what descriptors make of them: the pattern of a
//! swizzle permutes bytes, so whatever lies there is a matrix.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use super::{
    Entry,
    factors::{Spread, bytes},
    mma::metadata,
};
use crate::{
    case::{Bound, Buffer, Case, Ending, Role, entry, head, line},
    random::Random,
};

/// Where a factor is, and which of its dimensions is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Registers,
    /// K-major in shared memory.
    K,
    /// M-major or N-major.
    Mn,
}

/// D, A and B.
type Types = (&'static str, Type, Type);

/// Results of one launch at least.
const RESULTS: usize = 100_000;

/// The type combinations (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
fn combinations() -> Vec<Types> {
    let mut all = vec![
        ("f32", Type::F16, Type::F16),
        ("f16", Type::F16, Type::F16),
        ("f32", Type::Bf16, Type::Bf16),
        ("f32", Type::Tf32, Type::Tf32),
    ];
    for a in [Type::E4m3, Type::E5m2] {
        for b in [Type::E4m3, Type::E5m2] {
            all.extend([("f32", a, b), ("f16", a, b)]);
        }
    }
    for a in [Type::S8, Type::U8] {
        for b in [Type::S8, Type::U8] {
            all.push(("s32", a, b));
        }
    }
    all
}

/// The cases.
pub(super) fn entries() -> Vec<Entry> {
    let mut cases = Vec::new();
    let mut add = |types, columns, extra| {
        let (_, name) = names(types, columns, extra);
        let forms = forms(types, columns, extra);
        cases.push(Entry { name, forms, make: Box::new(move || product(types, columns, extra)) });
    };
    for types in combinations() {
        let integers = types.0 == "s32";
        for columns in (8..=256).step_by(8) {
            // Integers have the numbers of columns that are multiples of 16 from 32 on, and 8 and 24.
            if integers && columns > 24 && columns % 16 != 0 {
                continue;
            }
            add(types, columns, Extra::None);
        }
        // Numbers of columns that kernels have.
        for columns in [8, 16, 32, 64, 128, 256] {
            add(types, columns, Extra::Sparse);
        }
        if integers {
            add(types, 64, Extra::Saturate);
        } else {
            add(types, 64, Extra::Negate);
            add(types, 64, Extra::Chain);
        }
    }
    cases
}

/// What a case tests beside the product itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extra {
    None,
    /// `.satfinite`
    Saturate,
    /// The products are subtracted.
    Negate,
    /// Four products follow each other in one group, on the same accumulator.
    Chain,
    /// Half of A is left out, and an instruction reads twice as much of B along k.
    Sparse,
}

impl Extra {
    /// Steps of 32 bytes along k that an instruction reads of B.
    const fn steps(self) -> usize {
        match self {
            Extra::Sparse => 2,
            Extra::None | Extra::Saturate | Extra::Negate | Extra::Chain => 1,
        }
    }
}

/// Sections of a case: the places of A and B, and their swizzles in bytes, 0 for none.
fn sections(types: Types, columns: usize, extra: Extra) -> Vec<(Place, Place, usize, usize)> {
    let sixteen = matches!(types.1, Type::F16 | Type::Bf16);
    let spans = [0, 32, 64, 128];
    let mut number = columns / 8;
    let mut all = Vec::new();
    let majors: &[Place] = if sixteen { &[Place::K, Place::Mn] } else { &[Place::K] };
    for a in [&[Place::Registers], majors].concat() {
        for b in majors {
            // Both swizzles take all values over the numbers of columns. A span of MN has to divide the columns.
            let mut span_b = spans[number % 4];
            while *b == Place::Mn && !(columns * 2).is_multiple_of(span_b.max(16)) {
                span_b /= 2;
                if span_b < 32 {
                    span_b = 0;
                }
            }
            if extra == Extra::Sparse && *b == Place::K && span_b == 32 {
                // 64 bytes along k want a wider one.
                span_b = 128;
            }
            all.push((a, *b, spans[number / 4 % 4], span_b));
            number += 1;
        }
    }
    all
}

/// A matrix descriptor (PTX ISA, "Matrix Descriptor Format") without its start address, of so many steps of 32 bytes along k.
fn descriptor(place: Place, span: usize, steps: usize) -> u64 {
    let (leading, stride) = match (place, span) {
        // Core matrices of 128 bytes: the second half of k, or the next eight k, behind the first; then the next eight rows or
        // columns.
        (Place::K | Place::Mn, 0) | (Place::Registers, _) => (128, 256 * steps),
        (Place::K, span) => (16, 8 * span),
        (Place::Mn, span) => (16 * span * steps, 8 * span),
    };
    let mode: u64 = match span {
        128 => 1,
        64 => 2,
        32 => 3,
        _ => 0,
    };
    let field = |bytes: usize| (bytes / 16) as u64;
    mode << 62 | field(stride) << 32 | field(leading) << 16
}

/// Bytes that a factor of so many rows lies in, of so many steps along k.
fn bytes_of(rows: usize, steps: usize) -> usize {
    (rows * 128 * steps).next_multiple_of(1024)
}

/// The instruction, and what the case is called.
fn names((d, a, b): Types, columns: usize, extra: Extra) -> (String, String) {
    let depth = extra.steps() * 256 / if a == Type::Tf32 { 32 } else { a.bits() as usize };
    let (a, b) = (a.text(), b.text());
    let sparse = if extra == Extra::Sparse { ".sp" } else { "" };
    let mut name =
        format!("wgmma.mma_async{sparse}.sync.aligned.m64n{columns}k{depth}.{d}.{a}.{b}");
    if extra == Extra::Saturate {
        name.push_str(".satfinite");
    }
    let words = match extra {
        Extra::None | Extra::Saturate | Extra::Sparse => "",
        Extra::Negate => ", negated",
        Extra::Chain => ", chained",
    };
    let case = format!("{name}{words}");
    (name, case)
}

/// The forms that a case tests.
fn forms(types: Types, columns: usize, extra: Extra) -> Vec<String> {
    let (name, _) = names(types, columns, extra);
    let form = |(a, b, ..): &(Place, Place, usize, usize)| {
        let a = match a {
            Place::Registers => "a in registers",
            Place::K => "a k-major",
            Place::Mn => "a m-major",
        };
        let b = if *b == Place::Mn { "b n-major" } else { "b k-major" };
        format!("{name} {a}, {b}")
    };
    let fences =
        ["fence", "commit_group", "wait_group"].map(|word| format!("wgmma.{word}.sync.aligned"));
    sections(types, columns, extra).iter().map(form).chain(fences).collect()
}

#[expect(clippy::too_many_lines, reason = "the text of one kernel")]
fn product(types: Types, columns: usize, extra: Extra) -> Case {
    let (d, a, b) = types;
    let registers = if d == "f16" { columns / 4 } else { columns / 2 };
    let results = 64 * columns;
    let blocks = RESULTS.div_ceil(results).max(16);
    let (name, case_name) = names(types, columns, extra);
    let steps = if extra == Extra::Chain { 4 } else { 1 };
    let (a_bytes, b_bytes) = (bytes_of(64, 1), bytes_of(columns, extra.steps()));
    let tile_bytes = (a_bytes + b_bytes) * if steps > 1 { 1 } else { steps };
    let tile = (a, b, columns);
    let sections = sections(types, columns, extra);
    let mut body = String::new();
    let _ = write!(
        body,
        ".reg .b32 %v<4>, %f<4>, %d<{registers}>, %off, %end, %sm, %x, %meta;
.reg .b64 %g, %gc, %go, %da, %db, %t;
.reg .pred %p, %q, %scale;
mov.u32 %sm, shared;
mul.wide.u32 %g, %cta, {tile_bytes};
add.u64 %g, %g, %a0;
mul.lo.u32 %off, %thread, 16;
copy:
cvt.u64.u32 %t, %off;
add.u64 %t, %t, %g;
ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%t];
add.u32 %x, %sm, %off;
st.shared.v4.b32 [%x], {{%v0, %v1, %v2, %v3}};
add.u32 %off, %off, 2048;
setp.lt.u32 %p, %off, {tile_bytes};
@%p bra copy;
fence.proxy.async;
bar.sync 0;
// Every fourth tile does not add to what the accumulator holds.
and.b32 %x, %cta, 3;
setp.ne.u32 %scale, %x, 2;
mul.lo.u32 %x, %cta, {a_stride};
add.u32 %x, %x, %thread;
mul.wide.u32 %t, %x, 4;
add.u64 %t, %t, %a1;
",
        a_stride = 4 * 128,
    );
    for r in 0..4 {
        let _ = writeln!(body, "ld.global.b32 %f{r}, [%t+{}];", 512 * r);
    }
    if extra == Extra::Sparse {
        body.push_str(
            "mul.lo.u32 %x, %cta, 128;
add.u32 %x, %x, %thread;
mul.wide.u32 %t, %x, 4;
add.u64 %t, %t, %a4;
ld.global.b32 %meta, [%t];
",
        );
    }
    let _ = write!(
        body,
        "mul.lo.u32 %x, %cta, {stride};
add.u32 %x, %x, %thread;
mul.wide.u32 %gc, %x, 4;
add.u64 %go, %gc, %a3;
add.u64 %gc, %gc, %a2;
",
        stride = registers * 128,
    );
    let list = |prefix: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("%{prefix}{n}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    for (place_a, place_b, span_a, span_b) in &sections {
        for r in 0..registers {
            let _ = writeln!(body, "ld.global.b32 %d{r}, [%gc+{}];", 512 * r);
        }
        let _ = write!(
            body,
            "cvt.u64.u32 %da, %sm;
shr.u64 %da, %da, 4;
add.u64 %db, %da, {};
or.b64 %da, %da, {:#x};
or.b64 %db, %db, {:#x};
wgmma.fence.sync.aligned;
",
            a_bytes / 16,
            descriptor(*place_a, *span_a, 1),
            descriptor(*place_b, *span_b, extra.steps()),
        );
        let operand = if *place_a == Place::Registers { list("f", 4) } else { "%da".to_owned() };
        let sign = if extra == Extra::Negate { "-1" } else { "1" };
        let sixteen = matches!(a, Type::F16 | Type::Bf16);
        let flag = |place: &Place| i32::from(*place == Place::Mn);
        let mut immediates = String::new();
        if d != "s32" {
            let _ = write!(immediates, ", {sign}, 1");
            if sixteen && *place_a != Place::Registers {
                let _ = write!(immediates, ", {}", flag(place_a));
            }
            if sixteen {
                let _ = write!(immediates, ", {}", flag(place_b));
            }
        }
        let sparse = if extra == Extra::Sparse { "%meta, 0, " } else { "" };
        for _ in 0..steps {
            let _ = writeln!(
                body,
                "{name} {}, {operand}, %db, {sparse}%scale{immediates};",
                list("d", registers)
            );
        }
        body.push_str("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
        for r in 0..registers {
            let _ = writeln!(body, "st.global.b32 [%go+{}], %d{r};", 512 * r);
        }
        let section = blocks * registers * 512;
        let _ = writeln!(body, "add.u64 %go, %go, {section};");
    }
    let ptx = format!(
        "{}.extern .shared .align 1024 .b8 shared[];\n{}",
        head(Target::Sm90a),
        entry(if extra == Extra::Sparse { 5 } else { 4 }, 128, &body)
    );
    let given = given(&case_name, tile, (a_bytes, b_bytes), (d, registers), blocks);
    let compared =
        Buffer { bytes: vec![0; sections.len() * blocks * registers * 512], role: Role::Compared };
    let [tiles, fragments, accumulators] = given;
    let mut buffers = vec![tiles, fragments, accumulators, compared];
    if extra == Extra::Sparse {
        let mut random = Random::of(&format!("metadata of {case_name}"));
        let words = (0..128 * blocks).flat_map(|_| metadata(&mut random, a).to_le_bytes());
        buffers.push(Buffer { bytes: words.collect(), role: Role::Given });
    }
    let count = |n: usize| u32::try_from(n).expect("launches are small");
    Case {
        name: case_name,
        forms: forms(types, columns, extra),
        target: Target::Sm90a,
        ptx,
        threads: 128,
        blocks: line(blocks),
        cluster: [1; 3],
        shared_bytes: count(tile_bytes),
        buffers,
        maps: Vec::new(),
        operands: (blocks * results) as u64,
        result: match d {
            "f16" => Type::F16x2,
            "f32" => Type::F32,
            _ => Type::S32,
        },
        pitch_bytes: 4,
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}

/// The shared memory of each tile, A's registers, and the accumulators.
fn given(
    name: &str,
    (a, b, _): (Type, Type, usize),
    (a_bytes, b_bytes): (usize, usize),
    (d, registers): (&str, usize),
    blocks: usize,
) -> [Buffer; 3] {
    let mut random = Random::of(name);
    let (mut tiles, mut fragments, mut accumulators) = (Vec::new(), Vec::new(), Vec::new());
    let c = match d {
        "f16" => Type::F16,
        "f32" => Type::F32,
        _ => Type::S32,
    };
    for block in 0..blocks {
        let (factors, own): (Spread, Spread) = Spread::of(block);
        tiles.extend(bytes(&mut random, a, factors, a_bytes));
        tiles.extend(bytes(&mut random, b, factors, b_bytes));
        fragments.extend(bytes(&mut random, a, factors, 4 * 512));
        accumulators.extend(bytes(&mut random, c, own, registers * 512));
    }
    [tiles, fragments, accumulators].map(|bytes| Buffer { bytes, role: Role::Given })
}
