//! Instructions that compute on the registers of one thread: each thread has operands of its own.
//!
//! The kernel is made from the form: its types say what the operands are.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use crate::{
    case::{Bound, Buffer, Case, Ending, Role, Tolerance, entry, head, line},
    random::{Random, ones},
    types,
};

/// Operand tuples of a form.
const TUPLES: usize = 1 << 17;
const THREADS: u32 = 256;

/// What a form reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Signature {
    results: Vec<Type>,
    sources: Vec<Source>,
    /// Operands are written `{a, b}`: a vector of the sources or of the results makes up one register.
    vector: bool,
}

/// An operand that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Any value of a type.
    Any(Type),
    /// A count of bits or a position: mostly small.
    Count,
    /// A value of the type that the first operand has, often near it.
    Near(Type),
    /// The same, and not zero: what a division by zero gives is not specified (PTX ISA, "div").
    Divisor(Type),
    /// One immediate for the whole launch.
    Immediate(u64),
}

/// The words of a form behind the opcode, and what stands behind the name.
fn words(form: &str) -> (&str, Vec<&str>, &str) {
    let (name, marks) = form.split_once(' ').unwrap_or((form, ""));
    let mut words = name.split('.');
    let opcode = words.next().unwrap_or_default();
    (opcode, words.collect(), marks)
}

fn type_named(word: &str) -> Option<Type> {
    Type::ALL.iter().find(|ty| ty.text() == word).copied()
}

/// The type twice as wide.
fn wide(ty: Type) -> Option<Type> {
    Some(match ty.text() {
        "u16" => Type::U32,
        "s16" => Type::S32,
        "u32" => Type::U64,
        "s32" => Type::S64,
        _ => return None,
    })
}

/// What a form reads and writes, if it computes on the registers of one thread.
fn signature(form: &str) -> Option<Signature> {
    use Source::{Any, Count, Divisor, Near};
    let (opcode, words, marks) = words(form);
    let types: Vec<Type> = words.iter().filter_map(|word| type_named(word)).collect();
    let ty = *types.last()?;
    let make = |results: &[Type], sources: &[Source]| {
        Some(Signature { results: results.to_vec(), sources: sources.to_vec(), vector: false })
    };
    if !marks.is_empty() && opcode != "mov" {
        return None;
    }
    match opcode {
        "abs" | "neg" | "not" | "cnot" | "brev" | "ex2" | "lg2" | "rcp" | "rsqrt" | "sqrt"
        | "sin" | "cos" | "tanh" => make(&[ty], &[Any(ty)]),
        "popc" | "clz" | "bfind" => make(&[Type::U32], &[Any(ty)]),
        "mul" if words.contains(&"wide") => make(&[wide(ty)?], &[Any(ty), Near(ty)]),
        "div" | "rem" if ty.is_integer() => make(&[ty], &[Any(ty), Divisor(ty)]),
        "add" | "sub" | "mul" | "min" | "max" | "and" | "or" | "xor" | "div" | "rem"
        | "copysign" | "mul24" => make(&[ty], &[Any(ty), Near(ty)]),
        "mad" if words.contains(&"wide") => {
            make(&[wide(ty)?], &[Any(ty), Near(ty), Any(wide(ty)?)])
        }
        "mad" | "fma" | "sad" => make(&[ty], &[Any(ty), Near(ty), Near(ty)]),
        "shl" | "shr" => make(&[ty], &[Any(ty), Count]),
        "shf" => make(&[ty], &[Any(ty), Any(ty), Count]),
        "prmt" => make(&[ty], &[Any(ty), Any(ty), Any(Type::U32)]),
        "bfe" => make(&[ty], &[Any(ty), Count, Count]),
        "bfi" => make(&[ty], &[Any(ty), Any(ty), Count, Count]),
        "lop3" => make(&[ty], &[Any(ty), Any(ty), Any(ty), Source::Immediate(0)]),
        "selp" => make(&[ty], &[Any(ty), Any(ty), Any(Type::Pred)]),
        "slct" => make(&[types[0]], &[Any(types[0]), Any(types[0]), Any(ty)]),
        "setp" => {
            let combined = ["and", "or", "xor"].iter().any(|word| words.contains(word));
            let mut sources = vec![Any(ty), Near(ty)];
            if combined {
                sources.push(Any(Type::Pred));
            }
            make(&[Type::Pred], &sources)
        }
        "testp" => make(&[Type::Pred], &[Any(ty)]),
        "dp4a" => make(&[Type::S32], &[Any(Type::B32), Any(Type::B32), Any(Type::S32)]),
        "cvt" => {
            let [to, from] = types[..] else { return None };
            // Two floats are packed into one register.
            let packs = to.text().ends_with("x2") && from == Type::F32;
            if packs { make(&[to], &[Any(from), Any(from)]) } else { make(&[to], &[Any(from)]) }
        }
        "mov" => {
            let part = |count: u32| {
                Type::ALL
                    .iter()
                    .find(|part| part.is_untyped() && part.bits() == ty.bits() / count)
                    .copied()
            };
            if marks.is_empty() {
                make(&[ty], &[Any(ty)])
            } else if let Some(count) = marks.strip_prefix("x, {") {
                let count: u32 = count.trim_end_matches('}').parse().ok()?;
                let sources = vec![Any(part(count)?); count as usize];
                Some(Signature { results: vec![ty], sources, vector: true })
            } else if let Some(count) = marks.strip_prefix('{') {
                let count: u32 = count.strip_suffix("}, x")?.parse().ok()?;
                let results = vec![part(count)?; count as usize];
                Some(Signature { results, sources: vec![Any(ty)], vector: true })
            } else {
                None
            }
        }
        _ => None,
    }
}

