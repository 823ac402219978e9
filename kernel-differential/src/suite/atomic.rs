//! Atomic operations on global and shared memory: each thread on an element of its own, whose old value is compared too; and, of global
//! memory, where the order is of no consequence, all of them on a few.

use std::fmt::Write;

use kernel_ptx::Type;
use kernel_runtime::Target;

use super::memory::policy;
use crate::{
    case::{Bound, Buffer, Case, Ending, Role, entry, head, line},
    random::Random,
    types,
};

const TUPLES: usize = 1 << 17;
const THREADS: usize = 256;
/// Elements that all threads of the contended part share.
const FEW: usize = 64;

/// Whether a form is an atomic operation on global or shared memory.
pub(super) fn claims(form: &str) -> bool {
    (form.starts_with("atom.") || form.starts_with("red."))
        && (form.contains(".global.") || is_shared(form))
        && !form.contains("async")
}

/// Whether it is one on shared memory. The memory of the block is part of that of the cluster.
fn is_shared(form: &str) -> bool {
    form.contains(".shared.") || form.contains(".shared::cluster.")
}

/// An instruction, as its form, result and sources, on the element at `%g`. One on shared memory has the element there meanwhile.
fn applied([form, to, sources]: [&str; 3], register: &str, bytes: usize) -> String {
    if !is_shared(form) {
        return format!("{form} {to}[%g], {sources};\n");
    }
    format!(
        ".shared .align 16 .b8 slots[{}];
mov.u32 %x, slots;
mul.lo.u32 %y, %thread, {bytes};
add.u32 %x, %x, %y;
ld.global.{register} %d1, [%g];
st.shared.{register} [%x], %d1;
{form} {to}[%x], {sources};
ld.shared.{register} %d1, [%x];
st.global.{register} [%g], %d1;
",
        bytes * THREADS
    )
}

/// The case of a form, if it is an atomic operation.
pub(super) fn case(form: &str, target: Target) -> Option<Case> {
    if !claims(form) {
        return None;
    }
    let words: Vec<&str> = form.split('.').collect();
    let returns = words[0] == "atom";
    let ty = Type::ALL.iter().find(|ty| ty.text() == words[words.len() - 1]).copied()?;
    let count = if words.contains(&"v2") {
        2
    } else if words.contains(&"v4") {
        4
    } else {
        1
    };
    let operation = *words.iter().find(|word| {
        ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"].contains(word)
    })?;
    let register = types::register(ty);
    let bytes = types::size(ty) * count;
    let compares = operation == "cas";
    let list = |prefix: &str| {
        let names: Vec<String> = (0..count).map(|n| format!("%{prefix}{n}")).collect();
        if count == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
    };
    let operands = if compares { 2 } else { 1 };
    let pitch = 8 * count * operands;
    let mut body = format!(
        ".reg .{register} %d<4>, %v<4>, %u<4>;
.reg .b32 %x, %y;
.reg .b64 %g, %o;
mul.wide.u32 %g, %i, {pitch};
add.u64 %g, %g, %a0;
"
    );
    for n in 0..count {
        let _ = writeln!(body, "ld.global.{register} %v{n}, [%g+{}];", 8 * n);
        if compares {
            let _ = writeln!(body, "ld.global.{register} %u{n}, [%g+{}];", 8 * (count + n));
        }
    }
    let policy = policy(form, &mut body);
    let sources = if compares { list("u") + ", " + &list("v") } else { list("v") + policy };
    let to = if returns { format!("{}, ", list("d")) } else { String::new() };
    let _ = writeln!(body, "mul.wide.u32 %g, %i, {bytes};\nadd.u64 %g, %g, %a1;");
    let instruction = [form, &to, &sources];
    body.push_str(&applied(instruction, register, bytes));
    if returns {
        let _ = writeln!(body, "mul.wide.u32 %o, %i, {bytes};\nadd.u64 %o, %o, %a2;");
        for n in 0..count {
            let _ = writeln!(body, "st.global.{register} [%o+{}], %d{n};", types::size(ty) * n);
        }
    }
    let integers = ty.is_integer() || ty.is_untyped();
    if !is_shared(form) && integers && !["exch", "cas", "inc", "dec"].contains(&operation) {
        let _ = writeln!(
            body,
            "and.b32 %y, %i, {};\nmul.wide.u32 %g, %y, {bytes};\nadd.u64 %g, %g, %a3;\n{form} {to}[%g], {sources};",
            FEW - 1
        );
    }
    let mut random = Random::of(form);
    let (mut given, mut memory, mut few) = (Vec::new(), Vec::new(), Vec::new());
    let size = types::size(ty);
    for _ in 0..TUPLES {
        let old: Vec<u64> = (0..count).map(|_| random.value(ty)).collect();
        let new: Vec<u64> = (0..count).map(|_| random.value(ty)).collect();
        given.extend(new.iter().flat_map(|value| value.to_le_bytes()));
        if compares {
            // Half of them meet what they ask for.
            let asked = |value: &u64| if random.below(2) == 0 { *value } else { random.value(ty) };
            given.extend(old.iter().map(asked).flat_map(u64::to_le_bytes));
        }
        memory.extend(old.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)));
    }
    for _ in 0..FEW * count {
        few.extend(random.value(ty).to_le_bytes().into_iter().take(size));
    }
    let threads = u32::try_from(THREADS).expect("few");
    let buffers = vec![
        Buffer { bytes: given, role: Role::Operands(pitch) },
        Buffer { bytes: memory, role: Role::Compared },
        Buffer { bytes: vec![0; bytes * TUPLES], role: Role::Compared },
        Buffer { bytes: few, role: Role::Compared },
    ];
    Some(Case {
        name: form.to_owned(),
        forms: vec![form.to_owned()],
        target,
        ptx: format!("{}{}", head(target), entry(4, threads, &body)),
        threads,
        blocks: line(TUPLES / THREADS),
        cluster: [1; 3],
        shared_bytes: 0,
        buffers,
        maps: Vec::new(),
        operands: TUPLES as u64,
        result: ty,
        pitch_bytes: size,
        bound: Bound::Bits,
        scalars: Vec::new(),
        ending: Ending::Normal,
    })
}
