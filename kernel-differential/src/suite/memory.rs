//! Loads and stores of one thread, at random places.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use crate::{
    case::{Bound, Buffer, Case, Ending, Role, entry, head, line},
    random::Random,
    types,
};

const TUPLES: usize = 1 << 17;
/// The cache policy that `createpolicy.fractional.L2::evict_first` makes of whole accesses.
const EVICT_FIRST: u64 = 0x12F0_0000_0000_0000;
const THREADS: usize = 256;
/// What loads choose from.
const SOURCE: usize = 1 << 16;
/// What loads choose from in shared memory.
const SHARED: usize = 8192;

/// A load or a store of a form.
#[derive(Clone, Copy, Debug)]
struct Access {
    loads: bool,
    shared: bool,
    ty: Type,
    count: usize,
}

fn access(form: &str) -> Option<Access> {
    let mut words = form.split('.');
    let loads = match words.next()? {
        "ld" => true,
        "st" => false,
        _ => return None,
    };
    let words: Vec<&str> = words.collect();
    let space = |name: &str| words.iter().any(|word| word.split("::").next() == Some(name));
    // Parameters have a family of their own; asynchronous stores and what goes to other blocks too. Strong stores to the memory of the cluster
    // are tested on the part that the block has.
    let to_others = form.contains("shared::cluster") && !words.contains(&"relaxed");
    if words.contains(&"async") || !(space("global") || space("shared")) || to_others {
        return None;
    }
    let count = if words.contains(&"v2") {
        2
    } else if words.contains(&"v4") {
        4
    } else {
        1
    };
    let ty = Type::ALL.iter().find(|ty| ty.text() == words[words.len() - 1]).copied()?;
    Some(Access { loads, shared: space("shared"), ty, count })
}

/// Whether a form loads or stores.
pub(super) fn claims(form: &str) -> bool {
    access(form).is_some()
}

/// What an element's register is declared as, and how it is moved whole between memory and register.
///
/// Integers of 8 and 16 bits have registers of 32 bits, of which a load extends its value and a store takes the low part.
fn register(ty: Type) -> &'static str {
    match ty.text() {
        "b16" => "b16",
        _ if ty.bits() <= 16 => "b32",
        _ => types::register(ty),
    }
}

/// The last operand of a form that takes a cache policy, which it declares. A policy says how long a cache keeps what is accessed, and
/// changes no result.
pub(super) fn policy(form: &str, body: &mut String) -> &'static str {
    if !form.contains(".L2::cache_hint") {
        return "";
    }
    let _ = writeln!(body, ".reg .b64 %policy;\nmov.b64 %policy, {EVICT_FIRST};");
    ", %policy"
}

/// Brings what loads choose from to shared memory.
fn fill_shared(body: &mut String) {
    body.push_str("mul.lo.u32 %y, %thread, 16;\nadd.u32 %x, %x, %y;\nmul.wide.u32 %g, %thread, 16;\nadd.u64 %g, %g, %a0;\n");
    for at in (0..SHARED).step_by(16 * THREADS) {
        let _ = write!(
            body,
            "ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%g+{at}];\nst.shared.v4.b32 [%x+{at}], {{%w0, %w1, %w2, %w3}};\n"
        );
    }
    body.push_str("bar.sync 0;\nmov.u32 %x, memory;\n");
}