/// A register class: what it is declared as, and the type that loads and stores it.
fn class(ty: Type) -> (&'static str, &'static str) {
    let register = types::register(ty);
    match ty.text() {
        "pred" => ("pred", "u32"),
        // There are no arithmetic registers of 8 bits.
        _ if ty.bits() <= 8 => ("b16", "u8"),
        _ => (register, register),
    }
}

/// Functions of which PTX ISA gives a bound and not the bits ("Floating Point Instructions", "Half Precision Floating Point
/// Instructions").
fn bound(form: &str) -> Bound {
    let (opcode, words, _) = words(form);
    let power = |exponent: f64| exponent.exp2();
    let relative = |relative: f64, says| {
        Bound::Near(Tolerance { relative, absolute: 0.0, most: f64::INFINITY, says })
    };
    let within = |absolute: f64, most: f64, says| {
        Bound::Near(Tolerance { relative: 0.0, absolute, most, says })
    };
    let half = words.last().copied().unwrap_or_default();
    match (opcode, half) {
        ("div", _) if words.contains(&"approx") || words.contains(&"full") => {
            relative(power(-22.0), "2 ulp")
        }
        _ if !words.contains(&"approx") => Bound::Bits,
        ("rcp", "f32") => relative(power(-23.0), "1 ulp"),
        ("sqrt", _) => relative(power(-23.0), "relative error 2^-23"),
        ("rsqrt", "f32") => relative(power(-22.9), "relative error 2^-22.9"),
        ("ex2", "f32") => relative(power(-22.0), "2 ulp"),
        ("ex2", "f16" | "f16x2") => relative(power(-9.9), "relative error 2^-9.9"),
        ("ex2", "bf16" | "bf16x2") => relative(power(-7.0), "relative error 2^-7"),
        ("lg2", _) => Bound::Near(Tolerance {
            relative: power(-22.0),
            absolute: power(-22.0),
            most: f64::INFINITY,
            says: "error 2^-22, absolute from 0.5 to 2, else relative",
        }),
        ("sin" | "cos", _) => {
            within(power(-14.7), 100.0 * std::f64::consts::PI, "error 2^-14.7 up to 100 pi")
        }
        ("tanh", "f32") => relative(power(-11.0), "relative error 2^-11"),
        ("tanh", "f16" | "f16x2") => within(power(-10.987), f64::INFINITY, "error 2^-10.987"),
        ("tanh", "bf16" | "bf16x2") => relative(power(-8.0), "relative error 2^-8"),
        _ => Bound::Bits,
    }
}

/// Whether a form computes on the registers of one thread.
pub(super) fn claims(form: &str) -> bool {
    signature(form).is_some()
}

