//! Products by warps: `mma.sync` on random fragments, one product a warp.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use super::factors::{Spread, bytes};
use crate::{
    case::{Bound, Buffer, Case, Ending, Role, entry, head, line},
    random::Random,
    types,
};

/// Products of a launch: each has at least 64 results.
const WARPS: usize = 2048;
const THREADS: u32 = 128;

/// Registers of a fragment: how many, and their type.
fn fragment(ty: Type, elements: usize) -> (usize, Type) {
    let bits = if ty == Type::Tf32 { 32 } else { ty.bits() as usize };
    let whole = ty == Type::F64 || ty == Type::F32;
    let register = if whole { ty } else { Type::B32 };
    let width = register.bits() as usize;
    ((elements * bits / 32).div_ceil(width), register)
}

/// The numbers of `m16n8k16`.
fn shape(word: &str) -> Option<(usize, usize, usize)> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

/// Whether a form is a product by a warp.
pub(super) fn claims(form: &str) -> bool {
    form.starts_with("mma.sync.") || form.starts_with(SPARSE)
}

/// What products begin with of whose A half is kept.
const SPARSE: &str = "mma.sp::ordered_metadata.sync.aligned.";

/// A word of metadata: for each group the place of what is kept, one of two or two of four (PTX ISA, "Sparse matrix storage").
pub(super) fn metadata(random: &mut Random, a: Type) -> u32 {
    let halves: &[u64] = &[0b0100, 0b1110];
    let pairs: &[u64] = &[0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110];
    let choices = if a == Type::Tf32 { halves } else { pairs };
    (0..8).fold(0, |word, _| {
        let at = random.word() >> 8;
        let bits = choices[usize::try_from(at % choices.len() as u64).expect("a short list")];
        word << 4 | u32::try_from(bits).expect("four bits")
    })
}

/// The case of a form, if it is a product by a warp.
pub(super) fn case(form: &str, target: Target) -> Option<Case> {
    let sparse = form.starts_with(SPARSE);
    let name = form.strip_prefix(if sparse { SPARSE } else { "mma.sync.aligned." })?;
    let words: Vec<&str> = name.split('.').collect();
    let (rows, columns, depth) = words.iter().find_map(|word| shape(word))?;
    let types: Vec<Type> = words
        .iter()
        .filter_map(|word| Type::ALL.iter().find(|ty| ty.text() == *word).copied())
        .collect();
    let [d, a, b, c] = types[..] else { return None };
    let fragments = [
        fragment(a, if sparse { rows * depth / 2 } else { rows * depth }),
        fragment(b, columns * depth),
        fragment(c, rows * columns),
        fragment(d, rows * columns),
    ];
    let mut body = String::from(".reg .b32 %lane, %warp, %x;\n.reg .b64 %o;\n");
    body.push_str("and.b32 %lane, %thread, 31;\nshr.u32 %warp, %i, 5;\n");
    let names = ["fa", "fb", "fc", "fd"];
    let mut lists = Vec::new();
    for (number, ((count, ty), prefix)) in fragments.iter().zip(names).enumerate() {
        let (size, ty) = (types::size(*ty), ty.text());
        let _ = writeln!(body, ".reg .{ty} %{prefix}<{count}>;");
        let _ = write!(
            body,
            "mad.lo.u32 %x, %warp, {}, %lane;\nmul.wide.u32 %o, %x, {size};\nadd.u64 %o, %o, %a{number};\n",
            32 * count
        );
        if prefix != "fd" {
            for r in 0..*count {
                let _ = writeln!(body, "ld.global.{ty} %{prefix}{r}, [%o+{}];", 32 * size * r);
            }
        }
        let registers: Vec<String> = (0..*count).map(|r| format!("%{prefix}{r}")).collect();
        lists.push(format!("{{{}}}", registers.join(", ")));
    }
    let more = if sparse {
        body.push_str(
            ".reg .b32 %fm;\n.reg .b64 %om;\nmul.wide.u32 %om, %i, 4;\nadd.u64 %om, %om, %a4;\n",
        );
        body.push_str("ld.global.b32 %fm, [%om];\n");
        ", %fm, 0"
    } else {
        ""
    };
    let _ = writeln!(body, "{form} {}, {}, {}, {}{more};", lists[3], lists[0], lists[1], lists[2]);
    let (count, ty) = fragments[3];
    for r in 0..count {
        let at = 32 * types::size(ty) * r;
        let _ = writeln!(body, "st.global.{} [%o+{at}], %fd{r};", ty.text());
    }
    let mut random = Random::of(form);
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut given = [Vec::new(), Vec::new(), Vec::new()];
    for warp in 0..WARPS {
        let (factors, own) = Spread::of(warp);
        let each = [(a, factors), (b, factors), (c, own)];
        for ((into, (ty, spread)), (count, register)) in given.iter_mut().zip(each).zip(fragments) {
            into.extend(bytes(&mut random, ty, spread, 32 * count * types::size(register)));
        }
    }
    buffers.extend(given.map(|bytes| Buffer { bytes, role: Role::Given }));
    let out = WARPS * 32 * count * types::size(ty);
    buffers.push(Buffer { bytes: vec![0; out], role: Role::Compared });
    if sparse {
        let words = (0..32 * WARPS).flat_map(|_| metadata(&mut random, a).to_le_bytes());
        buffers.push(Buffer { bytes: words.collect(), role: Role::Given });
    }
    Some(Case {
        name: form.to_owned(),
        forms: vec![form.to_owned()],
        target,
        ptx: format!("{}{}", head(target), entry(if sparse { 5 } else { 4 }, THREADS, &body)),
        threads: THREADS,
        blocks: line(32 * WARPS / THREADS as usize),
        cluster: [1; 3],
        shared_bytes: 0,
        buffers,
        maps: Vec::new(),
        operands: (WARPS * rows * columns) as u64,
        result: if d == Type::F16 { Type::F16x2 } else { d },
        pitch_bytes: types::size(ty),
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: Ending::Normal,
    })
}