/// The case of a form, if it is a load or a store.
pub(super) fn case(form: &str, target: Target) -> Option<Case> {
    let Access { loads, shared, ty, count } = access(form)?;
    let register = register(ty);
    let bytes = types::size(ty) * count;
    let names: Vec<String> = (0..count).map(|n| format!("%v{n}")).collect();
    let list = if count == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) };
    let mut random = Random::of(form);
    let mut body = format!(
        ".shared .align 16 .b8 memory[{SHARED}];
.reg .{register} %v<4>;
.reg .b32 %x, %y, %w<4>;
.reg .b64 %g, %o;
mov.u32 %x, memory;
"
    );
    let policy = policy(form, &mut body);
    let mut given: Vec<u8> = Vec::new();
    let compared;
    if loads {
        // The first buffer is read from, the second says where.
        let room = if shared { SHARED } else { SOURCE };
        if shared {
            fill_shared(&mut body);
        }
        body.push_str("mul.wide.u32 %g, %i, 4;\nadd.u64 %g, %g, %a1;\nld.global.u32 %y, [%g];\n");
        if shared {
            let _ = writeln!(body, "add.u32 %x, %x, %y;\n{form} {list}, [%x];");
        } else {
            let _ = writeln!(
                body,
                "cvt.u64.u32 %g, %y;\nadd.u64 %g, %g, %a0;\n{form} {list}, [%g]{policy};"
            );
        }
        let pitch = 8 * count;
        let _ = writeln!(body, "mul.wide.u32 %o, %i, {pitch};\nadd.u64 %o, %o, %a2;");
        for (n, name) in names.iter().enumerate() {
            let _ = writeln!(body, "st.global.{register} [%o+{}], {name};", 8 * n);
        }
        let contents: Vec<u8> = (0..SOURCE / 8).flat_map(|_| random.word().to_le_bytes()).collect();
        for _ in 0..TUPLES {
            let place = bytes as u64 * random.below((room / bytes) as u64);
            given.extend(u32::try_from(place).expect("small").to_le_bytes());
        }
        compared = vec![0; pitch * TUPLES];
        let buffers = vec![
            Buffer { bytes: contents, role: Role::Given },
            Buffer { bytes: given, role: Role::Operands(4) },
            Buffer { bytes: compared, role: Role::Compared },
        ];
        return Some(finish(form, target, &body, buffers, 8));
    }
    // Each thread stores what it was given in a place of its own: multiplying by an odd number is a permutation.
    let pitch = 8 * count;
    let _ = writeln!(body, "mul.wide.u32 %g, %i, {pitch};\nadd.u64 %g, %g, %a0;");
    for (n, name) in names.iter().enumerate() {
        let _ = writeln!(body, "ld.global.{register} {name}, [%g+{}];", 8 * n);
    }
    if shared {
        let _ = write!(
            body,
            "mul.lo.u32 %y, %thread, 77;\nand.b32 %y, %y, {};\nmul.lo.u32 %y, %y, {bytes};\nadd.u32 %y, %y, %x;\n{form} [%y], {list};\nbar.sync 0;\n",
            THREADS - 1
        );
        // All of it in units that there are for its size.
        let whole = match bytes {
            1 => "u8",
            2 => "u16",
            4 => "b32",
            8 => "v2.b32",
            _ => "v4.b32",
        };
        let parts = (bytes.div_ceil(16)).max(1);
        for part in 0..parts {
            let words = match whole {
                "v4.b32" => "{%w0, %w1, %w2, %w3}",
                "v2.b32" => "{%w0, %w1}",
                _ => "%w0",
            };
            let _ = write!(
                body,
                "mul.lo.u32 %y, %thread, {bytes};\nadd.u32 %y, %y, %x;\nld.shared.{whole} {words}, [%y+{}];\nmul.wide.u32 %o, %i, {bytes};\nadd.u64 %o, %o, %a1;\nst.global.{whole} [%o+{}], {words};\n",
                16 * part,
                16 * part
            );
        }
    } else {
        let _ = write!(
            body,
            "mul.lo.u32 %y, %i, 40503;\nand.b32 %y, %y, {};\nmul.wide.u32 %o, %y, {bytes};\nadd.u64 %o, %o, %a1;\n{form} [%o], {list}{policy};\n",
            TUPLES - 1
        );
    }
    given.extend((0..count * TUPLES).flat_map(|_| random.word().to_le_bytes()));
    let buffers = vec![
        Buffer { bytes: given, role: Role::Given },
        Buffer { bytes: vec![0; bytes * TUPLES], role: Role::Compared },
    ];
    Some(finish(form, target, &body, buffers, types::size(ty)))
}

fn finish(
    form: &str,
    target: Target,
    body: &str,
    buffers: Vec<Buffer>,
    pitch_bytes: usize,
) -> Case {
    let threads = u32::try_from(THREADS).expect("few");
    let result = match pitch_bytes {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    };
    Case {
        name: form.to_owned(),
        forms: vec![form.to_owned()],
        target,
        ptx: format!("{}{}", head(target), entry(buffers.len(), threads, body)),
        threads,
        blocks: line(TUPLES / THREADS),
        cluster: [1; 3],
        shared_bytes: 0,
        buffers,
        maps: Vec::new(),
        operands: TUPLES as u64,
        result,
        pitch_bytes,
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: Ending::Normal,
    }
}