/// The case of a form, if the form is one of these.
pub(super) fn case(form: &str, target: Target) -> Option<Case> {
    let signature = signature(form)?;
    let immediates: Vec<u64> =
        if form.starts_with("lop3") { vec![0x96, 0xe8, 0xca, 0x1b] } else { vec![0] };
    let (name, _) = form.split_once(' ').unwrap_or((form, ""));
    let registers = |prefix: &str, count: usize| -> Vec<String> {
        (0..count).map(|n| format!("%{prefix}{n}")).collect()
    };
    let (inputs, outputs) = (signature.sources.len(), signature.results.len());
    let mut body = format!(
        ".reg .b64 %in, %out;\nmad.lo.u64 %in, %ii, {}, %a0;\nmad.lo.u64 %out, %ii, {}, %a1;\n",
        8 * inputs,
        8 * outputs * immediates.len(),
    );
    for (n, source) in signature.sources.iter().enumerate() {
        let ty = source.ty();
        let (class, width) = class(ty);
        let _ = writeln!(body, ".reg .{class} %s{n};");
        if ty == Type::Pred {
            let _ = writeln!(
                body,
                ".reg .b32 %w{n};\nld.global.u32 %w{n}, [%in+{}];\nsetp.ne.u32 %s{n}, %w{n}, 0;",
                8 * n
            );
        } else {
            let _ = writeln!(body, "ld.global.{width} %s{n}, [%in+{}];", 8 * n);
        }
    }
    for (n, ty) in signature.results.iter().enumerate() {
        let (class, _) = class(*ty);
        let _ = writeln!(body, ".reg .{class} %d{n};");
        if *ty == Type::Pred {
            let _ = writeln!(body, ".reg .b32 %o{n};");
        }
    }
    let braces = |names: Vec<String>| {
        if signature.vector && names.len() > 1 {
            format!("{{{}}}", names.join(", "))
        } else {
            names.join(", ")
        }
    };
    for (round, immediate) in immediates.iter().enumerate() {
        let mut sources = registers("s", inputs);
        for (text, source) in sources.iter_mut().zip(&signature.sources) {
            if matches!(source, Source::Immediate(_)) {
                *text = immediate.to_string();
            }
        }
        let _ = writeln!(body, "{name} {}, {};", braces(registers("d", outputs)), braces(sources));
        for (n, ty) in signature.results.iter().enumerate() {
            let at = 8 * (round * outputs + n);
            let (_, width) = class(*ty);
            if *ty == Type::Pred {
                let _ = writeln!(
                    body,
                    "selp.u32 %o{n}, 1, 0, %d{n};\nst.global.u32 [%out+{at}], %o{n};"
                );
            } else {
                let _ = writeln!(body, "st.global.{width} [%out+{at}], %d{n};");
            }
        }
    }
    let ptx = format!("{}{}", head(target), entry(2, THREADS, &body));
    let result = signature.results[0];
    Some(Case {
        name: form.to_owned(),
        forms: vec![form.to_owned()],
        target,
        ptx,
        threads: THREADS,
        blocks: line(TUPLES / THREADS as usize),
        cluster: [1; 3],
        shared_bytes: 0,
        buffers: vec![
            Buffer { bytes: operands(form, &signature.sources), role: Role::Operands(8 * inputs) },
            Buffer {
                bytes: vec![0; 8 * outputs * immediates.len() * TUPLES],
                role: Role::Compared,
            },
        ],
        maps: Vec::new(),
        operands: TUPLES as u64,
        result: stored(result),
        pitch_bytes: 8,
        bound: bound(form),
        scalars: Vec::new(),
        ending: Ending::Normal,
    })
}

/// The type of a result in memory.
fn stored(ty: Type) -> Type {
    if ty == Type::Pred { Type::U32 } else { ty }
}

impl Source {
    fn ty(self) -> Type {
        match self {
            Source::Any(ty) | Source::Near(ty) | Source::Divisor(ty) => ty,
            Source::Count | Source::Immediate(_) => Type::U32,
        }
    }
}

/// A value, often one near another: the same, its opposite, neighbours.
fn near(random: &mut Random, first: u64, ty: Type) -> u64 {
    match random.below(8) {
        0 => first,
        1 => first ^ 1 << (ty.bits() - 1),
        2 => (first ^ random.below(4)) & ones(ty.bits()),
        _ => random.value(ty),
    }
}

/// The tuples, eight bytes for each operand.
fn operands(form: &str, sources: &[Source]) -> Vec<u8> {
    let mut random = Random::of(form);
    let mut bytes = Vec::with_capacity(8 * sources.len() * TUPLES);
    let alone = matches!(sources, [Source::Any(ty)] if ty.bits() <= 16 && *ty != Type::Pred);
    for tuple in 0..TUPLES {
        let mut first = 0;
        for (n, source) in sources.iter().enumerate() {
            let value = match *source {
                // Every value there is, before random ones.
                Source::Any(_) if alone && tuple < 1 << 16 => tuple as u64,
                Source::Any(ty) => random.value(ty),
                Source::Count => match random.below(8) {
                    0 => random.value(Type::U32),
                    _ => random.below(70),
                },
                Source::Near(ty) => near(&mut random, first, ty),
                Source::Divisor(ty) => near(&mut random, first, ty).max(1),
                Source::Immediate(_) => 0,
            };
            if n == 0 {
                first = value;
            }
            bytes.extend(value.to_le_bytes());
        }
    }
    bytes
}
